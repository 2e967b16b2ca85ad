//! Deleting triggers.

use crate::table;
use std::collections::BTreeSet;

use super::ids_of;
use super::map::take_off_triggers;
use crate::Edit;
use crate::db::DbResult;

/// Deletes triggers with their children on linked hosts and what discovery made of them.
pub fn delete_triggers(edit: &mut Edit<'_>, ids: &[u64]) -> DbResult<()> {
    let mut all: BTreeSet<u64> = ids.iter().copied().collect();
    let mut frontier: Vec<u64> = ids.to_vec();
    while !frontier.is_empty() {
        let mut next = BTreeSet::new();
        for sql in [
            "SELECT triggerid FROM triggers WHERE templateid IN ({ids})",
            "SELECT triggerid FROM trigger_discovery WHERE parent_triggerid IN ({ids})",
        ] {
            next.extend(ids_of(edit, sql, "triggerid", &frontier)?);
        }
        frontier = next.into_iter().filter(|id| all.insert(*id)).collect();
    }
    let all: Vec<u64> = all.into_iter().collect();
    // Triggers that depended on these are free of them.
    edit.delete(&table::TRIGGER_DEPENDS, "depends_on", &all)?;
    take_off_triggers(edit, &all)?;
    edit.delete(&table::TRIGGERS, "triggerid", &all)
}
