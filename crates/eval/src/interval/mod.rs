//! Update intervals: `30s;50s/1-7,00:00-24:00;wd1-5h9-18`.

mod scheduling;

use std::fmt;

use jiff::tz::TimeZone;
use model::DAY_S;

use crate::calendar::local;
use crate::macros::token_at;
use crate::num::parse_seconds;
use crate::time::TimePeriod;

pub use scheduling::Scheduling;

/// Longest update interval, seconds.
pub const DELAY_MAX_S: u32 = 86_400;

/// Custom intervals in one field; more are refused.
pub const PARTS_MAX: usize = 256;

/// A parsed update interval; all macros in it are already resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateInterval {
    /// Seconds between checks; 0 = only the custom intervals count.
    pub delay_s: u32,
    /// Other delays in certain periods.
    pub flexible: Vec<Flexible>,
    /// Checks at fixed times.
    pub scheduling: Vec<Scheduling>,
}

/// `50s/1-7,00:00-24:00`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flexible {
    /// Seconds between checks, also more than a day; 0 = none in this period.
    pub delay_s: u32,
    /// When it holds.
    pub period: TimePeriod,
}

/// Why a text is no update interval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntervalError {
    /// A part that cannot be read.
    #[error("invalid update interval \"{0}\"")]
    Syntax(String),
    /// The delay is longer than a day.
    #[error("update interval \"{0}\" must be between 0 and 86400 seconds")]
    TooLong(String),
    /// Nothing would ever be collected.
    #[error("the interval \"{0}\" never collects: give a delay or custom intervals")]
    Never(String),
}

impl UpdateInterval {
    /// Parses a field without macros.
    pub fn parse(text: &str) -> Result<Self, IntervalError> {
        let mut parts = text.split(';');
        let first = parts.next().unwrap_or_default();
        let mut interval =
            Self { delay_s: parse_delay(first)?, flexible: Vec::new(), scheduling: Vec::new() };
        for (index, part) in parts.enumerate() {
            let bad = || IntervalError::Syntax(part.to_owned());
            if index == PARTS_MAX {
                return Err(bad());
            }
            if part.starts_with(|c: char| c.is_ascii_digit()) {
                let (delay, period) = part.split_once('/').ok_or_else(bad)?;
                let period = TimePeriod::parse(period).map_err(|_| bad())?;
                let delay_s = parse_seconds(delay).ok_or_else(bad)?;
                interval.flexible.push(Flexible { delay_s, period });
            } else {
                interval.scheduling.push(Scheduling::parse(part).ok_or_else(bad)?);
            }
        }
        Ok(interval)
    }

    /// Checks a field that may hold user macros (and with `lld` LLD macros) where a delay or a
    /// period belongs.
    pub fn validate(text: &str, lld: bool) -> Result<(), IntervalError> {
        for (index, part) in split_outside_macros(text, ';').into_iter().enumerate() {
            let bad = || IntervalError::Syntax(part.to_owned());
            let is_macro = |t: &str| is_whole_macro(t, lld);
            if index == 0 {
                if !is_macro(part) {
                    parse_delay(part)?;
                }
                continue;
            }
            if is_macro(part) {
                continue;
            }
            match split_outside_macros(part, '/')[..] {
                [delay, period] if delay.starts_with(|c: char| c.is_ascii_digit() || c == '{') => {
                    if !is_macro(delay) {
                        parse_seconds(delay).ok_or_else(bad)?;
                    }
                    if !is_macro(period) {
                        TimePeriod::parse(period).map_err(|_| bad())?;
                    }
                }
                _ => {
                    Scheduling::parse(part).ok_or_else(bad)?;
                }
            }
        }
        Ok(())
    }

    /// Something is ever collected: flexible periods without checks do not fill the week.
    pub fn ever_checks(&self) -> bool {
        let checks = |day: u8, second: u32| {
            let holding = self.flexible.iter().filter(|f| f.period.holds(day, second));
            holding.map(|f| f.delay_s).min().unwrap_or(self.delay_s) > 0
        };
        let ends = self.flexible.iter().map(|f| f.period.seconds.1 % DAY_S);
        let borders = || ends.clone().chain(self.flexible.iter().map(|f| f.period.seconds.0));
        !self.scheduling.is_empty()
            || (1..=7).any(|day| borders().chain([0]).any(|second| checks(day, second)))
    }

    /// The delay in force at a moment: the shortest of the flexible ones that hold, else the
    /// plain one.
    pub fn delay_at(&self, at: i64, tz: &TimeZone) -> u32 {
        if self.flexible.is_empty() {
            return self.delay_s;
        }
        let wall = local(at, tz);
        let holding = self.flexible.iter().filter(|f| f.period.contains(&wall));
        holding.map(|f| f.delay_s).min().unwrap_or(self.delay_s)
    }

    /// Unix time of the first check after `now`, or `None` if there is none within a year.
    /// `seed` (the item's id) spreads items evenly over their delay. Items that the agent
    /// collects itself (`type_is_active`) have no schedule here: they are due a delay later.
    pub fn next_check(
        &self,
        seed: u64,
        type_is_active: bool,
        now: u32,
        tz: &TimeZone,
    ) -> Option<u32> {
        if type_is_active {
            return (self.delay_s > 0).then(|| now.saturating_add(self.delay_s));
        }
        let regular = self.next_regular(seed, now, tz);
        let scheduled = self
            .scheduling
            .iter()
            .filter_map(|s| s.next(i64::from(now), tz))
            .min()
            .and_then(|at| u32::try_from(at).ok());
        match (regular, scheduled) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn next_regular(&self, seed: u64, now: u32, tz: &TimeZone) -> Option<u32> {
        const YEAR_S: i64 = 365 * 86_400;
        let mut from = i64::from(now);
        let end = from + YEAR_S;
        let mut first = true;
        while from < end {
            let delay = i64::from(self.delay_at(from, tz));
            let boundary = self.flexible.iter().map(|f| f.period.next_boundary(from, tz)).min();
            if delay > 0 {
                #[expect(clippy::cast_possible_wrap, reason = "below the delay")]
                let spread = (seed % delay.unsigned_abs()) as i64;
                let mut check = from - from % delay + spread;
                while check < from || (first && check == from) {
                    check += delay;
                }
                if boundary.is_none_or(|b| check < b) {
                    return u32::try_from(check).ok();
                }
            }
            from = boundary?;
            first = false;
        }
        None
    }
}

/// Prints what [`UpdateInterval::parse`] reads.
impl fmt::Display for UpdateInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.delay_s)?;
        for flexible in &self.flexible {
            write!(f, ";{}/{}", flexible.delay_s, flexible.period)?;
        }
        for scheduling in &self.scheduling {
            write!(f, ";{scheduling}")?;
        }
        Ok(())
    }
}

fn parse_delay(text: &str) -> Result<u32, IntervalError> {
    let delay = parse_seconds(text).ok_or_else(|| IntervalError::Syntax(text.to_owned()))?;
    if delay > DELAY_MAX_S { Err(IntervalError::TooLong(text.to_owned())) } else { Ok(delay) }
}

fn is_whole_macro(text: &str, lld: bool) -> bool {
    token_at(text, 0).is_some_and(|t| {
        t.span.end == text.len() && (t.is_user_macro() || (lld && t.is_lld_macro()))
    })
}

/// Splits at `separator`, but not inside `{$MACRO:"context"}`.
fn split_outside_macros(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        if let Some(token) = token_at(text, at) {
            at = token.span.end;
            continue;
        }
        let c = text[at..].chars().next().unwrap_or(separator);
        if c == separator {
            parts.push(&text[start..at]);
            start = at + 1;
        }
        at += c.len_utf8();
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_not() {
        for (text, valid) in [
            ("30", true),
            ("1m", true),
            ("24h", true),
            ("86401", false),
            ("0;wd1-5h9-18", true),
            ("1m;50s/1-7,00:00-24:00;wd1-5h9-18m/30", true),
            ("0;md1,15-20/2wd7h0m0s0", true),
            ("{$D}", true),
            ("{$D:\";\"};{$F}/{$P};h{$H}", false),
            ("{$D};{$CUSTOM}", true),
            ("1;", false),
            ("1;x", false),
            ("0;h24", false),
            ("0;m60", false),
            ("0;wd0", false),
            ("0;md32", false),
            ("0;h9-8", false),
            ("0;h5/2", false),
            ("0;h9h10", false),
            ("0;m5h5", false),
            ("-1", false),
            ("", false),
        ] {
            assert_eq!(UpdateInterval::validate(text, false).is_ok(), valid, "{text}");
        }
    }

    #[test]
    fn next_checks() {
        // 2024-12-18 (Wednesday) 00:00 UTC.
        let day = 1_734_480_000;
        for (text, seed, now, expect) in [
            ("60", 0, day, Some(day + 60)),
            ("60", 7, day, Some(day + 7)),
            ("60", 67, day + 7, Some(day + 67)),
            ("1h;0/3,00:00-24:00", 0, day, Some(day + 86_400)),
            ("1h;10s/3,12:00-13:00", 3, day + 43_190, Some(day + 43_203)),
            ("0;h12", 0, day, Some(day + 43_200)),
            ("0;wd5", 9, day, Some(day + 2 * 86_400)),
            ("0;m/20", 9, day + 60, Some(day + 1200)),
            ("0;s30", 9, day + 30, Some(day + 90)),
            ("1h;m5", 0, day, Some(day + 300)),
            ("0;md31", 0, day, Some(day + 13 * 86_400)),
            ("0", 0, day, None),
            ("0;0/1-7,00:00-24:00", 0, day, None),
        ] {
            let interval = UpdateInterval::parse(text).unwrap();
            assert_eq!(interval.next_check(seed, false, now, &TimeZone::UTC), expect, "{text}");
        }
        let plain = UpdateInterval::parse("1m;h5").unwrap();
        assert_eq!(plain.next_check(5, true, day, &TimeZone::UTC), Some(day + 60));
    }
}
