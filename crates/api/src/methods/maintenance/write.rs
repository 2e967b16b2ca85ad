//! Making, changing and deleting maintenances. What they do to hosts and problems follows within a
//! second, by who watches the table.

use config::Edit;
use config::db::Value;

use super::periods::{self, Period};
use super::{MAINTENANCE, TIME_MAX};
use crate::call::{Call, Json};
use crate::effect::Effect;
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, missing, taken};
use crate::params;
use crate::permission::{Need, action_allowed};
use crate::write::{Target, names, nested, nested_ids, only};

/// Tag, operator (0 equals, 2 contains), value.
type Tag = (String, i64, String);

/// A maintenance as a client gives it.
struct Given {
    path: String,
    columns: Columns,
    name: Option<String>,
    groups: Option<Vec<u64>>,
    hosts: Option<Vec<u64>>,
    periods: Option<Vec<Period>>,
    tags: Option<Vec<Tag>>,
}

impl Given {
    fn parse(call: &Call<'_>, object: &Json, path: &str, mode: Mode) -> ApiResult<Self> {
        let mut columns = MAINTENANCE.validate(object, path, mode)?;
        for (name, value) in &mut columns {
            if matches!(*name, "active_since" | "active_till") {
                *value = Value::from(value.as_int() - value.as_int() % 60);
            }
        }
        let at = |name: &str| format!("{path}/{name}");
        let ids = |name: &str, key: &str, old: &str| match (object.get(name), object.get(old)) {
            (Some(list), _) => nested_ids(list, &at(name), key).map(Some),
            (None, Some(_)) => params::ids(object, old),
            (None, None) => Ok(None),
        };
        let now = i64::try_from(call.now()).unwrap_or(TIME_MAX);
        let periods = object.get("timeperiods");
        if mode == Mode::Create && periods.is_none() {
            return Err(missing(path, "timeperiods"));
        }
        Ok(Self {
            path: path.to_owned(),
            columns,
            name: object.get("name").map(|v| params::text(v, &at("name"))).transpose()?,
            groups: ids("groups", "groupid", "groupids")?,
            hosts: ids("hosts", "hostid", "hostids")?,
            periods: periods.map(|v| periods::parse(v, &at("timeperiods"), now)).transpose()?,
            tags: object.get("tags").map(|v| parse_tags(v, &at("tags"))).transpose()?,
        })
    }

    /// Checks what depends on what is stored already.
    fn check(&self, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        let stored =
            edit.query("SELECT * FROM maintenances WHERE maintenanceid = ?", &[id.into()])?;
        let column = |name: &str| {
            let given = self.columns.iter().find(|(column, _)| *column == name);
            let stored = || stored.first().map_or(0, |row| row.int(name));
            given.map_or_else(stored, |(_, value)| value.as_int())
        };
        if column("active_till") <= column("active_since") {
            let path = &self.path;
            return Err(ApiError::at(
                &format!("{path}/active_till"),
                format_args!(
                    "cannot be less than or equal to the value of parameter \"{path}/active_since\""
                ),
            ));
        }
        if column("maintenance_type") == 1 && self.tags.as_ref().is_some_and(|t| !t.is_empty()) {
            return Err(ApiError::at(&format!("{}/tags", self.path), "should be empty"));
        }
        let Some(name) = &self.name else { return Ok(()) };
        let same = edit.query(
            "SELECT maintenanceid FROM maintenances WHERE name = ? AND maintenanceid <> ?",
            &[name.as_str().into(), id.into()],
        )?;
        if same.is_empty() {
            return Ok(());
        }
        Err(ApiError::params(format!("Maintenance \"{name}\" already exists.")))
    }

    fn write_owned(&self, call: &Call<'_>, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        for (ids, target, table, key) in [
            (&self.groups, Target::HostGroup, "maintenance_groups", "groupid"),
            (&self.hosts, Target::Host, "maintenance_hosts", "hostid"),
        ] {
            let Some(ids) = ids else { continue };
            call.require(edit, target, Need::Write, ids)?;
            edit.delete(table, "maintenanceid", &[id])?;
            for other in ids {
                edit.insert(table, &[("maintenanceid", id.into()), (key, (*other).into())])?;
            }
        }
        let covered = edit.query(
            "SELECT maintenanceid FROM maintenance_groups WHERE maintenanceid = ? UNION \
             SELECT maintenanceid FROM maintenance_hosts WHERE maintenanceid = ?",
            &[id.into(), id.into()],
        )?;
        if covered.is_empty() {
            return Err(ApiError::params("At least one host group or host must be selected."));
        }
        if let Some(periods) = &self.periods {
            edit.delete("maintenance_periods", "maintenanceid", &[id])?;
            for (n, period) in periods.iter().enumerate() {
                let mut row = periods::row(period);
                row.extend([("maintenanceid", id.into()), ("sortorder", Value::from(n as u64))]);
                edit.insert("maintenance_periods", &row)?;
            }
        }
        if let Some(tags) = &self.tags {
            edit.delete("maintenance_tags", "maintenanceid", &[id])?;
            for (tag, operator, value) in tags {
                let row = [
                    ("maintenanceid", id.into()),
                    ("tag", tag.as_str().into()),
                    ("operator", (*operator).into()),
                    ("value", value.as_str().into()),
                ];
                edit.insert_new("maintenance_tags", &row)?;
            }
        }
        Ok(())
    }
}

fn parse_tags(value: &Json, path: &str) -> ApiResult<Vec<Tag>> {
    let mut tags: Vec<Tag> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["tag", "operator", "value"])?;
        let at = |name: &str| format!("{path}/{name}");
        let text = |name: &str| members.get(name).map(|v| params::text(v, &at(name))).transpose();
        let tag = text("tag")?.ok_or_else(|| missing(&path, "tag"))?;
        if tag.is_empty() {
            return Err(ApiError::at(&at("tag"), "cannot be empty"));
        }
        let operator =
            members.get("operator").map_or(Ok(2), |v| params::int(v, &at("operator")))?;
        if ![0, 2].contains(&operator) {
            return Err(ApiError::at(&at("operator"), "value must be one of 0, 2"));
        }
        let tag = (tag, operator, text("value")?.unwrap_or_default());
        if tags.contains(&tag) {
            let shown = format!("{}, {}, {}", tag.0, tag.1, tag.2);
            return Err(taken(&path, "tag, operator, value", shown));
        }
        tags.push(tag);
    }
    Ok(tags)
}

/// The user's role lets its users change maintenances.
fn may_edit(call: &Call<'_>, method: &str) -> ApiResult<()> {
    if action_allowed(call.user(), "edit_maintenance") {
        return Ok(());
    }
    Err(ApiError::application(format!("No permissions to call \"maintenance.{method}\".")))
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    may_edit(call, "create")?;
    let objects = params::objects(input)?.into_iter();
    let given = objects
        .map(|(path, object)| Given::parse(call, object, &path, Mode::Create))
        .collect::<ApiResult<Vec<_>>>()?;
    call.write(|edit| {
        let mut ids = Vec::new();
        for one in &given {
            one.check(edit, 0)?;
            let id = edit.insert_new("maintenances", &one.columns)?;
            one.write_owned(call, edit, id)?;
            ids.push(id);
        }
        Ok(MAINTENANCE.result(&ids))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    may_edit(call, "update")?;
    let (mut ids, mut given) = (Vec::new(), Vec::new());
    for (path, id, object) in MAINTENANCE.updates(input)? {
        ids.push(id);
        given.push(Given::parse(call, object, &path, Mode::Update)?);
    }
    call.write(|edit| {
        require_all(call, edit, &ids)?;
        for (id, one) in ids.iter().zip(&given) {
            one.check(edit, *id)?;
            edit.update("maintenances", *id, &one.columns)?;
            one.write_owned(call, edit, *id)?;
        }
        Ok(MAINTENANCE.result(&ids))
    })
}

pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    may_edit(call, "delete")?;
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        require_all(call, edit, &ids)?;
        Ok(edit.delete("maintenances", "maintenanceid", &ids)?)
    })?;
    let result = MAINTENANCE.result(&ids);
    call.after_commit(Effect::MaintenancesGone(ids)).map_err(ApiError::application)?;
    Ok(result)
}

/// All exist, and the user may change all their hosts and groups.
fn require_all(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let known = names(edit, "maintenances", "maintenanceid", "name", ids)?;
    if !ids.iter().all(|id| known.contains_key(id)) {
        return Err(ApiError::no_object());
    }
    for (table, key, target) in [
        ("maintenance_groups", "groupid", Target::HostGroup),
        ("maintenance_hosts", "hostid", Target::Host),
    ] {
        let sql =
            format!("SELECT DISTINCT {key} AS id FROM {table} WHERE maintenanceid IN ({{ids}})");
        let rows = config::db::query_by_ids(edit.connection(), &sql, &[], ids)?;
        let covered: Vec<u64> = rows.iter().map(|row| row.id("id")).collect();
        call.require(edit, target, Need::Write, &covered)?;
    }
    Ok(())
}
