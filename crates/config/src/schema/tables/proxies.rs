//! Proxies and their groups.

use super::super::{Column, Reload, Table};
use super::{id, int, table, text, text_or};

tables! { TABLES:
    PROXY_GROUPS = table(
        "proxy_groups",
        &["proxy_groupid"],
        Reload::Nothing,
        &[
            id("proxy_groupid"),
            text("name"),
            text("description"),
            text_or("failover_delay", "1m"),
            text_or("min_online", "1"),
        ],
        &[&["name"]],
    );
    PROXIES = table(
        "proxies",
        &["proxyid"],
        Reload::Nothing,
        PROXIES_COLUMNS,
        &[&["name"], &["proxy_groupid"], &["tls_psk_identity"]],
    );
}

const PROXIES_COLUMNS: &[Column] = &[
    id("proxyid"),
    text("name"),
    id("proxy_groupid"),
    text("local_address"),
    text_or("local_port", "10051"),
    int("operating_mode", "0"),
    text("allowed_addresses"),
    text_or("address", "127.0.0.1"),
    text_or("port", "10051"),
    text("description"),
    int("tls_connect", "1"),
    int("tls_accept", "1"),
    text("tls_issuer"),
    text("tls_subject"),
    text("tls_psk_identity"),
    text("tls_psk"),
    int("custom_timeouts", "0"),
    text("timeout_zabbix_agent"),
    text("timeout_simple_check"),
    text("timeout_snmp_agent"),
    text("timeout_external_check"),
    text("timeout_db_monitor"),
    text("timeout_http_agent"),
    text("timeout_ssh_agent"),
    text("timeout_telnet_agent"),
    text("timeout_script"),
    text("timeout_browser"),
];
