//! Values as notifications show them: units, suffixes, value maps.

mod sample;
mod shown;

use jiff::tz::TimeZone;
use model::ValueType;
pub use objects::MappingType;

use crate::num::{format_f64, parse_f64, parse_suffixed, trim_zeros};
use crate::regex;

pub use sample::{log_text, value_text};
pub use shown::show_value;

/// `30m` → 1800. Whole seconds with suffix `s m h d w`.
pub fn parse_time_suffix(text: &str) -> Option<u32> {
    crate::num::parse_seconds(text)
}

/// `5K` → 5120. A number with any suffix of the expression grammar.
pub fn parse_size_suffix(text: &str) -> Option<f64> {
    parse_suffixed(text)
}

/// One row of a value map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// When the row fits.
    pub kind: MappingType,
    /// What is compared with; empty for [`MappingType::Default`].
    pub value: String,
    /// What is shown.
    pub newvalue: String,
}

/// The text for a value in a value map; the first row that fits wins, the default row last.
pub fn map_value<'a>(map: &'a [Mapping], value: &str, value_type: ValueType) -> Option<&'a str> {
    let fits = |row: &&Mapping| match row.kind {
        MappingType::Equal if value_type.is_numeric() => {
            match (parse_f64(value), parse_f64(&row.value)) {
                (Some(a), Some(b)) => crate::num::same_f64(a, b),
                _ => false,
            }
        }
        MappingType::Equal => row.value == value,
        // Bounds and ranges are for numbers.
        MappingType::AtLeast | MappingType::AtMost | MappingType::InRange
            if !value_type.is_numeric() =>
        {
            false
        }
        MappingType::AtLeast => compare(value, &row.value).is_some_and(|(a, b)| a >= b),
        MappingType::AtMost => compare(value, &row.value).is_some_and(|(a, b)| a <= b),
        MappingType::InRange => in_ranges(value, &row.value),
        // Patterns are for texts.
        MappingType::Regexp if value_type.is_numeric() => false,
        MappingType::Regexp => regex::is_match(&row.value, value, false).unwrap_or(false),
        MappingType::Default => false,
    };
    map.iter()
        .find(fits)
        .or_else(|| map.iter().find(|r| r.kind == MappingType::Default))
        .map(|r| r.newvalue.as_str())
}

fn compare(a: &str, b: &str) -> Option<(f64, f64)> {
    Some((parse_f64(a)?, parse_f64(b)?))
}

fn in_ranges(value: &str, ranges: &str) -> bool {
    let Some(value) = parse_f64(value) else { return false };
    ranges.split(',').any(|range| {
        let range = range.trim();
        // A leading minus belongs to the first number.
        let dash = range
            .char_indices()
            .skip(1)
            .find(|(i, c)| *c == '-' && !matches!(range.as_bytes()[i - 1], b'e' | b'E'));
        match dash {
            Some((at, _)) => compare(&range[..at], &range[at + 1..])
                .is_some_and(|(from, to)| from <= value && value <= to),
            None => parse_f64(range) == Some(value),
        }
    })
}

/// A value (in text form) as messages show it.
pub fn format_value(
    value: &str,
    value_type: ValueType,
    units: &str,
    map: &[Mapping],
    tz: &TimeZone,
) -> String {
    if let Some(shown) = map_value(map, value, value_type) {
        return format!("{shown} ({value})");
    }
    if !value_type.is_numeric() {
        return value.to_owned();
    }
    let plain = || match value_type {
        ValueType::Float => trim_zeros(value).to_owned(),
        _ => value.to_owned(),
    };
    let Some(number) = parse_f64(value) else { return value.to_owned() };
    match units {
        "" => plain(),
        // Only whole numbers are moments.
        "unixtime" if value_type == ValueType::Unsigned => format_unixtime(number, tz),
        "uptime" => format_uptime(number),
        "s" => format_duration(number),
        _ => match units.strip_prefix('!') {
            Some(units) => format!("{} {units}", short(number)),
            None if matches!(units, "%" | "ms" | "rpm" | "RPM") => {
                format!("{} {units}", short(number))
            }
            None => format_scaled(number, units),
        },
    }
}

/// Characters of a number beside its units.
const NUMBER_CHARS_MAX: usize = 63;

fn short(number: f64) -> String {
    let mut text = format!("{number:.2}");
    // The field has room for so many characters.
    text.truncate(NUMBER_CHARS_MAX);
    let text = trim_zeros(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn format_scaled(number: f64, units: &str) -> String {
    let base: f64 = if matches!(units, "B" | "Bps") { 1024.0 } else { 1000.0 };
    // Divided once: each division rounds.
    let mut divisor = 1.0;
    let mut suffix = "";
    for next in ["K", "M", "G", "T"] {
        if (number / divisor).abs() < base {
            break;
        }
        divisor *= base;
        suffix = next;
    }
    format!("{} {suffix}{units}", short(number / divisor))
}

fn format_unixtime(number: f64, tz: &TimeZone) -> String {
    // Beyond the calendar there is no date; the field shows the epoch then.
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    let second = if number.abs() < 2e11 { number as i64 } else { 0 };
    crate::calendar::local(second, tz).strftime("%Y.%m.%d %H:%M:%S").to_string()
}

fn format_uptime(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let secs = number.abs().round() as u64;
    let sign = if number < 0.0 && secs > 0 { "-" } else { "" };
    let (days, rest) = (secs / 86_400, secs % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    match days {
        0 => format!("{sign}{clock}"),
        1 => format!("{sign}1 day, {clock}"),
        n => format!("{sign}{n} days, {clock}"),
    }
}

/// Years and what is left of them, in the floats that the field counts in.
fn whole_years(seconds: f64) -> (f64, f64) {
    const YEAR: f64 = 31_536_000.0;
    let years = (seconds / YEAR).trunc();
    (years, (seconds - years * YEAR).clamp(0.0, YEAR))
}

/// At most three neighbouring units, from years (365 days) and months (30 days) down to ms.
fn format_duration(number: f64) -> String {
    const UNITS: [(&str, u128); 7] = [
        ("y", 31_536_000_000),
        ("M", 2_592_000_000),
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1000),
        ("ms", 1),
    ];
    let sign = if number < 0.0 { "-" } else { "" };
    let size = number.abs();
    if size == 0.0 {
        return "0s".to_owned();
    }
    if size < 0.001 {
        return format!("< {sign}1ms");
    }
    let (years, size) = if size < 1e15 { (0.0, size) } else { whole_years(size) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let mut ms = if size < 1e12 { (size * 1000.0).round() as u128 } else { size as u128 * 1000 };
    let mut out = if years > 0.0 { format!("{years:.0}y") } else { String::new() };
    let mut first = (years > 0.0).then_some(0);
    for (index, (name, length)) in UNITS.into_iter().enumerate() {
        let count = ms / length;
        ms %= length;
        if count > 0 && first.is_none() {
            first = Some(index);
        }
        let shown = first.is_some_and(|f| index < f + 3);
        if count > 0 && shown {
            let space = if out.is_empty() { "" } else { " " };
            out = format!("{out}{space}{count}{name}");
        }
    }
    format!("{sign}{out}")
}

/// A span of seconds as messages show it: `1d 0h 2m 5s`, without leading zeros.
pub fn age(seconds: u32) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest}s"),
        (0, 0, _) => format!("{minutes}m {rest}s"),
        (0, _, _) => format!("{hours}h {minutes}m {rest}s"),
        _ => format!("{days}d {hours}h {minutes}m {rest}s"),
    }
}

/// The word for the severity of an event log's entry.
pub const fn log_severity(number: u32) -> Option<&'static str> {
    Some(match number {
        1 => "Information",
        2 => "Warning",
        4 => "Error",
        7 => "Failure Audit",
        8 => "Success Audit",
        9 => "Critical",
        10 => "Verbose",
        _ => return None,
    })
}

/// A number without units, as event names show it.
pub fn format_number(value: f64) -> String {
    format_f64(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_units() {
        let float = ValueType::Float;
        let unsigned = ValueType::Unsigned;
        for (value, value_type, units, text) in [
            ("1.156", float, "s", "1s 156ms"),
            ("0", unsigned, "s", "0s"),
            ("0", float, "unixtime", "0 unixtime"),
            ("1700000000", float, "unixtime", "1.7 Gunixtime"),
            ("0.0001", float, "s", "< 1ms"),
            ("3661", unsigned, "s", "1h 1m 1s"),
            ("90061", unsigned, "s", "1d 1h 1m"),
            ("-25.5454", float, "B", "-25.55 B"),
            ("15000", unsigned, "B", "14.65 KB"),
            ("15000", unsigned, "bps", "15 Kbps"),
            ("1500000000000000", unsigned, "x", "1500 Tx"),
            ("25000.15", float, "!Bps", "25000.15 Bps"),
            ("99.1234", float, "%", "99.12 %"),
            ("1200", unsigned, "rpm", "1200 rpm"),
            ("0", unsigned, "unixtime", "1970.01.01 00:00:00"),
            ("90061", unsigned, "uptime", "1 day, 01:01:01"),
            ("200000", unsigned, "uptime", "2 days, 07:33:20"),
            ("1.500", float, "", "1.5"),
            ("12", unsigned, "", "12"),
        ] {
            assert_eq!(format_value(value, value_type, units, &[], &TimeZone::UTC), text);
        }
    }

    #[test]
    fn ages() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (128, "2m 8s"),
            (3600, "1h 0m 0s"),
            (86_465, "1d 0h 1m 5s"),
            (1_795_365_211, "20779d 16h 33m 31s"),
        ] {
            assert_eq!(age(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn value_maps() {
        let row = |kind, value: &str, new: &str| Mapping {
            kind,
            value: value.into(),
            newvalue: new.into(),
        };
        let map = [
            row(MappingType::Equal, "1", "one"),
            row(MappingType::InRange, "-5--2,7,10-20", "range"),
            row(MappingType::AtLeast, "100", "big"),
            row(MappingType::AtMost, "-100", "small"),
            row(MappingType::Regexp, "^5.*", "five"),
            row(MappingType::Default, "", "other"),
        ];
        for (value, shown) in [
            ("1", "one"),
            ("1.0", "one"),
            ("-3", "range"),
            ("7", "range"),
            ("20", "range"),
            ("100", "big"),
            ("-101", "small"),
            ("55", "other"),
            ("6", "other"),
        ] {
            assert_eq!(map_value(&map, value, ValueType::Float), Some(shown), "{value}");
        }
        for (value, shown) in
            [("1", "one"), ("1.0", "other"), ("55", "five"), ("100", "other"), ("7", "other")]
        {
            assert_eq!(map_value(&map, value, ValueType::Char), Some(shown), "{value}");
        }
    }
}
