//! The stores behind [`Driver`](crate::Driver).

pub(crate) mod clickhouse;
pub(crate) mod embedded;
pub(crate) mod memory;
pub(crate) mod null;
