//! Maintenance: when it runs, since when, until when, and when it starts next.
//!
//! Starts are wall-clock times of the zone; the length is elapsed time, also when the clocks
//! change in between. The rest is what a Zabbix 7.0.22 does, measured in zones whose clocks change
//! (`tests/maintenance.tsv`):
//!
//! - It looks for the start at the last one of today or yesterday, and goes back by the calendar. For
//!   weeks and months it goes day by day, so that a start which it has moved behind a skipped hour
//!   stays there on all days before; for days it goes at once.
//! - On a day whose start the clocks skip no period runs, whenever it began. In a repeated hour today's
//!   start is the first one, an earlier day's the second.
//! - The days and weeks that `every` counts are 24 and 168 hours from a midnight.
//! - Weeks count from the Monday of the week in which the maintenance becomes active, also days that are over
//!   by then. Where no day fits, the last one before the maintenance became active (the Sunday before that
//!   Monday) counts as the start.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::DAY_S;

use crate::calendar::{days_from, local, second_of_day, wall_second};

/// A maintenance is looked for this far ahead; a day of the month that no chosen month has never
/// comes.
const AHEAD_DAYS_MAX: i32 = 8 * 366 + 1_000;

/// How a maintenance period repeats; members as the API names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Once, at `start_date`.
    OneTime {
        /// Unix time of the start.
        start_date: i64,
    },
    /// Every `every` days.
    Daily {
        /// Days from one to the next, at least 1.
        every: u32,
    },
    /// On the days of `days_of_week`, every `every` weeks.
    Weekly {
        /// Weeks from one to the next, at least 1.
        every: u32,
        /// Bit mask, 1 = Monday.
        days_of_week: u8,
    },
    /// On the `day` of the months in `months`.
    MonthlyDay {
        /// Bit mask, 1 = January.
        months: u16,
        /// Day of the month from 1.
        day: u8,
    },
    /// On the weekdays `days_of_week` of the `week` of the months in `months`.
    MonthlyWeekday {
        /// Bit mask, 1 = January.
        months: u16,
        /// Bit mask, 1 = Monday.
        days_of_week: u8,
        /// 1 to 4; 5 = the last one.
        week: u8,
    },
}

/// One time period of a maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenancePeriod {
    /// When it repeats.
    pub repeat: Repeat,
    /// Start within the day, seconds; not used by [`Repeat::OneTime`].
    pub start_time_s: u32,
    /// Length in seconds.
    pub period_s: u32,
}

/// A maintenance that runs: unix times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Running {
    /// When the period began that holds the moment.
    pub since: i64,
    /// When it ends; this second is no longer part of it.
    pub until: i64,
}

/// A maintenance. Whether values are still collected while it runs is for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// Unix time from which its periods count.
    pub active_since: i64,
    /// Unix time at which it is over.
    pub active_till: i64,
    /// Its periods, in their order.
    pub periods: Vec<MaintenancePeriod>,
}

impl Maintenance {
    /// Whether it runs at `now`. Of several periods that hold `now`, the one that lasts longest
    /// tells since when.
    pub fn running(&self, now: i64, tz: &TimeZone) -> Option<Running> {
        if now < self.active_since || now >= self.active_till {
            return None;
        }
        let all = self.periods.iter().filter_map(|p| p.holding(self.active_since, now, tz));
        let longest = all.reduce(|best, next| if next.until > best.until { next } else { best })?;
        Some(Running { until: longest.until.min(self.active_till), ..longest })
    }

    /// When the next of its periods starts, after `after`. Those of a day of the month that
    /// comes less often than every eight years are not found.
    pub fn next_start(&self, after: i64, tz: &TimeZone) -> Option<i64> {
        let bounds = (self.active_since, self.active_till);
        self.periods.iter().filter_map(|period| period.next_start(bounds, after, tz)).min()
    }
}

impl MaintenancePeriod {
    /// The period that holds `now`, as if the maintenance were active for ever since
    /// `active_since`.
    fn holding(&self, active_since: i64, now: i64, tz: &TimeZone) -> Option<Running> {
        let since = self.latest_start(active_since, now, tz)?;
        let until = since.saturating_add(i64::from(self.period_s));
        // Where the clocks skip a whole day, the day before is later than now.
        (since..until).contains(&now).then_some(Running { since, until })
    }

    /// The start that counts at `now`, see above; `None` also where its period would be over.
    fn latest_start(&self, active_since: i64, now: i64, tz: &TimeZone) -> Option<i64> {
        if let Repeat::OneTime { start_date } = self.repeat {
            return (start_date <= now).then_some(start_date);
        }
        let mut start = self.wall_start(local(now, tz).date(), tz)?;
        if start > now {
            start = days_before(start, 1, tz)?;
        }
        let first = match self.repeat {
            Repeat::MonthlyDay { .. } | Repeat::MonthlyWeekday { .. } => active_since,
            _ if start < active_since => return None,
            Repeat::Daily { every } => {
                return match days_since(active_since, start, tz)? % i64::from(every.max(1)) {
                    0 => Some(start),
                    days => days_before(start, i32::try_from(days).ok()?, tz),
                };
            }
            _ => monday_of(active_since, tz)?,
        };
        while start >= first && !self.fits(start, active_since, tz) {
            if start.saturating_add(i64::from(self.period_s)) <= now {
                return None;
            }
            start = days_before(start, 1, tz)?;
        }
        Some(start)
    }

    /// When a period of that day starts; `None` = the clocks skip that time.
    fn wall_start(&self, date: Date, tz: &TimeZone) -> Option<i64> {
        let start = wall_second(date, self.start_time_s, tz)?;
        (second_of_day(&local(start, tz)) == self.start_time_s % DAY_S).then_some(start)
    }

    /// When it starts next, after `after`.
    pub fn next_start(&self, bounds: (i64, i64), after: i64, tz: &TimeZone) -> Option<i64> {
        if let Repeat::OneTime { start_date } = self.repeat {
            let over = start_date.saturating_add(i64::from(self.period_s)).min(bounds.1);
            let start = start_date.max(bounds.0);
            return (start > after && start < over).then_some(start);
        }
        let from = after.max(bounds.0.saturating_sub(1));
        // The day before: clocks that were moved may have made yesterday's start late.
        let today = local(from, tz).date();
        for ahead in -1..AHEAD_DAYS_MAX {
            let date = days_from(today, ahead)?;
            let Some(start) = self.start_on(date, bounds.0, tz) else {
                if ahead > 1 && wall_second(date, 0, tz)? >= bounds.1 {
                    return None;
                }
                continue;
            };
            if start >= bounds.1 {
                return None;
            }
            if start > from {
                return Some(start);
            }
        }
        None
    }

    /// When it starts on that day, if it does: not where the clocks skip that time.
    fn start_on(&self, date: Date, active_since: i64, tz: &TimeZone) -> Option<i64> {
        let start = self.wall_start(date, tz).filter(|start| *start >= active_since)?;
        self.fits(start, active_since, tz).then_some(start)
    }

    /// Whether a start of that day is one.
    fn fits(&self, start: i64, active_since: i64, tz: &TimeZone) -> bool {
        let date = local(start, tz).date();
        let weekday = u32::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
        let month = u32::try_from(date.month() - 1).unwrap_or(0);
        match self.repeat {
            Repeat::OneTime { .. } => false,
            Repeat::Daily { every } => days_since(active_since, start, tz)
                .is_some_and(|days| days % i64::from(every.max(1)) == 0),
            Repeat::Weekly { every, days_of_week } => {
                let weeks = monday_of(active_since, tz).map(|monday| (start - monday) / WEEK_S);
                days_of_week >> weekday & 1 == 1
                    && weeks.is_some_and(|weeks| weeks % i64::from(every.max(1)) == 0)
            }
            Repeat::MonthlyDay { months, day } => {
                months >> month & 1 == 1 && i16::from(date.day()) == i16::from(day)
            }
            Repeat::MonthlyWeekday { months, days_of_week, week } => {
                let nth = (date.day() - 1) / 7 + 1;
                let last = date.day() + 7 > date.days_in_month();
                months >> month & 1 == 1
                    && days_of_week >> weekday & 1 == 1
                    && if week == 5 { last } else { i16::from(nth) == i16::from(week) }
            }
        }
    }
}

/// Seconds of a week without a change of the clocks.
const WEEK_S: i64 = 7 * DAY_S as i64;

/// The same time of day so many days before, by the calendar; of a repeated hour the second. Where the clocks skip that
/// whole day, which would end at `at` again, it is the day before that.
fn days_before(at: i64, days: i32, tz: &TimeZone) -> Option<i64> {
    let now = local(at, tz);
    let day = |days: i32| {
        let before = days_from(now.date(), -days)?.to_datetime(now.time());
        Some(tz.to_ambiguous_zoned(before).later().ok()?.timestamp().as_second())
    };
    day(days).filter(|before| *before < at).or_else(|| day(days + 1))
}

/// Whole days of 24 hours from the midnight before `from`.
fn days_since(from: i64, at: i64, tz: &TimeZone) -> Option<i64> {
    let midnight = wall_second(local(from, tz).date(), 0, tz)?;
    Some((at - midnight) / i64::from(DAY_S))
}

/// The midnight at which the week of that moment began.
fn monday_of(at: i64, tz: &TimeZone) -> Option<i64> {
    let date = local(at, tz).date();
    let monday = days_from(date, -i32::from(date.weekday().to_monday_zero_offset()))?;
    wall_second(monday, 0, tz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_period_begins_after_now_where_a_day_is_skipped() {
        // Samoa had no 30 December 2011: the 31st began at this moment.
        let tz = TimeZone::get("Pacific/Apia").unwrap();
        let midnight = 1_325_239_200;
        let repeat = Repeat::Daily { every: 1 };
        let period = MaintenancePeriod { repeat, start_time_s: 5_400, period_s: 300 };
        let maintenance = Maintenance {
            active_since: midnight - 10 * 86_400,
            active_till: midnight + 10 * 86_400,
            periods: vec![period],
        };
        let since = |at| maintenance.running(at, &tz).map(|running| running.since - midnight);
        assert_eq!([midnight + 1, midnight + 5_399].map(since), [None; 2]);
        assert_eq!(since(midnight + 5_400), Some(5_400));
        // The 29th ended right before it.
        assert_eq!(since(midnight - 86_400 + 5_400), Some(5_400 - 86_400));
    }

    #[test]
    fn a_week_is_counted_over_a_day_that_is_skipped() {
        let tz = TimeZone::get("Pacific/Apia").unwrap();
        let midnight = 1_325_239_200;
        // Every Thursday, the 29th as well, for three days.
        let repeat = Repeat::Weekly { every: 1, days_of_week: 0b1000 };
        let period = MaintenancePeriod { repeat, start_time_s: 5_400, period_s: 3 * 86_400 };
        let maintenance = Maintenance {
            active_since: midnight - 10 * 86_400,
            active_till: midnight + 10 * 86_400,
            periods: vec![period],
        };
        let running = maintenance.running(midnight + 6_000, &tz).unwrap();
        assert_eq!(running.since, midnight - 86_400 + 5_400);
    }

    #[test]
    fn each_kind_runs_in_its_time() {
        // 2024-12-18 (Wednesday) 00:00 UTC = 1734480000.
        let day = 1_734_480_000;
        let weekly = Repeat::Weekly { every: 1, days_of_week: 0b100 };
        let last_wednesday =
            Repeat::MonthlyWeekday { months: 1 << 11, days_of_week: 0b100, week: 3 };
        for (repeat, at, on) in [
            (Repeat::OneTime { start_date: day }, day, true),
            (Repeat::OneTime { start_date: day }, day + 3600, false),
            (Repeat::Daily { every: 1 }, day + 7200, true),
            (Repeat::Daily { every: 1 }, day + 7199, false),
            (Repeat::Daily { every: 2 }, day + 86_400 + 7200, false),
            (weekly, day + 7200, true),
            (weekly, day + 86_400 + 7200, false),
            (Repeat::MonthlyDay { months: 1 << 11, day: 18 }, day + 7300, true),
            (Repeat::MonthlyDay { months: 1 << 10, day: 18 }, day + 7300, false),
            (last_wednesday, day + 7300, true),
            (last_wednesday, day + 7 * 86_400 + 7300, false),
        ] {
            let period = MaintenancePeriod { repeat, start_time_s: 7200, period_s: 3600 };
            let maintenance = Maintenance {
                active_since: day,
                active_till: day + 30 * 86_400,
                periods: vec![period],
            };
            let got = maintenance.running(at, &TimeZone::UTC);
            assert_eq!(got.is_some(), on, "{repeat:?} {at}");
        }
    }
}
