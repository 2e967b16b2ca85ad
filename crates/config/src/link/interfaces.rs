//! Which interface of a host an inherited item asks.

use crate::table;
use std::collections::{BTreeMap, BTreeSet};

use const_format::formatcp;
use objects::sql::KIND_HOST;
use objects::{HostKind, InterfaceNeed, InterfaceType, ItemType};

use super::items::words;
use super::{LinkError, Target, targets};
use crate::Edit;
use crate::db::{DbResult, Reader, query_by_ids};

/// The interface that an item of this type needs.
pub(super) fn interface_need(item_type: i64) -> InterfaceNeed {
    ItemType::from_number(item_type).map_or(InterfaceNeed::None, ItemType::interface)
}

/// Whether an item of this type may keep an interface, which has a type if it is there.
pub(super) fn keeps(item_type: i64, interface: u64, interface_type: Option<i64>) -> bool {
    match interface_need(item_type) {
        InterfaceNeed::Of(kind) => interface_type == Some(kind.number()),
        InterfaceNeed::Any => interface > 0,
        InterfaceNeed::None => interface == 0,
    }
}

/// The target's interface for an item of this type; `Err` names the type that is missing.
pub(crate) fn interface_for(target: &Target, item_type: i64) -> Result<u64, &'static str> {
    if !HostKind::Host.is(target.kind) {
        return Ok(0);
    }
    let main = |kind: InterfaceType| target.main.get(&kind.number()).copied();
    match interface_need(item_type) {
        InterfaceNeed::Of(kind) => main(kind).ok_or(kind.label()),
        InterfaceNeed::Any => Ok(InterfaceType::PREFERRED.into_iter().find_map(main).unwrap_or(0)),
        InterfaceNeed::None => Ok(0),
    }
}

pub(super) fn interface_types(
    connection: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, i64>> {
    let sql = "SELECT interfaceid, type FROM interfaces WHERE interfaceid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    Ok(rows.iter().map(|row| (row.id("interfaceid"), row.int("type"))).collect())
}

/// Refuses another type for these items of hosts that lack the interface for it, which
/// [`remap_interfaces`] would refuse.
pub(crate) fn check_interfaces(
    edit: &mut Edit<'_>,
    items: &[u64],
    item_type: i64,
) -> Result<(), LinkError> {
    let InterfaceNeed::Of(kind) = interface_need(item_type) else { return Ok(()) };
    let sql = formatcp!(
        "SELECT i.key_, i.flags, h.host FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE h.kind = {KIND_HOST} AND NOT EXISTS (SELECT 1 FROM interfaces f \
         WHERE f.hostid = i.hostid AND f.main = 1 AND f.type = ?) AND i.itemid IN ({{ids}})"
    );
    let rows = query_by_ids(edit, sql, &[kind.number().into()], items)?;
    let Some(row) = rows.first() else { return Ok(()) };
    Err(lacking(row.int("flags"), row.text("key_"), row.text("host"), kind.label()))
}

fn lacking(flags: i64, key: &str, host: &str, interface: &str) -> LinkError {
    LinkError::conflict(format!(
        "Cannot inherit {} with key \"{key}\" to host \"{host}\", because a host interface of \
         type \"{interface}\" is required.",
        words(flags),
    ))
}

/// Gives items, whose type has changed, an interface that fits.
pub(crate) fn remap_interfaces(edit: &mut Edit<'_>, items: &[u64]) -> Result<(), LinkError> {
    let sql = "SELECT itemid, hostid, type, key_, flags, interfaceid, templateid FROM items \
               WHERE itemid IN ({ids})";
    let rows = query_by_ids(edit, sql, &[], items)?;
    let hosts: BTreeSet<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let targets = targets(edit, &hosts.into_iter().collect::<Vec<_>>())?;
    let now: Vec<u64> = rows.iter().map(|row| row.id("interfaceid")).collect();
    let types = interface_types(edit, &now)?;
    for row in &rows {
        let Some(target) = targets.get(&row.id("hostid")) else { continue };
        let id = row.id("interfaceid");
        if keeps(row.int("type"), id, types.get(&id).copied()) {
            continue;
        }
        let interface = interface_for(target, row.int("type"))
            .map_err(|name| lacking(row.int("flags"), row.text("key_"), &target.name, name))?;
        edit.update(&table::ITEMS, row.id("itemid"), &[("interfaceid", interface.into())])?;
    }
    Ok(())
}
