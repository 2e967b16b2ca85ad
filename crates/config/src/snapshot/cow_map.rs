//! A hash map in pages of buckets that are shared until written: cloning costs one pointer per
//! page, a change copies one page of pointers and one bucket.

use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::iter::repeat_n;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use model::{CompactString, HostId, ItemId, TriggerId};
use stdx::sys::prefetch;

/// Buckets of a page. A clone of a map with a million entries touches 64 to 128 pointers, the
/// change of one entry about 300 more.
const PAGE: usize = 256;
/// Entries that a bucket has on average, at most, before there are twice as many buckets. Changes
/// come by the thousand and meet a bucket each: what they copy grows with this number, not with
/// the map.
const BUCKET_MAX: usize = 64;
/// Ids of one run share a bucket.
const RUN: u64 = 16;

type Bucket<K, V> = HashTable<(K, V)>;
type Page<K, V> = Vec<Arc<Bucket<K, V>>>;

/// A map that many snapshots share.
#[derive(Debug, Clone)]
pub struct CowMap<K, V> {
    /// A power of two.
    pages: Box<[Arc<Page<K, V>>]>,
    len: usize,
}

impl<K, V> Default for CowMap<K, V> {
    fn default() -> Self {
        Self { pages: empty(1), len: 0 }
    }
}

fn empty<K, V>(pages: usize) -> Box<[Arc<Page<K, V>>]> {
    let page = Arc::new(repeat_n(Arc::new(HashTable::new()), PAGE).collect());
    repeat_n(page, pages).collect()
}

/// Where a key is looked up, in maps of any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its upper bits choose the bucket.
    bucket: u64,
    /// The hash in this bucket.
    hash: u64,
}

/// A key of a [`CowMap`].
pub trait Spread {
    /// Where it is looked up.
    fn place(&self) -> Place;
}

/// Neighbours are together: a walk in the order of ids finds a bucket in the processor's caches, and
/// objects that were made together change few buckets.
impl Spread for u64 {
    fn place(&self) -> Place {
        // Multiples of the golden ratio fill all buckets evenly.
        let bucket = (self / RUN).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Place { bucket, hash: FixedState::default().hash_one(self) }
    }
}

impl Spread for str {
    fn place(&self) -> Place {
        let bucket = FixedState::default().hash_one(self);
        // A bucket has names whose upper bits agree: other bits tell them apart.
        Place { bucket, hash: bucket.rotate_left(u64::BITS / 2) }
    }
}

impl Spread for CompactString {
    fn place(&self) -> Place {
        str::place(self)
    }
}

macro_rules! spread_ids {
    ($($id:ident),+) => {
        $(impl Spread for $id {
            fn place(&self) -> Place {
                self.0.place()
            }
        })+
    };
}

spread_ids!(HostId, ItemId, TriggerId);

fn find<'a, K: Borrow<Q>, V, Q: Eq + ?Sized>(
    bucket: &'a Bucket<K, V>,
    place: Place,
    key: &Q,
) -> Option<&'a V> {
    let is = |entry: &(K, V)| entry.0.borrow() == key;
    bucket.find(place.hash, is).map(|(_, value)| value)
}

fn set<K: Eq + Spread, V>(bucket: &mut Bucket<K, V>, key: K, value: V) -> Option<V> {
    let rehash = |entry: &(K, V)| entry.0.place().hash;
    match bucket.entry(key.place().hash, |entry| entry.0 == key, rehash) {
        Entry::Occupied(mut entry) => Some(std::mem::replace(&mut entry.get_mut().1, value)),
        Entry::Vacant(entry) => {
            entry.insert((key, value));
            None
        }
    }
}

impl<K: Eq + Clone + Spread, V: Clone> CowMap<K, V> {
    /// Entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Places for entries in all buckets together.
    pub(super) fn capacity(&self) -> usize {
        self.buckets().map(|bucket| bucket.capacity() * 8 / 7).sum()
    }

    /// Has no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of `key`.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Spread + ?Sized,
    {
        self.get_at(key.place(), key)
    }

    /// The value of `key`, whose place is known.
    pub(super) fn get_at<Q>(&self, place: Place, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        find(self.bucket(place), place, key)
    }

    /// Brings the bucket of a place near the processor, and does not wait for it.
    pub(super) fn look_at(&self, place: Place) {
        prefetch(self.bucket(place));
    }

    /// Brings the likely entry of a place near the processor, whose bucket is near by now.
    pub(super) fn look_into(&self, place: Place) {
        if let Some(entry) = self.bucket(place).find(place.hash, |_| true) {
            prefetch(entry);
        }
    }

    /// Sets the value of `key`; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.make_room(1);
        let before = set(self.bucket_mut(key.place()), key, value);
        self.len += usize::from(before.is_none());
        before
    }

    /// Sets many values: each bucket grows once, to what it needs.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        let entries: Vec<(K, V)> = entries.into_iter().collect();
        self.make_room(entries.len());
        let mut counts = vec![0; self.pages.len() * PAGE];
        for (key, _) in &entries {
            counts[self.at(key.place())] += 1;
        }
        for (at, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            self.at_mut(at).reserve(count, |entry| entry.0.place().hash);
        }
        for (key, value) in entries {
            let before = set(self.bucket_mut(key.place()), key, value);
            self.len += usize::from(before.is_none());
        }
    }

    /// Removes `key`; returns its value.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Spread + ?Sized,
    {
        // What is not there is no reason to copy a bucket.
        let place = key.place();
        self.get_at(place, key)?;
        let is = |entry: &(K, V)| entry.0.borrow() == key;
        let found = self.bucket_mut(place).find_entry(place.hash, is).ok()?;
        let ((_, before), _) = found.remove();
        self.len -= 1;
        Some(before)
    }

    /// All entries, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.buckets().flat_map(|bucket| bucket.iter()).map(|(key, value)| (key, value))
    }

    /// All values, in no order that means anything.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// What differs from an earlier state: `(key, value before, value now)`. Looks only into
    /// buckets that the two states do not share.
    pub fn changes<'a>(
        &'a self,
        before: &'a Self,
        mut change: impl FnMut(&'a K, Option<&'a V>, Option<&'a V>),
    ) where
        V: Same,
    {
        if self.pages.len() != before.pages.len() {
            // Spread again in between: nothing is shared.
            differ(self.iter(), |key| before.get(key), before.iter(), |key| self.get(key), change);
            return;
        }
        let pages = self.pages.iter().zip(&before.pages);
        let pages = pages.filter(|(now, before)| !Arc::ptr_eq(now, before));
        for (now, before) in pages.flat_map(|(now, before)| now.iter().zip(before.iter())) {
            if Arc::ptr_eq(now, before) {
                continue;
            }
            let old = |key: &K| find(before, key.place(), key);
            let new = |key: &K| find(now, key.place(), key);
            let (all, all_before) = (
                now.iter().map(|(key, value)| (key, value)),
                before.iter().map(|(key, value)| (key, value)),
            );
            differ(all, old, all_before, new, &mut change);
        }
    }

    fn buckets(&self) -> impl Iterator<Item = &Arc<Bucket<K, V>>> {
        self.pages.iter().flat_map(|page| page.iter())
    }

    fn bucket(&self, place: Place) -> &Bucket<K, V> {
        let at = self.at(place);
        &self.pages[at / PAGE][at % PAGE]
    }

    fn bucket_mut(&mut self, place: Place) -> &mut Bucket<K, V> {
        self.at_mut(self.at(place))
    }

    fn at_mut(&mut self, at: usize) -> &mut Bucket<K, V> {
        Arc::make_mut(&mut Arc::make_mut(&mut self.pages[at / PAGE])[at % PAGE])
    }

    /// Number of the bucket of a place.
    fn at(&self, place: Place) -> usize {
        let buckets = self.pages.len() * PAGE;
        usize::try_from(place.bucket >> (u64::BITS - buckets.trailing_zeros())).unwrap_or(0)
    }

    /// Spreads the entries over more buckets where `more` of them would make these too full.
    fn make_room(&mut self, more: usize) {
        let pages = (self.len + more).div_ceil(PAGE * BUCKET_MAX);
        if pages <= self.pages.len() {
            return;
        }
        let before = std::mem::replace(&mut self.pages, empty(pages.next_power_of_two()));
        for bucket in before.iter().flat_map(|page| page.iter()) {
            for (key, value) in bucket.iter() {
                set(self.bucket_mut(key.place()), key.clone(), value.clone());
            }
        }
    }
}

/// Tells `change` in what the entries `now` differ from those `before`.
fn differ<'a, K: 'a, V: Same + 'a>(
    now: impl Iterator<Item = (&'a K, &'a V)>,
    old: impl Fn(&K) -> Option<&'a V>,
    before: impl Iterator<Item = (&'a K, &'a V)>,
    new: impl Fn(&K) -> Option<&'a V>,
    mut change: impl FnMut(&'a K, Option<&'a V>, Option<&'a V>),
) {
    for (key, value) in now {
        match old(key) {
            Some(old) if old.same(value) => {}
            old => change(key, old, Some(value)),
        }
    }
    for (key, value) in before.filter(|(key, _)| new(key).is_none()) {
        change(key, Some(value), None);
    }
}

/// Cheap comparison of shared values for [`CowMap::changes`]: the same object is no change.
pub trait Same {
    /// Both are one object.
    fn same(&self, other: &Self) -> bool;
}

impl<T: ?Sized> Same for Arc<T> {
    fn same(&self, other: &Self) -> bool {
        Self::ptr_eq(self, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(now: &CowMap<u64, Arc<u64>>, before: &CowMap<u64, Arc<u64>>) -> Vec<Change> {
        let mut seen = Vec::new();
        now.changes(before, |k, old, new| seen.push((*k, old.map(|v| **v), new.map(|v| **v))));
        seen.sort_unstable();
        seen
    }

    type Change = (u64, Option<u64>, Option<u64>);

    #[test]
    fn changes_name_what_was_added_replaced_and_removed() {
        // With the last size the new entry makes the map spread again.
        for len in [5_000, (PAGE * BUCKET_MAX) as u64] {
            let mut map = CowMap::default();
            map.extend((0..len).map(|i| (i, Arc::new(i))));
            let before = map.clone();
            assert_eq!(changes(&map, &before), []);
            map.insert(7, Arc::new(70));
            map.remove(&8);
            map.insert(999_998, Arc::new(1));
            map.insert(999_999, Arc::new(1));
            let seen = changes(&map, &before);
            let added = |key| (key, None, Some(1));
            let replaced = [(7, Some(7), Some(70)), (8, Some(8), None)];
            assert_eq!(seen, [&replaced[..], &[added(999_998), added(999_999)]].concat(), "{len}");
        }
    }

    #[test]
    fn a_clone_does_not_see_later_changes() {
        let mut map = CowMap::default();
        for i in 0..50_000_u64 {
            assert_eq!(map.insert(i, i * 2), None);
        }
        let before = map.clone();
        assert_eq!(map.insert(7, 0), Some(14));
        assert_eq!(map.remove(&800), Some(1_600));
        assert_eq!(map.remove(&50_000), None);
        assert_eq!(
            (before.get(&7), before.get(&800), before.len()),
            (Some(&14), Some(&1_600), 50_000)
        );
        assert_eq!((map.get(&7), map.get(&800), map.len()), (Some(&0), None, 49_999));
        let shared = before.buckets().zip(map.buckets()).filter(|(a, b)| Arc::ptr_eq(a, b));
        assert_eq!(shared.count(), map.buckets().count() - 2);
    }

    #[test]
    fn nothing_is_lost_while_the_map_spreads() {
        let mut map = CowMap::default();
        for i in 0..40_000_u64 {
            map.insert(i, i);
        }
        map.extend((20_000..150_000_u64).map(|i| (i, i + 1)));
        assert_eq!((map.len(), map.iter().count()), (150_000, 150_000));
        assert!((0..150_000).all(|i| map.get(&i) == Some(&(i + u64::from(i >= 20_000)))));
        let fullest = map.buckets().map(|bucket| bucket.len()).max().unwrap();
        assert!(fullest < 2 * BUCKET_MAX && map.pages.len().is_power_of_two(), "{fullest}");
    }

    #[test]
    fn ids_of_one_run_share_a_bucket_and_runs_are_spread_over_all() {
        // Ids one after the other, and far apart.
        for step in [1, 45, 4_096] {
            let mut map = CowMap::default();
            map.extend((1_000_000..2_000_000_u64).map(|i| (i * step, ())));
            for i in (1_000_000..2_000_000).step_by(16) {
                assert_eq!(map.at(i.place()), map.at((i + 15).place()), "{i}");
            }
            let fullest = map.buckets().map(|bucket| bucket.len()).max().unwrap();
            assert!(fullest < 2 * BUCKET_MAX, "{step}: {fullest}");
        }
    }
}
