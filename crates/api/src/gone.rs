//! What deletions leave behind outside the configuration: history of items, problems of triggers.

use config::objects::Deleted;
use model::{ItemId, TriggerId};

use crate::call::Call;
use crate::effect::Effect;

/// Adds what a further deletion took.
pub(crate) fn add(all: &mut Deleted, more: Deleted) {
    all.items.extend(more.items);
    all.triggers.extend(more.triggers);
}

/// Closes the problems of deleted triggers and clears the history of deleted items, as soon as the
/// deletion is committed.
pub(crate) fn tell(call: &Call<'_>, deleted: &Deleted) {
    let triggers: Vec<TriggerId> = deleted.triggers.iter().map(|id| TriggerId(*id)).collect();
    let items: Vec<ItemId> = deleted.items.iter().map(|id| ItemId(*id)).collect();
    let effects = [
        (!triggers.is_empty()).then_some(Effect::TriggersGone(triggers)),
        (!items.is_empty()).then_some(Effect::ClearHistory(items)),
    ];
    for effect in effects.into_iter().flatten() {
        if let Err(error) = call.after_commit(effect) {
            // The items are gone all the same; retention takes their history in time.
            tracing::warn!(%error, "cannot delete the history of deleted items");
        }
    }
}
