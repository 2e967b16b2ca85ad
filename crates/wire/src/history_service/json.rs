//! Numbers as protobuf's JSON has them: 64-bit whole ones as text, floats that are no number as
//! names. Read is what clients write: numbers and texts alike.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Number<'a> {
    Whole(u64),
    Float(f64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
}

fn whole<E: Error>(number: Number<'_>) -> Result<u64, E> {
    match number {
        Number::Whole(number) => Ok(number),
        Number::Text(text) => {
            text.parse().map_err(|_| E::custom(format!("\"{text}\" is no whole number")))
        }
        Number::Float(number) => Err(E::custom(format!("{number} is no whole number from 0"))),
    }
}

fn float<E: Error>(number: Number<'_>) -> Result<f64, E> {
    match number {
        Number::Float(number) => Ok(number),
        // Counters above 2^53 lose low bits by nature.
        Number::Whole(number) => Ok(number as f64),
        Number::Text(text) => match &*text {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            text => text.parse().map_err(|_| E::custom(format!("\"{text}\" is no number"))),
        },
    }
}

/// A 64-bit whole number.
pub(super) mod decimal {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        value: &u64,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<u64, D::Error> {
        whole(Number::deserialize(from)?)
    }
}

/// A 64-bit whole number that may be absent.
pub(super) mod decimal_option {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        value: &Option<u64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<u64>, D::Error> {
        Option::<Number<'_>>::deserialize(from)?.map(whole).transpose()
    }
}

/// A float that may be absent.
pub(super) mod float_option {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(
        value: &Option<f64>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            None => to.serialize_none(),
            Some(value) if value.is_finite() => to.serialize_f64(*value),
            Some(value) if value.is_nan() => to.serialize_str("NaN"),
            Some(value) => to.serialize_str(if *value > 0.0 { "Infinity" } else { "-Infinity" }),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<f64>, D::Error> {
        Option::<Number<'_>>::deserialize(from)?.map(float).transpose()
    }
}
