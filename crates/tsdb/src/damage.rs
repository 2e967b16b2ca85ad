//! What the disk lost: every damaged or missing part of the files, with the items and the time range
//! that it may concern.
//!
//! Damage is found when a directory is opened, and later when a block is read. It is kept in the
//! [manifest](crate::manifest), so that a later start still reports it.

use std::sync::{Arc, Mutex};

use model::ItemId;
use stdx::clock::SharedClock;
use stdx::sync::lock;

use crate::kind::Span;

/// Records kept; older ones go first.
const RECORDS_MAX: usize = 1_000;
/// Ranges of items in one record; with more, neighbouring ranges are joined.
const RANGES_MAX: usize = 1_000;
/// Records are kept for this long, longer than the values of most items.
const KEPT_S: u32 = 400 * 86_400;

/// Part of a file that does not hold what was written, or a file that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file's name in the directory of its engine; for a folder the name of the folder.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
    /// When it was found, in seconds since 1970.
    pub found_at: u32,
    /// Values of this time range are missing; `None` = no values are missing.
    pub span: Option<Span>,
    /// Rows that are missing (a trend has four); `None` = unknown.
    pub rows: Option<u64>,
    /// Items whose values are missing, as ranges of ids with both ends inclusive; `None` = any item of
    /// the shard may be concerned.
    pub items: Option<Vec<(ItemId, ItemId)>>,
}

impl Damage {
    /// Damage that costs no values.
    pub(crate) fn harmless(file: &str, what: &str) -> Self {
        let (file, what) = (file.to_owned(), what.to_owned());
        Self { file, what, found_at: 0, span: None, rows: Some(0), items: Some(Vec::new()) }
    }

    /// Values of unknown items are missing.
    pub fn of_any_item(file: &str, what: &str, span: Span, rows: Option<u64>) -> Self {
        let (file, what) = (file.to_owned(), what.to_owned());
        Self { file, what, found_at: 0, span: Some(span), rows, items: None }
    }

    /// May values of this item be missing?
    pub fn may_concern(&self, item: ItemId) -> bool {
        let has = |ranges: &Vec<(ItemId, ItemId)>| {
            let place = ranges.partition_point(|&(_, last)| last < item);
            ranges.get(place).is_some_and(|&(first, _)| first <= item)
        };
        self.span.is_some() && self.items.as_ref().is_none_or(has)
    }

    /// Number of items; `None` = unknown.
    pub fn item_count(&self) -> Option<u64> {
        let ranges = self.items.as_ref()?;
        Some(ranges.iter().map(|(first, last)| last.0 - first.0 + 1).sum())
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.file, &self.what, self.span, &self.items)
            == (&other.file, &other.what, other.span, &other.items)
    }
}

/// Ranges of sorted or unsorted ids.
pub(crate) fn ranges(items: impl IntoIterator<Item = u64>) -> Vec<(ItemId, ItemId)> {
    let mut all: Vec<u64> = items.into_iter().collect();
    all.sort_unstable();
    let mut ranges: Vec<(ItemId, ItemId)> = Vec::new();
    for item in all {
        match ranges.last_mut() {
            Some((_, last)) if last.0 == item || last.0.checked_add(1) == Some(item) => {
                last.0 = item;
            }
            _ => ranges.push((ItemId(item), ItemId(item))),
        }
    }
    let joined = ranges.chunks(ranges.len().div_ceil(RANGES_MAX).max(1));
    joined.filter_map(|few| Some((few.first()?.0, few.last()?.1))).collect()
}

#[derive(Default)]
struct Records {
    all: Vec<Damage>,
    /// Records that [`DamageLog::take_new`] has not returned yet.
    new: Vec<Damage>,
    /// Some are not in the manifest yet.
    changed: bool,
}

/// The damage of one engine's directory, shared with the threads that read from it.
pub struct DamageLog {
    clock: SharedClock,
    records: Mutex<Records>,
}

impl std::fmt::Debug for DamageLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DamageLog").field("records", &self.len()).finish_non_exhaustive()
    }
}

impl DamageLog {
    /// With the records of earlier starts; those that are too old are dropped.
    pub(crate) fn new(clock: SharedClock, mut known: Vec<Damage>) -> Arc<Self> {
        let log = Self { clock, records: Mutex::default() };
        let now = log.now();
        known.retain(|damage| damage.found_at.saturating_add(KEPT_S) > now);
        lock(&log.records).all = known;
        Arc::new(log)
    }

    fn now(&self) -> u32 {
        u32::try_from(self.clock.unix_s()).unwrap_or(u32::MAX)
    }

    /// Takes a record in, unless there is the same already.
    pub fn add(&self, mut damage: Damage) {
        damage.found_at = self.now();
        let mut records = lock(&self.records);
        if records.all.iter().any(|known| known.is_same(&damage)) {
            return;
        }
        if records.all.len() >= RECORDS_MAX {
            records.all.remove(0);
        }
        records.all.push(damage.clone());
        records.changed = true;
        if records.new.len() < RECORDS_MAX {
            records.new.push(damage);
        }
    }

    /// All records, oldest first.
    pub fn all(&self) -> Vec<Damage> {
        lock(&self.records).all.clone()
    }

    /// Records of missing values.
    pub fn len(&self) -> usize {
        lock(&self.records).all.iter().filter(|damage| damage.span.is_some()).count()
    }

    /// No values are missing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records since the last call, for the log.
    pub fn take_new(&self) -> Vec<Damage> {
        std::mem::take(&mut lock(&self.records).new)
    }

    /// Must the manifest be written for new records?
    pub(crate) fn is_changed(&self) -> bool {
        lock(&self.records).changed
    }

    /// What the manifest has to hold, which is about to be written.
    pub(crate) fn to_write(&self) -> Vec<Damage> {
        let mut records = lock(&self.records);
        records.changed = false;
        records.all.clone()
    }

    /// Writing failed.
    pub(crate) fn not_written(&self) {
        lock(&self.records).changed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::clock::SimClock;

    #[test]
    fn damage_is_recorded_once_and_reported_once() {
        let clock = SimClock::at(std::time::Duration::from_secs(1_000));
        let log = DamageLog::new(clock, Vec::new());
        let damage = Damage::of_any_item("5.wal", "a block", Span::new(1, 2), None);
        log.add(damage.clone());
        log.add(damage.clone());
        log.add(Damage::harmless("manifest", "its checksum does not match"));
        assert_eq!((log.all().len(), log.len()), (2, 1));
        assert_eq!(log.take_new().len(), 2);
        assert!(log.take_new().is_empty() && log.is_changed());
        assert_eq!(log.to_write()[0], Damage { found_at: 1_000, ..damage });
        assert!(!log.is_changed());
    }

    #[test]
    fn damage_concerns_its_items_only() {
        let items = Some(ranges([7, 3, 4, 4, 5, u64::MAX]));
        assert_eq!(items.as_ref().unwrap().len(), 3);
        let many = ranges((0..10_000).map(|n| n * 3));
        assert_eq!(
            (many.len(), many[0], many[999].1),
            (1_000, (ItemId(0), ItemId(27)), ItemId(29_997))
        );
        let damage =
            Damage { items, ..Damage::of_any_item("a.seg", "a block", Span::ALL, Some(1)) };
        for (item, concerned) in
            [(2, false), (3, true), (5, true), (6, false), (7, true), (9, false)]
        {
            assert_eq!(damage.may_concern(ItemId(item)), concerned, "{item}");
        }
        assert_eq!(damage.item_count(), Some(5));
        assert!(!Damage { span: None, ..damage }.may_concern(ItemId(3)));
    }
}
