//! What exists of a rule's items, triggers and graphs, by the rows that give them: ids and keys alone.
//!
//! It is read once for all windows of a value, so it may be out of date when a window is worked off.
//! It therefore only says which ids to look at; what is compared is read again by these ids.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::items::wanted;
use super::places::Place;
use super::rule::Rule;
use super::slot::Slot;
use super::substitute::Substitution;
use super::window::Found;
use crate::db::{DbResult, Reader, query_by_ids};

/// The objects of a rule that earlier values made, and which rows of this value they belong to.
pub(super) struct Index {
    /// Of each item prototype: its items by key.
    by_key: Vec<HashMap<String, u64>>,
    /// Of each item prototype: keys that it had when its items were made, if they were others.
    old_keys: Vec<BTreeSet<String>>,
    /// Index of an item's prototype, and the item.
    items: Vec<(usize, u64)>,
    triggers: Vec<u64>,
    graphs: Vec<u64>,
    /// How many of these triggers use an item, of items with any.
    triggers_of_items: HashMap<u64, usize>,
    /// Index of a row, and an item that may be this row's; sorted.
    items_of_rows: Vec<(usize, u64)>,
    /// The same of triggers.
    triggers_of_rows: Vec<(usize, u64)>,
    /// The same of graphs.
    graphs_of_rows: Vec<(usize, u64)>,
    /// Keys that are given more than once: who gets them.
    winners: HashMap<String, Slot>,
}

impl Index {
    /// Reads what exists and compares it with the rows.
    pub(super) fn load(connection: &mut dyn Reader, rule: &Rule, rows: &[Place]) -> DbResult<Self> {
        let mut index = Self {
            by_key: vec![HashMap::new(); rule.items.len()],
            old_keys: vec![BTreeSet::new(); rule.items.len()],
            items: Vec::new(),
            triggers: Vec::new(),
            graphs: Vec::new(),
            triggers_of_items: HashMap::new(),
            items_of_rows: Vec::new(),
            triggers_of_rows: Vec::new(),
            graphs_of_rows: Vec::new(),
            winners: HashMap::new(),
        };
        index.load_items(connection, rule)?;
        let several = index.match_rows(rule, rows);
        index.winners = winners(rule, rows, &several);
        let rows_of = index.rows_of_items();
        index.load_triggers(connection, rule, &rows_of)?;
        index.load_graphs(connection, rule, &rows_of)?;
        Ok(index)
    }

    fn load_items(&mut self, connection: &mut dyn Reader, rule: &Rule) -> DbResult<()> {
        let parents: Vec<u64> = rule.items.iter().map(|one| one.row.id("itemid")).collect();
        let indexes: HashMap<u64, usize> = parents.iter().copied().zip(0..).collect();
        let sql = "SELECT i.itemid, i.key_, d.parent_itemid, d.key_ AS d_key FROM item_discovery d \
                   JOIN items i ON i.itemid = d.itemid WHERE d.parent_itemid IN ({ids})";
        for row in query_by_ids(connection, sql, &[], &parents)? {
            let Some(at) = indexes.get(&row.id("parent_itemid")).copied() else { continue };
            let (id, pattern) = (row.id("itemid"), row.text("d_key"));
            if pattern != rule.items[at].row.text("key_") {
                self.old_keys[at].insert(pattern.to_owned());
            }
            self.by_key[at].insert(row.text("key_").to_owned(), id);
            self.items.push((at, id));
        }
        Ok(())
    }

    /// Finds the items that rows may give; returns the keys that are given more than once.
    fn match_rows(&mut self, rule: &Rule, rows: &[Place]) -> HashSet<String> {
        let patterns = patterns(rule);
        let mut is_given_again: HashMap<String, bool> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            let row = Substitution::new(&row.row, &rule.tz);
            for (at, pattern) in patterns.iter().enumerate() {
                let Ok(key) = row.key(pattern) else { continue };
                let olds = self.old_keys[at].iter().filter_map(|old| row.key(old).ok());
                let by_key = &self.by_key[at];
                let ids = std::iter::once(key.clone()).chain(olds);
                self.items_of_rows.extend(ids.filter_map(|key| Some((place, *by_key.get(&key)?))));
                is_given_again.entry(key).and_modify(|again| *again = true).or_insert(false);
            }
        }
        self.items_of_rows.sort_unstable();
        self.items_of_rows.dedup();
        is_given_again.into_iter().filter_map(|(key, again)| again.then_some(key)).collect()
    }

    /// The rows that items may be of.
    fn rows_of_items(&self) -> HashMap<u64, Vec<usize>> {
        let mut rows_of: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, item) in &self.items_of_rows {
            rows_of.entry(*item).or_default().push(*place);
        }
        rows_of
    }

    /// A trigger belongs to the rows of the first of its items that belongs to any.
    fn load_triggers(
        &mut self,
        connection: &mut dyn Reader,
        rule: &Rule,
        rows_of: &HashMap<u64, Vec<usize>>,
    ) -> DbResult<()> {
        let parents: Vec<u64> = rule.triggers.iter().map(|one| one.row.id("triggerid")).collect();
        let sql = "SELECT d.triggerid, COALESCE(f.itemid, 0) AS itemid FROM trigger_discovery d \
                   LEFT JOIN functions f ON f.triggerid = d.triggerid \
                   WHERE d.parent_triggerid IN ({ids}) ORDER BY d.triggerid, f.functionid";
        let (mut placed, mut used) = (HashSet::new(), HashSet::new());
        for row in query_by_ids(connection, sql, &[], &parents)? {
            let (id, item) = (row.id("triggerid"), row.id("itemid"));
            if self.triggers.last() != Some(&id) {
                self.triggers.push(id);
                used.clear();
            }
            if used.insert(item) {
                *self.triggers_of_items.entry(item).or_default() += 1;
            }
            if let Some(places) = rows_of.get(&item)
                && placed.insert(id)
            {
                self.triggers_of_rows.extend(places.iter().map(|place| (*place, id)));
            }
        }
        self.triggers_of_rows.sort_unstable();
        Ok(())
    }

    /// The same of graphs.
    fn load_graphs(
        &mut self,
        connection: &mut dyn Reader,
        rule: &Rule,
        rows_of: &HashMap<u64, Vec<usize>>,
    ) -> DbResult<()> {
        let parents: Vec<u64> = rule.graphs.iter().map(|one| one.row.id("graphid")).collect();
        let sql = "SELECT d.graphid, COALESCE(f.itemid, 0) AS itemid FROM graph_discovery d \
                   LEFT JOIN graph_items f ON f.graphid = d.graphid \
                   WHERE d.parent_graphid IN ({ids}) ORDER BY d.graphid, f.gitemid";
        let mut placed = HashSet::new();
        for row in query_by_ids(connection, sql, &[], &parents)? {
            let id = row.id("graphid");
            if self.graphs.last() != Some(&id) {
                self.graphs.push(id);
            }
            if let Some(places) = rows_of.get(&row.id("itemid"))
                && placed.insert(id)
            {
                self.graphs_of_rows.extend(places.iter().map(|place| (*place, id)));
            }
        }
        self.graphs_of_rows.sort_unstable();
        Ok(())
    }

    /// Items that may be those of these rows.
    pub(super) fn items_of(&self, rows: &Range<usize>) -> BTreeSet<u64> {
        of_rows(&self.items_of_rows, rows)
    }

    /// Triggers that may be those of these rows.
    pub(super) fn triggers_of(&self, rows: &Range<usize>) -> BTreeSet<u64> {
        of_rows(&self.triggers_of_rows, rows)
    }

    /// Graphs that may be those of these rows.
    pub(super) fn graphs_of(&self, rows: &Range<usize>) -> BTreeSet<u64> {
        of_rows(&self.graphs_of_rows, rows)
    }

    /// The item made for this prototype and row, if it is free: by the key, or by the key that the row
    /// gives with what the prototype's key was before.
    pub(super) fn item(
        &self,
        prototype: usize,
        key: &str,
        row: &Substitution<'_>,
        is_free: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let by = |key: &str| self.by_key[prototype].get(key).copied().filter(|id| is_free(*id));
        by(key)
            .or_else(|| self.old_keys[prototype].iter().find_map(|old| by(&row.key(old).ok()?)))
    }

    /// Whether no other prototype or row gets the key that this one gives.
    pub(super) fn gets_key(&self, key: &str, slot: Slot) -> bool {
        self.winners.get(key).is_none_or(|winner| *winner == slot)
    }

    /// Items that no row gives, dependent ones before their masters, in portions of so many objects: an
    /// item takes its triggers along.
    pub(super) fn lost_items(&self, found: &Found, portion: usize) -> Vec<Vec<u64>> {
        let mut lost = self.items.clone();
        lost.retain(|(_, id)| !found.items.contains(id));
        lost.sort_unstable_by(|a, b| b.cmp(a));
        let triggers = |id| self.triggers_of_items.get(&id).copied().unwrap_or_default();
        // A trigger that goes changes those that depend on it, too.
        portions(lost.into_iter().map(|(_, id)| (id, 1 + 2 * triggers(id))), portion)
    }

    /// Triggers that no row gives, in portions.
    pub(super) fn lost_triggers(&self, found: &Found, portion: usize) -> Vec<Vec<u64>> {
        let lost = self.triggers.iter().filter(|id| !found.triggers.contains(id));
        portions(lost.map(|id| (*id, 1)), portion)
    }

    /// Graphs that no row gives, in portions.
    pub(super) fn lost_graphs(&self, found: &Found, portion: usize) -> Vec<Vec<u64>> {
        let lost = self.graphs.iter().filter(|id| !found.graphs.contains(id));
        portions(lost.map(|id| (*id, 1)), portion)
    }
}

/// Splits ids, each with the number of objects that it stands for, so that those of a portion are up to
/// `max` objects together, or one id.
pub(super) fn portions(ids: impl Iterator<Item = (u64, usize)>, max: usize) -> Vec<Vec<u64>> {
    let mut portions: Vec<Vec<u64>> = Vec::new();
    let mut room = 0;
    for (id, objects) in ids {
        match portions.last_mut() {
            Some(last) if objects <= room => {
                last.push(id);
                room -= objects;
            }
            _ => {
                portions.push(vec![id]);
                room = max.saturating_sub(objects);
            }
        }
    }
    portions
}

fn of_rows(pairs: &[(usize, u64)], rows: &Range<usize>) -> BTreeSet<u64> {
    let first = pairs.partition_point(|(place, _)| *place < rows.start);
    let pairs = pairs[first..].iter().take_while(|(place, _)| *place < rows.end);
    pairs.map(|(_, id)| *id).collect()
}

fn patterns(rule: &Rule) -> Vec<&str> {
    rule.items.iter().map(|one| one.row.text("key_")).collect()
}

/// Who gets keys that are given more than once: the first row of the first prototype that makes an item
/// of them. That does not depend on the windows in which rows are worked off.
fn winners(rule: &Rule, rows: &[Place], several: &HashSet<String>) -> HashMap<String, Slot> {
    let mut winners = HashMap::new();
    if several.is_empty() {
        return winners;
    }
    for (prototype, pattern) in patterns(rule).iter().enumerate() {
        for (row, place) in rows.iter().enumerate() {
            let slot = Slot { prototype, row };
            let Ok(key) = Substitution::new(&place.row, &rule.tz).key(pattern) else { continue };
            if several.contains(&key)
                && !winners.contains_key(&key)
                && makes_item(rule, rows, &winners, slot)
            {
                winners.insert(key, slot);
            }
        }
    }
    winners
}

/// Whether the prototype is an item in this row; masters are decided before their dependents.
fn makes_item(rule: &Rule, rows: &[Place], winners: &HashMap<String, Slot>, slot: Slot) -> bool {
    let prototype = &rule.items[slot.prototype];
    let Ok(Some(wanted)) = wanted(rule, prototype, &rows[slot.row], 0) else { return false };
    winners.get(&wanted.key).is_none_or(|winner| *winner == slot)
        && prototype
            .master
            .is_none_or(|prototype| makes_item(rule, rows, winners, Slot { prototype, ..slot }))
}

#[cfg(test)]
mod tests {
    use super::portions;

    #[test]
    fn portions_are_full_and_have_at_least_one_id() {
        let of = |max| portions([(1, 2), (2, 2), (3, 1), (4, 9), (5, 1)].into_iter(), max);
        assert_eq!(of(5), [vec![1, 2, 3], vec![4], vec![5]]);
        assert_eq!(of(1), [[1], [2], [3], [4], [5]]);
        assert_eq!(of(100), [[1, 2, 3, 4, 5]]);
        assert!(portions(std::iter::empty(), 5).is_empty());
    }
}
