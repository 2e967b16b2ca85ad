//! A lane: one interface of a host with what is due on it, how many checks it has in flight, and
//! whether it answers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::{Host, Interface, ItemType};
use model::InterfaceId;

use wire::agent::passive::Dialect;

use super::wheel::List;
use crate::availability::InterfaceState;

/// Types whose checks need no interface, or tell nothing about it: each has one lane for all hosts,
/// the first lanes of a poller, with so many checks at one time. What costs a process each, or a
/// connection that others wait for, gets few.
pub(crate) const COMMON: &[(ItemType, u16)] = &[
    (ItemType::Internal, u16::MAX),
    // Pings share one socket; connections to services have a bound of their own.
    (ItemType::Simple, 40_000),
    (ItemType::HttpAgent, 4_000),
    (ItemType::Web, 1_000),
    (ItemType::External, 64),
    (ItemType::Ssh, 256),
    (ItemType::Telnet, 256),
    (ItemType::Database, 64),
    (ItemType::Script, 64),
    (ItemType::Browser, 4),
];

/// Interfaces where what is due goes out together, and nothing more until it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    Snmp,
    /// One session, which requests have one after the other.
    Ipmi,
    /// One request to the gateway.
    Jmx,
}

impl Together {
    /// By the API's number of the interface's kind.
    const fn of(kind: u8) -> Option<Self> {
        match kind {
            2 => Some(Self::Snmp),
            3 => Some(Self::Ipmi),
            4 => Some(Self::Jmx),
            _ => None,
        }
    }
}

/// The lane that items of this type share; `None` where each interface has its own, because it is
/// the interface that answers or does not.
pub(crate) fn common(kind: ItemType) -> Option<usize> {
    COMMON.iter().position(|(common, _)| *common == kind)
}

/// One interface of a host, or the common lane of a type.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) host: Option<Arc<Host>>,
    pub(crate) interface: InterfaceId,
    pub(crate) ready: List,
    /// The lane is in the queue of lanes with work.
    pub(crate) queued: bool,
    /// When the lane is to be looked at again; 0 = it is not waiting for a time.
    pub(crate) wake_at: u32,
    pub(crate) in_flight: u16,
    pub(crate) together: Option<Together>,
    pub(crate) dialect: Dialect,
    pub(crate) state: InterfaceState,
    /// Result of the last name resolution and when (monotonic) it expires.
    pub(crate) resolved: Option<(IpAddr, Duration)>,
}

impl Lane {
    pub(crate) fn new(host: Option<Arc<Host>>, interface: InterfaceId) -> Self {
        let mut lane = Self {
            host,
            interface,
            ready: List::EMPTY,
            queued: false,
            wake_at: 0,
            in_flight: 0,
            together: None,
            dialect: Dialect::Json,
            state: InterfaceState::default(),
            resolved: None,
        };
        lane.together = lane.together();
        lane
    }

    fn together(&self) -> Option<Together> {
        self.interface().and_then(|interface| Together::of(interface.kind))
    }

    pub(crate) fn interface(&self) -> Option<&Interface> {
        self.host.as_ref().and_then(|host| host.interface(self.interface))
    }

    /// One more check may go out at `now`.
    pub(crate) fn may_start(&self, now: u32, limit: u16) -> bool {
        if self.state.failing() {
            // One probe per round.
            return self.in_flight == 0 && now >= self.state.disable_until;
        }
        self.in_flight < if self.together.is_some() { 1 } else { limit }
    }

    /// Takes over a changed host: another address starts afresh.
    pub(crate) fn update(&mut self, host: &Arc<Host>) {
        let same = match (self.interface(), host.interface(self.interface)) {
            (Some(a), Some(b)) => {
                a == b && self.host.as_ref().is_some_and(|before| before.tls == host.tls)
            }
            _ => false,
        };
        if !same {
            self.dialect = Dialect::Json;
            self.resolved = None;
            // Not proven yet, but worth an attempt at once.
            self.state.errors_from = 0;
            self.state.disable_until = 0;
        }
        self.host = Some(Arc::clone(host));
        self.together = self.together();
    }
}
