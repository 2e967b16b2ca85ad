//! keepalived: its configuration, the health of this engine for it, and its reload.
//!
//! keepalived watches a network device that exists as long as an engine of this machine. All machines have the same
//! priority, so that VIPs stay where they are when a machine returns.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::config::{Keepalived, LOWERED_MAX};

/// VIPs, and whether their services have usable servers.
pub(super) type Vips = BTreeMap<IpAddr, bool>;

/// Exists as long as an engine of this machine, and not while it gives the VIPs away.
pub(super) fn device(config: &Keepalived) -> String {
    format!("vedvrrp{}", config.virtual_router_id)
}

/// How many VIPs have no usable server. Read as an addition to the priority.
fn health(vips: &Vips) -> String {
    let unusable = vips.values().filter(|usable| !**usable).count();
    format!("-{}\n", unusable.min(usize::from(LOWERED_MAX)))
}

fn path(config: &Keepalived, kind: &str) -> PathBuf {
    config.folder.join(format!("vedette-{}.{kind}", config.virtual_router_id))
}

/// The complete configuration of the group.
fn configuration(config: &Keepalived, vips: &Vips) -> String {
    let mut text = "# Written by vedette engine.\n".to_owned();
    if vips.is_empty() {
        return text;
    }
    let Keepalived { interface, virtual_router_id: id, address, peers, priority, interval, .. } =
        config;
    let peers: String = peers.iter().map(|peer| format!("    {peer}\n")).collect();
    let vips: String = vips
        .keys()
        .map(|vip| format!("    {vip}/{}\n", if vip.is_ipv4() { 32 } else { 128 }))
        .collect();
    // Machines compare it and ignore each other if it differs, so it does not depend on the VIPs: they change on
    // one machine first.
    let compared = match address {
        IpAddr::V4(_) => format!("127.112.0.{id}/32 dev lo scope host"),
        IpAddr::V6(_) => format!("fe80::7000:{id:x}/128 dev lo"),
    };
    let _infallible = write!(
        text,
        "global_defs {{\n  dynamic_interfaces allow_if_changes\n}}\n\
         track_file vedette_{id} {{\n  file \"{}\"\n  weight 1\n}}\n\
         vrrp_instance vedette_{id} {{\n  \
           state BACKUP\n  \
           version 3\n  \
           interface {interface}\n  \
           virtual_router_id {id}\n  \
           priority {priority}\n  \
           advert_int {:.2}\n  \
           unicast_src_ip {address}\n  \
           unicast_peer {{\n{peers}  }}\n  \
           track_interface {{\n    {}\n  }}\n  \
           track_file {{\n    vedette_{id}\n  }}\n  \
           virtual_ipaddress {{\n    {compared}\n  }}\n  \
           virtual_ipaddress_excluded {{\n{vips}  }}\n}}\n",
        path(config, "health").display(),
        interval.0.as_secs_f64(),
        device(config),
    );
    text
}

/// Replaces a file if its text differs; the result says whether it did.
fn replace(path: &Path, text: &str) -> anyhow::Result<bool> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    let replaced = stdx::file::replace(path, text.as_bytes());
    replaced.with_context(|| format!("cannot write {}", path.display()))?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o644))?;
    Ok(true)
}

/// Writes the files; the result says whether keepalived must read its configuration again.
pub(super) fn write(config: &Keepalived, vips: &Vips) -> anyhow::Result<bool> {
    let folder = &config.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    // First, because the configuration refers to it.
    replace(&path(config, "health"), &health(vips))?;
    replace(&path(config, "conf"), &configuration(config, vips))
}

/// Lets keepalived read its configuration again.
pub(super) fn reload(config: &Keepalived) -> anyhow::Result<()> {
    let file = &config.pid_file;
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("keepalived does not run: cannot read {}", file.display()))?;
    let pid = text.trim().parse::<i32>().ok().filter(|pid| *pid > 1).and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| anyhow!("{} has no process number", file.display()))?;
    // The number may be that of another process since.
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    ensure!(
        name.trim() == "keepalived",
        "keepalived does not run: {} names another process",
        file.display()
    );
    kill_process(pid, Signal::HUP).context("cannot tell keepalived to reload")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(address: &str, peer: &str) -> Keepalived {
        let text = format!(
            "networks: [192.0.2.0/24]\nkeepalived: {{interface: eth0, virtual_router_id: 51, \
             address: '{address}', peers: ['{peer}']}}"
        );
        match crate::config::Announce::parse(&text).unwrap().speaker {
            crate::config::Speaker::Keepalived(config) => config,
            crate::config::Speaker::Bird(_) => panic!("it is VRRP"),
        }
    }

    #[test]
    fn what_machines_compare_does_not_depend_on_vips() {
        let compared = |vips: &[&str]| {
            let vips: Vips = vips.iter().map(|vip| (vip.parse().unwrap(), true)).collect();
            let text = configuration(&config("10.0.0.1", "10.0.0.2"), &vips);
            text.lines()
                .skip_while(|line| line.trim() != "virtual_ipaddress {")
                .nth(1)
                .map(str::to_owned)
        };
        assert_eq!(compared(&["192.0.2.1"]), compared(&["192.0.2.0", "2001:db8::1"]));
        assert!(compared(&["192.0.2.1"]).is_some());
        assert_eq!(compared(&[]), None, "keepalived ends if a group has no address");
    }

    #[test]
    fn vips_of_both_families_are_moved() {
        let vips = [("192.0.2.1", true), ("2001:db8::1", false)];
        let vips: Vips = vips.map(|(vip, usable)| (vip.parse().unwrap(), usable)).into();
        let text = configuration(&config("fd00::1", "fd00::2"), &vips);
        assert!(text.contains("{\n    192.0.2.1/32\n    2001:db8::1/128\n  }"), "{text}");
        assert!(text.contains("fe80::7000:33/128 dev lo\n"), "{text}");
        assert!(text.contains("advert_int 0.30\n"), "{text}");
        assert_eq!(health(&vips), "-1\n");
    }

    #[test]
    fn health_lowers_the_priority_by_a_limited_amount() {
        let many = (0..300).map(|n: u32| (IpAddr::from(n.to_be_bytes()), false)).collect();
        assert_eq!(health(&many), "-100\n");
        assert_eq!(health(&[("192.0.2.1".parse().unwrap(), true)].into()), "-0\n");
    }

    #[test]
    fn another_process_gets_no_signal() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config("10.0.0.1", "10.0.0.2");
        config.pid_file = dir.path().join("keepalived.pid");
        let problem = |config: &Keepalived| format!("{:#}", reload(config).unwrap_err());
        assert!(problem(&config).contains("keepalived does not run: cannot read"));
        for (text, expected) in [
            ("", "has no process number"),
            ("-1", "has no process number"),
            ("1", "has no process number"),
            ("x", "has no process number"),
            // SIGHUP would end this one.
            (&std::process::id().to_string(), "names another process"),
            ("2147483647", "names another process"),
        ] {
            std::fs::write(&config.pid_file, text).unwrap();
            assert!(problem(&config).contains(expected), "{text}: {}", problem(&config));
        }
    }
}
