//! What follows from deletions that users did not ask for one by one.

use std::sync::Arc;

use config::objects::{Deleted, GoneHook};
use events::Problems;
use model::ItemId;
use pipeline::ShardSet;

/// Deletes the history of deleted items and closes the problems of deleted triggers.
pub(super) fn hook(shards: &Arc<ShardSet>, problems: &Problems) -> GoneHook {
    let (shards, problems) = (Arc::clone(shards), problems.clone());
    Box::new(move |deleted| forget(&shards, &problems, deleted))
}

fn forget(shards: &ShardSet, problems: &Problems, deleted: &Deleted) {
    let items: Vec<ItemId> = deleted.items.iter().map(|id| ItemId(*id)).collect();
    if !items.is_empty()
        && let Err(error) = shards.clear(&items)
    {
        tracing::warn!(%error, "cannot delete the history of lost items");
    }
    if !deleted.triggers.is_empty()
        && let Err(error) = problems.remove_orphans()
    {
        tracing::warn!(%error, "cannot close problems of lost triggers");
    }
}
