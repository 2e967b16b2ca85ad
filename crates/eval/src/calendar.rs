//! Wall-clock arithmetic shared by intervals, periods and functions.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};

/// The wall clock at a unix time.
pub fn local(at: i64, tz: &TimeZone) -> Zoned {
    jiff::Timestamp::from_second(at).unwrap_or(jiff::Timestamp::MIN).to_zoned(tz.clone())
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
    /// From its letter.
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
    pub fn floor(self, at: &Zoned) -> Option<Zoned> {
        let date = at.date();
        let date = match self {
            Self::Second => return at.with().subsec_nanosecond(0).build().ok(),
            Self::Minute => return at.with().second(0).subsec_nanosecond(0).build().ok(),
            Self::Hour => {
                return at.with().minute(0).second(0).subsec_nanosecond(0).build().ok();
            }
            Self::Day => date,
            Self::Week => {
                let back = i64::from(at.weekday().since(Weekday::Monday));
                date.checked_sub(Span::new().try_days(back).ok()?).ok()?
            }
            Self::Month => date.first_of_month(),
            Self::Year => date.first_of_year(),
        };
        date.to_zoned(at.time_zone().clone()).ok()
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

    /// Applies the operations in order.
    pub fn apply(&self, at: &Zoned) -> Option<Zoned> {
        let mut at = at.clone();
        for op in &self.0 {
            at = match op {
                ShiftOp::Move(count, unit) => at.checked_add(unit.span(*count)?).ok()?,
                ShiftOp::Floor(unit) => unit.floor(&at)?,
            };
        }
        Some(at)
    }
}
