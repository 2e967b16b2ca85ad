//! A reader of the log, which copies what it reads as a store would: in every other seed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use history::Kind;
use model::{ItemId, Sample, Timestamp};
use tsdb::{Disk, Position, Spool, Tail};

use crate::model::kind_of;
use crate::random::Random;

/// The copy, and how far it is. It outlives every crash.
pub struct LogCopy {
    on: bool,
    random: Random,
    spool: Option<Arc<Spool>>,
    tail: Option<Tail>,
    /// Remembered with what was copied before it.
    cursor: Option<Position>,
    rows: BTreeMap<(ItemId, Timestamp, Kind), Sample>,
    pub missed: bool,
}

impl LogCopy {
    pub fn new(seed: u64) -> Self {
        Self {
            on: seed % 2 == 1,
            random: Random::new(seed ^ 0x5eed),
            spool: None,
            tail: None,
            cursor: None,
            rows: BTreeMap::new(),
            missed: false,
        }
    }

    /// What the engine is to be opened with.
    pub fn start(&mut self) -> Option<Arc<Spool>> {
        self.tail = None;
        self.spool = self.on.then(|| Arc::new(Spool::new(&[self.cursor], u64::MAX)));
        self.spool.clone()
    }

    /// The engine is open.
    pub fn opened(&mut self, dir: &Path, disk: Arc<dyn Disk>) {
        self.tail = self.spool.clone().map(|spool| Tail::open(dir, disk, spool, 0));
        self.missed |= self.tail.as_ref().is_some_and(Tail::missed_files);
    }

    /// Reads some blocks, and now and then remembers how far it came.
    pub fn follow(&mut self) {
        let blocks = self.random.below(4);
        self.read(blocks);
        if self.random.one_in(3) {
            self.confirm();
        }
    }

    /// Reads to the end.
    pub fn finish(&mut self) {
        self.read(u64::MAX);
        self.confirm();
    }

    fn confirm(&mut self) {
        if let Some(tail) = &self.tail {
            self.cursor = Some(tail.position());
            tail.confirm(tail.position());
        }
    }

    fn read(&mut self, blocks: u64) {
        let Some(tail) = &mut self.tail else { return };
        for _ in 0..blocks {
            // An error is tried again with the next step.
            let Ok(Some(block)) = tail.read() else { break };
            self.rows.retain(|(item, ..), _| !block.clears.contains(item));
            for sample in block.samples {
                self.rows.insert((sample.item, sample.at, kind_of(&sample.value)), sample);
            }
        }
        self.missed |= tail.missed_files() || tail.damaged_blocks() > 0;
    }

    /// What was copied of an item, in the order of time; `None` = nobody copies.
    pub fn samples(&self, item: ItemId) -> Option<Vec<Sample>> {
        let rows = self.rows.iter().filter(|((of, ..), _)| *of == item);
        self.on.then(|| rows.map(|(_, sample)| sample.clone()).collect())
    }
}
