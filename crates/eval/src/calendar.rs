//! Wall-clock arithmetic shared by intervals, periods and functions.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::{AmbiguousOffset, Dst, Offset, TimeZone};
use jiff::{Span, Timestamp, Zoned};
use model::DAY_S;

/// The wall clock at a unix time.
pub fn local(at: i64, tz: &TimeZone) -> Zoned {
    Timestamp::from_second(at).unwrap_or(Timestamp::MIN).to_zoned(tz.clone())
}

/// Monday = 1 … Sunday = 7.
pub fn weekday(at: &Zoned) -> u8 {
    #[expect(clippy::cast_sign_loss, reason = "1 to 7")]
    let day = at.weekday().to_monday_one_offset() as u8;
    day
}

/// Seconds since midnight as the wall clock shows them.
pub fn second_of_day(at: &Zoned) -> u32 {
    let field = |v: i8| u32::try_from(v).unwrap_or(0);
    field(at.hour()) * 3600 + field(at.minute()) * 60 + field(at.second())
}

/// The date that many days later, or earlier.
pub fn days_from(date: Date, days: i32) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// Unix time at which the wall clock of `date` shows `second` of the day; 86,400 is the next
/// midnight. Of a repeated hour the first; a time that the clocks skip comes as late as they were
/// moved.
pub fn wall_second(date: Date, second: u32, tz: &TimeZone) -> Option<i64> {
    if second >= DAY_S {
        let next = date.tomorrow().ok()?;
        return Some(next.to_zoned(tz.clone()).ok()?.timestamp().as_second());
    }
    let part = |v: u32| i8::try_from(v).ok();
    let time = date.at(part(second / 3600)?, part(second / 60 % 60)?, part(second % 60)?, 0);
    Some(time.to_zoned(tz.clone()).ok()?.timestamp().as_second())
}

/// What holds from a moment until the clocks are next changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Seconds that the wall clock is ahead of UTC.
    pub(crate) offset_s: i64,
    /// Unix time of the next change; `i64::MAX` if there is none.
    pub(crate) end: i64,
}

impl Stretch {
    /// The stretch that holds `at`.
    pub(crate) fn at(at: i64, tz: &TimeZone) -> Self {
        let at = Timestamp::from_second(at).unwrap_or(Timestamp::MIN);
        let change = tz.following(at).next();
        Self {
            offset_s: i64::from(tz.to_offset(at).seconds()),
            end: change.map_or(i64::MAX, |change| change.timestamp().as_second()),
        }
    }
}

/// A unit of time shifts and trend periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// `s`
    Second,
    /// `m`
    Minute,
    /// `h`
    Hour,
    /// `d`
    Day,
    /// `w`
    Week,
    /// `M`
    Month,
    /// `y`
    Year,
}

impl Unit {
    /// The unit of a letter, as in `5m` (minutes) and `1M` (a month).
    pub const fn from_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b's' => Self::Second,
            b'm' => Self::Minute,
            b'h' => Self::Hour,
            b'd' => Self::Day,
            b'w' => Self::Week,
            b'M' => Self::Month,
            b'y' => Self::Year,
            _ => return None,
        })
    }

    /// `count` of this unit; days and longer follow the calendar. `None` if out of range.
    pub fn span(self, count: i64) -> Option<Span> {
        let span = Span::new();
        match self {
            Self::Second => span.try_seconds(count),
            Self::Minute => span.try_minutes(count),
            Self::Hour => span.try_hours(count),
            Self::Day => span.try_days(count),
            Self::Week => span.try_weeks(count),
            Self::Month => span.try_months(count),
            Self::Year => span.try_years(count),
        }
        .ok()
    }

    /// Start of the unit that holds `at`; weeks start on Monday.
    pub(crate) fn floor(self, at: DateTime) -> Option<DateTime> {
        let (date, time) = (at.date(), at.time());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let date = match self {
            Self::Second => return Some(date.at(hour, minute, second, 0)),
            Self::Minute => return Some(date.at(hour, minute, 0, 0)),
            Self::Hour => return Some(date.at(hour, 0, 0, 0)),
            Self::Day => date,
            Self::Week => days_from(date, -i32::from(date.weekday().since(Weekday::Monday)))?,
            Self::Month => date.first_of_month(),
            Self::Year => date.first_of_year(),
        };
        Some(date.at(0, 0, 0, 0))
    }
}

/// A moment as the wall clock shows it, for arithmetic with what it shows: an hour before 03:00 is
/// 02:00, also where the clocks make it two hours or none. Each step takes the offset from UTC from
/// the one before it. So a time that is shown twice has the reading nearer to where the way began,
/// and one that is skipped comes to the other side of the gap, as the field's server has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime {
    civil: DateTime,
    offset: Offset,
    dst: Dst,
}

impl WallTime {
    /// What the wall clock shows at a unix time.
    pub fn at(at: i64, tz: &TimeZone) -> Self {
        Self::of(&local(at, tz))
    }

    /// What the wall clock of its zone shows at a moment.
    pub fn of(at: &Zoned) -> Self {
        let dst = at.time_zone().to_offset_info(at.timestamp()).dst();
        Self { civil: at.datetime(), offset: at.offset(), dst }
    }

    /// Start of the unit.
    pub fn floor(self, unit: Unit, tz: &TimeZone) -> Option<Self> {
        self.to(unit.floor(self.civil)?, tz)
    }

    /// `count` units later, or earlier if negative.
    pub fn plus(self, count: i64, unit: Unit, tz: &TimeZone) -> Option<Self> {
        self.to(self.civil.checked_add(unit.span(count)?).ok()?, tz)
    }

    fn to(self, civil: DateTime, tz: &TimeZone) -> Option<Self> {
        let info = tz.to_offset_info(self.offset.to_timestamp(civil).ok()?);
        let moved = info.offset() != self.offset && info.dst() == self.dst;
        let offset = if moved {
            // The zone itself was changed, as in Samoa, which left out a day.
            match tz.to_ambiguous_timestamp(civil).offset() {
                AmbiguousOffset::Unambiguous { offset }
                | AmbiguousOffset::Gap { before: offset, .. }
                | AmbiguousOffset::Fold { before: offset, .. } => offset,
            }
        } else {
            info.offset()
        };
        Some(Self { civil, offset, dst: info.dst() })
    }

    /// The moment.
    pub fn to_zoned(self, tz: &TimeZone) -> Option<Zoned> {
        Some(self.offset.to_timestamp(self.civil).ok()?.to_zoned(tz.clone()))
    }

    /// Unix time of the moment.
    pub fn second(self) -> Option<i64> {
        Some(self.offset.to_timestamp(self.civil).ok()?.as_second())
    }
}

/// One operation of a time shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShiftOp {
    /// `+2h`, `-1M`
    Move(i64, Unit),
    /// `/d`: back to the start of the unit.
    Floor(Unit),
}

/// Operations that follow `now` in a time shift.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Shift(pub Vec<ShiftOp>);

/// More operations than this in one shift are refused.
pub const SHIFT_OPS_MAX: usize = 64;

impl Shift {
    /// Parses `-1h`, `/d`, `+1M/M-1d`; `smallest` = the smallest unit allowed.
    pub fn parse(text: &str, smallest: Unit) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut ops = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if ops.len() == SHIFT_OPS_MAX {
                return None;
            }
            match bytes[at] {
                b'/' => {
                    let unit = Unit::from_letter(*bytes.get(at + 1)?)?;
                    if unit < smallest {
                        return None;
                    }
                    ops.push(ShiftOp::Floor(unit));
                    at += 2;
                }
                sign @ (b'+' | b'-') => {
                    let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
                    let number: i64 = text[at + 1..at + 1 + digits].parse().ok()?;
                    at += 1 + digits;
                    let unit = match bytes.get(at).copied().map(Unit::from_letter) {
                        Some(unit) if !matches!(bytes[at], b'+' | b'-' | b'/') => {
                            at += 1;
                            unit?
                        }
                        _ => Unit::Second,
                    };
                    if unit < smallest {
                        return None;
                    }
                    ops.push(ShiftOp::Move(if sign == b'-' { -number } else { number }, unit));
                }
                _ => return None,
            }
        }
        Some(Self(ops))
    }

    /// Applies the operations in order to what the wall clock shows.
    pub fn apply(&self, at: WallTime, tz: &TimeZone) -> Option<WallTime> {
        self.0.iter().try_fold(at, |at, op| match op {
            ShiftOp::Move(count, unit) => at.plus(*count, *unit, tz),
            ShiftOp::Floor(unit) => at.floor(*unit, tz),
        })
    }
}
