//! Links of hosts and templates to templates.

use config::Edit;
use config::db::query_by_ids;
use config::link::{
    LinkError, check_link, check_unlink, link_templates, touch_hosts_below, unlink_templates,
};
use config::objects::Deleted;

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::gone;
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

/// Items that one change gives to hosts, or takes from them: about a tenth of a second's work. Other
/// changes of the configuration wait for at most two such portions.
pub(crate) const PORTION_ITEMS: usize = 5_000;

/// How many hosts one change links to templates, or unlinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of them: everything of the call is kept, or nothing.
    Whole,
    /// This number. A conflict that arises meanwhile stops the call; earlier hosts are done.
    Portions(usize),
}

/// How many of the hosts one change should link or unlink, where it may make or delete `items_max`
/// items.
pub(crate) fn extent(
    call: &Call<'_>,
    hosts: usize,
    templates: &[u64],
    items_max: usize,
) -> ApiResult<Extent> {
    let sql = "SELECT itemid FROM items WHERE hostid IN ({ids})";
    let items = call.read(|connection| Ok(query_by_ids(connection, sql, &[], templates)?.len()))?;
    let portion = (items_max / items.max(1)).max(1);
    Ok(if hosts <= portion { Extent::Whole } else { Extent::Portions(portion) })
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
    in_portions(hosts, portion, "linked", |hosts| {
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
    in_portions(hosts, portion, "unlinked", |hosts| {
        let deleted = call.write(|edit| remove(edit, hosts, unlink))?;
        gone::tell(call, &deleted);
        Ok(())
    })
}

/// Does `work` for `portion` hosts at a time; an error says for how many hosts it is done.
fn in_portions(
    hosts: &[u64],
    portion: usize,
    done: &str,
    work: impl Fn(&[u64]) -> ApiResult<()>,
) -> ApiResult<()> {
    for (number, portion_of) in hosts.chunks(portion).enumerate() {
        work(portion_of).map_err(|error| {
            let (first, all) = (number * portion, hosts.len());
            error.after(format_args!("{first} of {all} hosts are {done}, the others are not"))
        })?;
    }
    Ok(())
}

/// Unlinks templates; returns what was deleted.
pub(crate) fn remove(edit: &mut Edit<'_>, hosts: &[u64], unlink: Unlink<'_>) -> ApiResult<Deleted> {
    check_unlink(edit, hosts, &unlink.templates())?;
    let deleted = unlink_templates(edit, hosts, unlink.clear, true)?;
    unlink_templates(edit, hosts, unlink.keep, false)?;
    Ok(deleted)
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
    require_seen(call, edit, &[hostid], clear)?;
    let mut gone = Vec::new();
    if let Some(templates) = templates {
        let sql = "SELECT templateid FROM host_templates WHERE link_type = 0 AND hostid = ?";
        let now = edit.query(sql, &[hostid.into()])?;
        let kept = [templates, clear, &hidden(call, edit, hostid)?].concat();
        gone.extend(now.iter().map(|row| row.id("templateid")).filter(|id| !kept.contains(id)));
    }
    let deleted = remove(edit, &[hostid], Unlink { keep: &gone, clear })?;
    add(edit, &[hostid], templates.unwrap_or_default())?;
    Ok(deleted)
}

/// Hosts are to be read again, and with templates all hosts that inherit from them.
pub(crate) fn touch(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    Ok(touch_hosts_below(edit, ids)?)
}
