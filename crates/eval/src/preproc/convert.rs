//! Payloads as numbers and as texts.

use model::{CompactString, Payload, ValueType};

use crate::num::{format_f64, parse_f64, parse_u64};

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

/// As the field's server makes a whole number of a product: negative ones wrap around, what is
/// too large is 0.
pub(super) fn wrap(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is meant")]
    match float_to_unsigned(value) {
        Some(whole) => whole,
        None if value < 0.0 => value as i64 as u64,
        None => 0,
    }
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
    let text = super::sample::strip(text);
    // A fraction of nothing but zeros makes no float.
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|b| b == b'0') => whole,
        _ => text,
    };
    parse_u64(whole).map(Number::Unsigned).or_else(|| parse_f64(text).map(Number::Float))
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
