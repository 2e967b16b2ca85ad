//! What all figures are read from, and the form of their values.

use std::sync::Arc;

use config::Config;
use poll::InternalValue;

use crate::meter::Meter;

/// Answers internal items.
#[derive(Debug)]
pub struct ServerFigures {
    /// The configuration.
    pub config: Arc<Config>,
    /// The newest readings.
    pub meter: Arc<Meter>,
}

/// The value of an item, or the text of its state "not supported".
pub(super) type Answer = Result<InternalValue, String>;

/// "Invalid second parameter."
pub(super) fn invalid(which: &str) -> String {
    format!("Invalid {which} parameter.")
}

pub(super) const fn unsigned(n: u64) -> InternalValue {
    InternalValue::Unsigned(n)
}

pub(super) fn size(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

pub(super) fn text(json: &serde_json::Value) -> InternalValue {
    InternalValue::Text(json.to_string())
}

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
