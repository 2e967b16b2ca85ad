//! Ranges of addresses (`192.168.0.1-254,10.0.0.0/16,fe80::1-ff`) and of numbers (`22,8000-8080`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

/// Addresses in one range of a list.
pub const ADDRESSES_MAX: u128 = 65_536;

/// Characters of a list; longer ones are refused.
pub const TEXT_MAX: usize = 2_048;

/// The text is not a list of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// Nothing in it.
    #[error("cannot be empty")]
    Empty,
    /// One range is none.
    #[error("incorrect address starting from \"{0}\"")]
    Syntax(String),
    /// One range is too large.
    #[error("IP range \"{0}\" exceeds \"{ADDRESSES_MAX}\" address limit")]
    TooLarge(String),
}

/// A list of ranges of addresses. It takes the memory of its text, however many addresses it has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressRanges(Vec<Span>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Span {
    /// `10.0.0-1.1-254`: a range for each of four parts.
    V4([(u16, u16); 4]),
    /// `fe80::1-ff`: a range for each of eight parts.
    V6([(u16, u16); 8]),
    /// `10.0.0.0/24`: first and last address.
    Network { v4: bool, first: u128, last: u128 },
}

impl AddressRanges {
    /// Parses a list separated by commas whose ranges have at most [`ADDRESSES_MAX`] addresses, so
    /// that all may be gone through.
    pub fn parse_bounded(text: &str) -> Result<Self, RangeError> {
        let ranges = Self::parse(text)?;
        // Of a network all count, with those that are left out.
        let large = ranges.0.iter().position(|span| span.size() > ADDRESSES_MAX);
        match large.and_then(|at| text.split(',').nth(at)) {
            Some(one) => Err(RangeError::TooLarge(one.trim().to_owned())),
            None => Ok(ranges),
        }
    }

    /// Parses a list separated by commas.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        if text.trim().is_empty() {
            return Err(RangeError::Empty);
        }
        if text.chars().count() > TEXT_MAX {
            return Err(RangeError::Syntax(text.chars().take(64).collect()));
        }
        text.split(',').map(|one| Span::parse(one.trim())).collect::<Result<_, _>>().map(Self)
    }

    /// How many addresses there are; one that several ranges name counts for each.
    pub fn len(&self) -> u64 {
        let all = self.0.iter().map(Span::len).fold(0, u128::saturating_add);
        u64::try_from(all).unwrap_or(u64::MAX)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address at this place, from 0. Of networks the address of the network itself and that
    /// of broadcasts are left out.
    pub fn get(&self, at: u64) -> Option<IpAddr> {
        let mut at = u128::from(at);
        for span in &self.0 {
            if at < span.len() {
                return Some(span.get(at));
            }
            at -= span.len();
        }
        None
    }

    /// One of the ranges has this address.
    pub fn contains(&self, ip: IpAddr) -> bool {
        self.0.iter().any(|span| span.contains(ip))
    }
}

impl Span {
    fn parse(text: &str) -> Result<Self, RangeError> {
        let wrong = || RangeError::Syntax(text.to_owned());
        Ok(match text.split_once('/') {
            Some((address, bits)) => Self::network(address, bits).ok_or_else(wrong)?,
            None if text.contains(':') => Self::V6(v6(text).ok_or_else(wrong)?),
            None => Self::V4(v4(text).ok_or_else(wrong)?),
        })
    }

    fn network(address: &str, bits: &str) -> Option<Self> {
        let address: IpAddr = address.parse().ok()?;
        if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let bits: u32 = bits.parse().ok()?;
        let v4 = address.is_ipv4();
        let width = if v4 { 32 } else { 128 };
        let rest = width - (bits <= width).then_some(bits)?;
        let low = if rest == 128 { u128::MAX } else { (1 << rest) - 1 };
        let first = number(address) & !low;
        Some(Self::Network { v4, first, last: first | low })
    }

    /// Addresses in it, with those that are left out.
    fn size(&self) -> u128 {
        let product = |parts: &[(u16, u16)]| {
            let sizes = parts.iter().map(|(from, to)| u128::from(to - from) + 1);
            sizes.fold(1, u128::saturating_mul)
        };
        match self {
            Self::V4(parts) => product(parts),
            Self::V6(parts) => product(parts),
            Self::Network { first, last, .. } => (last - first).saturating_add(1),
        }
    }

    /// Addresses of networks that are nobody's: the first, the last.
    fn skipped(&self) -> (u128, u128) {
        match self {
            Self::Network { v4: true, .. } if self.size() > 2 => (1, 1),
            _ => (0, 0),
        }
    }

    fn len(&self) -> u128 {
        let (before, after) = self.skipped();
        self.size() - before - after
    }

    fn get(&self, at: u128) -> IpAddr {
        match self {
            Self::Network { v4, first, .. } => address(*v4, first + self.skipped().0 + at),
            Self::V4(parts) => address(true, digits(parts, at, 8)),
            Self::V6(parts) => address(false, digits(parts, at, 16)),
        }
    }

    fn contains(&self, ip: IpAddr) -> bool {
        let within = |parts: &[(u16, u16)], bits: u32| {
            let value = number(ip);
            let mask = (1_u128 << bits) - 1;
            parts.iter().rev().zip(0_u32..).all(|((from, to), place)| {
                let part = (value >> (bits * place)) & mask;
                (u128::from(*from)..=u128::from(*to)).contains(&part)
            })
        };
        match self {
            Self::V4(parts) => ip.is_ipv4() && within(parts, 8),
            Self::V6(parts) => ip.is_ipv6() && within(parts, 16),
            Self::Network { v4, first, last } => {
                *v4 == ip.is_ipv4() && (*first..=*last).contains(&number(ip))
            }
        }
    }
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(u32::from(ip)),
        IpAddr::V6(ip) => u128::from(ip),
    }
}

fn address(v4: bool, number: u128) -> IpAddr {
    if v4 {
        Ipv4Addr::from(u32::try_from(number).unwrap_or(u32::MAX)).into()
    } else {
        Ipv6Addr::from(number).into()
    }
}

/// The combination at this place: the last part counts fastest.
fn digits(parts: &[(u16, u16)], mut at: u128, bits: u32) -> u128 {
    let mut value = 0;
    for ((from, to), place) in parts.iter().rev().zip(0_u32..) {
        let size = u128::from(to - from) + 1;
        value |= (u128::from(*from) + at % size) << (bits * place);
        at /= size;
    }
    value
}

/// A part or a range of parts; `hex` = as in IPv6.
fn part(text: &str, hex: bool) -> Option<(u16, u16)> {
    let (digits, radix, max) = if hex { (4, 16, u16::MAX) } else { (3, 10, 255) };
    let one = |text: &str| {
        let fits = (1..=digits).contains(&text.len()) && text.chars().all(|c| c.is_digit(radix));
        u16::from_str_radix(text, radix).ok().filter(|n| fits && *n <= max)
    };
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (one(from)?, one(to)?);
    (from <= to).then_some((from, to))
}

fn v4(text: &str) -> Option<[(u16, u16); 4]> {
    let parts: Option<Vec<(u16, u16)>> = text.split('.').map(|one| part(one, false)).collect();
    parts?.try_into().ok()
}

fn v6(text: &str) -> Option<[(u16, u16); 8]> {
    let parts = |text: &str| -> Option<Vec<(u16, u16)>> {
        if text.is_empty() {
            return Some(Vec::new());
        }
        text.split(':').map(|one| part(one, true)).collect()
    };
    let Some((head, tail)) = text.split_once("::") else {
        return parts(text)?.try_into().ok();
    };
    let (mut head, tail) = (parts(head)?, parts(tail)?);
    let zeros = 8_usize.checked_sub(head.len() + tail.len()).filter(|n| *n > 0)?;
    head.extend(std::iter::repeat_n((0, 0), zeros));
    head.extend(tail);
    head.try_into().ok()
}

/// Numbers and ranges of numbers separated by commas, each at most `max`; `None` = the text is
/// none.
pub fn numbers(text: &str, max: u16) -> Option<Vec<RangeInclusive<u16>>> {
    let one = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|n: &u16| digits && *n <= max)
    };
    let range = |text: &str| {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let (from, to) = (one(from.trim())?, one(to.trim())?);
        (from <= to).then_some(from..=to)
    };
    text.split(',').map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_addresses() {
        for (text, count, first, last) in [
            ("127.0.0.1", 1, "127.0.0.1", "127.0.0.1"),
            (" 127.0.0.1 ", 1, "127.0.0.1", "127.0.0.1"),
            ("192.168.0.1-254", 254, "192.168.0.1", "192.168.0.254"),
            ("10.0.0-1.1-255", 510, "10.0.0.1", "10.0.1.255"),
            ("10.0.0.0/24", 254, "10.0.0.1", "10.0.0.254"),
            ("10.0.0.77/30", 2, "10.0.0.77", "10.0.0.78"),
            ("10.0.0.0/31", 2, "10.0.0.0", "10.0.0.1"),
            ("10.0.0.9/32", 1, "10.0.0.9", "10.0.0.9"),
            ("10.0.0.0/16", 65_534, "10.0.0.1", "10.0.255.254"),
            ("10.0.0.0/24,192.168.5.5,::1", 256, "10.0.0.1", "::1"),
            ("fe80::1-ff", 255, "fe80::1", "fe80::ff"),
            ("::1/112", 65_536, "::", "::ffff"),
            ("1:2:3:4:5:6:7:8-9", 2, "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:9"),
        ] {
            let ranges = AddressRanges::parse_bounded(text).unwrap();
            assert_eq!(ranges.len(), count, "{text}");
            let at = |place| ranges.get(place).map(|ip| ip.to_string());
            assert_eq!(at(0).as_deref(), Some(first), "{text}");
            assert_eq!(at(count - 1).as_deref(), Some(last), "{text}");
            assert_eq!(at(count), None, "{text}");
            for place in [0, count / 2, count - 1] {
                assert!(ranges.contains(ranges.get(place).unwrap()), "{text} {place}");
            }
        }
    }

    #[test]
    fn what_is_no_list() {
        let too_large = |text: &str| RangeError::TooLarge(text.to_owned());
        let wrong = |text: &str| RangeError::Syntax(text.to_owned());
        for (text, error) in [
            ("", RangeError::Empty),
            ("x", wrong("x")),
            ("10.0.0.1,,10.0.0.2", wrong("")),
            ("127.0.0.1-300", wrong("127.0.0.1-300")),
            ("10.0.5-1.1", wrong("10.0.5-1.1")),
            ("10.0.0.1-10.0.0.9", wrong("10.0.0.1-10.0.0.9")),
            ("10.0.0.0/33", wrong("10.0.0.0/33")),
            ("10.0.0.0/+8", wrong("10.0.0.0/+8")),
            ("10.0.0.0/", wrong("10.0.0.0/")),
            ("1::2::3", wrong("1::2::3")),
            ("1:2:3:4:5:6:7::8:9", wrong("1:2:3:4:5:6:7::8:9")),
            ("10.0.0.0/15", too_large("10.0.0.0/15")),
            ("0.0.0.0/0", too_large("0.0.0.0/0")),
            ("::/0", too_large("::/0")),
            ("::1/111", too_large("::1/111")),
            ("10.0-255.0-255.0-1", too_large("10.0-255.0-255.0-1")),
        ] {
            assert_eq!(AddressRanges::parse_bounded(text), Err(error), "{text}");
        }
        let long = "10.0.0.1,".repeat(1_000) + "10.0.0.1";
        assert!(AddressRanges::parse(&long).is_err());
    }

    #[test]
    fn what_a_list_contains() {
        let ranges =
            AddressRanges::parse("10.0.0-1.5-9,192.168.0.0/24,fe80::1-f,11.0.0.0/8").unwrap();
        for (ip, inside) in [
            ("10.0.1.7", true),
            ("10.0.2.7", false),
            ("10.0.0.4", false),
            ("192.168.0.0", true),
            ("192.168.0.255", true),
            ("192.168.1.0", false),
            ("11.255.255.255", true),
            ("fe80::f", true),
            ("fe80::10", false),
            ("::ffff:10.0.0.5", false),
        ] {
            assert_eq!(ranges.contains(ip.parse().unwrap()), inside, "{ip}");
        }
    }

    #[test]
    fn lists_of_numbers() {
        let list = |text| {
            let ranges = numbers(text, 1_000)?;
            Some(ranges.into_iter().map(|r| (*r.start(), *r.end())).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("22", Some(vec![(22, 22)])),
            ("22, 80-81", Some(vec![(22, 22), (80, 81)])),
            ("0", Some(vec![(0, 0)])),
            ("", None),
            ("22,", None),
            ("5-3", None),
            ("1001", None),
            ("+5", None),
            ("{$P}", None),
        ] {
            assert_eq!(list(text), expected, "{text}");
        }
    }
}
