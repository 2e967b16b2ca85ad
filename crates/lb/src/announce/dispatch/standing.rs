//! What an engine tells the other machines about itself.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};

/// No configuration is in use yet.
const SILENT: u32 = u32::MAX;
/// The VIPs are withdrawn, or left to the next process.
const LEFT: u32 = u32::MAX - 1;

/// How many VIPs have no usable server.
pub(in super::super) struct Standing(AtomicU32);

impl Default for Standing {
    fn default() -> Self {
        Self(AtomicU32::new(SILENT))
    }
}

impl Standing {
    pub(in super::super) fn set(&self, unusable: u16) {
        let next = |current| (current != LEFT).then_some(u32::from(unusable));
        let _left = self.0.fetch_update(Release, Acquire, next);
    }

    /// For ever.
    pub(super) fn leave(&self) {
        self.0.store(LEFT, Release);
    }

    pub(super) fn has_left(&self) -> bool {
        self.0.load(Acquire) == LEFT
    }

    /// `None`: the engine serves nothing.
    pub(super) fn unusable(&self) -> Option<u16> {
        u16::try_from(self.0.load(Acquire)).ok()
    }
}
