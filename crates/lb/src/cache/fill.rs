//! A response that is stored when it has arrived completely.

use std::sync::Arc;

use super::budget::{Arriving, Budget};
use super::object::Head;

/// A response that arrives. Without its end it is dropped.
#[derive(Debug)]
pub(super) struct Fill {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    /// Content-Length, if there is one.
    length: Option<u64>,
    most: usize,
    share: Arriving,
}

impl Fill {
    /// `most`: bytes of content that are stored. `None`: it has more.
    pub(super) fn new(
        head: Head,
        length: Option<u64>,
        most: usize,
        budget: &Arc<Budget>,
    ) -> Option<Self> {
        if length.is_some_and(|length| length > most as u64) {
            return None;
        }
        let mut share = Arriving::new(budget);
        share.take(head.cost()).then_some(Self { head, body: Vec::new(), length, most, share })
    }

    /// Adds content; false: the response is too large, or too many are arriving.
    pub(super) fn add(&mut self, data: &[u8]) -> bool {
        let (length, capacity) = (self.body.len() + data.len(), self.body.capacity());
        if length > self.most {
            return false;
        }
        if length > capacity {
            let whole = self.length.and_then(|whole| usize::try_from(whole).ok());
            // What has been announced is taken as it comes: a server could announce much and send little.
            let wanted = (2 * capacity).max(length).min(whole.unwrap_or(self.most).max(length));
            if !self.share.take(wanted - capacity) {
                return false;
            }
            self.body.reserve_exact(wanted - self.body.len());
        }
        self.body.extend_from_slice(data);
        true
    }

    /// Whether all that was announced is there.
    pub(super) fn is_whole(&self) -> bool {
        self.length.is_none_or(|length| length == self.body.len() as u64)
    }
}
