//! The way in: how much is done at the same time, and what was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};
use wire::history_service::{
    Failure, MESSAGE_BYTES_MAX, PAGE_BYTES, Page, ReadRequest, Reason, WriteReply, WriteRequest,
};

use super::{Answer, Asker, Service};

/// How much at the same time, over all connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Batches that are written; others wait.
    pub writes_max: usize,
    /// Answers to reads that are sent; others are refused for the moment.
    pub answers_max: usize,
    /// An answer of which nothing is taken for so long gives its place to others.
    pub patience: Duration,
}

impl Limits {
    /// Those of a server.
    pub const SERVER: Self =
        Self { writes_max: 32, answers_max: 64, patience: Duration::from_secs(60) };

    /// Bytes of messages that calls within these limits hold. Of an answer, one page is sent while the next
    /// is read.
    pub const fn bytes_max(&self) -> usize {
        self.writes_max * MESSAGE_BYTES_MAX + self.answers_max * 2 * PAGE_BYTES
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::SERVER
    }
}

/// What has been done since the start, and what is open.
#[derive(Debug, Default)]
pub struct Counters {
    writes: AtomicU64,
    reads: AtomicU64,
    failed: AtomicU64,
    kept: AtomicU64,
    refused: AtomicU64,
    sent: AtomicU64,
    streams: AtomicU64,
    answers: AtomicU64,
}

/// A reading of [`Counters`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Batches that were to be written.
    pub writes: u64,
    /// Reads since the start.
    pub reads: u64,
    /// Calls and batches that failed as a whole, answers that broke off.
    pub failed: u64,
    /// Values acknowledged as kept.
    pub kept: u64,
    /// Values refused, each alone.
    pub refused: u64,
    /// Values and trends that readers got.
    pub sent: u64,
    /// Streams of batches that are open now.
    pub streams: u64,
    /// Answers that are being sent now.
    pub answers: u64,
}

fn add(to: &AtomicU64, many: u64) {
    to.fetch_add(many, Ordering::Relaxed);
}

impl Counters {
    /// All of them; each is right, together they may be a call apart.
    pub fn read(&self) -> Figures {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Figures {
            writes: of(&self.writes),
            reads: of(&self.reads),
            failed: of(&self.failed),
            kept: of(&self.kept),
            refused: of(&self.refused),
            sent: of(&self.sent),
            streams: of(&self.streams),
            answers: of(&self.answers),
        }
    }

    pub(super) fn failed(&self) {
        add(&self.failed, 1);
    }

    pub(super) fn sent(&self, page: &Page) {
        let rows = match page {
            Page::Samples(page) => page.samples.len(),
            Page::Trends(page) => page.trends.len(),
        };
        add(&self.sent, rows as u64);
    }

    fn replied(&self, reply: &WriteReply) {
        add(&self.writes, 1);
        add(&self.kept, reply.kept);
        add(&self.refused, reply.refused.len() as u64);
        add(&self.failed, u64::from(reply.failure.is_some()));
    }
}

/// What the gate and its answers share.
pub(super) struct Inside {
    service: Arc<dyn Service>,
    pub(super) limits: Limits,
    pub(super) counters: Arc<Counters>,
    writes: Arc<Semaphore>,
    answers: Arc<Semaphore>,
}

/// What HTTP and gRPC ask. Messages are read on blocking threads and within the places, so that
/// what they become in memory is bounded too. Clones share places and figures.
#[derive(Clone)]
pub struct Gate(Arc<Inside>);

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

impl Gate {
    /// The way to `service`; `counters` are the caller's to read.
    pub fn new(service: Arc<dyn Service>, limits: Limits, counters: Arc<Counters>) -> Self {
        Self(Arc::new(Inside {
            service,
            limits,
            counters,
            writes: Arc::new(Semaphore::new(limits.writes_max)),
            answers: Arc::new(Semaphore::new(limits.answers_max)),
        }))
    }

    /// Whether the caller may send a request.
    pub async fn admit(&self, asker: &Asker) -> Result<(), Failure> {
        let (inside, asker) = (Arc::clone(&self.0), asker.clone());
        let known = spawn_blocking(move || inside.service.known(&asker)).await;
        let known = known.unwrap_or_else(|error| Err(broken(&error)));
        known.inspect_err(|_| self.0.counters.failed())
    }

    /// Writes a batch when it is its turn; `message` reads it.
    pub async fn write(
        &self,
        asker: &Asker,
        message: impl FnOnce() -> Result<WriteRequest, Failure> + Send + 'static,
    ) -> WriteReply {
        let failed = |failure| WriteReply { failure: Some(failure), ..WriteReply::default() };
        let Ok(place) = Arc::clone(&self.0.writes).acquire_owned().await else {
            return failed(Reason::Stopping.with("The server stops."));
        };
        let (inside, asker) = (Arc::clone(&self.0), asker.clone());
        let sequence = Arc::new(AtomicU64::new(0));
        let of_message = Arc::clone(&sequence);
        let work = move || {
            // With the thread, not with the caller: who goes away leaves the work behind.
            let _place = place;
            let reply = match message() {
                Ok(request) => {
                    of_message.store(request.sequence, Ordering::Relaxed);
                    inside.service.write(&asker, request)
                }
                Err(failure) => failed(failure),
            };
            inside.counters.replied(&reply);
            reply
        };
        spawn_blocking(work).await.unwrap_or_else(|error| {
            let sequence = sequence.load(Ordering::Relaxed);
            let reply = WriteReply { sequence, ..failed(broken(&error)) };
            self.0.counters.replied(&reply);
            reply
        })
    }

    /// Begins a read; `message` says what is asked.
    pub async fn read(
        &self,
        asker: &Asker,
        message: impl FnOnce() -> Result<ReadRequest, Failure> + Send + 'static,
    ) -> Result<Answer, Failure> {
        let counters = &self.0.counters;
        add(&counters.reads, 1);
        let Ok(place) = Arc::clone(&self.0.answers).try_acquire_owned() else {
            counters.failed();
            let most = self.0.limits.answers_max;
            let text = format!("{most} answers are being sent: ask again when one has ended.");
            return Err(Reason::Busy.with(text));
        };
        let (inside, asker) = (Arc::clone(&self.0), asker.clone());
        // The place goes with the thread: who goes away leaves the work behind.
        let begin = move || Ok((inside.service.read(&asker, message()?)?, place));
        let begun = spawn_blocking(begin).await.unwrap_or_else(|error| Err(broken(&error)));
        let (pages, place) = begun.inspect_err(|_| counters.failed())?;
        Ok(Answer::begin(Arc::clone(&self.0), pages, place))
    }

    /// Counts a stream of batches until it is dropped.
    pub fn stream(&self) -> Open {
        Open::new(&self.0.counters, |counters| &counters.streams)
    }
}

/// Something that counts as open until it is dropped.
#[derive(Debug)]
pub struct Open {
    counters: Arc<Counters>,
    gauge: fn(&Counters) -> &AtomicU64,
}

impl Open {
    fn new(counters: &Arc<Counters>, gauge: fn(&Counters) -> &AtomicU64) -> Self {
        add(gauge(counters), 1);
        Self { counters: Arc::clone(counters), gauge }
    }

    pub(super) fn answer(counters: &Arc<Counters>) -> Self {
        Self::new(counters, |counters| &counters.answers)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        (self.gauge)(&self.counters).fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) fn broken(error: &JoinError) -> Failure {
    tracing::error!(%error, "a call of the history service panicked");
    Reason::Internal.with("Internal error. See the server's log.")
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};

    use wire::history_service::NewestRequest;

    use super::*;
    use crate::service::Pages;

    /// Reads begin when they are let.
    #[derive(Default)]
    struct Slow {
        begun: AtomicU64,
        open: Mutex<bool>,
        opened: Condvar,
    }

    struct Nothing;

    impl Pages for Nothing {
        fn next(&mut self) -> Result<Option<Page>, Failure> {
            Ok(None)
        }
    }

    impl Service for Slow {
        fn known(&self, _: &Asker) -> Result<(), Failure> {
            Ok(())
        }
        fn write(&self, _: &Asker, _: WriteRequest) -> WriteReply {
            WriteReply::default()
        }
        fn read(&self, _: &Asker, _: ReadRequest) -> Result<Box<dyn Pages>, Failure> {
            add(&self.begun, 1);
            let open = self.open.lock().unwrap();
            drop(self.opened.wait_while(open, |open| !*open).unwrap());
            Ok(Box::new(Nothing))
        }
    }

    #[tokio::test]
    async fn an_abandoned_read_keeps_its_place_until_its_work_ends() {
        let service = Arc::new(Slow::default());
        let limits = Limits { answers_max: 1, ..Limits::default() };
        let gate = Gate::new(Arc::clone(&service) as Arc<dyn Service>, limits, Arc::default());
        let asker = Asker { token: None, peer: [127, 0, 0, 1].into() };
        let message = || Ok(ReadRequest::Newest(NewestRequest::default()));
        let gone = tokio::spawn({
            let (gate, asker) = (gate.clone(), asker.clone());
            async move { gate.read(&asker, message).await.map(drop) }
        });
        while service.begun.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        let busy = gate.read(&asker, message).await.unwrap_err();
        assert_eq!(busy.reason(), Reason::Busy);
        *service.open.lock().unwrap() = true;
        service.opened.notify_all();
        while gate.read(&asker, message).await.is_err() {
            tokio::task::yield_now().await;
        }
    }
}
