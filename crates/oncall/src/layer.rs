//! A layer: users who take turns, or the entries of a calendar, limited to some times.

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::ops::Range;

use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rangemap::RangeSet;

use crate::wall::{date_of, midnight, unix_of, wall_of};
use crate::{DAY_S, HOUR_S, TIME_MAX};

/// A layer of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub source: Source,
    /// Since when it counts.
    pub start: i64,
    /// When it ends; `None` = never.
    pub end: Option<i64>,
    /// It counts only then; none = always.
    pub restrictions: Vec<Restriction>,
    pub on_holidays: OnHolidays,
}

/// Where the shifts of a layer come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Rotation(Rotation),
    /// Of two that overlap, the later one in the list wins.
    Calendar(Vec<Entry>),
}

/// Users who take turns, the first one from the layer's start on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// In order; one may come more than once. Without users the layer is empty.
    pub users: Vec<u64>,
    pub period: Period,
    /// Second of the day at which shifts of whole days change; `None` = the start's. The first shift is shorter or longer then.
    pub handoff: Option<u32>,
}

/// How long a shift lasts, by the wall clock: a shift of a day has 23 hours where the clock skips one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    Hours(NonZeroU16),
    Days(NonZeroU16),
}

impl Period {
    pub const WEEK: Self = Self::Days(NonZeroU16::new(7).expect("BUG: 7 is not 0"));
}

/// A shift of a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub user: u64,
    pub time: Range<i64>,
}

/// A time of the day on some days of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restriction {
    /// A bit for each day on which it begins, Monday = 1.
    pub weekdays: u8,
    /// Second of the day.
    pub from: u32,
    /// The same, up to 86,400. If it is not after `from`, it is on the next day.
    pub to: u32,
}

/// What a layer does on holidays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnHolidays {
    /// The same as on other days.
    #[default]
    Same,
    /// It counts on other days only.
    Never,
    /// It counts on holidays only.
    Only,
}

/// The days of a zone, with its holidays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Days<'a> {
    pub(crate) zone: &'a TimeZone,
    pub(crate) holidays: &'a BTreeSet<Date>,
}

impl Layer {
    /// Who is named in it.
    pub(crate) fn users(&self) -> BTreeSet<u64> {
        match &self.source {
            Source::Rotation(rotation) => rotation.users.iter().copied().collect(),
            Source::Calendar(entries) => entries.iter().map(|entry| entry.user).collect(),
        }
    }

    /// The same without entries of a calendar that have ended.
    pub(crate) fn users_after(&self, at: i64) -> BTreeSet<u64> {
        match &self.source {
            Source::Rotation(_) => self.users(),
            Source::Calendar(entries) => {
                let left = entries.iter().filter(|entry| entry.time.end > at);
                left.map(|entry| entry.user).collect()
            }
        }
    }

    /// Calls `shift` with each shift of the time, in the order in which they count: later ones win.
    pub(crate) fn shifts(
        &self,
        days: Days<'_>,
        within: &Range<i64>,
        shift: &mut impl FnMut(u64, Range<i64>),
    ) {
        let from = within.start.max(self.start);
        let to = within.end.min(self.end.unwrap_or(TIME_MAX)).min(TIME_MAX);
        if from >= to {
            return;
        }
        let allowed = self.allowed(days, &(from..to));
        let mut add = |user: u64, time: &Range<i64>| match &allowed {
            None => shift(user, time.clone()),
            Some(allowed) => {
                for part in allowed.overlapping(time) {
                    shift(user, part.start.max(time.start)..part.end.min(time.end));
                }
            }
        };
        match &self.source {
            Source::Rotation(rotation) => {
                rotation.shifts(self.start, days.zone, from..to, &mut add)
            }
            Source::Calendar(entries) => {
                for entry in entries {
                    let time = entry.time.start.max(from)..entry.time.end.min(to);
                    if !time.is_empty() {
                        add(entry.user, &time);
                    }
                }
            }
        }
    }

    /// When it counts; `None` = always.
    fn allowed(&self, days: Days<'_>, within: &Range<i64>) -> Option<RangeSet<i64>> {
        if self.restrictions.is_empty() && self.on_holidays == OnHolidays::Same {
            return None;
        }
        let mut allowed = RangeSet::new();
        if self.restrictions.is_empty() {
            allowed.insert(within.clone());
        }
        for day in days.of(within) {
            for restriction in self.restrictions.iter().filter(|one| one.begins_on(day)) {
                let time = restriction.on(day, days.zone);
                if !time.is_empty() {
                    allowed.insert(time);
                }
            }
        }
        if self.on_holidays == OnHolidays::Same {
            return Some(allowed);
        }
        let holidays = days.holidays(within);
        let others: Vec<Range<i64>> = match self.on_holidays {
            OnHolidays::Only => holidays.gaps(&days.whole(within)).collect(),
            _ => holidays.iter().cloned().collect(),
        };
        for time in others {
            allowed.remove(time);
        }
        Some(allowed)
    }
}

impl Rotation {
    fn shifts(
        &self,
        start: i64,
        zone: &TimeZone,
        within: Range<i64>,
        add: &mut impl FnMut(u64, &Range<i64>),
    ) {
        let Ok(users) = i64::try_from(self.users.len()) else { return };
        if users == 0 {
            return;
        }
        let first = wall_of(zone, start);
        let (length, anchor) = match (self.period, self.handoff) {
            (Period::Hours(hours), _) => (i64::from(hours.get()) * HOUR_S, first),
            (Period::Days(days), None) => (i64::from(days.get()) * DAY_S, first),
            (Period::Days(days), Some(second)) => {
                let midnight = first.div_euclid(DAY_S) * DAY_S;
                (i64::from(days.get()) * DAY_S, midnight + i64::from(second))
            }
        };
        // The first shift begins with the layer, whenever the anchor is.
        let begin = |n: i64| if n <= 0 { start } else { unix_of(zone, anchor + n * length) };
        let mut n = (wall_of(zone, within.start) - anchor).div_euclid(length).max(0);
        // The wall clock goes back at times.
        while n > 0 && begin(n) > within.start {
            n -= 1;
        }
        while begin(n + 1) <= within.start {
            n += 1;
        }
        let mut at = within.start;
        while at < within.end {
            let end = begin(n + 1).min(within.end);
            let user = usize::try_from(n % users).ok().and_then(|at| self.users.get(at));
            if let (Some(user), true) = (user, at < end) {
                add(*user, &(at..end));
            }
            (at, n) = (at.max(end), n + 1);
        }
    }
}

impl Restriction {
    fn begins_on(&self, day: Date) -> bool {
        self.weekdays & (1 << day.weekday().to_monday_zero_offset()) != 0
    }

    fn on(&self, day: Date, zone: &TimeZone) -> Range<i64> {
        let midnight = midnight(day);
        let until = if self.to <= self.from { DAY_S } else { 0 } + i64::from(self.to);
        unix_of(zone, midnight + i64::from(self.from))..unix_of(zone, midnight + until)
    }
}

impl Days<'_> {
    /// All days of the time, and one on each side.
    fn of(self, within: &Range<i64>) -> impl Iterator<Item = Date> + use<> {
        let Range { start, end } = self.whole_days(within);
        start.series(1.day()).take_while(move |day| *day <= end)
    }

    fn whole_days(self, within: &Range<i64>) -> Range<Date> {
        date_of(wall_of(self.zone, within.start) - DAY_S)
            ..date_of(wall_of(self.zone, within.end) + DAY_S)
    }

    /// The time of all these days.
    fn whole(self, within: &Range<i64>) -> Range<i64> {
        let Range { start, end } = self.whole_days(within);
        unix_of(self.zone, midnight(start))..unix_of(self.zone, midnight(end) + DAY_S)
    }

    fn holidays(self, within: &Range<i64>) -> RangeSet<i64> {
        let Range { start, end } = self.whole_days(within);
        let day = |day: &Date| {
            let midnight = midnight(*day);
            unix_of(self.zone, midnight)..unix_of(self.zone, midnight + DAY_S)
        };
        // A day that the zone skips has no time.
        self.holidays.range(start..=end).map(day).filter(|time| !time.is_empty()).collect()
    }
}
