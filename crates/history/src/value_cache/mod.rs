//! What trigger functions need of history, in the memory of the shard that owns the items.
//!
//! Every item keeps its last two values (about 60 bytes). Items that functions look further back
//! at ([`Need`]) keep a *window*, loaded from the driver at the first question and fed from then
//! on. All windows together stay below a limit; what was not asked for longest goes first, and
//! questions that memory cannot answer are answered by the driver. Order of the syncer: write to
//! the driver, feed the cache, acknowledge, evaluate; what the driver refuses was never there.

mod latest;
mod window;

use std::borrow::Cow;

use hashbrown::HashMap;
use model::{ItemId, Sample, SampleValue, Timestamp};

use crate::{Error, Lookback, Newest, Span};
use latest::Latest;
use window::Window;

/// A value with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// When it was measured.
    pub at: Timestamp,
    /// What was measured.
    pub value: SampleValue,
}

/// How far the functions of an item look back; both may be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Need {
    /// Newest values.
    pub count: u32,
    /// Seconds before the newest value, time shifts included.
    pub seconds: u32,
}

impl Need {
    /// The last two values answer it.
    fn is_small(self) -> bool {
        self.count <= 2 && self.seconds == 0
    }
}

/// What self-monitoring shows as `zabbix[vcache,...]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounters {
    /// Questions answered from memory.
    pub hits: u64,
    /// Questions answered by the driver.
    pub misses: u64,
    /// Bytes that windows take.
    pub bytes: usize,
    /// Bytes that windows may take.
    pub bytes_max: usize,
    /// Items with their last values in memory.
    pub items: usize,
    /// Items with a window in memory.
    pub windows: usize,
    /// Windows thrown out for others.
    pub evictions: u64,
}

#[derive(Debug)]
struct Watched {
    item: ItemId,
    need: Need,
    window: Option<Window>,
    /// Asked for since the hand last came by.
    referenced: bool,
}

/// The cache of one shard.
#[derive(Debug)]
pub struct ValueCache {
    latest: Latest,
    watched: Vec<Watched>,
    index: HashMap<ItemId, u32>,
    /// Where eviction goes on looking (second chance).
    hand: usize,
    counters: CacheCounters,
}

impl ValueCache {
    /// A cache whose windows take at most `bytes_max`.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            latest: Latest::default(),
            watched: Vec::new(),
            index: HashMap::new(),
            hand: 0,
            counters: CacheCounters { bytes_max, ..CacheCounters::default() },
        }
    }

    /// Says how far back the functions of an item look; replaces what was said before.
    /// `Need::default()` = no function names the item any more.
    pub fn need(&mut self, item: ItemId, need: Need) {
        if need.is_small() {
            self.unwatch(item);
            return;
        }
        if let Some(&at) = self.index.get(&item) {
            self.watched[at as usize].need = need;
        } else {
            let at = u32::try_from(self.watched.len()).expect("BUG: 4 billion items");
            self.index.insert(item, at);
            self.watched.push(Watched { item, need, window: None, referenced: false });
        }
    }

    /// Forgets the values of an item whose stored ones were deleted; what its functions need stays.
    pub fn clear(&mut self, item: ItemId) {
        self.latest.remove(item);
        let Some(&at) = self.index.get(&item) else { return };
        if let Some(window) = self.watched[at as usize].window.take() {
            self.counters.bytes -= window.bytes();
            self.counters.windows -= 1;
        }
    }

    /// Forgets an item that was deleted.
    pub fn forget(&mut self, item: ItemId) {
        self.latest.remove(item);
        self.unwatch(item);
    }

    fn unwatch(&mut self, item: ItemId) {
        let Some(at) = self.index.remove(&item) else { return };
        let gone = self.watched.swap_remove(at as usize);
        if let Some(window) = gone.window {
            self.counters.bytes -= window.bytes();
            self.counters.windows -= 1;
        }
        if let Some(moved) = self.watched.get(at as usize) {
            self.index.insert(moved.item, at);
        }
    }

    /// Takes in new samples that the driver has.
    pub fn feed(&mut self, samples: &[Sample]) {
        self.latest.put_all(samples);
        if self.index.is_empty() {
            return;
        }
        for sample in samples {
            let Some(&at) = self.index.get(&sample.item) else { continue };
            let watched = &mut self.watched[at as usize];
            if let Some(window) = &mut watched.window {
                self.counters.bytes -= window.bytes();
                window.put(Point { at: sample.at, value: sample.value.clone() });
                window.trim(watched.need);
                self.counters.bytes += window.bytes();
            }
        }
        self.evict();
    }

    /// Takes in newest values that the driver has, newest first, after a start.
    pub fn warm(&mut self, newest: &[Sample]) {
        newest.iter().rev().for_each(|sample| self.latest.warm(sample));
    }

    /// The newest value and the one before, as far as they came since the start of the process.
    pub fn last_two(&self, item: ItemId) -> [Option<Point>; 2] {
        self.latest.get(item)
    }

    /// The newest `n` values not after `till`, oldest first.
    pub fn newest(
        &mut self,
        driver: &(impl Lookback + ?Sized),
        item: ItemId,
        n: usize,
        till: Timestamp,
    ) -> Result<Cow<'_, [Point]>, Error> {
        if n <= 2
            && let Some(points) = self.latest.newest(item, n, till)
        {
            self.counters.hits += 1;
            return Ok(Cow::Owned(points));
        }
        let at = self.index.get(&item).map(|&at| at as usize);
        if let Some(at) = at {
            let watched = &self.watched[at];
            if watched.window.as_ref().is_some_and(|w| w.newest(n, till).is_some()) {
                return Ok(self.hit(at, |window| window.newest(n, till)));
            }
        }
        self.counters.misses += 1;
        // Beyond what was asked for now, the window keeps what is needed later.
        let want = at.map_or(n, |at| n.max(self.watched[at].need.count as usize));
        let (mut points, floor_ns) = load_newest(driver, item, want, till)?;
        let Some((at, floor_ns)) = at.zip(floor_ns) else {
            points.truncate(points.partition_point(|p| p.at <= till));
            points.drain(..points.len().saturating_sub(n));
            return Ok(Cow::Owned(points));
        };
        self.install(at, points, floor_ns);
        let loaded = self.watched[at].window.as_ref().and_then(|w| w.newest(n, till));
        let answer = loaded.map(<[Point]>::to_vec).unwrap_or_default();
        self.evict();
        Ok(Cow::Owned(answer))
    }

    /// Values after `after` and not after `till`, oldest first.
    pub fn range(
        &mut self,
        driver: &(impl Lookback + ?Sized),
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Cow<'_, [Point]>, Error> {
        let at = self.index.get(&item).map(|&at| at as usize);
        if let Some(at) = at {
            let watched = &self.watched[at];
            if watched.window.as_ref().is_some_and(|w| w.range(after, till).is_some()) {
                return Ok(self.hit(at, |window| window.range(after, till)));
            }
        }
        self.counters.misses += 1;
        let Some(at) = at else {
            let points = load_since(driver, item, after.clock, till.clock)?;
            let inside = points.into_iter().filter(|p| p.at > after && p.at <= till);
            return Ok(Cow::Owned(inside.collect()));
        };
        let points = load_since(driver, item, after.clock, u32::MAX)?;
        self.install(at, points, Timestamp::from_s(after.clock).as_ns());
        let loaded = self.watched[at].window.as_ref().and_then(|w| w.range(after, till));
        let answer = loaded.map(<[Point]>::to_vec).unwrap_or_default();
        self.evict();
        Ok(Cow::Owned(answer))
    }

    /// What self-monitoring shows.
    pub fn counters(&self) -> CacheCounters {
        CacheCounters { items: self.latest.len(), ..self.counters }
    }

    /// Bytes that the last two values of all items take.
    pub fn latest_bytes(&self) -> usize {
        self.latest.bytes()
    }

    fn hit(&mut self, at: usize, read: impl Fn(&Window) -> Option<&[Point]>) -> Cow<'_, [Point]> {
        self.counters.hits += 1;
        let watched = &mut self.watched[at];
        watched.referenced = true;
        Cow::Borrowed(watched.window.as_ref().and_then(read).unwrap_or_default())
    }

    /// Makes what was loaded the window of an item; what an older window had beyond stays.
    fn install(&mut self, at: usize, points: Vec<Point>, floor_ns: u64) {
        let watched = &mut self.watched[at];
        let mut window = Window::new(points, floor_ns);
        if let Some(old) = watched.window.take() {
            self.counters.bytes -= old.bytes();
            self.counters.windows -= 1;
            window.absorb(old);
        }
        watched.referenced = true;
        self.counters.bytes += window.bytes();
        self.counters.windows += 1;
        watched.window = Some(window);
    }

    /// Throws windows out until the limit is kept.
    fn evict(&mut self) {
        let mut rounds = self.watched.len() * 2;
        while self.counters.bytes > self.counters.bytes_max && rounds > 0 {
            rounds -= 1;
            self.hand = (self.hand + 1) % self.watched.len();
            let watched = &mut self.watched[self.hand];
            if watched.window.is_none() || std::mem::take(&mut watched.referenced) {
                continue;
            }
            if let Some(window) = watched.window.take() {
                self.counters.bytes -= window.bytes();
                self.counters.windows -= 1;
                self.counters.evictions += 1;
            }
        }
    }
}

/// The newest `n` values not after `till`, oldest first, with all that is younger than `till`,
/// and the moment (nanoseconds since 1970) from which on this is all there is; `None` = more may
/// come, and what is here must not be taken for all.
fn load_newest(
    driver: &(impl Lookback + ?Sized),
    item: ItemId,
    n: usize,
    till: Timestamp,
) -> Result<(Vec<Point>, Option<u64>), Error> {
    // Usually nothing is younger than `till`, or a few values of the same batch.
    let mut ask = n + 2;
    loop {
        let Newest { samples: mut newest, partial } = driver.newest_of(item, ask)?;
        let complete = newest.len() < ask;
        let younger = newest.iter().take_while(|s| s.at > till).count();
        if complete || newest.len() - younger >= n {
            newest.reverse();
            let floor_ns = match newest.first() {
                Some(first) if !complete => first.at.as_ns(),
                _ => 0,
            };
            let points = newest.into_iter().map(point).collect();
            return Ok((points, (!partial).then_some(floor_ns)));
        }
        ask = ask.saturating_mul(4);
    }
}

fn load_since(
    driver: &(impl Lookback + ?Sized),
    item: ItemId,
    from: u32,
    till: u32,
) -> Result<Vec<Point>, Error> {
    Ok(driver.within(item, Span::new(from, till))?.into_iter().map(point).collect())
}

fn point(sample: Sample) -> Point {
    Point { at: sample.at, value: sample.value }
}

#[cfg(test)]
mod tests;
