//! Hosts and templates with all that is theirs.

use const_format::formatcp;
use objects::sql::KIND_HOST;

use super::{Deleted, delete_hosts_of_rules, delete_triggers, ids_of};
use crate::Edit;
use crate::db::{DbResult, Value};

/// Deletes hosts or templates with all they own, the triggers that used their items, and the hosts
/// that their rules have discovered. What is left of them elsewhere (history of their items,
/// problems of their triggers) is the caller's business.
pub fn delete_hosts(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<Deleted> {
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
    let triggers = delete_triggers(edit, &triggers)?;
    let mut deleted = Deleted { items, triggers };
    if !discovered.is_empty() {
        let more = delete_hosts(edit, &discovered)?;
        deleted.items.extend(more.items);
        deleted.triggers.extend(more.triggers);
    }
    delete_hosts_of_rules(edit, &deleted.items)?;
    edit.delete("host_templates", "templateid", ids)?;
    edit.delete("operation_templates", "templateid", ids)?;
    let hosts: Vec<Value> = ids.iter().map(|id| Value::from(*id)).collect();
    edit.update_rows("pool_servers", &[("hostid", &hosts)], &[("hostid", Value::Int(0))])?;
    edit.delete("hosts", "hostid", ids)?;
    Ok(deleted)
}
