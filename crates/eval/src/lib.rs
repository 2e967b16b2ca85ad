//! Preprocessing, expressions, trigger functions, macros: values in, value out.

pub mod calendar;
pub mod expr;
pub mod func;
pub mod interval;
pub mod json;
pub mod jsonpath;
pub mod key;
pub mod macros;
pub mod num;
pub mod preproc;
pub mod regex;
pub mod script;
pub mod stats;
pub mod time;
pub mod units;
pub mod xpath;
