//! Time periods (`1-5,09:00-18:00`) and maintenance periods.

use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::calendar::{local, second_of_day, weekday};

/// Periods in one list; more are refused.
pub const PERIODS_MAX: usize = 1024;

const DAY_S: u32 = 86_400;

/// One weekly period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimePeriod {
    /// First and last day, Monday = 1.
    pub days: (u8, u8),
    /// Start and end in seconds since midnight; the end (at most 86,400) is not part of it.
    pub seconds: (u32, u32),
}

/// The text is no time period.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid time period \"{0}\": write it as d-d,hh:mm-hh:mm, Monday is 1")]
pub struct PeriodError(pub String);

impl TimePeriod {
    /// Parses `d-d,hh:mm-hh:mm` or `d,hh:mm-hh:mm`.
    pub fn parse(text: &str) -> Result<Self, PeriodError> {
        Self::parse_inner(text).ok_or_else(|| PeriodError(text.to_owned()))
    }

    fn parse_inner(text: &str) -> Option<Self> {
        let (days, times) = text.split_once(',')?;
        let day = |t: &str| match t.as_bytes() {
            [d @ b'1'..=b'7'] => Some(d - b'0'),
            _ => None,
        };
        let days = match days.split_once('-') {
            Some((from, to)) => (day(from)?, day(to)?),
            None => (day(days)?, day(days)?),
        };
        let (from, to) = times.split_once('-')?;
        let seconds = (parse_clock(from)?, parse_clock(to)?);
        (days.0 <= days.1 && seconds.0 < seconds.1).then_some(Self { days, seconds })
    }

    /// The wall clock is inside.
    pub fn contains(&self, at: &Zoned) -> bool {
        let second = second_of_day(at);
        (self.days.0..=self.days.1).contains(&weekday(at))
            && (self.seconds.0..self.seconds.1).contains(&second)
    }

    /// Unix times after `at` where this period starts or ends, the nearest one.
    pub(crate) fn next_boundary(&self, at: i64, tz: &TimeZone) -> Option<i64> {
        let now = local(at, tz);
        let mut best: Option<i64> = None;
        for ahead in 0..=7 {
            let span = jiff::Span::new().try_days(ahead).ok()?;
            let date = now.date().checked_add(span).ok()?;
            let midnight = date.to_zoned(tz.clone()).ok()?;
            if !(self.days.0..=self.days.1).contains(&weekday(&midnight)) {
                continue;
            }
            for second in [self.seconds.0, self.seconds.1] {
                let candidate = wall_second(date, second, tz)?;
                if candidate > at && best.is_none_or(|b| candidate < b) {
                    best = Some(candidate);
                }
            }
            if best.is_some() {
                break;
            }
        }
        best
    }
}

/// Unix time at which the wall clock of `date` shows `second` of the day.
fn wall_second(date: jiff::civil::Date, second: u32, tz: &TimeZone) -> Option<i64> {
    if second >= DAY_S {
        let next = date.tomorrow().ok()?;
        return Some(next.to_zoned(tz.clone()).ok()?.timestamp().as_second());
    }
    let part = |v: u32| i8::try_from(v).ok();
    let time = date.at(part(second / 3600)?, part(second / 60 % 60)?, part(second % 60)?, 0);
    Some(time.to_zoned(tz.clone()).ok()?.timestamp().as_second())
}

fn parse_clock(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |t: &str, len: std::ops::RangeInclusive<usize>| {
        (len.contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit()))
            .then(|| t.parse::<u32>().ok())
            .flatten()
    };
    let (hours, minutes) = (number(hours, 1..=2)?, number(minutes, 2..=2)?);
    let second = hours * 3600 + minutes * 60;
    (minutes < 60 && second <= DAY_S).then_some(second)
}

/// Parses a list of periods separated by semicolons.
pub fn parse_periods(text: &str) -> Result<Vec<TimePeriod>, PeriodError> {
    let parts: Vec<&str> = text.trim_end_matches(';').split(';').collect();
    if parts.len() > PERIODS_MAX {
        return Err(PeriodError(text.chars().take(64).collect()));
    }
    parts.into_iter().map(TimePeriod::parse).collect()
}

/// A unix time is inside one of the periods.
pub fn in_periods(periods: &[TimePeriod], at: i64, tz: &TimeZone) -> bool {
    let at = local(at, tz);
    periods.iter().any(|p| p.contains(&at))
}

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

impl MaintenancePeriod {
    /// The running period that holds `now`: its start and end in unix time. `active_since` and
    /// `active_till` (exclusive) bound the maintenance as a whole.
    pub fn running(
        &self,
        active_since: i64,
        active_till: i64,
        now: i64,
        tz: &TimeZone,
    ) -> Option<(i64, i64)> {
        if now < active_since || now >= active_till {
            return None;
        }
        if let Repeat::OneTime { start_date } = self.repeat {
            let start = start_date.max(active_since);
            let end = (start_date + i64::from(self.period_s)).min(active_till);
            return (start..end).contains(&now).then_some((start, end));
        }
        // A start may lie as many days back as the period is long, and one for clock changes.
        let days_back = i64::from(self.period_s / DAY_S) + 2;
        let today = local(now, tz).date();
        for back in 0..=days_back {
            let date = today.checked_sub(jiff::Span::new().try_days(back).ok()?).ok()?;
            let Some(start) = wall_second(date, self.start_time_s, tz) else { continue };
            if start > now || !self.starts_on(date, active_since, tz) {
                continue;
            }
            // The length is elapsed time, also when the clocks change in between.
            let end = start + i64::from(self.period_s);
            if now < end && start >= active_since {
                return Some((start, end.min(active_till)));
            }
        }
        None
    }

    fn starts_on(&self, date: jiff::civil::Date, active_since: i64, tz: &TimeZone) -> bool {
        let since = local(active_since, tz).date();
        let days_since = |from: jiff::civil::Date| {
            date.since(from).map(|s| i64::from(s.get_days())).unwrap_or(-1)
        };
        let weekday = u32::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
        let month = u32::try_from(date.month() - 1).unwrap_or(0);
        match self.repeat {
            Repeat::OneTime { .. } => false,
            Repeat::Daily { every } => {
                let days = days_since(since);
                days >= 0 && days % i64::from(every.max(1)) == 0
            }
            Repeat::Weekly { every, days_of_week } => {
                let monday = i64::from(since.weekday().to_monday_zero_offset());
                let Ok(span) = jiff::Span::new().try_days(monday) else { return false };
                let Ok(first) = since.checked_sub(span) else { return false };
                days_of_week >> weekday & 1 == 1
                    && days_since(first) / 7 % i64::from(every.max(1)) == 0
            }
            Repeat::MonthlyDay { months, day } => {
                months >> month & 1 == 1 && i16::from(date.day()) == i16::from(day)
            }
            Repeat::MonthlyWeekday { months, days_of_week, week } => {
                let nth = (date.day() - 1) / 7 + 1;
                let last = date.day() + 7 > date.days_in_month();
                months >> month & 1 == 1
                    && days_of_week >> weekday & 1 == 1
                    && (i16::from(nth) == i16::from(week) || (week == 5 && last))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_periods() {
        // 2024-12-18 is a Wednesday; 1734546600 = 18:30 UTC.
        for (text, inside) in [
            ("1-7,00:00-24:00", Some(true)),
            ("3,18:00-19:00", Some(true)),
            ("3,18:30-18:31", Some(true)),
            ("3,18:00-18:30", Some(false)),
            ("1-2,00:00-24:00", Some(false)),
            ("1-2,00:00-24:00;3,8:00-20:00", Some(true)),
            ("1-7,00:00-24:00;", Some(true)),
            ("5-1,00:00-24:00", None),
            ("0,00:00-24:00", None),
            ("1,09:00-09:00", None),
            ("1,09:00-24:01", None),
            ("1", None),
            ("", None),
        ] {
            let got =
                parse_periods(text).ok().map(|p| in_periods(&p, 1_734_546_600, &TimeZone::UTC));
            assert_eq!(got, inside, "{text}");
        }
    }

    #[test]
    fn maintenance() {
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
            let got = period.running(day, day + 30 * 86_400, at, &TimeZone::UTC);
            assert_eq!(got.is_some(), on, "{repeat:?} {at}");
        }
    }
}
