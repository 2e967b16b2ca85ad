//! Events of all sources.

use objects::{EventObject, EventSource};

use crate::{EventId, ItemId, Timestamp, TriggerId, TriggerState};

/// Source and object of an event: only the pairs that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventOrigin {
    /// A trigger found a problem, or its end.
    Trigger(TriggerId),
    /// A row of `dhosts`.
    DiscoveredHost(u64),
    /// A row of `dservices`.
    DiscoveredService(u64),
    /// A row of `autoreg_hosts`.
    AutoregisteredHost(u64),
    /// A trigger became unknown, or normal again.
    InternalTrigger(TriggerId),
    /// An item became unsupported, or normal again.
    InternalItem(ItemId),
    /// A low-level discovery rule became unsupported, or normal again.
    InternalLldRule(ItemId),
    /// A row of `services`.
    Service(u64),
}

impl EventOrigin {
    /// Where the event comes from.
    pub const fn source(self) -> EventSource {
        match self {
            Self::Trigger(_) => EventSource::Trigger,
            Self::DiscoveredHost(_) | Self::DiscoveredService(_) => EventSource::Discovery,
            Self::AutoregisteredHost(_) => EventSource::Autoregistration,
            Self::InternalTrigger(_) | Self::InternalItem(_) | Self::InternalLldRule(_) => {
                EventSource::Internal
            }
            Self::Service(_) => EventSource::Service,
        }
    }

    /// The table of the object.
    pub const fn object(self) -> EventObject {
        match self {
            Self::Trigger(_) | Self::InternalTrigger(_) => EventObject::Trigger,
            Self::DiscoveredHost(_) => EventObject::DiscoveredHost,
            Self::DiscoveredService(_) => EventObject::DiscoveredService,
            Self::AutoregisteredHost(_) => EventObject::AutoregisteredHost,
            Self::InternalItem(_) => EventObject::Item,
            Self::InternalLldRule(_) => EventObject::LldRule,
            Self::Service(_) => EventObject::Service,
        }
    }

    /// Id of the object in its table.
    pub const fn object_id(self) -> u64 {
        match self {
            Self::Trigger(id) | Self::InternalTrigger(id) => id.0,
            Self::InternalItem(id) | Self::InternalLldRule(id) => id.0,
            Self::DiscoveredHost(id)
            | Self::DiscoveredService(id)
            | Self::AutoregisteredHost(id)
            | Self::Service(id) => id,
        }
    }
}

/// An event that is not written yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEvent {
    /// What it is about.
    pub origin: EventOrigin,
    /// Time of the change that it reports.
    pub at: Timestamp,
    /// The API's `value`, whose meaning depends on the source: of discovery an
    /// [`objects::DiscoveryState`], of autoregistration 1.
    pub value: i64,
}

/// A problem was opened or closed: what the UI's live stream tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemChange {
    /// The problem.
    pub event: EventId,
    /// The trigger it is of.
    pub trigger: TriggerId,
    /// Its new state.
    pub state: TriggerState,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_these_objects() {
        let origins = [
            EventOrigin::Trigger(TriggerId(7)),
            EventOrigin::DiscoveredHost(7),
            EventOrigin::DiscoveredService(7),
            EventOrigin::AutoregisteredHost(7),
            EventOrigin::InternalTrigger(TriggerId(7)),
            EventOrigin::InternalItem(ItemId(7)),
            EventOrigin::InternalLldRule(ItemId(7)),
            EventOrigin::Service(7),
        ];
        let pairs = EventSource::ALL.iter().flat_map(|source| source.objects()).count();
        assert_eq!(origins.len(), pairs);
        for origin in origins {
            assert!(origin.source().objects().contains(&origin.object()), "{origin:?}");
            assert_eq!(origin.object_id(), 7);
        }
    }
}
