//! Time periods: `1-5,09:00-18:00;6,10:00-14:00`.

use std::fmt;

use jiff::Zoned;
use jiff::tz::TimeZone;
use model::DAY_S;

use crate::calendar::{Stretch, local, second_of_day, weekday};

/// Periods in one list; more are refused.
pub const PERIODS_MAX: usize = 1024;

/// One weekly period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimePeriod {
    /// First and last day, Monday = 1.
    pub days: (u8, u8),
    /// Start and end in seconds since midnight; the end (at most 86,400) is not part of it.
    pub seconds: (u32, u32),
}

/// The text is not a time period.
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
        self.holds(weekday(at), second_of_day(at))
    }

    /// That second of that day (Monday = 1) is inside.
    pub fn holds(&self, day: u8, second: u32) -> bool {
        (self.days.0..=self.days.1).contains(&day)
            && (self.seconds.0..self.seconds.1).contains(&second)
    }

    /// The nearest moment after `at` where the wall clock comes to the start or the end of this
    /// period, or is changed.
    pub(crate) fn next_boundary(&self, at: i64, tz: &TimeZone) -> i64 {
        let stretch = Stretch::at(at, tz);
        let wall = at + stretch.offset_s;
        let midnight = wall - wall.rem_euclid(i64::from(DAY_S));
        let today = local(at, tz);
        for ahead in 0..=7 {
            let day = (weekday(&today) - 1 + ahead) % 7 + 1;
            if !(self.days.0..=self.days.1).contains(&day) {
                continue;
            }
            let midnight = midnight + i64::from(ahead) * i64::from(DAY_S);
            for second in [self.seconds.0, self.seconds.1] {
                let boundary = midnight + i64::from(second);
                if boundary > wall {
                    return (boundary - stretch.offset_s).min(stretch.end);
                }
            }
        }
        stretch.end
    }
}

/// Prints what [`TimePeriod::parse`] reads.
impl fmt::Display for TimePeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.days;
        if first == last {
            write!(f, "{first}")?;
        } else {
            write!(f, "{first}-{last}")?;
        }
        let clock = |second: u32| (second / 3600, second / 60 % 60);
        let ((h1, m1), (h2, m2)) = (clock(self.seconds.0), clock(self.seconds.1));
        write!(f, ",{h1:02}:{m1:02}-{h2:02}:{m2:02}")
    }
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
}
