//! Which machines of the group serve connections, by their responses to probes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

/// Probes without a response after which a machine is lost. They are sent three times in each of keepalived's
/// intervals, so that both notice a hang at about the same time.
const LOST_AFTER: u32 = 9;
/// How long a machine must respond before it gets connections, and how long it must have fewer usable VIPs than
/// others before it loses them: both move the connections of others.
const SETTLED: Duration = Duration::from_secs(3);

/// What is known of another machine.
#[derive(Default)]
struct Peer {
    /// Probes since its last response.
    misses: u32,
    /// Monotonic time from which it serves; `None`: it is lost.
    from: Option<Duration>,
    /// Its VIPs without usable servers.
    unusable: u16,
    responded: bool,
}

/// The group, as one machine sees it.
pub(super) struct Machines {
    own: IpAddr,
    peers: BTreeMap<IpAddr, Peer>,
    /// Monotonic time since which a machine has fewer usable VIPs than others.
    worse: BTreeMap<IpAddr, Duration>,
    /// Monotonic time until which machines that are found have not just come.
    settled: Duration,
}

impl Machines {
    pub(super) fn new(own: IpAddr, peers: &[IpAddr], now: Duration) -> Self {
        let peers = peers.iter().map(|peer| (*peer, Peer::default())).collect();
        Self { own, peers, worse: BTreeMap::new(), settled: now + SETTLED }
    }

    /// A machine has responded.
    pub(super) fn responded(&mut self, peer: IpAddr, unusable: u16, now: Duration) {
        let from = if now < self.settled { now } else { now + SETTLED };
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.from.get_or_insert(from);
            (peer.responded, peer.unusable) = (true, unusable);
        }
    }

    /// The system of a machine says that no engine is there.
    pub(super) fn refused(&mut self, peer: IpAddr) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            (peer.from, peer.responded) = (None, false);
        }
    }

    /// A round of probes ends. Rounds are counted rather than time, which passes also while this process waits for
    /// a processor.
    pub(super) fn end_round(&mut self) {
        for peer in self.peers.values_mut() {
            peer.misses =
                if std::mem::take(&mut peer.responded) { 0 } else { peer.misses.saturating_add(1) };
            if peer.misses >= LOST_AFTER {
                peer.from = None;
            }
        }
    }

    /// The machines that serve, if this one has so many VIPs without usable servers.
    pub(super) fn serving(&mut self, unusable: u16, now: Duration) -> BTreeSet<IpAddr> {
        let live = self.peers.iter().filter(|(_, peer)| peer.from.is_some_and(|from| now >= from));
        let mut live: BTreeMap<IpAddr, u16> =
            live.map(|(address, peer)| (*address, peer.unusable)).collect();
        live.insert(self.own, unusable);
        let best = live.values().copied().min().unwrap_or(0);
        self.worse.retain(|machine, _| live.get(machine).is_some_and(|unusable| *unusable > best));
        for machine in
            live.iter().filter(|(_, unusable)| **unusable > best).map(|(machine, _)| machine)
        {
            self.worse.entry(*machine).or_insert(now);
        }
        let is_worse =
            |machine: &IpAddr| self.worse.get(machine).is_some_and(|since| now >= *since + SETTLED);
        live.into_keys().filter(|machine| !is_worse(machine)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));
    const THIRD: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 3));

    fn at(ms: u64) -> Duration {
        Duration::from_secs(100) + Duration::from_millis(ms)
    }

    fn group() -> Machines {
        Machines::new(OWN, &[OTHER, THIRD], at(0))
    }

    #[test]
    fn machines_found_at_the_start_serve_at_once_later_ones_settle() {
        let mut group = group();
        assert_eq!(group.serving(0, at(0)), [OWN].into());
        group.responded(OTHER, 0, at(100));
        assert_eq!(group.serving(0, at(100)), [OWN, OTHER].into());
        group.responded(THIRD, 0, at(3_000));
        group.responded(THIRD, 0, at(5_900));
        assert_eq!(group.serving(0, at(5_999)), [OWN, OTHER].into());
        assert_eq!(group.serving(0, at(6_000)), [OWN, OTHER, THIRD].into());
        group.responded("10.0.0.9".parse().unwrap(), 0, at(6_000));
        assert_eq!(group.serving(0, at(10_000)).len(), 3, "a stranger is none of them");
    }

    #[test]
    fn silent_machines_are_lost_later_refusing_ones_at_once() {
        let mut group = group();
        group.responded(OTHER, 0, at(0));
        group.responded(THIRD, 0, at(0));
        group.end_round();
        for _ in 0..8 {
            group.responded(THIRD, 0, at(0));
            group.end_round();
            assert_eq!(group.serving(0, at(0)).len(), 3);
        }
        group.responded(THIRD, 0, at(0));
        group.end_round();
        assert_eq!(group.serving(0, at(0)), [OWN, THIRD].into());
        group.refused(THIRD);
        assert_eq!(group.serving(0, at(0)), [OWN].into());
        // It returns, and has to prove itself.
        group.responded(THIRD, 0, at(4_000));
        group.end_round();
        assert_eq!(group.serving(0, at(4_000)), [OWN].into());
        assert_eq!(group.serving(0, at(7_000)), [OWN, THIRD].into());
    }

    #[test]
    fn machines_with_fewer_usable_vips_leave_after_a_while() {
        let mut group = group();
        group.responded(OTHER, 1, at(0));
        group.responded(THIRD, 0, at(0));
        assert_eq!(group.serving(0, at(0)).len(), 3, "others may notice the same in a moment");
        assert_eq!(group.serving(0, at(3_000)), [OWN, THIRD].into());
        // The servers are down for all.
        group.responded(THIRD, 1, at(3_100));
        assert_eq!(group.serving(1, at(3_100)).len(), 3);
        group.responded(OTHER, 0, at(3_200));
        group.responded(THIRD, 0, at(3_200));
        assert_eq!(group.serving(1, at(3_200)).len(), 3);
        assert_eq!(
            group.serving(1, at(6_200)),
            [OTHER, THIRD].into(),
            "this machine itself can be worse"
        );
        group.refused(OTHER);
        group.refused(THIRD);
        assert_eq!(group.serving(1, at(6_300)), [OWN].into(), "but not worse than none");
    }
}
