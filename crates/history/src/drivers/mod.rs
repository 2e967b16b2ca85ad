//! The stores behind [`Driver`](crate::Driver).

pub(crate) mod clickhouse;
pub(crate) mod embedded;
pub(crate) mod memory;
pub(crate) mod null;

use model::SampleValue;

use crate::Kind;

/// The kind in which a value is kept.
pub(crate) fn kind_of(value: &SampleValue) -> Kind {
    match value {
        SampleValue::Float(_) => Kind::Float,
        SampleValue::Unsigned(_) => Kind::Unsigned,
        SampleValue::Text(_) => Kind::Text,
        SampleValue::Log(_) => Kind::Log,
    }
}
