//! Value cache, trends, the driver trait and its drivers.
