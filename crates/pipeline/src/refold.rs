//! Trends after a crash: the hours that may not have been written are folded anew from history,
//! some items at a time, so that the server serves at once. So are the hours long over that the
//! driver still expects trends of.

use std::collections::BTreeSet;

use history::{Kinds, Span, TrendHour};
use model::ItemId;

use crate::core::Core;

/// Items per call: each is a read of at most three hours.
const ITEMS_PER_CALL: usize = 2_000;

/// What is still to be folded anew.
#[derive(Debug)]
pub(crate) struct Refold {
    /// Items of which everything since the start of the span is folded.
    items: Vec<ItemId>,
    span: Span,
    /// Items and hours before the span.
    late: Vec<(ItemId, u32)>,
}

impl Refold {
    /// `late`: what the driver expects; `items` is empty after an orderly end.
    pub(crate) fn of(items: Vec<ItemId>, span: Span, late: &[TrendHour]) -> Self {
        let late = late.iter().filter(|late| late.hour < span.from);
        // An item that changed its type has two trends of an hour.
        let late: BTreeSet<(ItemId, u32)> = late.map(|late| (late.item, late.hour)).collect();
        Self { items, span, late: late.into_iter().collect() }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.items.is_empty() && self.late.is_empty()
    }
}

impl Core {
    /// What came since the start is in history as well: the item is folded from there alone.
    pub(crate) fn refold_some(&mut self) {
        if self.refold.is_done() {
            return;
        }
        self.refold_late();
        let from = self.refold.items.len().saturating_sub(ITEMS_PER_CALL);
        let items = self.refold.items.split_off(from);
        let span = Span::new(self.refold.span.from, u32::MAX);
        let view = self.driver.view(&items, span);
        for item in items {
            match view.samples(item, Kinds::VALUES) {
                Ok(samples) => self.folder.refold(item, &samples),
                Err(error) => tracing::error!(%error, %item, "cannot fold trends anew"),
            }
        }
    }

    fn refold_late(&mut self) {
        let from = self.refold.late.len().saturating_sub(ITEMS_PER_CALL);
        for (item, hour) in self.refold.late.split_off(from) {
            match history::trends::refold_late(self.driver.as_mut(), &mut self.folder, item, hour) {
                Ok(()) => {}
                Err(error) => tracing::error!(%error, %item, "cannot fold trends anew"),
            }
        }
    }
}
