//! Stage 5: triggers. Only those that name an item with a new value, each once per turn, and
//! those that change with time.

mod dependencies;
mod verdict;

use std::sync::Arc;

use config::snapshot::{Function, Trigger, TriggerRecovery};
use eval::func::{Timer, is_date_function};
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use model::{ItemId, Timestamp, TriggerFinding, TriggerId, TriggerState};

use crate::command::PeerMessage;
use crate::core::Core;
use crate::fault::{Of, contained};
use crate::functions::Compiler;
use crate::texts::{self, Texts};
use crate::wheel::{Wheel, next_spread};
pub(crate) use verdict::Cause;
use verdict::Verdict;

/// Evaluations of one trigger that wait for another shard; of more the newest stays.
const POSTPONED_MAX: usize = 64;
/// Triggers that change with time are evaluated this often.
const TIMER_S: u64 = 30;
/// Trend functions see an hour when all its trends are written: that long after its end, spread
/// over the time that is left of the next.
const TREND_AFTER_S: u64 = 3_060;
const TREND_SPREAD_S: u64 = 500;

/// A trigger that is not in the state every trigger begins in.
#[derive(Debug, Default)]
struct Known {
    problem: bool,
    error: Box<str>,
}

/// States and timers of this shard's triggers.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    known: HashMap<TriggerId, Known, FixedState>,
    /// Triggers of other shards that have a problem.
    elsewhere: HashSet<TriggerId, FixedState>,
    wheel: Wheel<TriggerId>,
    /// The second at which each timed trigger is due; other entries of the wheel are stale.
    due: HashMap<TriggerId, u64, FixedState>,
    /// Evaluations that wait for values of other shards, in the order in which they were due.
    postponed: HashMap<TriggerId, Vec<(Timestamp, Cause)>, FixedState>,
    levels: dependencies::Levels,
    /// Buffer of a round.
    queue: Vec<Due>,
}

/// An evaluation that a value asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    /// Triggers see values one after another.
    pub(crate) turn: u16,
    pub(crate) trigger: TriggerId,
    pub(crate) at: Timestamp,
    /// Whose value it is for.
    pub(crate) item: ItemId,
}

/// Which timer a trigger needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clocked {
    No,
    Hourly,
    HalfMinute,
}

impl Triggers {
    pub(crate) fn state(&self, trigger: TriggerId) -> TriggerState {
        let problem = self.known.get(&trigger).is_some_and(|known| known.problem);
        if problem { TriggerState::Problem } else { TriggerState::Ok }
    }

    pub(crate) fn error(&self, trigger: TriggerId) -> &str {
        self.known.get(&trigger).map_or("", |known| &known.error)
    }

    fn in_problem(&self, trigger: TriggerId) -> bool {
        self.state(trigger) == TriggerState::Problem || self.elsewhere.contains(&trigger)
    }

    /// The oldest moment whose evaluation waits for values of other shards.
    pub(crate) fn oldest_postponed(&self) -> Option<Timestamp> {
        self.postponed.values().flatten().map(|(at, _)| *at).min()
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn set_state(&mut self, trigger: TriggerId, state: TriggerState) {
        self.change(trigger, |known| known.problem = state == TriggerState::Problem);
    }

    pub(crate) fn set_error(&mut self, trigger: TriggerId, error: &str) {
        self.change(trigger, |known| known.error = error.into());
    }

    fn change(&mut self, trigger: TriggerId, change: impl FnOnce(&mut Known)) {
        let known = self.known.entry(trigger).or_default();
        change(known);
        if !known.problem && known.error.is_empty() {
            self.known.remove(&trigger);
        }
    }

    /// Takes over what another shard says of its trigger.
    pub(crate) fn set_elsewhere(&mut self, trigger: TriggerId, state: TriggerState) {
        match state {
            TriggerState::Problem => self.elsewhere.insert(trigger),
            TriggerState::Ok => self.elsewhere.remove(&trigger),
        };
    }

    /// This shard evaluates the trigger from now on, or another does. Returns the error of one that
    /// leaves: its new shard has to know it.
    pub(crate) fn move_to(&mut self, trigger: TriggerId, own: bool) -> Option<Box<str>> {
        if own {
            if self.elsewhere.remove(&trigger) {
                self.set_state(trigger, TriggerState::Problem);
            }
            return None;
        }
        self.due.remove(&trigger);
        self.postponed.remove(&trigger);
        let known = self.known.remove(&trigger)?;
        if known.problem {
            self.elsewhere.insert(trigger);
        }
        Some(known.error).filter(|error| !error.is_empty())
    }

    /// Evaluations that waited.
    fn postpone(&mut self, trigger: TriggerId, at: Timestamp, cause: Cause) {
        let waiting = self.postponed.entry(trigger).or_default();
        if waiting.len() == POSTPONED_MAX {
            waiting.pop();
        }
        waiting.push((at, cause));
    }

    /// Every timed trigger is to be clocked again.
    pub(crate) fn stop_clocks(&mut self) {
        self.due.clear();
        self.wheel = Wheel::default();
    }

    /// For a new configuration.
    pub(crate) fn forget_levels(&mut self) {
        self.levels.clear();
    }

    pub(crate) fn forget(&mut self, trigger: TriggerId) {
        self.known.remove(&trigger);
        self.postponed.remove(&trigger);
        self.elsewhere.remove(&trigger);
        self.due.remove(&trigger);
    }

    /// Forgets triggers that are gone.
    pub(crate) fn retain(&mut self, exists: impl Fn(TriggerId) -> bool) {
        self.known.retain(|id, _| exists(*id));
        self.elsewhere.retain(|id| exists(*id));
        self.due.retain(|id, _| exists(*id));
        self.postponed.retain(|id, _| exists(*id));
    }
}

fn next_due(clocked: Clocked, now: u64, trigger: TriggerId) -> Option<u64> {
    match clocked {
        Clocked::No => None,
        Clocked::HalfMinute => Some(next_spread(now, TIMER_S, trigger.0)),
        Clocked::Hourly => {
            let phase = TREND_AFTER_S + trigger.0.wrapping_mul(0x9E37_79B9) % TREND_SPREAD_S;
            let at = now - now % 3_600 + phase;
            Some(if at > now { at } else { at + 3_600 })
        }
    }
}

impl Core {
    /// Puts a trigger into (or takes it out of) the wheel.
    pub(crate) fn clock_trigger(&mut self, trigger: &Trigger, now: u64) {
        let mut clocked = Clocked::No;
        for expression in trigger.expressions() {
            if expression.functions().iter().any(|name| is_date_function(name)) {
                clocked = Clocked::HalfMinute;
            }
        }
        for function in &trigger.functions {
            if let Ok(function) = &*self.compiler.compile(function) {
                match function.timer() {
                    Timer::HalfMinute => clocked = Clocked::HalfMinute,
                    Timer::Trend(_) if clocked == Clocked::No => clocked = Clocked::Hourly,
                    Timer::Trend(_) | Timer::None => {}
                }
            }
        }
        match next_due(clocked, now, trigger.id) {
            Some(second) => {
                if self.triggers.due.insert(trigger.id, second) != Some(second) {
                    self.triggers.wheel.add(second, trigger.id);
                }
            }
            None => drop(self.triggers.due.remove(&trigger.id)),
        }
    }

    /// Evaluates a trigger that lacked something which has come now.
    pub(crate) fn evaluate_again(&mut self, id: TriggerId, at: Timestamp, cause: Cause) {
        let Some(trigger) = self.snapshot.triggers.get(&id).cloned() else { return };
        if trigger.enabled && self.evaluates(&trigger) {
            self.evaluate(&trigger, at, cause);
        }
    }

    /// Values of an item of another shard have come: evaluates the triggers that waited for them, and
    /// no others. What was evaluated before a restart is not evaluated again.
    pub(crate) fn evaluate_postponed(&mut self, item: ItemId) {
        let Some(facts) = self.snapshot.items.get(&item).cloned() else { return };
        for id in &facts.triggers {
            for (at, cause) in self.triggers.postponed.remove(id).unwrap_or_default() {
                self.evaluate_again(*id, at, cause);
            }
        }
    }

    /// Evaluates what the round's values ask for, turn by turn.
    pub(crate) fn evaluate_round(&mut self) {
        let mut queue = std::mem::take(&mut self.triggers.queue);
        for job in &self.round.jobs {
            let item = &self.slots.get(job.slot).item;
            queue.extend(item.triggers.iter().map(|trigger| Due {
                turn: job.turn,
                trigger: *trigger,
                at: job.at,
                item: item.id,
            }));
        }
        self.evaluate_queue(&mut queue);
        queue.clear();
        queue.shrink_to(65_536);
        self.triggers.queue = queue;
    }

    /// Evaluates triggers that name items of other shards, for samples that these sent.
    pub(crate) fn evaluate_items(&mut self, items: impl Iterator<Item = (ItemId, Timestamp)>) {
        let mut queue = Vec::new();
        let mut turn = 0_u16;
        for (item, at) in items {
            let Some(facts) = self.snapshot.items.get(&item) else { continue };
            let dues =
                facts.triggers.iter().map(|trigger| Due { turn, trigger: *trigger, at, item });
            queue.extend(dues);
            turn = turn.saturating_add(1);
        }
        self.evaluate_queue(&mut queue);
    }

    pub(crate) fn evaluate_queue(&mut self, queue: &mut [Due]) {
        queue.sort_unstable_by_key(|due| (due.turn, due.trigger, due.at));
        let turns = queue.chunk_by(|a, b| a.turn == b.turn);
        let mut ready: Vec<(usize, Arc<Trigger>, Timestamp, Cause)> = Vec::new();
        for turn in turns {
            let mut by_level = false;
            for dues in turn.chunk_by(|a, b| a.trigger == b.trigger) {
                let (Some(first), Some(last)) = (dues.first(), dues.last()) else { continue };
                let Some(trigger) = self.snapshot.triggers.get(&first.trigger) else { continue };
                if !trigger.enabled || !self.evaluates(trigger) {
                    continue;
                }
                let level = self.triggers.levels.of(&self.snapshot, trigger);
                by_level |= level > 0;
                ready.push((level, Arc::clone(trigger), last.at, cause_of(trigger, dues)));
            }
            if by_level {
                ready.sort_by_key(|(level, ..)| *level);
            }
            for (_, trigger, at, cause) in ready.drain(..) {
                self.evaluate(&trigger, at, cause);
            }
        }
    }

    /// Evaluates triggers whose time has come.
    pub(crate) fn evaluate_timed(&mut self, now: u64) {
        let at = Timestamp::from_s(u32::try_from(now).unwrap_or(u32::MAX));
        while let Some((second, id)) = self.triggers.wheel.pop(now) {
            if self.triggers.due.get(&id) != Some(&second) {
                continue;
            }
            self.triggers.due.remove(&id);
            let Some(trigger) = self.snapshot.triggers.get(&id).cloned() else { continue };
            if !trigger.enabled || !self.evaluates(&trigger) {
                continue;
            }
            self.clock_trigger(&trigger, now);
            self.evaluate(&trigger, at, Cause::Problem);
        }
    }

    /// Whether this shard evaluates the trigger.
    pub(crate) fn evaluates(&self, trigger: &Trigger) -> bool {
        self.place.evaluator(&self.snapshot, trigger) == Some(self.place.index)
    }

    fn evaluate(&mut self, trigger: &Trigger, at: Timestamp, cause: Cause) {
        let waits = |core: &Self, item: ItemId| !core.foreign.is_ready(item);
        if trigger.functions.iter().any(|function| waits(self, function.item)) {
            self.triggers.postpone(trigger.id, at, cause);
            return;
        }
        self.evaluations += 1;
        self.progress.evaluated(trigger.id, at);
        let state = self.triggers.state(trigger.id);
        let verdict = self.verdict(trigger, state, at, cause);
        if self.ask_for_trends(trigger.id, at, cause) {
            // Evaluated again when the trends are here.
            return;
        }
        let partial = |function: &Function| !self.foreign.is_whole(function.item);
        if !matches!(verdict, Verdict::Unknown(_)) {
            // What waits is older than this and must not override it.
            self.triggers.postponed.remove(&trigger.id);
        } else if trigger.functions.iter().any(partial) {
            self.triggers.postpone(trigger.id, at, cause);
        }
        let error = match &verdict {
            Verdict::Unknown(reason) => reason.as_str(),
            _ => "",
        };
        if self.triggers.error(trigger.id) != error {
            let error = error.to_owned();
            let changes = self.triggers.error(trigger.id).is_empty() != error.is_empty();
            let is_wanted = changes && self.snapshot.internal_actions;
            let tags = if is_wanted { self.tags(trigger, at) } else { Vec::new() };
            self.triggers.set_error(trigger.id, &error);
            self.find(TriggerFinding::State { trigger: trigger.id, at, error, tags });
        }
        let next = match verdict {
            Verdict::Problem => TriggerState::Problem,
            Verdict::Ok => TriggerState::Ok,
            Verdict::Keep | Verdict::Unknown(_) => return,
        };
        let in_problem = |id: TriggerId| self.triggers.in_problem(id);
        if dependencies::silenced(&self.snapshot, trigger, &in_problem) {
            return;
        }
        self.change(trigger, state, next, at);
    }

    fn verdict(
        &mut self,
        trigger: &Trigger,
        state: TriggerState,
        at: Timestamp,
        cause: Cause,
    ) -> Verdict {
        let mut evaluator = self.evaluator();
        let work = || match trigger.invalid.as_ref() {
            Some(reason) => Verdict::Unknown(reason.to_string()),
            None => match evaluator.impossible(trigger) {
                Some(reason) => Verdict::Unknown(reason),
                None => verdict::verdict(trigger, state, cause, &mut |expression| {
                    evaluator.trigger(trigger, state, expression, at)
                }),
            },
        };
        contained(Of::Trigger(trigger.id.0), work).unwrap_or_else(|error| {
            self.doubt_caches(trigger);
            Verdict::Unknown(error)
        })
    }

    /// An evaluation broke off: what it may have left half changed is made again.
    fn doubt_caches(&mut self, trigger: &Trigger) {
        self.compiler = Compiler::default();
        trigger.functions.iter().for_each(|function| self.cache.clear(function.item));
    }

    fn change(&mut self, trigger: &Trigger, from: TriggerState, to: TriggerState, at: Timestamp) {
        let now = Timestamp::from_unix(self.clock.unix());
        let mut evaluator = self.evaluator();
        let texts = || texts::of_event(&mut evaluator, trigger, at, now);
        let texts = contained(Of::Trigger(trigger.id.0), texts).unwrap_or_else(|error| {
            self.doubt_caches(trigger);
            Texts { name: trigger.description.to_string(), opdata: error, tags: Vec::new() }
        });
        self.triggers.set_state(trigger.id, to);
        let (id, name, tags) = (trigger.id, texts.name, texts.tags);
        self.find(match to {
            TriggerState::Problem => {
                let opdata = texts.opdata;
                TriggerFinding::Problem { trigger: id, at, name, opdata, tags }
            }
            TriggerState::Ok => TriggerFinding::Recovery { trigger: id, at, name, tags },
        });
        if from != to {
            self.tell_peers(|| PeerMessage::TriggerState { trigger: id, state: to });
        }
    }

    /// Tags of an internal event.
    fn tags(&mut self, trigger: &Trigger, at: Timestamp) -> Vec<(String, String)> {
        let now = Timestamp::from_unix(self.clock.unix());
        let mut evaluator = self.evaluator();
        let tags = || texts::tags_of(&mut evaluator, trigger, at, now);
        contained(Of::Trigger(trigger.id.0), tags).unwrap_or_else(|_| {
            self.doubt_caches(trigger);
            Vec::new()
        })
    }

    fn find(&mut self, finding: TriggerFinding) {
        self.found += 1;
        self.findings.send(finding);
    }
}

/// Values of items that only the recovery expression names cannot open a problem.
fn cause_of(trigger: &Trigger, dues: &[Due]) -> Cause {
    let TriggerRecovery::RecoveryExpression(_) = &trigger.recovery else { return Cause::Problem };
    let ids = trigger.expression.function_ids();
    let in_problem = |item: ItemId| {
        let named = trigger.functions.iter().filter(|f| f.item == item);
        named.into_iter().any(|f| ids.iter().any(|(id, _)| *id == f.id.0))
    };
    if dues.iter().any(|due| in_problem(due.item)) { Cause::Problem } else { Cause::Recovery }
}
