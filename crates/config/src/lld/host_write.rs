//! Writing discovered hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::Work;
use super::hosts::{NewHost, Shape};
use crate::Edit;
use crate::db::{DbResult, Row, Value, placeholders, query_by_ids};
use crate::link::{LinkError, link_templates, unlink_templates};
use crate::objects::{Columns, delete_items, ids_of, new_uuid};

/// Columns that a discovered host takes from the rule's host.
const FROM_RULES_HOST: &[&str] = &[
    "monitored_by",
    "proxyid",
    "proxy_groupid",
    "ipmi_authtype",
    "ipmi_privilege",
    "ipmi_username",
    "ipmi_password",
    "tls_connect",
    "tls_accept",
    "tls_issuer",
    "tls_subject",
    "tls_psk_identity",
    "tls_psk",
];

/// Creates hosts with all that is theirs. One whose templates cannot be linked is made without
/// them, and that is told.
pub(super) fn create(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    creates: &[NewHost],
) -> DbResult<()> {
    if creates.is_empty() {
        return Ok(());
    }
    let sql = format!("SELECT {} FROM hosts WHERE hostid = ?", FROM_RULES_HOST.join(", "));
    let rows = edit.query(&sql, &[work.rule.hostid.into()])?;
    for new in creates {
        let mut row: Vec<(&str, Value)> = vec![
            ("kind", Value::from(0)),
            ("flags", Value::from(4)),
            ("host", new.host.as_str().into()),
            ("name", new.shape.name.as_str().into()),
            ("status", Value::from(new.status)),
            ("inventory_mode", Value::from(new.shape.inventory_mode)),
        ];
        for name in FROM_RULES_HOST {
            row.extend(rows.first().and_then(|row| row.get(name)).map(|v| (*name, v.clone())));
        }
        let id = edit.insert_new("hosts", &row)?;
        let prototype = &work.rule.hosts[new.prototype];
        let discovery = [
            ("hostid", Value::from(id)),
            ("parent_hostid", prototype.id().into()),
            ("parent_itemid", work.rule.id.into()),
            ("host", prototype.row.text("host").into()),
            ("lastcheck", work.clock_s.into()),
        ];
        edit.insert("host_discovery", &discovery)?;
        interfaces(edit, work.rule.hostid, id, new.interfaces.as_deref())?;
        fill(edit, work, id, &Shape::default(), &new.shape)?;
        edit.touch_host(id);
        work.summary.created.hosts += 1;
    }
    Ok(())
}

/// Changes hosts: (id, as it is, as it should be).
pub(super) fn update(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    updates: &[(u64, Shape, NewHost)],
) -> DbResult<()> {
    for (id, now, new) in updates {
        let row = [
            ("name", new.shape.name.as_str().into()),
            ("inventory_mode", Value::from(new.shape.inventory_mode)),
        ];
        edit.update("hosts", *id, &row)?;
        fill(edit, work, *id, now, &new.shape)?;
        edit.touch_host(*id);
        work.summary.updated.hosts += 1;
    }
    Ok(())
}

/// Groups, tags, macros and templates, as far as they differ.
fn fill(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    id: u64,
    now: &Shape,
    then: &Shape,
) -> DbResult<()> {
    if now.groups != then.groups {
        edit.delete("host_groups", "hostid", &[id])?;
        let groups = groups(edit, &then.groups)?;
        let rows: Vec<Vec<Value>> =
            groups.iter().map(|group| vec![id.into(), Value::from(*group)]).collect();
        edit.insert_many("host_groups", &["hostid", "groupid"], &rows)?;
    }
    if now.tags != then.tags {
        let sql = "DELETE FROM host_tags WHERE automatic = 1 AND hostid = ?";
        edit.execute(sql, &[id.into()])?;
        for tag in &then.tags {
            let row = [
                ("hostid", Value::from(id)),
                ("tag", tag.tag.as_str().into()),
                ("value", tag.value.as_str().into()),
                ("automatic", Value::from(1)),
            ];
            edit.insert_new("host_tags", &row)?;
        }
    }
    if now.macros != then.macros {
        let sql = "DELETE FROM hostmacros WHERE automatic = 1 AND hostid = ?";
        edit.execute(sql, &[id.into()])?;
        for (name, value, description, kind) in &then.macros {
            let row = [
                ("hostid", Value::from(id)),
                ("macro", name.as_str().into()),
                ("value", value.as_str().into()),
                ("description", description.as_str().into()),
                ("type", Value::from(*kind)),
                ("automatic", Value::from(1)),
            ];
            edit.insert_new("hostmacros", &row)?;
        }
    }
    templates(edit, work, id, now, then)
}

/// Host groups by name; those that do not exist are made.
fn groups(edit: &mut Edit<'_>, names: &BTreeSet<String>) -> DbResult<Vec<u64>> {
    let mut ids = Vec::with_capacity(names.len());
    for name in names.iter().filter(|name| !name.is_empty()) {
        let sql = "SELECT groupid FROM groups_ WHERE type = 0 AND name = ?";
        let found = edit.query(sql, &[name.as_str().into()])?.first().map(|row| row.id("groupid"));
        ids.push(match found {
            Some(id) => id,
            None => {
                let row = [
                    ("name", name.as_str().into()),
                    ("flags", Value::from(4)),
                    ("uuid", new_uuid()?.into()),
                ];
                edit.insert_new("groups_", &row)?
            }
        });
    }
    Ok(ids)
}

fn templates(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    id: u64,
    now: &Shape,
    then: &Shape,
) -> DbResult<()> {
    let named: Vec<&String> = now.templates.union(&then.templates).collect();
    if now.templates == then.templates || named.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT hostid, host FROM hosts WHERE kind = 1 AND host IN ({})",
        placeholders(named.len())
    );
    let params: Vec<Value> = named.iter().map(|name| Value::from(name.as_str())).collect();
    let known: BTreeMap<String, u64> = edit
        .query(&sql, &params)?
        .iter()
        .map(|row| (row.text("host").to_owned(), row.id("hostid")))
        .collect();
    let ids = |names: Vec<&String>| -> Vec<u64> {
        names.into_iter().filter_map(|name| known.get(name).copied()).collect()
    };
    let away = ids(now.templates.difference(&then.templates).collect());
    match unlink_templates(edit, &[id], &away, true) {
        Ok(mut deleted) => {
            work.summary.deleted.items.append(&mut deleted.items);
            work.summary.deleted.triggers.append(&mut deleted.triggers);
        }
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(text)) => work.errors.add(text),
    }
    for name in then.templates.difference(&now.templates) {
        let Some(template) = known.get(name) else { continue };
        match link_templates(edit, &[id], &[*template]) {
            Ok(()) => {}
            Err(LinkError::Db(error)) => return Err(error),
            Err(LinkError::Conflict(text)) => work.errors.add(text),
        }
    }
    Ok(())
}

/// Interfaces of a new host: its own, or copies of those of the rule's host.
fn interfaces(edit: &mut Edit<'_>, from: u64, to: u64, own: Option<&[Columns]>) -> DbResult<()> {
    const COLUMNS: &[&str] = &["main", "type", "useip", "ip", "dns", "port", "details"];
    let copied;
    let rows = match own {
        Some(own) => own,
        None => {
            let names = COLUMNS.join(", ");
            let sql =
                format!("SELECT {names} FROM interfaces WHERE hostid = ? ORDER BY interfaceid");
            let columns = |row: &Row| -> Columns {
                COLUMNS.iter().filter_map(|name| Some((*name, row.get(name)?.clone()))).collect()
            };
            copied = edit.query(&sql, &[from.into()])?.iter().map(columns).collect::<Vec<_>>();
            &copied
        }
    };
    for one in rows {
        let mut row = vec![("hostid", Value::from(to))];
        row.extend(one.iter().cloned());
        edit.insert_new("interfaces", &row)?;
    }
    Ok(())
}

/// Deletes hosts with all that is theirs.
pub(super) fn delete(edit: &mut Edit<'_>, work: &mut Work<'_>, hosts: &[u64]) -> DbResult<()> {
    if hosts.is_empty() {
        return Ok(());
    }
    // A trigger over several hosts goes with any of them; `delete_items` tells the others.
    let rows = query_by_ids(
        edit.connection(),
        "SELECT itemid FROM items WHERE hostid IN ({ids})",
        &[],
        hosts,
    )?;
    let items: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
    let mut deleted = delete_items(edit, &items)?;
    work.summary.deleted.items.append(&mut deleted.items);
    work.summary.deleted.triggers.append(&mut deleted.triggers);
    let sql = "SELECT hostid FROM hosts WHERE kind = 0 AND hostid IN ({ids})";
    let gone = ids_of(edit, sql, "hostid", hosts)?;
    edit.delete("hosts", "hostid", &gone)?;
    for host in &gone {
        edit.touch_host(*host);
    }
    work.summary.deleted_hosts.extend(gone);
    Ok(())
}
