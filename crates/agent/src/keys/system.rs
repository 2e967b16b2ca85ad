//! `system.*`: names, versions and times of this machine.

use serde_json::json;

use super::{Answer, Params, read_text};
use crate::Agent;

/// Name of the processor architecture as the kernel tells it.
const MACHINE: &str = if cfg!(target_arch = "x86") { "i686" } else { std::env::consts::ARCH };

fn kernel(name: &str) -> Answer {
    read_text(&format!("/proc/sys/kernel/{name}")).map(|text| text.trim_end().to_owned())
}

pub(super) fn uname(_: &Agent, _: &Params) -> Answer {
    let (system, host) = (kernel("ostype")?, kernel("hostname")?);
    let (release, version) = (kernel("osrelease")?, kernel("version")?);
    Ok(format!("{system} {host} {release} {version} {MACHINE}"))
}

pub(super) fn arch(_: &Agent, _: &Params) -> Answer {
    Ok(String::from(MACHINE))
}

pub(super) fn os(_: &Agent, params: &Params) -> Answer {
    match params.choose(0, &[("full", 'f'), ("short", 's'), ("name", 'n')])? {
        'f' => version_line("/proc/version"),
        's' => version_line("/proc/version_signature"),
        _ => pretty_name(),
    }
}

fn version_line(path: &str) -> Answer {
    read_text(path).map(|text| text.lines().next().unwrap_or_default().trim_end().to_owned())
}

fn pretty_name() -> Answer {
    let text = read_text("/etc/os-release").or_else(|_| read_text("/usr/lib/os-release"))?;
    parse_pretty_name(&text).ok_or_else(|| "Cannot obtain the system's name.".into())
}

fn parse_pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

pub(super) fn os_get(_: &Agent, _: &Params) -> Answer {
    let name = pretty_name()?;
    let release = kernel("osrelease")?;
    let mut json = json!({ "os_type": "linux", "product_name": name, "architecture": MACHINE });
    for (member, value) in
        ["kernel_major", "kernel_minor", "kernel_patch"].iter().zip(kernel_numbers(&release))
    {
        json[member] = json!(value);
    }
    json["kernel"] = json!(release);
    json["version_pretty"] = json!(format!("{name} {MACHINE} {release}"));
    json["version_full"] = json!(version_line("/proc/version")?);
    Ok(json.to_string())
}

/// `6.18.44-fc` gives 6, 18, 44.
fn kernel_numbers(release: &str) -> impl Iterator<Item = &str> {
    release.split(|c: char| !c.is_ascii_digit()).take(3).filter(|part| !part.is_empty())
}

pub(super) fn hostname(_: &Agent, params: &Params) -> Answer {
    let kind = match params.get(0) {
        "" | "host" => 'h',
        "shorthost" => 's',
        "fqdn" => 'f',
        "netbios" => return Err("NetBIOS is not supported on the current platform.".into()),
        _ => return Params::invalid(0),
    };
    let lower = params.choose(1, &[("none", false), ("lower", true)])?;
    let host = kernel("hostname")?;
    let name = match kind {
        'h' => host,
        's' => host.split('.').next().unwrap_or_default().to_owned(),
        _ => full_name(&read_text("/etc/hosts").unwrap_or_default(), &host),
    };
    Ok(if lower { name.to_lowercase() } else { name })
}

/// The first name on the line of `/etc/hosts` that holds the host's name, with a domain.
fn full_name(hosts: &str, host: &str) -> String {
    let found = hosts.lines().find_map(|line| {
        let line = line.split('#').next()?;
        let mut names = line.split_ascii_whitespace().skip(1);
        let first = names.clone().next()?;
        (names.any(|name| name == host) && first.contains('.')).then(|| first.to_owned())
    });
    found.unwrap_or_else(|| host.to_owned())
}

pub(super) fn uptime(_: &Agent, _: &Params) -> Answer {
    let seconds = parse_uptime(&read_text("/proc/uptime")?);
    seconds.map(|s| s.to_string()).ok_or_else(|| "Cannot obtain uptime.".into())
}

/// A started second counts, as sysinfo(2) counts it.
fn parse_uptime(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let started = rest.bytes().any(|digit| digit != b'0');
    whole.parse::<u64>().ok()?.checked_add(u64::from(started))
}

pub(super) fn boottime(_: &Agent, _: &Params) -> Answer {
    let time = super::cpu::stat_number(&read_text("/proc/stat")?, "btime");
    time.map(|t| t.to_string()).ok_or_else(|| "Cannot find \"btime\" in /proc/stat.".into())
}

pub(super) fn localtime(agent: &Agent, params: &Params) -> Answer {
    let now = agent.clock().unix();
    if params.choose(0, &[("utc", true), ("local", false)])? {
        return Ok(now.as_secs().to_string());
    }
    local_text(now, &jiff::tz::TimeZone::system())
}

/// `2026-11-21,10:34:28.340,+00:00`
fn local_text(unix: std::time::Duration, zone: &jiff::tz::TimeZone) -> Answer {
    let time = i64::try_from(unix.as_millis())
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .ok_or("Cannot obtain the local time.")?
        .to_zoned(zone.clone());
    Ok(time.strftime("%Y-%m-%d,%H:%M:%S.%3f,%:z").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_has_milliseconds_and_offset() {
        let unix = std::time::Duration::from_millis(1_795_257_268_340);
        for (zone, expected) in [
            (jiff::tz::TimeZone::UTC, "2026-11-21,10:34:28.340,+00:00"),
            (jiff::tz::TimeZone::fixed(jiff::tz::offset(-3)), "2026-11-21,07:34:28.340,-03:00"),
        ] {
            assert_eq!(local_text(unix, &zone).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_started_second_counts() {
        for (text, expected) in
            [("5.00 9.1\n", Some(5)), ("5.01 9.1\n", Some(6)), ("", None), ("x.1", None)]
        {
            assert_eq!(parse_uptime(text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_read() {
        let release = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        let name = parse_pretty_name(release);
        assert_eq!(name.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(parse_pretty_name("NAME=x\n"), None);
        let numbers: Vec<&str> = kernel_numbers("6.18.44-fc-v669").collect();
        assert_eq!(numbers, ["6", "18", "44"]);
        let hosts = "127.0.0.1 localhost\n127.0.1.1 vm.example.org vm # vm.other\n";
        for (host, expected) in [("vm", "vm.example.org"), ("x", "x"), ("localhost", "localhost")] {
            assert_eq!(full_name(hosts, host), expected);
        }
    }
}
