//! Memory for request bodies, and fair shares for clients that are not signed in.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use stdx::clock::Clock;
use stdx::seats::source;
use stdx::sync::lock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Bytes of a body that need no room: a sign-in is never kept waiting by large bodies.
const FREE_BYTES: usize = 4 * 1024;
/// How long a body may take beyond the time of [`BYTES_PER_S`].
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 10_000 });
/// The lowest rate of a body.
const BYTES_PER_S: u64 = 64 * 1024;
/// Pause that a body beyond the budget may make.
const FINISHER_PATIENCE: Duration = Duration::from_secs(1);
/// How long a body waits for room: bodies of several sources can hold what each other waits for.
const ROOM_PATIENCE: Duration = Duration::from_secs(30);
/// A source of strangers may have one of so many shares.
pub(super) const SHARES: usize = 4;
/// Sources remembered before those without requests are forgotten.
const SOURCES_KEPT: usize = 1_024;

/// Bytes that bodies may have in memory together.
///
/// Bodies that hold a part of it and wait for more could wait for each other for ever. So one body at
/// a time may go beyond it (`finisher`), if it arrives quickly.
pub(super) struct Budget {
    bytes: usize,
    /// One permit per KiB.
    room: Arc<Semaphore>,
    finisher: Arc<Semaphore>,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        let room = Arc::new(Semaphore::new((bytes / 1024).max(1)));
        Self { bytes, room, finisher: Arc::new(Semaphore::new(1)) }
    }
}

/// What one body holds of one budget.
struct Hold<'b> {
    budget: &'b Budget,
    bytes: usize,
    permits: Vec<OwnedSemaphorePermit>,
    finisher: bool,
}

impl Hold<'_> {
    /// Waits until the body may have `bytes`.
    async fn grow(&mut self, bytes: usize) {
        let more = bytes.min(self.budget.bytes).saturating_sub(self.bytes).div_ceil(1024);
        let Some(more) = u32::try_from(more).ok().filter(|more| *more > 0) else { return };
        if self.finisher {
            return;
        }
        tokio::select! {
            biased;
            permit = Arc::clone(&self.budget.room).acquire_many_owned(more) => {
                self.permits.extend(permit.ok());
                self.bytes = bytes;
            }
            permit = Arc::clone(&self.budget.finisher).acquire_owned() => {
                self.permits.extend(permit.ok());
                self.finisher = true;
            }
        }
    }
}

/// The memory of one body, given back when dropped.
#[derive(Debug)]
pub(super) struct Room {
    _permits: Vec<OwnedSemaphorePermit>,
}

/// The body, of at most `limit` bytes, with its share of the budgets, or the answer that refuses it.
/// Memory is taken for what has arrived, not for what was announced.
pub(super) async fn read_body(
    budgets: &[&Budget],
    clock: &dyn Clock,
    headers: &HeaderMap,
    limit: usize,
    body: Body,
) -> Result<(Room, Bytes), Response> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
    let announced: Option<usize> = announced;
    if let Some(length) = announced.filter(|length| *length > limit) {
        let text = format!("The request has {length} bytes; the limit is {limit}.\n");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, text).into_response());
    }
    let hold = |budget| Hold { budget, bytes: 0, permits: Vec::new(), finisher: false };
    let mut holds: Vec<Hold<'_>> = budgets.iter().copied().map(hold).collect();
    let mut stream = body.into_data_stream();
    let mut bytes: Vec<u8> = Vec::new();
    // Time spent waiting for the client, not for room.
    let mut waited = Duration::ZERO;
    loop {
        let allowed = GRACE + Duration::from_secs(bytes.len() as u64 / BYTES_PER_S);
        let mut patience = allowed.saturating_sub(waited);
        if holds.iter().any(|hold| hold.finisher) {
            patience = patience.min(FINISHER_PATIENCE);
        }
        let before = clock.monotonic();
        let Ok(chunk) = timeout(patience, stream.next()).await else { return Err(slow()) };
        waited += clock.monotonic().saturating_sub(before);
        let chunk = match chunk {
            Some(Ok(chunk)) => chunk,
            Some(Err(_)) => return Err(broken("The body broke off.\n")),
            None => break,
        };
        let length = bytes.len() + chunk.len();
        if length > limit {
            return Err(broken(&format!("The body is longer than {limit} bytes.\n")));
        }
        if length > bytes.capacity() {
            // Doubling keeps copies rare; the announcement says where to stop.
            let most = announced.unwrap_or(limit).max(length);
            let capacity = length.max(bytes.capacity() * 2).min(most);
            if capacity > FREE_BYTES {
                let grown = async {
                    for hold in &mut holds {
                        hold.grow(capacity).await;
                    }
                };
                timeout(ROOM_PATIENCE, grown).await.map_err(|_| full())?;
            }
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&chunk);
    }
    let permits = holds.into_iter().flat_map(|hold| hold.permits).collect();
    Ok((Room { _permits: permits }, bytes.into()))
}

fn slow() -> Response {
    let text = format!(
        "The body did not arrive in time: {} s and 1 s for each {} bytes are allowed.\n",
        GRACE.as_secs(),
        BYTES_PER_S
    );
    (StatusCode::REQUEST_TIMEOUT, text).into_response()
}

fn full() -> Response {
    let text = "There is no memory for this request now: try again later.\n";
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}

fn broken(text: &str) -> Response {
    (StatusCode::PAYLOAD_TOO_LARGE, text.to_owned()).into_response()
}

/// Limits of clients without a valid bearer token: together, and each source for itself. A source
/// that uses up its own share delays nobody else.
pub(super) struct Strangers {
    calls: Arc<Semaphore>,
    bodies: Budget,
    source_calls_max: usize,
    source_bytes_max: usize,
    sources: Mutex<HashMap<IpAddr, Arc<Share>>>,
}

/// What one source may use.
pub(super) struct Share {
    calls: Arc<Semaphore>,
    bodies: Budget,
}

impl Strangers {
    /// A source may have a quarter of everything.
    pub(super) fn new(calls_max: usize, bytes_max: usize) -> Self {
        Self {
            calls: Arc::new(Semaphore::new(calls_max.max(1))),
            bodies: Budget::new(bytes_max),
            source_calls_max: (calls_max / SHARES).max(1),
            source_bytes_max: bytes_max / SHARES,
            sources: Mutex::default(),
        }
    }

    /// The share of the source of this address.
    pub(super) fn share(&self, ip: IpAddr) -> Arc<Share> {
        let mut sources = lock(&self.sources);
        if sources.len() >= SOURCES_KEPT {
            sources.retain(|_, share| Arc::strong_count(share) > 1);
        }
        let new = || {
            let calls = Arc::new(Semaphore::new(self.source_calls_max));
            Arc::new(Share { calls, bodies: Budget::new(self.source_bytes_max) })
        };
        Arc::clone(sources.entry(source(ip)).or_insert_with(new))
    }

    /// The budgets of a body of that source.
    pub(super) fn budgets<'s>(&'s self, share: &'s Share) -> [&'s Budget; 2] {
        [&share.bodies, &self.bodies]
    }

    /// Waits until the source may run one more call.
    pub(super) async fn call(&self, share: &Share) -> Option<[OwnedSemaphorePermit; 2]> {
        let own = Arc::clone(&share.calls).acquire_owned().await.ok()?;
        let all = Arc::clone(&self.calls).acquire_owned().await.ok()?;
        Some([own, all])
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt;
    use stdx::clock::SimClock;

    use super::*;

    fn chunks(chunks: Vec<usize>, ends: bool) -> Body {
        let chunks = chunks.into_iter().map(|n| Ok::<_, Infallible>(Bytes::from(vec![b'x'; n])));
        let chunks = futures_util::stream::iter(chunks);
        if ends {
            return Body::from_stream(chunks);
        }
        Body::from_stream(chunks.chain(futures_util::stream::pending()))
    }

    fn announce(bytes: usize) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_LENGTH, bytes.into())])
    }

    const KIB: usize = 1024;

    #[tokio::test]
    async fn announced_bytes_take_no_room() {
        let (budget, clock) = (Budget::new(64 * KIB), SimClock::at(Duration::ZERO));
        let (budgets, headers) = ([&budget], announce(60 * KIB));
        let mut waiting = Vec::new();
        for _ in 0..50 {
            let body = chunks(vec![1], false);
            let mut read = Box::pin(read_body(&budgets, &*clock, &headers, 64 * KIB, body));
            assert!((&mut read).now_or_never().is_none());
            waiting.push(read);
        }
        assert_eq!(budget.room.available_permits(), 64);
        let body = chunks(vec![10 * KIB; 6], true);
        let (room, bytes) = read_body(&[&budget], &*clock, &headers, 64 * KIB, body).await.unwrap();
        assert_eq!((bytes.len(), budget.room.available_permits()), (60 * KIB, 4));
        drop(room);
        assert_eq!(budget.room.available_permits(), 64);
    }

    #[tokio::test]
    async fn bodies_beyond_the_budget_all_arrive() {
        let (budget, clock) = (Budget::new(32 * KIB), SimClock::at(Duration::ZERO));
        let headers = HeaderMap::new();
        let budgets = [&budget];
        let read = async || {
            let body = chunks(vec![6 * KIB; 4], true);
            read_body(&budgets, &*clock, &headers, 64 * KIB, body).await.unwrap().1.len()
        };
        let all = futures_util::future::join_all((0..20).map(|_| read())).await;
        assert!(all.into_iter().all(|length| length == 24 * KIB));
        assert_eq!(budget.room.available_permits(), 32);
    }

    #[tokio::test]
    async fn slow_bodies_are_refused() {
        let (budget, clock) = (Budget::new(640 * KIB), SimClock::at(Duration::ZERO));
        let headers = announce(600 * KIB);
        let body = chunks(vec![64 * KIB; 2], false);
        let read = read_body(&[&budget], &*clock, &headers, 640 * KIB, body).await;
        assert_eq!(read.unwrap_err().status(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(budget.room.available_permits(), 640);
    }

    #[tokio::test]
    async fn a_source_leaves_room_for_others() {
        let strangers = Strangers::new(8, 64 * KIB);
        let [one, other] = [1, 2].map(|last| strangers.share(IpAddr::from([10, 0, 0, last])));
        let mut calls = Vec::new();
        while let Some(Some(call)) = strangers.call(&one).now_or_never() {
            calls.push(call);
        }
        assert_eq!(calls.len(), 2);
        assert!(strangers.call(&other).now_or_never().is_some());
    }
}
