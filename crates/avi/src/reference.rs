//! References to other objects: members that end with `_ref` or `_refs`.

use percent_encoding::percent_decode_str;
use serde_json::Value as Json;

use crate::{Kind, Members, Refused, Result};

/// What a reference names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// By UUID.
    Uuid(Kind, String),
    /// By name.
    Name(Kind, String),
}

impl Reference {
    /// Reads `https://host/api/pool/pool-…#name`, `/api/pool/pool-…`, `/api/pool?name=p1` or
    /// `/api/pool/?name=p1`.
    ///
    /// # Errors
    /// The text has another form, or names a type that does not exist here.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let form = || {
            Refused::at(
                path,
                format_args!(
                    "\"{text}\" is not a reference; write /api/TYPE/UUID or /api/TYPE?name=NAME"
                ),
            )
        };
        let (_, rest) = text.split_once("/api/").ok_or_else(form)?;
        let end = rest.find(['/', '?']).ok_or_else(form)?;
        let (word, rest) = rest.split_at(end);
        let kind = Kind::named(word).ok_or_else(|| {
            Refused::at(path, format_args!("Vedette has no objects of type \"{word}\""))
        })?;
        let rest = rest.trim_start_matches('/');
        if let Some(query) = rest.strip_prefix('?') {
            let name = query.split('&').find_map(|pair| pair.strip_prefix("name="));
            let name = percent_decode_str(name.ok_or_else(form)?).decode_utf8_lossy().into_owned();
            return Ok(Self::Name(kind, name));
        }
        let uuid = rest.split(['#', '?']).next().unwrap_or_default();
        if uuid.is_empty() { Err(form()) } else { Ok(Self::Uuid(kind, uuid.to_owned())) }
    }
}

/// Calls `with` for each reference of an object, with its path. It returns the reference to write in its
/// place; `None` removes it.
///
/// # Errors
/// The first error of `with`.
pub fn each_reference(
    members: &mut Members,
    with: &mut dyn FnMut(&str, &str) -> Result<Option<String>>,
) -> Result<()> {
    walk(members, "", with)
}

fn walk(
    members: &mut Members,
    path: &str,
    with: &mut dyn FnMut(&str, &str) -> Result<Option<String>>,
) -> Result<()> {
    let mut gone = Vec::new();
    for (name, value) in members.iter_mut() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Json::String(text) if name.ends_with("_ref") => match with(&path, text)? {
                Some(written) => *text = written,
                None => gone.push(name.clone()),
            },
            Json::Array(values) if name.ends_with("_refs") => {
                let mut kept = Vec::new();
                for text in values.iter().filter_map(Json::as_str) {
                    kept.extend(with(&path, text)?.map(Json::from));
                }
                *values = kept;
            }
            Json::Object(inner) => walk(inner, &path, with)?,
            Json::Array(values) => {
                for (n, value) in values.iter_mut().enumerate() {
                    if let Json::Object(inner) = value {
                        walk(inner, &format!("{path}[{n}]"), with)?;
                    }
                }
            }
            _ => {}
        }
    }
    for name in gone {
        members.shift_remove(&name);
    }
    Ok(())
}

/// The type that a member refers to; `None`: Vedette does not have the member.
#[must_use]
pub fn referred(path: &str) -> Option<Kind> {
    let member = path.rsplit('.').next().unwrap_or(path);
    let kind = match member {
        "pool_ref" => Kind::Pool,
        "pool_group_ref" => Kind::PoolGroup,
        "health_monitor_refs" => Kind::HealthMonitor,
        "vsvip_ref" => Kind::VsVip,
        "se_group_ref" => Kind::EngineGroup,
        "ssl_key_and_certificate_refs" => Kind::Certificate,
        "application_persistence_profile_ref" => Kind::PersistenceProfile,
        "application_profile_ref" => Kind::ApplicationProfile,
        "network_profile_ref" => Kind::NetworkProfile,
        "ssl_profile_ref" => Kind::SslProfile,
        "pki_profile_ref" => Kind::PkiProfile,
        "http_policy_set_ref" => Kind::HttpPolicySet,
        "tenant_ref" => Kind::Tenant,
        "cloud_ref" => Kind::Cloud,
        "vrf_ref" | "vrf_context_ref" => Kind::Vrf,
        "analytics_profile_ref" => Kind::AnalyticsProfile,
        _ => return None,
    };
    Some(kind)
}
