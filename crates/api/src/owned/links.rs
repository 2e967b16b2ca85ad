//! Links of hosts and templates to templates.

use config::Edit;
use config::link::{LinkError, link_templates, touch_hosts_below, unlink_templates};
use config::objects::Deleted;

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::permission::Need;
use crate::write::Target;

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

/// Linked templates that the user may not read. An update keeps them: nobody means to unlink what
/// he does not see.
pub(crate) fn hidden(call: &Call<'_>, edit: &mut Edit<'_>, hostid: u64) -> ApiResult<Vec<u64>> {
    let mut now = of(edit, hostid)?;
    let seen = call.allowed(edit.connection(), Target::Template, Need::Read, &now)?;
    now.retain(|id| !seen.contains(id));
    Ok(now)
}

/// Links further templates to hosts or templates; those linked already stay.
pub(crate) fn add(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> ApiResult<()> {
    Ok(link_templates(edit, hosts, templates)?)
}

/// Unlinks templates; what came from them stays, or goes with `clear`: then it is returned.
pub(crate) fn remove(
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
    clear: bool,
) -> ApiResult<Deleted> {
    Ok(unlink_templates(edit, hosts, templates, clear)?)
}

/// Makes `templates` the linked ones, beside those that discovery has linked and those that the
/// user does not see. Of those that go, what came from `clear` is deleted and returned.
pub(crate) fn replace(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: Option<&[u64]>,
    clear: &[u64],
) -> ApiResult<Deleted> {
    let deleted = remove(edit, &[hostid], clear, true)?;
    if let Some(templates) = templates {
        let sql = "SELECT templateid FROM host_templates WHERE link_type = 0 AND hostid = ?";
        let now = edit.query(sql, &[hostid.into()])?;
        let now = now.iter().map(|row| row.id("templateid"));
        let kept = [templates, &hidden(call, edit, hostid)?].concat();
        let gone: Vec<u64> = now.filter(|id| !kept.contains(id)).collect();
        remove(edit, &[hostid], &gone, false)?;
        add(edit, &[hostid], templates)?;
    }
    Ok(deleted)
}

/// Hosts are to be read again, and with templates all hosts that inherit from them.
pub(crate) fn touch(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    Ok(touch_hosts_below(edit, ids)?)
}
