//! Patterns of groups that host prototypes have, and the groups that discovery has made of them.

use crate::table;
use objects::{MapElementType, Origin};
use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::FLAGS_DISCOVERED;

use super::{delete_elements_of, ids_of};
use crate::Edit;
use crate::db::{DbResult, Value};

/// The name of groups with LLD macros, as a host prototype is given it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupPrototype {
    /// Which one of the prototype's it changes; 0 = the one of the same name, or a new one.
    pub id: u64,
    /// The name, with macros.
    pub name: String,
}

impl From<&str> for GroupPrototype {
    fn from(name: &str) -> Self {
        Self { id: 0, name: name.to_owned() }
    }
}

/// Gives a host prototype these patterns. Those that stay keep their ids, by which discovered
/// groups know where they come from; groups of those that go are deleted.
pub(super) fn write_group_prototypes(
    edit: &mut Edit<'_>,
    prototype: u64,
    wanted: &[GroupPrototype],
) -> DbResult<()> {
    let sql = "SELECT group_prototypeid, name FROM group_prototypes \
               WHERE groupid = 0 AND hostid = ? ORDER BY group_prototypeid";
    let mut left = edit.query(sql, &[prototype.into()])?;
    let mut claim = |one: &GroupPrototype| {
        let named = |id: u64| wanted.iter().any(|other| other.id == id);
        let at = left.iter().position(|row| match (one.id, row.id("group_prototypeid")) {
            (0, id) => row.text("name") == one.name && !named(id),
            (wanted, id) => wanted == id,
        })?;
        Some(left.remove(at))
    };
    let found: Vec<_> = wanted.iter().map(|one| (one, claim(one))).collect();
    let gone: Vec<u64> = left.iter().map(|row| row.id("group_prototypeid")).collect();
    edit.delete(&table::GROUP_PROTOTYPES, "group_prototypeid", &gone)?;
    for (one, row) in found {
        let name = Value::from(one.name.as_str());
        match row {
            Some(row) if row.text("name") == one.name => {}
            Some(row) => {
                edit.update(
                    &table::GROUP_PROTOTYPES,
                    row.id("group_prototypeid"),
                    &[("name", name)],
                )?;
            }
            None => {
                let row = [("hostid", Value::from(prototype)), ("name", name)];
                edit.insert_new(&table::GROUP_PROTOTYPES, &row)?;
            }
        }
    }
    if gone.is_empty() { Ok(()) } else { delete_orphaned_groups(edit) }
}

/// Deletes groups that discovery has made of patterns that are gone, also those with hosts in
/// them. A group that is the only one of a host stays and becomes a manual group.
pub(crate) fn delete_orphaned_groups(edit: &mut Edit<'_>) -> DbResult<()> {
    let orphans = "NOT EXISTS (SELECT 1 FROM group_prototypes p \
                   WHERE p.group_prototypeid = group_discovery.parent_group_prototypeid)";
    let sql = format!("SELECT groupdiscoveryid, groupid FROM group_discovery WHERE {orphans}");
    let rows = edit.query(&sql, &[])?;
    if rows.is_empty() {
        return Ok(());
    }
    let gone: Vec<u64> = rows.iter().map(|row| row.id("groupdiscoveryid")).collect();
    edit.delete(&table::GROUP_DISCOVERY, "groupdiscoveryid", &gone)?;
    let groups: BTreeSet<u64> = rows.iter().map(|row| row.id("groupid")).collect();
    let groups = Vec::from_iter(groups);
    for group in without_origin(edit, &groups)? {
        let sql = "SELECT m.hostid FROM host_groups m WHERE m.groupid = ? AND NOT EXISTS \
                   (SELECT 1 FROM host_groups o WHERE o.hostid = m.hostid AND o.groupid <> m.groupid)";
        if !edit.query(sql, &[group.into()])?.is_empty() {
            edit.update(&table::GROUPS, group, &[("flags", Value::from(Origin::Plain.number()))])?;
            continue;
        }
        delete_elements_of(edit, MapElementType::HostGroup, &[group])?;
        edit.delete(&table::GROUPS, "groupid", &[group])?;
    }
    Ok(())
}

/// Those of these groups that discovery has made, no pattern makes any more, and no prototype uses.
pub(crate) fn without_origin(edit: &mut Edit<'_>, groups: &[u64]) -> DbResult<Vec<u64>> {
    let sql = formatcp!(
        "SELECT g.groupid FROM groups_ g WHERE g.flags = {FLAGS_DISCOVERED} AND g.groupid IN ({{ids}}) \
               AND NOT EXISTS (SELECT 1 FROM group_discovery d WHERE d.groupid = g.groupid) \
               AND NOT EXISTS (SELECT 1 FROM group_prototypes p WHERE p.groupid = g.groupid)"
    );
    ids_of(edit, sql, "groupid", groups)
}
