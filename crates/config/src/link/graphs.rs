//! Inheritance of graphs and graph prototypes.

use crate::table;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use const_format::formatcp;
use objects::Origin;
use objects::sql::FLAGS_DISCOVERED;

use super::graph_names::{Given, Named, Purpose, Shape, check_graphs_below, taken};
use super::{Changed, Later, LinkError, item_children};
use crate::Edit;
use crate::db::{DbResult, Row, Value, id_params, placeholders, query_by_ids};
use crate::objects::{
    Columns, GRAPH_ITEMS, GraphItem, graph_items, insert_graph_items, write_graph_items,
};

/// A graph of a template.
pub(super) struct Source {
    row: Row,
    items: Vec<GraphItem>,
    pub(super) shape: Shape,
}

/// One graph on one host.
struct Copy {
    source: usize,
    graphid: u64,
    adopted: bool,
    axes: [u64; 2],
    items: Vec<GraphItem>,
}

/// Columns with the item that an end of the Y axis follows.
const AXES: [&str; 2] = ["ymin_itemid", "ymax_itemid"];

/// Columns that a copy has of its own; all others come from the parent.
const OWN: [&str; 5] = ["graphid", "templateid", "ymin_itemid", "ymax_itemid", "uuid"];

/// Items of other hosts by item and host.
type Children = HashMap<u64, BTreeMap<u64, u64>>;

impl Source {
    fn id(&self) -> u64 {
        self.row.id("graphid")
    }

    pub(super) fn name(&self) -> &str {
        self.row.text("name")
    }

    pub(super) fn flags(&self) -> i64 {
        self.row.int("flags")
    }

    pub(super) fn is_prototype(&self) -> bool {
        Origin::Prototype.is(self.flags())
    }

    /// The items that the graph needs.
    fn needs(&self) -> impl Iterator<Item = u64> {
        let axes = AXES.into_iter().map(|name| self.row.id(name)).filter(|id| *id > 0);
        self.items.iter().map(|item| item.itemid).chain(axes)
    }

    /// Ends of the axis and items of a child on the host; `None`: the host lacks an item.
    fn on_host(&self, host: u64, children: &Children) -> Option<([u64; 2], Vec<GraphItem>)> {
        let child = |id: u64| match id {
            0 => Some(0),
            id => children.get(&id)?.get(&host).copied(),
        };
        let axes = [child(self.row.id(AXES[0]))?, child(self.row.id(AXES[1]))?];
        let item = |one: &GraphItem| {
            Some(GraphItem { gitemid: 0, itemid: child(one.itemid)?, ..one.clone() })
        };
        Some((axes, self.items.iter().map(item).collect::<Option<_>>()?))
    }
}

/// Copies graphs of templates to what is linked below them (only to `hosts`, if given), and on to what is
/// linked below that. With `later`, only templates get copies, and hosts are checked; returns the graphs that
/// the hosts have yet to inherit.
pub(crate) fn inherit_graphs(
    edit: &mut Edit<'_>,
    sources: &[u64],
    hosts: Option<&[u64]>,
    later: Option<&Later>,
) -> Result<Vec<u64>, LinkError> {
    let mut sources = sources.to_vec();
    let mut left = Vec::new();
    let templates = later.map(|later| later.templates.clone());
    let hosts = hosts.map(|hosts| hosts.iter().copied().collect::<BTreeSet<u64>>());
    let mut only = hosts.clone().or_else(|| templates.clone());
    let mut is_first = true;
    while !sources.is_empty() {
        if let Some(later) = later {
            left.extend(&sources);
            // With `later`, those that are linked are templates.
            if !is_first || hosts.is_none() {
                check_graphs_below(edit, &sources, &later.templates, Purpose::Inherit)?;
            }
        }
        sources = copy_level(edit, &sources, only.as_ref())?;
        only.clone_from(&templates);
        is_first = false;
    }
    Ok(left)
}

pub(super) fn load_sources(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<Vec<Source>> {
    let sql =
        formatcp!("SELECT * FROM graphs WHERE flags < {FLAGS_DISCOVERED} AND graphid IN ({{ids}})");
    let mut rows = query_by_ids(edit, sql, &[], ids)?;
    rows.sort_by_key(|row| row.id("graphid"));
    let mut items = graph_items(edit, ids)?;
    let mut shapes = Shape::load(edit, ids)?;
    let source = |row: Row| {
        let id = row.id("graphid");
        Some(Source { row, items: items.remove(&id)?, shape: shapes.remove(&id)? })
    };
    Ok(rows.into_iter().filter_map(source).collect())
}

fn children_of(
    edit: &mut Edit<'_>,
    sources: &[Source],
    only: Option<&BTreeSet<u64>>,
) -> DbResult<Children> {
    let items: BTreeSet<u64> = sources.iter().flat_map(Source::needs).collect();
    item_children(edit, &Vec::from_iter(items), only)
}

/// Children of graphs with their hosts, as (parent, host) → child; on certain hosts only, if given.
fn graph_children(
    edit: &mut Edit<'_>,
    parents: &[u64],
    only: Option<&BTreeSet<u64>>,
) -> DbResult<BTreeMap<(u64, u64), u64>> {
    const CHILDREN: &str = "SELECT DISTINCT g.templateid, g.graphid, i.hostid FROM graphs g \
                            JOIN graph_items gi ON gi.graphid = g.graphid \
                            JOIN items i ON i.itemid = gi.itemid";
    let mut rows = Vec::new();
    if let Some(hosts) = only {
        let hosts: Vec<u64> = hosts.iter().copied().collect();
        for portion in parents.chunks(1_000) {
            let marks = placeholders(portion.len());
            let sql =
                format!("{CHILDREN} WHERE +g.templateid IN ({marks}) AND i.hostid IN ({{ids}})");
            let params = id_params(portion.iter().copied());
            rows.extend(query_by_ids(edit, &sql, &params, &hosts)?);
        }
    } else {
        let sql = format!("{CHILDREN} WHERE g.templateid IN ({{ids}})");
        rows = query_by_ids(edit, &sql, &[], parents)?;
    }
    let child = |row: &Row| ((row.id("templateid"), row.id("hostid")), row.id("graphid"));
    Ok(rows.iter().map(child).collect())
}

/// One level; gives the ids of the copies.
fn copy_level(
    edit: &mut Edit<'_>,
    ids: &[u64],
    only: Option<&BTreeSet<u64>>,
) -> Result<Vec<u64>, LinkError> {
    let sources = load_sources(edit, ids)?;
    let children = children_of(edit, &sources, only)?;
    if children.is_empty() {
        return Ok(Vec::new());
    }
    let hosts: BTreeSet<u64> = children.values().flat_map(BTreeMap::keys).copied().collect();
    let done = graph_children(edit, ids, Some(&hosts))?;
    let named = Named::on_hosts(edit, &sources, &Vec::from_iter(hosts))?;
    let (mut copies, mut fresh, mut given) = (Vec::new(), 0_u64, Given::default());
    for (at, source) in sources.iter().enumerate() {
        let none = BTreeMap::new();
        let first = children.get(&source.items[0].itemid).unwrap_or(&none);
        for host in first.keys().filter(|host| !done.contains_key(&(source.id(), **host))) {
            let Some((axes, items)) = source.on_host(*host, &children) else { continue };
            given.add(edit, source, *host)?;
            let same = named.get(*host, source);
            if let Some(same) = same {
                same.adopt(edit, source, *host)?;
            }
            fresh += u64::from(same.is_none());
            let graphid = same.map_or(0, |same| same.id);
            copies.push(Copy { source: at, graphid, adopted: same.is_some(), axes, items });
        }
    }
    let first = edit.next_id(&table::GRAPHS, fresh)?;
    for (id, copy) in (first..).zip(copies.iter_mut().filter(|copy| !copy.adopted)) {
        copy.graphid = id;
    }
    let ids = copies.iter().map(|copy| copy.graphid).collect();
    write(edit, &sources, copies)?;
    Ok(ids)
}

fn write(edit: &mut Edit<'_>, sources: &[Source], copies: Vec<Copy>) -> DbResult<()> {
    let (mut fresh, mut items, mut adopted) = (Vec::new(), Vec::new(), Vec::new());
    for copy in copies {
        let source = sources[copy.source].id();
        let ids = [copy.graphid, source, copy.axes[0], copy.axes[1]];
        let row: Vec<Value> = ids.into_iter().map(Value::from).chain(["".into()]).collect();
        if copy.adopted {
            // The host keeps its graph, which becomes the inherited one.
            let own: Columns = OWN.into_iter().zip(row).skip(1).collect();
            edit.update_like(&table::GRAPHS, copy.graphid, source, &own)?;
            adopted.push((copy.graphid, copy.items));
        } else {
            fresh.push(row);
            items.extend(copy.items.into_iter().map(|item| (copy.graphid, item)));
        }
    }
    edit.insert_like(&table::GRAPHS, &OWN, "templateid", &fresh)?;
    write_graph_items(edit, adopted)?;
    insert_graph_items(edit, items)
}

/// Gives the children that these hosts have of changed graphs what the graphs have now.
pub(crate) fn take_over_graphs(
    edit: &mut Edit<'_>,
    changed: &[Changed],
    hosts: &[u64],
) -> Result<(), LinkError> {
    let only: BTreeSet<u64> = hosts.iter().copied().collect();
    changed.iter().try_for_each(|one| take_over_graph_level(edit, one, Some(&only)).map(drop))
}

/// The same of one level, on certain hosts and templates only, if given. Returns the children.
pub(crate) fn take_over_graph_level(
    edit: &mut Edit<'_>,
    changed: &Changed,
    only: Option<&BTreeSet<u64>>,
) -> Result<Vec<u64>, LinkError> {
    let below = graph_children(edit, &changed.ids, only)?;
    if below.is_empty() {
        return Ok(Vec::new());
    }
    let sources = load_sources(edit, &changed.ids)?;
    let moves = changed.has(GRAPH_ITEMS) || AXES.iter().any(|name| changed.has(name));
    let children = if moves { children_of(edit, &sources, only)? } else { Children::new() };
    if changed.has("name") {
        refuse_names(edit, &sources, &below)?;
    }
    let names = table::GRAPHS.columns.iter().map(|column| column.name);
    let names = names.filter(|name| changed.has(name) && !OWN.contains(name) && *name != "flags");
    let names: Vec<&'static str> = names.collect();
    let mut items = Vec::new();
    for source in &sources {
        let of = below.range((source.id(), 0)..=(source.id(), u64::MAX));
        let of: Vec<(u64, u64)> = of.map(|((_, host), child)| (*host, *child)).collect();
        let row = names.iter().filter_map(|name| Some((*name, source.row.get(name)?.clone())));
        let row: Columns = row.collect();
        let ids: Vec<u64> = of.iter().map(|(_, child)| *child).collect();
        edit.update_many(&table::GRAPHS, &ids, &row)?;
        for (host, child) in of.into_iter().filter(|_| moves) {
            let Some((axes, wanted)) = source.on_host(host, &children) else { continue };
            let row: Columns = AXES.into_iter().zip(axes.map(Value::from)).collect();
            edit.update(&table::GRAPHS, child, &row)?;
            items.push((child, wanted));
        }
    }
    write_graph_items(edit, items)?;
    Ok(below.into_values().collect())
}

/// Refuses a new name that another graph of a child's host has.
fn refuse_names(
    edit: &mut Edit<'_>,
    sources: &[Source],
    below: &BTreeMap<(u64, u64), u64>,
) -> Result<(), LinkError> {
    let hosts: BTreeSet<u64> = below.keys().map(|(_, host)| *host).collect();
    let named = Named::on_hosts(edit, sources, &Vec::from_iter(hosts))?;
    for source in sources {
        for ((_, host), child) in below.range((source.id(), 0)..=(source.id(), u64::MAX)) {
            if named.get(*host, source).is_some_and(|same| same.id != *child) {
                return Err(taken(edit, source.name(), *host, "")?);
            }
        }
    }
    Ok(())
}
