//! What spares users the messages about a problem.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader};

use super::{Action, Event, Look, News, Turn};
use crate::calm::{self, Calming, Freed, History, Inhibitors};
use crate::escalation::{Calm, Problem};

/// The problems that hold back messages about these events.
pub(super) fn inhibitors(
    turn: &Turn<'_>,
    connection: &mut dyn Reader,
    actions: &BTreeMap<u64, Action>,
    events: &BTreeMap<u64, Event>,
) -> DbResult<Inhibitors> {
    let enabled = actions.values().filter(|action| action.enabled);
    let names: BTreeSet<&str> =
        enabled.flat_map(|action| &action.inhibition).map(String::as_str).collect();
    let problems = events.values().filter(|event| event.is_of_trigger());
    match problems.map(|event| event.severity).min() {
        Some(least) => Inhibitors::read(connection, turn.snapshot, &names, least),
        None => Ok(Inhibitors::default()),
    }
}

/// The problems that triggers had before, if an action learns from them.
pub(super) fn histories(
    connection: &mut dyn Reader,
    actions: &BTreeMap<u64, Action>,
    events: &BTreeMap<u64, Event>,
) -> DbResult<BTreeMap<u64, History>> {
    if !actions.values().any(|action| action.enabled && action.calming.is_some()) {
        return Ok(BTreeMap::new());
    }
    let triggers = events.values().map(Event::trigger).filter(|trigger| *trigger != 0);
    History::read(connection, &triggers.collect())
}

/// Escalations that may go on because problems ended.
pub(super) fn freed(
    connection: &mut dyn Reader,
    actions: &BTreeMap<u64, Action>,
    news: &News,
) -> DbResult<Vec<Freed>> {
    let enabled = actions.values().filter(|action| action.enabled);
    let inhibited = enabled.map(|action| (action.id, action.inhibition.as_slice()));
    calm::freed(connection, inhibited, &news.ended)
}

/// How much longer a hold is than most problems: their ends take a moment to be known.
const GRACE_S: i64 = 5;

impl Look<'_> {
    /// A problem as an escalation of the action sees it. `off`: the name of the action, which is switched off.
    pub(super) fn problem(&self, action: &Action, event: &Event, off: Option<&str>) -> Problem {
        let problem = self.problems.state(event, self.object(event), off);
        Problem { calm: self.calm(action, event), ..problem }
    }

    fn calm(&self, action: &Action, event: &Event) -> Option<Calm> {
        if !event.is_of_trigger() {
            return None;
        }
        let by = self.inhibitors.of(event.severity, &event.tags, &action.inhibition);
        let inhibited = by.map(|by| Calm::Inhibited { by });
        inhibited.or_else(|| self.transient(action.calming.as_ref()?, event))
    }

    /// The problem may be one of those that end by themselves.
    fn transient(&self, calming: &Calming, event: &Event) -> Option<Calm> {
        let trigger = event.trigger();
        let history = self.histories.get(&trigger).filter(|_| calming.transients)?;
        let within = history.learnt(trigger, event.id).within?;
        let until = i64::from(event.at.clock).saturating_add(within).saturating_add(GRACE_S);
        // A look may come late.
        let holds = match event.recovery {
            0 => self.turn.now < until,
            _ => history.end(event.id).is_some_and(|end| end <= until),
        };
        (holds && within <= calming.max_hold_s).then_some(Calm::Transient { until })
    }
}
