//! Pages of newest rows in memory: shared by all who read, bounded, what was not asked for longest
//! goes first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

use crate::newest::Page;

/// A segment and the number of a page in it.
type Key = (u64, usize);

#[derive(Debug, Default)]
struct State {
    /// With when it was asked for last.
    pages: HashMap<Key, (Arc<Page>, u64)>,
    bytes: usize,
    asked: u64,
    /// Pages that were found since the last call of [`Cache::age`].
    found: u64,
    /// What was asked for last then.
    aged: u64,
    segments: u64,
}

/// The cache of an engine. Its lock is held for a look-up alone, and never by the writer.
#[derive(Debug)]
pub(crate) struct Cache {
    state: Mutex<State>,
    bytes_max: usize,
}

impl Cache {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { state: Mutex::default(), bytes_max }
    }

    /// A number for a segment that is opened.
    pub(crate) fn register(&self) -> u64 {
        let mut state = lock(&self.state);
        state.segments += 1;
        state.segments
    }

    pub(crate) fn get(&self, key: Key) -> Option<Arc<Page>> {
        let mut state = lock(&self.state);
        state.asked += 1;
        let now = state.asked;
        let (page, asked) = state.pages.get_mut(&key)?;
        *asked = now;
        let page = Arc::clone(page);
        state.found += 1;
        Some(page)
    }

    pub(crate) fn put(&self, key: Key, page: &Arc<Page>) {
        let mut state = lock(&self.state);
        state.asked += 1;
        let now = state.asked;
        state.bytes += page.memory();
        if let Some((old, _)) = state.pages.insert(key, (Arc::clone(page), now)) {
            state.bytes -= old.memory();
        }
        while state.bytes > self.bytes_max {
            let oldest = state.pages.iter().min_by_key(|(_, (_, asked))| *asked);
            let Some(oldest) = oldest.map(|(&key, _)| key) else { break };
            if let Some((page, _)) = state.pages.remove(&oldest) {
                state.bytes -= page.memory();
            }
        }
    }

    /// Forgets what nobody has asked for since the last call. Did anybody ask for something?
    pub(crate) fn age(&self) -> bool {
        let mut state = lock(&self.state);
        let before = state.aged;
        state.aged = state.asked;
        state.pages.retain(|_, (_, asked)| *asked > before);
        state.bytes = state.pages.values().map(|(page, _)| page.memory()).sum();
        std::mem::take(&mut state.found) > 0
    }

    /// The segment is not there any more.
    pub(crate) fn forget(&self, segment: u64) {
        let mut state = lock(&self.state);
        let mut freed = 0;
        state.pages.retain(|key, (page, _)| {
            let stays = key.0 != segment;
            freed += if stays { 0 } else { page.memory() };
            stays
        });
        state.bytes -= freed;
    }

    pub(crate) fn bytes(&self) -> usize {
        lock(&self.state).bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Kind, at};
    use crate::newest::Builder;
    use crate::rows::{Raw, Run};

    #[test]
    fn what_was_not_asked_for_longest_goes_first() {
        let mut run = Run::default();
        run.push(at(1, 0), Raw::Bits(1));
        let mut builder = Builder::default();
        builder.push(1, Kind::Unsigned, &run);
        let (first, bytes) = builder.finish().remove(0);
        let page = Arc::new(Page::decode(&bytes, first).unwrap());
        let cache = Cache::new(page.memory() * 3);
        let segments = [cache.register(), cache.register()];
        assert_ne!(segments[0], segments[1]);
        for key in [(1, 0), (1, 1), (1, 1), (2, 0)] {
            cache.put(key, &page);
        }
        assert!(cache.get((1, 0)).is_some());
        cache.put((2, 1), &page);
        let is_there = |keys: [Key; 4]| keys.map(|key| cache.get(key).is_some());
        assert_eq!(is_there([(1, 0), (1, 1), (2, 0), (2, 1)]), [true, false, true, true]);
        cache.forget(2);
        assert_eq!(cache.bytes(), page.memory());
        cache.forget(1);
        assert_eq!(cache.bytes(), 0);
        assert!(cache.age(), "somebody asked");
        cache.put((3, 0), &page);
        cache.put((3, 1), &page);
        assert!(!cache.age() && cache.bytes() > 0, "what is new stays");
        assert!(cache.get((3, 0)).is_some());
        assert!(cache.age());
        assert_eq!(cache.bytes(), page.memory());
        assert!(!cache.age() && cache.bytes() == 0);
    }
}
