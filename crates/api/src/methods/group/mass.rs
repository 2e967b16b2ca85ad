//! `massadd`, `massupdate`, `massremove` of groups: who is in them.

use config::db::query_by_ids;

use super::Kind;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::object::missing;
use crate::owned::{discovered, groups};
use crate::permission::Need;
use crate::write::{mass_object, nested_ids, required_ids, required_list};

pub(super) fn add(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    change(call, input, kind, false)
}

pub(super) fn update(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    change(call, input, kind, true)
}

fn change(call: &Call<'_>, input: &Json, kind: &Kind, replace: bool) -> ApiResult<Json> {
    let members = mass_object(input, &["groups", kind.list])?;
    let ids = required_ids(input, "", "groups", "groupid")?;
    let list = members.get(kind.list).ok_or_else(|| missing("/", kind.list))?;
    let list_path = format!("/{}", kind.list);
    let hosts = nested_ids(list, &list_path, kind.key)?;
    call.write(|edit| {
        call.require_at(edit, kind.groups, Need::Write, &ids, "/groups")?;
        call.require_at(edit, kind.members, Need::Write, &hosts, &list_path)?;
        discovered::refuse_mass(edit, &hosts, &list_path, Some("groups"))?;
        if replace {
            let now = query_by_ids(
                edit,
                "SELECT DISTINCT hostid FROM host_groups WHERE groupid IN ({ids})",
                &[],
                &ids,
            )?;
            let mut gone: Vec<u64> =
                now.iter().map(|row| row.id("hostid")).filter(|id| !hosts.contains(id)).collect();
            // What the user may not change stays where it is.
            let allowed = call.allowed(edit, kind.members, Need::Write, &gone)?;
            gone.retain(|id| allowed.contains(id));
            groups::remove(edit, &gone, &ids)?;
        }
        for host in &hosts {
            groups::add(edit, *host, &ids)?;
        }
        Ok(kind.object.result(&ids))
    })
}

pub(super) fn remove(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    mass_object(input, &["groupids", kind.ids])?;
    let ids = required_list(input, "groupids")?;
    let hosts = required_list(input, kind.ids)?;
    call.write(|edit| {
        call.require_at(edit, kind.groups, Need::Write, &ids, "/groupids")?;
        let path = format!("/{}", kind.ids);
        call.require_at(edit, kind.members, Need::Write, &hosts, &path)?;
        discovered::refuse_mass(edit, &hosts, &path, Some("groups"))?;
        groups::remove(edit, &hosts, &ids)?;
        Ok(kind.object.result(&ids))
    })
}
