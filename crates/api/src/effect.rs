//! What methods do outside the configuration database. A rollback cannot undo it, so it runs after
//! the commit: see [`crate::call::Call::after_commit`].

use model::ItemId;

use crate::Api;

/// One such effect: an order of the user that no recorded change tells. `history.clear` changes no
/// row. What follows from a change of the configuration follows its record
/// ([`config::Config::subscribe`], [`config::Config::tell_deleted`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Delete history and trends of these items, which stay.
    ClearHistory(Vec<ItemId>),
    /// End the suppression of problems by these maintenances, which were deleted.
    MaintenancesGone(Vec<u64>),
    /// Check these items now.
    CheckNow(Vec<ItemId>),
}

impl Effect {
    /// Does it; the error is for people.
    pub(crate) fn run(&self, api: &Api) -> Result<(), String> {
        match self {
            Self::ClearHistory(items) => api.deps.live.clear_history(items)?,
            Self::MaintenancesGone(ids) => api.deps.live.end_suppressions(ids)?,
            Self::CheckNow(items) => api.deps.live.check_now(items),
        }
        Ok(())
    }
}
