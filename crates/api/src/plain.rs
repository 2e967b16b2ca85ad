//! Methods of plain objects: rows of a table with lists of rows of their own. What an object is stands
//! in its [`Spec`]; what only it does, in the hooks of its [`Plain`].

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::{Get, Output};
use crate::object::{Columns, Field, Mode, Object, columns_of, taken};
use crate::params;
use crate::permission::Need;
use crate::relate::Relation;
use crate::write::{nested, only, rows_of};

/// What a plain object is, beside its fields.
pub(crate) struct Spec {
    /// Its fields.
    pub(crate) object: &'static Object,
    /// Table that writes go to.
    pub(crate) table: &'static str,
    /// Options of `get` that take ids, with the condition that they stand for.
    pub(crate) by_ids: &'static [(&'static str, &'static str)],
    /// Further options of `get`, for [`Plain::select`] and [`Plain::show`].
    pub(crate) options: &'static [&'static str],
    /// Fields that are given once only and never change.
    pub(crate) fixed: &'static [&'static str],
    /// Fields that together no other object may have.
    pub(crate) unique: Option<Unique>,
    /// Lists of rows that belong to it.
    pub(crate) children: &'static [Child],
    /// Objects of other kinds that it shows.
    pub(crate) relations: &'static [Related],
    /// Decides who may sign in, and with which rights.
    pub(crate) is_access: bool,
}

impl Spec {
    /// An object that is read by its ids, with nothing else.
    pub(crate) const fn new(
        object: &'static Object,
        table: &'static str,
        by_ids: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            object,
            table,
            by_ids,
            options: &[],
            fixed: &[],
            unique: None,
            children: &[],
            relations: &[],
            is_access: false,
        }
    }
}

/// Fields that no two objects share.
pub(crate) struct Unique {
    /// The fields.
    pub(crate) columns: &'static [&'static str],
    /// The error, each `{}` of which is the value of a field, in the order of `columns`.
    pub(crate) error: &'static str,
}

/// A list of rows of an object, in a table of its own.
pub(crate) struct Child {
    /// Member of the object.
    pub(crate) member: &'static str,
    /// Option of `get` that shows it.
    pub(crate) select: &'static str,
    /// The option takes `"count"`.
    pub(crate) counts: bool,
    /// Its table.
    pub(crate) table: &'static str,
    /// Column with the id of the object.
    pub(crate) owner: &'static str,
    /// Column that numbers the rows.
    pub(crate) position: &'static str,
    /// Its fields.
    pub(crate) fields: &'static [Field],
    /// An object has one at least.
    pub(crate) required: bool,
    /// Refuses or completes a row; `rows` come before it.
    pub(crate) check: fn(rows: &[Columns], row: &mut Columns, path: &str) -> ApiResult<()>,
}

/// Objects of another kind that `get` shows.
pub(crate) struct Related {
    /// The option.
    pub(crate) select: &'static str,
    /// The other objects.
    pub(crate) relation: Relation,
    /// Pairs of ids, this object's first, by `{ids}`.
    pub(crate) pairs: &'static str,
}

/// An object as a call gives it.
pub(crate) struct Draft {
    /// Where it stands in the parameters.
    pub(crate) path: String,
    /// Its id; 0 = it is new.
    pub(crate) id: u64,
    /// Columns that are given.
    pub(crate) columns: Columns,
    /// Lists of rows, in the order of [`Spec::children`]; `None` = not given.
    pub(crate) children: Vec<Option<Vec<Columns>>>,
}

impl Draft {
    /// The value that the object will have in a column: the given one, or the one that it has.
    pub(crate) fn value(&self, column: &str, before: Option<&Row>) -> Value {
        let given = self.columns.iter().find(|(name, _)| *name == column);
        match (given, before) {
            (Some((_, value)), _) => value.clone(),
            (None, Some(row)) => row.get(column).cloned().unwrap_or_else(|| Value::from("")),
            (None, None) => Value::from(""),
        }
    }

    /// Gives the column a value.
    pub(crate) fn set(&mut self, column: &'static str, value: impl Into<Value>) {
        self.columns.retain(|(name, _)| *name != column);
        self.columns.push((column, value.into()));
    }
}

/// What only this object does. All of it is optional.
pub(crate) trait Plain: Sync {
    /// What the object is.
    fn spec(&self) -> &'static Spec;

    /// Refuses a call whatever it says.
    fn allow(&self, _call: &Call<'_>, _action: Action) -> ApiResult<()> {
        Ok(())
    }

    /// Limits `get` to what this user may see, and by the object's own options.
    fn select(&self, _get: &mut Get<'_, '_>, _call: &Call<'_>, _need: Need) -> ApiResult<()> {
        Ok(())
    }

    /// Adds to what `get` shows.
    fn show(&self, _found: &mut Found<'_, '_>) -> ApiResult<()> {
        Ok(())
    }

    /// Refuses or completes an object as it is given, before anything is read.
    fn given(&self, _call: &Call<'_>, _draft: &mut Draft, _input: &Json) -> ApiResult<()> {
        Ok(())
    }

    /// Refuses or completes an object before it is written; `before` is its row, if it has one.
    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        _draft: &mut Draft,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        Ok(())
    }

    /// Refuses to delete objects, or deletes what does not go with them.
    fn delete(&self, _call: &Call<'_>, _edit: &mut Edit<'_>, _rows: &[Row]) -> ApiResult<()> {
        Ok(())
    }
}

/// What a method does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Get,
    Create,
    Update,
    Delete,
}

/// The `get` method of an object.
pub(crate) fn get<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    read(&P::default(), call, input)
}

/// The `create` method of an object.
pub(crate) fn create<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    insert(&P::default(), call, input)
}

/// The `update` method of an object.
pub(crate) fn update<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    change(&P::default(), call, input)
}

/// The `delete` method of an object.
pub(crate) fn delete<P: Plain + Default>(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    remove(&P::default(), call, input)
}

fn read(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Get)?;
    let spec = plain.spec();
    let mut options: Vec<&str> = spec.by_ids.iter().map(|(option, _)| *option).collect();
    options.extend(spec.children.iter().map(|child| child.select));
    options.extend(spec.relations.iter().map(|related| related.select));
    options.extend(spec.options);
    let mut get = Get::new(call, input, spec.object, &options)?;
    for (option, condition) in spec.by_ids {
        get.by_ids(option, condition)?;
    }
    let need = Need::of_get(get.flag("editable"));
    plain.select(&mut get, call, need)?;
    let mut found = get.run()?;
    for child in spec.children {
        show_child(&mut found, child)?;
    }
    for related in spec.relations {
        if let Some(wanted) = found.wants(related.select)? {
            let pairs = call.pairs(related.pairs, &found.ids())?;
            found.relate_as(&related.relation, &wanted, &pairs)?;
        }
    }
    plain.show(&mut found)?;
    Ok(found.finish())
}

fn show_child(found: &mut Found<'_, '_>, child: &Child) -> ApiResult<()> {
    let wanted = match child.counts {
        true => found.wants(child.select)?,
        false => found.wants_list(child.select)?,
    };
    let Some(wanted) = wanted else { return Ok(()) };
    let names: Vec<&'static str> = child.fields.iter().map(|field| field.name).collect();
    if let Output::Fields(asked) = &wanted
        && let Some(n) = asked.iter().position(|name| !names.contains(&name.as_str()))
    {
        let list: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let path = format!("/{}/{}", child.select, n + 1);
        return Err(ApiError::at(&path, format!("value must be one of {}", list.join(", "))));
    }
    let Child { table, owner, position, .. } = child;
    let sql = format!(
        "SELECT {owner} AS owner, {table}.* FROM {table} WHERE {owner} IN ({{ids}}) \
         ORDER BY {owner}, {position}"
    );
    found.attach(child.member, &wanted, &sql, &names)
}

fn insert(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Create)?;
    let spec = plain.spec();
    let mut drafts = Vec::new();
    for (path, object) in params::objects(input)? {
        drafts.push(draft(plain, call, object, path, 0)?);
    }
    store(plain, call, drafts, |edit, draft| {
        draft.id = edit.insert_new(spec.table, &draft.columns)?;
        Ok(())
    })
}

fn change(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Update)?;
    let spec = plain.spec();
    let mut drafts = Vec::new();
    for (path, id, object) in spec.object.updates(input)? {
        drafts.push(draft(plain, call, object, path, id)?);
    }
    store(plain, call, drafts, |edit, draft| {
        Ok(edit.update(spec.table, draft.id, &draft.columns)?)
    })
}

/// Checks an object by itself.
fn draft(
    plain: &dyn Plain,
    call: &Call<'_>,
    object: &Json,
    path: String,
    id: u64,
) -> ApiResult<Draft> {
    let spec = plain.spec();
    let mode = if id == 0 { Mode::Create } else { Mode::Update };
    if let (Mode::Update, Some(members)) = (mode, object.as_object())
        && let Some(name) = spec.fixed.iter().find(|name| members.contains_key(**name))
    {
        return Err(ApiError::at(&path, format_args!("unexpected parameter \"{name}\"")));
    }
    let columns = spec.object.validate(object, &path, mode)?;
    let children = spec
        .children
        .iter()
        .map(|child| {
            let given = object.get(child.member);
            given
                .map(|list| child_rows(child, list, &format!("{path}/{}", child.member)))
                .transpose()
        })
        .collect::<ApiResult<_>>()?;
    let mut draft = Draft { path, id, columns, children };
    plain.given(call, &mut draft, object)?;
    Ok(draft)
}

fn child_rows(child: &Child, list: &Json, path: &str) -> ApiResult<Vec<Columns>> {
    let names: Vec<&str> = child.fields.iter().map(|field| field.name).collect();
    let mut rows: Vec<Columns> = Vec::new();
    for (path, members) in nested(list, path)? {
        only(members, &path, &names)?;
        let members = Json::Object(Map::clone(members));
        let mut row = columns_of(child.fields, "", &members, &path, Mode::Create)?;
        (child.check)(&rows, &mut row, &path)?;
        rows.push(row);
    }
    if rows.is_empty() && child.required {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    Ok(rows)
}

/// Writes objects; `put` writes the row of one.
fn store(
    plain: &dyn Plain,
    call: &Call<'_>,
    mut drafts: Vec<Draft>,
    put: impl Fn(&mut Edit<'_>, &mut Draft) -> ApiResult<()>,
) -> ApiResult<Json> {
    let spec = plain.spec();
    refuse_twins(spec, &drafts)?;
    let work = |edit: &mut Edit<'_>| {
        for draft in &mut drafts {
            let before = match draft.id {
                0 => None,
                id => rows(spec, edit, &[id])?.pop(),
            };
            plain.write(call, edit, draft, before.as_ref())?;
            refuse_taken(spec, edit, draft, before.as_ref())?;
            put(edit, draft)?;
            for (child, rows) in spec.children.iter().zip(&draft.children) {
                if let Some(rows) = rows {
                    write_children(edit, child, draft.id, rows)?;
                }
            }
        }
        let ids: Vec<u64> = drafts.iter().map(|draft| draft.id).collect();
        Ok(spec.object.result(&ids))
    };
    if spec.is_access { call.write_access(work) } else { call.write(work) }
}

fn write_children(edit: &mut Edit<'_>, child: &Child, id: u64, rows: &[Columns]) -> ApiResult<()> {
    edit.delete(child.table, child.owner, &[id])?;
    for (position, row) in (0_i64..).zip(rows) {
        let mut columns = vec![(child.owner, Value::from(id)), (child.position, position.into())];
        columns.extend(row.iter().cloned());
        edit.insert(child.table, &columns)?;
    }
    Ok(())
}

fn remove(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Delete)?;
    let spec = plain.spec();
    let ids = params::delete_ids(input)?;
    let work = |edit: &mut Edit<'_>| {
        let rows = rows(spec, edit, &ids)?;
        plain.delete(call, edit, &rows)?;
        edit.delete(spec.table, spec.object.key, &ids)?;
        Ok(spec.object.result(&ids))
    };
    if spec.is_access { call.write_access(work) } else { call.write(work) }
}

/// The rows of objects, in order; all must be there.
fn rows(spec: &Spec, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Vec<Row>> {
    let sql = format!("SELECT * FROM {} WHERE {} IN ({{ids}})", spec.table, spec.object.key);
    rows_of(edit, &sql, spec.object.key, ids)
}

/// Refuses two objects of one call with the same unique fields.
fn refuse_twins(spec: &Spec, drafts: &[Draft]) -> ApiResult<()> {
    let Some(unique) = &spec.unique else { return Ok(()) };
    let mut seen = BTreeSet::new();
    for draft in drafts {
        let given = |column: &&str| draft.columns.iter().any(|(name, _)| name == column);
        if !unique.columns.iter().all(given) {
            continue;
        }
        let values: Vec<String> =
            unique.columns.iter().map(|column| draft.value(column, None).to_string()).collect();
        if !seen.insert(values.clone()) {
            return Err(taken(&draft.path, &unique.columns.join(", "), values.join(", ")));
        }
    }
    Ok(())
}

/// Refuses unique fields that another object has.
fn refuse_taken(
    spec: &Spec,
    edit: &mut Edit<'_>,
    draft: &Draft,
    before: Option<&Row>,
) -> ApiResult<()> {
    let Some(unique) = &spec.unique else { return Ok(()) };
    let values: Vec<Value> =
        unique.columns.iter().map(|column| draft.value(column, before)).collect();
    let key = spec.object.key;
    let wanted: Vec<String> = unique.columns.iter().map(|name| format!("{name} = ?")).collect();
    let sql =
        format!("SELECT {key} FROM {} WHERE {} AND {key} <> ?", spec.table, wanted.join(" AND "));
    let mut params = values.clone();
    params.push(draft.id.into());
    if edit.query(&sql, &params)?.is_empty() {
        return Ok(());
    }
    let text = |text: String, value: &Value| text.replacen("{}", &value.to_string(), 1);
    Err(ApiError::params(values.iter().fold(unique.error.to_owned(), text)))
}

/// Refuses a row that has the same values in these columns as one before it.
pub(crate) fn refuse_twin(
    rows: &[Columns],
    row: &Columns,
    columns: &[&str],
    path: &str,
) -> ApiResult<()> {
    let values = |row: &Columns| -> Vec<String> {
        let value = |column: &&str| {
            let found = row.iter().find(|(name, _)| name == column);
            found.map_or_else(String::new, |(_, value)| value.to_string())
        };
        columns.iter().map(value).collect()
    };
    let own = values(row);
    if rows.iter().any(|other| values(other) == own) {
        return Err(taken(path, &columns.join(", "), own.join(", ")));
    }
    Ok(())
}

/// A row's text in a column, if it is given.
pub(crate) fn text<'r>(row: &'r Columns, column: &str) -> Option<&'r str> {
    row.iter().find_map(|(name, value)| match value {
        Value::Text(text) if *name == column => Some(text.as_str()),
        _ => None,
    })
}

/// A row's number in a column; what is not given is 0.
pub(crate) fn number(row: &Columns, column: &str) -> i64 {
    row.iter().find(|(name, _)| *name == column).map_or(0, |(_, value)| value.as_int())
}
