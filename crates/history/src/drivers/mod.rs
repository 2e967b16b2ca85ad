//! The stores behind [`Driver`](crate::Driver).

pub(crate) mod bytes;
#[cfg(feature = "cassandra")]
pub(crate) mod cassandra;
pub(crate) mod clickhouse;
pub(crate) mod embedded;
pub(crate) mod hbase;
pub(crate) mod http;
pub(crate) mod layout;
pub(crate) mod memory;
pub(crate) mod moments;
#[cfg(feature = "sql")]
pub(crate) mod mysql;
pub(crate) mod null;
pub(crate) mod opensearch;
pub(crate) mod place;
#[cfg(feature = "sql")]
pub(crate) mod postgresql;
pub(crate) mod prepared;
pub(crate) mod remote;
pub(crate) mod riak;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod script;
#[cfg(feature = "sql")]
pub(crate) mod sql;

use std::fmt::Display;

use model::{SampleValue, Trend, TrendValues};

use crate::{Error, Kind};

/// What is told of a question that a store ended because we give it so long.
pub(crate) const TOO_LONG: &str = "; Vedette lets a question take 18 seconds: ask for a shorter \
                                   time, or see what keeps the server busy";

/// Most rows of one question.
pub(crate) const ROWS_MAX: usize = 5_000_000;

/// More rows than anybody looks at would fill the memory.
pub(crate) fn at_most(rows: usize) -> Result<(), Error> {
    if rows <= ROWS_MAX {
        return Ok(());
    }
    let message = format!("there are more than {ROWS_MAX} values of that: ask for a shorter time");
    Err(Error::row(message))
}

/// What a store sent cannot be what was asked for.
pub(crate) fn odd_answer(store: &str, what: &str, doubt: &str) -> Error {
    Error::storage_away(format!("{store} answered what cannot be read ({what}); {doubt}?"))
}

/// What a newer release made of a store is not touched.
pub(crate) fn not_newer<T: Ord + Display>(
    location: &str,
    found: &T,
    known: &T,
) -> Result<(), Error> {
    if found <= known {
        return Ok(());
    }
    Err(Error::config(format!(
        "what is in {location} has version {found}, this release knows {known}: run the newer \
         release"
    )))
}

/// The kind in which a value is kept.
pub(crate) fn kind_of(value: &SampleValue) -> Kind {
    match value {
        SampleValue::Float(_) => Kind::Float,
        SampleValue::Unsigned(_) => Kind::Unsigned,
        SampleValue::Text(_) => Kind::Text,
        SampleValue::Log(_) => Kind::Log,
    }
}

/// The kind of a trend's mean, which stands for all its figures.
pub(crate) fn kind_of_trend(trend: &Trend) -> Kind {
    match trend.values {
        TrendValues::Float { .. } => Kind::FloatAvg,
        TrendValues::Unsigned { .. } => Kind::UnsignedAvg,
    }
}

/// An address as part of a name: see [`Store::name`](crate::Store::name).
pub(crate) fn as_name(address: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    address.chars().map(fit).collect()
}
