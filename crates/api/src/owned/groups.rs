//! Groups of hosts and templates.

use config::Edit;
use config::db::{id_params, query_by_ids};
use config::table;
use objects::HostKind;

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::permission::Need;
use crate::write::Target;

/// Makes `groups` the groups of a host or template. Groups that the user may not change stay as
/// they are, unless the user names them too.
pub(crate) fn replace(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    target: Target,
    hostid: u64,
    groups: &[u64],
    path: &str,
) -> ApiResult<()> {
    let now = of(edit, hostid)?;
    let added: Vec<u64> = groups.iter().copied().filter(|id| !now.contains(id)).collect();
    let allowed = call.allowed(edit, target, Need::Write, &added)?;
    if let Some(n) = groups.iter().position(|id| added.contains(id) && !allowed.contains(id)) {
        return Err(crate::write::no_object_at(&format!("{path}/{}", n + 1)));
    }
    let gone: Vec<u64> = now.iter().copied().filter(|id| !groups.contains(id)).collect();
    let may_go = call.allowed(edit, target, Need::Write, &gone)?;
    let gone = id_params(gone.into_iter().filter(|id| may_go.contains(id)));
    edit.delete_rows(&table::HOST_GROUPS, &[("hostid", &[hostid.into()]), ("groupid", &gone)])?;
    insert(edit, hostid, &added)
}

/// Adds groups; those that are there already stay.
pub(crate) fn add(edit: &mut Edit<'_>, hostid: u64, groups: &[u64]) -> ApiResult<()> {
    let now = of(edit, hostid)?;
    let added: Vec<u64> = groups.iter().copied().filter(|id| !now.contains(id)).collect();
    insert(edit, hostid, &added)
}

/// Removes groups; a host or template keeps at least one.
pub(crate) fn remove(edit: &mut Edit<'_>, hosts: &[u64], groups: &[u64]) -> ApiResult<()> {
    let groups = id_params(groups.iter().copied());
    for portion in hosts.chunks(5_000) {
        let hosts = id_params(portion.iter().copied());
        edit.delete_rows(&table::HOST_GROUPS, &[("hostid", &hosts), ("groupid", &groups)])?;
    }
    check_not_bare(edit, hosts)
}

/// Refuses when one of the hosts or templates has no group left.
pub(crate) fn check_not_bare(edit: &mut Edit<'_>, hosts: &[u64]) -> ApiResult<()> {
    let rows = query_by_ids(
        edit,
        "SELECT h.host, h.kind FROM hosts h WHERE NOT EXISTS \
           (SELECT 1 FROM host_groups hg WHERE hg.hostid = h.hostid) AND h.hostid IN ({ids}) \
         ORDER BY h.hostid",
        &[],
        hosts,
    )?;
    match rows.first() {
        None => Ok(()),
        Some(row) => {
            let (who, what) = if HostKind::Template.is(row.int("kind")) {
                ("Template", "template group")
            } else {
                ("Host", "host group")
            };
            let host = row.text("host");
            Err(ApiError::params(format!("{who} \"{host}\" cannot be without {what}.")))
        }
    }
}

/// Group ids of a host or template.
pub(crate) fn of(edit: &mut Edit<'_>, hostid: u64) -> ApiResult<Vec<u64>> {
    let rows = edit.query(
        "SELECT groupid FROM host_groups WHERE hostid = ? ORDER BY groupid",
        &[hostid.into()],
    )?;
    Ok(rows.iter().map(|row| row.id("groupid")).collect())
}

fn insert(edit: &mut Edit<'_>, hostid: u64, groups: &[u64]) -> ApiResult<()> {
    for group in groups {
        edit.insert(
            &table::HOST_GROUPS,
            &[("hostid", hostid.into()), ("groupid", (*group).into())],
        )?;
    }
    Ok(())
}
