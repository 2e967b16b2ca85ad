//! Lists of allowed peers: `127.0.0.1,192.168.0.0/16,::1,host.example`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Entries in one list; more are refused.
pub const PEERS_MAX: usize = 10_000;

/// A parsed list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedPeers {
    networks: Vec<Network>,
    names: Vec<String>,
}

/// An address with the number of leading bits that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u32,
}

/// An entry that is neither an address, a network nor a host name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid entry \"{0}\" in the list of allowed hosts")]
pub struct PeersError(pub String);

impl AllowedPeers {
    /// Parses a list separated by commas.
    pub fn parse(text: &str) -> Result<Self, PeersError> {
        let mut peers = Self::default();
        for (index, entry) in text.split(',').map(str::trim).enumerate() {
            let bad = || PeersError(entry.to_owned());
            if index == PEERS_MAX {
                return Err(bad());
            }
            let (address, bits) = match entry.split_once('/') {
                Some((address, bits)) => (address, Some(bits)),
                None => (entry, None),
            };
            match (address.parse::<IpAddr>(), bits) {
                (Ok(address), bits) => {
                    let most = if address.is_ipv4() { 32 } else { 128 };
                    let bits = match bits {
                        Some(bits) => bits.parse().ok().filter(|b| *b <= most).ok_or_else(bad)?,
                        None => most,
                    };
                    peers.networks.push(Network { address, bits });
                }
                (Err(_), None) if is_host_name(entry) => peers.names.push(entry.to_owned()),
                _ => return Err(bad()),
            }
        }
        Ok(peers)
    }

    /// Host names in the list: the caller resolves them and asks [`Self::allows`] again with
    /// [`Self::with_addresses`].
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The same list with addresses added to which its names resolved.
    #[must_use]
    pub fn with_addresses(&self, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        let mut peers = self.clone();
        peers.networks.extend(addresses.into_iter().map(|address| {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            Network { address, bits }
        }));
        peers
    }

    /// A peer with this address is let in. IPv4 addresses in an IPv6 form count as IPv4 too.
    pub fn allows(&self, peer: IpAddr) -> bool {
        let as_v4 = match peer {
            IpAddr::V6(v6) => embedded_v4(v6).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        self.networks.iter().any(|n| n.contains(peer) || as_v4.is_some_and(|v4| n.contains(v4)))
    }
}

/// `::1.2.3.4` and `::ffff:1.2.3.4`
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    let head_is_zero = octets[..10].iter().all(|b| *b == 0);
    let marked = matches!(octets[10..12], [0, 0] | [0xFF, 0xFF]);
    (head_is_zero && marked).then(|| Ipv4Addr::new(octets[12], octets[13], octets[14], octets[15]))
}

impl Network {
    fn contains(&self, peer: IpAddr) -> bool {
        let same = |a: u128, b: u128, width: u32| {
            self.bits == 0 || (a ^ b) >> (width - self.bits.min(width)) == 0
        };
        match (self.address, peer) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                same(u128::from(u32::from(a)), u128::from(u32::from(b)), 32)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => same(u128::from(a), u128::from(b), 128),
            // IPv4 addresses have two forms in IPv6: `::ffff:1.2.3.4` and the old `::1.2.3.4`.
            (IpAddr::V6(a), IpAddr::V4(b)) => {
                let plain = u128::from(u32::from(b));
                same(u128::from(a), u128::from(b.to_ipv6_mapped()), 128)
                    || same(u128::from(a), plain, 128)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) => false,
        }
    }
}

fn is_host_name(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        && !text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        for (list, peer, allowed) in [
            ("127.0.0.1", "127.0.0.1", Some(true)),
            ("10.0.0.0/8, 127.0.0.1", "10.255.1.1", Some(true)),
            ("10.0.0.0/8", "11.0.0.1", Some(false)),
            ("10.0.0.0/0", "11.0.0.1", Some(true)),
            ("::1", "::1", Some(true)),
            ("127.0.0.1", "::ffff:127.0.0.1", Some(true)),
            ("127.0.0.1", "::1", Some(false)),
            ("fe80::/16", "fe80::abcd", Some(true)),
            ("fe80::/16", "fe81::abcd", Some(false)),
            ("zabbix.example", "127.0.0.1", Some(false)),
            ("10.0.0.0/33", "127.0.0.1", None),
            ("10.0.0", "127.0.0.1", None),
            ("a b", "127.0.0.1", None),
            ("", "127.0.0.1", None),
        ] {
            let got = AllowedPeers::parse(list).ok().map(|p| p.allows(peer.parse().unwrap()));
            assert_eq!(got, allowed, "{list} {peer}");
        }
        let named = AllowedPeers::parse("zabbix.example").unwrap();
        assert_eq!(named.names(), ["zabbix.example"]);
        let address = "192.0.2.1".parse().unwrap();
        assert!(named.with_addresses([address]).allows(address));
    }
}
