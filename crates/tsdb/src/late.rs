//! Hours whose trends are still to be written though the hour is long over: a late value came, and
//! what it makes of the trend is in somebody's memory. After a crash these hours are to be folded
//! again, and only the engine can tell which.
//!
//! An hour is noted by a row of its own kind in the WAL, in the block of the value that made it
//! late, so that either both survive or none. It goes with the rows of its trend. When the head is
//! sealed and its WAL goes, the file `late` keeps what is noted up to there. That file is written
//! like a WAL and replaced whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::ItemId;

use crate::disk::Disk;
use crate::error::Error;
use crate::kind::{Kind, TrendHour};
use crate::rows::{CLEAR, LATE, Rows};
use crate::wal::{BLOCK_ROWS_MAX, Encoder, file_header, replay};

/// What is noted now.
#[derive(Debug, Default)]
pub(crate) struct Late {
    /// With the number of the head in which their trend was written: the file has them until
    /// that one is sealed. `None` = it is to be written.
    hours: BTreeMap<TrendHour, Option<u64>>,
    /// The file has some.
    in_file: bool,
    /// For the next block of samples.
    announced: Vec<TrendHour>,
}

impl Late {
    /// Takes in a block that is in the WAL of the head with this number.
    pub(crate) fn take_in(&mut self, rows: &Rows, seq: u64) {
        // Of most blocks there is nothing to take in.
        if rows.kind.iter().all(|&kind| kind < LATE) {
            return;
        }
        for row in 0..rows.len() {
            let (item, hour) = (ItemId(rows.item[row]), rows.clock[row]);
            match rows.kind[row] {
                LATE => {
                    let unsigned = rows.bits[row] != 0;
                    self.hours.insert(TrendHour { item, hour, unsigned }, None);
                }
                CLEAR => self.clear(item, seq),
                kind if kind == Kind::FloatNum.number() => self.written(item, hour, false, seq),
                kind if kind == Kind::UnsignedNum.number() => self.written(item, hour, true, seq),
                _ => {}
            }
        }
    }

    fn written(&mut self, item: ItemId, hour: u32, unsigned: bool, seq: u64) {
        if let Some(written) = self.hours.get_mut(&TrendHour { item, hour, unsigned }) {
            written.get_or_insert(seq);
        }
    }

    fn clear(&mut self, item: ItemId, seq: u64) {
        let first = TrendHour { item, hour: 0, unsigned: false };
        let last = TrendHour { item, hour: u32::MAX, unsigned: true };
        self.hours.range_mut(first..=last).for_each(|(_, written)| {
            written.get_or_insert(seq);
        });
    }

    /// What the file must hold before the WAL with this number goes; `None` = what it holds.
    pub(crate) fn to_write(&self, seq: u64) -> Option<Vec<u8>> {
        if self.hours.is_empty() && !self.in_file {
            return None;
        }
        let mut bytes = file_header(seq);
        let mut rows = Rows::default();
        for (hour, written) in &self.hours {
            if written.is_some_and(|written| written <= seq) {
                continue;
            }
            rows.push_late(*hour);
            if rows.len() == BLOCK_ROWS_MAX {
                Encoder::default().encode(&rows, &mut bytes);
                rows.clear();
            }
        }
        if rows.len() > 0 {
            Encoder::default().encode(&rows, &mut bytes);
        }
        Some(bytes)
    }

    /// The head with this number was sealed.
    pub(crate) fn sealed(&mut self, seq: u64) {
        self.hours.retain(|_, written| written.is_none_or(|written| written > seq));
        self.in_file = !self.hours.is_empty();
    }

    /// The next block of samples has these.
    pub(crate) fn announce(&mut self, hours: &[TrendHour]) {
        let is_new = |hour: &&TrendHour| self.hours.get(hour) != Some(&None);
        self.announced.extend(hours.iter().filter(is_new).copied());
    }

    /// Hours that are noted and not written.
    pub(crate) fn expected(&self) -> Vec<TrendHour> {
        let expected = self.hours.iter().filter(|(_, written)| written.is_none());
        expected.map(|(hour, _)| *hour).collect()
    }

    /// Notes these no more.
    pub(crate) fn forget(&mut self, hours: &[TrendHour]) {
        for hour in hours {
            self.hours.remove(hour);
        }
    }

    /// Puts what was announced in front of the samples of a batch.
    pub(crate) fn push_announced(&mut self, rows: &mut Rows) {
        self.announced.sort_unstable();
        self.announced.dedup();
        self.announced.drain(..).for_each(|hour| rows.push_late(hour));
    }
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("late")
}

/// Reads the file; none is none. Damage inside costs what is damaged; false = there is some.
pub(crate) fn read(dir: &Path, disk: &dyn Disk) -> Result<(Late, bool), Error> {
    let mut late = Late::default();
    match replay(disk, &path(dir), &mut |rows| late.take_in(rows, 0)) {
        Ok(found) => {
            late.in_file = true;
            let whole = found.damaged_blocks == 0 && found.torn == 0 && !found.header_damaged;
            Ok((late, whole))
        }
        Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            Ok((late, true))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Trend, TrendValues};

    fn hour(item: u64, hour: u32, unsigned: bool) -> TrendHour {
        TrendHour { item: ItemId(item), hour, unsigned }
    }

    fn trend(item: u64, hour: u32, unsigned: bool) -> Trend {
        let values = if unsigned {
            TrendValues::Unsigned { min: 1, avg: 1, max: 1 }
        } else {
            TrendValues::Float { min: 1.0, avg: 1.0, max: 1.0 }
        };
        Trend { item: ItemId(item), hour, num: 1, values }
    }

    #[test]
    fn hours_go_with_their_trends_and_with_their_items() {
        let all =
            [hour(1, 3600, false), hour(1, 3600, true), hour(1, 7200, true), hour(2, 0, true)];
        let mut late = Late::default();
        let mut rows = Rows::default();
        all.iter().for_each(|hour| rows.push_late(*hour));
        late.take_in(&rows, 1);
        assert!(late.hours.keys().eq(all.iter()));
        rows.clear();
        rows.push_trend(&trend(1, 3600, true));
        rows.push_trend(&trend(2, 3600, true));
        late.take_in(&rows, 2);
        assert_eq!(noted(&late), [all[0], all[2], all[3]]);
        rows.clear();
        rows.push_clear(1, model::Timestamp::from_s(9));
        late.take_in(&rows, 3);
        assert_eq!(noted(&late), [all[3]]);
        // The file has what was not written up to the head that is sealed.
        for (seq, left) in [(1, &all[..]), (2, &[all[0], all[2], all[3]]), (3, &[all[3]])] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(path(dir.path()), late.to_write(seq).unwrap()).unwrap();
            assert_eq!(noted(&read(dir.path(), &crate::OsDisk).unwrap().0), left, "{seq}");
        }
        late.sealed(3);
        assert_eq!(late.hours.len(), 1);
        // Late again.
        rows.clear();
        rows.push_trend(&trend(2, 0, true));
        rows.push_late(all[3]);
        late.take_in(&rows, 4);
        assert_eq!(noted(&late), [all[3]]);
    }

    fn noted(late: &Late) -> Vec<TrendHour> {
        late.hours.iter().filter(|(_, seq)| seq.is_none()).map(|(hour, _)| *hour).collect()
    }
}
