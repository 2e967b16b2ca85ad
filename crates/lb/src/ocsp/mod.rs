//! Stapling: the engine shows with a certificate what its authority says about it (OCSP, RFC 6960; RFC 6066, 8).
//!
//! The threads that forward see a [`Staple`] for each certificate, read by one atomic load. The thread of the
//! [`Stapler`] fetches responses before the last ones end. A response is used if the authority has signed it
//! for this certificate, and while it is valid.

mod fetch;
mod query;
mod stapler;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use arc_swap::ArcSwapOption;
use rustls::sign::CertifiedKey;

use query::Query;
pub(crate) use query::is_demanded;
pub(crate) use stapler::Stapler;

/// Pauses after the first, second, … request that failed, in seconds.
const PAUSES_S: [u64; 4] = [60, 300, 900, 3_600];
/// How long a response without a time of the next one is used, from its own time on; in seconds.
const UNLIMITED_S: u32 = 3_600;
/// Shortest and longest time from one request to the next.
const REFRESH_S: std::ops::RangeInclusive<u64> = 60..=12 * 3_600;

/// A certificate with the newest response about it.
#[derive(Debug)]
pub(crate) struct Staple {
    /// Name of the certificate.
    name: String,
    bare: Arc<CertifiedKey>,
    query: Query,
    stapled: ArcSwapOption<Stapled>,
    /// When the next request begins; Unix time in seconds.
    next_s: AtomicU64,
    /// Requests in a row that failed.
    failures: AtomicU32,
}

#[derive(Debug)]
struct Stapled {
    key: Arc<CertifiedKey>,
    until_s: u64,
}

impl Staple {
    /// `None`: the certificate names no responder, or its issuer is not in the chain.
    pub(crate) fn new(name: &str, bare: &Arc<CertifiedKey>) -> Option<Self> {
        Some(Self {
            name: name.to_owned(),
            bare: Arc::clone(bare),
            query: Query::of(&bare.cert)?,
            stapled: ArcSwapOption::empty(),
            next_s: AtomicU64::new(0),
            failures: AtomicU32::new(0),
        })
    }

    /// Whether it is about this certificate.
    pub(crate) fn is_of(&self, bare: &CertifiedKey) -> bool {
        self.bare.cert == bare.cert
    }

    /// The certificate, with a response if there is a valid one.
    pub(crate) fn get(&self) -> Arc<CertifiedKey> {
        let stapled = self.stapled.load();
        Arc::clone(stapled.as_ref().map_or(&self.bare, |stapled| &stapled.key))
    }

    fn next_s(&self) -> u64 {
        // A response that ends is not shown any more.
        let until_s = self.stapled.load().as_ref().map_or(u64::MAX, |stapled| stapled.until_s);
        self.next_s.load(Relaxed).min(until_s)
    }

    /// Handshakes from now on show this response.
    fn set(&self, response: Vec<u8>, until_s: u64, now_s: u64) {
        let key = CertifiedKey { ocsp: Some(response), ..CertifiedKey::clone(&self.bare) };
        self.stapled.store(Some(Arc::new(Stapled { key: Arc::new(key), until_s })));
        let half_s = until_s.saturating_sub(now_s) / 2;
        let pause_s = half_s.clamp(*REFRESH_S.start(), *REFRESH_S.end());
        self.failures.store(0, Relaxed);
        self.next_s.store(now_s + pause_s, Relaxed);
    }

    /// A request has failed; returns the pause until the next one in seconds.
    fn failed(&self, now_s: u64) -> u64 {
        let failures = self.failures.fetch_add(1, Relaxed);
        let at = usize::try_from(failures).unwrap_or(usize::MAX).min(PAUSES_S.len() - 1);
        self.next_s.store(now_s + PAUSES_S[at], Relaxed);
        PAUSES_S[at]
    }

    /// Shows no response that has ended.
    fn expire(&self, now_s: u64) {
        let over = self.stapled.load().as_ref().is_some_and(|stapled| stapled.until_s <= now_s);
        if over {
            self.stapled.store(None);
            tracing::warn!(
                "certificate '{}': its OCSP response has ended; clients get none",
                self.name
            );
        }
    }
}
