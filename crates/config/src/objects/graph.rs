//! Graphs and graph prototypes.

use crate::table;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use const_format::formatcp;
use objects::sql::{FLAGS_PROTOTYPE, KIND_TEMPLATE};

use super::{Columns, column, ids_of, new_uuid};
use crate::Edit;
use crate::db::{DbResult, Reader, Row, Value, query_by_ids};
use crate::link::{
    Changed, GraphPurpose, Later, LinkError, Work, check_graphs_below, inherit_graphs, later,
    take_over_graph_level,
};

/// How a graph draws the values of an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphItem {
    /// Row of `graph_items`; 0 = a new one.
    pub gitemid: u64,
    /// Whose values are drawn.
    pub itemid: u64,
    /// How it is drawn: 0 line, 1 filled region, 2 bold line, 3 dots, 4 dashed line, 5 gradient line.
    pub drawtype: i64,
    /// Position among the items.
    pub sortorder: i64,
    /// Six hexadecimal digits.
    pub color: String,
    /// 0 left, 1 right.
    pub yaxisside: i64,
    /// What is shown of several values: 1 minimum, 2 average, 4 maximum, 7 all, 9 last (pie).
    pub calc_fnc: i64,
    /// 0 simple, 2 sum of the graph (pie).
    pub kind: i64,
}

/// Columns of `graph_items` in the order of [`GraphItem::row`].
const ITEM_COLUMNS: [&str; 9] = [
    "gitemid",
    "graphid",
    "itemid",
    "drawtype",
    "sortorder",
    "color",
    "yaxisside",
    "calc_fnc",
    "type",
];

/// `type` of an item whose value is the sum of a pie.
const SUM: i64 = 2;

impl GraphItem {
    /// Whether its value is the sum of a pie.
    pub fn is_sum(&self) -> bool {
        self.kind == SUM
    }

    /// From a row of `graph_items`.
    pub fn from_row(row: &Row) -> Self {
        Self {
            gitemid: row.id("gitemid"),
            itemid: row.id("itemid"),
            drawtype: row.int("drawtype"),
            sortorder: row.int("sortorder"),
            color: row.text("color").to_owned(),
            yaxisside: row.int("yaxisside"),
            calc_fnc: row.int("calc_fnc"),
            kind: row.int("type"),
        }
    }

    fn row(&self, graphid: u64) -> Vec<Value> {
        vec![
            self.gitemid.into(),
            graphid.into(),
            self.itemid.into(),
            self.drawtype.into(),
            self.sortorder.into(),
            self.color.as_str().into(),
            self.yaxisside.into(),
            self.calc_fnc.into(),
            self.kind.into(),
        ]
    }
}

/// A graph to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewGraph {
    /// Columns of `graphs`. Without `uuid`, a graph of a template gets a new one.
    pub columns: Columns,
    /// At least one.
    pub items: Vec<GraphItem>,
}

/// What an update of a graph changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphChange {
    /// Which.
    pub id: u64,
    /// Columns that change. Children on linked hosts follow.
    pub columns: Columns,
    /// All items, if they change. Those that are equal to existing ones, or name them, keep their rows.
    pub items: Option<Vec<GraphItem>>,
}

/// In [`Changed`]: the items.
pub(crate) const ITEMS: &str = "graph_items";

/// Creates graphs; those of templates are inherited by everything linked below. Returns the ids in order.
pub fn create_graphs(edit: &mut Edit<'_>, graphs: &[NewGraph]) -> Result<Vec<u64>, LinkError> {
    let items: Vec<u64> = graphs.iter().flat_map(|g| g.items.iter().map(|i| i.itemid)).collect();
    let templates = templates_of(edit, &items)?;
    let first = edit.next_id(&table::GRAPHS, u64::try_from(graphs.len()).unwrap_or(u64::MAX))?;
    let ids: Vec<u64> = (first..).take(graphs.len()).collect();
    let mut rows = Vec::with_capacity(graphs.len());
    for (graph, id) in graphs.iter().zip(&ids) {
        let on_template = graph.items.iter().any(|item| templates.contains_key(&item.itemid));
        let row = table::GRAPHS.columns.iter().map(|one| {
            Ok(match (one.name, column(&graph.columns, one.name)) {
                ("graphid", _) => Value::from(*id),
                ("uuid", None) if on_template => new_uuid()?.into(),
                (_, Some(value)) => value.clone(),
                (_, None) => one.default_value(),
            })
        });
        rows.push(row.collect::<DbResult<Vec<Value>>>()?);
    }
    let names: Vec<&str> = table::GRAPHS.columns.iter().map(|column| column.name).collect();
    edit.insert_many(&table::GRAPHS, &names, &rows)?;
    let items = ids.iter().zip(graphs).flat_map(|(id, g)| g.items.iter().map(|i| (*id, i.clone())));
    insert_items(edit, items.collect())?;
    let owners: BTreeSet<u64> = templates.into_values().collect();
    if owners.is_empty() {
        return Ok(ids);
    }
    let later = later(edit, &Vec::from_iter(owners), 3 * ids.len())?;
    let left = edit.inheriting(|edit| inherit_graphs(edit, &ids, None, later.as_ref()))?;
    if let Some(later) = later {
        later.leave(edit, &Work::NewGraphs(left))?;
    }
    Ok(ids)
}

/// Templates of these items, by item.
fn templates_of(edit: &mut Edit<'_>, items: &[u64]) -> DbResult<BTreeMap<u64, u64>> {
    let sql = formatcp!(
        "SELECT i.itemid, h.hostid FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE h.kind = {KIND_TEMPLATE} AND i.itemid IN ({{ids}})"
    );
    let rows = query_by_ids(edit, sql, &[], items)?;
    Ok(rows.iter().map(|row| (row.id("itemid"), row.id("hostid"))).collect())
}

/// Inserts items of graphs, which get new ids.
pub(crate) fn insert_items(edit: &mut Edit<'_>, items: Vec<(u64, GraphItem)>) -> DbResult<()> {
    let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
    if count == 0 {
        return Ok(());
    }
    let first = edit.next_id(&table::GRAPH_ITEMS, count)?;
    let rows: Vec<Vec<Value>> = (first..)
        .zip(items)
        .map(|(gitemid, (graphid, item))| GraphItem { gitemid, ..item }.row(graphid))
        .collect();
    edit.insert_many(&table::GRAPH_ITEMS, &ITEM_COLUMNS, &rows)
}

/// Items of graphs, in the order of their ids.
pub(crate) fn items_of(
    connection: &mut dyn Reader,
    graphs: &[u64],
) -> DbResult<HashMap<u64, Vec<GraphItem>>> {
    let sql = "SELECT * FROM graph_items WHERE graphid IN ({ids})";
    let mut rows = query_by_ids(connection, sql, &[], graphs)?;
    rows.sort_by_key(|row| row.id("gitemid"));
    let mut items: HashMap<u64, Vec<GraphItem>> = HashMap::new();
    for row in &rows {
        items.entry(row.id("graphid")).or_default().push(GraphItem::from_row(row));
    }
    Ok(items)
}

/// Gives graphs other items, and writes only the rows that differ.
pub(crate) fn write_items(edit: &mut Edit<'_>, graphs: Vec<(u64, Vec<GraphItem>)>) -> DbResult<()> {
    let ids: Vec<u64> = graphs.iter().map(|(id, _)| *id).collect();
    let mut existing = items_of(edit, &ids)?;
    let (mut new, mut gone) = (Vec::new(), Vec::new());
    for (graph, wanted) in graphs {
        let mut now = existing.remove(&graph).unwrap_or_default();
        for item in wanted {
            let named = now.iter().position(|one| one.gitemid == item.gitemid);
            let at = named.or_else(|| now.iter().position(|one| one.itemid == item.itemid));
            let Some(before) = at.map(|at| now.remove(at)) else {
                new.push((graph, item));
                continue;
            };
            let item = GraphItem { gitemid: before.gitemid, ..item };
            if item != before {
                let row: Columns = ITEM_COLUMNS.into_iter().zip(item.row(graph)).skip(2).collect();
                edit.update(&table::GRAPH_ITEMS, before.gitemid, &row)?;
            }
        }
        gone.extend(now.iter().map(|item| item.gitemid));
    }
    edit.delete(&table::GRAPH_ITEMS, "gitemid", &gone)?;
    insert_items(edit, new)
}

/// Changes graphs; children on linked hosts get the same changes, level by level.
pub fn update_graphs(edit: &mut Edit<'_>, changes: &[GraphChange]) -> Result<(), LinkError> {
    let ids: Vec<u64> = changes.iter().map(|change| change.id).collect();
    let items =
        ids_of(edit, "SELECT itemid FROM graph_items WHERE graphid IN ({ids})", "itemid", &ids)?;
    let owners: BTreeSet<u64> = templates_of(edit, &items)?.into_values().collect();
    let on_templates = !owners.is_empty();
    let later = match on_templates {
        true => later(edit, &Vec::from_iter(owners), changes.len())?,
        false => None,
    };
    let mut items = Vec::new();
    for change in changes {
        edit.update(&table::GRAPHS, change.id, &change.columns)?;
        items.extend(change.items.clone().map(|items| (change.id, items)));
    }
    write_items(edit, items)?;
    let mut left = Vec::new();
    for change in changes.iter().filter(|_| on_templates) {
        let columns = change.columns.iter().map(|(name, _)| *name);
        let columns = columns.chain(change.items.is_some().then_some(ITEMS));
        let columns: Vec<String> = columns.map(ToOwned::to_owned).collect();
        let ids =
            edit.inheriting(|edit| update_below(edit, change.id, &columns, later.as_ref()))?;
        left.extend((!ids.is_empty()).then_some(Changed { ids, columns }));
    }
    match later {
        Some(later) => Ok(later.leave(edit, &Work::Graphs(left))?),
        None => Ok(()),
    }
}

/// With `later`, only templates take over the change, and hosts are checked; returns the graphs whose children
/// on hosts have yet to take it over.
fn update_below(
    edit: &mut Edit<'_>,
    id: u64,
    columns: &[String],
    later: Option<&Later>,
) -> Result<Vec<u64>, LinkError> {
    let (mut left, mut level) = (Vec::new(), vec![id]);
    while !level.is_empty() {
        let changed = Changed { ids: level, columns: columns.to_vec() };
        if let Some(later) = later {
            left.extend(&changed.ids);
            if changed.has("name") {
                check_graphs_below(edit, &changed.ids, &later.templates, GraphPurpose::Rename)?;
            }
        }
        level = take_over_graph_level(edit, &changed, later.map(|later| &later.templates))?;
    }
    Ok(left)
}

/// Deletes graphs with their children on linked hosts and what discovery made of them.
pub fn delete_graphs(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    let mut all: BTreeSet<u64> = ids.iter().copied().collect();
    let mut frontier: Vec<u64> = ids.to_vec();
    while !frontier.is_empty() {
        let mut next = BTreeSet::new();
        for sql in [
            "SELECT graphid FROM graphs WHERE templateid IN ({ids})",
            "SELECT graphid FROM graph_discovery WHERE parent_graphid IN ({ids})",
        ] {
            next.extend(ids_of(edit, sql, "graphid", &frontier)?);
        }
        frontier = next.into_iter().filter(|id| all.insert(*id)).collect();
    }
    edit.delete(&table::GRAPHS, "graphid", &Vec::from_iter(all))
}

/// Frees graphs of items that are about to be deleted: those that show nothing else, and graph prototypes that
/// show no other item prototype, are deleted. An axis that follows such an item is calculated.
pub(super) fn without_items(edit: &mut Edit<'_>, items: &[u64]) -> DbResult<()> {
    let sql = "SELECT DISTINCT graphid FROM graph_items WHERE itemid IN ({ids})";
    let graphs = ids_of(edit, sql, "graphid", items)?;
    let gone: BTreeSet<u64> = items.iter().copied().collect();
    // The items that a graph needs: all of a graph, the item prototypes of a graph prototype.
    let sql = formatcp!(
        "SELECT f.graphid, f.itemid FROM graph_items f JOIN graphs g ON g.graphid = f.graphid \
         JOIN items i ON i.itemid = f.itemid \
         WHERE (g.flags <> {FLAGS_PROTOTYPE} OR i.flags = {FLAGS_PROTOTYPE}) \
         AND f.graphid IN ({{ids}})"
    );
    let needed = query_by_ids(edit, sql, &[], &graphs)?;
    let left = needed.iter().filter(|row| !gone.contains(&row.id("itemid")));
    let left: BTreeSet<u64> = left.map(|row| row.id("graphid")).collect();
    let mut empty: Vec<u64> = graphs.into_iter().filter(|id| !left.contains(id)).collect();
    empty.sort_unstable();
    delete_graphs(edit, &empty)?;
    for (sql, item, kind) in [
        ("SELECT graphid FROM graphs WHERE ymin_itemid IN ({ids})", "ymin_itemid", "ymin_type"),
        ("SELECT graphid FROM graphs WHERE ymax_itemid IN ({ids})", "ymax_itemid", "ymax_type"),
    ] {
        let graphs = ids_of(edit, sql, "graphid", items)?;
        edit.update_many(&table::GRAPHS, &graphs, &[(item, 0.into()), (kind, 0.into())])?;
    }
    Ok(())
}
