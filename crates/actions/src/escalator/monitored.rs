//! What the configuration says about the triggers of problems: what conditions compare, and what an escalation cannot go
//! on without.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, query_by_ids};
use objects::{Severity, Status};

use crate::conditions::Origin;
use crate::escalation::Missing;

/// Templates above each other that are followed.
const DEPTH_MAX: usize = 64;

/// A trigger, an item or a discovery rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Trigger(u64),
    /// Or a discovery rule.
    Item(u64),
}

/// One of them that exists.
#[derive(Debug, Clone)]
pub(super) struct Monitored {
    /// Of a trigger.
    pub(super) severity: Severity,
    pub(super) hosts: BTreeSet<u64>,
    /// It, one of a trigger's items or one of the hosts is switched off.
    pub(super) missing: Option<Missing>,
}

/// Reads triggers and items; those that do not exist are missing.
pub(super) fn read(
    connection: &mut dyn Reader,
    keys: &BTreeSet<Key>,
) -> DbResult<BTreeMap<Key, Monitored>> {
    let (of_triggers, of_items) = split(keys.iter());
    let triggers = triggers(connection, &of_triggers)?;
    let items = items(connection, &of_items)?;
    let triggers = triggers.into_iter().map(|(id, one)| (Key::Trigger(id), one));
    Ok(triggers.chain(items.into_iter().map(|(id, one)| (Key::Item(id), one))).collect())
}

/// Ids of triggers and of items.
fn split<'k>(keys: impl Iterator<Item = &'k Key>) -> (Vec<u64>, Vec<u64>) {
    let (mut triggers, mut items) = (Vec::new(), Vec::new());
    for key in keys {
        match key {
            Key::Trigger(id) => triggers.push(*id),
            Key::Item(id) => items.push(*id),
        }
    }
    (triggers, items)
}

fn items(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, Monitored>> {
    let sql = "SELECT i.itemid AS itemid, i.key_ AS key_, i.status AS item_status, \
               h.hostid AS hostid, h.host AS host, h.status AS host_status \
               FROM items i JOIN hosts h ON h.hostid = i.hostid WHERE i.itemid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let item = |row: &Row| Monitored {
        severity: Severity::NotClassified,
        hosts: BTreeSet::from([row.id("hostid")]),
        missing: switched_off(row),
    };
    Ok(rows.iter().map(|row| (row.id("itemid"), item(row))).collect())
}

/// The item, or its host.
fn switched_off(row: &Row) -> Option<Missing> {
    let off = |name: &str| !Status::Enabled.is(row.int(name));
    if off("item_status") {
        Some(Missing::Item(row.text("key_").to_owned()))
    } else if off("host_status") {
        Some(Missing::Host(row.text("host").to_owned()))
    } else {
        None
    }
}

fn triggers(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, Monitored>> {
    let off = |status: i64| !Status::Enabled.is(status);
    let sql = "SELECT triggerid, description, status, priority FROM triggers \
               WHERE triggerid IN ({ids})";
    let mut found = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        let name = || Missing::Trigger(row.text("description").to_owned());
        let trigger = Monitored {
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
        let missing = switched_off(&row);
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

/// What conditions compare: origins, and the triggers that a trigger is inherited from, with itself.
pub(super) type Origins = BTreeMap<Key, (Origin, BTreeSet<u64>)>;

/// Reads the origins of triggers and items.
pub(super) fn origins(
    connection: &mut dyn Reader,
    objects: &BTreeMap<Key, Monitored>,
) -> DbResult<Origins> {
    let (triggers, items) = split(objects.keys());
    let of_triggers = chains(connection, &TRIGGERS, &triggers)?;
    let of_items = chains(connection, &ITEMS, &items)?;
    let hosts: BTreeSet<u64> = objects.values().flat_map(|one| &one.hosts).copied().collect();
    let groups = groups_of(connection, &Vec::from_iter(hosts))?;
    let mut found = Origins::new();
    for (chains, inheritance) in [(of_triggers, &TRIGGERS), (of_items, &ITEMS)] {
        let above: BTreeSet<u64> = chains.values().flatten().copied().collect();
        let templates = templates_of(connection, inheritance, &Vec::from_iter(above))?;
        for (key, object) in objects {
            let of_kind = (key, inheritance.is_of_items);
            let ((Key::Trigger(id), false) | (Key::Item(id), true)) = of_kind else { continue };
            let chain = chains.get(id).cloned().unwrap_or_default();
            let of = |map: &BTreeMap<u64, BTreeSet<u64>>, keys: &BTreeSet<u64>| -> BTreeSet<u64> {
                keys.iter().filter_map(|key| map.get(key)).flatten().copied().collect()
            };
            let origin = Origin {
                hosts: object.hosts.clone(),
                groups: of(&groups, &object.hosts),
                templates: of(&templates, &chain),
            };
            found.insert(*key, (origin, chain.into_iter().chain([*id]).collect()));
        }
    }
    Ok(found)
}

/// How objects of a kind are inherited: queries by `{ids}`, whose rows are an id and the one above it.
struct Inheritance {
    is_of_items: bool,
    /// From templates.
    inherited: &'static str,
    /// From prototypes.
    discovered: &'static str,
    /// The hosts or templates of objects.
    hosts: &'static str,
}

static TRIGGERS: Inheritance = Inheritance {
    is_of_items: false,
    inherited: "SELECT triggerid AS id, templateid AS above FROM triggers \
                WHERE templateid <> 0 AND triggerid IN ({ids})",
    discovered: "SELECT triggerid AS id, parent_triggerid AS above FROM trigger_discovery \
                 WHERE triggerid IN ({ids})",
    hosts: "SELECT f.triggerid AS id, i.hostid AS hostid FROM functions f \
            JOIN items i ON i.itemid = f.itemid WHERE f.triggerid IN ({ids})",
};

static ITEMS: Inheritance = Inheritance {
    is_of_items: true,
    inherited: "SELECT itemid AS id, templateid AS above FROM items \
                WHERE templateid <> 0 AND itemid IN ({ids})",
    discovered: "SELECT itemid AS id, parent_itemid AS above FROM item_discovery \
                 WHERE itemid IN ({ids})",
    hosts: "SELECT itemid AS id, hostid FROM items WHERE itemid IN ({ids})",
};

/// The objects of templates that each object is inherited from; for discovered ones also those of the prototype.
fn chains(
    connection: &mut dyn Reader,
    inheritance: &Inheritance,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, BTreeSet<u64>>> {
    let mut chains: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    // The lowest objects below each object whose template is wanted.
    let mut level: BTreeMap<u64, BTreeSet<u64>> =
        ids.iter().map(|id| (*id, BTreeSet::from([*id]))).collect();
    for depth in 0..DEPTH_MAX {
        let wanted: Vec<u64> = level.keys().copied().collect();
        let mut rows = query_by_ids(connection, inheritance.inherited, &[], &wanted)?;
        if depth == 0 {
            rows.extend(query_by_ids(connection, inheritance.discovered, &[], &wanted)?);
        }
        let mut next: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for row in &rows {
            let Some(below) = level.get(&row.id("id")) else { continue };
            let above = row.id("above");
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

/// The hosts or templates of objects, by object.
fn templates_of(
    connection: &mut dyn Reader,
    inheritance: &Inheritance,
    objects: &[u64],
) -> DbResult<BTreeMap<u64, BTreeSet<u64>>> {
    let mut found: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for row in query_by_ids(connection, inheritance.hosts, &[], objects)? {
        found.entry(row.id("id")).or_default().insert(row.id("hostid"));
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
