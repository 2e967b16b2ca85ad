//! Background care: taking in what was sealed and merged, and deciding what to merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::DAY_S;

use crate::engine::{Engine, FROZEN_MAX};
use crate::error::Error;
use crate::kind::{Class, Day};
use crate::layout::SegmentId;
use crate::options::Options;
use crate::rotate::SEAL_PAUSE;
use crate::segment::{Segment, sort};
use crate::worker::{Done, Job};

/// A head whose day is over is sealed so many seconds later, so that late values join it.
const DAY_GRACE_S: u64 = 900;
/// After a merge that failed, none is tried for so long.
const MERGE_PAUSE_S: u64 = 600;

impl Engine {
    /// Background care: takes in what was sealed and merged, puts right what a failing disk left,
    /// seals a head whose day is over, starts merges. Call about once a second. An error tells
    /// what failed since the last call; it needs no answer, all of it is tried again.
    pub fn maintain(&mut self) -> Result<(), Error> {
        self.take_results();
        self.remove_read();
        let mended = self.mend();
        let now_s = self.clock.unix_s();
        let over = self
            .head_day
            .is_some_and(|day| now_s >= (u64::from(day.0) + 1) * u64::from(DAY_S) + DAY_GRACE_S);
        if over && mended.is_ok() && self.frozen.len() < FROZEN_MAX {
            self.rotate(false)?;
        }
        self.seal_next();
        if self.frozen.is_empty() && self.merging.is_none() && now_s >= self.merge_not_before_s {
            let candidates = merge_candidates(&self.segments, self.today(), now_s, &self.options);
            if let Some(first) = candidates.first() {
                self.merging = Some((first.id.class, first.id.day));
                self.worker.submit(Job::Merge(candidates, Arc::clone(&self.clears)));
            }
        }
        if !self.sealing && self.merging.is_none() && self.manifest.takes_note() {
            self.worker.submit(Job::NoteDamage);
        }
        mended.and(self.failure.take().map_or(Ok(()), Err))
    }

    /// Has the newest rows of the youngest segment of each class loaded in the background.
    pub(crate) fn load_newest(&mut self) {
        let mut youngest: BTreeMap<Class, &Arc<Segment>> = BTreeMap::new();
        for segment in self.segments.iter() {
            let known = youngest.entry(segment.id.class).or_insert(segment);
            if known.footer.last < segment.footer.last {
                *known = segment;
            }
        }
        let segments: Vec<Arc<Segment>> = youngest.into_values().cloned().collect();
        if !segments.is_empty() {
            self.worker.submit(Job::Load(segments));
        }
    }

    /// Without a thread in the background: does one thing that waits; false = nothing did.
    pub fn work(&mut self) -> bool {
        let worked = self.worker.work();
        self.take_results();
        worked
    }

    pub(crate) fn take_results(&mut self) {
        while let Some(done) = self.worker.poll() {
            self.take(done);
        }
    }

    pub(crate) fn take(&mut self, done: Done) {
        match done {
            Done::Sealed { seq, result } => {
                self.sealing = false;
                self.sealed_head(seq, result);
            }
            Done::Merged { inputs, result } => {
                self.merging = None;
                match result {
                    Ok(segment) => self.replace(&inputs, segment),
                    Err(error) => {
                        self.stats.merge_failures += 1;
                        self.merge_not_before_s = self.clock.unix_s() + MERGE_PAUSE_S;
                        self.failure = Some(error);
                    }
                }
            }
        }
    }

    fn sealed_head(&mut self, seq: u64, result: Result<Vec<Arc<Segment>>, Error>) {
        match result {
            Ok(segments) => {
                self.frozen.retain(|frozen| frozen.seq != seq);
                Arc::make_mut(&mut self.segments).extend(segments);
                if self.clears.is_changed() {
                    Arc::make_mut(&mut self.clears).written(seq);
                }
                self.late.sealed(seq);
                if let Some(spool) = &self.options.spool {
                    spool.sealed(seq);
                }
                self.stats.seals += 1;
                self.seal_failure = None;
                self.seal_next();
            }
            Err(error) => {
                self.stats.seal_failures += 1;
                self.failure = Some(error.clone());
                self.seal_failure = Some((error, self.clock.monotonic() + SEAL_PAUSE));
            }
        }
    }

    /// Puts a merged segment in the place of its inputs.
    fn replace(&mut self, inputs: &[SegmentId], segment: Arc<Segment>) {
        let segments = Arc::make_mut(&mut self.segments);
        let (old, kept): (Vec<_>, Vec<_>) =
            segments.drain(..).partition(|segment| inputs.contains(&segment.id));
        *segments = kept;
        segments.push(segment);
        sort(segments);
        self.stats.merges += 1;
        self.worker.submit(Job::Remove(old));
    }
}

/// Neighbours of one class and day that are worth merging: all small ones of a day that is over,
/// or a full fan of the current day's.
fn merge_candidates(
    segments: &[Arc<Segment>],
    today: Day,
    now_s: u64,
    options: &Options,
) -> Vec<Arc<Segment>> {
    let grace_is_over = now_s % u64::from(DAY_S) > 2 * DAY_GRACE_S;
    let mut groups: BTreeMap<(Day, Class), Vec<&Arc<Segment>>> = BTreeMap::new();
    for segment in segments {
        groups.entry((segment.id.day, segment.id.class)).or_default().push(segment);
    }
    for ((day, _), group) in groups {
        let over = day.0 + 1 < today.0 || day < today && grace_is_over;
        let fan = if over { 2 } else { options.merge_fanout.max(2) };
        let mut picked: Vec<Arc<Segment>> = Vec::new();
        let mut rows = 0;
        for segment in group {
            let damaged = segment.is_damaged();
            let fits = !damaged
                && segment.footer.rows < options.merge_rows / 2
                && rows + segment.footer.rows <= options.merge_rows;
            if !fits {
                if picked.len() >= fan {
                    break;
                }
                picked.clear();
                rows = 0;
                // What is damaged stays as it is: merging would lose it for good.
                if damaged || segment.footer.rows >= options.merge_rows / 2 {
                    continue;
                }
            }
            rows += segment.footer.rows;
            picked.push(Arc::clone(segment));
        }
        if picked.len() >= fan {
            return picked;
        }
    }
    Vec::new()
}
