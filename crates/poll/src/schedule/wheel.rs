//! Slots of 24 bytes, one per scheduled item, strung on intrusive lists: a list per second of
//! the timer wheel, and a list per lane for what is due and waits.

use std::sync::Arc;

use config::snapshot::Item;

/// No slot.
pub(crate) const NIL: u32 = u32::MAX;

/// Seconds of one turn of the wheel. What is due later stays for more turns.
const TURN: u32 = 4096;

const LANE_BITS: u32 = 29;
const LANE_MASK: u32 = (1 << LANE_BITS) - 1;

/// Where a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Place {
    /// On no list: free, or of an item that has no next check.
    Idle = 0,
    /// On the wheel, waiting for its time.
    Wheel = 1,
    /// In its lane, due.
    Ready = 2,
    /// Being checked.
    Flight = 3,
    /// Being checked, to be freed afterwards.
    Leaving = 4,
}

/// One scheduled item.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) item: Option<Arc<Item>>,
    /// When it is due, seconds since 1970.
    pub(crate) due: u32,
    prev: u32,
    next: u32,
    /// Place in the upper bits, lane in the lower ones.
    place_lane: u32,
}

impl Slot {
    pub(crate) fn place(&self) -> Place {
        match self.place_lane >> LANE_BITS {
            1 => Place::Wheel,
            2 => Place::Ready,
            3 => Place::Flight,
            4 => Place::Leaving,
            _ => Place::Idle,
        }
    }

    pub(crate) fn set_place(&mut self, place: Place) {
        self.place_lane = (place as u32) << LANE_BITS | self.place_lane & LANE_MASK;
    }

    pub(crate) fn lane(&self) -> usize {
        (self.place_lane & LANE_MASK) as usize
    }

    pub(crate) fn set_lane(&mut self, lane: usize) {
        let lane = u32::try_from(lane).unwrap_or(LANE_MASK);
        debug_assert!(lane < LANE_MASK, "BUG: more interfaces than a poller can number");
        self.place_lane = self.place_lane & !LANE_MASK | lane & LANE_MASK;
    }
}

/// Ends of a list of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(crate) const EMPTY: Self = Self { head: NIL, tail: NIL };

    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }

    pub(crate) fn first(self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }
}

/// All slots of a poller, with the free ones for reuse.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    pub(crate) fn insert(&mut self, item: Arc<Item>, lane: usize) -> u32 {
        let mut slot = Slot { item: Some(item), due: 0, prev: NIL, next: NIL, place_lane: 0 };
        slot.set_lane(lane);
        if let Some(at) = self.free.pop() {
            *self.at(at) = slot;
            return at;
        }
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).expect("BUG: more than 2^32 items in one poller")
    }

    pub(crate) fn free(&mut self, at: u32) {
        let slot = self.at(at);
        slot.item = None;
        slot.set_place(Place::Idle);
        self.free.push(at);
    }

    pub(crate) fn at(&mut self, at: u32) -> &mut Slot {
        self.slots.get_mut(at as usize).expect("BUG: slot number out of range")
    }

    pub(crate) fn get(&self, at: u32) -> &Slot {
        self.slots.get(at as usize).expect("BUG: slot number out of range")
    }

    /// Slots in use.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.item.is_some())
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn push(&mut self, list: &mut List, at: u32) {
        let tail = list.tail;
        let slot = self.at(at);
        slot.prev = tail;
        slot.next = NIL;
        if tail == NIL {
            list.head = at;
        } else {
            self.at(tail).next = at;
        }
        list.tail = at;
    }

    pub(crate) fn unlink(&mut self, list: &mut List, at: u32) {
        let (prev, next) = {
            let slot = self.at(at);
            let ends = (slot.prev, slot.next);
            slot.prev = NIL;
            slot.next = NIL;
            ends
        };
        if prev == NIL {
            list.head = next;
        } else {
            self.at(prev).next = next;
        }
        if next == NIL {
            list.tail = prev;
        } else {
            self.at(next).prev = prev;
        }
    }

    pub(crate) fn after(&self, at: u32) -> Option<u32> {
        let next = self.get(at).next;
        (next != NIL).then_some(next)
    }
}

/// A list per second.
#[derive(Debug)]
pub(crate) struct Wheel {
    seconds: Box<[List]>,
    /// All seconds up to this one have been emptied.
    now: u32,
}

impl Wheel {
    pub(crate) fn new(now: u32) -> Self {
        Self { seconds: vec![List::EMPTY; TURN as usize].into_boxed_slice(), now }
    }

    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    fn list(&mut self, second: u32) -> &mut List {
        self.seconds.get_mut((second % TURN) as usize).expect("BUG: wheel has fewer seconds")
    }

    /// Puts a slot that is on no list under its second `due` (the next one if that is past).
    pub(crate) fn insert(&mut self, slots: &mut Slots, at: u32, due: u32) {
        let due = due.max(self.now.saturating_add(1));
        let slot = slots.at(at);
        slot.due = due;
        slot.set_place(Place::Wheel);
        slots.push(self.list(due), at);
    }

    pub(crate) fn remove(&mut self, slots: &mut Slots, at: u32) {
        let due = slots.get(at).due;
        slots.unlink(self.list(due), at);
        slots.at(at).set_place(Place::Idle);
    }

    /// Moves on to second `now`; takes off what has become due, in order of time.
    pub(crate) fn advance(&mut self, slots: &mut Slots, now: u32, due: &mut Vec<u32>) {
        if now <= self.now {
            return;
        }
        // After a jump each second of the turn needs one look only.
        let from = self.now.saturating_add(1).max(now.saturating_sub(TURN - 1));
        self.now = now;
        for second in from..=now {
            let mut next = self.list(second).first();
            while let Some(at) = next {
                next = slots.after(at);
                if slots.get(at).due <= now {
                    self.remove(slots, at);
                    due.push(at);
                }
            }
        }
    }

    /// The clock was set back: seconds may come again.
    pub(crate) fn set_back(&mut self, now: u32) {
        self.now = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use collect::testing::item;

    #[test]
    fn a_slot_stays_small() {
        // With 4 bytes in the host's list an item costs 28 bytes here.
        assert_eq!(size_of::<Slot>(), 24);
    }

    #[test]
    fn slots_come_due_in_order_over_several_turns() {
        let (mut slots, mut wheel) = (Slots::default(), Wheel::new(1000));
        let dues = [1001, 1001, 1003, 1000 + TURN, 1003 + TURN, 1003 + 5 * TURN, 900];
        for due in dues {
            let at = slots.insert(item(u64::from(due)).into(), 7);
            wheel.insert(&mut slots, at, due);
        }
        let mut seen = Vec::new();
        for now in 1001..1000 + 6 * TURN {
            let mut due = Vec::new();
            wheel.advance(&mut slots, now, &mut due);
            seen.extend(due.into_iter().map(|at| (now, at, slots.get(at).place())));
        }
        let idle = Place::Idle;
        assert_eq!(
            seen,
            [
                (1001, 0, idle),
                (1001, 1, idle),
                (1001, 6, idle),
                (1003, 2, idle),
                (1000 + TURN, 3, idle),
                (1003 + TURN, 4, idle),
                (1003 + 5 * TURN, 5, idle),
            ]
        );
        assert_eq!(slots.get(3).lane(), 7);
    }

    #[test]
    fn a_jump_of_the_clock_finds_everything_once() {
        let (mut slots, mut wheel) = (Slots::default(), Wheel::new(0));
        for due in (1..20_000).step_by(37) {
            let at = slots.insert(item(u64::from(due)).into(), 0);
            wheel.insert(&mut slots, at, due);
        }
        let mut due = Vec::new();
        wheel.advance(&mut slots, 30_000, &mut due);
        assert_eq!(due.len(), slots.len());
        wheel.advance(&mut slots, 60_000, &mut due);
        assert_eq!(due.len(), slots.len());
    }

    #[test]
    fn removal_from_every_position() {
        for gone in 0..4_u32 {
            let (mut slots, mut wheel) = (Slots::default(), Wheel::new(0));
            for id in 0..4 {
                let at = slots.insert(item(id).into(), 0);
                wheel.insert(&mut slots, at, 5);
            }
            wheel.remove(&mut slots, gone);
            slots.free(gone);
            let mut due = Vec::new();
            wheel.advance(&mut slots, 5, &mut due);
            assert_eq!(due, (0..4).filter(|at| *at != gone).collect::<Vec<_>>());
            assert_eq!((slots.len(), slots.insert(item(9).into(), 0)), (3, gone));
        }
    }
}
