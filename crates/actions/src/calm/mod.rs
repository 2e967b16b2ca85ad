//! What spares users messages that they need not act on.

mod history;
mod inhibition;

use serde_json::Value as Json;

pub(crate) use history::{FLAPPING_S, History};
pub(crate) use inhibition::{Freed, Inhibitors, freed};

/// Longest time that the first step waits for the end of a problem, if an action does not say: 10 minutes.
const MAX_HOLD_S: i64 = 600;

/// What an action does about triggers that open problems too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Calming {
    /// Step 1 waits as long as most problems of the trigger lasted.
    pub(crate) transients: bool,
    /// Of a flapping trigger one message is sent, and others when it is quiet.
    pub(crate) flapping: bool,
    /// The longest of such waits.
    pub(crate) max_hold_s: i64,
}

impl Calming {
    /// As it is stored; what a later version wrote counts as nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let settings: Json = serde_json::from_str(text).ok()?;
        let is_on = |name: &str| settings[name].as_i64() == Some(1);
        let hold = settings["max_hold"].as_str().and_then(eval::num::parse_seconds);
        let calming = Self {
            transients: is_on("transients"),
            flapping: is_on("flapping"),
            max_hold_s: hold.map_or(MAX_HOLD_S, i64::from),
        };
        (calming.transients || calming.flapping).then_some(calming)
    }
}
