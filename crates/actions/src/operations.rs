//! What actions do with the host that an event is about.

use config::table;
use std::collections::BTreeSet;

use config::Edit;
use config::db::{DbResult, Value, id_params, query_by_ids};
use config::link::{LinkError, link_automatically, unlink_templates};
use config::objects::{Tag, delete_hosts};
use model::NewEvent;
use objects::{InventoryMode, Status};

use crate::hosts;

/// One change of the host that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    AddHost,
    RemoveHost,
    AddGroups(Vec<u64>),
    RemoveGroups(Vec<u64>),
    Link(Vec<u64>),
    Unlink(Vec<u64>),
    Status(Status),
    Inventory(InventoryMode),
    AddTags(Vec<Tag>),
    RemoveTags(Vec<Tag>),
}

/// What is gathered of all operations of an action and done at the end, in this order.
#[derive(Debug, Default)]
struct Gathered<'a> {
    add_tags: Vec<&'a Tag>,
    remove_tags: Vec<&'a Tag>,
    unlink: BTreeSet<u64>,
    link: BTreeSet<u64>,
    add_groups: BTreeSet<u64>,
    remove_groups: BTreeSet<u64>,
}

/// Performs the operations of an action. Operations other than those that remove something create
/// the host if it does not exist. Operations are idempotent.
pub(crate) fn run(
    edit: &mut Edit<'_>,
    event: &NewEvent,
    action: &str,
    operations: &[Operation],
) -> DbResult<()> {
    let mut later = Gathered::default();
    for operation in operations {
        match operation {
            Operation::AddHost => {
                hosts::add(edit, event)?;
            }
            Operation::RemoveHost => {
                if let Some(host) = hosts::find(edit, event)? {
                    delete_hosts(edit, &[host])?;
                }
            }
            Operation::Status(status) => set(edit, event, "status", status.number())?,
            Operation::Inventory(mode) => set(edit, event, "inventory_mode", mode.number())?,
            Operation::AddTags(tags) => later.add_tags.extend(tags),
            Operation::RemoveTags(tags) => later.remove_tags.extend(tags),
            Operation::Link(ids) => later.link.extend(ids),
            Operation::Unlink(ids) => later.unlink.extend(ids),
            Operation::AddGroups(ids) => later.add_groups.extend(ids),
            Operation::RemoveGroups(ids) => later.remove_groups.extend(ids),
        }
    }
    if !later.add_tags.is_empty() || !later.remove_tags.is_empty() {
        tags(edit, event, &later)?;
    }
    // A template that is to be linked as well stays, a group that is to be given too.
    later.unlink.retain(|id| !later.link.contains(id));
    later.remove_groups.retain(|id| !later.add_groups.contains(id));
    if !later.unlink.is_empty()
        && let Some(host) = hosts::find(edit, event)?
    {
        unlink(edit, action, host, &later.unlink)?;
    }
    if !later.link.is_empty()
        && let Some(host) = hosts::add(edit, event)?
    {
        link(edit, action, host, &later.link)?;
    }
    if !later.add_groups.is_empty()
        && let Some(host) = hosts::add(edit, event)?
    {
        add_groups(edit, host, &later.add_groups)?;
    }
    if !later.remove_groups.is_empty()
        && let Some(host) = hosts::find(edit, event)?
    {
        remove_groups(edit, action, host, &later.remove_groups)?;
    }
    Ok(())
}

fn set(edit: &mut Edit<'_>, event: &NewEvent, column: &str, value: i64) -> DbResult<()> {
    let Some(host) = hosts::add(edit, event)? else { return Ok(()) };
    let sql = format!("SELECT hostid FROM hosts WHERE hostid = ? AND {column} <> ?");
    if !edit.query(&sql, &[host.into(), value.into()])?.is_empty() {
        edit.update(&table::HOSTS, host, &[(column, value.into())])?;
    }
    Ok(())
}

fn tags(edit: &mut Edit<'_>, event: &NewEvent, later: &Gathered<'_>) -> DbResult<()> {
    let host = if later.add_tags.is_empty() {
        hosts::find(edit, event)?
    } else {
        hosts::add(edit, event)?
    };
    let Some(host) = host else { return Ok(()) };
    let sql = "SELECT hosttagid, tag, value FROM host_tags WHERE hostid = ?";
    let rows = edit.query(sql, &[host.into()])?;
    let named = |tag: &Tag| {
        rows.iter().find(|row| row.text("tag") == tag.tag && row.text("value") == tag.value)
    };
    let mut new: Vec<&Tag> = Vec::new();
    for tag in &later.add_tags {
        if named(tag).is_none() && !new.contains(tag) && !later.remove_tags.contains(tag) {
            new.push(tag);
        }
    }
    let old: BTreeSet<u64> = later
        .remove_tags
        .iter()
        .filter_map(|tag| named(tag))
        .map(|row| row.id("hosttagid"))
        .collect();
    if new.is_empty() && old.is_empty() {
        return Ok(());
    }
    edit.delete(&table::HOST_TAGS, "hosttagid", &Vec::from_iter(old))?;
    for tag in new {
        let (name, value) = (tag.tag.as_str().into(), tag.value.as_str().into());
        let row = [("hostid", Value::from(host)), ("tag", name), ("value", value)];
        edit.insert_new(&table::HOST_TAGS, &row)?;
    }
    Ok(())
}

fn link(edit: &mut Edit<'_>, action: &str, host: u64, templates: &BTreeSet<u64>) -> DbResult<()> {
    let templates = Vec::from_iter(templates.iter().copied());
    match link_automatically(edit, host, &templates) {
        Ok(()) => {}
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(why)) => {
            tracing::warn!("action \"{action}\" cannot link its templates: {why}");
        }
    }
    Ok(())
}

fn unlink(edit: &mut Edit<'_>, action: &str, host: u64, templates: &BTreeSet<u64>) -> DbResult<()> {
    let sql = "SELECT templateid FROM host_templates WHERE hostid = ? AND templateid IN ({ids})";
    let ids = Vec::from_iter(templates.iter().copied());
    let rows = query_by_ids(edit, sql, &[host.into()], &ids)?;
    let linked: Vec<u64> = rows.iter().map(|row| row.id("templateid")).collect();
    match unlink_templates(edit, &[host], &linked, true) {
        Ok(()) => {}
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(why)) => {
            tracing::warn!("action \"{action}\" cannot unlink its templates: {why}");
        }
    }
    Ok(())
}

fn add_groups(edit: &mut Edit<'_>, host: u64, groups: &BTreeSet<u64>) -> DbResult<()> {
    let has = groups_of(edit, host)?;
    let new: Vec<Vec<Value>> =
        groups.difference(&has).map(|group| vec![host.into(), (*group).into()]).collect();
    if new.is_empty() {
        return Ok(());
    }
    edit.insert_many(&table::HOST_GROUPS, &["hostid", "groupid"], &new)?;
    Ok(())
}

fn remove_groups(
    edit: &mut Edit<'_>,
    action: &str,
    host: u64,
    groups: &BTreeSet<u64>,
) -> DbResult<()> {
    let has = groups_of(edit, host)?;
    let old: Vec<u64> = has.intersection(groups).copied().collect();
    if old.is_empty() {
        return Ok(());
    }
    if old.len() == has.len() {
        tracing::warn!(
            "action \"{action}\" would leave a host without a group; it keeps its groups"
        );
        return Ok(());
    }
    let old = id_params(old);
    edit.delete_rows(&table::HOST_GROUPS, &[("hostid", &[host.into()]), ("groupid", &old)])
}

fn groups_of(edit: &mut Edit<'_>, host: u64) -> DbResult<BTreeSet<u64>> {
    let rows = edit.query("SELECT groupid FROM host_groups WHERE hostid = ?", &[host.into()])?;
    Ok(rows.iter().map(|row| row.id("groupid")).collect())
}
