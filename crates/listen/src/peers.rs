//! Who may send: lists of addresses, networks and DNS names, as in a trapper item's allowed hosts.
//!
//! Names need a resolver and matching must not wait, so a list says which names it does not know
//! yet; the caller resolves them and asks again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use stdx::sync::lock;
use wire::peers::{PeerList, same};

use collect::resolver::Resolver;

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

/// An IPv4 address, also where it came in an IPv6 coat (as on a listener for both).
pub(crate) fn plain(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

impl PeerNames {
    /// Whether `peer` is in `list`; an empty list lets everybody in. `now` is monotonic.
    pub(crate) fn allowed(&self, list: &str, peer: IpAddr, now: Duration) -> Verdict {
        let list = match PeerList::parse(list) {
            Ok(list) => list,
            Err(error) => {
                tracing::debug!("a list of allowed hosts lets nobody in: {error}");
                return Verdict::No;
            }
        };
        if list.is_empty() || list.allows(peer) {
            return Verdict::Yes;
        }
        let known = lock(&self.known);
        let mut missing = Vec::new();
        for name in list.names() {
            match known.get(name) {
                Some((ips, until)) if now < *until => {
                    if ips.iter().any(|ip| same(*ip, peer)) {
                        return Verdict::Yes;
                    }
                }
                _ => missing.push(name.to_owned()),
            }
        }
        if missing.is_empty() { Verdict::No } else { Verdict::Names(missing) }
    }

    /// Resolves names for the next question; what does not resolve has no address for a while.
    pub(crate) async fn resolve(&self, names: Vec<String>, resolver: &Resolver, now: Duration) {
        for name in names {
            let lookup = tokio::time::timeout(RESOLVE_TIMEOUT, resolver.find(&name)).await;
            let ips = lookup.ok().and_then(Result::ok).unwrap_or_default();
            let mut known = lock(&self.known);
            if known.len() >= NAMES_MAX {
                known.clear();
            }
            known.insert(name, (ips, now + RESOLVE_TIMEOUT + NAME_TTL));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_admits_all_and_a_broken_one_none() {
        let names = PeerNames::default();
        for (list, allowed) in
            [("", true), (" , ", true), ("192.0.2.0/24", true), ("10.0.0.1", false), ("a b", false)]
        {
            let expected = if allowed { Verdict::Yes } else { Verdict::No };
            let peer = IpAddr::from([192, 0, 2, 1]);
            assert_eq!(names.allowed(list, peer, Duration::ZERO), expected, "{list}");
        }
        assert_eq!(plain("::ffff:192.0.2.1".parse().unwrap()), IpAddr::from([192, 0, 2, 1]));
    }

    #[tokio::test]
    async fn names_are_asked_for_once() {
        let names = PeerNames::default();
        let peer = IpAddr::from([127, 0, 0, 1]);
        let now = Duration::from_secs(1);
        let verdict = names.allowed("10.0.0.1,localhost", peer, now);
        assert_eq!(verdict, Verdict::Names(vec!["localhost".into()]));
        let resolver = Resolver::new(stdx::clock::RealClock::shared());
        let asked = vec!["localhost".into(), "no-such-name.invalid".into()];
        names.resolve(asked, &resolver, now).await;
        assert_eq!(names.allowed("localhost", peer, now), Verdict::Yes);
        assert_eq!(names.allowed("no-such-name.invalid", peer, now), Verdict::No);
        let later = now + Duration::from_secs(120);
        assert!(matches!(names.allowed("localhost", peer, later), Verdict::Names(_)));
    }
}
