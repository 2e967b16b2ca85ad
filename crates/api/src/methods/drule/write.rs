//! `drule.create`, `drule.update`, `drule.delete`. What they do is live within a second, by the
//! snapshot. Error texts are those of the field, which has no paths here.

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::table;
use eval::macros::UserMacro;
use eval::ranges::AddressRanges;
use objects::{ConditionKind, Status};
use serde_json::Map;

use super::DRULE;
use super::checks::{self, Check};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::object::Columns;
use crate::params;
use crate::write::names;

/// The longest time between two rounds.
const DELAY_MAX_S: u32 = 604_800;
/// Addresses at one time that a rule may ask for.
const CONCURRENCY_MAX: i64 = 999;
/// Characters of a name.
const NAME_MAX: usize = 255;

pub(super) fn mandatory(name: &str) -> ApiError {
    ApiError::params(format!("Field \"{name}\" is mandatory."))
}

/// A value that is none of those that the field takes.
pub(super) fn one_of(name: &str, value: &str) -> ApiError {
    ApiError::params(format!("Incorrect value \"{value}\" for \"{name}\" field."))
}

fn wrong(name: &str, why: impl std::fmt::Display) -> ApiError {
    ApiError::params(format!("Incorrect value for field \"{name}\": {why}."))
}

/// A rule as a client gives it.
struct Given {
    columns: Columns,
    name: Option<String>,
    checks: Option<Vec<Check>>,
}

impl Given {
    fn parse(members: &Map<String, Json>, create: bool) -> ApiResult<Self> {
        if members.contains_key("error") {
            return Err(ApiError::params("Incorrect arguments passed to function."));
        }
        let text = |name: &str| members.get(name).map(|v| params::text(v, name)).transpose();
        let mut columns = Columns::new();
        let name = text("name")?;
        match &name {
            None if create => return Err(mandatory("name")),
            Some(name) if name.is_empty() => return Err(wrong("name", "cannot be empty")),
            Some(name) if name.chars().count() > NAME_MAX => {
                return Err(wrong("name", "value is too long"));
            }
            Some(name) => columns.push(("name", name.as_str().into())),
            None => {}
        }
        match text("iprange")? {
            None if create => return Err(mandatory("iprange")),
            Some(range) => {
                AddressRanges::parse_bounded(&range).map_err(|error| wrong("iprange", error))?;
                columns.push(("iprange", range.into()));
            }
            None => {}
        }
        if let Some(delay) = text("delay")? {
            check_delay(&delay)?;
            columns.push(("delay", delay.into()));
        }
        for (name, max) in
            [("status", 1), ("concurrency_max", CONCURRENCY_MAX), ("proxyid", i64::MAX)]
        {
            let Some(value) = members.get(name) else { continue };
            match params::int(value, name) {
                Ok(number) if (0..=max).contains(&number) => columns.push((name, number.into())),
                _ => return Err(one_of(name, &text(name)?.unwrap_or_default())),
            }
        }
        let checks = members.get("dchecks");
        let checks = if create || checks.is_some() { Some(checks::parse(checks)?) } else { None };
        Ok(Self { columns, name, checks })
    }

    fn check(&self, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        let proxy = self.columns.iter().find(|(name, _)| *name == "proxyid");
        if let Some((_, proxy)) = proxy.filter(|(_, proxy)| proxy.as_int() != 0) {
            let sql = "SELECT proxyid FROM proxies WHERE proxyid = ?";
            if edit.query(sql, std::slice::from_ref(proxy))?.is_empty() {
                return Err(one_of("proxyid", &proxy.to_string()));
            }
        }
        let Some(name) = &self.name else { return Ok(()) };
        let sql = "SELECT druleid FROM drules WHERE name = ? AND druleid <> ?";
        if edit.query(sql, &[name.as_str().into(), id.into()])?.is_empty() {
            return Ok(());
        }
        Err(ApiError::params(format!("Discovery rule \"{name}\" already exists.")))
    }

    /// Writes the checks: those that are named by id stay, with what they found.
    fn write_checks(&self, edit: &mut Edit<'_>, rule: u64) -> ApiResult<()> {
        let Some(checks) = &self.checks else { return Ok(()) };
        let sql = "SELECT dcheckid FROM dchecks WHERE druleid = ?";
        let rows = edit.query(sql, &[rule.into()])?;
        let known: Vec<u64> = rows.iter().map(|row| row.id("dcheckid")).collect();
        if checks.iter().any(|check| check.id != 0 && !known.contains(&check.id)) {
            return Err(ApiError::no_object());
        }
        let kept = |id: &u64| checks.iter().any(|check| check.id == *id);
        let gone: Vec<u64> = known.into_iter().filter(|id| !kept(id)).collect();
        disable_actions(edit, ConditionKind::DiscoveryCheck, &gone)?;
        edit.delete(&table::DCHECKS, "dcheckid", &gone)?;
        for check in checks {
            if check.id == 0 {
                let mut row = vec![("druleid", Value::from(rule))];
                row.extend(check.columns.iter().cloned());
                edit.insert_new(&table::DCHECKS, &row)?;
            } else {
                edit.update(&table::DCHECKS, check.id, &check.columns)?;
            }
        }
        // Hosts that only checks had found that are gone now are gone too.
        let sql = "SELECT dhostid FROM dhosts WHERE druleid = ? AND NOT EXISTS \
                   (SELECT 1 FROM dservices s WHERE s.dhostid = dhosts.dhostid)";
        let rows = edit.query(sql, &[rule.into()])?;
        let gone: Vec<u64> = rows.iter().map(|row| row.id("dhostid")).collect();
        Ok(edit.delete(&table::DHOSTS, "dhostid", &gone)?)
    }
}

fn check_delay(delay: &str) -> ApiResult<()> {
    if UserMacro::parse(delay).is_ok() {
        return Ok(());
    }
    match eval::num::parse_seconds(delay) {
        None => Err(wrong("delay", "a time unit is expected")),
        Some(seconds) if (1..=DELAY_MAX_S).contains(&seconds) => Ok(()),
        Some(_) => Err(wrong("delay", format_args!("value must be one of 1-{DELAY_MAX_S}"))),
    }
}

fn objects(input: &Json) -> ApiResult<Vec<&Map<String, Json>>> {
    let objects = params::objects(input)?.into_iter();
    Ok(objects.filter_map(|(_, object)| object.as_object()).collect())
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let given = objects(input)?.into_iter().map(|object| Given::parse(object, true));
    let given = given.collect::<ApiResult<Vec<_>>>()?;
    call.write(|edit| {
        let mut ids = Vec::new();
        for one in &given {
            one.check(edit, 0)?;
            let id = edit.insert_new(&table::DRULES, &one.columns)?;
            one.write_checks(edit, id)?;
            ids.push(id);
        }
        Ok(DRULE.result(&ids))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut given = Vec::new();
    let mut ids = Vec::new();
    for object in objects(input)? {
        let id = object.get("druleid").ok_or_else(|| mandatory("druleid"))?;
        ids.push(params::id(id, "/druleid")?);
        given.push(Given::parse(object, false)?);
    }
    call.write(|edit| {
        let known = names(edit, "drules", "druleid", "name", &ids)?;
        if !ids.iter().all(|id| known.contains_key(id)) {
            return Err(ApiError::params(NO_OBJECT));
        }
        for (id, one) in ids.iter().zip(&given) {
            one.check(edit, *id)?;
            edit.update(&table::DRULES, *id, &one.columns)?;
            one.write_checks(edit, *id)?;
        }
        Ok(DRULE.result(&ids))
    })
}

/// Disables the actions that depend on rules that are about to be deleted.
pub(super) fn disable_dependent_actions(edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let ids: Vec<u64> = rows.iter().map(|row| row.id("druleid")).collect();
    let sql = "SELECT dcheckid FROM dchecks WHERE druleid IN ({ids})";
    let checks = query_by_ids(edit, sql, &[], &ids)?;
    let checks: Vec<u64> = checks.iter().map(|row| row.id("dcheckid")).collect();
    disable_actions(edit, ConditionKind::DiscoveryCheck, &checks)?;
    disable_actions(edit, ConditionKind::DiscoveryRule, &ids)
}

/// Disables the actions with a condition on these rules or checks, which are about to be deleted. The condition
/// is never met any more, and without it the action would apply to more than its author meant.
fn disable_actions(edit: &mut Edit<'_>, kind: ConditionKind, ids: &[u64]) -> ApiResult<()> {
    for id in ids {
        let sql = "SELECT actionid FROM action_conditions WHERE conditiontype = ? AND value = ?";
        let rows = edit.query(sql, &[kind.number().into(), id.to_string().into()])?;
        let actions: Vec<u64> = rows.iter().map(|row| row.id("actionid")).collect();
        edit.update_many(
            &table::ACTIONS,
            &actions,
            &[("status", Value::from(Status::Disabled.number()))],
        )?;
    }
    Ok(())
}
