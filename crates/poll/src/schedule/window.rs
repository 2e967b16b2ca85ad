//! How many checks an interface gets at one time: few at first, as an agent serves few connections at
//! once, and more while that costs its answers no time.
//!
//! As congestion control does it (the delays of TCP Vegas, RFC 5681's growth): where answers take as
//! long as the shortest did, nobody waits in the agent, and each answer makes room for one more. Where
//! they take longer, a whole round of answers does. A round of answers that take half of their timeout
//! takes a quarter of the room away, long before any times out.

use std::time::Duration;

/// At first, after an error, and of an agent that is slow.
const MIN: u16 = 5;
/// However quick it is: its share of a poller's connections.
const MAX: u16 = 1_000;
/// No answer that came within this time is late, however short the timeout.
const LATE_MIN: Duration = Duration::from_millis(500);

/// Checks that one interface gets at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    size: u16,
    /// Answers since it last changed.
    answers: u16,
    /// The shortest time of an answer.
    least_ms: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self { size: MIN, answers: 0, least_ms: u32::MAX }
    }
}

impl Window {
    pub(crate) fn size(&self) -> u16 {
        self.size
    }

    /// A check took `spent` of its `timeout`; `more` = others wait for the interface.
    pub(crate) fn hear(&mut self, spent: Duration, timeout: Duration, more: bool) {
        let spent_ms = u32::try_from(spent.as_millis()).unwrap_or(u32::MAX);
        self.least_ms = self.least_ms.min(spent_ms);
        let late = spent > (timeout / 2).max(LATE_MIN);
        if !late && !more {
            return;
        }
        self.answers += 1;
        let at_once = !late && u64::from(spent_ms) * 2 <= u64::from(self.least_ms) * 3;
        if at_once || self.answers >= self.size {
            self.size =
                if late { self.size - self.size / 4 } else { self.size + 1 }.clamp(MIN, MAX);
            self.answers = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    /// Rounds of an agent whose answers take so long when so many are asked; the sizes in between.
    fn rounds(count: usize, takes: impl Fn(u16) -> Duration) -> Vec<u16> {
        let mut window = Window::default();
        let mut round = || {
            let asked = window.size();
            (0..asked).for_each(|_| window.hear(takes(asked), TIMEOUT, true));
            window.size()
        };
        (0..count).map(|_| round()).collect()
    }

    #[test]
    fn slow_agent_gets_twice_as_many_each_round() {
        let sizes = rounds(8, |_| Duration::from_secs(3));
        assert_eq!(sizes, [10, 20, 40, 80, 160, 320, 640, MAX]);
    }

    #[test]
    fn an_agent_that_answers_one_by_one_is_not_made_late() {
        let each = Duration::from_millis(100);
        let sizes = rounds(200, |asked| each * asked.into());
        let most = sizes.iter().max().copied().unwrap();
        // The first round shows what one answer takes with five in flight.
        assert!(sizes[0] <= 2 * MIN, "{sizes:?}");
        assert!(each * most.into() < TIMEOUT * 6 / 10, "{most}");
        assert!(each * sizes[199].into() > TIMEOUT / 3, "{sizes:?}");
    }

    #[test]
    fn it_grows_only_where_others_wait() {
        let mut window = Window::default();
        (0..100).for_each(|_| window.hear(Duration::from_millis(1), TIMEOUT, false));
        assert_eq!(window.size(), MIN);
        (0..100).for_each(|_| window.hear(Duration::from_secs(6), TIMEOUT, true));
        assert_eq!(window.size(), MIN);
    }
}
