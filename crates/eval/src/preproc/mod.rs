//! Preprocessing: steps from their API form, and the executor.

mod convert;
mod csv;
mod json;
mod mib;
mod print;
mod prometheus;
mod run;
mod sample;
mod snmp;
mod step;
mod text;
mod xml;

#[cfg(test)]
mod tests;

pub use csv::csv_to_json;
pub use mib::numeric as numeric_oid;
pub use print::ApiStep;
pub use prometheus::{PrometheusError, prometheus_pattern, prometheus_to_json};
pub use run::{Outcome, Remembered, State, StepTrace, run, run_traced};
pub use sample::{CHAR_CHARS_MAX, TEXT_BYTES_MAX, convert, into_text};
pub(crate) use xml::{json_to_xml, xml_to_json};

pub use step::{ErrorHandler, Step, StepError, StepKind};

/// Steps of one item that are run; more are refused when steps are made.
pub const STEPS_MAX: usize = 255;
