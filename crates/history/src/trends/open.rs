//! The open hours of all items.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use model::ItemId;
use stdx::sys::prefetch;

use super::acc::Acc;

/// The open hour of an item: one line of the processor's cache, so that a sample touches one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Open {
    pub(super) item: ItemId,
    pub(super) acc: Acc,
}

const _: () = assert!(size_of::<Open>() == 64, "an open hour is one line");

/// Open hours by item.
#[derive(Debug, Default)]
pub(super) struct OpenHours(HashTable<Open>);

impl OpenHours {
    pub(super) fn get(&self, item: ItemId) -> Option<&Acc> {
        self.0.find(item.near_hash(), |open| open.item == item).map(|open| &open.acc)
    }

    /// Brings the likely hour of an item near the processor, and does not wait for it.
    pub(super) fn look_at(&self, item: ItemId) {
        if let Some(open) = self.0.find(item.near_hash(), |_| true) {
            prefetch(open);
        }
    }

    pub(super) fn entry(&mut self, item: ItemId) -> Entry<'_, Open> {
        let rehash = |open: &Open| open.item.near_hash();
        self.0.entry(item.near_hash(), |open| open.item == item, rehash)
    }

    pub(super) fn remove(&mut self, item: ItemId) {
        if let Ok(open) = self.0.find_entry(item.near_hash(), |open| open.item == item) {
            open.remove();
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(ItemId) -> bool) {
        self.0.retain(|open| keep(open.item));
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Open> {
        self.0.iter_mut()
    }

    /// Takes out the hours before `hour`.
    pub(super) fn take_before(&mut self, hour: u32) -> Vec<Open> {
        self.0.extract_if(|open| open.acc.hour < hour).collect()
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Open> + use<> {
        std::mem::take(&mut self.0).into_iter()
    }
}
