//! Hosts and templates with all that is theirs.

use crate::table;
use const_format::formatcp;
use objects::MapElementType;
use objects::sql::KIND_HOST;

use super::graph::without_items;
use super::{delete_elements_of, delete_hosts_of_rules, delete_triggers, ids_of};
use crate::Edit;
use crate::db::{DbResult, Value};

/// Deletes hosts or templates with all they own, the triggers that used their items, and the hosts
/// that their rules have discovered.
pub fn delete_hosts(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    crate::link::settle_templates(edit, ids)?;
    let items = ids_of(edit, "SELECT itemid FROM items WHERE hostid IN ({ids})", "itemid", ids)?;
    let discovered = ids_of(
        edit,
        formatcp!(
            "SELECT d.hostid FROM host_discovery d JOIN items r ON r.itemid = d.parent_itemid \
         JOIN hosts h ON h.hostid = d.hostid AND h.kind = {KIND_HOST} WHERE r.hostid IN ({{ids}})"
        ),
        "hostid",
        ids,
    )?;
    // A trigger over several hosts goes with any of them.
    let triggers = ids_of(
        edit,
        "SELECT DISTINCT f.triggerid FROM functions f JOIN items i ON i.itemid = f.itemid \
         WHERE i.hostid IN ({ids})",
        "triggerid",
        ids,
    )?;
    delete_triggers(edit, &triggers)?;
    without_items(edit, &items)?;
    if !discovered.is_empty() {
        delete_hosts(edit, &discovered)?;
    }
    delete_hosts_of_rules(edit, &items)?;
    edit.delete(&table::HOST_TEMPLATES, "templateid", ids)?;
    edit.delete(&table::OPERATION_TEMPLATES, "templateid", ids)?;
    let hosts: Vec<Value> = ids.iter().map(|id| Value::from(*id)).collect();
    edit.update_rows(&table::POOL_SERVERS, &[("hostid", &hosts)], &[("hostid", Value::Int(0))])?;
    delete_elements_of(edit, MapElementType::Host, ids)?;
    edit.inheriting(|edit| edit.delete(&table::DASHBOARDS, "hostid", ids))?;
    edit.delete(&table::HOSTS, "hostid", ids)
}
