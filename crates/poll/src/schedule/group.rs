//! Whom checks without an interface wait for: groups of checks that share places.

use std::time::Duration;

/// A check that took so long is no quick one, whatever its timeout.
const SLOW_MIN: Duration = Duration::from_secs(1);
/// Places of a poller, however many pollers share those of the process.
const PLACES_MIN: u16 = 8;

/// Checks that share places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Services,
    Vmware,
    Http,
    Web,
    External,
    Ssh,
    Telnet,
    Database,
    Script,
    Browser,
    /// Statistics of other servers and of the Java gateway.
    Statistics,
}

impl Group {
    pub(crate) const ALL: [Self; 11] = [
        Self::Services,
        Self::Vmware,
        Self::Http,
        Self::Web,
        Self::External,
        Self::Ssh,
        Self::Telnet,
        Self::Database,
        Self::Script,
        Self::Browser,
        Self::Statistics,
    ];

    /// Places of each of so many pollers. What costs a process each, or a thread, has few, and
    /// the pollers share those that the process has.
    pub(super) fn places(self, pollers: usize) -> u16 {
        let shared = |all: u16| {
            let each = usize::from(all) / pollers.max(1);
            u16::try_from(each).unwrap_or(all).max(PLACES_MIN)
        };
        match self {
            Self::Services => shared(8_000),
            // They wait for a reading that others wait for too.
            Self::Http | Self::Vmware => 4_000,
            Self::Web => 1_000,
            Self::External => 64,
            Self::Ssh | Self::Telnet | Self::Statistics => 256,
            Self::Database => shared(32),
            Self::Script => shared(64),
            Self::Browser => PLACES_MIN,
        }
    }
}

/// What an item waits for when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    Interface,
    /// A place of the group.
    Group(Group),
    /// The socket of all pings.
    Pings,
    /// Nothing: it is computed.
    Nothing,
    /// It is not checked: its value comes with that of another item.
    Other,
}

/// How long the last check of a lane held its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    Quick,
    /// Long, or there was none yet.
    Slow,
}

impl Pace {
    /// Of a check that took `spent` of the `timeout` that it had.
    pub(crate) fn of(spent: Duration, timeout: Duration) -> Self {
        if spent < (timeout / 2).max(SLOW_MIN) { Self::Quick } else { Self::Slow }
    }
}
