//! Sensor data records: what sensors a device has (sections 33 and 43).

use super::IpmiError;
use super::reading::{Factors, Format, Linearization};

/// Octets of a record's header: id, version, type, length of the rest.
pub const HEADER_BYTES: usize = 5;
/// The id behind the last record.
pub const LAST: u16 = 0xFFFF;
/// Sensors that one compact record may stand for.
const SHARED_MAX: u8 = 15;
/// Instances from here on are counted by the controller that has them.
const DEVICE_RELATIVE: u8 = 0x60;

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Ids of records need not be consecutive.
    pub id: u16,
    /// Its type: 1 full, 2 compact, others are no readable sensors.
    pub kind: u8,
    /// Octets behind the header.
    pub length: u8,
}

impl Header {
    /// Reads it.
    pub fn parse(bytes: &[u8]) -> Result<Self, IpmiError> {
        match *bytes {
            [low, high, _, kind, length, ..] => {
                Ok(Self { id: u16::from_le_bytes([low, high]), kind, length })
            }
            _ => Err(IpmiError::Truncated),
        }
    }

    /// A record of a sensor that can be read.
    pub const fn is_sensor(self) -> bool {
        matches!(self.kind, 1 | 2)
    }
}

/// Units of a sensor; the numbers are the specification's (table 43-15).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Units {
    /// In percent of it.
    pub percent: bool,
    /// 0 none, 1 each microsecond, … 6 each day.
    pub rate: u8,
    /// What `modifier` is to `base`: 0 nothing, 1 a divisor, 2 a factor.
    pub relation: u8,
    /// The unit.
    pub base: u8,
    /// Another one.
    pub modifier: u8,
}

/// Limits that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thresholds {
    /// There are none.
    None,
    /// By a command of their own.
    Readable,
    /// They are where the record says, in the order of [`super::reading::LIMITS`]; `None` = not
    /// there.
    Fixed([Option<u8>; 6]),
}

/// A sensor, as its record describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Address of the controller that has it; 0x20 is the one that is asked.
    pub owner: u8,
    /// Channel over which that controller is reached.
    pub channel: u8,
    /// Logical unit.
    pub lun: u8,
    /// Its number there.
    pub number: u8,
    /// What it is a part of: entity and instance.
    pub entity: (u8, u8),
    /// What it measures: a number of table 42-3.
    pub kind: u8,
    /// How its reading is meant: 1 thresholds, others are states (table 42-1).
    pub reading: u8,
    /// States that it can have, one bit for each.
    pub states: u16,
    pub name: String,
    /// Units of its value.
    pub units: Units,
    /// How its value is computed; `None` = it has states only.
    pub factors: Option<(Format, Linearization, Factors)>,
    /// Its limits.
    pub thresholds: Thresholds,
}

impl Sensor {
    /// It has a value, no states.
    pub const fn is_threshold(&self) -> bool {
        self.reading == 1
    }

    /// The name with the entity before it, as the field's servers write it: `(3.1).CPU Temp`.
    pub fn full_name(&self) -> String {
        let ((entity, instance), name) = (self.entity, &self.name);
        match instance.checked_sub(DEVICE_RELATIVE) {
            Some(instance) => {
                let (channel, owner) = (self.channel, self.owner);
                format!("(r{channel}.{owner}.{entity}.{instance}).{name}")
            }
            None => format!("({entity}.{instance}).{name}"),
        }
    }
}

/// The sensors of a record; none if it describes something else.
pub fn sensors(record: &[u8]) -> Result<Vec<Sensor>, IpmiError> {
    let header = Header::parse(record)?;
    let length = HEADER_BYTES + usize::from(header.length);
    let record = record.get(..length).ok_or(IpmiError::Truncated)?;
    match header.kind {
        1 => Ok(vec![full(record)?]),
        2 => compact(record),
        _ => Ok(Vec::new()),
    }
}

fn at(record: &[u8], at: usize) -> Result<u8, IpmiError> {
    record.get(at).copied().ok_or(IpmiError::Truncated)
}

/// What both kinds of records begin with.
fn common(record: &[u8], name_at: usize) -> Result<Sensor, IpmiError> {
    let [channel, units] = [at(record, 6)?, at(record, 20)?];
    Ok(Sensor {
        owner: at(record, 5)?,
        channel: channel >> 4,
        lun: channel & 3,
        number: at(record, 7)?,
        // The highest bit says that the entity is no physical one.
        entity: (at(record, 8)?, at(record, 9)? & 0x7F),
        kind: at(record, 12)?,
        reading: at(record, 13)?,
        states: u16::from_le_bytes([at(record, 18)?, at(record, 19)?]) & 0x7FFF,
        name: name(record, name_at)?,
        units: Units {
            percent: units & 1 != 0,
            relation: (units >> 1) & 3,
            rate: (units >> 3) & 7,
            base: at(record, 21)?,
            modifier: at(record, 22)?,
        },
        factors: None,
        thresholds: Thresholds::None,
    })
}

fn full(record: &[u8]) -> Result<Sensor, IpmiError> {
    let mut sensor = common(record, 47)?;
    let factors = Factors::parse(&record[24..30]);
    let format = Format::from_units(record[20]);
    if let (Some(format), true) = (format, sensor.is_threshold()) {
        let linearization = Linearization::from_number(record[23]);
        sensor.factors = linearization.map(|by| (format, by, factors));
    }
    // Bits 3 and 2 of the capabilities: 0 none, 1 readable, 2 settable too, 3 fixed.
    sensor.thresholds = match (record[11] >> 2) & 3 {
        0 => Thresholds::None,
        3 => {
            let (readable, values) = (record[18], &record[36..42]);
            // The record has them from the highest limit to the lowest.
            let order = [5, 4, 3, 2, 1, 0];
            Thresholds::Fixed(std::array::from_fn(|limit| {
                (readable & (1 << limit) != 0).then(|| values[order[limit]])
            }))
        }
        _ => Thresholds::Readable,
    };
    Ok(sensor)
}

/// One record may stand for several sensors in a row that differ in number and name.
fn compact(record: &[u8]) -> Result<Vec<Sensor>, IpmiError> {
    let sensor = common(record, 31)?;
    let [sharing, instances] = [at(record, 23)?, at(record, 24)?];
    let (count, letters) = ((sharing & SHARED_MAX).max(1), sharing & 0x30 == 0x10);
    if count == 1 {
        return Ok(vec![sensor]);
    }
    let each = |n: u8| {
        let mut one = sensor.clone();
        one.number = one.number.wrapping_add(n);
        if instances & 0x80 != 0 {
            one.entity.1 = one.entity.1.wrapping_add(n) & 0x7F;
        }
        let n = u32::from(instances & 0x7F) + u32::from(n);
        if letters {
            let letter = |n: u32| char::from(b'A' + (n % 26) as u8);
            if n >= 26 {
                one.name.push(letter(n / 26 - 1));
            }
            one.name.push(letter(n));
        } else {
            one.name.push_str(&n.to_string());
        }
        one
    };
    Ok((0..count).map(each).collect())
}

/// A text with its kind and its length, in characters, before it (section 43.15).
fn name(record: &[u8], place: usize) -> Result<String, IpmiError> {
    let kind = at(record, place)?;
    let length = usize::from(kind & 0x1F);
    let octets = match kind >> 6 {
        1 => length.div_ceil(2),
        2 => (length * 6).div_ceil(8),
        _ => length,
    };
    let bytes = record.get(place + 1..place + 1 + octets).ok_or(IpmiError::Truncated)?;
    let text: String = match kind >> 6 {
        0 => String::from_utf8_lossy(bytes).into_owned(),
        1 => {
            let digit = |n: u8| char::from(b"0123456789 -.:,_"[usize::from(n & 15)]);
            bytes.iter().flat_map(|byte| [digit(*byte), digit(byte >> 4)]).collect()
        }
        2 => six_bits(bytes),
        _ => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    Ok(text.chars().take(length).take_while(|sign| *sign != '\0').collect())
}

/// Four characters in three bytes, the lowest bits first.
fn six_bits(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3);
    for three in bytes.chunks(3) {
        let bits = three.iter().rev().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte));
        for n in 0..three.len() * 8 / 6 {
            text.push(char::from(b' ' + ((bits >> (6 * n)) & 0x3F) as u8));
        }
    }
    text
}
