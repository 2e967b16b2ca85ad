//! Internal items: `zabbix[host,…]` from snapshot and availability, statistics of other
//! programs over the network, all else from the server.

use std::sync::Arc;

use collect::Context;
use config::snapshot::source::Snmp;
use config::snapshot::{Host, Item};
use eval::key::ItemKey;
use model::Available;
use serde_json::json;

use crate::checks::check::Check;
use crate::checks::reply::CheckReply;
use crate::checks::statistics;
use crate::sides::{InternalValue, Internals};

const PARAMETERS: &str = "Invalid number of parameters.";

/// Checks an internal item once.
pub(crate) async fn check(internals: &dyn Internals, check: &Check<'_>) -> CheckReply {
    if let Some(reply) = statistics::check(check).await {
        return reply;
    }
    match value(&check.shared.context, internals, check.item) {
        Ok(InternalValue::Unsigned(value)) => CheckReply::Value(value.to_string()),
        // Six decimals, as front ends of the field know them.
        Ok(InternalValue::Float(value)) => CheckReply::Value(format!("{value:.6}")),
        Ok(InternalValue::Text(text)) => CheckReply::Value(text),
        Ok(InternalValue::Nothing) => CheckReply::Nothing,
        Err(why) => CheckReply::NotSupported(why),
    }
}

/// The value of an internal item that is computed here, or the text of its state "not supported".
pub(crate) fn value(
    context: &Context,
    internals: &dyn Internals,
    item: &Item,
) -> Result<InternalValue, String> {
    let key = ItemKey::parse(&item.key).map_err(|_| "Invalid item key format.".to_owned())?;
    if key.name != "zabbix" {
        return Err(String::from("Unsupported item key for this item type."));
    }
    if key.param(0).as_deref() == Some("host") {
        let snapshot = context.snapshots.load();
        let Some(host) = snapshot.hosts.get(&item.host) else {
            return Err(String::from("The host of the item does not exist."));
        };
        if let Some(value) = of_host(context, host, &key)? {
            return Ok(value);
        }
    }
    internals.value(item.host, &key)
}

/// `None` = the server knows (`zabbix[host,,maintenance]`, `zabbix[host,,items_unsupported]`).
fn of_host(
    context: &Context,
    host: &Arc<Host>,
    key: &ItemKey,
) -> Result<Option<InternalValue>, String> {
    if key.param_count() != 3 {
        return Err(PARAMETERS.to_owned());
    }
    let (kind, what) = (key.param(1).unwrap_or_default(), key.param(2).unwrap_or_default());
    Ok(Some(match (kind.as_str(), what.as_str()) {
        ("discovery", "interfaces") => interfaces(host),
        ("active_agent", "available") => {
            let now_s = context.clock.monotonic().as_secs();
            let state = context.availability.active(host.id, now_s);
            // Here the numbers are those of the API.
            InternalValue::Unsigned(state as u64)
        }
        (name, "available") => match interface_kind(name) {
            Some(kind) => available(context.availability.host(host, kind)),
            None => return Err(String::from("Invalid second parameter.")),
        },
        ("", "items") => {
            let counts = |item: &&Arc<Item>| item.enabled && !item.discovery_rule;
            InternalValue::Unsigned(host.items.iter().filter(counts).count() as u64)
        }
        ("", "maintenance" | "items_unsupported") => return Ok(None),
        (_, "interfaces" | "maintenance" | "items" | "items_unsupported") => {
            return Err(String::from("Invalid second parameter."));
        }
        _ => return Err(String::from("Invalid third parameter.")),
    }))
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
fn interfaces(host: &Host) -> InternalValue {
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
            let mut row = json!({
                "{#IF.CONN}": &**address,
                "{#IF.IP}": &*interface.ip,
                "{#IF.DNS}": &*interface.dns,
                "{#IF.PORT}": interface.port.to_string(),
                "{#IF.TYPE}": kind,
                "{#IF.DEFAULT}": u8::from(interface.main),
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
