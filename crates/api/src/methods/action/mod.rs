//! Actions: what happens to hosts that discovery found or that announced themselves.

mod conditions;
mod operations;
mod write;

use std::collections::BTreeMap;

use config::db::{Row, Value, query_by_ids};
use serde_json::{Map, json};

use crate::call::{Call, Json, Method};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::item::eval_formula;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::permission::{Need, on_groups, on_hosts};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("action.get", get),
    Method::admin("action.create", write::create),
    Method::admin("action.update", write::update),
    Method::admin("action.delete", write::delete),
];

const FIELDS: &[Field] = &[
    field("actionid", Id, ReadOnly, "Id of the action."),
    field("name", Name(255), Required, "Name."),
    field("eventsource", Int(0, 4), Required, "1 = network discovery, 2 = autoregistration."),
    field("status", OneOf(&[0, 1]), Optional, "1 = switched off."),
    field("esc_period", Text(0), ReadOnly, "Of actions with steps."),
    field("pause_suppressed", OneOf(&[0, 1]), ReadOnly, "Of actions on triggers."),
    field("notify_if_canceled", OneOf(&[0, 1]), ReadOnly, "Of actions on triggers."),
    field("pause_symptoms", OneOf(&[0, 1]), ReadOnly, "Of actions on triggers."),
    field("filter", Nested, Optional, "When: `{evaltype, formula, conditions}`."),
    field("operations", Nested, Required, "What then happens."),
];

pub(crate) static ACTION: Object = Object {
    name: "action",
    table: "actions",
    key: "actionid",
    keys: "actionids",
    fields: FIELDS,
    strict: false,
    sort: &["actionid", "name", "status"],
};

/// What only actions on triggers have: nothing is found by them.
const OF_TRIGGERS: &[&str] =
    &["groupids", "hostids", "triggerids", "mediatypeids", "usrgrpids", "userids", "scriptids"];

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &ACTION, &[])?;
    get.need(&["evaltype", "formula"]);
    get.by_ids("actionids", "t.actionid IN ({ids})")?;
    for option in OF_TRIGGERS {
        get.by_ids(option, "t.actionid IN ({ids}) AND 1 = 0")?;
    }
    // A user sees those all of whose groups and templates the user sees.
    let need = Need::of_get(get.flag("editable"));
    for (table, right) in [
        ("operation_groups", on_groups(call.user(), need, "x.groupid")),
        ("operation_templates", on_hosts(call.user(), need, "x.templateid")),
    ] {
        if let Some(right) = right {
            let condition = format!(
                "NOT EXISTS (SELECT 1 FROM operations o JOIN {table} x \
                 ON x.operationid = o.operationid WHERE o.actionid = t.actionid AND NOT ({right}))"
            );
            get.and(condition, [] as [Value; 0]);
        }
    }
    let mut found = get.run()?;
    if let Some(wanted) = found.wants("selectFilter")? {
        filters(&mut found, &wanted)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectOperations")? {
        let operations = operations::shown(&found, &wanted)?;
        put(&mut found, "operations", operations);
    }
    for (option, member) in [
        ("selectRecoveryOperations", "recovery_operations"),
        ("selectUpdateOperations", "update_operations"),
    ] {
        if found.wants_uncounted(option)?.is_some() {
            put(&mut found, member, BTreeMap::new());
        }
    }
    Ok(found.finish())
}

fn put(found: &mut Found<'_, '_>, member: &str, mut lists: BTreeMap<u64, Vec<Json>>) {
    for row in &mut found.rows {
        let list = lists.remove(&row.id).unwrap_or_default();
        row.out.insert(member.to_owned(), Json::Array(list));
    }
}

fn filters(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let ids = found.ids();
    let sql =
        "SELECT * FROM action_conditions WHERE actionid IN ({ids}) ORDER BY actionid, sortorder";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    for row in &mut found.rows {
        let of = |other: &&Row| other.id("actionid") == row.id;
        let own: Vec<&Row> = rows.iter().filter(of).collect();
        let (evaltype, formula) = (row.row.int("evaltype"), row.row.text("formula"));
        row.out.insert("filter", filter(evaltype, formula, &own, wanted));
    }
    Ok(())
}

fn filter(evaltype: i64, formula: &str, conditions: &[&Row], wanted: &Output) -> Json {
    if *wanted == Output::Count {
        return Json::Array(Vec::new());
    }
    let condition = |row: &&Row| {
        json!({
            "conditiontype": row.int("conditiontype").to_string(),
            "operator": row.int("operator").to_string(),
            "value": row.text("value"),
            "value2": row.text("value2"),
            "formulaid": row.text("formulaid"),
        })
    };
    let conditions: Vec<Json> = conditions.iter().map(condition).collect();
    let mut out = Map::new();
    for name in ["evaltype", "formula", "eval_formula", "conditions"] {
        if !wanted.has(name) {
            continue;
        }
        let value = match name {
            "evaltype" => evaltype.to_string().into(),
            "formula" => formula.into(),
            "conditions" => conditions.clone().into(),
            _ => {
                let filter = json!({
                    "evaltype": evaltype.to_string(), "formula": formula, "conditions": conditions,
                });
                eval_formula(&filter, "conditiontype").into()
            }
        };
        out.insert(name.to_owned(), value);
    }
    Json::Object(out)
}

#[cfg(test)]
mod tests;
