//! Internal items: `zabbix[host,…]` from snapshot and availability, all else from the server.

use std::sync::Arc;

use collect::Context;
use config::snapshot::source::Snmp;
use config::snapshot::{Host, Item};
use eval::key::ItemKey;
use model::Available;
use serde_json::json;

use crate::sides::{InternalValue, Internals};

/// The value of an internal item, or the text of its state "not supported".
pub(crate) fn value(
    context: &Context,
    internals: &dyn Internals,
    item: &Item,
) -> Result<InternalValue, String> {
    let key = ItemKey::parse(&item.key).map_err(|error| error.to_string())?;
    if key.name != "zabbix" {
        return Err(String::from("Unsupported item key for this item type."));
    }
    if key.param(0).as_deref() == Some("host") {
        let snapshot = context.snapshots.load();
        let Some(host) = snapshot.hosts.get(&item.host) else {
            return Err(String::from("The host of the item does not exist."));
        };
        if let Some(value) = of_host(context, host, &key) {
            return value;
        }
    }
    internals.value(item.host, &key)
}

/// `None` = the server knows (`zabbix[host,,maintenance]`, `zabbix[host,,items_unsupported]`).
fn of_host(
    context: &Context,
    host: &Arc<Host>,
    key: &ItemKey,
) -> Option<Result<InternalValue, String>> {
    let (kind, what) = (key.param(1).unwrap_or_default(), key.param(2).unwrap_or_default());
    let count = |n: usize| Some(Ok(InternalValue::Unsigned(n as u64)));
    match (kind.as_str(), what.as_str()) {
        ("discovery", "interfaces") => Some(Ok(interfaces(context, host))),
        ("active_agent", "available") => {
            let now_s = context.clock.monotonic().as_secs();
            let state = context.availability.active(host.id, now_s);
            // Here the numbers are those of the API.
            Some(Ok(InternalValue::Unsigned(state as u64)))
        }
        (name, "available") => match interface_kind(name) {
            Some(kind) => Some(Ok(available(context.availability.host(host, kind)))),
            None => Some(Err(String::from("Invalid second parameter."))),
        },
        ("", "items") => {
            count(host.items.iter().filter(|i| i.enabled && !i.discovery_rule).count())
        }
        _ => None,
    }
}

/// The item's numbers are not the API's: 0 not available, 1 available, 2 unknown.
fn available(state: Available) -> InternalValue {
    InternalValue::Unsigned(match state {
        Available::No => 0,
        Available::Yes => 1,
        Available::Unknown => 2,
    })
}

fn interface_kind(name: &str) -> Option<u8> {
    Some(match name {
        "agent" => 1,
        "snmp" => 2,
        "ipmi" => 3,
        "jmx" => 4,
        _ => return None,
    })
}

/// Rows for low-level discovery of interfaces, as the field's documentation names the macros.
fn interfaces(context: &Context, host: &Host) -> InternalValue {
    let rows: Vec<_> = host
        .interfaces
        .iter()
        .map(|interface| {
            let kind = match interface.kind {
                1 => "AGENT",
                2 => "SNMP",
                3 => "IPMI",
                4 => "JMX",
                _ => "UNKNOWN",
            };
            let address = if interface.use_ip { &interface.ip } else { &interface.dns };
            let state = context.availability.interface(interface.id).available;
            let mut row = json!({
                "{#IF.CONN}": &**address,
                "{#IF.IP}": &*interface.ip,
                "{#IF.DNS}": &*interface.dns,
                "{#IF.PORT}": interface.port.to_string(),
                "{#IF.TYPE}": kind,
                "{#IF.DEFAULT}": u8::from(interface.main),
                "{#IF.AVAILABLE}": state as u8,
            });
            if let Some(snmp) = &interface.snmp {
                snmp_macros(&mut row, snmp);
            }
            row
        })
        .collect();
    InternalValue::Text(serde_json::Value::Array(rows).to_string())
}

fn snmp_macros(row: &mut serde_json::Value, snmp: &Snmp) {
    row["{#IF.SNMP.BULK}"] = json!(u8::from(snmp.bulk));
    if snmp.version == 3 {
        row["{#IF.SNMP.CONTEXTNAME}"] = json!(snmp.user.context);
        row["{#IF.SNMP.SECURITYNAME}"] = json!(snmp.user.name);
    }
    row["{#IF.SNMP.VERSION}"] = json!(match snmp.version {
        2 => String::from("SNMPv2c"),
        other => format!("SNMPv{other}"),
    });
}
