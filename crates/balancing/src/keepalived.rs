//! VIPs of a group of machines in one network, by VRRP through a keepalived on each of them.

use std::collections::HashSet;
use std::net::IpAddr;
use std::num::{NonZeroU8, NonZeroU16};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Network, Time};

/// Priority is lowered by the number of VIPs whose services have no usable server, by this at most.
pub const LOWERED_MAX: u8 = 100;

/// Machines that share connections, beside this one, at most.
const SHARING_MAX: usize = 31;

/// One machine of the group has the VIPs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Keepalived {
    /// Network device that gets the VIPs.
    pub interface: String,
    /// Identifies the group in its network.
    pub virtual_router_id: NonZeroU8,
    /// Address of this machine, from which it sends to its peers.
    pub address: IpAddr,
    /// Addresses of the other machines.
    pub peers: Vec<IpAddr>,
    /// The VIPs go to the machine with the highest one, and stay where they are among equal ones.
    #[serde(default = "Keepalived::priority")]
    pub priority: u8,
    /// Time between two messages; after three missing ones another machine takes the VIPs.
    #[serde(default = "Keepalived::interval")]
    pub interval: Time,
    /// File with the number of keepalived's process.
    #[serde(default = "Keepalived::pid_file")]
    pub pid_file: PathBuf,
    /// Folder whose files keepalived includes.
    #[serde(default = "Keepalived::folder")]
    pub folder: PathBuf,
    /// The machine that has the VIPs spreads connections over all machines; `None`: it serves them alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Dispatch>,
}

/// How the machines of a group share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// UDP port of all machines, at which they find out which of them have a live engine.
    #[serde(default = "Dispatch::port")]
    pub port: NonZeroU16,
}

impl Dispatch {
    const fn port() -> NonZeroU16 {
        // 10059
        NonZeroU16::MIN.saturating_add(10_058)
    }
}

impl Keepalived {
    const fn priority() -> u8 {
        200
    }

    const fn interval() -> Time {
        Time(Duration::from_millis(300))
    }

    fn pid_file() -> PathBuf {
        PathBuf::from("/run/keepalived.pid")
    }

    fn folder() -> PathBuf {
        PathBuf::from("/etc/keepalived/vedette")
    }

    /// Checks what types alone do not exclude. keepalived ends if its file has errors.
    pub(crate) fn check(&self, vips: &[Network]) -> Result<(), String> {
        let name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..16).contains(&self.interface.len()) || !self.interface.bytes().all(name) {
            return Err("'announce.keepalived.interface' is not the name of a network device; \
                 use letters, digits, '.', '_' and '-'"
                .to_owned());
        }
        if self.peers.is_empty() {
            return Err(
                "'announce.keepalived.peers' is empty; add the addresses of the other machines"
                    .to_owned(),
            );
        }
        let mut known = HashSet::from([self.address]);
        if let Some(twice) = self.peers.iter().find(|peer| !known.insert(**peer)) {
            return Err(format!(
                "{twice} exists twice in 'announce.keepalived'; 'peers' are the other machines"
            ));
        }
        if known.iter().any(|one| one.is_ipv4() != self.address.is_ipv4()) {
            return Err(
                "'announce.keepalived' has IPv4 and IPv6 addresses of machines; use one family"
                    .to_owned(),
            );
        }
        if known.iter().any(|one| one.is_unspecified() || one.is_multicast() || one.is_loopback()) {
            return Err(
                "'announce.keepalived' needs addresses that other machines can reach".to_owned()
            );
        }
        if !(LOWERED_MAX + 1..=254).contains(&self.priority) {
            return Err("'announce.keepalived.priority' must be between 101 and 254".to_owned());
        }
        let interval = self.interval.0.as_millis();
        if !(10..=40_000).contains(&interval) || !interval.is_multiple_of(10) {
            return Err(
                "'announce.keepalived.interval' must be between 10ms and 40s, in steps of 10ms"
                    .to_owned(),
            );
        }
        let folder = self.folder.to_str().filter(|folder| folder.starts_with('/'));
        if folder.is_none_or(|folder| {
            folder.contains(|c: char| c.is_control() || "\"\\$@!#~".contains(c))
        }) {
            return Err("'announce.keepalived.folder' must be an absolute path without control characters, quotes and any of \\ $ @ ! # ~"
                .to_owned());
        }
        if self.dispatch.is_some() { self.check_dispatch(vips) } else { Ok(()) }
    }

    fn check_dispatch(&self, vips: &[Network]) -> Result<(), String> {
        if self.peers.len() > SHARING_MAX {
            return Err(format!(
                "'announce.keepalived.dispatch' is limited to {SHARING_MAX} machines in 'peers'"
            ));
        }
        let machines = || self.peers.iter().chain([&self.address]);
        let is_of_link =
            |one: &IpAddr| matches!(one, IpAddr::V6(one) if one.is_unicast_link_local());
        if machines().any(is_of_link) {
            return Err(
                "'announce.keepalived.dispatch' needs addresses of machines beyond fe80::/10"
                    .to_owned(),
            );
        }
        match machines().find(|one| vips.iter().any(|network| network.contains(**one))) {
            Some(machine) => Err(format!(
                "'announce.networks' contains the machine {machine}; with 'dispatch' they can only have VIPs"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Announce, Speaker};

    const GOOD: &str = "networks: [192.0.2.0/24]\nkeepalived:\n  interface: eth0\n  virtual_router_id: 51\n  \
                        address: 10.0.0.1\n  peers: [10.0.0.2]\n";

    /// The problem of a file in which a line is replaced.
    fn problem(old: &str, new: &str) -> String {
        assert!(GOOD.contains(old), "{old}");
        Announce::parse(&GOOD.replace(old, new)).err().unwrap_or_default()
    }

    #[test]
    fn bad_members_are_refused_with_a_remedy() {
        assert_eq!(problem("eth0", "eth0.5"), "");
        for name in ["'eth0 }'", "''", "'a\"b'", "abcdefghijklmnop"] {
            assert!(problem("eth0", name).contains("not the name of a network device"), "{name}");
        }
        assert!(problem("51", "0").contains("virtual_router_id"));
        assert!(problem("51", "256").contains("virtual_router_id"));
        assert!(problem("[10.0.0.2]", "[]").contains("'announce.keepalived.peers' is empty"));
        assert!(problem("[10.0.0.2]", "[10.0.0.1]").contains("10.0.0.1 exists twice"));
        assert!(problem("[10.0.0.2]", "['fd00::1']").contains("use one family"));
        assert!(problem("10.0.0.2", "127.0.0.1").contains("that other machines can reach"));
        let more = |line: &str| problem("  interface", &format!("  {line}\n  interface"));
        assert!(more("priority: 100").contains("between 101 and 254"));
        assert!(more("interval: 15ms").contains("in steps of 10ms"));
        assert!(more("folder: relative").contains("must be an absolute path"));
        assert!(more("folder: '/a\"b'").contains("must be an absolute path"));
        assert!(more("nopreempt: true").contains("nopreempt"));
    }

    #[test]
    fn dispatch_refuses_what_would_spread_other_packets() {
        let more = |line: &str| problem("  interface", &format!("  {line}\n  interface"));
        assert_eq!(more("dispatch: {}"), "");
        assert_eq!(more("dispatch: {port: 7}"), "");
        assert!(more("dispatch: {port: 0}").contains("port"));
        assert!(more("dispatch: {port: 65536}").contains("port"));
        assert!(more("dispatch: {peers: []}").contains("peers"));
        let peers: Vec<String> = (2..34).map(|n| format!("10.0.0.{n}")).collect();
        let peers = format!("[{}]\n  dispatch: {{}}", peers.join(", "));
        assert!(problem("[10.0.0.2]", &peers).contains("limited to 31 machines"));
        let wide = |address: &str| {
            let text = GOOD.replace("192.0.2.0/24", address) + "  dispatch: {}\n";
            Announce::parse(&text).err().unwrap_or_default()
        };
        assert!(wide("10.0.0.1/32").contains("contains the machine 10.0.0.1"));
        assert!(wide("10.0.0.0/24").contains("contains the machine 10.0.0.2"));
        assert_eq!(wide("10.0.0.3/32"), "");
        let text = GOOD
            .replace("10.0.0.1", "fe80::1")
            .replace("[10.0.0.2]", "['fd00::2']\n  dispatch: {}");
        assert!(Announce::parse(&text).unwrap_err().contains("beyond fe80::/10"));
    }

    #[test]
    fn bgp_and_vrrp_exclude_each_other() {
        assert!(
            problem("keepalived:", "router_id: 10.0.0.1\nkeepalived:").contains("only 'networks'")
        );
        assert!(problem("keepalived:", "folder: /x\nkeepalived:").contains("only 'networks'"));
        let none = Announce::parse("networks: [192.0.2.0/24]").unwrap_err();
        assert!(none.contains("'keepalived' for VRRP"), "{none}");
    }

    #[test]
    fn a_written_file_is_read_again() {
        let bird = "networks: [192.0.2.0/24]\nrouter_id: 10.0.0.1\nlocal_as: 65001\n";
        let dispatch = format!("{GOOD}  dispatch: {{port: 7}}\n");
        for text in [GOOD, &dispatch, bird] {
            let announce = Announce::parse(text).unwrap();
            assert_eq!(matches!(announce.speaker, Speaker::Bird(_)), text == bird);
            let written = serde_saphyr::to_string(&announce).unwrap();
            assert_eq!(Announce::parse(&written).unwrap(), announce, "{written}");
        }
    }
}
