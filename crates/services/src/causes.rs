//! Which problems are the cause of a service's status: its own, and those of children that are not in order and count.

use config::db::{DbResult, Reader, Row, query_by_ids};
use const_format::formatcp;
use objects::PropagationRule;

/// An open problem that a service has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub service: u64,
    pub event: u64,
    /// Whose hosts decide who sees it.
    pub trigger: u64,
    pub name: String,
    /// The API's number.
    pub severity: i64,
    /// When it began, seconds since 1970.
    pub clock: i64,
}

const CAUSES: &str = formatcp!(
    "WITH RECURSIVE causes(service, below) AS (SELECT s.serviceid, s.serviceid FROM service_states s \
     WHERE s.serviceid IN ({{ids}}) UNION SELECT c.service, l.serviceid FROM causes c \
     JOIN service_links l ON l.parentid = c.below JOIN service_states s ON s.serviceid = l.serviceid \
     JOIN services v ON v.serviceid = l.serviceid WHERE v.propagation_rule <> {}) \
     SELECT DISTINCT c.service AS service, p.eventid AS eventid, p.objectid AS objectid, p.name AS name, \
     p.severity AS severity, p.clock AS clock FROM causes c JOIN service_problems sp ON sp.serviceid = c.below \
     JOIN problems p ON p.eventid = sp.eventid WHERE p.r_eventid = 0",
    PropagationRule::Ignore.text()
);

/// The causes of these services' statuses, oldest first. Services that are in order have none.
pub fn causes(connection: &mut dyn Reader, services: &[u64]) -> DbResult<Vec<Cause>> {
    let cause = |row: &Row| Cause {
        service: row.id("service"),
        event: row.id("eventid"),
        trigger: row.id("objectid"),
        name: row.text("name").to_owned(),
        severity: row.int("severity"),
        clock: row.int("clock"),
    };
    let rows = query_by_ids(connection, CAUSES, &[], services)?;
    let mut found: Vec<Cause> = rows.iter().map(cause).collect();
    found.sort_unstable_by_key(|cause| (cause.service, cause.event));
    Ok(found)
}
