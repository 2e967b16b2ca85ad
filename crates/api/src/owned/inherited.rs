//! Deleting objects of templates that many hosts inherit: those of the hosts go first, some in each
//! change, so that other changes run in between.

use const_format::formatcp;
use objects::sql::KIND_HOST;
use std::collections::BTreeSet;

use config::Edit;
use config::db::query_by_ids;
use config::objects::{delete_graphs, delete_items, delete_triggers};

use crate::call::Call;
use crate::error::ApiResult;

/// A kind of objects that hosts inherit.
pub(crate) struct Inherited {
    /// Children of these objects: `id`.
    children: &'static str,
    /// Objects that are deleted with these.
    parts: &'static [&'static str],
    /// Those of the children that hosts have, and that are inherited still: `id`.
    on_hosts: &'static str,
    /// Deletes them with all that belongs to them.
    delete: fn(&mut Edit<'_>, &[u64]) -> ApiResult<()>,
}

/// Items, discovery rules and item prototypes.
pub(crate) const ITEMS: Inherited = Inherited {
    children: "SELECT itemid AS id FROM items WHERE templateid IN ({ids})",
    parts: &[
        "SELECT itemid AS id FROM items WHERE ruleid IN ({ids})",
        "SELECT itemid AS id FROM items WHERE master_itemid IN ({ids})",
    ],
    on_hosts: formatcp!(
        "SELECT i.itemid AS id FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE h.kind = {KIND_HOST} AND i.templateid > 0 AND i.itemid IN ({{ids}})"
    ),
    delete: |edit, ids| Ok(delete_items(edit, ids)?),
};

/// Triggers and trigger prototypes.
pub(crate) const TRIGGERS: Inherited = Inherited {
    children: "SELECT triggerid AS id FROM triggers WHERE templateid IN ({ids})",
    parts: &[],
    on_hosts: formatcp!(
        "SELECT DISTINCT t.triggerid AS id FROM triggers t \
               JOIN functions f ON f.triggerid = t.triggerid JOIN items i ON i.itemid = f.itemid \
               JOIN hosts h ON h.hostid = i.hostid \
               WHERE h.kind = {KIND_HOST} AND t.templateid > 0 AND t.triggerid IN ({{ids}})"
    ),
    delete: |edit, ids| Ok(delete_triggers(edit, ids)?),
};

/// Graphs and graph prototypes.
pub(crate) const GRAPHS: Inherited = Inherited {
    children: "SELECT graphid AS id FROM graphs WHERE templateid IN ({ids})",
    parts: &[],
    on_hosts: formatcp!(
        "SELECT DISTINCT g.graphid AS id FROM graphs g \
               JOIN graph_items f ON f.graphid = g.graphid JOIN items i ON i.itemid = f.itemid \
               JOIN hosts h ON h.hostid = i.hostid \
               WHERE h.kind = {KIND_HOST} AND g.templateid > 0 AND g.graphid IN ({{ids}})"
    ),
    delete: |edit, ids| Ok(delete_graphs(edit, ids)?),
};

/// Deletes what hosts inherit from these objects, `portion` of it in each change, if it is more than
/// that. `check` refuses the deletion before. The caller deletes the objects themselves. After an error or
/// a crash the objects exist, and hosts have them or not: the deletion can be repeated.
pub(crate) fn delete_from_hosts(
    call: &Call<'_>,
    kind: &Inherited,
    ids: &[u64],
    portion: usize,
    check: impl Fn(&mut Edit<'_>) -> ApiResult<()>,
) -> ApiResult<()> {
    // A part of a larger change is kept or taken back with it.
    if call.transaction.is_some() {
        return Ok(());
    }
    let (found, parts) = call.read(|connection| {
        let mut all = BTreeSet::new();
        let mut frontier = ids.to_vec();
        while !frontier.is_empty() {
            let rows = query_by_ids(connection, kind.children, &[], &frontier)?;
            frontier = rows.iter().map(|row| row.id("id")).filter(|id| all.insert(*id)).collect();
        }
        let mut parts = 0;
        for sql in kind.parts {
            parts += query_by_ids(connection, sql, &[], ids)?.len();
        }
        Ok((Vec::from_iter(all), parts))
    })?;
    let portion = (portion * ids.len() / (ids.len() + parts).max(1)).max(1);
    if found.len() <= portion {
        return Ok(());
    }
    call.write(&check)?;
    let mut done = 0;
    for ids in found.chunks(portion) {
        let deleted = call.write(|edit| {
            // Since the search, some may have become the hosts' own, or be gone.
            let rows = query_by_ids(edit, kind.on_hosts, &[], ids)?;
            let ids: Vec<u64> = rows.iter().map(|row| row.id("id")).collect();
            (kind.delete)(edit, &ids)
        });
        deleted.map_err(|error| match done {
            0 => error,
            _ => error.after(format_args!(
                "{done} of {} inherited objects are deleted, the others are not",
                found.len()
            )),
        })?;
        done += ids.len();
    }
    Ok(())
}
