//! What leaves the server by itself: connectors and scheduled reports.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    CONNECTORS =
        table("connectors", &["connectorid"], Reload::Discovery, CONNECTOR_COLUMNS, &[&["name"]]);
    CONNECTOR_TAGS = table(
        "connector_tags",
        &["connectorid", "position"],
        Reload::Discovery,
        &[
            owned("connectorid", "connectors"),
            int("position", "0"),
            text("tag"),
            int("operator", "0"),
            text("value"),
        ],
        &[],
    );
    /// `active_since`, `active_till`: days as `YYYY-MM-DD`, empty = no limit
    REPORTS = table(
        "reports",
        &["reportid"],
        Reload::Nothing,
        &[
            id("reportid"),
            id("userid"),
            text("name"),
            text("description"),
            int("status", "0"),
            owned("dashboardid", "dashboards"),
            int("period", "0"),
            int("cycle", "0"),
            int("weekdays", "0"),
            int("start_time", "0"),
            text("active_since"),
            text("active_till"),
            text("subject"),
            text("message"),
        ],
        &[&["name"], &["userid"], &["dashboardid"]],
    );
    REPORT_USERS = table(
        "report_users",
        &["reportid", "userid"],
        Reload::Nothing,
        &[
            owned("reportid", "reports"),
            owned("userid", "users"),
            id("access_userid"),
            int("exclude", "0"),
        ],
        &[&["userid"], &["access_userid"]],
    );
    REPORT_USER_GROUPS = table(
        "report_user_groups",
        &["reportid", "usrgrpid"],
        Reload::Nothing,
        &[owned("reportid", "reports"), owned("usrgrpid", "usergroups"), id("access_userid")],
        &[&["usrgrpid"], &["access_userid"]],
    );
}

const CONNECTOR_COLUMNS: &[Column] = &[
    id("connectorid"),
    text("name"),
    int("protocol", "0"),
    int("data_type", "0"),
    text("url"),
    int("item_value_type", "31"),
    int("authtype", "0"),
    text("username"),
    text("password"),
    text("token"),
    int("max_records", "0"),
    int("max_senders", "1"),
    int("max_attempts", "1"),
    text_or("attempt_interval", "5s"),
    text_or("timeout", "5s"),
    text("http_proxy"),
    int("verify_peer", "1"),
    int("verify_host", "1"),
    text("ssl_cert_file"),
    text("ssl_key_file"),
    text("ssl_key_password"),
    text("description"),
    int("status", "1"),
    int("tags_evaltype", "0"),
];
