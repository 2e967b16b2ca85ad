//! Graphs and graph prototypes: after the items that they show.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::db::{Row, Value, placeholders};
use objects::HostKind;
use objects::sql::KIND_OWNERS;
use serde_json::{Map, json};

use super::owners::Owner;
use super::{Import, Rule, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::words::{
    DISCOVERED, GRAPH, GRAPH_AXES, GRAPH_ITEM, Word, check_members, to_api,
};
use crate::methods::graph::Kind;

/// A graph of the import.
pub(super) struct Node<'t> {
    pub(super) path: String,
    pub(super) node: &'t Json,
    /// Whether the import has the host of an item. Other graphs are not written.
    pub(super) is_imported: bool,
}

/// Graphs that are written at once: the items of their hosts are in memory.
const PORTION: usize = 1_000;

impl Import<'_, '_> {
    pub(super) fn graphs(&self, tree: &Json, owners: &[Owner<'_>], path: &str) -> ApiResult<()> {
        let (mut plain, mut prototypes) = (Vec::new(), Vec::new());
        let names: BTreeSet<&str> = owners.iter().map(|owner| owner.name.as_str()).collect();
        for (path, node) in list(tree, "graphs", "graph", path)? {
            let is_imported = shown_items(node).any(|item| names.contains(text(item, "host")));
            plain.push(Node { path, node, is_imported });
        }
        for owner in owners {
            for (path, rule) in list(owner.node, "discovery_rules", "discovery_rule", &owner.path)?
            {
                let nodes = list(rule, "graph_prototypes", "graph_prototype", &path)?;
                let node = |(path, node)| Node { path, node, is_imported: true };
                prototypes.extend(nodes.into_iter().map(node));
            }
        }
        for (nodes, kind, rules) in
            [(plain, Kind::Graph, "graphs"), (prototypes, Kind::Prototype, "discoveryRules")]
        {
            let rule = self.rules.of(rules);
            if !rule.any() {
                continue;
            }
            let seen = self.write_graphs(&nodes, kind, rule)?;
            if rule.delete {
                self.delete_missing_graphs(owners, kind, &seen)?;
            }
        }
        Ok(())
    }

    /// Deletes graphs that the file does not name. Those that also show items of other hosts stay.
    fn delete_missing_graphs(
        &self,
        owners: &[Owner<'_>],
        kind: Kind,
        seen: &BTreeSet<u64>,
    ) -> ApiResult<()> {
        let method = if kind == Kind::Graph { "graph.delete" } else { "graphprototype.delete" };
        let imported: BTreeSet<u64> = owners.iter().map(|owner| owner.id).collect();
        let existed = owners.iter().filter(|owner| owner.existed).map(|owner| owner.id);
        for hosts in Vec::from_iter(existed).chunks(PORTION) {
            let rows = self.known_graphs(hosts, kind)?;
            let mut gone: BTreeSet<u64> = rows.iter().map(|row| row.id("graphid")).collect();
            gone.retain(|id| !seen.contains(id));
            let sql = "SELECT DISTINCT f.graphid, i.hostid FROM graph_items f \
                       JOIN items i ON i.itemid = f.itemid WHERE f.graphid IN ({ids})";
            for row in self.call.rows_by_ids(sql, &Vec::from_iter(gone.iter().copied()))? {
                if !imported.contains(&row.id("hostid")) {
                    gone.remove(&row.id("graphid"));
                }
            }
            self.delete_later(method, gone);
        }
        Ok(())
    }

    /// Graphs of these hosts that are not inherited: a row for each of their hosts, and of their LLD rules.
    fn known_graphs(&self, hosts: &[u64], kind: Kind) -> ApiResult<Vec<Row>> {
        let flags = if kind == Kind::Graph { 0 } else { 2 };
        let sql = format!(
            "SELECT DISTINCT g.graphid, g.name, g.uuid, i.hostid, i.ruleid FROM items i \
             JOIN graph_items f ON f.itemid = i.itemid JOIN graphs g ON g.graphid = f.graphid \
             WHERE g.flags = {flags} AND g.templateid = 0 AND i.hostid IN ({{ids}})"
        );
        self.call.rows_by_ids(&sql, hosts)
    }

    /// Creates and updates; returns the ids of all that the file names.
    pub(super) fn write_graphs(
        &self,
        nodes: &[Node<'_>],
        kind: Kind,
        rule: Rule,
    ) -> ApiResult<BTreeSet<u64>> {
        let mut seen = BTreeSet::new();
        for nodes in nodes.chunks(PORTION) {
            seen.extend(self.write_portion(nodes, kind, rule)?);
        }
        Ok(seen)
    }

    fn write_portion(
        &self,
        nodes: &[Node<'_>],
        kind: Kind,
        rule: Rule,
    ) -> ApiResult<BTreeSet<u64>> {
        let hosts = self.hosts_of(nodes)?;
        let ids: Vec<u64> = hosts.0.values().map(|host| host.id).collect();
        let known = Known::new(&self.known_graphs(&ids, kind)?, kind);
        let items = self.items_of(&ids)?;
        let method = if kind == Kind::Graph { "graph" } else { "graphprototype" };
        let (mut created, mut changed) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for node in nodes {
            let same = known.find(node.node, kind, &hosts, &items);
            seen.extend(same);
            match same.filter(|_| node.is_imported) {
                Some(id) if rule.update => {
                    let mut object = object(node, kind, &hosts, &items)?;
                    object.shift_remove("uuid");
                    object.insert("graphid".into(), id.to_string().into());
                    changed.push(Json::Object(object));
                }
                None if rule.create && node.is_imported => {
                    let mut object = object(node, kind, &hosts, &items)?;
                    let host = hosts.0.get(first_host(node.node));
                    if text(node.node, "uuid").is_empty()
                        || !host.is_some_and(|host| host.is_template)
                    {
                        object.shift_remove("uuid");
                    }
                    created.push(Json::Object(object));
                }
                _ => {}
            }
        }
        self.change(&format!("{method}.update"), changed)?;
        seen.extend(self.create(&format!("{method}.create"), created)?);
        Ok(seen)
    }

    /// Hosts and templates that graphs name.
    fn hosts_of(&self, nodes: &[Node<'_>]) -> ApiResult<Hosts> {
        let items = nodes.iter().flat_map(|one| named_items(one.node));
        let names: BTreeSet<&str> = items.map(|item| text(item, "host")).collect();
        let mut hosts = BTreeMap::new();
        for portion in Vec::from_iter(names).chunks(500) {
            let sql = format!(
                "SELECT hostid, host, kind FROM hosts WHERE kind IN {KIND_OWNERS} AND host IN ({})",
                placeholders(portion.len())
            );
            let names: Vec<Value> = portion.iter().map(|name| Value::from(*name)).collect();
            for row in self.call.rows(&sql, &names)? {
                let (id, is_template) = (row.id("hostid"), HostKind::Template.is(row.int("kind")));
                hosts.insert(row.text("host").to_owned(), Host { id, is_template });
            }
        }
        Ok(Hosts(hosts))
    }

    /// Items of these hosts by host and key.
    fn items_of(&self, hosts: &[u64]) -> ApiResult<Items> {
        let sql = "SELECT itemid, hostid, key_, ruleid FROM items WHERE hostid IN ({ids})";
        let rows = self.call.rows_by_ids(sql, hosts)?;
        let item = |row: &Row| {
            let item = Item { id: row.id("itemid"), rule: row.id("ruleid") };
            ((row.id("hostid"), row.text("key_").to_owned()), item)
        };
        Ok(rows.iter().map(item).collect())
    }

    /// Turns graphs of an earlier version, which are stored as the export has them, into objects, and
    /// forgets the stored ones. Rows have the present name of the host.
    pub(super) fn convert_kept(&self, rows: &[&Row]) -> ApiResult<()> {
        let rule = Rule { create: true, update: true, delete: false };
        for (kind, word) in [(Kind::Graph, "graph"), (Kind::Prototype, "graph_prototype")] {
            let of_kind = rows.iter().filter(|row| row.text("kind") == word);
            let doc = |row: &&Row| {
                let mut doc: Json = serde_json::from_str(row.text("doc"))?;
                rename_host(&mut doc, row.text("host"));
                Ok::<_, serde_json::Error>(doc)
            };
            let docs: Result<Vec<Json>, _> = of_kind.map(doc).collect();
            let docs = docs.map_err(|error| ApiError::application(error.to_string()))?;
            let node = |node| Node { path: format!("/{word}"), node, is_imported: true };
            let nodes: Vec<Node<'_>> = docs.iter().map(node).collect();
            self.write_graphs(&nodes, kind, rule)?;
        }
        let ids: Vec<u64> = rows.iter().map(|row| row.id("partid")).collect();
        self.call.write(|edit| Ok(edit.delete(&config::table::PARTS, "partid", &ids)?))
    }
}

/// A host or template that a graph names.
struct Host {
    id: u64,
    is_template: bool,
}

/// Hosts by their technical names.
struct Hosts(BTreeMap<String, Host>);

/// Items by host and key.
type Items = HashMap<(u64, String), Item>;

struct Item {
    id: u64,
    /// LLD rule of an item prototype.
    rule: u64,
}

/// Graphs that hosts have already.
#[derive(Default)]
struct Known {
    of_uuid: HashMap<String, u64>,
    /// By place and name.
    named: HashMap<((u64, u64), String), u64>,
}

impl Known {
    fn new(rows: &[Row], kind: Kind) -> Self {
        let mut known = Self::default();
        for row in rows {
            let (id, uuid) = (row.id("graphid"), row.text("uuid"));
            if !uuid.is_empty() {
                known.of_uuid.insert(uuid.to_owned(), id);
            }
            let rule = if kind == Kind::Graph { 0 } else { row.id("ruleid") };
            let place = (row.id("hostid"), rule);
            known.named.entry((place, row.text("name").to_owned())).or_insert(id);
        }
        known
    }

    /// The graph that the file means: by its UUID, or by its name on one of its hosts.
    fn find(&self, node: &Json, kind: Kind, hosts: &Hosts, items: &Items) -> Option<u64> {
        if let Some(id) = self.of_uuid.get(text(node, "uuid")) {
            return Some(*id);
        }
        let named = |item: &Json| {
            let place = place(item, kind, hosts, items)?;
            self.named.get(&(place, text(node, "name").to_owned())).copied()
        };
        shown_items(node).find_map(named)
    }
}

/// Where the name of a graph with this item is unique: host and LLD rule, which is 0 of graphs.
fn place(item: &Json, kind: Kind, hosts: &Hosts, items: &Items) -> Option<(u64, u64)> {
    let host = hosts.0.get(text(item, "host"))?.id;
    if kind == Kind::Graph {
        return Some((host, 0));
    }
    let rule = items.get(&(host, text(item, "key").to_owned()))?.rule;
    (rule > 0).then_some((host, rule))
}

/// The graph as the API has it.
fn object(
    node: &Node<'_>,
    kind: Kind,
    hosts: &Hosts,
    items: &Items,
) -> ApiResult<Map<String, Json>> {
    let path = &node.path;
    let axes: Vec<&str> = GRAPH_AXES.iter().map(|(name, _)| *name).collect();
    let more = [axes.as_slice(), &["graph_items"]].concat();
    let words = if kind == Kind::Graph { &[GRAPH][..] } else { &[GRAPH, DISCOVERED] };
    check_members(node.node, words, &more, path)?;
    let mut object = Map::new();
    for words in words {
        object.extend(with_defaults(words, node.node, path)?);
    }
    let name = text(node.node, "name");
    let what = if kind == Kind::Graph { "graph" } else { "graph prototype" };
    let id = |item: &Json, used: &str| -> ApiResult<Json> {
        let (host, key) = (text(item, "host"), text(item, "key"));
        let found = hosts.0.get(host).and_then(|host| items.get(&(host.id, key.to_owned())));
        found.map(|item| item.id.to_string().into()).ok_or_else(|| {
            let text = format!("Cannot find item \"{key}\" on \"{host}\" used {used} \"{name}\".");
            ApiError::application(text)
        })
    };
    for ((export, member), end) in GRAPH_AXES.iter().zip(["MIN", "MAX"]) {
        if let Some(item) = node.node.get(*export).filter(|item| item.is_object()) {
            let used = format!("as the Y axis {end} value for {what}");
            object.insert((*member).to_owned(), id(item, &used)?);
        }
    }
    let mut shown = Vec::new();
    for (path, node) in list(node.node, "graph_items", "graph_item", path)? {
        check_members(node, &[GRAPH_ITEM], &["item"], &path)?;
        let mut one = with_defaults(GRAPH_ITEM, node, &path)?;
        one.insert(
            "itemid".into(),
            id(node.get("item").unwrap_or(&Json::Null), &format!("in {what}"))?,
        );
        shown.push(Json::Object(one));
    }
    object.insert("gitems".into(), json!(shown));
    Ok(object)
}

/// Members as the API has them, also those that the export leaves out.
fn with_defaults(words: &[Word], node: &Json, path: &str) -> ApiResult<Map<String, Json>> {
    let mut object = to_api(words, node, path)?;
    for word in words {
        if let Some(default) = word.default {
            object.entry(word.api).or_insert_with(|| default.into());
        }
    }
    Ok(object)
}

/// The items that a graph shows.
fn shown_items(graph: &Json) -> impl Iterator<Item = &Json> {
    let items = graph.get("graph_items").and_then(Json::as_array).into_iter().flatten();
    items.filter_map(|item| item.get("item")).filter(|item| item.is_object())
}

/// The items that a graph names.
fn named_items(graph: &Json) -> impl Iterator<Item = &Json> {
    let axes = GRAPH_AXES.iter().filter_map(|(name, _)| graph.get(*name));
    shown_items(graph).chain(axes.filter(|item| item.is_object()))
}

/// The host of a graph's first item.
fn first_host(graph: &Json) -> &str {
    named_items(graph).next().map_or("", |item| text(item, "host"))
}

/// Gives the host of a graph another name: that of its first item, and of other items of the same host.
fn rename_host(graph: &mut Json, name: &str) {
    let before = first_host(graph).to_owned();
    let rename = |item: &mut Json| {
        if text(item, "host") == before {
            item["host"] = name.into();
        }
    };
    for (axis, _) in GRAPH_AXES {
        graph.get_mut(*axis).into_iter().filter(|item| item.is_object()).for_each(&rename);
    }
    let shown = graph.get_mut("graph_items").and_then(Json::as_array_mut).into_iter().flatten();
    shown.filter_map(|one| one.get_mut("item")).filter(|item| item.is_object()).for_each(&rename);
}
