//! `propagate`: rights and tag filters of groups for all groups below them in the tree.

use super::Kind;
use super::write::{copy_rights, copy_tag_filters};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::permission::Need;
use crate::write::{mass_object, required_ids};

pub(super) fn propagate(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    let known: &[&str] = if kind.number == 0 {
        &["groups", "permissions", "tag_filters"]
    } else {
        &["groups", "permissions"]
    };
    let members = mass_object(input, known)?;
    let ids = required_ids(input, "", "groups", "groupid")?;
    let (rights, filters) =
        (params::flag(members.get("permissions")), params::flag(members.get("tag_filters")));
    if !rights && !filters {
        return Err(ApiError::params(if kind.number == 0 {
            "At least one parameter \"permissions\" or \"tag_filters\" must be enabled."
        } else {
            "Parameter \"permissions\" must be enabled."
        }));
    }
    call.write(|edit| {
        call.require(edit, kind.groups, Need::Write, &ids)?;
        for id in &ids {
            let below = edit.query(
                "SELECT g.groupid FROM groups_ g JOIN groups_ top ON top.type = g.type \
                 WHERE top.groupid = ? AND SUBSTR(g.name, 1, LENGTH(top.name) + 1) = top.name || '/'",
                &[(*id).into()],
            )?;
            for row in below {
                let to = row.id("groupid");
                if rights {
                    copy_rights(edit, *id, to)?;
                }
                if filters {
                    copy_tag_filters(edit, *id, to)?;
                }
            }
        }
        Ok(kind.object.result(&ids))
    })
}
