//! Overrides: what a rule does differently for some rows.

use eval::lld::{Condition, ConditionOp, EvalType, Row, RowFilter, substitute_text};
use eval::macros::{FunctionEnv, Place};
use eval::regex::{GlobalRegexes, RegexError, is_match_or_global};
use serde_json::Value as Json;

use crate::objects::Tag;

/// `operationobject`: item prototype.
pub(super) const ITEM: i64 = 0;
/// `operationobject`: trigger prototype.
pub(super) const TRIGGER: i64 = 1;
/// `operationobject`: graph prototype.
pub(super) const GRAPH: i64 = 2;
/// `operationobject`: host prototype.
pub(super) const HOST: i64 = 3;

#[derive(PartialEq)]
pub(super) struct Override {
    pub(super) filter: RowFilter,
    pub(super) stop: bool,
    pub(super) operations: Vec<Operation>,
}

/// What an override does with objects whose names fit.
#[derive(PartialEq)]
pub(super) struct Operation {
    pub(super) object: i64,
    operator: i64,
    value: String,
    pub(super) status: Option<i64>,
    pub(super) discover: Option<i64>,
    pub(super) delay: Option<String>,
    pub(super) history: Option<String>,
    pub(super) trends: Option<String>,
    pub(super) severity: Option<i64>,
    pub(super) inventory_mode: Option<i64>,
    pub(super) tags: Vec<Tag>,
    /// Templates by id, or by name as an export has them.
    pub(super) templates: Vec<Result<u64, String>>,
}

impl Operation {
    /// `name` with its macros replaced fits the operation's condition.
    pub(super) fn applies(
        &self,
        name: &str,
        row: &Row,
        env: &FunctionEnv<'_>,
        globals: &GlobalRegexes,
    ) -> Result<bool, RegexError> {
        let value = substitute_text(&self.value, row, env);
        Ok(match self.operator {
            0 => name == value,
            1 => name != value,
            2 => name.contains(&value),
            3 => !name.contains(&value),
            8 => is_match_or_global(&value, name, false, globals)?,
            9 => !is_match_or_global(&value, name, false, globals)?,
            _ => false,
        })
    }
}

/// A member as text; numbers are texts in the API's form.
pub(super) fn text(json: &Json, name: &str) -> String {
    match &json[name] {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn int(json: &Json, name: &str) -> i64 {
    text(json, name).parse().unwrap_or(0)
}

fn list<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json[name].as_array().map_or(&[], Vec::as_slice)
}

/// A filter in the API's form, its values with macros replaced by `resolve`; also the macros
/// that its conditions compare.
pub(super) fn filter(
    json: &Json,
    resolve: &dyn Fn(&str, Place) -> String,
) -> Result<(RowFilter, Vec<String>), String> {
    let small = |json: &Json, name: &str| u8::try_from(int(json, name)).unwrap_or(u8::MAX);
    let evaltype = EvalType::from_api(small(json, "evaltype"))
        .ok_or_else(|| "The filter has an unknown type of calculation.".to_owned())?;
    let (mut conditions, mut compared) = (Vec::new(), Vec::new());
    for one in list(json, "conditions") {
        // The default is "matches".
        let number = if one["operator"].is_null() { 8 } else { small(one, "operator") };
        let op = ConditionOp::from_api(number)
            .ok_or_else(|| "A filter condition has an unknown operator.".to_owned())?;
        let lld_macro = text(one, "macro");
        if matches!(op, ConditionOp::Matches | ConditionOp::NotMatches) {
            compared.push(lld_macro.clone());
        }
        let value = resolve(&text(one, "value"), Place::DiscoveryFilter);
        conditions.push(Condition { id: text(one, "formulaid"), lld_macro, op, value });
    }
    let filter = RowFilter::new(evaltype, conditions, &text(json, "formula"))
        .map_err(|error| format!("Invalid filter formula: {error}."))?;
    Ok((filter, compared))
}

/// Overrides in the API's form, in the order in which they are tried.
pub(super) fn overrides(
    json: &Json,
    resolve: &dyn Fn(&str, Place) -> String,
) -> Result<Vec<Override>, String> {
    let mut found: Vec<(i64, Override)> = Vec::new();
    for one in json.as_array().into_iter().flatten() {
        let (filter, _) = filter(&one["filter"], resolve)
            .map_err(|error| format!("Override \"{}\": {error}", text(one, "name")))?;
        let operations = list(one, "operations").iter().map(|o| operation(o, resolve)).collect();
        let stop = int(one, "stop") == 1;
        found.push((int(one, "step"), Override { filter, stop, operations }));
    }
    found.sort_by_key(|(step, _)| *step);
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

fn operation(json: &Json, resolve: &dyn Fn(&str, Place) -> String) -> Operation {
    let set =
        |effect: &str, member: &str| json[effect].get(member).map(|_| int(&json[effect], member));
    let written =
        |effect: &str, member: &str| json[effect].get(member).map(|_| text(&json[effect], member));
    let template = |one: &Json| match text(one, "templateid").parse() {
        Ok(id) => Ok(id),
        Err(_) => Err(text(one, "name")),
    };
    Operation {
        object: int(json, "operationobject"),
        operator: int(json, "operator"),
        value: resolve(&text(json, "value"), Place::DiscoveryRule),
        status: set("opstatus", "status"),
        discover: set("opdiscover", "discover"),
        delay: written("opperiod", "delay"),
        history: written("ophistory", "history"),
        trends: written("optrends", "trends"),
        severity: set("opseverity", "severity"),
        inventory_mode: set("opinventory", "inventory_mode"),
        tags: list(json, "optag")
            .iter()
            .map(|tag| Tag { tag: text(tag, "tag"), value: text(tag, "value") })
            .collect(),
        templates: list(json, "optemplate").iter().map(template).collect(),
    }
}
