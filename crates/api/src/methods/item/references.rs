//! Checks of an item against the rest of the configuration.

use config::Edit;
use config::db::{Row, Value};
use const_format::formatcp;
use eval::expr::Expression;
use objects::sql::{FLAGS_RULE, KIND_PROTOTYPE};
use objects::{HostKind, InterfaceNeed, InterfaceType, ItemType, Origin};
use serde_json::Map;

use super::fields::Kind;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::object::{Columns, missing};
use crate::params;
use crate::permission::{Need, on_hosts};

pub(super) fn text_of(columns: &Columns, name: &str) -> String {
    config::objects::column(columns, name).map(ToString::to_string).unwrap_or_default()
}

pub(super) fn check_lifetimes(
    columns: &Columns,
    before: Option<&Row>,
    path: &str,
) -> ApiResult<()> {
    let value = |name: &str| match config::objects::column(columns, name) {
        Some(value) => value.to_string(),
        None => before.map_or_else(String::new, |row| row.text(name).to_owned()),
    };
    let seconds = |name: &str| eval::num::parse_seconds(&value(name)).filter(|s| *s > 0);
    let changed = config::objects::column(columns, "enabled_lifetime").is_some();
    match (seconds("lifetime"), seconds("enabled_lifetime")) {
        (Some(delete), Some(disable)) if changed && disable >= delete => Err(ApiError::at(
            &format!("{path}/enabled_lifetime"),
            format_args!(
                "cannot be greater than or equal to the value of parameter \"{path}/lifetime\""
            ),
        )),
        _ => Ok(()),
    }
}

pub(super) fn check_uuid(
    edit: &mut Edit<'_>,
    columns: &Columns,
    before: Option<&Row>,
    path: &str,
) -> ApiResult<()> {
    let uuid = text_of(columns, "uuid");
    if uuid.is_empty() {
        return Ok(());
    }
    let id = before.map_or(0, |row| row.id("itemid"));
    let sql = "SELECT itemid FROM items WHERE uuid = ? AND itemid <> ?";
    if edit.query(sql, &[uuid.as_str().into(), id.into()])?.is_empty() {
        return Ok(());
    }
    let text = format!("Invalid parameter \"{path}\": value (uuid)=({uuid}) already exists.");
    Err(ApiError::params(text))
}

/// Interface, master and value map belong to the same host, and fit.
pub(super) fn check_references(
    edit: &mut Edit<'_>,
    columns: &Columns,
    path: &str,
    hostid: u64,
    kind: Kind,
    ruleid: u64,
) -> ApiResult<()> {
    let id = |name: &str| {
        let value = config::objects::column(columns, name);
        value.map(|v| u64::try_from(v.as_int()).unwrap_or(0))
    };
    let item_type = config::objects::column(columns, "type")
        .and_then(|number| ItemType::from_number(number.as_int()));
    if let Some(interfaceid) = id("interfaceid") {
        let need = item_type.map_or(InterfaceNeed::None, ItemType::interface);
        check_interface(edit, interfaceid, need, hostid, path)?;
    }
    if let Some(master) = id("master_itemid").filter(|_| item_type == Some(ItemType::Dependent)) {
        let rows = edit.query(
            formatcp!("SELECT flags, ruleid FROM items WHERE itemid = ? AND hostid = ? AND flags <> {FLAGS_RULE}"),
            &[master.into(), hostid.into()],
        )?;
        let fits = rows.first().is_some_and(|row| {
            let is_prototype = Origin::Prototype.is(row.int("flags"));
            !is_prototype || (kind == Kind::Prototype && row.id("ruleid") == ruleid)
        });
        if !fits {
            let words =
                if kind == Kind::Prototype { "an item/item prototype ID" } else { "an item ID" };
            let text = format!("{words} is expected");
            return Err(ApiError::at(&format!("{path}/master_itemid"), text));
        }
    }
    if let Some(map) = id("valuemapid").filter(|id| *id > 0) {
        let sql = "SELECT valuemapid FROM valuemaps WHERE valuemapid = ? AND hostid = ?";
        if edit.query(sql, &[map.into(), hostid.into()])?.is_empty() {
            let path = format!("{path}/valuemapid");
            return Err(ApiError::at(&path, "the value map of the same host is expected"));
        }
    }
    Ok(())
}

fn check_interface(
    edit: &mut Edit<'_>,
    interfaceid: u64,
    need: InterfaceNeed,
    hostid: u64,
    path: &str,
) -> ApiResult<()> {
    let wanted = match need {
        InterfaceNeed::None => return Ok(()),
        InterfaceNeed::Any if interfaceid == 0 => return Ok(()),
        InterfaceNeed::Any => None,
        InterfaceNeed::Of(wanted) => Some(wanted),
    };
    let path = format!("{path}/interfaceid");
    let rows = edit.query(
        "SELECT i.type, h.kind FROM hosts h LEFT JOIN interfaces i \
         ON i.hostid = h.hostid AND i.interfaceid = ? WHERE h.hostid = ?",
        &[interfaceid.into(), hostid.into()],
    )?;
    let Some(row) = rows.first().filter(|row| HostKind::Host.is(row.int("kind"))) else {
        return Ok(());
    };
    let Some(kind) = InterfaceType::from_number(row.int("type")) else {
        return Err(ApiError::at(&path, "the host interface ID is expected"));
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != kind) {
        let name = wanted.label();
        let text = format!("the host interface ID of type \"{name}\" is expected");
        return Err(ApiError::at(&path, text));
    }
    Ok(())
}

/// Refuses a formula that names a host which the user may not read: its values would come to light
/// as those of the calculated item. A name of no host is taken, the host may come later.
pub(super) fn check_formula_hosts(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    columns: &Columns,
    before: Option<&Row>,
    path: &str,
) -> ApiResult<()> {
    let stored_type = before.map(|row| row.int("type"));
    let item_type = config::objects::column(columns, "type").map(Value::as_int).or(stored_type);
    let stored = before.and_then(|row| row.get("params"));
    let Some(formula) = config::objects::column(columns, "params").or(stored) else {
        return Ok(());
    };
    // A formula that is stored as one stays. A text of another type was never checked.
    let same = stored_type == Some(ItemType::Calculated.number()) && stored == Some(formula);
    if item_type != Some(ItemType::Calculated.number()) || same {
        return Ok(());
    }
    let Some(readable) = on_hosts(call.user(), Need::Read, "hostid") else { return Ok(()) };
    let Ok(expression) = Expression::parse(&formula.to_string()) else { return Ok(()) };
    for item in expression.item_calls() {
        if item.query.host == "*" {
            return Err(ApiError::at(
                &format!("{path}/params"),
                "only super admins may read items of all hosts (\"*\"): name the hosts",
            ));
        }
        let sql = format!(
            "SELECT hostid FROM hosts WHERE host = ? AND kind < {KIND_PROTOTYPE} AND NOT ({readable})"
        );
        if !edit.query(&sql, &[item.query.host.as_str().into()])?.is_empty() {
            return Err(ApiError::at(
                &format!("{path}/params"),
                format_args!("you have no permissions to the host \"{}\"", item.query.host),
            ));
        }
    }
    Ok(())
}

/// The rule of a prototype, on the same host.
pub(super) fn rule_of(
    edit: &mut Edit<'_>,
    members: &Map<String, Json>,
    path: &str,
    hostid: u64,
) -> ApiResult<u64> {
    let value = members.get("ruleid").ok_or_else(|| missing(path, "ruleid"))?;
    let ruleid = params::id(value, &format!("{path}/ruleid"))?;
    let rows = edit.query(
        formatcp!(
            "SELECT itemid FROM items WHERE itemid = ? AND hostid = ? AND flags = {FLAGS_RULE}"
        ),
        &[ruleid.into(), hostid.into()],
    )?;
    if rows.is_empty() { Err(ApiError::params(NO_OBJECT)) } else { Ok(ruleid) }
}
