//! `vm.memory.size` and `system.swap.*` from `/proc/meminfo`, `/proc/swaps`, `/proc/vmstat`.

use super::{Answer, Params, float, percent, read_text};
use crate::Agent;

/// Bytes of one line of `/proc/meminfo`.
fn meminfo(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (found, rest) = line.split_once(':')?;
        if found != name {
            return None;
        }
        let kib: u64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    })
}

/// Bytes of memory of this machine.
pub(super) fn total() -> Result<u64, String> {
    meminfo(&read_text("/proc/meminfo")?, "MemTotal")
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "Cannot obtain \"MemTotal\" from /proc/meminfo.".into())
}

pub(super) fn size(_: &Agent, params: &Params) -> Answer {
    size_of(&read_text("/proc/meminfo")?, params.get(0))
}

fn size_of(text: &str, mode: &str) -> Answer {
    let get = |name: &str| {
        meminfo(text, name).ok_or_else(|| format!("Cannot obtain \"{name}\" from /proc/meminfo."))
    };
    // Kernels before 3.14 do not tell what is available.
    let available =
        || get("MemAvailable").or_else(|_| Ok(get("MemFree")? + get("Buffers")? + get("Cached")?));
    let share = |part: Result<u64, String>| -> Answer {
        let total = get("MemTotal")?;
        if total == 0 {
            return Err("Cannot calculate percentage because total is zero.".into());
        }
        Ok(float(percent(part?, total)))
    };
    let used = || Ok(get("MemTotal")?.saturating_sub(get("MemFree")?));
    let number = match mode {
        "" | "total" => get("MemTotal"),
        "free" => get("MemFree"),
        "used" => used(),
        "pused" => return share(used()),
        "available" => available(),
        "pavailable" => return share(available()),
        "buffers" => get("Buffers"),
        "cached" => get("Cached"),
        "active" => get("Active"),
        "inactive" => get("Inactive"),
        "anon" => get("AnonPages"),
        "slab" => get("Slab"),
        "shared" => return Err("Supported for Linux 2.4 only.".into()),
        _ => return Params::invalid(0),
    };
    number.map(|bytes| bytes.to_string())
}

/// Total and used bytes of swap: of all devices, or of one of `/proc/swaps`.
fn swap_bytes(meminfo_text: &str, swaps: &str, device: &str) -> Result<(u64, u64), String> {
    if device.is_empty() || device == "all" {
        let get = |name| meminfo(meminfo_text, name).ok_or("Cannot obtain swap information.");
        let total = get("SwapTotal")?;
        return Ok((total, total.saturating_sub(get("SwapFree")?)));
    }
    for line in swaps.lines().skip(1) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, _, total, used, ..] = words.as_slice() else { continue };
        if *name == device || name.strip_prefix("/dev/") == Some(device) {
            let bytes = |kib: &str| kib.parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024));
            if let (Some(total), Some(used)) = (bytes(total), bytes(used)) {
                return Ok((total, used));
            }
        }
    }
    Params::invalid(0)
}

pub(super) fn swap_size(_: &Agent, params: &Params) -> Answer {
    let modes = &[("free", 'f'), ("total", 't'), ("used", 'u'), ("pfree", 'F'), ("pused", 'U')];
    let mode = params.choose(1, modes)?;
    let swaps = read_text("/proc/swaps").unwrap_or_default();
    let (total, used) = swap_bytes(&read_text("/proc/meminfo")?, &swaps, params.get(0))?;
    let free = total.saturating_sub(used);
    Ok(match mode {
        'f' => free.to_string(),
        't' => total.to_string(),
        'u' => used.to_string(),
        // Without swap all of it is free.
        'F' => float(if total == 0 { 100.0 } else { percent(free, total) }),
        _ => float(if total == 0 { 0.0 } else { percent(used, total) }),
    })
}

pub(super) fn swap_in(_: &Agent, params: &Params) -> Answer {
    swap_traffic(params, "pswpin", 0)
}

pub(super) fn swap_out(_: &Agent, params: &Params) -> Answer {
    swap_traffic(params, "pswpout", 1)
}

/// Pages of the whole machine from `/proc/vmstat`; operations and sectors per device from
/// `/proc/diskstats`, summed over the devices that hold swap.
fn swap_traffic(params: &Params, page_counter: &str, direction: usize) -> Answer {
    let device = params.get(0);
    let all = device.is_empty() || device == "all";
    let mode = match params.get(1) {
        "" if all => "pages",
        "" => "sectors",
        mode @ ("count" | "sectors" | "pages") => mode,
        _ => return Params::invalid(1),
    };
    if mode == "pages" {
        if !all {
            return Params::invalid(0);
        }
        let pages = super::cpu::stat_number(&read_text("/proc/vmstat")?, page_counter);
        return pages.map(|n| n.to_string()).ok_or("Cannot obtain swap information.".into());
    }
    let swaps = read_text("/proc/swaps").unwrap_or_default();
    let stats = read_text("/proc/diskstats")?;
    let names: Vec<&str> = swap_devices(&swaps)
        .filter(|name| all || *name == device || name.strip_prefix("/dev/") == Some(device))
        .collect();
    if names.is_empty() && !all {
        return Err("Cannot obtain swap information.".into());
    }
    let column = 2 * direction + usize::from(mode == "sectors");
    let sum: u64 = super::dev::parse_diskstats(&stats)
        .filter(|disk| names.iter().any(|name| name.strip_prefix("/dev/") == Some(&disk.name)))
        .map(|disk| disk.counters[column])
        .sum();
    Ok(sum.to_string())
}

fn swap_devices(swaps: &str) -> impl Iterator<Item = &str> {
    swaps.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       1000 kB\nMemFree:         400 kB\n\
        MemAvailable:    600 kB\nBuffers:          10 kB\nCached:          100 kB\n\
        Active:           50 kB\nInactive:         60 kB\nAnonPages:        70 kB\n\
        Slab:             80 kB\nSwapTotal:       200 kB\nSwapFree:        150 kB\n";
    const SWAPS: &str = "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 100 20 -2\n";

    #[test]
    fn memory_modes_are_those_of_meminfo() {
        for (mode, expected) in [
            ("", "1024000"),
            ("total", "1024000"),
            ("free", "409600"),
            ("used", "614400"),
            ("pused", "60.000000"),
            ("available", "614400"),
            ("pavailable", "60.000000"),
            ("buffers", "10240"),
            ("cached", "102400"),
            ("active", "51200"),
            ("inactive", "61440"),
            ("anon", "71680"),
            ("slab", "81920"),
        ] {
            assert_eq!(size_of(MEMINFO, mode), Ok(expected.to_owned()), "{mode}");
        }
        let old = MEMINFO.replace("MemAvailable", "X");
        assert_eq!(size_of(&old, "available"), Ok((510 * 1024).to_string()));
        assert_eq!(size_of(MEMINFO, "wired"), Err("Invalid first parameter.".to_owned()));
        assert!(size_of("", "total").is_err());
        assert!(size_of("MemTotal: 99999999999999999999 kB", "total").is_err());
    }

    #[test]
    fn swap_is_summed_or_of_one_device() {
        for (device, expected) in [
            ("", Some((200, 50))),
            ("all", Some((200, 50))),
            ("/dev/sda2", Some((100, 20))),
            ("sda2", Some((100, 20))),
            ("sda1", None),
        ] {
            let expected = expected.map(|(t, u)| (t * 1024, u * 1024));
            assert_eq!(swap_bytes(MEMINFO, SWAPS, device).ok(), expected, "{device}");
        }
    }
}
