//! Numbers as protobuf's JSON has them: 64-bit whole ones as text, floats that are no number as
//! names. Read is what clients write: numbers and texts alike. Lists are bounded while they are
//! read: two bytes of JSON become 200 in memory.

use std::fmt::{Formatter, Result as Written};
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::value::RawValue;

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visit;
        impl Visitor<'_> for Visit {
            type Value = Whole;

            fn expecting(&self, f: &mut Formatter<'_>) -> Written {
                f.write_str("a whole number from 0, also as text")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
                Ok(Whole(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Whole, E> {
                let wrong = |_| E::invalid_value(Unexpected::Signed(number), &self);
                u64::try_from(number).map(Whole).map_err(wrong)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Whole, E> {
                let wrong = |_| E::custom(format!("\"{text}\" is not a whole number"));
                text.parse().map(Whole).map_err(wrong)
            }
        }
        from.deserialize_any(Visit)
    }
}

/// A float from its text: serde_json's own reading of numbers may be off by the last bit.
fn float<E: Error>(raw: &RawValue) -> Result<f64, E> {
    let text = raw.get();
    let quoted = text.starts_with('"');
    let inner = if quoted { serde_json::from_str(text).ok() } else { Some(text.to_owned()) };
    // This reads the names of what is not a number too, which stand in quotes.
    let number = inner.as_deref().and_then(|inner| inner.parse().ok());
    number.ok_or_else(|| {
        let start: String = text.chars().take(40).collect();
        E::custom(format!("{start} is not a number"))
    })
}

/// A list of at most `MAX`.
pub(super) fn at_most<'de, D, T, const MAX: usize>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Visit<T, const MAX: usize>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Visit<T, MAX> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut Formatter<'_>) -> Written {
            write!(f, "a list of at most {MAX}")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(one) = list.next_element()? {
                if all.len() == MAX {
                    return Err(A::Error::custom(super::too_many(MAX)));
                }
                all.push(one);
            }
            Ok(all)
        }
    }
    from.deserialize_seq(Visit::<T, MAX>(PhantomData))
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
        Whole::deserialize(from).map(|whole| whole.0)
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
        Ok(Option::<Whole>::deserialize(from)?.map(|whole| whole.0))
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
        Option::<Box<RawValue>>::deserialize(from)?.map(|raw| float(&raw)).transpose()
    }
}
