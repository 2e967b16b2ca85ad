//! Scripts that wait, run long or were never run leave the shard: bounded worker threads run them,
//! one value of an item at a time, so that the order of an item's values holds and no script stops
//! another.
//!
//! A shard's [`Desk`] keeps the values behind one in a worker, and gives the shard its results.
//! When it holds much the shard takes no new values for a moment, which is how senders feel it. If
//! that does not help, some script hangs: from then on its own items' values are refused, and the
//! shard goes on. A value in a worker is not stored yet: its sender gets "processed" when it has returned
//! and is written.

mod items;
mod pool;
mod queue;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::Item;
use eval::preproc::{Outcome, State, Step, StepKind};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{ItemId, Payload, Timestamp};
use stdx::ack;
use stdx::clock::SharedClock;
use stdx::queue::Sender;

pub use items::ScriptRunner;
pub(crate) use pool::Pool;

/// Values of one shard that may be away or wait for their turn before it takes no new ones; a long
/// one counts as several.
const HELD_MAX: usize = 4_096;

/// A value counts once more for each so many bytes.
const PORTION_BYTES: usize = 16 << 10;

/// Time for which a shard takes no new values. Scripts that work come back meanwhile.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// After it: values that one item may hold, and all together.
const JAMMED_ITEM_MAX: usize = 16;
const JAMMED_MAX: usize = 4 * HELD_MAX;

const _: () = assert!(JAMMED_ITEM_MAX < HELD_MAX, "one item does not fill a shard");

/// What a script may take of its shard's time. Whose script takes more is run elsewhere from then
/// on.
pub(crate) const SHARD_TIME_MAX: Duration = Duration::from_millis(20);

/// Items known to have slow scripts, and steps known to have quick ones; beyond, all are tried again.
const KNOWN_MAX: usize = 100_000;

/// The threads that all shards share.
pub(crate) fn pool(clock: SharedClock) -> Pool {
    Pool::new(clock, pool::WORKERS_MAX)
}

/// A value on its way to a worker.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) value: Held,
    pub(crate) state: State,
    pub(crate) reply: Sender<Done>,
}

/// A value whose steps have a script.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) item: Arc<Item>,
    pub(crate) payload: Payload,
    pub(crate) at: Timestamp,
    /// Depth in the chain of dependent items.
    pub(crate) depth: usize,
    /// The sender that waits for it to be stored.
    pub(crate) ack: Option<ack::Part>,
}

impl Held {
    fn weight(&self) -> usize {
        1 + self.payload.text_bytes() / PORTION_BYTES
    }
}

/// What a worker made of a value.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) item: Arc<Item>,
    pub(crate) at: Timestamp,
    pub(crate) depth: usize,
    pub(crate) outcome: Outcome,
    /// What the steps remembered before the value, and what they remember with it.
    pub(crate) before: State,
    pub(crate) state: State,
    /// Time of the steps.
    pub(crate) took: Duration,
    pub(crate) ack: Option<ack::Part>,
}

/// The shard's side.
#[derive(Debug)]
pub(crate) struct Desk {
    pool: Arc<Pool>,
    reply: Sender<Done>,
    /// Items with a value away, and the values behind it.
    away: HashMap<ItemId, Away, FixedState>,
    /// Items of the values taken in the current round, one entry a value.
    taken: Vec<ItemId>,
    /// Jobs that found the pool's queue full.
    ready: VecDeque<Job>,
    slow: HashSet<ItemId>,
    /// Steps whose scripts came back quickly, by address: equal items share their steps.
    quick: HashMap<usize, Arc<[Step]>, FixedState>,
    /// By weight.
    held: usize,
    /// Since when as much is held as may be.
    full_since: Option<Duration>,
    /// Values were refused since then.
    refuses: bool,
}

/// An item with a value at a worker.
#[derive(Debug, Default)]
struct Away {
    /// The round that the value came with was refused: its result does not count.
    void: bool,
    /// Of the value at the worker.
    weight: usize,
    behind: VecDeque<Held>,
}

/// One of the steps is a script.
pub(crate) fn has_script(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.kind == StepKind::JavaScript)
}

impl Away {
    fn next(&mut self) -> Option<Held> {
        self.void = false;
        let next = self.behind.pop_front()?;
        self.weight = next.weight();
        Some(next)
    }
}

impl Desk {
    pub(crate) fn new(pool: Arc<Pool>, reply: Sender<Done>) -> Self {
        Self {
            pool,
            reply,
            away: HashMap::default(),
            taken: Vec::new(),
            ready: VecDeque::new(),
            slow: HashSet::new(),
            quick: HashMap::default(),
            held: 0,
            full_since: None,
            refuses: false,
        }
    }

    /// Whether the item's next value has to go to a worker.
    pub(crate) fn wants(&self, item: &Item) -> bool {
        self.away.contains_key(&item.id)
            || self.slow.contains(&item.id)
            || !self.quick.contains_key(&address(&item.steps))
            || item.steps.iter().any(Step::waits)
    }

    /// A worker ran the steps in this time: quick ones need no worker from then on.
    pub(crate) fn ran(&mut self, steps: &Arc<[Step]>, took: Duration) {
        if took < SHARD_TIME_MAX {
            if self.quick.len() >= KNOWN_MAX {
                self.quick.clear();
            }
            self.quick.insert(address(steps), Arc::clone(steps));
        }
    }

    /// The item's script took too long for a shard.
    pub(crate) fn is_slow(&mut self, item: ItemId) {
        if self.slow.len() >= KNOWN_MAX {
            self.slow.clear();
        }
        self.slow.insert(item);
    }

    /// Whether the item may have one more value away or waiting.
    pub(crate) fn has_room(&mut self, item: ItemId) -> bool {
        let Some(since) = self.full_since else { return true };
        let pauses = self.pool.now() < since + PAUSE_MAX;
        let own = self.away.get(&item).map_or(0, |away| 1 + away.behind.len());
        let room = (pauses || own < JAMMED_ITEM_MAX) && self.held < JAMMED_MAX;
        if !room && !self.refuses {
            self.refuses = true;
            tracing::warn!(
                %item,
                "preprocessing scripts hang; refusing values of their items until they have ended"
            );
        }
        room
    }

    /// Whether the shard should take new values.
    pub(crate) fn takes_values(&self) -> bool {
        self.full_since.is_none_or(|since| self.pool.now() >= since + PAUSE_MAX)
    }

    fn hold(&mut self, held: usize) {
        self.held = held;
        if held < HELD_MAX {
            (self.full_since, self.refuses) = (None, false);
        } else if self.full_since.is_none() {
            self.full_since = Some(self.pool.now());
        }
    }

    /// Takes a value; `state` is what the item's steps remember, asked for only if none of its
    /// values is in a worker.
    pub(crate) fn take(&mut self, value: Held, state: impl FnOnce() -> State) {
        let weight = value.weight();
        self.hold(self.held + weight);
        let id = value.item.id;
        self.taken.push(id);
        if let Some(away) = self.away.get_mut(&id) {
            away.behind.push_back(value);
            return;
        }
        self.away.insert(id, Away { weight, ..Away::default() });
        self.send(value, state());
    }

    fn send(&mut self, value: Held, state: State) {
        self.ready.push_back(Job { value, state, reply: self.reply.clone() });
        self.flush();
    }

    /// Sends what there is room for.
    pub(crate) fn flush(&mut self) {
        while let Some(job) = self.ready.pop_front() {
            if let Err(job) = self.pool.submit(job) {
                self.ready.push_front(*job);
                return;
            }
        }
    }

    /// A value came back; the next of its item leaves with what the steps remember now. Returns
    /// the state if nothing took it along.
    pub(crate) fn back(&mut self, item: ItemId, state: State) -> Option<State> {
        let weight = self.away.get(&item).map_or(0, |away| away.weight);
        self.hold(self.held.saturating_sub(weight));
        let left = match self.away.get_mut(&item).and_then(Away::next) {
            Some(next) => {
                self.send(next, state);
                None
            }
            None => {
                self.away.remove(&item);
                Some(state)
            }
        };
        self.flush();
        left
    }

    /// Forgets which values the round brought: they count.
    pub(crate) fn keep_round(&mut self) {
        self.taken.clear();
    }

    /// The values that the round brought do not count: their senders send them again.
    pub(crate) fn refuse_round(&mut self) {
        for item in std::mem::take(&mut self.taken) {
            let Some(away) = self.away.get_mut(&item) else { continue };
            match away.behind.pop_back() {
                Some(value) => self.hold(self.held.saturating_sub(value.weight())),
                None => away.void = true,
            }
        }
    }

    /// Whether the result of the item's value in a worker is to be discarded.
    pub(crate) fn is_void(&self, item: ItemId) -> bool {
        self.away.get(&item).is_some_and(|away| away.void)
    }

    /// Values that wait or are in a worker, by weight.
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}

fn address(steps: &Arc<[Step]>) -> usize {
    Arc::as_ptr(steps).cast::<()>().addr()
}
