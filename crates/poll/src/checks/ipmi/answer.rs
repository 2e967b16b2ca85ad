//! Values of readings, as the field's servers write them.

use std::fmt::Write as _;

use config::snapshot::source::Source;
use config::snapshot::{Interface, Item};
use eval::key::ItemKey;
use wire::ipmi::names;
use wire::ipmi::reading::{LIMITS, Reading};
use wire::ipmi::sdr::Sensor;

use super::device::Device;
use super::{Failure, shown};
use crate::checks::reply::CheckReply;

/// The item that describes all sensors.
const GET: &str = "ipmi.get";
const NOT_AVAILABLE: &str = "sensor data is not available";
const NO_VALUE: &str = "no value present for threshold sensor";

/// The reply to an item.
pub(crate) async fn reply(device: &mut Device, item: &Item, interface: &Interface) -> CheckReply {
    let asked = if ItemKey::parse(&item.key).is_ok_and(|key| &*key.name == GET) {
        all(device).await
    } else {
        let wanted = match item.extra.as_ref().map(|extra| &extra.source) {
            Some(Source::Ipmi(name)) => name,
            _ => "",
        };
        let sensors = device.sensors();
        let Some(sensor) = find(&sensors, wanted) else {
            let at = shown(interface);
            return CheckReply::NotSupported(format!(
                "sensor or control {wanted}@{at} does not exist"
            ));
        };
        one(device, sensor).await
    };
    match asked {
        Ok(Ok(text)) => CheckReply::Value(text),
        Ok(Err(why)) => CheckReply::NotSupported(why.to_owned()),
        Err(failure) if failure.is_small() => {
            CheckReply::NotSupported(format!("{NOT_AVAILABLE}: {failure}"))
        }
        Err(failure) => failure.reply(),
    }
}

/// A sensor by its name, `id:` and its name, or `name:` and its name with the entity.
fn find<'a>(sensors: &'a [Sensor], wanted: &str) -> Option<&'a Sensor> {
    if let Some(wanted) = wanted.strip_prefix("name:") {
        return sensors.iter().find(|sensor| sensor.full_name() == wanted);
    }
    let wanted = wanted.strip_prefix("id:").unwrap_or(wanted);
    sensors.iter().find(|sensor| sensor.name == wanted)
}

type Text = Result<String, &'static str>;

async fn one(device: &mut Device, sensor: &Sensor) -> Result<Text, Failure> {
    let reading = device.reading(sensor).await?;
    if !reading.available {
        return Ok(Err(NOT_AVAILABLE));
    }
    if !sensor.is_threshold() {
        return Ok(Ok((reading.states & sensor.states).to_string()));
    }
    let value = device.value(sensor, reading.raw).await?;
    Ok(value.map(|value| format!("{value:.6}")).ok_or(NO_VALUE))
}

/// All sensors that have a reading, as JSON.
async fn all(device: &mut Device) -> Result<Text, Failure> {
    let mut out = String::from("[");
    for sensor in &*device.sensors() {
        let about = match device.reading(sensor).await {
            Ok(reading) if reading.available => describe(device, sensor, reading).await,
            Ok(_) => continue,
            Err(failure) => Err(failure),
        };
        match about {
            Ok(about) => {
                if out.len() > 1 {
                    out.push(',');
                }
                out.push_str(&about);
            }
            Err(failure) if failure.is_small() => {}
            Err(failure) => return Err(failure),
        }
    }
    out.push(']');
    Ok(Ok(out))
}

async fn describe(
    device: &mut Device,
    sensor: &Sensor,
    reading: Reading,
) -> Result<String, Failure> {
    let mut out = head(sensor, reading);
    if sensor.is_threshold() {
        if let Some(value) = device.value(sensor, reading.raw).await? {
            let _ = write!(out, ",\"value\":{value:.6}");
        }
        let units = quoted(&names::units(sensor.units));
        let _ = write!(out, ",\"units\":{units},\"threshold\":{{\"lower\":{{");
        let mut limits = [String::new(), String::new()];
        // A device that does not tell its limits has none.
        let raw = match device.thresholds(sensor).await {
            Ok(raw) => raw,
            Err(failure) if failure.is_small() => [None; 6],
            Err(failure) => return Err(failure),
        };
        for (limit, raw) in LIMITS.into_iter().zip(raw) {
            let Some(raw) = raw else { continue };
            let Some(value) = device.value(sensor, raw).await? else { continue };
            let side = &mut limits[usize::from(limit.upper)];
            let comma = if side.is_empty() { "" } else { "," };
            let _ = write!(side, "{comma}\"{}\":{value:.6}", limit.name);
        }
        let [lower, upper] = limits;
        let _ = write!(out, "{lower}}},\"upper\":{{{upper}}}}}");
    }
    out.push('}');
    Ok(out)
}

/// What sensors of all kinds have.
fn head(sensor: &Sensor, reading: Reading) -> String {
    let (states, text) = if sensor.is_threshold() {
        (0, String::new())
    } else {
        let states = reading.states & sensor.states;
        (states, names::states(sensor.reading, sensor.kind, states))
    };
    format!(
        "{{\"id\":{},\"name\":{},\"sensor\":{{\"type\":{},\"text\":{}}},\
         \"reading\":{{\"type\":{},\"text\":{}}},\"state\":{{\"state\":{states},\"text\":{}}}",
        quoted(&sensor.name),
        quoted(&sensor.full_name()),
        sensor.kind,
        quoted(names::sensor_type(sensor.kind)),
        sensor.reading,
        quoted(names::reading_type(sensor.reading)),
        quoted(&text),
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
