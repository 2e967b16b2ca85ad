//! Who may send: lists of addresses, networks and DNS names, as in a trapper item's allowed hosts.
//!
//! Names need a resolver and matching must not wait, so a list says which names it does not know
//! yet; the caller resolves them and asks again.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Most names kept; beyond, the table starts afresh.
const NAMES_MAX: usize = 10_000;
/// How long the addresses of a name are believed.
const NAME_TTL: Duration = Duration::from_secs(60);
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);

/// Answer of [`PeerNames::allowed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Yes,
    No,
    /// These names have to be resolved first.
    Names(Vec<String>),
}

/// Addresses of the DNS names in such lists.
#[derive(Debug, Default)]
pub(crate) struct PeerNames {
    known: Mutex<HashMap<String, (Vec<IpAddr>, Duration)>>,
}

/// An IPv4 address, also where it came in an IPv6 coat (`::ffff:a.b.c.d` or `::a.b.c.d`).
pub(crate) fn plain(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(v6) => v6.to_ipv4().map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

impl PeerNames {
    /// Whether `peer` is in `list`; an empty list lets everybody in. `now` is monotonic.
    pub(crate) fn allowed(&self, list: &str, peer: IpAddr, now: Duration) -> Verdict {
        if list.trim().is_empty() {
            return Verdict::Yes;
        }
        let peer = plain(peer);
        let mut missing = Vec::new();
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            match matches(entry, peer) {
                Some(true) => return Verdict::Yes,
                Some(false) => {}
                None => {
                    let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                    match known.get(entry) {
                        Some((ips, until)) if now < *until => {
                            if ips.contains(&peer) {
                                return Verdict::Yes;
                            }
                        }
                        _ => missing.push(entry.to_owned()),
                    }
                }
            }
        }
        if missing.is_empty() { Verdict::No } else { Verdict::Names(missing) }
    }

    /// Resolves names for the next question; what does not resolve has no address for a while.
    pub(crate) async fn resolve(&self, names: Vec<String>, now: Duration) {
        for name in names {
            let lookup = tokio::net::lookup_host((name.as_str(), 0));
            let ips = match tokio::time::timeout(RESOLVE_TIMEOUT, lookup).await {
                Ok(Ok(found)) => found.map(|addr| plain(addr.ip())).collect(),
                _ => Vec::new(),
            };
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= NAMES_MAX {
                known.clear();
            }
            known.insert(name, (ips, now + RESOLVE_TIMEOUT + NAME_TTL));
        }
    }
}

/// Whether an address or a network holds `peer`; `None` = the entry is a name.
fn matches(entry: &str, peer: IpAddr) -> Option<bool> {
    let (address, prefix) = match entry.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix.parse::<u32>().ok()?)),
        None => (entry, None),
    };
    let network: IpAddr = address.parse().ok()?;
    let width = if network.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.unwrap_or(width);
    if prefix > width {
        return Some(false);
    }
    // An IPv4 peer against an IPv6 network is compared in its IPv6 coat (`::/0` = everybody).
    Some(match (network, peer) {
        (IpAddr::V4(net), IpAddr::V4(ip)) => same_v4(net, ip, prefix),
        (IpAddr::V6(net), IpAddr::V6(ip)) => same_v6(net, ip, prefix),
        (IpAddr::V6(net), IpAddr::V4(ip)) => {
            same_v6(net, ip.to_ipv6_mapped(), prefix) || same_v6(net, compatible(ip), prefix)
        }
        (IpAddr::V4(_), IpAddr::V6(_)) => false,
    })
}

fn compatible(ip: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(u128::from(ip.to_bits()))
}

fn same_v4(a: Ipv4Addr, b: Ipv4Addr, prefix: u32) -> bool {
    let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
    (a.to_bits() ^ b.to_bits()) & mask == 0
}

fn same_v6(a: Ipv6Addr, b: Ipv6Addr, prefix: u32) -> bool {
    let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
    (a.to_bits() ^ b.to_bits()) & mask == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_networks() {
        let names = PeerNames::default();
        for (list, peer, allowed) in [
            ("", "192.0.2.1", true),
            (" ", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("10.0.0.1, 192.0.2.0/24", "192.0.2.200", true),
            ("192.0.2.0/25", "192.0.2.200", false),
            ("0.0.0.0/0", "192.0.2.200", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "192.0.2.200", true),
            ("::/0", "2001:db8::1", true),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("127.2.0.1", "::127.2.0.1", true),
            ("::127.2.0.1", "127.2.0.1", true),
            ("127.0.0.1", "::fffe:127.0.0.1", false),
            ("127.0.0.0/0", "::1", true),
            ("127.0.0.1", "::1", false),
            ("::1", "127.0.0.1", false),
            ("1000::ffff:ffff/0", "::1", true),
            ("192.0.2.1/33", "192.0.2.1", false),
            ("192.0.2.1/32", "192.0.2.1", true),
        ] {
            let expected = if allowed { Verdict::Yes } else { Verdict::No };
            let verdict = names.allowed(list, peer.parse().unwrap(), Duration::ZERO);
            assert_eq!(verdict, expected, "{list} {peer}");
        }
    }

    #[tokio::test]
    async fn names_are_asked_for_once() {
        let names = PeerNames::default();
        let peer = IpAddr::from([127, 0, 0, 1]);
        let now = Duration::from_secs(1);
        let verdict = names.allowed("10.0.0.1,localhost", peer, now);
        assert_eq!(verdict, Verdict::Names(vec!["localhost".into()]));
        names.resolve(vec!["localhost".into(), "no-such-name.invalid".into()], now).await;
        assert_eq!(names.allowed("localhost", peer, now), Verdict::Yes);
        assert_eq!(names.allowed("no-such-name.invalid", peer, now), Verdict::No);
        let later = now + Duration::from_secs(120);
        assert!(matches!(names.allowed("localhost", peer, later), Verdict::Names(_)));
    }
}
