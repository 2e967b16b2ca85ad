//! One reading of a service.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use wire::vmware::event::Severities;
use wire::vmware::perf::{self, Counters};
use wire::vmware::property::Object;
use wire::vmware::request::{self, PerfQuery, Wanted};
use wire::vmware::{self, Node, Reference};

use super::inventory::{Disk, Model, Nic, Wish, manager};
use super::keys::Scope;
use super::link::{Link, LinkError};

/// Objects in one request for counters.
const ENTITIES_PER_QUERY: usize = 50;
/// Seconds between values of objects that do not measure by themselves.
const HISTORICAL_S: u32 = 300;

/// What does not change while a service runs.
#[derive(Debug, Default)]
pub(super) struct Lasting {
    pub(super) severities: Option<Arc<Severities>>,
    counters: Option<Arc<Counters>>,
    /// Seconds between values, by type of objects.
    intervals: HashMap<Box<str>, u32>,
    /// Version and build that the rest belongs to.
    full_name: String,
}

const HOST: &[&str] = &[
    "name",
    "parent",
    "datastore",
    "vm",
    "overallStatus",
    "triggeredAlarmState",
    "runtime.connectionState",
    "runtime.inMaintenanceMode",
    "runtime.healthSystemRuntime.hardwareStatusInfo",
    "runtime.healthSystemRuntime.systemHealthInfo.numericSensorInfo",
    "summary.quickStats.overallCpuUsage",
    "summary.quickStats.overallMemoryUsage",
    "summary.quickStats.uptime",
    "summary.config.product.fullName",
    "summary.config.product.version",
    "summary.hardware",
    "hardware.systemInfo",
    "config.network.pnic",
    "config.network.vnic",
    "config.network.dnsConfig",
    "config.network.ipRouteConfig",
    "config.storageDevice.scsiLun",
    "config.storageDevice.multipathInfo",
    "config.fileSystemVolume.mountInfo",
];

const MACHINE: &[&str] = &[
    "name",
    "parent",
    "resourcePool",
    "datastore",
    "triggeredAlarmState",
    "availableField",
    "customValue",
    "snapshot",
    "layoutEx.file",
    "layoutEx.snapshot",
    "config.instanceUuid",
    "config.hardware.device",
    "guest.disk",
    "guest.net",
    "guest.ipAddress",
    "guest.hostName",
    "guest.guestFamily",
    "guest.guestFullName",
    "guest.guestState",
    "guest.toolsRunningStatus",
    "guest.toolsVersion",
    "runtime.host",
    "runtime.powerState",
    "runtime.consolidationNeeded",
    "summary.config.numCpu",
    "summary.config.memorySizeMB",
    "summary.quickStats",
    "summary.storage",
];

const DATASTORE: &[&str] = &["name", "summary", "host", "triggeredAlarmState", "info"];
const COMPUTE: &[&str] = &["name", "parent", "overallStatus", "datastore", "triggeredAlarmState"];
const POOL: &[&str] = &["name", "parent", "owner", "vm"];
const PLACE: &[&str] = &["name", "parent", "triggeredAlarmState"];

/// What is always read. The service gives objects of derived types too.
const ALL: &[Wanted<'_>] = &[
    Wanted { kind: "Folder", paths: PLACE },
    Wanted { kind: "Datacenter", paths: PLACE },
    Wanted { kind: "ComputeResource", paths: COMPUTE },
    Wanted { kind: "ClusterComputeResource", paths: COMPUTE },
    Wanted { kind: "ResourcePool", paths: POOL },
    Wanted { kind: "VirtualApp", paths: POOL },
    Wanted { kind: "HostSystem", paths: HOST },
    Wanted { kind: "Datastore", paths: DATASTORE },
    Wanted { kind: "VirtualMachine", paths: MACHINE },
    Wanted { kind: "VmwareDistributedVirtualSwitch", paths: &["name", "uuid"] },
];

/// Reads everything that items may ask for.
pub(super) async fn read(
    link: &mut Link,
    lasting: &mut Lasting,
    wishes: &BTreeSet<Wish>,
) -> Result<Model, LinkError> {
    let service = link.open().await?;
    if lasting.full_name != service.full_name {
        *lasting = Lasting { full_name: service.full_name.clone(), ..Lasting::default() };
    }
    let mut model = Model::default();
    model.wishes.clone_from(wishes);
    let root = service.root_folder.clone();
    let place = Wanted { kind: &root.kind, paths: PLACE };
    let mut objects = link.some(&service, std::slice::from_ref(&root), &place).await?;
    objects.append(&mut link.all(&service, ALL).await?);
    if !service.is_vcenter() {
        refresh(link, &service, &mut objects).await?;
    }
    for mut object in objects {
        let reference = object.reference.clone();
        if let Some(devices) = object.properties.remove("config.hardware.device") {
            model.devices.insert(reference.clone(), sorted(devices.children));
        }
        if object.list("snapshot").is_empty() {
            // Files are looked at for the sizes of snapshots only, and are many.
            object.properties.remove("layoutEx.file");
            object.properties.remove("layoutEx.snapshot");
        }
        if reference == root {
            model.triggered = object.list("triggeredAlarmState").to_vec();
        }
        if model.objects.insert(reference.clone(), object).is_none() {
            model.order.push(reference);
        }
    }
    properties(link, &service, &mut model).await?;
    alarms(link, &service, &mut model).await?;
    counters(link, &service, lasting, &mut model).await?;
    model.service = service;
    model.index();
    Ok(model)
}

/// Has the datastores of a host look at their space: their properties are from the last look.
async fn refresh(
    link: &mut Link,
    service: &vmware::Service,
    objects: &mut [Object],
) -> Result<(), LinkError> {
    let stores = objects.iter().filter(|object| &*object.reference.kind == "Datastore");
    for store in stores {
        match link.call(&request::refresh_datastore(&store.reference)).await {
            // An unavailable datastore keeps its last values.
            Err(error) if error.is_small() => {}
            answer => drop(answer?),
        }
    }
    let wanted = Wanted { kind: "Datastore", paths: &["summary"] };
    let mut found: HashMap<Reference, Object> = HashMap::new();
    for object in link.all(service, &[wanted]).await? {
        found.insert(object.reference.clone(), object);
    }
    for object in objects {
        if let Some(fresh) = found.remove(&object.reference) {
            object.properties.extend(fresh.properties);
        }
    }
    Ok(())
}

/// The network cards and disks among the devices.
fn sorted(devices: Vec<Node>) -> (Vec<Nic>, Vec<Disk>) {
    let mut buses: HashMap<Box<str>, String> = HashMap::new();
    for device in &devices {
        // The types of controllers are many, but their names tell the bus.
        let kind = &*device.kind;
        let bus = match kind {
            _ if kind.contains("SCSI")
                || kind.contains("LsiLogic")
                || kind.contains("BusLogic") =>
            {
                "scsi"
            }
            "VirtualIDEController" => "ide",
            "VirtualAHCIController" | "VirtualSATAController" => "sata",
            "VirtualNVMEController" => "nvme",
            _ => continue,
        };
        let name = format!("{bus}{}", device.text_at("busNumber"));
        buses.insert(device.text_at("key").into(), name);
    }
    let (mut nics, mut disks) = (Vec::new(), Vec::new());
    for device in devices {
        if &*device.kind == "VirtualDisk" {
            if let Some(bus) = buses.get(device.text_at("controllerKey")) {
                let name = format!("{bus}:{}", device.text_at("unitNumber"));
                let label = device.text_at("deviceInfo.label").to_owned();
                disks.push(Disk { name, label });
            }
        } else if device.child("macAddress").is_some() {
            nics.push(Nic { device });
        }
    }
    (nics, disks)
}

/// Properties that items name: all of a kind of objects at once, and one by one where the service
/// refuses that, so that one that it does not know costs the others nothing.
async fn properties(
    link: &mut Link,
    service: &vmware::Service,
    model: &mut Model,
) -> Result<(), LinkError> {
    let mut wanted: BTreeMap<Scope, Vec<String>> = BTreeMap::new();
    for wish in &model.wishes {
        if let Wish::Property(scope, path) = wish {
            wanted.entry(*scope).or_default().push(path.clone());
        }
    }
    for (scope, paths) in wanted {
        let together: Vec<&str> = paths.iter().map(String::as_str).collect();
        if taken(link, service, model, scope, &together).await?.is_none() {
            continue;
        }
        for path in &paths {
            if let Some(why) = taken(link, service, model, scope, &[path]).await? {
                model.refused.insert(Wish::Property(scope, path.clone()), why);
            }
        }
    }
    Ok(())
}

/// Reads these properties of all objects of a kind; the text is why the service refuses to.
async fn taken(
    link: &mut Link,
    service: &vmware::Service,
    model: &mut Model,
    scope: Scope,
    paths: &[&str],
) -> Result<Option<String>, LinkError> {
    match link.all(service, &[Wanted { kind: scope.kind(), paths }]).await {
        Ok(found) => {
            model.extend(found);
            Ok(None)
        }
        Err(error) if error.is_small() => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

/// The definitions of the alarms that are on.
async fn alarms(
    link: &mut Link,
    service: &vmware::Service,
    model: &mut Model,
) -> Result<(), LinkError> {
    let state = |object: &Object| object.list("triggeredAlarmState").to_vec();
    let states = model.objects.values().flat_map(state).collect::<Vec<_>>();
    let named = states.iter().filter_map(|state| state.child("alarm").map(Reference::of));
    let alarms: Vec<Reference> = named.collect::<BTreeSet<_>>().into_iter().collect();
    if alarms.is_empty() {
        return Ok(());
    }
    let wanted = Wanted { kind: "Alarm", paths: &["info"] };
    match link.some(service, &alarms, &wanted).await {
        Ok(found) => {
            let pair = |object: Object| (object.reference.clone(), object);
            model.alarms = found.into_iter().map(pair).collect();
            Ok(())
        }
        // One may have been removed in the meantime.
        Err(error) if error.is_small() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Counters that items name.
async fn counters(
    link: &mut Link,
    service: &vmware::Service,
    lasting: &mut Lasting,
    model: &mut Model,
) -> Result<(), LinkError> {
    let mut wanted: BTreeMap<Scope, Vec<u32>> = BTreeMap::new();
    if model.wishes.iter().any(|wish| matches!(wish, Wish::Counter(..))) {
        model.counters = known_counters(link, service, lasting).await?;
    }
    for wish in &model.wishes {
        let Wish::Counter(scope, path) = wish else { continue };
        if let Some(counter) = model.counters.find(path) {
            wanted.entry(*scope).or_default().push(counter);
        }
    }
    for (scope, counters) in wanted {
        let entities: Vec<Reference> = match scope {
            // What is switched off measures nothing.
            Scope::Machine => {
                let on = |vm: &&Object| vm.text("runtime.powerState") == "poweredOn";
                model.all(scope.kind()).filter(on).map(|vm| vm.reference.clone()).collect()
            }
            _ => model.all(scope.kind()).map(|object| object.reference.clone()).collect(),
        };
        let Some(first) = entities.first() else { continue };
        let interval_s = interval(link, service, lasting, first).await?;
        for some in entities.chunks(ENTITIES_PER_QUERY) {
            let query = |entity| PerfQuery { entity, interval_s, counters: &counters };
            let queries: Vec<PerfQuery<'_>> = some.iter().map(query).collect();
            values(link, service, &queries, model).await?;
        }
    }
    Ok(())
}

async fn known_counters(
    link: &mut Link,
    service: &vmware::Service,
    lasting: &mut Lasting,
) -> Result<Arc<Counters>, LinkError> {
    if let Some(counters) = &lasting.counters {
        return Ok(Arc::clone(counters));
    }
    let list = manager(link, service, &service.perf_manager, "perfCounter").await?;
    let counters = Arc::new(Counters::parse(&list));
    lasting.counters = Some(Arc::clone(&counters));
    Ok(counters)
}

/// The seconds between values of objects like this one.
async fn interval(
    link: &mut Link,
    service: &vmware::Service,
    lasting: &mut Lasting,
    entity: &Reference,
) -> Result<u32, LinkError> {
    if let Some(seconds) = lasting.intervals.get(&entity.kind) {
        return Ok(*seconds);
    }
    let answer = link.call(&request::perf_provider(&service.perf_manager, entity)).await?;
    let seconds = perf::refresh_rate(&answer).unwrap_or(HISTORICAL_S);
    lasting.intervals.insert(entity.kind.clone(), seconds);
    Ok(seconds)
}

/// The values of some objects. Where the service refuses them together, one may be to blame: then
/// each is asked for by itself.
async fn values(
    link: &mut Link,
    service: &vmware::Service,
    queries: &[PerfQuery<'_>],
    model: &mut Model,
) -> Result<(), LinkError> {
    match link.call(&request::query_perf(&service.perf_manager, queries)).await {
        Ok(answer) => take(model, &answer),
        Err(error) if error.is_small() => {
            for query in queries {
                let one = std::slice::from_ref(query);
                match link.call(&request::query_perf(&service.perf_manager, one)).await {
                    Ok(answer) => take(model, &answer),
                    Err(error) if error.is_small() => {
                        let (id, kind) = (&query.entity.id, &query.entity.kind);
                        tracing::debug!("no counters of {kind} {id}: {error}");
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn take(model: &mut Model, answer: &Node) {
    for sample in perf::samples(answer) {
        let values = model.perf.entry((sample.entity, sample.counter)).or_default();
        values.push((sample.instance, sample.value));
    }
}
