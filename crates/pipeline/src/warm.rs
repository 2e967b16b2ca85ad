//! The value cache after a start: the last two values of every item are fetched from history, some
//! items at a time and block by block, so that the server serves at once and the first evaluation
//! of a trigger does not have to read.

use history::newest_of;
use model::ItemId;

use crate::core::Core;

/// Items per call. Neighbours share blocks, so that few are read twice.
const ITEMS_PER_CALL: usize = 500;
/// Calls at once while triggers wait for what is found in history.
const CALLS_BEHIND: usize = 8;

impl Core {
    /// Items of this shard by id, the last first.
    pub(crate) fn own_items(&self) -> Vec<ItemId> {
        let own = self.snapshot.items.values().filter(|item| self.place.owns(item));
        let mut items: Vec<ItemId> = own.map(|item| item.id).collect();
        items.sort_unstable_by(|a, b| b.cmp(a));
        items
    }

    /// Some more items; what came since the start stays: the cache sorts by time.
    pub(crate) fn warm_some(&mut self) {
        let calls = if self.progress.is_behind() { CALLS_BEHIND } else { 1 };
        for _ in 0..calls {
            if !self.warmed {
                self.warm_items();
            }
        }
    }

    fn warm_items(&mut self) {
        let from = self.warm.len().saturating_sub(ITEMS_PER_CALL);
        let mut items = self.warm.split_off(from);
        for item in &items {
            if let [Some(newest), Some(_)] = self.cache.last_two(*item) {
                self.look_at_newest(*item, newest.at);
            }
        }
        items.retain(|item| self.cache.last_two(*item)[1].is_none());
        let view = self.driver.view_newest(&items, 2);
        match newest_of(view.as_ref(), &items, 2) {
            Ok(newest) => {
                for newest in &newest {
                    self.cache.warm(newest);
                    if let Some(newest) = newest.first() {
                        self.look_at_newest(newest.item, newest.at);
                    }
                }
            }
            Err(error) => {
                tracing::error!(%error, "cannot preload the newest values; they are read on demand")
            }
        }
        if self.warm.is_empty() {
            self.warm.shrink_to_fit();
            self.warmed = true;
            self.looked_at_all();
        }
    }
}
