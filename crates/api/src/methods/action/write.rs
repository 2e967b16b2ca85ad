//! `action.create`, `action.update`, `action.delete`.

use config::Edit;
use config::db::Value;
use config::table;
use objects::EventSource;
use serde_json::json;

use super::conditions::Filter;
use super::operations::{self, LISTS, Operation, Place};
use super::{ACTION, calm, grouping};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode};
use crate::params;

/// An action as a client gives it.
struct Given {
    name: String,
    columns: Columns,
    filter: Option<Filter>,
    /// By [`LISTS`]; `None` = not given.
    operations: [Option<Vec<Operation>>; 3],
}

/// Members that only actions on some sources have.
fn is_of(source: EventSource, member: &str) -> bool {
    match member {
        "esc_period" | "recovery_operations" => operations::has_steps(source),
        "update_operations" => matches!(source, EventSource::Trigger | EventSource::Service),
        "pause_suppressed" | "pause_symptoms" | "notify_if_canceled" | "inhibition" | "calming" => {
            source == EventSource::Trigger
        }
        _ => true,
    }
}

impl Given {
    /// `now` is the name and event source of one that is changed.
    fn parse(object: &Json, path: &str, now: Option<(&str, i64)>) -> ApiResult<Self> {
        let mode = if now.is_some() { Mode::Update } else { Mode::Create };
        let mut columns = ACTION.validate(object, path, mode)?;
        let at = |name: &str| format!("{path}/{name}");
        let given = columns.iter().find(|(name, _)| *name == "eventsource");
        let given = given.map(|(_, value)| value.as_int());
        let source = given.or(now.map(|(_, source)| source)).unwrap_or(0);
        if let Some((name, before)) = now
            && source != before
        {
            let text = format!("Cannot update \"eventsource\" for action \"{name}\".");
            return Err(ApiError::params(text));
        }
        let source = EventSource::from_number(source)
            .ok_or_else(|| ApiError::at(&at("eventsource"), "an integer is expected"))?;
        let foreign = object.as_object().and_then(|m| m.keys().find(|name| !is_of(source, name)));
        if let Some(name) = foreign {
            return Err(ApiError::at(path, format_args!("unexpected parameter \"{name}\"")));
        }
        if let Some(value) = object.get("esc_period") {
            operations::check_period(value, &at("esc_period"))?;
        }
        if let Some(grouping) = params::settings(object, "grouping", path)? {
            columns.push(("grouping", grouping::parse(grouping, &at("grouping"))?.into()));
        }
        columns.extend(calm::inhibition(object, path)?);
        columns.extend(calm::calming(object, path)?);
        let name = match object.get("name") {
            Some(name) => params::text(name, &at("name"))?,
            None => now.map_or("", |(name, _)| name).to_owned(),
        };
        let filter = object.get("filter");
        let filter = filter.map(|v| Filter::parse(v, &at("filter"), source)).transpose()?;
        if let Some(filter) = &filter {
            columns.push(("evaltype", filter.evaltype.number().into()));
            columns.push(("formula", filter.formula.as_str().into()));
        }
        let mut lists = [None, None, None];
        for (list, (member, mode)) in lists.iter_mut().zip(LISTS) {
            let place = Place { source, mode, action: &name };
            let value = object.get(member);
            *list = value.map(|v| operations::parse(v, &at(member), place)).transpose()?;
        }
        Ok(Self { name, columns, filter, operations: lists })
    }

    /// Checks what depends on what is stored.
    fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        if let Some((_, Value::Text(name))) =
            self.columns.iter().find(|(column, _)| *column == "name")
        {
            let sql = "SELECT actionid FROM actions WHERE name = ? AND actionid <> ?";
            if !edit.query(sql, &[name.as_str().into(), id.into()])?.is_empty() {
                return Err(ApiError::params(format!("Action \"{name}\" already exists.")));
            }
        }
        self.check_does_something(edit, id)?;
        if let Some(filter) = &self.filter {
            filter.check(call, edit)?;
        }
        let mut operations = self.operations.iter().flatten().flatten();
        operations.try_for_each(|operation| operation.check(call, edit))
    }

    /// Lists that are not given stay as they are.
    fn check_does_something(&self, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        for (list, (_, mode)) in self.operations.iter().zip(LISTS) {
            let some = match list {
                Some(list) => !list.is_empty(),
                None => {
                    let sql = "SELECT 1 AS one FROM operations \
                               WHERE actionid = ? AND recovery = ? LIMIT 1";
                    !edit.query(sql, &[id.into(), mode.number().into()])?.is_empty()
                }
            };
            if some {
                return Ok(());
            }
        }
        Err(operations::none(&self.name))
    }

    fn write_owned(&self, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        if let Some(filter) = &self.filter {
            filter.write(edit, id)?;
        }
        for (list, (_, mode)) in self.operations.iter().zip(LISTS) {
            if let Some(list) = list {
                operations::write(edit, id, mode, list)?;
            }
        }
        Ok(())
    }
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?.into_iter();
    let given = objects
        .map(|(path, object)| Given::parse(object, &path, None))
        .collect::<ApiResult<Vec<_>>>()?;
    call.write(|edit| {
        let mut ids = Vec::new();
        for one in &given {
            one.check(call, edit, 0)?;
            let id = edit.insert_new(&table::ACTIONS, &one.columns)?;
            one.write_owned(edit, id)?;
            ids.push(id);
        }
        Ok(ACTION.result(&ids))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let updates = ACTION.updates(input)?;
    let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
    require(call, &ids).map_err(|error| ApiError::params(error.data))?;
    call.write(|edit| {
        for (path, id, object) in &updates {
            let sql = "SELECT name, eventsource FROM actions WHERE actionid = ?";
            let rows = edit.query(sql, &[(*id).into()])?;
            let row = rows.first().ok_or_else(ApiError::no_object)?;
            let now = (row.text("name"), row.int("eventsource"));
            let one = Given::parse(object, path, Some(now))?;
            one.check(call, edit, *id)?;
            edit.update(&table::ACTIONS, *id, &one.columns)?;
            one.write_owned(edit, *id)?;
        }
        Ok(ACTION.result(&ids))
    })
}

pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    require(call, &ids)?;
    call.write(|edit| {
        edit.delete(&table::ACTIONS, "actionid", &ids)?;
        Ok(ACTION.result(&ids))
    })
}

/// All exist, and the user may change them.
fn require(call: &Call<'_>, ids: &[u64]) -> ApiResult<()> {
    let options = json!({ "actionids": ids, "editable": true, "countOutput": true });
    let found = super::get(call, &options)?;
    if found == Json::String(ids.len().to_string()) { Ok(()) } else { Err(ApiError::no_object()) }
}
