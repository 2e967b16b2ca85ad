//! What discovery rules have beside items: filter, macro paths, overrides.

use std::collections::BTreeMap;

use config::db::Row;
use serde_json::{Map, json};

use super::items::ItemDetails;
use super::order::{OPERATIONS, arrange};
use super::put_list;
use crate::call::Json;
use crate::exchange::words::{
    CONDITION, FILTER, ITEM, MACRO_PATH, OPERATION, OPERATION_SETS, OVERRIDE, RULE, TAG, to_export,
};

impl ItemDetails {
    pub(super) fn rule(&self, row: &Row, interfaces: &BTreeMap<u64, String>) -> Map<String, Json> {
        let mut out = self.item(row, &[ITEM, RULE], interfaces);
        out.insert("delay".into(), row.text("delay").into());
        let json =
            |name: &str| -> Json { serde_json::from_str(row.text(name)).unwrap_or(Json::Null) };
        if let Some(filter) = filter(&json("filter")) {
            out.insert("filter".into(), filter);
        }
        let paths = json("lld_macro_paths");
        let paths = paths.as_array().into_iter().flatten();
        put_list(
            &mut out,
            "lld_macro_paths",
            paths.map(|p| Json::Object(to_export(MACRO_PATH, p))).collect(),
        );
        let overrides = json("overrides");
        let overrides = overrides.as_array().into_iter().flatten().map(|one| self.override_(one));
        put_list(&mut out, "overrides", overrides.collect());
        out
    }

    fn override_(&self, node: &Json) -> Json {
        let mut out = to_export(OVERRIDE, &texts(node));
        if let Some(filter) = node.get("filter").and_then(filter) {
            out.insert("filter".into(), filter);
        }
        let operations = node.get("operations").and_then(Json::as_array).into_iter().flatten();
        let operations = operations.map(|node| {
            let mut one = to_export(OPERATION, &texts(node));
            for (name, member, word) in OPERATION_SETS {
                if let Some(set) = node.get(*member).filter(|set| set.is_object()) {
                    let set = to_export(std::slice::from_ref(word), &texts(set));
                    one.extend(set.into_iter().map(|(_, value)| ((*name).to_owned(), value)));
                }
            }
            let tags = node.get("optag").and_then(Json::as_array).into_iter().flatten();
            put_list(&mut one, "tags", tags.map(|t| Json::Object(to_export(TAG, t))).collect());
            let templates = node.get("optemplate").and_then(Json::as_array).into_iter().flatten();
            let templates = templates.filter_map(|t| {
                let by_id = t
                    .get("templateid")
                    .and_then(Json::as_str)
                    .and_then(|id| self.templates.get(id));
                let name = by_id.map(String::as_str).or(t.get("name").and_then(Json::as_str))?;
                Some(json!({ "name": name }))
            });
            put_list(&mut one, "templates", templates.collect());
            Json::Object(arrange(one, OPERATIONS))
        });
        put_list(&mut out, "operations", operations.collect());
        Json::Object(out)
    }
}

/// Numbers in stored JSON as texts.
fn texts(node: &Json) -> Json {
    let members = node.as_object().into_iter().flatten();
    let members = members.map(|(name, value)| {
        let value = if let Json::Number(n) = value { n.to_string().into() } else { value.clone() };
        (name.clone(), value)
    });
    members.collect()
}

fn filter(node: &Json) -> Option<Json> {
    let conditions = node.get("conditions").and_then(Json::as_array)?;
    if conditions.is_empty() {
        return None;
    }
    let mut out = to_export(FILTER, &texts(node));
    if out.get("evaltype").and_then(Json::as_str) != Some("FORMULA") {
        out.remove("formula");
    }
    let conditions = conditions.iter().enumerate().map(|(n, node)| {
        let mut one = to_export(CONDITION, &texts(node));
        // Letters in order where no formula gives them.
        if !one.contains_key("formulaid") {
            one.insert("formulaid".into(), letters(n).into());
        }
        Json::Object(one)
    });
    out.insert("conditions".into(), conditions.collect());
    Some(Json::Object(out))
}

/// A, B … Z, AA, AB …
fn letters(n: usize) -> String {
    let letter = |n: usize| char::from(b'A' + u8::try_from(n % 26).unwrap_or(0));
    if n < 26 { letter(n).to_string() } else { format!("{}{}", letter(n / 26 - 1), letter(n)) }
}
