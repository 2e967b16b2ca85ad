//! What the database says about services, and about problems of triggers.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use const_format::formatcp;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};
use objects::{
    EventSource, ProblemAction, PropagationRule, ServiceAlgorithm, ServiceTagOperator, Severity,
    StatusRuleKind,
};

use super::matching::{ProblemTag, Tag};
use crate::tree::{Propagation, Service, Status, StatusRule, from_number};

/// Events, updates and open problems that are looked at together.
const BATCH_MAX: usize = 1_000;

/// Rows of these services, or of all.
fn rows(connection: &mut dyn Reader, sql: &str, services: Option<&[u64]>) -> DbResult<Vec<Row>> {
    match services {
        None => connection.query(sql, &[]),
        Some(ids) => {
            query_by_ids(connection, &format!("{sql} WHERE serviceid IN ({{ids}})"), &[], ids)
        }
    }
}

/// What decides the status of services.
pub(super) fn services(
    connection: &mut dyn Reader,
    ids: Option<&[u64]>,
) -> DbResult<BTreeMap<u64, Service>> {
    let sql =
        "SELECT serviceid, algorithm, weight, propagation_rule, propagation_value FROM services";
    let service = |row: &Row| Service {
        algorithm: ServiceAlgorithm::from_number(row.int("algorithm"))
            .unwrap_or(ServiceAlgorithm::Ok),
        propagation: Propagation {
            rule: PropagationRule::from_number(row.int("propagation_rule"))
                .unwrap_or(PropagationRule::AsIs),
            value: row.int("propagation_value"),
        },
        weight: row.id("weight"),
        rules: Vec::new(),
    };
    let found = rows(connection, sql, ids)?;
    let mut found: BTreeMap<u64, Service> =
        found.iter().map(|row| (row.id("serviceid"), service(row))).collect();
    let sql =
        "SELECT serviceid, type, limit_value, limit_status, new_status FROM service_status_rules";
    for row in rows(connection, sql, ids)? {
        // One of a later version does nothing.
        if let (Some(service), Some(kind), Some(new_status)) = (
            found.get_mut(&row.id("serviceid")),
            StatusRuleKind::from_number(row.int("type")),
            Severity::from_number(row.int("new_status")),
        ) {
            let (limit, status) = (row.id("limit_value"), from_number(row.int("limit_status")));
            service.rules.push(StatusRule { kind, limit, status, new_status });
        }
    }
    Ok(found)
}

/// Parents by service.
pub(super) fn parents(
    connection: &mut dyn Reader,
    ids: Option<&[u64]>,
) -> DbResult<BTreeMap<u64, Vec<u64>>> {
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in rows(connection, "SELECT serviceid, parentid FROM service_links", ids)? {
        found.entry(row.id("serviceid")).or_default().push(row.id("parentid"));
    }
    Ok(found)
}

/// Problem tags by service.
pub(super) fn problem_tags(
    connection: &mut dyn Reader,
    ids: Option<&[u64]>,
) -> DbResult<BTreeMap<u64, Vec<ProblemTag>>> {
    let mut found: BTreeMap<u64, Vec<ProblemTag>> = BTreeMap::new();
    let sql = "SELECT serviceid, tag, operator, value FROM service_problem_tags";
    for row in rows(connection, sql, ids)? {
        let operator = ServiceTagOperator::from_number(row.int("operator"));
        found.entry(row.id("serviceid")).or_default().push(ProblemTag {
            name: row.text("tag").to_owned(),
            operator: operator.unwrap_or(ServiceTagOperator::Equals),
            value: row.text("value").to_owned(),
        });
    }
    Ok(found)
}

/// Statuses as they were stored, of services that were not in order.
pub(super) fn statuses(connection: &mut dyn Reader) -> DbResult<BTreeMap<u64, Status>> {
    let rows = connection.query("SELECT serviceid, status FROM service_states", &[])?;
    Ok(rows.iter().map(|row| (row.id("serviceid"), from_number(row.int("status")))).collect())
}

/// Pairs of service and problem as they were stored.
pub(super) fn links(connection: &mut dyn Reader) -> DbResult<Vec<(u64, u64)>> {
    let rows = connection.query("SELECT serviceid, eventid FROM service_problems", &[])?;
    Ok(rows.iter().map(|row| (row.id("serviceid"), row.id("eventid"))).collect())
}

/// An open problem of a trigger.
#[derive(Debug)]
pub(super) struct OpenProblem {
    pub(super) event: u64,
    pub(super) severity: Severity,
    pub(super) tags: Vec<Tag>,
}

const OPEN: &str = formatcp!(
    "SELECT eventid, severity FROM problems \
     WHERE source = {SOURCE_TRIGGER} AND object = {OBJECT_TRIGGER} AND r_eventid = 0"
);

/// Those of these problems that are open.
pub(super) fn open(connection: &mut dyn Reader, events: &[u64]) -> DbResult<Vec<OpenProblem>> {
    let sql = formatcp!("{OPEN} AND eventid IN ({{ids}})");
    let rows = query_by_ids(connection, sql, &[], events)?;
    with_tags(connection, &rows)
}

/// The open problems that follow this one, a portion of them; none is the end.
pub(super) fn open_after(connection: &mut dyn Reader, event: u64) -> DbResult<Vec<OpenProblem>> {
    let sql = formatcp!("{OPEN} AND eventid > ? ORDER BY eventid LIMIT {BATCH_MAX}");
    let rows = connection.query(sql, &[event.into()])?;
    with_tags(connection, &rows)
}

fn with_tags(connection: &mut dyn Reader, rows: &[Row]) -> DbResult<Vec<OpenProblem>> {
    let problem = |row: &Row| OpenProblem {
        event: row.id("eventid"),
        severity: Severity::from_number(row.int("severity")).unwrap_or(Severity::NotClassified),
        tags: Vec::new(),
    };
    let mut found: Vec<OpenProblem> = rows.iter().map(problem).collect();
    found.sort_unstable_by_key(|one| one.event);
    let ids: Vec<u64> = found.iter().map(|one| one.event).collect();
    let sql = "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        if let Ok(at) = found.binary_search_by_key(&row.id("eventid"), |one| one.event) {
            found[at].tags.push((row.text("tag").to_owned(), row.text("value").to_owned()));
        }
    }
    Ok(found)
}

/// Up to which event and which update of problems services are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    event: u64,
    update: u64,
}

impl Position {
    /// After everything that exists.
    pub(super) fn newest(connection: &mut dyn Reader) -> DbResult<Self> {
        let mut newest = |table: &str, id: &str| -> DbResult<u64> {
            let sql = format!("SELECT COALESCE(MAX({id}), 0) AS newest FROM {table}");
            Ok(connection.query(&sql, &[])?.first().map_or(0, |row| row.id("newest")))
        };
        Ok(Self {
            event: newest("events", "eventid")?,
            update: newest("acknowledges", "acknowledgeid")?,
        })
    }

    /// Problems that something happened to after the position, which moves.
    pub(super) fn news(&mut self, connection: &mut dyn Reader) -> DbResult<News> {
        let sql = formatcp!(
            "SELECT eventid, source, value FROM events WHERE eventid > ? ORDER BY eventid LIMIT {BATCH_MAX}"
        );
        let events = connection.query(sql, &[self.event.into()])?;
        let is_of_trigger = |row: &&Row| EventSource::Trigger.is(row.int("source"));
        let of_value = |value: i64| -> Vec<u64> {
            let rows = events.iter().filter(is_of_trigger).filter(|row| row.int("value") == value);
            rows.map(|row| row.id("eventid")).collect()
        };
        let mut news = News { fresh: of_value(1), ..News::default() };
        let sql = "SELECT eventid FROM problems WHERE r_eventid IN ({ids})";
        let ended = query_by_ids(connection, sql, &[], &of_value(0))?;
        news.touched.extend(ended.iter().map(|row| row.id("eventid")));
        let sql = formatcp!(
            "SELECT acknowledgeid, eventid, action FROM acknowledges WHERE acknowledgeid > ? \
             ORDER BY acknowledgeid LIMIT {BATCH_MAX}"
        );
        let updates = connection.query(sql, &[self.update.into()])?;
        let concerns = ProblemAction::Severity.bit()
            | ProblemAction::Suppress.bit()
            | ProblemAction::Unsuppress.bit();
        let concerned = updates.iter().filter(|row| row.int("action") & i64::from(concerns) != 0);
        news.touched.extend(concerned.map(|row| row.id("eventid")));
        news.is_full = events.len() == BATCH_MAX || updates.len() == BATCH_MAX;
        self.event = events.last().map_or(self.event, |row| row.id("eventid"));
        self.update = updates.last().map_or(self.update, |row| row.id("acknowledgeid"));
        Ok(news)
    }
}

/// What happened after a position.
#[derive(Debug, Default)]
pub(super) struct News {
    /// New problems, oldest first.
    pub(super) fresh: Vec<u64>,
    /// Problems that ended or were changed.
    pub(super) touched: Vec<u64>,
    /// There may be more.
    pub(super) is_full: bool,
}

/// The number of the last transaction that changed the configuration.
pub(super) fn revision(connection: &mut dyn Reader) -> DbResult<u64> {
    let sql = "SELECT COALESCE(MAX(revision), 0) AS revision FROM changes";
    let none: &[Value] = &[];
    Ok(connection.query(sql, none)?.first().map_or(0, |row| row.id("revision")))
}
