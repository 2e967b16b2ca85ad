//! What stores over the network have in common, so that each of them is only what it alone does.

use std::cmp::Reverse;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use model::{ItemId, Sample, Timestamp, Trend};
use stdx::sync::{into_inner, lock};

use super::at_most;
use history::{Bucket, Class, Counters, Day, Driver, DriverInfo, Error, Kind, Kinds, Span, View};
use history::{Reduced, complete, from_rows};

/// Requests at the same time, where a store has to be asked for each of many.
const REQUESTS: usize = 8;

/// Does something for each, several at once; the first error ends it.
pub(crate) fn at_once<T: Sync>(
    all: &[T],
    act: impl Fn(&T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = act(one) {
                next.store(all.len(), Ordering::Relaxed);
                lock(&failed).get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..REQUESTS.min(all.len()) {
            scope.spawn(work);
        }
        work();
    });
    into_inner(failed).map_or(Ok(()), Err)
}

/// What is found of each item, several at once; in any order.
fn of_each<T: Send>(
    items: &[ItemId],
    find: impl Fn(ItemId) -> Result<Vec<T>, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let all = Mutex::new(Vec::new());
    at_once(items, |&item| {
        let mut found = find(item)?;
        lock(&all).append(&mut found);
        Ok(())
    })?;
    Ok(into_inner(all))
}

/// Which samples of an item are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) item: ItemId,
    pub(crate) kinds: Kinds,
    /// Not empty.
    pub(crate) span: Span,
    pub(crate) newest_first: bool,
    /// At most so many, at least one; `usize::MAX` = all.
    pub(crate) limit: usize,
}

/// Which buckets of an item are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coarse {
    pub(crate) item: ItemId,
    /// [`Kind::Float`] or [`Kind::Unsigned`].
    pub(crate) kind: Kind,
    /// Not empty.
    pub(crate) span: Span,
    /// Seconds.
    pub(crate) width: NonZeroU32,
}

/// A store over the network. Every request waits for its answer, and any thread may make it.
pub(crate) trait Remote: Send + Sync + 'static {
    /// What it is.
    fn describe(&self) -> DriverInfo;

    /// Stores at least one sample; see [`Driver::write`].
    fn write(&self, samples: &[Sample]) -> Result<(), Error>;

    /// Stores at least one trend; see [`Driver::write_trends`].
    fn write_trends(&self, trends: &[Trend]) -> Result<(), Error>;

    /// Deletes everything of at least one item; see [`Driver::clear`].
    fn clear(&self, items: &[ItemId]) -> Result<(), Error>;

    /// Deletes what is old; see [`Driver::drop_before`].
    fn drop_before(&self, class: Class, day: Day) -> Result<u64, Error>;

    /// The retention classes in which something is stored.
    fn classes(&self) -> Result<Vec<Class>, Error>;

    /// Samples in any order: of those that are wanted at least the first `limit` in their order;
    /// fewer only where there are no more.
    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error>;

    /// Buckets in any order; see [`View::buckets`]. `None` = it cannot reduce.
    fn read_buckets(&self, _: &Coarse) -> Result<Option<Vec<Reduced>>, Error> {
        Ok(None)
    }

    /// Trends in any order, of a span that is not empty.
    fn read_trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error>;

    /// All samples of some items, in any order, of a span that is not empty. Here each item is a
    /// question of its own.
    fn read_of(&self, items: &[ItemId], kinds: Kinds, span: Span) -> Result<Vec<Sample>, Error> {
        of_each(items, |item| {
            self.read(&Wanted { item, kinds, span, newest_first: false, limit: usize::MAX })
        })
    }

    /// The same of trends.
    fn read_trends_of(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error> {
        of_each(items, |item| self.read_trends(item, span))
    }
}

/// A driver over a store; it counts what went through it.
pub(crate) struct Connection<R> {
    remote: Arc<R>,
    counters: Counters,
}

impl<R: Remote> Connection<R> {
    pub(crate) fn boxed(remote: &Arc<R>) -> Box<dyn Driver> {
        Box::new(Self { remote: Arc::clone(remote), counters: Counters::default() })
    }

    fn counted(&mut self, written: Result<(), Error>) -> Result<(), Error> {
        self.counters.failures += u64::from(written.is_err());
        written
    }
}

impl<R: Remote> Driver for Connection<R> {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        if samples.is_empty() {
            return Ok(());
        }
        let written = self.remote.write(samples);
        self.counted(written)?;
        self.counters.samples += samples.len() as u64;
        self.counters.batches += 1;
        Ok(())
    }

    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        if trends.is_empty() {
            return Ok(());
        }
        let written = self.remote.write_trends(trends);
        self.counted(written)?;
        self.counters.trends += trends.len() as u64;
        Ok(())
    }

    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        if items.is_empty() { Ok(()) } else { self.remote.clear(items) }
    }

    fn view(&self, _: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(RemoteView { remote: Arc::clone(&self.remote), span })
    }

    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        self.remote.drop_before(class, day)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        let mut classes = self.remote.classes()?;
        classes.sort_unstable();
        classes.dedup();
        Ok(classes)
    }

    fn describe(&self) -> DriverInfo {
        self.remote.describe()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// What the store has within a span, as of when one asks.
struct RemoteView<R> {
    remote: Arc<R>,
    span: Span,
}

impl<R: Remote> RemoteView<R> {
    fn read(
        &self,
        item: ItemId,
        kinds: Kinds,
        newest_first: bool,
        limit: usize,
    ) -> Result<Vec<Sample>, Error> {
        let span = self.span;
        if limit == 0 || span.from > span.till {
            return Ok(Vec::new());
        }
        let mut wanted = Wanted { item, kinds, span, newest_first, limit };
        loop {
            let mut samples = self.remote.read(&wanted)?;
            at_most(samples.len())?;
            let is_all = samples.len() < wanted.limit;
            if newest_first {
                samples.sort_by_key(|sample| (Reverse(sample.at), Kind::of_value(&sample.value)));
                samples.dedup_by_key(|sample| place(sample));
            } else {
                oldest_first(&mut samples);
            }
            if is_all || samples.len() >= limit {
                samples.truncate(limit);
                return Ok(samples);
            }
            // What is stored under two classes took the place of more.
            wanted.limit = wanted.limit.saturating_mul(2);
        }
    }
}

/// What is one sample. One that is stored under two classes counts once: the item's retention
/// changed before the same row was sent again.
fn place(sample: &Sample) -> (ItemId, Timestamp, Kind) {
    (sample.item, sample.at, Kind::of_value(&sample.value))
}

fn oldest_first(samples: &mut Vec<Sample>) {
    samples.sort_by_key(place);
    samples.dedup_by_key(|sample| place(sample));
}

impl<R: Remote> View for RemoteView<R> {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, usize::MAX)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, n)
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, true, n)
    }

    fn samples_of(&self, items: &[ItemId], kinds: Kinds) -> Result<Vec<Sample>, Error> {
        if items.is_empty() || self.span.from > self.span.till {
            return Ok(Vec::new());
        }
        let mut samples = self.remote.read_of(items, kinds, self.span)?;
        at_most(samples.len())?;
        oldest_first(&mut samples);
        Ok(samples)
    }

    fn buckets(&self, item: ItemId, kind: Kind, width: NonZeroU32) -> Result<Vec<Bucket>, Error> {
        let span = self.span;
        if span.from > span.till {
            return Ok(Vec::new());
        }
        let rows =
            |span| Self { remote: Arc::clone(&self.remote), span }.samples(item, kind.into());
        match self.remote.read_buckets(&Coarse { item, kind, span, width })? {
            Some(found) => complete(found, width, span, rows),
            None => from_rows(span, width, rows),
        }
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.trends_of(&[item])
    }

    fn trends_of(&self, items: &[ItemId]) -> Result<Vec<Trend>, Error> {
        if items.is_empty() || self.span.from > self.span.till {
            return Ok(Vec::new());
        }
        let mut trends = self.remote.read_trends_of(items, self.span)?;
        // Floats first, as everywhere.
        let place = |trend: &Trend| (trend.item, trend.hour, Kind::of_trend(trend));
        trends.sort_by_key(place);
        trends.dedup_by_key(|trend| place(trend));
        Ok(trends)
    }
}
