//! Scripts (stand-in until the real ones arrive).
/// Script engines.
#[derive(Debug, Default)]
pub struct Scripts;
