//! The newest configuration.

use std::sync::Arc;

use config::Snapshot;

/// Where the newest configuration comes from: one atomic load, no lock.
pub trait Snapshots: Send + Sync + 'static {
    /// The newest snapshot.
    fn load(&self) -> Arc<Snapshot>;
}

impl<F: Fn() -> Arc<Snapshot> + Send + Sync + 'static> Snapshots for F {
    fn load(&self) -> Arc<Snapshot> {
        self()
    }
}
