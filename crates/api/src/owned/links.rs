//! Links of hosts and templates to templates.

use std::collections::BTreeSet;

use config::Edit;
use config::db::query_by_ids;
use config::link::{LinkError, link_templates, unlink_templates};

use crate::error::{ApiError, ApiResult};
use crate::owned::groups::host_names;

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
    let now = of(edit, hostid)?;
    let added: Vec<u64> = templates.iter().copied().filter(|id| !now.contains(id)).collect();
    if added.is_empty() {
        return Ok(());
    }
    check(edit, hostid, &now, &added)?;
    link_templates(edit, &[hostid], &added)?;
    let linked = of(edit, hostid)?;
    for templateid in added.iter().filter(|id| !linked.contains(id)) {
        let row = [("hostid", hostid.into()), ("templateid", (*templateid).into())];
        edit.insert("host_templates", &row)?;
    }
    Ok(())
}

/// Links templates to many hosts at once; those linked already stay.
pub(crate) fn add_all(edit: &mut Edit<'_>, hosts: &[u64], templates: &[u64]) -> ApiResult<()> {
    link_templates(edit, hosts, templates)?;
    Ok(())
}

/// Unlinks templates; what came from them stays, or goes with `clear`.
pub(crate) fn remove(
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: &[u64],
    clear: bool,
) -> ApiResult<()> {
    let now = of(edit, hostid)?;
    let gone: Vec<u64> = templates.iter().copied().filter(|id| now.contains(id)).collect();
    if gone.is_empty() {
        return Ok(());
    }
    unlink_templates(edit, &[hostid], &gone, clear)?;
    for templateid in gone {
        edit.execute(
            "DELETE FROM host_templates WHERE hostid = ? AND templateid = ?",
            &[hostid.into(), templateid.into()],
        )?;
    }
    Ok(())
}

/// Makes `templates` the linked ones. Of those that go, what came from `clear` is deleted.
pub(crate) fn replace(
    edit: &mut Edit<'_>,
    hostid: u64,
    templates: Option<&[u64]>,
    clear: &[u64],
) -> ApiResult<()> {
    remove(edit, hostid, clear, true)?;
    let Some(templates) = templates else { return Ok(()) };
    let now = of(edit, hostid)?;
    let gone: Vec<u64> = now.into_iter().filter(|id| !templates.contains(id)).collect();
    remove(edit, hostid, &gone, false)?;
    add(edit, hostid, templates)
}

/// All templates above these, themselves included.
fn with_parents(edit: &mut Edit<'_>, templates: &[u64]) -> ApiResult<BTreeSet<u64>> {
    let mut all: BTreeSet<u64> = templates.iter().copied().collect();
    let mut next: Vec<u64> = templates.to_vec();
    while !next.is_empty() {
        let rows = query_by_ids(
            edit.connection(),
            "SELECT templateid FROM host_templates WHERE hostid IN ({ids})",
            &[],
            &next,
        )?;
        next = rows.iter().map(|row| row.id("templateid")).filter(|id| all.insert(*id)).collect();
    }
    Ok(all)
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

/// No template may come twice by different ways, and none may link itself.
fn check(edit: &mut Edit<'_>, hostid: u64, now: &[u64], added: &[u64]) -> ApiResult<()> {
    for templateid in added {
        if let Some(way) = way_up(edit, *templateid, hostid)? {
            let names = host_names(edit, &way)?;
            let name = |id: &u64| format!("\"{}\"", names.get(id).map_or("", String::as_str));
            let mut way: Vec<String> = way.iter().map(name).collect();
            let (first, last) = (way[0].clone(), way.last().cloned().unwrap_or_default());
            way.push(first.clone());
            return Err(ApiError::params(format!(
                "Cannot link template {first} to template {last}, \
                 because a circular linkage ({}) would occur.",
                way.join(" -> "),
            )));
        }
    }
    let below: Vec<u64> = with_children(edit, &[hostid])?.into_iter().collect();
    for target in below {
        let mut linked = of(edit, target)?;
        if target == hostid {
            linked = now.iter().chain(added).copied().collect();
        }
        check_once(edit, target, hostid, added, &linked)?;
    }
    Ok(())
}

/// From `from` over the templates linked to it up to `to`, both included.
fn way_up(edit: &mut Edit<'_>, from: u64, to: u64) -> ApiResult<Option<Vec<u64>>> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        let at = way.last().copied().unwrap_or(from);
        if at == to {
            return Ok(Some(way));
        }
        if seen.insert(at) {
            for parent in of(edit, at)? {
                let mut longer = way.clone();
                longer.push(parent);
                ways.push(longer);
            }
        }
    }
    Ok(None)
}

/// Refuses when the templates above `target` hold one twice. `changed` gets `added`.
fn check_once(
    edit: &mut Edit<'_>,
    target: u64,
    changed: u64,
    added: &[u64],
    linked: &[u64],
) -> ApiResult<()> {
    let mut seen = BTreeSet::new();
    for templateid in linked {
        let mut above = with_parents(edit, &[*templateid])?;
        if above.contains(&changed) {
            above.extend(with_parents(edit, added)?);
        }
        if let Some(twice) = above.iter().find(|id| seen.contains(*id)) {
            return Err(twice_error(edit, target, *twice, added)?);
        }
        seen.extend(above);
    }
    Ok(())
}

fn twice_error(edit: &mut Edit<'_>, target: u64, twice: u64, added: &[u64]) -> ApiResult<ApiError> {
    let mut blamed = added.first().copied().unwrap_or(twice);
    for templateid in added {
        let above = with_parents(edit, &[*templateid])?;
        if *templateid != twice && above.contains(&twice) {
            blamed = *templateid;
            break;
        }
    }
    let names = host_names(edit, &[target, twice, blamed])?;
    let name = |id: u64| names.get(&id).cloned().unwrap_or_default();
    let kinds = edit.query("SELECT kind FROM hosts WHERE hostid = ?", &[target.into()])?;
    let kind = if kinds.first().is_some_and(|r| r.int("kind") == 1) { "template" } else { "host" };
    let what = if blamed == twice {
        "it".to_owned()
    } else {
        format!("its parent template \"{}\"", name(twice))
    };
    Ok(ApiError::params(format!(
        "Cannot link template \"{}\" to {kind} \"{}\", because {what} would be linked twice.",
        name(blamed),
        name(target),
    )))
}
