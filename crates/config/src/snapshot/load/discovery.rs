//! Rules of network discovery.

use std::collections::BTreeMap;
use std::sync::Arc;

use const_format::formatcp;
use eval::macros::Place;
use eval::ranges::{AddressRanges, numbers};
use objects::sql::STATUS_ENABLED;
use objects::{DiscoveryCheckType, EventSource};

use crate::db::{DbResult, Reader, Row};
use crate::snapshot::discovery::{CheckKind, Discovery, DiscoveryCheck, DiscoveryRule};
use crate::snapshot::source::{Snmp, SnmpUser};
use crate::snapshot::{Resolver, Snapshot};

/// The longest time between two rounds.
const DELAY_MAX_S: u32 = 604_800;
/// Of GETBULK; one value is asked for.
const REPETITIONS: u32 = 10;

/// All rules of the server that are switched on; `snapshot` has the global macros.
pub(super) fn read(connection: &mut dyn Reader, snapshot: &Snapshot) -> DbResult<Discovery> {
    let resolver = Resolver::new(snapshot, &[]);
    let rows = connection.query(
        formatcp!("SELECT c.* FROM dchecks c JOIN drules r ON r.druleid = c.druleid WHERE r.status = {STATUS_ENABLED} AND r.proxyid = 0 \
         ORDER BY c.dcheckid"),
        &[],
    )?;
    let mut checks: BTreeMap<u64, Vec<DiscoveryCheck>> = BTreeMap::new();
    for row in &rows {
        checks.entry(row.id("druleid")).or_default().extend(check(row, &resolver));
    }
    let rows = connection.query(
        formatcp!(
            "SELECT * FROM drules WHERE status = {STATUS_ENABLED} AND proxyid = 0 ORDER BY druleid"
        ),
        &[],
    )?;
    let of = |row: &Row| {
        let checks = checks.remove(&row.id("druleid")).unwrap_or_default();
        Arc::new(rule(row, &resolver, checks))
    };
    let rules = rows.iter().map(of).collect();
    let autoregisters = has_actions(connection, EventSource::Autoregistration)?;
    Ok(Discovery { rules, autoregisters })
}

/// An action on events of this source is switched on.
pub(super) fn has_actions(connection: &mut dyn Reader, source: EventSource) -> DbResult<bool> {
    let sql = formatcp!(
        "SELECT actionid FROM actions \
         WHERE eventsource = ? AND status = {STATUS_ENABLED} LIMIT 1"
    );
    Ok(!connection.query(sql, &[source.number().into()])?.is_empty())
}

fn rule(row: &Row, resolver: &Resolver<'_>, checks: Vec<DiscoveryCheck>) -> DiscoveryRule {
    let delay = resolver.text(row.text("delay"), Place::ItemScript);
    let delay_s = eval::num::parse_seconds(&delay).filter(|s| (1..=DELAY_MAX_S).contains(s));
    let addresses = AddressRanges::parse_bounded(row.text("iprange"));
    let error = match (&addresses, delay_s, resolver.fault()) {
        (Err(error), _, _) => format!("The IP range cannot be used: {error}."),
        (_, None, _) => format!("The update interval \"{delay}\" is not valid."),
        (_, _, Some(fault)) => fault.to_owned(),
        _ if checks.is_empty() => String::from("None of the checks can be used."),
        _ => String::new(),
    };
    DiscoveryRule {
        id: row.id("druleid"),
        name: row.text("name").into(),
        addresses: addresses.unwrap_or_default(),
        delay_s: delay_s.unwrap_or(DELAY_MAX_S),
        concurrency_max: u16::try_from(row.int("concurrency_max")).unwrap_or(0),
        checks,
        error,
    }
}

fn check(row: &Row, resolver: &Resolver<'_>) -> Option<DiscoveryCheck> {
    let text = |name: &str| resolver.text(row.text(name), Place::ItemScript);
    let kind = DiscoveryCheckType::from_number(row.int("type"))?;
    let kind = match kind.service() {
        Some(name) => CheckKind::Service(name),
        None if kind == DiscoveryCheckType::Agent => {
            CheckKind::Agent((*resolver.key(row.text("key_"))).into())
        }
        None if kind == DiscoveryCheckType::Icmp => CheckKind::Ping(row.int("allow_redirect") == 1),
        None => CheckKind::Snmp(Arc::new(snmp(row, resolver)), (*text("key_")).into()),
    };
    let ports = match kind {
        CheckKind::Ping(_) => Vec::new(),
        _ => numbers(row.text("ports"), u16::MAX)?,
    };
    Some(DiscoveryCheck { id: row.id("dcheckid"), kind, ports })
}

fn snmp(row: &Row, resolver: &Resolver<'_>) -> Snmp {
    let text = |name: &str| resolver.text(row.text(name), Place::ItemScript).into_owned();
    let small = |name: &str| u8::try_from(row.int(name)).unwrap_or(0);
    let version = match DiscoveryCheckType::from_number(row.int("type")) {
        Some(DiscoveryCheckType::SnmpV1) => 1,
        Some(DiscoveryCheckType::SnmpV2) => 2,
        _ => 3,
    };
    Snmp {
        version,
        bulk: true,
        max_repetitions: REPETITIONS,
        community: text("snmp_community"),
        user: SnmpUser {
            name: text("snmpv3_securityname"),
            level: small("snmpv3_securitylevel"),
            auth_protocol: small("snmpv3_authprotocol"),
            auth_passphrase: text("snmpv3_authpassphrase"),
            priv_protocol: small("snmpv3_privprotocol"),
            priv_passphrase: text("snmpv3_privpassphrase"),
            context: text("snmpv3_contextname"),
        },
    }
}
