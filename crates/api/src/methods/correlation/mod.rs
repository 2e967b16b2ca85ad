//! Global correlation: rules that close open problems, or a new one, when the new one opens.

mod filter;
mod write;

use config::db::{Row, Value, query_by_ids};
use serde_json::{Map, json};

use crate::call::{Call, Json, Method};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::item::eval_formula;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};

pub(crate) const METHODS: &[Method] = &[
    Method::user("correlation.get", get),
    Method::super_admin("correlation.create", write::create),
    Method::super_admin("correlation.update", write::update),
    Method::super_admin("correlation.delete", write::delete),
];

const FIELDS: &[Field] = &[
    field("correlationid", Id, ReadOnly, "Id of the correlation rule."),
    field("name", Name(255), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
    field("status", OneOf(&[0, 1]), Optional, "1 = switched off."),
    field("filter", Nested, Required, "When: `{evaltype, formula, conditions}`."),
    field("operations", Nested, Required, "`[{type}]`: 0 = close old, 1 = close new problems."),
];

pub(crate) static CORRELATION: Object = Object {
    name: "correlation",
    table: "correlations",
    key: "correlationid",
    keys: "correlationids",
    fields: FIELDS,
    strict: false,
    sort: &["correlationid", "name", "status"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &CORRELATION, &[])?;
    get.need(&["evaltype", "formula"]);
    get.by_ids("correlationids", "t.correlationid IN ({ids})")?;
    if get.flag("editable") && !call.is_super_admin() {
        get.and("1 = 0", [] as [Value; 0]);
    }
    let mut found = get.run()?;
    if let Some(wanted) = found.wants("selectFilter")? {
        filters(&mut found, &wanted)?;
    }
    if found.wants_uncounted("selectOperations")?.is_some() {
        operations(&mut found)?;
    }
    Ok(found.finish())
}

fn rows_of(found: &Found<'_, '_>, table: &str) -> ApiResult<Vec<Row>> {
    let sql = format!(
        "SELECT * FROM {table} WHERE correlationid IN ({{ids}}) ORDER BY correlationid, position"
    );
    let ids = found.ids();
    found.call.read(|connection| Ok(query_by_ids(connection, &sql, &[], &ids)?))
}

fn filters(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let conditions = rows_of(found, "correlation_conditions")?;
    for row in &mut found.rows {
        let own = conditions.iter().filter(|other| other.id("correlationid") == row.id);
        let whole = json!({
            "evaltype": row.row.int("evaltype").to_string(),
            "formula": row.row.text("formula"),
            "conditions": own.map(filter::shown).collect::<Json>(),
        });
        let shown = if *wanted == Output::Count {
            Json::Array(Vec::new())
        } else {
            let names = ["evaltype", "formula", "eval_formula", "conditions"].into_iter();
            let member = |name: &str| match name {
                "eval_formula" => eval_formula(&whole, "type").into(),
                name => whole[name].clone(),
            };
            let wanted = names.filter(|name| wanted.has(name));
            Json::Object(wanted.map(|name| (name.to_owned(), member(name))).collect::<Map<_, _>>())
        };
        row.out.insert("filter", shown);
    }
    Ok(())
}

/// The one field of operations is shown whatever the option names.
fn operations(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let operations = rows_of(found, "correlation_operations")?;
    for row in &mut found.rows {
        let own = operations.iter().filter(|other| other.id("correlationid") == row.id);
        let shown = own.map(|row| json!({ "type": row.int("type").to_string() }));
        row.out.insert("operations", shown.collect::<Json>());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
