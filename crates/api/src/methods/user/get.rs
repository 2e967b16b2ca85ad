//! `user.get`.

use config::db::query_by_ids;

use super::{USER, media};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get};
use crate::methods::{mediatype, role, usergroup};
use crate::relate::Relation;

/// What users see of others in their groups.
const SHARED: &[&str] = &["userid", "username", "name", "surname"];

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    for option in ["filter", "search"] {
        if input.get(option).is_some_and(|members| members.get("passwd").is_some()) {
            return Err(ApiError::params(format!(
                "It is not possible to {option} by user password."
            )));
        }
    }
    let mut get = Get::new(call, input, &USER, &[])?;
    get.by_ids("userids", "t.userid IN ({ids})")?;
    get.by_ids(
        "usrgrpids",
        "t.userid IN (SELECT userid FROM user_groups WHERE usrgrpid IN ({ids}))",
    )?;
    for (option, condition) in [
        ("mediaids", "t.userid IN (SELECT userid FROM media WHERE mediaid IN ({ids}))"),
        ("mediatypeids", "t.userid IN (SELECT userid FROM media WHERE mediatypeid IN ({ids}))"),
    ] {
        get.by_ids(option, condition)?;
    }
    let me = call.user().id;
    if !call.is_super_admin() {
        if get.flag("editable") {
            get.and("t.userid = ?", [me.into()]);
        } else {
            get.and(
                "(t.userid = ? OR t.userid IN (SELECT other.userid FROM user_groups other \
                   JOIN user_groups own ON own.usrgrpid = other.usrgrpid WHERE own.userid = ?))",
                [me.into(), me.into()],
            );
        }
    }
    get.need(&["userdirectoryid", "roleid"]);
    let mut found = get.run()?;
    if found.output.has("provisioned") {
        for row in &mut found.rows {
            let provisioned = u8::from(row.row.id("userdirectoryid") != 0);
            row.out.insert("provisioned", provisioned.to_string().into());
        }
    }
    if input.get("getAccess").is_some_and(|value| !value.is_null()) {
        attach_access(&mut found)?;
    }
    attach(&mut found)?;
    if !call.is_super_admin() {
        hide(&mut found, me);
    }
    Ok(found.finish())
}

/// Of others only names go out, and of oneself nothing about directories.
fn hide(found: &mut Found<'_, '_>, me: u64) {
    for row in &mut found.rows {
        if row.id == me {
            row.out.retain(|name| name != "userdirectoryid" && name != "ts_provisioned");
        } else {
            row.out.retain(|name| SHARED.contains(&name) || name == "usrgrps");
        }
    }
}

/// What the groups of a user allow, the strictest of each.
fn attach_access(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let ids = found.ids();
    let rows = found.call.read(|c| {
        let sql = "SELECT ug.userid, g.gui_access, g.debug_mode, g.users_status FROM user_groups ug \
                   JOIN usergroups g ON g.usrgrpid = ug.usrgrpid WHERE ug.userid IN ({ids})";
        Ok(query_by_ids(c, sql, &[], &ids)?)
    })?;
    for row in &mut found.rows {
        for name in ["gui_access", "debug_mode", "users_status"] {
            let own = rows.iter().filter(|group| group.id("userid") == row.id);
            let value = own.map(|group| group.int(name)).max().unwrap_or(0);
            row.out.insert(name.to_owned(), value.to_string().into());
        }
    }
    Ok(())
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if let Some(wanted) = found.wants_uncounted("selectUsrgrps")? {
        let pairs = found.call.pairs(
            "SELECT userid, usrgrpid FROM user_groups WHERE userid IN ({ids}) ORDER BY usrgrpid",
            &found.ids(),
        )?;
        let relation = Relation::new("usrgrps", &usergroup::USER_GROUP);
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectRole")? {
        let pairs: Vec<(u64, u64)> =
            found.rows.iter().map(|row| (row.id, row.row.id("roleid"))).collect();
        let relation = Relation::new("role", &role::ROLE);
        found.relate_one(&relation, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectMedias")? {
        media::show(found, &wanted)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectMediatypes")? {
        let pairs = found.call.pairs(
            "SELECT userid, mediatypeid FROM media WHERE userid IN ({ids}) \
             ORDER BY userid, mediatypeid",
            &found.ids(),
        )?;
        let relation = Relation::new("mediatypes", &mediatype::MEDIA_TYPE);
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    Ok(())
}
