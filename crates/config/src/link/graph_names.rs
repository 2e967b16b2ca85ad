//! Names of graphs: whether a graph that a host has under the name of another one is in its way.
//!
//! A name is unique among the graphs that a host has or inherits, and among its graph prototypes. Graphs of
//! different hosts are compared by the keys of their items, because a host that is about to be linked to a
//! template does not have the template's items yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use objects::Origin;

use super::graphs::{Source, load_sources};
use super::{Below, LinkError, linked_below};
use crate::Edit;
use crate::db::{DbResult, Row, Value, placeholders, query_by_ids};
use crate::objects::ids_of;

/// Hosts and keys of a graph's items, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape(Vec<(u64, String)>);

impl Shape {
    /// The items of these graphs.
    pub(super) fn load(edit: &mut Edit<'_>, graphs: &[u64]) -> DbResult<HashMap<u64, Self>> {
        let sql = "SELECT f.graphid, i.hostid, i.key_ FROM graph_items f \
                   JOIN items i ON i.itemid = f.itemid WHERE f.graphid IN ({ids})";
        let mut shapes: HashMap<u64, Self> = HashMap::new();
        for row in query_by_ids(edit, sql, &[], graphs)? {
            let shape = shapes.entry(row.id("graphid")).or_default();
            shape.0.push((row.id("hostid"), row.text("key_").to_owned()));
        }
        shapes.values_mut().for_each(|shape| shape.0.sort_unstable());
        Ok(shapes)
    }

    /// The host or template of the graph; the lowest id of several.
    pub(super) fn host(&self) -> u64 {
        self.0.first().map_or(0, |(host, _)| *host)
    }

    fn hosts(&self) -> BTreeSet<u64> {
        self.0.iter().map(|(host, _)| *host).collect()
    }

    /// Whether this graph shows items of the host alone, with the keys that the other graph's items have.
    fn is_on(&self, host: u64, other: &Self) -> bool {
        let keys = self.0.iter().map(|(on, key)| (*on == host).then_some(key));
        keys.eq(other.0.iter().map(|(_, key)| Some(key)))
    }
}

/// A graph that a host has under the name.
pub(super) struct Same {
    pub(super) id: u64,
    templateid: u64,
    flags: i64,
    shape: Shape,
}

/// Graphs under names of others: by name and whether they are prototypes, then by host.
pub(super) struct Named(HashMap<(String, bool), BTreeMap<u64, Same>>);

impl Named {
    /// Graphs of these hosts.
    pub(super) fn on_hosts(
        edit: &mut Edit<'_>,
        sources: &[Source],
        hosts: &[u64],
    ) -> DbResult<Self> {
        let mut rows = Vec::new();
        for names in names(sources).chunks(500) {
            let sql = format!(
                "SELECT DISTINCT g.graphid, g.name, g.templateid, g.flags FROM items i \
                 JOIN graph_items gi ON gi.itemid = i.itemid \
                 JOIN graphs g ON g.graphid = gi.graphid \
                 WHERE g.name IN ({}) AND i.hostid IN ({{ids}})",
                placeholders(names.len())
            );
            rows.extend(query_by_ids(edit, &sql, names, hosts)?);
        }
        Self::new(edit, &rows)
    }

    /// Graphs of all hosts that are inherited from no template.
    fn own(edit: &mut Edit<'_>, sources: &[Source]) -> DbResult<Self> {
        let mut rows = Vec::new();
        for names in names(sources).chunks(500) {
            let sql = format!(
                "SELECT graphid, name, templateid, flags FROM graphs \
                 WHERE templateid = 0 AND name IN ({})",
                placeholders(names.len())
            );
            rows.extend(edit.query(&sql, names)?);
        }
        Self::new(edit, &rows)
    }

    fn new(edit: &mut Edit<'_>, rows: &[Row]) -> DbResult<Self> {
        let ids: BTreeSet<u64> = rows.iter().map(|row| row.id("graphid")).collect();
        let shapes = Shape::load(edit, &Vec::from_iter(ids))?;
        let mut found: HashMap<(String, bool), BTreeMap<u64, Same>> = HashMap::new();
        for row in rows {
            let Some(shape) = shapes.get(&row.id("graphid")) else { continue };
            let is_prototype = Origin::Prototype.is(row.int("flags"));
            let key = (row.text("name").to_owned(), is_prototype);
            let of_name = found.entry(key).or_default();
            for host in shape.hosts() {
                of_name.entry(host).or_insert_with(|| Same {
                    id: row.id("graphid"),
                    templateid: row.id("templateid"),
                    flags: row.int("flags"),
                    shape: shape.clone(),
                });
            }
        }
        Ok(Self(found))
    }

    /// Graphs under the name of this one, by host.
    pub(super) fn like(&self, source: &Source) -> Option<&BTreeMap<u64, Same>> {
        self.0.get(&(source.name().to_owned(), source.is_prototype()))
    }

    pub(super) fn get(&self, host: u64, source: &Source) -> Option<&Same> {
        self.like(source)?.get(&host)
    }
}

fn names(sources: &[Source]) -> Vec<Value> {
    let names: BTreeSet<&str> = sources.iter().map(Source::name).collect();
    names.into_iter().map(Value::from).collect()
}

/// Graphs that one level of the linkage gives to hosts: two of them must not have the same name.
#[derive(Default)]
pub(super) struct Given<'s>(BTreeSet<(u64, &'s str, bool)>);

impl<'s> Given<'s> {
    /// Refuses a graph whose name the host gets already.
    pub(super) fn add(
        &mut self,
        edit: &mut Edit<'_>,
        source: &'s Source,
        host: u64,
    ) -> Result<(), LinkError> {
        match self.0.insert((host, source.name(), source.is_prototype())) {
            true => Ok(()),
            false => Err(taken(edit, source.name(), host, "")?),
        }
    }
}

const OF_ANOTHER: &str = " (inherited from another template)";

impl Same {
    /// Refuses to make this graph of the host the one that it inherits. It must be the host's own, and show
    /// the same items.
    pub(super) fn adopt(
        &self,
        edit: &mut Edit<'_>,
        source: &Source,
        host: u64,
    ) -> Result<(), LinkError> {
        let why = if self.templateid > 0 {
            OF_ANOTHER
        } else if self.flags != source.flags() {
            ""
        } else if !self.shape.is_on(host, &source.shape) {
            " (items are not identical)"
        } else {
            return Ok(());
        };
        Err(taken(edit, source.name(), host, why)?)
    }
}

pub(super) fn taken(edit: &mut Edit<'_>, name: &str, host: u64, why: &str) -> DbResult<LinkError> {
    let rows = edit.query("SELECT name FROM hosts WHERE hostid = ?", &[host.into()])?;
    let host = rows.first().map_or("", |row| row.text("name"));
    Ok(LinkError::conflict(format!("Graph \"{name}\" already exists on \"{host}\"{why}.")))
}

/// What hosts are about to get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// New graphs. An equal graph of the host becomes the inherited one.
    Inherit,
    /// Other names of the graphs that they have.
    Rename,
}

/// Refuses graphs of templates whose names are taken on hosts that have yet to inherit them: by a graph of
/// the host, or by one of another template. Nothing is written.
pub(super) fn check_graphs(
    edit: &mut Edit<'_>,
    graphs: &[u64],
    below: &Below,
    purpose: Purpose,
) -> Result<(), LinkError> {
    let sources = load_sources(edit, graphs)?;
    let own = Named::own(edit, &sources)?;
    for source in &sources {
        let Some(same) = own.like(source) else { continue };
        for host in below.get(&source.shape.host()).into_iter().flatten() {
            match (same.get(host), purpose) {
                (None, _) => {}
                (Some(same), Purpose::Inherit) => same.adopt(edit, source, *host)?,
                (Some(_), Purpose::Rename) => return Err(taken(edit, source.name(), *host, "")?),
            }
        }
    }
    check_templates(edit, &sources, below, purpose)
}

/// The same of graphs that the hosts' other templates have.
fn check_templates(
    edit: &mut Edit<'_>,
    sources: &[Source],
    below: &Below,
    purpose: Purpose,
) -> Result<(), LinkError> {
    let hosts: BTreeSet<u64> = below.values().flatten().copied().collect();
    let sql = "SELECT DISTINCT templateid FROM host_templates WHERE hostid IN ({ids})";
    let mut templates = ids_of(edit, sql, "templateid", &Vec::from_iter(hosts))?;
    templates.sort_unstable();
    templates.dedup();
    let named = Named::on_hosts(edit, sources, &templates)?;
    for source in sources {
        let Some(same) = named.like(source) else { continue };
        let Some(hosts) = below.get(&source.shape.host()) else { continue };
        for template in same.keys().filter(|id| **id != source.shape.host()) {
            let sql = format!(
                "SELECT hostid FROM host_templates WHERE templateid = {template} AND hostid IN ({{ids}})"
            );
            if let Some(host) = ids_of(edit, &sql, "hostid", hosts)?.first() {
                let is_linked = purpose == Purpose::Inherit && !below.contains_key(template);
                let why = if is_linked { OF_ANOTHER } else { "" };
                return Err(taken(edit, source.name(), *host, why)?);
            }
        }
    }
    Ok(())
}

/// The same of all hosts that are linked to the templates of these graphs. `templates`: what is linked to
/// them, and no host.
pub(crate) fn check_graphs_below(
    edit: &mut Edit<'_>,
    graphs: &[u64],
    templates: &BTreeSet<u64>,
    purpose: Purpose,
) -> Result<(), LinkError> {
    let shapes = Shape::load(edit, graphs)?;
    let owners: BTreeSet<u64> = shapes.values().map(Shape::host).collect();
    let mut below = linked_below(edit, &Vec::from_iter(owners))?;
    below.values_mut().for_each(|of| of.retain(|id| !templates.contains(id)));
    check_graphs(edit, graphs, &below, purpose)
}
