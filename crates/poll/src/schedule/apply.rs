//! A new snapshot reaches the schedule: only hosts that changed are looked at, and of them only
//! what changed moves.

use std::collections::HashMap;
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{Host, Item};
use model::{HostId, InterfaceId, ItemId, shard_of};

use super::group::Waits;
use super::lane::Lane;
use super::wheel::Place;
use super::{FIRST_CHECK_S, FIRST_CHECKS_PER_S, HostEntry, Schedule, time_zone};

/// What a change of the configuration asks of the poller.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Items that cannot be checked, with the reason for their state.
    pub(crate) invalid: Vec<Arc<Item>>,
    /// Hosts that are deleted.
    pub(crate) gone: Vec<Arc<Host>>,
    /// Hosts that the server no longer monitors itself.
    pub(crate) off: Vec<HostId>,
    /// Interfaces that no item needs any more.
    pub(crate) idle: Vec<InterfaceId>,
}

impl Schedule {
    /// Takes over a snapshot: touches only hosts that changed since the last one.
    pub(crate) fn apply(&mut self, snapshot: &Arc<Snapshot>, now: u32) -> Applied {
        let mut applied = Applied::default();
        if Arc::ptr_eq(&self.snapshot, snapshot) {
            return applied;
        }
        let tz = time_zone(&snapshot.settings.timezone);
        if tz != self.tz {
            self.tz = tz;
            self.reschedule_all(now);
        }
        if self.slots.len() == 0 {
            // A start: spread the first round so that it does not come as one wave.
            let items = snapshot.items.len() / self.pollers.max(1);
            let window = u32::try_from(items / FIRST_CHECKS_PER_S).unwrap_or(u32::MAX);
            self.first_window_s = window.clamp(FIRST_CHECK_S, 3600);
        }
        let before = std::mem::replace(&mut self.snapshot, Arc::clone(snapshot));
        let mut changed = Vec::new();
        snapshot.hosts.changes(&before.hosts, |id, old, new| {
            if shard_of(*id, self.pollers) == self.poller {
                changed.push((*id, old.cloned(), new.cloned()));
            }
        });
        for (id, old, new) in changed {
            match (old, new) {
                (old, Some(host)) => {
                    let is_ours = |host: &Host| host.monitored && host.is_of_server();
                    if old.is_some_and(|old| is_ours(&old)) && !is_ours(&host) {
                        applied.off.push(id);
                    }
                    self.apply_host(id, &host, now, &mut applied);
                }
                (old, None) => {
                    self.remove_host(id, &mut applied);
                    applied.gone.extend(old);
                }
            }
        }
        self.first_window_s = FIRST_CHECK_S;
        applied
    }

    fn wanted(&self, item: &Item) -> bool {
        item.kind.is_polled() && item.enabled && (self.waits)(item) != Waits::Other
    }

    fn apply_host(&mut self, id: HostId, host: &Arc<Host>, now: u32, applied: &mut Applied) {
        let entry = self.hosts.remove(&id);
        let before = entry.as_ref().map(|e| Arc::clone(&e.host));
        let (old_slots, mut lanes) = entry.map_or_else(Default::default, |e| (e.slots, e.lanes));
        let mut wanted: HashMap<ItemId, &Arc<Item>> = HashMap::new();
        for item in host.items.iter().filter(|item| host.collects_itself(item) && self.wanted(item))
        {
            if item.interval.is_some() {
                wanted.insert(item.id, item);
            } else if item.invalid.is_some() && !was_invalid(before.as_deref(), item) {
                applied.invalid.push(Arc::clone(item));
            }
        }
        let retired;
        (lanes, retired) = self.lanes_of(host, &lanes, &wanted);
        let mut slots = Vec::with_capacity(wanted.len());
        for at in old_slots {
            let known = self.slots.get(at).item.as_ref().and_then(|old| wanted.remove(&old.id));
            match known {
                Some(item) => {
                    self.replace(at, item, &lanes, now);
                    slots.push(at);
                }
                None => self.remove_slot(at),
            }
        }
        let mut fresh: Vec<_> = wanted.into_values().collect();
        fresh.sort_unstable_by_key(|item| item.id);
        for item in fresh {
            let lane = self.lane_for(item, &lanes);
            self.join(lane);
            let at = self.slots.insert(Arc::clone(item), lane);
            let due = self.first_due(item, now);
            self.put_on_wheel(at, due);
            slots.push(at);
        }
        for lane in retired {
            // What is known of an interface outlives a maintenance.
            let interface = self.lane_ref(lane).interface;
            let is_ours = host.monitored && host.is_of_server();
            if host.collects() || !is_ours || host.interface(interface).is_none() {
                applied.idle.push(interface);
            }
            self.retire_lane(lane);
        }
        if !slots.is_empty() || !lanes.is_empty() || host.monitored {
            let slots = slots.into_boxed_slice();
            self.hosts.insert(id, HostEntry { host: Arc::clone(host), slots, lanes });
        }
    }

    /// The lanes of a host's interfaces that have items, kept where they were, and those that
    /// are no longer needed (to be retired when nothing is on them).
    fn lanes_of(
        &mut self,
        host: &Arc<Host>,
        before: &[u32],
        wanted: &HashMap<ItemId, &Arc<Item>>,
    ) -> (Box<[u32]>, Vec<usize>) {
        let mut retired = Vec::new();
        let mut needed: Vec<InterfaceId> = wanted
            .values()
            .filter(|i| (self.waits)(i) == Waits::Interface)
            .map(|i| i.interface())
            .collect();
        needed.sort_unstable();
        needed.dedup();
        let mut lanes = Vec::with_capacity(needed.len());
        for number in before {
            let at = *number as usize;
            let id = self.lanes.get(at).map(|lane| lane.interface);
            match id.and_then(|id| needed.iter().position(|need| *need == id)) {
                Some(position) => {
                    needed.remove(position);
                    self.lane(at).update(host);
                    self.runnable(at);
                    lanes.push(*number);
                }
                None => retired.push(at),
            }
        }
        for interface in needed {
            let at = self.new_lane(Lane::new(Some(Arc::clone(host)), interface));
            lanes.push(u32::try_from(at).expect("BUG: more than 2^32 lanes"));
        }
        (lanes.into_boxed_slice(), retired)
    }

    /// A lane under a number that is free.
    pub(super) fn new_lane(&mut self, lane: Lane) -> usize {
        match self.free_lanes.pop() {
            Some(at) => {
                *self.lane(at) = lane;
                at
            }
            None => {
                self.lanes.push(lane);
                self.lanes.len() - 1
            }
        }
    }

    /// Its slots have been or are being moved or removed; what flies still refers to it.
    pub(super) fn retire_lane(&mut self, at: usize) {
        let lane = self.lane(at);
        lane.host = None;
        lane.retired = true;
        self.free_if_left(at);
    }

    pub(super) fn free_if_left(&mut self, at: usize) {
        if self.lane_ref(at).is_free() {
            self.lane(at).retired = false;
            self.free_lanes.push(at);
        }
    }

    /// Moves a slot that is on no list.
    pub(super) fn move_slot(&mut self, at: u32, to: usize) {
        let from = self.slots.get(at).lane();
        if from != to {
            self.slots.at(at).set_lane(to);
            self.join(to);
            self.leave(from);
        }
    }

    pub(super) fn free_slot(&mut self, at: u32) {
        let lane = self.slots.get(at).lane();
        self.slots.free(at);
        self.leave(lane);
    }

    fn replace(&mut self, at: u32, item: &Arc<Item>, lanes: &[u32], now: u32) {
        let before = self.slots.at(at).item.replace(Arc::clone(item));
        let place = self.slots.get(at).place();
        // In flight: `complete` puts it right.
        if place != Place::Flight {
            let lane = self.lane_for(item, lanes);
            if place == Place::Ready && lane != self.slots.get(at).lane() {
                self.unready(at);
                self.move_slot(at, lane);
                self.make_ready(at);
            } else {
                self.move_slot(at, lane);
            }
        }
        let same = before.is_some_and(|b| b.interval == item.interval);
        if !same && matches!(place, Place::Wheel | Place::Idle) {
            if place == Place::Wheel {
                self.wheel.remove(&mut self.slots, at);
            }
            let due = self.first_due(item, now);
            self.put_on_wheel(at, due);
        }
    }

    fn remove_slot(&mut self, at: u32) {
        match self.slots.get(at).place() {
            Place::Wheel => self.wheel.remove(&mut self.slots, at),
            Place::Ready => self.unready(at),
            Place::Flight => {
                self.slots.at(at).set_place(Place::Leaving);
                return;
            }
            Place::Idle | Place::Leaving => {}
        }
        self.free_slot(at);
    }

    fn remove_host(&mut self, id: HostId, applied: &mut Applied) {
        let Some(entry) = self.hosts.remove(&id) else { return };
        for at in entry.slots {
            self.remove_slot(at);
        }
        for lane in entry.lanes {
            applied.idle.push(self.lane_ref(lane as usize).interface);
            self.retire_lane(lane as usize);
        }
    }
}

fn was_invalid(before: Option<&Host>, item: &Item) -> bool {
    before
        .and_then(|host| host.item(&item.key))
        .is_some_and(|old| old.id == item.id && old.invalid == item.invalid)
}
