//! Answers that are values of performance counters. Counters are asked for of all objects of a
//! kind, once an item wants one.

use eval::num::format_f64;
use wire::vmware::property::Object;

use super::Missing;
use super::inventory::{Model, Values, Wish};
use super::keys::{Ask, Scope};

/// The service does not have the counter at all.
const NO_COUNTER: &str = "Performance counter is not available.";
/// The object has no values of it.
const NO_VALUES: &str = "Performance counter data is not available.";
/// This part of the object has none.
const NO_INSTANCE: &str = "Performance counter instance was not found.";

/// What is made of a counter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// It stays as it is.
    Same,
    /// KiB, shown in bytes.
    Kib,
    /// MHz, shown in Hz.
    Mhz,
    /// Hundredths of a percent.
    Percent,
}

/// Which parts of the object are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it.
    Whole,
    /// The one that the third parameter names.
    Third,
}

type Counter = (&'static str, Unit, Part);

/// The counters of keys that have one.
fn counter(ask: &Ask) -> Option<Result<Counter, &'static str>> {
    use Part::{Third, Whole};
    use Unit::{Kib, Mhz, Percent, Same};
    let (third, fourth) = (ask.third(), ask.fourth());
    let counter = match (ask.scope, ask.what) {
        (_, "cpu.usage.perf") => ("cpu/usage[average]", Percent, Whole),
        (Scope::Host, "cpu.utilization") => ("cpu/utilization[average]", Percent, Whole),
        (Scope::Host, "power") => match third {
            "" => ("power/power[average]", Same, Whole),
            "max" => ("power/powerCap[average]", Same, Whole),
            _ => return Some(Err("Invalid third parameter.")),
        },
        (Scope::Host, "network.in" | "network.out") => {
            let path = match (ask.what, third) {
                ("network.in", "" | "bps") => "net/received[average]",
                ("network.in", "packets") => "net/packetsRx[summation]",
                ("network.in", "dropped") => "net/droppedRx[summation]",
                ("network.in", "errors") => "net/errorsRx[summation]",
                ("network.in", "broadcast") => "net/broadcastRx[summation]",
                (_, "" | "bps") => "net/transmitted[average]",
                (_, "packets") => "net/packetsTx[summation]",
                (_, "dropped") => "net/droppedTx[summation]",
                (_, "errors") => "net/errorsTx[summation]",
                (_, "broadcast") => "net/broadcastTx[summation]",
                _ => return Some(Err("Invalid third parameter.")),
            };
            (path, if matches!(third, "" | "bps") { Kib } else { Same }, Whole)
        }
        (Scope::Machine, "cpu.latency") => ("cpu/latency[average]", Percent, Whole),
        (Scope::Machine, "cpu.readiness") => ("cpu/readiness[average]", Percent, Third),
        (Scope::Machine, "cpu.ready") => ("cpu/ready[summation]", Same, Whole),
        (Scope::Machine, "cpu.swapwait") => ("cpu/swapwait[summation]", Same, Third),
        (Scope::Machine, "guest.memory.size.swapped") => ("mem/swapped[average]", Kib, Whole),
        (Scope::Machine, "guest.osuptime") => ("sys/osUptime[latest]", Same, Whole),
        (Scope::Machine, "memory.size.consumed") => ("mem/consumed[average]", Kib, Whole),
        (Scope::Machine, "memory.usage") => ("mem/usage[average]", Percent, Whole),
        (Scope::Machine, "net.if.usage") => ("net/usage[average]", Kib, Third),
        (Scope::Machine, "net.if.in" | "net.if.out") => match (ask.what, fourth) {
            ("net.if.in", "" | "bps") => ("net/received[average]", Kib, Third),
            ("net.if.in", "pps") => ("net/packetsRx[summation]", Same, Third),
            (_, "" | "bps") => ("net/transmitted[average]", Kib, Third),
            (_, "pps") => ("net/packetsTx[summation]", Same, Third),
            _ => return Some(Err("Invalid fourth parameter.")),
        },
        (Scope::Machine, "storage.readoio") => ("virtualDisk/readOIO[latest]", Same, Third),
        (Scope::Machine, "storage.writeoio") => ("virtualDisk/writeOIO[latest]", Same, Third),
        (Scope::Machine, "storage.totalreadlatency") => {
            ("virtualDisk/totalReadLatency[average]", Same, Third)
        }
        (Scope::Machine, "storage.totalwritelatency") => {
            ("virtualDisk/totalWriteLatency[average]", Same, Third)
        }
        (Scope::Machine, "vfs.dev.read" | "vfs.dev.write") => match (ask.what, fourth) {
            ("vfs.dev.read", "" | "bps") => ("virtualDisk/read[average]", Kib, Third),
            ("vfs.dev.read", "ops") => ("virtualDisk/numberReadAveraged[average]", Same, Third),
            (_, "" | "bps") => ("virtualDisk/write[average]", Kib, Third),
            (_, "ops") => ("virtualDisk/numberWriteAveraged[average]", Same, Third),
            _ => return Some(Err("Invalid fourth parameter.")),
        },
        (Scope::Pool, "cpu.usage") => ("cpu/usagemhz[average]", Mhz, Whole),
        (Scope::Pool, "memory") => match third {
            "" | "consumed" => ("mem/consumed[average]", Kib, Whole),
            "ballooned" => ("mem/vmmemctl[average]", Kib, Whole),
            "overhead" => ("mem/overhead[average]", Kib, Whole),
            _ => return Some(Err("Invalid third parameter.")),
        },
        _ => return None,
    };
    Some(Ok(counter))
}

/// Answers a key that has a counter; `None` = it has none.
pub(super) fn answer(ask: &Ask, model: &Model, object: &Object) -> Option<Result<String, Missing>> {
    let (path, unit, part) = match counter(ask)? {
        Ok(counter) => counter,
        Err(why) => return Some(Err(why.into())),
    };
    let instance = if part == Part::Third { ask.third() } else { "" };
    let value = value(model, ask.scope, object, path, instance);
    Some(value.map(|value| shown(value, unit)))
}

fn shown(value: i64, unit: Unit) -> String {
    match unit {
        Unit::Same => value.to_string(),
        Unit::Kib => value.saturating_mul(1024).to_string(),
        Unit::Mhz => value.saturating_mul(1_000_000).to_string(),
        #[expect(clippy::cast_precision_loss, reason = "percent are small")]
        Unit::Percent => format_f64(value as f64 / 100.0),
    }
}

/// The counter that the key names itself.
pub(super) fn named(ask: &Ask, model: &Model, object: &Object) -> Result<String, Missing> {
    let value = value(model, ask.scope, object, ask.third(), ask.fourth())?;
    Ok(value.to_string())
}

/// All values of a counter of an object.
pub(super) fn values<'a>(
    model: &'a Model,
    scope: Scope,
    object: &Object,
    path: &str,
) -> Result<&'a Values, Missing> {
    let wish = Wish::Counter(scope, path.to_owned());
    if !model.wishes.contains(&wish) {
        return Err(Missing::Wish(wish));
    }
    let counter = model.counters.find(path).ok_or(NO_COUNTER)?;
    let values = model.perf.get(&(object.reference.clone(), counter));
    values.ok_or_else(|| NO_VALUES.into())
}

/// The value of a counter of an object, or of a part of it.
pub(super) fn value(
    model: &Model,
    scope: Scope,
    object: &Object,
    path: &str,
    instance: &str,
) -> Result<i64, Missing> {
    let values = values(model, scope, object, path)?;
    match values.iter().find(|(known, _)| **known == *instance) {
        // Services say so that they have none.
        Some((_, value)) if *value < 0 => Err(NO_VALUES.into()),
        Some((_, value)) => Ok(*value),
        None => Err(NO_INSTANCE.into()),
    }
}
