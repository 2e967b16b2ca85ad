//! Values that need more than a number or a text.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const UNITS_MS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A duration: `250ms`, `5s`, `10m`, `1h`, `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Duration);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let unit = UNITS_MS.iter().find(|(known, _)| *known == unit);
        match (digits.parse::<u32>(), unit) {
            (Ok(number), Some((_, ms))) if number > 0 => {
                Ok(Self(Duration::from_millis(u64::from(number) * ms)))
            }
            _ => Err(format!(
                "'{text}' is not a duration; write a number with ms, s, m, h or d, such as 5s"
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let unit = UNITS_MS.iter().find(|(_, ms)| all.is_multiple_of(*ms)).unwrap_or(&("ms", 1));
        serializer.collect_str(&format_args!("{}{}", all / unit.1, unit.0))
    }
}

/// A number of bytes: `500M`, `10G`, `1T`; the units are powers of 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = UNITS_BYTES.into_iter().find_map(|(suffix, shift)| {
            let number: u64 = text.strip_suffix(suffix)?.parse().ok()?;
            number.checked_mul(1 << shift)
        });
        bytes.map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "'{text}' is not a size; write a number with K, M, G or T, such as 10G"
            ))
        })
    }
}

const UNITS_BYTES: [(&str, u32); 4] = [("T", 40), ("G", 30), ("M", 20), ("K", 10)];

impl Serialize for Bytes {
    /// Sizes below 1K become 1K.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let exact = |(_, shift): &&(&str, u32)| self.0.trailing_zeros() >= *shift;
        let (unit, shift) = UNITS_BYTES.iter().find(exact).unwrap_or(&("K", 10));
        serializer.collect_str(&format_args!("{}{unit}", (self.0 >> shift).max(1)))
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
                "'{text}' is not a network; write an address or one with a prefix, such as 10.0.0.0/8"
            )
        })
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}/{}", self.address, self.prefix))
    }
}

/// The addresses of a virtual service: one, or a list of at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen(Vec<SocketAddr>);

impl Listen {
    /// All of them, without repetitions, in order.
    pub fn new(mut addresses: Vec<SocketAddr>) -> Option<Self> {
        addresses.sort_unstable();
        addresses.dedup();
        (!addresses.is_empty()).then_some(Self(addresses))
    }

    /// All of them.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.0
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        Self(vec![address])
    }
}

impl Serialize for Listen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Listen;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address with a port, such as 0.0.0.0:80, or a list of them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Listen, E> {
                let address = text.parse::<SocketAddr>();
                address.map(Listen::from).map_err(|_| {
                    E::custom(format!(
                        "'{text}' is not an address with a port; write one such as 0.0.0.0:80"
                    ))
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Listen, A::Error> {
                let mut addresses = Vec::new();
                while let Some(address) = list.next_element()? {
                    addresses.push(address);
                }
                Listen::new(addresses)
                    .ok_or_else(|| de::Error::custom("the list is empty; add an address"))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

/// Certificates or a key in PEM format: the name of a file, or the text itself.
#[derive(Clone, PartialEq, Eq)]
pub enum Pem {
    /// A file, read when the configuration is applied.
    File(PathBuf),
    /// The text, which contains `-----BEGIN `.
    Text(String),
}

/// Never shows the text, which may be a private key.
impl fmt::Display for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Text(_) => f.write_str("the PEM text"),
        }
    }
}

impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Pem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::File(path) => path.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Pem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(if text.contains("-----BEGIN ") { Self::Text(text) } else { Self::File(text.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_addresses_of_their_family() {
        let network = |text: &str| serde_saphyr::from_str::<Network>(text).unwrap();
        let contains = |net: &str, ip: &str| network(net).contains(ip.parse().unwrap());
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("0.0.0.0/0", "1.2.3.4") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("'::1'", "::1") && !contains("'::1'", "::2"));
        assert!(contains("'2001:db8::/32'", "2001:db8:1::1"));
        assert!(contains("10.0.0.0/8", "::ffff:10.0.0.1"), "a mapped address is that of IPv4");
    }
}
