//! Reads what texts tell about a service.

use std::cmp::Reverse;

use config::Snapshot;
use config::db::{DbResult, Reader};
use model::TriggerId;
use services::causes::{Cause, causes};

use super::Needs;
use super::facts::{Line, Service};
use super::row::{read_tags, severity};

/// Causes that a text lists.
const CAUSES_MAX: usize = 1000;

/// `None` = it is deleted.
pub(super) fn read(
    c: &mut dyn Reader,
    snapshot: &Snapshot,
    id: u64,
    needs: &Needs,
) -> DbResult<Option<Service>> {
    let sql = "SELECT name, description FROM services WHERE serviceid = ?";
    let rows = c.query(sql, &[id.into()])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let sql = "SELECT tag, value FROM service_tags WHERE serviceid = ? ORDER BY servicetagid";
    let tags = c.query(sql, &[id.into()])?;
    let tags = tags.iter().map(|row| (row.text("tag").to_owned(), row.text("value").to_owned()));
    let root_cause = if needs.problems { read_causes(c, snapshot, id)? } else { Vec::new() };
    Ok(Some(Service {
        name: row.text("name").to_owned(),
        description: row.text("description").to_owned(),
        tags: tags.collect(),
        root_cause,
    }))
}

fn read_causes(c: &mut dyn Reader, snapshot: &Snapshot, id: u64) -> DbResult<Vec<Line>> {
    let mut found = causes(c, &[id])?;
    found.sort_by_key(|cause| Reverse(cause.severity));
    found.truncate(CAUSES_MAX);
    let events: Vec<u64> = found.iter().map(|cause| cause.event).collect();
    let mut tags = read_tags(c, &events)?;
    let hosts = |trigger: u64| {
        let trigger = snapshot.triggers.get(&TriggerId(trigger));
        let ids = trigger.map(|trigger| snapshot.hosts_of(trigger)).unwrap_or_default();
        let hosts = ids.iter().filter_map(|id| snapshot.hosts.get(id));
        hosts.map(|host| host.host.to_string()).collect()
    };
    let line = |cause: Cause| Line {
        hosts: hosts(cause.trigger),
        severity: severity(cause.severity),
        clock: u32::try_from(cause.clock).unwrap_or(0),
        tags: tags.remove(&cause.event).unwrap_or_default(),
        name: cause.name,
    };
    Ok(found.into_iter().map(line).collect())
}
