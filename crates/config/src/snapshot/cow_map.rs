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

    fn bucket<Q: Hash + ?Sized>(key: &Q) -> usize {
        // Another seed than the buckets' own, or each bucket would see only keys whose low bits agree.
        let hash = FixedState::with_seed(0x7665_6465_7474_6500).hash_one(key);
        usize::try_from(hash >> 54).unwrap_or(0) % BUCKETS
    }
}

#[cfg(test)]
mod tests {
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
