//! What hosts and templates inherit through new links: in the transaction of the links, or, if it is
//! much, in portions after it.

use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::{FLAGS_RULE, KIND_HOST, KIND_PROTOTYPE, KIND_TEMPLATE};

use super::checks::{check_hosts, on};
use super::graph_names::{Purpose, check_graphs};
use super::later::{Later, Work, hosts_max, later};
use super::{
    Below, LinkError, inherit_graphs, inherit_host_prototypes, inherit_items, inherit_triggers,
    items_of, objects_of,
};
use crate::Edit;
use crate::db::{DbResult, query_by_ids};
use crate::objects::ids_of;

/// Hosts that are checked together, which bounds the memory for it.
const CHECKED_HOSTS: usize = 1_000;

/// Gives hosts and templates what the templates that they were just linked to have. Many hosts, and
/// the hosts of templates that have many, are checked only, and inherit in the following transactions;
/// `behind`: hosts do, because they have yet to lose what they inherited before.
pub(super) fn inherit_or_leave(
    edit: &mut Edit<'_>,
    below: &Below,
    host_prototypes: bool,
    behind: bool,
) -> Result<(), LinkError> {
    let all: BTreeSet<u64> = below.values().flatten().copied().collect();
    let all = Vec::from_iter(all);
    let sql =
        formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND hostid IN ({{ids}})");
    let templates = ids_of(edit, sql, "hostid", &all)?;
    let items = items_of(edit, below)?;
    if templates.len() == all.len() {
        let later = later(edit, &templates, items.len())?;
        let own = later.is_some() && host_prototypes && own_prototypes(edit, below)?;
        let later = later.filter(|later| later.behind || !own);
        return inherit(edit, below, host_prototypes, later.as_ref());
    }
    match edit.inheritance.portion {
        Some(portion)
            if templates.is_empty() && (behind || all.len() > hosts_max(portion, items.len())) =>
        {
            leave(edit, below, &all, hosts_max(portion, items.len()))
        }
        _ => inherit(edit, below, host_prototypes, None),
    }
}

/// Inherits items, triggers, graphs and host prototypes. With `later`, only templates inherit, and hosts do in the
/// following transactions.
pub(super) fn inherit(
    edit: &mut Edit<'_>,
    below: &Below,
    host_prototypes: bool,
    later: Option<&Later>,
) -> Result<(), LinkError> {
    let mut left = inherit_but_graphs(edit, below, host_prototypes, later)?.to_vec();
    let hosts: BTreeSet<u64> = below.values().flatten().copied().collect();
    let graphs = graphs_of(edit, below)?;
    let graphs = inherit_graphs(edit, &graphs, Some(&Vec::from_iter(hosts)), later)?;
    left.push(Work::NewGraphs(graphs));
    let Some(later) = later else { return Ok(()) };
    Ok(left.iter().try_for_each(|work| later.leave(edit, work))?)
}

/// The same without graphs. With `later`, returns what the hosts have yet to inherit.
pub(super) fn inherit_but_graphs(
    edit: &mut Edit<'_>,
    below: &Below,
    host_prototypes: bool,
    later: Option<&Later>,
) -> Result<[Work; 3], LinkError> {
    let linked: Vec<u64> = below.keys().copied().collect();
    let hosts: BTreeSet<u64> = below.values().flatten().copied().collect();
    let hosts = Vec::from_iter(hosts);
    let items = items_of(edit, below)?;
    let items = inherit_items(edit, &items, below, later)?;
    let sql = "SELECT DISTINCT f.triggerid AS id FROM functions f \
               JOIN items i ON i.itemid = f.itemid WHERE i.hostid IN ({ids})";
    let triggers = objects_of(edit, sql, &linked)?;
    let triggers = inherit_triggers(edit, &triggers, Some(&hosts), later)?;
    let mut prototypes = Vec::new();
    if host_prototypes {
        prototypes = prototypes_of(edit, &linked)?;
        prototypes = inherit_host_prototypes(edit, &prototypes, None, Some(&hosts), later)?;
    }
    Ok([Work::NewItems(items), Work::NewTriggers(triggers), Work::NewHostPrototypes(prototypes)])
}

/// Graphs and graph prototypes of the templates.
pub(super) fn graphs_of(edit: &mut Edit<'_>, below: &Below) -> DbResult<Vec<u64>> {
    let templates: Vec<u64> = below.keys().copied().collect();
    let sql = "SELECT DISTINCT gi.graphid AS id FROM graph_items gi \
               JOIN items i ON i.itemid = gi.itemid WHERE i.hostid IN ({ids})";
    objects_of(edit, sql, &templates)
}

/// Checks all hosts, and leaves them in portions to the following transactions.
fn leave(
    edit: &mut Edit<'_>,
    below: &Below,
    hosts: &[u64],
    portion: usize,
) -> Result<(), LinkError> {
    let own = own_prototypes(edit, below)?;
    for some in hosts.chunks(CHECKED_HOSTS) {
        let below = on(below, some);
        let items = items_of(edit, &below)?;
        if check_hosts(edit, &items, &below)? || own {
            inherit(edit, &below, true, None)?;
        }
    }
    let graphs = graphs_of(edit, below)?;
    check_graphs(edit, &graphs, below, Purpose::Inherit)?;
    for some in hosts.chunks(portion) {
        let templates = on(below, some).into_keys().collect();
        Later { templates, behind: false }.leave(edit, &Work::Links(some.to_vec()))?;
    }
    Ok(())
}

fn prototypes_of(edit: &mut Edit<'_>, templates: &[u64]) -> DbResult<Vec<u64>> {
    let sql = formatcp!(
        "SELECT d.hostid AS id FROM host_discovery d JOIN hosts p ON p.hostid = d.hostid \
               JOIN items r ON r.itemid = d.parent_itemid WHERE p.kind = {KIND_PROTOTYPE} AND r.hostid IN ({{ids}})"
    );
    objects_of(edit, sql, templates)
}

/// Whether any host has host prototypes on a rule of its own, and the templates have host prototypes:
/// they may be in conflict, which only copying shows.
fn own_prototypes(edit: &mut Edit<'_>, below: &Below) -> DbResult<bool> {
    let templates: Vec<u64> = below.keys().copied().collect();
    if prototypes_of(edit, &templates)?.is_empty() {
        return Ok(false);
    }
    let sql = formatcp!(
        "SELECT d.hostid FROM hosts h JOIN items r ON r.hostid = h.hostid AND r.templateid = 0 \
         JOIN host_discovery d ON d.parent_itemid = r.itemid \
         JOIN hosts p ON p.hostid = d.hostid AND p.kind = {KIND_PROTOTYPE} \
         WHERE h.kind = {KIND_HOST} AND r.flags = {FLAGS_RULE} AND r.key_ IN \
         (SELECT key_ FROM items WHERE flags = {FLAGS_RULE} AND hostid IN ({{ids}}))"
    );
    Ok(!query_by_ids(edit, sql, &[], &templates)?.is_empty())
}
