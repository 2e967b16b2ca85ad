//! Answers about datastores and file systems.

use eval::num::format_f64;
use wire::vmware::Node;
use wire::vmware::property::Object;

use super::inventory::{Model, datastore_uuid};
use super::keys::{Ask, Scope};
use super::property::property;
use super::{Answer, Missing, NOT_THERE, detail, discover, perf};

const UNKNOWN_NAME: &str = "Unknown datastore name.";

/// Answers a key about a datastore.
pub(super) fn answer(ask: &Ask, model: &Model) -> Result<String, Missing> {
    let unknown = || ask.scope.unknown();
    let by_uuid = model.find(Scope::Datastore, &ask.object);
    let store = model.datastore(&ask.object);
    match ask.what {
        "alarms.get" => {
            let store = by_uuid.ok_or_else(unknown)?;
            Ok(detail::alarms(model, store.list("triggeredAlarmState")))
        }
        "perfcounter" => perf::named(ask, model, by_uuid.ok_or_else(unknown)?),
        "property" => property(ask, model, store.ok_or(UNKNOWN_NAME)?),
        "hv.list" => {
            let store = store.ok_or(UNKNOWN_NAME)?;
            let hosts = hosts_of(model, store);
            let names: Vec<&str> = hosts.map(|host| host.text("name")).collect();
            Ok(names.join("\n"))
        }
        "size" => {
            let mode = Mode::parse(ask.third()).ok_or("Invalid third parameter.")?;
            size(model, store.ok_or_else(unknown)?, mode)
        }
        _ => everywhere(ask, model, store),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Total,
    Free,
    FreePercent,
    Uncommitted,
}

impl Mode {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "" | "total" => Self::Total,
            "free" => Self::Free,
            "pfree" => Self::FreePercent,
            "uncommitted" => Self::Uncommitted,
            _ => return None,
        })
    }
}

/// Bytes of a datastore. A vCenter measures them, and tells them as counters; a host by itself has
/// them as properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Space {
    total: u64,
    free: u64,
    uncommitted: u64,
}

impl Space {
    fn of(model: &Model, store: &Object) -> Result<Self, Missing> {
        let measured =
            if model.service.is_vcenter() { Self::measured(model, store)? } else { None };
        if let Some(space) = measured {
            return Ok(space);
        }
        let number = |name: &str| store.text(&format!("summary.{name}")).parse::<u64>().ok();
        let total = number("capacity").ok_or(NO_SPACE)?;
        let free = number("freeSpace").ok_or(NO_SPACE)?;
        Ok(Self { total, free, uncommitted: number("uncommitted").unwrap_or(0) })
    }

    /// `None` = there are no figures, as of a datastore that is new.
    fn measured(model: &Model, store: &Object) -> Result<Option<Self>, Missing> {
        let mut bytes = [0; 3];
        for (bytes, name) in bytes.iter_mut().zip(["capacity", "used", "provisioned"]) {
            let path = format!("disk/{name}[latest]");
            match perf::value(model, Scope::Datastore, store, &path, "") {
                Ok(kib) => *bytes = u64::try_from(kib).unwrap_or(0).saturating_mul(1024),
                Err(Missing::Wish(wish)) => return Err(Missing::Wish(wish)),
                Err(Missing::Error(_)) => return Ok(None),
            }
        }
        let [total, used, provisioned] = bytes;
        let (free, uncommitted) = (total.saturating_sub(used), provisioned.saturating_sub(used));
        Ok(Some(Self { total, free, uncommitted }))
    }
}

const NO_SPACE: &str = "Datastore space information is not available.";

fn size(model: &Model, store: &Object, mode: Mode) -> Result<String, Missing> {
    let space = Space::of(model, store)?;
    Ok(match mode {
        Mode::Total => space.total.to_string(),
        Mode::Free => space.free.to_string(),
        Mode::FreePercent => percent(space.free, space.total).ok_or(NO_SPACE)?,
        Mode::Uncommitted => space.uncommitted.to_string(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a share of so many bytes needs no last digit")]
fn percent(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| format_f64(part as f64 / whole as f64 * 100.0))
}

/// Keys about what a hypervisor has of a datastore.
pub(super) fn of_host(ask: &Ask, model: &Model, host: &Object) -> Result<String, Missing> {
    let name = ask.third();
    let find = || {
        let named = |store: &&Object| store.text("name") == name || datastore_uuid(store) == name;
        let store = model.each(host, "datastore").find(named);
        store.ok_or_else(|| format!("Datastore \"{name}\" not found on this hypervisor."))
    };
    match ask.what {
        "datastore.discovery" => Ok(discover::host_datastores(model, host)),
        "datastore.list" => {
            let names = model.each(host, "datastore").map(|store| store.text("name").to_owned());
            Ok(names.collect::<Vec<_>>().join("\n"))
        }
        "datastore.multipath" if name.is_empty() => {
            Ok(discover::paths_of_all(model, host).to_string())
        }
        "datastore.multipath" => {
            let store = find()?;
            let partition = ask.more[1].as_deref().filter(|text| !text.is_empty());
            let partition = match partition.map(str::parse::<u32>) {
                Some(Err(_)) => return Err("Invalid fourth parameter.".into()),
                Some(Ok(number)) => Some(number),
                None => None,
            };
            Ok(discover::paths_of(host, store, partition).to_string())
        }
        "datastore.size" => {
            let mode = Mode::parse(ask.fourth()).ok_or("Invalid fourth parameter.")?;
            size(model, find()?, mode)
        }
        "datastore.read" | "datastore.write" => {
            let path = match ask.fourth() {
                "maxlatency" => None,
                mode => counter(ask.what == "datastore.read", mode),
            };
            let path = path.ok_or("Invalid fourth parameter.")?;
            let store = find()?;
            if let Some(why) = unusable(store, host) {
                return Err(format!("Datastore is not available for hypervisor: {why}").into());
            }
            let uuid = datastore_uuid(store);
            Ok(perf::value(model, Scope::Host, host, path, uuid)?.to_string())
        }
        _ => Err("Unsupported item key.".into()),
    }
}

/// The counter of hypervisors that has a figure of their datastores.
fn counter(read: bool, mode: &str) -> Option<&'static str> {
    Some(match (read, mode) {
        (true, "" | "latency" | "maxlatency") => "datastore/totalReadLatency[average]",
        (true, "rps") => "datastore/numberReadAveraged[average]",
        (false, "" | "latency" | "maxlatency") => "datastore/totalWriteLatency[average]",
        (false, "rps") => "datastore/numberWriteAveraged[average]",
        _ => return None,
    })
}

/// The hypervisors that have a datastore, mounted or not.
fn hosts_of<'a>(model: &'a Model, store: &'a Object) -> impl Iterator<Item = &'a Object> {
    let has = move |host: &&Object| {
        model.each(host, "datastore").any(|one| one.reference == store.reference)
    };
    model.all(Scope::Host.kind()).filter(has)
}

/// Why a hypervisor cannot use a datastore; `None` = it can.
fn unusable(store: &Object, host: &Object) -> Option<String> {
    let own = |mount: &&Node| mount.text_at("key") == &*host.reference.id;
    let mount = store.list("host").iter().find(own);
    let is = |name: &str| mount.is_some_and(|mount| mount.text_at(name) == "true");
    let mut why = Vec::new();
    if !is("mountInfo.mounted") {
        why.push("unmounted");
    } else if !is("mountInfo.accessible") {
        why.push("inaccessible");
    }
    (!why.is_empty()).then(|| why.join(","))
}

/// A figure over all hypervisors that use a datastore: latencies as their average or maximum, rates
/// as their average.
fn everywhere(ask: &Ask, model: &Model, store: Option<&Object>) -> Result<String, Missing> {
    let mode = ask.third();
    let path = counter(ask.what == "read", mode).ok_or("Invalid third parameter.")?;
    let store = store.ok_or(UNKNOWN_NAME)?;
    let uuid = datastore_uuid(store);
    let hosts = hosts_of(model, store);
    let mut found = Vec::new();
    let (mut count, mut last) = (0_usize, None);
    for host in hosts.filter(|host| unusable(store, host).is_none()) {
        count += 1;
        match perf::value(model, Scope::Host, host, path, uuid) {
            Ok(value) => found.push(value),
            Err(Missing::Wish(wish)) => return Err(Missing::Wish(wish)),
            Err(error) => last = Some(error),
        }
    }
    if count == 0 {
        return Err("No datastores available.".into());
    }
    if let (true, Some(error)) = (found.is_empty(), last) {
        return Err(error);
    }
    let value = match mode {
        "maxlatency" => found.iter().copied().max().unwrap_or(0),
        _ => found.iter().sum::<i64>() / i64::try_from(found.len().max(1)).unwrap_or(1),
    };
    Ok(value.to_string())
}

/// Space of a file system within a machine.
pub(super) fn file_system(vm: &Object, ask: &Ask) -> Answer {
    let disks = vm.list("guest.disk");
    let disk = disks.iter().find(|disk| disk.text_at("diskPath") == ask.third());
    let disk = disk.ok_or("Unknown file system path.")?;
    let number = |name: &str| disk.text_at(name).parse::<u64>().ok();
    let missing = || NOT_THERE.to_owned();
    let total = number("capacity").ok_or_else(missing)?;
    let free = number("freeSpace").ok_or_else(missing)?;
    let used = total.saturating_sub(free);
    Ok(match ask.fourth() {
        "" | "total" => total.to_string(),
        "free" => free.to_string(),
        "used" => used.to_string(),
        "pfree" => percent(free, total).unwrap_or_else(|| "100".to_owned()),
        "pused" => percent(used, total).unwrap_or_else(|| "0".to_owned()),
        _ => return Err("Invalid fourth parameter.".to_owned()),
    })
}
