//! What the owner of an engine can choose.

use std::sync::Arc;
use std::time::Duration;

use crate::disk::{Disk, OsDisk};
use crate::kind::{Class, Retention};
use crate::spool::Spool;

/// What the owner of an engine can choose. The defaults fit a server; tests make things small.
#[derive(Clone)]
pub struct Options {
    /// Rows in memory before they are sealed into a segment. A row takes 24 bytes, a series
    /// about 30; up to two more heads of this size wait for the disk.
    pub head_rows: usize,
    /// Bytes of texts in memory before they are sealed.
    pub head_bytes: usize,
    /// Wait for the disk (`fdatasync`) in each append.
    pub durable: bool,
    /// How often the helper thread calls `fdatasync`; `None` = only [`crate::Engine::sync`] does.
    pub sync_interval: Option<Duration>,
    /// Rows that a merged segment may have; 0 = never merge.
    pub merge_rows: u64,
    /// Segments of the current day that are merged at once.
    pub merge_fanout: usize,
    /// Bytes of memory for the newest rows of segments that were asked for.
    pub newest_bytes: usize,
    /// Seal and merge on a thread. Without one [`crate::Engine::work`] does it, so that tests have
    /// everything in one order.
    pub background: bool,
    /// Who knows the retention classes.
    pub retention: Arc<dyn Retention>,
    /// The readers of the log; the files of the WAL stay until all have confirmed them.
    pub spool: Option<Arc<Spool>>,
    /// Where the files are; tests put faults in.
    pub disk: Arc<dyn Disk>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            head_rows: 4_000_000,
            head_bytes: 128 << 20,
            durable: false,
            sync_interval: Some(Duration::from_secs(1)),
            merge_rows: 32_000_000,
            merge_fanout: 8,
            newest_bytes: 24 << 20,
            background: true,
            retention: Arc::new(Class(31)),
            spool: None,
            disk: Arc::new(OsDisk),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("head_rows", &self.head_rows)
            .field("head_bytes", &self.head_bytes)
            .field("durable", &self.durable)
            .field("sync_interval", &self.sync_interval)
            .field("merge_rows", &self.merge_rows)
            .field("merge_fanout", &self.merge_fanout)
            .field("newest_bytes", &self.newest_bytes)
            .field("background", &self.background)
            .finish_non_exhaustive()
    }
}
