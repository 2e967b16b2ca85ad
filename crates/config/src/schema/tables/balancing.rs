//! Objects of the load balancer. Members that only the engine understands are JSON, in the form that
//! the engine's configuration file has.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

const NOTHING: Reload = Reload::Nothing;

tables! { TABLES:
    ENGINEGROUPS = table(
        "enginegroups",
        &["enginegroupid"],
        NOTHING,
        &[
            id("enginegroupid"),
            text("name"),
            text("description"),
            int("ha_mode", "0"),
            int("placement", "0"),
            int("engines_per_vip", "0"),
            int("spare_engines", "0"),
            int("vips_per_engine", "0"),
            int("rebalance", "0"),
            int("failover_after", "3"),
            text_or("announce", "{}"),
        ],
        &[],
    );
    /// The token that lets an engine enrol is stored as a digest; no token has an empty one.
    ENGINES = table(
        "engines",
        &["engineid"],
        NOTHING,
        &[
            id("engineid"),
            id("enginegroupid"),
            text("name"),
            text("description"),
            int("drain", "0"),
            text("enrolment_digest"),
            int("enrolment_expires_at", "0"),
        ],
        &[&["enginegroupid"], &["enrolment_digest"]],
    );
    /// The certificate by which an engine is recognised, the one that it gets next, and the authority that
    /// issued them.
    ENGINE_CERTIFICATES = table(
        "engine_certificates",
        &["engineid"],
        NOTHING,
        &[owned("engineid", "engines"), text("fingerprint"), text("next_fingerprint")],
        &[],
    );
    ENGINE_AUTHORITIES = table(
        "engine_authorities",
        &["engineauthorityid"],
        NOTHING,
        &[id("engineauthorityid"), text("certificate"), text("private_key")],
        &[],
    );
    /// Accounts at authorities that issue certificates by ACME; `account` is JSON with the account's key.
    ACME_ACCOUNTS = table(
        "acme_accounts",
        &["acmeaccountid"],
        NOTHING,
        &[id("acmeaccountid"), text("directory"), text_or("contact", "[]"), text("account")],
        &[],
    );
    VIPS = table(
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
    );
    CERTIFICATES = table("certificates", &["certificateid"], NOTHING, CERTIFICATES_COLUMNS, &[]);
    HEALTHMONITORS = table(
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
            text_or("udp", "{}"),
            text_or("dns", "{}"),
            text_or("script", "{}"),
            text_or("trigger_filter", "{}"),
            text_or("interval", "5s"),
            text_or("timeout", "2s"),
            int("up", "2"),
            int("down", "3"),
        ],
        &[],
    );
    POOLS = table("pools", &["poolid"], NOTHING, POOLS_COLUMNS, &[&["healthmonitorid"]]);
    POOL_SERVERS = table(
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
    );
    /// Health monitors beside the one of the pool's own row.
    POOL_MONITORS = table(
        "pool_monitors",
        &["poolid", "position"],
        NOTHING,
        &[owned("poolid", "pools"), int("position", "0"), id("healthmonitorid")],
        &[&["healthmonitorid"]],
    );
    POOL_GROUPS = table(
        "pool_groups",
        &["poolgroupid"],
        NOTHING,
        &[id("poolgroupid"), text("name"), text("description"), int("min_servers", "1")],
        &[],
    );
    POOL_GROUP_MEMBERS = table(
        "pool_group_members",
        &["poolgroupid", "position"],
        NOTHING,
        &[
            owned("poolgroupid", "pool_groups"),
            int("position", "0"),
            id("poolid"),
            int("priority", "0"),
            int("ratio", "1"),
        ],
        &[&["poolid"]],
    );
    VIRTUALSERVICES = table(
        "virtualservices",
        &["virtualserviceid"],
        NOTHING,
        VIRTUAL_SERVICES_COLUMNS,
        &[&["enginegroupid"], &["vipid", "port"], &["poolid"], &["poolgroupid"]],
    );
    VIRTUALSERVICE_CERTIFICATES = table(
        "virtualservice_certificates",
        &["virtualserviceid", "position"],
        NOTHING,
        &[owned("virtualserviceid", "virtualservices"), int("position", "0"), id("certificateid")],
        &[&["certificateid"]],
    );
    VIRTUALSERVICE_TAGS = table(
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
    );
    AVI_OBJECTS = table(
        "avi_objects",
        &["aviobjectid"],
        NOTHING,
        AVI_OBJECTS_COLUMNS,
        &[&["uuid"], &["kind", "name"], &["kind", "objectid"]],
    );
}

/// What clients of the Avi API wrote: the object of this id (and of further ids, for a service with several
/// ports), or an object that only this API has. References are `/api/TYPE/UUID`.
const AVI_OBJECTS_COLUMNS: &[Column] = &[
    id("aviobjectid"),
    text("kind"),
    text("uuid"),
    text("name"),
    id("objectid"),
    text_or("further", "[]"),
    text_or("document", "{}"),
];

/// The chain and the key in PEM format; the columns behind them are what the first certificate says.
const CERTIFICATES_COLUMNS: &[Column] = &[
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
    // What is ordered from an authority, and when a user last asked for it.
    text_or("acme", "{}"),
    int("requested_at", "0"),
];

const POOLS_COLUMNS: &[Column] = &[
    id("poolid"),
    text("name"),
    text("description"),
    text_or("algorithm", "round_robin"),
    text("hash_key"),
    id("healthmonitorid"),
    text_or("persistence", "{}"),
    text_or("retries", "{}"),
    text_or("eject", "{}"),
    text("slow_start"),
    int("min_monitors", "0"),
    text_or("host_maintenance", "ignore"),
    text("send_proxy"),
    text_or("tls", "{}"),
];

const VIRTUAL_SERVICES_COLUMNS: &[Column] = &[
    id("virtualserviceid"),
    id("enginegroupid"),
    text("name"),
    text("description"),
    int("status", "0"),
    text_or("type", "http"),
    id("vipid"),
    int("port", "0"),
    id("poolid"),
    id("poolgroupid"),
    int("accept_proxy", "0"),
    text_or("tls", "{}"),
    text_or("timeouts", "{}"),
    text_or("limits", "{}"),
    text_or("rate_limit", "{}"),
    text_or("authentication", "{}"),
    text_or("compression", "{}"),
    text_or("cache", "{}"),
    // Like the rules, it has `poolid` or `poolgroupid`.
    text_or("mirror", "{}"),
    text_or("forwarded", "{}"),
    // `then.poolid` and `then.poolgroupid` stand for the engine's `then.pool`.
    text_or("rules", "[]"),
    text_or("allow", "[]"),
    text_or("deny", "[]"),
];
