//! Actions: what follows from events: messages, scripts, and changes of hosts that were found.

mod calm;
mod conditions;
mod grouping;
mod operations;
pub(crate) mod rehearse;
mod rights;
mod write;

use std::collections::BTreeMap;

use config::db::{Row, query_by_ids};
use objects::{ConditionKind, EventSource};
use serde_json::{Map, json};

use crate::call::{Call, Json, Method};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::item::eval_formula;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Settings, Text};
use crate::object::{Field, Object, field};
use crate::params;

pub(crate) const METHODS: &[Method] = &[
    Method::user("action.get", get),
    Method::admin("action.create", write::create),
    Method::admin("action.update", write::update),
    Method::admin("action.delete", write::delete),
    Method::admin("action.rehearse", rehearse::rehearse),
];

const FIELDS: &[Field] = &[
    field("actionid", Id, ReadOnly, "Id of the action."),
    field("name", Name(255), Required, "Name."),
    field(
        "eventsource",
        OneOf(EventSource::NUMBERS),
        Required,
        "0 = triggers, 1 = network discovery, 2 = autoregistration, 3 = internal events, 4 = services.",
    ),
    field("status", OneOf(&[0, 1]), Optional, "1 = switched off."),
    field(
        "esc_period",
        Text(0),
        Optional,
        "Duration of a step; triggers, internal events, services.",
    ),
    field("pause_suppressed", OneOf(&[0, 1]), Optional, "Triggers: 1 = wait while suppressed."),
    field("notify_if_canceled", OneOf(&[0, 1]), Optional, "Triggers: 1 = tell of cancellations."),
    field("pause_symptoms", OneOf(&[0, 1]), Optional, "Triggers: 1 = wait while a symptom."),
    field(
        "grouping",
        Settings,
        Optional,
        "How messages are grouped: `{by: [tag or {HOST.HOST}], wait, interval, repeat}`.",
    )
    .named(),
    field("filter", Nested, Optional, "When: `{evaltype, formula, conditions}`."),
    field("operations", Nested, Optional, "What then happens, in steps."),
    field("recovery_operations", Nested, Optional, "What happens when the problem ends."),
    field("update_operations", Nested, Optional, "What happens when the problem is updated."),
    field(
        "inhibition",
        Settings,
        Optional,
        "Triggers: `{tags}`, pauses while a more severe problem with equal values of these tags is open.",
    )
    .named(),
    field(
        "calming",
        Settings,
        Optional,
        "Triggers: `{transients, flapping, max_hold}`, fewer messages about problems that end soon or come again.",
    )
    .named(),
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

/// Options that select by what operations refer to.
const BY_OPERATIONS: &[(&str, &str)] = &[
    ("mediatypeids", "operation_messages x ON x.mediatypeid IN ({ids})"),
    ("usrgrpids", "operation_message_groups x ON x.usrgrpid IN ({ids})"),
    ("userids", "operation_message_users x ON x.userid IN ({ids})"),
    ("scheduleids", "operation_message_schedules x ON x.scheduleid IN ({ids})"),
    ("scriptids", "operation_commands x ON x.scriptid IN ({ids})"),
];

/// Options that select by what conditions refer to.
const BY_CONDITIONS: &[(&str, ConditionKind)] = &[
    ("groupids", ConditionKind::HostGroup),
    ("hostids", ConditionKind::Host),
    ("triggerids", ConditionKind::Trigger),
];

pub(crate) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &ACTION, &[])?;
    get.need(&["evaltype", "formula"]);
    get.by_ids("actionids", "t.actionid IN ({ids})")?;
    for (option, uses) in BY_OPERATIONS {
        let condition = format!(
            "t.actionid IN (SELECT o.actionid FROM operations o JOIN {uses} \
             AND x.operationid = o.operationid)"
        );
        get.by_ids(option, &condition)?;
    }
    for (option, kind) in BY_CONDITIONS {
        if let Some(ids) = params::ids(input, option)? {
            // Values of conditions are texts.
            let list: Vec<String> = ids.iter().map(|id| format!("'{id}'")).collect();
            let list = if list.is_empty() { "''".to_owned() } else { list.join(", ") };
            let condition = format!(
                "t.actionid IN (SELECT actionid FROM action_conditions \
                 WHERE conditiontype = {} AND value IN ({list}))",
                kind.text()
            );
            get.and(condition, []);
        }
    }
    rights::limit(&mut get, call)?;
    let mut found = get.run()?;
    if let Some(wanted) = found.wants("selectFilter")? {
        filters(&mut found, &wanted)?;
    }
    for ((member, mode), option) in operations::LISTS.into_iter().zip([
        "selectOperations",
        "selectRecoveryOperations",
        "selectUpdateOperations",
    ]) {
        if let Some(wanted) = found.wants_uncounted(option)? {
            operations::show(&mut found, member, mode, &wanted)?;
        }
    }
    Ok(found.finish())
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

/// Conditions by action, in their order.
pub(crate) fn conditions_of(
    call: &Call<'_>,
    actions: &[u64],
) -> ApiResult<BTreeMap<u64, Vec<Json>>> {
    let sql =
        "SELECT * FROM action_conditions WHERE actionid IN ({ids}) ORDER BY actionid, sortorder";
    let mut found: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in call.rows_by_ids(sql, actions)? {
        found.entry(row.id("actionid")).or_default().push(condition(&row));
    }
    Ok(found)
}

fn condition(row: &Row) -> Json {
    json!({
        "conditiontype": row.int("conditiontype").to_string(),
        "operator": row.int("operator").to_string(),
        "value": row.text("value"),
        "value2": row.text("value2"),
        "formulaid": row.text("formulaid"),
    })
}

fn filter(evaltype: i64, formula: &str, conditions: &[&Row], wanted: &Output) -> Json {
    if *wanted == Output::Count {
        return Json::Array(Vec::new());
    }
    let conditions: Vec<Json> = conditions.iter().map(|row| condition(row)).collect();
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
