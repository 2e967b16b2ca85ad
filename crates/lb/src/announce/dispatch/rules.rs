//! The rules of nftables that spread connections over machines.
//!
//! They are the same on all machines and exist on all of them, so that a machine that takes the VIPs over goes on
//! where the one before ended. Only the machine that has the VIPs gets packets of clients; the others get them from
//! it, and know them by its hardware address.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use super::buckets::{BUCKETS, assign};
use super::network::Mac;

/// All machines must use the same.
const SEED: u32 = 0x7665_6465;
/// ICMP errors in a second that all machines get. A flood stays with the machine that has the VIPs.
const ERRORS_PER_SECOND: u32 = 1000;
/// The chain with the hook.
pub(super) const CHAIN: &str = "spread";

/// What the rules depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) interface: String,
    /// Address and hardware address of this machine.
    pub(super) own: (IpAddr, Mac),
    /// Other machines of the group whose hardware addresses are known: packets from them end here.
    pub(super) peers: BTreeMap<IpAddr, Mac>,
    /// Machines that serve, among all of them.
    pub(super) serving: BTreeSet<IpAddr>,
    /// Where services listen.
    pub(super) services: BTreeSet<SocketAddr>,
}

impl Rules {
    /// Machines that serve, and to which this one can send.
    pub(super) fn reachable(&self) -> BTreeSet<IpAddr> {
        let known =
            |machine: &&IpAddr| **machine == self.own.0 || self.peers.contains_key(*machine);
        self.serving.iter().filter(known).copied().collect()
    }

    /// Whether other machines get anything.
    pub(super) fn is_needed(&self) -> bool {
        !self.services.is_empty() && self.reachable().iter().any(|one| *one != self.own.0)
    }

    /// A table of this name.
    pub(super) fn table(&self, name: &str) -> String {
        let reachable = self.reachable();
        let others: Vec<(IpAddr, Mac)> =
            self.peers.iter().map(|(address, mac)| (*address, *mac)).collect();
        let others: Vec<_> =
            others.into_iter().filter(|(address, _)| reachable.contains(address)).collect();
        // The owner flag lets the kernel remove the table with the process that made it.
        let mut text =
            format!("# Written by vedette engine.\ntable netdev {name} {{\n  flags owner\n");
        for family in FAMILIES {
            let services = self.services.iter().filter(|one| family.has(one.ip()));
            let elements: Vec<String> =
                services.map(|one| format!("{} . {}", one.ip(), one.port())).collect();
            family.set(&mut text, "services", " . inet_service", &elements);
            let vips: BTreeSet<IpAddr> = self.services.iter().map(SocketAddr::ip).collect();
            let vips: Vec<String> =
                vips.iter().filter(|vip| family.has(**vip)).map(IpAddr::to_string).collect();
            family.set(&mut text, "vips", "", &vips);
        }
        self.chains(&mut text, &others);
        self.hook(&mut text, &others, &assign(&reachable));
        text.push_str("}\n");
        text
    }

    /// Ways to the other machines: each alone, and all for errors, because they name a connection in the packet that
    /// they are about.
    fn chains(&self, text: &mut String, others: &[(IpAddr, Mac)]) {
        let Self { interface, own: (_, own), .. } = self;
        for (number, (address, mac)) in others.iter().enumerate() {
            let _infallible = write!(
                text,
                "  chain machine{number} {{\n    comment \"{address}\"\n    counter\n    \
                   ether saddr set {own}\n    ether daddr set {mac}\n    fwd to \"{interface}\"\n  }}\n"
            );
        }
        let _infallible =
            write!(text, "  chain all_machines {{\n    counter\n    ether saddr set {own}\n");
        for (_, mac) in others {
            let _infallible = writeln!(text, "    ether daddr set {mac} dup to \"{interface}\"");
        }
        let _infallible = write!(text, "    ether daddr set {own} accept\n  }}\n");
    }

    fn hook(&self, text: &mut String, others: &[(IpAddr, Mac)], buckets: &[IpAddr]) {
        let peers: Vec<String> = self.peers.values().map(Mac::to_string).collect();
        let _infallible = write!(
            text,
            "  chain {CHAIN} {{\n    \
               type filter hook ingress device \"{}\" priority 0; policy accept;\n    \
               meta pkttype != host accept\n    \
               ether saddr {{ {} }} accept\n    \
               ip frag-off & 0x3fff != 0 accept\n    \
               exthdr frag exists accept\n",
            self.interface,
            peers.join(", "),
        );
        let targets: BTreeMap<IpAddr, usize> =
            others.iter().enumerate().map(|(number, (address, _))| (*address, number)).collect();
        let to = |(bucket, machine): (usize, &IpAddr)| {
            let number = targets.get(machine)?;
            Some(format!("{bucket} : goto machine{number}"))
        };
        let elements: Vec<String> = buckets.iter().enumerate().filter_map(to).collect();
        for family in
            FAMILIES.iter().filter(|family| self.services.iter().any(|one| family.has(one.ip())))
        {
            let Family { ip, number, errors, .. } = family;
            let _infallible = write!(
                text,
                "    {ip} daddr @vips{number} {errors} limit rate {ERRORS_PER_SECOND}/second goto all_machines\n    \
                   meta l4proto {{ tcp, udp }} {ip} daddr . th dport @services{number} \
                   jhash {ip} saddr . th sport mod {BUCKETS} seed {SEED} vmap {{\n{}\n    }}\n",
                lines(&elements),
            );
        }
        text.push_str("  }\n");
    }
}

/// A version of IP, in the words of nftables.
struct Family {
    ip: &'static str,
    number: u8,
    address: &'static str,
    errors: &'static str,
}

const FAMILIES: [Family; 2] = [
    Family {
        ip: "ip",
        number: 4,
        address: "ipv4_addr",
        errors: "icmp type { destination-unreachable, time-exceeded, parameter-problem }",
    },
    Family {
        ip: "ip6",
        number: 6,
        address: "ipv6_addr",
        errors: "icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem }",
    },
];

impl Family {
    const fn has(&self, address: IpAddr) -> bool {
        address.is_ipv4() == (self.number == 4)
    }

    fn set(&self, text: &mut String, name: &str, more: &str, elements: &[String]) {
        let Self { number, address, .. } = self;
        if !elements.is_empty() {
            let elements = lines(elements);
            let _infallible = write!(
                text,
                "  set {name}{number} {{\n    type {address}{more}\n    elements = {{\n{elements}\n    }}\n  }}\n"
            );
        }
    }
}

/// Elements, some on each line.
fn lines(elements: &[String]) -> String {
    let lines: Vec<String> =
        elements.chunks(4).map(|line| format!("      {}", line.join(", "))).collect();
    lines.join(",\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mac(last: u8) -> Mac {
        Mac::parse(&format!("02:00:00:00:00:{last:02x}")).unwrap()
    }

    fn machine(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// Machines 1 to 4, of which the first makes the rules; 2 to 4 serve.
    fn rules(services: &[&str]) -> Rules {
        Rules {
            interface: "eth0.5".to_owned(),
            own: (machine(1), mac(1)),
            peers: [2, 3].map(|number| (machine(number), mac(number))).into(),
            serving: [2, 4].map(machine).into(),
            services: services.iter().map(|one| one.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn only_machines_with_a_known_hardware_address_get_packets() {
        let rules = rules(&["192.0.2.1:80", "192.0.2.1:443"]);
        assert_eq!(rules.reachable(), [machine(2)].into());
        let text = rules.table("t");
        assert_eq!(text.matches(": goto machine0").count(), usize::from(BUCKETS), "{text}");
        assert!(!text.contains("machine1"), "{text}");
        let to_it = "ether saddr set 02:00:00:00:00:01\n    ether daddr set 02:00:00:00:00:02\n    fwd to \"eth0.5\"";
        assert!(text.contains(to_it), "{text}");
        // Also machines that do not serve may have the VIPs.
        assert!(
            text.contains("ether saddr { 02:00:00:00:00:02, 02:00:00:00:00:03 } accept\n"),
            "{text}"
        );
        assert!(text.contains("192.0.2.1 . 80, 192.0.2.1 . 443\n"), "{text}");
        assert!(!text.contains("@services6") && !text.contains("set vips6"), "{text}");
    }

    #[test]
    fn buckets_of_this_machine_have_no_target() {
        let mut rules = rules(&["[2001:db8::1]:80"]);
        rules.serving = [1, 2, 3].map(machine).into();
        let text = rules.table("t");
        let buckets = assign(&rules.serving);
        for (number, other) in [(0, machine(2)), (1, machine(3))] {
            let count = buckets.iter().filter(|one| **one == other).count();
            assert_eq!(text.matches(&format!(": goto machine{number}")).count(), count);
        }
        assert!(
            text.contains("ip6 daddr . th dport @services6 jhash ip6 saddr . th sport"),
            "{text}"
        );
        assert!(!text.contains("@services4"), "{text}");
    }

    #[test]
    fn no_table_is_needed_while_this_machine_is_alone() {
        let alone = |numbers: &[u8]| {
            let mut rules = rules(&["192.0.2.1:80"]);
            rules.serving = numbers.iter().copied().map(machine).collect();
            !rules.is_needed()
        };
        assert!(alone(&[1]) && alone(&[1, 4]) && !alone(&[1, 2]) && !alone(&[3]));
        assert!(!rules(&[]).is_needed());
    }
}
