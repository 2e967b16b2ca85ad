//! What deletions leave behind outside the configuration: history of items, problems of triggers.

use config::objects::Deleted;
use model::{ItemId, TriggerId};

use crate::call::Call;

/// Adds what a further deletion took.
pub(crate) fn add(all: &mut Deleted, more: Deleted) {
    all.items.extend(more.items);
    all.triggers.extend(more.triggers);
}

/// Closes the problems of deleted triggers and clears the history of deleted items. Call it when
/// the deletion is committed.
pub(crate) fn tell(call: &Call<'_>, deleted: &Deleted) {
    if !deleted.triggers.is_empty() {
        let triggers: Vec<TriggerId> = deleted.triggers.iter().map(|id| TriggerId(*id)).collect();
        call.api.deps.live.triggers_gone(&triggers);
    }
    if !deleted.items.is_empty() {
        let items: Vec<ItemId> = deleted.items.iter().map(|id| ItemId(*id)).collect();
        if let Err(error) = call.api.deps.live.clear_history(&items) {
            // The items are gone all the same; retention takes their history in time.
            tracing::warn!(%error, "history of deleted items was not cleared");
        }
    }
}
