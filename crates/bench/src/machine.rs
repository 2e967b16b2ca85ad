//! How busy the whole machine is, from `/proc/stat` and `/proc/meminfo` (proc(5)).

/// Times of all cores together since the machine started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    total: u64,
    idle: u64,
}

impl CpuTimes {
    /// `None` where the kernel does not tell.
    pub(crate) fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// First line: `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests
    /// are part of user and nice.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.lines().next()?.split_ascii_whitespace();
        if words.next()? != "cpu" {
            return None;
        }
        let times: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        let idle = times.get(3)? + times.get(4)?;
        Some(Self { total: times.iter().sum(), idle })
    }

    /// Share of all cores that worked since an earlier reading, 0 to 1.
    pub(crate) fn busy_since(self, earlier: Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|total| *total > 0)?;
        let idle = self.idle.saturating_sub(earlier.idle);
        Some(1.0 - idle as f64 / total as f64)
    }
}

/// Share of memory that is not available to programs any more, 0 to 1.
pub(crate) fn memory_used() -> Option<f64> {
    memory_share(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn memory_share(text: &str) -> Option<f64> {
    let kib = |name: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    let total = kib("MemTotal").filter(|total| *total > 0.0)?;
    Some(1.0 - kib("MemAvailable")? / total)
}

/// Cores that programs may use.
pub(crate) fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_time() {
        let before = CpuTimes::parse("cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 2 3\n").unwrap();
        let after = CpuTimes::parse("cpu  150 0 75 800 75 0 0 0 9 0\n").unwrap();
        assert_eq!(after.busy_since(before), Some(0.75));
        assert_eq!(after.busy_since(after), None);
        assert_eq!(before.busy_since(after), None);
        for wrong in ["", "cpu0 1 2 3 4 5", "cpu 1 2 x 4 5"] {
            assert_eq!(CpuTimes::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn shares_of_memory() {
        let text = "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    250 kB\n";
        assert_eq!(memory_share(text), Some(0.75));
        for wrong in ["", "MemTotal: 0 kB\nMemAvailable: 0 kB\n", "MemTotal: 10 kB\n"] {
            assert_eq!(memory_share(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn this_machine_tells() {
        assert!(CpuTimes::read().is_some());
        assert!((0.0..1.0).contains(&memory_used().unwrap()));
        assert!(cores() >= 1.0);
    }
}
