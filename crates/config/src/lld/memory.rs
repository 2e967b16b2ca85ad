//! What each rule found last: the same value over the same configuration needs no work.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use model::ItemId;
use stdx::sync::lock;

use super::{Counts, Pass, Summary, Turn};
use crate::Snapshot;
use crate::objects::Deleted;

/// Of all rules, in memory alone: after a start each rule is compared in full once.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Grows with each committed change of configured objects.
    generation: AtomicU64,
    hasher: foldhash::quality::RandomState,
    seen: Mutex<HashMap<ItemId, Seen>>,
}

#[derive(Debug)]
struct Seen {
    hash: u64,
    len: usize,
    generation: u64,
    due_s: Option<u64>,
    supported: bool,
    error: String,
}

impl Memory {
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Configured objects have changed.
    pub(crate) fn objects_changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The outcome, if this value was worked off over this configuration already.
    pub(super) fn known(
        &self,
        rule: ItemId,
        text: &str,
        generation: u64,
        clock_s: u64,
    ) -> Option<Summary> {
        let seen = lock(&self.seen);
        let seen = seen.get(&rule).filter(|seen| {
            seen.generation == generation
                && seen.due_s.is_none_or(|due| clock_s < due)
                && seen.len == text.len()
        })?;
        (seen.hash == self.hasher.hash_one(text)).then(|| Summary {
            supported: seen.supported,
            error: seen.error.clone(),
            created: Counts::default(),
            updated: Counts::default(),
            lost: Counts::default(),
            deleted: Deleted::default(),
            deleted_hosts: Vec::new(),
        })
    }

    /// Remembers an outcome; forgets rules that are gone when there are too many.
    pub(super) fn keep(&self, snapshot: &Snapshot, turn: &Turn<'_>, generation: u64, pass: &Pass) {
        let mut seen = lock(&self.seen);
        if seen.len() > snapshot.items.len() {
            seen.retain(|rule, _| snapshot.items.get(rule).is_some());
        }
        let new = Seen {
            hash: self.hasher.hash_one(turn.text),
            len: turn.text.len(),
            generation,
            due_s: pass.due_s,
            supported: pass.summary.supported,
            error: pass.summary.error.clone(),
        };
        seen.insert(turn.rule, new);
    }
}

/// Tables that no discovery rule reads: people, maintenance, network discovery,
/// actions. A change of them alone leaves what discovery made as it is.
const APART: &[&str] = &[
    "ids",
    "maintenances",
    "maintenance_hosts",
    "maintenance_groups",
    "maintenance_periods",
    "maintenance_tags",
    "drules",
    "dchecks",
    "dhosts",
    "dservices",
    "autoreg_hosts",
    "actions",
    "action_conditions",
    "operations",
    "operation_groups",
    "operation_templates",
    "operation_tags",
    "tokens",
    "users",
    "user_groups",
    "usergroups",
    "group_rights",
    "tag_filters",
    "roles",
];

/// Columns of configured objects that hold states; statements that write states name one first.
const STATES: &[(&str, &[&str])] = &[("hosts", &["maintenanceid"])];

/// Does the statement change what discovery rules read? States of hosts do not count.
pub(crate) fn changes_objects(sql: &str) -> bool {
    let mut words = sql.split_whitespace();
    let table = match words.next() {
        Some("INSERT" | "DELETE") => words.nth(1),
        Some("UPDATE") => words.next(),
        Some("SELECT" | "SAVEPOINT" | "RELEASE" | "ROLLBACK") => return false,
        _ => None,
    };
    let Some(table) = table else { return true };
    let column = words.next().filter(|word| *word == "SET").and_then(|_| words.next());
    let is_state =
        |column: &str| STATES.iter().any(|(of, columns)| *of == table && columns.contains(&column));
    !APART.contains(&table) && !column.is_some_and(is_state)
}

#[cfg(test)]
mod tests {
    use super::{APART, STATES, changes_objects};
    use crate::schema::{Table, configuration_tables};

    #[test]
    fn which_statements_count() {
        for (sql, counts) in [
            ("INSERT INTO items (itemid) VALUES (?)", true),
            ("UPDATE triggers SET status = ? WHERE triggerid = ?", true),
            ("DELETE FROM hostmacros WHERE hostid IN (?)", true),
            ("UPDATE ids SET next = ? WHERE name = ?", false),
            ("  UPDATE\n tokens SET status = ?", false),
            ("UPDATE hosts SET maintenanceid = ?, maintenance_status = ? WHERE hostid = ?", false),
            ("UPDATE hosts SET name = ? WHERE hostid = ?", true),
            ("UPDATE dservices SET lastup = ? WHERE dserviceid = ?", false),
            ("UPDATE maintenances SET value = ? WHERE maintenanceid = ?", false),
            ("VACUUM", true),
        ] {
            assert_eq!(changes_objects(sql), counts, "{sql}");
        }
    }

    /// A new table has to be put into one of the two lists: whether discovery reads it is a decision.
    #[test]
    fn each_table_is_read_by_discovery_or_kept_apart() {
        const READ: &[&str] = &[
            "settings",
            "regexps",
            "regexp_expressions",
            "groups_",
            "hosts",
            "host_groups",
            "host_tags",
            "host_templates",
            "host_inventory",
            "hostmacros",
            "globalmacros",
            "interfaces",
            "valuemaps",
            "valuemap_mappings",
            "parts",
            "items",
            "item_preprocessing",
            "item_tags",
            "item_discovery",
            "triggers",
            "functions",
            "trigger_tags",
            "trigger_depends",
            "trigger_discovery",
            "host_discovery",
            "group_prototypes",
            "group_discovery",
        ];
        for table in configuration_tables() {
            let (read, apart) = (READ.contains(&table.name), APART.contains(&table.name));
            assert!(read != apart, "{}: read {read}, apart {apart}", table.name);
        }
        for name in READ.iter().chain(APART) {
            Table::named(name);
        }
        for (table, columns) in STATES {
            columns.iter().for_each(|c| assert!(Table::named(table).column(c).is_some()));
        }
    }
}
