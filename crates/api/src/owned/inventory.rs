//! Inventory of hosts: the fields and their writing.

use config::table;
use const_format::formatcp;
use objects::sql::INVENTORY_MODE_DISABLED;
use std::collections::BTreeMap;

use config::Edit;
use config::db::query_by_ids;
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get, Output, like, texts_of};
use crate::params;

/// Fields in the order in which items number them (`inventory_link` 1 is the first), with the
/// longest value in characters.
pub(crate) const FIELDS: &[(&str, usize)] = &[
    ("type", 64),
    ("type_full", 64),
    ("name", 128),
    ("alias", 128),
    ("os", 128),
    ("os_full", 255),
    ("os_short", 128),
    ("serialno_a", 64),
    ("serialno_b", 64),
    ("tag", 64),
    ("asset_tag", 64),
    ("macaddress_a", 64),
    ("macaddress_b", 64),
    ("hardware", 255),
    ("hardware_full", 65_535),
    ("software", 255),
    ("software_full", 65_535),
    ("software_app_a", 64),
    ("software_app_b", 64),
    ("software_app_c", 64),
    ("software_app_d", 64),
    ("software_app_e", 64),
    ("contact", 65_535),
    ("location", 65_535),
    ("location_lat", 16),
    ("location_lon", 16),
    ("notes", 65_535),
    ("chassis", 64),
    ("model", 64),
    ("hw_arch", 32),
    ("vendor", 64),
    ("contract_number", 64),
    ("installer_name", 64),
    ("deployment_status", 64),
    ("url_a", 2048),
    ("url_b", 2048),
    ("url_c", 2048),
    ("host_networks", 65_535),
    ("host_netmask", 39),
    ("host_router", 39),
    ("oob_ip", 39),
    ("oob_netmask", 39),
    ("oob_router", 39),
    ("date_hw_purchase", 64),
    ("date_hw_install", 64),
    ("date_hw_expiry", 64),
    ("date_hw_decomm", 64),
    ("site_address_a", 128),
    ("site_address_b", 128),
    ("site_address_c", 128),
    ("site_city", 128),
    ("site_state", 64),
    ("site_country", 64),
    ("site_zip", 64),
    ("site_rack", 128),
    ("site_notes", 65_535),
    ("poc_1_name", 128),
    ("poc_1_email", 128),
    ("poc_1_phone_a", 64),
    ("poc_1_phone_b", 64),
    ("poc_1_cell", 64),
    ("poc_1_screen", 64),
    ("poc_1_notes", 65_535),
    ("poc_2_name", 128),
    ("poc_2_email", 128),
    ("poc_2_phone_a", 64),
    ("poc_2_phone_b", 64),
    ("poc_2_cell", 64),
    ("poc_2_screen", 64),
    ("poc_2_notes", 65_535),
];

/// No inventory.
pub(crate) const DISABLED: i64 = -1;

/// Field and value.
pub(crate) type Values = Vec<(&'static str, String)>;

/// Reads the `inventory` member.
pub(crate) fn parse(value: &Json, path: &str) -> ApiResult<Values> {
    let members = match value {
        Json::Object(members) => members,
        Json::Array(values) if values.is_empty() => return Ok(Vec::new()),
        _ => return Err(ApiError::at(path, "an array is expected")),
    };
    let mut values = Vec::new();
    for (name, value) in members {
        let Some((name, max)) = FIELDS.iter().find(|(known, _)| known == name) else {
            return Err(ApiError::params(format!("Incorrect inventory field \"{name}\".")));
        };
        let value = params::text(value, &format!("{path}/{name}"))?;
        let length = value.chars().count();
        if length > *max {
            return Err(ApiError::application(format!(
                "The value for inventory field \"{name}\" has {length} characters. \
                 At most {max} are possible."
            )));
        }
        values.push((*name, value));
    }
    Ok(values)
}

/// Mode of `inventory_mode`, checked.
pub(crate) fn parse_mode(value: &Json, path: &str) -> ApiResult<i64> {
    match params::int(value, path) {
        Ok(mode @ DISABLED..=1) => Ok(mode),
        _ => Err(ApiError::application(
            "Incorrect value for field \"inventory_mode\": value must be one of -1, 0, 1.",
        )),
    }
}

/// Writes mode and values; returns the mode for the host's row. Values without a mode switch a
/// disabled inventory to manual.
pub(crate) fn write(
    edit: &mut Edit<'_>,
    hostid: u64,
    now: i64,
    mode: Option<i64>,
    values: &Values,
) -> ApiResult<i64> {
    if !values.is_empty() && mode == Some(DISABLED) {
        return Err(ApiError::params("Cannot set inventory fields for disabled inventory."));
    }
    let mode = mode.unwrap_or(if values.is_empty() || now != DISABLED { now } else { 0 });
    if mode == DISABLED {
        edit.delete(&table::HOST_INVENTORY, "hostid", &[hostid])?;
    }
    for (name, value) in values {
        let field = [("hostid", &[hostid.into()][..]), ("name", &[(*name).into()])];
        edit.delete_rows(&table::HOST_INVENTORY, &field)?;
        if !value.is_empty() {
            let row = [
                ("hostid", hostid.into()),
                ("name", (*name).into()),
                ("value", value.as_str().into()),
            ];
            edit.insert(&table::HOST_INVENTORY, &row)?;
        }
    }
    Ok(mode)
}

/// Answers `selectInventory`; hosts without inventory have an empty array. Clients ask for all fields
/// with `true` as well, and any other value means no field.
pub(crate) fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let wanted = match found.option("selectInventory") {
        None | Some(Json::Null) => return Ok(()),
        Some(Json::Bool(true)) => Output::Extend,
        Some(Json::String(text)) if text == "extend" => Output::Extend,
        Some(Json::Array(names)) => {
            Output::Fields(names.iter().filter_map(Json::as_str).map(str::to_owned).collect())
        }
        Some(_) => Output::Count,
    };
    let ids = found.ids();
    let rows = found.call.read(|c| {
        let sql = "SELECT hostid, name, value FROM host_inventory WHERE hostid IN ({ids})";
        Ok(query_by_ids(c, sql, &[], &ids)?)
    })?;
    let mut of_host: BTreeMap<u64, BTreeMap<String, String>> = BTreeMap::new();
    for row in rows {
        let values = of_host.entry(row.id("hostid")).or_default();
        values.insert(row.text("name").to_owned(), row.text("value").to_owned());
    }
    for row in &mut found.rows {
        let value = if row.row.int("inventory_mode") == DISABLED {
            Json::Array(Vec::new())
        } else {
            let values = of_host.remove(&row.id).unwrap_or_default();
            let names = FIELDS.iter().map(|(name, _)| *name).filter(|name| wanted.has(name));
            let text = |name: &str| values.get(name).cloned().unwrap_or_default();
            let out: Map<String, Json> =
                names.map(|name| (name.to_owned(), text(name).into())).collect();
            if out.is_empty() { Json::Array(Vec::new()) } else { Json::Object(out) }
        };
        row.out.insert("inventory", value);
    }
    Ok(())
}

/// Conditions of `withInventory` and `searchInventory`.
pub(crate) fn conditions(get: &mut Get<'_, '_>, input: &Json) {
    if get.flag("withInventory") {
        get.and(formatcp!("t.inventory_mode <> {INVENTORY_MODE_DISABLED}"), []);
    }
    let Some(Json::Object(members)) = input.get("searchInventory") else { return };
    for (name, value) in members {
        let Some((name, _)) = FIELDS.iter().find(|(known, _)| known == name) else { continue };
        let texts = texts_of(value);
        if texts.is_empty() {
            continue;
        }
        let (start, wildcards) = (get.flag("startSearch"), get.flag("searchWildcardsEnabled"));
        let tests = vec!["LOWER(value) LIKE ? ESCAPE '!'"; texts.len()].join(" OR ");
        let condition = format!(
            "t.hostid IN (SELECT hostid FROM host_inventory WHERE name = '{name}' AND ({tests}))"
        );
        get.and(condition, texts.iter().map(|text| like(text, start, wildcards).into()));
    }
}
