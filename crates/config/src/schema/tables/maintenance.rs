//! Maintenances.

use super::super::{Reload, Table};
use super::{id, int, owned, table, text};

tables! { TABLES:
    MAINTENANCES = table(
        "maintenances",
        &["maintenanceid"],
        Reload::Nothing,
        &[
            id("maintenanceid"),
            text("name"),
            int("maintenance_type", "0"),
            text("description"),
            int("active_since", "0"),
            int("active_till", "0"),
            int("tags_evaltype", "0"),
        ],
        &[&["name"]],
    );
    MAINTENANCE_HOSTS = table(
        "maintenance_hosts",
        &["maintenanceid", "hostid"],
        Reload::Nothing,
        &[owned("maintenanceid", "maintenances"), owned("hostid", "hosts")],
        &[&["hostid"]],
    );
    MAINTENANCE_GROUPS = table(
        "maintenance_groups",
        &["maintenanceid", "groupid"],
        Reload::Nothing,
        &[owned("maintenanceid", "maintenances"), owned("groupid", "groups_")],
        &[&["groupid"]],
    );
    MAINTENANCE_PERIODS = table(
        "maintenance_periods",
        &["maintenanceid", "sortorder"],
        Reload::Nothing,
        &[
            owned("maintenanceid", "maintenances"),
            int("sortorder", "0"),
            int("timeperiod_type", "0"),
            int("every", "1"),
            int("month", "0"),
            int("dayofweek", "0"),
            int("day", "0"),
            int("start_time", "0"),
            int("period", "3600"),
            int("start_date", "0"),
        ],
        &[],
    );
    MAINTENANCE_TAGS = table(
        "maintenance_tags",
        &["maintenancetagid"],
        Reload::Nothing,
        &[
            id("maintenancetagid"),
            owned("maintenanceid", "maintenances"),
            text("tag"),
            int("operator", "2"),
            text("value"),
        ],
        &[&["maintenanceid"]],
    );
}
