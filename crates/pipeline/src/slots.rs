//! What a shard remembers of each item that got a value: a slab with a compact index.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::Item;
use eval::preproc;
use hashbrown::HashTable;
use model::{HostId, ItemId, Timestamp, ValueType, shard_of};
use stdx::sys::prefetch;

/// Values whose slots are looked at before they are worked on.
pub(crate) const VALUES_AHEAD: usize = 32;

/// Place of an item in the slab; valid until the item is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SlotId(u32);

/// What a shard remembers of an item: one line of the processor's cache, so that a value of a
/// plain item touches one here. The index takes about 8 bytes more.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    id: ItemId,
    /// As of `revision`.
    pub(crate) item: Arc<Item>,
    /// What the preprocessing steps remember, once they do.
    pub(crate) state: Option<Box<preproc::State>>,
    /// Why the item is unsupported; `None` = it is supported.
    pub(crate) error: Option<Box<Box<str>>>,
    /// Configuration that `item` and `watch` were taken from.
    revision: u32,
    /// Who evaluates triggers that name the item.
    pub(crate) watch: Watch,
    /// How many values of the item the current round of the syncer had.
    pub(crate) seen: u16,
    /// The batch of the newest value, its moment (ns since 1970), and how many ns that was moved.
    batch: u16,
    moved: u16,
    last_ns: u64,
    /// The current round has a copy of what the slot remembered before it.
    journaled: bool,
    /// The item's values need nothing but the conversion to its type.
    pub(crate) plain: Option<Plain>,
}

/// What a round may change in a slot.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Remembered {
    pub(crate) state: Option<Box<preproc::State>>,
    pub(crate) error: Option<Box<Box<str>>>,
}

/// What is to be known of a numeric item without steps and dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) value_type: ValueType,
    /// Keeps history.
    pub(crate) stored: bool,
    /// Keeps trends.
    pub(crate) trends: bool,
}

impl Plain {
    fn of(item: &Item) -> Option<Self> {
        let plain = item.enabled
            && item.value_type.is_numeric()
            && item.steps.is_empty()
            && item.dependents.is_empty()
            && !item.discovery_rule;
        plain.then(|| Self {
            value_type: item.value_type,
            stored: item.history_days > 0,
            trends: item.trends_days > 0,
        })
    }
}

/// Who evaluates triggers that name an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Watch {
    /// This shard.
    pub(crate) own: bool,
    /// Other shards.
    pub(crate) peers: bool,
}

/// The shard among its peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) index: usize,
    pub(crate) shards: usize,
}

impl Place {
    /// The shard that owns an item.
    pub(crate) fn owner(self, item: &Item) -> usize {
        shard_of(item.host, self.shards)
    }

    pub(crate) fn owns(self, item: &Item) -> bool {
        self.owns_host(item.host)
    }

    pub(crate) fn owns_host(self, host: HostId) -> bool {
        self.shards == 1 || shard_of(host, self.shards) == self.index
    }

    /// The shard that evaluates a trigger: that of its first function's host.
    pub(crate) fn evaluator(
        self,
        snapshot: &Snapshot,
        trigger: &config::snapshot::Trigger,
    ) -> Option<usize> {
        let first = trigger.functions.first()?;
        snapshot.items.get(&first.item).map(|item| self.owner(item))
    }
}

/// Items of one shard.
#[derive(Debug)]
pub(crate) struct Slots {
    place: Place,
    slab: Vec<Option<Slot>>,
    index: HashTable<u32>,
    free: Vec<u32>,
    revision: u32,
    batch: u16,
    /// Where [`Self::sweep`] goes on.
    hand: usize,
    unsupported: usize,
}

impl Slots {
    pub(crate) fn new(place: Place) -> Self {
        Self {
            place,
            slab: Vec::new(),
            index: HashTable::new(),
            free: Vec::new(),
            revision: 0,
            batch: 0,
            hand: 0,
            unsupported: 0,
        }
    }

    /// From now on items are looked up again at their next value.
    pub(crate) fn next_revision(&mut self) {
        self.revision = self.revision.wrapping_add(1);
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn unsupported(&self) -> usize {
        self.unsupported
    }

    fn find(&self, id: ItemId) -> Option<SlotId> {
        let is = |at: &u32| self.slot_at(*at).is_some_and(|slot| slot.id == id);
        self.index.find(id.near_hash(), is).copied().map(SlotId)
    }

    /// Brings the slots of the first [`VALUES_AHEAD`] items near the processor: these searches do not
    /// wait for each other's memory, as those of values do that are worked on one by one.
    pub(crate) fn look_at(&self, snapshot: &Snapshot, items: impl Iterator<Item = ItemId> + Clone) {
        let mut likely = [None; VALUES_AHEAD];
        for (item, likely) in items.clone().zip(&mut likely) {
            *likely = self.index.find(item.near_hash(), |_| true).copied();
            likely.and_then(|at| self.slab.get(at as usize)).into_iter().for_each(prefetch);
        }
        for (item, likely) in items.zip(likely) {
            let slot = likely.and_then(|at| self.slot_at(at));
            if !slot.is_some_and(|slot| slot.id == item && slot.revision == self.revision) {
                // The slot is to be filled from the configuration.
                std::hint::black_box(snapshot.items.get(&item).map(|item| item.value_type));
            }
        }
    }

    fn slot_at(&self, at: u32) -> Option<&Slot> {
        self.slab.get(at as usize).and_then(Option::as_ref)
    }

    /// The slot of an item of this shard as the snapshot has it; `None` if it has not.
    pub(crate) fn take(&mut self, snapshot: &Snapshot, id: ItemId) -> Option<SlotId> {
        if let Some(at) = self.find(id) {
            if self.get(at).revision == self.revision {
                return Some(at);
            }
            return self.refresh(snapshot, at);
        }
        let item = snapshot.items.get(&id).filter(|item| self.place.owns(item))?;
        let slot = Slot {
            id,
            plain: Plain::of(item),
            item: Arc::clone(item),
            state: None,
            error: None,
            revision: self.revision,
            watch: watch(self.place, snapshot, item),
            seen: 0,
            batch: self.batch,
            moved: 0,
            last_ns: 0,
            journaled: false,
        };
        Some(self.add(slot))
    }

    /// Another message begins, see [`Self::moment`].
    pub(crate) fn next_batch(&mut self) {
        self.batch = self.batch.wrapping_add(1);
    }

    /// When the item's next value was measured: a value of one message that names the moment of
    /// the one before gets the next free nanosecond, so that both are kept. Over messages the
    /// moment stays: it is how a message that is sent again finds what it left the first time.
    pub(crate) fn moment(&mut self, at: SlotId, named: Timestamp) -> Timestamp {
        let batch = self.batch;
        let slot = self.get_mut(at);
        let ns = named.as_ns();
        let taken = slot.last_ns.wrapping_sub(ns) <= u64::from(slot.moved);
        if !taken || std::mem::replace(&mut slot.batch, batch) != batch {
            (slot.batch, slot.moved, slot.last_ns) = (batch, 0, ns);
            return named;
        }
        slot.moved = slot.moved.saturating_add(1);
        slot.last_ns += 1;
        Timestamp::from_unix(std::time::Duration::from_nanos(slot.last_ns))
    }

    fn refresh(&mut self, snapshot: &Snapshot, at: SlotId) -> Option<SlotId> {
        let id = self.get(at).id;
        let Some(item) = snapshot.items.get(&id).filter(|item| self.place.owns(item)) else {
            self.remove(id);
            return None;
        };
        let watch = watch(self.place, snapshot, item);
        let revision = self.revision;
        let slot = self.get_mut(at);
        // What the steps remember belongs to the steps that are gone.
        if !Arc::ptr_eq(&slot.item, item) && *slot.item.steps != *item.steps {
            slot.state = None;
        }
        slot.item = Arc::clone(item);
        slot.watch = watch;
        slot.plain = Plain::of(item);
        slot.revision = revision;
        Some(at)
    }

    fn add(&mut self, slot: Slot) -> SlotId {
        let id = slot.id;
        let at = self.free.pop().unwrap_or_else(|| {
            if self.slab.len() == self.slab.capacity() {
                // Doubling would leave up to half of it empty.
                let more = (self.slab.len() / 4).max(1_024);
                stdx::memory::grow(&mut self.slab, more);
            }
            self.slab.push(None);
            u32::try_from(self.slab.len() - 1).expect("BUG: 4 billion items")
        });
        self.slab[at as usize] = Some(slot);
        let Self { index, slab, .. } = self;
        let rehash = |at: &u32| slab[*at as usize].as_ref().map_or(0, |slot| slot.id.near_hash());
        index.insert_unique(id.near_hash(), at, rehash);
        SlotId(at)
    }

    pub(crate) fn get(&self, at: SlotId) -> &Slot {
        self.slot_at(at.0).expect("BUG: slot of a removed item")
    }

    pub(crate) fn get_mut(&mut self, at: SlotId) -> &mut Slot {
        self.slab
            .get_mut(at.0 as usize)
            .and_then(Option::as_mut)
            .expect("BUG: slot of a removed item")
    }

    /// The slot if the item ever got a value here.
    pub(crate) fn peek(&self, id: ItemId) -> Option<&Slot> {
        self.find(id).map(|at| self.get(at))
    }

    /// Sets or clears the item's error; returns whether the state (not the text) changed.
    pub(crate) fn set_error(&mut self, at: SlotId, error: Option<&str>) -> bool {
        let slot = self.get_mut(at);
        let before = slot.error.is_some();
        if slot.error.as_deref().map(|text| &**text) != error {
            slot.error = error.map(|text| Box::new(Box::from(text)));
        }
        let changed = before != error.is_some();
        if changed && before {
            self.unsupported -= 1;
        } else if changed {
            self.unsupported += 1;
        }
        changed
    }

    /// A copy of what a slot remembers, the first time in a round that it is to change.
    pub(crate) fn journal(&mut self, at: SlotId) -> Option<(SlotId, Remembered)> {
        let slot = self.get_mut(at);
        let first = !std::mem::replace(&mut slot.journaled, true);
        first.then(|| (at, Remembered { state: slot.state.clone(), error: slot.error.clone() }))
    }

    /// Puts back what slots remembered before a round that was not kept.
    pub(crate) fn restore(&mut self, before: &mut Vec<(SlotId, Remembered)>) {
        for (at, remembered) in before.drain(..) {
            self.set_error(at, remembered.error.as_deref().map(|error| &**error));
            let slot = self.get_mut(at);
            slot.state = remembered.state;
            slot.journaled = false;
        }
    }

    /// The copies of a round are needed no more.
    pub(crate) fn settle(&mut self, before: &mut Vec<(SlotId, Remembered)>) {
        before.drain(..).for_each(|(at, _)| self.get_mut(at).journaled = false);
    }

    /// The unsupported items, and why they are.
    pub(crate) fn errors(&self) -> Vec<(ItemId, Box<str>)> {
        if self.unsupported == 0 {
            return Vec::new();
        }
        let slots = self.slab.iter().flatten();
        slots.filter_map(|slot| Some((slot.item.id, *slot.error.clone()?))).collect()
    }

    pub(crate) fn remove(&mut self, id: ItemId) {
        let Self { index, slab, .. } = self;
        let is = |at: &u32| slab[*at as usize].as_ref().is_some_and(|slot| slot.id == id);
        if let Ok(entry) = index.find_entry(id.near_hash(), is) {
            let (at, _) = entry.remove();
            let gone = self.slab[at as usize].take();
            self.free.push(at);
            self.unsupported -= usize::from(gone.is_some_and(|slot| slot.error.is_some()));
        }
    }

    /// Looks at up to `limit` slots and removes those whose items are gone; returns their ids.
    pub(crate) fn sweep(&mut self, snapshot: &Snapshot, limit: usize) -> Vec<ItemId> {
        let mut gone = Vec::new();
        for _ in 0..limit.min(self.slab.len()) {
            self.hand = (self.hand + 1) % self.slab.len();
            let Some(slot) = &self.slab[self.hand] else { continue };
            if slot.revision != self.revision && snapshot.items.get(&slot.item.id).is_none() {
                gone.push(slot.item.id);
            }
        }
        for id in &gone {
            self.remove(*id);
        }
        gone
    }

    /// Bytes that slots and index take, without what preprocessing remembers.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.slab.capacity() * size_of::<Option<Slot>>()
            + self.index.capacity() * (size_of::<u32>() + 1)
    }
}

fn watch(place: Place, snapshot: &Snapshot, item: &Item) -> Watch {
    let mut watch = Watch::default();
    for id in &item.triggers {
        let Some(trigger) = snapshot.triggers.get(id).filter(|t| t.enabled) else { continue };
        match place.evaluator(snapshot, trigger) {
            Some(shard) if shard == place.index => watch.own = true,
            Some(_) => watch.peers = true,
            None => {}
        }
    }
    watch
}
