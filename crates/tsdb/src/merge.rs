//! Reading several sources as one, sorted by series: for merging segments and for scans.

use std::collections::HashMap;
use std::sync::Arc;

use crate::block::Block;
use crate::clears::Clears;
use crate::error::{Damaged, Error};
use crate::head::Head;
use crate::kind::Kind;
use crate::layout::{Entry, SegmentId};
use crate::rows::Run;
use crate::seal::{BySeries, Place, publish};
use crate::segment::Segment;
use crate::writer::{SegmentWriter, temporary};

/// Runs sorted by item and kind; a series may have several in a row.
trait Runs {
    /// The series of the next run.
    fn peek(&self) -> Option<(u64, Kind)>;
    /// Was what it has of this item cleared?
    fn is_hidden(&self, clears: &Clears, item: u64) -> bool;
    /// Appends the next run and moves on.
    fn next(&mut self, out: &mut Run) -> Result<(), Error>;
}

/// How to treat unreadable blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnDamage {
    /// Rows are left out and the damage is recorded.
    LeaveOut,
    /// The damage is recorded and reading fails: a merge would lose the rows for good.
    Fail,
}

/// All runs of a segment, each block decoded once.
struct SegmentRuns {
    segment: Arc<Segment>,
    damage: OnDamage,
    entries: Arc<Vec<Entry>>,
    page: usize,
    place: usize,
    /// Blocks with runs still to come, and how many.
    blocks: HashMap<u32, (Block, usize)>,
}

impl SegmentRuns {
    fn open(segment: Arc<Segment>, damage: OnDamage) -> Result<Self, Error> {
        let (entries, blocks) = (Arc::default(), HashMap::new());
        let mut runs = Self { segment, damage, entries, page: 0, place: 0, blocks };
        runs.next_page()?;
        Ok(runs)
    }

    fn next_page(&mut self) -> Result<(), Error> {
        self.entries = Arc::default();
        self.place = 0;
        while self.entries.is_empty() && self.page < self.segment.footer.pages as usize {
            self.entries = self.segment.any_page(self.page)?;
            self.page += 1;
            // A page that is made again from blocks lacks those that cannot be read.
            if self.damage == OnDamage::Fail && self.segment.is_damaged() {
                return Err(self.segment.damaged(Damaged("a part cannot be read")));
            }
        }
        Ok(())
    }

    /// Reads a run; the block of one that is damaged is recorded.
    fn read(&mut self, entry: Entry, out: &mut Run) -> Result<(), Error> {
        match self.read_block(entry, out) {
            Err(error) if self.segment.lose_block(entry.block, &error) => match self.damage {
                OnDamage::LeaveOut => Ok(()),
                OnDamage::Fail => Err(error),
            },
            read => read,
        }
    }

    fn read_block(&mut self, entry: Entry, out: &mut Run) -> Result<(), Error> {
        if !self.blocks.contains_key(&entry.block) {
            let block = self.segment.block(entry.block)?;
            let runs = block.runs();
            self.blocks.insert(entry.block, (block, runs));
        }
        let Some((block, left)) = self.blocks.get_mut(&entry.block) else { return Ok(()) };
        let run = block.find(entry.item, entry.kind).ok_or(Damaged("a run is missing"));
        let read = run.and_then(|run| block.read(run, entry.kind, out));
        read.map_err(|damaged| damaged.of(&self.segment.path))?;
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.blocks.remove(&entry.block);
        }
        Ok(())
    }
}

impl Runs for SegmentRuns {
    fn peek(&self) -> Option<(u64, Kind)> {
        self.entries.get(self.place).map(|entry| (entry.item, entry.kind))
    }

    fn is_hidden(&self, clears: &Clears, item: u64) -> bool {
        clears.hides(&self.segment, item)
    }

    fn next(&mut self, out: &mut Run) -> Result<(), Error> {
        let Some(&entry) = self.entries.get(self.place) else { return Ok(()) };
        self.read(entry, out)?;
        self.place += 1;
        if self.place == self.entries.len() { self.next_page() } else { Ok(()) }
    }
}

/// All series of a head.
struct HeadRuns<'a> {
    seq: u64,
    by_series: BySeries<'a>,
    order: Vec<u32>,
    place: usize,
}

impl Runs for HeadRuns<'_> {
    fn peek(&self) -> Option<(u64, Kind)> {
        self.order.get(self.place).map(|&series| self.by_series.key(series))
    }

    fn is_hidden(&self, clears: &Clears, item: u64) -> bool {
        clears.hides_head(self.seq, item)
    }

    fn next(&mut self, out: &mut Run) -> Result<(), Error> {
        let mut run = Run::default();
        if let Some(&series) = self.order.get(self.place) {
            self.by_series.gather(series, |_| true, &mut run);
        }
        out.append(&run);
        self.place += 1;
        Ok(())
    }
}

/// Hands over every series of the sources, settled, but for what was cleared; later sources win
/// over earlier ones. Heads come with their numbers.
pub(crate) fn merged(
    segments: &[Arc<Segment>],
    heads: &[(u64, &Head)],
    (clears, damage): (&Clears, OnDamage),
    each: &mut dyn FnMut(u64, Kind, &Run) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut sources: Vec<Box<dyn Runs + '_>> = Vec::new();
    for segment in segments {
        sources.push(Box::new(SegmentRuns::open(Arc::clone(segment), damage)?));
    }
    for &(seq, head) in heads {
        let by_series = BySeries::new(head);
        let order = by_series.sorted();
        sources.push(Box::new(HeadRuns { seq, by_series, order, place: 0 }));
    }
    let (mut run, mut hidden) = (Run::default(), Run::default());
    while let Some(key) = sources.iter().filter_map(|source| source.peek()).min() {
        run.clear();
        for source in &mut sources {
            while source.peek() == Some(key) {
                if source.is_hidden(clears, key.0) {
                    hidden.clear();
                    source.next(&mut hidden)?;
                } else {
                    source.next(&mut run)?;
                }
            }
        }
        let (item, kind) = key;
        run.settle(kind.is_bytes());
        each(item, kind, &run)?;
    }
    Ok(())
}

/// Writes one segment that holds all rows of the inputs: neighbours of one class and day, in the
/// order in which they were written, but for what was cleared. From the moment it has its name it
/// replaces them.
pub(crate) fn merge(
    place: &Place,
    inputs: &[Arc<Segment>],
    clears: &Clears,
) -> Result<Arc<Segment>, Error> {
    let (Some(first), Some(last)) = (inputs.first(), inputs.last()) else {
        unreachable!("BUG: nothing to merge")
    };
    let id = SegmentId { last_seq: last.id.last_seq, ..first.id };
    let write = || {
        let mut writer = SegmentWriter::create(place.disk.as_ref(), &place.dir, &id)?;
        merged(inputs, &[], (clears, OnDamage::Fail), &mut |item, kind, run| {
            writer.push(item, kind, run)
        })?;
        writer.finish()
    };
    if let Err(error) = write() {
        // Best effort: what stays is removed at the next start.
        drop(place.disk.remove(&temporary(&place.dir, &id)));
        return Err(error);
    }
    let mut segments = publish(place, &[id])?;
    // Before any input is removed.
    place.manifest.change(|files| {
        files.segments.retain(|id, _| inputs.iter().all(|input| input.id != *id));
        files.add_segments(&segments);
    })?;
    Ok(segments.remove(0))
}
