//! One look at new events, new updates and due escalations: what is read, and what follows from it.

mod calm;
mod gathered;
mod messages;
mod outlook;
mod rehearsal;

use std::collections::{BTreeMap, BTreeSet};

use config::Snapshot;
use config::db::{DbResult, Reader};
use objects::{EventSource, OperationMode, Severity};

use super::configured::{Action, Configured};
use super::events::{self, Event, News, Position, Problems, Update};
use super::monitored::{self, Key, Monitored, Origins};
use super::people::{People, Seen};
use super::stored::{self, Changes, Escalation, Told, Wanted};
use super::texts::Texts;
use crate::conditions::{
    InternalSubject, ServiceSubject, Subject as Compared, TriggerSubject, read_discovered,
};
use crate::escalation::{Order, Progress};
use crate::globals::Globals;
use calm::Watched;
pub(super) use gathered::Flush;
pub(super) use messages::About;
use messages::{Say, note};

pub(super) use rehearsal::{Calmed, Plot, Rehearsal};

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
        let is_empty = news.opened.is_empty() && news.updates.is_empty() && escalations.is_empty();
        if is_empty && news.ended.is_empty() {
            let is_full = news.is_full || is_due;
            return Ok(Outcome { position, changes: Changes::default(), is_full });
        }
        let actions = configured.of(connection, self.snapshot, self.now)?;
        let freed = calm::freed(connection, &actions, &news)?;
        let is_full = news.is_full || is_due || !freed.is_empty();
        let changes = Changes { freed, ..Changes::default() };
        if is_empty {
            return Ok(Outcome { position, changes, is_full });
        }
        let mut look = Look::read(self, connection, &actions, &news, &escalations)?;
        look.changes = changes;
        look.texts = self.texts.expecting(&mut look.events.values().map(Event::trigger));
        let mut all: Vec<Escalation> = escalations.into_values().collect();
        all.extend(look.new_escalations(connection, &news.opened)?);
        all.sort_by_key(|one| (look.moment(one), one.event, one.action));
        for escalation in all {
            contained(&escalation, || look.escalate(connection, escalation.clone()))
                .unwrap_or_else(|| {
                    // It would fail again each time.
                    look.changes.ended.extend(Some(escalation.id).filter(|id| *id != 0));
                    Ok(())
                })?;
        }
        for update in news.updates.iter().filter(|update| update.is_told()) {
            contained(update, || look.update(connection, update)).unwrap_or(Ok(()))?;
        }
        Ok(Outcome { position, changes: look.changes, is_full })
    }
}

/// Runs work whose panic concerns only what it is about. `None` = it panicked.
pub(super) fn contained<T>(about: &impl std::fmt::Debug, work: impl FnOnce() -> T) -> Option<T> {
    match stdx::thread::contain(work) {
        Ok(result) => Some(result),
        Err(fault) => {
            tracing::error!(
                fault = fault.text,
                ?about,
                "internal error of an escalation; it is skipped"
            );
            None
        }
    }
}

/// Everything that the decisions of a turn depend on.
pub(super) struct Look<'a> {
    pub(super) turn: &'a Turn<'a>,
    globals: Globals<'a>,
    actions: &'a BTreeMap<u64, Action>,
    events: BTreeMap<u64, Event>,
    objects: BTreeMap<Key, Monitored>,
    /// Names of services.
    services: BTreeMap<u64, String>,
    origins: Origins,
    problems: Watched,
    people: People,
    earlier: Earlier,
    /// `None` = those of the turn.
    texts: Option<Box<dyn Texts>>,
    pub(super) changes: Changes,
}

/// What escalations did before.
struct Earlier {
    /// Who got messages.
    told: Told,
    /// Actions and problems with an escalation under way.
    running: BTreeSet<(u64, u64)>,
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
        let keys: BTreeSet<Key> = events.values().filter_map(Event::monitored).collect();
        let objects = monitored::read(connection, &keys)?;
        let of_services: BTreeSet<u64> =
            events.values().map(Event::service).filter(|id| *id != 0).collect();
        let services = monitored::services(connection, &Vec::from_iter(of_services))?;
        // Conditions are looked at for new events and for updates.
        let conditional: BTreeSet<Key> = news
            .opened
            .iter()
            .copied()
            .chain(of_updates.clone())
            .filter_map(|id| events.get(&id)?.monitored())
            .collect();
        let conditional = objects.iter().filter(|(key, _)| conditional.contains(key));
        let conditional = conditional.map(|(key, object)| (*key, object.clone())).collect();
        let origins = monitored::origins(connection, &conditional)?;
        let fresh = news.opened.first().copied();
        let problems = Problems::read(connection, &events, fresh, turn.snapshot, turn.now)?;
        let problems = Watched::read(turn, connection, actions, &events, problems)?;
        let told = stored::told(connection, &ids)?;
        let of_updates = Vec::from_iter(of_updates);
        let running = stored::running(connection, &of_updates)?.into_iter().collect();
        let authors = authors(connection, &of_updates)?;
        let involved = told.values().flatten().map(|one| one.user).chain(authors);
        let hosts: BTreeSet<u64> = objects.values().flat_map(|one| &one.hosts).copied().collect();
        let hosts = Vec::from_iter(hosts);
        let seen = Seen { hosts: &hosts, services: &Vec::from_iter(services.keys().copied()) };
        let people = People::read(connection, actions.values(), involved, &seen)?;
        Ok(Self {
            turn,
            globals: Globals::of(turn.snapshot),
            actions,
            events,
            objects,
            services,
            origins,
            problems,
            people,
            earlier: Earlier { told, running },
            texts: None,
            changes: Changes::default(),
        })
    }

    /// The event that an escalation is looked at for: messages go out in the order of these. 0 = it is due.
    fn moment(&self, one: &Escalation) -> u64 {
        let end = self.events.get(&one.event).map_or(0, |event| event.recovery);
        if one.id == 0 { one.event } else { end }
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
            .filter(|one| one.enabled && one.source == event.source && one.is_escalated())
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
        if event.service() != 0 {
            let id = event.service();
            let subject = |name| ServiceSubject { id, name, tags: &event.tags };
            let name = self.services.get(&id);
            return Ok(name.map(|name| Box::new(subject(name)) as Box<dyn Compared>));
        }
        let known = event.monitored().and_then(|key| {
            let object = self.objects.get(&key)?;
            Some((object, self.origins.get(&key)?))
        });
        let Some((object, (origin, triggers))) = known else { return Ok(None) };
        if event.source == EventSource::Internal {
            let origin = origin.clone();
            let subject = InternalSubject { origin, object: event.object, tags: &event.tags };
            return Ok(Some(Box::new(subject)));
        }
        Ok(Some(Box::new(TriggerSubject {
            origin: origin.clone(),
            triggers: triggers.clone(),
            name: &event.name,
            severity: object.severity,
            clock: event.at.clock.into(),
            suppressed: self.problems.states.is_suppressed(event.id),
            tags: &event.tags,
            globals: &self.globals,
        })))
    }

    /// The trigger or the item that the event is about.
    fn object(&self, event: &Event) -> Option<&Monitored> {
        self.objects.get(&event.monitored()?)
    }

    /// Does what is due of an escalation.
    fn escalate(&mut self, connection: &mut dyn Reader, mut one: Escalation) -> DbResult<()> {
        let known = self.events.get(&one.event).zip(self.actions.get(&one.action));
        let known = known.filter(|(event, _)| {
            event.service() == 0 || self.services.contains_key(&event.service())
        });
        let Some((event, action)) = known.map(|(event, action)| (event.clone(), action)) else {
            self.changes.ended.extend(Some(one.id).filter(|id| *id != 0));
            return Ok(());
        };
        let involved = self.earlier.told.get(&(one.action, one.event));
        one.progress.told = involved.is_some_and(|involved| !involved.is_empty());
        let off = (!action.enabled).then_some(action.name.as_str());
        let problem = self.problem(action, &event, off);
        let turn = action.plan.look(&problem, one.progress, self.turn.now);
        for order in turn.orders {
            match order {
                Order::Step { step, operations } => {
                    let about = self.about_step(action, &event, step);
                    let commands = operations.iter().filter_map(|id| action.commands.get(id));
                    for (_, command) in commands {
                        self.run(connection, action, &event, about, command)?;
                    }
                    let messages = operations.iter().filter_map(|id| action.messages.get(id));
                    let messages = Vec::from_iter(messages.map(|(_, message)| message));
                    for message in messages.into_iter().rev() {
                        self.send(connection, action, &event, about, Say::Message(message))?;
                    }
                }
                Order::Withhold { reason, step, operations } => {
                    let about = About::problem(&event, step).withheld(reason);
                    let messages = operations.iter().filter_map(|id| action.messages.get(id));
                    for message in Vec::from_iter(messages).into_iter().rev() {
                        self.send(connection, action, &event, about, Say::Message(&message.1))?;
                    }
                }
                Order::WithholdEnd(reason) => {
                    let about = About::recovery(&event).withheld(reason);
                    for message in action.of_mode(OperationMode::Recovery) {
                        self.send(connection, action, &event, about, Say::Message(message))?;
                    }
                }
                Order::Recovery => {
                    let about = About::recovery(&event);
                    for command in action.commands_of(OperationMode::Recovery) {
                        self.run(connection, action, &event, about, command)?;
                    }
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
        // Events of discovery and autoregistration have one step and no end.
        match turn.next.filter(|_| event.has_end()) {
            Some(next) if one.id == 0 || next != one.progress => {
                self.changes.kept.push(Escalation { progress: next, ..one });
            }
            Some(_) => {}
            None => self.changes.ended.extend(Some(one.id).filter(|id| *id != 0)),
        }
        Ok(())
    }

    /// Sets which users see the event.
    fn see(&mut self, event: &Event) {
        match event.service() {
            0 => {
                let hosts = self.object(event).map(|one| one.hosts.clone()).unwrap_or_default();
                self.people.look_at(&hosts, &event.tags);
            }
            service => self.people.look_at_service(service),
        }
    }

    /// The trigger's, whatever users made of it; of other objects that of the event.
    fn severity(&self, event: &Event) -> Severity {
        let of_trigger = self.object(event).filter(|_| event.is_of_trigger());
        of_trigger.map_or_else(|| event.own_severity(), |one| one.severity)
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
            .filter(|one| {
                fits.contains(&one.id) || self.earlier.running.contains(&(one.id, event.id))
            })
            .collect();
        for action in actions {
            let about = About::update(&event, update);
            for command in action.commands_of(OperationMode::Update) {
                self.run(connection, action, &event, about, command)?;
            }
            for message in action.of_mode(OperationMode::Update) {
                self.send(connection, action, &event, about, Say::Message(message))?;
            }
        }
        Ok(())
    }
}

/// Users who changed these problems.
fn authors(connection: &mut dyn Reader, events: &[u64]) -> DbResult<Vec<u64>> {
    let sql = "SELECT DISTINCT userid FROM acknowledges WHERE eventid IN ({ids})";
    let rows = config::db::query_by_ids(connection, sql, &[], events)?;
    Ok(rows.iter().map(|row| row.id("userid")).collect())
}
