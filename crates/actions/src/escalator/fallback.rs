//! Messages that a media type could not send go by another one, if the media type names one.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, query_by_ids};
use config::{Snapshot, Statements};
use const_format::formatcp;
use model::alert::{Outcome, Report};
use objects::sql::STATUS_ENABLED;
use objects::{AlertStatus, AlertType, OperationMode, Severity};

use super::alerts::{Holds, Kind, NewAlert};
use super::events::{self, Event};
use super::monitored::{self, Monitored};
use super::people::{People, Seen};
use super::stored::Changes;
use super::texts::{Addressee, Sent, Subject, Texts};
use super::turn::contained;
use crate::globals::Globals;
use crate::recipients::{Address, Fate, Occasion, Recipients, Text};

/// Longest error of an alert, characters.
pub(super) const ERROR_CHARS_MAX: usize = 2_048;

/// By the alert that failed.
pub(super) type Fallbacks = BTreeMap<u64, Fallback>;

/// What is sent instead of an alert.
#[derive(Debug, Clone)]
pub(super) struct Fallback {
    /// The media type that sends it.
    name: String,
    alerts: Vec<NewAlert>,
}

/// The alert, if it failed for good and its receiver does not have the message.
pub(super) fn failed(report: &Report) -> Option<u64> {
    let is_failed =
        matches!(report.outcome, Outcome::Failed { again: None, .. } | Outcome::Impossible { .. });
    is_failed.then_some(report.alert.0)
}

/// Makes the messages that are sent instead of these.
pub(super) fn read(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    texts: &dyn Texts,
    failed: &[u64],
    now: i64,
) -> DbResult<Fallbacks> {
    let sql = formatcp!(
        "SELECT a.*, f.mediatypeid AS fallback, f.name AS fallback_name FROM alerts a \
         JOIN media_types m ON m.mediatypeid = a.mediatypeid \
         JOIN media_types f ON f.mediatypeid = m.fallback_mediatypeid \
         WHERE f.status = {STATUS_ENABLED} AND a.alerttype = {} AND a.alertid IN ({{ids}})",
        AlertType::Message.text()
    );
    let mut rows = query_by_ids(connection, sql, &[], failed)?;
    rows.sort_by_key(|row| row.id("alertid"));
    let mut fallbacks = Fallbacks::new();
    let mut made = BTreeSet::new();
    for row in &rows {
        let Some(about) = About::read(connection, row)? else { continue };
        let mut alerts = about.alerts(connection, snapshot, texts, now)?;
        // Several addresses that failed have one message.
        alerts
            .retain(|alert| made.insert((about.key(), alert.address.clone(), alert.text.clone())));
        if !alerts.is_empty() {
            let name = row.text("fallback_name").to_owned();
            fallbacks.insert(row.id("alertid"), Fallback { name, alerts });
        }
    }
    Ok(fallbacks)
}

/// An alert that failed, and what it is about.
struct About<'r> {
    row: &'r Row,
    /// The problem.
    event: Event,
    object: Option<Monitored>,
}

impl<'r> About<'r> {
    /// `None` = its event was deleted.
    fn read(connection: &mut dyn Reader, row: &'r Row) -> DbResult<Option<Self>> {
        let problem = match row.id("p_eventid") {
            0 => row.id("eventid"),
            problem => problem,
        };
        let Some(event) = events::read(connection, &[problem])?.remove(&problem) else {
            return Ok(None);
        };
        let keys = event.monitored().into_iter().collect();
        let object = monitored::read(connection, &keys)?.into_values().next();
        Ok(Some(Self { row, event, object }))
    }

    /// Messages with equal keys are the same, by different media.
    fn key(&self) -> [u64; 6] {
        let step = u64::try_from(self.row.int("esc_step")).unwrap_or(0);
        let [action, event, user, problem, update] =
            ["actionid", "eventid", "userid", "p_eventid", "acknowledgeid"]
                .map(|name| self.row.id(name));
        [action, event, user, problem, update, step]
    }

    fn step(&self) -> u32 {
        u32::try_from(self.row.int("esc_step")).unwrap_or(0)
    }

    fn severity(&self) -> Severity {
        let of_trigger = self.object.as_ref().filter(|_| self.event.is_of_trigger());
        of_trigger.map_or_else(|| self.event.own_severity(), |object| object.severity)
    }

    fn alerts(
        &self,
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        texts: &dyn Texts,
        now: i64,
    ) -> DbResult<Vec<NewAlert>> {
        let user = self.row.id("userid");
        let people = self.people(connection, user)?;
        let globals = Globals::of(snapshot);
        let occasion = Occasion {
            source: self.event.source,
            mode: OperationMode::Problem,
            severity: self.severity(),
            now,
            step: self.step(),
            author: None,
            involved: &[],
        };
        let recipients = Recipients { directory: &people.directory, globals: &globals, occasion };
        let media_type = self.row.id("fallback");
        let mut addresses = recipients.addresses(user, media_type);
        let known = self.known(connection, media_type)?;
        addresses.retain(|address| !known.contains(&address.sendto));
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let known = people.directory.media_types.get(&media_type);
        let parameters = known.map_or(&[][..], |one| &one.parameters);
        let limit = known.and_then(|one| one.limit);
        let templates: BTreeSet<&str> =
            parameters.iter().flat_map(|(name, value)| [name.as_str(), value]).collect();
        let subject = self.subject();
        let templates = Vec::from_iter(templates);
        let read = || texts.about(connection, subject, &templates);
        let Some(Some(expand)) = contained(&subject, read).transpose()? else {
            return Ok(Vec::new());
        };
        let zone = people.directory.users.get(&user).map_or("default", |one| &one.zone);
        let person = people.of_user.get(&user).cloned().unwrap_or_default();
        let (super_admin, groups) = (person.super_admin, person.groups);
        let to = Addressee { user, zone: globals.zone(zone), super_admin, groups };
        let alert = |address: &Address| {
            let text = self.text();
            let (subject, message) = (text.subject.as_str(), text.message.as_str());
            let sent = Sent { sendto: &address.sendto, subject, message };
            let expanded = parameters.iter().map(|(name, value)| {
                (expand.parameter(name, &to, sent), expand.parameter(value, &to, sent))
            });
            let expanded = expanded.collect();
            let holds = Holds { limit, ..Holds::default() };
            NewAlert { parameters: expanded, holds, ..self.alert(address, text) }
        };
        let made = addresses.iter().filter_map(|address| contained(&subject, || alert(address)));
        Ok(made.collect())
    }

    /// The user, as far as messages about the problem are concerned.
    fn people(&self, connection: &mut dyn Reader, user: u64) -> DbResult<People> {
        let hosts = self.object.as_ref().map(|object| object.hosts.clone()).unwrap_or_default();
        let service = self.event.service();
        let services = Vec::from_iter(Some(service).filter(|id| *id != 0));
        let all_hosts = Vec::from_iter(hosts.iter().copied());
        let seen = Seen { hosts: &all_hosts, services: &services };
        let mut people =
            People::read(connection, std::iter::empty(), std::iter::once(user), &seen)?;
        match service {
            0 => people.look_at(&hosts, &self.event.tags),
            service => people.look_at_service(service),
        }
        Ok(people)
    }

    /// Addresses that have the message already: the operation named their media, too, or another alert failed.
    fn known(&self, connection: &mut dyn Reader, media_type: u64) -> DbResult<BTreeSet<String>> {
        let sql = formatcp!(
            "SELECT sendto, subject, message, replaced_alertid FROM alerts \
             WHERE actionid = ? AND eventid = ? AND userid = ? AND p_eventid = ? \
             AND acknowledgeid = ? AND esc_step = ? AND mediatypeid = ? AND status <> {}",
            AlertStatus::Failed.text()
        );
        let params = self.key().into_iter().chain([media_type]).map(Into::into);
        let rows = connection.query(sql, &Vec::from_iter(params))?;
        let text = self.text();
        let same = |row: &&Row| {
            row.id("replaced_alertid") == 0
                || (row.text("subject"), row.text("message"))
                    == (text.subject.as_str(), text.message.as_str())
        };
        Ok(rows.iter().filter(same).map(|row| row.text("sendto").to_owned()).collect())
    }

    fn subject(&self) -> Subject {
        let nonzero = |name: &str| Some(self.row.id(name)).filter(|id| *id != 0);
        let recovery = nonzero("p_eventid").and_then(|_| nonzero("eventid"));
        let (action, update) = (self.row.id("actionid"), nonzero("acknowledgeid"));
        Subject { action, event: self.event.id, recovery, update, status_changed: false }
    }

    fn text(&self) -> Text {
        let text = |name: &str| self.row.text(name).to_owned();
        Text { subject: text("subject"), message: text("message") }
    }

    fn alert(&self, address: &Address, text: Text) -> NewAlert {
        NewAlert {
            action: self.row.id("actionid"),
            event: self.row.id("eventid"),
            problem: self.row.id("p_eventid"),
            update: self.row.id("acknowledgeid"),
            user: self.row.id("userid"),
            address: Some(address.clone()),
            text,
            parameters: Vec::new(),
            step: self.step(),
            fate: Fate::Send,
            kind: if self.row.int("summary") == 1 { Kind::Summary } else { Kind::Message },
            holds: Holds::default(),
        }
    }
}

impl Fallback {
    pub(super) fn media_types(&self) -> impl Iterator<Item = u64> {
        self.alerts.iter().filter_map(|alert| Some(alert.address.as_ref()?.media_type))
    }

    /// Stores the messages. The alert that failed names the first of them, and says so.
    pub(super) fn write(&self, state: &mut Statements<'_>, failed: u64, now: i64) -> DbResult<()> {
        let mut changes = Changes { alerts: self.alerts.clone(), ..Changes::default() };
        // Nothing, if the event has been deleted.
        let Some(carrier) = changes.write(state, now)? else { return Ok(()) };
        let sql = "UPDATE alerts SET replaced_alertid = ? WHERE alertid >= ?";
        state.execute(sql, &[failed.into(), carrier.into()])?;
        let rows = state.query("SELECT error FROM alerts WHERE alertid = ?", &[failed.into()])?;
        let instead = format!("Sent by {} instead.", self.name);
        let room = ERROR_CHARS_MAX.saturating_sub(instead.chars().count() + 1);
        let error = rows.first().map_or("", |row| row.text("error"));
        let error: String = error.chars().take(room).collect();
        let error = format!("{error}\n{instead}");
        let sql = "UPDATE alerts SET error = ?, carrierid = ? WHERE alertid = ?";
        state.execute(sql, &[error.into(), carrier.into(), failed.into()]).map(drop)
    }
}
