//! Reading on any thread: what an engine held at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{ItemId, Sample, Timestamp, Trend, TrendValues};

use crate::clears::Clears;
use crate::error::{Damaged, Error};
use crate::head::Head;
use crate::kind::{Kind, Kinds, Span};
use crate::rows::{ItemSink, Raw, Sink, value_of};
use crate::segment::Segment;

/// A row copied out of the active head.
#[derive(Debug, Clone, Copy)]
struct Copied {
    kind: Kind,
    at: Timestamp,
    /// The value; of a text where its bytes start (upper half) and how many (lower half).
    bits: u64,
}

/// Items that are looked at before their rows in a head are read.
const LOOK_AHEAD: usize = 32;

/// Where a view finds rows.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Segment(&'a Segment),
    Frozen(u64, &'a Head),
    Copied,
}

impl Source<'_> {
    /// Nothing in it is older than this second.
    fn first(self) -> u32 {
        match self {
            Self::Segment(segment) => segment.footer.first,
            Self::Frozen(_, head) => head.span().map_or(0, |(first, _)| first),
            Self::Copied => 0,
        }
    }
}

/// What an engine held of some items at one moment. Making one copies the few rows of these items
/// that are not sealed; the rest is shared and immutable, and is decoded by the methods, on the
/// thread that calls them.
#[derive(Debug)]
pub struct View {
    span: Span,
    segments: Arc<Vec<Arc<Segment>>>,
    /// Heads on their way to segments with their numbers, oldest first.
    frozen: Vec<(u64, Arc<Head>)>,
    clears: Arc<Clears>,
    /// Sorted by item: where the item's rows start and end in `rows`.
    items: Vec<(u64, usize, usize)>,
    rows: Vec<Copied>,
    bytes: Vec<u8>,
}

impl View {
    pub(crate) fn new(
        span: Span,
        segments: Arc<Vec<Arc<Segment>>>,
        frozen: Vec<(u64, Arc<Head>)>,
        clears: Arc<Clears>,
    ) -> Self {
        let (items, rows, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Self { span, segments, frozen, clears, items, rows, bytes }
    }

    /// Copies what the active head has of the items in these kinds, of each at most the `newest`.
    pub(crate) fn copy(&mut self, head: &Head, items: &[ItemId], kinds: Kinds, newest: usize) {
        for (place, &item) in items.iter().enumerate() {
            if place % LOOK_AHEAD == 0 {
                head.look_at(items[place..].iter().take(LOOK_AHEAD).map(|item| item.0));
            }
            let start = self.rows.len();
            let (rows, bytes) = (&mut self.rows, &mut self.bytes);
            let copied = head.read(item, kinds, self.span, newest, &mut |kind, at, raw| {
                let bits = match raw {
                    Raw::Bits(bits) => bits,
                    Raw::Bytes(text) => {
                        let start = bytes.len() as u64;
                        bytes.extend_from_slice(text);
                        start << 32 | text.len() as u64
                    }
                };
                rows.push(Copied { kind, at, bits });
                Ok(())
            });
            copied.expect("BUG: copying rows cannot fail");
            self.items.push((item.0, start, self.rows.len()));
        }
        self.items.sort_unstable();
    }

    fn copied(&self, item: ItemId) -> &[Copied] {
        let place = self.items.partition_point(|&(other, ..)| other < item.0);
        match self.items.get(place) {
            Some(&(found, start, end)) if found == item.0 => &self.rows[start..end],
            _ => &[],
        }
    }

    fn raw(&self, row: &Copied) -> Raw<'_> {
        if !row.kind.is_bytes() {
            return Raw::Bits(row.bits);
        }
        let start = usize::try_from(row.bits >> 32).unwrap_or(usize::MAX);
        let len = usize::try_from(row.bits & 0xffff_ffff).unwrap_or(usize::MAX);
        Raw::Bytes(self.bytes.get(start..start + len).unwrap_or_default())
    }

    /// Everything that may hold rows of the span: its last second, and its place in the order in
    /// which they were written.
    fn sources(&self) -> Vec<(u32, usize, Source<'_>)> {
        let segments = self.segments.iter().filter(|segment| segment.overlaps(self.span));
        let segments = segments.map(|segment| (segment.footer.last, Source::Segment(segment)));
        let frozen = self.frozen.iter().filter_map(|(seq, head)| {
            let (_, last) = head.span()?;
            Some((last, Source::Frozen(*seq, head)))
        });
        let all = segments.chain(frozen).chain([(u32::MAX, Source::Copied)]);
        all.enumerate().map(|(order, (last, source))| (last, order, source)).collect()
    }

    /// Hands over the rows of an item; of those in memory at most the `newest`.
    fn read(
        &self,
        source: Source<'_>,
        item: ItemId,
        kinds: Kinds,
        newest: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), Error> {
        let damaged = |damaged: Damaged| damaged.of("the head in memory".as_ref());
        match source {
            source if self.hides(source, item) => Ok(()),
            Source::Segment(segment) => segment.read(item.0, kinds, self.span, sink),
            Source::Frozen(_, head) => {
                head.read(item, kinds, self.span, newest, sink).map_err(damaged)
            }
            Source::Copied => {
                let mut rows = self.copied(item).iter().filter(|row| kinds.has(row.kind));
                rows.try_for_each(|row| sink(row.kind, row.at, self.raw(row))).map_err(damaged)
            }
        }
    }

    /// Samples of an item that the view was made for, of the kinds asked for and within the
    /// view's span, oldest first. Of samples with the same kind, clock and nanoseconds the one
    /// written last.
    pub fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        let mut samples = Vec::new();
        let mut sink = |kind, at, raw: Raw<'_>| {
            samples.push(Sample { item, at, value: value_of(kind, raw)? });
            Ok(())
        };
        for (_, _, source) in self.sources() {
            self.read(source, item, kinds, usize::MAX, &mut sink)?;
        }
        settle(&mut samples);
        Ok(samples)
    }

    /// The oldest `n` of them, oldest first. Reads only as far as needed.
    pub fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        let Some(last) = n.checked_sub(1) else { return Ok(Vec::new()) };
        let mut sources = self.sources();
        // What may hold the oldest comes first.
        sources.sort_by_key(|&(_, _, source)| source.first());
        let mut found: Vec<(Sample, usize)> = Vec::new();
        for (_, order, source) in sources {
            if found.get(last).is_some_and(|(sample, _)| sample.at.clock < source.first()) {
                break;
            }
            self.read(source, item, kinds, usize::MAX, &mut |kind, at, raw| {
                found.push((Sample { item, at, value: value_of(kind, raw)? }, order));
                Ok(())
            })?;
            // As `settle`, with the order of writing, which is not that of reading.
            let key = |(sample, _): &(Sample, usize)| (sample.at, kind_order(sample));
            found.sort_by_key(|row| (key(row), row.1));
            found.reverse();
            found.dedup_by_key(|row| key(row));
            found.reverse();
            found.truncate(n);
        }
        Ok(found.into_iter().map(|(sample, _)| sample).collect())
    }

    /// The newest `n` of them, newest first. Reads only as far back as needed.
    pub fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        let mut all = self.newest_of(&[item], kinds, n)?;
        Ok(all.pop().map(|newest| newest.samples).unwrap_or_default())
    }

    /// For each item, in the order asked, what [`View::newest`] gives. What many of them share is
    /// read once.
    pub fn newest_many(
        &self,
        items: &[ItemId],
        kinds: Kinds,
        n: usize,
    ) -> Result<Vec<Vec<Sample>>, Error> {
        let mut all = self.newest_of(items, kinds, n)?;
        let distinct = all.len() == items.len();
        let mut samples_of = |item: &ItemId| {
            let found = all.binary_search_by_key(item, |newest| newest.item);
            let newest = found.ok().and_then(|place| all.get_mut(place));
            let samples = newest.map(|newest| {
                if distinct { std::mem::take(&mut newest.samples) } else { newest.samples.clone() }
            });
            samples.unwrap_or_default()
        };
        Ok(items.iter().map(&mut samples_of).collect())
    }

    /// The newest samples of each item, by item.
    fn newest_of(&self, items: &[ItemId], kinds: Kinds, n: usize) -> Result<Vec<Newest>, Error> {
        let mut all: Vec<Newest> = items.iter().copied().map(Newest::of).collect();
        all.sort_unstable_by_key(|newest| newest.item);
        all.dedup_by_key(|newest| newest.item);
        if n == 0 {
            return Ok(all);
        }
        let mut sources = self.sources();
        // What may hold the youngest comes first.
        sources.sort_by_key(|&(last, order, _)| std::cmp::Reverse((last, order)));
        let (mut open, mut places) = (Vec::new(), Vec::new());
        for (last, order, source) in sources {
            open.clear();
            places.clear();
            for (place, newest) in all.iter().enumerate() {
                if newest.may_be_behind(last, n) && !self.hides(source, newest.item) {
                    open.push(newest.item.0);
                    places.push(place);
                }
            }
            // Rows come item by item, nearly always in the order asked.
            let mut at = 0;
            self.read_newest(source, &open, kinds, n, &mut |item, kind, time, raw| {
                if open.get(at) != Some(&item) {
                    at = open
                        .binary_search(&item)
                        .map_err(|_| Damaged("an item nobody asked for"))?;
                }
                all[places[at]].take(order, kind, time, raw, n)
            })?;
        }
        Ok(all)
    }

    fn hides(&self, source: Source<'_>, item: ItemId) -> bool {
        match source {
            Source::Segment(segment) => self.clears.hides(segment, item.0),
            Source::Frozen(seq, _) => self.clears.hides_head(seq, item.0),
            Source::Copied => false,
        }
    }

    /// Hands over at least the newest `n` rows of each kind that a source has of the items, which
    /// come sorted.
    fn read_newest(
        &self,
        source: Source<'_>,
        items: &[u64],
        kinds: Kinds,
        n: usize,
        put: &mut ItemSink<'_>,
    ) -> Result<(), Error> {
        if let Source::Segment(segment) = source
            && self.span == Span::ALL
        {
            return segment.read_newest(items, kinds, n, put);
        }
        for items in items.chunks(LOOK_AHEAD) {
            if let Source::Frozen(_, head) = source {
                head.look_at(items.iter().copied());
            }
            items.iter().try_for_each(|&item| {
                let mut sink = |kind, at, raw: Raw<'_>| put(item, kind, at, raw);
                self.read(source, ItemId(item), kinds, n, &mut sink)
            })?;
        }
        Ok(())
    }

    /// Hourly trends of an item that the view was made for, by hour, oldest first.
    pub fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        let mut hours: BTreeMap<(u32, bool), [Option<u64>; 4]> = BTreeMap::new();
        let mut sink = |kind: Kind, at: Timestamp, raw: Raw<'_>| {
            if let (Raw::Bits(bits), Some(place)) =
                (raw, Kind::TRENDS.iter().position(|&trend| trend == kind))
            {
                let figures = hours.entry((at.clock, place >= 4)).or_default();
                figures[place % 4] = Some(bits);
            }
            Ok(())
        };
        for (_, _, source) in self.sources() {
            self.read(source, item, Kinds::TRENDS, usize::MAX, &mut sink)?;
        }
        let trends = hours.into_iter().filter_map(|((hour, unsigned), figures)| {
            let [Some(min), Some(avg), Some(max), Some(num)] = figures else { return None };
            let float = f64::from_bits;
            let values = if unsigned {
                TrendValues::Unsigned { min, avg, max }
            } else {
                TrendValues::Float { min: float(min), avg: float(avg), max: float(max) }
            };
            Some(Trend { item, hour, num: u32::try_from(num).unwrap_or(u32::MAX), values })
        });
        Ok(trends.collect())
    }
}

/// Sorts by time; of samples with the same time and kind the last one stays.
fn settle(samples: &mut Vec<Sample>) {
    if samples.is_sorted_by(|a, b| a.at < b.at) {
        return;
    }
    samples.sort_by_key(|sample| (sample.at, kind_order(sample)));
    // `dedup` keeps the first of equals.
    samples.reverse();
    samples.dedup_by_key(|sample| (sample.at, kind_order(sample)));
    samples.reverse();
}

fn kind_order(sample: &Sample) -> u8 {
    match sample.value {
        model::SampleValue::Float(_) => 0,
        model::SampleValue::Unsigned(_) => 1,
        model::SampleValue::Text(_) => 2,
        model::SampleValue::Log(_) => 3,
    }
}

/// The newest samples of an item, as far as sources were read.
#[derive(Debug)]
struct Newest {
    item: ItemId,
    /// Newest first.
    samples: Vec<Sample>,
    /// Of each, the place of its source in the order in which they were written.
    orders: Vec<usize>,
}

impl Newest {
    fn of(item: ItemId) -> Self {
        Self { item, samples: Vec::new(), orders: Vec::new() }
    }

    /// May a source whose last second this is have something newer than the `n` that are known?
    fn may_be_behind(&self, last: u32, n: usize) -> bool {
        n.checked_sub(1)
            .and_then(|oldest| self.samples.get(oldest))
            .is_none_or(|s| s.at.clock <= last)
    }

    /// Takes a row in; of rows with the same time and kind the one written last stays.
    fn take(
        &mut self,
        order: usize,
        kind: Kind,
        at: Timestamp,
        raw: Raw<'_>,
        n: usize,
    ) -> Result<(), Damaged> {
        if self.samples.len() >= n && self.samples.last().is_some_and(|last| at < last.at) {
            return Ok(());
        }
        let sample = Sample { item: self.item, at, value: value_of(kind, raw)? };
        let key = |sample: &Sample| (sample.at, kind_order(sample));
        let place = self.samples.partition_point(|known| key(known) > key(&sample));
        match self.samples.get_mut(place) {
            Some(known) if key(known) == key(&sample) => {
                if self.orders[place] <= order {
                    (*known, self.orders[place]) = (sample, order);
                }
            }
            _ => {
                self.samples.insert(place, sample);
                self.orders.insert(place, order);
                self.samples.truncate(n);
                self.orders.truncate(n);
            }
        }
        Ok(())
    }
}
