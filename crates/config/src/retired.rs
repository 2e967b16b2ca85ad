//! Snapshots that were replaced.

use std::sync::{Arc, Mutex};

use stdx::sync::lock;

use crate::Snapshot;

/// Replaced snapshots that other threads may still use.
///
/// The thread that gives up the last reference frees what only that snapshot has. After a change of many hosts that
/// takes milliseconds, and a tenth of a second after a table of the snapshot has grown. With a reference kept here it
/// is never a shard or a listener that does so.
#[derive(Debug, Default)]
pub(crate) struct Retired(Mutex<Vec<Arc<Snapshot>>>);

impl Retired {
    /// Keeps a snapshot that no thread can get any more until those that have it let go of it.
    pub(crate) fn add(&self, snapshot: Arc<Snapshot>) {
        lock(&self.0).push(snapshot);
    }

    /// Frees the snapshots that no other thread has.
    pub(crate) fn free_unused(&self) {
        let is_unused = |snapshot: &mut Arc<Snapshot>| Arc::strong_count(snapshot) == 1;
        let unused: Vec<_> = lock(&self.0).extract_if(.., is_unused).collect();
        // Without the lock: it takes long.
        drop(unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_in_use_are_kept() {
        let retired = Retired::default();
        let [used, unused] = [Arc::new(Snapshot::default()), Arc::new(Snapshot::default())];
        let (seen_used, seen_unused) = (Arc::downgrade(&used), Arc::downgrade(&unused));
        retired.add(Arc::clone(&used));
        retired.add(unused);
        retired.free_unused();
        assert_eq!((seen_used.strong_count(), seen_unused.strong_count()), (2, 0));
        drop(used);
        assert_eq!(seen_used.strong_count(), 1, "freed by its last user");
        retired.free_unused();
        assert_eq!(seen_used.strong_count(), 0);
    }
}
