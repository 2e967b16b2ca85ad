//! Value cache, trends, the driver trait and its drivers.
pub trait Reader: Send + Sync {}
