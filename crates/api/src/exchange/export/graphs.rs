//! Graphs and graph prototypes.

use std::collections::BTreeMap;

use config::db::Row;
use objects::Origin;
use objects::sql::{FLAGS_PLAIN, FLAGS_PROTOTYPE};
use serde_json::{Map, json};

use super::order::natural;
use super::{Export, Owned, object, put_list};
use crate::call::{Json, User};
use crate::error::ApiResult;
use crate::exchange::words::{DISCOVERED, GRAPH, GRAPH_AXES, GRAPH_ITEM, to_export};
use crate::permission::{Need, and, on_graphs, on_hosts};

/// Own (not inherited) graphs of hosts and templates.
#[derive(Default)]
pub(super) struct Graphs {
    pub(super) plain: Vec<Json>,
    /// Prototypes by discovery rule.
    prototypes: Owned,
}

impl Graphs {
    pub(super) fn load(export: &Export<'_, '_>, owners: &[u64]) -> ApiResult<Self> {
        let right = and(on_all_hosts(export.call.user()));
        // The rule of a prototype is that of its item prototypes.
        let sql = format!(
            "SELECT g.*, MAX(i.ruleid) AS ruleid FROM items i \
             JOIN graph_items f ON f.itemid = i.itemid JOIN graphs g ON g.graphid = f.graphid \
             WHERE g.templateid = 0 AND g.flags IN ({FLAGS_PLAIN}, {FLAGS_PROTOTYPE}) \
             AND i.hostid IN ({{ids}}){right} GROUP BY g.graphid"
        );
        let mut rows = export.rows(&sql, owners)?;
        rows.sort_by_cached_key(|row| (natural(row.text("name")), row.id("graphid")));
        rows.dedup_by_key(|row| row.id("graphid"));
        let items = Items::load(export, &rows)?;
        let mut graphs = Self::default();
        for row in &rows {
            let one = items.graph(row);
            if Origin::Prototype.is(row.int("flags")) {
                graphs.prototypes.entry(row.id("ruleid")).or_default().push(one);
            } else {
                graphs.plain.push(one);
            }
        }
        Ok(graphs)
    }

    pub(super) fn of_rule(&mut self, rule: u64) -> Vec<Json> {
        self.prototypes.remove(&rule).unwrap_or_default()
    }
}

/// Condition: the user has the right on the hosts of everything that a file names for the graph `g`.
fn on_all_hosts(user: &User) -> Option<String> {
    let shown = on_graphs(user, Need::Read, "g.graphid")?;
    let axes = on_hosts(user, Need::Read, "y.hostid")?;
    Some(format!(
        "{shown} AND NOT EXISTS (SELECT 1 FROM items y \
         WHERE y.itemid IN (g.ymin_itemid, g.ymax_itemid) AND NOT ({axes}))"
    ))
}

/// What graphs show.
struct Items {
    of_graph: BTreeMap<u64, Vec<Row>>,
    /// Host and key of items.
    named: BTreeMap<u64, Json>,
}

impl Items {
    fn load(export: &Export<'_, '_>, graphs: &[Row]) -> ApiResult<Self> {
        let ids: Vec<u64> = graphs.iter().map(|row| row.id("graphid")).collect();
        let mut rows = export.rows("SELECT * FROM graph_items WHERE graphid IN ({ids})", &ids)?;
        rows.sort_by_key(|row| (row.int("sortorder"), row.id("gitemid")));
        let axes = |row: &Row| GRAPH_AXES.iter().map(|(_, id)| row.id(id)).collect::<Vec<_>>();
        let mut items: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
        items.extend(graphs.iter().flat_map(axes));
        items.sort_unstable();
        items.dedup();
        let sql = "SELECT i.itemid, i.key_, h.host FROM items i \
                   JOIN hosts h ON h.hostid = i.hostid WHERE i.itemid IN ({ids})";
        let named = export.rows(sql, &items)?;
        let name = |row: &Row| {
            (row.id("itemid"), json!({ "host": row.text("host"), "key": row.text("key_") }))
        };
        let mut of_graph: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        for row in rows {
            of_graph.entry(row.id("graphid")).or_default().push(row);
        }
        Ok(Self { of_graph, named: named.iter().map(name).collect() })
    }

    fn graph(&self, row: &Row) -> Json {
        let node = object(row);
        let mut out = to_export(GRAPH, &node);
        for (export, column) in GRAPH_AXES {
            if let Some(item) = self.named.get(&row.id(column)) {
                out.insert((*export).to_owned(), item.clone());
            }
        }
        let items = self.of_graph.get(&row.id("graphid")).map_or(&[][..], Vec::as_slice);
        put_list(&mut out, "graph_items", items.iter().map(|row| self.item(row)).collect());
        out.extend(to_export(DISCOVERED, &node));
        Json::Object(out)
    }

    fn item(&self, row: &Row) -> Json {
        let mut out: Map<String, Json> = to_export(GRAPH_ITEM, &object(row));
        if let Some(item) = self.named.get(&row.id("itemid")) {
            out.insert("item".to_owned(), item.clone());
        }
        Json::Object(out)
    }
}
