//! Interfaces of discovered hosts: which become which.

use crate::table;
use std::collections::HashSet;

use super::host_shape::interface_columns;
use crate::Edit;
use crate::db::{DbResult, Reader, Row, Value, query_by_ids};
use crate::objects::Columns;

/// One step from the interfaces that are to those that should be.
pub(super) enum InterfaceChange {
    Create(Columns),
    Update(u64, Columns),
    Delete(u64),
}

/// What is to be done. An interface becomes the next wanted one of its type, so that items keep
/// theirs; one too many that items use stays.
pub(super) fn changes(
    connection: &mut dyn Reader,
    now: &[Row],
    then: &[Columns],
) -> DbResult<Vec<InterfaceChange>> {
    let mut left: Vec<&Row> = now.iter().collect();
    let mut changes = Vec::new();
    for wanted in then {
        match left.iter().position(|row| row.get("type") == kind(wanted)) {
            Some(at) => {
                let row = left.remove(at);
                if interface_columns(row) != *wanted {
                    changes.push(InterfaceChange::Update(row.id("interfaceid"), wanted.clone()));
                }
            }
            None => changes.push(InterfaceChange::Create(wanted.clone())),
        }
    }
    let ids: Vec<u64> = left.iter().map(|row| row.id("interfaceid")).collect();
    if ids.is_empty() {
        return Ok(changes);
    }
    let sql = "SELECT DISTINCT interfaceid FROM items WHERE interfaceid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &ids)?;
    let used: HashSet<u64> = rows.iter().map(|row| row.id("interfaceid")).collect();
    changes.extend(ids.into_iter().filter(|id| !used.contains(id)).map(InterfaceChange::Delete));
    Ok(changes)
}

fn kind(columns: &Columns) -> Option<&Value> {
    crate::objects::column(columns, "type")
}

/// Does it to the host.
pub(super) fn write(edit: &mut Edit<'_>, host: u64, changes: &[InterfaceChange]) -> DbResult<()> {
    for change in changes {
        match change {
            InterfaceChange::Create(columns) => create(edit, host, columns)?,
            InterfaceChange::Update(id, columns) => {
                edit.update(&table::INTERFACES, *id, columns)?
            }
            InterfaceChange::Delete(id) => {
                edit.delete(&table::INTERFACES, "interfaceid", &[*id])?
            }
        }
    }
    Ok(())
}

/// A new interface of the host.
pub(super) fn create(edit: &mut Edit<'_>, host: u64, columns: &Columns) -> DbResult<()> {
    let mut row = vec![("hostid", Value::from(host))];
    row.extend(columns.iter().cloned());
    edit.insert_new(&table::INTERFACES, &row)?;
    Ok(())
}
