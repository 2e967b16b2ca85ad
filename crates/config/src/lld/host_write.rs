//! Writing discovered hosts.

use crate::table;
use std::collections::{BTreeMap, BTreeSet};

use const_format::formatcp;
use objects::sql::{KIND_HOST, KIND_TEMPLATE};
use objects::{HostKind, MapElementType, Origin};

use super::Work;
use super::errors::{Deed, Step};
use super::groups;
use super::host_interfaces;
use super::host_shape::{NewHost, Shape};
use super::hosts::Update;
use super::slot::Slot;
use crate::Edit;
use crate::db::{DbResult, Value, id_params, placeholders, query_by_ids};
use crate::link::{LinkError, link_automatically, unlink_templates};
use crate::objects::{delete_elements_of, delete_items, ids_of};

/// `link_type`: discovery has linked the template.
pub(super) const DISCOVERED_LINK: i64 = 1;

/// Creates hosts with all that is theirs. One whose templates cannot be linked is made without
/// them, and the rule reports it.
pub(super) fn create(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    creates: &[NewHost],
) -> DbResult<()> {
    work.errors.begin(Step::Hosts(Deed::Create));
    for new in creates {
        let mut row: Vec<(&str, Value)> = vec![
            ("kind", HostKind::Host.number().into()),
            ("flags", Origin::Discovered.number().into()),
            ("host", new.shape.host.as_str().into()),
            ("name", new.shape.name.as_str().into()),
            ("status", Value::from(new.status)),
        ];
        row.extend(new.shape.columns.iter().cloned());
        let id = edit.insert_new(&table::HOSTS, &row)?;
        let prototype = &work.rule.hosts[new.slot.prototype];
        let discovery = [
            ("hostid", Value::from(id)),
            ("parent_hostid", prototype.id().into()),
            ("parent_itemid", work.rule.id.into()),
            ("host", prototype.row.text("host").into()),
            ("lastcheck", work.clock_s.into()),
        ];
        edit.insert(&table::HOST_DISCOVERY, &discovery)?;
        for columns in &new.interfaces {
            host_interfaces::create(edit, id, columns)?;
        }
        fill(edit, work, id, &Shape::default(), &new.shape)?;
        templates(edit, work, Host { slot: new.slot, id }, &BTreeSet::new(), &new.shape.templates)?;
        work.summary.created.hosts += 1;
    }
    Ok(())
}

/// Changes hosts. One that only lacks templates that are refused stays as it is.
pub(super) fn update(edit: &mut Edit<'_>, work: &mut Work<'_>, updates: &[Update]) -> DbResult<()> {
    work.errors.begin(Step::Hosts(Deed::Change));
    for one in updates {
        let differs = one.differs_beside_templates();
        if differs {
            apply(edit, work, one)?;
        }
        let Update { slot, id, now, then, .. } = one;
        if templates(edit, work, Host { slot: *slot, id: *id }, &now.templates, &then.templates)?
            || differs
        {
            work.summary.updated.hosts += 1;
        }
    }
    Ok(())
}

/// All but templates.
fn apply(edit: &mut Edit<'_>, work: &mut Work<'_>, update: &Update) -> DbResult<()> {
    let Update { id, now, then, interfaces, pattern, .. } = update;
    let mut row: Vec<(&str, Value)> =
        vec![("host", then.host.as_str().into()), ("name", then.name.as_str().into())];
    row.extend(then.columns.iter().cloned());
    edit.update(&table::HOSTS, *id, &row)?;
    if let Some(pattern) = pattern {
        edit.update(&table::HOST_DISCOVERY, *id, &[("host", pattern.as_str().into())])?;
    }
    host_interfaces::write(edit, *id, interfaces)?;
    fill(edit, work, *id, now, then)
}

/// Groups, tags and macros, as far as they differ.
fn fill(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    id: u64,
    now: &Shape,
    then: &Shape,
) -> DbResult<()> {
    if now.groups != then.groups {
        edit.delete(&table::HOST_GROUPS, "hostid", &[id])?;
        let groups = groups::ids(edit, &mut work.new_groups, &then.groups)?;
        let rows: Vec<Vec<Value>> =
            groups.iter().map(|group| vec![id.into(), Value::from(*group)]).collect();
        edit.insert_many(&table::HOST_GROUPS, &["hostid", "groupid"], &rows)?;
    }
    if now.tags != then.tags {
        edit.delete_rows(&table::HOST_TAGS, &made_for(&[id.into()]))?;
        for tag in &then.tags {
            let row = [
                ("hostid", Value::from(id)),
                ("tag", tag.tag.as_str().into()),
                ("value", tag.value.as_str().into()),
                ("automatic", Value::from(1)),
            ];
            edit.insert_new(&table::HOST_TAGS, &row)?;
        }
    }
    if now.macros != then.macros {
        edit.delete_rows(&table::HOSTMACROS, &made_for(&[id.into()]))?;
        for (name, value, description, kind) in &then.macros {
            let row = [
                ("hostid", Value::from(id)),
                ("macro", name.as_str().into()),
                ("value", value.as_str().into()),
                ("description", description.as_str().into()),
                ("type", Value::from(*kind)),
                ("automatic", Value::from(1)),
            ];
            edit.insert_new(&table::HOSTMACROS, &row)?;
        }
    }
    Ok(())
}

/// What discovery made for a host.
fn made_for(host: &[Value]) -> [(&str, &[Value]); 2] {
    const MADE: &[Value] = &[Value::Int(1)];
    [("automatic", MADE), ("hostid", host)]
}

/// A discovered host, and what gives it.
#[derive(Clone, Copy)]
struct Host {
    slot: Slot,
    id: u64,
}

/// Links and unlinks templates; whether anything has changed. What is refused leaves nothing
/// behind, so that the next comparison tries it again.
fn templates(
    edit: &mut Edit<'_>,
    work: &mut Work<'_>,
    host: Host,
    now: &BTreeSet<String>,
    then: &BTreeSet<String>,
) -> DbResult<bool> {
    let Host { slot, id } = host;
    if now == then {
        return Ok(false);
    }
    let named: Vec<&String> = now.union(then).collect();
    let sql = format!(
        "SELECT hostid, host FROM hosts WHERE kind = {KIND_TEMPLATE} AND host IN ({})",
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
    let away = ids(now.difference(then).collect());
    match unlink_templates(edit, &[id], &away, true) {
        Ok(()) => {}
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(text)) => work.errors.add_of(slot, text),
    }
    let new = ids(then.difference(now).collect());
    if new.is_empty() {
        return Ok(!away.is_empty());
    }
    match link_automatically(edit, id, &new) {
        Ok(()) => {}
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(text)) => {
            work.errors.add_of(slot, text);
            return Ok(!away.is_empty());
        }
    }
    let link = [("link_type", DISCOVERED_LINK.into())];
    let (host, templates) = ([Value::from(id)], id_params(new));
    edit.update_rows(
        &table::HOST_TEMPLATES,
        &[("hostid", &host), ("templateid", &templates)],
        &link,
    )?;
    Ok(true)
}

/// Deletes hosts with all that is theirs.
pub(super) fn delete(edit: &mut Edit<'_>, work: &mut Work<'_>, hosts: &[u64]) -> DbResult<()> {
    if hosts.is_empty() {
        return Ok(());
    }
    // A trigger over several hosts goes with any of them; `delete_items` tells the others.
    let rows = query_by_ids(edit, "SELECT itemid FROM items WHERE hostid IN ({ids})", &[], hosts)?;
    let items: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
    delete_items(edit, &items)?;
    let sql =
        formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_HOST} AND hostid IN ({{ids}})");
    let gone = ids_of(edit, sql, "hostid", hosts)?;
    delete_elements_of(edit, MapElementType::Host, &gone)?;
    edit.delete(&table::HOSTS, "hostid", &gone)?;
    work.summary.deleted.hosts += gone.len();
    Ok(())
}
