//! Hosts with groups, tags and interfaces; items come later.

use objects::{InterfaceType, InventoryMode, MaintenanceType, MonitoredBy, Status};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use const_format::formatcp;
use eval::macros::Place;
use model::{GroupId, HostId, InterfaceId};
use objects::sql::{GROUP_OF_HOSTS, KIND_HOST};

use super::Scope;
use crate::db::{DbResult, Reader, Row, query_by_ids};
use crate::snapshot::source::{Ipmi, Snmp};
use crate::snapshot::{
    Host, HostMaintenance, Interface, InventoryField, Macros, Resolver, Snapshot, Tls,
};

/// Template chains are at most this deep when tags are collected; deeper ones are cut.
const TEMPLATE_DEPTH_MAX: usize = 32;

type Tags = BTreeMap<HostId, Vec<InventoryField>>;

/// The hosts in scope (no templates), without their items.
pub(super) fn read(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    scope: &Scope,
) -> DbResult<BTreeMap<HostId, Host>> {
    let rows = select(
        connection,
        formatcp!(
            "SELECT hostid, host, name, status, tls_connect, tls_accept, tls_issuer, tls_subject, \
         tls_psk_identity, tls_psk, inventory_mode, maintenance_status, maintenance_type, monitored_by \
         FROM hosts WHERE kind = {KIND_HOST}"
        ),
        "hostid",
        scope,
    )?;
    let mut hosts: BTreeMap<HostId, Host> =
        rows.iter().map(|row| (HostId(row.id("hostid")), host(row))).collect();
    groups(connection, &mut hosts, scope)?;
    let tags = tags(connection, &snapshot.macros, scope)?;
    for (id, host) in &mut hosts {
        host.templates = snapshot.macros.templates_of.get(id).cloned().unwrap_or_default().into();
        host.tags = all_tags(&snapshot.macros, &tags, *id);
    }
    inventory(connection, &mut hosts, scope)?;
    interfaces(connection, snapshot, &mut hosts, scope)?;
    Ok(hosts)
}

fn select(
    connection: &mut dyn Reader,
    sql: &str,
    column: &str,
    scope: &Scope,
) -> DbResult<Vec<Row>> {
    match scope {
        Scope::All => connection.query(sql, &[]),
        Scope::Ids(ids) => {
            query_by_ids(connection, &format!("{sql} AND {column} IN ({{ids}})"), &[], ids)
        }
    }
}

fn host(row: &Row) -> Host {
    let text = |name: &str| Arc::<str>::from(row.text(name));
    let small = |name: &str| u8::try_from(row.int(name)).unwrap_or(1);
    Host {
        id: HostId(row.id("hostid")),
        host: text("host"),
        name: text("name"),
        monitored: Status::Enabled.is(row.int("status")),
        maintenance: match (row.int("maintenance_status"), row.int("maintenance_type")) {
            (0, _) => HostMaintenance::None,
            (_, kind) if MaintenanceType::WithoutData.is(kind) => HostMaintenance::NoData,
            _ => HostMaintenance::Data,
        },
        monitored_by: MonitoredBy::from_number(row.int("monitored_by"))
            .unwrap_or(MonitoredBy::Server),
        groups: Box::default(),
        group_names: Box::default(),
        tags: Box::default(),
        interfaces: Box::default(),
        items: Box::default(),
        tls: Tls {
            connect: small("tls_connect"),
            accept: small("tls_accept"),
            issuer: text("tls_issuer"),
            subject: text("tls_subject"),
            psk_identity: text("tls_psk_identity"),
            psk: text("tls_psk"),
        },
        templates: Box::default(),
        inventory: (!InventoryMode::Disabled.is(row.int("inventory_mode"))).then(Box::default),
    }
}

fn inventory(
    connection: &mut dyn Reader,
    hosts: &mut BTreeMap<HostId, Host>,
    scope: &Scope,
) -> DbResult<()> {
    let sql = "SELECT hostid, name, value FROM host_inventory WHERE value <> ''";
    let mut names: BTreeMap<String, Arc<str>> = BTreeMap::new();
    let mut of_host: BTreeMap<HostId, Vec<InventoryField>> = BTreeMap::new();
    for row in select(connection, sql, "hostid", scope)? {
        let name = names.entry(row.text("name").to_owned());
        let name = Arc::clone(name.or_insert_with_key(|name| Arc::from(name.as_str())));
        let fields = of_host.entry(HostId(row.id("hostid"))).or_default();
        fields.push((name, Arc::from(row.text("value"))));
    }
    for (id, fields) in of_host {
        if let Some(inventory) = hosts.get_mut(&id).and_then(|host| host.inventory.as_mut()) {
            *inventory = fields.into_boxed_slice();
        }
    }
    Ok(())
}

/// The API's number of IPMI interfaces.
const IPMI: u8 = 3;

/// Main interfaces first: addresses of the others may name them by macros.
fn interfaces(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    hosts: &mut BTreeMap<HostId, Host>,
    scope: &Scope,
) -> DbResult<()> {
    let sql = "SELECT i.interfaceid, i.hostid, i.type, i.main, i.useip, i.ip, i.dns, i.port, \
               i.details, h.ipmi_authtype, h.ipmi_privilege, h.ipmi_username, h.ipmi_password \
               FROM interfaces i JOIN hosts h ON h.hostid = i.hostid WHERE 1 = 1";
    let mut rows = select(connection, sql, "i.hostid", scope)?;
    rows.sort_by_key(|row| (row.id("hostid"), row.int("main") != 1, row.int("type")));
    let mut known = HashSet::new();
    for of_host in rows.chunk_by(|a, b| a.id("hostid") == b.id("hostid")) {
        let Some(host) = of_host.first().and_then(|row| hosts.get_mut(&HostId(row.id("hostid"))))
        else {
            continue;
        };
        let ids = [host.id];
        let mut found: Vec<Interface> = Vec::with_capacity(of_host.len());
        for row in of_host {
            let agent =
                found.iter().find(|one| one.main && InterfaceType::Agent.is(i64::from(one.kind)));
            let resolver = Resolver::of(snapshot, host, &ids).with_interface(agent);
            found.push(interface(row, &resolver, &mut known));
        }
        found.sort_by_key(|interface| interface.id);
        host.interfaces = found.into_boxed_slice();
    }
    Ok(())
}

fn groups(
    connection: &mut dyn Reader,
    hosts: &mut BTreeMap<HostId, Host>,
    scope: &Scope,
) -> DbResult<()> {
    let rows = select(
        connection,
        formatcp!(
            "SELECT hg.hostid, g.groupid, g.name FROM host_groups hg \
         JOIN groups_ g ON g.groupid = hg.groupid WHERE g.type = {GROUP_OF_HOSTS}"
        ),
        "hg.hostid",
        scope,
    )?;
    let mut names: BTreeMap<u64, Arc<str>> = BTreeMap::new();
    let mut of_host: BTreeMap<HostId, (Vec<GroupId>, Vec<Arc<str>>)> = BTreeMap::new();
    for row in rows {
        let id = row.id("groupid");
        let name = names.entry(id).or_insert_with(|| Arc::from(row.text("name")));
        let (ids, of) = of_host.entry(HostId(row.id("hostid"))).or_default();
        ids.push(GroupId(id));
        of.push(Arc::clone(name));
    }
    for (id, (ids, names)) in of_host {
        if let Some(host) = hosts.get_mut(&id) {
            host.groups = ids.into_boxed_slice();
            host.group_names = names.into_boxed_slice();
        }
    }
    Ok(())
}

/// Tags of the hosts in scope and of all templates above them.
fn tags(connection: &mut dyn Reader, macros: &Macros, scope: &Scope) -> DbResult<Tags> {
    let sql = "SELECT hostid, tag, value FROM host_tags";
    let rows = match scope {
        Scope::All => connection.query(&format!("{sql} ORDER BY hosttagid"), &[])?,
        Scope::Ids(ids) => {
            let ids = with_templates(macros, ids);
            let sql = format!("{sql} WHERE hostid IN ({{ids}}) ORDER BY hosttagid");
            query_by_ids(connection, &sql, &[], &ids)?
        }
    };
    let mut tags = Tags::new();
    for row in rows {
        let tag = (Arc::from(row.text("tag")), Arc::from(row.text("value")));
        tags.entry(HostId(row.id("hostid"))).or_default().push(tag);
    }
    Ok(tags)
}

fn with_templates(macros: &Macros, hosts: &[u64]) -> Vec<u64> {
    let mut level: Vec<HostId> = hosts.iter().map(|id| HostId(*id)).collect();
    let mut seen: BTreeSet<HostId> = level.iter().copied().collect();
    while let Some(id) = level.pop() {
        let above = macros.templates_of.get(&id).into_iter().flatten();
        level.extend(above.copied().filter(|template| seen.insert(*template)));
    }
    seen.into_iter().map(|id| id.0).collect()
}

/// Own tags and those of all templates, each pair once.
fn all_tags(macros: &Macros, tags: &Tags, host: HostId) -> Box<[(Arc<str>, Arc<str>)]> {
    let mut found: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    let mut level = vec![host];
    let mut seen = BTreeSet::new();
    for _ in 0..TEMPLATE_DEPTH_MAX {
        let mut next = Vec::new();
        for node in level {
            if !seen.insert(node) {
                continue;
            }
            for tag in tags.get(&node).map_or(&[][..], Vec::as_slice) {
                if !found.contains(tag) {
                    found.push(tag.clone());
                }
            }
            next.extend(macros.templates_of.get(&node).into_iter().flatten().copied());
        }
        level = next;
    }
    found.into_boxed_slice()
}

/// Thousands of interfaces speak alike.
fn shared(known: &mut HashSet<Arc<Snmp>>, snmp: Snmp) -> Arc<Snmp> {
    if let Some(one) = known.get(&snmp) {
        return Arc::clone(one);
    }
    let one = Arc::new(snmp);
    known.insert(Arc::clone(&one));
    one
}

/// IPMI credentials belong to the host, not to its interface.
fn ipmi(row: &Row, resolve: &dyn Fn(&str, Place) -> String) -> Ipmi {
    let column = |name: &str| match name {
        "ipmi_authtype" | "ipmi_privilege" => row.int(name).to_string(),
        _ => row.text(name).to_owned(),
    };
    Ipmi::new(&column, resolve)
}

fn interface(row: &Row, resolver: &Resolver<'_>, known: &mut HashSet<Arc<Snmp>>) -> Interface {
    let text = |name: &str| Arc::<str>::from(resolver.text(row.text(name), Place::Interface));
    let resolve = |text: &str, place: Place| String::from(resolver.text(text, place));
    let kind = u8::try_from(row.int("type")).unwrap_or(1);
    Interface {
        id: InterfaceId(row.id("interfaceid")),
        kind,
        main: row.int("main") == 1,
        use_ip: row.int("useip") == 1,
        ip: text("ip"),
        dns: text("dns"),
        // The API refuses other ports; a macro that is not set leaves 0, which no check reaches.
        port: resolver.text(row.text("port"), Place::Interface).parse().unwrap_or(0),
        snmp: Snmp::new(row.text("details"), &resolve).map(|snmp| shared(known, snmp)),
        ipmi: (kind == IPMI).then(|| Arc::new(ipmi(row, &resolve))),
    }
}
