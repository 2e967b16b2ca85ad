//! Payloads as numbers, as texts, and as samples of an item's type.

use model::{CompactString, Payload, SampleValue, ValueType};

use crate::num::{format_f64, parse_f64, parse_u64};

/// Longest character value, characters.
const CHAR_CHARS_MAX: usize = 255;

/// Longest text and log value, bytes.
const TEXT_BYTES_MAX: usize = 65_535;

/// A value that does not go with the item's type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Value of type \"{from}\" is not suitable for value type \"{to}\". Value \"{value}\"")]
pub struct ConvertError {
    from: &'static str,
    to: &'static str,
    value: String,
}

/// A number out of a payload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Unsigned(u64),
    Float(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "counters above 2^53 lose low bits by nature")]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(v) => v as f64,
            Self::Float(v) => v,
        }
    }

    pub(super) fn into_payload(self) -> Payload {
        match self {
            Self::Unsigned(v) => Payload::Unsigned(v),
            Self::Float(v) => Payload::Float(v),
        }
    }
}

/// The whole part of a float, if it fits 64 bits without sign.
pub(super) fn float_to_unsigned(value: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    let whole = (0.0..1.844_674_407_370_955_2e19).contains(&value).then_some(value as u64);
    whole
}

/// A payload as a number, in the way that suits the item's type: float items calculate with
/// floats, unsigned ones with whole numbers.
pub(super) fn to_number(payload: &Payload, value_type: ValueType) -> Option<Number> {
    let number = match payload {
        Payload::Unsigned(v) => Number::Unsigned(*v),
        Payload::Float(v) => Number::Float(*v),
        Payload::Text(text) => parse_text(text)?,
        Payload::Log(log) => parse_text(&log.0)?,
        Payload::NotSupported(_) | Payload::Meta => return None,
    };
    Some(match (value_type, number) {
        (ValueType::Float, number) => Number::Float(number.as_f64()),
        (ValueType::Unsigned, Number::Float(v)) => {
            float_to_unsigned(v).map_or(number, Number::Unsigned)
        }
        (_, number) => number,
    })
}

fn parse_text(text: &str) -> Option<Number> {
    let text = text.trim();
    parse_u64(text).map(Number::Unsigned).or_else(|| parse_f64(text).map(Number::Float))
}

/// A payload as text.
pub(super) fn to_text(payload: &Payload) -> CompactString {
    match payload {
        Payload::Text(text) => text.clone(),
        Payload::Log(log) => log.0.clone(),
        Payload::Unsigned(v) => CompactString::from(v.to_string()),
        Payload::Float(v) => format_f64(*v).into(),
        Payload::NotSupported(text) => CompactString::from(&**text),
        Payload::Meta => CompactString::default(),
    }
}

/// Name of a payload's kind in errors.
pub(super) fn kind_name(payload: &Payload) -> &'static str {
    match payload {
        Payload::Unsigned(_) => "uint64",
        Payload::Float(_) => "double",
        Payload::Text(_) | Payload::Log(_) => "string",
        Payload::NotSupported(_) => "error",
        Payload::Meta => "none",
    }
}

fn type_name(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::Float => "Numeric (float)",
        ValueType::Char => "Character",
        ValueType::Log => "Log",
        ValueType::Unsigned => "Numeric (unsigned)",
        ValueType::Text => "Text",
        ValueType::Binary => "Binary",
    }
}

fn cut_bytes(text: CompactString, max: usize) -> CompactString {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    CompactString::from(&text[..end])
}

/// A payload as history keeps it. Texts that are too long are cut, numbers that do not go with
/// the type are refused.
pub fn to_sample_value(
    payload: Payload,
    value_type: ValueType,
) -> Result<SampleValue, ConvertError> {
    let refused = |payload: &Payload| ConvertError {
        from: kind_name(payload),
        to: type_name(value_type),
        value: to_text(payload).chars().take(128).collect(),
    };
    if matches!(payload, Payload::NotSupported(_) | Payload::Meta) {
        return Err(refused(&payload));
    }
    Ok(match value_type {
        ValueType::Float => match to_number(&payload, value_type) {
            Some(number) => SampleValue::Float(number.as_f64()),
            None => return Err(refused(&payload)),
        },
        ValueType::Unsigned => match to_number(&payload, value_type) {
            Some(Number::Unsigned(v)) => SampleValue::Unsigned(v),
            _ => return Err(refused(&payload)),
        },
        ValueType::Log => match payload {
            Payload::Log(mut log) => {
                log.0 = cut_bytes(std::mem::take(&mut log.0), TEXT_BYTES_MAX);
                SampleValue::Log(log)
            }
            other => {
                let text = cut_bytes(to_text(&other), TEXT_BYTES_MAX);
                SampleValue::Log(Box::new((text, model::LogMeta::default())))
            }
        },
        ValueType::Char => {
            let text = into_text(payload);
            match text.char_indices().nth(CHAR_CHARS_MAX) {
                Some((end, _)) => SampleValue::Text(CompactString::from(&text[..end])),
                None => SampleValue::Text(text),
            }
        }
        ValueType::Text => SampleValue::Text(cut_bytes(into_text(payload), TEXT_BYTES_MAX)),
        ValueType::Binary => SampleValue::Text(into_text(payload)),
    })
}

fn into_text(payload: Payload) -> CompactString {
    match payload {
        Payload::Text(text) => text,
        other => to_text(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples() {
        let text = |t: &str| Payload::Text(t.into());
        for (payload, value_type, sample) in [
            (text("1.5"), ValueType::Float, Some(SampleValue::Float(1.5))),
            (text(" 7\n"), ValueType::Unsigned, Some(SampleValue::Unsigned(7))),
            (text("1.9"), ValueType::Unsigned, Some(SampleValue::Unsigned(1))),
            (text("-1"), ValueType::Unsigned, None),
            (text("x"), ValueType::Float, None),
            (Payload::Float(2.5), ValueType::Text, Some(SampleValue::Text("2.5".into()))),
            (
                Payload::Unsigned(u64::MAX),
                ValueType::Unsigned,
                Some(SampleValue::Unsigned(u64::MAX)),
            ),
            (
                text(&"ö".repeat(300)),
                ValueType::Char,
                Some(SampleValue::Text("ö".repeat(255).into())),
            ),
            (
                text(&"ö".repeat(40_000)),
                ValueType::Text,
                Some(SampleValue::Text("ö".repeat(32_767).into())),
            ),
            (Payload::NotSupported("e".into()), ValueType::Text, None),
        ] {
            assert_eq!(to_sample_value(payload, value_type).ok(), sample);
        }
    }
}
