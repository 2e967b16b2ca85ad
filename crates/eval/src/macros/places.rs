//! Which macro works in which text: one table.
//!
//! What the rows say was measured on a server of the field, version 7.0.22: each macro in each
//! place. A macro that a place does not have stays in the text as it is written.
//! `docs/macros.md` shows the table to people; a test compares the two.

/// Built-in macros that come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Names and addresses of the host.
    Host,
    /// Names from before 2.0 that still work.
    HostOld,
    /// The port of the interface.
    HostPort,
    HostId,
    /// Text about the host, and what its agent told at registration.
    HostAbout,
    /// Target of a command.
    HostTarget,
    /// Ids of host groups.
    HostGroup,
    /// Fields of the host's inventory.
    Inventory,
    /// The oldest names of two of them.
    InventoryOld,
    /// The value of the item, at the time of the event or the newest.
    ItemValue,
    /// What a log line carries beside its text.
    ItemLog,
    /// When a log line was written, as unix time.
    ItemLogTimestamp,
    /// Id and key.
    ItemKey,
    /// Name, description, state of the item.
    ItemAbout,
    /// The discovery rule of an internal event.
    DiscoveryRule,
    TriggerId,
    /// The expression with values in place of its functions.
    TriggerExplain,
    /// Name, severity, counters and the like of the trigger.
    Trigger,
    /// Values of the functions of the expression.
    FunctionValue,
    /// Values of the functions of the recovery expression.
    FunctionRecovery,
    /// The time of day when the text is made.
    Time,
    /// The date when the text is made, the unix time, the zone.
    Date,
    Event,
    /// The event's cause and symptoms.
    EventCause,
    /// The event that ended the problem.
    EventRecovery,
    /// What a person did with the event.
    EventUpdate,
    /// Action, message and escalation.
    Action,
    /// Network discovery.
    Discovery,
    /// The proxy of the host.
    Proxy,
    /// A business service.
    Service,
    /// The user who runs a script, or reads.
    User,
    Map,
}

/// The group of each built-in macro, by name without braces and index; `*` at the end stands for
/// what follows.
pub const MACROS: &[(Group, &[&str])] = &[
    (Host, &["HOST.CONN", "HOST.DNS", "HOST.HOST", "HOST.IP", "HOST.NAME"]),
    (HostOld, &["HOSTNAME", "IPADDRESS"]),
    (HostPort, &["HOST.PORT"]),
    (HostId, &["HOST.ID"]),
    (Group::HostAbout, &["HOST.DESCRIPTION", "HOST.METADATA"]),
    (Group::HostTarget, &["HOST.TARGET.*"]),
    (Group::HostGroup, &["HOSTGROUP.ID"]),
    (Inventory, &["INVENTORY.*"]),
    (InventoryOld, &["PROFILE.OS", "PROFILE.DEVICETYPE"]),
    (ItemValue, &["ITEM.VALUE", "ITEM.LASTVALUE"]),
    (ItemLogTimestamp, &["ITEM.LOG.TIMESTAMP"]),
    (ItemLog, &["ITEM.LOG.*"]),
    (ItemKey, &["ITEM.ID", "ITEM.KEY", "ITEM.KEY.ORIG"]),
    (Group::ItemAbout, &["ITEM.*"]),
    (Group::DiscoveryRule, &["LLDRULE.*"]),
    (TriggerId, &["TRIGGER.ID"]),
    (TriggerExplain, &["TRIGGER.EXPRESSION.EXPLAIN"]),
    (Group::Trigger, &["TRIGGER.*"]),
    (FunctionValue, &["FUNCTION.VALUE"]),
    (Group::FunctionRecovery, &["FUNCTION.RECOVERY.VALUE"]),
    (Time, &["TIME"]),
    (Group::Date, &["DATE", "TIMESTAMP", "TIMEZONE"]),
    (Group::EventCause, &["EVENT.CAUSE.*", "EVENT.SYMPTOMS"]),
    (Group::EventRecovery, &["EVENT.RECOVERY.*"]),
    (Group::EventUpdate, &["EVENT.UPDATE.*"]),
    (Group::Event, &["EVENT.*"]),
    (Group::Action, &["ACTION.*", "ALERT.*", "ESC.HISTORY"]),
    (Group::Discovery, &["DISCOVERY.*"]),
    (Group::Proxy, &["PROXY.*"]),
    (Group::Service, &["SERVICE.*"]),
    (Group::User, &["USER.*"]),
    (Group::Map, &["MAP.*"]),
];

/// The group of a built-in macro.
pub fn group_of(name: &str) -> Option<Group> {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => name.len() > start.len() && name.starts_with(start),
        None => name == *pattern,
    };
    MACROS.iter().find(|(_, names)| names.iter().any(fits)).map(|(group, _)| *group)
}

/// A kind of text that may hold macros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Parameters of an item's key.
    ItemKey,
    /// URL, query fields, headers and body of an HTTP agent item.
    HttpField,
    /// Parameters of a script item.
    ItemParameters,
    /// Endpoint of a JMX item.
    JmxEndpoint,
    /// The text of a script, a command or a query of an item.
    ItemScript,
    ItemName,
    /// Periods of an item: update interval, storage, timeout.
    ItemPeriod,
    /// Hosts that may send values to an item.
    AllowedHosts,
    /// Formula of a calculated item, expression of a trigger, parameters of its functions.
    Formula,
    /// Parameters of a preprocessing step, of its error handler too.
    Step,
    /// The script of a preprocessing step.
    StepScript,
    /// Address and port of an interface.
    Interface,
    /// Conditions of a discovery rule and of its overrides.
    DiscoveryFilter,
    /// Other texts of a discovery rule.
    DiscoveryRule,
    /// The name of an event: the trigger's event name, or its name where that is empty.
    EventName,
    /// Tags of a trigger.
    TriggerTag,
    /// Tags of hosts and items, on events.
    HostTag,
    /// Operational data and descriptions of triggers, as they are shown.
    Shown,
    /// The name of a trigger, as it is shown.
    TriggerName,
    /// The address that a trigger links to.
    TriggerUrl,
}

/// What a user macro in a place becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserMacros {
    /// Its value; of a secret one asterisks.
    Masked,
    /// Its value, secret or not: the text goes to what is monitored, and is shown nowhere.
    Bare,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub place: Place,
    /// The place in words.
    pub title: &'static str,
    /// Built-in macros that work there.
    pub groups: &'static [Group],
    /// With a digit behind the name they mean the host or item of that function.
    pub indexed: bool,
    /// `{?expression}` works.
    pub expressions: bool,
    /// `$1` to `$9` stand for constants of the expression.
    pub constants: bool,
    /// What user macros become.
    pub user: UserMacros,
}

const ROW: Rules = Rules {
    place: Place::Formula,
    title: "",
    groups: &[],
    indexed: false,
    expressions: false,
    constants: false,
    user: UserMacros::Masked,
};

use Group::{
    FunctionValue, Host, HostId, HostOld, HostPort, Inventory, InventoryOld, ItemKey, ItemLog,
    ItemLogTimestamp, ItemValue, Time, TriggerExplain, TriggerId,
};

/// The table. A new kind of place is a new row.
pub const TABLE: &[Rules] = &[
    Rules {
        place: Place::ItemKey,
        title: "Item key parameters",
        groups: &[Host, HostOld],
        user: UserMacros::Bare,
        ..ROW
    },
    Rules {
        place: Place::HttpField,
        title: "Fields of HTTP agent items",
        groups: &[Host, HostOld, HostPort, ItemKey],
        user: UserMacros::Bare,
        ..ROW
    },
    Rules {
        place: Place::ItemParameters,
        title: "Parameters of script items",
        groups: &[Host, HostOld, Inventory, InventoryOld, ItemKey],
        user: UserMacros::Bare,
        ..ROW
    },
    Rules {
        place: Place::JmxEndpoint,
        title: "Endpoints of JMX items",
        groups: &[Host, HostOld, HostPort],
        user: UserMacros::Bare,
        ..ROW
    },
    Rules {
        place: Place::ItemScript,
        title: "Scripts, commands and queries of items",
        user: UserMacros::Bare,
        ..ROW
    },
    Rules { place: Place::ItemName, title: "Item names", ..ROW },
    Rules { place: Place::ItemPeriod, title: "Intervals, storage periods, timeouts", ..ROW },
    Rules {
        place: Place::AllowedHosts,
        title: "Allowed hosts of trapper items",
        groups: &[Host, HostOld],
        ..ROW
    },
    Rules { place: Place::Formula, title: "Formulas, trigger expressions", ..ROW },
    Rules { place: Place::Step, title: "Preprocessing parameters, error handlers", ..ROW },
    Rules {
        place: Place::StepScript,
        title: "Preprocessing scripts",
        user: UserMacros::Bare,
        ..ROW
    },
    Rules { place: Place::Interface, title: "Interface IP, DNS, port", groups: &[Host], ..ROW },
    Rules {
        place: Place::DiscoveryFilter,
        title: "Conditions of discovery rules and overrides",
        groups: &[Host],
        ..ROW
    },
    Rules { place: Place::DiscoveryRule, title: "Other texts of discovery rules", ..ROW },
    Rules {
        place: Place::EventName,
        title: "Event names, trigger names of events",
        groups: &[
            Host,
            HostOld,
            HostPort,
            ItemValue,
            ItemLog,
            ItemLogTimestamp,
            FunctionValue,
            TriggerExplain,
            Time,
        ],
        indexed: true,
        expressions: true,
        constants: true,
        ..ROW
    },
    Rules {
        place: Place::TriggerTag,
        title: "Trigger tags",
        groups: &[
            Host,
            HostPort,
            HostId,
            Inventory,
            ItemValue,
            ItemLog,
            ItemLogTimestamp,
            TriggerId,
        ],
        indexed: true,
        ..ROW
    },
    Rules {
        place: Place::HostTag,
        title: "Host and item tags of events",
        groups: &[Host, HostPort, HostId, Inventory, TriggerId],
        ..ROW
    },
    Rules {
        place: Place::Shown,
        title: "Operational data, trigger descriptions",
        groups: &[Host, HostOld, HostPort, ItemValue, ItemLog],
        indexed: true,
        ..ROW
    },
    Rules {
        place: Place::TriggerName,
        title: "Trigger names in lists",
        groups: &[Host, HostOld, HostPort, ItemValue, ItemLog],
        indexed: true,
        constants: true,
        ..ROW
    },
    Rules {
        place: Place::TriggerUrl,
        title: "Trigger URLs",
        groups: &[Host, HostPort, HostId, ItemValue, ItemLog, TriggerId, Group::Event],
        indexed: true,
        ..ROW
    },
];

impl Place {
    /// The row of this place.
    pub fn rules(self) -> &'static Rules {
        let row = TABLE.iter().find(|row| row.place == self);
        row.expect("BUG: a place without a row")
    }
}

/// Macros that never have a digit, whatever the place.
const ALONE: &[Group] = &[Time, TriggerId, TriggerExplain, Group::Event];

impl Rules {
    /// The built-in macro works here; `index` = the digit behind its name.
    pub fn has(&self, name: &str, index: Option<u8>) -> bool {
        let Some(group) = group_of(name) else { return false };
        // Of an event, links know the id alone.
        let known = group != Group::Event || name == "EVENT.ID";
        let digit = index.is_none() || (self.indexed && !ALONE.contains(&group));
        known && digit && self.groups.contains(&group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each place what works and what stays text.
    const CASES: &[(Place, &str, &str)] = &[
        (
            Place::ItemKey,
            "HOST.HOST HOST.NAME HOST.IP HOST.DNS HOST.CONN HOSTNAME IPADDRESS",
            "HOST.PORT HOST.ID HOST.HOST1 ITEM.KEY ITEM.ID INVENTORY.OS TIME EVENT.ID NOTHING",
        ),
        (
            Place::ItemParameters,
            "HOST.CONN IPADDRESS INVENTORY.OS INVENTORY.POC.PRIMARY.PHONE.A PROFILE.OS ITEM.ID \
             ITEM.KEY ITEM.KEY.ORIG",
            "HOST.ID HOST.PORT ITEM.NAME ITEM.VALUE INVENTORY.OS1 TRIGGER.ID",
        ),
        (
            Place::HttpField,
            "HOST.HOST IPADDRESS HOST.PORT ITEM.ID ITEM.KEY.ORIG",
            "HOST.ID INVENTORY.OS ITEM.VALUE HOST.HOST1",
        ),
        (
            Place::JmxEndpoint,
            "HOST.HOST HOST.NAME HOST.IP HOST.DNS HOST.CONN HOST.PORT HOSTNAME IPADDRESS",
            "HOST.ID HOST.HOST1 ITEM.KEY ITEM.ID INVENTORY.OS",
        ),
        (Place::ItemScript, "", "HOST.HOST ITEM.KEY INVENTORY.OS"),
        (Place::ItemName, "", "HOST.HOST ITEM.KEY"),
        (Place::ItemPeriod, "", "HOST.HOST"),
        (Place::AllowedHosts, "HOST.IP HOST.CONN HOST.HOST HOST.DNS", "HOST.PORT ITEM.KEY"),
        (Place::Formula, "", "HOST.HOST ITEM.KEY"),
        (Place::Step, "", "HOST.HOST ITEM.KEY"),
        (Place::StepScript, "", "HOST.HOST"),
        (Place::Interface, "HOST.HOST HOST.NAME HOST.IP HOST.CONN", "HOST.PORT INVENTORY.OS"),
        (
            Place::DiscoveryFilter,
            "HOST.HOST HOST.NAME HOST.IP HOST.CONN",
            "HOST.PORT HOST.ID INVENTORY.OS ITEM.KEY HOST.DESCRIPTION",
        ),
        (Place::DiscoveryRule, "", "HOST.HOST"),
        (
            Place::EventName,
            "HOST.HOST HOST.PORT HOST.NAME9 HOSTNAME IPADDRESS2 ITEM.VALUE ITEM.VALUE3 \
             ITEM.LASTVALUE1 ITEM.LOG.SOURCE ITEM.LOG.TIMESTAMP ITEM.LOG.AGE2 FUNCTION.VALUE \
             FUNCTION.VALUE9 TRIGGER.EXPRESSION.EXPLAIN TIME",
            "HOST.ID HOST.DESCRIPTION INVENTORY.OS DATE TIMESTAMP TIMEZONE TIME1 TRIGGER.ID \
             TRIGGER.EXPRESSION TRIGGER.EXPRESSION.RECOVERY.EXPLAIN FUNCTION.RECOVERY.VALUE \
             EVENT.ID EVENT.DATE EVENT.TAGS.x ITEM.NAME ITEM.KEY ITEM.ID ITEM.STATE \
             ITEM.VALUE.TIMESTAMP ITEM.LASTVALUE.AGE HOSTGROUP.ID PROXY.NAME USER.NAME \
             HOST.TARGET.HOST ACTION.ID ESC.HISTORY SERVICE.NAME DISCOVERY.RULE.NAME",
        ),
        (
            Place::TriggerTag,
            "HOST.HOST HOST.ID HOST.ID2 HOST.PORT INVENTORY.OS INVENTORY.OS2 ITEM.VALUE2 \
             ITEM.LOG.TIMESTAMP TRIGGER.ID",
            "HOSTNAME IPADDRESS TRIGGER.ID1 FUNCTION.VALUE TIME PROFILE.OS EVENT.ID ITEM.KEY",
        ),
        (
            Place::HostTag,
            "HOST.HOST HOST.ID HOST.PORT INVENTORY.OS TRIGGER.ID",
            "HOST.HOST1 INVENTORY.OS1 ITEM.VALUE ITEM.LOG.DATE HOSTNAME ITEM.KEY",
        ),
        (
            Place::Shown,
            "HOST.HOST HOST.HOST2 HOSTNAME HOST.PORT ITEM.VALUE ITEM.LASTVALUE4 ITEM.LOG.DATE3",
            "HOST.ID INVENTORY.OS ITEM.LOG.TIMESTAMP TIME TRIGGER.ID FUNCTION.VALUE EVENT.ID",
        ),
        (Place::TriggerName, "HOST.HOST ITEM.VALUE2 ITEM.LOG.SEVERITY", "TIME TRIGGER.ID HOST.ID"),
        (Place::TriggerUrl, "HOST.ID EVENT.ID TRIGGER.ID ITEM.VALUE2", "EVENT.NAME HOSTNAME"),
    ];

    fn split(written: &str) -> (&str, Option<u8>) {
        match written.as_bytes().last() {
            Some(digit @ b'1'..=b'9') => (&written[..written.len() - 1], Some(digit - b'0')),
            _ => (written, None),
        }
    }

    #[test]
    fn what_works_where() {
        assert_eq!(CASES.len(), TABLE.len());
        for (place, works, text) in CASES {
            for (list, expected) in [(works, true), (text, false)] {
                for written in list.split_whitespace() {
                    let (name, index) = split(written);
                    assert_eq!(place.rules().has(name, index), expected, "{place:?} {written}");
                }
            }
        }
    }
}
