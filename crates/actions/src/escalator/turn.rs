//! One look at new events, new updates and due escalations: what is read, and what follows from it.

mod outlook;
mod rehearsal;

use std::collections::{BTreeMap, BTreeSet};

use config::Snapshot;
use config::db::{DbResult, Reader};
use objects::{OperationMode, Severity};

use super::configured::{Action, Configured};
use super::events::{self, Event, News, Position, Problems, Update};
use super::monitored::{self, Origins, Trigger};
use super::people::People;
use super::stored::{self, Changes, Escalation, NewAlert, Told, Wanted};
use super::texts::{Addressee, Sent, Subject, Texts};
use crate::conditions::{Subject as Compared, TriggerSubject, read_discovered};
use crate::escalation::{Missing, Order, Progress};
use crate::globals::Globals;
use crate::recipients::{Draft, Fate, Involved, Message, Occasion, Recipients, Text};

pub(super) use rehearsal::Rehearsal;

/// What was looked at, and what is to be written.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) position: Position,
    pub(super) changes: Changes,
    /// There is more to look at now.
    pub(super) is_full: bool,
}

/// What a turn is given.
pub(super) struct Turn<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) texts: &'a dyn Texts,
    pub(super) now: i64,
    /// Problems whose suppression has changed.
    pub(super) woken: &'a BTreeSet<u64>,
}

impl Turn<'_> {
    /// Looks at what follows the position.
    pub(super) fn look(
        &self,
        connection: &mut dyn Reader,
        configured: &mut Configured,
        before: Position,
    ) -> DbResult<Outcome> {
        let mut position = before;
        let mut news = News::read(connection, &mut position)?;
        news.woken.extend(self.woken);
        let freed = events::dependents(connection, &news.recovered)?;
        let woken: Vec<u64> = news.woken.iter().copied().collect();
        let wanted = Wanted { ended: &news.ended, woken: &woken, freed: &freed };
        let (escalations, is_due) = stored::read(connection, &wanted, self.now)?;
        let is_full = news.is_full || is_due;
        let is_empty = news.opened.is_empty() && news.updates.is_empty() && escalations.is_empty();
        if is_empty {
            return Ok(Outcome { position, changes: Changes::default(), is_full });
        }
        let actions = configured.of(connection, self.snapshot)?;
        let mut look = Look::read(self, connection, &actions, &news, &escalations)?;
        let mut all: Vec<Escalation> = escalations.into_values().collect();
        all.sort_by_key(|one| (one.event, one.action));
        let new = look.new_escalations(connection, &news.opened)?;
        for escalation in all.into_iter().chain(new) {
            look.escalate(connection, escalation)?;
        }
        for update in news.updates.iter().filter(|update| update.is_told()) {
            look.update(connection, update)?;
        }
        Ok(Outcome { position, changes: look.changes, is_full })
    }
}

/// Everything that the decisions of a turn depend on.
struct Look<'a> {
    turn: &'a Turn<'a>,
    globals: Globals<'a>,
    actions: &'a BTreeMap<u64, Action>,
    events: BTreeMap<u64, Event>,
    triggers: BTreeMap<u64, Trigger>,
    origins: Origins,
    problems: Problems,
    people: People,
    told: Told,
    running: BTreeSet<(u64, u64)>,
    changes: Changes,
}

impl<'a> Look<'a> {
    fn read(
        turn: &'a Turn<'a>,
        connection: &mut dyn Reader,
        actions: &'a BTreeMap<u64, Action>,
        news: &News,
        escalations: &BTreeMap<u64, Escalation>,
    ) -> DbResult<Self> {
        let of_updates = news.updates.iter().map(|update| update.event);
        let of_escalations = escalations.values().map(|one| one.event);
        let ids: BTreeSet<u64> =
            news.opened.iter().copied().chain(of_updates.clone()).chain(of_escalations).collect();
        let ids = Vec::from_iter(ids);
        let events = events::read(connection, &ids)?;
        let of_triggers: BTreeSet<u64> =
            events.values().map(Event::trigger).filter(|id| *id != 0).collect();
        let triggers = monitored::triggers(connection, &Vec::from_iter(of_triggers))?;
        // Conditions are looked at for new events and for updates.
        let conditional: BTreeSet<u64> = news
            .opened
            .iter()
            .copied()
            .chain(of_updates.clone())
            .filter_map(|id| Some(events.get(&id)?.trigger()))
            .collect();
        let conditional = triggers.iter().filter(|(id, _)| conditional.contains(id));
        let conditional = conditional.map(|(id, trigger)| (*id, trigger.clone())).collect();
        let origins = monitored::origins(connection, &conditional)?;
        let fresh = news.opened.first().copied();
        let problems = Problems::read(connection, &events, fresh, turn.snapshot, turn.now)?;
        let told = stored::told(connection, &ids)?;
        let of_updates = Vec::from_iter(of_updates);
        let running = stored::running(connection, &of_updates)?.into_iter().collect();
        let authors = authors(connection, &of_updates)?;
        let involved = told.values().flatten().map(|one| one.user).chain(authors);
        let hosts: BTreeSet<u64> = triggers.values().flat_map(|one| &one.hosts).copied().collect();
        let people = People::read(connection, actions.values(), involved, &Vec::from_iter(hosts))?;
        Ok(Self {
            turn,
            globals: Globals::of(turn.snapshot),
            actions,
            events,
            triggers,
            origins,
            problems,
            people,
            told,
            running,
            changes: Changes::default(),
        })
    }

    /// One for each new event and action that applies to it.
    fn new_escalations(
        &self,
        connection: &mut dyn Reader,
        opened: &[u64],
    ) -> DbResult<Vec<Escalation>> {
        let mut new = Vec::new();
        for event in opened.iter().filter_map(|id| self.events.get(id)) {
            for action in self.applying(connection, event)? {
                new.push(Escalation {
                    id: 0,
                    action: action.id,
                    event: event.id,
                    trigger: event.trigger(),
                    progress: Progress::start(self.turn.now),
                });
            }
        }
        Ok(new)
    }

    /// Enabled actions whose conditions the event meets.
    fn applying(&self, connection: &mut dyn Reader, event: &Event) -> DbResult<Vec<&'a Action>> {
        let actions = self.actions.values();
        let mut actions: Vec<&Action> = actions
            .filter(|one| one.enabled && one.source == event.source && !one.messages.is_empty())
            .collect();
        if actions.is_empty() {
            return Ok(actions);
        }
        let subject = self.subject(connection, event)?;
        actions.retain(|action| subject.as_ref().is_some_and(|one| action.filter.fits(&**one)));
        Ok(actions)
    }

    /// What conditions on the event are compared with. `None` = what it is about was deleted.
    fn subject<'s>(
        &'s self,
        connection: &mut dyn Reader,
        event: &'s Event,
    ) -> DbResult<Option<Box<dyn Compared + 's>>> {
        if let Some(found) = event.found() {
            return Ok(Some(read_discovered(connection, &found)?));
        }
        let known = self.triggers.get(&event.trigger()).zip(self.origins.get(&event.trigger()));
        let Some((trigger, (origin, triggers))) = known else { return Ok(None) };
        Ok(Some(Box::new(TriggerSubject {
            origin: origin.clone(),
            triggers: triggers.clone(),
            name: &event.name,
            severity: trigger.severity,
            clock: event.at.clock.into(),
            suppressed: self.problems.is_suppressed(event.id),
            tags: &event.tags,
            globals: &self.globals,
        })))
    }

    /// Does what is due of an escalation.
    fn escalate(&mut self, connection: &mut dyn Reader, mut one: Escalation) -> DbResult<()> {
        let known = self.events.get(&one.event).zip(self.actions.get(&one.action));
        let Some((event, action)) = known.map(|(event, action)| (event.clone(), action)) else {
            self.changes.ended.extend(Some(one.id).filter(|id| *id != 0));
            return Ok(());
        };
        let involved = self.told.get(&(one.action, one.event));
        one.progress.told = involved.is_some_and(|involved| !involved.is_empty());
        let off = (!action.enabled).then_some(action.name.as_str());
        let problem = self.problems.state(&event, self.triggers.get(&event.trigger()), off);
        let turn = action.plan.look(&problem, one.progress, self.turn.now);
        for order in turn.orders {
            match order {
                Order::Step { step, operations } => {
                    let about = About::problem(&event, step);
                    let messages = operations.iter().filter_map(|id| action.messages.get(id));
                    let messages = Vec::from_iter(messages.map(|(_, message)| message));
                    for message in messages.into_iter().rev() {
                        self.send(connection, action, &event, about, Say::Message(message))?;
                    }
                }
                Order::Recovery => {
                    let about = About::recovery(&event);
                    for message in action.of_mode(OperationMode::Recovery) {
                        self.send(connection, action, &event, about, Say::Message(message))?;
                    }
                }
                Order::Cancel(missing) => {
                    let about = About::problem(&event, one.progress.step);
                    self.send(connection, action, &event, about, Say::Note(&note(&missing)))?;
                }
            }
        }
        // Events that are not of triggers have one step and no end.
        match turn.next.filter(|_| event.is_of_trigger()) {
            Some(next) if one.id == 0 || next != one.progress => {
                self.changes.kept.push(Escalation { progress: next, ..one });
            }
            Some(_) => {}
            None => self.changes.ended.extend(Some(one.id).filter(|id| *id != 0)),
        }
        Ok(())
    }

    /// Tells an update to those whom the actions name that apply to the problem.
    fn update(&mut self, connection: &mut dyn Reader, update: &Update) -> DbResult<()> {
        let Some(event) = self.events.get(&update.event).cloned() else { return Ok(()) };
        let fits = self.applying(connection, &event)?;
        let fits: BTreeSet<u64> = fits.into_iter().map(|action| action.id).collect();
        let actions: Vec<&Action> = self
            .actions
            .values()
            .filter(|one| one.enabled && one.source == event.source)
            .filter(|one| fits.contains(&one.id) || self.running.contains(&(one.id, event.id)))
            .collect();
        for action in actions {
            for message in action.of_mode(OperationMode::Update) {
                let about = About::update(&event, update);
                self.send(connection, action, &event, about, Say::Message(message))?;
            }
        }
        Ok(())
    }

    /// Makes the alerts of a message, or of a note.
    fn send(
        &mut self,
        connection: &mut dyn Reader,
        action: &Action,
        event: &Event,
        about: About,
        say: Say<'_>,
    ) -> DbResult<()> {
        let trigger = self.triggers.get(&event.trigger());
        let none = BTreeSet::new();
        self.people.look_at(trigger.map_or(&none, |one| &one.hosts), &event.tags);
        let involved = self.involved(connection, action, event, about, &say)?;
        let occasion = Occasion {
            source: event.source,
            mode: about.mode,
            severity: trigger.map_or(Severity::NotClassified, |one| one.severity),
            now: self.turn.now,
            author: Some(about.author).filter(|author| *author != 0),
            involved: &involved,
        };
        let directory = &self.people.directory;
        let recipients = Recipients { directory, globals: &self.globals, occasion };
        let drafts = match say {
            Say::Message(message) => recipients.of(message),
            Say::Note(note) => recipients.note(note),
        };
        let is_expanded = matches!(say, Say::Note(_));
        let alerts = self.expanded(connection, action, event, about, drafts, is_expanded)?;
        // Messages of one recovery do not involve each other's users.
        if about.mode == OperationMode::Problem {
            let told = self.told.entry((action.id, event.id)).or_default();
            told.extend(alerts.iter().filter(|alert| alert.fate == Fate::Send).map(|alert| {
                let address = alert.address.clone();
                Involved { user: alert.user, address, last: Text::default() }
            }));
        }
        self.changes.alerts.extend(alerts);
        Ok(())
    }

    /// Users who got a message; of updates also those who changed the problem before.
    fn involved(
        &self,
        connection: &mut dyn Reader,
        action: &Action,
        event: &Event,
        about: About,
        say: &Say<'_>,
    ) -> DbResult<Vec<Involved>> {
        if matches!(say, Say::Note(_)) {
            return stored::last_messages(connection, action.id, event.id);
        }
        let mut involved = self.told.get(&(action.id, event.id)).cloned().unwrap_or_default();
        if about.update != 0 {
            let sql = "SELECT DISTINCT userid FROM acknowledges \
                       WHERE eventid = ? AND acknowledgeid < ?";
            let rows = connection.query(sql, &[event.id.into(), about.update.into()])?;
            let changed = |user: u64| Involved { user, address: None, last: <_>::default() };
            involved.extend(rows.iter().map(|row| changed(row.id("userid"))));
        }
        Ok(involved)
    }

    /// Alerts with their texts; `is_expanded`: only the parameters of media types have macros.
    fn expanded(
        &self,
        connection: &mut dyn Reader,
        action: &Action,
        event: &Event,
        about: About,
        drafts: Vec<Draft>,
        is_expanded: bool,
    ) -> DbResult<Vec<NewAlert>> {
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let parameters = |draft: &Draft| {
            let media_type = draft.address.as_ref().map(|address| address.media_type);
            let types = &self.people.directory.media_types;
            media_type.and_then(|id| types.get(&id)).map_or(&[][..], |one| &one.parameters)
        };
        let mut templates: BTreeSet<&str> = BTreeSet::new();
        for draft in &drafts {
            if !is_expanded {
                templates.extend([draft.text.subject.as_str(), &draft.text.message]);
            }
            let own = parameters(draft).iter();
            templates.extend(own.flat_map(|(name, value)| [name.as_str(), value]));
        }
        let subject = about.subject(action.id, event);
        let templates = Vec::from_iter(templates);
        let Some(texts) = self.turn.texts.about(connection, subject, &templates)? else {
            return Ok(Vec::new());
        };
        let alert = |draft: &Draft| {
            let to = self.addressee(draft.user);
            let text = if is_expanded {
                draft.text.clone()
            } else {
                Text {
                    subject: texts.subject(&draft.text.subject, &to),
                    message: texts.message(&draft.text.message, &to),
                }
            };
            let sent = Sent {
                sendto: draft.address.as_ref().map_or("", |address| &address.sendto),
                subject: &text.subject,
                message: &text.message,
            };
            let parameters = parameters(draft).iter().map(|(name, value)| {
                (texts.parameter(name, &to, sent), texts.parameter(value, &to, sent))
            });
            let parameters = parameters.collect();
            NewAlert { parameters, ..about.alert(action.id, draft.clone(), text) }
        };
        Ok(drafts.iter().map(alert).collect())
    }

    fn addressee(&self, user: u64) -> Addressee {
        let zone = self.people.directory.users.get(&user).map_or("default", |one| &one.zone);
        let person = self.people.of_user.get(&user).cloned().unwrap_or_default();
        let (super_admin, groups) = (person.super_admin, person.groups);
        Addressee { user, zone: self.globals.zone(zone), super_admin, groups }
    }
}

/// What is said.
enum Say<'a> {
    Message(&'a Message),
    Note(&'a str),
}

/// What an alert reports.
#[derive(Debug, Clone, Copy)]
struct About {
    mode: OperationMode,
    event: u64,
    /// 0 = the event itself.
    problem: u64,
    update: u64,
    /// Of the update.
    author: u64,
    step: u32,
}

impl About {
    fn problem(event: &Event, step: u32) -> Self {
        let mode = OperationMode::Problem;
        Self { mode, event: event.id, problem: 0, update: 0, author: 0, step }
    }

    fn recovery(event: &Event) -> Self {
        let mode = OperationMode::Recovery;
        Self { mode, event: event.recovery, problem: event.id, ..Self::problem(event, 1) }
    }

    fn update(event: &Event, update: &Update) -> Self {
        let about =
            if event.recovery == 0 { Self::problem(event, 1) } else { Self::recovery(event) };
        Self { mode: OperationMode::Update, update: update.id, author: update.user, ..about }
    }

    fn subject(&self, action: u64, event: &Event) -> Subject {
        let nonzero = |id: u64| Some(id).filter(|id| *id != 0);
        let recovery = nonzero(event.recovery).filter(|_| self.problem != 0);
        Subject { action, event: event.id, recovery, update: nonzero(self.update) }
    }

    fn alert(self, action: u64, draft: Draft, text: Text) -> NewAlert {
        NewAlert {
            action,
            event: self.event,
            problem: self.problem,
            update: self.update,
            user: draft.user,
            address: draft.address,
            text,
            parameters: Vec::new(),
            step: self.step,
            fate: draft.fate,
        }
    }
}

/// Users who changed these problems.
fn authors(connection: &mut dyn Reader, events: &[u64]) -> DbResult<Vec<u64>> {
    let sql = "SELECT DISTINCT userid FROM acknowledges WHERE eventid IN ({ids})";
    let rows = config::db::query_by_ids(connection, sql, &[], events)?;
    Ok(rows.iter().map(|row| row.id("userid")).collect())
}

/// The first line of a note, as clients know it.
fn note(missing: &Missing) -> String {
    let why = match missing {
        Missing::Deleted => "event deleted".to_owned(),
        Missing::Trigger(name) => format!("trigger \"{name}\" disabled"),
        Missing::Host(name) => format!("host \"{name}\" disabled"),
        Missing::Item(key) => format!("item \"{key}\" disabled"),
        Missing::Action(name) => format!("action '{name}' disabled"),
    };
    format!("NOTE: Escalation canceled: {why}.")
}
