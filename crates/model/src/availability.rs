//! Whether an interface responds.
//!
//! Rules (the field's): the first failure makes an interface *unreachable*: it is tried again
//! every `UnreachableDelay`. When that has lasted for `UnreachablePeriod` the interface is
//! *unavailable*: the state is shown, and it is tried every `UnavailableDelay`. One success ends
//! it. While it lasts there is one check at a time, so a dead host costs one timeout per round
//! however many items it has.

/// Delays of the availability rules, in seconds. The defaults are the field's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachDelays {
    /// `UnreachablePeriod`: after so long without an answer an interface is unavailable.
    pub unreachable_period_s: u32,
    /// `UnreachableDelay`: pause between attempts until then.
    pub unreachable_delay_s: u32,
    /// `UnavailableDelay`: pause between attempts afterwards.
    pub unavailable_delay_s: u32,
}

impl Default for ReachDelays {
    fn default() -> Self {
        Self { unreachable_period_s: 45, unreachable_delay_s: 15, unavailable_delay_s: 60 }
    }
}

/// The numbers are the API's: `available` of an interface, `active_available` of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Available {
    /// Not known yet.
    #[default]
    Unknown = 0,
    /// It answers.
    Yes = 1,
    /// It does not.
    No = 2,
}

/// What checks of an interface have found out about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InterfaceState {
    /// As the API shows it.
    pub available: Available,
    /// Why it is not available; empty otherwise.
    pub error: Box<str>,
    /// Since when (seconds since 1970) checks fail; 0 = they do not.
    pub errors_from: u32,
    /// When the next check may go out while they fail; 0 = at once.
    pub disable_until: u32,
    /// Since when (seconds since 1970) `available` is as it is; 0 = never changed.
    pub since: u32,
}

/// What a result did to the state of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReachChange {
    /// Nothing worth a word.
    None,
    /// First failure: unreachable from now on.
    Unreachable,
    /// Unreachable for too long.
    Unavailable,
    /// It answers again, or for the first time.
    Available,
}

impl InterfaceState {
    /// Checks fail at present.
    pub fn failing(&self) -> bool {
        self.errors_from != 0
    }

    /// It answers, and a further answer changes nothing.
    pub fn is_well(&self) -> bool {
        self.available == Available::Yes && self.errors_from == 0 && self.error.is_empty()
    }

    /// A check got a response at `now`, seconds since 1970.
    pub fn success(&mut self, now: u32) -> ReachChange {
        if self.available == Available::Yes && self.errors_from == 0 {
            return ReachChange::None;
        }
        if self.available != Available::Yes {
            self.since = now;
        }
        self.available = Available::Yes;
        self.errors_from = 0;
        self.disable_until = 0;
        self.error = Box::default();
        ReachChange::Available
    }

    /// A check got no response at `now`, seconds since 1970.
    pub fn failure(&mut self, now: u32, error: &str, delays: &ReachDelays) -> ReachChange {
        if self.errors_from == 0 {
            self.errors_from = now.max(1);
            self.disable_until = now.saturating_add(delays.unreachable_delay_s);
            return ReachChange::Unreachable;
        }
        if now.saturating_sub(self.errors_from) <= delays.unreachable_period_s {
            self.disable_until = now.saturating_add(delays.unreachable_delay_s);
            return ReachChange::None;
        }
        self.disable_until = now.saturating_add(delays.unavailable_delay_s);
        let first = self.available != Available::No;
        if first {
            self.available = Available::No;
            self.since = now;
        }
        self.error = error.into();
        if first { ReachChange::Unavailable } else { ReachChange::None }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stdx::clock::{Clock, SimClock};

    use super::*;

    const DELAYS: ReachDelays =
        ReachDelays { unreachable_period_s: 45, unreachable_delay_s: 15, unavailable_delay_s: 60 };

    /// A dead host, one attempt whenever the rules allow it: (second, change, available).
    #[test]
    fn a_dead_interface_goes_through_unreachable_to_unavailable() {
        let clock = SimClock::at(Duration::from_secs(1000));
        let mut state = InterfaceState::default();
        let mut attempts = Vec::new();
        while clock.unix_s() < 1300 {
            let now = u32::try_from(clock.unix_s()).unwrap();
            if now >= state.disable_until {
                let change = state.failure(now, "timed out", &DELAYS);
                attempts.push((now, change, state.available));
            }
            clock.advance(Duration::from_secs(1));
        }
        use Available::{No, Unknown};
        assert_eq!(
            attempts,
            [
                (1000, ReachChange::Unreachable, Unknown),
                (1015, ReachChange::None, Unknown),
                (1030, ReachChange::None, Unknown),
                (1045, ReachChange::None, Unknown),
                (1060, ReachChange::Unavailable, No),
                (1120, ReachChange::None, No),
                (1180, ReachChange::None, No),
                (1240, ReachChange::None, No),
            ]
        );
        assert_eq!((&*state.error, state.since, state.errors_from), ("timed out", 1060, 1000));
        assert_eq!(state.success(1300), ReachChange::Available);
        assert_eq!((state.available, state.since, state.disable_until), (Available::Yes, 1300, 0));
        assert_eq!((state.success(1301), &*state.error), (ReachChange::None, ""));
    }

    #[test]
    fn a_short_outage_shows_nothing() {
        let mut state = InterfaceState::default();
        assert_eq!(state.success(10), ReachChange::Available);
        assert_eq!(state.failure(100, "x", &DELAYS), ReachChange::Unreachable);
        assert_eq!((state.available, &*state.error, state.failing()), (Available::Yes, "", true));
        assert_eq!(state.success(115), ReachChange::Available);
        assert_eq!((state.since, state.failing()), (10, false));
    }
}
