//! Periods: `#5`, `1h:now-1d` over history, `1M:now/M` over trends.

use jiff::tz::TimeZone;
use model::Timestamp;

use super::Lookback;
use super::trend_time::TrendTime;
use crate::calendar::{Shift, ShiftOp, Unit, WallTime};
use crate::num::{parse_seconds, parse_u64};

/// A period over history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// How much of history.
    pub length: PeriodLength,
    /// Where it ends, counted from now.
    pub shift: Option<Shift>,
}

/// How far back a period reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeriodLength {
    /// `#5`: that many newest values.
    Count(usize),
    /// `5m`: that many seconds; none hold no values.
    Seconds(u32),
}

impl Period {
    /// Parses `#N`, `N<suffix>`, each with an optional `:now…`.
    pub fn parse(text: &str) -> Option<Self> {
        let (length, shift) = match text.split_once(':') {
            Some((length, shift)) => {
                (length, Some(Shift::parse(shift.strip_prefix("now")?, Unit::Second)?))
            }
            None => (text, None),
        };
        let length = match length.strip_prefix('#') {
            Some(count) => {
                let count = u32::try_from(parse_u64(count)?).ok().filter(|c| *c > 0)?;
                PeriodLength::Count(count as usize)
            }
            None => PeriodLength::Seconds(parse_seconds(length)?),
        };
        Some(Self { length, shift })
    }

    /// Where the period ends.
    pub fn end(&self, now: Timestamp, tz: &TimeZone) -> Option<Timestamp> {
        let Some(shift) = &self.shift else { return Some(now) };
        let end = shift.apply(WallTime::at(now.clock.into(), tz), tz)?;
        Some(Timestamp { clock: u32::try_from(end.second()?).ok()?, ns: now.ns })
    }

    pub(super) fn lookback(&self) -> Lookback {
        let (values, mut seconds) = match self.length {
            PeriodLength::Count(count) => (count, 0),
            PeriodLength::Seconds(0) => (1, 0),
            PeriodLength::Seconds(seconds) => (0, seconds),
        };
        for op in self.shift.iter().flat_map(|s| &s.0) {
            let unit_s = |unit: &Unit| match unit {
                Unit::Second => 1,
                Unit::Minute => 60,
                Unit::Hour => 3600,
                Unit::Day => 86_400,
                Unit::Week => 604_800,
                Unit::Month => 31 * 86_400,
                Unit::Year => 366 * 86_400,
            };
            let back = match op {
                ShiftOp::Move(count, unit) if *count < 0 => u32::try_from(count.unsigned_abs())
                    .unwrap_or(u32::MAX)
                    .saturating_mul(unit_s(unit)),
                ShiftOp::Move(..) => 0,
                ShiftOp::Floor(unit) => unit_s(unit),
            };
            seconds = seconds.saturating_add(back);
        }
        Lookback { values, seconds, shifted: self.shift.is_some() }
    }
}

/// A period over trends: whole hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendPeriod {
    /// How many units.
    pub count: u32,
    /// Hour or longer.
    pub unit: Unit,
    /// Where it ends, counted from now.
    pub shift: Shift,
}

impl TrendPeriod {
    /// Parses `1h:now/h`; the longest period is a year. Periods end at a border of their unit.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text).filter(|period| period.count <= period.most() && period.is_aligned())
    }

    /// How many units make a year.
    fn most(&self) -> u32 {
        match self.unit {
            Unit::Second | Unit::Minute => 0,
            Unit::Hour => 366 * 24,
            Unit::Day => 366,
            Unit::Week => 52,
            Unit::Month => 12,
            Unit::Year => 1,
        }
    }

    /// Like [`Self::parse`], however long the period is and wherever it ends.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (length, shift) = text.split_once(':')?;
        let shift = Shift::parse(shift.strip_prefix("now")?, Unit::Hour)?;
        let (&letter, digits) = length.as_bytes().split_last()?;
        let unit = Unit::from_letter(letter)?;
        let count = u32::try_from(parse_u64(std::str::from_utf8(digits).ok()?)?).ok()?;
        let long = !matches!(unit, Unit::Second | Unit::Minute);
        (count > 0 && long).then_some(Self { count, unit, shift })
    }

    fn is_aligned(&self) -> bool {
        self.largest_floor() >= self.unit
            || (self.unit == Unit::Year && self.largest_floor() >= Unit::Month)
    }

    fn largest_floor(&self) -> Unit {
        let floors = self.shift.0.iter().filter_map(|op| match op {
            ShiftOp::Floor(unit) => Some(*unit),
            ShiftOp::Move(..) => None,
        });
        floors.max().unwrap_or(Unit::Hour)
    }

    /// How often the result can change.
    pub fn base_unit(&self) -> Unit {
        let floors = self.shift.0.iter().filter_map(|op| match op {
            ShiftOp::Floor(unit) => Some(*unit),
            ShiftOp::Move(..) => None,
        });
        floors.min().unwrap_or(Unit::Hour)
    }

    /// First and last hour (unix times of their starts), moved `seasons` times `season` back.
    pub fn range(&self, now: u32, tz: &TimeZone, season: Unit, seasons: u32) -> Option<(u32, u32)> {
        let back = |at: TrendTime, count: u32, unit| at.plus(-i64::from(count), unit, tz);
        let end = TrendTime::at(now.into(), tz).shifted(&self.shift, tz)?;
        let is_floored = self.shift.0.iter().any(|op| matches!(op, ShiftOp::Floor(_)));
        let end = if is_floored { end } else { end.floor(Unit::Hour, tz)? };
        let end = if seasons == 0 { end } else { back(end, seasons, season)? };
        let second = |at: TrendTime| u32::try_from(at.second(tz)?).ok();
        Some((second(back(end, self.count, self.unit)?)?, second(back(end, 1, Unit::Hour)?)?))
    }
}
