//! Periods and times of the day as users write them.

use std::num::NonZeroU16;

use crate::Period;

/// Longest period: a year, and a bit.
const PERIOD_MAX_H: u16 = 24 * 7 * 53;

impl Period {
    /// `12h`, `1d`, `2w`: at least an hour, at most 53 weeks.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, hours) = match text.as_bytes().last()? {
            b'h' => (text.strip_suffix('h')?, 1),
            b'd' => (text.strip_suffix('d')?, 24),
            b'w' => (text.strip_suffix('w')?, 24 * 7),
            _ => return None,
        };
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let all = digits.parse::<u16>().ok()?.checked_mul(hours)?;
        let all = NonZeroU16::new(all).filter(|all| all.get() <= PERIOD_MAX_H)?;
        if hours == 1 {
            return Some(Self::Hours(all));
        }
        NonZeroU16::new(all.get() / 24).map(Self::Days)
    }
}

/// The second of `HH:MM`, from `00:00` to `24:00`.
pub fn second_of_day(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| {
        let is_valid = text.len() == 2 && text.bytes().all(|digit| digit.is_ascii_digit());
        text.parse::<u32>().ok().filter(|_| is_valid)
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let second = hours * 3_600 + minutes * 60;
    (minutes < 60 && second <= 86_400).then_some(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{days, hours};

    #[test]
    fn periods_are_whole_hours_days_or_weeks() {
        assert_eq!(Period::parse("12h"), Some(hours(12)));
        assert_eq!(Period::parse("24h"), Some(hours(24)));
        assert_eq!(Period::parse("1d"), Some(days(1)));
        assert_eq!(Period::parse("2w"), Some(days(14)));
        assert_eq!(Period::parse("53w"), Some(days(371)));
        for text in ["", "h", "0h", "0d", "54w", "60000h", "-1d", "1.5d", "30m", "1 d", "+1d", "7"]
        {
            assert_eq!(Period::parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_of_the_day_have_two_digits_each() {
        assert_eq!(second_of_day("00:00"), Some(0));
        assert_eq!(second_of_day("09:30"), Some(34_200));
        assert_eq!(second_of_day("24:00"), Some(86_400));
        for text in ["", "9:00", "24:01", "12:60", "25:00", "12", "12:0", "+1:00", "12:000"] {
            assert_eq!(second_of_day(text), None, "{text}");
        }
    }
}
