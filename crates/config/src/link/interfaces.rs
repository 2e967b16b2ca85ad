//! Which interface of a host an inherited item asks.

use std::collections::{BTreeMap, BTreeSet};

use super::items::words;
use super::{LinkError, Target, targets};
use crate::Edit;
use crate::db::{DbResult, query_by_ids};

/// What interface an item type needs: a type that must be there, any, or none.
pub(super) enum Wanted {
    Type(i64, &'static str),
    Any,
    None,
}

pub(super) fn wanted_interface(item_type: i64) -> Wanted {
    match item_type {
        0 => Wanted::Type(1, "Agent"),
        12 => Wanted::Type(3, "IPMI"),
        16 => Wanted::Type(4, "JMX"),
        17 | 20 => Wanted::Type(2, "SNMP"),
        3 | 10 | 13 | 14 | 19 => Wanted::Any,
        _ => Wanted::None,
    }
}

/// The target's interface for an item of this type; `Err` names the type that is missing.
pub(crate) fn interface_for(target: &Target, item_type: i64) -> Result<u64, &'static str> {
    if target.kind != 0 {
        return Ok(0);
    }
    match wanted_interface(item_type) {
        Wanted::Type(kind, name) => target.main.get(&kind).copied().ok_or(name),
        // In the order in which hosts prefer them: agent, SNMP, JMX, IPMI.
        Wanted::Any => {
            Ok([1, 2, 4, 3].iter().find_map(|k| target.main.get(k)).copied().unwrap_or(0))
        }
        Wanted::None => Ok(0),
    }
}

pub(super) fn interface_types(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<BTreeMap<u64, i64>> {
    let sql = "SELECT interfaceid, type FROM interfaces WHERE interfaceid IN ({ids})";
    let rows = query_by_ids(edit.connection(), sql, &[], ids)?;
    Ok(rows.iter().map(|row| (row.id("interfaceid"), row.int("type"))).collect())
}

/// Gives items, whose type has changed, an interface that fits.
pub(crate) fn remap_interfaces(edit: &mut Edit<'_>, items: &[u64]) -> Result<(), LinkError> {
    let sql = "SELECT itemid, hostid, type, key_, flags, interfaceid, templateid FROM items \
               WHERE itemid IN ({ids})";
    let rows = query_by_ids(edit.connection(), sql, &[], items)?;
    let hosts: BTreeSet<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let targets = targets(edit, &hosts.into_iter().collect::<Vec<_>>())?;
    let now: Vec<u64> = rows.iter().map(|row| row.id("interfaceid")).collect();
    let types = interface_types(edit, &now)?;
    for row in &rows {
        let Some(target) = targets.get(&row.id("hostid")) else { continue };
        let id = row.id("interfaceid");
        let fits = match wanted_interface(row.int("type")) {
            Wanted::Type(kind, _) => types.get(&id) == Some(&kind),
            Wanted::Any => id > 0,
            Wanted::None => id == 0,
        };
        if fits {
            continue;
        }
        let interface = interface_for(target, row.int("type")).map_err(|name| {
            LinkError::conflict(format!(
                "Cannot inherit {} with key \"{}\" to host \"{}\", because a host interface of \
                 type \"{name}\" is required.",
                words(row.int("flags")),
                row.text("key_"),
                target.name
            ))
        })?;
        edit.update("items", row.id("itemid"), &[("interfaceid", interface.into())])?;
    }
    Ok(())
}
