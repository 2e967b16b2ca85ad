//! `system.cpu.*` from `/proc/stat` and `/proc/loadavg`.

use serde_json::json;

use super::params::AVERAGES;
use super::{Answer, Params, float, percent, read_text};
use crate::Agent;

/// Columns of a `cpu` line in `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal,
/// guest, guest nice.
pub(crate) const STATES: usize = 10;

/// Parameter names of [`STATES`] in the order of the columns; user is the default.
const STATE_NAMES: &[(&str, usize)] = &[
    ("user", 0),
    ("nice", 1),
    ("system", 2),
    ("idle", 3),
    ("iowait", 4),
    ("interrupt", 5),
    ("softirq", 6),
    ("steal", 7),
    ("guest", 8),
    ("guest_nice", 9),
];

const ONLINE: &str = "/sys/devices/system/cpu/online";
const PRESENT: &str = "/sys/devices/system/cpu/present";

/// Ticks per processor (`None` = all together). The kernel counts guest time as user time too;
/// it is taken out of there.
pub(crate) fn parse_ticks(stat: &str) -> impl Iterator<Item = (Option<u32>, [u64; STATES])> {
    stat.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let cpu = words.next()?.strip_prefix("cpu")?;
        let cpu = if cpu.is_empty() { None } else { Some(cpu.parse().ok()?) };
        let mut ticks = [0_u64; STATES];
        for (slot, word) in ticks.iter_mut().zip(words) {
            *slot = word.parse().ok()?;
        }
        ticks[0] = ticks[0].saturating_sub(ticks[8]);
        ticks[1] = ticks[1].saturating_sub(ticks[9]);
        Some((cpu, ticks))
    })
}

/// Share of one state in the ticks between two samples, percent; since boot if they are one.
fn share(before: &[u64; STATES], now: &[u64; STATES], seconds: usize, state: usize) -> f64 {
    let spent = |i: usize| {
        if seconds == 0 { now[i] } else { now[i].saturating_sub(before[i]) }
    };
    let total: u64 = (0..STATES).map(spent).sum();
    if total == 0 { 0.0 } else { percent(spent(state), total) }
}

pub(super) fn util(agent: &Agent, params: &Params) -> Answer {
    let cpu = match params.get(0) {
        "" | "all" => None,
        number => match number.parse::<u32>() {
            Ok(number) => Some(number),
            Err(_) => return Params::invalid(0),
        },
    };
    let state = params.choose(1, STATE_NAMES)?;
    let seconds = params.choose(2, AVERAGES)?;
    let (before, now, seconds) =
        agent.sampler().cpu(cpu, seconds).ok_or("Cannot obtain CPU information.")?;
    Ok(float(share(&before, &now, seconds, state)))
}

pub(super) fn load(_: &Agent, params: &Params) -> Answer {
    let per_cpu = params.choose(0, &[("all", false), ("percpu", true)])?;
    let column = params.choose(1, &[("avg1", 0), ("avg5", 1), ("avg15", 2)])?;
    let text = read_text("/proc/loadavg")?;
    let load = parse_load(&text, column).ok_or("Cannot obtain load average.")?;
    let divisor = if per_cpu { f64::from(count_list(&read_text(ONLINE)?).max(1)) } else { 1.0 };
    Ok(float(load / divisor))
}

fn parse_load(text: &str, column: usize) -> Option<f64> {
    text.split_ascii_whitespace().nth(column)?.parse().ok()
}

pub(super) fn num(_: &Agent, params: &Params) -> Answer {
    let path = params.choose(0, &[("online", ONLINE), ("max", PRESENT)])?;
    Ok(count_list(&read_text(path)?).to_string())
}

/// `0-3,5` are 5.
fn count_list(text: &str) -> u32 {
    ranges(text).map(|(first, last)| last - first + 1).sum()
}

fn ranges(text: &str) -> impl Iterator<Item = (u32, u32)> {
    text.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < 1 << 16).then_some((first, last))
    })
}

pub(super) fn discovery(_: &Agent, _: &Params) -> Answer {
    let present = read_text(PRESENT)?;
    let online = read_text(ONLINE)?;
    let is_online = |cpu: u32| ranges(&online).any(|(first, last)| (first..=last).contains(&cpu));
    let rows: Vec<_> = ranges(&present)
        .flat_map(|(first, last)| first..=last)
        .map(|cpu| {
            let status = if is_online(cpu) { "online" } else { "offline" };
            json!({ "{#CPU.NUMBER}": cpu, "{#CPU.STATUS}": status })
        })
        .collect();
    Ok(json!(rows).to_string())
}

/// The first number behind a word at the start of a line of `/proc/stat`.
pub(super) fn stat_number(stat: &str, name: &str) -> Option<u64> {
    stat.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some(name)).then(|| words.next()?.parse().ok())?
    })
}

pub(super) fn intr(_: &Agent, _: &Params) -> Answer {
    let number = stat_number(&read_text("/proc/stat")?, "intr");
    number.map(|n| n.to_string()).ok_or_else(|| "Cannot find \"intr\" in /proc/stat.".into())
}

pub(super) fn switches(_: &Agent, _: &Params) -> Answer {
    let number = stat_number(&read_text("/proc/stat")?, "ctxt");
    number.map(|n| n.to_string()).ok_or_else(|| "Cannot find \"ctxt\" in /proc/stat.".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 20 30 400 50 6 7 8 40 5\ncpu0 50 10 15 200 25 3 4 4 20 2\n\
                        intr 1006791 0 1\nctxt 2012044\nbtime 1795255031\nprocesses 9\n";

    #[test]
    fn ticks_are_read_without_guest_time_in_user_time() {
        let all: Vec<_> = parse_ticks(STAT).collect();
        assert_eq!(all[0], (None, [60, 15, 30, 400, 50, 6, 7, 8, 40, 5]));
        assert_eq!(all[1].0, Some(0));
        assert_eq!(all.len(), 2);
        let old_kernel: Vec<_> = parse_ticks("cpu 1 2 3 4\ncpux 1\ncpu1 x\n").collect();
        assert_eq!(old_kernel, [(None, [1, 2, 3, 4, 0, 0, 0, 0, 0, 0])]);
    }

    #[test]
    fn shares_are_of_the_time_between_the_samples() {
        let (mut before, mut now) = ([0; STATES], [0; STATES]);
        (before[0], before[3], now[0], now[3]) = (100, 900, 125, 975);
        for (seconds, state, expected) in [(60, 0, 25.0), (60, 3, 75.0), (60, 1, 0.0)] {
            assert!((share(&before, &now, seconds, state) - expected).abs() < 1e-9);
        }
        assert!((share(&now, &now, 0, 3) - 100.0 * 975.0 / 1100.0).abs() < 1e-9);
        assert!(share(&now, &now, 60, 3).abs() < 1e-9);
    }

    #[test]
    fn numbers_and_lists_are_read() {
        for (name, expected) in
            [("intr", Some(1_006_791)), ("ctxt", Some(2_012_044)), ("nope", None)]
        {
            assert_eq!(stat_number(STAT, name), expected);
        }
        for (text, count) in [("0\n", 1), ("0-3,5\n", 5), ("", 0), ("3-1", 0), ("0-4000000000", 0)]
        {
            assert_eq!(count_list(text), count, "{text}");
        }
        assert_eq!(parse_load("0.10 0.29 0.31 1/527 99\n", 1), Some(0.29));
        assert_eq!(parse_load("", 0), None);
    }
}
