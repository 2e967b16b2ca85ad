//! Links of hosts and templates to templates.

use std::collections::BTreeMap;

use config::Edit;
use config::link::{LinkError, check_link, check_unlink, link_templates, unlink_templates};
use config::objects::Deleted;

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::gone;
use crate::owned::extent::by_portions;
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

/// Refuses templates that the user may not read and that are linked to one of these hosts or
/// templates.
pub(crate) fn require_seen(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    hosts: &[u64],
    templates: &[u64],
) -> ApiResult<()> {
    for host in hosts.iter().filter(|_| !templates.is_empty()) {
        if hidden(call, edit, *host)?.iter().any(|id| templates.contains(id)) {
            return Err(ApiError::no_object());
        }
    }
    Ok(())
}

/// Links further templates to hosts or templates; those linked already stay.
pub(crate) fn add(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> ApiResult<()> {
    Ok(link_templates(edit, hosts, templates)?)
}

/// Links templates to many hosts, `portion` in each change. Conflicts that exist already are found
/// before the first host is linked.
pub(crate) fn add_in_portions(
    call: &Call<'_>,
    hosts: &[u64],
    templates: &[u64],
    portion: usize,
) -> ApiResult<()> {
    for hosts in hosts.chunks(portion) {
        call.write(|edit| Ok(check_link(edit, hosts, templates)?))?;
    }
    by_portions(hosts.chunks(portion), "linked", |hosts| {
        call.write(|edit| {
            // A host may have been deleted since the call began.
            call.require_at(edit, Target::Host, Need::Write, hosts, "/hosts")?;
            add(edit, hosts, templates)
        })
    })
}

/// Templates to unlink.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unlink<'a> {
    /// What hosts have inherited from these stays as their own.
    pub(crate) keep: &'a [u64],
    /// What hosts have inherited from these is deleted.
    pub(crate) clear: &'a [u64],
}

impl Unlink<'_> {
    /// All of them.
    pub(crate) fn templates(&self) -> Vec<u64> {
        [self.keep, self.clear].concat()
    }
}

/// Unlinks templates from many hosts, `portion` in each change, as [`remove`] does. Conflicts that
/// exist already are found before the first host is unlinked.
pub(crate) fn remove_in_portions(
    call: &Call<'_>,
    hosts: &[u64],
    unlink: Unlink<'_>,
    portion: usize,
) -> ApiResult<()> {
    for hosts in hosts.chunks(portion) {
        call.write(|edit| Ok(check_unlink(edit, hosts, &unlink.templates())?))?;
    }
    by_portions(hosts.chunks(portion), "unlinked", |hosts| {
        let deleted = call.write(|edit| remove(edit, hosts, unlink))?;
        gone::tell(call, &deleted);
        Ok(())
    })
}

/// Unlinks templates; returns what was deleted.
pub(crate) fn remove(edit: &mut Edit<'_>, hosts: &[u64], unlink: Unlink<'_>) -> ApiResult<Deleted> {
    check_unlink(edit, hosts, &unlink.templates())?;
    let deleted = unlink_templates(edit, hosts, unlink.clear, true)?;
    unlink_templates(edit, hosts, unlink.keep, false)?;
    Ok(deleted)
}

/// Links of a change of several hosts: hosts that get the same templates are linked together.
#[derive(Debug, Default)]
pub(crate) struct NewLinks<'a>(BTreeMap<&'a [u64], Vec<u64>>);

impl<'a> NewLinks<'a> {
    /// The host is to be linked to these templates, too.
    pub(crate) fn add(&mut self, hostid: u64, templates: &'a [u64]) {
        self.0.entry(templates).or_default().push(hostid);
    }

    /// Makes the links.
    pub(crate) fn make(self, edit: &mut Edit<'_>) -> ApiResult<()> {
        self.0.into_iter().try_for_each(|(templates, hosts)| add(edit, &hosts, templates))
    }
}

/// Makes `templates` the linked ones, as [`unlink_others`] says.
pub(crate) fn replace(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: Option<&[u64]>,
    clear: &[u64],
) -> ApiResult<Deleted> {
    let deleted = unlink_others(call, edit, hostid, templates, clear)?;
    add(edit, &[hostid], templates.unwrap_or_default())?;
    Ok(deleted)
}

/// Leaves only `templates` linked, beside those that discovery has linked and those that the user does
/// not see. Of those that go, what came from `clear` is deleted and returned.
pub(crate) fn unlink_others(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: Option<&[u64]>,
    clear: &[u64],
) -> ApiResult<Deleted> {
    require_seen(call, edit, &[hostid], clear)?;
    let mut gone = Vec::new();
    if let Some(templates) = templates {
        let sql = "SELECT templateid FROM host_templates WHERE link_type = 0 AND hostid = ?";
        let now = edit.query(sql, &[hostid.into()])?;
        let kept = [templates, clear, &hidden(call, edit, hostid)?].concat();
        gone.extend(now.iter().map(|row| row.id("templateid")).filter(|id| !kept.contains(id)));
    }
    remove(edit, &[hostid], Unlink { keep: &gone, clear })
}
