//! Whether interfaces and active agents answer: the rules, and the table that others read.
//!
//! Rules (the field's): the first failure makes an interface *unreachable*: it is tried again
//! every `UnreachableDelay`. When that has lasted for `UnreachablePeriod` the interface is
//! *unavailable*: the state is shown, and it is tried every `UnavailableDelay`. One success ends
//! it. While it lasts there is one check at a time, so a dead host costs one timeout per round
//! however many items it has.

use std::collections::HashMap;
use std::sync::Mutex;

use config::snapshot::Host;
use model::{HostId, InterfaceId};
use stdx::sync::lock;

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

/// State of an interface.
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
pub enum Change {
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

    pub fn success(&mut self, now: u32) -> Change {
        if self.available == Available::Yes && self.errors_from == 0 {
            return Change::None;
        }
        if self.available != Available::Yes {
            self.since = now;
        }
        self.available = Available::Yes;
        self.errors_from = 0;
        self.disable_until = 0;
        self.error = Box::default();
        Change::Available
    }

    pub fn failure(&mut self, now: u32, error: &str, delays: &ReachDelays) -> Change {
        if self.errors_from == 0 {
            self.errors_from = now.max(1);
            self.disable_until = now.saturating_add(delays.unreachable_delay_s);
            return Change::Unreachable;
        }
        if now.saturating_sub(self.errors_from) <= delays.unreachable_period_s {
            self.disable_until = now.saturating_add(delays.unreachable_delay_s);
            return Change::None;
        }
        self.disable_until = now.saturating_add(delays.unavailable_delay_s);
        let first = self.available != Available::No;
        if first {
            self.available = Available::No;
            self.since = now;
        }
        self.error = error.into();
        if first { Change::Unavailable } else { Change::None }
    }
}

/// Heartbeats of an active agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heartbeat {
    at_s: u64,
    freq_s: u32,
}

/// Availability of interfaces for readers; written only on changes.
#[derive(Debug, Default)]
pub struct Availability {
    interfaces: Mutex<HashMap<InterfaceId, InterfaceState>>,
    active: Mutex<HashMap<HostId, Heartbeat>>,
}

impl Availability {
    /// State of an interface; unknown ones never were checked.
    pub fn interface(&self, id: InterfaceId) -> InterfaceState {
        lock(&self.interfaces).get(&id).cloned().unwrap_or_default()
    }

    /// The API's `active_available` of a host: two heartbeats missed are one too many.
    /// `now_s` is monotonic time in seconds.
    pub fn active(&self, host: HostId, now_s: u64) -> Available {
        match lock(&self.active).get(&host) {
            None => Available::Unknown,
            Some(beat) if now_s.saturating_sub(beat.at_s) <= u64::from(beat.freq_s) * 2 => {
                Available::Yes
            }
            Some(_) => Available::No,
        }
    }

    /// State of a host over all its interfaces of one kind (1 agent, 2 SNMP, 3 IPMI, 4 JMX):
    /// available if all known ones are, unavailable if one is not.
    pub fn host(&self, host: &Host, kind: u8) -> Available {
        let table = lock(&self.interfaces);
        let mut known = Available::Unknown;
        for interface in host.interfaces.iter().filter(|i| i.kind == kind) {
            match table.get(&interface.id).map_or(Available::Unknown, |s| s.available) {
                Available::No => return Available::No,
                Available::Yes => known = Available::Yes,
                Available::Unknown => {}
            }
        }
        known
    }

    /// Puts back what was known before a restart. How long checks had failed by then says nothing
    /// about the time since, unless the interface was given up.
    pub fn restore(&self, states: impl IntoIterator<Item = (InterfaceId, InterfaceState)>) {
        let states = states.into_iter().map(|(id, mut state)| {
            state.disable_until = 0;
            if state.available != Available::No {
                state.errors_from = 0;
                state.error = Box::default();
            }
            (id, state)
        });
        lock(&self.interfaces).extend(states);
    }

    /// All interfaces that were ever checked, to be kept over a restart.
    pub fn all(&self) -> Vec<(InterfaceId, InterfaceState)> {
        lock(&self.interfaces).iter().map(|(id, state)| (*id, state.clone())).collect()
    }

    pub fn set(&self, id: InterfaceId, state: &InterfaceState) {
        lock(&self.interfaces).insert(id, state.clone());
    }

    /// Nothing is checked there any more: its state is unknown from now on.
    pub fn forget_interface(&self, id: InterfaceId) {
        lock(&self.interfaces).remove(&id);
    }

    /// The host is deleted or switched off.
    pub fn forget_agent(&self, host: HostId) {
        lock(&self.active).remove(&host);
    }

    /// A heartbeat arrived; `now_s` is monotonic. A frequency of 0 means that the agent stops
    /// sending them.
    pub fn heartbeat(&self, host: HostId, freq_s: u32, now_s: u64) {
        let mut table = lock(&self.active);
        if freq_s == 0 {
            table.remove(&host);
        } else {
            table.insert(host, Heartbeat { at_s: now_s, freq_s });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use stdx::clock::{Clock, SimClock};

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
                (1000, Change::Unreachable, Unknown),
                (1015, Change::None, Unknown),
                (1030, Change::None, Unknown),
                (1045, Change::None, Unknown),
                (1060, Change::Unavailable, No),
                (1120, Change::None, No),
                (1180, Change::None, No),
                (1240, Change::None, No),
            ]
        );
        assert_eq!((&*state.error, state.since, state.errors_from), ("timed out", 1060, 1000));
        assert_eq!(state.success(1300), Change::Available);
        assert_eq!((state.available, state.since, state.disable_until), (Available::Yes, 1300, 0));
        assert_eq!((state.success(1301), &*state.error), (Change::None, ""));
    }

    #[test]
    fn a_short_outage_shows_nothing() {
        let mut state = InterfaceState::default();
        assert_eq!(state.success(10), Change::Available);
        assert_eq!(state.failure(100, "x", &DELAYS), Change::Unreachable);
        assert_eq!((state.available, &*state.error, state.failing()), (Available::Yes, "", true));
        assert_eq!(state.success(115), Change::Available);
        assert_eq!((state.since, state.failing()), (10, false));
    }

    #[test]
    fn heartbeats() {
        let table = Availability::default();
        let host = HostId(1);
        assert_eq!(table.active(host, 0), Available::Unknown);
        table.heartbeat(host, 60, 100);
        for (now, expected) in [(100, Available::Yes), (220, Available::Yes), (221, Available::No)]
        {
            assert_eq!(table.active(host, now), expected, "{now}");
        }
        table.heartbeat(host, 60, 230);
        assert_eq!(table.active(host, 231), Available::Yes);
        table.heartbeat(host, 0, 240);
        assert_eq!(table.active(host, 240), Available::Unknown);
    }
}
