//! What an escalation does next: a function of the action, the problem and what was done so far. It reads no clock and no
//! database.
//!
//! A step is due one duration after the step before it was *due*, so that delays do not add up. If the server is down for
//! longer than a duration, the missed steps do not follow at once: the next one is due a whole duration after the late one.
//! An escalation that waits for something other than a moment has no due time and costs nothing until an event wakes it.

#[cfg(test)]
pub(crate) mod simulation;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use model::alert::outlook::Pause;
pub(crate) use model::alert::outlook::Waits;
use objects::{EvalType, Withholding};

/// Longest look ahead: steps without an operation that applies count, too.
const LOOKS_MAX: usize = 1_000;

/// See [`Progress::withheld`].
const END: u32 = u32::MAX;

/// Duration of a step if the configured one is not valid.
pub(crate) const DEFAULT_DURATION_S: NonZeroU32 = NonZeroU32::new(3_600).unwrap();

/// An action as it is configured now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Duration of steps without an operation that has its own.
    pub(crate) duration_s: NonZeroU32,
    pub(crate) operations: Vec<StepOperation>,
    /// It has operations for the end of a problem.
    pub(crate) has_recovery: bool,
    /// Waits while the problem is suppressed.
    pub(crate) pauses_suppressed: bool,
    /// Waits while the problem is a symptom.
    pub(crate) pauses_symptoms: bool,
    /// Whether users who got a message get a note when the escalation is cancelled.
    pub(crate) notifies_if_canceled: bool,
}

/// An operation of one or more steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepOperation {
    pub(crate) id: u64,
    /// The first step that has it.
    pub(crate) first: u32,
    /// The last step that has it; `None` = all steps that follow.
    pub(crate) last: Option<u32>,
    /// Its own duration.
    pub(crate) duration_s: Option<NonZeroU32>,
    pub(crate) conditions: Acknowledgement,
}

/// Conditions of an operation on the acknowledgement of the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    pub(crate) combined: EvalType,
    /// What each of them wants the acknowledgement to be.
    pub(crate) wanted: Vec<bool>,
}

/// The problem as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) recovered: bool,
    pub(crate) acknowledged: bool,
    pub(crate) suppressed: Suppressed,
    pub(crate) symptom: bool,
    /// A trigger that its trigger depends on has a problem.
    pub(crate) depends_on_problem: bool,
    /// What spares users the messages that are due.
    pub(crate) calm: Option<Calm>,
    /// It has ended, and its trigger has another open problem. Only for actions that calm flapping triggers.
    pub(crate) reopened: bool,
    /// What the escalation cannot go on without.
    pub(crate) missing: Option<Missing>,
}

/// Whether, and how long, a problem is suppressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suppressed {
    No,
    /// Until this second; nothing else is heard of its end.
    Until(i64),
    /// Until an event ends it.
    UntilEvent,
}

/// Why the messages of a step are withheld, for actions that want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calm {
    /// A more severe problem with equal tags is open.
    Inhibited {
        /// One of them.
        by: u64,
    },
    /// Problems of the trigger mostly end by themselves soon: step 1 waits until this second.
    Transient { until: i64 },
    /// The trigger opens and ends problems all the time: all is withheld until this second.
    Flapping {
        until: i64,
        /// Nobody knows it yet: step 1 tells it.
        first: bool,
    },
}

impl Calm {
    const fn reason(self) -> Withholding {
        match self {
            Self::Inhibited { .. } => Withholding::Inhibited,
            Self::Transient { .. } => Withholding::Transient,
            Self::Flapping { .. } => Withholding::Flapping,
        }
    }

    const fn pause(self) -> Pause {
        match self {
            Self::Inhibited { .. } => Pause::Inhibited,
            Self::Transient { .. } => Pause::Transient,
            Self::Flapping { .. } => Pause::Flapping,
        }
    }

    /// The problem that inhibits.
    pub(crate) const fn inhibitor(self) -> Option<u64> {
        match self {
            Self::Inhibited { by } => Some(by),
            Self::Transient { .. } | Self::Flapping { .. } => None,
        }
    }

    const fn waits(self) -> Waits {
        match self {
            Self::Inhibited { .. } => Waits::Paused,
            Self::Transient { until } | Self::Flapping { until, .. } => Waits::PausedUntil(until),
        }
    }

    /// Whether it concerns an escalation that has come this far.
    const fn holds(self, before: Progress) -> bool {
        match self {
            Self::Inhibited { .. } => true,
            Self::Transient { .. } => before.step == 0,
            Self::Flapping { first, .. } => !first || before.step > 0,
        }
    }

    /// It ends by itself in this second or before it.
    fn is_over(self, at: i64) -> bool {
        matches!(self.waits(), Waits::PausedUntil(until) if until <= at)
    }
}

/// Why an escalation does not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The event, the trigger or the action was deleted.
    Deleted,
    /// The trigger of this name is switched off.
    Trigger(String),
    /// The host of this name is switched off.
    Host(String),
    /// The item with this key is switched off.
    Item(String),
    /// The action of this name is switched off.
    Action(String),
}

/// How far an escalation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The last step that was made; 0 = none.
    pub(crate) step: u32,
    pub(crate) waits: Waits,
    /// The last step whose messages were withheld; 0 = none, [`END`] = those about the end.
    pub(crate) withheld: u32,
    /// A user has a message of it.
    pub(crate) told: bool,
}

/// What to do now, and what to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) orders: Vec<Order>,
    /// `None` = the escalation has ended.
    pub(crate) next: Option<Progress>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// These operations, in this step.
    Step { step: u32, operations: Vec<u64> },
    /// All operations for the end of the problem.
    Recovery,
    /// A note to all users who got a message.
    Cancel(Missing),
    /// The messages of these operations are stored and not sent.
    Withhold { reason: Withholding, step: u32, operations: Vec<u64> },
    /// The messages about the end are stored and not sent yet.
    WithholdEnd(Withholding),
}

impl Progress {
    /// An escalation that starts now.
    pub(crate) fn start(now: i64) -> Self {
        Self { step: 0, waits: Waits::Until(now), withheld: 0, told: false }
    }

    /// The second in which to look again without an event.
    pub(crate) fn due(&self) -> Option<i64> {
        match self.waits {
            Waits::Until(at) | Waits::PausedUntil(at) => Some(at),
            Waits::Paused | Waits::Recovery => None,
        }
    }
}

impl Plan {
    /// The first step that has the operation.
    pub(crate) fn first_step(&self, operation: u64) -> u32 {
        self.operations.iter().find(|one| one.id == operation).map_or(1, |one| one.first)
    }

    /// What is to be done at `now`, seconds since 1970.
    pub(crate) fn look(&self, problem: &Problem, before: Progress, now: i64) -> Turn {
        let end = |orders| Turn { orders, next: None };
        let is_due = before.due().is_some_and(|due| due <= now);
        if let Some(missing) = &problem.missing {
            let stays = !is_due && !problem.recovered && *missing != Missing::Deleted;
            if stays && before.due().is_some() {
                return Turn { orders: Vec::new(), next: Some(before) };
            }
            return end(self.cancel(missing, before));
        }
        let pause = self.pause(problem);
        let is_due = is_due || matches!(before.waits, Waits::Paused | Waits::PausedUntil(_));
        let calm = problem.calm.filter(|calm| calm.holds(before));
        if problem.recovered {
            return match (problem.calm.filter(|_| pause.is_none()), calm) {
                (Some(Calm::Flapping { until, first }), _)
                    if self.has_recovery && (before.told || first && before.step == 0) =>
                {
                    self.hold_end(problem, before, until)
                }
                // It is quiet: the open problem is reported instead.
                _ if before.withheld == END && problem.reopened => end(Vec::new()),
                // Nobody knows the problem, so its end is not reported either.
                (Some(_), Some(calm)) if !before.told => {
                    end(self.withhold(problem, before, calm, is_due))
                }
                _ => end(self.recover(problem, before, pause.is_some(), now)),
            };
        }
        if !is_due {
            return Turn { orders: Vec::new(), next: Some(before) };
        }
        match (pause, calm) {
            (Some(waits), _) => {
                Turn { orders: Vec::new(), next: Some(Progress { waits, ..before }) }
            }
            (None, Some(calm)) => Turn {
                orders: self.withhold(problem, before, calm, is_due),
                next: Some(Progress {
                    waits: calm.waits(),
                    withheld: before.step.saturating_add(1),
                    ..before
                }),
            },
            (None, None) => self.go_on(problem, before, now),
        }
    }

    /// The steps that follow if nothing changes, with the second in which each is due: at most `most`.
    pub(crate) fn forecast(
        &self,
        problem: &Problem,
        from: Progress,
        most: usize,
    ) -> Vec<(i64, u32, Vec<u64>)> {
        let (mut problem, mut progress) = (problem.clone(), from);
        let mut steps = Vec::new();
        for _ in 0..LOOKS_MAX {
            let Some(due) = progress.due().filter(|_| steps.len() < most) else { break };
            if progress.waits == Waits::PausedUntil(due) {
                problem.suppressed = Suppressed::No;
                problem.calm = problem.calm.filter(|calm| !calm.is_over(due));
            }
            let turn = self.look(&problem, progress, due);
            steps.extend(turn.orders.into_iter().filter_map(|order| match order {
                Order::Step { step, operations } => Some((due, step, operations)),
                Order::Recovery
                | Order::Cancel(_)
                | Order::Withhold { .. }
                | Order::WithholdEnd(_) => None,
            }));
            let Some(next) = turn.next else { break };
            progress = next;
        }
        steps
    }

    /// What holds the problem's escalation back.
    pub(crate) fn pauses(&self, problem: &Problem, progress: Progress) -> Vec<Pause> {
        let suppressed = self.pauses_suppressed && problem.suppressed != Suppressed::No;
        let all = [
            (suppressed, Pause::Suppressed),
            (self.pauses_symptoms && problem.symptom, Pause::Symptom),
            (problem.depends_on_problem, Pause::Dependency),
        ];
        let pauses = all.into_iter().filter(|(holds, _)| *holds).map(|(_, pause)| pause);
        let calm = problem.calm.filter(|calm| calm.holds(progress));
        pauses.chain(calm.map(Calm::pause)).collect()
    }

    /// The messages of the next step, once.
    fn withhold(
        &self,
        problem: &Problem,
        before: Progress,
        calm: Calm,
        is_due: bool,
    ) -> Vec<Order> {
        let step = before.step.saturating_add(1);
        let operations = self.operations(problem, step);
        if !is_due || before.withheld >= step || operations.is_empty() {
            return Vec::new();
        }
        vec![Order::Withhold { reason: calm.reason(), step, operations }]
    }

    /// One step, if there is one.
    fn go_on(&self, problem: &Problem, before: Progress, now: i64) -> Turn {
        let mut orders = Vec::new();
        let mut progress = before;
        if self.has_step_after(before.step) {
            let step = before.step.saturating_add(1);
            orders.extend(self.step(problem, step));
            let duration = i64::from(self.duration_of(step).get());
            // After a pause the time counts from now on.
            let due = match before.waits {
                Waits::Until(due) => due.saturating_add(duration),
                _ => now,
            };
            let due = if due <= now { now.saturating_add(duration) } else { due };
            progress = Progress { step, waits: Waits::Until(due), ..before };
        }
        let is_over = !self.has_step_after(progress.step);
        if is_over {
            progress.waits = Waits::Recovery;
        }
        Turn { orders, next: Some(progress).filter(|_| !is_over || self.has_recovery) }
    }

    /// The trigger is flapping: what it has come to is told when it is quiet.
    fn hold_end(&self, problem: &Problem, before: Progress, until: i64) -> Turn {
        let mut orders = Vec::new();
        if before.step == 0 {
            orders.extend(self.step(problem, 1));
        }
        if before.withheld != END {
            orders.push(Order::WithholdEnd(Withholding::Flapping));
        }
        let (step, waits) = (before.step.max(1), Waits::PausedUntil(until));
        Turn { orders, next: Some(Progress { step, waits, withheld: END, ..before }) }
    }

    fn recover(&self, problem: &Problem, before: Progress, paused: bool, now: i64) -> Vec<Order> {
        // The pause held the problem back, so its end is not reported either.
        if paused && !before.told {
            return Vec::new();
        }
        let mut orders = Vec::new();
        // The problem and its end came together: the message about the problem goes first.
        if before.step == 0 && !paused && before.due().is_none_or(|due| due <= now) {
            orders.extend(self.step(problem, 1).filter(|_| self.has_step_after(0)));
        }
        if self.has_recovery {
            orders.push(Order::Recovery);
        }
        orders
    }

    fn cancel(&self, missing: &Missing, before: Progress) -> Vec<Order> {
        let tells = self.notifies_if_canceled && before.told && *missing != Missing::Deleted;
        if tells { vec![Order::Cancel(missing.clone())] } else { Vec::new() }
    }

    /// What the problem makes the escalation wait for.
    fn pause(&self, problem: &Problem) -> Option<Waits> {
        let suppressed = match problem.suppressed {
            Suppressed::No => None,
            Suppressed::Until(at) => Some(Waits::PausedUntil(at)),
            Suppressed::UntilEvent => Some(Waits::Paused),
        };
        let symptom = problem.symptom && self.pauses_symptoms;
        if symptom || problem.depends_on_problem {
            return Some(Waits::Paused);
        }
        suppressed.filter(|_| self.pauses_suppressed)
    }

    /// `None` = no operation of the step applies.
    fn step(&self, problem: &Problem, step: u32) -> Option<Order> {
        let operations = self.operations(problem, step);
        (!operations.is_empty()).then_some(Order::Step { step, operations })
    }

    /// Those of the step that apply.
    fn operations(&self, problem: &Problem, step: u32) -> Vec<u64> {
        let met = |one: &&StepOperation| one.conditions.met(problem.acknowledged);
        self.on(step).filter(met).map(|one| one.id).collect()
    }

    fn on(&self, step: u32) -> impl Iterator<Item = &StepOperation> {
        self.operations
            .iter()
            .filter(move |one| one.first <= step && one.last.is_none_or(|last| step <= last))
    }

    /// The smallest of those of its operations, whether they apply or not.
    fn duration_of(&self, step: u32) -> NonZeroU32 {
        self.on(step).filter_map(|one| one.duration_s).min().unwrap_or(self.duration_s)
    }

    fn has_step_after(&self, step: u32) -> bool {
        self.operations.iter().any(|one| one.last.is_none_or(|last| step < last))
    }
}

impl Acknowledgement {
    fn met(&self, acknowledged: bool) -> bool {
        let fits = |wanted: &bool| *wanted == acknowledged;
        match self.combined {
            EvalType::And => self.wanted.iter().all(fits),
            // All conditions are of one kind: alternatives.
            EvalType::AndOr | EvalType::Or | EvalType::Formula => {
                self.wanted.is_empty() || self.wanted.iter().any(fits)
            }
        }
    }
}
