//! Hosts made by discovery: what people may change of them. The rest follows the prototype with
//! each discovery, and under another name discovery would not find the host again.

use std::collections::BTreeMap;

use config::Edit;
use config::db::query_by_ids;
use const_format::formatcp;
use objects::sql::{FLAGS_DISCOVERED, KIND_HOST};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};

/// Members of a host that are people's also where discovery made the host.
const OF_PEOPLE: &[&str] = &[
    "hostid",
    "hosts",
    "status",
    "description",
    "tags",
    "macros",
    "inventory",
    "templates",
    "templates_clear",
];

/// The first member of a change that users may not change on discovered objects.
pub(crate) fn foreign(change: &Json) -> Option<&str> {
    let mut names = change.as_object()?.keys().map(String::as_str);
    names.find(|name| !OF_PEOPLE.contains(name))
}

/// Refuses to change in a host made by discovery what is not people's.
pub(crate) fn refuse_update(edit: &mut Edit<'_>, id: u64, change: &Json) -> ApiResult<()> {
    let Some(field) = foreign(change) else { return Ok(()) };
    let Some(host) = names(edit, &[id])?.remove(&id) else { return Ok(()) };
    let host = change.get("host").and_then(Json::as_str).unwrap_or(&host);
    Err(ApiError::params(format!("Cannot update \"{field}\" for a discovered host \"{host}\".")))
}

/// The same for a call that changes this member of many hosts, listed at `path`.
pub(crate) fn refuse_mass(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    path: &str,
    field: Option<&str>,
) -> ApiResult<()> {
    let Some(field) = field else { return Ok(()) };
    let discovered = names(edit, hosts)?;
    match hosts.iter().position(|id| discovered.contains_key(id)) {
        None => Ok(()),
        Some(n) => Err(ApiError::at(
            &format!("{path}/{}", n + 1),
            format_args!("cannot update readonly parameter \"{field}\" of discovered object"),
        )),
    }
}

/// Refuses to `verb` interfaces of hosts made by discovery.
pub(crate) fn refuse_interfaces(edit: &mut Edit<'_>, hosts: &[u64], verb: &str) -> ApiResult<()> {
    match names(edit, hosts)?.first_key_value() {
        None => Ok(()),
        Some((_, host)) => Err(ApiError::params(format!(
            "Cannot {verb} interface for discovered host \"{host}\"."
        ))),
    }
}

/// Technical names of those of the hosts that discovery made.
pub(crate) fn names(edit: &mut Edit<'_>, hosts: &[u64]) -> ApiResult<BTreeMap<u64, String>> {
    let sql = formatcp!(
        "SELECT hostid, host FROM hosts WHERE kind = {KIND_HOST} AND flags = {FLAGS_DISCOVERED} AND hostid IN ({{ids}})"
    );
    let rows = query_by_ids(edit, sql, &[], hosts)?;
    Ok(rows.iter().map(|row| (row.id("hostid"), row.text("host").to_owned())).collect())
}
