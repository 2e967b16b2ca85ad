//! Groups of a directory, each with a role and user groups: one row for each user group.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::table;
use serde_json::{Map, json};

use crate::call::Json;
use crate::directory::provision::{MappedGroup, groups_of};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Output;
use crate::object::{missing, taken};
use crate::params;
use crate::plain::Draft;
use crate::relate::wanted_of;
use crate::write::{names, nested, only, required_ids};

/// Fields that `selectProvisionGroups` shows.
pub(super) const FIELDS: &[&str] = &["name", "roleid", "user_groups"];

/// Characters of a name.
const NAME_MAX: usize = 255;

/// The groups that are given; `None` = none are.
pub(super) fn parse(draft: &Draft<'_>) -> ApiResult<Option<Vec<MappedGroup>>> {
    let list = draft.input.get("provision_groups");
    list.map(|list| parse_list(list, &format!("{}/provision_groups", draft.path))).transpose()
}

pub(super) fn parse_list(list: &Json, path: &str) -> ApiResult<Vec<MappedGroup>> {
    let mut seen = BTreeSet::new();
    let mut groups = Vec::new();
    for (path, members) in nested(list, path)? {
        let group = parse_one(members, &path)?;
        if !seen.insert(group.name.clone()) {
            return Err(taken(&path, "name", group.name));
        }
        groups.push(group);
    }
    Ok(groups)
}

fn parse_one(members: &Map<String, Json>, path: &str) -> ApiResult<MappedGroup> {
    only(members, path, FIELDS)?;
    let given = |name: &str| members.get(name).ok_or_else(|| missing(path, name));
    let name = params::text(given("name")?, &format!("{path}/name"))?;
    match name.chars().count() {
        0 => return Err(ApiError::at(&format!("{path}/name"), "cannot be empty")),
        1..=NAME_MAX => {}
        _ => return Err(ApiError::at(&format!("{path}/name"), "value is too long")),
    }
    let roleid = params::id(given("roleid")?, &format!("{path}/roleid"))?;
    let group = Json::Object(members.clone());
    let usrgrpids = required_ids(&group, path, "user_groups", "usrgrpid")?;
    Ok(MappedGroup { name, roleid, usrgrpids })
}

/// Stores the groups that are given; a directory that does not provision has none.
pub(super) fn write(edit: &mut Edit<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    let is_off =
        draft.gives("provision_status") && draft.value("provision_status", None).as_int() == 0;
    let groups = match parse(draft)? {
        Some(groups) => groups,
        None if is_off => Vec::new(),
        None => return Ok(()),
    };
    check(edit, &groups, &format!("{}/provision_groups", draft.path))?;
    let sql = "SELECT position, name, roleid, usrgrpid FROM userdirectory_groups \
               WHERE userdirectoryid = ? ORDER BY position, usrgrpid";
    let sorted = |mut group: MappedGroup| {
        group.usrgrpids.sort_unstable();
        group
    };
    let groups: Vec<MappedGroup> = groups.into_iter().map(sorted).collect();
    if groups_of(&edit.query(sql, &[draft.id.into()])?) == groups {
        return Ok(());
    }
    edit.delete(&table::USERDIRECTORY_GROUPS, "userdirectoryid", &[draft.id])?;
    for (position, group) in (0_i64..).zip(&groups) {
        for usrgrpid in &group.usrgrpids {
            let row = [
                ("userdirectoryid", Value::from(draft.id)),
                ("position", position.into()),
                ("name", group.name.as_str().into()),
                ("roleid", group.roleid.into()),
                ("usrgrpid", (*usrgrpid).into()),
            ];
            edit.insert(&table::USERDIRECTORY_GROUPS, &row)?;
        }
    }
    Ok(())
}

/// Refuses roles and user groups that do not exist.
fn check(edit: &mut Edit<'_>, groups: &[MappedGroup], path: &str) -> ApiResult<()> {
    let roleids: Vec<u64> = groups.iter().map(|group| group.roleid).collect();
    let roles = names(edit, "roles", "roleid", "name", &roleids)?;
    if let Some(n) = roleids.iter().position(|id| !roles.contains_key(id)) {
        return Err(ApiError::at(&format!("{path}/{}/roleid", n + 1), "object does not exist"));
    }
    let all: Vec<u64> = groups.iter().flat_map(|group| group.usrgrpids.iter().copied()).collect();
    let known = names(edit, "usergroups", "usrgrpid", "name", &all)?;
    for (n, group) in groups.iter().enumerate() {
        if let Some(m) = group.usrgrpids.iter().position(|id| !known.contains_key(id)) {
            let path = format!("{path}/{}/user_groups/{}", n + 1, m + 1);
            return Err(ApiError::at(&path, "object does not exist"));
        }
    }
    Ok(())
}

/// What `selectProvisionGroups` asks for.
pub(super) fn wanted(input: &Json) -> ApiResult<Option<Output>> {
    const OPTION: &str = "selectProvisionGroups";
    match input.get(OPTION) {
        Some(Json::String(text)) if text != "extend" => {
            Err(ApiError::at(&format!("/{OPTION}"), "value must be \"extend\""))
        }
        _ => wanted_of(input, OPTION, FIELDS),
    }
}

/// Adds the groups to directories.
pub(super) fn show(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = wanted(found.params)? else { return Ok(()) };
    let sql = "SELECT userdirectoryid, position, name, roleid, usrgrpid FROM userdirectory_groups \
               WHERE userdirectoryid IN ({ids}) ORDER BY userdirectoryid, position, usrgrpid";
    let ids = found.ids();
    let rows = found.call.read(|reader| Ok(query_by_ids(reader, sql, &[], &ids)?))?;
    let mut of_directory: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in rows {
        of_directory.entry(row.id("userdirectoryid")).or_default().push(row);
    }
    for row in &mut found.rows {
        let rows = of_directory.remove(&row.id).unwrap_or_default();
        let groups = groups_of(&rows);
        let list: Json = groups
            .iter()
            .map(|group| {
                let mut shown = shown(group);
                shown.retain(|name, _| wanted.has(name));
                Json::Object(shown)
            })
            .collect();
        row.out.insert("provision_groups", list);
    }
    Ok(())
}

fn shown(group: &MappedGroup) -> Map<String, Json> {
    let user_groups: Json =
        group.usrgrpids.iter().map(|id| json!({ "usrgrpid": id.to_string() })).collect();
    let all = [
        ("name", group.name.as_str().into()),
        ("roleid", group.roleid.to_string().into()),
        ("user_groups", user_groups),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
