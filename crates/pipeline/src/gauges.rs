//! What self-monitoring reads of a shard, while it runs, from any thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use history::value_cache::CacheCounters;
use model::ValueType;

/// Value types that values are counted by.
pub const VALUE_TYPES: usize = 6;

/// Parts of a shard's time. The names are those of `zabbix[process,<name>,avg,busy]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Stage {
    /// `preprocessing worker`
    Preprocess = 0,
    /// `history syncer`: value cache, write, triggers.
    Sync = 1,
    /// `history poller`: calculated items.
    Calculate = 2,
    /// `timer`: time-based triggers.
    Timer = 3,
    /// Requests of others, new configurations.
    Command = 4,
}

/// Number of [`Stage`]s.
pub const STAGES: usize = 5;

/// Written by the shard alone, read by everybody.
#[derive(Debug, Default)]
pub struct Gauges {
    values: AtomicU64,
    refused: AtomicU64,
    discarded: AtomicU64,
    unsupported: AtomicU64,
    lost: AtomicU64,
    by_type: [AtomicU64; VALUE_TYPES],
    batches: AtomicU64,
    evaluations: AtomicU64,
    findings: AtomicU64,
    busy_ns: [AtomicU64; STAGES],
    items: AtomicU64,
    items_unsupported: AtomicU64,
    triggers: AtomicU64,
    outbox: AtomicU64,
    trends_waiting: AtomicU64,
    trends_unread: AtomicU64,
    refold_failures: AtomicU64,
    trend_reads: AtomicU64,
    cache: [AtomicU64; 7],
}

/// A reading of [`Gauges`]. Counters only grow, but those that say "now".
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GaugeReading {
    /// Values that became samples.
    pub values: u64,
    /// Values of unknown or disabled items.
    pub refused: u64,
    /// Values that their own preprocessing discarded.
    pub discarded: u64,
    /// Values that made an item unsupported, or found it so.
    pub unsupported: u64,
    /// Values that the driver refused: their senders were not acknowledged.
    pub lost: u64,
    /// Samples by value type (the API's number).
    pub by_type: [u64; VALUE_TYPES],
    /// Group commits.
    pub batches: u64,
    /// Trigger evaluations.
    pub evaluations: u64,
    /// Findings handed to the writer of events.
    pub findings: u64,
    /// Time spent in each [`Stage`], ns.
    pub busy_ns: [u64; STAGES],
    /// Items that got a value since the start, now.
    pub items: u64,
    /// Unsupported items, now.
    pub items_unsupported: u64,
    /// Triggers with a state, now.
    pub triggers: u64,
    /// Messages that wait for room in queues of others, now.
    pub outbox: u64,
    /// Trends that wait to be written, now.
    pub trends_waiting: u64,
    /// Items whose values could not be read so far to fold their trends again after a start, now.
    pub trends_unread: u64,
    /// Such reads that failed.
    pub refold_failures: u64,
    /// Questions of trend functions; each reads the store.
    pub trend_reads: u64,
    /// The value cache, now.
    pub cache: CacheCounters,
}

impl GaugeReading {
    /// Adds another shard's reading.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.values, other.values),
            (&mut self.refused, other.refused),
            (&mut self.discarded, other.discarded),
            (&mut self.unsupported, other.unsupported),
            (&mut self.lost, other.lost),
            (&mut self.batches, other.batches),
            (&mut self.evaluations, other.evaluations),
            (&mut self.findings, other.findings),
            (&mut self.items, other.items),
            (&mut self.items_unsupported, other.items_unsupported),
            (&mut self.triggers, other.triggers),
            (&mut self.outbox, other.outbox),
            (&mut self.trends_waiting, other.trends_waiting),
            (&mut self.trends_unread, other.trends_unread),
            (&mut self.refold_failures, other.refold_failures),
            (&mut self.trend_reads, other.trend_reads),
            (&mut self.cache.hits, other.cache.hits),
            (&mut self.cache.misses, other.cache.misses),
            (&mut self.cache.evictions, other.cache.evictions),
        ];
        for (sum, part) in pairs {
            *sum += part;
        }
        for (sum, part) in self.by_type.iter_mut().zip(other.by_type) {
            *sum += part;
        }
        for (sum, part) in self.busy_ns.iter_mut().zip(other.busy_ns) {
            *sum += part;
        }
        self.cache.bytes += other.cache.bytes;
        self.cache.bytes_max += other.cache.bytes_max;
        self.cache.items += other.cache.items;
        self.cache.windows += other.cache.windows;
    }
}

/// What one round of the syncer counted.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) refused: u64,
    pub(crate) discarded: u64,
    pub(crate) unsupported: u64,
    pub(crate) by_type: [u64; VALUE_TYPES],
}

impl Tally {
    pub(crate) fn count(&mut self, value_type: ValueType) {
        self.by_type[value_type as usize] += 1;
    }
}

fn add(counter: &AtomicU64, n: u64) {
    if n > 0 {
        // One writer: no read-modify-write needed.
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}

fn set(counter: &AtomicU64, n: usize) {
    counter.store(u64::try_from(n).unwrap_or(u64::MAX), Ordering::Relaxed);
}

impl Gauges {
    pub(crate) fn round(&self, tally: &Tally) {
        add(&self.refused, tally.refused);
        add(&self.discarded, tally.discarded);
        add(&self.unsupported, tally.unsupported);
        for (counter, n) in self.by_type.iter().zip(tally.by_type) {
            add(counter, n);
            add(&self.values, n);
        }
        add(&self.batches, 1);
    }

    pub(crate) fn lost(&self, n: u64) {
        add(&self.lost, n);
    }

    pub(crate) fn evaluated(&self, evaluations: u64, findings: u64) {
        add(&self.evaluations, evaluations);
        add(&self.findings, findings);
    }

    pub(crate) fn trends_read(&self, reads: u64) {
        add(&self.trend_reads, reads);
    }

    pub(crate) fn busy(&self, stage: Stage, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(0);
        add(&self.busy_ns[stage as usize], ns);
    }

    pub(crate) fn sizes(&self, sizes: &Sizes) {
        set(&self.items, sizes.items);
        set(&self.items_unsupported, sizes.items_unsupported);
        set(&self.triggers, sizes.triggers);
        set(&self.outbox, sizes.outbox);
        set(&self.trends_waiting, sizes.trends_waiting);
        set(&self.trends_unread, sizes.trends_unread);
        self.refold_failures.store(sizes.refold_failures, Ordering::Relaxed);
        let cache = &sizes.cache;
        let parts = [
            cache.hits,
            cache.misses,
            u64::try_from(cache.bytes).unwrap_or(0),
            u64::try_from(cache.bytes_max).unwrap_or(0),
            u64::try_from(cache.items).unwrap_or(0),
            u64::try_from(cache.windows).unwrap_or(0),
            cache.evictions,
        ];
        for (counter, n) in self.cache.iter().zip(parts) {
            counter.store(n, Ordering::Relaxed);
        }
    }

    /// The figures of now.
    pub fn read(&self) -> GaugeReading {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let size = |counter: &AtomicU64| usize::try_from(get(counter)).unwrap_or(usize::MAX);
        let [hits, misses, bytes, bytes_max, items, windows, evictions] = &self.cache;
        GaugeReading {
            values: get(&self.values),
            refused: get(&self.refused),
            discarded: get(&self.discarded),
            unsupported: get(&self.unsupported),
            lost: get(&self.lost),
            by_type: std::array::from_fn(|at| get(&self.by_type[at])),
            batches: get(&self.batches),
            evaluations: get(&self.evaluations),
            findings: get(&self.findings),
            busy_ns: std::array::from_fn(|at| get(&self.busy_ns[at])),
            items: get(&self.items),
            items_unsupported: get(&self.items_unsupported),
            triggers: get(&self.triggers),
            outbox: get(&self.outbox),
            trends_waiting: get(&self.trends_waiting),
            trends_unread: get(&self.trends_unread),
            refold_failures: get(&self.refold_failures),
            trend_reads: get(&self.trend_reads),
            cache: CacheCounters {
                hits: get(hits),
                misses: get(misses),
                bytes: size(bytes),
                bytes_max: size(bytes_max),
                items: size(items),
                windows: size(windows),
                evictions: get(evictions),
            },
        }
    }
}

/// Sizes of now, published once a second.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) items: usize,
    pub(crate) items_unsupported: usize,
    pub(crate) triggers: usize,
    pub(crate) outbox: usize,
    pub(crate) trends_waiting: usize,
    pub(crate) trends_unread: usize,
    pub(crate) refold_failures: u64,
    pub(crate) cache: CacheCounters,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_add_up() {
        let gauges = Gauges::default();
        let mut tally = Tally { refused: 1, ..Tally::default() };
        tally.count(ValueType::Unsigned);
        tally.count(ValueType::Float);
        gauges.round(&tally);
        gauges.busy(Stage::Sync, Duration::from_millis(500));
        let one = gauges.read();
        assert_eq!((one.values, one.refused, one.batches), (2, 1, 1));
        let mut both = one;
        both.add(&one);
        assert_eq!((both.values, both.by_type[3], both.busy_ns[1]), (4, 2, 1_000_000_000));
    }
}
