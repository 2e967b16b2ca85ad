//! What self-monitoring shows of a store.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use stdx::clock::SharedClock;
use stdx::sync::lock;
use tsdb::Spool;

/// Figures of one store, written by its feeder.
pub struct Gauges {
    name: String,
    /// The logs that are read, and as which reader.
    logs: (Vec<Arc<Spool>>, usize),
    pub(crate) written: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) missed: AtomicU64,
    pub(crate) rows_read: AtomicU64,
    pub(crate) bytes_read: AtomicU64,
    /// Unix second of the newest row of the oldest batch that waits, or of the deletion that does; 0 =
    /// nothing waits. The lag grows also while the feeder waits for the store.
    pub(crate) waits_since_s: AtomicU64,
    clock: SharedClock,
    error: Mutex<String>,
}

/// The figures at one moment. Counters only grow; `behind_*` and `lag_s` are of now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The store's name.
    pub name: String,
    /// Rows written: samples and trends.
    pub written: u64,
    /// Batches written.
    pub batches: u64,
    /// Calls of the store that failed.
    pub errors: u64,
    /// Batches, or parts of them, that were sent again.
    pub retries: u64,
    /// Rows that the store refused for themselves, kept in a file.
    pub refused: u64,
    /// Blocks and files of the log that could not be read: their rows are missing in the store.
    pub missed: u64,
    /// Bytes of the log that wait: the spool.
    pub behind_bytes: u64,
    /// Rows that wait, about.
    pub behind_rows: u64,
    /// Rows in memory: read from the log, and not written yet.
    pub in_hand: u64,
    /// Age of the newest row of the oldest batch that waits, or of the deletion that does, in seconds;
    /// 0 = nothing waits.
    pub lag_s: u64,
    /// What failed last; empty = the last call succeeded.
    pub error: String,
}

impl std::fmt::Debug for Gauges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.read().fmt(f)
    }
}

impl Gauges {
    pub(crate) fn new(
        name: &str,
        logs: Vec<Arc<Spool>>,
        reader: usize,
        clock: &SharedClock,
    ) -> Self {
        Self {
            name: name.to_owned(),
            logs: (logs, reader),
            written: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            rows_read: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            waits_since_s: AtomicU64::new(0),
            clock: Arc::clone(clock),
            error: Mutex::default(),
        }
    }

    /// Remembers what failed; an empty text = nothing does any more.
    pub(crate) fn tell(&self, error: &str) {
        let mut told = lock(&self.error);
        if *told != error {
            error.clone_into(&mut told);
        }
    }

    /// The figures of now.
    pub fn read(&self) -> Reading {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (logs, reader) = &self.logs;
        let behind_bytes = logs.iter().map(|log| log.behind_of(*reader)).sum();
        // As many rows in a byte as there were in what was read.
        let rows = u128::from(behind_bytes) * u128::from(of(&self.rows_read));
        let rows = rows / u128::from(of(&self.bytes_read).max(1));
        // In this order: what is written was read.
        let written = of(&self.written);
        let since_s = of(&self.waits_since_s);
        Reading {
            name: self.name.clone(),
            written,
            in_hand: of(&self.rows_read).saturating_sub(written),
            batches: of(&self.batches),
            errors: of(&self.errors),
            retries: of(&self.retries),
            refused: of(&self.refused),
            missed: of(&self.missed),
            behind_bytes,
            behind_rows: u64::try_from(rows).unwrap_or(u64::MAX),
            lag_s: if since_s == 0 { 0 } else { self.clock.unix_s().saturating_sub(since_s) },
            error: lock(&self.error).clone(),
        }
    }
}

pub(crate) fn add(counter: &AtomicU64, n: usize) {
    counter.fetch_add(n as u64, Ordering::Relaxed);
}
