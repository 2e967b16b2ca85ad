//! Interfaces of hosts: rules and writing, for `hostinterface.*` and the `interfaces` of hosts.

use config::table;
use objects::InterfaceType;
use std::net::IpAddr;

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use serde_json::{Map, json};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::owned::macros::check_name;
use crate::params;
use crate::write::nested;

/// Type of SNMP interfaces, the only ones with details.
const SNMP: i64 = 2;

/// Members that may be written.
const WRITABLE: &[&str] =
    &["interfaceid", "hostid", "type", "main", "useip", "ip", "dns", "port", "details"];
/// Members that are shown and, sent back, ignored.
const SHOWN: &[&str] = &["available", "error", "errors_from", "disable_until", "interface_ref"];

/// Name of an interface type.
fn type_name(kind: i64) -> &'static str {
    InterfaceType::from_number(kind).map_or("unknown", |kind| kind.lower_label())
}

/// An interface as it is to be written.
#[derive(Debug, Clone)]
pub(crate) struct Interface {
    main: i64,
    kind: i64,
    useip: i64,
    ip: String,
    dns: String,
    port: String,
    details: String,
}

impl Interface {
    /// Checks the members of an interface; `now` is its row when it exists, which gives what is
    /// not given. `host` is the host's name for error texts.
    pub(crate) fn parse(
        members: &Map<String, Json>,
        now: Option<&Row>,
        path: &str,
        host: &str,
    ) -> ApiResult<Self> {
        let known = |name: &str| WRITABLE.contains(&name) || SHOWN.contains(&name);
        if let Some(name) = members.keys().find(|name| !known(name)) {
            return Err(ApiError::at(path, format_args!("unexpected parameter \"{name}\"")));
        }
        let at = |name: &str| format!("{path}/{name}");
        let number = |name: &str| match (members.get(name), now) {
            (Some(value), _) => params::int(value, &at(name)),
            (None, Some(row)) => Ok(row.int(name)),
            (None, None) => Err(missing(path, name)),
        };
        let text = |name: &str| match (members.get(name), now) {
            (Some(value), _) => params::text(value, &at(name)),
            (None, Some(row)) => Ok(row.text(name).to_owned()),
            (None, None) => Err(missing(path, name)),
        };
        let mut interface = Self {
            kind: number("type")?,
            main: i64::from(number("main")? == 1),
            useip: number("useip")?,
            ip: text("ip")?,
            dns: text("dns")?,
            port: text("port")?,
            details: String::new(),
        };
        interface.check(path, host)?;
        if interface.kind == SNMP {
            interface.details = details(members.get("details"), now, path)?;
        }
        Ok(interface)
    }

    fn check(&self, path: &str, host: &str) -> ApiResult<()> {
        if !(1..=4).contains(&self.kind) {
            return Err(ApiError::at(&format!("{path}/type"), "value must be one of 1, 2, 3, 4"));
        }
        if !(0..=1).contains(&self.useip) {
            return Err(ApiError::at(&format!("{path}/useip"), "value must be one of 0, 1"));
        }
        let (ip, dns) = (&self.ip, &self.dns);
        if ip.is_empty() && dns.is_empty() {
            return Err(ApiError::params("IP and DNS cannot be empty for host interface."));
        }
        if self.useip == 0 && dns.is_empty() {
            return Err(ApiError::params(format!(
                "Interface with IP \"{ip}\" cannot have empty DNS name while having \"Use DNS\" \
                 property on \"{host}\"."
            )));
        }
        if self.useip == 1 && ip.is_empty() {
            return Err(ApiError::params(format!(
                "Interface with DNS \"{dns}\" cannot have empty IP address while having \"Use IP\" \
                 property on \"{host}\"."
            )));
        }
        if !ip.is_empty() && !has_macro(ip) && ip.parse::<IpAddr>().is_err() {
            return Err(ApiError::params(format!("Invalid IP address \"{ip}\".")));
        }
        if !is_dns(dns) || dns.chars().count() > 255 {
            return Err(ApiError::params(format!(
                "Incorrect interface DNS parameter \"{dns}\" provided."
            )));
        }
        if self.port.is_empty() {
            return Err(ApiError::params("Port cannot be empty for host interface."));
        }
        if !has_macro(&self.port) && self.port.parse::<u16>().is_err() {
            let port = &self.port;
            return Err(ApiError::params(format!("Incorrect interface port \"{port}\" provided.")));
        }
        Ok(())
    }

    fn columns(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("main", self.main.into()),
            ("type", self.kind.into()),
            ("useip", self.useip.into()),
            ("ip", self.ip.as_str().into()),
            ("dns", self.dns.as_str().into()),
            ("port", self.port.as_str().into()),
            ("details", self.details.as_str().into()),
        ]
    }
}

/// A user macro or a built-in one, alone or inside a text.
fn has_macro(text: &str) -> bool {
    let inner =
        || text.find('{').and_then(|from| text[from..].rfind('}').map(|to| (from, from + to)));
    match inner() {
        Some((from, to)) => {
            let name = &text[from..=to];
            check_name(name, "").is_ok()
                || ["{HOST.", "{#"].iter().any(|start| name.starts_with(start))
                || name.matches("{$").count() > 1
        }
        None => false,
    }
}

fn is_dns(dns: &str) -> bool {
    has_macro(dns) || dns.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// SNMP details as JSON text, all values as texts.
pub(crate) fn details(given: Option<&Json>, now: Option<&Row>, path: &str) -> ApiResult<String> {
    let path = format!("{path}/details");
    let stored: Map<String, Json> =
        now.and_then(|row| serde_json::from_str(row.text("details")).ok()).unwrap_or_default();
    let given = match given {
        Some(Json::Object(members)) => members.clone(),
        Some(Json::Array(values)) if values.is_empty() => Map::new(),
        Some(_) => return Err(ApiError::at(&path, "an array is expected")),
        None => Map::new(),
    };
    if given.is_empty() && stored.is_empty() {
        return Err(missing(path.trim_end_matches("/details"), "details"));
    }
    let text = |name: &str, default: &str| match given.get(name).or_else(|| stored.get(name)) {
        Some(value) => params::text(value, &format!("{path}/{name}")),
        None => Ok(default.to_owned()),
    };
    let version = text("version", "")?;
    if !["1", "2", "3"].contains(&version.as_str()) {
        return Err(ApiError::at(&format!("{path}/version"), "value must be one of 1, 2, 3"));
    }
    let bulk = text("bulk", "1")?;
    if bulk != "0" && bulk != "1" {
        return Err(ApiError::params("Incorrect bulk value for interface."));
    }
    let mut out = Map::new();
    out.insert("version".into(), version.as_str().into());
    out.insert("bulk".into(), bulk.into());
    if version == "3" {
        for (name, default, max) in [
            ("securityname", "", None),
            ("securitylevel", "0", Some(2)),
            ("authpassphrase", "", None),
            ("privpassphrase", "", None),
            ("authprotocol", "0", Some(5)),
            ("privprotocol", "0", Some(5)),
            ("contextname", "", None),
        ] {
            let value = text(name, default)?;
            if max.is_some_and(|max| !value.parse::<u8>().is_ok_and(|n| n <= max)) {
                let max = max.unwrap_or_default();
                let text = format!("value must be one of 0-{max}");
                return Err(ApiError::at(&format!("{path}/{name}"), text));
            }
            out.insert(name.into(), value.into());
        }
    } else {
        let community = text("community", "")?;
        if community.is_empty() {
            return Err(ApiError::at(&format!("{path}/community"), "cannot be empty"));
        }
        out.insert("community".into(), community.into());
    }
    if version != "1" {
        let repetitions = text("max_repetitions", "10")?;
        if !repetitions.parse::<i32>().is_ok_and(|n| n > 0) {
            let path = format!("{path}/max_repetitions");
            return Err(ApiError::at(&path, "value must be one of 1-2147483647"));
        }
        out.insert("max_repetitions".into(), repetitions.into());
    }
    Ok(json!(out).to_string())
}

/// Each type that a host has needs exactly one default interface.
pub(crate) fn check_defaults(edit: &mut Edit<'_>, hostid: u64) -> ApiResult<()> {
    let rows = edit.query(
        "SELECT i.type, CAST(SUM(i.main) AS BIGINT) AS mains, MAX(h.name) AS name FROM interfaces i \
         JOIN hosts h ON h.hostid = i.hostid WHERE i.hostid = ? GROUP BY i.type ORDER BY i.type",
        &[hostid.into()],
    )?;
    for row in rows {
        match row.int("mains") {
            1 => {}
            0 => {
                return Err(ApiError::params(format!(
                    "No default interface for \"{}\" type on \"{}\".",
                    type_name(row.int("type")),
                    row.text("name"),
                )));
            }
            _ => {
                return Err(ApiError::params(
                    "Host cannot have more than one default interface of the same type.",
                ));
            }
        }
    }
    Ok(())
}

/// Inserts an interface; the caller checks the defaults when all are written.
pub(crate) fn insert(edit: &mut Edit<'_>, hostid: u64, interface: &Interface) -> ApiResult<u64> {
    let mut row = vec![("hostid", Value::from(hostid))];
    row.extend(interface.columns());
    Ok(edit.insert_new(&table::INTERFACES, &row)?)
}

/// Changes an interface; the caller checks the defaults when all are written.
pub(crate) fn update(edit: &mut Edit<'_>, id: u64, interface: &Interface) -> ApiResult<()> {
    Ok(edit.update(&table::INTERFACES, id, &interface.columns())?)
}

/// Deletes interfaces that no item uses.
pub(crate) fn delete(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let users = query_by_ids(
        edit,
        "SELECT i.name, h.name AS host FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE i.interfaceid IN ({ids}) ORDER BY i.itemid",
        &[],
        ids,
    )?;
    if let Some(row) = users.first() {
        return Err(ApiError::params(format!(
            "Interface is linked to item \"{}\" on \"{}\".",
            row.text("name"),
            row.text("host"),
        )));
    }
    Ok(edit.delete(&table::INTERFACES, "interfaceid", ids)?)
}

/// Makes the given ones the interfaces of a host: those with a known id change, others are new,
/// what is not named goes.
pub(crate) fn replace(
    edit: &mut Edit<'_>,
    hostid: u64,
    host: &str,
    value: &Json,
    path: &str,
) -> ApiResult<Vec<u64>> {
    let now = edit.query("SELECT * FROM interfaces WHERE hostid = ?", &[hostid.into()])?;
    let mut kept = Vec::new();
    let mut added = Vec::new();
    for (path, members) in nested(value, path)? {
        let id = members.get("interfaceid").map(|v| params::id(v, &format!("{path}/interfaceid")));
        match id.transpose()? {
            Some(id) => {
                let row = now.iter().find(|row| row.id("interfaceid") == id);
                let row = row.ok_or_else(ApiError::no_object)?;
                let interface = Interface::parse(members, Some(row), &path, host)?;
                update(edit, id, &interface)?;
                kept.push(id);
            }
            None => added.push(Interface::parse(members, None, &path, host)?),
        }
    }
    let gone: Vec<u64> =
        now.iter().map(|row| row.id("interfaceid")).filter(|id| !kept.contains(id)).collect();
    delete(edit, &gone)?;
    for interface in &added {
        kept.push(insert(edit, hostid, interface)?);
    }
    check_defaults(edit, hostid)?;
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(members: Json) -> Result<Interface, String> {
        Interface::parse(members.as_object().unwrap(), None, "/1", "h").map_err(|e| e.data)
    }

    #[test]
    fn what_is_refused() {
        let base =
            json!({ "type": 1, "main": 1, "useip": 1, "ip": "1.1.1.1", "dns": "", "port": "1" });
        for (change, error) in [
            (json!({}), ""),
            (json!({ "port": "{$P}" }), ""),
            (json!({ "ip": "{HOST.IP}" }), ""),
            (json!({ "ip": "{$IP}" }), ""),
            (json!({ "ip": "::1" }), ""),
            (json!({ "useip": 0, "dns": "a-b.c_d" }), ""),
            (json!({ "ip": "" }), "IP and DNS cannot be empty"),
            (json!({ "ip": "", "dns": "x" }), "empty IP address"),
            (json!({ "ip": "1.1.1" }), "Invalid IP address"),
            (json!({ "useip": 0 }), "empty DNS name"),
            (json!({ "useip": 0, "dns": "a b" }), "Incorrect interface DNS"),
            (json!({ "useip": 3 }), "one of 0, 1"),
            (json!({ "port": "" }), "Port cannot be empty"),
            (json!({ "port": "99999" }), "Incorrect interface port"),
            (json!({ "type": 9 }), "one of 1, 2, 3, 4"),
            (json!({ "type": 2 }), "\"details\" is missing"),
            (json!({ "type": 2, "details": { "version": 4 } }), "one of 1, 2, 3"),
            (json!({ "type": 2, "details": { "version": 2 } }), "cannot be empty"),
            (
                json!({ "type": 2, "details": { "version": 2, "community": "c", "bulk": 3 } }),
                "bulk",
            ),
            (json!({ "nosuch": 1 }), "unexpected parameter \"nosuch\""),
        ] {
            let mut members = base.clone();
            for (name, value) in change.as_object().unwrap() {
                members[name] = value.clone();
            }
            match check(members) {
                Ok(_) => assert_eq!(error, "", "{change}"),
                Err(text) => assert!(!error.is_empty() && text.contains(error), "{change}: {text}"),
            }
        }
    }

    #[test]
    fn snmp_details_are_texts_with_defaults() {
        for (given, stored) in [
            (
                json!({ "version": 2, "community": "c" }),
                json!({ "version": "2", "bulk": "1", "community": "c", "max_repetitions": "10" }),
            ),
            (
                json!({ "version": 1, "community": "c", "max_repetitions": 3 }),
                json!({ "version": "1", "bulk": "1", "community": "c" }),
            ),
            (
                json!({ "version": "3", "bulk": 0, "securityname": "s", "authprotocol": 3 }),
                json!({
                    "version": "3", "bulk": "0", "securityname": "s", "securitylevel": "0",
                    "authpassphrase": "", "privpassphrase": "", "authprotocol": "3",
                    "privprotocol": "0", "contextname": "", "max_repetitions": "10",
                }),
            ),
        ] {
            let interface = check(json!({
                "type": 2, "main": 1, "useip": 1, "ip": "::1", "dns": "", "port": "161", "details": given,
            }));
            let details: Json = serde_json::from_str(&interface.unwrap().details).unwrap();
            assert_eq!(details, stored);
        }
    }
}
