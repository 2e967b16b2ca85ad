//! Health monitors: those of engines, and those that look at monitored hosts.

use std::collections::BTreeMap;

use balancing::Health;
use serde_json::{Map, Value as Json, json};

use super::compile::{Result, add_given, invalid, parsed, typed};
use super::hosts::{TRIGGER, TriggerFilter};
use crate::db::{DbResult, Reader, Row, query_by_ids};

/// A health monitor of the server's configuration.
#[derive(Debug, Clone)]
pub enum Monitor {
    /// Engines check servers.
    Engines(Box<Health>),
    /// Problems of the monitored hosts that servers are.
    Triggers(TriggerFilter),
}

impl Monitor {
    pub(super) fn of_engines(&self) -> Option<&Health> {
        match self {
            Self::Engines(health) => Some(health),
            Self::Triggers(_) => None,
        }
    }

    /// Checks what the monitor's type needs.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> std::result::Result<(), String> {
        match self {
            Self::Engines(health) => health.check(),
            Self::Triggers(filter) => filter.check(),
        }
    }
}

/// Health monitors by id, those that exist.
///
/// # Errors
/// See [`CompileError`].
pub fn monitors(connection: &mut dyn Reader, ids: &[u64]) -> Result<BTreeMap<u64, Monitor>> {
    let sql = "SELECT * FROM healthmonitors WHERE healthmonitorid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    rows.iter().map(|row| Ok((row.id("healthmonitorid"), monitor(row)?))).collect()
}

fn monitor(row: &Row) -> Result<Monitor> {
    let object = format!("health monitor '{}'", row.text("name"));
    let filter = parsed::<Map<String, Json>>(row, "trigger_filter", &object)?;
    if row.text("type") == TRIGGER {
        return Ok(Monitor::Triggers(typed(filter.into(), &object)?));
    }
    if !filter.is_empty() {
        return Err(invalid(&object, "'trigger_filter' is for monitors of type trigger"));
    }
    let mut members = json!({
        "name": row.text("name"),
        "status": row.int("status"),
        "up": row.int("up"),
        "down": row.int("down"),
    });
    add_given(
        &mut members,
        row,
        &["type", "path", "body", "interval", "timeout"],
        &["udp", "dns", "script"],
    )?;
    Ok(Monitor::Engines(Box::new(typed(members, &object)?)))
}

/// Ids of the pools that use a health monitor.
///
/// # Errors
/// The database.
pub fn pools_of_monitor(connection: &mut dyn Reader, monitor: u64) -> DbResult<Vec<u64>> {
    let sql = "WITH used (id) AS (SELECT CAST(? AS BIGINT)) SELECT poolid FROM pools \
               WHERE healthmonitorid IN (SELECT id FROM used) OR poolid IN \
                 (SELECT m.poolid FROM pool_monitors m JOIN used ON used.id = m.healthmonitorid)";
    Ok(connection.query(sql, &[monitor.into()])?.iter().map(|row| row.id("poolid")).collect())
}

/// Ids of the health monitors of pools, in their order.
///
/// # Errors
/// The database.
pub(super) fn monitors_of_pools(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, Vec<u64>>> {
    let mut used: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let first = "SELECT poolid, healthmonitorid FROM pools \
                 WHERE poolid IN ({ids}) AND healthmonitorid <> 0";
    let further = "SELECT poolid, healthmonitorid FROM pool_monitors \
                   WHERE poolid IN ({ids}) ORDER BY poolid, position";
    for sql in [first, further] {
        for row in query_by_ids(connection, sql, &[], ids)? {
            used.entry(row.id("poolid")).or_default().push(row.id("healthmonitorid"));
        }
    }
    Ok(used)
}
