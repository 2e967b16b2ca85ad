//! Tables and partitions by their names.

use std::cmp::Ordering;

use history::{Class, Day, Error, Kind};

const DAY_NS: i64 = 86_400 * NS_IN_S;
/// Nanoseconds of a second.
pub(crate) const NS_IN_S: i64 = 1_000_000_000;
/// A table that keeps its rows for so many days has a partition for each of them; one that keeps
/// them longer has wider partitions, since each costs files, locks and planning.
const DAYS_OF_NARROW: u32 = 31;
/// Days ahead of our clock for which values may well be sent.
const AHEAD_DAYS: u32 = 7;
/// Partitions that a table may have of days further ahead, which stay until their days are over.
const AHEAD_MAX: usize = 400;
/// Partitions that a table may have of days that are no longer kept, which are dropped soon.
const OVER_MAX: usize = 2_000;

/// What a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Set {
    Float,
    Unsigned,
    Text,
    Log,
    FloatTrends,
    UnsignedTrends,
}

impl Set {
    /// All of them, values first.
    pub(crate) const ALL: [Self; 6] = [
        Self::Float,
        Self::Unsigned,
        Self::Text,
        Self::Log,
        Self::FloatTrends,
        Self::UnsignedTrends,
    ];

    /// Of a kind of values.
    pub(crate) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Float => Self::Float,
            Kind::Text => Self::Text,
            Kind::Log => Self::Log,
            _ => Self::Unsigned,
        }
    }

    /// The name of the view over all classes, and the start of the names of tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Float => "history_float",
            Self::Unsigned => "history_uint",
            Self::Text => "history_text",
            Self::Log => "history_log",
            Self::FloatTrends => "trends_float",
            Self::UnsignedTrends => "trends_uint",
        }
    }
}

/// A table: rows of one set and retention class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Table {
    pub(crate) set: Set,
    pub(crate) class: Class,
}

impl Table {
    /// Such as `history_float_31`.
    pub(crate) fn name(&self) -> String {
        format!("{}_{}", self.set.name(), self.class.0)
    }

    /// From its name; others are not ours.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (set, class) = name.rsplit_once('_')?;
        let set = Set::ALL.into_iter().find(|known| known.name() == set)?;
        Some(Self { set, class: Class(class.parse().ok()?) })
    }

    /// Days that share a partition.
    fn days(&self) -> u32 {
        (u32::from(self.class.0) / DAYS_OF_NARROW).max(1)
    }

    /// Width of a partition.
    pub(crate) fn width_ns(&self) -> i64 {
        i64::from(self.days()) * DAY_NS
    }

    /// The partition that begins with a moment.
    pub(crate) fn part_at(&self, from: i64) -> Part {
        let number = u32::try_from(from / self.width_ns()).unwrap_or(0);
        Part { table: *self, number }
    }

    /// The partition of a second.
    pub(crate) fn part(&self, clock: u32) -> Part {
        Part { table: *self, number: Day::of(clock).0 / self.days() }
    }
}

/// A partition of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) table: Table,
    pub(crate) number: u32,
}

impl Part {
    /// Such as `history_float_31_p19675`.
    pub(crate) fn name(&self) -> String {
        format!("{}_p{}", self.table.name(), self.number)
    }

    /// From its name; others are not ours.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (table, number) = name.rsplit_once("_p")?;
        Some(Self { table: Table::parse(table)?, number: number.parse().ok()? })
    }

    /// Is it of days that are kept, no longer kept or far ahead?
    fn when(&self, today: Day) -> Ordering {
        let first = self.number.saturating_mul(self.table.days());
        let after = first.saturating_add(self.table.days());
        if first > today.0.saturating_add(AHEAD_DAYS) {
            Ordering::Greater
        } else if after.saturating_add(u32::from(self.table.class.0)) <= today.0 {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// Refuses its rows where it would be one too many beside those that are there. Days that are
    /// kept are few by themselves, and find their place whatever odd times somebody sends.
    pub(crate) fn fits(&self, there: impl Iterator<Item = Self>, today: Day) -> Result<(), Error> {
        let when = self.when(today);
        let most = match when {
            Ordering::Equal => return Ok(()),
            Ordering::Less => OVER_MAX,
            Ordering::Greater => AHEAD_MAX,
        };
        let is_alike = |part: &Self| part.table == self.table && part.when(today) == when;
        if there.filter(is_alike).count() < most {
            return Ok(());
        }
        Err(Error::row(format!(
            "{} has {most} partitions of such days already, and gets none for moment {}",
            self.table.name(),
            self.from()
        )))
    }

    /// The first moment in it.
    pub(crate) fn from(&self) -> i64 {
        i64::from(self.number) * self.table.width_ns()
    }

    /// The first moment behind it.
    pub(crate) fn till(&self) -> i64 {
        self.from() + self.table.width_ns()
    }
}

/// The first moment of a day.
pub(crate) fn start_of(day: Day) -> i64 {
    i64::from(day.0) * DAY_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_others_are_passed_over() {
        for set in Set::ALL {
            for class in [Class(1), Class(31), Class(u16::MAX)] {
                let table = Table { set, class };
                assert_eq!(Table::parse(&table.name()), Some(table));
                let part = table.part(u32::MAX);
                assert_eq!(Part::parse(&part.name()), Some(part));
                assert_eq!(Table::parse(&part.name()), None);
            }
        }
        for name in ["", "history_float", "history_float_x", "other_31", "history_float_70000"] {
            assert_eq!((Table::parse(name), Part::parse(name)), (None, None), "{name}");
        }
    }

    #[test]
    fn partitions_hold_whole_days_and_meet() {
        for (class, days) in [(1, 1), (31, 1), (45, 1), (62, 2), (372, 12), (3720, 120)] {
            let table = Table { set: Set::Float, class: Class(class) };
            for clock in [0, 86_399, 86_400, 1_700_000_000, u32::MAX] {
                let part = table.part(clock);
                let moment = i64::from(clock) * NS_IN_S;
                assert!(part.from() <= moment && moment < part.till(), "{class} {clock}");
                assert_eq!(part.till() - part.from(), days * DAY_NS, "{class}");
                assert_eq!(Part { number: part.number + 1, ..part }.from(), part.till());
            }
        }
        assert_eq!(start_of(Day(2)), 2 * DAY_NS);
    }

    #[test]
    fn odd_days_are_bounded_and_displace_no_kept_days() {
        let today = Day(20_000);
        for class in [1, 31, 372, 3_720] {
            let table = Table { set: Set::Float, class: Class(class) };
            let part = |number| Part { table, number };
            let (now, days) = (today.0 / table.days(), table.days());
            let parts = |first: u32, last: u32| (first..last).map(part).collect::<Vec<_>>();
            let kept = parts((today.0 - u32::from(class).min(today.0)) / days, now + 1);
            assert!(kept.len() < 70, "{class}");
            let ahead = (today.0 + AHEAD_DAYS) / days + 1;
            let there = parts(0, ahead + 400);
            for part in kept.iter().chain(&parts(now, ahead)) {
                assert!(part.fits(there.iter().copied(), today).is_ok(), "{class} {part:?}");
            }
            let next = part(ahead + 400);
            let error = next.fits(there.iter().copied(), today).unwrap_err();
            assert!(!error.retry && error.message.contains("400 partitions"), "{error}");
            assert!(next.fits(there[..there.len() - 1].iter().copied(), today).is_ok(), "{class}");
            // It is honest when its day has come.
            let then = Day(next.number.saturating_mul(days));
            assert!(next.fits(there.iter().copied(), then).is_ok(), "{class}");
        }
        let table = Table { set: Set::Float, class: Class(31) };
        let there = |parts: u32| (0..parts).map(|number| Part { table, number });
        let old = Part { table, number: 9_000 };
        assert!(old.fits(there(1_999), today).is_ok() && old.fits(there(2_000), today).is_err());
    }
}
