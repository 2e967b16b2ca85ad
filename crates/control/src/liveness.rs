//! Which engines live: those that are connected, or were a moment ago.

use std::collections::HashMap;
use std::time::Duration;

use balancing::placement::State;

/// Time after the start of the server in which engines may connect again. They retry within 30 s.
const GRACE: Duration = Duration::from_secs(45);
/// Engines that are lost within this time were lost together.
const TOGETHER: Duration = Duration::from_secs(10);

/// The connections of all engines. Times are monotonic.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    links: HashMap<u64, Link>,
    /// The last time at which no engine was connected.
    isolation: Option<Isolation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Connected,
    Lost(Duration),
}

/// Several engines were lost together, and none was left: the fault is the server's network rather than theirs.
#[derive(Debug, Clone, Copy)]
struct Isolation {
    since: Duration,
    /// When the first engine connected again.
    until: Option<Duration>,
}

impl Liveness {
    pub(crate) fn connected(&mut self, engine: u64, now: Duration) {
        if let Some(isolation) = &mut self.isolation {
            isolation.until.get_or_insert(now);
        }
        self.links.insert(engine, Link::Connected);
    }

    pub(crate) fn lost(&mut self, engine: u64, now: Duration) {
        self.links.insert(engine, Link::Lost(now));
        let since = now.saturating_sub(TOGETHER);
        let lately = |link: &&Link| matches!(link, Link::Lost(at) if *at >= since);
        let lost = self.links.values().filter(lately).count();
        if lost > 1 && !self.links.values().any(|link| *link == Link::Connected) {
            self.isolation = Some(Isolation { since, until: None });
        }
    }

    /// Forgets engines that do not exist.
    pub(crate) fn retain(&mut self, exists: impl Fn(u64) -> bool) {
        self.links.retain(|engine, _| exists(*engine));
    }

    /// How an engine is seen that has failed when its connection is lost for longer than `hold`. `began`: the start
    /// of the server.
    pub(crate) fn state(
        &self,
        engine: u64,
        hold: Duration,
        began: Duration,
        now: Duration,
    ) -> State {
        let waits = match self.links.get(&engine) {
            Some(Link::Connected) => return State::Up,
            Some(Link::Lost(at)) => {
                let isolated =
                    self.isolation.is_some_and(|Isolation { since, until }| match until {
                        None => *at >= since,
                        Some(until) => {
                            (since..=until).contains(at) && now < until + GRACE.max(hold)
                        }
                    });
                isolated || now < *at + hold
            }
            None => now < began + GRACE.max(hold),
        };
        if waits { State::Waiting } else { State::Down }
    }
}

#[cfg(test)]
mod tests {
    use super::State::{Down, Up, Waiting};
    use super::*;

    const HOLD: Duration = Duration::from_secs(3);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(100 + seconds)
    }

    fn state(liveness: &Liveness, engine: u64, seconds: u64) -> State {
        liveness.state(engine, HOLD, at(0), at(seconds))
    }

    #[test]
    fn an_engine_fails_after_the_hold_time() {
        let mut liveness = Liveness::default();
        assert_eq!(state(&liveness, 1, 44), Waiting, "the server has just started");
        assert_eq!(state(&liveness, 1, 45), Down);
        for engine in [1, 2] {
            liveness.connected(engine, at(1));
        }
        assert_eq!(state(&liveness, 1, 99), Up);
        liveness.lost(1, at(100));
        assert_eq!(state(&liveness, 1, 102), Waiting);
        assert_eq!(state(&liveness, 1, 103), Down);
        liveness.connected(1, at(104));
        assert_eq!(state(&liveness, 1, 104), Up);
        liveness.lost(1, at(105));
        liveness.retain(|engine| engine == 2);
        assert_eq!(state(&liveness, 1, 106), Down, "deleted, and created again");
    }

    #[test]
    fn engines_lost_together_get_time_to_return() {
        let mut liveness = Liveness::default();
        for engine in [1, 2, 3] {
            liveness.connected(engine, at(0));
        }
        liveness.lost(3, at(50));
        liveness.lost(1, at(100));
        liveness.lost(2, at(104));
        assert_eq!([1, 2, 3].map(|one| state(&liveness, one, 9_000)), [Waiting, Waiting, Down]);
        liveness.connected(2, at(9_000));
        assert_eq!([1, 2, 3].map(|one| state(&liveness, one, 9_044)), [Waiting, Up, Down]);
        assert_eq!(state(&liveness, 1, 9_045), Down);
        // The only engine that was left is no proof of a fault of the network.
        liveness.lost(2, at(9_100));
        assert_eq!(state(&liveness, 2, 9_103), Down);
    }
}
