//! What is stored is compared with what was promised.

use history::{Driver, Kinds, Span};
use model::{ItemId, Sample, Trend};

use super::{Outcome, World};
use crate::hours::{add, alike, finish};
use crate::model::{ITEMS, NUMBERS, same};

impl World {
    pub(super) fn check_item(&mut self, item: ItemId) -> Outcome {
        if self.disk.is_off() {
            return Ok(());
        }
        let view = self.driver().view(&[item], Span::ALL);
        let samples = match view.samples(item, Kinds::VALUES) {
            Ok(samples) => samples,
            Err(error) => return self.bad_read(&error),
        };
        let missing = self.model.check(item, &samples, self.tally.flips > 0)?;
        self.tally.missing += missing as u64;
        if !self.random.one_in(4) {
            return Ok(());
        }
        let newest = self.driver().newest(item, 2);
        match newest {
            Err(error) => self.bad_read(&error),
            Ok(_) if self.disk.is_off() => Ok(()),
            Ok(newest) => self.check_newest(item, &newest, &samples),
        }
    }

    /// The newest rows are those of all `samples`. If a block is damaged, those that are kept beside the
    /// blocks still show rows of it.
    fn check_newest(&self, item: ItemId, newest: &[Sample], samples: &[Sample]) -> Outcome {
        let damaged = self.tally.flips > 0;
        if damaged {
            let mut oldest_first = newest.to_vec();
            oldest_first.reverse();
            self.model.check(item, &oldest_first, true)?;
        }
        let as_new = |(all, newest): (&Sample, &Sample)| {
            let equal = all.at == newest.at && same(&all.value, &newest.value);
            equal || damaged && all.at <= newest.at
        };
        let enough = match samples.len().min(2) {
            there if damaged => newest.len() >= there,
            there => newest.len() == there,
        };
        if enough && samples.iter().rev().zip(newest).all(as_new) {
            return Ok(());
        }
        Err(format!("newest of {item:?} is {newest:?}, there is {samples:?}"))
    }

    /// What a reader of the log copied is what was promised. A disk that neither syncs nor keeps
    /// what was not synced may cost the log what memory, and then segments, still have.
    pub(super) fn check_copy(&mut self) -> Outcome {
        self.copy.finish();
        if self.tally.flips > 0 || self.plan.write_errors && self.plan.power_cuts {
            return Ok(());
        }
        if self.copy.missed {
            return Err("the log lost something, and nothing was damaged".to_owned());
        }
        for item in (0..ITEMS).map(ItemId) {
            if let Some(samples) = self.copy.samples(item) {
                let copied = self.model.check(item, &samples, false);
                copied.map_err(|what| format!("the copy: {what}"))?;
            }
        }
        Ok(())
    }

    pub(super) fn check_all(&mut self) -> Outcome {
        (0..ITEMS).map(ItemId).try_for_each(|item| self.check_item(item))
    }

    /// Every hour of which all is certain has the trend that its samples give.
    pub(super) fn check_trends(&mut self) -> Outcome {
        if self.tally.flips > 0 {
            return Ok(());
        }
        for item in (0..NUMBERS).map(ItemId) {
            let view = self.driver().view(&[item], Span::ALL);
            let samples = view.samples(item, Kinds::VALUES).map_err(|e| e.to_string())?;
            let stored = view.trends(item).map_err(|e| e.to_string())?;
            let mut expected: Vec<Trend> = Vec::new();
            for sample in &samples {
                add(&mut expected, sample);
            }
            for trend in &mut expected {
                finish(trend, &samples);
                if !self.model.is_certain(item, trend.hour) {
                    continue;
                }
                self.tally.hours += 1;
                let found = stored.iter().find(|stored| stored.hour == trend.hour);
                if !found.is_some_and(|found| alike(found, trend)) {
                    return Err(format!("{item:?}: trend {found:?}, history gives {trend:?}"));
                }
            }
        }
        Ok(())
    }
}
