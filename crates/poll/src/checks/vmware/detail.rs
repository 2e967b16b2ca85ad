//! Answers that are lists or documents: alarms, snapshots, disks, sensors, attributes.

use serde_json::{Value as Json, json};
use wire::vmware::property::Object;
use wire::vmware::{Node, Reference};

use super::discover;
use super::inventory::{self, Model, datastore_uuid};
use super::{Answer, NOT_THERE};

/// A whole number, 0 where there is none.
fn number(node: &Node, path: &str) -> u64 {
    node.text_at(path).parse().unwrap_or(0)
}

/// Alarms that are on.
pub(super) fn alarms(model: &Model, states: &[Node]) -> String {
    let one = |state: &Node| {
        let alarm = state.child("alarm").map(Reference::of).unwrap_or_default();
        let known = model.alarms.get(&alarm);
        let text = |name: &str| known.map_or("", |alarm| alarm.text(&format!("info.{name}")));
        json!({
            "name": text("name"),
            "system_name": text("systemName"),
            "description": text("description"),
            "enabled": text("enabled") == "true",
            "key": state.text_at("key"),
            "time": state.text_at("time"),
            "overall_status": state.text_at("overallStatus"),
            "acknowledged": state.text_at("acknowledged") == "true",
        })
    };
    Json::Array(states.iter().map(one).collect()).to_string()
}

/// A property as a document.
pub(super) fn as_json(object: &Object, path: &str) -> Answer {
    let node = object.at(path).ok_or(NOT_THERE)?;
    Ok(json!({ "val": node.to_json() }).to_string())
}

/// The speed of a physical network card in Mbit/s; 0 = it has no link.
pub(super) fn link_speed(host: &Object, name: &str) -> Answer {
    let cards = host.list("config.network.pnic");
    let card = cards.iter().find(|card| card.text_at("device") == name);
    let card = card.ok_or("Unknown physical network interface name")?;
    Ok(number(card, "linkSpeed.speedMb").to_string())
}

/// The value of a custom attribute.
pub(super) fn attribute(vm: &Object, name: &str) -> Answer {
    let mut values = discover::attributes(vm);
    let found = values.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned());
    found.ok_or_else(|| "Custom attribute is not available.".to_owned())
}

/// The disks of a hypervisor.
pub(super) fn disks(model: &Model, host: &Object) -> String {
    let mut luns: Vec<&Node> = host.list("config.storageDevice.scsiLun").iter().collect();
    luns.sort_by_key(|lun| lun.text_at("canonicalName"));
    let one = |lun: &Node| {
        let name = lun.text_at("canonicalName");
        let holds = |store: &&Object| discover::extents(store).any(|(disk, _)| disk == name);
        let store = model.each(host, "datastore").find(holds);
        // Disks fill these with spaces.
        let inquired = |name: &str| lun.text_at(name).trim_end();
        let states: Vec<&str> = lun.all("operationalState").map(|state| &*state.text).collect();
        json!({
            "instance": name,
            "hv_uuid": host.text("summary.hardware.uuid"),
            "datastore_uuid": store.map_or("", datastore_uuid),
            "operational_state": states,
            "lun_type": lun.text_at("lunType"),
            "queue_depth": number(lun, "queueDepth"),
            "model": inquired("model"),
            "vendor": inquired("vendor"),
            "revision": inquired("revision"),
            "serial_number": inquired("serialNumber"),
            "vsan": {},
        })
    };
    Json::Array(luns.into_iter().map(one).collect()).to_string()
}

/// The snapshots of a machine and how old they are.
pub(super) fn snapshots(vm: &Object, now_s: u64) -> String {
    let mut list = Vec::new();
    inventory::snapshots(vm.list("snapshot"), &mut list);
    let sizes = Sizes::of(vm);
    let one = |node: &&Node| {
        let (size, unique) = sizes.snapshot(node.text_at("snapshot"));
        json!({
            "name": node.text_at("name"),
            "description": node.text_at("description"),
            "createtime": node.text_at("createTime"),
            "size": size,
            "uniquesize": unique,
        })
    };
    let made = |node: &Node| node.text_at("createTime").parse::<jiff::Timestamp>().ok();
    let age = |node: Option<&&Node>| {
        let made = node.and_then(|node| made(node)).map_or(0, jiff::Timestamp::as_second);
        if made > 0 { i64::try_from(now_s).unwrap_or(i64::MAX).saturating_sub(made) } else { 0 }
    };
    let date =
        |node: Option<&&Node>| node.map_or(Json::Null, |node| node.text_at("createTime").into());
    let latest = list.iter().max_by_key(|node| made(node));
    let oldest = list.iter().min_by_key(|node| made(node));
    let all: Vec<Json> = list.iter().map(one).collect();
    let sum = |name: &str| all.iter().filter_map(|one| one[name].as_u64()).sum::<u64>();
    json!({
        "snapshot": all,
        "count": list.len(),
        "latestdate": date(latest),
        "latestage": age(latest),
        "oldestdate": date(oldest),
        "oldestage": age(oldest),
        "size": sum("size"),
        "uniquesize": sum("uniquesize"),
    })
    .to_string()
}

/// Sizes of files of a machine.
struct Sizes<'a> {
    files: &'a [Node],
    snapshots: &'a [Node],
}

impl<'a> Sizes<'a> {
    fn of(vm: &'a Object) -> Self {
        Self { files: vm.list("layoutEx.file"), snapshots: vm.list("layoutEx.snapshot") }
    }

    /// Size of a snapshot's files: its own data, its memory, and the last disk of each chain.
    fn snapshot(&self, id: &str) -> (u64, u64) {
        let found = self.snapshots.iter().find(|snapshot| snapshot.text_at("key") == id);
        let Some(snapshot) = found else { return (0, 0) };
        let mut keys: Vec<&str> = vec![snapshot.text_at("dataKey"), snapshot.text_at("memoryKey")];
        for disk in snapshot.all("disk") {
            if let Some(last) = disk.all("chain").last() {
                keys.extend(last.all("fileKey").map(|key| &*key.text));
            }
        }
        let mine = |file: &&Node| keys.contains(&file.text_at("key"));
        self.files.iter().filter(mine).fold((0, 0), |(size, unique), file| {
            (size + number(file, "size"), unique + number(file, "uniqueSize"))
        })
    }
}
