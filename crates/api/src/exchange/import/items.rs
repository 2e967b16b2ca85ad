//! Items, discovery rules and item prototypes: masters before what depends on them.

use std::collections::{BTreeMap, BTreeSet};

use objects::sql::TYPE_WEB;
use objects::{OnFail, StepKind};
use serde_json::{Map, json};

use super::owners::{Owner, each};
use super::{Import, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::words::{
    DISCOVERED, ITEM, RULE, STEP, TAG, VALUES, Word, check_members, invalid, to_api,
};
use crate::methods::item::fields;
use crate::object::{Access, Field};

/// Members of items beside their plain fields.
const MEMBERS: &[&str] = &[
    "preprocessing",
    "valuemap",
    "master_item",
    "interface_ref",
    "query_fields",
    "headers",
    "parameters",
    "tags",
    "triggers",
];
const PROTOTYPE_MEMBERS: &[&str] = &[
    "preprocessing",
    "valuemap",
    "master_item",
    "interface_ref",
    "query_fields",
    "headers",
    "parameters",
    "tags",
    "trigger_prototypes",
];
const RULE_MEMBERS: &[&str] = &[
    "preprocessing",
    "master_item",
    "interface_ref",
    "query_fields",
    "headers",
    "parameters",
    "filter",
    "lld_macro_paths",
    "overrides",
    "item_prototypes",
    "trigger_prototypes",
    "graph_prototypes",
    "host_prototypes",
];

/// Item types by what they need.
const TRAPPER: &str = "2";
const DEPENDENT: &str = "18";
const SNMP_TRAP: &str = "17";

/// What of items is imported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Item,
    Rule,
    /// With the id of its rule.
    Prototype(u64),
}

impl Kind {
    fn method(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::Rule => "discoveryrule",
            Self::Prototype(_) => "itemprototype",
        }
    }

    fn delete_method(self) -> &'static str {
        match self {
            Self::Item => "item.delete",
            Self::Rule => "discoveryrule.delete",
            Self::Prototype(_) => "itemprototype.delete",
        }
    }

    /// What its methods take.
    fn fields(self) -> &'static [Field] {
        let kind = match self {
            Self::Item => fields::Kind::Item,
            Self::Rule => fields::Kind::Rule,
            Self::Prototype(_) => fields::Kind::Prototype,
        };
        kind.object().fields
    }

    fn flags(self) -> &'static str {
        match self {
            Self::Item => "0, 4",
            Self::Rule => "1",
            Self::Prototype(_) => "2",
        }
    }
}

impl Import<'_, '_> {
    pub(super) fn items(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let nodes = list(owner.node, "items", "item", &owner.path)?;
        self.level_by_level(owner, Kind::Item, &nodes)
    }

    pub(super) fn discovery_rules(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let nodes = list(owner.node, "discovery_rules", "discovery_rule", &owner.path)?;
        self.level_by_level(owner, Kind::Rule, &nodes)?;
        let rules = self.ids(owner.id, "1")?;
        for (path, node) in &nodes {
            let Some(rule) = rules.get(text(node, "key")) else { continue };
            let prototypes = list(node, "item_prototypes", "item_prototype", path)?;
            self.level_by_level(owner, Kind::Prototype(*rule), &prototypes)?;
        }
        Ok(())
    }

    /// Keys of a host's or template's items with their ids.
    pub(super) fn ids(&self, owner: u64, flags: &str) -> ApiResult<BTreeMap<String, u64>> {
        let sql = format!("SELECT itemid, key_ FROM items WHERE hostid = ? AND flags IN ({flags})");
        let rows = self.call.rows(&sql, &[owner.into()])?;
        Ok(rows.iter().map(|row| (row.text("key_").to_owned(), row.id("itemid"))).collect())
    }

    /// Imports those whose master exists, then those that depend on these, until none is left.
    fn level_by_level(
        &self,
        owner: &Owner<'_>,
        kind: Kind,
        nodes: &[(String, &Json)],
    ) -> ApiResult<()> {
        let rule = self.rules.of(if kind == Kind::Item { "items" } else { "discoveryRules" });
        let before = self.known(owner.id, kind)?;
        let mut seen = BTreeSet::new();
        let uuids: BTreeSet<&str> = nodes.iter().map(|(_, node)| text(node, "uuid")).collect();
        let maps = self.value_map_ids(owner.id)?;
        let mut waiting: Vec<&(String, &Json)> = nodes.iter().collect();
        while !waiting.is_empty() {
            // Prototypes may depend on items of the host and on prototypes of their rule.
            let masters = self.ids(owner.id, "0, 2, 4")?;
            let ready = |node: &Json| {
                text(node, "type") != "DEPENDENT"
                    || node.get("master_item").is_none_or(|m| masters.contains_key(text(m, "key")))
            };
            let (now, later): (Vec<&(String, &Json)>, Vec<_>) =
                waiting.iter().copied().partition(|(_, node)| ready(node));
            if now.is_empty() {
                let (path, node) = waiting[0];
                let key = node.get("master_item").map_or("", |master| text(master, "key"));
                return Err(invalid(path, &format!("the master item \"{key}\" does not exist")));
            }
            let (mut created, mut changed) = (Vec::new(), Vec::new());
            for (path, node) in now {
                let mut object = object(owner, kind, node, path, &masters, &maps)?;
                let id = before.find(node, &uuids);
                seen.extend(id);
                match id {
                    Some(id) if rule.update => {
                        object.remove("uuid");
                        object.remove("hostid");
                        object.remove("ruleid");
                        reset(&mut object, kind);
                        object.insert("itemid".into(), id.to_string().into());
                        changed.push(Json::Object(object));
                    }
                    None if rule.create => created.push(Json::Object(object)),
                    _ => {}
                }
            }
            let method = kind.method();
            self.change(&format!("{method}.update"), changed)?;
            self.create(&format!("{method}.create"), created)?;
            if !rule.create {
                break;
            }
            waiting = later;
        }
        if rule.delete && owner.existed {
            seen.extend(waiting.iter().filter_map(|(_, node)| before.find(node, &uuids)));
            let gone = before.by_key.values().map(|(id, _)| *id).filter(|id| !seen.contains(id));
            self.delete_later(kind.delete_method(), gone);
        }
        Ok(())
    }

    /// What is there and not inherited.
    fn known(&self, owner: u64, kind: Kind) -> ApiResult<Known> {
        let mut sql = format!(
            "SELECT itemid, key_, uuid FROM items WHERE hostid = ? AND type <> {TYPE_WEB} AND templateid = 0 \
             AND flags IN ({})",
            kind.flags()
        );
        if let Kind::Prototype(rule) = kind {
            sql += &format!(" AND ruleid = {rule}");
        }
        let mut known = Known::default();
        for row in self.call.rows(&sql, &[owner.into()])? {
            let (id, uuid) = (row.id("itemid"), row.text("uuid").to_owned());
            known.by_key.insert(row.text("key_").to_owned(), (id, uuid));
            if !row.text("uuid").is_empty() {
                known.by_uuid.insert(row.text("uuid").to_owned(), row.id("itemid"));
            }
        }
        Ok(known)
    }

    fn value_map_ids(&self, owner: u64) -> ApiResult<BTreeMap<String, u64>> {
        let sql = "SELECT valuemapid, name FROM valuemaps WHERE hostid = ?";
        let rows = self.call.rows(sql, &[owner.into()])?;
        Ok(rows.iter().map(|row| (row.text("name").to_owned(), row.id("valuemapid"))).collect())
    }
}

#[derive(Default)]
struct Known {
    /// Ids with universal ids.
    by_key: BTreeMap<String, (u64, String)>,
    by_uuid: BTreeMap<String, u64>,
}

impl Known {
    /// What the node of the file means: by its universal id, or else by its key, unless another
    /// node has the universal id of what has that key now. `uuids` are all those of the file.
    fn find(&self, node: &Json, uuids: &BTreeSet<&str>) -> Option<u64> {
        if let Some(id) = self.by_uuid.get(text(node, "uuid")) {
            return Some(*id);
        }
        let (id, uuid) = self.by_key.get(text(node, "key"))?;
        (uuid.is_empty() || !uuids.contains(uuid.as_str())).then_some(*id)
    }
}

/// An item of an export as its create method takes it.
fn object(
    owner: &Owner<'_>,
    kind: Kind,
    node: &Json,
    path: &str,
    masters: &BTreeMap<String, u64>,
    maps: &BTreeMap<String, u64>,
) -> ApiResult<Map<String, Json>> {
    let (words, members): (&[_], _) = match kind {
        Kind::Item => (&[ITEM, VALUES], MEMBERS),
        Kind::Rule => (&[ITEM, RULE], RULE_MEMBERS),
        Kind::Prototype(_) => (&[ITEM, VALUES, DISCOVERED], PROTOTYPE_MEMBERS),
    };
    check_members(node, words, members, path)?;
    let mut object = Map::new();
    for words in words {
        object.extend(to_api(words, node, path)?);
    }
    object.entry("type").or_insert_with(|| "0".into());
    object.insert("hostid".into(), owner.id.to_string().into());
    if !owner.is_template {
        object.remove("uuid");
    }
    match kind {
        Kind::Prototype(rule) => drop(object.insert("ruleid".into(), rule.to_string().into())),
        Kind::Item | Kind::Rule => {}
    }
    let item_type = object.get("type").and_then(Json::as_str).unwrap_or("0").to_owned();
    fit(&mut object, &item_type, kind);
    if item_type == DEPENDENT {
        let key = node.get("master_item").map_or("", |master| text(master, "key"));
        let id = masters.get(key).copied().unwrap_or(0);
        object.insert("master_itemid".into(), id.to_string().into());
    }
    if let Some(name) = node.get("valuemap").map(|map| text(map, "name"))
        && !name.is_empty()
    {
        let id = maps.get(name).ok_or_else(|| {
            invalid(
                &format!("{path}/valuemap"),
                &format!("the value map \"{name}\" does not exist"),
            )
        })?;
        object.insert("valuemapid".into(), id.to_string().into());
    }
    let reference = text(node, "interface_ref");
    match owner.interfaces.get(reference) {
        Some(id) => drop(object.insert("interfaceid".into(), id.clone())),
        None if reference.is_empty() || owner.is_template => {}
        None => {
            return Err(ApiError::application(format!(
                "Cannot find interface \"{reference}\" used for item \"{}\" on \"{}\".",
                text(node, "name"),
                owner.name
            )));
        }
    }
    for name in ["query_fields", "headers", "parameters"] {
        if let Some(Json::Array(values)) = node.get(name) {
            object.insert(name.into(), Json::Array(values.clone()));
        }
    }
    object.insert("preprocessing".into(), steps(node, path)?);
    if kind == Kind::Rule {
        super::lld::rule_members(node, path, &mut object)?;
    } else {
        object.insert("tags".into(), each(node, "tags", "tag", path, TAG)?);
    }
    Ok(object)
}

/// Gives members that exports leave out, and takes away those that the type does not have.
fn fit(object: &mut Map<String, Json>, item_type: &str, kind: Kind) {
    let polled = ![TRAPPER, DEPENDENT, SNMP_TRAP].contains(&item_type);
    if !polled {
        object.remove("delay");
    } else if !object.contains_key("delay") {
        object.insert("delay".into(), "1m".into());
    }
    if kind == Kind::Rule {
        return;
    }
    let value_type = object.entry("value_type").or_insert_with(|| "3".into());
    if !matches!(value_type.as_str(), Some("0" | "3")) {
        object.remove("trends");
    }
}

/// Gives what an import leaves out because it is the default: an existing item may have something
/// else. Secrets stay, exports may be without them.
fn reset(object: &mut Map<String, Json>, kind: Kind) {
    const OTHERWISE: &[&str] =
        &["uuid", "delay", "retrieve_mode", "jmx_endpoint", "password", "ssl_key_password"];
    let is = |object: &Map<String, Json>, name: &str, value: &str| {
        object.get(name).and_then(Json::as_str).unwrap_or(value) == value
    };
    let words: &[&[Word]] = match kind {
        Kind::Item => &[ITEM, VALUES],
        Kind::Rule => &[ITEM, RULE],
        Kind::Prototype(_) => &[ITEM, VALUES, DISCOVERED],
    };
    let numeric = is(object, "value_type", "0") || is(object, "value_type", "3");
    let fields = kind.fields();
    let known = |name: &str| fields.iter().any(|f| f.name == name && f.access != Access::ReadOnly);
    for word in words.iter().copied().flatten().filter(|w| !OTHERWISE.contains(&w.api)) {
        let Some(default) = word.default.filter(|_| known(word.api)) else { continue };
        let fits = match word.api {
            "trends" => numeric,
            "lifetime" => is(object, "lifetime_type", "0"),
            _ => true,
        };
        if fits {
            object.entry(word.api).or_insert_with(|| default.into());
        }
    }
    for name in ["query_fields", "headers", "parameters"].iter().filter(|name| known(name)) {
        object.entry(*name).or_insert_with(|| json!([]));
    }
    if kind == Kind::Rule {
        object.entry("filter").or_insert_with(|| json!({ "evaltype": "0", "conditions": [] }));
    } else {
        object.entry("valuemapid").or_insert_with(|| "0".into());
    }
}

pub(super) fn steps(node: &Json, path: &str) -> ApiResult<Json> {
    let mut steps = Vec::new();
    for (path, node) in list(node, "preprocessing", "step", path)? {
        check_members(node, &[STEP], &["parameters"], &path)?;
        let mut step = to_api(STEP, node, &path)?;
        let parameters = list(node, "parameters", "parameter", &path)?;
        let parameters: Vec<&str> =
            parameters.iter().map(|(_, p)| p.as_str().unwrap_or("")).collect();
        step.insert("params".into(), parameters.join("\n").into());
        // A check for "not supported" that says nothing discards the value.
        let check = kind_of(&step) == Some(StepKind::CheckNotSupported);
        let handler = if check { OnFail::Discard } else { OnFail::Original };
        step.entry("error_handler").or_insert_with(|| handler.text().into());
        step.entry("error_handler_params").or_insert_with(|| "".into());
        without_handler(&mut step);
        steps.push(json!(step));
    }
    Ok(Json::Array(steps))
}

fn kind_of(step: &Map<String, Json>) -> Option<StepKind> {
    StepKind::from_text(step.get("type").and_then(Json::as_str)?)
}

/// Steps that cannot fail have no error handler.
fn without_handler(step: &mut Map<String, Json>) {
    let cannot = |kind: StepKind| kind.is_without_handler() && kind != StepKind::JavaScript;
    if kind_of(step).is_some_and(cannot) {
        step.insert("error_handler".into(), OnFail::Original.text().into());
        step.insert("error_handler_params".into(), "".into());
    }
}
