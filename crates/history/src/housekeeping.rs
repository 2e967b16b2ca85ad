//! Deleting what is older than its retention class: whole days, hence cheap.

use crate::{Class, Day, Driver, Error};

/// What a run deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Classes looked at.
    pub classes: usize,
    /// Bytes given back.
    pub bytes: u64,
}

/// Days that every class in use is rounded up to, so that a configuration with hundreds of
/// different retentions makes few files.
const LADDER: [u16; 16] = [1, 2, 3, 5, 7, 10, 14, 21, 31, 45, 62, 93, 124, 186, 279, 372];

/// The class that keeps values for at least `seconds`: whole days, rounded up to one of a few
/// steps (at most half as long again), above a year to whole years.
pub fn class_of(seconds: u64) -> Class {
    let days = seconds.div_ceil(86_400).max(1);
    let step = LADDER.iter().copied().find(|&step| u64::from(step) >= days);
    let years = || u16::try_from(days.div_ceil(372).saturating_mul(372)).unwrap_or(u16::MAX);
    Class(step.unwrap_or_else(years))
}

/// Deletes from the driver what no class keeps at `now_s` (seconds since 1970); a class that fails
/// holds up no other. Run it hourly.
pub fn run(driver: &mut dyn Driver, now_s: u32) -> Result<Dropped, Error> {
    let mut dropped = Dropped::default();
    let today = Day::of(now_s);
    let mut failed = None;
    for class in driver.classes()? {
        // A value from the first second of a day is kept until the class' days have passed since
        // the last second of that day.
        let oldest = Day(today.0.saturating_sub(u32::from(class.0)));
        dropped.classes += 1;
        match driver.drop_before(class, oldest) {
            Ok(bytes) => dropped.bytes += bytes,
            Err(error) => drop(failed.get_or_insert(error)),
        }
    }
    failed.map_or(Ok(dropped), Err)
}

#[cfg(test)]
mod tests {
    use model::{ItemId, Sample, Trend};

    use super::*;
    use crate::{Counters, DriverInfo, Span, View};

    #[test]
    fn classes_are_few_and_never_too_short() {
        let day = 86_400;
        for (seconds, days) in [
            (0, 1),
            (1, 1),
            (day, 1),
            (day + 1, 2),
            (7 * day, 7),
            (31 * day, 31),
            (32 * day, 45),
            (90 * day, 93),
            (365 * day, 372),
            (373 * day, 744),
            (25 * 365 * day, 9300),
            (u64::MAX, u16::MAX),
        ] {
            assert_eq!(class_of(seconds), Class(days), "{seconds} s");
        }
    }

    /// Three classes, of which one cannot be dropped; `false` = nobody knows which.
    struct Stubborn(bool, Vec<Class>);

    impl Driver for Stubborn {
        fn write(&mut self, _: &[Sample]) -> Result<(), Error> {
            unreachable!()
        }
        fn write_trends(&mut self, _: &[Trend]) -> Result<(), Error> {
            unreachable!()
        }
        fn clear(&mut self, _: &[ItemId]) -> Result<(), Error> {
            unreachable!()
        }
        fn view(&self, _: &[ItemId], _: Span) -> Box<dyn View> {
            unreachable!()
        }
        fn drop_before(&mut self, class: Class, _: Day) -> Result<u64, Error> {
            self.1.push(class);
            if class == Class(3) { Err(Error::storage_away("not this")) } else { Ok(5) }
        }
        fn classes(&self) -> Result<Vec<Class>, Error> {
            let classes = [1, 3, 31].map(Class).to_vec();
            if self.0 { Ok(classes) } else { Err(Error::storage_away("who knows")) }
        }
        fn describe(&self) -> DriverInfo {
            unreachable!()
        }
        fn counters(&self) -> Counters {
            unreachable!()
        }
    }

    #[test]
    fn a_failing_class_is_reported_and_delays_no_other() {
        let mut driver = Stubborn(true, Vec::new());
        assert_eq!(run(&mut driver, 0).unwrap_err().message, "not this");
        assert_eq!(driver.1, [1, 3, 31].map(Class));
        let mut driver = Stubborn(false, Vec::new());
        assert_eq!(run(&mut driver, 0).unwrap_err().message, "who knows");
    }
}
