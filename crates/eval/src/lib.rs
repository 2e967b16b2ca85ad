//! Preprocessing, expressions, trigger functions, macros: values in, value out. No input or
//! output, no clock: the moment is an argument (scripts measure their own time limit).
//!
//! | Module | Turns … into … |
//! | --- | --- |
//! | [`key`] | the text of an item key into name and parameters, and back |
//! | [`interval`], [`time`], [`calendar`] | update intervals and periods into moments |
//! | [`maintenance`] | a maintenance and a moment into whether it runs, since when, until when |
//! | [`sla`] | a service's changes of status into uptime, downtime and error budget |
//! | [`units`], [`num`] | values into what people read |
//! | [`macros`] | texts with macros into texts without |
//! | [`shell`] | a value into the form in which a command line has it |
//! | [`preproc`], [`script`] | a value as it arrived into the value that is kept |
//! | [`jsonpath`], [`json`], [`xpath`], [`regex`] | documents into parts of them |
//! | [`itemtest`] | a value and steps into what each step makes of it |
//! | [`expr`] | an expression and its operands into a value |
//! | [`func`] | an item's history into an operand |
//! | [`lld`] | a discovery value into rows, a prototype and a row into a text |
//! | [`peers`] | a list of allowed hosts into yes or no |
//! | [`ranges`] | ranges of addresses and numbers into addresses and numbers |

pub mod calendar;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod expr;
pub mod func;
pub mod interval;
pub mod itemtest;
pub mod json;
pub mod jsonpath;
pub mod key;
pub mod lld;
pub mod macros;
pub mod maintenance;
pub mod num;
pub mod peers;
pub mod preproc;
pub mod ranges;
#[cfg(any(test, feature = "conformance"))]
mod recorded;
pub mod regex;
pub mod script;
pub mod shell;
pub mod sla;
pub mod stats;
pub mod time;
pub mod units;
pub mod xpath;
