//! What a transaction changed.
//!
//! Each verb of [`Edit`](crate::Edit) records the rows it writes. From these records come what the
//! snapshot reads again, what low-level discovery and the API forget, of which objects history and
//! problems go, what browsers are told, and the rows of the table `changes`, which are written in the
//! same transaction.

use std::collections::{BTreeMap, BTreeSet};

use model::{ItemId, TriggerId};
use rangemap::RangeInclusiveSet;

use crate::db::{Row, Value};
use crate::schema::{Reload, Table};
use crate::sources::Checks;

/// How far hosts inherit within a transaction. The default: completely.
#[derive(Debug, Default)]
pub(crate) struct Inheritance {
    /// Objects that hosts may inherit; a larger change is left for the following transactions.
    pub(crate) portion: Option<usize>,
    /// The last row that the transaction has left.
    pub(crate) left: Option<u64>,
    /// What is known of the hosts. `None`: the transaction checks them itself.
    pub(crate) checks: Option<Checks>,
}

/// Deleted objects of which the server keeps more than the configuration: history of items, problems of
/// triggers, alerts of actions and to users. Read from the record of a transaction, so it has cascades, children on hosts and
/// dependent items too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Items, rules and prototypes.
    pub items: Vec<ItemId>,
    /// Triggers and trigger prototypes.
    pub triggers: Vec<TriggerId>,
    /// Those whose alerts and escalations are still stored.
    pub actions: Vec<u64>,
    /// Those whose alerts are still stored.
    pub users: Vec<u64>,
}

impl Deleted {
    /// Adds what a further transaction deleted.
    pub(crate) fn extend(&mut self, more: Self) {
        self.items.extend(more.items);
        self.triggers.extend(more.triggers);
        self.actions.extend(more.actions);
        self.users.extend(more.users);
    }

    /// Whether nothing was deleted.
    pub fn is_empty(&self) -> bool {
        let alerted = self.actions.is_empty() && self.users.is_empty();
        self.items.is_empty() && self.triggers.is_empty() && alerted
    }
}

/// What happened to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// They are new.
    Insert,
    /// Some of their columns have other values.
    Update,
    /// They are gone.
    Delete,
}

impl Operation {
    const ALL: [Self; 3] = [Self::Insert, Self::Update, Self::Delete];

    /// As the table `changes` has it.
    fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.word() == word)
    }
}

/// The objects that a change concerns: ids in [`Table::subject`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subjects {
    /// These.
    Ids(RangeInclusiveSet<u64>),
    /// Any of the table: too many to list, or the table has no numeric key.
    Any,
}

/// Text of a list of ids at most; a longer one is recorded as [`Subjects::Any`].
const IDS_BYTES_MAX: usize = 64 * 1024;

impl Subjects {
    fn add(&mut self, id: u64) {
        if let Self::Ids(ids) = self {
            ids.insert(id..=id);
        }
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        match self {
            Self::Ids(ids) => ids.contains(&id),
            Self::Any => true,
        }
    }

    /// The ids, ascending; `None` = any may be concerned.
    pub fn listed(&self) -> Option<impl Iterator<Item = u64>> {
        matches!(self, Self::Ids(_)).then(|| self.ids())
    }

    /// The ids, ascending; none if they are not listed.
    fn ids(&self) -> impl Iterator<Item = u64> {
        let ranges = match self {
            Self::Ids(ids) => Some(ids.iter()),
            Self::Any => None,
        };
        ranges.into_iter().flatten().flat_map(Clone::clone)
    }

    /// `10-20,25`, or `*` for any.
    fn text(&self) -> String {
        let Self::Ids(ids) = self else { return "*".into() };
        let mut text = String::new();
        for range in ids.iter() {
            if !text.is_empty() {
                text.push(',');
            }
            text += &range.start().to_string();
            if range.end() > range.start() {
                text += &format!("-{}", range.end());
            }
            if text.len() > IDS_BYTES_MAX {
                return "*".into();
            }
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let mut ids = RangeInclusiveSet::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then(|| ids.insert(first..=last))?;
        }
        Some(Self::Ids(ids))
    }
}

/// Rows of one table to which one thing happened in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Number of the transaction; grows, and is never used twice.
    pub revision: u64,
    /// Name of the table.
    pub table: &'static str,
    /// What happened.
    pub operation: Operation,
    /// Columns with other values; of new rows, those that were given.
    pub columns: BTreeSet<&'static str>,
    /// Objects whose rows these are.
    pub subjects: Subjects,
    /// Who made the transaction: a user, or 0 for the server itself.
    pub userid: u64,
}

impl Change {
    /// Columns of the table `changes`.
    pub(crate) const COLUMNS: [&'static str; 7] =
        ["revision", "position", "name", "operation", "columns", "subjects", "userid"];

    /// From a row of the table `changes`; `None` if a later version has written it.
    pub(crate) fn from_row(row: &Row) -> Option<Self> {
        let table = Table::find(row.text("name"))?;
        let named = |name: &str| table.column(name).map(|column| column.name);
        Some(Self {
            revision: row.id("revision"),
            table: table.name,
            operation: Operation::from_word(row.text("operation"))?,
            columns: row.text("columns").split(',').filter_map(named).collect(),
            subjects: Subjects::parse(row.text("subjects"))?,
            userid: row.id("userid"),
        })
    }
}

/// What a transaction has recorded so far.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    recorded: BTreeMap<(&'static str, Operation), Recorded>,
    /// Objects that the snapshot has to read again.
    pub(crate) reload: ToReload,
}

#[derive(Debug)]
struct Recorded {
    columns: BTreeSet<&'static str>,
    subjects: Subjects,
}

/// Objects that the snapshot may have to read again, templates and prototypes among them.
#[derive(Debug, Default)]
pub(crate) struct ToReload {
    pub(crate) hosts: BTreeSet<u64>,
    /// Hosts and templates; what is linked below these reads them too.
    pub(crate) hosts_below: BTreeSet<u64>,
    pub(crate) items: BTreeSet<u64>,
    pub(crate) triggers: BTreeSet<u64>,
    pub(crate) discovery: bool,
    pub(crate) everything: bool,
}

impl ToReload {
    fn extend(&mut self, more: Self) {
        self.hosts.extend(more.hosts);
        self.hosts_below.extend(more.hosts_below);
        self.items.extend(more.items);
        self.triggers.extend(more.triggers);
        self.discovery |= more.discovery;
        self.everything |= more.everything;
    }

    fn has_host(&self, host: u64) -> bool {
        self.hosts.contains(&host) || self.hosts_below.contains(&host)
    }
}

impl Changes {
    /// Records that rows of these subjects change.
    pub(crate) fn record(
        &mut self,
        table: &'static Table,
        operation: Operation,
        columns: impl IntoIterator<Item = impl AsRef<str>>,
        subjects: impl IntoIterator<Item = u64>,
    ) {
        let subjects: Vec<u64> = subjects.into_iter().collect();
        self.note(table, operation, columns, subjects.iter().copied());
        self.reload(table, subjects);
    }

    /// The same of new rows that name their hosts: an item of a host that is read again anyway needs
    /// no note of its own.
    pub(crate) fn record_on_hosts(
        &mut self,
        table: &'static Table,
        columns: impl IntoIterator<Item = impl AsRef<str>>,
        rows: &[(u64, u64)],
    ) {
        self.note(table, Operation::Insert, columns, rows.iter().map(|(id, _)| *id));
        let alone = rows.iter().filter(|(_, host)| !self.reload.has_host(*host));
        let alone: Vec<u64> = alone.map(|(id, _)| *id).collect();
        self.reload(table, alone);
    }

    /// Records that the database deletes these objects with their owners, with which the snapshot forgets
    /// them.
    pub(crate) fn record_cascade(&mut self, table: &'static Table, ids: impl Iterator<Item = u64>) {
        self.note(table, Operation::Delete, NO_COLUMNS, ids);
    }

    /// Records new rows of objects that are new themselves: the snapshot reads them with these.
    pub(crate) fn record_details(&mut self, table: &'static Table, subjects: &[u64]) {
        self.note(table, Operation::Insert, NO_COLUMNS, subjects.iter().copied());
    }

    fn note(
        &mut self,
        table: &'static Table,
        operation: Operation,
        columns: impl IntoIterator<Item = impl AsRef<str>>,
        subjects: impl Iterator<Item = u64>,
    ) {
        let numeric = table.subject_is_id();
        let recorded = self.recorded.entry((table.name, operation)).or_insert_with(|| Recorded {
            columns: BTreeSet::new(),
            subjects: if numeric { Subjects::Ids(RangeInclusiveSet::new()) } else { Subjects::Any },
        });
        let named = columns.into_iter().filter_map(|name| table.column(name.as_ref()));
        recorded.columns.extend(named.map(|column| column.name));
        subjects.for_each(|id| recorded.subjects.add(id));
    }

    fn reload(&mut self, table: &'static Table, subjects: impl IntoIterator<Item = u64>) {
        match table.reload {
            Reload::Nothing => {}
            Reload::Host(_) => self.reload.hosts.extend(subjects),
            Reload::HostsBelow(_) => self.reload.hosts_below.extend(subjects),
            // Its hosts are looked up where the rows are written.
            Reload::HostsOf { .. } => {}
            Reload::Item(_) => self.reload.items.extend(subjects),
            Reload::Trigger(_) => self.reload.triggers.extend(subjects),
            Reload::Discovery => self.reload.discovery = true,
            Reload::Everything => self.reload.everything = true,
        }
    }

    /// Adds what a part of the transaction has recorded.
    pub(crate) fn extend(&mut self, more: Self) {
        self.reload.extend(more.reload);
        for (key, more) in more.recorded {
            match self.recorded.entry(key) {
                std::collections::btree_map::Entry::Vacant(entry) => drop(entry.insert(more)),
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    let one = entry.get_mut();
                    one.columns.extend(more.columns);
                    match (&mut one.subjects, more.subjects) {
                        (Subjects::Ids(ids), Subjects::Ids(more)) => ids.extend(more),
                        (subjects, _) => *subjects = Subjects::Any,
                    }
                }
            }
        }
    }

    /// Whether rows of this subject were inserted in the transaction.
    pub(crate) fn inserted(&self, table: &'static str, id: u64) -> bool {
        let recorded = self.recorded.get(&(table, Operation::Insert));
        recorded.is_some_and(|recorded| recorded.subjects.contains(id))
    }

    /// The deleted objects.
    pub(crate) fn deleted(&self) -> Deleted {
        let of = |table| {
            let recorded = self.recorded.get(&(table, Operation::Delete));
            recorded.into_iter().flat_map(|recorded| recorded.subjects.ids())
        };
        Deleted {
            items: of("items").map(ItemId).collect(),
            triggers: of("triggers").map(TriggerId).collect(),
            actions: of("actions").collect(),
            users: of("users").collect(),
        }
    }

    /// Whether rows of this table have changed.
    pub(crate) fn concern(&self, table: &str) -> bool {
        self.recorded.keys().any(|(name, _)| *name == table)
    }

    /// Whether anything has changed that discovery rules read.
    pub(crate) fn concern_discovery(&self) -> bool {
        self.lasting().any(|(table, ..)| table.is_read_by_discovery())
    }

    /// Whether anything has changed that decides who may sign in, and with which rights.
    pub(crate) fn concern_access(&self) -> bool {
        self.lasting().any(|(table, ..)| table.is_of_access())
    }

    /// Rows for the table `changes`, in the order of [`Change::COLUMNS`].
    pub(crate) fn rows(&self, revision: u64, userid: u64) -> Vec<Vec<Value>> {
        let row =
            |(position, (table, operation, recorded)): (i64, (&Table, Operation, &Recorded))| {
                let columns: Vec<&str> = recorded.columns.iter().copied().collect();
                vec![
                    Value::from(revision),
                    position.into(),
                    table.name.into(),
                    operation.word().into(),
                    columns.join(",").into(),
                    recorded.subjects.text().into(),
                    userid.into(),
                ]
            };
        (0_i64..).zip(self.lasting()).map(row).collect()
    }

    /// Whether the transaction has changed the configuration.
    pub(crate) fn is_lasting(&self) -> bool {
        self.lasting().next().is_some()
    }

    /// Without changes of states.
    fn lasting(&self) -> impl Iterator<Item = (&'static Table, Operation, &Recorded)> {
        self.recorded.iter().filter_map(|((name, operation), recorded)| {
            let table = Table::named(name);
            let of_state = *operation == Operation::Update
                && recorded.columns.iter().all(|column| table.is_state_column(column));
            (!of_state && table.is_recorded()).then_some((table, *operation, recorded))
        })
    }
}

const NO_COLUMNS: [&str; 0] = [];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn subjects(ids: &[u64]) -> Subjects {
        let mut subjects = Subjects::Ids(RangeInclusiveSet::new());
        ids.iter().for_each(|id| subjects.add(*id));
        subjects
    }

    #[test]
    fn subjects_are_written_as_ranges_and_read_back() {
        for (ids, text) in [
            (&[][..], ""),
            (&[7], "7"),
            (&[3, 1, 2, 9], "1-3,9"),
            (&[u64::MAX, u64::MAX - 1], "18446744073709551614-18446744073709551615"),
        ] {
            assert_eq!(subjects(ids).text(), text);
            assert_eq!(Subjects::parse(text), Some(subjects(ids)));
        }
        assert_eq!(Subjects::parse("*"), Some(Subjects::Any));
        for broken in ["x", "5-", "9-3"] {
            assert_eq!(Subjects::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_list_of_ids_that_is_too_long_stands_for_any() {
        let ids: Vec<u64> = (0..40_000).map(|n| n * 2).collect();
        assert_eq!(subjects(&ids).text(), "*");
    }

    #[test]
    fn states_are_no_lasting_change() {
        let hosts = &table::HOSTS;
        let mut changes = Changes::default();
        changes.record(hosts, Operation::Update, ["maintenanceid", "maintenance_status"], [7]);
        assert!(!changes.is_lasting() && !changes.concern_discovery());
        assert!(changes.reload.hosts.contains(&7), "monitoring reads it all the same");
        changes.record(hosts, Operation::Update, ["name"], [8]);
        assert_eq!(changes.rows(1, 0).len(), 1);
        assert!(changes.concern_discovery());
    }

    #[test]
    fn an_item_of_a_host_that_is_read_again_is_not_noted() {
        let items = &table::ITEMS;
        let mut changes = Changes::default();
        changes.record(&table::HOSTS, Operation::Insert, ["host"], [7]);
        changes.record_on_hosts(items, ["key_"], &[(100, 7), (101, 8)]);
        assert_eq!(changes.reload.items, BTreeSet::from([101]));
        assert!(changes.inserted("items", 100) && !changes.inserted("items", 102));
    }
}
