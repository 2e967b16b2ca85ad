//! The stores behind [`Driver`](crate::Driver).

pub(crate) mod clickhouse;
pub(crate) mod embedded;
pub(crate) mod memory;
#[cfg(feature = "sql")]
pub(crate) mod mysql;
pub(crate) mod null;
#[cfg(feature = "sql")]
pub(crate) mod postgresql;
#[cfg(feature = "sql")]
pub(crate) mod sql;

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
