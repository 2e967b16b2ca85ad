//! Template linkage: what hosts and templates inherit from the templates linked to them.
//!
//! A host has a copy of each item, rule, prototype, trigger and graph of its templates; the copy's
//! `templateid` names its parent. Templates linked to templates have copies of their own, so a
//! level only ever looks at the one above it. Tags and macros are not copied, they are looked up
//! along the linkage; value maps stay those of the template.
//!
//! Copying works for many hosts at once: the new ids are chosen first, then one statement copies
//! an item to a thousand hosts.

mod check;
mod checks;
mod graph_names;
mod graphs;
mod host_prototypes;
mod interfaces;
mod items;
mod later;
mod links;
mod portions;
mod triggers;
mod unlink;

use crate::table;
use objects::{HostKind, Origin};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Edit;
use crate::db::{DbError, DbResult, Reader, Row, Value, id_params, placeholders, query_by_ids};

pub(crate) use crate::sources::Below;
pub(crate) use checks::Undone;
use const_format::formatcp;
pub(crate) use graph_names::{Purpose as GraphPurpose, check_graphs_below};
pub(crate) use graphs::{inherit_graphs, take_over_graph_level, take_over_graphs};
pub(crate) use host_prototypes::{have_own_prototypes, inherit_host_prototypes, prototypes_below};
pub(crate) use interfaces::{check_interfaces, interface_for, remap_interfaces};
pub(crate) use items::inherit_items;
use later::hosts_max;
pub(crate) use later::{Changed, Later, Work, later};
use objects::sql::{FLAGS_PLAIN, KIND_PROTOTYPE};
pub(crate) use portions::{settle_templates, settle_unlinked, take_over};
pub(crate) use triggers::{
    inherit_dependencies, inherit_triggers, item_children, related_children,
};
pub use unlink::{check_unlink, is_much, unlink_templates};

/// Why a linkage is refused.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The templates conflict with each other or with the host; the text says how.
    #[error("{0}")]
    Conflict(String),
    /// The database refused.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl LinkError {
    fn conflict(text: impl Into<String>) -> Self {
        Self::Conflict(text.into())
    }
}

/// With more hosts than these, children are searched for by their parents.
const MANY_HOSTS: usize = 1_000;

/// Items of a host that an unlinking may have left, as an estimate.
const SETTLED: usize = 200;

/// Links templates to hosts or templates: everything of the templates is inherited, and further to
/// what is linked below. Writes the links themselves too; templates that are linked already are
/// left alone. Refuses circles, a template that would be linked twice, and keys that several of
/// the host's templates have.
pub fn link_templates(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
) -> Result<(), LinkError> {
    link(edit, hosts, templates, true)
}

/// Links templates to a host as the server does it by itself, for discovery and actions: all of
/// them, or where one is refused, none, and in this transaction. A host that discovery made inherits no host prototypes.
pub fn link_automatically(
    edit: &mut Edit<'_>,
    host: u64,
    templates: &[u64],
) -> Result<(), LinkError> {
    let sql = formatcp!("SELECT hostid FROM hosts WHERE flags = {FLAGS_PLAIN} AND hostid = ?");
    let host_prototypes = !edit.query(sql, &[host.into()])?.is_empty();
    let portion = edit.inheritance.portion.take();
    let result = edit.attempt(|edit| link(edit, &[host], templates, host_prototypes));
    edit.inheritance.portion = portion;
    result
}

fn link(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
    host_prototypes: bool,
) -> Result<(), LinkError> {
    let mut below = missing_links(edit, hosts, templates)?;
    if below.is_empty() {
        return Ok(());
    }
    // Many follow the unlinking in its order.
    let behind = portions::unlinked_hosts(edit, hosts)?;
    let few = edit.inheritance.portion.is_none_or(|portion| behind <= hosts_max(portion, SETTLED));
    if behind > 0 && few {
        settle_unlinked(edit, hosts)?;
    }
    check::check(edit, hosts, &below)?;
    let rows: Vec<Vec<Value>> = below
        .iter()
        .flat_map(|(template, hosts)| {
            hosts.iter().map(|host| vec![(*host).into(), (*template).into()])
        })
        .collect();
    edit.insert_many(&table::HOST_TEMPLATES, &["hostid", "templateid"], &rows)?;
    // An earlier link that is not inherited yet may be in conflict with this one.
    for (template, hosts) in portions::unfinished_links(edit, hosts)? {
        below.entry(template).or_default().extend(hosts);
    }
    edit.inheriting(|edit| {
        links::inherit_or_leave(edit, &below, host_prototypes, behind > 0 && !few)
    })
}

/// The missing links between these hosts and templates.
fn missing_links(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> DbResult<Below> {
    let mut below = Below::new();
    if hosts.is_empty() || templates.is_empty() {
        return Ok(below);
    }
    let present = links_of(edit, hosts)?;
    let templates: BTreeSet<u64> = templates.iter().copied().collect();
    for host in hosts {
        let present = present.get(host);
        for template in templates.iter().filter(|id| !present.is_some_and(|of| of.contains(id))) {
            below.entry(*template).or_default().push(*host);
        }
    }
    Ok(below)
}

/// Items, rules and prototypes of the templates.
fn items_of(edit: &mut Edit<'_>, below: &Below) -> DbResult<Vec<u64>> {
    let templates: Vec<u64> = below.keys().copied().collect();
    objects_of(edit, "SELECT itemid AS id FROM items WHERE hostid IN ({ids})", &templates)
}

fn objects_of(edit: &mut Edit<'_>, sql: &str, templates: &[u64]) -> DbResult<Vec<u64>> {
    let rows = query_by_ids(edit, sql, &[], templates)?;
    let ids: BTreeSet<u64> = rows.iter().map(|row| row.id("id")).collect();
    Ok(ids.into_iter().collect())
}

/// Templates linked to each of these hosts.
fn links_of(edit: &mut Edit<'_>, hosts: &[u64]) -> DbResult<HashMap<u64, BTreeSet<u64>>> {
    let sql = "SELECT hostid, templateid FROM host_templates WHERE hostid IN ({ids})";
    let mut links: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    for row in query_by_ids(edit, sql, &[], hosts)? {
        links.entry(row.id("hostid")).or_default().insert(row.id("templateid"));
    }
    Ok(links)
}

/// What is linked to these templates; host prototypes, which inherit nothing, are left out.
pub(crate) fn linked_below(edit: &mut Edit<'_>, templates: &[u64]) -> DbResult<Below> {
    let sql = formatcp!(
        "SELECT ht.templateid, ht.hostid FROM host_templates ht \
               JOIN hosts h ON h.hostid = ht.hostid WHERE h.kind < {KIND_PROTOTYPE} AND ht.templateid IN ({{ids}})"
    );
    let mut below = Below::new();
    for row in query_by_ids(edit, sql, &[], templates)? {
        below.entry(row.id("templateid")).or_default().push(row.id("hostid"));
    }
    Ok(below)
}

/// Rows `itemid, hostid, templateid` of the children that these hosts have of these items. The
/// search goes by the hosts: a template's items have as many children as it has hosts. (The plus
/// keeps databases from searching by parent.)
pub(crate) fn children_on(
    connection: &mut dyn Reader,
    parents: &[u64],
    hosts: &[u64],
) -> DbResult<Vec<Row>> {
    let mut rows = Vec::new();
    for portion in parents.chunks(1_000) {
        let sql = format!(
            "SELECT itemid, hostid, templateid FROM items \
             WHERE +templateid IN ({}) AND hostid IN ({{ids}})",
            placeholders(portion.len())
        );
        let params = id_params(portion.iter().copied());
        rows.extend(query_by_ids(connection, &sql, &params, hosts)?);
    }
    Ok(rows)
}

/// The same of many hosts: they have more items than their templates' items have children.
fn children(connection: &mut dyn Reader, parents: &[u64], hosts: &[u64]) -> DbResult<Vec<Row>> {
    if hosts.len() <= MANY_HOSTS {
        return children_on(connection, parents, hosts);
    }
    let sql = "SELECT itemid, hostid, templateid FROM items WHERE templateid IN ({ids})";
    query_by_ids(connection, sql, &[], parents)
}

/// What an item with these `flags` is called, with its article.
pub(crate) fn kind_words(flags: i64) -> &'static str {
    match Origin::from_number(flags) {
        Some(Origin::Rule) => "an LLD rule",
        Some(Origin::Prototype) => "an item prototype",
        _ => "an item",
    }
}

/// A host or template that inherits.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// 0 host, 1 template.
    pub(crate) kind: i64,
    /// Technical name.
    pub(crate) name: String,
    /// Main interface of each type.
    pub(crate) main: BTreeMap<i64, u64>,
}

impl Target {
    fn word(&self) -> &'static str {
        if HostKind::Template.is(self.kind) { "template" } else { "host" }
    }
}

/// Hosts and templates by id, with their main interfaces.
pub(crate) fn targets(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<HashMap<u64, Target>> {
    let sql = "SELECT hostid, kind, host FROM hosts WHERE hostid IN ({ids})";
    let mut targets: HashMap<u64, Target> = query_by_ids(connection, sql, &[], ids)?
        .iter()
        .map(|row| {
            let target = Target {
                kind: row.int("kind"),
                name: row.text("host").to_owned(),
                main: BTreeMap::new(),
            };
            (row.id("hostid"), target)
        })
        .collect();
    let sql =
        "SELECT hostid, type, interfaceid FROM interfaces WHERE main = 1 AND hostid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], ids)? {
        if let Some(target) = targets.get_mut(&row.id("hostid")) {
            target.main.insert(row.int("type"), row.id("interfaceid"));
        }
    }
    Ok(targets)
}

#[cfg(test)]
mod tests;
