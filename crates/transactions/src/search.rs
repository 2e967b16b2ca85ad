//! Queries over a folder.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::block::{Block, ReadAt};
use crate::columns::{COLUMNS, Cell, Column, TIMINGS};
use crate::error::Damage;
use crate::filter::Filter;
use crate::folder::{Folder, Place};
use crate::scan::{Rows, select};
use crate::summary::{Group, Histogram, Summary};

/// Newest rows that an answer can have.
pub const ROWS_WANTED_MAX: usize = 100_000;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Query {
    pub filter: Filter,
    /// First and last `began` in microseconds of Unix time; both are included.
    pub from_us: u64,
    pub to_us: u64,
    /// Newest rows wanted; at most 100,000.
    pub rows: usize,
    /// Bars of the histogram; 0 = no summary, which is faster.
    pub bars: usize,
    /// Column to group by.
    pub group: Option<&'static Column>,
    /// Threads that search; at least 1.
    pub threads: usize,
}

/// Returns true when the client has left: the search then ends early.
pub type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// A row, in the order of [`COLUMNS`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub Vec<Cell>);

impl Row {
    /// The value of a column.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Cell> {
        self.0.get(Column::named(name)?.place())
    }

    /// When it began.
    #[must_use]
    pub fn began_us(&self) -> u64 {
        match self.get("began") {
            Some(Cell::Number(began)) => *began,
            _ => 0,
        }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Answer {
    /// Rows that meet the filter.
    pub matched: u64,
    /// Rows that were looked at.
    pub scanned: u64,
    /// Blocks that cannot be read: their rows are missing.
    pub damaged: u64,
    /// Newest first.
    pub rows: Vec<Row>,
    /// `None` if no bars were wanted.
    pub summary: Option<Summary>,
    /// The search was stopped before it had seen all blocks.
    pub stopped: bool,
}

/// A row that may be among the newest: when it began, its block, its place there.
type Hit = Reverse<(u64, Reverse<usize>, Reverse<u16>)>;

/// What one thread has found.
struct Part<'q> {
    query: &'q Query,
    matched: u64,
    scanned: u64,
    damaged: u64,
    newest: BinaryHeap<Hit>,
    summary: Option<Summary>,
}

impl Folder {
    /// Answers a query.
    pub fn search(&self, query: &Query, stop: Stop<'_>) -> Answer {
        let (first_us, last_us) = self.span().unwrap_or_default();
        let mut search = Search::new(query, first_us, last_us);
        search.look_at(self, stop);
        search.finish(false)
    }
}

/// A search over several folders, one after the other.
pub(crate) struct Search<'q> {
    query: &'q Query,
    histogram: Histogram,
    answer: Answer,
}

impl<'q> Search<'q> {
    /// First and last `began` of all folders.
    pub(crate) fn new(query: &'q Query, first_us: u64, last_us: u64) -> Self {
        let bounds = query.from_us.max(first_us)..=query.to_us.min(last_us);
        let histogram = Histogram::new(&bounds, query.bars);
        let answer = Answer {
            matched: 0,
            scanned: 0,
            damaged: 0,
            rows: Vec::new(),
            summary: (query.bars > 0).then(|| Summary::new(histogram.clone())),
            stopped: false,
        };
        Self { query, histogram, answer }
    }

    pub(crate) fn look_at(&mut self, folder: &Folder, stop: Stop<'_>) {
        let (query, histogram) = (self.query, &self.histogram);
        let blocks = folder.blocks(&(query.from_us..=query.to_us));
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            let mut part = Part::new(query, histogram);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(place) = blocks.get(number) else { break };
                if stop() {
                    stopped.store(true, Ordering::Relaxed);
                    break;
                }
                part.look_at(place, number);
            }
            part
        };
        let mut whole = std::thread::scope(|scope| {
            let others: Vec<_> = (1..query.threads.max(1)).map(|_| scope.spawn(work)).collect();
            let mut whole = work();
            for other in others {
                // A panic goes on in the thread that asked.
                whole.add(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            whole
        });
        let wanted = query.rows.min(ROWS_WANTED_MAX);
        if self.answer.rows.len() == wanted {
            let oldest = self.answer.rows.last().map_or(0, Row::began_us);
            whole.newest.retain(|Reverse((began, ..))| *began > oldest);
        }
        let rows = whole.rows(&blocks);
        let answer = &mut self.answer;
        answer.rows.extend(rows);
        answer.rows.sort_by_key(|row| Reverse(row.began_us()));
        answer.rows.truncate(wanted);
        answer.matched += whole.matched;
        answer.scanned += whole.scanned;
        answer.damaged += whole.damaged;
        answer.stopped |= stopped.into_inner();
        if let (Some(own), Some(other)) = (&mut answer.summary, whole.summary) {
            own.add(other);
        }
    }

    /// What was found; `stopped`: not all folders were looked at.
    pub(crate) fn finish(self, stopped: bool) -> Answer {
        let stopped = stopped || self.answer.stopped;
        Answer { stopped, ..self.answer }
    }
}

impl<'q> Part<'q> {
    fn new(query: &'q Query, histogram: &Histogram) -> Self {
        let summary = (query.bars > 0).then(|| Summary::new(histogram.clone()));
        Self { query, matched: 0, scanned: 0, damaged: 0, newest: BinaryHeap::new(), summary }
    }

    fn look_at(&mut self, place: &Place, number: usize) {
        self.scanned += u64::from(place.header.rows);
        let times = self.query.from_us..=self.query.to_us;
        let read = Block::open(&*place.file, place.offset, place.header).and_then(|block| {
            let rows = select(&block, &self.query.filter, &times)?;
            if rows.is_empty() { Ok(()) } else { self.take(&block, number, &rows) }
        });
        if let Err(damage) = read {
            tracing::debug!(%damage, offset = place.offset, "a block of transactions cannot be read");
            self.damaged += 1;
        }
    }

    /// Takes in the rows that were found in one block.
    fn take(&mut self, block: &Block<'_, File>, number: usize, rows: &Rows) -> Result<(), Damage> {
        let wanted = self.query.rows.min(ROWS_WANTED_MAX);
        let oldest = self.newest.peek().map_or(0, |Reverse((began, ..))| *began);
        let last = *block.range(column("began")?).end();
        let may_be_newest = wanted > 0 && (self.newest.len() < wanted || last > oldest);
        if may_be_newest || self.summary.is_some() {
            let began = block.numbers(column("began")?)?;
            if let Some(summary) = &mut self.summary {
                summarize(summary, block, rows, &began, self.query.group)?;
            }
            if may_be_newest {
                rows.for_each(|row| self.consider(began[row], number, row, wanted));
            }
        }
        self.matched += rows.len() as u64;
        Ok(())
    }

    fn consider(&mut self, began_us: u64, number: usize, row: usize, wanted: usize) {
        let oldest = self.newest.peek().map_or(0, |Reverse((began, ..))| *began);
        if self.newest.len() >= wanted && began_us <= oldest {
            return;
        }
        // A block has at most 16,384 rows.
        let row = u16::try_from(row).unwrap_or(u16::MAX);
        self.newest.push(Reverse((began_us, Reverse(number), Reverse(row))));
        if self.newest.len() > wanted {
            self.newest.pop();
        }
    }

    fn add(&mut self, other: Self) {
        self.matched += other.matched;
        self.scanned += other.scanned;
        self.damaged += other.damaged;
        self.newest.extend(other.newest);
        if let (Some(own), Some(other)) = (&mut self.summary, other.summary) {
            own.add(other);
        }
    }

    /// The newest rows with all their columns.
    fn rows(&mut self, blocks: &[Place]) -> Vec<Row> {
        let mut hits = std::mem::take(&mut self.newest).into_sorted_vec();
        hits.truncate(self.query.rows.min(ROWS_WANTED_MAX));
        let mut rows: Vec<Row> = hits.iter().map(|_| Row(Vec::new())).collect();
        let mut places: Vec<(usize, usize, usize)> = Vec::new();
        for (at, Reverse((_, Reverse(number), Reverse(row)))) in hits.iter().enumerate() {
            places.push((*number, usize::from(*row), at));
        }
        places.sort_unstable();
        for of_block in places.chunk_by(|(a, ..), (b, ..)| a == b) {
            let Some(place) = of_block.first().and_then(|(number, ..)| blocks.get(*number)) else {
                continue;
            };
            if fill(place, of_block, &mut rows).is_err() {
                self.damaged += 1;
            }
        }
        rows.retain(|row| row.0.len() == COLUMNS.len());
        rows
    }
}

fn column(name: &str) -> Result<&'static Column, Damage> {
    Column::named(name).ok_or(Damage("BUG: a column is missing"))
}

/// Reads all columns of some rows of one block. `wanted` = block, row, place in `rows`.
fn fill(place: &Place, wanted: &[(usize, usize, usize)], rows: &mut [Row]) -> Result<(), Damage> {
    let block = Block::open(&*place.file, place.offset, place.header)?;
    for column in &COLUMNS {
        if column.is_number() {
            let numbers = block.numbers(column)?;
            for (_, row, at) in wanted {
                rows[*at].0.push(Cell::Number(numbers[*row]));
            }
            continue;
        }
        let (texts, places) = (block.texts(column)?, block.places(column)?);
        for (_, row, at) in wanted {
            let entry = places.as_ref().map_or(0, |places| places[*row].into());
            rows[*at].0.push(column.cell(texts.get(entry)));
        }
    }
    Ok(())
}

fn summarize<R: ReadAt + ?Sized>(
    summary: &mut Summary,
    block: &Block<'_, R>,
    rows: &Rows,
    began: &[u64],
    group: Option<&'static Column>,
) -> Result<(), Damage> {
    let total = block.numbers(column("total")?)?;
    let (texts, places) = (block.texts(column("fault")?)?, block.places(column("fault")?)?);
    let clean: Vec<bool> = (0..texts.len()).map(|place| texts.get(place).is_empty()).collect();
    let faulty = |row: usize| {
        let place = places.as_ref().map_or(0, |places| usize::from(places[row]));
        !clean.get(place).copied().unwrap_or(true)
    };
    rows.for_each(|row| summary.histogram.count(began[row], total[row], faulty(row)));
    for (place, name) in TIMINGS.iter().enumerate() {
        let times = block.numbers(column(name)?)?;
        rows.for_each(|row| summary.time(place, times[row]));
    }
    let Some(group) = group else { return Ok(()) };
    let bytes = block.numbers(column("response_bytes")?)?;
    let count = |into: &mut Group, row: usize| {
        into.count += 1;
        into.faults += u64::from(faulty(row));
        into.response_bytes = into.response_bytes.saturating_add(bytes[row]);
        into.total_us = into.total_us.saturating_add(total[row]);
        into.total_max_us = into.total_max_us.max(total[row]);
    };
    if group.is_number() {
        let (numbers, mut groups) = (block.numbers(group)?, HashMap::<u64, Group>::new());
        rows.for_each(|row| count(groups.entry(numbers[row]).or_default(), row));
        groups.into_iter().for_each(|(number, rows)| summary.group(Cell::Number(number), &rows));
        return Ok(());
    }
    let (texts, places) = (block.texts(group)?, block.places(group)?);
    let mut groups = vec![Group::default(); texts.len()];
    rows.for_each(|row| {
        let place = places.as_ref().map_or(0, |places| usize::from(places[row]));
        if let Some(into) = groups.get_mut(place) {
            count(into, row);
        }
    });
    for (place, rows) in groups.iter().enumerate().filter(|(_, rows)| rows.count > 0) {
        summary.group(group.cell(texts.get(place)), rows);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
