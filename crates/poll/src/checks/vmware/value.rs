//! Answers that are one property, or a number made of it.

use wire::vmware::property::Object;

use super::inventory::Model;
use super::keys::{Ask, Scope};
use super::property::property;
use super::{Answer, Missing, NOT_THERE, detail, discover, perf, storage};

/// Bytes of a MiB, which most sizes of memory are counted in.
pub(super) const MIB: u64 = 1 << 20;
const MHZ: u64 = 1_000_000;
const KIB: u64 = 1 << 10;

/// Answers a key.
pub(super) fn answer(ask: &Ask, model: &Model, now_s: u64) -> Result<String, Missing> {
    if ask.scope == Scope::Service {
        return Ok(service(ask.what, model));
    }
    if ask.scope == Scope::Datastore {
        return storage::answer(ask, model);
    }
    if ask.scope == Scope::Cluster && ask.what == "status" {
        return cluster_status(ask, model);
    }
    let object = model.find(ask.scope, &ask.object).ok_or(ask.scope.unknown())?;
    match ask.what {
        "property" => return property(ask, model, object),
        "perfcounter" => return perf::named(ask, model, object),
        "alarms.get" => return Ok(detail::alarms(model, object.list("triggeredAlarmState"))),
        _ => {}
    }
    if let Some(answer) = perf::answer(ask, model, object) {
        return answer;
    }
    match ask.scope {
        Scope::Host => host(ask, model, object),
        Scope::Machine => machine(ask, model, object, now_s),
        _ => Err("Unsupported item key.".into()),
    }
}

fn service(what: &str, model: &Model) -> String {
    match what {
        "fullname" => model.service.full_name.clone(),
        "version" => model.service.version.clone(),
        "alarms.get" => detail::alarms(model, &model.triggered),
        "cluster.discovery" => discover::clusters(model),
        "datastore.discovery" => discover::datastores(model),
        "dc.discovery" => discover::datacenters(model),
        "dvswitch.discovery" => discover::switches(model),
        "hv.discovery" => discover::hosts(model),
        _ => discover::machines(model),
    }
}

fn cluster_status(ask: &Ask, model: &Model) -> Result<String, Missing> {
    let mut clusters = model.all(Scope::Cluster.kind());
    let cluster = clusters.find(|cluster| cluster.text("name") == ask.object);
    Ok(status(cluster.ok_or("Unknown cluster name.")?)?)
}

/// A text that has to be there.
fn text(object: &Object, path: &str) -> Answer {
    match object.text(path) {
        "" => Err(NOT_THERE.to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// A number that has to be there, in smaller units.
fn times(object: &Object, path: &str, factor: u64) -> Answer {
    let number = object.text(path).parse::<u64>().map_err(|_| NOT_THERE.to_owned())?;
    Ok(number.saturating_mul(factor).to_string())
}

/// A number that is 0 where it is not set, as of machines that are off.
fn times_or_zero(object: &Object, path: &str, factor: u64) -> Answer {
    if object.at(path).is_some() { times(object, path, factor) } else { Ok("0".to_owned()) }
}

/// The place of a word in a list, as a number.
fn number_of(object: &Object, path: &str, words: &[&str]) -> Answer {
    let word = object.text(path).to_ascii_lowercase();
    let number = words.iter().position(|known| *known == word);
    number.map(|number| number.to_string()).ok_or_else(|| NOT_THERE.to_owned())
}

const COLORS: [&str; 4] = ["gray", "green", "yellow", "red"];

fn status(object: &Object) -> Answer {
    number_of(object, "overallStatus", &COLORS)
}

fn host(ask: &Ask, model: &Model, host: &Object) -> Result<String, Missing> {
    let answer = match ask.what {
        "cluster.name" => Ok(model.name_above(host, "ClusterComputeResource").to_owned()),
        "connectionstate" => text(host, "runtime.connectionState"),
        "cpu.usage" => times(host, "summary.quickStats.overallCpuUsage", MHZ),
        "datacenter.name" => Ok(model.name_above(host, "Datacenter").to_owned()),
        "fullname" => text(host, "summary.config.product.fullName"),
        "hw.cpu.freq" => times(host, "summary.hardware.cpuMhz", MHZ),
        "hw.cpu.model" => text(host, "summary.hardware.cpuModel"),
        "hw.cpu.num" => text(host, "summary.hardware.numCpuCores"),
        "hw.cpu.threads" => text(host, "summary.hardware.numCpuThreads"),
        "hw.memory" => text(host, "summary.hardware.memorySize"),
        "hw.model" => text(host, "summary.hardware.model"),
        "hw.serialnumber" => text(host, "hardware.systemInfo.serialNumber"),
        "hw.uuid" => text(host, "summary.hardware.uuid"),
        "hw.vendor" => text(host, "summary.hardware.vendor"),
        "maintenance" => number_of(host, "runtime.inMaintenanceMode", &["false", "true"]),
        "memory.size.ballooned" => {
            let ballooned =
                |vm: &Object| vm.text("summary.quickStats.balloonedMemory").parse::<u64>();
            let sum: u64 = model.each(host, "vm").filter_map(|vm| ballooned(vm).ok()).sum();
            Ok(sum.saturating_mul(MIB).to_string())
        }
        "memory.used" => times(host, "summary.quickStats.overallMemoryUsage", MIB),
        "sensor.health.state" => health(host),
        "status" => status(host),
        "uptime" => text(host, "summary.quickStats.uptime"),
        "version" => text(host, "summary.config.product.version"),
        "vm.num" => Ok(host.list("vm").len().to_string()),
        "net.if.discovery" => Ok(discover::host_cards(host)),
        "network.linkspeed" => detail::link_speed(host, ask.third()),
        "hw.sensors.get" => detail::as_json(host, "runtime.healthSystemRuntime.hardwareStatusInfo"),
        "sensors.get" => detail::as_json(host, SENSORS),
        "diskinfo.get" => Ok(detail::disks(model, host)),
        _ => return storage::of_host(ask, model, host),
    };
    Ok(answer?)
}

const SENSORS: &str = "runtime.healthSystemRuntime.systemHealthInfo.numericSensorInfo";

/// The sensor that sums up all others.
fn health(host: &Object) -> Answer {
    let rollup =
        |sensor: &&wire::vmware::Node| sensor.text_at("name") == "VMware Rollup Health State";
    let sensor = host.list(SENSORS).iter().find(rollup).ok_or(NOT_THERE)?;
    let key = sensor.text_at("healthState.key").to_ascii_lowercase();
    let number =
        COLORS.iter().position(|color| *color == key || (*color == "gray" && key == "unknown"));
    number.map(|number| number.to_string()).ok_or_else(|| NOT_THERE.to_owned())
}

fn machine(ask: &Ask, model: &Model, vm: &Object, now_s: u64) -> Result<String, Missing> {
    let host = model.of(vm, "runtime.host");
    let above = |kind| host.map_or("", |host| model.name_above(host, kind)).to_owned();
    let answer = match ask.what {
        "attribute" => detail::attribute(vm, ask.third()),
        "cluster.name" => Ok(above("ClusterComputeResource")),
        "consolidationneeded" => text(vm, "runtime.consolidationNeeded"),
        "cpu.num" => text(vm, "summary.config.numCpu"),
        "cpu.usage" => times_or_zero(vm, "summary.quickStats.overallCpuUsage", MHZ),
        "datacenter.name" => Ok(above("Datacenter")),
        "hv.name" => host.map(|host| host.text("name").to_owned()).ok_or(NOT_THERE.to_owned()),
        "memory.size" => times(vm, "summary.config.memorySizeMB", MIB),
        "memory.size.ballooned" => times_or_zero(vm, "summary.quickStats.balloonedMemory", MIB),
        "memory.size.compressed" => times_or_zero(vm, "summary.quickStats.compressedMemory", KIB),
        "memory.size.private" => times_or_zero(vm, "summary.quickStats.privateMemory", MIB),
        "memory.size.shared" => times_or_zero(vm, "summary.quickStats.sharedMemory", MIB),
        "memory.size.swapped" => times_or_zero(vm, "summary.quickStats.swappedMemory", MIB),
        "memory.size.usage.guest" => times_or_zero(vm, "summary.quickStats.guestMemoryUsage", MIB),
        "memory.size.usage.host" => times_or_zero(vm, "summary.quickStats.hostMemoryUsage", MIB),
        "net.if.discovery" => Ok(discover::machine_cards(model, vm)),
        "powerstate" => {
            number_of(vm, "runtime.powerState", &["poweredoff", "poweredon", "suspended"])
        }
        "snapshot.get" => Ok(detail::snapshots(vm, now_s)),
        "state" => text(vm, "guest.guestState"),
        "storage.committed" => times_or_zero(vm, "summary.storage.committed", 1),
        "storage.uncommitted" => times_or_zero(vm, "summary.storage.uncommitted", 1),
        "storage.unshared" => times_or_zero(vm, "summary.storage.unshared", 1),
        "tools" => match ask.third() {
            "status" => text(vm, "guest.toolsRunningStatus"),
            "version" => text(vm, "guest.toolsVersion"),
            "" => Err("Invalid third parameter.".to_owned()),
            _ => Err("Invalid third parameter value.".to_owned()),
        },
        "uptime" => times_or_zero(vm, "summary.quickStats.uptimeSeconds", 1),
        "vfs.dev.discovery" => Ok(discover::machine_disks(model, vm)),
        "vfs.fs.discovery" => Ok(discover::file_systems(vm)),
        "vfs.fs.size" => storage::file_system(vm, ask),
        _ => Err("Unsupported item key.".to_owned()),
    };
    Ok(answer?)
}
