//! Limits of the rate of requests, exact over all threads, in bounded memory and without locks.
//!
//! A limit is a GCRA: of each client one moment is stored, at which it has all its requests again. A
//! request moves that moment on by the time per request, and is refused if the moment would be further
//! away than all requests take. A moment in the past is that of a client that was never there, so its
//! place can be taken.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use portable_atomic::AtomicU128;
use proxying::http1::Request;

use crate::config::{self, RateKey};

/// Clients that are counted at once, a power of two; 4 MiB.
const PLACES: usize = 1 << 18;
/// Places that a client may have.
const WAYS: usize = 8;

/// What is stored of all clients of all services. Clients beyond it take the places of those that would be
/// forgotten first.
pub(crate) struct Table {
    /// The hash of a client above the moment, in monotonic microseconds.
    places: Vec<AtomicU128>,
    /// Keyed with a random secret, so that clients cannot choose which places they share.
    hasher: RandomState,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl Table {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::of(PLACES))
    }

    fn of(places: usize) -> Self {
        let places = std::iter::repeat_with(|| AtomicU128::new(0)).take(places).collect();
        Self { places, hasher: RandomState::new() }
    }

    /// The places of a client.
    fn ways(&self, key: u64) -> &[AtomicU128] {
        let sets = self.places.len() / WAYS;
        // The lowest bits choose the set; the whole hash is compared.
        let first = usize::try_from(key % sets as u64).unwrap_or(0) * WAYS;
        &self.places[first..first + WAYS]
    }

    /// Counts a request of a client, or says after how many microseconds it may come again.
    ///
    /// Two threads cannot give one client two places: both would take the earliest moment of the same
    /// places, and moments only move on, so the exchange of one fails and it looks again.
    fn take(&self, key: u64, pace: Pace, now_us: u64) -> Result<(), u64> {
        let ways = self.ways(key);
        loop {
            let (mut chosen, mut found) = (&ways[0], u128::MAX);
            for way in ways {
                let word = way.load(SeqCst);
                if hash_of(word) == key {
                    (chosen, found) = (way, word);
                    break;
                }
                if found == u128::MAX || moment(word) < moment(found) {
                    (chosen, found) = (way, word);
                }
            }
            let full_again = if hash_of(found) == key { moment(found) } else { 0 };
            let next = full_again.max(now_us) + pace.each_us;
            let latest = now_us + pace.each_us * pace.burst;
            if next > latest {
                return Err(next - latest);
            }
            let word = (u128::from(key) << 64) | u128::from(next);
            if chosen.compare_exchange(found, word, SeqCst, SeqCst).is_ok() {
                return Ok(());
            }
        }
    }
}

fn hash_of(word: u128) -> u64 {
    (word >> 64) as u64
}

fn moment(word: u128) -> u64 {
    word as u64
}

/// How often a client may come.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Microseconds per request.
    each_us: u64,
    /// Requests at once.
    burst: u64,
}

/// What a request beyond the limit gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Seconds, rounded up.
    pub(crate) retry_after_s: u64,
}

/// The limit of a virtual service.
#[derive(Debug)]
pub(crate) struct Limit {
    /// Name of the header; `None`: by address.
    header: Option<String>,
    pace: Pace,
    /// Status of a refusal.
    status: u16,
    table: Arc<Table>,
}

impl Limit {
    /// Of a limit that has been checked.
    pub(crate) fn compile(limit: &config::RateLimit, table: &Arc<Table>) -> Self {
        let burst = u64::from(limit.requests.get());
        let per_us = u64::try_from(limit.per.0.as_micros()).unwrap_or(u64::MAX);
        Self {
            header: limit.name.clone().filter(|_| limit.by == RateKey::Header),
            pace: Pace { each_us: per_us.div_ceil(burst), burst },
            status: limit.status,
            table: Arc::clone(table),
        }
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table)
    }

    /// Counts a request to a service; beyond the limit, says when the client may come again.
    pub(crate) fn refusal(
        &self,
        service: &str,
        client: IpAddr,
        request: &Request<'_>,
        now_us: u64,
    ) -> Option<Refusal> {
        let key = match &self.header {
            None => self.key(service, &network(client)),
            Some(name) => self.key(service, request.value(name.as_bytes())?),
        };
        let wait_us = self.table.take(key, self.pace, now_us).err()?;
        Some(Refusal { status: self.status, retry_after_s: wait_us.div_ceil(1_000_000) })
    }

    fn key(&self, service: &str, client: &[u8]) -> u64 {
        let mut state = self.table.hasher.build_hasher();
        service.hash(&mut state);
        client.hash(&mut state);
        std::hash::Hasher::finish(&state)
    }
}

/// Who is one client: an IPv4 address, or an IPv6 network of 64 bits.
pub(crate) fn network(client: IpAddr) -> [u8; 8] {
    let mut network = [0; 8];
    match client.to_canonical() {
        IpAddr::V4(address) => network[4..].copy_from_slice(&address.octets()),
        IpAddr::V6(address) => network.copy_from_slice(&address.octets()[..8]),
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { each_us: 1_000_000, burst: 10 };
    const NOW: u64 = 5_000_000_000;

    fn admitted(table: &Table, key: u64, now_us: u64, attempts: usize) -> usize {
        (0..attempts).filter(|_| table.take(key, PACE, now_us).is_ok()).count()
    }

    #[test]
    fn a_burst_is_followed_by_an_even_rate() {
        let table = Table::of(WAYS);
        assert_eq!(admitted(&table, 1, NOW, 30), 10);
        assert_eq!(table.take(1, PACE, NOW + 200_000), Err(800_000), "when the next may come");
        assert_eq!(admitted(&table, 1, NOW + 3_500_000, 30), 3);
        assert_eq!(admitted(&table, 1, NOW + 60_000_000, 30), 10, "not more than at first");
        assert_eq!(admitted(&table, 2, NOW + 60_000_000, 30), 10, "another client");
    }

    #[test]
    fn threads_count_together() {
        let table = Table::of(4 * WAYS);
        let total: usize = std::thread::scope(|scope| {
            let threads = (0..4).map(|_| {
                scope.spawn(|| {
                    (0..1_000).map(|key| admitted(&table, key % 7, NOW, 5)).sum::<usize>()
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(total, 7 * 10, "seven clients, each with ten requests");
    }

    #[test]
    fn a_full_table_forgets_the_client_with_the_fewest_requests() {
        let table = Table::of(WAYS);
        assert_eq!(admitted(&table, 1, NOW, 30), 10);
        for key in 2..100 {
            assert_eq!(admitted(&table, key, NOW, 1), 1, "others are served");
        }
        assert_eq!(admitted(&table, 1, NOW, 30), 0, "who has used all its requests is remembered");
    }

    #[test]
    fn addresses_of_one_client_are_counted_together() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
