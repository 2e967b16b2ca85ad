//! What spares users the messages about a problem.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader};

use model::alert::learnt::Flapping;

use super::{About, Action, Event, Look, News, Problems, Turn};
use crate::calm::{self, Calming, Freed, History, Inhibitors};
use crate::escalation::{Calm, Problem};
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

/// How much longer a hold is than most problems: their ends take a moment to be known.
const GRACE_S: i64 = 5;

impl Look<'_> {
    /// A problem as an escalation of the action sees it. `off`: the name of the action, which is switched off.
    pub(super) fn problem(&self, action: &Action, event: &Event, off: Option<&str>) -> Problem {
        let problem = self.problems.states.state(event, self.object(event), off);
        let reopened = action.calming.is_some_and(|calming| calming.flapping)
            && event.recovery != 0
            && self.history(event).is_some_and(|history| history.is_open_again(event.id));
        Problem { calm: self.calm(action, event), reopened, ..problem }
    }

    /// What the messages of a step are about.
    pub(super) fn about_step(&mut self, action: &Action, event: &Event, step: u32) -> About {
        let about = About::problem(event, step);
        let is_told =
            action.calming.and_then(|one| self.flapping(action.id, &one, event)).is_some();
        let flapping = self.problems.histories.flapping.get(&event.trigger()).filter(|_| is_told);
        let Some(changes) = flapping.map(|flapping| flapping.changes) else { return about };
        self.problems.histories.told.insert((action.id, event.trigger()));
        about.flapping(changes)
    }

    fn history(&self, event: &Event) -> Option<&History> {
        self.problems.histories.of_trigger.get(&event.trigger())
    }

    fn calm(&self, action: &Action, event: &Event) -> Option<Calm> {
        if !event.is_of_trigger() {
            return None;
        }
        let by = self.problems.inhibitors.of(event.severity, &event.tags, &action.inhibition);
        let inhibited = by.map(|by| Calm::Inhibited { by });
        let calming = action.calming.as_ref();
        inhibited
            .or_else(|| self.flapping(action.id, calming?, event))
            .or_else(|| self.transient(calming?, event))
    }

    fn flapping(&self, action: u64, calming: &Calming, event: &Event) -> Option<Calm> {
        let trigger = event.trigger();
        let flapping =
            self.problems.histories.flapping.get(&trigger).filter(|_| calming.flapping)?;
        // Those before it are told as usual.
        if flapping.since.is_some_and(|since| event.id < since) {
            return None;
        }
        let is_known =
            flapping.since.is_none() || self.problems.histories.told.contains(&(action, trigger));
        Some(Calm::Flapping { until: flapping.until, first: !is_known })
    }

    /// The problem may be one of those that end by themselves.
    fn transient(&self, calming: &Calming, event: &Event) -> Option<Calm> {
        let trigger = event.trigger();
        let history = self.history(event).filter(|_| calming.transients)?;
        let within = history.learnt(trigger, event.id, self.turn.now).within?;
        let until = i64::from(event.at.clock).saturating_add(within).saturating_add(GRACE_S);
        // A look may come late.
        let holds = match event.recovery {
            0 => self.turn.now < until,
            _ => history.end(event.id).is_some_and(|end| end <= until),
        };
        (holds && within <= calming.max_hold_s).then_some(Calm::Transient { until })
    }
}
