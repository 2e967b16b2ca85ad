//! All objects of the load balancer as one file, with their private keys and other secrets.

use std::collections::{BTreeMap, HashMap};

use balancing::{
    AcmeOrder, CertificateNotes, Config, Controller, EngineGroupNotes, ExpectedCertificate,
    MonitorNotes, PoolGroupNotes, PoolNotes, ServiceNotes, Tag, VipNotes, VirtualService,
};
use const_format::formatcp;
use objects::sql::STATUS_ENABLED;
use serde_json::Value as Json;

use super::compile::{Objects, Result, Service, parsed, typed};
use super::credential::Credential;
use super::hosts::TRIGGER;
use super::monitors::{Monitor, monitors, monitors_of_pools};
use super::placement::{FAILOVER_AFTER_S, NO_ANNOUNCE};
use crate::db::{Reader, Row};

/// A maintenance of hosts that does nothing to servers.
const IGNORE: &str = "ignore";
/// Orders of certificates that are given.
const NO_ORDER: &str = "{}";

/// All objects by name, also disabled and unused ones. Servers have the states of their configuration, whatever their hosts
/// ask for. `hosts`: the names of the monitored hosts that are written, by id.
///
/// # Errors
/// The database, or an object that a newer version has written.
pub fn stored(connection: &mut dyn Reader, hosts: &BTreeMap<u64, String>) -> Result<Config> {
    let mut objects = Objects::whole(connection)?;
    restore_states(connection, &mut objects)?;
    let enabled =
        formatcp!("SELECT virtualserviceid FROM virtualservices WHERE status = {STATUS_ENABLED}");
    let enabled = connection.query(enabled, &[])?;
    let enabled: Vec<u64> = enabled.iter().map(|row| row.id("virtualserviceid")).collect();
    let (enabled, disabled): (Vec<_>, Vec<_>) =
        objects.services.into_iter().partition(|service| enabled.contains(&service.id));
    let of = |services: Vec<Service>| -> Vec<VirtualService> {
        by_name(services.into_iter().map(|service| service.config), |one| &one.name)
    };
    let notes = certificate_notes(connection)?;
    let (mut certificates, mut expected) = (Vec::new(), Vec::new());
    for credential in objects.certificates.into_values() {
        let order = balancing::named(&notes, credential.name()).and_then(|one| one.acme.as_ref());
        match (credential, order) {
            (Credential::Expected(one), _) => expected.push(one),
            (Credential::Issued(one), None) => certificates.push(one),
            (Credential::Issued(one), Some(order)) => {
                expected.push(ExpectedCertificate { name: one.name, names: order.names() });
            }
        }
    }
    let controller = Controller {
        engine_groups: rows(connection, "enginegroups")?
            .iter()
            .map(engine_group)
            .collect::<Result<_>>()?,
        vips: rows(connection, "vips")?.iter().map(vip).collect::<Result<_>>()?,
        certificates: notes,
        health_monitors: monitor_notes(connection)?,
        pools: pool_notes(connection, hosts)?,
        pool_groups: rows(connection, "pool_groups")?
            .iter()
            .map(|row| PoolGroupNotes { name: name(row), description: description(row) })
            .collect(),
        virtual_services: service_notes(connection)?,
        disabled_services: of(disabled),
    };
    Ok(Config {
        certificates: by_name(certificates, |one| &one.name),
        expected_certificates: by_name(expected, |one| &one.name),
        virtual_services: of(enabled),
        pools: by_name(objects.pools.into_values(), |one| &one.name),
        pool_groups: by_name(objects.pool_groups.into_values(), |one| &one.name),
        controller: Some(controller),
        ..Config::default()
    })
}

/// Equal objects are written in the same order, whenever they were created.
fn by_name<T>(objects: impl IntoIterator<Item = T>, name: fn(&T) -> &String) -> Vec<T> {
    let mut sorted = Vec::from_iter(objects);
    sorted.sort_by(|one, other| name(one).cmp(name(other)));
    sorted
}

fn rows(connection: &mut dyn Reader, table: &str) -> Result<Vec<Row>> {
    let mut rows = connection.query(&format!("SELECT * FROM {table}"), &[])?;
    rows.sort_by(|one, other| one.text("name").cmp(other.text("name")));
    Ok(rows)
}

fn name(row: &Row) -> String {
    row.text("name").to_owned()
}

fn description(row: &Row) -> String {
    row.text("description").to_owned()
}

fn engine_group(row: &Row) -> Result<EngineGroupNotes> {
    let number = |column| u32::try_from(row.int(column)).unwrap_or(0);
    let announce = match row.text("announce") {
        NO_ANNOUNCE => None,
        _ => Some(parsed(row, "announce", &format!("engine group '{}'", row.text("name")))?),
    };
    Ok(EngineGroupNotes {
        name: name(row),
        description: description(row),
        ha_mode: number("ha_mode"),
        placement: number("placement"),
        engines_per_vip: number("engines_per_vip"),
        spare_engines: number("spare_engines"),
        vips_per_engine: number("vips_per_engine"),
        rebalance: number("rebalance"),
        failover_after: Some(number("failover_after")).filter(|after| *after != FAILOVER_AFTER_S),
        announce,
    })
}

/// Undoes what problems and maintenance of monitored hosts have changed.
fn restore_states(connection: &mut dyn Reader, objects: &mut Objects) -> Result<()> {
    let mut states: BTreeMap<u64, HashMap<String, String>> = BTreeMap::new();
    for row in connection.query("SELECT poolid, name, state FROM pool_servers", &[])? {
        let state = (name(&row), row.text("state").to_owned());
        states.entry(row.id("poolid")).or_default().extend([state]);
    }
    for (id, pool) in &mut objects.pools {
        let object = format!("pool '{}'", pool.name);
        let Some(states) = states.get(id) else { continue };
        for server in &mut pool.servers {
            if let Some(state) = states.get(&server.name) {
                server.state = typed(state.as_str().into(), &object)?;
            }
        }
    }
    Ok(())
}

fn vip(row: &Row) -> Result<VipNotes> {
    let object = format!("VIP '{}'", row.text("name"));
    let address = |column| match row.text(column) {
        "" => Json::Null,
        text => text.into(),
    };
    Ok(VipNotes {
        name: name(row),
        description: description(row),
        ipv4: typed(address("ipv4"), &object)?,
        ipv6: typed(address("ipv6"), &object)?,
        dns_names: parsed(row, "dns_names", &object)?,
    })
}

fn certificate_notes(connection: &mut dyn Reader) -> Result<Vec<CertificateNotes>> {
    let note = |row: &Row| {
        let object = format!("certificate '{}'", row.text("name"));
        let acme: Option<AcmeOrder> = match row.text("acme") {
            NO_ORDER => None,
            _ => Some(parsed(row, "acme", &object)?),
        };
        Ok(CertificateNotes { name: name(row), description: description(row), acme })
    };
    rows(connection, "certificates")?.iter().map(note).collect()
}

fn monitor_notes(connection: &mut dyn Reader) -> Result<Vec<MonitorNotes>> {
    let found = rows(connection, "healthmonitors")?;
    let ids: Vec<u64> = found.iter().map(|row| row.id("healthmonitorid")).collect();
    let used = "SELECT healthmonitorid FROM pools UNION SELECT healthmonitorid FROM pool_monitors";
    let used = connection.query(used, &[])?;
    let used: Vec<u64> = used.iter().map(|row| row.id("healthmonitorid")).collect();
    let typed = monitors(connection, &ids)?;
    let note = |row: &Row| {
        let id = row.id("healthmonitorid");
        let mut note =
            MonitorNotes { name: name(row), description: description(row), ..Default::default() };
        match typed.get(&id) {
            Some(Monitor::Engines(health)) if !used.contains(&id) => {
                note.health = Some((**health).clone());
            }
            Some(Monitor::Triggers(filter)) => {
                let filter = serde_json::to_value(filter).expect("BUG: plain data is JSON");
                note.trigger_filter = filter.as_object().cloned();
            }
            _ => {}
        }
        note
    };
    Ok(found.iter().map(note).collect())
}

fn pool_notes(
    connection: &mut dyn Reader,
    hosts: &BTreeMap<u64, String>,
) -> Result<Vec<PoolNotes>> {
    let found = rows(connection, "pools")?;
    let ids: Vec<u64> = found.iter().map(|row| row.id("poolid")).collect();
    let monitors = rows(connection, "healthmonitors")?;
    let monitors: BTreeMap<u64, &Row> =
        monitors.iter().map(|row| (row.id("healthmonitorid"), row)).collect();
    let used = monitors_of_pools(connection, &ids)?;
    let mut linked: BTreeMap<u64, BTreeMap<String, String>> = BTreeMap::new();
    let sql = "SELECT poolid, name, hostid FROM pool_servers WHERE hostid <> 0";
    for row in connection.query(sql, &[])? {
        if let Some(host) = hosts.get(&row.id("hostid")) {
            linked.entry(row.id("poolid")).or_default().insert(name(&row), host.clone());
        }
    }
    let note = |row: &Row| {
        let id = row.id("poolid");
        let monitors = used.get(&id).into_iter().flatten().filter_map(|id| monitors.get(id));
        // Those of engines are with the pool, in their order.
        let has_others = monitors.clone().any(|row| row.text("type") == TRIGGER);
        let maintenance = row.text("host_maintenance");
        PoolNotes {
            name: name(row),
            description: description(row),
            monitors: monitors.filter(|_| has_others).map(|row| name(row)).collect(),
            host_maintenance: (maintenance != IGNORE).then(|| maintenance.to_owned()),
            hosts: linked.remove(&id).unwrap_or_default(),
        }
    };
    Ok(found.iter().map(note).collect())
}

fn service_notes(connection: &mut dyn Reader) -> Result<Vec<ServiceNotes>> {
    let mut tags: BTreeMap<u64, Vec<Tag>> = BTreeMap::new();
    let sql = "SELECT * FROM virtualservice_tags ORDER BY virtualservicetagid";
    for row in connection.query(sql, &[])? {
        let tag = Tag { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() };
        tags.entry(row.id("virtualserviceid")).or_default().push(tag);
    }
    let sql = "SELECT s.virtualserviceid, s.name, s.description, v.name AS vip, g.name AS enginegroup \
               FROM virtualservices s JOIN vips v ON v.vipid = s.vipid \
               JOIN enginegroups g ON g.enginegroupid = s.enginegroupid";
    let note = |row: &Row| ServiceNotes {
        name: name(row),
        description: description(row),
        engine_group: Some(row.text("enginegroup").to_owned()),
        vip: Some(row.text("vip").to_owned()),
        tags: tags.remove(&row.id("virtualserviceid")).unwrap_or_default(),
    };
    Ok(by_name(connection.query(sql, &[])?.iter().map(note), |note| &note.name))
}
