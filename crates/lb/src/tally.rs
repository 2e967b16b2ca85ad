//! What is counted of services and servers: each thread has counters of its own, which another
//! thread reads.
//!
//! A thread counts a request when it ends, from the record of it, so the counters and the records agree.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use proxying::engine_link::analytics::{Counter, Counters, Counts, Kind, Measured};
use proxying::engine_link::histogram::{BUCKETS, Histogram, bucket};
use transactions::{Cached, Fault, Transaction};

/// A number that one thread changes and others read.
#[derive(Debug, Default)]
struct Cell(AtomicU64);

impl Cell {
    /// Without a locked instruction, because no other thread writes.
    fn add(&self, number: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(number), Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The counters of one thread.
#[derive(Debug)]
struct Cells {
    counters: [Cell; Counter::ALL.len()],
    total: [Cell; BUCKETS],
    response: [Cell; BUCKETS],
}

impl Cells {
    fn new() -> Box<Self> {
        let times = || std::array::from_fn(|_| Cell::default());
        Box::new(Self {
            counters: std::array::from_fn(|_| Cell::default()),
            total: times(),
            response: times(),
        })
    }

    fn add(&self, counter: Counter, number: u64) {
        if let Some(cell) = self.counters.get(counter as usize) {
            cell.add(number);
        }
    }

    /// Counts a transaction that has ended.
    fn count(&self, transaction: &Transaction<'_>) {
        let Transaction { request, response, timings, course, .. } = transaction;
        self.add(Counter::Requests, 1);
        let class = match response.status / 100 {
            0 | 1 => None,
            2 => Some(Counter::Status2xx),
            3 => Some(Counter::Status3xx),
            4 => Some(Counter::Status4xx),
            _ => Some(Counter::Status5xx),
        };
        let fault = transaction.fault().map(|fault| match fault {
            Fault::Client => Counter::ClientErrors,
            Fault::Balancer => Counter::EngineErrors,
            Fault::Server => Counter::ServerErrors,
        });
        for counter in [class, fault].into_iter().flatten() {
            self.add(counter, 1);
        }
        self.add(Counter::BytesIn, request.bytes);
        self.add(Counter::BytesOut, response.bytes);
        match course.cached {
            Cached::Hit | Cached::Revalidated | Cached::Stale => {
                self.add(Counter::CacheStale, u64::from(course.cached == Cached::Stale));
                self.add(Counter::CacheHits, 1);
                self.add(Counter::CacheBytes, response.bytes);
            }
            Cached::Miss => self.add(Counter::CacheMisses, 1),
            Cached::Unused | Cached::Passed => {}
        }
        if course.tries > 1 {
            self.add(Counter::Retries, u64::from(course.tries) - 1);
        }
        if let Some(cell) = self.total.get(bucket(timings.total_us)) {
            cell.add(1);
        }
        // A connection that is passed on, and a request without a response, have none.
        if response.server_status != 0 || timings.response_us > 0 {
            self.add(Counter::Answered, 1);
            self.add(Counter::AnsweredUs, timings.response_us);
            if let Some(cell) = self.response.get(bucket(timings.response_us)) {
                cell.add(1);
            }
        }
    }
}

/// What all threads count of one object. A thread's counters take memory from its first count on.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) born: u64,
    threads: Box<[OnceLock<Box<Cells>>]>,
}

impl Tally {
    /// One for so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        static BORN: AtomicU64 = AtomicU64::new(1);
        let threads = (0..threads).map(|_| OnceLock::new()).collect();
        Self { born: BORN.fetch_add(1, Relaxed), threads }
    }

    fn of_thread(&self, thread: usize) -> Option<&Cells> {
        Some(self.threads.get(thread)?.get_or_init(Cells::new))
    }

    /// Adds to a counter. Only the thread of this number may call it.
    pub(crate) fn add(&self, thread: usize, counter: Counter, number: u64) {
        if let Some(cells) = self.of_thread(thread) {
            cells.add(counter, number);
        }
    }

    /// Counts a transaction that has ended. Only the thread of this number may call it.
    pub(crate) fn count(&self, thread: usize, transaction: &Transaction<'_>) {
        if let Some(cells) = self.of_thread(thread) {
            cells.count(transaction);
        }
    }

    /// The sums of all threads.
    pub(crate) fn counts(&self) -> Counts {
        let cells = || self.threads.iter().filter_map(OnceLock::get);
        let sum = |cell: &dyn Fn(&Cells) -> u64| {
            cells().fold(0, |sum: u64, cells| sum.wrapping_add(cell(cells)))
        };
        let mut counters = Counters::default();
        for counter in Counter::ALL {
            let at = *counter as usize;
            counters[*counter] = sum(&|cells| cells.counters.get(at).map_or(0, Cell::get));
        }
        let times = |of: fn(&Cells) -> &[Cell; BUCKETS]| {
            Histogram::of_all(
                (0..BUCKETS).map(|at| sum(&|cells| of(cells).get(at).map_or(0, Cell::get))),
            )
        };
        Counts {
            counters,
            total: times(|cells| &cells.total),
            response: times(|cells| &cells.response),
        }
    }

    pub(crate) fn measured(&self, kind: Kind, name: &str) -> Measured {
        Measured {
            kind,
            name: name.into(),
            server: "".into(),
            born: self.born,
            open: 0,
            state: Default::default(),
            counts: self.counts(),
            monitors: Vec::new(),
        }
    }
}
