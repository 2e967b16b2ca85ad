//! Records of transactions on their way to the disk: each thread collects rows, one thread writes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use stdx::clock::SharedClock;
use transactions::{Builder, Encoder, Limits, Log, Transaction};

use crate::config::Transactions;

/// Blocks that may wait for the disk; those of more are dropped and counted.
const WAITING: usize = 16;
/// How long rows are collected before they are written, in microseconds.
const COLLECT_US: u64 = 1_000_000;

/// What was not kept.
#[derive(Debug, Default)]
struct Lost {
    rows: AtomicU64,
}

/// A thread's side.
pub(crate) struct Recorder {
    /// Name of the engine.
    pub(crate) engine: Box<str>,
    pub(crate) rows: Rows,
}

/// Rows of a thread on their way to the writer.
pub(crate) struct Rows {
    builder: Builder,
    /// Monotonic time of the first row.
    since_us: u64,
    /// Unix time minus monotonic time, in microseconds.
    unix_us: u64,
    clock: SharedClock,
    full: SyncSender<Builder>,
    empty: Arc<std::sync::Mutex<Vec<Builder>>>,
    lost: Arc<Lost>,
}

impl Rows {
    /// Unix time of a monotonic time, both in microseconds.
    pub(crate) const fn unix(&self, monotonic_us: u64) -> u64 {
        self.unix_us.saturating_add(monotonic_us)
    }

    pub(crate) fn push(&mut self, transaction: &Transaction<'_>, now_us: u64) {
        if self.builder.is_empty() {
            self.since_us = now_us;
        }
        self.builder.push(transaction);
        if self.builder.is_full() {
            self.pass_on();
        }
    }

    /// Called now and then: rows do not wait longer than a second.
    pub(crate) fn look(&mut self, now_us: u64) {
        self.unix_us = offset_us(&self.clock);
        if !self.builder.is_empty() && now_us >= self.since_us + COLLECT_US {
            self.pass_on();
        }
    }

    /// Gives the rows to the writer.
    pub(crate) fn pass_on(&mut self) {
        if self.builder.is_empty() {
            return;
        }
        let spare = stdx::sync::lock(&self.empty).pop().unwrap_or_default();
        let builder = std::mem::replace(&mut self.builder, spare);
        if let Err(TrySendError::Full(builder) | TrySendError::Disconnected(builder)) =
            self.full.try_send(builder)
        {
            self.lost.rows.fetch_add(builder.len() as u64, Relaxed);
            self.builder = builder;
            self.builder.clear();
        }
    }
}

fn offset_us(clock: &SharedClock) -> u64 {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    micros(clock.unix()).saturating_sub(micros(clock.monotonic()))
}

/// What all threads' records have in common. When it and all recorders are dropped, the writer writes
/// what is left and ends.
pub(crate) struct Records {
    full: SyncSender<Builder>,
    empty: Arc<std::sync::Mutex<Vec<Builder>>>,
    lost: Arc<Lost>,
    clock: SharedClock,
    writer: JoinHandle<()>,
}

impl Records {
    /// Opens the folder and starts the thread that writes.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(crate) fn start(config: &Transactions, clock: &SharedClock) -> anyhow::Result<Self> {
        let limits = limits(config);
        let log = Log::open(&config.folder, limits).with_context(|| {
            format!("no transactions can be kept in {}", config.folder.display())
        })?;
        let encoder = Encoder::new()?;
        let (full, waiting) = sync_channel(WAITING);
        let empty = Arc::new(std::sync::Mutex::new(Vec::new()));
        let lost = Arc::new(Lost::default());
        let writer = Writer {
            log,
            encoder,
            waiting,
            empty: Arc::clone(&empty),
            lost: Arc::clone(&lost),
            clock: Arc::clone(clock),
            fails: false,
        };
        let folder = config.folder.clone();
        let writer = stdx::thread::permanent("transactions", move || writer.run(&folder))?;
        Ok(Self { full, empty, lost, clock: Arc::clone(clock), writer })
    }

    /// The side of one thread of the engine with this name.
    pub(crate) fn recorder(&self, engine: &str) -> Recorder {
        let rows = Rows {
            builder: Builder::default(),
            since_us: 0,
            unix_us: offset_us(&self.clock),
            clock: Arc::clone(&self.clock),
            full: self.full.clone(),
            empty: Arc::clone(&self.empty),
            lost: Arc::clone(&self.lost),
        };
        Recorder { engine: engine.into(), rows }
    }

    /// Waits until everything that recorders have passed on is on the disk. The recorders must be gone.
    pub(crate) fn end(self) {
        drop(self.full);
        let _panicked = self.writer.join();
    }
}

fn limits(config: &Transactions) -> Limits {
    let age_us = u64::try_from(config.age.0.as_micros()).unwrap_or(u64::MAX);
    Limits { bytes: config.size.0, age_us }
}

struct Writer {
    log: Log,
    encoder: Encoder,
    waiting: Receiver<Builder>,
    empty: Arc<std::sync::Mutex<Vec<Builder>>>,
    lost: Arc<Lost>,
    clock: SharedClock,
    /// The last block was not kept.
    fails: bool,
}

impl Writer {
    fn run(mut self, folder: &Path) {
        let mut synced = self.clock.monotonic();
        let mut told = 0;
        while let Ok(mut builder) = self.waiting.recv() {
            let rows = builder.len() as u64;
            let block = builder.finish(&mut self.encoder);
            {
                let mut empty = stdx::sync::lock(&self.empty);
                if empty.len() < WAITING {
                    empty.push(builder);
                }
            }
            let now = self.clock.unix().as_micros();
            let mut written = self.log.append(&block, u64::try_from(now).unwrap_or(u64::MAX));
            let kept = written.is_ok();
            if self.clock.monotonic() >= synced + Duration::from_secs(1) {
                synced = self.clock.monotonic();
                written = written.and_then(|()| self.log.sync());
            }
            if !kept {
                self.lost.rows.fetch_add(rows, Relaxed);
            }
            self.tell(folder, written);
            let lost = self.lost.rows.load(Relaxed);
            if lost > told {
                tracing::warn!(
                    "{} transactions were not kept; {lost} since the start",
                    lost - told
                );
                told = lost;
            }
        }
        if let Err(error) = self.log.sync() {
            tracing::error!("transactions may be lost in {}: {error}", folder.display());
        }
    }

    /// Says when the disk begins to fail and when it works again.
    fn tell(&mut self, folder: &Path, written: std::io::Result<()>) {
        let fails = written.is_err();
        match written {
            Err(error) if !self.fails => tracing::error!(
                "transactions cannot be kept in {}: {error}; forwarding goes on",
                folder.display()
            ),
            Ok(()) if self.fails => {
                tracing::info!("transactions are kept in {} again", folder.display());
            }
            _ => {}
        }
        self.fails = fails;
    }
}
