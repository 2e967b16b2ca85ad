//! Unlinking: what was inherited becomes the host's own, or goes.

use std::collections::BTreeSet;

use super::{LinkError, touch_hosts_below};
use crate::Edit;
use crate::db::{DbResult, Value, id_params, placeholders, query_by_ids};
use crate::objects::{Deleted, delete_items, delete_triggers, new_uuid};

/// Unlinks templates: what was inherited stays as the host's own, or with `clear` is deleted
/// (history of deleted items and problems of deleted triggers are the caller's business).
pub fn unlink_templates(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
    clear: bool,
) -> Result<Deleted, LinkError> {
    if hosts.is_empty() || templates.is_empty() {
        return Ok(Deleted::default());
    }
    touch_hosts_below(edit, hosts)?;
    for portion in hosts.chunks(5_000) {
        let sql = format!(
            "DELETE FROM host_templates WHERE hostid IN ({}) AND templateid IN ({})",
            placeholders(portion.len()),
            placeholders(templates.len())
        );
        let mut params = id_params(portion.iter().copied());
        params.extend(id_params(templates.iter().copied()));
        edit.execute(&sql, &params)?;
    }
    let on: BTreeSet<u64> = hosts.iter().copied().collect();
    let sql = "SELECT c.itemid, c.hostid FROM items p JOIN items c ON c.templateid = p.itemid \
               WHERE p.hostid IN ({ids})";
    let items = inherited(edit, sql, "itemid", templates, &on)?;
    let sql = "SELECT DISTINCT t.triggerid, i.hostid FROM items p \
               JOIN functions pf ON pf.itemid = p.itemid \
               JOIN triggers t ON t.templateid = pf.triggerid \
               JOIN functions f ON f.triggerid = t.triggerid JOIN items i ON i.itemid = f.itemid \
               WHERE p.hostid IN ({ids})";
    let triggers = inherited(edit, sql, "triggerid", templates, &on)?;
    if clear {
        let mut gone = delete_triggers(edit, &triggers)?;
        let mut deleted = delete_items(edit, &items)?;
        deleted.triggers.append(&mut gone);
        return Ok(deleted);
    }
    release(edit, "items", "itemid", "templateid = 0, valuemapid = 0", &items)?;
    release(edit, "triggers", "triggerid", "templateid = 0", &triggers)?;
    give_uuids(edit, &items, &triggers)?;
    Ok(Deleted::default())
}

fn inherited(
    edit: &mut Edit<'_>,
    sql: &str,
    column: &str,
    templates: &[u64],
    on: &BTreeSet<u64>,
) -> DbResult<Vec<u64>> {
    let rows = query_by_ids(edit.connection(), sql, &[], templates)?;
    let ids: BTreeSet<u64> = rows
        .iter()
        .filter(|row| on.contains(&row.id("hostid")))
        .map(|row| row.id(column))
        .collect();
    Ok(ids.into_iter().collect())
}

fn release(edit: &mut Edit<'_>, table: &str, key: &str, set: &str, ids: &[u64]) -> DbResult<()> {
    for portion in ids.chunks(5_000) {
        let marks = placeholders(portion.len());
        let sql = format!("UPDATE {table} SET {set} WHERE {key} IN ({marks})");
        edit.execute(&sql, &id_params(portion.iter().copied()))?;
    }
    Ok(())
}

/// Objects that are now a template's own need universal ids.
fn give_uuids(edit: &mut Edit<'_>, items: &[u64], triggers: &[u64]) -> DbResult<()> {
    for (table, key, ids, sql) in [
        (
            "items",
            "itemid",
            items,
            "SELECT i.itemid AS id FROM items i JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = 1 AND i.itemid IN ({ids})",
        ),
        (
            "triggers",
            "triggerid",
            triggers,
            "SELECT DISTINCT f.triggerid AS id FROM functions f \
             JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = 1 AND f.triggerid IN ({ids})",
        ),
    ] {
        for row in query_by_ids(edit.connection(), sql, &[], ids)? {
            let uuid = Value::from(new_uuid()?);
            let sql = format!("UPDATE {table} SET uuid = ? WHERE {key} = ?");
            edit.execute(&sql, &[uuid, row.id("id").into()])?;
        }
    }
    Ok(())
}
