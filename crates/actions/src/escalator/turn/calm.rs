//! What spares users the messages about a problem.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader};

use super::{Action, Event, Look, News, Turn};
use crate::calm::{self, Freed, Inhibitors};
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
        by.map(|by| Calm::Inhibited { by })
    }
}
