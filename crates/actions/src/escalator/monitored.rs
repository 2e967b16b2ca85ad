//! What the configuration says about the triggers of problems: what conditions compare, and what an escalation cannot go
//! on without.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, query_by_ids};
use objects::{Severity, Status};

use crate::conditions::Origin;
use crate::escalation::Missing;

/// Templates above each other that are followed.
const DEPTH_MAX: usize = 64;

/// A trigger that exists.
#[derive(Debug, Clone)]
pub(super) struct Trigger {
    pub(super) severity: Severity,
    pub(super) hosts: BTreeSet<u64>,
    /// It, one of its items or one of its hosts is switched off.
    pub(super) missing: Option<Missing>,
}

/// Reads triggers by id; those that do not exist are missing.
pub(super) fn triggers(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, Trigger>> {
    let off = |status: i64| !Status::Enabled.is(status);
    let sql = "SELECT triggerid, description, status, priority FROM triggers \
               WHERE triggerid IN ({ids})";
    let mut found = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        let name = || Missing::Trigger(row.text("description").to_owned());
        let trigger = Trigger {
            severity: Severity::from_number(row.int("priority")).unwrap_or(Severity::NotClassified),
            hosts: BTreeSet::new(),
            missing: off(row.int("status")).then(name),
        };
        found.insert(row.id("triggerid"), trigger);
    }
    let sql = "SELECT f.triggerid AS triggerid, i.key_ AS key_, i.status AS item_status, \
               h.hostid AS hostid, h.host AS host, h.status AS host_status FROM functions f \
               JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
               WHERE f.triggerid IN ({ids}) ORDER BY f.functionid";
    for row in query_by_ids(connection, sql, &[], ids)? {
        let Some(trigger) = found.get_mut(&row.id("triggerid")) else { continue };
        trigger.hosts.insert(row.id("hostid"));
        let missing = if off(row.int("item_status")) {
            Some(Missing::Item(row.text("key_").to_owned()))
        } else if off(row.int("host_status")) {
            Some(Missing::Host(row.text("host").to_owned()))
        } else {
            None
        };
        trigger.missing = trigger.missing.take().or(missing);
    }
    Ok(found)
}

/// Names of services by id; those that do not exist are missing.
pub(super) fn services(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, String>> {
    let sql = "SELECT serviceid, name FROM services WHERE serviceid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    Ok(rows.iter().map(|row| (row.id("serviceid"), row.text("name").to_owned())).collect())
}

/// What conditions compare: origins and the triggers that they are inherited from, by trigger.
pub(super) type Origins = BTreeMap<u64, (Origin, BTreeSet<u64>)>;

/// Reads the origins of triggers.
pub(super) fn origins(
    connection: &mut dyn Reader,
    triggers: &BTreeMap<u64, Trigger>,
) -> DbResult<Origins> {
    let ids: Vec<u64> = triggers.keys().copied().collect();
    let chains = chains(connection, &ids)?;
    let above: BTreeSet<u64> = chains.values().flatten().copied().collect();
    let templates = templates_of(connection, &Vec::from_iter(above))?;
    let hosts: BTreeSet<u64> = triggers.values().flat_map(|one| &one.hosts).copied().collect();
    let groups = groups_of(connection, &Vec::from_iter(hosts))?;
    let mut found = Origins::new();
    for (id, trigger) in triggers {
        let chain = chains.get(id).cloned().unwrap_or_default();
        let of = |map: &BTreeMap<u64, BTreeSet<u64>>, keys: &BTreeSet<u64>| -> BTreeSet<u64> {
            keys.iter().filter_map(|key| map.get(key)).flatten().copied().collect()
        };
        let origin = Origin {
            hosts: trigger.hosts.clone(),
            groups: of(&groups, &trigger.hosts),
            templates: of(&templates, &chain),
        };
        found.insert(*id, (origin, chain.into_iter().chain([*id]).collect()));
    }
    Ok(found)
}

/// The triggers of templates that each trigger is inherited from; for discovered ones also those of the prototype.
fn chains(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, BTreeSet<u64>>> {
    let mut chains: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    // The lowest triggers below each trigger whose template is wanted.
    let mut level: BTreeMap<u64, BTreeSet<u64>> =
        ids.iter().map(|id| (*id, BTreeSet::from([*id]))).collect();
    for depth in 0..DEPTH_MAX {
        let wanted: Vec<u64> = level.keys().copied().collect();
        let sql = "SELECT triggerid, templateid FROM triggers WHERE templateid <> 0 \
                   AND triggerid IN ({ids})";
        let mut rows = query_by_ids(connection, sql, &[], &wanted)?;
        if depth == 0 {
            let sql = "SELECT triggerid, parent_triggerid AS templateid FROM trigger_discovery \
                       WHERE triggerid IN ({ids})";
            rows.extend(query_by_ids(connection, sql, &[], &wanted)?);
        }
        let mut next: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for row in &rows {
            let Some(below) = level.get(&row.id("triggerid")) else { continue };
            let above = row.id("templateid");
            next.entry(above).or_default().extend(below);
            for id in below {
                chains.entry(*id).or_default().insert(above);
            }
        }
        level = next;
        if level.is_empty() {
            break;
        }
    }
    Ok(chains)
}

/// The hosts or templates of triggers, by trigger.
fn templates_of(
    connection: &mut dyn Reader,
    triggers: &[u64],
) -> DbResult<BTreeMap<u64, BTreeSet<u64>>> {
    let sql = "SELECT f.triggerid AS triggerid, i.hostid AS hostid FROM functions f \
               JOIN items i ON i.itemid = f.itemid WHERE f.triggerid IN ({ids})";
    let mut found: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], triggers)? {
        found.entry(row.id("triggerid")).or_default().insert(row.id("hostid"));
    }
    Ok(found)
}

/// The groups of hosts, and those that these are nested under, by host.
fn groups_of(connection: &mut dyn Reader, hosts: &[u64]) -> DbResult<BTreeMap<u64, BTreeSet<u64>>> {
    let sql = "SELECT hg.hostid AS hostid, g.groupid AS groupid, g.name AS name, g.type AS type \
               FROM host_groups hg JOIN groups_ g ON g.groupid = hg.groupid \
               WHERE hg.hostid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], hosts)?;
    let nested = rows.iter().any(|row| row.text("name").contains('/'));
    let mut by_name: BTreeMap<(i64, String), u64> = BTreeMap::new();
    if nested {
        for row in connection.query("SELECT groupid, name, type FROM groups_", &[])? {
            by_name.insert((row.int("type"), row.text("name").to_owned()), row.id("groupid"));
        }
    }
    let mut found: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for row in &rows {
        let groups = found.entry(row.id("hostid")).or_default();
        groups.insert(row.id("groupid"));
        let name = row.text("name");
        let above = name.match_indices('/').map(|(at, _)| (row.int("type"), name[..at].to_owned()));
        groups.extend(above.filter_map(|key| by_name.get(&key)));
    }
    Ok(found)
}
