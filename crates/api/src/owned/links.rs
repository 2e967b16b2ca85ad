//! Links of hosts and templates to templates.

use std::collections::BTreeMap;

use config::Edit;
use config::db::query_by_ids;
use config::link::{LinkError, check_unlink, link_templates, unlink_templates};

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
    let seen = call.allowed(edit, Target::Template, Need::Read, &now)?;
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
    let mut unseen = templates.to_vec();
    if !unseen.is_empty() {
        let seen = call.allowed(edit, Target::Template, Need::Read, templates)?;
        unseen.retain(|id| !seen.contains(id));
    }
    for template in unseen {
        let sql = "SELECT hostid FROM host_templates WHERE templateid = ? AND hostid IN ({ids})";
        if !query_by_ids(edit, sql, &[template.into()], hosts)?.is_empty() {
            return Err(ApiError::no_object());
        }
    }
    Ok(())
}

/// Links further templates to hosts or templates; those linked already stay.
pub(crate) fn add(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> ApiResult<()> {
    Ok(link_templates(edit, hosts, templates)?)
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

/// Unlinks templates.
pub(crate) fn remove(edit: &mut Edit<'_>, hosts: &[u64], unlink: Unlink<'_>) -> ApiResult<()> {
    check_unlink(edit, hosts, &unlink.templates())?;
    unlink_templates(edit, hosts, unlink.clear, true)?;
    Ok(unlink_templates(edit, hosts, unlink.keep, false)?)
}

/// Links of a change of several hosts: hosts that get, or lose, the same templates do so together.
#[derive(Debug, Default)]
pub(crate) struct NewLinks<'a> {
    new: BTreeMap<&'a [u64], Vec<u64>>,
    gone: BTreeMap<Gone<'a>, Vec<u64>>,
}

/// Templates that a host loses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Gone<'a> {
    keep: Vec<u64>,
    clear: &'a [u64],
}

impl<'a> NewLinks<'a> {
    /// The host is to be linked to these templates, too.
    pub(crate) fn add(&mut self, hostid: u64, templates: &'a [u64]) {
        self.new.entry(templates).or_default().push(hostid);
    }

    /// The host or template is to have only `templates`, if they are given, beside those that discovery has
    /// linked and those that the user does not see. What it has inherited from `clear` is deleted.
    pub(crate) fn replace(
        &mut self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        hostid: u64,
        templates: Option<&'a [u64]>,
        clear: &'a [u64],
    ) -> ApiResult<()> {
        require_seen(call, edit, &[hostid], clear)?;
        let mut keep = Vec::new();
        if let Some(templates) = templates {
            let sql = "SELECT templateid FROM host_templates WHERE link_type = 0 AND hostid = ?";
            let now = edit.query(sql, &[hostid.into()])?;
            let stay = [templates, clear, &hidden(call, edit, hostid)?].concat();
            keep.extend(now.iter().map(|row| row.id("templateid")).filter(|id| !stay.contains(id)));
            self.add(hostid, templates);
        }
        if !keep.is_empty() || !clear.is_empty() {
            self.gone.entry(Gone { keep, clear }).or_default().push(hostid);
        }
        Ok(())
    }

    /// Unlinks, then links.
    pub(crate) fn make(self, edit: &mut Edit<'_>) -> ApiResult<()> {
        for (Gone { keep, clear }, hosts) in self.gone {
            remove(edit, &hosts, Unlink { keep: &keep, clear })?;
        }
        self.new.into_iter().try_for_each(|(templates, hosts)| add(edit, &hosts, templates))
    }
}
