//! Objects of the load balancer. Members that only the engine understands are JSON, in the form that
//! the engine's configuration file has.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

const NOTHING: Reload = Reload::Nothing;

pub(super) const TABLES: &[Table] = &[
    table(
        "enginegroups",
        &["enginegroupid"],
        NOTHING,
        &[id("enginegroupid"), text("name"), text("description")],
        &[],
    ),
    // The token that lets an engine enrol is stored as a digest; no token has an empty one.
    table(
        "engines",
        &["engineid"],
        NOTHING,
        &[
            id("engineid"),
            id("enginegroupid"),
            text("name"),
            text("description"),
            text("enrolment_digest"),
            int("enrolment_expires_at", "0"),
        ],
        &[&["enginegroupid"], &["enrolment_digest"]],
    ),
    table(
        "vips",
        &["vipid"],
        NOTHING,
        &[
            id("vipid"),
            text("name"),
            text("description"),
            text("ipv4"),
            text("ipv6"),
            text_or("dns_names", "[]"),
        ],
        &[],
    ),
    table("certificates", &["certificateid"], NOTHING, CERTIFICATES, &[]),
    table(
        "healthmonitors",
        &["healthmonitorid"],
        NOTHING,
        &[
            id("healthmonitorid"),
            text("name"),
            text("description"),
            text_or("type", "tcp"),
            text_or("path", "/"),
            int("status", "200"),
            text("body"),
            text_or("interval", "5s"),
            text_or("timeout", "2s"),
            int("up", "2"),
            int("down", "3"),
        ],
        &[],
    ),
    table("pools", &["poolid"], NOTHING, POOLS, &[&["healthmonitorid"]]),
    table(
        "pool_servers",
        &["poolid", "position"],
        NOTHING,
        &[
            owned("poolid", "pools"),
            int("position", "0"),
            text("name"),
            text("address"),
            int("port", "0"),
            int("weight", "1"),
            int("max_connections", "0"),
            int("backup", "0"),
            text_or("state", "up"),
            id("hostid"),
        ],
        &[&["hostid"]],
    ),
    table(
        "virtualservices",
        &["virtualserviceid"],
        NOTHING,
        VIRTUAL_SERVICES,
        &[&["enginegroupid"], &["vipid", "port"], &["poolid"]],
    ),
    table(
        "virtualservice_certificates",
        &["virtualserviceid", "position"],
        NOTHING,
        &[owned("virtualserviceid", "virtualservices"), int("position", "0"), id("certificateid")],
        &[&["certificateid"]],
    ),
    table(
        "virtualservice_tags",
        &["virtualservicetagid"],
        NOTHING,
        &[
            id("virtualservicetagid"),
            owned("virtualserviceid", "virtualservices"),
            text("tag"),
            text("value"),
        ],
        &[&["virtualserviceid"]],
    ),
];

/// The chain and the key in PEM format; the columns behind them are what the first certificate says.
const CERTIFICATES: &[Column] = &[
    id("certificateid"),
    text("name"),
    text("description"),
    text("certificate"),
    text("private_key"),
    text("subject"),
    text("issuer"),
    text_or("names", "[]"),
    text("algorithm"),
    text("fingerprint"),
    int("valid_from", "0"),
    int("valid_until", "0"),
];

const POOLS: &[Column] = &[
    id("poolid"),
    text("name"),
    text("description"),
    text_or("algorithm", "round_robin"),
    text("hash_key"),
    id("healthmonitorid"),
    text_or("persistence", "{}"),
    text_or("retries", "{}"),
    text_or("eject", "{}"),
    text("send_proxy"),
    text_or("tls", "{}"),
];

const VIRTUAL_SERVICES: &[Column] = &[
    id("virtualserviceid"),
    id("enginegroupid"),
    text("name"),
    text("description"),
    int("status", "0"),
    text_or("type", "http"),
    id("vipid"),
    int("port", "0"),
    id("poolid"),
    int("accept_proxy", "0"),
    text_or("tls", "{}"),
    text_or("timeouts", "{}"),
    text_or("limits", "{}"),
    text_or("forwarded", "{}"),
    // `then.poolid` stands for the engine's `then.pool`.
    text_or("rules", "[]"),
    text_or("allow", "[]"),
    text_or("deny", "[]"),
];
