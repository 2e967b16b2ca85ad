//! The devices of an engine that announces: they exist as long as its process.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::IpAddr;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use stdx::sys::tun::Tun;

/// Names begin with it, and end with the number of the process.
pub(super) const OF_VIPS: &str = "vedvip";

/// Has the VIPs, so that they are addresses of this machine.
pub(super) struct Vips {
    device: Tun,
    addresses: BTreeSet<IpAddr>,
}

fn device(kind: &str) -> anyhow::Result<Tun> {
    let name = format!("{kind}{}", std::process::id());
    up(&name, Tun::create(&name))
}

fn up(name: &str, made: std::io::Result<Tun>) -> anyhow::Result<Tun> {
    let device = made.with_context(|| {
        format!("cannot make the device {name}: 'announce' needs CAP_NET_ADMIN and /dev/net/tun")
    })?;
    ip(&format!("link set dev {name} addrgenmode none up\n"))
        .or_else(|_| ip(&format!("link set dev {name} up\n")))?;
    Ok(device)
}

/// The routes to VIPs refer to it: they end with it.
pub(super) fn of_routes(prefix: &str) -> anyhow::Result<Tun> {
    device(prefix)
}

/// A device that processes of this machine share. It ends with the last of them.
pub(super) fn shared(name: &str) -> anyhow::Result<Tun> {
    up(name, Tun::share(name))
}

/// How many processes share a device.
pub(super) fn processes(name: &str) -> u64 {
    let shown =
        Command::new("ip").args(["-details", "-json", "link", "show", "dev", name]).output();
    let shown = shown.map(|shown| shown.stdout).unwrap_or_default();
    let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap_or_default();
    shown
        .pointer("/0/linkinfo/info_data/numqueues")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0)
}

impl Vips {
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Self { device: device(OF_VIPS)?, addresses: BTreeSet::new() })
    }

    /// Adds the addresses that are missing.
    pub(super) fn add(&mut self, wanted: &BTreeSet<IpAddr>) -> anyhow::Result<()> {
        let missing: Vec<IpAddr> = wanted.difference(&self.addresses).copied().collect();
        self.change("replace", &missing)?;
        self.addresses.extend(missing);
        Ok(())
    }

    /// Removes those that are no longer wanted.
    pub(super) fn retain(&mut self, wanted: &BTreeSet<IpAddr>) -> anyhow::Result<()> {
        let surplus: Vec<IpAddr> = self.addresses.difference(wanted).copied().collect();
        self.change("del", &surplus)?;
        self.addresses.retain(|address| wanted.contains(address));
        Ok(())
    }

    fn change(&self, verb: &str, addresses: &[IpAddr]) -> anyhow::Result<()> {
        let name = self.device.name();
        let lines = addresses.iter().map(|address| match address {
            IpAddr::V4(_) => format!("address {verb} {address}/32 dev {name}\n"),
            IpAddr::V6(_) if verb == "del" => format!("address del {address}/128 dev {name}\n"),
            IpAddr::V6(_) => format!("address {verb} {address}/128 dev {name} nodad\n"),
        });
        let lines: String = lines.collect();
        if lines.is_empty() { Ok(()) } else { ip(&lines) }
    }
}

/// Runs commands of iproute2.
fn ip(lines: &str) -> anyhow::Result<()> {
    let child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.context("cannot run 'ip'; install iproute2")?;
    let Some(mut input) = child.stdin.take() else { bail!("BUG: 'ip' has no input") };
    input.write_all(lines.as_bytes())?;
    drop(input);
    let output = child.wait_with_output()?;
    let problem = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {}: {}", lines.trim(), problem.trim());
    Ok(())
}
