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
use super::monitored::{self, Key, Monitored};
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

/// Makes the messages that are sent instead of these. All that they depend on is read at once: in a failure of a receiver they are
/// very many.
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
    let mut fallbacks = Fallbacks::new();
    if rows.is_empty() {
        return Ok(fallbacks);
    }
    rows.sort_by_key(|row| row.id("alertid"));
    let known = Known::read(connection, &rows)?;
    let mut people = known.people(connection, &rows)?;
    let mut made = BTreeSet::new();
    for row in &rows {
        let Some(about) = known.about(row) else { continue };
        about.look_at(&mut people);
        let mut alerts = about.alerts(connection, snapshot, texts, &people, now)?;
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

/// What several alerts that failed are about.
struct Known {
    /// The problems.
    events: BTreeMap<u64, Event>,
    objects: BTreeMap<Key, Monitored>,
    /// Messages about the same events that did not fail, by their keys.
    sent: BTreeMap<[u64; 6], Vec<Row>>,
}

/// The problem that an alert is about.
fn problem(row: &Row) -> u64 {
    match row.id("p_eventid") {
        0 => row.id("eventid"),
        problem => problem,
    }
}

/// Messages with equal keys are the same, by different media.
fn key(row: &Row) -> [u64; 6] {
    let step = u64::try_from(row.int("esc_step")).unwrap_or(0);
    let [action, event, user, problem, update] =
        ["actionid", "eventid", "userid", "p_eventid", "acknowledgeid"].map(|name| row.id(name));
    [action, event, user, problem, update, step]
}

fn distinct(ids: impl Iterator<Item = u64>) -> Vec<u64> {
    Vec::from_iter(ids.collect::<BTreeSet<u64>>())
}

impl Known {
    fn read(connection: &mut dyn Reader, rows: &[Row]) -> DbResult<Self> {
        let events = events::read(connection, &distinct(rows.iter().map(problem)))?;
        let keys = events.values().filter_map(Event::monitored).collect();
        let objects = monitored::read(connection, &keys)?;
        let sql = formatcp!(
            "SELECT actionid, eventid, userid, p_eventid, acknowledgeid, esc_step, mediatypeid, \
             sendto, subject, message, replaced_alertid FROM alerts \
             WHERE status <> {} AND eventid IN ({{ids}})",
            AlertStatus::Failed.text()
        );
        let ids = distinct(rows.iter().map(|row| row.id("eventid")));
        let mut sent: BTreeMap<[u64; 6], Vec<Row>> = BTreeMap::new();
        for row in query_by_ids(connection, sql, &[], &ids)? {
            sent.entry(key(&row)).or_default().push(row);
        }
        Ok(Self { events, objects, sent })
    }

    /// The users, as far as messages about the problems are concerned.
    fn people(&self, connection: &mut dyn Reader, rows: &[Row]) -> DbResult<People> {
        let hosts = distinct(self.objects.values().flat_map(|object| object.hosts.iter().copied()));
        let services = distinct(self.events.values().map(Event::service).filter(|id| *id != 0));
        let seen = Seen { hosts: &hosts, services: &services };
        let users = distinct(rows.iter().map(|row| row.id("userid")));
        People::read(connection, std::iter::empty(), users.into_iter(), &seen)
    }

    /// `None` = its event was deleted.
    fn about<'k>(&'k self, row: &'k Row) -> Option<About<'k>> {
        let event = self.events.get(&problem(row))?;
        let object = event.monitored().and_then(|key| self.objects.get(&key));
        let sent = self.sent.get(&key(row)).map_or(&[][..], Vec::as_slice);
        Some(About { row, event, object, sent })
    }
}

/// An alert that failed, and what it is about.
struct About<'k> {
    row: &'k Row,
    /// The problem.
    event: &'k Event,
    object: Option<&'k Monitored>,
    /// The same message by other alerts that did not fail.
    sent: &'k [Row],
}

impl About<'_> {
    fn key(&self) -> [u64; 6] {
        key(self.row)
    }

    fn step(&self) -> u32 {
        u32::try_from(self.row.int("esc_step")).unwrap_or(0)
    }

    fn severity(&self) -> Severity {
        let of_trigger = self.object.filter(|_| self.event.is_of_trigger());
        of_trigger.map_or_else(|| self.event.own_severity(), |object| object.severity)
    }

    fn alerts(
        &self,
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        texts: &dyn Texts,
        people: &People,
        now: i64,
    ) -> DbResult<Vec<NewAlert>> {
        let user = self.row.id("userid");
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
        addresses.retain(|address| !self.has(address));
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

    /// Sets which users see the event.
    fn look_at(&self, people: &mut People) {
        let none = BTreeSet::new();
        match self.event.service() {
            0 => {
                let hosts = self.object.map_or(&none, |object| &object.hosts);
                people.look_at(hosts, &self.event.tags);
            }
            service => people.look_at_service(service),
        }
    }

    /// The address has the message already: the operation named its media, too, or another alert failed.
    fn has(&self, address: &Address) -> bool {
        let text = self.text();
        let is_to = |row: &Row| {
            row.id("mediatypeid") == address.media_type && row.text("sendto") == address.sendto
        };
        let is_same = |row: &Row| {
            row.id("replaced_alertid") == 0
                || (row.text("subject"), row.text("message"))
                    == (text.subject.as_str(), text.message.as_str())
        };
        self.sent.iter().any(|row| is_to(row) && is_same(row))
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
}

/// What carries the message of an alert that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instead<'f> {
    /// The first alert.
    pub(super) carrier: u64,
    /// The media type.
    name: &'f str,
}

impl Instead<'_> {
    /// The error of the alert that failed, which says so.
    pub(super) fn error(&self, error: &str) -> String {
        let instead = format!("Sent by {} instead.", self.name);
        let room = ERROR_CHARS_MAX.saturating_sub(instead.chars().count() + 1);
        let error: String = error.chars().take(room).collect();
        format!("{error}\n{instead}")
    }
}

/// Stores the messages that are sent instead of those that failed by these reports; returns what carries them. Nothing of events
/// that were deleted.
pub(super) fn write<'f>(
    state: &mut Statements<'_>,
    reports: &[Report],
    fallbacks: &'f Fallbacks,
    now: i64,
) -> DbResult<BTreeMap<u64, Instead<'f>>> {
    let of = |report: &Report| Some((report.alert.0, fallbacks.get(&report.alert.0)?));
    let chosen: Vec<(u64, &Fallback)> = reports.iter().filter_map(of).collect();
    let mut carriers = BTreeMap::new();
    if chosen.is_empty() {
        return Ok(carriers);
    }
    let alerts = chosen.iter().flat_map(|(_, one)| one.alerts.iter().cloned()).collect();
    let mut changes = Changes { alerts, ..Changes::default() };
    let Some(first) = changes.write(state, now)? else { return Ok(carriers) };
    let mut written = (first..).zip(&changes.alerts).peekable();
    for (failed, one) in chosen {
        let mut own = Vec::new();
        for alert in &one.alerts {
            own.extend(written.next_if(|(_, other)| *other == alert).map(|(id, _)| id));
        }
        let (Some(carrier), Some(last)) = (own.first(), own.last()) else { continue };
        let sql = "UPDATE alerts SET replaced_alertid = ? WHERE alertid BETWEEN ? AND ?";
        state.execute(sql, &[failed.into(), (*carrier).into(), (*last).into()])?;
        carriers.insert(failed, Instead { carrier: *carrier, name: &one.name });
    }
    Ok(carriers)
}
