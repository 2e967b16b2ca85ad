//! Which members objects have, and which of them Vedette has.

use std::sync::OnceLock;

use serde_json::{Map, Value as Json};

use crate::{Kind, Members, Refused, Result};

/// Members by type: the default, `null` without one, or the members of an object or of the objects of a list.
fn all() -> &'static Members {
    static ALL: OnceLock<Members> = OnceLock::new();
    ALL.get_or_init(|| {
        serde_json::from_str(include_str!("members.json"))
            .expect("BUG: a file of this crate is JSON")
    })
}

fn shape(kind: Kind) -> Option<&'static Members> {
    all().get(kind.word()).and_then(Json::as_object)
}

/// Members without a meaning for the balancer. They are stored and returned.
const NOTES: &[&str] = &[
    "analytics_policy",
    "analytics_profile_ref",
    "cloud_config_cksum",
    "cloud_ref",
    "cloud_type",
    "configpb_attributes",
    "created_by",
    "description",
    "index",
    "log",
    "markers",
    "name",
    "service_metadata",
    "tags",
    "tenant_ref",
    "vrf_context_ref",
    "vrf_ref",
    "vsvip_cloud_config_cksum",
];

/// Members that the translation reads, by their path.
const TRANSLATED: &[(Kind, &[&str])] = &[
    (
        Kind::Pool,
        &[
            "name",
            "description",
            "enabled",
            "servers",
            "servers.enabled",
            "servers.hostname",
            "servers.ip",
            "servers.ip.addr",
            "servers.ip.type",
            "servers.port",
            "servers.ratio",
            "default_server_port",
            "server_disable_type",
            "max_concurrent_connections_per_server",
            "lb_algorithm",
            "lb_algorithm_hash",
            "lb_algorithm_consistent_hash_hdr",
            "health_monitor_refs",
            "inline_health_monitor",
            "connection_ramp_duration",
            "application_persistence_profile_ref",
            "ssl_profile_ref",
            "pki_profile_ref",
            "server_name",
            "host_check_enabled",
        ],
    ),
    (
        Kind::PoolGroup,
        &[
            "name",
            "description",
            "min_servers",
            "members",
            "members.pool_ref",
            "members.priority_label",
            "members.ratio",
        ],
    ),
    (
        Kind::HealthMonitor,
        &[
            "name",
            "description",
            "type",
            "send_interval",
            "receive_timeout",
            "successful_checks",
            "failed_checks",
            "http_monitor",
            "http_monitor.http_request",
            "http_monitor.http_response",
            "http_monitor.http_response_code",
            "https_monitor",
            "https_monitor.http_request",
            "https_monitor.http_response",
            "https_monitor.http_response_code",
            "tcp_monitor",
            "smtp_monitor",
            "udp_monitor",
            "udp_monitor.udp_request",
            "udp_monitor.udp_response",
            "dns_monitor",
            "dns_monitor.query_name",
            "dns_monitor.record_type",
            "dns_monitor.rcode",
        ],
    ),
    (
        Kind::VsVip,
        &[
            "name",
            "vip",
            "vip.vip_id",
            "vip.ip_address",
            "vip.ip_address.addr",
            "vip.ip_address.type",
            "vip.ip6_address",
            "vip.ip6_address.addr",
            "vip.ip6_address.type",
            "dns_info",
            "dns_info.fqdn",
            "dns_info.type",
        ],
    ),
    (
        Kind::VirtualService,
        &[
            "name",
            "description",
            "enabled",
            "traffic_enabled",
            "services",
            "services.port",
            "services.port_range_end",
            "services.enable_ssl",
            "services.enable_http2",
            "vsvip_ref",
            "vip",
            "vip.vip_id",
            "vip.ip_address",
            "vip.ip_address.addr",
            "vip.ip_address.type",
            "vip.ip6_address",
            "vip.ip6_address.addr",
            "vip.ip6_address.type",
            "pool_ref",
            "pool_group_ref",
            "se_group_ref",
            "application_profile_ref",
            "network_profile_ref",
            "ssl_profile_ref",
            "ssl_key_and_certificate_refs",
            "http_policies",
            "http_policies.index",
            "http_policies.http_policy_set_ref",
        ],
    ),
    (
        Kind::Certificate,
        &["name", "type", "key", "certificate", "certificate.certificate", "format"],
    ),
    (
        Kind::EngineGroup,
        &[
            "name",
            "description",
            "ha_mode",
            "algo",
            "buffer_se",
            "max_vs_per_se",
            "min_scaleout_per_vs",
            "auto_rebalance",
        ],
    ),
    (
        Kind::PersistenceProfile,
        &[
            "name",
            "persistence_type",
            "ip_persistence_profile",
            "http_cookie_persistence_profile",
            "http_cookie_persistence_profile.cookie_name",
            "hdr_persistence_profile",
            "hdr_persistence_profile.prst_hdr_name",
        ],
    ),
    (
        Kind::ApplicationProfile,
        &[
            "name",
            "type",
            "http_profile",
            "http_profile.client_body_timeout",
            "http_profile.client_header_timeout",
            "http_profile.client_max_body_size",
            "http_profile.http_to_https",
            "http_profile.keepalive_timeout",
            "http_profile.x_forwarded_proto_enabled",
            "http_profile.xff_enabled",
            "http_profile.xff_update",
            "tcp_app_profile",
        ],
    ),
    (
        Kind::NetworkProfile,
        &[
            "name",
            "profile",
            "profile.type",
            "profile.tcp_fast_path_profile",
            "profile.tcp_fast_path_profile.session_idle_timeout",
            "profile.tcp_proxy_profile",
            "profile.udp_fast_path_profile",
            "profile.udp_fast_path_profile.session_idle_timeout",
            "profile.udp_proxy_profile",
            "profile.udp_proxy_profile.session_idle_timeout",
        ],
    ),
    (Kind::SslProfile, &["name", "accepted_versions", "accepted_versions.type"]),
    (Kind::PkiProfile, &["name", "crl_check", "ca_certs", "ca_certs.certificate"]),
    // Rules are read by `policies`, which refuses what it does not know.
    (
        Kind::HttpPolicySet,
        &["name", "http_request_policy", "http_response_policy", "http_security_policy"],
    ),
];

/// The paths of the members that the translation reads.
fn translated(kind: Kind) -> &'static [&'static str] {
    TRANSLATED.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, paths)| paths)
}

/// Refuses members that do not exist, and members that Vedette does not have, unless their value is Avi's
/// default or empty.
///
/// # Errors
/// The first such member.
pub fn check(kind: Kind, members: &Members) -> Result<()> {
    match shape(kind) {
        Some(shape) => check_in(kind, shape, members, "", ""),
        None => Ok(()),
    }
}

/// `schema_path` has no indices, `shown` has.
fn check_in(
    kind: Kind,
    shape: &Members,
    members: &Members,
    schema_path: &str,
    shown: &str,
) -> Result<()> {
    let join = |path: &str, name: &str| {
        if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
    };
    for (name, value) in members {
        let (path, shown) = (join(schema_path, name), join(shown, name));
        let Some(known) = shape.get(name) else {
            return Err(Refused::at(&shown, format_args!("unknown member of {}", kind.word())));
        };
        let is_rules = kind == Kind::HttpPolicySet && path.contains('.');
        if NOTES.contains(&name.as_str()) {
            refuse_references(value, &shown)?;
        }
        let is_none = is_empty(value) && *known != Json::Bool(true);
        if is_rules || NOTES.contains(&name.as_str()) || is_none {
            continue;
        }
        if !translated(kind).contains(&path.as_str()) {
            if !equals(value, known) {
                return Err(unsupported(&shown, known));
            }
            continue;
        }
        let Json::Object(inner) = known else { continue };
        match value {
            Json::Object(value) => check_in(kind, inner, value, &path, &shown)?,
            Json::Array(values) => {
                for (n, value) in values.iter().enumerate() {
                    let shown = format!("{shown}[{n}]");
                    match value {
                        Json::Object(value) => check_in(kind, inner, value, &path, &shown)?,
                        _ => return Err(Refused::at(&shown, "an object is expected")),
                    }
                }
            }
            _ => return Err(Refused::at(&shown, "an object or a list of objects is expected")),
        }
    }
    Ok(())
}

/// Notes refer to nothing.
fn refuse_references(value: &Json, path: &str) -> Result<()> {
    let is_reference = |name: &String| name.ends_with("_ref") || name.ends_with("_refs");
    match value {
        Json::Object(members) => match members.keys().find(|name| is_reference(name)) {
            Some(name) => Err(Refused::at(
                path,
                format_args!("\"{name}\" is not a known member; leave it out"),
            )),
            None => members.values().try_for_each(|value| refuse_references(value, path)),
        },
        Json::Array(values) => values.iter().try_for_each(|value| refuse_references(value, path)),
        _ => Ok(()),
    }
}

fn unsupported(path: &str, known: &Json) -> Refused {
    let default = match known {
        Json::Null | Json::Object(_) => "leave it out".to_owned(),
        default => format!("leave it out, or set Avi's default {default}"),
    };
    Refused::at(path, format_args!("Vedette does not have this member; {default}"))
}

/// Values that stand for none.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(flag) => !flag,
        Json::String(text) => text.is_empty(),
        Json::Array(values) => values.is_empty(),
        Json::Object(members) => members.values().all(is_empty),
        Json::Number(_) => false,
    }
}

/// Whether a value is the default, or an object of defaults.
fn equals(value: &Json, known: &Json) -> bool {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match (value, known) {
        (Json::Object(members), Json::Object(known)) => members.iter().all(|(name, value)| {
            is_empty(value) || known.get(name).is_some_and(|known| equals(value, known))
        }),
        (Json::Array(values), Json::Object(_)) => values.iter().all(|value| equals(value, known)),
        _ => text(value) == text(known),
    }
}

/// The object with Avi's defaults for its missing members.
#[must_use]
pub fn with_defaults(kind: Kind, members: &Members) -> Members {
    let Some(shape) = shape(kind) else { return members.clone() };
    let mut full = members.clone();
    fill(&mut full, shape);
    full
}

fn fill(members: &mut Map<String, Json>, shape: &Members) {
    for (name, known) in shape {
        match (members.get_mut(name), known) {
            (Some(Json::Object(inner)), Json::Object(known)) => fill(inner, known),
            (Some(Json::Array(values)), Json::Object(known)) => {
                for value in values {
                    if let Json::Object(inner) = value {
                        fill(inner, known);
                    }
                }
            }
            (None, Json::Bool(_) | Json::Number(_) | Json::String(_)) => {
                members.insert(name.clone(), known.clone());
            }
            _ => {}
        }
    }
}
