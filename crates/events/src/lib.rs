//! Events and problems: what triggers find becomes rows that people see, acknowledge and close.
//!
//! Outside the value path: shards put [`model::TriggerFinding`]s into a bounded queue, one thread
//! ([`Problems::run`]) writes them in transactions of many. The database is the truth; memory
//! holds only which events are open for which trigger, and is read back after a failure.

mod batch;
mod correlation;
mod effect;
mod housekeeping;
mod internal;
mod last_batch;
mod load;
mod maintenance;
mod marks;
mod open;
mod problems;
mod record;
mod recovery;
mod rows;
mod rules;
mod unsent;
mod update;

pub use internal::not_supported;
pub use load::initial_triggers;
pub use maintenance::{
    SuppressionEnd, SuppressionHook, Watch as MaintenanceWatch, end_suppressions, suppressed,
};
pub use marks::{unwritten, written_until};
pub use problems::{Hooks, Problems, Stats, replay};
pub use record::record;
pub use unsent::Unsent;
pub use update::UpdateError;

#[cfg(test)]
mod tests;
