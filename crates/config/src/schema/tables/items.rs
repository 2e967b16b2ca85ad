//! Items, triggers and graphs, and what low-level discovery knows of them.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    /// `flags`: 0 plain, 1 discovery rule, 2 prototype, 4 discovered: one id space
    ITEMS = table(
        "items",
        &["itemid"],
        Reload::Item("itemid"),
        ITEMS_COLUMNS,
        &[
            &["hostid", "key_"],
            &["templateid"],
            &["master_itemid"],
            &["ruleid"],
            &["valuemapid"],
            &["uuid"],
        ],
    )
    .usual_in(&["templateid", "master_itemid", "valuemapid"])
    .has_data();
    ITEM_PREPROCESSING = table(
        "item_preprocessing",
        &["itemid", "step"],
        Reload::Item("itemid"),
        &[
            owned("itemid", "items"),
            int("step", "0"),
            int("type", "0"),
            text("params"),
            int("error_handler", "0"),
            text("error_handler_params"),
        ],
        &[],
    );
    ITEM_TAGS = table(
        "item_tags",
        &["itemtagid"],
        Reload::Item("itemid"),
        &[id("itemtagid"), owned("itemid", "items"), text("tag"), text("value")],
        &[&["itemid"]],
    );
    /// What discovery made of which prototype, and until when a lost one is kept.
    ITEM_DISCOVERY = table(
        "item_discovery",
        &["itemid"],
        Reload::Nothing,
        &[
            owned("itemid", "items"),
            id("parent_itemid"),
            text("key_"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("ts_disable", "0"),
            int("disable_source", "0"),
            int("status", "0"),
        ],
        &[&["parent_itemid"]],
    )
    .read_by_discovery();
    TRIGGERS = table(
        "triggers",
        &["triggerid"],
        Reload::Trigger("triggerid"),
        TRIGGERS_COLUMNS,
        // The last for the worst: it decides which of them are monitored without their rows.
        &[
            &["templateid"],
            &["uuid"],
            &["description"],
            &["priority DESC", "triggerid", "status", "flags"],
        ],
    )
    .usual_in(&["templateid"])
    .has_data();
    FUNCTIONS = table(
        "functions",
        &["functionid"],
        Reload::Trigger("triggerid"),
        &[
            id("functionid"),
            owned("triggerid", "triggers"),
            owned("itemid", "items"),
            text("name"),
            text("parameter"),
        ],
        &[&["triggerid"], &["itemid"]],
    );
    TRIGGER_TAGS = table(
        "trigger_tags",
        &["triggertagid"],
        Reload::Trigger("triggerid"),
        &[id("triggertagid"), owned("triggerid", "triggers"), text("tag"), text("value")],
        &[&["triggerid"]],
    );
    TRIGGER_DEPENDS = table(
        "trigger_depends",
        &["triggerid", "depends_on"],
        Reload::Trigger("triggerid"),
        &[owned("triggerid", "triggers"), id("depends_on")],
        &[&["depends_on"]],
    );
    TRIGGER_DISCOVERY = table(
        "trigger_discovery",
        &["triggerid"],
        Reload::Nothing,
        &[
            owned("triggerid", "triggers"),
            id("parent_triggerid"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("ts_disable", "0"),
            int("disable_source", "0"),
            int("status", "0"),
        ],
        &[&["parent_triggerid"]],
    )
    .read_by_discovery();
    /// `flags`: 0 plain, 2 prototype, 4 discovered: one id space
    GRAPHS = table(
        "graphs",
        &["graphid"],
        Reload::Nothing,
        GRAPHS_COLUMNS,
        &[&["templateid"], &["uuid"], &["name", "templateid"], &["ymin_itemid"], &["ymax_itemid"]],
    )
    .usual_in(&["templateid", "ymin_itemid", "ymax_itemid"])
    .read_by_discovery();
    GRAPH_ITEMS = table(
        "graph_items",
        &["gitemid"],
        Reload::Nothing,
        &[
            id("gitemid"),
            owned("graphid", "graphs"),
            owned("itemid", "items"),
            int("drawtype", "0"),
            int("sortorder", "0"),
            text_or("color", "009600"),
            int("yaxisside", "0"),
            int("calc_fnc", "2"),
            int("type", "0"),
        ],
        &[&["graphid"], &["itemid"]],
    )
    .read_by_discovery();
    GRAPH_DISCOVERY = table(
        "graph_discovery",
        &["graphid"],
        Reload::Nothing,
        &[
            owned("graphid", "graphs"),
            id("parent_graphid"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("status", "0"),
        ],
        &[&["parent_graphid"]],
    )
    .read_by_discovery();
}

const ITEMS_COLUMNS: &[Column] = &[
    id("itemid"),
    owned("hostid", "hosts"),
    int("flags", "0"),
    id("ruleid"),
    id("templateid"),
    int("type", "0"),
    text("name"),
    text("key_"),
    text_or("delay", "0"),
    text_or("history", "31d"),
    text_or("trends", "365d"),
    int("status", "0"),
    int("value_type", "0"),
    text("units"),
    id("interfaceid"),
    id("master_itemid"),
    id("valuemapid"),
    int("inventory_link", "0"),
    text("description"),
    text("logtimefmt"),
    text("trapper_hosts"),
    text("params"),
    text("timeout"),
    text("snmp_oid"),
    text("ipmi_sensor"),
    int("authtype", "0"),
    text("username"),
    text("password"),
    text("publickey"),
    text("privatekey"),
    text("jmx_endpoint"),
    text("url"),
    text("query_fields"),
    text("parameters"),
    text("posts"),
    text_or("status_codes", "200"),
    int("follow_redirects", "1"),
    int("post_type", "0"),
    text("http_proxy"),
    text("headers"),
    int("retrieve_mode", "0"),
    int("request_method", "0"),
    int("output_format", "0"),
    text("ssl_cert_file"),
    text("ssl_key_file"),
    text("ssl_key_password"),
    int("verify_peer", "0"),
    int("verify_host", "0"),
    int("allow_traps", "0"),
    text("uuid"),
    int("discover", "0"),
    // Discovery rules only. Filter, macro paths and overrides are the API's own JSON.
    text("filter"),
    text("lld_macro_paths"),
    text("overrides"),
    int("lifetime_type", "0"),
    text_or("lifetime", "7d"),
    int("enabled_lifetime_type", "2"),
    text_or("enabled_lifetime", "0"),
];

const TRIGGERS_COLUMNS: &[Column] = &[
    id("triggerid"),
    int("flags", "0"),
    id("templateid"),
    text("uuid"),
    text("description"),
    text("expression"),
    int("recovery_mode", "0"),
    text("recovery_expression"),
    text("event_name"),
    text("opdata"),
    text("url"),
    text("url_name"),
    text("comments"),
    int("priority", "0"),
    int("status", "0"),
    int("type", "0"),
    int("correlation_mode", "0"),
    text("correlation_tag"),
    int("manual_close", "0"),
    int("discover", "0"),
];

const GRAPHS_COLUMNS: &[Column] = &[
    id("graphid"),
    int("flags", "0"),
    id("templateid"),
    text("uuid"),
    text("name"),
    int("width", "900"),
    int("height", "200"),
    // Decimal numbers.
    text_or("yaxismin", "0"),
    text_or("yaxismax", "100"),
    int("show_work_period", "1"),
    int("show_triggers", "1"),
    int("graphtype", "0"),
    int("show_legend", "1"),
    int("show_3d", "0"),
    text_or("percent_left", "0"),
    text_or("percent_right", "0"),
    int("ymin_type", "0"),
    int("ymax_type", "0"),
    id("ymin_itemid"),
    id("ymax_itemid"),
    int("discover", "0"),
];
