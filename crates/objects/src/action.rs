//! Actions: conditions, how they compare, and operations, for all sources of events.

use crate::alerting::OperationMode;
use crate::event::EventSource;
use crate::numbered::numbered;

numbered! {
    /// How a condition compares; the API's `operator` of conditions.
    ConditionOperator: u8 {
        /// Equal, or one of.
        Equals = 0, "", "equals";
        /// Neither equal nor one of.
        NotEquals = 1, "", "does not equal";
        /// The text is contained.
        Contains = 2, "", "contains";
        /// The text is not contained.
        NotContains = 3, "", "does not contain";
        /// The moment is in a time period.
        In = 4, "", "in";
        /// Not below.
        AtLeast = 5, "", "is greater than or equals";
        /// Not above.
        AtMost = 6, "", "is less than or equals";
        /// The moment is in no time period.
        NotIn = 7, "", "not in";
        /// The regular expression matches.
        Matches = 8, "", "matches";
        /// The regular expression does not match.
        NotMatches = 9, "", "does not match";
        /// It is so; the value is not used.
        Yes = 10, "", "Yes";
        /// It is not so; the value is not used.
        No = 11, "", "No";
    }
}

use ConditionOperator as Op;

const EQUAL: &[Op] = &[Op::Equals, Op::NotEquals];
const CONTAIN: &[Op] = &[Op::Contains, Op::NotContains];
const TAG: &[Op] = &[Op::Equals, Op::NotEquals, Op::Contains, Op::NotContains];
const TEXT: &[Op] = &[Op::Contains, Op::NotContains, Op::Matches, Op::NotMatches];

numbered! {
    /// What a condition of an action is about; the API's `conditiontype`.
    ConditionKind: u8 {
        /// A group of the hosts, or a group that contains it.
        HostGroup = 0, "", "Host group";
        /// One of the hosts.
        Host = 1, "", "Host";
        /// The trigger, or the template's trigger that it comes from.
        Trigger = 2, "", "Trigger";
        /// The event's name.
        EventName = 3, "", "Event name";
        /// The trigger's severity.
        Severity = 4, "", "Trigger severity";
        /// When the event happened.
        TimePeriod = 6, "", "Time period";
        /// The address of a device.
        Address = 7, "", "Host IP";
        /// The type of the check that found a service.
        ServiceType = 8, "", "Service type";
        /// The port of a service.
        ServicePort = 9, "", "Service port";
        /// Discovered, lost, up, down.
        DiscoveryState = 10, "", "Discovery status";
        /// Seconds since the state is as it is.
        Uptime = 11, "", "Uptime/Downtime";
        /// What a service responded.
        ReceivedValue = 12, "", "Received value";
        /// The template that the trigger or item comes from.
        Template = 13, "", "Template";
        /// The problem is acknowledged: a condition of operations.
        Acknowledged = 14, "", "Event is acknowledged";
        /// The problem is suppressed.
        Suppressed = 16, "", "Problem is suppressed";
        /// The rule of network discovery.
        DiscoveryRule = 18, "", "Discovery rule";
        /// The check of network discovery.
        DiscoveryCheck = 19, "", "Discovery check";
        /// The proxy that the result came through.
        Proxy = 20, "", "Proxy";
        /// A device or a service.
        DiscoveryObject = 21, "", "Discovery object";
        /// The name of an active agent.
        AgentName = 22, "", "Host name";
        /// What became unsupported or unknown.
        InternalEvent = 23, "", "Event type";
        /// The metadata of an active agent.
        AgentMetadata = 24, "", "Host metadata";
        /// The name of a tag.
        Tag = 25, "", "Tag name";
        /// The value of the tag that `value2` names.
        TagValue = 26, "", "Tag value";
        /// The service.
        Service = 27, "", "Service";
        /// The service's name.
        ServiceName = 28, "", "Service name";
    }
}

impl ConditionKind {
    /// Kinds of the conditions of actions on events of this source, in the order in which conditions are
    /// shown.
    pub const fn of(source: EventSource) -> &'static [Self] {
        match source {
            EventSource::Trigger => &[
                Self::EventName,
                Self::Trigger,
                Self::Severity,
                Self::Host,
                Self::HostGroup,
                Self::Suppressed,
                Self::Tag,
                Self::TagValue,
                Self::Template,
                Self::TimePeriod,
            ],
            EventSource::Discovery => &[
                Self::Address,
                Self::DiscoveryCheck,
                Self::DiscoveryObject,
                Self::DiscoveryRule,
                Self::DiscoveryState,
                Self::Proxy,
                Self::ReceivedValue,
                Self::ServicePort,
                Self::ServiceType,
                Self::Uptime,
            ],
            EventSource::Autoregistration => &[Self::AgentName, Self::AgentMetadata, Self::Proxy],
            EventSource::Internal => &[
                Self::InternalEvent,
                Self::Host,
                Self::HostGroup,
                Self::Tag,
                Self::TagValue,
                Self::Template,
            ],
            EventSource::Service => &[Self::Service, Self::ServiceName, Self::Tag, Self::TagValue],
        }
    }

    /// Operators that a condition of this kind can have, in the order in which errors list them.
    pub const fn operators(self) -> &'static [ConditionOperator] {
        match self {
            Self::HostGroup
            | Self::Host
            | Self::Trigger
            | Self::Template
            | Self::Address
            | Self::ServiceType
            | Self::ServicePort
            | Self::DiscoveryRule
            | Self::DiscoveryCheck
            | Self::Proxy
            | Self::Service => EQUAL,
            Self::EventName | Self::ServiceName => CONTAIN,
            Self::Severity => &[Op::Equals, Op::NotEquals, Op::AtLeast, Op::AtMost],
            Self::TimePeriod => &[Op::In, Op::NotIn],
            Self::DiscoveryState
            | Self::DiscoveryObject
            | Self::InternalEvent
            | Self::Acknowledged => &[Op::Equals],
            Self::Uptime => &[Op::AtLeast, Op::AtMost],
            Self::ReceivedValue => {
                &[Op::Equals, Op::NotEquals, Op::AtLeast, Op::AtMost, Op::Contains, Op::NotContains]
            }
            Self::Suppressed => &[Op::No, Op::Yes],
            Self::AgentName | Self::AgentMetadata => TEXT,
            Self::Tag | Self::TagValue => TAG,
        }
    }
}

numbered! {
    /// What an action does; the API's `operationtype`.
    OperationKind: u8 {
        /// Sends a message to users.
        Message = 0, "", "Send message";
        /// Runs a script.
        Script = 1, "", "Run script";
        /// Creates the host.
        AddHost = 2, "", "Add host";
        /// Deletes the host.
        RemoveHost = 3, "", "Remove host";
        /// Adds the host to groups.
        AddGroups = 4, "", "Add to host group";
        /// Removes the host from groups.
        RemoveGroups = 5, "", "Remove from host group";
        /// Links templates.
        Link = 6, "", "Link template";
        /// Unlinks templates and deletes what they brought.
        Unlink = 7, "", "Unlink template";
        /// Switches the host on.
        Enable = 8, "", "Enable host";
        /// Switches the host off.
        Disable = 9, "", "Disable host";
        /// Sets how the host's inventory is filled.
        Inventory = 10, "", "Set host inventory mode";
        /// Tells the end of a problem to all users who got a message of it.
        NotifyRecovered = 11, "", "Notify all involved";
        /// Tells an update of a problem to all users who got a message of it or changed it.
        NotifyUpdated = 12, "", "Notify all involved";
        /// Adds tags to the host.
        AddTags = 13, "", "Add host tags";
        /// Removes tags from the host.
        RemoveTags = 14, "", "Remove host tags";
    }
}

impl OperationKind {
    /// Those that change hosts, by number.
    pub const ON_HOSTS: &'static [Self] = &[
        Self::AddHost,
        Self::RemoveHost,
        Self::AddGroups,
        Self::RemoveGroups,
        Self::Link,
        Self::Unlink,
        Self::Enable,
        Self::Disable,
        Self::Inventory,
        Self::AddTags,
        Self::RemoveTags,
    ];

    /// Those of actions on events of this source in this mode, by number.
    pub fn of(source: EventSource, mode: OperationMode) -> Vec<Self> {
        let mut kinds = vec![Self::Message];
        if source != EventSource::Internal {
            kinds.push(Self::Script);
        }
        match (source, mode) {
            (_, OperationMode::Recovery) => kinds.push(Self::NotifyRecovered),
            (_, OperationMode::Update) => kinds.push(Self::NotifyUpdated),
            (EventSource::Discovery | EventSource::Autoregistration, OperationMode::Problem) => {
                kinds.extend(Self::ON_HOSTS);
            }
            _ => {}
        }
        kinds
    }

    /// The API's member with the parameters of an operation on hosts; empty = it has none.
    pub const fn member(self) -> &'static str {
        match self {
            Self::AddGroups | Self::RemoveGroups => "opgroup",
            Self::Link | Self::Unlink => "optemplate",
            Self::Inventory => "opinventory",
            Self::AddTags | Self::RemoveTags => "optag",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_belong_to_sources() {
        let of_sources = |kind: &ConditionKind| {
            EventSource::ALL
                .iter()
                .filter(|source| ConditionKind::of(**source).contains(kind))
                .count()
        };
        for kind in ConditionKind::ALL {
            assert_eq!(of_sources(kind) == 0, *kind == ConditionKind::Acknowledged, "{kind:?}");
            assert!(!kind.operators().is_empty(), "{kind:?}");
        }
        let numbers = |source| {
            let mut all: Vec<i64> = ConditionKind::of(source).iter().map(|k| k.number()).collect();
            all.sort_unstable();
            all
        };
        // As the reference lists them in its errors.
        assert_eq!(numbers(EventSource::Trigger), [0, 1, 2, 3, 4, 6, 13, 16, 25, 26]);
        assert_eq!(numbers(EventSource::Discovery), [7, 8, 9, 10, 11, 12, 18, 19, 20, 21]);
        assert_eq!(numbers(EventSource::Autoregistration), [20, 22, 24]);
    }
}
