//! When which item is checked: one [`Schedule`] per poller thread, for the hosts that the thread
//! owns. Plain data with the time as an argument; `poll` moves it.
//!
//! An item is on the wheel until it is due, then in its lane (interface) until a connection is
//! free, then in flight, then on the wheel again. It is never in two places, so a poller that is
//! too slow gets late (and shows it in the queue) but holds no more memory.
//!
//! Items of types that nothing collects yet are not scheduled: they never get a value and never
//! count as late.

mod apply;
mod group;
mod lane;
mod late;
mod places;
mod wheel;
mod window;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{Host, Item, ItemType};
use jiff::tz::TimeZone;
use model::{HostId, InterfaceId, ItemId};

use group::Pace;
pub(crate) use group::{Group, Waits};
use lane::FIXED;
pub(crate) use lane::{INTERNAL, Lane, Together};
use places::{Places, interface_lane};
use wheel::{List, Place, Slots, Wheel};
use window::Window;

/// Checks of new items start within this many seconds (the field's rule), however long their
/// interval is.
const FIRST_CHECK_S: u32 = 60;

/// At a start with many items their first checks are spread at this rate per second and poller.
const FIRST_CHECKS_PER_S: usize = 2_000;

#[derive(Debug)]
struct HostEntry {
    host: Arc<Host>,
    slots: Box<[u32]>,
    lanes: Box<[u32]>,
}

/// The schedule of one poller.
#[derive(Debug)]
pub(crate) struct Schedule {
    waits: fn(&Item) -> Waits,
    poller: usize,
    pollers: usize,
    snapshot: Arc<Snapshot>,
    hosts: HashMap<HostId, HostEntry, foldhash::fast::RandomState>,
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
    /// Lanes of groups, by whom they ask.
    asked: HashMap<u64, u32>,
    places: Box<[Places]>,
    /// Items that are due in lanes of no interface.
    shared_ready: usize,
}

impl Schedule {
    /// An empty schedule for poller number `poller` of `pollers`; `waits` tells what items wait for.
    pub(crate) fn new(waits: fn(&Item) -> Waits, poller: usize, pollers: usize, now: u32) -> Self {
        Self {
            waits,
            poller,
            pollers,
            snapshot: Arc::new(Snapshot::default()),
            hosts: HashMap::default(),
            slots: Slots::default(),
            wheel: Wheel::new(now),
            lanes: (0..FIXED).map(|_| Lane::new(None, InterfaceId(0))).collect(),
            free_lanes: Vec::new(),
            runnable: VecDeque::new(),
            wake: BTreeMap::new(),
            tz: TimeZone::UTC,
            first_window_s: FIRST_CHECK_S,
            asked: HashMap::new(),
            places: Places::all(pollers),
            shared_ready: 0,
        }
    }

    /// Scheduled items.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    fn put_on_wheel(&mut self, at: u32, due: Option<u32>) {
        if let Some(due) = due {
            self.wheel.insert(&mut self.slots, at, due);
        }
    }

    /// What spreads items over their interval. Pings of one interface come together: one series of
    /// packets serves them all.
    fn seed(&self, item: &Item) -> u64 {
        let ping = item.kind == ItemType::Simple && (self.waits)(item) == Waits::Pings;
        if ping && item.interface().0 != 0 { item.interface().0 } else { item.id.0 }
    }

    fn next_due(&self, item: &Item, now: u32) -> Option<u32> {
        item.interval.as_ref()?.next_check(self.seed(item), false, now, &self.tz)
    }

    fn first_due(&self, item: &Item, now: u32) -> Option<u32> {
        let due = self.next_due(item, now);
        let interval = item.interval.as_ref()?;
        if interval.delay_at(i64::from(now), &self.tz) == 0 {
            return due;
        }
        let spread = u32::try_from(self.seed(item) % u64::from(self.first_window_s)).unwrap_or(0);
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

    fn is_shared(&self, lane: usize) -> bool {
        lane < FIXED || self.lane_ref(lane).group.is_some()
    }

    fn make_ready(&mut self, at: u32) {
        let lane = self.slots.get(at).lane();
        self.slots.at(at).set_place(Place::Ready);
        self.shared_ready += usize::from(self.is_shared(lane));
        self.with_ready(lane, |slots, list| slots.push(list, at));
        self.runnable(lane);
    }

    fn unready(&mut self, at: u32) {
        let lane = self.slots.get(at).lane();
        self.shared_ready -= usize::from(self.is_shared(lane));
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

    /// The configuration that the schedule follows.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Checks that could start now: one in each lane of an interface, any number in the others.
    pub(crate) fn waiting(&self) -> usize {
        self.runnable.len() + self.shared_ready
    }

    /// The host of an item that is scheduled here.
    pub(crate) fn host_of(&self, item: &Item) -> Option<&Arc<Host>> {
        self.hosts.get(&item.host).map(|entry| &entry.host)
    }

    /// The next lane that has work and may start a check.
    pub(crate) fn next_lane(&mut self, now: u32) -> Option<usize> {
        while let Some(at) = self.runnable.pop_front() {
            self.lane(at).queued = false;
            let lane = self.lane_ref(at);
            if lane.ready.is_empty() {
                self.offer_instead_of(at);
                self.free_if_left(at);
                continue;
            }
            if self.may_start(at, now) {
                if self.has_place(at) {
                    return Some(at);
                }
                continue;
            }
            self.offer_instead_of(at);
            let lane = self.lane_ref(at);
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
        self.take_place(lane);
        let entry = self.lane(lane);
        entry.in_flight = entry.in_flight.saturating_add(1);
        let item = self.slots.get(at).item.clone()?;
        self.runnable(lane);
        Some((at, item))
    }

    /// A check that [`Self::take`] gave out has ended. With `again` the item stays due (network
    /// errors: the interface is tried with the next item first).
    pub(crate) fn complete(&mut self, at: u32, lane: usize, now: u32, again: bool) {
        self.give_place(lane);
        let entry = self.lane(lane);
        entry.in_flight = entry.in_flight.saturating_sub(1);
        if again {
            entry.window = Window::default();
        }
        let place = self.slots.get(at).place();
        match (place, self.slots.get(at).item.clone()) {
            (Place::Flight, Some(item)) => {
                let current = self.lane_now(&item, lane);
                self.slots.at(at).set_place(Place::Idle);
                self.move_slot(at, current);
                if again && current == lane {
                    self.make_ready(at);
                } else {
                    let due = self.next_due(&item, now);
                    self.put_on_wheel(at, due);
                }
            }
            _ => self.free_slot(at),
        }
        self.free_if_left(lane);
        self.runnable(lane);
    }

    /// The lane of an item that came from `lane`.
    fn lane_now(&mut self, item: &Item, lane: usize) -> usize {
        if let Some(shared) = self.shared_lane(item) {
            return shared;
        }
        let from = self.lane_ref(lane);
        if from.host.is_some() && from.interface == item.interface() {
            return lane;
        }
        let lanes = self.hosts.get(&item.host).map(|e| &*e.lanes).unwrap_or_default();
        interface_lane(&self.lanes, item, lanes)
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

/// The zone of the settings; unknown names and "system" mean the machine's.
pub(crate) fn time_zone(name: &str) -> TimeZone {
    if name.is_empty() || name == "system" {
        return TimeZone::system();
    }
    TimeZone::get(name).unwrap_or_else(|_| TimeZone::system())
}

#[cfg(test)]
mod tests;
