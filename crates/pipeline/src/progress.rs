//! How far findings have come. A mark behind them tells the writer of events up to when they are
//! complete. After a crash, triggers with values that are younger than the last written mark are
//! evaluated once, because their events may not have been written.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{FindingsMark, ItemId, Timestamp, TriggerFinding, TriggerId, UnixSeconds, Unwritten};

use crate::command::PeerMessage;
use crate::core::{Core, send};
use crate::triggers::Due;

/// A mark costs a row of the configuration database, seconds.
const MARK_EVERY_S: u64 = 10;

/// What a shard remembers of that.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Values were kept since the last mark.
    news: bool,
    /// The second of the next mark.
    next_s: u64,
    catch_up: Option<CatchUp>,
}

/// What is left of a crash.
#[derive(Debug)]
struct CatchUp {
    since: UnixSeconds,
    /// As of when triggers have been evaluated, before the crash or since the start.
    evaluated: HashMap<TriggerId, Timestamp, FixedState>,
    due: Vec<Due>,
    /// For triggers of other shards, by shard.
    elsewhere: Vec<Vec<Due>>,
    /// This shard, and others, that have not looked at all their items.
    left: usize,
}

impl Progress {
    /// For one of `shards` shards.
    pub(crate) fn new(unwritten: Option<Unwritten>, shards: usize) -> Self {
        let catch_up = unwritten.map(|unwritten| CatchUp {
            since: unwritten.since,
            evaluated: unwritten.events.into_iter().collect(),
            due: Vec::new(),
            elsewhere: (0..shards).map(|_| Vec::new()).collect(),
            left: shards,
        });
        Self { news: true, next_s: 0, catch_up }
    }

    /// Whether values from before the crash are still to be evaluated.
    pub(crate) fn is_behind(&self) -> bool {
        self.catch_up.is_some()
    }

    pub(crate) fn kept(&mut self) {
        self.news = true;
    }

    /// The next values may be older than the last mark.
    pub(crate) fn clock_set_back(&mut self) {
        (self.news, self.next_s) = (true, 0);
    }

    /// A trigger was evaluated.
    pub(crate) fn evaluated(&mut self, trigger: TriggerId, at: Timestamp) {
        if let Some(catch_up) = &mut self.catch_up {
            let newest = catch_up.evaluated.entry(trigger).or_insert(at);
            *newest = at.max(*newest);
        }
    }

    /// Another shard has looked at all its items.
    pub(crate) fn told(&mut self, dues: Vec<Due>) {
        if let Some(catch_up) = &mut self.catch_up {
            debug_assert!(catch_up.left > 0, "BUG: a shard reports its items twice after a crash");
            catch_up.due.extend(dues);
            catch_up.left = catch_up.left.saturating_sub(1);
        }
    }
}

impl Core {
    /// Once a second.
    pub(crate) fn mark_findings(&mut self, now_s: u64) {
        if now_s >= self.progress.next_s {
            self.mark(now_s);
        }
    }

    /// Marks that everything is told which was found up to now, or up to what waits for others. There
    /// is no mark as long as values from before a crash are to be looked at.
    pub(crate) fn mark(&mut self, now_s: u64) {
        let progress = &mut self.progress;
        if progress.catch_up.is_some() {
            return;
        }
        progress.next_s = now_s + MARK_EVERY_S;
        let news = std::mem::take(&mut progress.news);
        let (shard, shards) = (self.place.index, self.place.shards);
        let now_s = u32::try_from(now_s).unwrap_or(u32::MAX);
        let at_s = self.triggers.oldest_postponed().map_or(now_s, |at| at.clock.min(now_s));
        let at = UnixSeconds(at_s);
        self.findings.send(TriggerFinding::Mark(FindingsMark { shard, shards, at, news }));
    }

    /// The newest value of an item, after a start.
    pub(crate) fn look_at_newest(&mut self, item: ItemId, at: Timestamp) {
        let Some(catch_up) = &mut self.progress.catch_up else { return };
        if at.second() < catch_up.since {
            return;
        }
        let Some(item) = self.snapshot.items.get(&item) else { return };
        for trigger in &item.triggers {
            let Some(facts) = self.snapshot.triggers.get(trigger) else { continue };
            let due = Due { turn: 0, trigger: *trigger, at, item: item.id };
            match self.place.evaluator(&self.snapshot, facts) {
                Some(shard) if shard == self.place.index => catch_up.due.push(due),
                Some(shard) => {
                    if let Some(dues) = catch_up.elsewhere.get_mut(shard) {
                        dues.push(due);
                    }
                }
                None => {}
            }
        }
    }

    /// All items of this shard have been looked at.
    pub(crate) fn looked_at_all(&mut self) {
        let Some(catch_up) = &mut self.progress.catch_up else { return };
        debug_assert!(catch_up.left > 0, "BUG: a shard looks at its items twice after a crash");
        for (shard, dues) in std::mem::take(&mut catch_up.elsewhere).into_iter().enumerate() {
            send(&mut self.peers, shard, PeerMessage::Unevaluated(dues));
        }
        catch_up.left = catch_up.left.saturating_sub(1);
        self.catch_up();
    }

    /// Evaluates what may not have been, once all shards have told of their items.
    pub(crate) fn catch_up(&mut self) {
        let Some(catch_up) = self.progress.catch_up.take_if(|catch_up| catch_up.left == 0) else {
            return;
        };
        let CatchUp { mut due, evaluated, .. } = catch_up;
        due.retain(|due| evaluated.get(&due.trigger).is_none_or(|newest| due.at > *newest));
        if !due.is_empty() {
            tracing::info!(values = due.len(), "evaluating values from shortly before the crash");
        }
        self.evaluate_queue(&mut due);
    }
}
