//! Items, discovery rules and item prototypes.

use std::collections::BTreeMap;

use config::db::Row;
use const_format::formatcp;
use objects::sql::{FLAGS_CONFIGURED, KIND_TEMPLATE, TYPE_WEB};
use objects::{ItemType, OnFail, Origin, StepKind, ValueType};
use serde_json::{Map, json};

use super::order::{ITEMS, RULES, arrange, natural};
use super::shared::Shared;
use super::triggers::Triggers;
use super::{Export, Owned, object, put_list};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{DISCOVERED, ITEM, STEP, TAG, VALUES, Word, to_export};

impl Export<'_, '_> {
    /// Items and discovery rules that are the owner's own, not inherited.
    pub(super) fn items(
        &self,
        owner: u64,
        out: &mut Map<String, Json>,
        shared: &mut Shared,
        triggers: &mut Triggers,
    ) -> ApiResult<()> {
        let mut rows = self.call.rows(
            formatcp!("SELECT * FROM items WHERE hostid = ? AND templateid = 0 AND flags IN {FLAGS_CONFIGURED} \
             AND type <> {TYPE_WEB}"),
            &[owner.into()],
        )?;
        rows.sort_by_cached_key(|row| natural(row.text("key_")));
        let details = ItemDetails::load(self, owner, &rows)?;
        let item = |row: &Row, words: &[&[Word]], triggers: &mut Triggers, name: &str| {
            let mut one = details.item(row, words, &shared.interface_refs);
            put_list(&mut one, name, triggers.of_item(row.id("itemid")));
            arrange(one, ITEMS)
        };
        let plain = rows.iter().filter(|row| Origin::Plain.is(row.int("flags")));
        let items = plain.map(|row| Json::Object(item(row, &[ITEM, VALUES], triggers, "triggers")));
        put_list(out, "items", items.collect());
        let mut found = Vec::new();
        for rule in rows.iter().filter(|row| Origin::Rule.is(row.int("flags"))) {
            let id = rule.id("itemid");
            let mut one = details.rule(rule, &shared.interface_refs);
            let prototypes = rows
                .iter()
                .filter(|row| row.id("ruleid") == id && Origin::Prototype.is(row.int("flags")));
            let words: &[&[Word]] = &[ITEM, VALUES, DISCOVERED];
            let prototypes: Vec<Json> = prototypes
                .map(|row| Json::Object(item(row, words, triggers, "trigger_prototypes")))
                .collect();
            let ids: Vec<u64> = rows
                .iter()
                .filter(|row| row.id("ruleid") == id)
                .map(|row| row.id("itemid"))
                .collect();
            put_list(&mut one, "item_prototypes", prototypes);
            put_list(&mut one, "trigger_prototypes", triggers.of_rule(&ids));
            put_list(&mut one, "graph_prototypes", shared.graphs.of_rule(id));
            put_list(
                &mut one,
                "host_prototypes",
                shared.prototypes.remove(&id).unwrap_or_default(),
            );
            found.push(Json::Object(arrange(one, RULES)));
        }
        put_list(out, "discovery_rules", found);
        Ok(())
    }
}

/// What hangs on items.
pub(super) struct ItemDetails {
    steps: Owned,
    tags: Owned,
    keys: BTreeMap<u64, String>,
    maps: BTreeMap<u64, String>,
    /// Technical names of templates by id.
    pub(super) templates: BTreeMap<String, String>,
}

impl ItemDetails {
    fn load(export: &Export<'_, '_>, owner: u64, rows: &[Row]) -> ApiResult<Self> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("itemid")).collect();
        let mut steps = Owned::new();
        for row in export.rows(
            "SELECT itemid, type, params, error_handler, error_handler_params FROM item_preprocessing \
             WHERE itemid IN ({ids}) ORDER BY itemid, step",
            &ids,
        )? {
            steps.entry(row.id("itemid")).or_default().push(step(&row));
        }
        let names = |sql: &str, id: &str, name: &str| -> ApiResult<BTreeMap<u64, String>> {
            let rows = export.call.rows(sql, &[owner.into()])?;
            Ok(rows.iter().map(|row| (row.id(id), row.text(name).to_owned())).collect())
        };
        let templates = export
            .call
            .rows(formatcp!("SELECT hostid, host FROM hosts WHERE kind = {KIND_TEMPLATE}"), &[])?;
        Ok(Self {
            steps,
            tags: export.owned(
                "SELECT itemid AS owner, tag, value FROM item_tags WHERE itemid IN ({ids}) ORDER BY tag, value",
                &ids,
                TAG,
            )?,
            keys: names("SELECT itemid, key_ FROM items WHERE hostid = ?", "itemid", "key_")?,
            maps: names("SELECT valuemapid, name FROM valuemaps WHERE hostid = ?", "valuemapid", "name")?,
            templates: templates
                .iter()
                .map(|row| (row.id("hostid").to_string(), row.text("host").to_owned()))
                .collect(),
        })
    }

    pub(super) fn item(
        &self,
        row: &Row,
        words: &[&[Word]],
        interfaces: &BTreeMap<u64, String>,
    ) -> Map<String, Json> {
        let node = object(row);
        let mut out = Map::new();
        for words in words {
            out.extend(to_export(words, &node));
        }
        // Secrets never leave.
        for name in ["password", "ssl_key_password"] {
            out.shift_remove(name);
        }
        // The two kinds of protocols that have an authentication share numbers, not words.
        let kind = ItemType::from_number(row.int("type"));
        let by_login = matches!(kind, Some(ItemType::Ssh | ItemType::Telnet));
        if by_login && row.int("authtype") == 1 {
            out.insert("authtype".into(), "PUBLIC_KEY".into());
        }
        let is_numeric =
            ValueType::from_number(row.int("value_type")).is_some_and(ValueType::is_numeric);
        if !is_numeric && !Origin::Rule.is(row.int("flags")) {
            out.insert("trends".into(), "0".into());
        }
        if let Some(name) = self.maps.get(&row.id("valuemapid")) {
            out.insert("valuemap".into(), json!({ "name": name }));
        }
        if let Some(steps) = self.steps.get(&row.id("itemid")) {
            out.insert("preprocessing".into(), Json::Array(steps.clone()));
        }
        if let Some(key) = self
            .keys
            .get(&row.id("master_itemid"))
            .filter(|_| ItemType::Dependent.is(row.int("type")))
        {
            out.insert("master_item".into(), json!({ "key": key }));
        }
        for name in ["query_fields", "parameters", "headers"] {
            let list: Json = serde_json::from_str(row.text(name)).unwrap_or(Json::Null);
            if list.as_array().is_some_and(|list| !list.is_empty()) {
                out.insert(name.into(), list);
            }
        }
        if let Some(name) = interfaces.get(&row.id("interfaceid")) {
            out.insert("interface_ref".into(), name.as_str().into());
        }
        if let Some(tags) = self.tags.get(&row.id("itemid")) {
            out.insert("tags".into(), Json::Array(tags.clone()));
        }
        out
    }
}

fn step(row: &Row) -> Json {
    let mut out = to_export(STEP, &object(row));
    // The handler of a check for "not supported" that says nothing.
    let kind = StepKind::from_number(row.int("type"));
    let discards = OnFail::Discard.is(row.int("error_handler"));
    if kind == Some(StepKind::CheckNotSupported) && discards {
        out.shift_remove("error_handler");
    }
    let params = row.text("params");
    // One parameter that may have several lines itself.
    let is_whole =
        matches!(kind, Some(StepKind::XmlXPath | StepKind::JsonPath | StepKind::JavaScript));
    let parameters: Vec<Json> =
        if is_whole { vec![params.into()] } else { params.split('\n').map(Json::from).collect() };
    let mut full = Map::new();
    full.insert("type".into(), out.shift_remove("type").unwrap_or(Json::Null));
    full.insert("parameters".into(), Json::Array(parameters));
    full.extend(out);
    Json::Object(full)
}
