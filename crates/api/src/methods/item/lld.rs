//! Filter, macro paths and overrides of discovery rules. They are stored as the API shows them.

use objects::EvalType;
use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::Value;
use const_format::formatcp;
use objects::sql::KIND_TEMPLATE;
use serde_json::{Map, json};

use super::rules::is_macro;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::object::{missing, taken};
use crate::params;
use crate::write::{nested, only};

fn required<'j>(members: &'j Map<String, Json>, path: &str, name: &str) -> ApiResult<&'j Json> {
    members.get(name).ok_or_else(|| missing(path, name))
}

fn number(
    members: &Map<String, Json>,
    path: &str,
    name: &str,
    allowed: &[i64],
    default: i64,
) -> ApiResult<i64> {
    let Some(value) = members.get(name) else { return Ok(default) };
    let path = format!("{path}/{name}");
    let n = params::int(value, &path)?;
    if allowed.contains(&n) {
        return Ok(n);
    }
    let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    Err(ApiError::at(&path, format_args!("value must be one of {}", list.join(", "))))
}

fn text(members: &Map<String, Json>, path: &str, name: &str) -> ApiResult<String> {
    match members.get(name) {
        Some(value) => params::text(value, &format!("{path}/{name}")),
        None => Ok(String::new()),
    }
}

fn lld_macro(members: &Map<String, Json>, path: &str, name: &str) -> ApiResult<String> {
    required(members, path, name)?;
    let value = text(members, path, name)?;
    let path = format!("{path}/{name}");
    let plain = eval::macros::token_at(&value, 0).is_some_and(|token| {
        token.span.end == value.len() && matches!(token.kind, eval::macros::TokenKind::Lld(_))
    });
    if value.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    if plain {
        Ok(value)
    } else {
        Err(ApiError::at(&path, "a low-level discovery macro is expected"))
    }
}

/// Checks a filter and gives it in the stored form. `overrides`: of an override.
pub(crate) fn filter(value: &Json, path: &str) -> ApiResult<Json> {
    let Json::Object(members) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    only(members, path, &["evaltype", "formula", "conditions"])?;
    required(members, path, "evaltype")?;
    let evaltype = number(members, path, "evaltype", EvalType::NUMBERS, 0)?;
    let formula = text(members, path, "formula")?;
    if EvalType::Formula.is(evaltype) {
        required(members, path, "formula")?;
    } else if !formula.is_empty() {
        return Err(ApiError::at(&format!("{path}/formula"), "value must be empty"));
    }
    let conditions = required(members, path, "conditions")?;
    let conditions_path = format!("{path}/conditions");
    let mut list: Vec<[String; 4]> = Vec::new();
    for (path, members) in nested(conditions, &conditions_path)? {
        list.push(condition(members, &path, evaltype)?);
    }
    if EvalType::Formula.is(evaltype) {
        check_formula(&formula, &list, path)?;
    } else {
        // By name without the braces: `{#JOB}` stands before `{#JOBS}`.
        list.sort_by(|a, b| a[0].trim_end_matches('}').cmp(b[0].trim_end_matches('}')));
        for (n, condition) in list.iter_mut().enumerate() {
            condition[3] = formulaid(n);
        }
    }
    let conditions: Vec<Json> = list
        .iter()
        .map(|[lld_macro, operator, value, id]| {
            json!({ "macro": lld_macro, "operator": operator, "value": value, "formulaid": id })
        })
        .collect();
    Ok(json!({ "evaltype": evaltype.to_string(), "formula": formula, "conditions": conditions }))
}

fn condition(members: &Map<String, Json>, path: &str, evaltype: i64) -> ApiResult<[String; 4]> {
    only(members, path, &["macro", "operator", "value", "formulaid"])?;
    let lld_macro = lld_macro(members, path, "macro")?;
    let operator = number(members, path, "operator", &[8, 9, 12, 13], 8)?;
    let value = text(members, path, "value")?;
    let has_value = matches!(operator, 8 | 9);
    if has_value && !members.contains_key("value") {
        return Err(missing(path, "value"));
    }
    if !has_value && !value.is_empty() {
        return Err(ApiError::at(&format!("{path}/value"), "value must be empty"));
    }
    let id = text(members, path, "formulaid")?;
    if EvalType::Formula.is(evaltype) && !members.contains_key("formulaid") {
        return Err(missing(path, "formulaid"));
    }
    if !EvalType::Formula.is(evaltype) && !id.is_empty() {
        return Err(ApiError::at(&format!("{path}/formulaid"), "value must be empty"));
    }
    Ok([lld_macro, operator.to_string(), value, id])
}

/// A, B … Z, AA, AB …
fn formulaid(mut n: usize) -> String {
    let mut id = Vec::new();
    loop {
        id.push(char::from(b'A' + u8::try_from(n % 26).unwrap_or(0)));
        if n < 26 {
            break;
        }
        n = n / 26 - 1;
    }
    id.iter().rev().collect()
}

/// The formula is well formed and names all conditions and no others.
fn check_formula(formula: &str, conditions: &[[String; 4]], path: &str) -> ApiResult<()> {
    let formula_path = format!("{path}/formula");
    if formula.is_empty() {
        return Err(ApiError::at(&formula_path, "cannot be empty"));
    }
    let mut used: Vec<&str> = Vec::new();
    let (mut depth, mut operand) = (0_usize, true);
    let mut rest = formula.trim_start();
    let wrong = |rest: &str| {
        Err(ApiError::at(&formula_path, format_args!("incorrect syntax near \"{rest}\"")))
    };
    while !rest.is_empty() {
        let len = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = &rest[..len.max(1).min(rest.len())];
        let fine = match word {
            "(" if operand => {
                depth += 1;
                true
            }
            ")" if !operand && depth > 0 => {
                depth -= 1;
                true
            }
            "not" if operand => true,
            "and" | "or" if !operand => {
                operand = true;
                true
            }
            _ if operand && len > 0 && word.bytes().all(|b| b.is_ascii_uppercase()) => {
                used.push(word);
                operand = false;
                true
            }
            _ => false,
        };
        if !fine {
            return wrong(rest);
        }
        rest = rest.get(word.len()..).unwrap_or_default().trim_start();
    }
    if operand || depth > 0 {
        return wrong(formula.get(formula.len().saturating_sub(1)..).unwrap_or_default());
    }
    let known: BTreeSet<&str> = conditions.iter().map(|condition| condition[3].as_str()).collect();
    if let Some(id) = used.iter().find(|id| !known.contains(**id)) {
        return Err(ApiError::at(&formula_path, format_args!("missing filter condition \"{id}\"")));
    }
    let used: BTreeSet<&str> = used.into_iter().collect();
    let mut seen = BTreeSet::new();
    for (n, condition) in conditions.iter().enumerate() {
        let path = format!("{path}/conditions/{}", n + 1);
        if !used.contains(condition[3].as_str()) {
            return Err(ApiError::at(
                &format!("{path}/formulaid"),
                "an identifier is not defined in the formula",
            ));
        }
        if !seen.insert(&condition[3]) {
            return Err(taken(&path, "formulaid", &condition[3]));
        }
    }
    Ok(())
}

/// The formula by which a filter is evaluated, from its stored form. Conditions with the same
/// member `what` belong together.
pub(crate) fn eval_formula(filter: &Json, what: &str) -> String {
    let evaltype = filter["evaltype"].as_str().unwrap_or("0");
    if evaltype == "3" {
        return filter["formula"].as_str().unwrap_or_default().to_owned();
    }
    let (inner, outer) = match evaltype {
        "1" => (" and ", " and "),
        "2" => (" or ", " or "),
        _ => (" or ", " and "),
    };
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for condition in filter["conditions"].as_array().into_iter().flatten() {
        let name = condition[what].as_str().unwrap_or_default();
        if !order.contains(&name) {
            order.push(name);
        }
        groups.entry(name).or_default().push(condition["formulaid"].as_str().unwrap_or_default());
    }
    let alone = order.len() == 1;
    let parts: Vec<String> = order
        .iter()
        .map(|name| match &groups[name][..] {
            [one] => (*one).to_owned(),
            many if alone => many.join(inner),
            many => format!("({})", many.join(inner)),
        })
        .collect();
    parts.join(outer)
}

/// A filter as `selectFilter` shows it.
pub(crate) fn show_filter(stored: &str, wanted: &Output) -> Json {
    let empty = || json!({ "evaltype": "0", "formula": "", "conditions": [] });
    let filter: Json = serde_json::from_str(stored).unwrap_or_else(|_| empty());
    let mut out = Map::new();
    for name in ["evaltype", "formula", "eval_formula", "conditions"] {
        if wanted.has(name) {
            let value = match name {
                "eval_formula" => eval_formula(&filter, "macro").into(),
                _ => filter[name].clone(),
            };
            out.insert(name.to_owned(), value);
        }
    }
    Json::Object(out)
}

/// Checks macro paths and gives them in the stored form.
pub(crate) fn macro_paths(value: &Json, path: &str) -> ApiResult<Json> {
    let mut out: Vec<Json> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["lld_macro", "path"])?;
        let lld_macro = lld_macro(members, &path, "lld_macro")?;
        required(members, &path, "path")?;
        let jsonpath = text(members, &path, "path")?;
        if jsonpath.is_empty() {
            return Err(ApiError::at(&format!("{path}/path"), "cannot be empty"));
        }
        if out.iter().any(|other| other["lld_macro"] == *lld_macro) {
            return Err(taken(&path, "lld_macro", lld_macro));
        }
        out.push(json!({ "lld_macro": lld_macro, "path": jsonpath }));
    }
    Ok(Json::Array(out))
}

/// Checks overrides and gives them in the stored form.
pub(crate) fn overrides(value: &Json, path: &str) -> ApiResult<Json> {
    let mut out: Vec<Json> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["name", "step", "stop", "filter", "operations"])?;
        required(members, &path, "name")?;
        let name = text(members, &path, "name")?;
        if name.is_empty() {
            return Err(ApiError::at(&format!("{path}/name"), "cannot be empty"));
        }
        let step_path = format!("{path}/step");
        let step = params::int(required(members, &path, "step")?, &step_path)?;
        if !(1..=2_147_483_647).contains(&step) {
            return Err(ApiError::at(&step_path, "value must be one of 1-2147483647"));
        }
        let stop = number(members, &path, "stop", &[0, 1], 0)?;
        let chosen = match members.get("filter") {
            Some(value) => filter(value, &format!("{path}/filter"))?,
            None => json!({ "evaltype": "0", "formula": "", "conditions": [] }),
        };
        let mut operations = Vec::new();
        if let Some(value) = members.get("operations") {
            for (path, members) in nested(value, &format!("{path}/operations"))? {
                operations.push(operation(members, &path)?);
            }
        }
        if out.iter().any(|other| other["name"] == *name) {
            return Err(taken(&path, "name", name));
        }
        if out.iter().any(|other| other["step"] == *step.to_string()) {
            return Err(taken(&path, "step", step));
        }
        out.push(json!({
            "name": name, "step": step.to_string(), "stop": stop.to_string(),
            "filter": chosen, "operations": operations,
        }));
    }
    out.sort_by_key(|o| o["step"].as_str().and_then(|s| s.parse::<i64>().ok()));
    Ok(Json::Array(out))
}

/// Templates that overrides name become references, as far as they exist.
pub(crate) fn refer_to_templates(edit: &mut Edit<'_>, overrides: &mut Json) -> ApiResult<()> {
    let lists = overrides
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(|one| one.get_mut("operations")?.as_array_mut())
        .flatten()
        .filter_map(|operation| operation.get_mut("optemplate")?.as_array_mut());
    for template in lists.flatten() {
        let Some(name) = template.get("name").and_then(Json::as_str) else { continue };
        let sql = formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND host = ?");
        if let Some(row) = edit.query(sql, &[name.into()])?.first() {
            *template = json!({ "templateid": row.id("hostid").to_string() });
        }
    }
    Ok(())
}

/// Overrides as `selectOverrides` shows them.
pub(crate) fn show_overrides(stored: &str, wanted: &Output) -> Json {
    let Ok(Json::Array(list)) = serde_json::from_str::<Json>(stored) else {
        return Json::Array(Vec::new());
    };
    let show = |mut one: Json| {
        if let Some(filter) = one.get_mut("filter") {
            let formula = eval_formula(filter, "macro");
            filter["eval_formula"] = formula.into();
        }
        if let Json::Object(members) = &mut one {
            members.retain(|name, _| wanted.has(name));
        }
        one
    };
    list.into_iter().map(show).collect()
}

/// Which operations go with which object: 0 item, 1 trigger, 2 graph, 3 host prototypes.
const OPERATIONS: &[(&str, &[i64])] = &[
    ("opstatus", &[0, 1, 3]),
    ("opdiscover", &[0, 1, 2, 3]),
    ("opperiod", &[0]),
    ("ophistory", &[0]),
    ("optrends", &[0]),
    ("opseverity", &[1]),
    ("optag", &[0, 1, 3]),
    ("optemplate", &[3]),
    ("opinventory", &[3]),
];

fn operation(members: &Map<String, Json>, path: &str) -> ApiResult<Json> {
    let mut known = vec!["operationobject", "operator", "value"];
    known.extend(OPERATIONS.iter().map(|(name, _)| *name));
    only(members, path, &known)?;
    required(members, path, "operationobject")?;
    let object = number(members, path, "operationobject", &[0, 1, 2, 3], 0)?;
    let operator = number(members, path, "operator", &[0, 1, 2, 3, 8, 9], 0)?;
    let mut out = Map::new();
    out.insert("operationobject".into(), object.to_string().into());
    out.insert("operator".into(), operator.to_string().into());
    out.insert("value".into(), text(members, path, "value")?.into());
    for (name, objects) in OPERATIONS {
        let Some(value) = members.get(*name) else { continue };
        let path = format!("{path}/{name}");
        let empty = match value {
            Json::Array(list) => list.is_empty(),
            Json::Object(list) => list.is_empty(),
            _ => return Err(ApiError::at(&path, "an array is expected")),
        };
        if empty {
            continue;
        }
        if !objects.contains(&object) {
            return Err(ApiError::at(&path, "should be empty"));
        }
        out.insert((*name).to_owned(), effect(name, value, &path)?);
    }
    Ok(Json::Object(out))
}

/// What an operation sets.
fn effect(name: &str, value: &Json, path: &str) -> ApiResult<Json> {
    if matches!(name, "optag" | "optemplate") {
        let mut out = Vec::new();
        for (path, members) in nested(value, path)? {
            let key = match name {
                "optag" => "tag",
                // An import names templates that may not exist yet.
                _ if members.contains_key("name") => "name",
                _ => "templateid",
            };
            required(members, &path, key)?;
            let mut one = Map::new();
            one.insert(key.to_owned(), text(members, &path, key)?.into());
            if name == "optag" {
                one.insert("value".to_owned(), text(members, &path, "value")?.into());
            }
            out.push(Json::Object(one));
        }
        return Ok(Json::Array(out));
    }
    let (member, allowed): (&str, &[i64]) = match name {
        "opstatus" => ("status", &[0, 1]),
        "opdiscover" => ("discover", &[0, 1]),
        "opseverity" => ("severity", &[0, 1, 2, 3, 4, 5]),
        "opinventory" => ("inventory_mode", &[-1, 0, 1]),
        "opperiod" => ("delay", &[]),
        "ophistory" => ("history", &[]),
        _ => ("trends", &[]),
    };
    let Json::Object(members) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    only(members, path, &[member])?;
    required(members, path, member)?;
    let shown = if allowed.is_empty() {
        let value = text(members, path, member)?;
        let path = format!("{path}/{member}");
        let fine = if member == "delay" {
            eval::interval::UpdateInterval::validate(&value, true).is_ok()
        } else {
            is_macro(&value, true) || eval::num::parse_seconds(&value).is_some()
        };
        if !fine {
            return Err(ApiError::at(&path, "a time unit is expected"));
        }
        value
    } else {
        number(members, path, member, allowed, 0)?.to_string()
    };
    Ok(json!({ member: shown }))
}

/// The stored form as a column; nothing is the empty text.
pub(crate) fn column(value: &Json) -> Value {
    let empty = value.as_array().is_some_and(Vec::is_empty);
    if empty { Value::from("") } else { value.to_string().into() }
}
