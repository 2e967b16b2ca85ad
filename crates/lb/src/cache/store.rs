//! Where responses are found, and which of them make room for others.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use hashlink::LinkedHashMap;
use proxying::http1::Field;
use stdx::sync::lock;

use super::budget::{Budget, Share};
use super::key::{Key, PORT};
use super::object::{Content, Head, Object};
use crate::config::Purge;

/// Parts with locks of their own.
const SHARDS: usize = 16;
/// Responses of one resource that are stored; of more, the oldest is dropped.
const VARIANTS: usize = 16;
/// Entries that one new response removes at most. If that frees too little, it is not stored: the memory is taken by
/// responses that are still being sent.
const EVICTIONS: usize = 64;
/// Entries of a part that are spared in a row because they were used.
const CHANCES: usize = 32;
/// Counters of invalidations; several resources share one.
const MARKS: usize = 4096;

/// The responses of a resource, the newest last.
#[derive(Debug, Default)]
struct Entry {
    variants: Vec<Arc<Object>>,
    /// It was used since it was last spared.
    used: bool,
}

/// A part of the store: entries in the order in which they are considered for removal. The list keeps the places of
/// removed entries for new ones; they are about 100 bytes each, and there were never more than of entries at once.
type Shard = LinkedHashMap<Box<[u8]>, Entry, RandomState>;

/// The state of a resource: what was fetched before an invalidation is not stored after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(u32);

/// The responses of a cache. Entries are removed in the order in which they came, but one that was used meanwhile is
/// spared once (second chance): resources that are requested once do not displace those that are requested often.
#[derive(Debug)]
pub(super) struct Store {
    shards: Box<[Mutex<Shard>]>,
    marks: Box<[AtomicU32]>,
    hasher: RandomState,
    pub(super) budget: Arc<Budget>,
}

impl Store {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        let shard = || Mutex::new(Shard::with_hasher(RandomState::new()));
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            marks: (0..MARKS).map(|_| AtomicU32::new(0)).collect(),
            hasher: RandomState::new(),
            budget,
        }
    }

    /// Of a resource without its port, so that those of all ports are found together.
    fn hash(&self, resource: &[u8]) -> usize {
        let of_all_ports = resource.get(PORT..).unwrap_or_default();
        usize::try_from(self.hasher.hash_one(of_all_ports) & u64::from(u32::MAX)).unwrap_or(0)
    }

    fn shard(&self, resource: &[u8]) -> &Mutex<Shard> {
        &self.shards[self.hash(resource) % SHARDS]
    }

    fn counter(&self, resource: &[u8]) -> &AtomicU32 {
        &self.marks[self.hash(resource) / SHARDS % MARKS]
    }

    /// The state of a resource before it is fetched.
    pub(super) fn mark(&self, resource: &[u8]) -> Mark {
        Mark(self.counter(resource).load(Relaxed))
    }

    /// The newest response for a request with these fields.
    pub(super) fn find(&self, key: &Key, request: &[Field<'_>]) -> Option<Arc<Object>> {
        let mut shard = lock(self.shard(&key.resource));
        let entry = shard.get_mut(&key.resource)?;
        let suits = |object: &&Arc<Object>| object.head.is_for(&key.selector, request);
        let found = entry.variants.iter().rev().find(suits).map(Arc::clone);
        entry.used |= found.is_some();
        found
    }

    /// Stores a response that arrived completely.
    pub(super) fn add(&self, key: &Key, mark: Mark, head: Head, mut body: Vec<u8>) {
        body.shrink_to_fit();
        let content = self.room(key, || Share::of_content(&self.budget, body.len()));
        let Some(content) = content.map(|share| Content::new(body, share)) else { return };
        let _stored = self.place(key, mark, head, content);
    }

    /// Gives a stored response a newer head; `None`: there is no room, or it was invalidated.
    pub(super) fn renew(
        &self,
        key: &Key,
        mark: Mark,
        head: Head,
        before: &Object,
    ) -> Option<Arc<Object>> {
        self.place(key, mark, head, Arc::clone(&before.content))
    }

    fn place(
        &self,
        key: &Key,
        mark: Mark,
        head: Head,
        content: Arc<Content>,
    ) -> Option<Arc<Object>> {
        let cost = head.cost() + key.resource.len();
        let share = self.room(key, || Share::of_head(&self.budget, cost))?;
        let object = Object::new(head, content, share);
        let mut dropped = Vec::new();
        let mut shard = lock(self.shard(&key.resource));
        // Under the lock, which an invalidation takes, too.
        if self.mark(&key.resource) != mark {
            return None;
        }
        let entry = shard.entry(key.resource.clone()).or_insert_with(Entry::default);
        dropped
            .extend(entry.variants.extract_if(.., |old| old.head.variant == object.head.variant));
        if entry.variants.len() >= VARIANTS {
            dropped.push(entry.variants.remove(0));
        }
        entry.variants.push(Arc::clone(&object));
        drop(shard);
        Some(object)
    }

    /// Takes a share, and removes other entries for it as needed.
    fn room(&self, key: &Key, take: impl Fn() -> Option<Share>) -> Option<Share> {
        let own = self.hash(&key.resource) % SHARDS;
        for _ in 0..EVICTIONS {
            if let Some(share) = take() {
                return Some(share);
            }
            let mut shards = (0..SHARDS).map(|off| &self.shards[(own + off) % SHARDS]);
            // The entry is dropped without the lock.
            let _removed = shards
                .clone()
                .find_map(|shard| evict(&mut lock(shard)))
                .or_else(|| shards.find_map(|shard| oldest(&mut lock(shard))))?;
        }
        take()
    }

    /// Removes one response of a resource.
    pub(super) fn remove(&self, key: &Key, object: &Arc<Object>) {
        let mut shard = lock(self.shard(&key.resource));
        let Some(entry) = shard.get_mut(&key.resource) else { return };
        entry.variants.retain(|own| !Arc::ptr_eq(own, object));
        if entry.variants.is_empty() {
            shard.remove(&key.resource);
        }
    }

    /// Removes all responses of a resource, also those that are arriving.
    pub(super) fn invalidate(&self, resource: &[u8]) {
        let mut shard = lock(self.shard(resource));
        self.counter(resource).fetch_add(1, Relaxed);
        let removed = shard.remove(resource);
        drop(shard);
        drop(removed);
    }

    /// Removes the responses of the resources that `purge` names, also those that are arriving. Returns how many were
    /// stored.
    pub(super) fn purge(&self, purge: &Purge) -> u64 {
        let (marks, shards) = match purge.resource() {
            Some(resource) => {
                let of_any_port = [&[0; PORT][..], &resource].concat();
                let (mark, shard) = (self.counter(&of_any_port), self.shard(&of_any_port));
                (std::slice::from_ref(mark), std::slice::from_ref(shard))
            }
            None => (&*self.marks, &*self.shards),
        };
        // Before the search: what is placed behind it would be older than the purge.
        for mark in marks {
            mark.fetch_add(1, Relaxed);
        }
        let purge_one = |shard: &Mutex<Shard>| {
            let mut shard = lock(shard);
            let is_named = |resource: &[u8]| purge.names(resource.get(PORT..).unwrap_or_default());
            let named: Vec<Box<[u8]>> =
                shard.keys().filter(|resource| is_named(resource)).cloned().collect();
            let removed: Vec<_> = named.iter().filter_map(|name| shard.remove(name)).collect();
            drop(shard);
            removed.iter().map(|entry| entry.variants.len() as u64).sum::<u64>()
        };
        shards.iter().map(purge_one).sum()
    }
}

/// Removes the first entry that was not used since it was last considered; each is considered once, so that one which
/// is alone in its part is spared, too.
fn evict(shard: &mut Shard) -> Option<Entry> {
    for _ in 0..shard.len().min(CHANCES) {
        let (resource, mut entry) = shard.pop_front()?;
        if !std::mem::take(&mut entry.used) {
            return Some(entry);
        }
        shard.insert(resource, entry);
    }
    None
}

/// Removes the entry that is considered next: all were used.
fn oldest(shard: &mut Shard) -> Option<Entry> {
    shard.pop_front().map(|(_, entry)| entry)
}

#[cfg(test)]
mod tests;
