//! Timers of a thread: one wheel, cancelled lazily.
//!
//! A connection changes its deadline with every read. It stores the deadline in itself; the wheel has
//! one entry per connection, and a due entry whose deadline has moved is entered again.

/// Length of a slot in milliseconds.
const SLOT_MS: u64 = 16;
/// Slots: entries beyond 16 seconds are looked at each 16 seconds.
const SLOTS: u64 = 1024;

/// An entry: the connection's place and its generation there.
pub(crate) type Entry = (usize, u32);

/// Timers in slots by the time at which they are due.
#[derive(Debug)]
pub(crate) struct Wheel {
    slots: Vec<Vec<Entry>>,
    /// Number of the next slot that is looked at, counted from the start of time.
    next: u64,
    entries: usize,
}

impl Wheel {
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { slots: vec![Vec::new(); SLOTS as usize], next: now_ms / SLOT_MS, entries: 0 }
    }

    /// Enters a connection, to be looked at at `due_ms` or before.
    pub(crate) fn enter(&mut self, entry: Entry, due_ms: u64) {
        let slot = (due_ms / SLOT_MS + 1).clamp(self.next, self.next + SLOTS - 1);
        self.slots[(slot % SLOTS) as usize].push(entry);
        self.entries += 1;
    }

    /// Takes the entries of the slots that have passed.
    pub(crate) fn due(&mut self, now_ms: u64, into: &mut Vec<Entry>) {
        let passed = now_ms / SLOT_MS;
        while self.next <= passed {
            let slot = &mut self.slots[(self.next % SLOTS) as usize];
            self.entries -= slot.len();
            into.append(slot);
            self.next += 1;
        }
    }

    /// Milliseconds until the next slot with entries; `None`: there are none.
    pub(crate) fn wait_ms(&self, now_ms: u64) -> Option<u64> {
        if self.entries == 0 {
            return None;
        }
        let slot = (self.next..self.next + SLOTS)
            .find(|slot| !self.slots[(slot % SLOTS) as usize].is_empty())?;
        Some((slot * SLOT_MS).saturating_sub(now_ms).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_due_after_their_time_and_not_before() {
        let mut wheel = Wheel::new(1000);
        wheel.enter((1, 0), 1100);
        wheel.enter((2, 0), 3_600_000);
        let mut due = Vec::new();
        wheel.due(1099, &mut due);
        assert!(due.is_empty());
        assert!(wheel.wait_ms(1099).is_some_and(|wait| wait <= 32));
        wheel.due(1120, &mut due);
        assert_eq!(due, [(1, 0)]);
        due.clear();
        wheel.due(1120 + SLOT_MS * SLOTS, &mut due);
        assert_eq!(due, [(2, 0)], "an entry far ahead is looked at early");
        assert_eq!(wheel.wait_ms(20_000), None);
    }
}
