//! What spares users the messages about a problem.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader};

use model::alert::learnt::Flapping;

use super::{About, Action, Event, Look, News, Problems, Turn};
use crate::calm::{self, Freed, History, Inhibitors, Known};
use crate::escalation::Problem;
use crate::escalator::stored;

/// What is known of problems.
pub(super) struct Watched {
    pub(super) states: Problems,
    inhibitors: Inhibitors,
    histories: Histories,
}

impl Watched {
    /// With what spares users messages about these events.
    pub(super) fn read(
        turn: &Turn<'_>,
        connection: &mut dyn Reader,
        actions: &BTreeMap<u64, Action>,
        events: &BTreeMap<u64, Event>,
        states: Problems,
    ) -> DbResult<Self> {
        let inhibitors = inhibitors(turn, connection, actions, events)?;
        let histories = histories(turn, connection, actions, events)?;
        Ok(Self { states, inhibitors, histories })
    }
}

/// The problems that hold back messages about these events.
fn inhibitors(
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

/// The problems that triggers had before.
#[derive(Debug, Default)]
struct Histories {
    of_trigger: BTreeMap<u64, History>,
    flapping: BTreeMap<u64, Flapping>,
    /// Actions that have told users of a flapping trigger.
    told: BTreeSet<(u64, u64)>,
}

/// Those of the events' triggers, if an action learns from them.
fn histories(
    turn: &Turn<'_>,
    connection: &mut dyn Reader,
    actions: &BTreeMap<u64, Action>,
    events: &BTreeMap<u64, Event>,
) -> DbResult<Histories> {
    let mut calming = actions.values().filter(|action| action.enabled);
    if !calming.any(|action| action.calming.is_some()) {
        return Ok(Histories::default());
    }
    let triggers = events.values().map(Event::trigger).filter(|trigger| *trigger != 0);
    let of_trigger = History::read(connection, &triggers.collect())?;
    let flapping = |(trigger, history): (&u64, &History)| {
        history.flapping(turn.now).map(|flapping| (*trigger, flapping))
    };
    let flapping: BTreeMap<u64, Flapping> = of_trigger.iter().filter_map(flapping).collect();
    let mut trigger_of = BTreeMap::new();
    for (trigger, since) in flapping.iter().filter_map(|(id, one)| Some((id, one.since?))) {
        let history = of_trigger.get(trigger);
        let problems = history.into_iter().flat_map(|history| history.since(since));
        trigger_of.extend(problems.map(|problem| (problem, *trigger)));
    }
    let sent = stored::sent_steps(connection, &Vec::from_iter(trigger_of.keys().copied()))?;
    let told = |(action, event): (u64, u64)| Some((action, *trigger_of.get(&event)?));
    let told = sent.into_iter().filter_map(told).collect();
    Ok(Histories { of_trigger, flapping, told })
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
        let problem = self.problems.states.state(event, self.object(event), off);
        let known = self.known(action, event);
        let calming = action.calming.as_ref();
        let calm = known.calm(calming, self.turn.now).filter(|_| event.is_of_trigger());
        Problem { calm, reopened: known.reopened(calming), ..problem }
    }

    /// What the messages of a step are about.
    pub(super) fn about_step(&mut self, action: &Action, event: &Event, step: u32) -> About {
        let about = About::problem(event, step);
        let known = self.known(action, event);
        let is_told = action.calming.and_then(|one| known.flapping(&one)).is_some();
        let Some(changes) = known.flapping.filter(|_| is_told).map(|one| one.changes) else {
            return about;
        };
        self.problems.histories.told.insert((action.id, event.trigger()));
        about.flapping(changes)
    }

    fn known(&self, action: &Action, event: &Event) -> Known<'_> {
        let trigger = event.trigger();
        let histories = &self.problems.histories;
        Known {
            event: event.id,
            opened: event.at.clock.into(),
            has_ended: event.recovery != 0,
            inhibitor: self.problems.inhibitors.of(event.severity, &event.tags, &action.inhibition),
            history: histories.of_trigger.get(&trigger),
            flapping: histories.flapping.get(&trigger).copied(),
            is_told: histories.told.contains(&(action.id, trigger)),
        }
    }
}
