//! `correlation.create`, `correlation.update`, `correlation.delete`.

use std::collections::BTreeSet;

use config::Edit;
use config::db::Value;
use config::table;
use objects::CorrelationOperation;

use super::CORRELATION;
use super::filter::Filter;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, missing, taken};
use crate::params::{self, one_of};
use crate::write::{nested, only, rows_of};

/// A rule as a client gives it.
struct Given {
    /// 0 = it is new.
    id: u64,
    columns: Columns,
    filter: Option<Filter>,
    operations: Option<Vec<CorrelationOperation>>,
}

impl Given {
    fn parse(object: &Json, path: &str, id: u64) -> ApiResult<Self> {
        let mode = if id == 0 { Mode::Create } else { Mode::Update };
        let columns = CORRELATION.validate(object, path, mode)?;
        let at = |name: &str| format!("{path}/{name}");
        for name in ["filter", "operations"] {
            if mode == Mode::Create && object.get(name).is_none() {
                return Err(missing(path, name));
            }
        }
        let filter = object.get("filter").map(|value| Filter::parse(value, &at("filter")));
        let operations = object.get("operations").map(|value| operations(value, &at("operations")));
        let (filter, operations) = (filter.transpose()?, operations.transpose()?);
        Ok(Self { id, columns, filter, operations })
    }

    fn name(&self) -> Option<&str> {
        self.columns.iter().find_map(|(column, value)| match value {
            Value::Text(name) if *column == "name" => Some(name.as_str()),
            _ => None,
        })
    }

    fn refuse_taken(&self, edit: &mut Edit<'_>) -> ApiResult<()> {
        let Some(name) = self.name() else { return Ok(()) };
        let sql = "SELECT correlationid FROM correlations WHERE name = ? AND correlationid <> ?";
        if edit.query(sql, &[name.into(), self.id.into()])?.is_empty() {
            return Ok(());
        }
        Err(ApiError::params(format!("Event correlation \"{name}\" already exists.")))
    }

    fn write(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<u64> {
        let filter = self.filter.as_ref().map(|filter| filter.settled(call, edit)).transpose()?;
        let mut columns = self.columns.clone();
        if let Some(filter) = &filter {
            columns.push(("evaltype", filter.evaltype.number().into()));
            columns.push(("formula", filter.formula.as_str().into()));
        }
        let mut id = self.id;
        if id == 0 {
            id = edit.insert_new(&table::CORRELATIONS, &columns)?;
        } else {
            edit.update(&table::CORRELATIONS, id, &columns)?;
        }
        if let Some(filter) = filter {
            filter.write(edit, id)?;
        }
        if let Some(operations) = &self.operations {
            edit.delete(&table::CORRELATION_OPERATIONS, "correlationid", &[id])?;
            for (n, operation) in operations.iter().enumerate() {
                let row = [
                    ("correlationid", id.into()),
                    ("position", Value::from(n as u64)),
                    ("type", operation.number().into()),
                ];
                edit.insert(&table::CORRELATION_OPERATIONS, &row)?;
            }
        }
        Ok(id)
    }
}

fn operations(value: &Json, path: &str) -> ApiResult<Vec<CorrelationOperation>> {
    let mut found = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["type"])?;
        let number = members.get("type").ok_or_else(|| missing(&path, "type"))?;
        let at = format!("{path}/type");
        let operation = CorrelationOperation::from_number(params::int(number, &at)?)
            .ok_or_else(|| one_of(&at, CorrelationOperation::NUMBERS.iter().copied()))?;
        if found.contains(&operation) {
            return Err(taken(&path, "type", operation.number()));
        }
        found.push(operation);
    }
    if found.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    Ok(found)
}

/// Two rules of one call have the same name.
fn refuse_twins(given: &[(String, Given)]) -> ApiResult<()> {
    let mut names = BTreeSet::new();
    for (path, one) in given {
        if let Some(name) = one.name().filter(|name| !names.insert(*name)) {
            return Err(taken(path, "name", name));
        }
    }
    Ok(())
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?.into_iter();
    let given = objects.map(|(path, object)| Ok((path.clone(), Given::parse(object, &path, 0)?)));
    store(call, &given.collect::<ApiResult<Vec<_>>>()?)
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let updates = CORRELATION.updates(input)?.into_iter();
    let given = updates
        .map(|(path, id, object)| Ok((path.clone(), Given::parse(object, &path, id)?)))
        .collect::<ApiResult<Vec<_>>>()?;
    store(call, &given)
}

fn store(call: &Call<'_>, given: &[(String, Given)]) -> ApiResult<Json> {
    refuse_twins(given)?;
    call.write(|edit| {
        let known: Vec<u64> = given.iter().map(|(_, one)| one.id).filter(|id| *id != 0).collect();
        require(edit, &known)?;
        given.iter().try_for_each(|(_, one)| one.refuse_taken(edit))?;
        let ids = given.iter().map(|(_, one)| one.write(call, edit)).collect::<ApiResult<Vec<_>>>();
        Ok(CORRELATION.result(&ids?))
    })
}

pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        require(edit, &ids)?;
        edit.delete(&table::CORRELATIONS, "correlationid", &ids)?;
        Ok(CORRELATION.result(&ids))
    })
}

/// All exist.
fn require(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let sql = "SELECT correlationid FROM correlations WHERE correlationid IN ({ids})";
    rows_of(edit, sql, "correlationid", ids).map(drop)
}
