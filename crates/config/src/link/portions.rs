//! Changes of templates that many hosts inherit, and links of many hosts: the templates change in one
//! transaction, with a row that says what their hosts have [yet to take over](super::later). Each of the following transactions is about some
//! hosts, so that other changes run in between. Rows are done in the order of their ids; a host that
//! is linked meanwhile has the change already.

use crate::table;
use std::collections::BTreeSet;

use objects::sql::KIND_HOST;

use super::later::{Changed, Work, count, hosts_max, templates_of};
use super::links::{graphs_of, inherit_but_graphs};
use super::unlink::settle;
use super::{
    Below, LinkError, inherit_graphs, inherit_host_prototypes, inherit_items, inherit_triggers,
    take_over_graphs,
};
use crate::Edit;
use crate::db::{DbResult, Value, id_params, placeholders};
use crate::objects::{take_over_items, take_over_triggers};

impl Work {
    /// Lets these hosts take it over. What they have done already stays as it is.
    fn on(
        &self,
        edit: &mut Edit<'_>,
        templates: &BTreeSet<u64>,
        hosts: &[u64],
    ) -> Result<(), LinkError> {
        match self {
            Self::NewItems(ids) => {
                let below = links(edit, templates, hosts)?;
                inherit_items(edit, ids, &below, None).map(drop)
            }
            Self::Items(changed) => take_over_items(edit, changed, hosts),
            Self::NewTriggers(ids) => inherit_triggers(edit, ids, Some(hosts), None).map(drop),
            Self::Triggers(changed) => take_over_triggers(edit, changed, hosts),
            Self::NewGraphs(ids) => Ok(each_graph(edit, ids, hosts, new_graphs)?),
            Self::Graphs(changed) => Ok(each_graph(edit, changed, hosts, take_over_graphs)?),
            Self::NewHostPrototypes(ids) => {
                inherit_host_prototypes(edit, ids, None, Some(hosts), None).map(drop)
            }
            Self::HostPrototypes(Changed { ids, columns }) => {
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                inherit_host_prototypes(edit, ids, Some(&columns), Some(hosts), None).map(drop)
            }
            Self::Links(_) => {
                let below = links(edit, templates, hosts)?;
                inherit_but_graphs(edit, &below, true, None)?;
                let graphs = graphs_of(edit, &below)?;
                Ok(each_graph(edit, &graphs, hosts, new_graphs)?)
            }
            Self::Unlinked(unlinked) => {
                let templates = Vec::from_iter(templates.iter().copied());
                Ok(settle(edit, &templates, unlinked, usize::MAX).map(drop)?)
            }
        }
    }
}

/// Lets the next hosts take over the work of the first row up to `last`. `false`: there is none.
pub(crate) fn take_over(edit: &mut Edit<'_>, last: u64) -> DbResult<bool> {
    let sql = "SELECT * FROM inheritance WHERE inheritanceid <= ? ORDER BY inheritanceid LIMIT 1";
    let rows = edit.query(sql, &[Value::from(last)])?;
    let Some(row) = rows.first() else { return Ok(false) };
    let id = row.id("inheritanceid");
    let templates = templates_of(row);
    let Ok(work) = serde_json::from_str::<Work>(row.text("work")) else {
        tracing::warn!(work = row.text("work"), "cannot read what hosts have yet to inherit");
        edit.delete(&table::INHERITANCE, "inheritanceid", &[id])?;
        return Ok(true);
    };
    let portion = edit.inheritance.portion.unwrap_or(usize::MAX);
    let max = hosts_max(portion, work.objects());
    if let Work::Links(hosts) = &work {
        edit.inheriting(|edit| on_hosts(edit, &work, &templates, hosts))?;
        edit.delete(&table::INHERITANCE, "inheritanceid", &[id])?;
        return Ok(true);
    }
    if let Work::Unlinked(unlinked) = &work {
        let templates = Vec::from_iter(templates);
        if edit.inheriting(|edit| settle(edit, &templates, unlinked, portion))? {
            edit.delete(&table::INHERITANCE, "inheritanceid", &[id])?;
        }
        return Ok(true);
    }
    let hosts = next_hosts(edit, &templates, row.id("after_hostid"), max)?;
    edit.inheriting(|edit| on_hosts(edit, &work, &templates, &hosts))?;
    match hosts.last() {
        Some(host) if hosts.len() == max => {
            edit.update(&table::INHERITANCE, id, &[("after_hostid", (*host).into())])?;
        }
        _ => edit.delete(&table::INHERITANCE, "inheritanceid", &[id])?,
    }
    Ok(true)
}

/// All conflicts were looked for before the templates changed. A host that has got one since then
/// does not stop the others.
fn on_hosts(
    edit: &mut Edit<'_>,
    work: &Work,
    templates: &BTreeSet<u64>,
    hosts: &[u64],
) -> DbResult<()> {
    let conflict = match edit.attempt(|edit| work.on(edit, templates, hosts)) {
        Ok(()) => return Ok(()),
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(text)) => text,
    };
    if let [host] = hosts {
        tracing::warn!(host, conflict, "a host did not inherit a change of its template");
        return Ok(());
    }
    hosts.chunks(1).try_for_each(|host| on_hosts(edit, work, templates, host))
}

fn new_graphs(edit: &mut Edit<'_>, ids: &[u64], hosts: &[u64]) -> Result<(), LinkError> {
    inherit_graphs(edit, ids, Some(hosts), None).map(drop)
}

/// Lets hosts take over something of graphs.
type TakeOver<T> = fn(&mut Edit<'_>, &[T], &[u64]) -> Result<(), LinkError>;

/// Lets these hosts take over graphs. One that a host cannot have stops neither the others nor the host's items.
fn each_graph<T>(
    edit: &mut Edit<'_>,
    graphs: &[T],
    hosts: &[u64],
    take_over: TakeOver<T>,
) -> DbResult<()> {
    let conflict = match edit.attempt(|edit| take_over(edit, graphs, hosts)) {
        Ok(()) => return Ok(()),
        Err(LinkError::Db(error)) => return Err(error),
        Err(LinkError::Conflict(text)) => text,
    };
    match (graphs, hosts) {
        ([_], [host]) => {
            tracing::warn!(host, conflict, "a host did not inherit a graph of its template");
            Ok(())
        }
        (_, [_]) => {
            graphs.chunks(1).try_for_each(|graph| each_graph(edit, graph, hosts, take_over))
        }
        _ => hosts.chunks(1).try_for_each(|host| each_graph(edit, graphs, host, take_over)),
    }
}

/// The next hosts that are linked to one of the templates.
fn next_hosts(
    edit: &mut Edit<'_>,
    templates: &BTreeSet<u64>,
    after: u64,
    max: usize,
) -> DbResult<Vec<u64>> {
    let sql = format!(
        "SELECT DISTINCT h.hostid FROM host_templates ht JOIN hosts h ON h.hostid = ht.hostid \
         WHERE h.kind = {KIND_HOST} AND ht.templateid IN ({}) AND h.hostid > ? ORDER BY h.hostid LIMIT ?",
        placeholders(templates.len())
    );
    let mut params = id_params(templates.iter().copied());
    params.extend([Value::from(after), Value::from(count(max))]);
    Ok(edit.query(&sql, &params)?.iter().map(|row| row.id("hostid")).collect())
}

/// The links between these templates and hosts.
fn links(edit: &mut Edit<'_>, templates: &BTreeSet<u64>, hosts: &[u64]) -> DbResult<Below> {
    let mut below = Below::new();
    let links = super::links_of(edit, hosts)?;
    for host in hosts {
        for template in links.get(host).into_iter().flatten().filter(|id| templates.contains(id)) {
            below.entry(*template).or_default().push(*host);
        }
    }
    Ok(below)
}

/// Does at once what an unlinking has left to do on these hosts and templates: it would be in the way of
/// what they get now.
pub(crate) fn settle_unlinked(edit: &mut Edit<'_>, hosts: &[u64]) -> DbResult<()> {
    let hosts: BTreeSet<u64> = hosts.iter().copied().collect();
    for row in edit.query("SELECT templates, work FROM inheritance", &[])? {
        let Ok(Work::Unlinked(mut unlinked)) = serde_json::from_str(row.text("work")) else {
            continue;
        };
        unlinked.hosts.retain(|id| hosts.contains(id));
        if !unlinked.hosts.is_empty() {
            let templates = Vec::from_iter(templates_of(&row));
            edit.inheriting(|edit| settle(edit, &templates, &unlinked, usize::MAX))?;
        }
    }
    Ok(())
}

/// Does at once what an unlinking of these templates has left to do: what hosts have inherited is found by the
/// templates' objects, which are about to be deleted.
pub(crate) fn settle_templates(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    let ids: BTreeSet<u64> = ids.iter().copied().collect();
    for row in edit.query("SELECT templates, work FROM inheritance", &[])? {
        let templates = templates_of(&row);
        if templates.is_disjoint(&ids) {
            continue;
        }
        if let Ok(Work::Unlinked(unlinked)) = serde_json::from_str(row.text("work")) {
            let templates = Vec::from_iter(templates);
            edit.inheriting(|edit| settle(edit, &templates, &unlinked, usize::MAX))?;
        }
    }
    Ok(())
}

/// The number of these hosts that an unlinking has left something to do on.
pub(super) fn unlinked_hosts(edit: &mut Edit<'_>, hosts: &[u64]) -> DbResult<usize> {
    let hosts: BTreeSet<u64> = hosts.iter().copied().collect();
    let mut found = BTreeSet::new();
    for row in edit.query("SELECT work FROM inheritance", &[])? {
        if let Ok(Work::Unlinked(unlinked)) = serde_json::from_str(row.text("work")) {
            found.extend(unlinked.hosts.into_iter().filter(|id| hosts.contains(id)));
        }
    }
    Ok(found.len())
}

/// Links of these hosts that they have yet to inherit through.
pub(super) fn unfinished_links(edit: &mut Edit<'_>, hosts: &[u64]) -> DbResult<Below> {
    let hosts: BTreeSet<u64> = hosts.iter().copied().collect();
    let mut below = Below::new();
    for row in edit.query("SELECT templates, work FROM inheritance", &[])? {
        let Ok(Work::Links(of)) = serde_json::from_str(row.text("work")) else { continue };
        let of: Vec<u64> = of.into_iter().filter(|id| hosts.contains(id)).collect();
        for (template, hosts) in links(edit, &templates_of(&row), &of)? {
            below.entry(template).or_default().extend(hosts);
        }
    }
    Ok(below)
}

impl Edit<'_> {
    /// From now on everything that hosts inherit is in this transaction, for changes that go on with
    /// what hosts have inherited.
    pub fn inherit_at_once(&mut self) -> DbResult<()> {
        while take_over(self, i64::MAX.unsigned_abs())? {}
        self.inheritance.portion = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
