//! Counters of the last 15 minutes, one sample a second, for keys that average.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use stdx::sync::lock;

use crate::Agent;
use crate::keys::{cpu, dev, read_text};

/// Seconds between two samples.
const PERIOD: Duration = Duration::from_secs(1);
/// Samples kept: 15 minutes and the one before.
const SAMPLES_MAX: usize = 15 * 60 + 1;
/// Processors and disks that are followed; what comes beyond has no averages.
const SERIES_MAX: usize = 512;

/// CPU ticks per state.
pub type CpuTicks = [u64; cpu::STATES];
/// Finished operations and sectors: read operations, read sectors, write operations, write sectors.
pub type DiskCounters = [u64; 4];

/// The rings. `None` stands for all processors together.
#[derive(Debug, Default)]
pub struct Sampler {
    rings: Mutex<Rings>,
}

#[derive(Debug, Default)]
struct Rings {
    cpus: BTreeMap<Option<u32>, VecDeque<CpuTicks>>,
    disks: BTreeMap<String, VecDeque<DiskCounters>>,
}

impl Sampler {
    /// Reads the counters of this machine now.
    pub fn sample(&self) {
        let stat = read_text("/proc/stat").unwrap_or_default();
        let disks = read_text("/proc/diskstats").unwrap_or_default();
        self.add(&stat, &disks);
    }

    /// Takes a sample from the texts of `/proc/stat` and `/proc/diskstats`.
    pub fn add(&self, stat: &str, diskstats: &str) {
        let mut rings = lock(&self.rings);
        for (cpu, ticks) in cpu::parse_ticks(stat) {
            push(&mut rings.cpus, cpu, ticks);
        }
        for disk in dev::parse_diskstats(diskstats) {
            push(&mut rings.disks, disk.name, disk.counters);
        }
    }

    /// The newest sample of a processor and the one up to `seconds` before; the same twice when
    /// there is only one.
    pub fn cpu(&self, cpu: Option<u32>, seconds: usize) -> Option<(CpuTicks, CpuTicks, usize)> {
        let rings = lock(&self.rings);
        span(rings.cpus.get(&cpu)?, seconds)
    }

    /// As [`Sampler::cpu`], of a disk; the last member is the seconds between the two.
    pub fn disk(&self, name: &str, seconds: usize) -> Option<(DiskCounters, DiskCounters, usize)> {
        let rings = lock(&self.rings);
        span(rings.disks.get(name)?, seconds)
    }

    /// Names of the disks that are followed.
    pub fn disk_names(&self) -> Vec<String> {
        let rings = lock(&self.rings);
        rings.disks.keys().cloned().collect()
    }
}

fn push<K: Ord, T>(rings: &mut BTreeMap<K, VecDeque<T>>, key: K, sample: T) {
    if rings.len() >= SERIES_MAX && !rings.contains_key(&key) {
        return;
    }
    let ring = rings.entry(key).or_default();
    if ring.len() == SAMPLES_MAX {
        ring.pop_front();
    }
    ring.push_back(sample);
}

fn span<T: Copy>(ring: &VecDeque<T>, seconds: usize) -> Option<(T, T, usize)> {
    let newest = ring.len().checked_sub(1)?;
    let before = newest.saturating_sub(seconds);
    Some((ring[before], ring[newest], newest - before))
}

/// Samples once a second until dropped.
pub(crate) async fn run(agent: &Agent) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        // Two small files of a virtual file system: not worth a thread switch.
        agent.sampler().sample();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_forgets_after_fifteen_minutes() {
        let sampler = Sampler::default();
        assert_eq!(sampler.cpu(None, 60), None);
        for n in 0..2000 {
            let stat = format!("cpu {n} 0 0 0\ncpu1 {n} 0 0 0\nintr 5\n");
            sampler.add(&stat, &format!("8 0 sda {n} 0 {n} 0 1 0 2 0 0 0 0\n"));
        }
        let (before, now, seconds) = sampler.cpu(None, 60).unwrap();
        assert_eq!((before[0], now[0], seconds), (1939, 1999, 60));
        let (before, _, seconds) = sampler.cpu(Some(1), 10_000).unwrap();
        assert_eq!((before[0], seconds), (1099, 900));
        assert_eq!(sampler.cpu(Some(2), 60), None);
        let (before, now, seconds) = sampler.disk("sda", 300).unwrap();
        assert_eq!((before, now, seconds), ([1699, 1699, 1, 2], [1999, 1999, 1, 2], 300));
        assert_eq!(sampler.disk_names(), ["sda"]);
    }

    #[test]
    fn series_are_bounded() {
        let sampler = Sampler::default();
        for n in 0..600 {
            sampler.add("", &format!("8 0 sd{n} 1 0 1 0 1 0 1 0 0 0 0\n"));
        }
        assert_eq!(sampler.disk_names().len(), SERIES_MAX);
    }
}
