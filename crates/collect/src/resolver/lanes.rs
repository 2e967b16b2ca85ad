//! Which name is looked up next: those that are known to be quick first, and never so many others
//! that no thread is left for them.

use std::collections::VecDeque;

/// Threads at one time; they exist only while lookups hang.
pub(super) const THREADS_MAX: usize = 1_024;
/// Lookups of names that took long before, at one time.
const SLOW_MAX: usize = THREADS_MAX / 8;
/// Those and the lookups of names that nobody has asked for before.
const UNSURE_MAX: usize = THREADS_MAX / 4 * 3;

/// What is known of how long a name takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Lane {
    Quick = 0,
    #[default]
    New = 1,
    Slow = 2,
}

/// Names that wait, and how many are being looked up.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    waiting: [VecDeque<String>; 3],
    running: [usize; 3],
}

impl Lanes {
    pub(super) fn push(&mut self, lane: Lane, name: String) {
        self.waiting[lane as usize].push_back(name);
    }

    /// How many names wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// The next name that may be looked up now. [`Self::ended`] gives its place back.
    pub(super) fn take(&mut self) -> Option<(Lane, String)> {
        let lane = self.next()?;
        let name = self.waiting[lane as usize].pop_front()?;
        self.running[lane as usize] += 1;
        Some((lane, name))
    }

    /// Whether [`Self::take`] would give a name.
    pub(super) fn has_work(&self) -> bool {
        self.next().is_some()
    }

    pub(super) fn ended(&mut self, lane: Lane) {
        self.running[lane as usize] -= 1;
    }

    fn next(&self) -> Option<Lane> {
        let waits = |lane: Lane| !self.waiting[lane as usize].is_empty();
        let [_, new, slow] = self.running;
        [Lane::Quick, Lane::New, Lane::Slow].into_iter().find(|lane| {
            waits(*lane)
                && match lane {
                    Lane::Quick => true,
                    Lane::New => new + slow < UNSURE_MAX,
                    Lane::Slow => slow < SLOW_MAX && new + slow < UNSURE_MAX,
                }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_names_come_first_and_always_find_a_thread() {
        let mut lanes = Lanes::default();
        for n in 0..THREADS_MAX {
            lanes.push(Lane::Slow, format!("slow{n}"));
            lanes.push(Lane::New, format!("new{n}"));
        }
        lanes.push(Lane::Quick, String::from("quick"));
        assert_eq!(lanes.take(), Some((Lane::Quick, String::from("quick"))));
        let taken: Vec<Lane> = std::iter::from_fn(|| lanes.take()).map(|(lane, _)| lane).collect();
        assert_eq!(taken.len(), UNSURE_MAX);
        assert!(taken.iter().all(|lane| *lane == Lane::New));
        assert!(!lanes.has_work());
        lanes.push(Lane::Quick, String::from("again"));
        assert_eq!(lanes.take().map(|(lane, _)| lane), Some(Lane::Quick));
    }

    #[test]
    fn slow_names_get_an_eighth() {
        let mut lanes = Lanes::default();
        for n in 0..THREADS_MAX {
            lanes.push(Lane::Slow, format!("slow{n}"));
        }
        assert_eq!(std::iter::from_fn(|| lanes.take()).count(), SLOW_MAX);
        lanes.push(Lane::New, String::from("new"));
        assert_eq!(lanes.take().map(|(lane, _)| lane), Some(Lane::New));
        lanes.ended(Lane::Slow);
        assert_eq!(lanes.take().map(|(lane, _)| lane), Some(Lane::Slow));
        assert_eq!(lanes.waiting(), THREADS_MAX - SLOW_MAX - 1);
    }
}
