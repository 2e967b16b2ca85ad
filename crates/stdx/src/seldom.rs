//! Log lines of conditions that repeat: the first at once, further ones counted and summed up.

use std::sync::Mutex;
use std::time::Duration;

use crate::sync::lock;

/// Lets one event per interval through and counts the others.
#[derive(Debug)]
pub struct Seldom {
    every: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<Duration>,
    dropped: u64,
}

impl Seldom {
    /// At most one event in `every`.
    pub const fn new(every: Duration) -> Self {
        Self { every, state: Mutex::new(State { last: None, dropped: 0 }) }
    }

    /// Whether to log the event that happens `now` (monotonic time): `Some` with the number of events
    /// since the last logged one that were not logged.
    pub fn pass(&self, now: Duration) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.last.is_some_and(|last| now < last + self.every) {
            state.dropped += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_one_event_per_interval_and_counts_the_others() {
        let seldom = Seldom::new(Duration::from_secs(60));
        let at = |seconds| seldom.pass(Duration::from_secs(seconds));
        let found: Vec<_> = [5, 5, 6, 64, 65, 66, 200].into_iter().map(at).collect();
        assert_eq!(found, [Some(0), None, None, None, Some(3), None, Some(1)]);
    }
}
