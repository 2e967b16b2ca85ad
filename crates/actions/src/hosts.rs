//! The host that an event is about: found, or made with its name, interfaces and group.

use config::table;
use std::collections::BTreeMap;

use config::Edit;
use config::db::{DbResult, Row, Value};
use config::objects::new_uuid;
use const_format::formatcp;
use model::{EventOrigin, NewEvent};
use objects::sql::{GROUP_OF_HOSTS, KIND_HOST, KIND_TEMPLATE};
use objects::{DiscoveryCheckType, HostKind, InterfaceType, InventoryMode};
use serde_json::json;

/// Group of hosts that actions make, by the field's name.
const GROUP: &str = "Discovered hosts";
/// Characters of a host's name.
const NAME_MAX: usize = 128;
/// Port of an agent, where the service that was found is no agent.
const AGENT_PORT: i64 = 10_050;
/// Bits of encryption by a pre-shared key.
const PSK: i64 = 2;

/// The existing host.
pub(crate) fn find(edit: &mut Edit<'_>, event: &NewEvent) -> DbResult<Option<u64>> {
    let rows = if let EventOrigin::AutoregisteredHost(id) = event.origin {
        edit.query(
            formatcp!(
                "SELECT h.hostid FROM hosts h JOIN autoreg_hosts a ON a.host = h.host \
             WHERE h.kind = {KIND_HOST} AND a.autoreg_hostid = ?"
            ),
            &[id.into()],
        )?
    } else {
        let Some(found) = found_host(edit, event)? else { return Ok(None) };
        by_address(edit, found)?
    };
    Ok(rows.first().map(|row| row.id("hostid")))
}

/// The existing host with the discovered interfaces, or a new host. `None` = the discovered object
/// was deleted meanwhile.
pub(crate) fn add(edit: &mut Edit<'_>, event: &NewEvent) -> DbResult<Option<u64>> {
    if let EventOrigin::AutoregisteredHost(id) = event.origin {
        return add_agent(edit, id);
    }
    let Some(found) = found_host(edit, event)? else { return Ok(None) };
    let services = edit.query(
        "SELECT s.ip, s.dns, s.port, s.value, s.dcheckid, c.type, c.druleid, c.snmp_community, \
         c.snmpv3_securityname, c.snmpv3_securitylevel, c.snmpv3_authpassphrase, \
         c.snmpv3_privpassphrase, c.snmpv3_authprotocol, c.snmpv3_privprotocol, \
         c.snmpv3_contextname FROM dservices s JOIN dchecks c ON c.dcheckid = s.dcheckid \
         WHERE s.dhostid = ? ORDER BY s.dserviceid",
        &[found.into()],
    )?;
    let Some(first) = services.first() else { return Ok(None) };
    let host = match by_address(edit, found)?.first() {
        Some(row) => row.id("hostid"),
        None => {
            let (name, visible) = names(edit, first, found)?;
            make(edit, &name, &visible, Vec::new())?
        }
    };
    // Of each kind the last one counts.
    let mut interfaces = BTreeMap::new();
    for service in &services {
        let (kind, port) = match DiscoveryCheckType::from_number(service.int("type")) {
            Some(DiscoveryCheckType::Agent) => (InterfaceType::Agent, service.int("port")),
            Some(check) if check.is_snmp() => (InterfaceType::Snmp, service.int("port")),
            _ => (InterfaceType::Agent, AGENT_PORT),
        };
        let interface = Interface {
            kind,
            use_ip: true,
            ip: service.text("ip"),
            dns: service.text("dns"),
            port,
            details: if kind == InterfaceType::Snmp {
                snmp_details(service)
            } else {
                String::new()
            },
        };
        interfaces.insert(kind, interface);
    }
    for interface in interfaces.values() {
        keep_interface(edit, host, interface)?;
    }
    Ok(Some(host))
}

/// The found host that an event of a host or a service is about.
fn found_host(edit: &mut Edit<'_>, event: &NewEvent) -> DbResult<Option<u64>> {
    if let EventOrigin::DiscoveredHost(id) = event.origin {
        return Ok(Some(id));
    }
    let sql = "SELECT dhostid FROM dservices WHERE dserviceid = ?";
    Ok(edit.query(sql, &[event.origin.object_id().into()])?.first().map(|row| row.id("dhostid")))
}

/// Hosts with an interface at an address of the found host.
fn by_address(edit: &mut Edit<'_>, found: u64) -> DbResult<Vec<Row>> {
    edit.query(
        formatcp!("SELECT DISTINCT h.hostid FROM hosts h JOIN interfaces i ON i.hostid = h.hostid \
         JOIN dservices s ON s.ip = i.ip WHERE h.kind = {KIND_HOST} AND s.dhostid = ? ORDER BY h.hostid"),
        &[found.into()],
    )
}

fn add_agent(edit: &mut Edit<'_>, id: u64) -> DbResult<Option<u64>> {
    let rows = edit.query("SELECT * FROM autoreg_hosts WHERE autoreg_hostid = ?", &[id.into()])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let name = row.text("host");
    let sql = formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_HOST} AND host = ?");
    let known = edit.query(sql, &[name.into()])?.first().map(|row| row.id("hostid"));
    let host = match known {
        Some(host) => host,
        // A template may have the name: then there is no room for the host.
        None if taken(edit, "host", name)? => {
            tracing::warn!(
                "not creating a host for the agent \"{name}\": a template has this name"
            );
            return Ok(None);
        }
        None => {
            let encryption = if row.int("tls_accepted") == PSK { psk(edit)? } else { Vec::new() };
            make(edit, name, name, encryption)?
        }
    };
    let named = row.int("flags");
    let interface = Interface {
        kind: InterfaceType::Agent,
        use_ip: named != 2,
        ip: row.text("listen_ip"),
        dns: row.text("listen_dns"),
        port: row.int("listen_port"),
        details: String::new(),
    };
    keep_interface(edit, host, &interface)?;
    Ok(Some(host))
}

/// The key of agents that announce themselves, which the host's agent has then too.
fn psk(edit: &mut Edit<'_>) -> DbResult<Vec<(&'static str, Value)>> {
    let mut columns = vec![("tls_connect", PSK.into()), ("tls_accept", PSK.into())];
    for (column, name) in
        [("tls_psk_identity", "autoreg_tls_psk_identity"), ("tls_psk", "autoreg_tls_psk")]
    {
        columns.push((column, setting(edit, name)?.unwrap_or_default().into()));
    }
    Ok(columns)
}

fn setting(edit: &mut Edit<'_>, name: &str) -> DbResult<Option<String>> {
    let rows = edit.query("SELECT value FROM settings WHERE name = ?", &[name.into()])?;
    Ok(rows.first().map(|row| row.text("value").to_owned()))
}

/// A host in the group of found hosts.
fn make(
    edit: &mut Edit<'_>,
    name: &str,
    visible: &str,
    more: Vec<(&'static str, Value)>,
) -> DbResult<u64> {
    let mode = setting(edit, "default_inventory_mode")?;
    let mode: Option<i64> = mode.and_then(|text| text.parse().ok());
    let mode = mode.unwrap_or(InventoryMode::Disabled.number());
    let mut row = vec![
        ("kind", HostKind::Host.number().into()),
        ("host", name.into()),
        ("name", visible.into()),
        ("inventory_mode", mode.into()),
    ];
    row.extend(more);
    let host = edit.insert_new(&table::HOSTS, &row)?;
    let group = group(edit)?;
    edit.insert(&table::HOST_GROUPS, &[("hostid", host.into()), ("groupid", group.into())])?;
    tracing::info!("an action created the host \"{name}\"");
    Ok(host)
}

/// The group that the settings name, else the one with the field's name.
fn group(edit: &mut Edit<'_>) -> DbResult<u64> {
    let chosen: u64 =
        setting(edit, "discovery_groupid")?.and_then(|text| text.parse().ok()).unwrap_or(0);
    let rows = edit.query(
        formatcp!("SELECT groupid FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND (groupid = ? OR name = ?) \
         ORDER BY CASE WHEN groupid = ? THEN 0 ELSE 1 END"),
        &[chosen.into(), GROUP.into(), chosen.into()],
    )?;
    if let Some(row) = rows.first() {
        return Ok(row.id("groupid"));
    }
    edit.insert_new(&table::GROUPS, &[("name", GROUP.into()), ("uuid", new_uuid()?.into())])
}

/// Technical and visible name of a host that is made, as the rule's checks say.
fn names(edit: &mut Edit<'_>, first: &Row, found: u64) -> DbResult<(String, String)> {
    let (ip, dns) = (first.text("ip"), first.text("dns"));
    let by_name = if dns.is_empty() { ip } else { dns };
    let mut told = |column: &str| -> DbResult<(i64, String)> {
        let rows = edit.query(
            &format!(
                "SELECT c.{column} AS source, \
                 COALESCE((SELECT MIN(s.value) FROM dservices s \
                 WHERE s.dcheckid = c.dcheckid AND s.dhostid = ?), '') AS value \
                 FROM dchecks c WHERE c.druleid = ? ORDER BY c.{column} DESC, c.dcheckid"
            ),
            &[found.into(), first.id("druleid").into()],
        )?;
        let row = rows.first();
        Ok((
            row.map_or(0, |row| row.int("source")),
            row.map_or("", |row| row.text("value")).to_owned(),
        ))
    };
    let host = match told("host_source")? {
        (3, value) if !value.trim().is_empty() => named(&value),
        (2, _) => named(ip),
        _ => named(by_name),
    };
    let visible = match told("name_source")? {
        (3, value) if !value.trim().is_empty() => named(&value),
        (2, _) => ip.to_owned(),
        (1, _) => by_name.to_owned(),
        _ => String::new(),
    };
    let host = free_name(edit, "host", &host)?;
    let visible = free_name(edit, "name", if visible.is_empty() { &host } else { &visible })?;
    Ok((host, visible))
}

/// A text as a name: bytes that names cannot have become `_`.
fn named(text: &str) -> String {
    let fits = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b' ');
    let name = text.bytes().map(|b| if fits(&b) { char::from(b) } else { '_' });
    name.take(NAME_MAX).collect()
}

/// The name, or the name with a number that nobody has.
fn free_name(edit: &mut Edit<'_>, column: &str, name: &str) -> DbResult<String> {
    if !taken(edit, column, name)? {
        return Ok(name.to_owned());
    }
    let mut number: u64 = 2;
    loop {
        let end = format!("_{number}");
        let head: String = name.chars().take(NAME_MAX - end.len()).collect();
        let candidate = head + &end;
        if !taken(edit, column, &candidate)? {
            return Ok(candidate);
        }
        number += 1;
    }
}

fn taken(edit: &mut Edit<'_>, column: &str, name: &str) -> DbResult<bool> {
    let sql = format!(
        "SELECT hostid FROM hosts WHERE kind IN ({KIND_HOST}, {KIND_TEMPLATE}) AND {column} = ? LIMIT 1"
    );
    Ok(!edit.query(&sql, &[name.into()])?.is_empty())
}

/// An interface that a host should have.
struct Interface<'a> {
    kind: InterfaceType,
    use_ip: bool,
    ip: &'a str,
    dns: &'a str,
    port: i64,
    details: String,
}

/// What was found last is how the host is reached: its main interface of that kind becomes that, one
/// is added where there is none. A port that is a macro stays.
fn keep_interface(edit: &mut Edit<'_>, host: u64, wanted: &Interface<'_>) -> DbResult<()> {
    let rows = edit.query(
        "SELECT * FROM interfaces WHERE hostid = ? AND type = ? AND main = 1",
        &[host.into(), wanted.kind.number().into()],
    )?;
    let mut columns = vec![
        ("useip", Value::from(wanted.use_ip)),
        ("ip", wanted.ip.into()),
        ("dns", wanted.dns.into()),
        ("port", wanted.port.to_string().into()),
        ("details", wanted.details.as_str().into()),
    ];
    if let Some(row) = rows.first() {
        columns.retain(|(name, value)| {
            let stays = match *name {
                "port" => row.text("port").starts_with('{'),
                // Reached by its name.
                "ip" => wanted.ip.is_empty(),
                _ => false,
            };
            !stays && row.get(name) != Some(value)
        });
        if columns.is_empty() {
            return Ok(());
        }
        edit.update(&table::INTERFACES, row.id("interfaceid"), &columns)?;
    } else {
        let own =
            [("hostid", host.into()), ("main", true.into()), ("type", wanted.kind.number().into())];
        columns.extend(own);
        edit.insert_new(&table::INTERFACES, &columns)?;
    }
    Ok(())
}

/// How to speak SNMP with the device, as interfaces keep it.
fn snmp_details(check: &Row) -> String {
    let text = |name: &str| check.text(name).to_owned();
    let number = |name: &str| check.int(name).to_string();
    match DiscoveryCheckType::from_number(check.int("type")) {
        Some(DiscoveryCheckType::SnmpV3) => json!({
            "version": "3", "bulk": "1", "max_repetitions": "10",
            "securityname": text("snmpv3_securityname"),
            "securitylevel": number("snmpv3_securitylevel"),
            "authpassphrase": text("snmpv3_authpassphrase"),
            "privpassphrase": text("snmpv3_privpassphrase"),
            "authprotocol": number("snmpv3_authprotocol"),
            "privprotocol": number("snmpv3_privprotocol"),
            "contextname": text("snmpv3_contextname"),
        }),
        Some(DiscoveryCheckType::SnmpV1) => {
            json!({ "version": "1", "bulk": "1", "community": text("snmp_community") })
        }
        _ => json!({
            "version": "2", "bulk": "1", "max_repetitions": "10",
            "community": text("snmp_community"),
        }),
    }
    .to_string()
}
