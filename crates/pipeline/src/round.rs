//! What one round of the syncer works on: buffers that live as long as the shard.

use eval::preproc;
use history::TrendHour;
use history::trends::late_hour;
use model::{ItemId, LldValue, Sample, Timestamp};
use stdx::ack;

use crate::gauges::Tally;
use crate::slots::{Remembered, SlotId};
use crate::states::Change;

/// A value, or a change of state, that triggers of this shard are to be evaluated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job {
    /// The how-manieth value of its item in this round: triggers see values one after another.
    pub(crate) turn: u16,
    pub(crate) slot: SlotId,
    pub(crate) at: Timestamp,
}

/// What is to be told to another shard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Forward {
    Sample(Sample),
    State { item: ItemId, at: Timestamp, supported: bool },
}

/// A value that came back from a script worker in this round. The state that its item goes on with
/// depends on whether the round is kept.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) item: ItemId,
    /// What the steps remembered before the value.
    pub(crate) before: preproc::State,
    /// What they remember with it.
    pub(crate) after: preproc::State,
    /// Whether the item still has the steps that the states belong to.
    pub(crate) is_current: bool,
}

/// Batches on their way through the stages.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// For the driver.
    pub(crate) stored: Vec<Sample>,
    /// Of items that keep no history but trends.
    pub(crate) unstored: Vec<Sample>,
    /// Places in `stored` and `unstored` of samples that make trends.
    pub(crate) trends: Vec<(Kept, u32)>,
    /// Hours long over whose trends change.
    pub(crate) late: Vec<TrendHour>,
    /// Waiting senders, with the numbers of processed and failed values.
    pub(crate) acks: Vec<(ack::Part, u64, u64)>,
    pub(crate) jobs: Vec<Job>,
    /// By the shard they go to.
    pub(crate) forwards: Vec<(usize, Forward)>,
    pub(crate) told: Told,
    /// What slots remembered before the round changed it, each once. A round that is not kept puts
    /// it back, so that values sent again meet the state that they met the first time.
    pub(crate) before: Vec<(SlotId, Remembered)>,
    pub(crate) returned: Vec<Returned>,
    /// Slots whose `seen` counts in this round.
    pub(crate) counted: Vec<SlotId>,
    pub(crate) tally: Tally,
}

/// What others are told once the round is kept.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Values of discovery rules.
    pub(crate) discovered: Vec<LldValue>,
    /// Items that became unsupported, or supported again.
    pub(crate) states: Vec<Change>,
    /// Samples that are exported.
    pub(crate) exported: Vec<Sample>,
}

/// Which of the two lists of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Stored,
    Unstored,
}

/// Buffers that grew beyond this many entries are given back after the round.
const KEPT_ENTRIES_MAX: usize = 65_536;

impl Round {
    /// Ready for the next round.
    pub(crate) fn clear(&mut self) {
        empty(&mut self.stored);
        empty(&mut self.unstored);
        empty(&mut self.trends);
        empty(&mut self.late);
        empty(&mut self.acks);
        empty(&mut self.jobs);
        empty(&mut self.forwards);
        empty(&mut self.told.discovered);
        empty(&mut self.before);
        empty(&mut self.returned);
        empty(&mut self.told.states);
        empty(&mut self.told.exported);
        empty(&mut self.counted);
        self.tally = Tally::default();
    }

    /// Takes a sample in; `now_s` is the clock's second.
    pub(crate) fn keep(&mut self, sample: Sample, kept: Kept, trends: bool, now_s: u32) {
        let list = match kept {
            Kept::Stored => &mut self.stored,
            Kept::Unstored if trends => &mut self.unstored,
            Kept::Unstored => return,
        };
        if trends {
            let place = u32::try_from(list.len()).expect("BUG: a round of 4 billion samples");
            self.trends.push((kept, place));
            if kept == Kept::Stored
                && let Some(late) = late_hour(now_s, &sample)
                && self.late.last() != Some(&late)
            {
                self.late.push(late);
            }
        }
        list.push(sample);
    }

    /// The sample that an entry of `trends` names.
    pub(crate) fn sample(&self, kept: Kept, at: u32) -> Option<&Sample> {
        let list = match kept {
            Kept::Stored => &self.stored,
            Kept::Unstored => &self.unstored,
        };
        list.get(at as usize)
    }
}

fn empty<T>(list: &mut Vec<T>) {
    list.clear();
    list.shrink_to(KEPT_ENTRIES_MAX);
}
