//! Reads what texts need of an event from the database and the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::Snapshot;
use config::access::GroupRights;
use config::db::{DbResult, Reader, Row, query_by_ids};
use const_format::formatcp;
use model::{EventId, EventOrigin, HostId, ItemId, Timestamp, TriggerId};
use objects::sql::SOURCE_TRIGGER;
use objects::{AlertStatus, AlertType, EventObject, EventSource};

use super::Needs;
use super::facts::{
    Action, Alert, AlertKind, Cause, Event, Facts, Line, Person, Progress, Related, Symptom, Update,
};
use super::row::{number, read_tags, severity};
use super::subject::read_subject;

/// Alerts that a text lists.
const ALERTS_MAX: usize = 1000;
const ALERT_COMMAND: &str = AlertType::Command.text();
/// Symptoms that a text lists.
const SYMPTOMS_MAX: usize = 1000;

/// Which texts are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub action: u64,
    /// The problem event, or the only one.
    pub event: EventId,
    /// The event that ended the problem, once it has ended.
    pub recovery: Option<EventId>,
    /// The row of `acknowledges` that the message reports.
    pub update: Option<u64>,
    /// The message reports another status of a service.
    pub status_changed: bool,
}

/// Reads what the texts need; `None` = the event is deleted. `c` reads both parts of the database.
pub fn read(
    c: &mut dyn Reader,
    snapshot: &Arc<Snapshot>,
    request: &Request,
    needs: &Needs,
    now: Timestamp,
) -> DbResult<Option<Facts>> {
    let ids: Vec<u64> =
        std::iter::once(request.event).chain(request.recovery).map(|id| id.0).collect();
    let mut events = read_events(c, &ids, needs.tags)?;
    let Some(event) = events.remove(&request.event.0) else { return Ok(None) };
    let (event, cause_id) = event;
    let recovery = request.recovery.and_then(|id| events.remove(&id.0)).map(|(event, _)| event);
    let name = c.query("SELECT name FROM actions WHERE actionid = ?", &[request.action.into()])?;
    let name = name.first().map_or_else(String::new, |row| row.text("name").to_owned());
    let mut updates = Vec::new();
    if needs.updates {
        let sql = "SELECT * FROM acknowledges WHERE eventid = ? ORDER BY acknowledgeid";
        let rows = c.query(sql, &[event.id.into()])?;
        updates = read_updates(c, &rows)?;
    }
    let mut update = None;
    if let Some(id) = request.update {
        let rows = c.query("SELECT * FROM acknowledges WHERE acknowledgeid = ?", &[id.into()])?;
        update = read_updates(c, &rows)?.pop();
    }
    let subject = read_subject(c, snapshot, &event, needs)?;
    let related = read_related(c, snapshot, &event, cause_id, needs)?;
    let alerts = if needs.alerts { read_alerts(c, request.action, event.id)? } else { Vec::new() };
    Ok(Some(Facts {
        now,
        snapshot: Arc::clone(snapshot),
        action: Action { id: request.action, name },
        event,
        recovery,
        update,
        status_changed: request.status_changed,
        subject,
        updates,
        related,
        alerts,
    }))
}

/// `cause` is the id of the problem that the event is a symptom of; 0 = of none.
fn read_related(
    c: &mut dyn Reader,
    snapshot: &Snapshot,
    event: &Event,
    cause: u64,
    needs: &Needs,
) -> DbResult<Related> {
    let cause = if needs.cause && cause != 0 { read_cause(c, snapshot, cause)? } else { None };
    let symptoms = if needs.problems { read_symptoms(c, snapshot, event.id)? } else { Vec::new() };
    let of_symptoms = symptoms.iter().flat_map(|symptom| &symptom.hosts);
    let of_cause = cause.iter().flat_map(|cause| &cause.hosts);
    let others: BTreeSet<u64> = of_symptoms.chain(of_cause).copied().collect();
    let rights = match others.is_empty() {
        true => GroupRights::default(),
        false => GroupRights::read(c, &Vec::from_iter(others))?,
    };
    Ok(Related { cause, symptoms, rights })
}

/// What the action sent and ran because of the event, its end and its updates.
fn read_alerts(c: &mut dyn Reader, action: u64, event: u64) -> DbResult<Vec<Alert>> {
    let sql = formatcp!(
        "SELECT esc_step, clock, status, error, alerttype, mediatypeid, sendto, userid, \
         CASE alerttype WHEN {ALERT_COMMAND} THEN message ELSE '' END AS command FROM alerts \
         WHERE actionid = ? AND (eventid = ? OR p_eventid = ?) ORDER BY alertid LIMIT {ALERTS_MAX}"
    );
    let rows = c.query(sql, &[action.into(), event.into(), event.into()])?;
    let distinct = |column: &str| {
        let ids: BTreeSet<u64> = rows.iter().map(|row| row.id(column)).collect();
        Vec::from_iter(ids)
    };
    let people = read_people(c, &distinct("userid"))?;
    let sql = "SELECT mediatypeid, name FROM media_types WHERE mediatypeid IN ({ids})";
    let media = query_by_ids(c, sql, &[], &distinct("mediatypeid"))?;
    let media: BTreeMap<u64, &str> =
        media.iter().map(|row| (row.id("mediatypeid"), row.text("name"))).collect();
    let alert = |row: &Row| {
        let kind = if AlertType::Command.is(row.int("alerttype")) {
            let command = row.text("command");
            let host = command.split_once(':').map_or(command, |(host, _)| host);
            AlertKind::Command { host: host.to_owned() }
        } else {
            let media = media.get(&row.id("mediatypeid")).copied().unwrap_or_default();
            AlertKind::Message {
                media: media.to_owned(),
                // Several addresses stand in lines.
                sendto: row.text("sendto").replace('\n', ", "),
                user: people.get(&row.id("userid")).cloned(),
            }
        };
        let progress = match AlertStatus::from_number(row.int("status")) {
            Some(AlertStatus::Sent) => Progress::Done,
            Some(AlertStatus::Failed) => Progress::Failed,
            Some(AlertStatus::Withheld) => Progress::Withheld,
            Some(AlertStatus::NotSent | AlertStatus::New) | None => Progress::Running,
        };
        Alert {
            step: number(row, "esc_step"),
            clock: number(row, "clock"),
            progress,
            error: row.text("error").to_owned(),
            kind,
        }
    };
    Ok(rows.iter().map(alert).collect())
}

/// Events with their causes, by id. Those of later versions are left out.
fn read_events(
    c: &mut dyn Reader,
    ids: &[u64],
    with_tags: bool,
) -> DbResult<BTreeMap<u64, (Event, u64)>> {
    let rows = query_by_ids(c, "SELECT * FROM events WHERE eventid IN ({ids})", &[], ids)?;
    let mut tags = if with_tags { read_tags(c, ids)? } else { BTreeMap::new() };
    let event = |row: &Row| {
        let id = row.id("eventid");
        let event = Event {
            id,
            origin: origin(row)?,
            at: Timestamp { clock: number(row, "clock"), ns: number(row, "ns") },
            value: row.int("value"),
            name: row.text("name").to_owned(),
            severity: severity(row.int("severity")),
            acknowledged: row.int("acknowledged") == 1,
            opdata: row.text("opdata").to_owned(),
            tags: tags.remove(&id).unwrap_or_default(),
        };
        Some((id, (event, row.id("cause_eventid"))))
    };
    Ok(rows.iter().filter_map(event).collect())
}

fn origin(row: &Row) -> Option<EventOrigin> {
    let id = row.id("objectid");
    let source = EventSource::from_number(row.int("source"))?;
    let object = EventObject::from_number(row.int("object"))?;
    Some(match (source, object) {
        (EventSource::Trigger, EventObject::Trigger) => EventOrigin::Trigger(TriggerId(id)),
        (EventSource::Internal, EventObject::Trigger) => {
            EventOrigin::InternalTrigger(TriggerId(id))
        }
        (_, EventObject::Item) => EventOrigin::InternalItem(ItemId(id)),
        (_, EventObject::LldRule) => EventOrigin::InternalLldRule(ItemId(id)),
        (_, EventObject::DiscoveredHost) => EventOrigin::DiscoveredHost(id),
        (_, EventObject::DiscoveredService) => EventOrigin::DiscoveredService(id),
        (_, EventObject::AutoregisteredHost) => EventOrigin::AutoregisteredHost(id),
        (_, EventObject::Service) => EventOrigin::Service(id),
        (_, EventObject::Trigger) => return None,
    })
}

fn read_updates(c: &mut dyn Reader, rows: &[Row]) -> DbResult<Vec<Update>> {
    let mut users: Vec<u64> = rows.iter().map(|row| row.id("userid")).collect();
    users.sort_unstable();
    users.dedup();
    let people = read_people(c, &users)?;
    let update = |row: &Row| Update {
        clock: number(row, "clock"),
        author: people.get(&row.id("userid")).cloned(),
        actions: number(row, "action"),
        message: row.text("message").to_owned(),
        severity: (severity(row.int("old_severity")), severity(row.int("new_severity"))),
        suppress_until: number(row, "suppress_until"),
    };
    Ok(rows.iter().map(update).collect())
}

/// Users by id, with their groups.
fn read_people(c: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, Person>> {
    let sql = "SELECT userid, username, name, surname FROM users WHERE userid IN ({ids})";
    let mut people = BTreeMap::new();
    for row in query_by_ids(c, sql, &[], ids)? {
        let person = Person {
            id: row.id("userid"),
            username: row.text("username").to_owned(),
            name: row.text("name").to_owned(),
            surname: row.text("surname").to_owned(),
            groups: Vec::new(),
        };
        people.insert(person.id, person);
    }
    let sql = "SELECT userid, usrgrpid FROM user_groups WHERE userid IN ({ids})";
    for row in query_by_ids(c, sql, &[], ids)? {
        if let Some(person) = people.get_mut(&row.id("userid")) {
            person.groups.push(row.id("usrgrpid"));
        }
    }
    Ok(people)
}

/// Hosts of a trigger; none if it is deleted.
fn hosts_of(snapshot: &Snapshot, trigger: u64) -> Vec<HostId> {
    let trigger = snapshot.triggers.get(&TriggerId(trigger));
    trigger.map(|trigger| snapshot.hosts_of(trigger)).unwrap_or_default()
}

fn read_cause(c: &mut dyn Reader, snapshot: &Snapshot, id: u64) -> DbResult<Option<Cause>> {
    let Some((mut event, _)) = read_events(c, &[id], true)?.remove(&id) else { return Ok(None) };
    let ended = c.query("SELECT r_eventid FROM events WHERE eventid = ?", &[id.into()])?;
    if ended.first().is_some_and(|row| row.id("r_eventid") != 0) {
        event.value = 0;
    }
    let sql = "SELECT * FROM acknowledges WHERE eventid = ? ORDER BY acknowledgeid";
    let rows = c.query(sql, &[id.into()])?;
    let updates = read_updates(c, &rows)?;
    let hosts = hosts_of(snapshot, event.origin.object_id());
    Ok(Some(Cause { event, updates, hosts: hosts.iter().map(|host| host.0).collect() }))
}

fn read_symptoms(c: &mut dyn Reader, snapshot: &Snapshot, cause: u64) -> DbResult<Vec<Symptom>> {
    let sql = formatcp!(
        "SELECT eventid, objectid, clock, name, severity FROM problems \
         WHERE source = {SOURCE_TRIGGER} AND cause_eventid = ? ORDER BY eventid LIMIT {SYMPTOMS_MAX}"
    );
    let rows = c.query(sql, &[cause.into()])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("eventid")).collect();
    let mut tags = read_tags(c, &ids)?;
    let symptom = |row: &Row| {
        let hosts = hosts_of(snapshot, row.id("objectid"));
        let names = hosts.iter().filter_map(|id| snapshot.hosts.get(id));
        let line = Line {
            hosts: names.map(|host| host.host.to_string()).collect(),
            name: row.text("name").to_owned(),
            severity: severity(row.int("severity")),
            clock: number(row, "clock"),
            tags: tags.remove(&row.id("eventid")).unwrap_or_default(),
        };
        Symptom { line, hosts: hosts.iter().map(|host| host.0).collect() }
    };
    Ok(rows.iter().map(symptom).collect())
}
