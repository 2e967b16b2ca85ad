//! CPU time and memory of a process with all its descendants, from `/proc` (proc(5)).

use std::collections::BTreeSet;

use anyhow::bail;

/// Unit of the times in `/proc/PID/stat` that Linux shows to programs on every architecture.
const TICKS_PER_S: f64 = 100.0;

/// What a process tree has used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Usage {
    /// User and system time, seconds; children that ended and were waited for included.
    pub(crate) cpu_s: f64,
    /// Resident memory, bytes, summed: memory that processes share counts once for each.
    pub(crate) rss_bytes: u64,
    pub(crate) processes: usize,
}

/// One line of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    pid: u32,
    parent: u32,
    /// Own time and that of children that were waited for.
    ticks: u64,
    rss_pages: u64,
}

impl Stat {
    /// The name of the program stands in parentheses and may hold spaces and parentheses itself.
    fn parse(line: &str) -> Option<Self> {
        let (pid, rest) = line.split_once(' ')?;
        let (_, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        // Field 3 (state) is the first after the name.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self {
            pid: pid.parse().ok()?,
            parent: u32::try_from(field(4)?).ok()?,
            ticks: field(14)? + field(15)? + field(16)? + field(17)?,
            rss_pages: field(24)?,
        })
    }
}

/// The processes `roots` and all that descend from them.
fn tree(roots: &[u32], all: &[Stat]) -> Vec<Stat> {
    let mut members: BTreeSet<u32> = roots.iter().copied().collect();
    loop {
        let before = members.len();
        members.extend(
            all.iter().filter(|s| members.contains(&s.parent)).map(|s| s.pid).collect::<Vec<_>>(),
        );
        if members.len() == before {
            break;
        }
    }
    all.iter().filter(|stat| members.contains(&stat.pid)).copied().collect()
}

fn processes() -> Vec<Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter_map(|line| Stat::parse(&line))
        .collect()
}

/// What is measured: the trees of some processes.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    roots: Vec<u32>,
}

impl Meter {
    /// Refuses processes that do not exist. No process at all is fine: nothing is measured.
    pub(crate) fn new(pids: &[u32]) -> anyhow::Result<Self> {
        for pid in pids {
            if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
                bail!("there is no process {pid}: --pid wants the server's process id");
            }
        }
        Ok(Self { roots: pids.to_vec() })
    }

    /// What the trees have used so far; `None` where nothing is measured or all have ended.
    pub(crate) fn usage(&self) -> Option<Usage> {
        if self.roots.is_empty() {
            return None;
        }
        let members = tree(&self.roots, &processes());
        if members.is_empty() {
            return None;
        }
        let page_bytes = 4096;
        let ticks: u64 = members.iter().map(|stat| stat.ticks).sum();
        Some(Usage {
            cpu_s: ticks as f64 / TICKS_PER_S,
            rss_bytes: members.iter().map(|stat| stat.rss_pages * page_bytes).sum(),
            processes: members.len(),
        })
    }

    /// Proportional resident memory, bytes: what processes share is counted once. `None` where
    /// the kernel does not let us look. Slow, as the kernel walks all page tables.
    pub(crate) fn pss_bytes(&self) -> Option<u64> {
        if self.roots.is_empty() {
            return None;
        }
        let sizes: Vec<u64> = tree(&self.roots, &processes())
            .iter()
            .map(|stat| format!("/proc/{}/smaps_rollup", stat.pid))
            .filter_map(|path| parse_pss(&std::fs::read_to_string(path).ok()?))
            .collect();
        // A process that ends meanwhile has no memory; if none has any, we may not look.
        (!sizes.is_empty()).then(|| sizes.iter().sum())
    }
}

/// `Pss:      1234 kB` of a `smaps_rollup`, in bytes.
fn parse_pss(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 8190 55 0 0 120 30 7 3 20 0 9 0 \
                        4500 123456789 2048 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0";

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let stat = Stat::parse(LINE).unwrap();
        assert_eq!(stat, Stat { pid: 4711, parent: 1, ticks: 160, rss_pages: 2048 });
    }

    #[test]
    fn damaged_lines_are_no_process() {
        for line in ["", "1", "1 (x", "1 (x) S", "x (y) S 1 1 1", "1 (x) S 1 2 3 4 5 6 7 8 9 10"] {
            assert_eq!(Stat::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_tree_contains_grandchildren_and_no_other_process() {
        let stat = |pid, parent| Stat { pid, parent, ticks: 1, rss_pages: 1 };
        // A child may have a lower id than its parent.
        let all = [stat(1, 0), stat(9, 1), stat(5, 9), stat(7, 5), stat(8, 1), stat(3, 8)];
        let pids =
            |roots: &[u32]| -> Vec<u32> { tree(roots, &all).iter().map(|s| s.pid).collect() };
        assert_eq!(pids(&[9]), [9, 5, 7]);
        assert_eq!(pids(&[9, 7]), [9, 5, 7]);
        assert_eq!(pids(&[8, 9]), [9, 5, 7, 8, 3]);
        assert_eq!(pids(&[4]), [0; 0]);
    }

    #[test]
    fn pss() {
        let text =
            "00400000-7ffd rollup\nRss:   900 kB\nPss:              12 kB\nPss_Dirty: 1 kB\n";
        assert_eq!(parse_pss(text), Some(12 * 1024));
        assert_eq!(parse_pss("Rss: 1 kB"), None);
        assert_eq!(parse_pss("Pss: many kB"), None);
    }

    #[test]
    fn this_process_is_measured() {
        let meter = Meter::new(&[std::process::id()]).unwrap();
        let usage = meter.usage().unwrap();
        assert!(usage.processes >= 1 && usage.rss_bytes > 4096, "{usage:?}");
        assert!(Meter::new(&[u32::MAX]).is_err());
        assert_eq!(Meter::new(&[]).unwrap().usage(), None);
    }
}
