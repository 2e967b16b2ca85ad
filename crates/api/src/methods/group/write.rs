//! `create`, `update`, `delete` of groups.

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::objects::new_uuid;

use super::Kind;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::maintenance::Members;
use crate::object::{Mode, taken};
use crate::params;
use crate::permission::Need;
use crate::write::check_uuid;

pub(super) fn create(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    let mut names: Vec<String> = Vec::new();
    let mut groups = Vec::new();
    for (path, object) in params::objects(input)? {
        let mut columns = kind.object.validate(object, &path, Mode::Create)?;
        let name = params::text(&object["name"], &path)?;
        check_name(&name, &path, kind)?;
        if names.contains(&name) {
            return Err(taken(&path, "name", name));
        }
        match object.get("uuid") {
            Some(uuid) => {
                let uuid_path = format!("{path}/uuid");
                check_uuid(&params::text(uuid, &uuid_path)?, &uuid_path)?;
            }
            None => columns.push(("uuid", new_uuid()?.into())),
        }
        columns.push(("type", kind.number.into()));
        names.push(name.clone());
        groups.push((name, columns));
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for (name, columns) in &groups {
            check_free(edit, name, 0, kind)?;
            let id = edit.insert_new("groups_", columns)?;
            inherit_rights(edit, id, name, kind)?;
            ids.push(id);
        }
        Ok(kind.object.result(&ids))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    let updates = kind.object.updates(input)?;
    let mut names: Vec<String> = Vec::new();
    let mut changes = Vec::new();
    for (path, id, object) in &updates {
        let columns = kind.object.validate(object, path, Mode::Update)?;
        let name = object.get("name").map(|name| params::text(name, path)).transpose()?;
        if let Some(name) = &name {
            check_name(name, path, kind)?;
            if names.contains(name) {
                return Err(taken(path, "name", name));
            }
            names.push(name.clone());
        }
        changes.push((*id, name, columns));
    }
    let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
    call.write(|edit| {
        call.require(edit, kind.groups, Need::Write, &ids)?;
        for (id, name, columns) in &changes {
            if let Some(name) = name {
                let now = edit
                    .query("SELECT name, flags FROM groups_ WHERE groupid = ?", &[(*id).into()])?;
                if now.iter().any(|row| row.int("flags") == 4 && row.text("name") != name) {
                    let now = now[0].text("name");
                    let text = format!("Cannot update a discovered {} \"{now}\".", kind.words);
                    return Err(ApiError::params(text));
                }
                check_free(edit, name, *id, kind)?;
            }
            edit.update("groups_", *id, columns)?;
        }
        Ok(kind.object.result(&ids))
    })
}

pub(super) fn delete(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        call.require(edit, kind.groups, Need::Write, &ids)?;
        refuse_used(edit, &ids)?;
        let members = query_by_ids(
            edit.connection(),
            "SELECT DISTINCT hostid FROM host_groups WHERE groupid IN ({ids})",
            &[],
            &ids,
        )?;
        let members: Vec<u64> = members.iter().map(|row| row.id("hostid")).collect();
        let maintained = Members::groups(edit, &ids)?;
        edit.delete("groups_", "groupid", &ids)?;
        maintained.refuse_emptied(edit)?;
        crate::owned::groups::check_not_bare(edit, &members)?;
        Ok(kind.object.result(&ids))
    })
}

/// Groups that host prototypes put their hosts into stay.
fn refuse_used(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let sql = "SELECT g.name FROM groups_ g JOIN group_prototypes p ON p.groupid = g.groupid \
               WHERE g.groupid IN ({ids})";
    let rows = query_by_ids(edit.connection(), sql, &[], ids)?;
    rows.first().map_or(Ok(()), |row| {
        Err(ApiError::params(format!(
            "Group \"{}\" cannot be deleted, because it is used by a host prototype.",
            row.text("name")
        )))
    })
}

/// Parts between `/` may not be empty.
fn check_name(name: &str, path: &str, kind: &Kind) -> ApiResult<()> {
    if name.split('/').any(str::is_empty) {
        let text = format!("invalid {} name", kind.words);
        return Err(ApiError::at(&format!("{path}/name"), text));
    }
    Ok(())
}

fn check_free(edit: &mut Edit<'_>, name: &str, own: u64, kind: &Kind) -> ApiResult<()> {
    let same = edit.query(
        "SELECT groupid FROM groups_ WHERE type = ? AND name = ? AND groupid <> ?",
        &[kind.number.into(), name.into(), own.into()],
    )?;
    if same.is_empty() {
        return Ok(());
    }
    let who = if kind.number == 0 { "Host group" } else { "Template group" };
    Err(ApiError::params(format!("{who} \"{name}\" already exists.")))
}

/// A new group starts with the rights and tag filters of the nearest group above it in the tree.
fn inherit_rights(edit: &mut Edit<'_>, id: u64, name: &str, kind: &Kind) -> ApiResult<()> {
    let mut above = name;
    while let Some((parent, _)) = above.rsplit_once('/') {
        above = parent;
        let rows = edit.query(
            "SELECT groupid FROM groups_ WHERE type = ? AND name = ?",
            &[kind.number.into(), parent.into()],
        )?;
        let Some(row) = rows.first() else { continue };
        return copy_rights(edit, row.id("groupid"), id)
            .and_then(|()| copy_tag_filters(edit, row.id("groupid"), id));
    }
    Ok(())
}

/// Gives all user groups the rights on `to` that they have on `from`.
pub(super) fn copy_rights(edit: &mut Edit<'_>, from: u64, to: u64) -> ApiResult<()> {
    edit.delete("group_rights", "groupid", &[to])?;
    let sql = "SELECT usrgrpid, permission FROM group_rights WHERE groupid = ?";
    let rows = edit.query(sql, &[from.into()])?;
    let right =
        |row: &Row| vec![row.id("usrgrpid").into(), to.into(), row.int("permission").into()];
    let rights: Vec<Vec<Value>> = rows.iter().map(right).collect();
    Ok(edit.insert_many("group_rights", &["usrgrpid", "groupid", "permission"], &rights)?)
}

/// Gives all user groups the tag filters on `to` that they have on `from`.
pub(super) fn copy_tag_filters(edit: &mut Edit<'_>, from: u64, to: u64) -> ApiResult<()> {
    edit.delete("tag_filters", "groupid", &[to])?;
    let filters = edit
        .query("SELECT usrgrpid, tag, value FROM tag_filters WHERE groupid = ?", &[from.into()])?;
    for row in filters {
        let columns: Vec<(&str, Value)> = vec![
            ("usrgrpid", row.id("usrgrpid").into()),
            ("groupid", to.into()),
            ("tag", row.text("tag").into()),
            ("value", row.text("value").into()),
        ];
        edit.insert_new("tag_filters", &columns)?;
    }
    Ok(())
}
