//! Host groups that discovery has made: where they come from, and how long they stay.

use std::collections::{BTreeMap, BTreeSet};

use super::lost::{Known, Mark, Tables};
use super::{Stage, Stop, Work};
use crate::Edit;
use crate::db::{Connection, DbResult, Row, Value, placeholders, query_by_ids};

/// A group that a prototype makes: the prototype's id, the pattern, the group's name.
pub(super) type Made = (u64, String, String);

/// Notes where discovered groups come from; those that no row makes any more go after the rule's
/// lifetime, once no host is in them. Groups of people stay what they are.
pub(super) fn discover(
    stage: &mut Stage<'_, '_>,
    work: &mut Work<'_>,
    wanted: &BTreeSet<Made>,
) -> Result<(), Stop> {
    let existing = load(stage.connection(), work)?;
    let known: BTreeSet<Made> = existing.iter().map(made).collect();
    let missing: Vec<&Made> = wanted.difference(&known).collect();
    let ids = discovered(stage.connection(), &missing)?;
    let rows: Vec<[(&str, Value); 4]> = missing
        .iter()
        .filter_map(|(prototype, pattern, name)| {
            Some([
                ("groupid", (*ids.get(name)?).into()),
                ("parent_hostid", (*prototype).into()),
                ("name", pattern.as_str().into()),
                ("lastcheck", work.clock_s.into()),
            ])
        })
        .collect();
    if !rows.is_empty() {
        let Some(edit) = stage.edit() else { return Err(Stop::Changes) };
        for row in &rows {
            edit.insert_new("group_discovery", row)?;
        }
    }
    let known: Vec<Known> = existing
        .iter()
        .map(|row| Known {
            id: row.id("groupdiscoveryid"),
            found: wanted.contains(&made(row)),
            mark: Mark::from_row(row),
            // A group cannot be disabled.
            status: 1,
        })
        .collect();
    let fates = work.fates(&known);
    let tables =
        Tables { objects: "groups_", discovery: "group_discovery", key: "groupdiscoveryid" };
    fates.write(stage, &tables)?;
    if let Some(edit) = stage.edit() {
        delete(edit, &fates.delete)?;
    }
    Ok(())
}

fn made(row: &Row) -> Made {
    let text = |name: &str| row.text(name).to_owned();
    (row.id("parent_hostid"), text("name"), text("group_name"))
}

fn load(connection: &mut dyn Connection, work: &Work<'_>) -> DbResult<Vec<Row>> {
    let prototypes: Vec<u64> = work.rule.hosts.iter().map(|one| one.id()).collect();
    let sql = format!(
        "SELECT d.groupdiscoveryid, d.parent_hostid, d.name, g.name AS group_name, {} \
         FROM group_discovery d JOIN groups_ g ON g.groupid = d.groupid \
         WHERE d.parent_hostid IN ({{ids}})",
        Mark::COLUMNS
    );
    query_by_ids(connection, &sql, &[], &prototypes)
}

/// Ids of the groups by name, as far as discovery has made them.
fn discovered(
    connection: &mut dyn Connection,
    wanted: &[&Made],
) -> DbResult<BTreeMap<String, u64>> {
    let mut ids = BTreeMap::new();
    for portion in wanted.chunks(1_000) {
        let marks = placeholders(portion.len());
        let sql = format!(
            "SELECT groupid, name FROM groups_ WHERE type = 0 AND flags = 4 AND name IN ({marks})"
        );
        let names: Vec<Value> = portion.iter().map(|(.., name)| name.as_str().into()).collect();
        for row in connection.query(&sql, &names)? {
            ids.insert(row.text("name").to_owned(), row.id("groupid"));
        }
    }
    Ok(ids)
}

/// Forgets origins, and deletes groups that have none left; one with hosts in it stays.
fn delete(edit: &mut Edit<'_>, origins: &[u64]) -> DbResult<()> {
    let sql = "SELECT DISTINCT groupid FROM group_discovery WHERE groupdiscoveryid IN ({ids})";
    let groups = query_by_ids(edit.connection(), sql, &[], origins)?;
    edit.delete("group_discovery", "groupdiscoveryid", origins)?;
    let groups: Vec<u64> = groups.iter().map(|row| row.id("groupid")).collect();
    let sql = "SELECT g.groupid FROM groups_ g WHERE g.flags = 4 AND g.groupid IN ({ids}) \
               AND g.groupid NOT IN (SELECT groupid FROM group_discovery) \
               AND g.groupid NOT IN (SELECT groupid FROM host_groups) \
               AND g.groupid NOT IN (SELECT groupid FROM group_prototypes)";
    let gone = query_by_ids(edit.connection(), sql, &[], &groups)?;
    let gone: Vec<u64> = gone.iter().map(|row| row.id("groupid")).collect();
    edit.delete("groups_", "groupid", &gone)
}
