//! How much a cache may hold: the sum of its shares never exceeds the limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What the responses of a cache take.
#[derive(Debug)]
pub(crate) struct Budget {
    stored: Limited,
    arriving: Limited,
    objects: Limited,
}

#[derive(Debug)]
struct Limited {
    taken: AtomicUsize,
    most: usize,
}

impl Limited {
    const fn of(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    fn take(&self, number: usize) -> bool {
        let more = |taken: usize| taken.checked_add(number).filter(|taken| *taken <= self.most);
        self.taken.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    fn give(&self, number: usize) {
        self.taken.fetch_sub(number, Relaxed);
    }
}

impl Budget {
    /// `size`: bytes in all; `arriving` of them are for responses that have not arrived completely.
    pub(super) fn new(size: usize, arriving: usize, objects: usize) -> Arc<Self> {
        Arc::new(Self {
            stored: Limited::of(size.saturating_sub(arriving)),
            arriving: Limited::of(arriving),
            objects: Limited::of(objects),
        })
    }

    #[cfg(test)]
    pub(super) fn taken(&self) -> [usize; 3] {
        [&self.stored, &self.arriving, &self.objects].map(|limited| limited.taken.load(Relaxed))
    }
}

/// Bytes of a part of a stored response. They count until the part is dropped, so a removed response that is still being
/// sent counts, too.
#[derive(Debug)]
pub(super) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
    objects: usize,
}

impl Share {
    /// Takes bytes for the content of a response; `None`: too many are taken, or there are too many responses.
    pub(super) fn of_content(budget: &Arc<Budget>, bytes: usize) -> Option<Self> {
        Self::take(budget, bytes, 1)
    }

    /// Takes bytes for the head of a response.
    pub(super) fn of_head(budget: &Arc<Budget>, bytes: usize) -> Option<Self> {
        Self::take(budget, bytes, 0)
    }

    fn take(budget: &Arc<Budget>, bytes: usize, objects: usize) -> Option<Self> {
        if !budget.objects.take(objects) {
            return None;
        }
        if !budget.stored.take(bytes) {
            budget.objects.give(objects);
            return None;
        }
        Some(Self { budget: Arc::clone(budget), bytes, objects })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.stored.give(self.bytes);
        self.budget.objects.give(self.objects);
    }
}

/// Bytes of a response that arrives.
#[derive(Debug)]
pub(super) struct Arriving {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Arriving {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Takes more bytes; false: too many are taken.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let fits = self.budget.arriving.take(bytes);
        self.bytes += if fits { bytes } else { 0 };
        fits
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.budget.arriving.give(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_exceed_the_limits() {
        let budget = Budget::new(100, 25, 2);
        let first = Share::of_content(&budget, 50).unwrap();
        assert!(Share::of_content(&budget, 26).is_none(), "75 bytes are for stored responses");
        let second = Share::of_content(&budget, 25).unwrap();
        assert_eq!(budget.taken(), [75, 0, 2]);
        drop(first);
        let third = Share::of_content(&budget, 1).unwrap();
        assert!(Share::of_content(&budget, 1).is_none(), "two responses");
        drop(Share::of_head(&budget, 49).unwrap());
        assert!(Share::of_head(&budget, 50).is_none());
        let (mut one, mut other) = (Arriving::new(&budget), Arriving::new(&budget));
        assert!(one.take(20) && !other.take(6) && other.take(5) && !other.take(usize::MAX));
        drop((second, third, one, other));
        assert_eq!(budget.taken(), [0; 3]);
    }
}
