//! Values as lists and operational data show them: shorter than in messages, and rounded the way
//! front ends of the field do it, in decimal.

use jiff::tz::TimeZone;
use model::ValueType;

use super::{Mapping, format_uptime, map_value};
use crate::num::parse_f64;

/// Longer texts are cut after this many characters.
const TEXT_CHARS_MAX: usize = 20;
/// Decimals of a number that no power stands beside.
const DECIMALS: i32 = 4;
/// Decimals of a number with a power, and of milliseconds.
const SCALED_DECIMALS: i32 = 2;
/// Decimal digits that a 64-bit float keeps.
const DIGITS: i32 = 15;
const POWERS: [&str; 9] = ["", "K", "M", "G", "T", "P", "E", "Z", "Y"];

/// A value (in text form) as lists show it.
pub fn show_value(
    value: &str,
    value_type: ValueType,
    units: &str,
    map: &[Mapping],
    tz: &TimeZone,
) -> String {
    let plain = if value_type.is_numeric() {
        match parse_f64(value) {
            Some(number) => number_with_units(number, units, tz),
            None => value.to_owned(),
        }
    } else {
        cut(value)
    };
    match map_value(map, value, value_type) {
        Some(shown) => format!("{shown} ({plain})"),
        None => plain,
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn number_with_units(number: f64, units: &str, tz: &TimeZone) -> String {
    match units {
        "" => float(number, DECIMALS),
        "unixtime" => unixtime(number, tz),
        "uptime" => format_uptime(number),
        "s" => seconds(number),
        _ => match units.strip_prefix('!') {
            Some("") => float(number, DECIMALS),
            Some(units) => format!("{} {units}", float(number, DECIMALS)),
            None if matches!(units, "%" | "ms" | "rpm" | "RPM") => {
                format!("{} {units}", float(number, DECIMALS))
            }
            None => scaled(number, units),
        },
    }
}

fn scaled(number: f64, units: &str) -> String {
    let base: f64 = if matches!(units, "B" | "Bps") { 1024.0 } else { 1000.0 };
    let mut rest = number;
    for (at, power) in POWERS.iter().enumerate() {
        let decimals = if at == 0 { DECIMALS } else { SCALED_DECIMALS };
        let text = float(rest, decimals);
        // What rounds up to the next power has it: 1023.9999 KB are 1 MB.
        let is_last = at + 1 == POWERS.len();
        if is_last || parse_f64(&text).is_none_or(|shown| shown.abs() < base) {
            return format!("{text} {power}{units}");
        }
        rest /= base;
    }
    float(number, DECIMALS)
}

fn unixtime(number: f64, tz: &TimeZone) -> String {
    if number == 0.0 {
        return "Never".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let second = number.floor() as i64;
    crate::calendar::local(second, tz).strftime("%Y-%m-%d %I:%M:%S %p").to_string()
}

/// At most three neighbouring units; milliseconds with decimals.
fn seconds(number: f64) -> String {
    const UNITS: [(&str, f64); 6] = [
        ("y", 31_536_000.0),
        ("M", 2_592_000.0),
        ("d", 86_400.0),
        ("h", 3600.0),
        ("m", 60.0),
        ("s", 1.0),
    ];
    if number == 0.0 {
        return "0".to_owned();
    }
    let mut rest = number.abs();
    let mut parts: Vec<String> = Vec::new();
    let mut first = None;
    for (at, (unit, length)) in UNITS.into_iter().enumerate() {
        let count = (rest / length).floor();
        rest -= count * length;
        if count > 0.0 {
            let from = *first.get_or_insert(at);
            if at < from + 3 {
                parts.push(format!("{}{unit}", float(count, SCALED_DECIMALS)));
            }
            if count >= 1e15 {
                rest = 0.0;
            }
        }
    }
    if first.is_none_or(|from| UNITS.len() < from + 3) {
        // What a float cannot hold of a second is not a time.
        let kept = Decimal::of(number).decimals_kept();
        let ms = float(Decimal::of(rest).rounded(kept).value() * 1000.0, SCALED_DECIMALS);
        if ms != "0" {
            parts.push(format!("{ms}ms"));
        }
    }
    format!("{}{}", if number < 0.0 { "-" } else { "" }, parts.join(" "))
}

/// A number with so many decimals, or so many digits where it is below one.
fn float(number: f64, decimals: i32) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string().replace("-0", "0");
    }
    let exact = Decimal::of(number);
    let exponent = exact.exponent;
    let text = if exponent >= DIGITS {
        exact.scientific(decimals)
    } else if exponent < 0 {
        let fixed = exact.rounded(decimals - 1 - exponent).fixed();
        let places = fixed.split_once('.').map_or(0, |(_, places)| places.len());
        if i32::try_from(places).is_ok_and(|places| places <= DIGITS) {
            fixed
        } else {
            exact.scientific(decimals)
        }
    } else {
        exact.rounded(decimals.min(DIGITS - 1 - exponent)).fixed()
    };
    if number < 0.0 && text != "0" { format!("-{text}") } else { text }
}

/// The size of a number: the digits of d.ddd × 10^exponent.
#[derive(Debug, Clone)]
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    fn of(number: f64) -> Self {
        let text = format!("{:.14e}", number.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        Self { digits, exponent: exponent.parse().unwrap_or(0) }
    }

    /// Decimals that are sure in a number of this size.
    fn decimals_kept(&self) -> i32 {
        DIGITS - 1 - self.exponent
    }

    /// Rounded half up to so many decimals.
    fn rounded(&self, decimals: i32) -> Self {
        let mut next = self.clone();
        let keep = self.exponent + 1 + decimals;
        let Ok(keep) = usize::try_from(keep) else {
            return Self { digits: vec![0], exponent: 0 };
        };
        let up = next.digits.get(keep).is_some_and(|digit| *digit >= 5);
        next.digits.truncate(keep);
        if up {
            let nine = next.digits.iter().rposition(|digit| *digit < 9);
            let from = nine.map_or(0, |at| at + 1);
            next.digits[from..].fill(0);
            match nine {
                Some(at) => next.digits[at] += 1,
                None => {
                    next.digits.insert(0, 1);
                    next.exponent += 1;
                }
            }
        }
        if next.digits.iter().all(|digit| *digit == 0) {
            return Self { digits: vec![0], exponent: 0 };
        }
        next
    }

    fn fixed(&self) -> String {
        let mut text = String::new();
        let digit = |at: i32| {
            let at = usize::try_from(at).ok();
            char::from(b'0' + at.and_then(|at| self.digits.get(at)).copied().unwrap_or(0))
        };
        text.extend(
            (0..=self.exponent.max(0)).map(|at| if self.exponent < 0 { '0' } else { digit(at) }),
        );
        text.push('.');
        let last = i32::try_from(self.digits.len()).unwrap_or(0);
        text.extend((self.exponent + 1..0).map(|_| '0'));
        text.extend(((self.exponent + 1).max(0)..last).map(digit));
        crate::num::trim_zeros(&text).to_owned()
    }

    fn scientific(&self, decimals: i32) -> String {
        let rounded = self.rounded(decimals - self.exponent);
        let exponent = rounded.exponent;
        let mantissa = Self { digits: rounded.digits, exponent: 0 }.fixed();
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}E{sign}{:02}", exponent.abs())
    }

    fn value(&self) -> f64 {
        parse_f64(&self.fixed()).unwrap_or(0.0)
    }
}
