//! Who may connect: lists as in an agent's `Server=` and an item's allowed hosts.
//!
//! Behaviour taken from the agent's documentation and its recorded test data: IPv4 matches also
//! its IPv4-compatible and IPv4-mapped IPv6 forms, `127.0.0.0/0` is every IPv4 address, `::/0`
//! every address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A parsed list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerList {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    V4 { network: u32, mask: u32 },
    V6 { network: u128, mask: u128 },
    Name(String),
}

/// An entry of the list is neither an address, nor a network, nor a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is neither an IP address, nor a network in CIDR notation, nor a DNS name")]
pub struct PeerError(pub String);

impl PeerList {
    /// Parses addresses, networks and DNS names separated by commas.
    pub fn parse(text: &str) -> Result<Self, PeerError> {
        let entries = text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(|entry| Entry::parse(entry).ok_or_else(|| PeerError(entry.to_owned())))
            .collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// Nobody is on the list.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// May `peer` connect, by the addresses and networks of the list alone?
    pub fn allows(&self, peer: IpAddr) -> bool {
        self.entries.iter().any(|entry| entry.allows(peer))
    }

    /// The DNS names of the list, to be resolved by the caller and compared with [`same`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Name(name) => Some(name.as_str()),
            Entry::V4 { .. } | Entry::V6 { .. } => None,
        })
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u32>().ok()?)),
            None => (text, None),
        };
        match address.parse() {
            Ok(IpAddr::V4(v4)) => {
                let mask = mask(u128::from(u32::MAX), 32, bits.unwrap_or(32))?;
                let mask = u32::try_from(mask).ok()?;
                Some(Self::V4 { network: v4.to_bits() & mask, mask })
            }
            Ok(IpAddr::V6(v6)) => {
                let mask = mask(u128::MAX, 128, bits.unwrap_or(128))?;
                Some(Self::V6 { network: v6.to_bits() & mask, mask })
            }
            Err(_) if bits.is_none() && is_name(text) => Some(Self::Name(text.to_owned())),
            Err(_) => None,
        }
    }

    fn allows(&self, peer: IpAddr) -> bool {
        match (self, peer) {
            (Self::V4 { network, mask }, IpAddr::V4(v4)) => v4.to_bits() & mask == *network,
            (Self::V4 { network, mask }, IpAddr::V6(v6)) => {
                embedded_v4(v6).is_some_and(|v4| v4.to_bits() & mask == *network)
            }
            (Self::V6 { network, mask }, IpAddr::V6(v6)) => v6.to_bits() & mask == *network,
            (Self::V6 { network, mask }, IpAddr::V4(v4)) => [v4.to_ipv6_mapped(), compatible(v4)]
                .iter()
                .any(|v6| v6.to_bits() & mask == *network),
            (Self::Name(_), _) => false,
        }
    }
}

/// The same address, whether written as IPv4 or as its mapped or compatible IPv6 form.
pub fn same(a: IpAddr, b: IpAddr) -> bool {
    let plain = |ip| match ip {
        IpAddr::V6(v6) => embedded_v4(v6).map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    };
    plain(a) == plain(b)
}

fn mask(all: u128, width: u32, bits: u32) -> Option<u128> {
    (bits <= width).then(|| if bits == 0 { 0 } else { all & (all << (width - bits)) })
}

fn compatible(v4: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(u128::from(v4.to_bits()))
}

/// `::ffff:a.b.c.d`, and `::a.b.c.d`.
fn embedded_v4(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    match v6.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    text.len() <= 253
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_parsed_and_matched() {
        for (list, peer, allowed) in [
            ("127.0.0.1,127.0.0.2", "127.0.0.2", true),
            (" 127.0.0.1 , ,::1", "::1", true),
            ("127.0.0.0/24", "127.0.0.9", true),
            ("127.0.0.0/24", "127.0.1.9", false),
            ("127.0.0.0/32", "127.0.0.1", false),
            ("10.0.0.0/0", "8.8.8.8", true),
            ("10.0.0.0/0", "2001:db8::1", false),
            ("::/0", "8.8.8.8", true),
            ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("127.2.0.1", "::127.2.0.1", true),
            ("127.0.0.1", "::fffe:127.0.0.1", false),
            ("::ffff:127.0.0.1", "127.0.0.1", true),
            ("::1", "127.0.0.1", false),
            ("example.org", "127.0.0.1", false),
            ("", "127.0.0.1", false),
        ] {
            let list = PeerList::parse(list).unwrap();
            assert_eq!(list.allows(peer.parse().unwrap()), allowed, "{list:?} {peer}");
        }
        for bad in ["127.0.0.1/33", "::1/129", "a b", "127.0.0.1/x", "name/8", "1.2.3.4;::1"] {
            assert!(PeerList::parse(bad).is_err(), "{bad}");
        }
        let list = PeerList::parse("a.example,1.2.3.4,b.example").unwrap();
        assert_eq!(list.names().collect::<Vec<_>>(), ["a.example", "b.example"]);
        assert!(same("::ffff:1.2.3.4".parse().unwrap(), "1.2.3.4".parse().unwrap()));
        assert!(!same("::fffe:1.2.3.4".parse().unwrap(), "1.2.3.4".parse().unwrap()));
    }
}
