//! Rows in memory, not yet sealed: columns in the order of arrival, with the rows of each series
//! linked from the newest back, so that the last hour of an item needs no index.

use std::collections::HashSet;

use hashbrown::HashTable;
use model::{ItemId, Timestamp};
use stdx::sys::prefetch;

use crate::error::Damaged;
use crate::kind::{Kind, Kinds, Span, at};
use crate::rows::{CLEAR, LATE, Raw, Rows, Sink};

/// No row, no series.
const NONE: u32 = u32::MAX;

/// Series that are found before their rows are put in.
const ROWS_AHEAD: usize = 32;

/// A series with rows in this head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    pub(crate) item: u64,
    pub(crate) kind: Kind,
    /// Rows did not come in the order of their times.
    disordered: bool,
    /// The row that came last.
    last: u32,
    /// Its time: what lies with its columns is far from the processor.
    last_at: (u32, u32),
    /// Rows before this one were cleared.
    pub(crate) first: u32,
}

/// Rows that wait for sealing.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) series: Vec<Series>,
    table: Table,
    pub(crate) row_series: Vec<u32>,
    clock: Vec<u32>,
    ns: Vec<u32>,
    /// The value; of a text where its bytes start (upper half) and how many (lower half).
    bits: Vec<u64>,
    previous: Vec<u32>,
    bytes: Vec<u8>,
    span: Option<(u32, u32)>,
    /// Items that were cleared while this was the head.
    pub(crate) cleared: HashSet<u64>,
}

impl Head {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        // Reserved, not touched: memory is taken page by page as rows come, and never copied.
        Self {
            row_series: Vec::with_capacity(rows),
            clock: Vec::with_capacity(rows),
            ns: Vec::with_capacity(rows),
            bits: Vec::with_capacity(rows),
            previous: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.clock.len()
    }

    pub(crate) fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory, about.
    pub(crate) fn memory(&self) -> usize {
        self.len() * 24
            + self.bytes.len()
            + self.series.capacity() * size_of::<Series>()
            + self.table.places.allocation_size()
    }

    pub(crate) fn append(&mut self, rows: &Rows) {
        let mut bytes_at = self.bytes.len();
        self.bytes.extend_from_slice(&rows.bytes);
        let (mut first, mut last) = self.span.unwrap_or((u32::MAX, 0));
        let mut indices = [NONE; ROWS_AHEAD];
        for row in 0..rows.len() {
            if row % ROWS_AHEAD == 0 {
                self.find_ahead(rows, row, &mut indices);
            }
            if rows.kind[row] == CLEAR {
                self.clear(rows.item[row]);
                continue;
            }
            if rows.kind[row] == LATE {
                continue;
            }
            let kind = Kind::from_number(rows.kind[row]).expect("BUG: rows have checked kinds");
            let (clock, ns) = (rows.clock[row], rows.ns[row]);
            (first, last) = (first.min(clock), last.max(clock));
            let bits = if kind.is_bytes() {
                let start = bytes_at as u64;
                bytes_at += usize::try_from(rows.bits[row]).expect("BUG: rows have checked texts");
                start << 32 | rows.bits[row]
            } else {
                rows.bits[row]
            };
            let index = indices[row % ROWS_AHEAD];
            let series = &mut self.series[index as usize];
            let previous = series.last;
            debug_assert!(
                previous == NONE || self.row_series[previous as usize] == index,
                "BUG: a row is linked to a row of another series"
            );
            if previous != NONE {
                series.disordered |= (clock, ns) <= series.last_at;
            }
            series.last_at = (clock, ns);
            series.last = u32::try_from(self.clock.len()).expect("BUG: 4 billion rows in a head");
            self.row_series.push(index);
            self.clock.push(clock);
            self.ns.push(ns);
            self.bits.push(bits);
            self.previous.push(previous);
        }
        if first <= last {
            self.span = Some((first, last));
        }
        debug_assert!(
            [self.row_series.len(), self.ns.len(), self.bits.len(), self.previous.len()]
                == [self.clock.len(); 4],
            "BUG: the columns of a head differ in length"
        );
        debug_assert_eq!(bytes_at, self.bytes.len(), "BUG: texts and their lengths differ");
    }

    /// Finds the series of the next rows: searches that do not wait for each other's memory.
    fn find_ahead(&mut self, rows: &Rows, from: usize, indices: &mut [u32; ROWS_AHEAD]) {
        for (&item, index) in rows.item.iter().skip(from).zip(&mut *indices) {
            *index = self.table.likely(item);
            self.series.get(*index as usize).into_iter().for_each(prefetch);
        }
        let numbers = rows.kind.iter().zip(&rows.item).skip(from);
        for ((&kind, &item), index) in numbers.zip(indices) {
            // Rows that carry nothing have no series.
            if let Some(kind) = Kind::from_number(kind)
                && !of(item, kind, &self.series)(index)
            {
                *index = self.table.get_or_add(item, kind, &mut self.series);
            }
        }
    }

    /// Unlinks what an item has so far; its rows stay in the columns until they are sealed.
    fn clear(&mut self, item: u64) {
        self.cleared.insert(item);
        for kind in Kind::VALUES.into_iter().chain(Kind::TRENDS) {
            let Some(index) = self.table.find(item, kind, &self.series) else { continue };
            let first = u32::try_from(self.clock.len()).expect("BUG: 4 billion rows in a head");
            let series = &mut self.series[index as usize];
            *series = Series { last: NONE, disordered: false, first, ..*series };
        }
    }

    pub(crate) fn at(&self, row: u32) -> Timestamp {
        at(self.clock[row as usize], self.ns[row as usize])
    }

    pub(crate) fn raw(&self, kind: Kind, row: u32) -> Raw<'_> {
        let bits = self.bits[row as usize];
        if !kind.is_bytes() {
            return Raw::Bits(bits);
        }
        let start = usize::try_from(bits >> 32).unwrap_or(usize::MAX);
        let len = usize::try_from(bits & 0xffff_ffff).unwrap_or(usize::MAX);
        Raw::Bytes(self.bytes.get(start..start + len).expect("BUG: a text outside of its head"))
    }

    /// The youngest second that is not after `till`.
    pub(crate) fn newest_clock(&self, till: u32) -> Option<u32> {
        self.clock.iter().copied().filter(|&clock| clock <= till).max()
    }

    /// First and last second of what is here.
    pub(crate) fn span(&self) -> Option<(u32, u32)> {
        self.span
    }

    /// Rows of a series within the span, in the order in which they came, at most the `newest`.
    fn rows_of(&self, series: &Series, span: Span, newest: usize) -> Vec<u32> {
        let mut rows = Vec::new();
        let mut row = series.last;
        while row != NONE {
            let clock = self.clock[row as usize];
            if span.has(clock) {
                rows.push(row);
            }
            // What comes before is older, unless late rows are among them.
            if !series.disordered && (clock < span.from || rows.len() == newest) {
                break;
            }
            row = self.previous[row as usize];
        }
        rows.reverse();
        if rows.len() > newest {
            rows = self.newest_of(&rows, newest);
        }
        rows
    }

    /// Of rows that are not in the order of their times, those with the newest `n` times.
    fn newest_of(&self, rows: &[u32], n: usize) -> Vec<u32> {
        let mut times: Vec<Timestamp> = rows.iter().map(|&row| self.at(row)).collect();
        times.sort_unstable();
        times.dedup();
        let first = times[times.len().saturating_sub(n)..].first().copied();
        let is_new = |row: &u32| first.is_some_and(|first| self.at(*row) >= first);
        rows.iter().copied().filter(is_new).collect()
    }

    /// Brings what is newest of some items near the processor: these searches do not wait for each
    /// other's memory, as reading does.
    pub(crate) fn look_at(&self, items: impl Iterator<Item = u64> + Clone) {
        let series = |item| self.series.get(self.table.first(item, &self.series)? as usize);
        for item in items.clone() {
            std::hint::black_box(series(item).map(|series| series.last));
        }
        for row in items.filter_map(series).map(|series| series.last) {
            std::hint::black_box(self.previous.get(row as usize).copied());
            self.touch(row);
        }
    }

    /// Brings the columns of a row, if it is one, near the processor.
    pub(crate) fn touch(&self, row: u32) {
        let row = row as usize;
        [&self.clock, &self.ns].into_iter().filter_map(|column| column.get(row)).for_each(prefetch);
        self.bits.get(row).into_iter().for_each(prefetch);
    }

    /// Hands over the rows of an item in the order in which they came.
    pub(crate) fn read(
        &self,
        item: ItemId,
        kinds: Kinds,
        span: Span,
        newest: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), Damaged> {
        if !self.span.is_some_and(|(first, last)| span.overlaps(first, last)) {
            return Ok(());
        }
        for kind in Kind::VALUES.into_iter().chain(Kind::TRENDS).filter(|&k| kinds.has(k)) {
            let Some(index) = self.table.find(item.0, kind, &self.series) else { continue };
            let series = &self.series[index as usize];
            for row in self.rows_of(series, span, newest) {
                sink(kind, self.at(row), self.raw(kind, row))?;
            }
        }
        Ok(())
    }
}

/// From (item, kind) to the place in `series`. The kinds of an item are neighbours: who looks for all of
/// them looks at one place.
#[derive(Debug, Default)]
struct Table {
    places: HashTable<u32>,
}

fn hash(item: u64) -> u64 {
    ItemId(item).near_hash()
}

impl Table {
    /// What may be a series of the item, without a look at any series.
    fn likely(&self, item: u64) -> u32 {
        self.places.find(hash(item), |_| true).copied().unwrap_or(NONE)
    }

    /// A series of the item, of any kind.
    fn first(&self, item: u64, series: &[Series]) -> Option<u32> {
        let is = |&index: &u32| series.get(index as usize).is_some_and(|one| one.item == item);
        self.places.find(hash(item), is).copied()
    }

    fn find(&self, item: u64, kind: Kind, series: &[Series]) -> Option<u32> {
        self.places.find(hash(item), of(item, kind, series)).copied()
    }

    fn get_or_add(&mut self, item: u64, kind: Kind, series: &mut Vec<Series>) -> u32 {
        if let Some(index) = self.find(item, kind, series) {
            return index;
        }
        let index = u32::try_from(series.len()).expect("BUG: 4 billion series");
        let last_at = (0, 0);
        if series.len() == series.capacity() {
            stdx::memory::grow(series, series.len().max(64));
        }
        series.push(Series { item, kind, disordered: false, last: NONE, last_at, first: 0 });
        let rehash = |&index: &u32| hash(series[index as usize].item);
        self.places.insert_unique(hash(item), index, rehash);
        index
    }
}

/// Whether a place is that of a series.
fn of(item: u64, kind: Kind, series: &[Series]) -> impl Fn(&u32) -> bool {
    move |&index| series.get(index as usize).is_some_and(|one| one.item == item && one.kind == kind)
}
