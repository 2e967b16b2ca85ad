//! Inheritance of host prototypes.

use crate::schema::Table;
use crate::table;
use objects::HostKind;
use std::collections::{BTreeMap, BTreeSet};

use const_format::formatcp;
use objects::sql::KIND_PROTOTYPE;

use super::{Later, LinkError, children_on};
use crate::Edit;
use crate::db::{DbResult, Row, Value, query_by_ids};
use crate::objects::{Columns, delete_orphaned_groups, ids_of};

/// Columns that a child has from its parent.
const COLUMNS: &[&str] =
    &["host", "name", "status", "discover", "inventory_mode", "custom_interfaces"];

/// Tables with what a prototype owns, and the columns that children copy.
static TABLES: &[(&Table, &[&str])] = &[
    (&table::HOST_TEMPLATES, &["templateid"]),
    (&table::HOST_TAGS, &["tag", "value"]),
    (&table::HOSTMACROS, &["macro", "value", "description", "type"]),
    (&table::INTERFACES, &["main", "type", "useip", "ip", "dns", "port", "details"]),
];

/// A prototype on its way down.
struct Source {
    id: u64,
    host: String,
    name: String,
    rule: u64,
}

/// Gives prototypes of templates to the rules that inherit the prototypes' rules, and on to the
/// rules below those. `changed`: columns and tables that children which are there already take
/// over; `None` = all. `hosts`: only these hosts inherit on the first level. With `later`, only
/// templates inherit; returns the prototypes that the hosts have yet to inherit.
pub(crate) fn inherit_host_prototypes(
    edit: &mut Edit<'_>,
    prototypes: &[u64],
    changed: Option<&[&str]>,
    hosts: Option<&[u64]>,
    later: Option<&Later>,
) -> Result<Vec<u64>, LinkError> {
    let mut sources = load(edit, prototypes)?;
    let templates = later.map(|later| Vec::from_iter(later.templates.iter().copied()));
    let mut only = hosts.or(templates.as_deref());
    let mut copied = false;
    let mut left = Vec::new();
    while !sources.is_empty() {
        if later.is_some() {
            left.extend(sources.iter().map(|source| source.id));
        }
        let below = rules_below(edit, &sources, only)?;
        let mut children = Vec::new();
        for source in &sources {
            for rule in below.get(&source.rule).into_iter().flatten() {
                children.push(inherit(edit, source, *rule, changed)?);
            }
        }
        copied |= !children.is_empty();
        sources = load(edit, &children)?;
        only = templates.as_deref();
    }
    // Patterns of groups may be gone.
    if copied {
        delete_orphaned_groups(edit)?
    }
    Ok(left)
}

/// Whether rules that inherit this one have host prototypes that are not inherited: another one may be
/// in conflict with them.
pub(crate) fn have_own_prototypes(edit: &mut Edit<'_>, rule: u64) -> DbResult<bool> {
    let own = formatcp!(
        "SELECT p.hostid FROM host_discovery d JOIN hosts p ON p.hostid = d.hostid \
               WHERE p.kind = {KIND_PROTOTYPE} AND p.templateid = 0 AND d.parent_itemid IN ({{ids}})"
    );
    let mut rules = vec![rule];
    loop {
        let sql = "SELECT itemid FROM items WHERE templateid IN ({ids})";
        rules = ids_of(edit, sql, "itemid", &rules)?;
        if rules.is_empty() {
            return Ok(false);
        }
        if !query_by_ids(edit, own, &[], &rules)?.is_empty() {
            return Ok(true);
        }
    }
}

/// Rules that inherit those of the prototypes, by these; only on these hosts.
fn rules_below(
    edit: &mut Edit<'_>,
    sources: &[Source],
    only: Option<&[u64]>,
) -> DbResult<BTreeMap<u64, Vec<u64>>> {
    let rules: BTreeSet<u64> = sources.iter().map(|source| source.rule).collect();
    let rules = Vec::from_iter(rules);
    let rows = match only {
        Some(hosts) => children_on(edit, &rules, hosts)?,
        None => {
            let sql = "SELECT itemid, templateid FROM items WHERE templateid IN ({ids})";
            query_by_ids(edit, sql, &[], &rules)?
        }
    };
    let mut below: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in rows {
        below.entry(row.id("templateid")).or_default().push(row.id("itemid"));
    }
    Ok(below)
}

fn load(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<Vec<Source>> {
    let sql = formatcp!(
        "SELECT p.hostid, p.host, p.name, d.parent_itemid FROM hosts p \
               JOIN host_discovery d ON d.hostid = p.hostid WHERE p.kind = {KIND_PROTOTYPE} AND p.hostid IN ({{ids}})"
    );
    let rows = query_by_ids(edit, sql, &[], ids)?;
    let mut sources: Vec<Source> = rows
        .iter()
        .map(|row| Source {
            id: row.id("hostid"),
            host: row.text("host").to_owned(),
            name: row.text("name").to_owned(),
            rule: row.id("parent_itemid"),
        })
        .collect();
    sources.sort_by_key(|source| source.id);
    Ok(sources)
}

/// One prototype on one rule; returns the child's id.
fn inherit(
    edit: &mut Edit<'_>,
    source: &Source,
    rule: u64,
    changed: Option<&[&str]>,
) -> Result<u64, LinkError> {
    let rows = edit.query(
        formatcp!("SELECT p.hostid, p.host, p.name, p.templateid FROM host_discovery d \
         JOIN hosts p ON p.hostid = d.hostid WHERE p.kind = {KIND_PROTOTYPE} AND d.parent_itemid = ?"),
        &[rule.into()],
    )?;
    let child = rows.iter().find(|row| row.id("templateid") == source.id);
    let own = |row: &&Row| row.id("templateid") == 0 && row.text("host") == source.host;
    // The rule's own prototype of the same name becomes the inherited one.
    let adopted = rows.iter().find(own).filter(|_| child.is_none());
    let id = child.or(adopted).map(|row| row.id("hostid"));
    let others = rows.iter().filter(|row| Some(row.id("hostid")) != id);
    for (column, words) in [("host", "host name"), ("name", "visible name")] {
        let value = if column == "host" { &source.host } else { &source.name };
        if others.clone().any(|row| row.text(column) == value) {
            return Err(taken(edit, rule, words, value)?);
        }
    }
    match (id, child.and(changed)) {
        (Some(id), changed) => {
            copy(edit, source.id, id, changed)?;
            Ok(id)
        }
        (None, _) => {
            let row = [
                ("kind", Value::from(HostKind::Prototype.number())),
                ("host", source.host.as_str().into()),
            ];
            let id = edit.insert_new(&table::HOSTS, &row)?;
            let row = [("hostid", id.into()), ("parent_itemid", Value::from(rule))];
            edit.insert(&table::HOST_DISCOVERY, &row)?;
            copy(edit, source.id, id, None)?;
            Ok(id)
        }
    }
}

fn taken(edit: &mut Edit<'_>, rule: u64, words: &str, value: &str) -> DbResult<LinkError> {
    let sql = "SELECT i.name, h.host FROM items i JOIN hosts h ON h.hostid = i.hostid \
               WHERE i.itemid = ?";
    let rows = edit.query(sql, &[rule.into()])?;
    let text = |column: &str| rows.first().map_or("", |row| row.text(column)).to_owned();
    Ok(LinkError::conflict(format!(
        "Host prototype with {words} \"{value}\" already exists in discovery rule \"{}\" of \"{}\".",
        text("name"),
        text("host"),
    )))
}

/// Makes the child what its parent is, as far as it has changed.
fn copy(edit: &mut Edit<'_>, parent: u64, child: u64, changed: Option<&[&str]>) -> DbResult<()> {
    let wanted = |name: &str| changed.is_none_or(|changed| changed.contains(&name));
    let sql = format!("SELECT {} FROM hosts WHERE hostid = ?", COLUMNS.join(", "));
    let rows = edit.query(&sql, &[parent.into()])?;
    let mut row: Columns = vec![("templateid", parent.into()), ("uuid", "".into())];
    for name in COLUMNS.iter().filter(|name| wanted(name)) {
        row.extend(rows.first().and_then(|row| row.get(name)).map(|v| (*name, v.clone())));
    }
    edit.update(&table::HOSTS, child, &row)?;
    for (table, columns) in TABLES.iter().filter(|(table, _)| wanted(table.name)) {
        copy_rows(edit, table, columns, parent, child)?;
    }
    if wanted("group_prototypes") {
        copy_groups(edit, parent, child)?;
    }
    Ok(())
}

fn copy_rows(
    edit: &mut Edit<'_>,
    table: &'static Table,
    columns: &[&'static str],
    parent: u64,
    child: u64,
) -> DbResult<()> {
    edit.delete(table, "hostid", &[child])?;
    let keys = table.key.join(", ");
    let sql = format!("SELECT * FROM {table} WHERE hostid = ? ORDER BY {keys}");
    for found in edit.query(&sql, &[parent.into()])? {
        let mut row = vec![("hostid", Value::from(child))];
        row.extend(columns.iter().filter_map(|name| Some((*name, found.get(name)?.clone()))));
        match table.name {
            "host_templates" => edit.insert(table, &row)?,
            _ => drop(edit.insert_new(table, &row)?),
        }
    }
    Ok(())
}

/// Groups and patterns of groups. Those that stay keep their ids, by which discovered groups know
/// where they come from.
fn copy_groups(edit: &mut Edit<'_>, parent: u64, child: u64) -> DbResult<()> {
    let sql = "SELECT * FROM group_prototypes WHERE hostid = ? ORDER BY group_prototypeid";
    let wanted = edit.query(sql, &[parent.into()])?;
    let mut left = edit.query(sql, &[child.into()])?;
    let mut rows = Vec::with_capacity(wanted.len());
    for one in &wanted {
        let id = one.id("group_prototypeid");
        let same = |row: &Row| {
            row.id("groupid") == one.id("groupid") && row.text("name") == one.text("name")
        };
        let at = left.iter().position(|row| row.id("templateid") == id);
        let at = at.or_else(|| left.iter().position(|row| row.id("templateid") == 0 && same(row)));
        let columns = [
            ("hostid", Value::from(child)),
            ("groupid", one.id("groupid").into()),
            ("name", one.text("name").into()),
            ("templateid", id.into()),
        ];
        rows.push((at.map(|at| left.remove(at).id("group_prototypeid")), columns));
    }
    let gone: Vec<u64> = left.iter().map(|row| row.id("group_prototypeid")).collect();
    edit.delete(&table::GROUP_PROTOTYPES, "group_prototypeid", &gone)?;
    for (id, columns) in rows {
        match id {
            Some(id) => edit.update(&table::GROUP_PROTOTYPES, id, &columns)?,
            None => drop(edit.insert_new(&table::GROUP_PROTOTYPES, &columns)?),
        }
    }
    Ok(())
}

/// These prototypes and all that inherit them.
pub(crate) fn prototypes_below(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<Vec<u64>> {
    let mut all: BTreeSet<u64> = ids.iter().copied().collect();
    let mut frontier = ids.to_vec();
    while !frontier.is_empty() {
        let sql = formatcp!(
            "SELECT hostid FROM hosts WHERE kind = {KIND_PROTOTYPE} AND templateid IN ({{ids}})"
        );
        let rows = query_by_ids(edit, sql, &[], &frontier)?;
        frontier = rows.iter().map(|row| row.id("hostid")).filter(|id| all.insert(*id)).collect();
    }
    Ok(all.into_iter().collect())
}
