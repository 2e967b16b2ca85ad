//! Records of transactions on their way to the disk: each thread collects rows, one thread writes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use stdx::clock::SharedClock;
use transactions::{Builder, Encoder, Limits, Log, Transaction};

use crate::config::Transactions;
use crate::succession::Beginning;

/// Blocks that may wait for the disk; those of more are dropped and counted. A block takes at most
/// 3.3 MB: 1 MiB of texts and 136 bytes for each of 16,384 rows.
const WAITING: usize = 32;
/// Emptied blocks that are kept for the next rows.
const SPARE: usize = 4;
/// Longest time between a write and the sync that follows it.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// What became of records since the start.
#[derive(Debug, Default)]
pub struct Counts {
    kept: AtomicU64,
    lost: AtomicU64,
}

impl Counts {
    /// Records that were written.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.kept.load(Relaxed)
    }

    /// Records for which there was no room, or that the disk refused.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}

/// A thread's side.
pub(crate) struct Recorder {
    /// Name of the engine.
    pub(crate) engine: Box<str>,
    /// Number of the thread, for its counters.
    pub(crate) thread: usize,
    pub(crate) rows: Rows,
}

/// Rows of a thread on their way to the writer.
pub(crate) struct Rows {
    builder: Builder,
    /// Unix time minus monotonic time, in microseconds.
    unix_us: u64,
    clock: SharedClock,
    full: SyncSender<Builder>,
    empty: Arc<std::sync::Mutex<Vec<Builder>>>,
    counts: Arc<Counts>,
}

impl Rows {
    /// Unix time of a monotonic time, both in microseconds.
    pub(crate) const fn unix(&self, monotonic_us: u64) -> u64 {
        self.unix_us.saturating_add(monotonic_us)
    }

    pub(crate) fn push(&mut self, transaction: &Transaction<'_>) {
        self.builder.push(transaction);
        if self.builder.is_full() {
            self.pass_on();
        }
    }

    /// Called every second: rows do not wait longer, and the machine's clock may have been set.
    pub(crate) fn each_second(&mut self) {
        self.unix_us = offset_us(&self.clock);
        self.pass_on();
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
            self.counts.lost.fetch_add(builder.len() as u64, Relaxed);
            self.builder = builder;
            self.builder.clear();
        }
    }
}

pub(crate) fn offset_us(clock: &SharedClock) -> u64 {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    micros(clock.unix()).saturating_sub(micros(clock.monotonic()))
}

/// What all threads' records have in common. When it and all recorders are dropped, the writer writes
/// what is left and ends.
pub(crate) struct Records {
    full: SyncSender<Builder>,
    empty: Arc<std::sync::Mutex<Vec<Builder>>>,
    counts: Arc<Counts>,
    clock: SharedClock,
    writer: JoinHandle<()>,
}

impl Records {
    /// Opens the folder and starts the thread that writes.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(crate) fn start(
        config: &Transactions,
        beginning: Beginning,
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        let limits = limits(config);
        let open = match beginning {
            Beginning::Alone => Log::open,
            Beginning::Takeover => Log::open_beside,
        };
        let log = open(&config.folder, limits).with_context(|| {
            format!("no transactions can be kept in {}", config.folder.display())
        })?;
        let encoder = Encoder::new()?;
        let (full, waiting) = sync_channel(WAITING);
        let empty = Arc::new(std::sync::Mutex::new(Vec::new()));
        let counts = Arc::new(Counts::default());
        let writer = Writer {
            log,
            encoder,
            waiting,
            empty: Arc::clone(&empty),
            counts: Arc::clone(&counts),
            clock: Arc::clone(clock),
            fails: false,
        };
        let folder = config.folder.clone();
        let writer = stdx::thread::permanent("transactions", move || writer.run(&folder))?;
        Ok(Self { full, empty, counts, clock: Arc::clone(clock), writer })
    }

    pub(crate) fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// The side of the thread of this number, of the engine with this name.
    pub(crate) fn recorder(&self, engine: &str, thread: usize) -> Recorder {
        let rows = Rows {
            builder: Builder::default(),
            unix_us: offset_us(&self.clock),
            clock: Arc::clone(&self.clock),
            full: self.full.clone(),
            empty: Arc::clone(&self.empty),
            counts: Arc::clone(&self.counts),
        };
        Recorder { engine: engine.into(), thread, rows }
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
    counts: Arc<Counts>,
    clock: SharedClock,
    /// The last block was not kept.
    fails: bool,
}

impl Writer {
    fn run(mut self, folder: &Path) {
        let (mut synced, mut told) = (self.clock.monotonic(), 0);
        loop {
            let mut written = match self.waiting.recv_timeout(SYNC_EVERY) {
                Ok(builder) => self.write(builder),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if self.clock.monotonic() >= synced + SYNC_EVERY {
                synced = self.clock.monotonic();
                written = written.and_then(|()| self.log.sync());
            }
            self.tell(folder, written);
            let lost = self.counts.lost();
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

    fn write(&mut self, mut builder: Builder) -> std::io::Result<()> {
        let rows = builder.len() as u64;
        let block = builder.finish(&mut self.encoder);
        let mut empty = stdx::sync::lock(&self.empty);
        if empty.len() < SPARE {
            empty.push(builder);
        }
        drop(empty);
        let now_us = u64::try_from(self.clock.unix().as_micros()).unwrap_or(u64::MAX);
        let written = self.log.append(&block);
        let count = if written.is_ok() { &self.counts.kept } else { &self.counts.lost };
        count.fetch_add(rows, Relaxed);
        written?;
        self.log.delete_old(now_us)
    }

    /// Says when the disk begins to fail and when it works again.
    fn tell(&mut self, folder: &Path, written: std::io::Result<()>) {
        let fails = written.is_err();
        match written {
            Err(error) if !self.fails => tracing::error!(
                "cannot write transaction records to {}: {error}; forwarding continues",
                folder.display()
            ),
            Ok(()) if self.fails => {
                tracing::info!("the folder of transactions {} works again", folder.display());
            }
            _ => {}
        }
        self.fails = fails;
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use stdx::clock::SimClock;
    use transactions::{Cached, Client, Course, End, Protocol, Request, Response, Target, Timings};

    use super::*;

    fn transaction() -> Transaction<'static> {
        let none: &[u8] = b"";
        Transaction {
            began_us: 1,
            target: Target { engine: "", service: "", pool: "", server: "" },
            client: Client {
                address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                port: 1,
                tls: "",
                user: none,
            },
            request: Request {
                protocol: Protocol::Tcp,
                stream: 0,
                method: none,
                host: none,
                path: none,
                query: none,
                user_agent: none,
                referer: none,
                bytes: 0,
            },
            response: Response { status: 0, server_status: 0, bytes: 0 },
            timings: Timings::default(),
            course: Course {
                end: End::Complete,
                tries: 1,
                reused: false,
                rules: "",
                cached: Cached::Unused,
            },
        }
    }

    #[test]
    fn rows_that_a_slow_disk_leaves_no_place_for_are_counted() {
        let (full, waiting) = sync_channel(1);
        let counts = Arc::new(Counts::default());
        let mut rows = Rows {
            builder: Builder::default(),
            unix_us: 0,
            clock: SimClock::at(Duration::from_secs(1)),
            full,
            empty: Arc::default(),
            counts: Arc::clone(&counts),
        };
        for count in [3, 5, 7] {
            (0..count).for_each(|_| rows.push(&transaction()));
            rows.pass_on();
            assert!(rows.builder.is_empty());
        }
        assert_eq!(counts.lost(), 5 + 7);
        assert_eq!(waiting.try_recv().map(|builder| builder.len()), Ok(3));
        rows.push(&transaction());
        rows.each_second();
        assert_eq!(waiting.try_recv().map(|builder| builder.len()), Ok(1), "there is place again");
    }
}
