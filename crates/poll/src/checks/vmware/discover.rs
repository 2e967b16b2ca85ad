//! Answers of low-level discovery.

use serde_json::{Map, Value as Json, json};
use wire::vmware::property::Object;
use wire::vmware::{Node, Reference};

use super::inventory::{Model, Nic, datastore_uuid, snapshot_count};

fn rows(rows: impl Iterator<Item = Json>) -> String {
    Json::Array(rows.collect()).to_string()
}

/// The parts of disks that a datastore is made of: names of disks, numbers of partitions.
pub(super) fn extents(store: &Object) -> impl Iterator<Item = (&str, u32)> {
    let extents = store.at("info.vmfs").into_iter().flat_map(|vmfs| vmfs.all("extent"));
    extents.map(|extent| {
        (extent.text_at("diskName"), extent.text_at("partition").parse().unwrap_or(0))
    })
}

fn extents_json(store: &Object) -> Json {
    extents(store)
        .map(|(disk, partition)| json!({ "partitionid": partition, "instance": disk }))
        .collect()
}

pub(super) fn datastores(model: &Model) -> String {
    rows(model.all("Datastore").map(|store| {
        json!({
            "{#DATASTORE}": store.text("name"),
            "{#DATASTORE.UUID}": datastore_uuid(store),
            "{#DATASTORE.TYPE}": store.text("summary.type"),
            "datastore_extent": extents_json(store),
        })
    }))
}

pub(super) fn datacenters(model: &Model) -> String {
    rows(model.all("Datacenter").map(|place| {
        json!({ "{#DATACENTER}": place.text("name"), "{#DATACENTERID}": &*place.reference.id })
    }))
}

pub(super) fn switches(model: &Model) -> String {
    rows(model.all("VmwareDistributedVirtualSwitch").map(
        |switch| json!({ "{#DVS.UUID}": switch.text("uuid"), "{#DVS.NAME}": switch.text("name") }),
    ))
}

pub(super) fn clusters(model: &Model) -> String {
    rows(model.all("ClusterComputeResource").map(|cluster| {
        let stores = model.each(cluster, "datastore").map(datastore_uuid);
        json!({
            "{#CLUSTER.ID}": &*cluster.reference.id,
            "{#CLUSTER.NAME}": cluster.text("name"),
            "resource_pool": pools(model, &cluster.reference),
            "datastore_uuid": stores.collect::<Vec<_>>(),
        })
    }))
}

/// The resource pools of a cluster or a host, the one of the hardware aside.
fn pools(model: &Model, owner: &Reference) -> Json {
    let all = model.all("ResourcePool").chain(model.all("VirtualApp"));
    let own = all.filter(|pool| pool.reference("owner").as_ref() == Some(owner));
    own.filter_map(|pool| {
        let path = pool_path(model, pool);
        let count = pool.list("vm").len();
        (!path.is_empty())
            .then(|| json!({ "rpid": &*pool.reference.id, "rpath": path, "vm_count": count }))
    })
    .collect()
}

fn is_pool(object: &Object) -> bool {
    matches!(&*object.reference.kind, "ResourcePool" | "VirtualApp")
}

/// The names of a pool and those above it; the topmost, which is the hardware's, has none.
fn pool_path(model: &Model, pool: &Object) -> String {
    let all = std::iter::once(pool).chain(model.above(pool)).take_while(|one| is_pool(one));
    let mut names: Vec<&str> = all.map(|one| one.text("name")).collect();
    names.pop();
    names.reverse();
    names.join("/")
}

pub(super) fn hosts(model: &Model) -> String {
    rows(model.all("HostSystem").map(|host| {
        let (parent, kind) = parent(model, host);
        let owner = host.reference("parent").filter(|owner| &*owner.kind == "ComputeResource");
        let pools = owner.map_or_else(|| json!([]), |owner| pools(model, &owner));
        json!({
            "{#HV.UUID}": host.text("summary.hardware.uuid"),
            "{#HV.ID}": &*host.reference.id,
            "{#HV.NAME}": host.text("name"),
            "{#HV.IP}": address(host),
            "{#DATACENTER.NAME}": model.name_above(host, "Datacenter"),
            "{#CLUSTER.NAME}": model.name_above(host, "ClusterComputeResource"),
            "{#PARENT.NAME}": parent,
            "{#PARENT.TYPE}": kind,
            "{#HV.NETNAME}": net_name(host),
            "resource_pool": pools,
        })
    }))
}

/// Name and type of what a hypervisor is in: its cluster, else a folder, else the datacenter.
fn parent<'a>(model: &'a Model, host: &'a Object) -> (&'a str, &'a str) {
    let mut above = model.above(host).filter(|one| &*one.reference.kind != "ComputeResource");
    let (first, second) = (above.next(), above.next());
    // The folder that every datacenter has is no place of its own.
    let place = match (first, second) {
        (Some(folder), Some(place))
            if &*folder.reference.kind == "Folder" && &*place.reference.kind == "Datacenter" =>
        {
            Some(place)
        }
        (first, _) => first,
    };
    place.map_or(("", "VMware"), |place| (place.text("name"), &*place.reference.kind))
}

/// The address of the kernel's network card: where there are several, one in the network of the
/// default gateway.
fn address(host: &Object) -> &str {
    let cards = host.list("config.network.vnic");
    let gateway = v4(host.text("config.network.ipRouteConfig.defaultGateway"));
    let near = |card: &&Node| {
        let part = |name: &str| v4(card.text_at(&format!("spec.ip.{name}")));
        let parts = part("ipAddress").zip(part("subnetMask")).zip(gateway);
        parts.is_some_and(|((ip, mask), gateway)| ip & mask == gateway & mask)
    };
    let card = cards.iter().find(near).or_else(|| cards.first());
    card.map_or("", |card| card.text_at("spec.ip.ipAddress"))
}

fn v4(text: &str) -> Option<u32> {
    text.parse::<std::net::Ipv4Addr>().ok().map(u32::from)
}

fn net_name(host: &Object) -> String {
    let of = |name: &str| host.text(&format!("config.network.dnsConfig.{name}"));
    match (of("hostName"), of("domainName")) {
        (host, "") => host.to_owned(),
        (host, domain) => format!("{host}.{domain}"),
    }
}

pub(super) fn host_cards(host: &Object) -> String {
    rows(host.list("config.network.pnic").iter().map(|card| {
        let full = card.text_at("linkSpeed.duplex") == "true";
        let speed: u64 = card.text_at("linkSpeed.speedMb").parse().unwrap_or(0);
        json!({
            "{#IFNAME}": card.text_at("device"),
            "{#IFDRIVER}": card.text_at("driver"),
            "{#IFSPEED}": speed,
            "{#IFDUPLEX}": if full { "full" } else { "half" },
            "{#IFMAC}": card.text_at("mac"),
        })
    }))
}

pub(super) fn host_datastores(model: &Model, host: &Object) -> String {
    rows(model.each(host, "datastore").map(|store| {
        json!({
            "{#DATASTORE}": store.text("name"),
            "{#DATASTORE.UUID}": datastore_uuid(store),
            "{#DATASTORE.TYPE}": store.text("summary.type"),
            "{#MULTIPATH.COUNT}": paths_of(host, store, None),
            "{#MULTIPATH.PARTITION.COUNT}": extents(store).count(),
            "datastore_extent": extents_json(store),
        })
    }))
}

/// The paths to a disk that work.
fn paths_of_disk(host: &Object, disk: &str) -> usize {
    let luns = host.list("config.storageDevice.scsiLun");
    let Some(lun) = luns.iter().find(|lun| lun.text_at("canonicalName") == disk) else { return 0 };
    let key = lun.text_at("key");
    let all = host.at("config.storageDevice.multipathInfo").into_iter();
    let unit = all.flat_map(|info| info.all("lun")).find(|unit| unit.text_at("lun") == key);
    unit.map_or(0, |unit| unit.all("path").count())
}

/// The paths to a datastore, or to one partition of it.
pub(super) fn paths_of(host: &Object, store: &Object, partition: Option<u32>) -> usize {
    let parts = extents(store).filter(|(_, number)| partition.is_none_or(|one| one == *number));
    parts.map(|(disk, _)| paths_of_disk(host, disk)).sum()
}

/// The paths to all datastores of a hypervisor.
pub(super) fn paths_of_all(model: &Model, host: &Object) -> usize {
    model.each(host, "datastore").map(|store| paths_of(host, store, None)).sum()
}

/// Names and values of custom attributes.
pub(super) fn attributes(vm: &Object) -> impl Iterator<Item = (&str, &str)> {
    let fields = vm.list("availableField");
    vm.list("customValue").iter().filter_map(|value| {
        let key = value.text_at("key");
        let field = fields.iter().find(|field| field.text_at("key") == key)?;
        Some((field.text_at("name"), value.text_at("value")))
    })
}

pub(super) fn machines(model: &Model) -> String {
    rows(model.all("VirtualMachine").filter_map(|vm| {
        let uuid = vm.text("config.instanceUuid");
        (!uuid.is_empty()).then(|| machine(model, vm, uuid))
    }))
}

fn machine(model: &Model, vm: &Object, uuid: &str) -> Json {
    let host = model.of(vm, "runtime.host");
    let of_host = |path: &str| host.map_or("", |host| host.text(path));
    let above = |kind| host.map_or("", |host| model.name_above(host, kind));
    let store = model.each(vm, "datastore").next();
    let pool = model.of(vm, "resourcePool");
    let attributes: Vec<Json> =
        attributes(vm).map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let (nics, _) =
        model.devices.get(&vm.reference).map_or((&[][..], &[][..]), |(nics, disks)| (nics, disks));
    let cards: Vec<Json> = nics.iter().map(|nic| card(vm, nic, &CARD_OF_MACHINE)).collect();
    json!({
        "{#VM.UUID}": uuid,
        "{#VM.ID}": &*vm.reference.id,
        "{#VM.NAME}": vm.text("name"),
        "{#HV.NAME}": of_host("name"),
        "{#HV.UUID}": of_host("summary.hardware.uuid"),
        "{#HV.ID}": host.map_or("", |host| &host.reference.id),
        "{#DATACENTER.NAME}": above("Datacenter"),
        "{#CLUSTER.NAME}": above("ClusterComputeResource"),
        "{#VM.IP}": vm.text("guest.ipAddress"),
        "{#VM.DNS}": vm.text("guest.hostName"),
        "{#VM.GUESTFAMILY}": vm.text("guest.guestFamily"),
        "{#VM.GUESTFULLNAME}": vm.text("guest.guestFullName"),
        "{#VM.FOLDER}": folder(model, vm),
        "{#VM.SNAPSHOT.COUNT}": snapshot_count(vm),
        "{#VM.TOOLS.STATUS}": vm.text("guest.toolsRunningStatus"),
        "{#VM.POWERSTATE}": vm.text("runtime.powerState"),
        "{#DATASTORE.NAME}": store.map_or("", |store| store.text("name")),
        "{#DATASTORE.UUID}": store.map_or("", datastore_uuid),
        "{#VM.RPOOL.ID}": pool.map_or("", |pool| &pool.reference.id),
        "{#VM.RPOOL.PATH}": pool.map_or_else(String::new, |pool| pool_path(model, pool)),
        "vm_customattribute": attributes,
        "net_if": cards,
    })
}

/// The names of the folders that a machine is in, below its datacenter.
fn folder(model: &Model, vm: &Object) -> String {
    let folders = model.above(vm).take_while(|one| &*one.reference.kind == "Folder");
    let mut names: Vec<&str> = folders.map(|one| one.text("name")).collect();
    names.reverse();
    names.join("/")
}

/// Names of the members of a network card: name, description, MAC address, connected, type,
/// backing device, switch, port group, port.
type CardNames = [&'static str; 9];

const CARD_OF_MACHINE: CardNames = [
    "ifname",
    "ifdesc",
    "ifmac",
    "ifconnected",
    "iftype",
    "ifbackingdevice",
    "ifdvswitch_uuid",
    "ifdvswitch_portgroup",
    "ifdvswitch_port",
];

const CARD_AS_ROW: CardNames = [
    "{#IFNAME}",
    "{#IFDESC}",
    "{#IFMAC}",
    "{#IFCONNECTED}",
    "{#IFTYPE}",
    "{#IFBACKINGDEVICE}",
    "{#IFDVSWITCH.UUID}",
    "{#IFDVSWITCH.PORTGROUP}",
    "{#IFDVSWITCH.PORT}",
];

fn card(vm: &Object, nic: &Nic, names: &CardNames) -> Json {
    let device = &nic.device;
    let mac = device.text_at("macAddress");
    let values: [Json; 9] = [
        device.text_at("key").into(),
        device.text_at("deviceInfo.label").into(),
        mac.into(),
        (device.text_at("connectable.connected") == "true").into(),
        (*device.kind).into(),
        device.text_at("backing.deviceName").into(),
        device.text_at("backing.port.switchUuid").into(),
        device.text_at("backing.port.portgroupKey").into(),
        device.text_at("backing.port.portKey").into(),
    ];
    let guest = vm.list("guest.net").iter().filter(|net| net.text_at("macAddress") == mac);
    let ips: Vec<&str> = guest.flat_map(|net| net.all("ipAddress")).map(|ip| &*ip.text).collect();
    let mut members: Map<String, Json> =
        names.iter().map(|name| (*name).to_owned()).zip(values).collect();
    members.insert("ifip".to_owned(), ips.into());
    Json::Object(members)
}

pub(super) fn machine_cards(model: &Model, vm: &Object) -> String {
    let devices = model.devices.get(&vm.reference);
    let nics = devices.map_or(&[][..], |(nics, _)| nics);
    rows(nics.iter().map(|nic| card(vm, nic, &CARD_AS_ROW)))
}

pub(super) fn machine_disks(model: &Model, vm: &Object) -> String {
    let devices = model.devices.get(&vm.reference);
    let disks = devices.map_or(&[][..], |(_, disks)| disks);
    rows(disks.iter().map(|disk| json!({ "{#DISKNAME}": disk.name, "{#DISKDESC}": disk.label })))
}

pub(super) fn file_systems(vm: &Object) -> String {
    let disks = vm.list("guest.disk").iter();
    rows(disks.map(|disk| json!({ "{#FSNAME}": disk.text_at("diskPath") })))
}
