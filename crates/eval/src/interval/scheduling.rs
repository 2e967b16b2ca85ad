//! Checks at fixed times: `md1-15wd1-5h9-18m/30s0`.
//!
//! A moment fits when the wall clock shows one of the given times, nothing else counts: a time
//! that the clocks skip has no check on that day, and one that they show twice has two. (The
//! field's server does the same.)

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::DAY_S;

use crate::calendar::{Stretch, days_from};

/// Sets of allowed values, one bit for each. All fields have to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduling {
    /// Days of the month 1 to 31.
    pub month_days: u32,
    /// Monday = bit 1 … Sunday = bit 7.
    pub week_days: u8,
    /// 0 to 23.
    pub hours: u32,
    /// 0 to 59.
    pub minutes: u64,
    /// 0 to 59.
    pub seconds: u64,
}

/// A field of a scheduling interval: its letters and its least and greatest value.
type Field = (&'static str, u32, u32);

/// In the order in which they must be written.
const FIELDS: [Field; 5] = [("md", 1, 31), ("wd", 1, 7), ("h", 0, 23), ("m", 0, 59), ("s", 0, 59)];

/// Bit 0 alone: a field left out below the finest given one.
const ZERO: u64 = 1;

/// A check that no day within so many has never comes. `md31wd1` can take some years.
const AHEAD_DAYS_MAX: i32 = 8 * 366;

/// All values of a field.
fn all((_, low, high): Field) -> u64 {
    (low..=high).fold(0, |set, value| set | 1 << value)
}

impl Scheduling {
    /// Parses one scheduling interval.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut sets = [None; 5];
        for (slot, (prefix, low, high)) in sets.iter_mut().zip(FIELDS) {
            let Some(after) = rest.strip_prefix(prefix) else { continue };
            if prefix == "m" && after.starts_with('d') {
                continue;
            }
            let len = after
                .bytes()
                .take_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b',' | b'/'))
                .count();
            *slot = Some(parse_set(&after[..len], low, high)?);
            rest = &after[len..];
        }
        if text.is_empty() || !rest.is_empty() {
            return None;
        }
        // A field left out means "any" above the finest given one and 0 below it.
        let finest = sets.iter().rposition(Option::is_some)?;
        let mut whole = [0; 5];
        for (index, (slot, field)) in whole.iter_mut().zip(FIELDS).enumerate() {
            let left_out = if index < finest || index < 2 { all(field) } else { ZERO };
            *slot = sets[index].unwrap_or(left_out);
        }
        Some(Self::of(whole))
    }

    fn of([month_days, week_days, hours, minutes, seconds]: [u64; 5]) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the sets are that wide")]
        Self {
            month_days: month_days as u32,
            week_days: week_days as u8,
            hours: hours as u32,
            minutes,
            seconds,
        }
    }

    fn sets(&self) -> [u64; 5] {
        [
            self.month_days.into(),
            self.week_days.into(),
            self.hours.into(),
            self.minutes,
            self.seconds,
        ]
    }

    /// First matching second after `after`, within about eight years.
    pub fn next(&self, after: i64, tz: &TimeZone) -> Option<i64> {
        let mut at = after.checked_add(1)?;
        let last = at.checked_add(i64::from(AHEAD_DAYS_MAX) * i64::from(DAY_S))?;
        while at < last {
            let stretch = Stretch::at(at, tz);
            // Nothing changes the clocks before the end of the stretch.
            let end = stretch.end.min(last);
            if let Some(wall) = self.next_wall(at + stretch.offset_s, end + stretch.offset_s) {
                return Some(wall - stretch.offset_s);
            }
            at = end;
        }
        None
    }

    /// First matching second from `wall` on and before `end`, on a clock that nobody changes:
    /// seconds since 1970 as the wall clock counts them.
    fn next_wall(&self, wall: i64, end: i64) -> Option<i64> {
        let day_s = i64::from(DAY_S);
        let mut day = wall.div_euclid(day_s);
        let mut second = u32::try_from(wall.rem_euclid(day_s)).ok()?;
        let mut date = days_from(Date::constant(1970, 1, 1), i32::try_from(day).ok()?)?;
        while day * day_s < end {
            if self.fits(date)
                && let Some(found) = self.next_in_day(second)
            {
                return Some(day * day_s + i64::from(found)).filter(|found| *found < end);
            }
            (day, date, second) = (day + 1, date.tomorrow().ok()?, 0);
        }
        None
    }

    fn fits(&self, date: Date) -> bool {
        let bit = |value: i8| u32::try_from(value).unwrap_or(0);
        self.month_days >> bit(date.day()) & 1 == 1
            && self.week_days >> bit(date.weekday().to_monday_one_offset()) & 1 == 1
    }

    /// First matching second of a day, from `second` on.
    fn next_in_day(&self, second: u32) -> Option<u32> {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let hours = u64::from(self.hours);
        let first = |set: u64| next_bit(set, 0);
        if hours >> hour & 1 == 1 {
            if self.minutes >> minute & 1 == 1
                && let Some(second) = next_bit(self.seconds, second)
            {
                return Some(hour * 3600 + minute * 60 + second);
            }
            if let Some(minute) = next_bit(self.minutes, minute + 1) {
                return Some(hour * 3600 + minute * 60 + first(self.seconds)?);
            }
        }
        let hour = next_bit(hours, hour + 1)?;
        Some(hour * 3600 + first(self.minutes)? * 60 + first(self.seconds)?)
    }
}

/// The lowest member of a set that is not below `from`.
fn next_bit(set: u64, from: u32) -> Option<u32> {
    let rest = set.checked_shr(from)?;
    (rest != 0).then(|| from + rest.trailing_zeros())
}

/// Prints what [`Scheduling::parse`] reads, the shortest of the forms that say the same.
impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sets = self.sets();
        let days_given = (0..2).any(|day| sets[day] != all(FIELDS[day]));
        // The finest field that is not just 0; fields of days stand for midnight.
        let finest = (2..5).rev().find(|index| sets[*index] != ZERO);
        for (index, (set, field)) in sets.into_iter().zip(FIELDS).enumerate() {
            let needed = match finest {
                Some(finest) if index == finest => true,
                Some(finest) if index > finest => false,
                Some(_) => set != all(field),
                None if index < 2 => set != all(field),
                None => index == 2 && !days_given,
            };
            if needed {
                write!(f, "{}", field.0)?;
                write_set(f, set)?;
            }
        }
        Ok(())
    }
}

fn write_set(f: &mut fmt::Formatter<'_>, set: u64) -> fmt::Result {
    let (mut from, mut separator) = (0, "");
    while let Some(low) = next_bit(set, from) {
        let high = low + (set >> low).trailing_ones() - 1;
        write!(f, "{separator}{low}")?;
        if high > low {
            write!(f, "-{high}")?;
        }
        (from, separator) = (high + 1, ",");
    }
    Ok(())
}

/// Parses `1-5`, `9,12`, `/15`, `10-50/5` into a bit set.
fn parse_set(text: &str, low: u32, high: u32) -> Option<u64> {
    let number = |t: &str| {
        ((1..=2).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit()))
            .then(|| t.parse::<u32>().ok())
            .flatten()
            .filter(|v| (low..=high).contains(v))
    };
    let mut set = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<u32>().ok()?)),
            None => (part, None),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?),
            None if range.is_empty() && step.is_some() => (low, high),
            None if step.is_some() => return None,
            None => (number(range)?, number(range)?),
        };
        // A step has to lead to a second value.
        if from > to || step.is_some_and(|step| step == 0 || step > to - from) {
            return None;
        }
        let step = usize::try_from(step.unwrap_or(1)).ok()?;
        for value in (from..=to).step_by(step) {
            set |= 1 << value;
        }
    }
    Some(set)
}
