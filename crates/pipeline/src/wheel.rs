//! Which ids are due at which second: for time-based triggers and calculated items.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ids by the second at which they are due. An id that was rescheduled leaves its old entry
/// behind; the owner recognises such entries by the second and passes over them.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    due: BinaryHeap<Reverse<(u64, T)>>,
}

impl<T: Ord + Copy> Default for Wheel<T> {
    fn default() -> Self {
        Self { due: BinaryHeap::new() }
    }
}

impl<T: Ord + Copy> Wheel<T> {
    pub(crate) fn add(&mut self, second: u64, id: T) {
        self.due.push(Reverse((second, id)));
    }

    /// The next entry that is due at or before `now`, with its second.
    pub(crate) fn pop(&mut self, now: u64) -> Option<(u64, T)> {
        let Reverse(first) = *self.due.peek()?;
        if first.0 > now {
            return None;
        }
        self.due.pop();
        Some(first)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.due.len()
    }
}

/// The next second after `now` at which something due every `period` seconds comes up; ids are
/// spread over the period, so that they do not all come at once.
pub(crate) fn next_spread(now: u64, period: u64, id: u64) -> u64 {
    let phase = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let phase = phase % period;
    let start = now - now % period + phase;
    if start > now { start } else { start + period }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_when_due_and_in_order() {
        let mut wheel = Wheel::default();
        for (second, id) in [(5, 1), (3, 2), (5, 0), (9, 3)] {
            wheel.add(second, id);
        }
        assert_eq!(wheel.pop(2), None);
        let due: Vec<_> = std::iter::from_fn(|| wheel.pop(5)).collect();
        assert_eq!(due, [(3, 2), (5, 0), (5, 1)]);
        assert_eq!(wheel.len(), 1);
    }

    #[test]
    fn periods_are_kept_and_spread() {
        let mut phases = std::collections::BTreeSet::new();
        for id in 0..1000 {
            let first = next_spread(1_000, 30, id);
            assert!((1_001..=1_030).contains(&first), "{first}");
            assert_eq!(next_spread(first, 30, id), first + 30);
            phases.insert(first);
        }
        assert_eq!(phases.len(), 30);
    }
}
