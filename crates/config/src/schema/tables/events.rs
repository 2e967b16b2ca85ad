//! Events, problems and what people did about them.

use super::super::{Column, Table};
use super::{id, int, owned, table, text};

pub(super) const TABLES: &[Table] = &[
    table(
        "events",
        &["eventid"],
        EVENTS,
        // The second for the newest of a source, which a limit asks for.
        &[&["source", "object", "objectid"], &["source", "object", "eventid"], &["clock"]],
    ),
    table(
        "event_tags",
        &["eventtagid"],
        &[id("eventtagid"), owned("eventid", "events"), text("tag"), text("value")],
        &[&["eventid"]],
    ),
    table("problems", &["eventid"], PROBLEMS, &[&["objectid"], &["r_clock"], &["severity"]]),
    table(
        "acknowledges",
        &["acknowledgeid"],
        &[
            id("acknowledgeid"),
            id("userid"),
            owned("eventid", "events"),
            int("clock", "0"),
            text("message"),
            int("action", "0"),
            int("old_severity", "0"),
            int("new_severity", "0"),
            int("suppress_until", "0"),
            id("taskid"),
        ],
        &[&["eventid"]],
    ),
];

const EVENTS: &[Column] = &[
    id("eventid"),
    int("source", "0"),
    int("object", "0"),
    id("objectid"),
    int("clock", "0"),
    int("ns", "0"),
    int("value", "0"),
    int("acknowledged", "0"),
    text("name"),
    int("severity", "0"),
    text("opdata"),
    id("r_eventid"),
    id("c_eventid"),
    id("correlationid"),
    id("userid"),
    id("cause_eventid"),
];

const PROBLEMS: &[Column] = &[
    owned("eventid", "events"),
    int("source", "0"),
    int("object", "0"),
    id("objectid"),
    int("clock", "0"),
    int("ns", "0"),
    id("r_eventid"),
    int("r_clock", "0"),
    int("r_ns", "0"),
    id("correlationid"),
    id("userid"),
    text("name"),
    int("acknowledged", "0"),
    int("severity", "0"),
    id("cause_eventid"),
    text("opdata"),
];
