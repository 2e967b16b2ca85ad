//! Own interfaces of host prototypes: rules, with errors that name the place.

use std::net::IpAddr;

use config::objects::Columns;
use eval::macros::{TokenKind, token_at};
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::owned::interfaces::details;
use crate::params;
use crate::write::{nested, only};

const SNMP: i64 = 2;

/// Members of SNMP details by version: 3 alone, or 1 and 2.
const OF_VERSION_3: &[&str] = &[
    "contextname",
    "securityname",
    "securitylevel",
    "authprotocol",
    "authpassphrase",
    "privprotocol",
    "privpassphrase",
];

/// Reads the list; each type needs exactly one default interface.
pub(super) fn parse(value: &Json, path: &str) -> ApiResult<Vec<Columns>> {
    let mut all: Vec<Columns> = Vec::new();
    let mut mains = [(0, 0); 5];
    for (path, members) in nested(value, path)? {
        let (kind, main, columns) = one(members, &path)?;
        let seen = &mut mains[usize::try_from(kind).unwrap_or(0)];
        *seen = (seen.0 + 1, seen.1 + main);
        all.push(columns);
    }
    for (kind, (count, mains)) in mains.into_iter().enumerate() {
        if mains > 1 {
            let text = "cannot have more than one default interface of the same type";
            return Err(ApiError::at(path, text));
        }
        if count > 0 && mains == 0 {
            let name = ["unknown", "agent", "SNMP", "IPMI", "JMX"][kind];
            return Err(ApiError::at(
                path,
                format_args!("no default interface for \"{name}\" type"),
            ));
        }
    }
    Ok(all)
}

fn number(members: &Map<String, Json>, path: &str, name: &str, allowed: &[i64]) -> ApiResult<i64> {
    let value = members.get(name).ok_or_else(|| missing(path, name))?;
    let path = format!("{path}/{name}");
    let n = params::int(value, &path)?;
    if allowed.contains(&n) {
        return Ok(n);
    }
    let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    Err(ApiError::at(&path, format_args!("value must be one of {}", list.join(", "))))
}

fn one(members: &Map<String, Json>, path: &str) -> ApiResult<(i64, i64, Columns)> {
    only(members, path, &["type", "useip", "ip", "dns", "port", "main", "details"])?;
    let kind = number(members, path, "type", &[1, 2, 3, 4])?;
    let useip = number(members, path, "useip", &[0, 1])?;
    let text = |name: &str, required: bool| match members.get(name) {
        Some(value) => params::text(value, &format!("{path}/{name}")),
        None if required => Err(missing(path, name)),
        None => Ok(String::new()),
    };
    let at = |name: &str| format!("{path}/{name}");
    let (ip, dns) = (text("ip", useip == 1)?, text("dns", useip == 0)?);
    for (name, value, needed) in [("ip", &ip, useip == 1), ("dns", &dns, useip == 0)] {
        if needed && value.is_empty() {
            return Err(ApiError::at(&at(name), "cannot be empty"));
        }
        if value.chars().count() > if name == "ip" { 64 } else { 255 } {
            return Err(ApiError::at(&at(name), "value is too long"));
        }
    }
    if !ip.is_empty() && without_macros(&ip) == Some(ip.clone()) && ip.parse::<IpAddr>().is_err() {
        return Err(ApiError::at(&at("ip"), "an IP address is expected"));
    }
    let plain = without_macros(&dns).unwrap_or_default();
    if !plain.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)) {
        return Err(ApiError::at(&at("dns"), "a DNS name is expected"));
    }
    let port = text("port", true)?;
    check_port(&port, &at("port"))?;
    let main = number(members, path, "main", &[0, 1])?;
    let columns = vec![
        ("main", main.into()),
        ("type", kind.into()),
        ("useip", useip.into()),
        ("ip", ip.into()),
        ("dns", dns.into()),
        ("port", port.into()),
        ("details", snmp(members, kind, path)?.into()),
    ];
    Ok((kind, main, columns))
}

fn check_port(port: &str, path: &str) -> ApiResult<()> {
    if port.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    // A macro stands for the whole port.
    if without_macros(port).is_some_and(|rest| rest.is_empty()) {
        return Ok(());
    }
    match port.parse::<i64>() {
        Ok(0..=65_535) => Ok(()),
        Ok(_) => Err(ApiError::at(path, "value must be one of 0-65535")),
        Err(_) => Err(ApiError::at(path, "an integer is expected")),
    }
}

/// The text less its macros of users, of discovery, and built-in ones; `None` = empty before.
fn without_macros(text: &str) -> Option<String> {
    let (mut out, mut at) = (String::new(), 0);
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let token = token_at(text, at).filter(|token| match &token.kind {
            TokenKind::Builtin { name, .. } => name.starts_with("HOST."),
            _ => token.is_user_macro() || token.is_lld_macro(),
        });
        match token {
            Some(token) => at = token.span.end,
            None => {
                out.push(c);
                at += c.len_utf8();
            }
        }
    }
    (!text.is_empty()).then_some(out)
}

fn snmp(members: &Map<String, Json>, kind: i64, path: &str) -> ApiResult<String> {
    let given = members.get("details");
    let details_path = format!("{path}/details");
    let empty = match given {
        None => true,
        Some(Json::Array(list)) => list.is_empty(),
        Some(Json::Object(list)) => list.is_empty(),
        Some(_) => return Err(ApiError::at(&details_path, "an array is expected")),
    };
    if kind != SNMP {
        return match empty {
            true => Ok(String::new()),
            false => Err(ApiError::at(&details_path, "should be empty")),
        };
    }
    let Some(Json::Object(given)) = given.filter(|_| !empty) else {
        return Err(missing(path, "details"));
    };
    let mut known = vec!["version", "bulk", "community", "max_repetitions"];
    known.extend(OF_VERSION_3);
    only(given, &details_path, &known)?;
    let version = number(given, &details_path, "version", &[1, 2, 3])?;
    if version < 3 && !given.contains_key("community") {
        return Err(missing(&details_path, "community"));
    }
    let foreign = if version == 3 { &["community"] } else { OF_VERSION_3 };
    for name in foreign {
        let value = given.get(*name).map(|value| params::text(value, "")).transpose()?;
        if value.is_some_and(|value| !value.is_empty() && value != "0") {
            return Err(ApiError::at(&format!("{details_path}/{name}"), "value must be empty"));
        }
    }
    details(Some(&Json::Object(given.clone())), None, path)
}
