//! Global regular expressions: named lists of expressions that filters and steps use as `@name`.

use config::Edit;
use config::db::{Value, query_by_ids};
use serde_json::Map;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::{Get, Output};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, Text};
use crate::object::{Columns, Field, Mode, Object, field, missing, taken};
use crate::params;
use crate::write::{nested, only};

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("regexp.get", get),
    Method::super_admin("regexp.create", create),
    Method::super_admin("regexp.update", update),
    Method::super_admin("regexp.delete", delete),
];

const FIELDS: &[Field] = &[
    field("regexpid", Id, ReadOnly, "Id of the global regular expression."),
    field("name", Name(128), Required, "Name; used as `@name`."),
    field("test_string", Text(65_535), Optional, "Text to try it with."),
    field(
        "expressions",
        Nested,
        Required,
        "`[{expression, expression_type, exp_delimiter, case_sensitive}]`, all must hold.",
    ),
];

pub(crate) static REGEXP: Object = Object {
    name: "regexp",
    table: "regexps",
    key: "regexpid",
    keys: "regexpids",
    fields: FIELDS,
    strict: true,
    sort: &["regexpid", "name"],
};

const EXPRESSION: &[&str] = &["expression", "expression_type", "exp_delimiter", "case_sensitive"];

/// Types of expressions: any of a list of texts, and the first one that is a pattern.
const ANY_INCLUDED: i64 = 1;
const MATCHES: i64 = 3;
const NOT_MATCHES: i64 = 4;

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &REGEXP, &["regexpids", "selectExpressions"])?;
    get.by_ids("regexpids", "t.regexpid IN ({ids})")?;
    let mut found = get.run()?;
    if let Some(wanted) = found.wants_list("selectExpressions")? {
        if let Output::Fields(names) = &wanted
            && let Some(n) = names.iter().position(|name| !EXPRESSION.contains(&name.as_str()))
        {
            let list: Vec<String> = EXPRESSION.iter().map(|name| format!("\"{name}\"")).collect();
            let path = format!("/selectExpressions/{}", n + 1);
            return Err(ApiError::at(&path, format!("value must be one of {}", list.join(", "))));
        }
        let sql = "SELECT regexpid AS owner, regexp_expressions.* FROM regexp_expressions \
                   WHERE regexpid IN ({ids}) ORDER BY regexpid, position";
        found.attach("expressions", &wanted, sql, EXPRESSION)?;
    }
    Ok(found.finish())
}

/// Rows of `regexp_expressions` without their owner.
type Expressions = Vec<Columns>;

fn expressions(object: &Json, path: &str) -> ApiResult<Option<Expressions>> {
    let Some(value) = object.get("expressions") else { return Ok(None) };
    let path = format!("{path}/expressions");
    let mut all: Expressions = Vec::new();
    let mut seen: Vec<(i64, String)> = Vec::new();
    for (path, members) in nested(value, &path)? {
        only(members, &path, EXPRESSION)?;
        let columns = expression(members, &path)?;
        let key = (columns[1].1.as_int(), columns[0].1.to_string());
        if seen.contains(&key) {
            let values = format!("{}, {}", key.0, key.1);
            return Err(taken(&path, "expression_type, expression", values));
        }
        seen.push(key);
        all.push(columns);
    }
    if all.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    Ok(Some(all))
}

fn expression(members: &Map<String, Json>, path: &str) -> ApiResult<Columns> {
    let required = |name: &str| members.get(name).ok_or_else(|| missing(path, name));
    let at = |name: &str| format!("{path}/{name}");
    let kind = params::int(required("expression_type")?, &at("expression_type"))?;
    if !(0..=NOT_MATCHES).contains(&kind) {
        return Err(ApiError::at(&at("expression_type"), "value must be one of 0, 1, 2, 3, 4"));
    }
    let text = params::text(required("expression")?, &at("expression"))?;
    if text.is_empty() {
        return Err(ApiError::at(&at("expression"), "cannot be empty"));
    }
    if text.chars().count() > 255 {
        return Err(ApiError::at(&at("expression"), "value is too long"));
    }
    if matches!(kind, MATCHES | NOT_MATCHES) && eval::regex::check(&text).is_err() {
        return Err(ApiError::at(&at("expression"), "invalid regular expression"));
    }
    let given = members.get("exp_delimiter");
    let given = given.map(|value| params::text(value, &at("exp_delimiter"))).transpose()?;
    let delimiter = match given.as_deref() {
        Some("") | None => ",".to_owned(),
        Some(_) if kind != ANY_INCLUDED => {
            return Err(ApiError::at(&at("exp_delimiter"), "value must be empty"));
        }
        Some(one @ ("," | "." | "/")) => one.to_owned(),
        Some(_) => {
            let text = "value must be one of \",\", \".\", \"/\"";
            return Err(ApiError::at(&at("exp_delimiter"), text));
        }
    };
    let case = members.get("case_sensitive");
    let case = case.map_or(Ok(0), |value| params::int(value, &at("case_sensitive")))?;
    if !(0..=1).contains(&case) {
        return Err(ApiError::at(&at("case_sensitive"), "value must be one of 0, 1"));
    }
    Ok(vec![
        ("expression", text.into()),
        ("expression_type", kind.into()),
        ("exp_delimiter", delimiter.into()),
        ("case_sensitive", case.into()),
    ])
}

/// Name of an object of the call; none may come twice.
fn name_of(object: &Json, path: &str, names: &mut Vec<String>) -> ApiResult<Option<String>> {
    let Some(name) = object.get("name") else { return Ok(None) };
    let name = params::text(name, path)?;
    if names.contains(&name) {
        return Err(taken(path, "name", name));
    }
    names.push(name.clone());
    Ok(Some(name))
}

fn check_free(edit: &mut Edit<'_>, name: &str, own: u64) -> ApiResult<()> {
    let sql = "SELECT regexpid FROM regexps WHERE name = ? AND regexpid <> ?";
    if edit.query(sql, &[name.into(), own.into()])?.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(format!("Regular expression \"{name}\" already exists.")))
}

fn write_expressions(edit: &mut Edit<'_>, id: u64, rows: &Expressions) -> ApiResult<()> {
    edit.delete("regexp_expressions", "regexpid", &[id])?;
    for (position, one) in (0_i64..).zip(rows) {
        let mut row = vec![("regexpid", Value::from(id)), ("position", position.into())];
        row.extend(one.iter().cloned());
        edit.insert("regexp_expressions", &row)?;
    }
    Ok(())
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let (mut names, mut new) = (Vec::new(), Vec::new());
    for (path, object) in params::objects(input)? {
        let columns = REGEXP.validate(object, &path, Mode::Create)?;
        let rows = expressions(object, &path)?.unwrap_or_default();
        let name = name_of(object, &path, &mut names)?.unwrap_or_default();
        new.push((name, columns, rows));
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for (name, columns, rows) in &new {
            check_free(edit, name, 0)?;
            let id = edit.insert_new("regexps", columns)?;
            write_expressions(edit, id, rows)?;
            ids.push(id);
        }
        Ok(REGEXP.result(&ids))
    })
}

fn require(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let sql = "SELECT regexpid FROM regexps WHERE regexpid IN ({ids})";
    let found = query_by_ids(edit.connection(), sql, &[], ids)?;
    if found.len() == ids.len() { Ok(()) } else { Err(ApiError::no_object()) }
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let (mut names, mut changes) = (Vec::new(), Vec::new());
    for (path, id, object) in REGEXP.updates(input)? {
        let columns = REGEXP.validate(object, &path, Mode::Update)?;
        let rows = expressions(object, &path)?;
        changes.push((id, name_of(object, &path, &mut names)?, columns, rows));
    }
    let ids: Vec<u64> = changes.iter().map(|(id, ..)| *id).collect();
    call.write(|edit| {
        require(edit, &ids)?;
        for (id, name, columns, rows) in &changes {
            if let Some(name) = name {
                check_free(edit, name, *id)?;
            }
            edit.update("regexps", *id, columns)?;
            if let Some(rows) = rows {
                write_expressions(edit, *id, rows)?;
            }
        }
        Ok(REGEXP.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        require(edit, &ids)?;
        edit.delete("regexps", "regexpid", &ids)?;
        Ok(REGEXP.result(&ids))
    })
}

#[cfg(test)]
mod tests;
