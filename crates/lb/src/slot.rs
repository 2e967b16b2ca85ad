//! Places of which there are so many at once.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<AtomicU32>);

impl Slot {
    /// Takes a place; `None`: `most` are taken.
    pub(crate) fn take(open: &Arc<AtomicU32>, most: u32) -> Option<Self> {
        let one_more = |open: u32| (open < most).then_some(open + 1);
        open.fetch_update(Relaxed, Relaxed, one_more).ok()?;
        Some(Self(Arc::clone(open)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
