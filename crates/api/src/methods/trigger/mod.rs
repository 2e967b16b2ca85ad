//! Triggers and trigger prototypes.

mod checks;
mod circles;
mod expand;
mod get;
mod learnt;
mod shown;
mod write;

pub(crate) use checks::check_url;
pub(crate) use expand::{expressions, operational_data};

use const_format::formatcp;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_REAL};
use objects::{CorrelationMode, Discover, ProblemMode, RecoveryMode, Severity, Status};

use crate::call::Method;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};

pub(crate) const METHODS: &[Method] = &[
    Method::user("trigger.get", |call, input| get::get(call, input, Kind::Trigger)),
    Method::admin("trigger.create", |call, input| write::create(call, input, Kind::Trigger)),
    Method::admin("trigger.update", |call, input| write::update(call, input, Kind::Trigger)),
    Method::admin("trigger.delete", |call, input| write::delete(call, input, Kind::Trigger)),
    Method::user("trigger.learnt", learnt::get),
    Method::user("triggerprototype.get", |call, input| get::get(call, input, Kind::Prototype)),
    Method::admin("triggerprototype.create", |call, input| {
        write::create(call, input, Kind::Prototype)
    }),
    Method::admin("triggerprototype.update", |call, input| {
        write::update(call, input, Kind::Prototype)
    }),
    Method::admin("triggerprototype.delete", |call, input| {
        write::delete(call, input, Kind::Prototype)
    }),
];

/// Which of the two objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Trigger,
    /// `triggerprototype`
    Prototype,
}

impl Kind {
    fn object(self) -> &'static Object {
        match self {
            Self::Trigger => &TRIGGER,
            Self::Prototype => &PROTOTYPE,
        }
    }

    /// Condition on `flags` of what the object's methods see.
    fn condition(self) -> &'static str {
        match self {
            Self::Trigger => formatcp!("t.flags IN {FLAGS_REAL}"),
            Self::Prototype => formatcp!("t.flags = {FLAGS_PROTOTYPE}"),
        }
    }

    /// As messages start with it.
    fn word(self) -> &'static str {
        match self {
            Self::Trigger => "Trigger",
            Self::Prototype => "Trigger prototype",
        }
    }
}

const ID: Field = field("triggerid", Id, ReadOnly, "Id.");
const UUID: Field = field("uuid", Text(32), Optional, "Universal id; templates only.");
const DESCRIPTION: Field = field("description", Name(255), Required, "Name; may hold macros.");
const EXPRESSION: Field = field("expression", Name(0), Required, "Problem expression.");
const EVENT_NAME: Field = field("event_name", Text(2048), Optional, "Name of its events.");
const OPDATA: Field = field("opdata", Text(255), Optional, "Operational data.");
const URL: Field = field("url", Text(2048), Optional, "Link.");
const URL_NAME: Field = field("url_name", Text(64), Optional, "Name of the link.");
const STATUS: Field = field("status", OneOf(Status::NUMBERS), Optional, "0 on, 1 off.");
const PRIORITY: Field =
    field("priority", OneOf(Severity::NUMBERS), Optional, "Severity of its problems.");
const COMMENTS: Field = field("comments", Text(65_535), Optional, "Description.");
const TYPE: Field =
    field("type", OneOf(ProblemMode::NUMBERS), Optional, "1: each evaluation is a problem.");
const RECOVERY_MODE: Field = field(
    "recovery_mode",
    OneOf(RecoveryMode::NUMBERS),
    Optional,
    "0 by the problem expression, 1 by the recovery expression, 2 never.",
);
const RECOVERY: Field = field("recovery_expression", Text(0), Optional, "Recovery expression.");
const CORRELATION: Field = field(
    "correlation_mode",
    OneOf(CorrelationMode::NUMBERS),
    Optional,
    "1: close by matching tag.",
);
const CORRELATION_TAG: Field = field("correlation_tag", Text(255), Optional, "That tag.");
const MANUAL_CLOSE: Field = field("manual_close", OneOf(&[0, 1]), Optional, "People may close.");
const DISCOVER: Field =
    field("discover", OneOf(Discover::NUMBERS), Optional, "1 is not discovered.");
const TAGS: Field = field("tags", Nested, Optional, "Tags of its problems.");
const DEPENDENCIES: Field = field("dependencies", Nested, Optional, "Triggers it depends on.");
const VALUE: Field = field("value", OneOf(&[0, 1]), ReadOnly, "0 fine, 1 problem.");
const LASTCHANGE: Field = field("lastchange", Int(0, i64::MAX), ReadOnly, "Unix time.");
const STATE: Field = field("state", OneOf(&[0, 1]), ReadOnly, "1: cannot be evaluated.");
const ERROR: Field = field("error", Text(0), ReadOnly, "Why not.");
const TEMPLATEID: Field = field("templateid", Id, ReadOnly, "Parent on the template.");
const FLAGS: Field = field("flags", OneOf(&[0, 2, 4]), ReadOnly, "0 plain, 4 discovered.");

/// With the state, and the name of the host, which clients sort by too.
const SOURCE: &str = "(SELECT r.*, COALESCE(s.value, 0) AS value, \
                      COALESCE(s.lastchange, 0) AS lastchange, COALESCE(s.state, 0) AS state, \
                      COALESCE(s.error, '') AS error, (SELECT MIN(h.name) FROM functions f \
                      JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
                      WHERE f.triggerid = r.triggerid) AS hostname \
                      FROM triggers r LEFT JOIN trigger_states s ON s.triggerid = r.triggerid)";

pub(crate) static TRIGGER: Object = Object {
    name: "trigger",
    table: SOURCE,
    key: "triggerid",
    keys: "triggerids",
    fields: &[
        ID,
        UUID,
        DESCRIPTION,
        EXPRESSION,
        EVENT_NAME,
        OPDATA,
        URL,
        URL_NAME,
        STATUS,
        PRIORITY,
        COMMENTS,
        TYPE,
        RECOVERY_MODE,
        RECOVERY,
        CORRELATION,
        CORRELATION_TAG,
        MANUAL_CLOSE,
        TAGS,
        DEPENDENCIES,
        VALUE,
        LASTCHANGE,
        STATE,
        ERROR,
        TEMPLATEID,
        FLAGS,
    ],
    strict: false,
    sort: &["triggerid", "description", "status", "priority", "lastchange", "hostname"],
};

pub(crate) static PROTOTYPE: Object = Object {
    name: "triggerprototype",
    table: SOURCE,
    key: "triggerid",
    keys: "triggerids",
    fields: &[
        ID,
        UUID,
        DESCRIPTION,
        EXPRESSION,
        EVENT_NAME,
        OPDATA,
        URL,
        URL_NAME,
        STATUS,
        PRIORITY,
        COMMENTS,
        TYPE,
        RECOVERY_MODE,
        RECOVERY,
        CORRELATION,
        CORRELATION_TAG,
        MANUAL_CLOSE,
        DISCOVER,
        TAGS,
        DEPENDENCIES,
        VALUE,
        LASTCHANGE,
        STATE,
        ERROR,
        TEMPLATEID,
        FLAGS,
    ],
    strict: false,
    sort: &["triggerid", "description", "status", "priority", "discover"],
};

#[cfg(test)]
mod shown_tests;
#[cfg(test)]
mod tests;
