//! Reading on any thread: what an engine held at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{ItemId, Sample, Timestamp, Trend, TrendValues};

use crate::clears::Clears;
use crate::error::{Damaged, Error};
use crate::head::Head;
use crate::kind::{Kind, Kinds, Span};
use crate::rows::{Raw, Sink, value_of};
use crate::segment::Segment;

/// A row copied out of the active head.
#[derive(Debug, Clone, Copy)]
struct Copied {
    kind: Kind,
    at: Timestamp,
    /// The value; of a text where its bytes start (upper half) and how many (lower half).
    bits: u64,
}

/// Samples by the order in which their sources were written.
type BySource = BTreeMap<usize, Vec<Sample>>;

/// Where a view finds rows.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Segment(&'a Segment),
    Frozen(u64, &'a Head),
    Copied,
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

    /// Copies what the active head has of the items, of each at most the `newest`.
    pub(crate) fn copy(&mut self, head: &Head, items: &[ItemId], newest: usize) {
        // Trends are not asked for by number.
        let kinds = if newest == usize::MAX { Kinds::ALL } else { Kinds::VALUES };
        for &item in items {
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
            Source::Segment(segment) if self.clears.hides(segment, item.0) => Ok(()),
            Source::Frozen(seq, _) if self.clears.hides_head(seq, item.0) => Ok(()),
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

    /// The newest `n` of them, newest first. Reads only as far back as needed.
    pub fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let mut sources = self.sources();
        // What may hold the youngest comes first.
        sources.sort_by_key(|&(last, order, _)| std::cmp::Reverse((last, order)));
        // By the order in which they were written.
        let mut found = BySource::new();
        let mut newest: Vec<Sample> = Vec::new();
        for (last, order, source) in sources {
            if newest.len() == n && newest[n - 1].at.clock > last {
                break;
            }
            let mut samples = Vec::new();
            self.read(source, item, kinds, n, &mut |kind, at, raw| {
                samples.push(Sample { item, at, value: value_of(kind, raw)? });
                Ok(())
            })?;
            if !samples.is_empty() {
                found.insert(order, samples);
                newest = merge_newest(&found, n);
            }
        }
        Ok(newest)
    }

    /// For each item, in the order asked, what [`View::newest`] gives; for views of all time. Blocks
    /// that many of them share are read once.
    pub fn newest_many(
        &self,
        items: &[ItemId],
        kinds: Kinds,
        n: usize,
    ) -> Result<Vec<Vec<Sample>>, Error> {
        if n == 0 || items.len() < 2 || self.span != Span::ALL {
            return items.iter().map(|&item| self.newest(item, kinds, n)).collect();
        }
        let mut sources = self.sources();
        sources.sort_by_key(|&(last, order, _)| std::cmp::Reverse((last, order)));
        let mut all: BTreeMap<u64, (BySource, Vec<Sample>)> =
            items.iter().map(|item| (item.0, Default::default())).collect();
        for (last, order, source) in sources {
            let is_open = |newest: &[Sample]| newest.len() < n || newest[n - 1].at.clock <= last;
            let open = all.iter().filter(|(_, (_, newest))| is_open(newest));
            let open: Vec<u64> = open.map(|(&item, _)| item).collect();
            if open.is_empty() {
                break;
            }
            let mut got: BTreeMap<u64, Vec<Sample>> = BTreeMap::new();
            self.read_many(source, &open, kinds, n, &mut got)?;
            for (item, samples) in got {
                let Some((found, newest)) = all.get_mut(&item) else { continue };
                found.insert(order, samples);
                *newest = merge_newest(found, n);
            }
        }
        let newest = |item: &ItemId| all.get(&item.0).map(|(_, n)| n.clone()).unwrap_or_default();
        Ok(items.iter().map(newest).collect())
    }

    fn read_many(
        &self,
        source: Source<'_>,
        items: &[u64],
        kinds: Kinds,
        n: usize,
        got: &mut BTreeMap<u64, Vec<Sample>>,
    ) -> Result<(), Error> {
        let mut put = |item: u64, kind, at, raw: Raw<'_>| {
            let sample = Sample { item: ItemId(item), at, value: value_of(kind, raw)? };
            got.entry(item).or_default().push(sample);
            Ok(())
        };
        if let Source::Segment(segment) = source {
            let seen = items.iter().copied().filter(|&item| !self.clears.hides(segment, item));
            let seen: Vec<u64> = seen.collect();
            return segment.read_newest(&seen, kinds, n, &mut put);
        }
        items.iter().try_for_each(|&item| {
            let mut sink = |kind, at, raw: Raw<'_>| put(item, kind, at, raw);
            self.read(source, ItemId(item), kinds, n, &mut sink)
        })
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

fn merge_newest(found: &BySource, n: usize) -> Vec<Sample> {
    let mut all: Vec<Sample> = found.values().flatten().cloned().collect();
    // Written later comes later, and `settle` keeps the last of equals.
    settle(&mut all);
    all.drain(..all.len().saturating_sub(n));
    all.reverse();
    all
}
