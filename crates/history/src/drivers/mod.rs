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
