//! On-call schedules: who is on call at a moment, whose shifts follow, and where nobody is on call.
//!
//! A [`Schedule`] has layers, of which a later one wins over earlier ones, and overrides, which win over all layers.
//! Nothing here reads a clock or a database. Times are Unix seconds; an end is not part of a shift.

pub mod calendar;
mod layer;
mod schedule;
mod wall;
mod words;

pub use layer::{Entry, Layer, OnHolidays, Period, Restriction, Rotation, Source};
pub use schedule::{By, Override, Schedule, Shift, Turn};
pub use words::second_of_day;

#[cfg(test)]
mod tests;

/// The end of 2099: schedules have no later times.
pub const TIME_MAX: i64 = 4_102_444_799;

/// Longest time of which shifts are computed together, seconds.
pub const SPAN_MAX_S: i64 = 400 * DAY_S;

pub(crate) const DAY_S: i64 = 86_400;
pub(crate) const HOUR_S: i64 = 3_600;
