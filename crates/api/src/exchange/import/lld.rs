//! Filter, macro paths and overrides of discovery rules.

use serde_json::{Map, json};

use super::list;
use super::owners::each;
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::{
    CONDITION, FILTER, MACRO_PATH, OPERATION, OPERATION_SETS, OVERRIDE, TAG, check_members, to_api,
};

/// Adds them as the API takes them.
pub(super) fn rule_members(
    node: &Json,
    path: &str,
    object: &mut Map<String, Json>,
) -> ApiResult<()> {
    if let Some(filter) = node.get("filter").filter(|f| f.is_object()) {
        object.insert("filter".into(), self::filter(filter, &format!("{path}/filter"))?);
    }
    object.insert(
        "lld_macro_paths".into(),
        each(node, "lld_macro_paths", "lld_macro_path", path, MACRO_PATH)?,
    );
    let mut overrides = Vec::new();
    for (path, node) in list(node, "overrides", "override", path)? {
        check_members(node, &[OVERRIDE], &["filter", "operations"], &path)?;
        let mut one = to_api(OVERRIDE, node, &path)?;
        if let Some(filter) = node.get("filter").filter(|f| f.is_object()) {
            one.insert("filter".into(), self::filter(filter, &format!("{path}/filter"))?);
        }
        let mut operations = Vec::new();
        for (path, node) in list(node, "operations", "operation", &path)? {
            operations.push(operation(node, &path)?);
        }
        one.insert("operations".into(), Json::Array(operations));
        overrides.push(Json::Object(one));
    }
    object.insert("overrides".into(), Json::Array(overrides));
    Ok(())
}

fn filter(node: &Json, path: &str) -> ApiResult<Json> {
    check_members(node, &[FILTER], &["conditions"], path)?;
    let mut filter = to_api(FILTER, node, path)?;
    filter.entry("evaltype").or_insert_with(|| "0".into());
    let by_formula = filter.get("evaltype").and_then(Json::as_str) == Some("3");
    let mut conditions = Vec::new();
    for (path, node) in list(node, "conditions", "condition", path)? {
        check_members(node, &[CONDITION], &[], &path)?;
        let mut condition = to_api(CONDITION, node, &path)?;
        // Letters mean something in a formula only, and are refused elsewhere.
        if !by_formula {
            condition.remove("formulaid");
        }
        conditions.push(Json::Object(condition));
    }
    filter.insert("conditions".into(), Json::Array(conditions));
    Ok(Json::Object(filter))
}

fn operation(node: &Json, path: &str) -> ApiResult<Json> {
    let sets: Vec<&str> = OPERATION_SETS.iter().map(|(name, ..)| *name).collect();
    let known = [sets.as_slice(), &["tags", "templates"]].concat();
    check_members(node, &[OPERATION], &known, path)?;
    let mut operation = to_api(OPERATION, node, path)?;
    operation.entry("operator").or_insert_with(|| "0".into());
    for (name, member, word) in OPERATION_SETS {
        if node.get(*name).is_some() {
            let value = to_api(std::slice::from_ref(word), node, path)?;
            operation.insert((*member).to_owned(), Json::Object(value));
        }
    }
    if node.get("tags").is_some() {
        operation.insert("optag".into(), each(node, "tags", "tag", path, TAG)?);
    }
    let templates = list(node, "templates", "template", path)?;
    if !templates.is_empty() {
        // By name: the id may not exist before the whole import is done.
        let names = templates.iter().map(|(_, t)| json!({ "name": super::text(t, "name") }));
        operation.insert("optemplate".into(), names.collect());
    }
    Ok(Json::Object(operation))
}
