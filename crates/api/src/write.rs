//! What writing methods share: nested lists, existence and rights of what they refer to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::Edit;
use config::db::{Reader, Row, query_by_ids};
use const_format::formatcp;
use objects::sql::{KIND_HOST, KIND_OWNERS, KIND_TEMPLATE};
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::permission::{Need, and, on_groups, on_hosts};

/// A nested list of objects with their paths: an array of objects, or one object alone.
pub(crate) fn nested<'j>(
    value: &'j Json,
    path: &str,
) -> ApiResult<Vec<(String, &'j Map<String, Json>)>> {
    let values: Vec<&Json> = match value {
        Json::Array(values) => values.iter().collect(),
        Json::Object(members) if members.is_empty() => Vec::new(),
        // PHP makes no difference between lists and maps, and clients rely on it: `{"0": {…}}`.
        Json::Object(members) if members.values().all(Json::is_object) => {
            members.values().collect()
        }
        one @ Json::Object(_) => vec![one],
        _ => return Err(ApiError::at(path, "an array is expected")),
    };
    let numbered = values.into_iter().enumerate();
    numbered
        .map(|(n, value)| {
            let path = format!("{path}/{}", n + 1);
            match value {
                Json::Object(members) => Ok((path, members)),
                _ => Err(ApiError::at(&path, "an array is expected")),
            }
        })
        .collect()
}

/// Refuses members that are not `known`.
pub(crate) fn only(members: &Map<String, Json>, path: &str, known: &[&str]) -> ApiResult<()> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(ApiError::at(path, format_args!("unexpected parameter \"{name}\""))),
        None => Ok(()),
    }
}

/// Ids from a nested list of `{key: id}`; none may come twice.
pub(crate) fn nested_ids(value: &Json, path: &str, key: &str) -> ApiResult<Vec<u64>> {
    let (mut ids, mut seen) = (Vec::new(), BTreeSet::new());
    for (path, members) in nested(value, path)? {
        only(members, &path, &[key])?;
        let id = members.get(key).ok_or_else(|| missing(&path, key))?;
        let id = params::id(id, &format!("{path}/{key}"))?;
        if !seen.insert(id) {
            return Err(taken(&path, key, id));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// The same for a member that must be there and hold something.
pub(crate) fn required_ids(input: &Json, path: &str, name: &str, key: &str) -> ApiResult<Vec<u64>> {
    let value = input.get(name).ok_or_else(|| missing(path, name))?;
    let path = format!("{path}/{name}");
    let ids = nested_ids(value, &path, key)?;
    if ids.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    Ok(ids)
}

/// Ids from a plain list (`hostids: ["1", "2"]`) that must be there and hold something.
pub(crate) fn required_list(input: &Json, name: &str) -> ApiResult<Vec<u64>> {
    let ids = params::ids(input, name)?.ok_or_else(|| missing("/", name))?;
    if ids.is_empty() {
        return Err(ApiError::at(&format!("/{name}"), "cannot be empty"));
    }
    let mut seen = BTreeSet::new();
    for (n, id) in ids.iter().enumerate() {
        if !seen.insert(id) {
            return Err(ApiError::at(
                &format!("/{name}/{}", n + 1),
                format_args!("value ({id}) already exists"),
            ));
        }
    }
    Ok(ids)
}

/// The object of a mass call.
pub(crate) fn mass_object<'j>(input: &'j Json, known: &[&str]) -> ApiResult<&'j Map<String, Json>> {
    let Json::Object(members) = input else {
        return match input {
            Json::Array(values) if values.is_empty() => {
                Err(missing("/", known.first().copied().unwrap_or_default()))
            }
            _ => Err(ApiError::at("/", "an object is expected")),
        };
    };
    only(members, "/", known)?;
    Ok(members)
}

/// What a call refers to by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Hosts.
    Host,
    /// Templates.
    Template,
    /// Hosts and templates.
    HostOrTemplate,
    /// Host groups.
    HostGroup,
    /// Template groups.
    TemplateGroup,
}

impl Call<'_> {
    /// Those of the ids that exist and on which this user has the right.
    pub(crate) fn allowed(
        &self,
        connection: &mut dyn Reader,
        target: Target,
        need: Need,
        ids: &[u64],
    ) -> ApiResult<BTreeSet<u64>> {
        let hosts = |kind: &str| {
            let right = on_hosts(self.user(), need, "hostid");
            format!("SELECT hostid AS id FROM hosts WHERE {kind}{}", and(right))
        };
        let groups = |kind: u8| {
            let right = on_groups(self.user(), need, "groupid");
            format!("SELECT groupid AS id FROM groups_ WHERE type = {kind}{}", and(right))
        };
        let (mut sql, key) = match target {
            Target::Host => (hosts(formatcp!("kind = {KIND_HOST}")), "hostid"),
            Target::Template => (hosts(formatcp!("kind = {KIND_TEMPLATE}")), "hostid"),
            Target::HostOrTemplate => (hosts(formatcp!("kind IN {KIND_OWNERS}")), "hostid"),
            Target::HostGroup => (groups(0), "groupid"),
            Target::TemplateGroup => (groups(1), "groupid"),
        };
        sql += &format!(" AND {key} IN ({{ids}})");
        let rows = query_by_ids(connection, &sql, &[], ids)?;
        Ok(rows.iter().map(|row| row.id("id")).collect())
    }

    /// Refuses unless all ids exist and this user has the right on them.
    pub(crate) fn require(
        &self,
        edit: &mut Edit<'_>,
        target: Target,
        need: Need,
        ids: &[u64],
    ) -> ApiResult<()> {
        let allowed = self.allowed(edit, target, need, ids)?;
        if ids.iter().all(|id| allowed.contains(id)) { Ok(()) } else { Err(ApiError::no_object()) }
    }

    /// The same, telling which element of the list at `path` it is.
    pub(crate) fn require_at(
        &self,
        edit: &mut Edit<'_>,
        target: Target,
        need: Need,
        ids: &[u64],
        path: &str,
    ) -> ApiResult<()> {
        let allowed = self.allowed(edit, target, need, ids)?;
        match ids.iter().position(|id| !allowed.contains(id)) {
            None => Ok(()),
            Some(n) => Err(no_object_at(&format!("{path}/{}", n + 1))),
        }
    }
}

/// What a parameter refers to is not there, or not for this user.
pub(crate) fn no_object_at(path: &str) -> ApiError {
    ApiError::application(format!(
        "Invalid parameter \"{path}\": object does not exist, or you have no permissions to it."
    ))
}

/// A text column of rows by id, for error texts.
pub(crate) fn names(
    edit: &mut Edit<'_>,
    table: &str,
    key: &str,
    column: &str,
    ids: &[u64],
) -> ApiResult<BTreeMap<u64, String>> {
    let sql = format!("SELECT {key} AS id, {column} AS name FROM {table} WHERE {key} IN ({{ids}})");
    let rows = query_by_ids(edit, &sql, &[], ids)?;
    Ok(rows.iter().map(|row| (row.id("id"), row.text("name").to_owned())).collect())
}

/// What a SELECT finds of these ids, in their order; all must be there.
pub(crate) fn rows_of(
    edit: &mut Edit<'_>,
    sql: &str,
    key: &str,
    ids: &[u64],
) -> ApiResult<Vec<Row>> {
    let rows = query_by_ids(edit, sql, &[], ids)?;
    let mut rows: HashMap<u64, Row> = rows.into_iter().map(|row| (row.id(key), row)).collect();
    ids.iter().map(|id| rows.remove(id).ok_or_else(ApiError::no_object)).collect()
}

/// A UUID that a client gives.
pub(crate) fn check_uuid(uuid: &str, path: &str) -> ApiResult<()> {
    if uuid.len() != 32 {
        return Err(ApiError::at(path, "must be 32 characters long"));
    }
    let bytes = uuid.as_bytes();
    let version_4 =
        bytes[12] == b'4' && matches!(bytes[16], b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    if !version_4 || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return Err(ApiError::at(path, "UUIDv4 is expected"));
    }
    Ok(())
}
