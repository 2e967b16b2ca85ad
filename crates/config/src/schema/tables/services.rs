//! Services and their agreements.

use super::super::{Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    SERVICES = table(
        "services",
        &["serviceid"],
        Reload::Nothing,
        &[
            id("serviceid"),
            text("name"),
            int("algorithm", "0"),
            int("sortorder", "0"),
            int("weight", "0"),
            int("propagation_rule", "0"),
            int("propagation_value", "0"),
            text("description"),
            text("uuid"),
            int("created_at", "0"),
        ],
        &[&["name"], &["uuid"]],
    );
    /// A row belongs to the child. Who deletes a service deletes the rows in which it is the parent.
    SERVICE_LINKS = table(
        "service_links",
        &["serviceid", "parentid"],
        Reload::Nothing,
        &[owned("serviceid", "services"), id("parentid")],
        &[&["parentid"]],
    );
    SERVICE_TAGS = table(
        "service_tags",
        &["servicetagid"],
        Reload::Nothing,
        &[id("servicetagid"), owned("serviceid", "services"), text("tag"), text("value")],
        &[&["serviceid"], &["tag", "value"]],
    );
    /// Tags of the problems that a service has.
    SERVICE_PROBLEM_TAGS = table(
        "service_problem_tags",
        &["serviceproblemtagid"],
        Reload::Nothing,
        &[
            id("serviceproblemtagid"),
            owned("serviceid", "services"),
            text("tag"),
            int("operator", "0"),
            text("value"),
        ],
        &[&["serviceid"]],
    );
    SERVICE_STATUS_RULES = table(
        "service_status_rules",
        &["servicestatusruleid"],
        Reload::Nothing,
        &[
            id("servicestatusruleid"),
            owned("serviceid", "services"),
            int("type", "0"),
            int("limit_value", "0"),
            int("limit_status", "0"),
            int("new_status", "0"),
        ],
        &[&["serviceid"]],
    );
    SLAS = table(
        "slas",
        &["slaid"],
        Reload::Nothing,
        &[
            id("slaid"),
            text("name"),
            int("period", "0"),
            text_or("slo", "99.9"),
            int("effective_date", "0"),
            text_or("timezone", "UTC"),
            int("status", "1"),
            text("description"),
        ],
        &[&["name"]],
    );
    /// Seconds of a week, from Sunday on. None = always.
    SLA_SCHEDULES = table(
        "sla_schedules",
        &["slaid", "position"],
        Reload::Nothing,
        &[
            owned("slaid", "slas"),
            int("position", "0"),
            int("period_from", "0"),
            int("period_to", "0"),
        ],
        &[],
    );
    SLA_EXCLUDED_DOWNTIMES = table(
        "sla_excluded_downtimes",
        &["slaid", "position"],
        Reload::Nothing,
        &[
            owned("slaid", "slas"),
            int("position", "0"),
            text("name"),
            int("period_from", "0"),
            int("period_to", "0"),
        ],
        &[],
    );
    /// Tags of the services that an agreement is about; one of them is enough.
    SLA_SERVICE_TAGS = table(
        "sla_service_tags",
        &["slaid", "position"],
        Reload::Nothing,
        &[
            owned("slaid", "slas"),
            int("position", "0"),
            text("tag"),
            int("operator", "0"),
            text("value"),
        ],
        &[],
    );
}
