//! What a virtual service of type `udp` has beyond the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::config::VirtualService;

/// Limits of sessions, and what is counted. Each thread has an equal share of the limits, because the system
/// distributes clients evenly: a thread that could use what others leave would leave nothing to them in a
/// flood.
#[derive(Debug)]
pub(crate) struct UdpSettings {
    /// Microseconds between two datagrams after which a session ends.
    pub(crate) idle_us: u64,
    /// Sessions of an address in a thread.
    pub(crate) sessions: u32,
    /// Sessions of a source in a thread.
    pub(crate) client_sessions: u32,
    /// Responses to each datagram; 0: any number.
    pub(crate) responses: u32,
    pub(crate) counts: Arc<Counts>,
}

impl UdpSettings {
    /// Of a service in an engine with so many threads; `old` is what it was before a change of the
    /// configuration.
    pub(crate) fn compile(config: &VirtualService, threads: usize, old: Option<&Self>) -> Self {
        let limits = &config.limits;
        let threads = u32::try_from(threads).unwrap_or(u32::MAX).max(1);
        let idle_us = config.timeouts.session.0.as_micros();
        Self {
            idle_us: u64::try_from(idle_us).unwrap_or(u64::MAX),
            sessions: limits.sessions.div_ceil(threads),
            client_sessions: limits.client_sessions.div_ceil(threads),
            responses: limits.responses,
            counts: old.map(|old| Arc::clone(&old.counts)).unwrap_or_default(),
        }
    }
}

/// What limits have cost the clients of a service since the start, in all threads.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Sessions that ended early because another one needed their place.
    pub(crate) displaced: AtomicU64,
    /// Datagrams of clients that got no session.
    pub(crate) refused: AtomicU64,
    /// Datagrams that the system did not send or had no room for.
    pub(crate) dropped: AtomicU64,
    /// The sum of all that the log has reported, and when, in monotonic milliseconds.
    reported: AtomicU64,
    reported_ms: AtomicU64,
}

impl Counts {
    /// Milliseconds between two reports.
    const EVERY_MS: u64 = 10_000;

    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Relaxed);
    }

    /// Reports what is new, from one of the threads.
    pub(crate) fn report(&self, service: &str, now_ms: u64) {
        let [displaced, refused, dropped] =
            [&self.displaced, &self.refused, &self.dropped].map(|counter| counter.load(Relaxed));
        let sum = displaced + refused + dropped;
        let before_ms = self.reported_ms.load(Relaxed);
        let is_due = before_ms == 0 || now_ms >= before_ms + Self::EVERY_MS;
        if sum == self.reported.load(Relaxed) || !is_due {
            return;
        }
        let own = self.reported_ms.compare_exchange(before_ms, now_ms, Relaxed, Relaxed);
        if own.is_ok() {
            self.reported.store(sum, Relaxed);
            tracing::warn!(
                "virtual service {service}: since the start, {displaced} sessions ended early to make \
                 room, {refused} datagrams were refused, and {dropped} datagrams were dropped"
            );
        }
    }
}
