//! A preprocessed value becomes a value of the item's type, or an error that people read.
//!
//! Facts (what is taken, cut, refused, and the error's words) were measured on the field's server.

use crate::num::{parse_f64, parse_u64};
use model::{CompactString, LogMeta, Payload, SampleValue, ValueType};

/// Longest value of a character item, in characters.
pub const CHAR_CHARS_MAX: usize = 255;
/// Longest value of a text, log or binary item, in bytes.
pub const TEXT_BYTES_MAX: usize = 65_535;
/// Longest piece of a value that an error shows, in characters.
const SHOWN_CHARS_MAX: usize = 237;
const SHOWN_MORE: &str = "...(truncated)";

/// 2^64, the first float that is no unsigned value.
const UNSIGNED_END: f64 = 18_446_744_073_709_551_616.0;

/// A value as text, which is what dependent items and discovery rules work on.
pub fn into_text(value: Payload) -> CompactString {
    match value {
        Payload::Text(text) => text,
        Payload::Unsigned(v) => CompactString::from(v.to_string()),
        Payload::Float(v) => CompactString::from(crate::num::format_f64(v)),
        Payload::Log(log) => log.0,
        Payload::NotSupported(_) | Payload::Meta => CompactString::default(),
    }
}

/// The value in the item's type. The error is the item's error text.
pub fn convert(value: Payload, value_type: ValueType) -> Result<SampleValue, String> {
    match value_type {
        ValueType::Float => to_float(&value).map(SampleValue::Float),
        ValueType::Unsigned => to_unsigned(&value).map(SampleValue::Unsigned),
        ValueType::Char => Ok(SampleValue::Text(cut_chars(into_text(value)))),
        ValueType::Text | ValueType::Binary => Ok(SampleValue::Text(cut_bytes(into_text(value)))),
        ValueType::Log => Ok(SampleValue::Log(match value {
            Payload::Log(mut log) => {
                log.0 = cut_bytes(std::mem::take(&mut log.0));
                log
            }
            other => Box::new((cut_bytes(into_text(other)), LogMeta::default())),
        })),
    }
}

fn to_float(value: &Payload) -> Result<f64, String> {
    let number = match value {
        Payload::Float(v) if v.is_finite() => Some(*v),
        Payload::Float(_) => None,
        #[expect(clippy::cast_precision_loss, reason = "as the field keeps such values")]
        Payload::Unsigned(v) => Some(*v as f64),
        Payload::Text(text) => parse_f64(strip(text)),
        Payload::Log(log) => parse_f64(strip(&log.0)),
        Payload::NotSupported(_) | Payload::Meta => None,
    };
    number.ok_or_else(|| unsuitable(value, "Numeric (float)"))
}

fn to_unsigned(value: &Payload) -> Result<u64, String> {
    let number = match value {
        Payload::Unsigned(v) => Some(*v),
        Payload::Float(v) => truncate(*v),
        Payload::Text(text) => unsigned_of(text),
        Payload::Log(log) => unsigned_of(&log.0),
        Payload::NotSupported(_) | Payload::Meta => None,
    };
    number.ok_or_else(|| unsuitable(value, "Numeric (unsigned)"))
}

fn unsigned_of(text: &str) -> Option<u64> {
    let text = strip(text);
    parse_u64(text).or_else(|| parse_f64(text).and_then(truncate))
}

/// The whole part of a number in range.
fn truncate(v: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    (0.0..UNSIGNED_END).contains(&v).then_some(v as u64)
}

/// What senders put around numbers: line ends behind, spaces, quotes, a plus sign. Tabs and line
/// ends before a number make it none, as for the field's server.
pub(super) fn strip(text: &str) -> &str {
    let text = trimmed(text);
    text.strip_prefix('+').unwrap_or(text)
}

/// The same without the sign.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n']).trim_matches(' ').trim_matches('"')
}

fn cut_chars(mut text: CompactString) -> CompactString {
    // As many bytes as characters at most, hence usually nothing to count.
    if text.len() > CHAR_CHARS_MAX
        && let Some((end, _)) = text.char_indices().nth(CHAR_CHARS_MAX)
    {
        text.truncate(end);
        text.shrink_to_fit();
    }
    text
}

fn cut_bytes(mut text: CompactString) -> CompactString {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text.shrink_to_fit();
    }
    text
}

fn unsuitable(value: &Payload, wanted: &str) -> String {
    let (kind, shown) = match value {
        Payload::Text(text) => ("string", shown(text)),
        Payload::Log(log) => ("string", shown(&log.0)),
        Payload::Float(v) => ("double", crate::num::format_f64(*v)),
        Payload::Unsigned(v) => ("uint64", v.to_string()),
        Payload::NotSupported(_) | Payload::Meta => ("none", String::new()),
    };
    format!(
        "Value of type \"{kind}\" is not suitable for value type \"{wanted}\". Value \"{shown}\""
    )
}

/// A value as errors show it: control characters escaped, cut.
fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut chars = 0;
    for c in text.chars() {
        let escape = match c {
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            _ => None,
        };
        chars += if escape.is_some() { 2 } else { 1 };
        if chars > SHOWN_CHARS_MAX + SHOWN_MORE.len() {
            // Too long as a whole: cut back to what leaves room for the mark.
            let end = out.char_indices().nth(SHOWN_CHARS_MAX).map_or(out.len(), |(at, _)| at);
            out.truncate(end);
            out.push_str(SHOWN_MORE);
            return out;
        }
        match escape {
            Some(letter) => out.extend(['\\', letter]),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Payload {
        Payload::Text(value.into())
    }

    #[test]
    fn texts_as_numbers() {
        // value, as float, as unsigned; None = refused. Measured on the reference.
        for (value, float, unsigned) in [
            ("1", Some(1.0), Some(1)),
            ("1.5", Some(1.5), Some(1)),
            ("-1", Some(-1.0), None),
            ("-0.5", Some(-0.5), None),
            ("1.0", Some(1.0), Some(1)),
            ("  7 ", Some(7.0), Some(7)),
            ("+7", Some(7.0), Some(7)),
            ("007", Some(7.0), Some(7)),
            ("1e3", Some(1000.0), Some(1000)),
            ("1E-2", Some(0.01), Some(0)),
            ("0x1F", None, None),
            ("abc", None, None),
            ("", None, None),
            ("   ", None, None),
            ("18446744073709551615", Some(1.844_674_407_370_955_2e19), Some(u64::MAX)),
            ("18446744073709551616", Some(1.844_674_407_370_955_2e19), None),
            ("1K", None, None),
            ("5.", Some(5.0), Some(5)),
            ("\"5\"", Some(5.0), Some(5)),
            (".5", Some(0.5), Some(0)),
            ("1e400", None, None),
            ("1e308", Some(1e308), None),
            ("-1e309", None, None),
            ("nan", None, None),
            ("inf", None, None),
            ("true", None, None),
            ("1\n2", None, None),
            ("12\n", Some(12.0), Some(12)),
            ("{}", None, None),
            ("1,5", None, None),
            ("1_000", None, None),
            ("99999999999999999999.5", Some(1e20), None),
            ("1.7976931348623157e+308", Some(f64::MAX), None),
            ("4.9e-324", Some(5e-324), Some(0)),
        ] {
            let got = convert(text(value), ValueType::Float).ok().and_then(|v| v.as_f64());
            assert_eq!(got, float, "{value:?} as float");
            let got = convert(text(value), ValueType::Unsigned).ok();
            assert_eq!(got, unsigned.map(SampleValue::Unsigned), "{value:?} as unsigned");
        }
    }

    #[test]
    fn numbers_as_other_types() {
        use Payload::{Float, Unsigned};
        for (value, value_type, expected) in [
            (Float(8.25), ValueType::Unsigned, Ok(SampleValue::Unsigned(8))),
            (Float(8.25), ValueType::Char, Ok(SampleValue::Text("8.25".into()))),
            (Unsigned(3), ValueType::Float, Ok(SampleValue::Float(3.0))),
            (
                Unsigned(u64::MAX),
                ValueType::Text,
                Ok(SampleValue::Text(u64::MAX.to_string().into())),
            ),
            (
                Float(-3.5),
                ValueType::Unsigned,
                Err("Value of type \"double\" is not suitable for value type \
                     \"Numeric (unsigned)\". Value \"-3.5\""),
            ),
        ] {
            assert_eq!(convert(value, value_type), expected.map_err(String::from));
        }
    }

    #[test]
    fn long_texts_are_cut() {
        for (value, value_type, chars, bytes) in [
            ("x".repeat(256), ValueType::Char, 255, 255),
            ("é".repeat(300), ValueType::Char, 255, 510),
            ("é".repeat(200), ValueType::Char, 200, 400),
            ("a".repeat(70_000), ValueType::Text, 65_535, 65_535),
            ("é".repeat(40_000), ValueType::Text, 32_767, 65_534),
            ("a".repeat(70_000), ValueType::Log, 65_535, 65_535),
            (" kept \n".to_owned(), ValueType::Char, 7, 7),
        ] {
            let kept = convert(text(&value), value_type).unwrap();
            let kept = kept.as_text().unwrap();
            assert_eq!((kept.chars().count(), kept.len()), (chars, bytes), "{value_type:?}");
        }
    }

    #[test]
    fn errors_show_the_value() {
        for (value, tail) in [
            ("abc".to_owned(), "Value \"abc\"".to_owned()),
            ("1\n2".to_owned(), "Value \"1\\n2\"".to_owned()),
            ("é".repeat(300), format!("Value \"{}...(truncated)\"", "é".repeat(237))),
        ] {
            let error = convert(text(&value), ValueType::Float).unwrap_err();
            assert!(error.ends_with(&tail), "{error}");
            assert!(error.starts_with(
                "Value of type \"string\" is not suitable for value type \"Numeric (float)\". "
            ));
        }
        let long = convert(text(&"x".repeat(256)), ValueType::Float).unwrap_err();
        assert_eq!(long.len(), 332);
    }
}
