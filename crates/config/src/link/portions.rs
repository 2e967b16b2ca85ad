//! Changes of templates that many hosts inherit, and links of many hosts: the templates change in one transaction, with a row
//! that says what their hosts have yet to take over. Each of the following transactions is about some
//! hosts, so that other changes run in between. Rows are done in the order of their ids; a host that
//! is linked meanwhile has the change already.

use const_format::formatcp;
use objects::sql::{KIND_HOST, KIND_TEMPLATE};
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Below, LinkError, inherit_host_prototypes, inherit_items, inherit_triggers};
use crate::Edit;
use crate::db::{DbResult, Row, Value, id_params, placeholders};
use crate::objects::{take_over_items, take_over_triggers};

/// Hosts of one portion at most: their items are searched for the children of the template's.
const HOSTS_MAX: usize = 250;

/// What hosts have yet to take over; ids are those of templates' objects, of all levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    /// New items, rules and prototypes.
    NewItems(Vec<u64>),
    /// Changes of them.
    Items(Vec<Changed>),
    /// New triggers and trigger prototypes.
    NewTriggers(Vec<u64>),
    /// Changes of them.
    Triggers(Vec<Changed>),
    /// Host prototypes that hosts do not have yet.
    NewHostPrototypes(Vec<u64>),
    /// A change of one.
    HostPrototypes(Changed),
    /// All that these hosts inherit through new links to the templates.
    Links(Vec<u64>),
}

/// Objects with the columns that have changed. The name of another table stands for its rows of the
/// objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changed {
    pub(crate) ids: Vec<u64>,
    pub(crate) columns: Vec<String>,
}

impl Changed {
    /// Whether the column has changed, or rows of the table.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

impl Work {
    /// Objects that one host may have of it.
    fn objects(&self) -> usize {
        match self {
            Self::NewItems(ids) | Self::NewTriggers(ids) | Self::NewHostPrototypes(ids) => {
                ids.len()
            }
            Self::Items(changed) | Self::Triggers(changed) => {
                changed.iter().map(|one| one.ids.len()).sum()
            }
            Self::HostPrototypes(changed) => changed.ids.len(),
            Self::Links(hosts) => hosts.len(),
        }
    }

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
            Self::NewHostPrototypes(ids) => {
                inherit_host_prototypes(edit, ids, None, Some(hosts), None).map(drop)
            }
            Self::HostPrototypes(Changed { ids, columns }) => {
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                inherit_host_prototypes(edit, ids, Some(&columns), Some(hosts), None).map(drop)
            }
            Self::Links(_) => {
                let below = links(edit, templates, hosts)?;
                super::links::inherit(edit, &below, true, None)
            }
        }
    }
}

/// A change that hosts take over in the following transactions.
pub(crate) struct Later {
    /// The changed templates, and those that are linked to them.
    pub(crate) templates: BTreeSet<u64>,
    /// The hosts lack objects of an earlier change, on which this one may depend.
    pub(crate) behind: bool,
}

impl Later {
    /// Records the work.
    pub(crate) fn leave(&self, edit: &mut Edit<'_>, work: &Work) -> DbResult<()> {
        if work.objects() == 0 {
            return Ok(());
        }
        let row = [("templates", json(&self.templates).into()), ("work", json(work).into())];
        edit.inheritance.left = Some(edit.insert_new("inheritance", &row)?);
        Ok(())
    }
}

/// How hosts inherit a change of so many objects of these templates: `None` = in this transaction.
pub(crate) fn later(
    edit: &mut Edit<'_>,
    templates: &[u64],
    objects: usize,
) -> DbResult<Option<Later>> {
    let Some(portion) = edit.inheritance.portion else { return Ok(None) };
    let templates = templates_below(edit, templates)?;
    let rows = edit.query("SELECT templates FROM inheritance", &[])?;
    let behind = rows.iter().any(|row| !templates_of(row).is_disjoint(&templates));
    let sql = formatcp!(
        "SELECT COUNT(*) AS n FROM host_templates ht JOIN hosts h ON h.hostid = ht.hostid \
         WHERE h.kind = {KIND_HOST} AND ht.templateid IN"
    );
    let mut hosts = 0;
    for portion in Vec::from_iter(templates.iter().copied()).chunks(1_000) {
        let sql = format!("{sql} ({})", placeholders(portion.len()));
        let rows = edit.query(&sql, &id_params(portion.iter().copied()))?;
        hosts += rows.first().map_or(0, |row| row.id("n"));
    }
    let many = hosts > count(hosts_max(portion, objects));
    Ok((many || behind && hosts > 0).then_some(Later { templates, behind }))
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
        edit.delete("inheritance", "inheritanceid", &[id])?;
        return Ok(true);
    };
    let portion = edit.inheritance.portion.unwrap_or(usize::MAX);
    let max = hosts_max(portion, work.objects());
    if let Work::Links(hosts) = &work {
        edit.inheriting(|edit| on_hosts(edit, &work, &templates, hosts))?;
        edit.delete("inheritance", "inheritanceid", &[id])?;
        return Ok(true);
    }
    let hosts = next_hosts(edit, &templates, row.id("after_hostid"), max)?;
    edit.inheriting(|edit| on_hosts(edit, &work, &templates, &hosts))?;
    match hosts.last() {
        Some(host) if hosts.len() == max => {
            edit.update("inheritance", id, &[("after_hostid", (*host).into())])?;
        }
        _ => edit.delete("inheritance", "inheritanceid", &[id])?,
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

/// Hosts of one portion.
pub(super) fn hosts_max(portion: usize, objects: usize) -> usize {
    (portion / objects.max(1)).clamp(1, HOSTS_MAX)
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("BUG: ids and names are JSON")
}

fn templates_of(row: &Row) -> BTreeSet<u64> {
    serde_json::from_str(row.text("templates")).unwrap_or_default()
}

/// These templates and those that are linked to them, over any number of levels.
fn templates_below(edit: &mut Edit<'_>, templates: &[u64]) -> DbResult<BTreeSet<u64>> {
    let sql = formatcp!(
        "SELECT DISTINCT ht.hostid FROM host_templates ht \
               JOIN hosts h ON h.hostid = ht.hostid WHERE h.kind = {KIND_TEMPLATE} AND ht.templateid IN ({{ids}})"
    );
    let mut all: BTreeSet<u64> = templates.iter().copied().collect();
    let mut frontier = templates.to_vec();
    while !frontier.is_empty() {
        let below = crate::objects::ids_of(edit, sql, "hostid", &frontier)?;
        frontier = below.into_iter().filter(|id| all.insert(*id)).collect();
    }
    Ok(all)
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
