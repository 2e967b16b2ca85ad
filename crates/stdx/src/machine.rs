//! How busy and how full the machine is, and how much of it this process has, as Linux tells in
//! `/proc` (proc(5)) and in control groups (cgroups(7)).

use std::collections::BTreeMap;
use std::path::Path;

/// Times of all cores together since the machine started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimes {
    total: u64,
    idle: u64,
}

impl CpuTimes {
    /// `None` where the kernel does not tell.
    pub fn read() -> Option<Self> {
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
    pub fn busy_since(self, earlier: Self) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|total| *total > 0)?;
        let idle = self.idle.saturating_sub(earlier.idle);
        Some(1.0 - share(idle, total))
    }
}

/// Memory for programs, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// In all.
    pub total: u64,
    /// Not in use, or in use for what can be dropped.
    pub available: u64,
}

impl Memory {
    /// The machine's. `None` where the kernel does not tell.
    pub fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/meminfo").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let total = kib(text, "MemTotal").filter(|total| *total > 0)?;
        Some(Self { total, available: kib(text, "MemAvailable")? })
    }

    /// Share that is not available any more, 0 to 1.
    pub fn used(self) -> f64 {
        1.0 - share(self.available, self.total)
    }
}

/// The value of a line `Name:   123 kB`, in bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let n: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    n.checked_mul(1024)
}

#[expect(clippy::cast_precision_loss, reason = "for shares, which need no low bits")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Resident memory of this process, bytes.
pub fn own_memory() -> Option<u64> {
    kib(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS")
}

/// How much memory this process's control group may use, bytes; `None` = as much as there is.
pub fn memory_limit() -> Option<u64> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let inside = Path::new("/sys/fs/cgroup").join(group.trim_start_matches('/'));
    // In a container its own group is mounted as the root.
    [inside.join("memory.max"), "/sys/fs/cgroup/memory.max".into()]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok())
}

/// CPU time of the threads of this process, ns, by their name (15 bytes at most) and number.
pub type ThreadTimes = BTreeMap<(String, u32), u64>;

/// CPU time of all threads of this process. Threads that end meanwhile are not in it; empty where
/// the kernel does not tell.
pub fn thread_times() -> ThreadTimes {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |thread: std::fs::DirEntry| {
        let number = thread.file_name().to_str()?.parse().ok()?;
        let name = std::fs::read_to_string(thread.path().join("comm")).ok()?;
        // Nanoseconds on a core, nanoseconds of waiting for one, time slices.
        let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let ns = times.split_ascii_whitespace().next()?.parse().ok()?;
        Some(((name.trim_end().to_owned(), number), ns))
    };
    threads.filter_map(time).collect()
}

/// Files and sockets that this process has open, and how many it may have.
pub fn open_files() -> Option<(u64, u64)> {
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count();
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    Some((u64::try_from(open).ok()?, open_files_max(&limits)?))
}

/// The soft limit in a line `Max open files  1024  524288  files`.
fn open_files_max(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Cores that programs may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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
        let memory = Memory::parse(text).unwrap();
        assert_eq!(memory, Memory { total: 1_024_000, available: 256_000 });
        assert_eq!(memory.used().to_bits(), 0.75_f64.to_bits());
        for wrong in ["", "MemTotal: 0 kB\nMemAvailable: 0 kB\n", "MemTotal: 10 kB\n"] {
            assert_eq!(Memory::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits_of_open_files() {
        let text = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  524288  files\n";
        assert_eq!(open_files_max(text), Some(1024));
        for wrong in ["", "Max open files", "Max open files unlimited unlimited files"] {
            assert_eq!(open_files_max(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn figures_of_this_machine_can_be_read() {
        assert!(CpuTimes::read().is_some());
        assert!((0.0..1.0).contains(&Memory::read().unwrap().used()));
        assert!(own_memory().unwrap() > 4096);
        let (open, most) = open_files().unwrap();
        assert!(open > 0 && open <= most);
        assert!(cores() >= 1);
    }

    #[test]
    fn threads_have_a_name_and_a_time() {
        let work = || {
            let time_of = |times: &ThreadTimes| {
                times.iter().find(|((name, _), _)| name == "worker-of-test").map(|(_, ns)| *ns)
            };
            let before = time_of(&thread_times()).unwrap();
            let begin = crate::sys::thread_cpu_time();
            while crate::sys::thread_cpu_time() - begin < std::time::Duration::from_millis(40) {}
            time_of(&thread_times()).unwrap() - before
        };
        let thread = std::thread::Builder::new().name("worker-of-test".to_owned()).spawn(work);
        // The kernel brings the time of a thread that runs up to date at its next tick.
        assert!(thread.unwrap().join().unwrap() > 0);
    }
}
