//! Links of hosts and templates to templates.

use std::collections::BTreeSet;

use config::Edit;
use config::db::query_by_ids;
use config::link::{LinkError, link_templates, unlink_templates};
use config::objects::Deleted;

use crate::error::{ApiError, ApiResult};

impl From<LinkError> for ApiError {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Conflict(text) => Self::params(text),
            LinkError::Db(error) => error.into(),
        }
    }
}

/// Templates linked to a host or template.
pub(crate) fn of(edit: &mut Edit<'_>, hostid: u64) -> ApiResult<Vec<u64>> {
    let rows = edit.query(
        "SELECT templateid FROM host_templates WHERE hostid = ? ORDER BY templateid",
        &[hostid.into()],
    )?;
    Ok(rows.iter().map(|row| row.id("templateid")).collect())
}

/// Links further templates to a host or template; those linked already stay.
pub(crate) fn add(edit: &mut Edit<'_>, hostid: u64, templates: &[u64]) -> ApiResult<()> {
    Ok(link_templates(edit, &[hostid], templates)?)
}

/// Links templates to many hosts at once; those linked already stay.
pub(crate) fn add_all(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> ApiResult<()> {
    link_templates(edit, hosts, templates)?;
    Ok(())
}

/// Unlinks templates; what came from them stays, or goes with `clear`: then it is returned.
pub(crate) fn remove(
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: &[u64],
    clear: bool,
) -> ApiResult<Deleted> {
    let now = of(edit, hostid)?;
    let gone: Vec<u64> = templates.iter().copied().filter(|id| now.contains(id)).collect();
    Ok(unlink_templates(edit, &[hostid], &gone, clear)?)
}

/// Makes `templates` the linked ones. Of those that go, what came from `clear` is deleted and
/// returned.
pub(crate) fn replace(
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: Option<&[u64]>,
    clear: &[u64],
) -> ApiResult<Deleted> {
    let deleted = remove(edit, hostid, clear, true)?;
    if let Some(templates) = templates {
        let now = of(edit, hostid)?;
        let gone: Vec<u64> = now.into_iter().filter(|id| !templates.contains(id)).collect();
        remove(edit, hostid, &gone, false)?;
        add(edit, hostid, templates)?;
    }
    Ok(deleted)
}

/// What is linked to these, directly or further below, themselves included.
pub(crate) fn with_children(edit: &mut Edit<'_>, templates: &[u64]) -> ApiResult<BTreeSet<u64>> {
    let mut all: BTreeSet<u64> = templates.iter().copied().collect();
    let mut next: Vec<u64> = templates.to_vec();
    while !next.is_empty() {
        let rows = query_by_ids(
            edit.connection(),
            "SELECT hostid FROM host_templates WHERE templateid IN ({ids})",
            &[],
            &next,
        )?;
        next = rows.iter().map(|row| row.id("hostid")).filter(|id| all.insert(*id)).collect();
    }
    Ok(all)
}

/// Hosts and templates are to be read again with all that inherits from them.
pub(crate) fn touch(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    for id in with_children(edit, ids)? {
        edit.touch_host(id);
    }
    Ok(())
}
