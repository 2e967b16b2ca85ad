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
}

impl Import<'_, '_> {
    pub(super) fn graphs(&self, tree: &Json, owners: &[Owner<'_>], path: &str) -> ApiResult<()> {
        let (mut plain, mut prototypes) = (Vec::new(), Vec::new());
        for (path, node) in list(tree, "graphs", "graph", path)? {
            // One of a host that is not imported is none of this import's.
            if owners.iter().any(|owner| owner.name == first_host(node)) {
                plain.push(Node { path, node });
            }
        }
        for owner in owners {
            for (path, rule) in list(owner.node, "discovery_rules", "discovery_rule", &owner.path)?
            {
                let nodes = list(rule, "graph_prototypes", "graph_prototype", &path)?;
                prototypes.extend(nodes.into_iter().map(|(path, node)| Node { path, node }));
            }
        }
        for (nodes, kind, rules) in
            [(plain, Kind::Graph, "graphs"), (prototypes, Kind::Prototype, "discoveryRules")]
        {
            let rule = self.rules.of(rules);
            if !rule.any() {
                continue;
            }
            let existed = owners.iter().filter(|owner| owner.existed);
            let existed: Vec<u64> = existed.map(|owner| owner.id).collect();
            let seen = self.write_graphs(&nodes, kind, rule)?;
            if rule.delete && !existed.is_empty() {
                let known = self.known_graphs(&existed, kind)?;
                let known: BTreeSet<u64> = known.iter().map(|row| row.id("graphid")).collect();
                let method =
                    if kind == Kind::Graph { "graph.delete" } else { "graphprototype.delete" };
                self.delete_later(method, known.into_iter().filter(|id| !seen.contains(id)));
            }
        }
        Ok(())
    }

    /// Graphs of these hosts that are not inherited: a row for each of their hosts.
    fn known_graphs(&self, hosts: &[u64], kind: Kind) -> ApiResult<Vec<Row>> {
        let flags = if kind == Kind::Graph { 0 } else { 2 };
        let sql = format!(
            "SELECT DISTINCT g.graphid, g.name, g.uuid, i.hostid FROM items i \
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
        if nodes.is_empty() {
            return Ok(seen);
        }
        let hosts = self.hosts_of(nodes)?;
        let ids: Vec<u64> = hosts.0.values().map(|host| host.id).collect();
        let known = self.known_graphs(&ids, kind)?;
        let items = self.items_of(&ids)?;
        let method = if kind == Kind::Graph { "graph" } else { "graphprototype" };
        let (mut created, mut changed) = (Vec::new(), Vec::new());
        for node in nodes {
            let (uuid, name) = (text(node.node, "uuid"), text(node.node, "name"));
            let host = hosts.0.get(first_host(node.node));
            let same = known
                .iter()
                .find(|row| !uuid.is_empty() && row.text("uuid") == uuid)
                .or_else(|| {
                    let is_there = |row: &&Row| host.is_some_and(|h| h.id == row.id("hostid"));
                    known.iter().find(|row| row.text("name") == name && is_there(row))
                })
                .map(|row| row.id("graphid"));
            seen.extend(same);
            match same {
                Some(id) if rule.update => {
                    let mut object = object(node, kind, &hosts, &items)?;
                    object.shift_remove("uuid");
                    object.insert("graphid".into(), id.to_string().into());
                    changed.push(Json::Object(object));
                }
                None if rule.create => {
                    let mut object = object(node, kind, &hosts, &items)?;
                    if uuid.is_empty() || !host.is_some_and(|host| host.is_template) {
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
    fn items_of(&self, hosts: &[u64]) -> ApiResult<ItemIds> {
        let sql = "SELECT itemid, hostid, key_ FROM items WHERE hostid IN ({ids})";
        let rows = self.call.rows_by_ids(sql, hosts)?;
        let item = |row: &Row| ((row.id("hostid"), row.text("key_").to_owned()), row.id("itemid"));
        Ok(rows.iter().map(item).collect())
    }

    /// Turns graphs of an earlier version, which are stored as the export has them, into objects, and
    /// forgets the stored ones.
    pub(super) fn convert_kept(&self, rows: &[&Row]) -> ApiResult<()> {
        let rule = Rule { create: true, update: true, delete: false };
        for (kind, word) in [(Kind::Graph, "graph"), (Kind::Prototype, "graph_prototype")] {
            let of_kind = rows.iter().filter(|row| row.text("kind") == word);
            let docs: Result<Vec<Json>, _> =
                of_kind.map(|row| serde_json::from_str(row.text("doc"))).collect();
            let docs = docs.map_err(|error| ApiError::application(error.to_string()))?;
            let nodes: Vec<Node<'_>> =
                docs.iter().map(|node| Node { path: format!("/{word}"), node }).collect();
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
type ItemIds = HashMap<(u64, String), u64>;

/// The graph as the API has it.
fn object(
    node: &Node<'_>,
    kind: Kind,
    hosts: &Hosts,
    items: &ItemIds,
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
        found.map(|id| id.to_string().into()).ok_or_else(|| {
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

/// The items that a graph names.
fn named_items(graph: &Json) -> impl Iterator<Item = &Json> {
    let items = graph.get("graph_items").and_then(Json::as_array).into_iter().flatten();
    let axes = GRAPH_AXES.iter().filter_map(|(name, _)| graph.get(*name));
    items.filter_map(|item| item.get("item")).chain(axes).filter(|item| item.is_object())
}

/// The host of a graph's first item: the graph goes with it.
fn first_host(graph: &Json) -> &str {
    named_items(graph).next().map_or("", |item| text(item, "host"))
}
