//! Preprocessing, expressions, trigger functions, macros: values in, value out.

pub mod calendar;
pub mod interval;
pub mod key;
pub mod macros;
pub mod num;
pub mod regex;
pub mod time;
pub mod units;
