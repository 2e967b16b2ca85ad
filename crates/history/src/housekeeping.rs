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

/// Deletes from the driver what no class keeps at `now_s` (seconds since 1970). Run it hourly.
pub fn run(driver: &mut dyn Driver, now_s: u32) -> Result<Dropped, Error> {
    let mut dropped = Dropped::default();
    let today = Day::of(now_s);
    for class in driver.classes() {
        // A value from the first second of a day is kept until the class' days have passed since
        // the last second of that day.
        let oldest = Day(today.0.saturating_sub(u32::from(class.0)));
        dropped.classes += 1;
        dropped.bytes += driver.drop_before(class, oldest)?;
    }
    Ok(dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
