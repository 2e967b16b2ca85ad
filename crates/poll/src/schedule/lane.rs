//! A lane: one interface of a host, or another one that is asked, with what is due there, how many
//! checks it has in flight, and whether it answers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::{Host, Interface};
use model::{InterfaceId, InterfaceState};

use wire::agent::passive::Dialect;

use super::group::{Group, Pace};
use super::wheel::List;
use super::window::Window;

/// The lane of internal items, which are computed at once.
pub(crate) const INTERNAL: usize = 0;
/// The lane of all pings: they share one socket, so that none waits for another.
pub(crate) const PINGS: usize = 1;
/// Lanes that are always there.
pub(crate) const FIXED: usize = 2;

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

/// One interface of a host, or whom items without an interface ask.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) host: Option<Arc<Host>>,
    pub(crate) interface: InterfaceId,
    pub(crate) ready: List,
    /// The lane is in the queue of lanes with work, or in its group's line.
    pub(crate) queued: bool,
    /// When the lane is to be looked at again; 0 = it is not waiting for a time.
    pub(crate) wake_at: u32,
    pub(crate) in_flight: u16,
    pub(crate) together: Option<Together>,
    pub(crate) dialect: Dialect,
    pub(crate) state: InterfaceState,
    /// Result of the last name resolution and when (monotonic) it expires.
    pub(crate) resolved: Option<(IpAddr, Duration)>,
    /// Whose places its checks take; `None` = it is an interface's, or takes none.
    pub(crate) group: Option<Group>,
    /// Whom a lane of a group asks.
    pub(crate) whom: u64,
    /// Items that wait here, or are in flight from here.
    pub(crate) items: u32,
    pub(crate) pace: Pace,
    /// Checks that the interface gets at one time.
    pub(crate) window: Window,
    /// The line in which it waits for a place.
    pub(crate) line: Option<Pace>,
    /// Nobody needs it any more.
    pub(crate) retired: bool,
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
            group: None,
            whom: 0,
            items: 0,
            pace: Pace::Slow,
            window: Window::default(),
            line: None,
            retired: false,
        };
        lane.together = lane.together();
        lane
    }

    /// Nothing refers to it any more.
    pub(crate) fn is_free(&self) -> bool {
        self.retired && self.in_flight == 0 && self.ready.is_empty() && !self.queued
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
            self.window = Window::default();
            self.resolved = None;
            // Not proven yet, but worth an attempt at once.
            self.state.errors_from = 0;
            self.state.disable_until = 0;
        }
        self.host = Some(Arc::clone(host));
        self.together = self.together();
    }
}
