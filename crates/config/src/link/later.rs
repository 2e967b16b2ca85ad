//! What hosts have yet to take over of changes and links of templates: rows of the table `inheritance`.

use crate::table;
use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::{KIND_HOST, KIND_TEMPLATE};
use serde::{Deserialize, Serialize};

use crate::Edit;
use crate::db::{DbResult, Row, id_params, placeholders};

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
    /// New graphs and graph prototypes.
    NewGraphs(Vec<u64>),
    /// Changes of them.
    Graphs(Vec<Changed>),
    /// Host prototypes that hosts do not have yet.
    NewHostPrototypes(Vec<u64>),
    /// A change of one.
    HostPrototypes(Changed),
    /// All that these hosts inherit through new links to the templates.
    Links(Vec<u64>),
    /// What these hosts, or this template, have inherited from the templates that they are no longer
    /// linked to.
    Unlinked(Unlinked),
}

/// Hosts, or one template, that were unlinked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unlinked {
    pub(crate) hosts: Vec<u64>,
    /// What they have inherited is deleted. Otherwise it becomes their own.
    pub(crate) clear: bool,
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
    /// Objects that one host may have of it, as the number of items that are as much work: a new trigger
    /// with its functions takes as long as five items, a graph as long as three.
    pub(super) fn objects(&self) -> usize {
        match self {
            Self::NewItems(ids) | Self::NewHostPrototypes(ids) => ids.len(),
            Self::NewTriggers(ids) => 5 * ids.len(),
            Self::NewGraphs(ids) => 3 * ids.len(),
            Self::Items(changed) | Self::Triggers(changed) | Self::Graphs(changed) => {
                changed.iter().map(|one| one.ids.len()).sum()
            }
            Self::HostPrototypes(changed) => changed.ids.len(),
            Self::Links(hosts) | Self::Unlinked(Unlinked { hosts, .. }) => hosts.len(),
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
        edit.inheritance.left = Some(edit.insert_new(&table::INHERITANCE, &row)?);
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
    let hosts = hosts_of(edit, &templates)?;
    let many = hosts > count(hosts_max(portion, objects));
    Ok((many || behind && hosts > 0).then_some(Later { templates, behind }))
}

/// Number of links of hosts to these templates.
pub(super) fn hosts_of(edit: &mut Edit<'_>, templates: &BTreeSet<u64>) -> DbResult<u64> {
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
    Ok(hosts)
}

/// Hosts of one portion.
pub(super) fn hosts_max(portion: usize, objects: usize) -> usize {
    (portion / objects.max(1)).clamp(1, HOSTS_MAX)
}

pub(super) fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("BUG: ids and names are JSON")
}

pub(super) fn templates_of(row: &Row) -> BTreeSet<u64> {
    serde_json::from_str(row.text("templates")).unwrap_or_default()
}

/// These templates and those that are linked to them, over any number of levels.
pub(super) fn templates_below(edit: &mut Edit<'_>, templates: &[u64]) -> DbResult<BTreeSet<u64>> {
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
