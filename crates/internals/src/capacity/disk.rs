//! The file system that holds the data, and how fast it fills.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

/// A reading is kept this often …
const EVERY: Duration = Duration::from_secs(600);
/// … and this many of them are kept: a day has all of its hours, and merges of old files even out.
const KEPT: usize = 144;
/// Growth over less than this is chance.
const OVER_MIN: Duration = Duration::from_secs(3600);

/// Space of the file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Disk {
    /// Bytes in use, by whomever.
    pub(crate) used: u64,
    /// Bytes in use and bytes that are free for the server.
    pub(crate) total: u64,
    /// Bytes per second by which it fills; `None` = not known yet.
    pub(crate) growth: Option<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "a forecast needs no low bits")]
fn float(n: u64) -> f64 {
    n as f64
}

/// Readings of the last day.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    kept: VecDeque<(Duration, u64)>,
    newest: Option<(Duration, u64, u64)>,
}

impl Readings {
    /// Takes a reading of the file system of `data` at a monotonic time.
    pub(crate) fn take(&mut self, data: &Path, at: Duration) {
        let Ok(space) = stdx::sys::fs_space(data) else { return };
        let used = space.total.saturating_sub(space.free);
        self.add(at, used, used.saturating_add(space.available));
    }

    fn add(&mut self, at: Duration, used: u64, total: u64) {
        self.newest = Some((at, used, total));
        if self.kept.back().is_none_or(|(last, _)| at.saturating_sub(*last) >= EVERY) {
            if self.kept.len() == KEPT {
                self.kept.pop_front();
            }
            self.kept.push_back((at, used));
        }
    }

    /// The newest reading, with the growth since the oldest.
    pub(crate) fn disk(&self) -> Option<Disk> {
        let (at, used, total) = self.newest?;
        let growth = self.kept.front().and_then(|(from, before)| {
            let over = at.saturating_sub(*from);
            (over >= OVER_MIN).then(|| (float(used) - float(*before)) / over.as_secs_f64())
        });
        Some(Disk { used, total, growth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_known_after_an_hour() {
        let mut readings = Readings::default();
        assert_eq!(readings.disk(), None);
        let hours = |n: u64| Duration::from_secs(n * 3600);
        readings.add(hours(1), 1_000_000, 10_000_000);
        assert_eq!(readings.disk().unwrap().growth, None);
        readings.add(hours(2), 1_360_000, 10_000_000);
        assert_eq!(readings.disk().unwrap().growth, Some(100.0));
        readings.add(hours(3), 900_000, 10_000_000);
        assert_eq!(readings.disk().unwrap().growth, Some(-100_000.0 / 7200.0));
    }

    #[test]
    fn a_day_is_kept() {
        let mut readings = Readings::default();
        for second in (0..4 * 86_400).step_by(60) {
            // The growth doubles on the last two days.
            let used = if second < 2 * 86_400 { second } else { 2 * second - 2 * 86_400 };
            readings.add(Duration::from_secs(second), used, 1 << 40);
        }
        assert_eq!(readings.kept.len(), KEPT);
        let growth = readings.disk().unwrap().growth.unwrap();
        assert!((growth - 2.0).abs() < 1e-9, "{growth}");
    }

    #[test]
    fn the_file_system_of_a_folder_reports_its_size() {
        let mut readings = Readings::default();
        readings.take(Path::new("/"), Duration::ZERO);
        let disk = readings.disk().unwrap();
        assert!(disk.used <= disk.total && disk.total > 0);
        readings.take(Path::new("/no/such/folder"), Duration::from_secs(1));
        assert_eq!(readings.disk(), Some(disk));
    }
}
