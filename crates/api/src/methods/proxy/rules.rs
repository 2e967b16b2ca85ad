//! What a proxy's fields may be, and which of them it has.

use std::net::IpAddr;

use config::Edit;
use config::db::Row;

use super::FIELDS;
use crate::error::{ApiError, ApiResult};
use crate::methods::item::{check_addresses, incorrect_address, is_macro};
use crate::object::FieldKind::Int;
use crate::object::missing;
use crate::owned::names::is_technical_name;
use crate::owned::tls;
use crate::plain::{Draft, OnlyWhen, Spec, complete_kinds, only};
use crate::single::Time;

type When = &'static [(&'static str, &'static [i64])];

const ACTIVE: When = &[("operating_mode", &[0])];
const PASSIVE: When = &[("operating_mode", &[1])];
const TIMEOUTS: When = &[("custom_timeouts", &[1])];

const TIMEOUT: Time = Time { min: 1, max: 600, or_zero: false, years: false, or_macro: true };

const OWN: &[OnlyWhen] = &[
    OnlyWhen::new("allowed_addresses", ACTIVE),
    OnlyWhen::new("address", PASSIVE),
    OnlyWhen::new("port", PASSIVE),
    OnlyWhen::new("tls_connect", PASSIVE),
    OnlyWhen::new("tls_accept", ACTIVE),
    OnlyWhen::new("timeout_zabbix_agent", TIMEOUTS).required(),
    OnlyWhen::new("timeout_simple_check", TIMEOUTS).required(),
    OnlyWhen::new("timeout_snmp_agent", TIMEOUTS).required(),
    OnlyWhen::new("timeout_external_check", TIMEOUTS).required(),
    OnlyWhen::new("timeout_db_monitor", TIMEOUTS).required(),
    OnlyWhen::new("timeout_http_agent", TIMEOUTS).required(),
    OnlyWhen::new("timeout_ssh_agent", TIMEOUTS).required(),
    OnlyWhen::new("timeout_telnet_agent", TIMEOUTS).required(),
    OnlyWhen::new("timeout_script", TIMEOUTS).required(),
    OnlyWhen::new("timeout_browser", TIMEOUTS).required(),
];

/// Fields that only proxies of a group have.
const OF_GROUP: &[&str] = &["local_address", "local_port"];

/// Refuses texts that the fields never take.
pub(super) fn check_texts(draft: &Draft<'_>) -> ApiResult<()> {
    for field in FIELDS.iter().filter(|field| draft.gives(field.name)) {
        let (text, path) = (draft.text(field.name, None), format!("{}/{}", draft.path, field.name));
        match field.name {
            "name" if !is_technical_name(&text) => {
                return Err(ApiError::at(&path, "invalid host name"));
            }
            "local_address" | "address" => check_address(&text, field.name == "address", &path)?,
            "local_port" | "port" => check_port(&text, &path)?,
            // Unlike the same list of items, this one takes no macros.
            "allowed_addresses" => match text.find('{') {
                Some(at) => return Err(ApiError::at(&path, incorrect_address(&text[at..]))),
                None => check_addresses(&text, &path)?,
            },
            name if name.starts_with("timeout_") && !text.is_empty() => {
                TIMEOUT.check(&text, &path)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// An IP address or a DNS name.
fn check_address(text: &str, or_macro: bool, path: &str) -> ApiResult<()> {
    let is_dns = || text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
    if text.parse::<IpAddr>().is_ok() || is_dns() || (or_macro && is_macro(text, false)) {
        return Ok(());
    }
    Err(ApiError::at(path, "an IP or DNS is expected"))
}

/// A number, or a user macro.
fn check_port(text: &str, path: &str) -> ApiResult<()> {
    match is_macro(text, false) {
        true => Ok(()),
        false => Int(0, 65_535).check(&text.into(), path).map(drop),
    }
}

/// Refuses fields that the proxy does not have, and gives them their defaults; requires those that it needs.
pub(super) fn complete(
    spec: &Spec,
    edit: &mut Edit<'_>,
    draft: &mut Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    in_group(spec, draft, before)?;
    complete_kinds(spec, OWN, draft, before)?;
    let kind = |name: &str| draft.value(name, before).as_int().max(1);
    let kinds = tls::Kinds { connect: kind("tls_connect"), accept: kind("tls_accept") };
    let holder = tls::Holder::Proxy(draft.id);
    for (name, value) in tls::columns(edit, draft.input, before, &draft.path, kinds, holder)? {
        draft.set(name, value);
    }
    Ok(())
}

fn in_group(spec: &Spec, draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    if draft.value("proxy_groupid", before).as_int() == 0 {
        for name in OF_GROUP {
            if let Some(column) = spec.table.column(name) {
                only(draft, column.name, &column.default_value())?;
            }
        }
        return Ok(());
    }
    if draft.text("local_address", before).is_empty() {
        return Err(match draft.gives("local_address") || before.is_some() {
            true => ApiError::at(&format!("{}/local_address", draft.path), "cannot be empty"),
            false => missing(&draft.path, "local_address"),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn rules_name_fields_of_the_object() {
        crate::plain::check_rules(&super::super::SPEC, super::OWN);
    }
}
