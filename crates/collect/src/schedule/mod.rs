//! When which item is checked: one [`Schedule`] per poller thread, for the hosts that the thread
//! owns. Plain data with the time as an argument; `poll` moves it.
//!
//! An item is on the wheel until it is due, then in its lane (interface) until a connection is
//! free, then in flight, then on the wheel again. It is never in two places, so a poller that is
//! too slow gets late (and shows it in the queue) but holds no more memory.
//!
//! Items of types that nothing collects yet are not scheduled: they never get a value and never
//! count as late.

mod lane;
mod queue;
mod wheel;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{Host, Item, ItemType};
use jiff::tz::TimeZone;
use model::{HostId, InterfaceId, ItemId, shard_of};

pub(crate) use lane::Lane;
pub use queue::{Late, QueueReport, QueueRow, Reason};
use wheel::{List, Place, Slots, Wheel};

/// Checks of new items start within this many seconds (the field's rule), however long their
/// interval is.
const FIRST_CHECK_S: u32 = 60;

/// At a start with many items their first checks are spread at this rate per second and poller.
const FIRST_CHECKS_PER_S: usize = 2_000;

/// The lane of items that need no interface.
pub(crate) const NO_LANE: usize = 0;

#[derive(Debug)]
struct HostEntry {
    host: Arc<Host>,
    slots: Box<[u32]>,
    lanes: Box<[u32]>,
}

/// What a change of the configuration asks of the poller.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// Items that cannot be checked, with the reason for their state.
    pub(crate) invalid: Vec<Arc<Item>>,
    /// Hosts that are gone.
    pub(crate) gone: Vec<Arc<Host>>,
}

/// The schedule of one poller.
#[derive(Debug)]
pub(crate) struct Schedule {
    poller: usize,
    pollers: usize,
    with_calculated: bool,
    snapshot: Arc<Snapshot>,
    hosts: HashMap<HostId, HostEntry>,
    slots: Slots,
    wheel: Wheel,
    lanes: Vec<Lane>,
    free_lanes: Vec<usize>,
    /// Lanes that may have work, in order of need.
    runnable: VecDeque<usize>,
    /// Lanes to be looked at again, by time.
    wake: BTreeMap<u32, Vec<usize>>,
    tz: TimeZone,
    first_window_s: u32,
}

impl Schedule {
    /// An empty schedule for poller number `poller` of `pollers`.
    pub(crate) fn new(poller: usize, pollers: usize, with_calculated: bool, now: u32) -> Self {
        Self {
            poller,
            pollers,
            with_calculated,
            snapshot: Arc::new(Snapshot::default()),
            hosts: HashMap::new(),
            slots: Slots::default(),
            wheel: Wheel::new(now),
            lanes: vec![Lane::new(None, InterfaceId(0))],
            free_lanes: Vec::new(),
            runnable: VecDeque::new(),
            wake: BTreeMap::new(),
            tz: TimeZone::UTC,
            first_window_s: FIRST_CHECK_S,
        }
    }

    /// Scheduled items.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

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
        for (id, _, new) in changed {
            match new {
                Some(host) => self.apply_host(id, &host, now, &mut applied),
                None => applied.gone.extend(self.remove_host(id)),
            }
        }
        self.first_window_s = FIRST_CHECK_S;
        applied
    }

    fn wanted(&self, item: &Item) -> bool {
        let polled = match item.kind {
            ItemType::Agent | ItemType::Internal => true,
            ItemType::Calculated => self.with_calculated,
            _ => false,
        };
        polled && item.enabled
    }

    fn apply_host(&mut self, id: HostId, host: &Arc<Host>, now: u32, applied: &mut Applied) {
        let entry = self.hosts.remove(&id);
        let before = entry.as_ref().map(|e| Arc::clone(&e.host));
        let (old_slots, mut lanes) = entry.map_or_else(Default::default, |e| (e.slots, e.lanes));
        let mut wanted: HashMap<ItemId, &Arc<Item>> = HashMap::new();
        for item in host.items.iter().filter(|item| host.monitored && self.wanted(item)) {
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
            let at = self.slots.insert(Arc::clone(item), self.lane_for(item, &lanes));
            let due = self.first_due(item, now);
            self.put_on_wheel(at, due);
            slots.push(at);
        }
        for lane in retired {
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
        let mut needed: Vec<InterfaceId> =
            wanted.values().filter(|i| i.kind == ItemType::Agent).map(|i| i.interface).collect();
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
            let lane = Lane::new(Some(Arc::clone(host)), interface);
            let at = match self.free_lanes.pop() {
                Some(at) => {
                    *self.lane(at) = lane;
                    at
                }
                None => {
                    self.lanes.push(lane);
                    self.lanes.len() - 1
                }
            };
            lanes.push(u32::try_from(at).expect("BUG: more than 2^32 lanes"));
        }
        (lanes.into_boxed_slice(), retired)
    }

    fn retire_lane(&mut self, at: usize) {
        let lane = self.lane(at);
        lane.host = None;
        // Its slots have been or are being moved or removed; what flies still refers to it.
        if lane.in_flight == 0 && lane.ready.is_empty() && !lane.queued {
            self.free_lanes.push(at);
        }
    }

    fn lane_for(&self, item: &Item, lanes: &[u32]) -> usize {
        if item.kind != ItemType::Agent {
            return NO_LANE;
        }
        let of = |at: &&u32| {
            self.lanes.get(**at as usize).is_some_and(|lane| lane.interface == item.interface)
        };
        lanes.iter().find(of).map_or(NO_LANE, |at| *at as usize)
    }

    fn replace(&mut self, at: u32, item: &Arc<Item>, lanes: &[u32], now: u32) {
        let lane = self.lane_for(item, lanes);
        let slot = self.slots.at(at);
        let before = slot.item.replace(Arc::clone(item));
        let (place, old_lane) = (slot.place(), slot.lane());
        if lane != old_lane {
            if place == Place::Ready {
                self.unready(at);
                self.slots.at(at).set_lane(lane);
                self.make_ready(at);
            } else if place != Place::Flight {
                self.slots.at(at).set_lane(lane);
            }
            // In flight: `complete` puts it right.
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
        self.slots.free(at);
    }

    fn remove_host(&mut self, id: HostId) -> Option<Arc<Host>> {
        let entry = self.hosts.remove(&id)?;
        for at in entry.slots {
            self.remove_slot(at);
        }
        for lane in entry.lanes {
            self.retire_lane(lane as usize);
        }
        Some(entry.host)
    }

    fn put_on_wheel(&mut self, at: u32, due: Option<u32>) {
        if let Some(due) = due {
            self.wheel.insert(&mut self.slots, at, due);
        }
    }

    fn next_due(&self, item: &Item, now: u32) -> Option<u32> {
        item.interval.as_ref()?.next_check(item.id.0, false, now, &self.tz)
    }

    fn first_due(&self, item: &Item, now: u32) -> Option<u32> {
        let due = self.next_due(item, now);
        let interval = item.interval.as_ref()?;
        if interval.delay_at(i64::from(now), &self.tz) == 0 {
            return due;
        }
        let spread = u32::try_from(item.id.0 % u64::from(self.first_window_s)).unwrap_or(0);
        Some(due.unwrap_or(u32::MAX).min(now + 1 + spread))
    }

    fn reschedule_all(&mut self, now: u32) {
        let all: Vec<u32> = self.hosts.values().flat_map(|e| e.slots.iter().copied()).collect();
        for at in all {
            if self.slots.get(at).place() != Place::Wheel {
                continue;
            }
            self.wheel.remove(&mut self.slots, at);
            let item = self.slots.get(at).item.clone();
            let due = item.and_then(|item| self.next_due(&item, now));
            self.put_on_wheel(at, due);
        }
    }

    /// Moves the time to `now` (seconds since 1970): what is due gets ready.
    pub(crate) fn tick(&mut self, now: u32) {
        const SET_BACK_S: u32 = 5;
        if now.saturating_add(SET_BACK_S) < self.wheel.now() {
            self.wheel.set_back(now);
            self.reschedule_all(now);
        }
        let mut due = Vec::new();
        self.wheel.advance(&mut self.slots, now, &mut due);
        for at in due {
            self.make_ready(at);
        }
        while let Some(entry) = self.wake.first_entry() {
            if *entry.key() > now {
                break;
            }
            for lane in entry.remove() {
                self.lane(lane).wake_at = 0;
                self.runnable(lane);
            }
        }
    }

    fn lane(&mut self, at: usize) -> &mut Lane {
        self.lanes.get_mut(at).expect("BUG: lane number out of range")
    }

    /// The lane of that number.
    pub(crate) fn lane_ref(&self, at: usize) -> &Lane {
        self.lanes.get(at).expect("BUG: lane number out of range")
    }

    /// The lane of that number, for what polling learns about it.
    pub(crate) fn lane_mut(&mut self, at: usize) -> &mut Lane {
        self.lane(at)
    }

    fn with_ready(&mut self, lane: usize, change: impl FnOnce(&mut Slots, &mut List)) {
        let mut ready = self.lane(lane).ready;
        change(&mut self.slots, &mut ready);
        self.lane(lane).ready = ready;
    }

    fn make_ready(&mut self, at: u32) {
        let lane = self.slots.get(at).lane();
        self.slots.at(at).set_place(Place::Ready);
        self.with_ready(lane, |slots, list| slots.push(list, at));
        self.runnable(lane);
    }

    fn unready(&mut self, at: u32) {
        let lane = self.slots.get(at).lane();
        self.with_ready(lane, |slots, list| slots.unlink(list, at));
        self.slots.at(at).set_place(Place::Idle);
    }

    /// Puts a lane in the queue of lanes to look at.
    pub(crate) fn runnable(&mut self, at: usize) {
        let lane = self.lane(at);
        if !lane.queued && !lane.ready.is_empty() {
            lane.queued = true;
            self.runnable.push_back(at);
        }
    }

    /// Lanes that wait to be looked at.
    pub(crate) fn runnable_len(&self) -> usize {
        self.runnable.len()
    }

    /// The next lane that has work and may start a check.
    pub(crate) fn next_lane(&mut self, now: u32, limit: u16) -> Option<usize> {
        while let Some(at) = self.runnable.pop_front() {
            self.lane(at).queued = false;
            let lane = self.lane_ref(at);
            if lane.ready.is_empty() {
                if lane.host.is_none() && at != NO_LANE && lane.in_flight == 0 {
                    self.free_lanes.push(at);
                }
                continue;
            }
            if at == NO_LANE || lane.may_start(now, limit) {
                return Some(at);
            }
            if lane.state.failing() && lane.in_flight == 0 {
                let until = lane.state.disable_until;
                if lane.wake_at != until {
                    self.lane(at).wake_at = until;
                    self.wake.entry(until).or_default().push(at);
                }
            }
            // Otherwise a check in flight brings the lane back when it ends.
        }
        None
    }

    /// Takes the first item that is ready in `lane` into flight.
    pub(crate) fn take(&mut self, lane: usize) -> Option<(u32, Arc<Item>)> {
        let at = self.lane_ref(lane).ready.first()?;
        self.unready(at);
        self.slots.at(at).set_place(Place::Flight);
        let entry = self.lane(lane);
        entry.in_flight = entry.in_flight.saturating_add(1);
        let item = self.slots.get(at).item.clone()?;
        self.runnable(lane);
        Some((at, item))
    }

    /// A check that [`Self::take`] gave out has ended. With `again` the item stays due (network
    /// errors: the interface is tried with the next item first).
    pub(crate) fn complete(&mut self, at: u32, lane: usize, now: u32, again: bool) {
        let entry = self.lane(lane);
        entry.in_flight = entry.in_flight.saturating_sub(1);
        let place = self.slots.get(at).place();
        match (place, self.slots.get(at).item.clone()) {
            (Place::Flight, Some(item)) => {
                let lanes = self.hosts.get(&item.host).map(|e| &*e.lanes).unwrap_or_default();
                let current = self.lane_for(&item, lanes);
                self.slots.at(at).set_lane(current);
                self.slots.at(at).set_place(Place::Idle);
                if again && current == lane {
                    self.make_ready(at);
                } else {
                    let due = self.next_due(&item, now);
                    self.put_on_wheel(at, due);
                }
            }
            _ => self.slots.free(at),
        }
        if self.lane_ref(lane).host.is_none() && lane != NO_LANE {
            self.retire_lane(lane);
        } else {
            self.runnable(lane);
        }
    }

    /// Makes an item due now. `false`: it is not scheduled here.
    pub(crate) fn check_now(&mut self, item: ItemId) -> bool {
        let Some(host) = self.snapshot.items.get(&item).map(|item| item.host) else {
            return false;
        };
        let Some(entry) = self.hosts.get(&host) else { return false };
        let is = |at: &&u32| self.slots.get(**at).item.as_ref().is_some_and(|i| i.id == item);
        let Some(at) = entry.slots.iter().find(is).copied() else { return false };
        match self.slots.get(at).place() {
            Place::Wheel => {
                self.wheel.remove(&mut self.slots, at);
                self.slots.at(at).due = self.wheel.now();
                self.make_ready(at);
            }
            Place::Idle => {
                self.slots.at(at).due = self.wheel.now();
                self.make_ready(at);
            }
            Place::Ready | Place::Flight | Place::Leaving => {}
        }
        true
    }
}

fn was_invalid(before: Option<&Host>, item: &Item) -> bool {
    before
        .and_then(|host| host.item(&item.key))
        .is_some_and(|old| old.id == item.id && old.invalid == item.invalid)
}

/// The zone of the settings; unknown names and "system" mean the machine's.
pub(crate) fn time_zone(name: &str) -> TimeZone {
    if name.is_empty() || name == "system" {
        return TimeZone::system();
    }
    TimeZone::get(name).unwrap_or_else(|_| TimeZone::system())
}

#[cfg(test)]
mod tests;
