//! What an action would have sent about problems of the past: their times are taken from the events, everything else is as
//! it is now. Maintenance, dependencies and ranks of the past are not known, so that nothing is paused.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, query_by_ids};
use const_format::formatcp;
use model::alert::outlook::{Case, Silence, Verdict};
use model::alert::rehearsal::{LISTED_MAX, Planned, Rehearsed, Span};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};
use objects::{AlertStatus, AlertType, OperationMode, ProblemAction};

use super::outlook::{cases, verdict};
use super::{Action, Event, Look, News, People, Seen, Turn};
use crate::escalation::{Order, Problem, Progress, Suppressed};
use crate::recipients::{self, Audience, Draft, Involved, Message, Occasion, Recipients, Text};

/// Problems that are read at once.
const BATCH_MAX: usize = 500;
/// Looks at one problem: an escalation may repeat for ever.
const LOOKS_MAX: usize = 10_000;
const HOUR_S: i64 = 3_600;
/// Hours of the night.
const NIGHT: [std::ops::Range<i8>; 2] = [0..6, 22..24];

/// How far a rehearsal has come.
#[derive(Debug, Default)]
pub(in crate::escalator) struct Rehearsal {
    /// Time and id of the last problem.
    last: (i64, u64),
    hours: BTreeMap<(u64, i64), u64>,
    /// Problems that were looked at, also those that the caller does not see.
    pub(in crate::escalator) looked_at: u64,
    pub(in crate::escalator) found: Rehearsed,
}

/// What happened to a problem.
#[derive(Debug)]
struct Life {
    begin: i64,
    end: Option<i64>,
    updates: Vec<Update>,
}

#[derive(Debug)]
struct Update {
    at: i64,
    user: u64,
    actions: u32,
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

    fn problem(&self, at: i64) -> Problem {
        Problem {
            recovered: self.end.is_some_and(|end| end <= at),
            acknowledged: self.is_acknowledged(at),
            suppressed: Suppressed::No,
            symptom: false,
            depends_on_problem: false,
            calm: None,
            reopened: false,
            missing: None,
        }
    }
}

impl Rehearsal {
    /// The next problems, as far as the user `reader` sees them; returns whether there are more.
    pub(in crate::escalator) fn go_on(
        &mut self,
        connection: &mut dyn Reader,
        turn: &Turn<'_>,
        action: &BTreeMap<u64, Action>,
        span: Span,
        reader: u64,
    ) -> DbResult<bool> {
        let lives = self.read(connection, span)?;
        let Some(action_itself) = action.values().next() else { return Ok(false) };
        let opened: Vec<u64> = lives.keys().copied().collect();
        let is_full = lives.len() == BATCH_MAX;
        if opened.is_empty() {
            return Ok(false);
        }
        let news = News { opened, ..News::default() };
        let mut look = Look::read(turn, connection, action, &news, &BTreeMap::new())?;
        let hosts: BTreeSet<u64> =
            look.objects.values().flat_map(|one| &one.hosts).copied().collect();
        let seen = Seen { hosts: &Vec::from_iter(hosts), services: &[] };
        let mut own = People::read(connection, std::iter::empty(), std::iter::once(reader), &seen)?;
        for (id, life) in &lives {
            self.looked_at += 1;
            let Some(event) = look.events.get(id).cloned() else { continue };
            let hosts = look.object(&event).map(|one| one.hosts.clone()).unwrap_or_default();
            own.look_at(&hosts, &event.tags);
            if !own.directory.users.get(&reader).is_some_and(|user| user.reads) {
                continue;
            }
            self.found.problems += 1;
            let subject = look.subject(connection, &event)?;
            if !subject.is_some_and(|subject| action_itself.filter.fits(&*subject)) {
                continue;
            }
            self.found.fitting += 1;
            look.see(&event);
            let mut replay = Replay {
                to: self,
                look: &look,
                action: action_itself,
                event: &event,
                told: Vec::new(),
            };
            replay.run(life, span.till);
        }
        Ok(is_full)
    }

    fn read(&mut self, connection: &mut dyn Reader, span: Span) -> DbResult<BTreeMap<u64, Life>> {
        let sql = formatcp!(
            "SELECT e.clock AS clock, e.eventid AS eventid, r.clock AS r_clock FROM events e \
             LEFT JOIN events r ON r.eventid = e.r_eventid \
             WHERE (e.clock, e.eventid) > (?, ?) AND e.clock <= ? AND e.source = {SOURCE_TRIGGER} \
             AND e.object = {OBJECT_TRIGGER} AND e.value = 1 \
             ORDER BY e.clock, e.eventid LIMIT {BATCH_MAX}"
        );
        let from = self.last.max((span.from - 1, i64::MAX.unsigned_abs()));
        let rows = connection.query(sql, &[from.0.into(), from.1.into(), span.till.into()])?;
        let life = |row: &Row| {
            let end = Some(row.int("r_clock")).filter(|end| *end > 0);
            (row.id("eventid"), Life { begin: row.int("clock"), end, updates: Vec::new() })
        };
        let mut lives: BTreeMap<u64, Life> = rows.iter().map(life).collect();
        if let Some(row) = rows.last() {
            self.last = (row.int("clock"), row.id("eventid"));
        }
        let sql = "SELECT eventid, userid, clock, action FROM acknowledges \
                   WHERE eventid IN ({ids}) ORDER BY acknowledgeid";
        let ids = Vec::from_iter(lives.keys().copied());
        for row in query_by_ids(connection, sql, &[], &ids)? {
            if let Some(life) = lives.get_mut(&row.id("eventid")) {
                life.updates.push(Update {
                    at: row.int("clock"),
                    user: row.id("userid"),
                    actions: u32::try_from(row.int("action")).unwrap_or(0),
                });
            }
        }
        Ok(lives)
    }

    /// There are more problems than a rehearsal looks at.
    pub(in crate::escalator) fn stop(&mut self) {
        self.found.stopped_at = Some(self.last.0);
    }

    /// Compares with what users got in fact.
    pub(in crate::escalator) fn compare(
        &mut self,
        connection: &mut dyn Reader,
        span: Span,
    ) -> DbResult<()> {
        let sql = formatcp!(
            "SELECT userid, COUNT(*) AS n FROM alerts WHERE clock >= ? AND clock <= ? \
             AND alerttype = {} AND status = {} AND eventid IN (SELECT eventid FROM events \
             WHERE source = {SOURCE_TRIGGER}) GROUP BY userid",
            AlertType::Message.text(),
            AlertStatus::Sent.text()
        );
        for row in connection.query(sql, &[span.from.into(), span.till.into()])? {
            let user = self.found.users.entry(row.id("userid")).or_default();
            user.sent = u64::try_from(row.int("n")).unwrap_or(0);
        }
        for ((user, hour), messages) in &self.hours {
            let user = self.found.users.entry(*user).or_default();
            if *messages > user.busiest_hour.1 {
                user.busiest_hour = (*hour, *messages);
            }
        }
        Ok(())
    }

    fn note(&mut self, look: &Look<'_>, planned: Planned) {
        let user = self.found.users.entry(planned.user).or_default();
        match planned.verdict {
            Verdict::Silent(Silence::OtherMediaType) => return,
            Verdict::Silent(silence) => {
                *user.withheld.entry(silence).or_default() += 1;
                return;
            }
            Verdict::Sent => {
                user.messages += 1;
                let zone = &look.addressee(planned.user).zone;
                let at = jiff::Timestamp::from_second(planned.at).unwrap_or_default();
                let hour = at.to_zoned(zone.clone()).hour();
                user.at_night += u64::from(NIGHT.iter().any(|part| part.contains(&hour)));
                let start = planned.at - planned.at.rem_euclid(HOUR_S);
                *self.hours.entry((planned.user, start)).or_default() += 1;
            }
            Verdict::NoMedia | Verdict::MediaTypeDisabled | Verdict::NoText => user.failed += 1,
        }
        if self.found.listed.len() < LISTED_MAX {
            self.found.listed.push(planned);
        }
    }
}

/// One problem from its beginning on.
struct Replay<'a> {
    to: &'a mut Rehearsal,
    look: &'a Look<'a>,
    action: &'a Action,
    event: &'a Event,
    told: Vec<Involved>,
}

impl Replay<'_> {
    fn run(&mut self, life: &Life, till: i64) {
        let mut updates = life.updates.iter().peekable();
        let mut progress = Progress::start(life.begin);
        for _ in 0..LOOKS_MAX {
            let next = [progress.due(), life.end].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= till) else { break };
            while let Some(update) = updates.next_if(|update| update.at < at) {
                self.update(update);
            }
            progress.told = !self.told.is_empty();
            let turn = self.action.plan.look(&life.problem(at), progress, at);
            for order in turn.orders {
                self.obey(&order, at);
            }
            let Some(next) = turn.next else { break };
            progress = next;
        }
        for update in updates.filter(|update| update.at <= till) {
            self.update(update);
        }
    }

    fn obey(&mut self, order: &Order, at: i64) {
        let action = self.action;
        match order {
            Order::Step { step, operations } => {
                for (_, message) in operations.iter().filter_map(|id| action.messages.get(id)) {
                    self.say(message, OperationMode::Problem, *step, at, None);
                }
            }
            Order::Recovery => {
                for message in action.of_mode(OperationMode::Recovery) {
                    self.say(message, OperationMode::Recovery, 1, at, None);
                }
            }
            Order::Cancel(_) | Order::Withhold { .. } | Order::WithholdEnd(_) => {}
        }
    }

    fn update(&mut self, update: &Update) {
        if !crate::escalator::events::is_told(update.actions) {
            return;
        }
        for message in self.action.of_mode(OperationMode::Update) {
            self.say(message, OperationMode::Update, 1, update.at, Some(update.user));
        }
        self.told.push(Involved { user: update.user, address: None, last: Text::default() });
    }

    fn say(
        &mut self,
        message: &Message,
        mode: OperationMode,
        step: u32,
        at: i64,
        author: Option<u64>,
    ) {
        let involved = std::mem::take(&mut self.told);
        let only_told = involved.iter().filter(|one| one.address.is_some()).cloned();
        let only_told = Vec::from_iter(only_told);
        let occasion = Occasion {
            source: self.action.source,
            mode,
            severity: self.look.severity(self.event),
            now: at,
            step,
            author,
            involved: if mode == OperationMode::Update { &involved } else { &only_told },
        };
        let (directory, globals) = (&self.look.people.directory, &self.look.globals);
        let recipients = Recipients { directory, globals, occasion };
        let event = self.event.id;
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
        let planned = |Case { user, address, verdict }: Case| {
            let own = of_schedules.iter().filter(|(_, users)| users.contains(&user));
            let on_call = own.map(|(name, _)| (*name).to_owned()).collect();
            Planned { at, event, mode, step, user, address, verdict, on_call }
        };
        let all: Vec<Planned> = cases.into_iter().map(planned).collect();
        for (name, _) in of_schedules.iter().filter(|(_, users)| users.is_empty()) {
            *self.to.found.gaps.entry((*name).to_owned()).or_default() += 1;
        }
        self.told = involved;
        for one in all {
            if let (OperationMode::Problem, Verdict::Sent, Some((media_type, sendto))) =
                (mode, one.verdict, &one.address)
            {
                let address =
                    recipients::Address { media_type: *media_type, sendto: sendto.clone() };
                self.told.push(Involved {
                    user: one.user,
                    address: Some(address),
                    last: Text::default(),
                });
            }
            self.to.note(self.look, one);
        }
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
