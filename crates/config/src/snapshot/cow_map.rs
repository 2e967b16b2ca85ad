//! A hash map in buckets that are shared until written: cloning costs one pointer per bucket,
//! a change copies one bucket.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// 1,024 buckets: a clone touches 8 KB of pointers, and with 1,000,000 entries a change copies
/// about 1,000 of them (tens of microseconds).
const BUCKETS: usize = 1024;

type Bucket<K, V> = HashMap<K, V, FixedState>;

/// A map that many snapshots share.
#[derive(Debug, Clone)]
pub struct CowMap<K, V> {
    buckets: Box<[Arc<Bucket<K, V>>]>,
    len: usize,
}

impl<K, V> Default for CowMap<K, V> {
    fn default() -> Self {
        let empty = Arc::new(HashMap::with_hasher(FixedState::default()));
        Self { buckets: vec![empty; BUCKETS].into_boxed_slice(), len: 0 }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> CowMap<K, V> {
    /// Entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Places for entries in all buckets together.
    pub(super) fn capacity(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.capacity() * 8 / 7).sum()
    }

    /// Has no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of `key`.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.buckets.get(Self::bucket(key)).and_then(|bucket| bucket.get(key))
    }

    /// Sets the value of `key`; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let at = Self::bucket(&key);
        let bucket = self.buckets.get_mut(at).expect("BUG: bucket number out of range");
        let before = Arc::make_mut(bucket).insert(key, value);
        self.len += usize::from(before.is_none());
        before
    }

    /// Sets many values: each bucket grows once, to what it needs.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        let entries: Vec<(usize, K, V)> =
            entries.into_iter().map(|(key, value)| (Self::bucket(&key), key, value)).collect();
        let mut counts = vec![0; self.buckets.len()];
        for (at, ..) in &entries {
            counts[*at] += 1;
        }
        for (bucket, count) in self.buckets.iter_mut().zip(counts) {
            if count > 0 {
                Arc::make_mut(bucket).reserve(count);
            }
        }
        for (at, key, value) in entries {
            let bucket = Arc::get_mut(&mut self.buckets[at]).expect("BUG: made its own above");
            self.len += usize::from(bucket.insert(key, value).is_none());
        }
    }

    /// Removes `key`; returns its value.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let bucket = self.buckets.get_mut(Self::bucket(key))?;
        if !bucket.contains_key(key) {
            return None;
        }
        let before = Arc::make_mut(bucket).remove(key);
        self.len -= usize::from(before.is_some());
        before
    }

    /// All entries, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.buckets.iter().flat_map(|bucket| bucket.iter())
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
        for (now, before) in self.buckets.iter().zip(&before.buckets) {
            if Arc::ptr_eq(now, before) {
                continue;
            }
            for (key, value) in now.iter() {
                match before.get(key) {
                    Some(old) if old.same(value) => {}
                    old => change(key, old, Some(value)),
                }
            }
            for (key, old) in before.iter().filter(|(key, _)| !now.contains_key(*key)) {
                change(key, Some(old), None);
            }
        }
    }

    fn bucket<Q: Hash + ?Sized>(key: &Q) -> usize {
        // Another seed than the buckets' own, or each bucket would see only keys whose low bits agree.
        let hash = FixedState::with_seed(0x7665_6465_7474_6500).hash_one(key);
        usize::try_from(hash >> 54).unwrap_or(0) % BUCKETS
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
    #[test]
    fn changes_name_what_was_added_replaced_and_removed() {
        let mut map = CowMap::default();
        for i in 0..5_000_u64 {
            map.insert(i, Arc::new(i));
        }
        let before = map.clone();
        map.insert(7, Arc::new(70));
        map.insert(9_999, Arc::new(1));
        map.remove(&8);
        let mut seen = Vec::new();
        map.changes(&before, |k, old, new| seen.push((*k, old.map(|v| **v), new.map(|v| **v))));
        seen.sort_unstable();
        let expected = [(7, Some(7), Some(70)), (8, Some(8), None), (9_999, None, Some(1))];
        assert_eq!(seen, expected);
    }

    use super::*;

    #[test]
    fn a_clone_does_not_see_later_changes() {
        let mut map = CowMap::default();
        for i in 0..10_000_u64 {
            assert_eq!(map.insert(i, i * 2), None);
        }
        let before = map.clone();
        assert_eq!(map.insert(7, 0), Some(14));
        assert_eq!(map.remove(&8), Some(16));
        assert_eq!((before.get(&7), before.get(&8), before.len()), (Some(&14), Some(&16), 10_000));
        assert_eq!((map.get(&7), map.get(&8), map.len()), (Some(&0), None, 9_999));
        let shared = before.buckets.iter().zip(&map.buckets).filter(|(a, b)| Arc::ptr_eq(a, b));
        assert!(shared.count() >= BUCKETS - 2);
    }
}
