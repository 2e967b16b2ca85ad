//! What the kernel knows of the network: hardware addresses, and who responds to ARP.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, anyhow, ensure};
use serde_json::Value;

/// Hardware address of Ethernet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mac([u8; 6]);

impl Mac {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':').map(|part| u8::from_str_radix(part, 16).ok());
        let mut mac = [0; 6];
        for byte in &mut mac {
            *byte = parts.next()??;
        }
        // One of a group of receivers, or none, is no machine's.
        (parts.next().is_none() && mac[0] & 1 == 0 && mac != [0; 6]).then_some(Self(mac))
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Settings of a device that keep a machine silent about VIPs that it has on another one, with their least values:
/// respond to ARP for addresses of the device, and ask with one of them.
const OF_ARP: [(&str, u8); 2] = [("arp_ignore", 1), ("arp_announce", 2)];

/// Lets a device respond to ARP only for its own addresses. IPv6 does so anyway.
pub(super) fn restrict_arp(interface: &str) -> anyhow::Result<()> {
    for (name, least) in OF_ARP {
        let path = |device: &str| PathBuf::from(format!("/proc/sys/net/ipv4/conf/{device}/{name}"));
        let current = |device: &str| -> u8 {
            let text = std::fs::read_to_string(path(device)).unwrap_or_default();
            text.trim().parse().unwrap_or(0)
        };
        // The kernel uses the larger one.
        if current("all").max(current(interface)) < least {
            std::fs::write(path(interface), least.to_string()).with_context(|| {
                format!(
                    "'dispatch' needs sysctl net.ipv4.conf.{interface}.{name} = {least}, which cannot be set"
                )
            })?;
            tracing::info!(
                "net.ipv4.conf.{interface}.{name} is now {least}, for VIPs of other machines"
            );
        }
    }
    Ok(())
}

/// Hardware address of a device.
pub(super) fn own(interface: &str) -> anyhow::Result<Mac> {
    let links = ip(&["link", "show", "dev", interface])?;
    let mac = links.pointer("/0/address").and_then(Value::as_str).and_then(Mac::parse);
    mac.ok_or_else(|| anyhow!("the device {interface} has no Ethernet address"))
}

/// Hardware addresses of other machines. The kernel asks for those to which probes are sent, and keeps them current.
pub(super) fn neighbours(
    interface: &str,
    peers: &[IpAddr],
) -> anyhow::Result<BTreeMap<IpAddr, Mac>> {
    Ok(parse_neighbours(&ip(&["neigh", "show", "dev", interface])?, peers))
}

fn parse_neighbours(shown: &Value, peers: &[IpAddr]) -> BTreeMap<IpAddr, Mac> {
    let of = |entry: &Value| {
        let address =
            entry["dst"].as_str()?.parse().ok().filter(|address| peers.contains(address))?;
        Some((address, Mac::parse(entry["lladdr"].as_str()?)?))
    };
    shown.as_array().into_iter().flatten().filter_map(of).collect()
}

/// The output of a command of iproute2.
fn ip(arguments: &[&str]) -> anyhow::Result<Value> {
    let output = Command::new("ip").arg("-json").args(arguments).output();
    let output = output.context("cannot run 'ip'; install iproute2")?;
    let problem = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {}: {}", arguments.join(" "), problem.trim());
    serde_json::from_slice(&output.stdout).context("the output of 'ip' is not JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_one_machine_are_hardware_addresses() {
        let mac = Mac::parse("0e:39:12:09:9B:35").unwrap();
        assert_eq!(mac.to_string(), "0e:39:12:09:9b:35");
        for bad in [
            "",
            "0e:39:12:09:9b",
            "0e:39:12:09:9b:35:00",
            "0e:39:12:09:9b:zz",
            "0e:39:12:09:9b:135",
            "ff:ff:ff:ff:ff:ff",
            "01:00:5e:00:00:01",
            "00:00:00:00:00:00",
            "0e391209:9b35",
        ] {
            assert_eq!(Mac::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn neighbours_are_read_if_their_hardware_address_is_known() {
        let peers =
            ["192.0.2.12", "192.0.2.13", "192.0.2.14", "fd00::2"].map(|one| one.parse().unwrap());
        let shown = serde_json::json!([
            {"dst": "192.0.2.12", "lladdr": "0e:39:12:09:9b:35", "state": ["REACHABLE"]},
            {"dst": "192.0.2.13", "state": ["FAILED"]},
            {"dst": "192.0.2.20", "lladdr": "0e:39:12:09:9b:36", "state": ["STALE"]},
            {"dst": "fd00::2", "lladdr": "0e:39:12:09:9b:37", "router": null, "state": ["STALE"]},
            {"dst": 7}, {}, null,
        ]);
        let found = parse_neighbours(&shown, &peers);
        let found: Vec<String> =
            found.iter().map(|(address, mac)| format!("{address} {mac}")).collect();
        assert_eq!(found, ["192.0.2.12 0e:39:12:09:9b:35", "fd00::2 0e:39:12:09:9b:37"]);
        assert!(parse_neighbours(&Value::Null, &peers).is_empty());
    }
}
