//! State: what the server itself writes all the time, while the configuration changes seldom. It has
//! a writer of its own (with SQLite a file of its own), so that no problem, acknowledgement or
//! sign-in waits for a long change of the configuration.
//!
//! An id of a configured object refers to the other part: no row goes with its object at once, and
//! readers expect rows whose object is gone.

use super::super::{Column, Reload, Table};
use super::{AUDIT, AUDIT_INDEXES, id, int, owned, table, text, text_or};

tables! { TABLES:
    /// Who signed in and out; the rest of the audit log is written with the changes.
    ACCESS_LOG = table("access_log", &["auditid"], Reload::Nothing, AUDIT, AUDIT_INDEXES);
    /// The next id of each table of the state.
    STATE_IDS = table("state_ids", &["name"], Reload::Nothing, &[text("name"), id("next")], &[]);
    STATE_SETTINGS = table("state_settings", &["name"], Reload::Nothing, &[text("name"), text("value")], &[]);
    EVENTS = table(
        "events",
        &["eventid"],
        Reload::Nothing,
        EVENTS_COLUMNS,
        // The second for the newest of a source up to a limit. The third for the newest of all, and with all
        // that numbers by time and severity need.
        &[
            &["source", "object", "objectid"],
            &["source", "object", "eventid"],
            &["clock", "eventid", "source", "object", "value", "severity", "objectid"],
        ],
    );
    EVENT_TAGS = table(
        "event_tags",
        &["eventtagid"],
        Reload::Nothing,
        &[id("eventtagid"), owned("eventid", "events"), text("tag"), text("value")],
        &[&["eventid"]],
    );
    PROBLEMS = table(
        "problems",
        &["eventid"],
        Reload::Nothing,
        PROBLEMS_COLUMNS,
        // The last for the ids and the number of all open problems.
        &[
            &["objectid"],
            &["r_clock"],
            &["severity"],
            &["r_eventid", "source", "object", "eventid"],
        ],
    );
    ACKNOWLEDGES = table(
        "acknowledges",
        &["acknowledgeid"],
        Reload::Nothing,
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
    );
    /// Which maintenance hides which problem, until when.
    EVENT_SUPPRESS = table(
        "event_suppress",
        &["eventid", "maintenanceid"],
        Reload::Nothing,
        &[owned("eventid", "events"), id("maintenanceid"), int("suppress_until", "0")],
        &[&["maintenanceid"]],
    );
    /// A trigger without a row is as new: value 0, state 0, no error.
    TRIGGER_STATES = table(
        "trigger_states",
        &["triggerid"],
        Reload::Nothing,
        &[
            id("triggerid"),
            int("value", "0"),
            int("lastchange", "0"),
            int("state", "0"),
            text("error"),
        ],
        &[&["value"], &["lastchange"], &["state"]],
    );
    /// The table has digests instead of session ids: nobody can continue a session with a stolen database.
    /// A session is valid as long as its epoch is not below its user's `session_epoch`.
    SESSIONS = table(
        "sessions",
        &["digest"],
        Reload::Nothing,
        &[
            text("digest"),
            id("userid"),
            int("created", "0"),
            int("lastaccess", "0"),
            int("status", "0"),
            text("secret"),
            int("epoch", "0"),
        ],
        &[&["userid"]],
    );
    TOKEN_ACCESSES = table(
        "token_accesses",
        &["tokenid"],
        Reload::Nothing,
        &[id("tokenid"), int("lastaccess", "0")],
        &[],
    );
    /// What engines of the load balancer last reported.
    ENGINE_STATES = table(
        "engine_states",
        &["engineid"],
        Reload::Nothing,
        &[
            id("engineid"),
            int("lastaccess", "0"),
            text("address"),
            text("running_hash"),
            text("error"),
            text("version"),
            int("connected_at", "0"),
            int("certificate_until", "0"),
        ],
        &[],
    );
    /// How far the orders of certificates are; `attempts` is JSON of the load balancer.
    CERTIFICATE_STATES = table(
        "certificate_states",
        &["certificateid"],
        Reload::Nothing,
        &[
            id("certificateid"),
            text("attempts"),
            text("phase"),
            text("error"),
            int("next_attempt", "0"),
        ],
        &[],
    );
    /// Secrets of the session tickets of a group's engines, in hexadecimal digits.
    TICKET_SECRETS = table(
        "ticket_secrets",
        &["enginegroupid"],
        Reload::Nothing,
        &[id("enginegroupid"), text("secrets"), int("rotated_at", "0")],
        &[],
    );
    /// Which engines of a group own which VIPs; `assignment` is JSON.
    ENGINE_PLACEMENTS = table(
        "engine_placements",
        &["enginegroupid"],
        Reload::Nothing,
        &[id("enginegroupid"), int("generation", "0"), text_or("assignment", "{}")],
        &[],
    );
    /// Messages and commands of actions, one row for each recipient and media, or target of a command.
    ALERTS = table(
        "alerts",
        &["alertid"],
        Reload::Nothing,
        ALERTS_COLUMNS,
        // The first for what is due of a media type, the second for what a bundle tells, the others for what users look
        // for.
        &[
            &["status", "mediatypeid", "nextcheck", "alertid"],
            &["bundleid", "status", "carrierid"],
            &["carrierid"],
            &["eventid"],
            &["p_eventid"],
            &["actionid", "userid"],
            &["userid"],
            &["clock"],
        ],
    )
    .usual_in(&["carrierid", "p_eventid"]);
    /// Actions that are under way: one row for each action and event, until all is done.
    ESCALATIONS = table(
        "escalations",
        &["escalationid"],
        Reload::Nothing,
        &[
            id("escalationid"),
            id("actionid"),
            owned("eventid", "events"),
            id("r_eventid"),
            // 0 = the event is not of a trigger.
            id("triggerid"),
            int("status", "0"),
            // The last step that was done.
            int("esc_step", "0"),
            // When the next step is due; 0 = not by time.
            int("nextcheck", "0"),
            // The last step whose messages were withheld.
            int("withheld_step", "0"),
        ],
        &[&["nextcheck"], &["status"], &["eventid"], &["actionid"], &["triggerid"]],
    );
    /// Messages to an address that are told together: `kind` as `withheld` of alerts, 1 = of a group of an
    /// action, 3 = beyond the limit of the media type (then `actionid` is 0).
    BUNDLES = table(
        "bundles",
        &["bundleid"],
        Reload::Nothing,
        &[
            id("bundleid"),
            int("kind", "0"),
            id("actionid"),
            id("userid"),
            id("mediatypeid"),
            text("sendto"),
            // JSON: names and values of what is grouped by.
            text("groupkey"),
            // Of all these columns, to find the row.
            id("digest"),
            // When it was last told of; 0 = never.
            int("told", "0"),
            // When the limit of the address has no messages to its account any more, milliseconds since 1970.
            int("full_ms", "0"),
            // 1 = messages wait.
            int("waiting", "0"),
            // When to look at it.
            int("nextcheck", "0"),
        ],
        &[&["nextcheck"], &["digest"]],
    );
    /// Links of messages that were used and are still good. The key is a digest of the link.
    USED_LINKS = table(
        "used_links",
        &["digest"],
        Reload::Nothing,
        &[text("digest"), int("until", "0")],
        &[&["until"]],
    );
    /// A service without a row is in order: status -1.
    SERVICE_STATES = table(
        "service_states",
        &["serviceid"],
        Reload::Nothing,
        &[id("serviceid"), int("status", "-1"), int("lastchange", "0")],
        &[&["status"]],
    );
    /// Open problems of services by their own problem tags, not those of their children.
    SERVICE_PROBLEMS = table(
        "service_problems",
        &["serviceid", "eventid"],
        Reload::Nothing,
        &[id("serviceid"), owned("eventid", "events")],
        &[&["eventid"]],
    );
    /// Changes of status.
    SERVICE_ALARMS = table(
        "service_alarms",
        &["servicealarmid"],
        Reload::Nothing,
        &[
            id("servicealarmid"),
            id("serviceid"),
            int("clock", "0"),
            // The new status.
            int("value", "-1"),
            // The problem of the service that got another severity; 0 = one was opened or closed.
            id("eventid"),
        ],
        &[&["serviceid", "clock"], &["clock"]],
    );
}

const ALERTS_COLUMNS: &[Column] = &[
    id("alertid"),
    id("actionid"),
    owned("eventid", "events"),
    id("userid"),
    int("clock", "0"),
    id("mediatypeid"),
    // Several addresses of e-mail are separated by line feeds.
    text("sendto"),
    text("subject"),
    text("message"),
    int("status", "0"),
    int("retries", "0"),
    text("error"),
    int("esc_step", "0"),
    int("alerttype", "0"),
    // The problem's event, of recoveries and updates after them.
    id("p_eventid"),
    id("acknowledgeid"),
    // Of webhooks, scripts and commands: JSON with expanded macros.
    text_or("parameters", "{}"),
    // Of commands.
    id("scriptid"),
    id("target_hostid"),
    // When the next attempt is due.
    int("nextcheck", "0"),
    // What the receiver calls the message, of living media types.
    text("message_id"),
    // Why it is not sent by itself; 0 = it is.
    int("withheld", "0"),
    // The alert whose message tells of it; 0 = none yet.
    id("carrierid"),
    // What gathers it; 0 = nothing.
    id("bundleid"),
    // 1 = its text tells of several problems.
    int("summary", "0"),
    // The alert that failed and that it replaces by another media type.
    id("replaced_alertid"),
];

const EVENTS_COLUMNS: &[Column] = &[
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

const PROBLEMS_COLUMNS: &[Column] = &[
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
