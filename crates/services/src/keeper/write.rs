//! Changes of status as rows: states, history, events and problems of services.

use std::collections::BTreeMap;

use config::db::{DbResult, Value, query_by_ids};
use config::{Statements, table};
use const_format::formatcp;
use objects::{EventObject, EventSource};
use stdx::clock::SharedClock;

use crate::tree::{Change, number};

const SOURCE: &str = EventSource::Service.text();
const OBJECT: &str = EventObject::Service.text();

/// The columns of a service's event.
const EVENT: [&str; 9] =
    ["eventid", "source", "object", "objectid", "clock", "ns", "value", "name", "severity"];

/// A moment as rows have it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    clock: i64,
    ns: i64,
}

impl Moment {
    pub(super) fn of(clock: &SharedClock) -> Self {
        let now = clock.unix();
        let clock = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Self { clock, ns: now.subsec_nanos().into() }
    }

    pub(super) fn clock(self) -> i64 {
        self.clock
    }
}

/// What the configuration says of a service.
#[derive(Debug, Default)]
struct Described {
    name: String,
    tags: Vec<(String, String)>,
}

/// Stores (`true`) or removes pairs of service and problem. Problems that were deleted meanwhile are left out.
pub(super) fn links(
    state: &mut Statements<'_>,
    links: &BTreeMap<(u64, u64), bool>,
) -> DbResult<()> {
    let events: Vec<u64> =
        links.iter().filter(|(_, is)| **is).map(|((_, event), _)| *event).collect();
    let sql = "SELECT eventid FROM events WHERE eventid IN ({ids})";
    let known = query_by_ids(state, sql, &[], &events)?;
    let known: std::collections::BTreeSet<u64> =
        known.iter().map(|row| row.id("eventid")).collect();
    for ((service, event), is) in links {
        let params: [Value; 2] = [(*service).into(), (*event).into()];
        if !*is {
            state.execute(
                "DELETE FROM service_problems WHERE serviceid = ? AND eventid = ?",
                &params,
            )?;
        } else if known.contains(event) {
            state.execute(
                "INSERT INTO service_problems (serviceid, eventid) VALUES (?, ?) \
                 ON CONFLICT (serviceid, eventid) DO NOTHING",
                &params,
            )?;
        }
    }
    Ok(())
}

/// Stores changes of status, with their history and events.
pub(super) fn changes(state: &mut Statements<'_>, changes: &[Change], at: Moment) -> DbResult<()> {
    let ids: Vec<u64> = changes.iter().map(|change| change.service).collect();
    let described = described(state, &ids)?;
    let sql = formatcp!(
        "SELECT eventid, objectid FROM problems WHERE source = {SOURCE} AND object = {OBJECT} \
         AND r_eventid = 0 AND objectid IN ({{ids}}) ORDER BY eventid"
    );
    let open = query_by_ids(state, sql, &[], &ids)?;
    let open: BTreeMap<u64, u64> =
        open.iter().map(|row| (row.id("objectid"), row.id("eventid"))).collect();
    for change in changes {
        // A service that was deleted meanwhile is looked at with the next change of the configuration.
        let Some(service) = described.get(&change.service) else { continue };
        let problem = open.get(&change.service).copied();
        let mut updated = 0;
        match (problem, change.after) {
            (None, Some(severity)) => {
                let label = severity.label();
                let event = event(state, change, service, label, at)?;
                problem_of(state, event, change, service, at)?;
            }
            (Some(problem), Some(_)) => updated = problem,
            (Some(problem), None) => {
                let event = event(state, change, service, "OK", at)?;
                recover(state, problem, event, at)?;
            }
            (None, None) => {}
        }
        remember(state, change, at)?;
        state.insert_new(
            &table::SERVICE_ALARMS,
            &[
                ("serviceid", change.service.into()),
                ("clock", at.clock.into()),
                ("value", number(change.after).into()),
                ("eventid", updated.into()),
            ],
        )?;
    }
    Ok(())
}

fn described(state: &mut Statements<'_>, ids: &[u64]) -> DbResult<BTreeMap<u64, Described>> {
    let sql = "SELECT serviceid, name FROM services WHERE serviceid IN ({ids})";
    let rows = query_by_ids(state, sql, &[], ids)?;
    let described = |name: &str| Described { name: name.to_owned(), tags: Vec::new() };
    let mut found: BTreeMap<u64, Described> =
        rows.iter().map(|row| (row.id("serviceid"), described(row.text("name")))).collect();
    let sql = "SELECT serviceid, tag, value FROM service_tags WHERE serviceid IN ({ids}) \
               ORDER BY servicetagid";
    for row in query_by_ids(state, sql, &[], ids)? {
        if let Some(service) = found.get_mut(&row.id("serviceid")) {
            service.tags.push((row.text("tag").to_owned(), row.text("value").to_owned()));
        }
    }
    Ok(found)
}

fn name(service: &Described, status: &str) -> String {
    format!("Status of service \"{}\" changed to {status}", service.name)
}

fn event(
    state: &mut Statements<'_>,
    change: &Change,
    service: &Described,
    status: &str,
    at: Moment,
) -> DbResult<u64> {
    let id = state.next_id(&table::EVENTS, 1)?;
    let values: Vec<Value> = vec![
        id.into(),
        EventSource::Service.number().into(),
        EventObject::Service.number().into(),
        change.service.into(),
        at.clock.into(),
        at.ns.into(),
        i64::from(change.after.is_some()).into(),
        name(service, status).into(),
        number(change.after).into(),
    ];
    state.insert_many(&table::EVENTS, &EVENT, &[values])?;
    if !service.tags.is_empty() {
        let first = state.next_id(&table::EVENT_TAGS, service.tags.len() as u64)?;
        let row = |(tag_id, (tag, value)): (u64, &(String, String))| -> Vec<Value> {
            vec![tag_id.into(), id.into(), tag.as_str().into(), value.as_str().into()]
        };
        let rows: Vec<Vec<Value>> = (first..).zip(&service.tags).map(row).collect();
        state.insert_many(&table::EVENT_TAGS, &["eventtagid", "eventid", "tag", "value"], &rows)?;
    }
    Ok(id)
}

fn problem_of(
    state: &mut Statements<'_>,
    event: u64,
    change: &Change,
    service: &Described,
    at: Moment,
) -> DbResult<()> {
    let status = change.after.map_or("OK", |severity| severity.label());
    state.insert(
        &table::PROBLEMS,
        &[
            ("eventid", event.into()),
            ("source", EventSource::Service.number().into()),
            ("object", EventObject::Service.number().into()),
            ("objectid", change.service.into()),
            ("clock", at.clock.into()),
            ("ns", at.ns.into()),
            ("name", name(service, status).into()),
            ("severity", number(change.after).into()),
        ],
    )
}

fn recover(state: &mut Statements<'_>, problem: u64, event: u64, at: Moment) -> DbResult<()> {
    state.execute(
        "UPDATE problems SET r_eventid = ?, r_clock = ?, r_ns = ? WHERE eventid = ?",
        &[event.into(), at.clock.into(), at.ns.into(), problem.into()],
    )?;
    state.execute(
        "UPDATE events SET r_eventid = ? WHERE eventid = ?",
        &[event.into(), problem.into()],
    )?;
    Ok(())
}

fn remember(state: &mut Statements<'_>, change: &Change, at: Moment) -> DbResult<()> {
    if change.after.is_none() {
        return state.delete(&table::SERVICE_STATES, "serviceid", &[change.service]);
    }
    state
        .execute(
            "INSERT INTO service_states (serviceid, status, lastchange) VALUES (?, ?, ?) \
             ON CONFLICT (serviceid) DO UPDATE SET status = excluded.status, lastchange = excluded.lastchange",
            &[change.service.into(), number(change.after).into(), at.clock.into()],
        )
        .map(drop)
}

/// Removes what is stored of services that no longer exist. Their events stay as long as other events.
pub(super) fn forget(state: &mut Statements<'_>, services: &[u64]) -> DbResult<()> {
    for table in [&table::SERVICE_STATES, &table::SERVICE_PROBLEMS, &table::SERVICE_ALARMS] {
        state.delete(table, "serviceid", services)?;
    }
    let sql = formatcp!(
        "SELECT eventid FROM problems WHERE source = {SOURCE} AND object = {OBJECT} \
         AND r_eventid = 0 AND objectid IN ({{ids}})"
    );
    let open = query_by_ids(state, sql, &[], services)?;
    let open: Vec<u64> = open.iter().map(|row| row.id("eventid")).collect();
    state.delete(&table::PROBLEMS, "eventid", &open)?;
    // No event will end them.
    state.delete(&table::ESCALATIONS, "eventid", &open)
}

/// Removes the history of services before a moment, but for the last change before it, which says how a service was then.
/// Returns the number of rows; none is the end.
pub(super) fn expire(state: &mut Statements<'_>, before: i64) -> DbResult<u64> {
    state.execute(
        "DELETE FROM service_alarms WHERE servicealarmid IN (SELECT a.servicealarmid FROM service_alarms a \
         WHERE a.clock < ? AND EXISTS (SELECT 1 FROM service_alarms b WHERE b.serviceid = a.serviceid \
         AND b.clock <= ? AND b.servicealarmid > a.servicealarmid) LIMIT 5000)",
        &[before.into(), before.into()],
    )
}
