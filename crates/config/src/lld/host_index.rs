//! What exists of a rule's hosts: ids and names alone, read once for all windows of a value as the
//! [`Index`](super::index::Index) of items is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use objects::sql::{KIND_HOST, KIND_TEMPLATE};

use super::groups::Made;
use super::index::portions;
use super::places::Place;
use super::rule::Rule;
use super::slot::Slot;
use super::substitute::Substitution;
use crate::db::{DbResult, Reader, Value, placeholders, query_by_ids};

/// The hosts that earlier values made.
pub(super) struct HostIndex {
    /// By the prototype's id and the technical name.
    by_name: HashMap<(u64, String), u64>,
    /// Technical names that prototypes had when their hosts were made, if they were others.
    old_patterns: HashMap<u64, BTreeSet<String>>,
    all: Vec<u64>,
    rows: usize,
    /// Objects that a new host has at most.
    objects: usize,
}

/// Some hosts that rows give: of the first prototype all rows, then of the next. A host refers to no other,
/// so each window is complete in itself.
pub(super) struct HostWindow<'a> {
    pub(super) index: &'a HostIndex,
    places: Range<usize>,
    /// What earlier windows have found.
    pub(super) found: &'a FoundHosts,
}

/// What rows give.
#[derive(Debug, Default)]
pub(super) struct FoundHosts {
    /// Hosts that existed.
    pub(super) ids: HashSet<u64>,
    /// Technical names.
    pub(super) hosts: HashSet<String>,
    /// Visible names.
    pub(super) names: HashSet<String>,
    /// Groups that patterns name.
    pub(super) groups: BTreeSet<Made>,
}

impl FoundHosts {
    pub(super) fn extend(&mut self, more: Self) {
        self.ids.extend(more.ids);
        self.hosts.extend(more.hosts);
        self.names.extend(more.names);
        self.groups.extend(more.groups);
    }
}

impl HostIndex {
    pub(super) fn load(connection: &mut dyn Reader, rule: &Rule, rows: &[Place]) -> DbResult<Self> {
        let sql = format!(
            "SELECT h.hostid, h.host, d.parent_hostid, d.host AS d_host FROM host_discovery d \
             JOIN hosts h ON h.hostid = d.hostid \
             WHERE h.kind = {KIND_HOST} AND d.parent_itemid = ? ORDER BY h.hostid"
        );
        let patterns: HashMap<u64, &str> =
            rule.hosts.iter().map(|one| (one.id(), one.row.text("host"))).collect();
        let (mut by_name, mut old_patterns) = (HashMap::new(), HashMap::new());
        let mut all = Vec::new();
        for row in connection.query(&sql, &[rule.id.into()])? {
            let (id, parent) = (row.id("hostid"), row.id("parent_hostid"));
            let pattern = row.text("d_host");
            if patterns.get(&parent).is_some_and(|now| *now != pattern) {
                let old: &mut BTreeSet<String> = old_patterns.entry(parent).or_default();
                old.insert(pattern.to_owned());
            }
            by_name.insert((parent, row.text("host").to_owned()), id);
            all.push(id);
        }
        let objects = objects_of_templates(connection, rule)?.saturating_add(1);
        Ok(Self { by_name, old_patterns, all, rows: rows.len(), objects })
    }

    /// Windows whose new hosts have up to `portion` objects together, or one host.
    pub(super) fn windows(
        &self,
        rule: &Rule,
        portion: usize,
    ) -> impl Iterator<Item = Range<usize>> {
        let (all, size) = (rule.hosts.len() * self.rows, (portion / self.objects).max(1));
        (0..all).step_by(size).map(move |first| first..all.min(first.saturating_add(size)))
    }

    pub(super) fn window<'a>(
        &'a self,
        places: Range<usize>,
        found: &'a FoundHosts,
    ) -> HostWindow<'a> {
        HostWindow { index: self, places, found }
    }

    /// The host made for this prototype and row, if it is free: by its name, or by the name that the row
    /// gives with what the prototype's name was before.
    pub(super) fn host(
        &self,
        prototype: u64,
        host: &str,
        row: &Substitution<'_>,
        is_free: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let by = |host: &str| {
            let id = self.by_name.get(&(prototype, host.to_owned())).copied()?;
            is_free(id).then_some(id)
        };
        by(host).or_else(|| {
            self.old_patterns.get(&prototype)?.iter().find_map(|old| by(&row.name(old)))
        })
    }

    /// Hosts that no row gives, in portions of so many objects: a host takes its items along.
    pub(super) fn lost(
        &self,
        connection: &mut dyn Reader,
        found: &FoundHosts,
        portion: usize,
    ) -> DbResult<Vec<Vec<u64>>> {
        let lost: Vec<u64> =
            self.all.iter().copied().filter(|id| !found.ids.contains(id)).collect();
        let sql = "SELECT hostid, COUNT(*) AS n FROM items WHERE hostid IN ({ids}) GROUP BY hostid";
        let mut items: HashMap<u64, usize> = HashMap::new();
        for row in query_by_ids(connection, sql, &[], &lost)? {
            items.insert(row.id("hostid"), usize::try_from(row.int("n")).unwrap_or(0));
        }
        let objects = |id: &u64| 1 + items.get(id).copied().unwrap_or_default();
        Ok(portions(lost.iter().map(|id| (*id, objects(id))), portion))
    }
}

impl HostWindow<'_> {
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        let rows = self.index.rows.max(1);
        self.places.clone().map(move |at| Slot { prototype: at / rows, row: at % rows })
    }

    /// Hosts that may be those of the window.
    pub(super) fn candidates(&self, rule: &Rule, rows: &[Place]) -> Vec<u64> {
        let mut ids = BTreeSet::new();
        for slot in self.slots() {
            let (prototype, row) = (&rule.hosts[slot.prototype], &rows[slot.row]);
            let row = Substitution::new(&row.row, &rule.tz);
            let olds = self.index.old_patterns.get(&prototype.id()).into_iter().flatten();
            for pattern in olds.map(String::as_str).chain([prototype.row.text("host")]) {
                ids.extend(self.index.by_name.get(&(prototype.id(), row.name(pattern))));
            }
        }
        ids.into_iter().filter(|id| !self.found.ids.contains(id)).collect()
    }
}

/// Items and triggers of the templates of the prototype that has most, with those that overrides add.
fn objects_of_templates(connection: &mut dyn Reader, rule: &Rule) -> DbResult<usize> {
    let added = || {
        let operations = rule.overrides.iter().flat_map(|one| &one.operations);
        operations.flat_map(|operation| &operation.templates)
    };
    let mut most = 0;
    for prototype in &rule.hosts {
        let names = added().filter_map(|template| template.as_ref().err());
        let names: BTreeSet<&String> = prototype.templates.iter().chain(names).collect();
        let mut ids: BTreeSet<u64> = added().filter_map(|one| one.as_ref().ok().copied()).collect();
        for names in Vec::from_iter(names).chunks(1_000) {
            let sql = format!(
                "SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND host IN ({})",
                placeholders(names.len())
            );
            let params: Vec<Value> = names.iter().map(|name| Value::from(name.as_str())).collect();
            ids.extend(connection.query(&sql, &params)?.iter().map(|row| row.id("hostid")));
        }
        let ids = Vec::from_iter(ids);
        let items = "SELECT COUNT(*) AS n FROM items WHERE hostid IN ({ids})";
        let triggers = "SELECT COUNT(DISTINCT f.triggerid) AS n FROM functions f \
                        JOIN items i ON i.itemid = f.itemid WHERE i.hostid IN ({ids})";
        let mut objects = 0;
        for sql in [items, triggers] {
            let rows = query_by_ids(connection, sql, &[], &ids)?;
            objects += rows.iter().map(|row| row.id("n")).sum::<u64>();
        }
        most = most.max(usize::try_from(objects).unwrap_or(usize::MAX));
    }
    Ok(most)
}
