//! Pools.

use std::collections::HashSet;
use std::net::IpAddr;

use serde_json::{Value as Json, json};

use crate::plan::{Name, Plan, Targets, members_of, number};
use crate::reader::Reader;
use crate::{Kind, Members, Refused, Result, profiles};

const ALGORITHMS: &[(&str, &str)] = &[
    ("LB_ALGORITHM_LEAST_CONNECTIONS", "least_connections"),
    ("LB_ALGORITHM_ROUND_ROBIN", "round_robin"),
    ("LB_ALGORITHM_LEAST_LOAD", "least_load"),
    ("LB_ALGORITHM_FASTEST_RESPONSE", "least_load"),
    ("LB_ALGORITHM_RANDOM", "random"),
    ("LB_ALGORITHM_CONSISTENT_HASH", "source_hash"),
];

const HASHES: &[(&str, &str)] = &[
    ("LB_ALGORITHM_CONSISTENT_HASH_SOURCE_IP_ADDRESS", "source_hash"),
    ("LB_ALGORITHM_CONSISTENT_HASH_URI", "uri_hash"),
    ("LB_ALGORITHM_CONSISTENT_HASH_CUSTOM_HEADER", "header_hash"),
];

const DISABLED: &[(&str, &str)] = &[
    ("DISALLOW_NEW_CONNECTION", "down"),
    ("ALLOW_NEW_CONNECTION_IF_PERSISTENCE_PRESENT", "drain"),
];

/// Minutes in which a server that comes back gets its whole share.
const RAMP_M: u64 = 10;

/// Health monitors of a pool.
const MONITORS_MAX: usize = 16;

pub(crate) fn translate(reader: &Reader<'_>, targets: &Targets) -> Result<Plan> {
    let mut out = Members::new();
    out.insert("name".to_owned(), reader.required("name")?.into());
    out.insert("description".to_owned(), reader.text("description")?.unwrap_or_default().into());
    algorithm(reader, &mut out)?;
    let servers = servers(reader)?;
    let monitors = reader.texts("health_monitor_refs")?;
    if monitors.len() > MONITORS_MAX {
        let text = format!("a pool has at most {MONITORS_MAX} health monitors");
        return Err(reader.refuse("health_monitor_refs", text));
    }
    let ids = monitors.iter().filter_map(|one| targets.by_reference.get(*one)?.id);
    let mut ids = ids.map(|id| id.to_string());
    let first = ids.next().unwrap_or_else(|| "0".to_owned());
    let further: Vec<Json> = ids.map(|id| json!({ "healthmonitorid": id })).collect();
    out.insert("healthmonitorid".to_owned(), first.into());
    out.insert("further_monitors".to_owned(), further.into());
    let ramp = reader.number("connection_ramp_duration")?.unwrap_or(RAMP_M);
    let ramp = if ramp == 0 { String::new() } else { format!("{ramp}m") };
    out.insert("slow_start".to_owned(), ramp.into());
    let eject = if reader.flag("inline_health_monitor", true)? {
        json!({})
    } else {
        json!({"failures": 0})
    };
    out.insert("eject".to_owned(), eject);
    let persistence = match targets.of(reader, "application_persistence_profile_ref")? {
        Some(profile) => profiles::persistence(&profile.document)?,
        None => json!({}),
    };
    out.insert("persistence".to_owned(), persistence);
    out.insert("tls".to_owned(), tls(reader, targets)?);
    if servers.is_empty() {
        return Ok(Plan::Incomplete("the pool has no servers"));
    }
    out.insert("servers".to_owned(), servers.into());
    Ok(Plan::Objects(vec![out]))
}

fn algorithm(reader: &Reader<'_>, out: &mut Members) -> Result<()> {
    let mut word = reader.word("lb_algorithm", ALGORITHMS)?.unwrap_or("least_connections");
    let mut header = "";
    if word == "source_hash" {
        word = reader.word("lb_algorithm_hash", HASHES)?.unwrap_or(word);
        if word == "header_hash" {
            header = reader.required("lb_algorithm_consistent_hash_hdr")?;
        }
    }
    out.insert("algorithm".to_owned(), word.into());
    out.insert("hash_key".to_owned(), header.into());
    Ok(())
}

fn servers(reader: &Reader<'_>) -> Result<Vec<Json>> {
    let disabled = reader.word("server_disable_type", DISABLED)?.unwrap_or("down");
    let all_enabled = reader.flag("enabled", true)?;
    let port = reader.number("default_server_port")?.unwrap_or(80);
    let limit = reader.number("max_concurrent_connections_per_server")?.unwrap_or(0);
    let mut servers: Vec<Json> = Vec::new();
    let mut names = HashSet::new();
    for server in reader.list("servers")? {
        let ip =
            server.object("ip")?.ok_or_else(|| server.refuse("ip", "an address is required"))?;
        let address = address(&ip)?;
        let port = server.number("port")?.filter(|port| *port > 0).unwrap_or(port);
        let at = match address {
            IpAddr::V4(address) => format!("{address}:{port}"),
            IpAddr::V6(address) => format!("[{address}]:{port}"),
        };
        // A host name that is only the address says nothing more.
        let host = server.text("hostname")?.filter(|host| *host != address.to_string());
        let name = match host {
            Some(host) if !names.contains(host) => host.to_owned(),
            Some(host) => format!("{host} {at}"),
            None => at,
        };
        names.insert(name.clone());
        let enabled = all_enabled && server.flag("enabled", true)?;
        servers.push(json!({
            "name": name,
            "address": address.to_string(),
            "port": port,
            "weight": server.number("ratio")?.unwrap_or(1),
            "max_connections": limit,
            "state": if enabled { "up" } else { disabled },
        }));
    }
    Ok(servers)
}

/// `{"addr": "10.0.0.1", "type": "V4"}`
pub(crate) fn address(reader: &Reader<'_>) -> Result<IpAddr> {
    let (path, text) = (reader.path("addr"), reader.required("addr")?);
    let address: IpAddr = text.parse().map_err(|_| {
        Refused::at(
            &path,
            format_args!("\"{text}\" is not an address; Vedette does not resolve names"),
        )
    })?;
    let family = if address.is_ipv4() { "V4" } else { "V6" };
    match reader.text("type")? {
        Some(given) if given != family => {
            Err(reader.refuse("type", format_args!("\"{text}\" has the type \"{family}\"")))
        }
        _ => Ok(address),
    }
}

pub(crate) fn shown_address(text: &str) -> Json {
    json!({ "addr": text, "type": if text.contains(':') { "V6" } else { "V4" } })
}

fn tls(reader: &Reader<'_>, targets: &Targets) -> Result<Json> {
    let authorities = targets.of(reader, "pki_profile_ref")?;
    match (reader.text("ssl_profile_ref")?, authorities) {
        (None, None) => Ok(json!({})),
        (_, Some(authorities)) => {
            let name = reader.text("server_name")?.ok_or_else(|| {
                reader.refuse("server_name", "Vedette verifies this name of the servers; set it")
            })?;
            Ok(json!({ "ca": profiles::authorities(&authorities.document)?, "sni": name }))
        }
        (Some(_), None) => Err(reader.refuse(
            "ssl_profile_ref",
            "Vedette always verifies servers; set \"pki_profile_ref\" and \"server_name\" too",
        )),
    }
}

pub(crate) fn show(object: &Json, name: &mut Name<'_>) -> Members {
    let servers = object["servers"].as_array().into_iter().flatten();
    let limit = servers.clone().map(|server| number(&server["max_connections"])).max();
    let servers: Vec<Json> = servers
        .map(|server| {
            let mut shown = json!({
                "ip": shown_address(server["address"].as_str().unwrap_or_default()),
                "port": number(&server["port"]),
                "ratio": number(&server["weight"]),
                "enabled": server["state"] == "up",
            });
            let named = server["name"].as_str().unwrap_or_default();
            if !named.ends_with(&format!(":{}", number(&server["port"]))) {
                shown["hostname"] = named.into();
            }
            shown
        })
        .collect();
    let algorithm = object["algorithm"].as_str().unwrap_or_default();
    let known = |list: &[(&'static str, &str)]| {
        list.iter().find(|(_, own)| *own == algorithm).map(|(word, _)| *word)
    };
    let hash = known(HASHES);
    let ramp = object["slow_start"].as_str().unwrap_or_default();
    let further = object["further_monitors"].as_array().into_iter().flatten();
    let monitors: Vec<Json> = [object]
        .into_iter()
        .chain(further)
        .map(|one| number(&one["healthmonitorid"]))
        .filter(|id| *id != 0)
        .map(|id| name(Kind::HealthMonitor, id).into())
        .collect();
    let mut shown = members_of(json!({
        "name": object["name"],
        "description": object["description"],
        "lb_algorithm": if hash.is_some() { Some("LB_ALGORITHM_CONSISTENT_HASH") } else { known(ALGORITHMS) },
        "lb_algorithm_hash": hash,
        "lb_algorithm_consistent_hash_hdr": object["hash_key"],
        "connection_ramp_duration": ramp_minutes(ramp),
        "inline_health_monitor": number(&object["eject"]["failures"]) > 0
            || object["eject"]["failures"].is_null(),
        "max_concurrent_connections_per_server": limit.unwrap_or(0),
    }));
    if !monitors.is_empty() {
        shown.insert("health_monitor_refs".to_owned(), monitors.into());
    }
    shown.insert("servers".to_owned(), servers.into());
    shown
}

/// Whole minutes of a time such as `90s`, rounded up.
fn ramp_minutes(text: &str) -> u64 {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits.parse().unwrap_or(0);
    match unit {
        "d" => number * 1_440,
        "h" => number * 60,
        "m" => number,
        "s" => number.div_ceil(60),
        _ => number.div_ceil(60_000),
    }
}
