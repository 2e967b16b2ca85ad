//! Why users get messages about an event, or none, and what comes next: the same reading and the same functions as for
//! the decisions, but nothing is written.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader};
use model::alert::outlook::{Case, OfAction, OnCall, Operation, Outlook, Running, Step, Verdict};

use objects::OperationMode;

use super::{Action, Configured, Event, Look, News, Turn, note};
use crate::conditions::Subject;
use crate::escalation::{Calm, Progress};
use crate::escalator::stored::{self, Escalation};
use crate::recipients::{self, Audience, Fate, Message, Occasion, Recipients};

/// Steps that are shown of an escalation.
const STEPS_MAX: usize = 20;

impl Turn<'_> {
    /// `None` = the event was deleted.
    pub(in crate::escalator) fn outlook(
        &self,
        connection: &mut dyn Reader,
        configured: &mut Configured,
        event: u64,
    ) -> DbResult<Option<Outlook>> {
        let actions = configured.of(connection, self.snapshot, self.now)?;
        let escalations = stored::of_problem(connection, event)?;
        let news = News { opened: vec![event], ..News::default() };
        let mut look = Look::read(self, connection, &actions, &news, &BTreeMap::new())?;
        let Some(event) = look.events.get(&event).cloned() else { return Ok(None) };
        look.see(&event);
        let subject = look.subject(connection, &event)?;
        let of_source = actions.values().filter(|action| action.source == event.source);
        let actions = of_source.map(|action| {
            let escalation = escalations.iter().find(|one| one.action == action.id);
            look.of_action(action, &event, subject.as_deref(), escalation)
        });
        Ok(Some(Outlook { event: event.id, at: self.now, actions: actions.collect() }))
    }
}

impl Look<'_> {
    fn of_action(
        &self,
        action: &Action,
        event: &Event,
        subject: Option<&dyn Subject>,
        escalation: Option<&Escalation>,
    ) -> OfAction {
        let off = (!action.enabled).then_some(action.name.as_str());
        let problem = self.problem(action, event, off);
        let progress = escalation.map(|one| Progress {
            told: self.earlier.told.contains_key(&(action.id, event.id)),
            ..one.progress
        });
        let steps = progress.map(|from| action.plan.forecast(&problem, from, STEPS_MAX));
        let steps = steps.into_iter().flatten();
        let running = escalation.map(|one| Running {
            id: one.id,
            step: one.progress.step,
            waits: one.progress.waits,
            pauses: action.plan.pauses(&problem, one.progress),
            inhibited_by: problem.calm.and_then(Calm::inhibitor),
            stopped: problem.missing.as_ref().map(note).unwrap_or_default(),
        });
        let step = escalation.map_or(0, |one| one.progress.step).saturating_add(1);
        let operations = action.messages.iter().map(|(id, (mode, message))| {
            let step = step.max(action.plan.first_step(*id));
            self.operation(action, event, *id, Then { mode: *mode, step }, message)
        });
        OfAction {
            action: action.id,
            name: action.name.clone(),
            enabled: action.enabled,
            applies: subject.is_some_and(|subject| action.filter.fits(subject)),
            conditions: subject.map(|subject| action.filter.each(subject)).unwrap_or_default(),
            running,
            steps: steps.map(|(at, number, operations)| Step { number, at, operations }).collect(),
            operations: operations.collect(),
        }
    }

    /// Whether each user whom an operation names gets its message.
    fn operation(
        &self,
        action: &Action,
        event: &Event,
        id: u64,
        then: Then,
        message: &Message,
    ) -> Operation {
        let occasion = Occasion {
            source: action.source,
            mode: then.mode,
            severity: self.severity(event),
            now: self.turn.now,
            step: then.step,
            author: None,
            involved: &[],
        };
        let directory = &self.people.directory;
        let recipients = Recipients { directory, globals: &self.globals, occasion };
        let schedules = match &message.to {
            Audience::Named { on_call, .. } => &on_call[..],
            Audience::Involved => &[],
        };
        let on_call = schedules.iter().map(|one| OnCall {
            schedule: one.rota.id,
            name: one.rota.of.name.clone(),
            users: recipients.on_call(one),
        });
        Operation {
            id,
            mode: then.mode,
            to_involved: message.to == Audience::Involved,
            cases: cases(&recipients, message),
            on_call: on_call.collect(),
        }
    }
}

/// Whether each user whom a message names gets it.
pub(super) fn cases(recipients: &Recipients<'_>, message: &Message) -> Vec<Case> {
    let of_user = |user: u64| {
        recipients
            .cases(message, user)
            .into_iter()
            .map(move |case| Case {
                user,
                address: case.address.map(|one| (one.media_type, one.sendto.clone())),
                verdict: verdict(case.verdict),
            })
            .collect::<Vec<_>>()
    };
    recipients.users(&message.to).into_iter().flat_map(of_user).collect()
}

/// When an operation runs.
#[derive(Clone, Copy)]
struct Then {
    mode: OperationMode,
    /// The next one in which it can run.
    step: u32,
}

pub(super) fn verdict(of: recipients::Verdict) -> Verdict {
    match of {
        // The last two show only when the text is made, or the row is written.
        recipients::Verdict::Made(Fate::Send | Fate::Faulty | Fate::Refused) => Verdict::Sent,
        // A gap is no case: it has no user.
        recipients::Verdict::Made(Fate::NoMedia | Fate::NobodyOnCall(_)) => Verdict::NoMedia,
        recipients::Verdict::Made(Fate::MediaTypeDisabled) => Verdict::MediaTypeDisabled,
        recipients::Verdict::Made(Fate::NoText) => Verdict::NoText,
        recipients::Verdict::Silent(silence) => Verdict::Silent(silence),
    }
}
