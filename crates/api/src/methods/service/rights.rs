//! Who may read and change services: the role's lists and tags.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, query_by_ids};
use services::access::{Access, Need};

use super::links;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::plain::Draft;

/// What the role of the caller has.
pub(crate) fn access(call: &Call<'_>) -> Access {
    Access::of(&call.user().rules, call.user().kind)
}

/// What `get` needs, by its option `editable`.
pub(super) fn need(get: &Get<'_, '_>) -> Need {
    if get.flag("editable") { Need::Write } else { Need::Read }
}

/// Refuses services that the user does not see.
pub(super) fn must_see(call: &Call<'_>, edit: &mut Edit<'_>, ids: &BTreeSet<u64>) -> ApiResult<()> {
    let list = Vec::from_iter(ids.iter().copied());
    let rows = query_by_ids(
        edit,
        "SELECT serviceid FROM services WHERE serviceid IN ({ids})",
        &[],
        &list,
    )?;
    let seen = access(call).among(edit, Need::Read, &list)?;
    if rows.len() < ids.len() || seen.len() < ids.len() {
        return Err(ApiError::no_object());
    }
    Ok(())
}

/// The first of these services that the user may not change.
fn closed(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Option<u64>> {
    let open = access(call).among(edit, Need::Write, ids)?;
    Ok(ids.iter().copied().find(|id| !open.contains(id)))
}

fn name(edit: &mut Edit<'_>, id: u64) -> ApiResult<String> {
    let rows = edit.query("SELECT name FROM services WHERE serviceid = ?", &[id.into()])?;
    Ok(rows.first().map_or_else(String::new, |row| row.text("name").to_owned()))
}

fn refused(action: &str, name: &str, what: &str) -> ApiError {
    ApiError::application(format!(
        "Cannot {action} service \"{name}\": read-write access to the service {what}."
    ))
}

/// Refuses services, parents and children that the user does not see, and services that the user may not change.
pub(super) fn may_change(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    drafts: &[Draft<'_>],
    rows: &[Row],
) -> ApiResult<()> {
    let mut named: BTreeSet<u64> = rows.iter().map(|row| row.id("serviceid")).collect();
    for draft in drafts {
        for member in ["parents", "children"] {
            named.extend(links::ids(draft, member).into_iter().flatten());
        }
    }
    must_see(call, edit, &named)?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("serviceid")).collect();
    if let Some(id) = closed(call, edit, &ids)? {
        return Err(refused("update", &name(edit, id)?, "is required"));
    }
    Ok(())
}

/// Refuses to delete services that the user does not see or may not change.
pub(super) fn may_delete(call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let ids: BTreeSet<u64> = rows.iter().map(|row| row.id("serviceid")).collect();
    must_see(call, edit, &ids)?;
    match closed(call, edit, &Vec::from_iter(ids))? {
        Some(id) => Err(refused("delete", &name(edit, id)?, "is required")),
        None => Ok(()),
    }
}

/// Those of these services that the user may change now.
pub(super) fn open(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    ids: &BTreeSet<u64>,
) -> ApiResult<BTreeSet<u64>> {
    Ok(access(call).among(edit, Need::Write, &Vec::from_iter(ids.iter().copied()))?)
}

/// Refuses a change after which the user cannot change a service: a new one, or one that was `open` before.
pub(super) fn must_keep(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    new: &[u64],
    open_before: &BTreeSet<u64>,
) -> ApiResult<()> {
    if let Some(id) = closed(call, edit, new)? {
        return Err(refused("create", &name(edit, id)?, "is required"));
    }
    match closed(call, edit, &Vec::from_iter(open_before.iter().copied()))? {
        Some(id) => Err(refused("update", &name(edit, id)?, "must be retained")),
        None => Ok(()),
    }
}

/// Refuses to link services, or to end a link, between services of which the user may change neither.
pub(super) fn may_link(call: &Call<'_>, edit: &mut Edit<'_>, ids: &BTreeSet<u64>) -> ApiResult<()> {
    match closed(call, edit, &Vec::from_iter(ids.iter().copied()))? {
        Some(id) => Err(refused("update", &name(edit, id)?, "is required")),
        None => Ok(()),
    }
}
