//! The memory of copies.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that all copies of an engine may take, with the requests that are still arriving.
const MOST: usize = 64 << 20;

/// Bytes of all copies.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Bytes of one copy, until it is dropped.
#[derive(Debug)]
pub(super) struct Memory {
    taken: &'static AtomicUsize,
    most: usize,
    bytes: usize,
}

impl Memory {
    pub(super) fn new() -> Self {
        Self { taken: &TAKEN, most: MOST, bytes: 0 }
    }

    /// Takes more bytes; false: too many are taken.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let more = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        let fits = self.taken.fetch_update(Relaxed, Relaxed, more).is_ok();
        self.bytes += if fits { bytes } else { 0 };
        fits
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_all_copies_is_limited() {
        static TAKEN: AtomicUsize = AtomicUsize::new(0);
        let memory = || Memory { taken: &TAKEN, most: 100, bytes: 0 };
        let (mut one, mut other) = (memory(), memory());
        assert!(one.take(60) && other.take(30) && !other.take(11) && one.take(10));
        assert!(!other.take(usize::MAX));
        drop(one);
        assert!(other.take(70) && !other.take(1));
        drop(other);
        assert_eq!(TAKEN.load(Relaxed), 0);
    }
}
