//! Unlinking: what was inherited becomes the host's own, or goes.

use objects::HostKind;
use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::{KIND_PROTOTYPE, KIND_TEMPLATE};

use super::LinkError;
use crate::Edit;
use crate::db::{DbResult, Value, id_params, placeholders, query_by_ids};
use crate::objects::{Deleted, delete_items, delete_triggers, new_uuid};

/// Refuses to unlink templates while the host or template keeps another template of the same
/// trigger: the trigger would be neither inherited nor the host's own.
pub fn check_unlink(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
) -> Result<(), LinkError> {
    if hosts.is_empty() || templates.is_empty() {
        return Ok(());
    }
    let marks = placeholders(templates.len());
    let sql = format!(
        "SELECT DISTINCT p.hostid AS gone, q.hostid AS kept, c.hostid AS host, t.description \
         FROM items c JOIN functions f ON f.itemid = c.itemid \
         JOIN triggers t ON t.triggerid = f.triggerid AND t.templateid > 0 \
         JOIN functions pf ON pf.triggerid = +t.templateid JOIN items p ON p.itemid = pf.itemid \
         JOIN functions qf ON qf.triggerid = +t.templateid JOIN items q ON q.itemid = qf.itemid \
         WHERE p.hostid IN ({marks}) AND q.hostid NOT IN ({marks}) AND c.hostid IN ({{ids}})"
    );
    let mut params = id_params(templates.iter().copied());
    params.extend(id_params(templates.iter().copied()));
    let rows = query_by_ids(edit.connection(), &sql, &params, hosts)?;
    let Some(row) = rows.first() else { return Ok(()) };
    let ids = ["gone", "kept", "host"].map(|name| row.id(name));
    let sql = "SELECT hostid, host, kind FROM hosts WHERE hostid IN ({ids})";
    let found = query_by_ids(edit.connection(), sql, &[], &ids)?;
    let of = |id: u64| found.iter().find(|row| row.id("hostid") == id);
    let name = |id: u64| of(id).map_or("", |row| row.text("host"));
    let what = if of(ids[2]).is_some_and(|row| HostKind::Template.is(row.int("kind"))) {
        "template"
    } else {
        "host"
    };
    Err(LinkError::conflict(format!(
        "Cannot unlink template \"{}\" without template \"{}\" from {what} \"{}\" due to expression \
         of trigger \"{}\".",
        name(ids[0]),
        name(ids[1]),
        name(ids[2]),
        row.text("description")
    )))
}

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
    if !clear {
        // The hosts keep all that they would have inherited.
        let mut unfinished = super::portions::unfinished_links(edit, hosts)?;
        unfinished.retain(|template, _| templates.contains(template));
        edit.inheriting(|edit| super::links::inherit(edit, &unfinished, true, None))?;
    }
    for portion in hosts.chunks(5_000) {
        let hosts = id_params(portion.iter().copied());
        let templates = id_params(templates.iter().copied());
        edit.delete_rows("host_templates", &[("hostid", &hosts), ("templateid", &templates)])?;
    }
    let items = inherited(
        edit,
        "SELECT c.itemid AS id FROM items c JOIN items p ON p.itemid = +c.templateid",
        templates,
        hosts,
    )?;
    let triggers = inherited(
        edit,
        "SELECT t.triggerid AS id FROM items c JOIN functions f ON f.itemid = c.itemid \
         JOIN triggers t ON t.triggerid = f.triggerid \
         JOIN functions pf ON pf.triggerid = +t.templateid JOIN items p ON p.itemid = pf.itemid",
        templates,
        hosts,
    )?;
    let prototypes = inherited(
        edit,
        formatcp!(
            "SELECT d.hostid AS id FROM items c JOIN items p ON p.itemid = +c.templateid \
         JOIN host_discovery d ON d.parent_itemid = c.itemid \
         JOIN hosts h ON h.hostid = d.hostid AND h.kind = {KIND_PROTOTYPE} AND h.templateid > 0"
        ),
        templates,
        hosts,
    )?;
    if clear {
        let mut gone = delete_triggers(edit, &triggers)?;
        let mut deleted = delete_items(edit, &items)?;
        deleted.triggers.append(&mut gone);
        return Ok(deleted);
    }
    let no_parent = ("templateid", Value::from(0));
    edit.update_many("items", &items, &[no_parent.clone(), ("valuemapid", Value::from(0))])?;
    edit.update_many("triggers", &triggers, std::slice::from_ref(&no_parent))?;
    edit.update_many("hosts", &prototypes, std::slice::from_ref(&no_parent))?;
    let of = id_params(prototypes.iter().copied());
    edit.update_rows("group_prototypes", &[("hostid", &of)], &[no_parent])?;
    give_uuids(edit, &items, &triggers, &prototypes)?;
    Ok(Deleted::default())
}

/// Ids of a query from the hosts' items `c` to the templates' items `p`.
fn inherited(
    edit: &mut Edit<'_>,
    from: &str,
    templates: &[u64],
    hosts: &[u64],
) -> DbResult<Vec<u64>> {
    let marks = placeholders(templates.len());
    let sql = format!("{from} WHERE +p.hostid IN ({marks}) AND c.hostid IN ({{ids}})");
    let params = id_params(templates.iter().copied());
    let rows = query_by_ids(edit.connection(), &sql, &params, hosts)?;
    let ids: BTreeSet<u64> = rows.iter().map(|row| row.id("id")).collect();
    Ok(ids.into_iter().collect())
}

/// Objects that are now a template's own need universal ids.
fn give_uuids(
    edit: &mut Edit<'_>,
    items: &[u64],
    triggers: &[u64],
    prototypes: &[u64],
) -> DbResult<()> {
    for (table, ids, sql) in [
        (
            "items",
            items,
            formatcp!(
                "SELECT i.itemid AS id FROM items i JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = {KIND_TEMPLATE} AND i.itemid IN ({{ids}})"
            ),
        ),
        (
            "triggers",
            triggers,
            formatcp!(
                "SELECT DISTINCT f.triggerid AS id FROM functions f \
             JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = {KIND_TEMPLATE} AND f.triggerid IN ({{ids}})"
            ),
        ),
        (
            "hosts",
            prototypes,
            formatcp!(
                "SELECT d.hostid AS id FROM host_discovery d JOIN items i ON i.itemid = d.parent_itemid \
             JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = {KIND_TEMPLATE} AND d.hostid IN ({{ids}})"
            ),
        ),
    ] {
        let rows = query_by_ids(edit.connection(), sql, &[], ids)?;
        let uuids: DbResult<Vec<(u64, Value)>> =
            rows.iter().map(|row| Ok((row.id("id"), new_uuid()?.into()))).collect();
        edit.update_each(table, "uuid", &uuids?)?;
    }
    Ok(())
}
