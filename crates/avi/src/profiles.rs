//! Profiles: settings that pools and virtual services refer to. Vedette has these settings in the pools and
//! services themselves.

use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use crate::plan::{Targets, members_of};
use crate::reader::Reader;
use crate::{Kind, Members, Result, policies};

/// Checks a profile by what it would become.
pub(crate) fn check(kind: Kind, reader: &Reader<'_>, targets: &Targets) -> Result<()> {
    reader.required("name")?;
    match kind {
        Kind::PersistenceProfile => persistence(reader.members).map(drop),
        Kind::ApplicationProfile => application(reader.members).map(drop),
        Kind::NetworkProfile => network(reader.members).map(drop),
        Kind::SslProfile => oldest_version(reader.members).map(drop),
        Kind::PkiProfile => authorities(reader.members).map(drop),
        Kind::HttpPolicySet => policies::rules(reader.members, targets).map(drop),
        _ => Ok(()),
    }
}

/// `persistence` of a pool.
pub(crate) fn persistence(profile: &Members) -> Result<Json> {
    let reader = Reader::new(profile);
    reader.required("persistence_type")?;
    let kind = reader.word(
        "persistence_type",
        &[
            ("PERSISTENCE_TYPE_CLIENT_IP_ADDRESS", "source_ip"),
            ("PERSISTENCE_TYPE_HTTP_COOKIE", "cookie"),
            ("PERSISTENCE_TYPE_CUSTOM_HTTP_HEADER", "header"),
        ],
    )?;
    match kind {
        Some("cookie") => {
            let settings = reader.object("http_cookie_persistence_profile")?;
            let name = match &settings {
                Some(settings) => settings.text("cookie_name")?,
                None => None,
            };
            Ok(json!({ "type": "cookie", "name": name.unwrap_or(COOKIE) }))
        }
        Some("header") => {
            let settings = reader.object("hdr_persistence_profile")?.ok_or_else(|| {
                reader.refuse("hdr_persistence_profile", "this member is required")
            })?;
            Ok(json!({ "type": "header", "name": settings.required("prst_hdr_name")? }))
        }
        _ => Ok(json!({ "type": "source_ip" })),
    }
}

/// Cookie of profiles that do not name one.
const COOKIE: &str = "VEDETTE";

/// What an application profile says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Application {
    /// Otherwise bytes are forwarded.
    pub(crate) is_http: bool,
    /// Clients of ports without TLS are sent to https.
    pub(crate) http_to_https: bool,
    /// Members of the virtual service.
    pub(crate) timeouts: Members,
    pub(crate) limits: Members,
    pub(crate) forwarded: Members,
}

pub(crate) fn application(profile: &Members) -> Result<Application> {
    let reader = Reader::new(profile);
    reader.required("type")?;
    let is_http = reader.word(
        "type",
        &[
            ("APPLICATION_PROFILE_TYPE_HTTP", true),
            ("APPLICATION_PROFILE_TYPE_L4", false),
            ("APPLICATION_PROFILE_TYPE_SSL", false),
        ],
    )?;
    let mut application = Application { is_http: is_http == Some(true), ..Application::default() };
    if !application.is_http {
        return Ok(application);
    }
    let none = Members::new();
    let http = reader.object("http_profile")?.unwrap_or_else(|| Reader::new(&none));
    application.http_to_https = http.flag("http_to_https", false)?;
    for (name, own) in [
        ("client_header_timeout", "client_header"),
        ("client_body_timeout", "client_body"),
        ("keepalive_timeout", "keepalive"),
    ] {
        if let Some(ms) = http.number(name)?.filter(|ms| *ms > 0) {
            application.timeouts.insert(own.to_owned(), format!("{ms}ms").into());
        }
    }
    if let Some(kilobytes) = http.number("client_max_body_size")?.filter(|size| *size > 0) {
        let bytes = kilobytes
            .checked_mul(1024)
            .ok_or_else(|| http.refuse("client_max_body_size", "the size is too large"))?;
        application.limits.insert("body".to_owned(), bytes.into());
    }
    if !http.flag("xff_enabled", true)? {
        let text = "Vedette always writes X-Forwarded-For; leave this member out";
        return Err(http.refuse("xff_enabled", text));
    }
    let update = http.word(
        "xff_update",
        &[("REPLACE_XFF_HEADERS", "replace"), ("APPEND_TO_THE_XFF_HEADER", "append")],
    )?;
    application.forwarded = members_of(json!({
        "x_forwarded_for": update.unwrap_or("replace"),
        "x_forwarded_proto": http.flag("x_forwarded_proto_enabled", false)?,
    }));
    Ok(application)
}

/// What a network profile says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    pub(crate) is_udp: bool,
    /// Members of `timeouts`.
    pub(crate) timeouts: Members,
}

pub(crate) fn network(profile: &Members) -> Result<Network> {
    let reader = Reader::new(profile);
    let settings = reader.object("profile")?;
    let settings = settings.ok_or_else(|| reader.refuse("profile", "this member is required"))?;
    settings.required("type")?;
    let kind = settings.word(
        "type",
        &[
            ("PROTOCOL_TYPE_TCP_PROXY", ("tcp_proxy_profile", "")),
            ("PROTOCOL_TYPE_TCP_FAST_PATH", ("tcp_fast_path_profile", "tunnel")),
            ("PROTOCOL_TYPE_UDP_FAST_PATH", ("udp_fast_path_profile", "session")),
            ("PROTOCOL_TYPE_UDP_PROXY", ("udp_proxy_profile", "session")),
        ],
    )?;
    let (member, timeout) = kind.unwrap_or_default();
    let mut network = Network { is_udp: timeout == "session", ..Network::default() };
    if let Some(path) = settings.object(member)?
        && let Some(s) = path.number("session_idle_timeout")?.filter(|s| *s > 0)
    {
        network.timeouts.insert(timeout.to_owned(), format!("{s}s").into());
    }
    Ok(network)
}

/// `min_version` of TLS.
pub(crate) fn oldest_version(profile: &Members) -> Result<&'static str> {
    let reader = Reader::new(profile);
    let mut oldest = "1.3";
    let versions = reader.list("accepted_versions")?;
    for version in &versions {
        version.required("type")?;
        let known = &[("SSL_VERSION_TLS1_2", "1.2"), ("SSL_VERSION_TLS1_3", "1.3")];
        if version.word("type", known)? == Some("1.2") {
            oldest = "1.2";
        }
    }
    Ok(if versions.is_empty() { "1.2" } else { oldest })
}

/// The authorities of a PKI profile as PEM text.
pub(crate) fn authorities(profile: &Members) -> Result<String> {
    let reader = Reader::new(profile);
    let mut texts = Vec::new();
    for authority in reader.list("ca_certs")? {
        texts.push(authority.required("certificate")?.trim_end());
    }
    match texts.is_empty() {
        true => Err(reader.refuse("ca_certs", "at least one authority is required")),
        false => Ok(texts.join("\n") + "\n"),
    }
}

/// An object that every server has. It cannot be changed.
#[derive(Debug)]
pub struct BuiltIn {
    /// Type.
    pub kind: Kind,
    /// Number in its UUID.
    pub number: u64,
    /// Its members.
    pub document: Members,
}

/// The objects that every server has.
pub fn built_ins() -> &'static [BuiltIn] {
    static ALL: OnceLock<Vec<BuiltIn>> = OnceLock::new();
    ALL.get_or_init(|| {
        let numbered = documents().into_iter().zip(1..);
        let built_in = numbered.map(|((kind, document), number)| BuiltIn {
            kind,
            number,
            document: members_of(document),
        });
        built_in.collect()
    })
}

/// New ones are added at the end, because the position is the number.
fn documents() -> Vec<(Kind, Json)> {
    let application = |name: &str, kind: &str| {
        let kind = format!("APPLICATION_PROFILE_TYPE_{kind}");
        (Kind::ApplicationProfile, json!({ "name": name, "type": kind }))
    };
    let network = |name: &str, kind: &str| {
        let kind = format!("PROTOCOL_TYPE_{kind}");
        (Kind::NetworkProfile, json!({ "name": name, "profile": { "type": kind } }))
    };
    let persistence = |name: &str, kind: &str| {
        let kind = format!("PERSISTENCE_TYPE_{kind}");
        (Kind::PersistenceProfile, json!({ "name": name, "persistence_type": kind }))
    };
    let versions = json!([{ "type": "SSL_VERSION_TLS1_2" }, { "type": "SSL_VERSION_TLS1_3" }]);
    vec![
        (Kind::Tenant, json!({ "name": "admin" })),
        (Kind::Cloud, json!({ "name": "Default-Cloud", "vtype": "CLOUD_NONE" })),
        (Kind::Vrf, json!({ "name": "global" })),
        (Kind::AnalyticsProfile, json!({ "name": "System-Analytics-Profile" })),
        application("System-HTTP", "HTTP"),
        (
            Kind::ApplicationProfile,
            json!({
                "name": "System-Secure-HTTP",
                "type": "APPLICATION_PROFILE_TYPE_HTTP",
                "http_profile": { "http_to_https": true, "x_forwarded_proto_enabled": true },
            }),
        ),
        application("System-L4-Application", "L4"),
        application("System-SSL-Application", "SSL"),
        network("System-TCP-Proxy", "TCP_PROXY"),
        network("System-TCP-Fast-Path", "TCP_FAST_PATH"),
        network("System-UDP-Fast-Path", "UDP_FAST_PATH"),
        network("System-UDP-Proxy", "UDP_PROXY"),
        persistence("System-Persistence-Client-IP", "CLIENT_IP_ADDRESS"),
        persistence("System-Persistence-Http-Cookie", "HTTP_COOKIE"),
        (Kind::SslProfile, json!({ "name": "System-Standard", "accepted_versions": versions })),
    ]
}
