//! One connector: a bounded queue and the tasks that send messages.
//!
//! The queue has a *lane* for each of the connector's senders. An item or trigger belongs to one lane, whose
//! messages are sent one after the other: its records keep their order.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use config::snapshot::connector::Connector;
use pipeline::ExportFigures;
use poll::Poster;
use stdx::clock::SharedClock;
use stdx::seldom::Seldom;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Shortest time between the beginnings of two messages of a lane that are not full.
const PACE: Duration = Duration::from_secs(1);
/// Bytes of a message; a larger record has a message for itself.
const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// What a record takes beside its text.
const RECORD_BYTES: usize = 48;
/// A failing receiver is reported this often.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// What all connectors share.
pub(crate) struct Tools {
    pub(crate) poster: Poster,
    pub(crate) clock: SharedClock,
    pub(crate) figures: Arc<ExportFigures>,
    /// Messages that are being sent, and since when time has been counted for them.
    pub(crate) sending: Cell<(usize, Duration)>,
}

impl Tools {
    /// Counts the time since the last call in which messages were being sent.
    pub(crate) fn count_sending(&self, change: isize) {
        let (sending, since) = self.sending.get();
        let now = self.clock.monotonic();
        if sending > 0 {
            self.figures.worker.add(now.saturating_sub(since));
        }
        self.sending.set((sending.saturating_add_signed(change), now));
    }
}

/// A record for an item or a trigger.
#[derive(Debug)]
struct Record {
    object: u64,
    line: Arc<str>,
}

impl Record {
    fn bytes(&self) -> usize {
        RECORD_BYTES + self.line.len()
    }
}

#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<Record>,
    /// Of the records that wait.
    bytes: usize,
}

/// A connector that runs.
pub(crate) struct Stream {
    shared: Rc<Shared>,
    senders: Vec<JoinHandle<()>>,
}

struct Shared {
    tools: Rc<Tools>,
    settings: RefCell<Arc<Connector>>,
    lanes: Vec<(RefCell<Lane>, Notify)>,
    /// Bytes of all lanes, and of messages that are being sent.
    bytes: Cell<usize>,
    bytes_max: Cell<usize>,
    /// Nothing comes any more.
    is_ending: Cell<bool>,
    failing: Seldom,
    full: Seldom,
}

impl Stream {
    pub(crate) fn start(connector: &Arc<Connector>, tools: &Rc<Tools>, bytes_max: usize) -> Self {
        let shared = Rc::new(Shared::new(connector, tools, bytes_max));
        Self { senders: shared.start(None), shared }
    }

    pub(crate) fn settings(&self) -> Arc<Connector> {
        Arc::clone(&self.shared.settings.borrow())
    }

    /// Uses these settings from the next attempt on.
    pub(crate) fn configure(self, connector: &Arc<Connector>, bytes_max: usize) -> Self {
        let lanes = self.shared.lanes.len();
        *self.shared.settings.borrow_mut() = Arc::clone(connector);
        self.shared.bytes_max.set(bytes_max);
        if lanes == connector.senders {
            return self;
        }
        // Records move to the new lanes, which begin when messages that are being sent have ended.
        let next = Rc::new(Shared::new(connector, &self.shared.tools, bytes_max));
        for (lane, _) in &self.shared.lanes {
            let moved = std::mem::take(&mut *lane.borrow_mut());
            self.shared.bytes.set(self.shared.bytes.get().saturating_sub(moved.bytes));
            moved.waiting.into_iter().for_each(|record| next.keep(record));
        }
        self.shared.end();
        Self { senders: next.start(Some(self.shared)), shared: next }
    }

    /// Queues a record, or drops it if there is no room.
    pub(crate) fn push(&self, object: u64, line: &Arc<str>) {
        let shared = &*self.shared;
        let figures = &shared.tools.figures;
        let record = Record { object, line: Arc::clone(line) };
        if shared.bytes.get() + record.bytes() > shared.bytes_max.get() {
            figures.dropped_by_connectors.fetch_add(1, Ordering::Relaxed);
            if let Some(more) = shared.full.pass(shared.tools.clock.monotonic()) {
                let name = &shared.settings.borrow().name;
                tracing::warn!(
                    connector = name,
                    records = more + 1,
                    "the queue of a connector is full; dropping records"
                );
            }
            return;
        }
        figures.queued.fetch_add(1, Ordering::Relaxed);
        shared.keep(record);
    }

    /// Sends what is queued, as fast as possible.
    pub(crate) fn end(&self) {
        self.shared.end();
    }

    /// Waits until all is sent.
    pub(crate) async fn ended(&mut self) {
        for sender in &mut self.senders {
            // A sender that panicked has ended the process.
            let _ = sender.await;
        }
    }

    /// Ends at once. What waits is not sent.
    pub(crate) fn abort(self) {
        self.senders.iter().for_each(JoinHandle::abort);
        for (lane, _) in &self.shared.lanes {
            let waiting = std::mem::take(&mut *lane.borrow_mut()).waiting.len();
            let waiting = u64::try_from(waiting).unwrap_or(u64::MAX);
            self.shared.tools.figures.queued.fetch_sub(waiting, Ordering::Relaxed);
        }
    }
}

impl Shared {
    fn new(connector: &Arc<Connector>, tools: &Rc<Tools>, bytes_max: usize) -> Self {
        Self {
            tools: Rc::clone(tools),
            settings: RefCell::new(Arc::clone(connector)),
            lanes: (0..connector.senders).map(|_| Default::default()).collect(),
            bytes: Cell::new(0),
            bytes_max: Cell::new(bytes_max),
            is_ending: Cell::new(false),
            failing: Seldom::new(REPORT_EVERY),
            full: Seldom::new(REPORT_EVERY),
        }
    }

    /// Starts a sender for each lane; they begin when those of `before` have sent their last messages.
    fn start(self: &Rc<Self>, before: Option<Rc<Self>>) -> Vec<JoinHandle<()>> {
        let sender = |lane| {
            let (shared, before) = (Rc::clone(self), before.clone());
            tokio::task::spawn_local(async move {
                let _watched = Watched;
                while before.as_ref().is_some_and(|before| before.bytes.get() > 0) {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                drop(before);
                shared.send_all(lane).await;
            })
        };
        (0..self.lanes.len()).map(sender).collect()
    }

    fn keep(&self, record: Record) {
        let lane = usize::try_from(record.object).unwrap_or(0) % self.lanes.len();
        let Some((lane, changed)) = self.lanes.get(lane) else { return };
        self.bytes.set(self.bytes.get() + record.bytes());
        let mut lane = lane.borrow_mut();
        lane.bytes += record.bytes();
        lane.waiting.push_back(record);
        changed.notify_one();
    }

    fn end(&self) {
        self.is_ending.set(true);
        self.lanes.iter().for_each(|(_, changed)| changed.notify_one());
    }

    /// The task of a sender.
    async fn send_all(&self, lane: usize) {
        let Some((lane, changed)) = self.lanes.get(lane) else { return };
        let mut next = Duration::ZERO;
        loop {
            let (has_any, is_full) = self.look_at(&lane.borrow());
            let wait = next.saturating_sub(self.tools.clock.monotonic());
            if has_any && (is_full || self.is_ending.get() || wait.is_zero()) {
                next = self.tools.clock.monotonic() + PACE;
                let message = self.take(&mut lane.borrow_mut());
                self.send(message).await;
            } else if has_any {
                // More may fill the message meanwhile.
                let _ = tokio::time::timeout(wait, changed.notified()).await;
            } else if self.is_ending.get() {
                return;
            } else {
                changed.notified().await;
            }
        }
    }

    /// Whether records wait, and whether they fill a message.
    fn look_at(&self, lane: &Lane) -> (bool, bool) {
        let full = self.settings.borrow().records_max.is_some_and(|max| lane.waiting.len() >= max);
        (!lane.waiting.is_empty(), full || lane.bytes >= MESSAGE_BYTES_MAX)
    }

    fn take(&self, lane: &mut Lane) -> Message {
        let records_max = self.settings.borrow().records_max.unwrap_or(usize::MAX);
        let mut message = Message::default();
        while message.records < records_max
            && let Some(record) = lane.waiting.front()
            && (message.records == 0 || message.body.len() + record.line.len() <= MESSAGE_BYTES_MAX)
        {
            message.body.push_str(&record.line);
            message.records += 1;
            message.bytes += record.bytes();
            lane.bytes -= record.bytes();
            lane.waiting.pop_front();
        }
        lane.waiting.shrink_to(1_024.max(lane.waiting.len() * 2));
        message
    }

    /// Sends a message with the attempts that the settings allow.
    async fn send(&self, message: Message) {
        let _sent = Sent { shared: self, bytes: message.bytes, records: message.records };
        let mut attempt = 1;
        loop {
            let settings = Arc::clone(&self.settings.borrow());
            let sending = Sending::new(&self.tools);
            let result = self.tools.poster.post(&settings.receiver, message.body.as_bytes()).await;
            drop(sending);
            let (reason, is_final) = match result {
                Ok(200..=204) => return,
                Ok(status) => (format!("response code {status}"), is_final(status)),
                Err(error) => (error.text, error.is_permanent),
            };
            if is_final || attempt >= settings.attempts {
                self.refused(&settings, &message, &reason);
                return;
            }
            attempt += 1;
            tokio::time::sleep(settings.attempt_interval).await;
        }
    }

    fn refused(&self, settings: &Connector, message: &Message, reason: &str) {
        let many = u64::try_from(message.records).unwrap_or(u64::MAX);
        self.tools.figures.dropped_by_connectors.fetch_add(many, Ordering::Relaxed);
        if let Some(more) = self.failing.pass(self.tools.clock.monotonic()) {
            tracing::warn!(
                connector = settings.name,
                records = many,
                other_messages = more,
                reason,
                "dropping a message of a connector that its receiver did not accept"
            );
        }
    }
}

/// A task of a sender: its panic is one of the exporter.
struct Watched;

impl Drop for Watched {
    fn drop(&mut self) {
        if std::thread::panicking() {
            stdx::thread::failed("exporter", "a sender of a connector panicked");
        }
    }
}

#[derive(Debug, Default)]
struct Message {
    body: String,
    records: usize,
    /// Of its records in the queue.
    bytes: usize,
}

/// A message that leaves the queue when it is sent, dropped or aborted.
struct Sent<'a> {
    shared: &'a Shared,
    bytes: usize,
    records: usize,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let shared = self.shared;
        shared.bytes.set(shared.bytes.get().saturating_sub(self.bytes));
        let records = u64::try_from(self.records).unwrap_or(u64::MAX);
        shared.tools.figures.queued.fetch_sub(records, Ordering::Relaxed);
    }
}

/// A request that is being sent.
struct Sending<'a>(&'a Tools);

impl<'a> Sending<'a> {
    fn new(tools: &'a Tools) -> Self {
        tools.count_sending(1);
        Self(tools)
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        self.0.count_sending(-1);
    }
}

/// Whether a server 7.0.22 does not repeat a request with this response.
fn is_final(status: u16) -> bool {
    matches!(status, 400 | 401 | 403 | 404 | 405 | 415 | 422)
}

#[cfg(test)]
mod tests;
