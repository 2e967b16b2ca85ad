//! Small objects for tests.
#![allow(clippy::unwrap_used, reason = "this is test code")]

pub mod rig;

use std::sync::Arc;

use config::snapshot::{Host, Interface, Item, ItemParts, ItemType};
use eval::interval::UpdateInterval;
use model::{HostId, InterfaceId, ItemId};

/// A passive agent item `key.<id>` of host 1, every 60 s.
pub fn item(id: u64) -> Item {
    Item::from(ItemParts {
        id: ItemId(id),
        interval: Some(Arc::new(UpdateInterval::parse("60").unwrap())),
        interface: InterfaceId(1),
        history_days: 90,
        trends_days: 365,
        ..ItemParts::unconfigured(HostId(1), ItemType::Agent, format!("key.{id}").into())
    })
}

/// A host with one agent interface (id = the host's) and these items.
pub fn host(id: u64, mut items: Vec<Item>) -> Host {
    for item in &mut items {
        item.host = HostId(id);
    }
    items.sort_by(|a, b| a.key.cmp(&b.key));
    let name: Arc<str> = format!("host{id}").into();
    Host {
        host: Arc::clone(&name),
        name,
        interfaces: Box::new([interface(id, 1, 10050)]),
        items: items.into_iter().map(Arc::new).collect(),
        ..Host::unconfigured(HostId(id))
    }
}

/// An interface on loopback.
pub fn interface(id: u64, kind: u8, port: u16) -> Interface {
    Interface {
        id: InterfaceId(id),
        kind,
        main: true,
        use_ip: true,
        ip: "127.0.0.1".into(),
        dns: "".into(),
        port,
        snmp: None,
        ipmi: None,
    }
}

/// A snapshot of these hosts.
pub fn snapshot(revision: u64, hosts: Vec<Arc<Host>>) -> Arc<config::Snapshot> {
    let mut snapshot = config::Snapshot { revision, ..config::Snapshot::default() };
    for host in hosts {
        for item in &host.items {
            snapshot.items.insert(item.id, Arc::clone(item));
        }
        snapshot.hosts.insert(host);
    }
    Arc::new(snapshot)
}
