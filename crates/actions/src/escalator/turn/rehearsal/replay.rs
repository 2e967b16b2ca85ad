//! One problem from its beginning on.

use model::alert::outlook::{Case, Silence, Verdict};
use objects::{OperationMode, Withholding};

use super::super::outlook::{cases, verdict};
use super::notes::{Note, Notes, What};
use super::past::{Calmed, Life, Past, Update};
use super::{Action, Event, Look};
use crate::escalation::{Order, Progress};
use crate::recipients::{self, Audience, Draft, Involved, Message, Occasion, Recipients, Text};

pub(super) struct Replay<'a> {
    pub(super) notes: &'a mut Notes,
    pub(super) past: &'a mut Past,
    pub(super) look: &'a Look<'a>,
    pub(super) action: &'a Action,
    pub(super) calmed: &'a Calmed,
    pub(super) event: &'a Event,
    /// Number of the problem.
    pub(super) problem: usize,
    pub(super) told: Vec<Involved>,
}

/// When a message is said, and of what.
#[derive(Clone, Copy)]
struct Moment {
    at: i64,
    mode: OperationMode,
    step: u32,
    /// Of the update.
    author: Option<u64>,
    withheld: Option<Withholding>,
}

impl Moment {
    const fn step(step: u32, at: i64) -> Self {
        Self { at, mode: OperationMode::Problem, step, author: None, withheld: None }
    }

    const fn end(at: i64) -> Self {
        Self { mode: OperationMode::Recovery, ..Self::step(1, at) }
    }
}

impl Replay<'_> {
    pub(super) fn run(mut self, life: &Life) {
        let mut updates = life.updates.iter().peekable();
        let mut progress = Progress::start(life.begin);
        // When the problem that inhibits this one ends.
        let mut free = None;
        let mut has_ended = false;
        loop {
            let end = life.end.filter(|_| !has_ended);
            let next = [progress.due(), end, free].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= self.notes.till) else { break };
            while let Some(update) = updates.next_if(|update| update.at < at) {
                self.update(update);
            }
            has_ended = life.has_ended(at);
            progress.told = self.told.iter().any(|one| one.address.is_some());
            let (problem, until) = self.past.problem(self.event, life, self.calmed, at);
            free = until;
            let turn = self.action.plan.look(&problem, progress, at);
            self.note(Moment::step(progress.step, at), 0, None, What::Nothing);
            for order in turn.orders {
                self.obey(&order, at);
            }
            let Some(next) = turn.next else { break };
            progress = next;
        }
        let till = self.notes.till;
        for update in updates.take_while(|update| update.at <= till) {
            self.update(update);
        }
    }

    fn obey(&mut self, order: &Order, at: i64) {
        let action = self.action;
        let messages = |operations: &[u64]| {
            let messages = operations.iter().filter_map(|id| action.messages.get(id));
            Vec::from_iter(messages.map(|(_, message)| message))
        };
        let ends = || Vec::from_iter(action.of_mode(OperationMode::Recovery));
        let (moment, messages) = match order {
            Order::Step { step, operations } => (Moment::step(*step, at), messages(operations)),
            Order::Withhold { reason, step, operations } => {
                let withheld = Some(*reason);
                (Moment { withheld, ..Moment::step(*step, at) }, messages(operations))
            }
            Order::Recovery => (Moment::end(at), ends()),
            Order::WithholdEnd(reason) => {
                (Moment { withheld: Some(*reason), ..Moment::end(at) }, ends())
            }
            Order::Cancel(_) => return,
        };
        for message in messages {
            self.say(message, moment);
        }
    }

    fn update(&mut self, update: &Update) {
        if !crate::escalator::events::is_told(update.actions) {
            return;
        }
        let (mode, author) = (OperationMode::Update, Some(update.user));
        let moment = Moment { mode, author, ..Moment::step(1, update.at) };
        let action = self.action;
        for message in action.of_mode(mode) {
            self.say(message, moment);
        }
        self.told.push(Involved { user: update.user, address: None, last: Text::default() });
    }

    fn say(&mut self, message: &Message, moment: Moment) {
        let involved = std::mem::take(&mut self.told);
        let only_told = involved.iter().filter(|one| one.address.is_some()).cloned();
        let only_told = Vec::from_iter(only_told);
        let is_update = moment.mode == OperationMode::Update;
        let occasion = Occasion {
            source: self.action.source,
            mode: moment.mode,
            severity: self.look.severity(self.event),
            now: moment.at,
            step: moment.step,
            author: moment.author,
            involved: if is_update { &involved } else { &only_told },
        };
        let (directory, globals) = (&self.look.people.directory, &self.look.globals);
        let recipients = Recipients { directory, globals, occasion };
        let schedules = match &message.to {
            Audience::Named { on_call, .. } => &on_call[..],
            Audience::Involved => &[],
        };
        let of_schedules: Vec<(&str, Vec<u64>)> = schedules
            .iter()
            .map(|one| (one.rota.of.name.as_str(), recipients.on_call(one)))
            .collect();
        let cases = match &message.to {
            Audience::Named { .. } => cases(&recipients, message),
            Audience::Involved => recipients.of(message).into_iter().map(case_of).collect(),
        };
        self.told = involved;
        for (name, _) in of_schedules.iter().filter(|(_, users)| users.is_empty()) {
            let name = self.notes.on_call.of(vec![(*name).to_owned()]);
            self.note(moment, name, None, What::Gap);
        }
        for case in cases {
            let own = of_schedules.iter().filter(|(_, users)| users.contains(&case.user));
            let on_call = own.map(|(name, _)| (*name).to_owned()).collect();
            self.case(case, moment, on_call);
        }
    }

    fn case(&mut self, case: Case, moment: Moment, on_call: Vec<String>) {
        let what = match (moment.withheld, case.verdict) {
            (_, Verdict::Silent(Silence::OtherMediaType)) => return,
            (Some(reason), Verdict::Sent) => What::Withheld(reason),
            // What could not be sent is reported when it would have been sent.
            (Some(_), _) => return,
            (None, verdict) => What::Case(verdict),
        };
        if let (What::Case(Verdict::Sent), OperationMode::Problem, Some((media_type, sendto))) =
            (what, moment.mode, &case.address)
        {
            let address = recipients::Address { media_type: *media_type, sendto: sendto.clone() };
            let one = Involved { user: case.user, address: Some(address), last: Text::default() };
            if !self.told.contains(&one) {
                self.told.push(one);
            }
            self.past.tell(self.event, moment.at);
        }
        let on_call = self.notes.on_call.of(on_call);
        self.note(moment, on_call, Some((case.user, case.address)), what);
    }

    fn note(
        &mut self,
        moment: Moment,
        on_call: usize,
        to: Option<(u64, Option<(u64, String)>)>,
        what: What,
    ) {
        let (user, address) = to.unwrap_or_default();
        let address = address.map(|address| self.notes.addresses.of(address));
        let Moment { at, mode, step, .. } = moment;
        let problem = self.problem;
        self.notes.push(Note { at, user, problem, address, on_call, step, mode, what });
    }
}

/// A message that is made without asking media again.
fn case_of(draft: Draft) -> Case {
    Case {
        user: draft.user,
        address: draft.address.map(|one| (one.media_type, one.sendto)),
        verdict: verdict(recipients::Verdict::Made(draft.fate)),
    }
}
