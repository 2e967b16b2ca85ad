//! The one trait behind which every store stands.

use std::num::NonZeroU32;

use model::{ItemId, Sample, Trend};

use crate::{Bucket, Class, Day, Error, Kind, Kinds, Span, TrendHour, reduce};

/// A store of samples and trends, owned by one shard.
///
/// Only the owner calls it; others read through a [`View`]. Two samples of one item with the same
/// clock and nanoseconds are one: the later written wins. Late samples (older than what is
/// stored) are welcome.
pub trait Driver: Send {
    /// Stores a batch. When it returns `Ok`, the batch survives the end of the process, and also a
    /// power cut where [`DriverInfo::durability`] says so.
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error>;

    /// Stores hours. An existing trend (same item, type and hour) is replaced.
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error>;

    /// The trends of these hours will change with the samples of the next [`Driver::write`], and
    /// will be written later. A store that survives the process remembers them together with the
    /// samples, until the trends are written or their items cleared.
    fn expect_trends(&mut self, hours: &[TrendHour]) {
        let _ = hours;
    }

    /// Hours whose trends were expected and never written: after a crash they are to be folded
    /// again.
    fn expected_trends(&self) -> Vec<TrendHour> {
        Vec::new()
    }

    /// Expects these trends no more.
    fn forget_trends(&mut self, hours: &[TrendHour]) {
        let _ = hours;
    }

    /// Deletes what is stored of these items, trends as well. When it returns `Ok` that is as
    /// safe as a batch written. No view made from then on shows it; what is written from then
    /// on is new, whatever its time. Space may be given back later. A store shared by shards
    /// is told by each of them.
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error>;

    /// Waits until everything written so far survives a power cut. Stores elsewhere see to that
    /// themselves.
    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The orderly end: like [`Driver::sync`], and the next start can tell whether something is missing.
    fn close(&mut self) -> Result<(), Error> {
        self.sync()
    }

    /// Background care (sealing, merging), if there is any; call about once a second. Cheap.
    fn maintain(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// What is stored of these items within the span, as of now. Cheap: the work is done by the
    /// view's methods on the thread that calls them.
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View>;

    /// Like [`Driver::view`] for all time up to the newest value, good for [`View::newest`] with
    /// at most `n` values an item; cheaper for many items.
    fn view_newest(&self, items: &[ItemId], n: usize) -> Box<dyn View> {
        let _ = n;
        self.view(items, Span::ALL)
    }

    /// Trends of an item that are stored of the span's hours, on the caller's thread.
    fn trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        self.view(&[item], span).trends(item)
    }

    /// The newest `n` samples of an item of any value type, newest first, on the caller's thread.
    fn newest(&self, item: ItemId, n: usize) -> Result<Vec<Sample>, Error> {
        self.view_newest(&[item], n).newest(item, Kinds::VALUES, n)
    }

    /// Deletes everything of a retention class older than `day`; returns the bytes given back.
    /// Deletes whole files or partitions: what shares one with younger values may stay until
    /// these go.
    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error>;

    /// The retention classes in which something is stored.
    fn classes(&self) -> Result<Vec<Class>, Error>;

    /// The youngest second not after `till` at which something is stored, about; `None` = unknown.
    /// After a crash it tells from when on trends are to be folded again.
    fn newest_clock(&self, till: u32) -> Option<u32> {
        let _ = till;
        None
    }

    /// What this store is.
    fn describe(&self) -> DriverInfo;

    /// What it has done so far.
    fn counters(&self) -> Counters;
}

/// What a driver held of some items at one moment. Reading does not disturb the writer.
pub trait View: Send {
    /// Samples of an item of the kinds asked for, within the view's span, oldest first.
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error>;

    /// The same of many items, which come sorted: item after item. Stores that are far away are
    /// asked once.
    fn samples_of(&self, items: &[ItemId], kinds: Kinds) -> Result<Vec<Sample>, Error> {
        let mut all = Vec::new();
        for &item in items {
            all.append(&mut self.samples(item, kinds)?);
        }
        Ok(all)
    }

    /// The newest `n` samples of an item, newest first.
    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        let mut samples = self.samples(item, kinds)?;
        samples.drain(..samples.len().saturating_sub(n));
        samples.reverse();
        Ok(samples)
    }

    /// The same of a view that may not have all of them yet.
    fn newest_so_far(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Newest, Error> {
        Ok(Newest { samples: self.newest(item, kinds, n)?, partial: false })
    }

    /// The oldest `n` of them, oldest first.
    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        let mut samples = self.samples(item, kinds)?;
        samples.truncate(n);
        Ok(samples)
    }

    /// For each item, in the order asked, its newest `n` samples, newest first. Stores that keep
    /// many items together read what they share once.
    fn newest_many(
        &self,
        items: &[ItemId],
        kinds: Kinds,
        n: usize,
    ) -> Result<Vec<Vec<Sample>>, Error> {
        items.iter().map(|&item| self.newest(item, kinds, n)).collect()
    }

    /// The numbers of an item of one kind, [`Kind::Float`] or [`Kind::Unsigned`], within the view's
    /// span as buckets of `width` seconds, oldest first; those without numbers are left out. Equal
    /// to [`reduce`] of the samples, but for the order in which floats are added. Stores that can
    /// reduce do it where the rows are.
    fn buckets(&self, item: ItemId, kind: Kind, width: NonZeroU32) -> Result<Vec<Bucket>, Error> {
        Ok(reduce(&self.samples(item, kind.into())?, width))
    }

    /// Hourly trends of an item whose hour starts within the view's span, oldest first. An item
    /// that changed its value type within an hour has two of that hour.
    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error>;

    /// The same of many items, which come sorted: item after item.
    fn trends_of(&self, items: &[ItemId]) -> Result<Vec<Trend>, Error> {
        let mut all = Vec::new();
        for &item in items {
            all.append(&mut self.trends(item)?);
        }
        Ok(all)
    }
}

/// The newest samples of an item, as far as they have come.
#[derive(Debug, Clone, PartialEq)]
pub struct Newest {
    /// Newest first.
    pub samples: Vec<Sample>,
    /// Older ones may be on their way, or missing between these: to be asked for again.
    pub partial: bool,
}

/// What survives a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Nothing survives the end of the process.
    None,
    /// All but the last group commit (a second).
    GroupCommit,
    /// Everything acknowledged.
    Each,
}

/// What a store is, for the log, the API and self-monitoring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    /// Name as in the configuration, such as `embedded`.
    pub name: &'static str,
    /// Where it keeps its data: a directory, a URL without secrets.
    pub location: String,
    /// What survives a power cut.
    pub durability: Durability,
    /// Values can be read back.
    pub readable: bool,
}

impl DriverInfo {
    /// What describes a store that values can be read back from.
    pub fn readable(
        name: &'static str,
        location: impl Into<String>,
        durability: Durability,
    ) -> Self {
        Self { name, location: location.into(), durability, readable: true }
    }
}

/// Counters of a driver; all only grow, but `bytes`, `memory_bytes` and `segments`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Samples written.
    pub samples: u64,
    /// Trends written.
    pub trends: u64,
    /// Batches written.
    pub batches: u64,
    /// Writes that failed.
    pub failures: u64,
    /// Bytes on disk now.
    pub bytes: u64,
    /// Bytes in memory now, about.
    pub memory_bytes: u64,
    /// Sealed segments or partitions now.
    pub segments: u64,
    /// Bytes appended to the log of writes.
    pub wal_bytes: u64,
    /// Times a writer waited for the disk.
    pub stalls: u64,
}
