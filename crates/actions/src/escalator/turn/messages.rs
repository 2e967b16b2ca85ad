//! The messages of what was decided.

use std::collections::BTreeSet;
use std::sync::Arc;

use config::db::{DbResult, Reader};
use objects::{OperationMode, Withholding};

use super::{Action, Event, Look, Update, contained};
use crate::bundles::Grouping;
use crate::calm::FLAPPING_S;
use crate::escalation::Missing;
use crate::escalator::alerts::{Group, Holds, Kind, NewAlert};
use crate::escalator::stored;
use crate::escalator::texts::{Addressee, Sent, Subject};
use crate::recipients::{Draft, Fate, Involved, Message, Occasion, Recipients, Text};
use crate::text::without_links;

impl Look<'_> {
    /// Makes the alerts of a message, or of a note.
    pub(super) fn send(
        &mut self,
        connection: &mut dyn Reader,
        action: &Action,
        event: &Event,
        about: About,
        say: Say<'_>,
    ) -> DbResult<()> {
        self.see(event);
        let involved = self.involved(connection, action, event, about, &say)?;
        let occasion = Occasion {
            source: event.source,
            mode: about.mode,
            severity: self.severity(event),
            now: self.turn.now,
            step: about.step,
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
        let mut alerts = self.expanded(connection, action.id, event, about, drafts, is_expanded)?;
        if about.withheld.is_some() {
            // What could not be sent is told when it would have been.
            alerts.retain(|alert| alert.fate == Fate::Send);
        }
        // A note is not told in other words.
        let grouping = action.grouping.as_ref().filter(|_| !is_expanded);
        self.hold(grouping, event, &mut alerts);
        // Messages of one recovery do not involve each other's users.
        if about.mode == OperationMode::Problem {
            let told = self.earlier.told.entry((action.id, event.id)).or_default();
            told.extend(alerts.iter().filter(|alert| alert.is_told()).map(|alert| {
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
        let mut involved =
            self.earlier.told.get(&(action.id, event.id)).cloned().unwrap_or_default();
        if about.update != 0 {
            let sql = "SELECT DISTINCT userid FROM acknowledges \
                       WHERE eventid = ? AND acknowledgeid < ?";
            let rows = connection.query(sql, &[event.id.into(), about.update.into()])?;
            let changed = |user: u64| Involved { user, address: None, last: <_>::default() };
            involved.extend(rows.iter().map(|row| changed(row.id("userid"))));
        }
        Ok(involved)
    }

    /// Sets what may hold these messages of one action back.
    fn hold(&self, grouping: Option<&Arc<Grouping>>, event: &Event, alerts: &mut [NewAlert]) {
        let group = grouping.filter(|_| !alerts.is_empty()).map(|grouping| {
            let hosts = self.host_names(event, |host| &host.host);
            let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
            let key = grouping.key(&hosts, &event.tags).to_text().into();
            Group { key, grouping: Arc::clone(grouping) }
        });
        for alert in alerts {
            let media_type = alert.address.as_ref().map(|address| address.media_type);
            let media_type = media_type.and_then(|id| self.people.directory.media_types.get(&id));
            let limit = media_type.and_then(|one| one.limit);
            alert.holds = Holds { group: group.clone(), limit, ..std::mem::take(&mut alert.holds) };
        }
    }

    /// Alerts with their texts; `is_expanded`: only the parameters of media types have macros.
    pub(super) fn expanded(
        &self,
        connection: &mut dyn Reader,
        action: u64,
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
        let subject = about.subject(action, event);
        let templates = Vec::from_iter(templates);
        let faulty = |draft: &Draft| {
            let fate = if draft.fate == Fate::Send { Fate::Faulty } else { draft.fate };
            about.alert(action, Draft { fate, ..draft.clone() }, Text::default())
        };
        let texts = self.texts.as_deref().unwrap_or(self.turn.texts);
        let read = || texts.about(connection, subject, &templates);
        let Some(texts) = contained(&subject, read) else {
            return Ok(drafts.iter().map(faulty).collect());
        };
        let Some(texts) = texts? else { return Ok(Vec::new()) };
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
            let text = about.with_notice(text);
            let sent = Sent {
                sendto: draft.address.as_ref().map_or("", |address| &address.sendto),
                subject: &text.subject,
                message: &text.message,
            };
            let parameters = parameters(draft).iter().map(|(name, value)| {
                (texts.parameter(name, &to, sent), texts.parameter(value, &to, sent))
            });
            let parameters = parameters.collect();
            NewAlert { parameters, ..about.alert(action, draft.clone(), text) }
        };
        let made = drafts
            .iter()
            .map(|draft| contained(&subject, || alert(draft)).unwrap_or_else(|| faulty(draft)));
        Ok(made.collect())
    }

    pub(super) fn addressee(&self, user: u64) -> Addressee {
        let zone = self.people.directory.users.get(&user).map_or("default", |one| &one.zone);
        let person = self.people.of_user.get(&user).cloned().unwrap_or_default();
        let (super_admin, groups) = (person.super_admin, person.groups);
        Addressee { user, zone: self.globals.zone(zone), super_admin, groups }
    }
}

/// What is said.
pub(super) enum Say<'a> {
    Message(&'a Message),
    Note(&'a str),
}

/// What an alert reports.
#[derive(Debug, Clone, Copy)]
pub(in crate::escalator) struct About {
    mode: OperationMode,
    event: u64,
    /// 0 = the event itself.
    problem: u64,
    update: u64,
    /// It reports another status of a service.
    alarm: bool,
    /// Of the update.
    author: u64,
    step: u32,
    /// Why it is not sent.
    withheld: Option<Withholding>,
    /// It tells first that the trigger is flapping, with the number of changes.
    flapping: Option<usize>,
}

impl About {
    pub(super) fn problem(event: &Event, step: u32) -> Self {
        let mode = OperationMode::Problem;
        Self {
            mode,
            event: event.id,
            problem: 0,
            update: 0,
            alarm: false,
            author: 0,
            step,
            withheld: None,
            flapping: None,
        }
    }

    /// The same, which tells that the trigger is flapping.
    pub(super) fn flapping(self, changes: usize) -> Self {
        Self { flapping: Some(changes), ..self }
    }

    /// The same, which is stored and not sent.
    pub(super) fn withheld(self, reason: Withholding) -> Self {
        Self { withheld: Some(reason), ..self }
    }

    pub(super) fn recovery(event: &Event) -> Self {
        let mode = OperationMode::Recovery;
        Self { mode, event: event.recovery, problem: event.id, ..Self::problem(event, 1) }
    }

    pub(super) fn update(event: &Event, update: &Update) -> Self {
        let about =
            if event.recovery == 0 { Self::problem(event, 1) } else { Self::recovery(event) };
        let mode = OperationMode::Update;
        let alarm = update.alarm != 0;
        Self { mode, update: update.id, alarm, author: update.user, ..about }
    }

    /// The text, behind the notice that the trigger is flapping.
    fn with_notice(self, text: Text) -> Text {
        let Some(changes) = self.flapping else { return text };
        let minutes = FLAPPING_S / 60;
        let notice = format!(
            "Flapping: {changes} changes in {minutes} minutes. Further messages follow when the trigger \
             has been quiet for {minutes} minutes."
        );
        Text {
            subject: format!("Flapping: {}", text.subject),
            message: format!("{notice}\n\n{}", text.message),
        }
    }

    pub(in crate::escalator) fn subject(&self, action: u64, event: &Event) -> Subject {
        let nonzero = |id: u64| Some(id).filter(|id| *id != 0);
        let recovery = nonzero(event.recovery).filter(|_| self.problem != 0);
        let update = nonzero(self.update);
        Subject { action, event: event.id, recovery, update, status_changed: self.alarm }
    }

    pub(in crate::escalator) fn alert(self, action: u64, draft: Draft, text: Text) -> NewAlert {
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
            kind: Kind::Message,
            holds: Holds { withheld: self.withheld, ..Holds::default() },
        }
    }
}

/// The first line of a note, as clients know it.
pub(super) fn note(missing: &Missing) -> String {
    let why = match missing {
        Missing::Deleted => "event deleted".to_owned(),
        Missing::Trigger(name) => format!("trigger \"{name}\" disabled"),
        Missing::Host(name) => format!("host \"{name}\" disabled"),
        Missing::Item(key) => format!("item \"{key}\" disabled"),
        Missing::Action(name) => format!("action '{name}' disabled"),
    };
    without_links(format!("NOTE: Escalation canceled: {why}."))
}
