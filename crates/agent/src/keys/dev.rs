//! `vfs.dev.*`: block devices, from `/proc/diskstats` and `/sys/dev/block`.

use serde_json::{Value, json};

use super::params::AVERAGES;
use super::{Answer, Params, float, read_text};
use crate::Agent;
use crate::sampler::DiskCounters;

/// One line of `/proc/diskstats`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    pub(crate) name: String,
    pub(crate) counters: DiskCounters,
}

/// Columns: major, minor, name, reads, reads merged, sectors read, ms, writes, writes merged,
/// sectors written, …
pub(crate) fn parse_diskstats(text: &str) -> impl Iterator<Item = Disk> {
    text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |at: usize| words.get(at)?.parse().ok();
        let name = (*words.get(2)?).to_owned();
        Some(Disk { name, counters: [number(3)?, number(5)?, number(7)?, number(9)?] })
    })
}

pub(super) fn read(agent: &Agent, params: &Params) -> Answer {
    traffic(agent, params, 0)
}

pub(super) fn write(agent: &Agent, params: &Params) -> Answer {
    traffic(agent, params, 2)
}

#[derive(Clone, Copy)]
enum Kind {
    Total(usize),
    PerSecond(usize),
}

fn traffic(agent: &Agent, params: &Params, first: usize) -> Answer {
    let kinds = &[
        ("sps", Kind::PerSecond(first + 1)),
        ("ops", Kind::PerSecond(first)),
        ("sectors", Kind::Total(first + 1)),
        ("operations", Kind::Total(first)),
    ];
    let kind = params.choose(1, kinds)?;
    if matches!(kind, Kind::Total(_)) && params.count() > 2 {
        return Err("Invalid number of parameters.".into());
    }
    let seconds = params.choose(2, AVERAGES)?;
    let device = params.get(0);
    let device = device.strip_prefix("/dev/").unwrap_or(device);
    let device = if device == "all" { "" } else { device };
    let disks: Vec<Disk> = parse_diskstats(&read_text("/proc/diskstats")?).collect();
    if !device.is_empty() && disks.iter().all(|disk| disk.name != device) {
        return Err("Cannot obtain device name used internally by the kernel.".into());
    }
    match kind {
        Kind::Total(column) => Ok(total(&disks, device, column).to_string()),
        Kind::PerSecond(column) => Ok(float(speed(agent, device, column, seconds))),
    }
}

/// Of one device, or of all whole devices: partitions are counted in theirs.
fn total(disks: &[Disk], device: &str, column: usize) -> u64 {
    disks
        .iter()
        .filter(|disk| if device.is_empty() { is_whole(&disk.name) } else { disk.name == device })
        .map(|disk| disk.counters[column])
        .sum()
}

fn is_whole(name: &str) -> bool {
    std::path::Path::new("/sys/block").join(name.replace('/', "!")).exists()
}

fn speed(agent: &Agent, device: &str, column: usize, seconds: usize) -> f64 {
    let names = if device.is_empty() {
        agent.sampler().disk_names().into_iter().filter(|name| is_whole(name)).collect()
    } else {
        vec![device.to_owned()]
    };
    names
        .iter()
        .filter_map(|name| agent.sampler().disk(name, seconds))
        .map(|(before, now, seconds)| per_second(before[column], now[column], seconds))
        .sum()
}

#[expect(clippy::cast_precision_loss, reason = "differences of counters within 15 minutes")]
fn per_second(before: u64, now: u64, seconds: usize) -> f64 {
    if seconds == 0 { 0.0 } else { now.saturating_sub(before) as f64 / seconds as f64 }
}

/// Block devices with their kind. Order is the directory's.
pub(super) fn discovery(_: &Agent, _: &Params) -> Answer {
    let dir = std::fs::read_dir("/sys/dev/block")
        .map_err(|e| format!("Cannot open /sys/dev/block: {}", super::system_error(&e)))?;
    let rows: Vec<Value> = dir
        .filter_map(|entry| {
            let path = entry.ok()?.path().join("uevent");
            let (name, kind) = parse_uevent(&std::fs::read_to_string(path).ok()?)?;
            Some(json!({ "{#DEVNAME}": name, "{#DEVTYPE}": kind }))
        })
        .collect();
    Ok(json!(rows).to_string())
}

fn parse_uevent(text: &str) -> Option<(String, String)> {
    let member = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    Some((member("DEVNAME=")?.to_owned(), member("DEVTYPE=").unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = " 254 0 vda 208451 36722 11891826 201286 40949 80077 11141752 41449 0 1 2\n\
                         254 1 vda1 1 2 3 4 5 6 7 8 9\n 7 0\n 8 0 sda x\n";

    #[test]
    fn diskstats_are_read() {
        let disks: Vec<Disk> = parse_diskstats(STATS).collect();
        assert_eq!(disks.len(), 2);
        assert_eq!(disks[0].counters, [208_451, 11_891_826, 40_949, 11_141_752]);
        assert_eq!(total(&disks, "vda1", 3), 7);
        assert_eq!(total(&disks, "nope", 0), 0);
    }

    #[test]
    fn speeds_are_per_second() {
        assert!((per_second(100, 400, 60) - 5.0).abs() < 1e-9);
        assert!(per_second(100, 400, 0).abs() < 1e-9);
        assert!(per_second(400, 100, 60).abs() < 1e-9);
    }

    #[test]
    fn uevents_are_read() {
        let text = "MAJOR=254\nMINOR=0\nDEVNAME=vda\nDEVTYPE=disk\nDISKSEQ=9\n";
        assert_eq!(parse_uevent(text), Some(("vda".into(), "disk".into())));
        assert_eq!(parse_uevent("MAJOR=254\n"), None);
    }
}
