//! Users and user groups that a dashboard is shared with.

use std::collections::{BTreeMap, BTreeSet};

use config::db::Row;
use serde_json::Map;

use super::fields::{USER_GROUPS, USERS};
use super::references::not_available;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::found::Found;
use crate::get::Output;
use crate::methods::{user, usergroup};
use crate::object::{Columns, Object};
use crate::plain::{Draft, number};

/// Those of these objects that the user sees.
fn seen(call: &Call<'_>, object: &Object, ids: &[u64]) -> ApiResult<BTreeSet<u64>> {
    let found = call.get_keyed(object, ids, &Output::Fields(vec![object.key.to_owned()]))?;
    Ok(found.keys().filter_map(|id| id.parse().ok()).collect())
}

/// Refuses users that the caller does not see.
pub(super) fn check_users(call: &Call<'_>, ids: &[u64]) -> ApiResult<()> {
    let ids: Vec<u64> = ids.iter().copied().filter(|id| *id != call.user().id).collect();
    check_seen(call, &user::USER, "User", &ids)
}

fn check_seen(call: &Call<'_>, object: &Object, name: &str, ids: &[u64]) -> ApiResult<()> {
    let seen = seen(call, object, ids)?;
    match ids.iter().find(|id| !seen.contains(id)) {
        Some(id) => Err(not_available(name, *id)),
        None => Ok(()),
    }
}

/// Refuses to share a dashboard with users and groups that the caller does not see.
pub(super) fn check(call: &Call<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    let ids = |list: usize, key: &str| -> Vec<u64> {
        let rows = draft.children.get(list).and_then(Option::as_ref).into_iter().flatten();
        rows.map(|row: &Columns| u64::try_from(number(row, key)).unwrap_or(0)).collect()
    };
    check_users(call, &ids(USERS, "userid"))?;
    check_seen(call, &usergroup::USER_GROUP, "User group", &ids(USER_GROUPS, "usrgrpid"))
}

/// `selectUsers` and `selectUserGroups`: those that the caller sees.
pub(super) fn show(found: &mut Found<'_, '_>) -> ApiResult<()> {
    for (option, member, object, table, id) in [
        ("selectUsers", "users", &user::USER, "dashboard_users", "dashboard_userid"),
        (
            "selectUserGroups",
            "userGroups",
            &usergroup::USER_GROUP,
            "dashboard_user_groups",
            "dashboard_usrgrpid",
        ),
    ] {
        let Some(wanted) = found.wants_list(option)? else { continue };
        wanted.only(option, &[object.key, "permission"])?;
        let sql = format!("SELECT * FROM {table} WHERE dashboardid IN ({{ids}})");
        let mut rows = found.call.rows_by_ids(&sql, &found.ids())?;
        rows.sort_by_key(|row| row.id(id));
        let ids: BTreeSet<u64> = rows.iter().map(|row| row.id(object.key)).collect();
        let seen = seen(found.call, object, &Vec::from_iter(ids))?;
        let mut shown: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
        for row in rows.iter().filter(|row| seen.contains(&row.id(object.key))) {
            let list = shown.entry(row.id("dashboardid")).or_default();
            list.push(share(row, object.key, &wanted));
        }
        for row in &mut found.rows {
            row.out.insert(member, shown.remove(&row.id).unwrap_or_default().into());
        }
    }
    Ok(())
}

fn share(row: &Row, key: &str, wanted: &Output) -> Json {
    let names = [key, "permission"].into_iter().filter(|name| wanted.has(name));
    let members: Map<String, Json> =
        names.map(|name| (name.to_owned(), row.id(name).to_string().into())).collect();
    Json::Object(members)
}
