//! `create`, `update` and `delete` of plain objects.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};

use super::{Action, Draft, Plain, Spec, child};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{Mode, taken};
use crate::params;
use crate::permission::Need;
use crate::write::{Target, rows_of};

/// Makes objects.
pub(crate) fn insert(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Create)?;
    let objects = params::objects(input)?.into_iter();
    let drafts = objects.map(|(path, object)| draft(plain, call, object, path, 0));
    store(plain, call, drafts.collect::<ApiResult<_>>()?)
}

/// Changes objects.
pub(crate) fn change(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Update)?;
    let updates = plain.spec().object.updates(input)?.into_iter();
    let drafts = updates.map(|(path, id, object)| draft(plain, call, object, path, id));
    store(plain, call, drafts.collect::<ApiResult<_>>()?)
}

/// Deletes objects.
pub(crate) fn remove(plain: &dyn Plain, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain.allow(call, Action::Delete)?;
    let spec = plain.spec();
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let rows = rows(spec, edit, &ids)?;
        require_hosts(spec, call, edit, rows.iter().map(|row| row.id(spec.of_host.unwrap_or(""))))?;
        plain.delete(call, edit, &rows)
    })?;
    plain.deleted(call, &ids)?;
    Ok(spec.object.result(&ids))
}

/// Checks an object by itself.
fn draft<'j>(
    plain: &dyn Plain,
    call: &Call<'_>,
    object: &'j Json,
    path: String,
    id: u64,
) -> ApiResult<Draft<'j>> {
    let spec = plain.spec();
    let mode = if id == 0 { Mode::Create } else { Mode::Update };
    if let (Mode::Update, Some(members)) = (mode, object.as_object())
        && let Some(name) = spec.fixed.iter().find(|name| members.contains_key(**name))
    {
        return Err(ApiError::at(&path, format_args!("unexpected parameter \"{name}\"")));
    }
    let columns = spec.object.validate(object, &path, mode)?;
    let mut children = Vec::new();
    for one in spec.children {
        let rows = object.get(one.member).map(|list| {
            let path = format!("{path}/{}", one.member);
            child::parse(call, one, list, &path)
        });
        children.push(rows.transpose()?);
    }
    let mut draft = Draft { path, id, input: object, columns, children };
    plain.given(call, &mut draft)?;
    Ok(draft)
}

/// Writes objects.
fn store(plain: &dyn Plain, call: &Call<'_>, mut drafts: Vec<Draft<'_>>) -> ApiResult<Json> {
    let spec = plain.spec();
    refuse_twins(spec, &drafts)?;
    call.write(|edit| {
        let ids: Vec<u64> = drafts.iter().map(|draft| draft.id).filter(|id| *id != 0).collect();
        let rows = rows(spec, edit, &ids)?;
        if let Some(column) = spec.of_host {
            let hosts = drafts.iter().enumerate();
            let hosts = hosts.map(|(n, draft)| draft.value(column, rows.get(n)).as_int());
            require_hosts(spec, call, edit, hosts.map(|id| u64::try_from(id).unwrap_or(0)))?;
        }
        plain.may_write(call, edit, &drafts, &rows)?;
        for (n, draft) in drafts.iter_mut().enumerate() {
            let before = rows.get(n);
            refuse_taken(spec, edit, draft, before)?;
            plain.write(call, edit, draft, before)?;
            match before {
                Some(_) => edit.update(spec.table, draft.id, &draft.columns)?,
                None => draft.id = edit.insert_new(spec.table, &draft.columns)?,
            }
            for (one, rows) in spec.children.iter().zip(&draft.children) {
                if let Some(rows) = rows {
                    (one.refer)(call, edit, rows, &format!("{}/{}", draft.path, one.member))?;
                    child::write(edit, one, draft.id, rows)?;
                }
            }
        }
        plain.written(call, edit, &drafts)?;
        let ids: Vec<u64> = drafts.iter().map(|draft| draft.id).collect();
        Ok(spec.object.result(&ids))
    })
}

/// The rows of objects, in order; all must be there.
pub(crate) fn rows(spec: &Spec, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Vec<Row>> {
    let sql = format!("SELECT * FROM {} WHERE {} IN ({{ids}})", spec.table, spec.object.key);
    rows_of(edit, &sql, spec.object.key, ids)
}

/// Refuses objects of hosts and templates that this user may not change.
fn require_hosts(
    spec: &Spec,
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    hosts: impl Iterator<Item = u64>,
) -> ApiResult<()> {
    if spec.of_host.is_none() {
        return Ok(());
    }
    call.require(edit, Target::HostOrTemplate, Need::Write, &hosts.collect::<Vec<_>>())
}

/// Refuses two objects of one call with the same unique fields.
fn refuse_twins(spec: &Spec, drafts: &[Draft<'_>]) -> ApiResult<()> {
    let Some(unique) = &spec.unique else { return Ok(()) };
    let mut seen = BTreeSet::new();
    for draft in drafts.iter().filter(|draft| unique.columns.iter().all(|name| draft.gives(name))) {
        let values: Vec<String> =
            unique.columns.iter().map(|column| draft.text(column, None)).collect();
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
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let Some(unique) = &spec.unique else { return Ok(()) };
    if !unique.columns.iter().any(|name| draft.gives(name)) {
        return Ok(());
    }
    let key = spec.object.key;
    let mut conditions: Vec<String> =
        unique.columns.iter().map(|name| format!("{name} = ?")).collect();
    conditions.extend(unique.among.map(str::to_owned));
    let sql = format!(
        "SELECT {key} FROM {} WHERE {} AND {key} <> ?",
        spec.table,
        conditions.join(" AND ")
    );
    let mut values: Vec<Value> =
        unique.columns.iter().map(|column| draft.value(column, before)).collect();
    values.push(draft.id.into());
    if edit.query(&sql, &values)?.is_empty() {
        return Ok(());
    }
    let mut error = unique.error.to_owned();
    for column in unique.columns {
        error = error.replace(&format!("{{{column}}}"), &draft.text(column, before));
    }
    Err(ApiError::params(error))
}
