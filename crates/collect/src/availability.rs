//! Whether interfaces and active agents respond: the table that others read. The rules are in
//! [`model::InterfaceState`].

use std::collections::HashMap;
use std::sync::Mutex;

use config::snapshot::Host;
use model::{Available, HostId, InterfaceId, InterfaceState};
use stdx::sync::lock;

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
