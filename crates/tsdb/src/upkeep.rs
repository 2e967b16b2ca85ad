//! Background care: taking in what was sealed and merged, and deciding what to merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::{Engine, FROZEN_MAX};
use crate::error::Error;
use crate::kind::{Class, DAY_S, Day};
use crate::options::Options;
use crate::segment::{Segment, SegmentId};
use crate::worker::{Done, Job};

/// A head whose day is over is sealed so many seconds later, so that late values join it.
const DAY_GRACE_S: u64 = 900;
/// After a merge that failed, none is tried for so long.
const MERGE_PAUSE_S: u64 = 600;

impl Engine {
    /// Background care: takes in what was sealed and merged, seals a head whose day is over,
    /// starts merges. Call about once a second.
    pub fn maintain(&mut self) -> Result<(), Error> {
        self.health.check()?;
        self.take_results();
        let now_s = self.clock.unix_s();
        let over = self
            .head_day
            .is_some_and(|day| now_s >= (u64::from(day.0) + 1) * u64::from(DAY_S) + DAY_GRACE_S);
        if over && self.frozen.len() < FROZEN_MAX {
            self.rotate()?;
        }
        if self.frozen.is_empty() && !self.merging && now_s >= self.merge_not_before_s {
            let candidates = merge_candidates(&self.segments, self.today(), now_s, &self.options);
            if !candidates.is_empty() {
                self.merging = true;
                self.worker.submit(Job::Merge(candidates));
            }
        }
        Ok(())
    }

    pub(crate) fn take_results(&mut self) {
        while let Some(done) = self.worker.poll() {
            self.take(done);
        }
    }

    pub(crate) fn take(&mut self, done: Done) {
        match done {
            Done::Sealed { seq, segments } => {
                self.frozen.retain(|frozen| frozen.seq != seq);
                Arc::make_mut(&mut self.segments).extend(segments);
                self.stats.seals += 1;
            }
            Done::NotSealed => {}
            Done::Merged { inputs, result } => {
                self.merging = false;
                match result {
                    Ok(segment) => self.replace(&inputs, segment),
                    Err(_) => {
                        self.stats.merge_failures += 1;
                        self.merge_not_before_s = self.clock.unix_s() + MERGE_PAUSE_S;
                    }
                }
            }
        }
    }

    /// Puts a merged segment in the place of its inputs.
    fn replace(&mut self, inputs: &[SegmentId], segment: Arc<Segment>) {
        let present = |id: &SegmentId| self.segments.iter().any(|other| other.id == *id);
        if !inputs.iter().all(present) {
            // Its day was dropped meanwhile.
            self.worker.submit(Job::Remove(vec![segment.path.clone()]));
            return;
        }
        let segments = Arc::make_mut(&mut self.segments);
        let (old, kept): (Vec<_>, Vec<_>) =
            segments.drain(..).partition(|segment| inputs.contains(&segment.id));
        *segments = kept;
        segments.push(segment);
        sort(segments);
        self.stats.merges += 1;
        self.worker.submit(Job::Remove(old.iter().map(|old| old.path.clone()).collect()));
    }
}

/// The order in which segments were written.
pub(crate) fn sort(segments: &mut [Arc<Segment>]) {
    segments.sort_by_key(|segment| (segment.id.last_seq, segment.id.class, segment.id.day));
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
            let fits = segment.footer.rows < options.merge_rows / 2
                && rows + segment.footer.rows <= options.merge_rows;
            if !fits {
                if picked.len() >= fan {
                    break;
                }
                picked.clear();
                rows = 0;
                if segment.footer.rows >= options.merge_rows / 2 {
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
