//! Values that need more than a number or a text.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration: `250ms`, `5s`, `10m`, `1h`, `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(pub Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => 0,
        };
        match digits.parse::<u32>() {
            Ok(number) if ms > 0 && number > 0 => {
                Ok(Self(Duration::from_millis(u64::from(number) * ms)))
            }
            _ => Err(de::Error::custom(format!(
                "'{text}' is no duration; write a number with ms, s, m, h or d, such as 5s"
            ))),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ms = self.0.as_millis();
        let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
        let whole = units.into_iter().find(|(_, unit)| ms >= *unit && ms.is_multiple_of(*unit));
        let (unit, length) = whole.unwrap_or(("ms", 1));
        serializer.collect_str(&format_args!("{}{unit}", ms / length))
    }
}

/// A number of bytes: `500M`, `10G`, `1T`; the units are powers of 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unit = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
        let bytes = unit.into_iter().find_map(|(suffix, shift)| {
            let number: u64 = text.strip_suffix(suffix)?.parse().ok()?;
            number.checked_mul(1 << shift)
        });
        bytes.map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "'{text}' is no size; write a number with K, M, G or T, such as 10G"
            ))
        })
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let units = [("T", 40), ("G", 30), ("M", 20)];
        let whole = units
            .into_iter()
            .find(|(_, shift)| self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift));
        let (unit, shift) = whole.unwrap_or(("K", 10));
        serializer.collect_str(&format_args!("{}{unit}", self.0 >> shift))
    }
}

/// An address or a network: `10.0.0.0/8`, `::1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Whether it contains an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let shift = |bits: u8| u32::from(bits - self.prefix);
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.checked_shr(shift(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.checked_shr(shift(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let parsed = address.parse::<IpAddr>().ok().and_then(|address| {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            let prefix = prefix.map_or(Some(bits), |prefix| prefix.parse().ok())?;
            (prefix <= bits).then_some(Self { address, prefix })
        });
        parsed.ok_or_else(|| {
            format!(
                "'{text}' is no network; write an address or one with a prefix, such as 10.0.0.0/8"
            )
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
