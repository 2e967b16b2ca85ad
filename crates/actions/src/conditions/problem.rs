//! What conditions on problems of triggers, of items and of services are compared with.

use std::collections::BTreeSet;

use objects::{ConditionKind as Kind, ConditionOperator as Op, Severity};

use super::tagged::{self, Tag};
use super::{Condition, Subject};
use crate::globals::Globals;

/// Where the object of an event comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origin {
    /// The hosts of a trigger, or the host of an item.
    pub(crate) hosts: BTreeSet<u64>,
    /// Their groups, and the groups that these are nested under.
    pub(crate) groups: BTreeSet<u64>,
    /// The templates that the object is inherited from, directly or through others.
    pub(crate) templates: BTreeSet<u64>,
}

impl Origin {
    fn meets(&self, condition: &Condition) -> bool {
        match condition.kind {
            Kind::HostGroup => condition.is_among(&self.groups),
            // "Does not equal" wants one host that differs, not all of them.
            Kind::Host => self.hosts.iter().any(|host| condition.is_id(*host)),
            Kind::Template => condition.is_among(&self.templates),
            _ => false,
        }
    }
}

/// A problem of a trigger.
#[derive(Debug)]
pub(crate) struct TriggerSubject<'a> {
    pub(crate) origin: Origin,
    /// The trigger, and those of templates that it is inherited from.
    pub(crate) triggers: BTreeSet<u64>,
    /// With expanded macros.
    pub(crate) name: &'a str,
    /// The trigger's, which changes of the problem's severity leave as it is.
    pub(crate) severity: Severity,
    /// Seconds since 1970.
    pub(crate) clock: i64,
    pub(crate) suppressed: bool,
    pub(crate) tags: &'a [Tag],
    pub(crate) globals: &'a Globals<'a>,
}

impl Subject for TriggerSubject<'_> {
    fn meets(&self, condition: &Condition) -> bool {
        match condition.kind {
            Kind::Trigger => condition.is_among(&self.triggers),
            Kind::EventName => condition.compare(self.name),
            Kind::Severity => {
                let (own, wanted) = (self.severity.number(), condition.number());
                match condition.operator {
                    Op::AtLeast => own >= wanted,
                    Op::AtMost => own <= wanted,
                    _ => condition.equal(own == wanted),
                }
            }
            // Periods that are not valid are met by neither operator.
            Kind::TimePeriod => self
                .globals
                .in_periods(&condition.value, self.clock, &self.globals.tz)
                .is_ok_and(|inside| inside == (condition.operator == Op::In)),
            Kind::Suppressed => self.suppressed == (condition.operator == Op::Yes),
            Kind::Tag | Kind::TagValue => tagged::meets(condition, self.tags),
            _ => self.origin.meets(condition),
        }
    }
}

/// An item, a discovery rule or a trigger that became unsupported or unknown.
#[derive(Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "no events of this source are made so far"))]
pub(crate) struct InternalSubject<'a> {
    pub(crate) origin: Origin,
    /// The number of the condition's value: 0 an item, 2 a discovery rule that is not supported, 4 a trigger whose
    /// value is unknown.
    pub(crate) kind: i64,
    pub(crate) tags: &'a [Tag],
}

impl Subject for InternalSubject<'_> {
    fn meets(&self, condition: &Condition) -> bool {
        match condition.kind {
            Kind::InternalEvent => condition.equal(self.kind == condition.number()),
            Kind::Tag | Kind::TagValue => tagged::meets(condition, self.tags),
            _ => self.origin.meets(condition),
        }
    }
}

/// A service whose status changed.
#[derive(Debug)]
pub(crate) struct ServiceSubject<'a> {
    pub(crate) id: u64,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a [Tag],
}

impl Subject for ServiceSubject<'_> {
    fn meets(&self, condition: &Condition) -> bool {
        match condition.kind {
            Kind::Service => condition.is_id(self.id),
            Kind::ServiceName => condition.compare(self.name),
            _ => tagged::meets(condition, self.tags),
        }
    }
}
