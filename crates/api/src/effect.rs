//! What methods do outside the configuration database. A rollback cannot undo it, so it runs after
//! the commit: see [`crate::call::Call::after_commit`].

use model::{ItemId, TriggerId};

use crate::Api;

/// One such effect. Every change of a running part that follows from a change of the
/// configuration is one of these; methods do not call the running parts for it themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Delete history and trends of these items.
    ClearHistory(Vec<ItemId>),
    /// Close the problems of these triggers, which were switched off or deleted.
    TriggersGone(Vec<TriggerId>),
    /// End the suppression of problems by these maintenances, which were deleted.
    MaintenancesGone(Vec<u64>),
    /// Check these items now.
    CheckNow(Vec<ItemId>),
    /// Read users and their rights again with the next call.
    ForgetSessions,
}

impl Effect {
    /// Does it; the error is for people.
    pub(crate) fn run(&self, api: &Api) -> Result<(), String> {
        match self {
            Self::ClearHistory(items) => api.deps.live.clear_history(items)?,
            Self::TriggersGone(triggers) => api.deps.live.triggers_gone(triggers),
            Self::MaintenancesGone(ids) => api
                .deps
                .config
                .write_state(|state| state.delete("event_suppress", "maintenanceid", ids))
                .map_err(|error| error.to_string())?,
            Self::CheckNow(items) => api.deps.live.check_now(items),
            Self::ForgetSessions => api.sessions.forget(),
        }
        Ok(())
    }
}
