//! What follows from deletions in the configuration, by users and by the server itself.

use std::sync::Arc;

use config::lld::worker::Outcomes;
use config::objects::{Deleted, GoneHook};
use events::Problems;
use pipeline::ShardSet;

/// Deletes the history of deleted items, the errors of deleted discovery rules, and the alerts of deleted actions
/// and users, and closes the problems of deleted triggers.
pub(super) fn hook(
    shards: &Arc<ShardSet>,
    problems: &Problems,
    discoveries: &Arc<Outcomes>,
) -> GoneHook {
    let (shards, problems) = (Arc::clone(shards), problems.clone());
    let discoveries = Arc::clone(discoveries);
    Arc::new(move |deleted| {
        discoveries.forget(&deleted.items);
        forget(&shards, &problems, deleted);
    })
}

/// After an error, retention deletes the history in time, and housekeeping the problems.
fn forget(shards: &ShardSet, problems: &Problems, deleted: &Deleted) {
    if !deleted.items.is_empty()
        && let Err(error) = shards.clear(&deleted.items)
    {
        tracing::warn!(%error, "cannot delete the history of deleted items");
    }
    if !deleted.items.is_empty()
        && let Err(error) = problems.remove_of_items(&deleted.items)
    {
        tracing::warn!(%error, "cannot close the internal problems of deleted items");
    }
    if !deleted.triggers.is_empty()
        && let Err(error) = problems.remove_of(&deleted.triggers)
    {
        tracing::warn!(%error, "cannot close the problems of deleted triggers");
    }
    if !deleted.actions.is_empty()
        && let Err(error) = problems.remove_alerts_of(&deleted.actions)
    {
        tracing::warn!(%error, "cannot delete the alerts of deleted actions");
    }
    if !deleted.users.is_empty()
        && let Err(error) = problems.remove_alerts_to(&deleted.users)
    {
        tracing::warn!(%error, "cannot delete the alerts to deleted users");
    }
}
