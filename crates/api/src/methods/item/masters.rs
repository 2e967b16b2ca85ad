//! Chains of dependent items, as they are after a change: without circles, and not too long.

use objects::HostKind;
use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::query_by_ids;
use const_format::formatcp;
use objects::sql::TYPE_DEPENDENT;

use crate::error::{ApiError, ApiResult};

/// Levels of dependent items below an item that is not dependent.
const LEVELS_MAX: usize = 3;

/// Checks the chains that changed items are in, and those of the items that inherit from them. Call
/// it when all changes of the call are written: each of them alone may be right.
pub(super) fn check_masters(edit: &mut Edit<'_>, changed: &[(u64, String)]) -> ApiResult<()> {
    for (id, path) in changed {
        if circular(edit, *id)? {
            let text = "circular item dependency is not allowed";
            return Err(ApiError::at(&format!("{path}/master_itemid"), text));
        }
    }
    let mut all: BTreeSet<u64> = changed.iter().map(|(id, _)| *id).collect();
    spread(edit, &mut all, "SELECT itemid FROM items WHERE templateid IN ({ids})")?;
    spread(
        edit,
        &mut all,
        formatcp!(
            "SELECT itemid FROM items WHERE type = {TYPE_DEPENDENT} AND master_itemid IN ({{ids}})"
        ),
    )?;
    let mut masters: BTreeMap<u64, u64> = all.iter().map(|id| (*id, *id)).collect();
    for _ in 0..=LEVELS_MAX {
        masters = above(edit, &masters)?;
    }
    match masters.keys().next() {
        None => Ok(()),
        Some(id) => Err(too_deep(edit, *id)?),
    }
}

/// Adds to `ids` what `sql` finds for them, and for what is added.
fn spread(edit: &mut Edit<'_>, ids: &mut BTreeSet<u64>, sql: &str) -> ApiResult<()> {
    let mut frontier: Vec<u64> = ids.iter().copied().collect();
    while !frontier.is_empty() {
        let rows = query_by_ids(edit, sql, &[], &frontier)?;
        frontier = rows.iter().map(|row| row.id("itemid")).filter(|id| ids.insert(*id)).collect();
    }
    Ok(())
}

/// One step up: the items whose ancestor so far is a dependent item, with its master.
fn above(edit: &mut Edit<'_>, now: &BTreeMap<u64, u64>) -> ApiResult<BTreeMap<u64, u64>> {
    let ancestors: BTreeSet<u64> = now.values().copied().collect();
    let ancestors: Vec<u64> = ancestors.into_iter().collect();
    let sql = formatcp!(
        "SELECT itemid, master_itemid FROM items WHERE type = {TYPE_DEPENDENT} AND itemid IN ({{ids}})"
    );
    let rows = query_by_ids(edit, sql, &[], &ancestors)?;
    let masters: BTreeMap<u64, u64> =
        rows.iter().map(|row| (row.id("itemid"), row.id("master_itemid"))).collect();
    Ok(now.iter().filter_map(|(id, at)| Some((*id, *masters.get(at)?))).collect())
}

/// Is the item a master of itself, over however many items?
fn circular(edit: &mut Edit<'_>, id: u64) -> ApiResult<bool> {
    let mut seen = BTreeSet::new();
    let mut at = BTreeMap::from([(id, id)]);
    while let Some(master) = at.get(&id).copied().filter(|master| seen.insert(*master)) {
        at = above(edit, &BTreeMap::from([(id, master)]))?;
        if at.get(&id) == Some(&id) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn too_deep(edit: &mut Edit<'_>, id: u64) -> ApiResult<ApiError> {
    let rows = edit.query(
        "SELECT i.key_, m.key_ AS master, h.name, h.kind FROM items i \
         JOIN items m ON m.itemid = i.master_itemid JOIN hosts h ON h.hostid = i.hostid \
         WHERE i.itemid = ?",
        &[id.into()],
    )?;
    let text = |name: &str| rows.first().map_or("", |row| row.text(name));
    let what = if rows.first().is_some_and(|row| HostKind::Template.is(row.int("kind"))) {
        "template"
    } else {
        "host"
    };
    Ok(ApiError::params(format!(
        "Cannot set dependency for item with key \"{}\" on the master item with key \"{}\" on the \
         {what} \"{}\": allowed count of dependency levels would be exceeded.",
        text("key_"),
        text("master"),
        text("name"),
    )))
}

#[cfg(test)]
mod tests;
