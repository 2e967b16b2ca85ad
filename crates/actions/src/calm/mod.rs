//! What spares users messages that they need not act on.

mod inhibition;

pub(crate) use inhibition::{Freed, Inhibitors, freed};
