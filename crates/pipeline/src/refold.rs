//! Trends after a crash: the hours that may not have been written are folded anew from history,
//! some items at a time, so that the server serves at once.

use history::{Kinds, Span};
use model::ItemId;

use crate::core::Core;

/// Items per call: each is a read of at most two hours.
const ITEMS_PER_CALL: usize = 2_000;

/// Items that are still to be folded anew.
#[derive(Debug)]
pub(crate) struct Refold {
    items: Vec<ItemId>,
    span: Span,
}

impl Refold {
    /// After an orderly end there is nothing to do.
    pub(crate) fn none() -> Self {
        Self { items: Vec::new(), span: Span::ALL }
    }

    pub(crate) fn of(items: Vec<ItemId>, span: Span) -> Self {
        Self { items, span }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.items.is_empty()
    }
}

impl Core {
    /// What came since the start is in history as well: the item is folded from there alone.
    pub(crate) fn refold_some(&mut self) {
        if self.refold.is_done() {
            return;
        }
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
}
