//! `system.hw.*`: processors and network addresses.

use super::{Answer, Params, read_text};
use crate::Agent;

const NO_CPU: &str = "Cannot obtain CPU information.";

/// One processor of `/proc/cpuinfo`.
#[derive(Debug, Default, PartialEq)]
struct Processor {
    number: u32,
    vendor: String,
    model: String,
    mhz: Option<u64>,
}

fn parse_cpuinfo(text: &str) -> Vec<Processor> {
    let mut found: Vec<Processor> = Vec::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if name.trim_end() == "processor" {
            let number = value.parse().unwrap_or(0);
            found.push(Processor { number, ..Processor::default() });
        }
        let Some(last) = found.last_mut() else { continue };
        match name.trim_end() {
            "vendor_id" => value.clone_into(&mut last.vendor),
            "model name" => value.clone_into(&mut last.model),
            "cpu MHz" => last.mhz = value.split('.').next().and_then(|mhz| mhz.parse().ok()),
            _ => (),
        }
    }
    found
}

pub(super) fn cpu(_: &Agent, params: &Params) -> Answer {
    let only = match params.get(0) {
        "" | "all" => None,
        number => match number.parse::<u32>() {
            Ok(number) => Some(number),
            Err(_) => return Params::invalid(0),
        },
    };
    let kinds =
        &[("full", 'a'), ("curfreq", 'c'), ("maxfreq", 'x'), ("model", 'm'), ("vendor", 'v')];
    let kind = params.choose(1, kinds)?;
    let lines: Vec<String> = parse_cpuinfo(&read_text("/proc/cpuinfo")?)
        .iter()
        .filter(|cpu| only.is_none_or(|number| number == cpu.number))
        .filter_map(|cpu| {
            let text = describe(cpu, kind, mhz_max(cpu.number))?;
            Some(if only.is_some() && kind != 'a' {
                text
            } else {
                format!("processor {}: {text}", cpu.number)
            })
        })
        .collect();
    if lines.is_empty() { Err(NO_CPU.into()) } else { Ok(lines.join("\n")) }
}

fn mhz_max(cpu: u32) -> Option<u64> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
    let khz: u64 = read_text(&path).ok()?.trim().parse().ok()?;
    Some(khz / 1000)
}

fn describe(cpu: &Processor, kind: char, max: Option<u64>) -> Option<String> {
    match kind {
        'c' => cpu.mhz.map(|mhz| format!("{mhz}MHz")),
        'x' => max.map(|mhz| format!("{mhz}MHz")),
        'm' => Some(cpu.model.clone()),
        'v' => Some(cpu.vendor.clone()),
        _ => {
            let mut text = format!("{} {}", cpu.vendor, cpu.model);
            if let Some(mhz) = cpu.mhz {
                text.push_str(&format!(" working at {mhz}MHz"));
            }
            if let Some(mhz) = max {
                text.push_str(&format!(" (maximum {mhz}MHz)"));
            }
            Some(text)
        }
    }
}

/// Addresses of interfaces that are up, the loopback left out.
pub(super) fn macaddr(_: &Agent, params: &Params) -> Answer {
    let pattern = params.regex(0)?;
    let with_name = params.choose(1, &[("full", true), ("short", false)])?;
    let dir = std::fs::read_dir("/sys/class/net")
        .map_err(|e| format!("Cannot open /sys/class/net: {}", super::system_error(&e)))?;
    let mut names: Vec<String> =
        dir.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let wanted = pattern.is_empty()
            || eval::regex::is_match(pattern, &name, false).map_err(|e| e.to_string())?;
        if let (true, Some(address)) = (wanted, address(&name)) {
            found.push(if with_name { format!("[{name}] {address}") } else { address });
        }
    }
    Ok(found.join(", "))
}

fn address(name: &str) -> Option<String> {
    const UP: u32 = 1;
    const LOOPBACK: u32 = 8;
    let read = |file: &str| read_text(&format!("/sys/class/net/{name}/{file}")).ok();
    let flags = u32::from_str_radix(read("flags")?.trim().trim_start_matches("0x"), 16).ok()?;
    (flags & (UP | LOOPBACK) == UP).then(|| read("address").map(|text| text.trim().to_owned()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read() {
        let text = "processor\t: 0\nvendor_id\t: V\nmodel name\t: M 1\ncpu MHz\t\t: 2300.006\n\n\
                    processor\t: 1\nvendor_id\t: V\nmodel name\t: M 1\n";
        let found = parse_cpuinfo(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].number, 1);
        for (kind, max, expected) in [
            ('a', None, Some("V M 1 working at 2300MHz")),
            ('a', Some(3000), Some("V M 1 working at 2300MHz (maximum 3000MHz)")),
            ('c', None, Some("2300MHz")),
            ('x', None, None),
            ('m', None, Some("M 1")),
            ('v', None, Some("V")),
        ] {
            assert_eq!(describe(&found[0], kind, max).as_deref(), expected);
        }
        assert_eq!(describe(&found[1], 'c', None), None);
    }
}
