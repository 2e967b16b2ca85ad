//! Dashboards of users and of templates, with pages, widgets and what widgets show.
//!
//! A field of a widget is in the table of its kind of value, so that one that refers to an object is
//! deleted with the object. Fields of all tables share one space of ids, which is their order.

use super::super::{Reload, Table};
use super::{id, int, owned, table, text};

/// A table of fields that refer to objects of `$owner`.
macro_rules! fields {
    ($name:literal, $owner:literal) => {
        table(
            $name,
            &["widget_fieldid"],
            Reload::Nothing,
            &[
                id("widget_fieldid"),
                owned("widgetid", "widgets"),
                int("type", "0"),
                text("name"),
                owned("value", $owner),
            ],
            &[&["widgetid"], &["value"]],
        )
    };
}

tables! { TABLES:
    /// One of a template has the template in `hostid` and no `userid`; it is deleted with the template.
    DASHBOARDS = table(
        "dashboards",
        &["dashboardid"],
        Reload::Nothing,
        &[
            id("dashboardid"),
            text("name"),
            id("userid"),
            int("private", "1"),
            id("hostid"),
            int("display_period", "30"),
            int("auto_start", "1"),
            text("uuid"),
        ],
        &[&["hostid", "name"], &["userid"], &["uuid"]],
    );
    /// `permission`: 2 read, 3 read and write.
    DASHBOARD_USERS = table(
        "dashboard_users",
        &["dashboard_userid"],
        Reload::Nothing,
        &[
            id("dashboard_userid"),
            owned("dashboardid", "dashboards"),
            owned("userid", "users"),
            int("permission", "2"),
        ],
        &[&["dashboardid"], &["userid"]],
    );
    /// The same.
    DASHBOARD_USER_GROUPS = table(
        "dashboard_user_groups",
        &["dashboard_usrgrpid"],
        Reload::Nothing,
        &[
            id("dashboard_usrgrpid"),
            owned("dashboardid", "dashboards"),
            owned("usrgrpid", "usergroups"),
            int("permission", "2"),
        ],
        &[&["dashboardid"], &["usrgrpid"]],
    );
    DASHBOARD_PAGES = table(
        "dashboard_pages",
        &["dashboard_pageid"],
        Reload::Nothing,
        &[
            id("dashboard_pageid"),
            owned("dashboardid", "dashboards"),
            text("name"),
            int("display_period", "0"),
            int("sortorder", "0"),
        ],
        &[&["dashboardid"]],
    );
    WIDGETS = table(
        "widgets",
        &["widgetid"],
        Reload::Nothing,
        &[
            id("widgetid"),
            owned("dashboard_pageid", "dashboard_pages"),
            text("type"),
            text("name"),
            int("x", "0"),
            int("y", "0"),
            int("width", "1"),
            int("height", "2"),
            int("view_mode", "0"),
        ],
        &[&["dashboard_pageid"]],
    );
    /// Numbers and texts.
    WIDGET_VALUES = table(
        "widget_values",
        &["widget_fieldid"],
        Reload::Nothing,
        &[
            id("widget_fieldid"),
            owned("widgetid", "widgets"),
            int("type", "0"),
            text("name"),
            text("value"),
        ],
        &[&["widgetid"]],
    );
    WIDGET_GROUPS = fields!("widget_groups", "groups_");
    WIDGET_HOSTS = fields!("widget_hosts", "hosts");
    WIDGET_ITEMS = fields!("widget_items", "items");
    WIDGET_GRAPHS = fields!("widget_graphs", "graphs");
    WIDGET_MAPS = fields!("widget_maps", "maps");
    WIDGET_SERVICES = fields!("widget_services", "services");
    WIDGET_SLAS = fields!("widget_slas", "slas");
    WIDGET_USERS = fields!("widget_users", "users");
    WIDGET_ACTIONS = fields!("widget_actions", "actions");
    WIDGET_MEDIA_TYPES = fields!("widget_media_types", "media_types");
}
