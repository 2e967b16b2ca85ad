//! What was known at moments of the past.

use std::collections::BTreeMap;

use config::Snapshot;
use config::db::{DbResult, Reader};
use objects::ProblemAction;

use super::{Event, Span};
use crate::calm::{Calming, Course, Known, PastInhibitors};
use crate::escalation::{Calm, Problem, Suppressed};

/// Problems of triggers that are remembered.
const REMEMBERED_MAX: usize = 200_000;

/// What happened to a problem.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) begin: i64,
    pub(super) end: Option<i64>,
    pub(super) updates: Vec<Update>,
}

#[derive(Debug)]
pub(super) struct Update {
    pub(super) at: i64,
    pub(super) user: u64,
    pub(super) actions: u32,
}

impl Life {
    /// Acknowledged at this moment.
    fn is_acknowledged(&self, at: i64) -> bool {
        let of = |update: &&Update| {
            update.at <= at
                && (ProblemAction::Acknowledge.is_in(update.actions)
                    || ProblemAction::Unacknowledge.is_in(update.actions))
        };
        let last = self.updates.iter().rfind(of);
        last.is_some_and(|update| ProblemAction::Acknowledge.is_in(update.actions))
    }

    pub(super) fn has_ended(&self, at: i64) -> bool {
        self.end.is_some_and(|end| end <= at)
    }
}

/// What spares users messages.
#[derive(Debug, Default)]
pub(in crate::escalator) struct Calmed {
    /// Tags that inhibit.
    pub(in crate::escalator) inhibition: Vec<String>,
    pub(in crate::escalator) calming: Option<Calming>,
}

/// What other problems there were.
#[derive(Debug, Default)]
pub(super) struct Past {
    inhibitors: PastInhibitors,
    courses: BTreeMap<u64, Course>,
    /// When the action first sent a message about a problem, by trigger and event.
    told: BTreeMap<(u64, u64), i64>,
}

impl Past {
    /// With the last second of which all is known.
    pub(super) fn read(
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        calmed: &Calmed,
        span: Span,
    ) -> DbResult<(Self, i64)> {
        let names = &calmed.inhibition;
        let (inhibitors, till) =
            PastInhibitors::read(connection, snapshot, names, span.from..=span.till)?;
        Ok((Self { inhibitors, ..Self::default() }, till))
    }

    /// Reads the problems of a trigger, unless they are known.
    pub(super) fn learn(
        &mut self,
        connection: &mut dyn Reader,
        trigger: u64,
        span: Span,
    ) -> DbResult<()> {
        if self.courses.contains_key(&trigger) {
            return Ok(());
        }
        if self.courses.values().map(Course::len).sum::<usize>() > REMEMBERED_MAX {
            self.courses.clear();
        }
        let course = Course::read(connection, trigger, span.from, span.till)?;
        self.courses.insert(trigger, course);
        Ok(())
    }

    /// The action has sent a message about a step of the problem.
    pub(super) fn tell(&mut self, event: &Event, at: i64) {
        self.told.entry((event.trigger(), event.id)).or_insert(at);
    }

    /// The problem as it was, and when the problem that inhibits it ended.
    pub(super) fn problem(
        &self,
        event: &Event,
        life: &Life,
        calmed: &Calmed,
        at: i64,
    ) -> (Problem, Option<i64>) {
        let trigger = event.trigger();
        let inhibitor = self.inhibitors.of(event.severity, &event.tags, &calmed.inhibition, at);
        let history = self.courses.get(&trigger).map(|course| course.at(at));
        let flapping = history.as_ref().and_then(|history| history.flapping(at));
        let since = flapping.and_then(|flapping| flapping.since);
        let known = Known {
            event: event.id,
            opened: life.begin,
            has_ended: life.has_ended(at),
            inhibitor: inhibitor.map(|(by, _)| by),
            history: history.as_ref(),
            flapping,
            is_told: since.is_some_and(|since| self.is_told(trigger, since, at)),
        };
        let calming = calmed.calming.as_ref();
        let calm = known.calm(calming, at);
        let problem = Problem {
            recovered: known.has_ended,
            acknowledged: life.is_acknowledged(at),
            suppressed: Suppressed::No,
            symptom: false,
            depends_on_problem: false,
            calm,
            reopened: known.reopened(calming),
            missing: None,
        };
        let wakes = inhibitor.filter(|_| matches!(calm, Some(Calm::Inhibited { .. })));
        (problem, wakes.map(|(_, until)| until).filter(|until| *until < i64::MAX))
    }

    fn is_told(&self, trigger: u64, since: u64, at: i64) -> bool {
        self.told.range((trigger, since)..=(trigger, u64::MAX)).any(|(_, told)| *told <= at)
    }
}
