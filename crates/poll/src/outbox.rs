//! Results of checks, gathered into batches: a batch leaves with 1,000 values or after 100 ms,
//! and after 5 ms while little comes in, so that a single value is seen at once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use model::{HostId, Value, shard_of};
use tokio::sync::Notify;

use collect::sink::Sink;

const BATCH_VALUES: usize = 1_000;
const BATCH_DELAY: Duration = Duration::from_millis(100);
const IDLE_DELAY: Duration = Duration::from_millis(5);
/// A batch smaller than this was not worth the wait.
const SMALL_BATCH: usize = 16;
/// With so many values waiting for the shards no further check starts.
const WAITING_MAX: usize = 20_000;

/// Results of one poller. Lives on its thread.
pub(crate) struct Outbox {
    sink: Sink,
    by_shard: RefCell<Vec<Vec<Value>>>,
    waiting: Cell<usize>,
    some: Notify,
    enough: Notify,
}

impl Outbox {
    pub(crate) fn new(sink: Sink) -> Rc<Self> {
        let by_shard = RefCell::new((0..sink.shards()).map(|_| Vec::new()).collect());
        let (some, enough) = (Notify::new(), Notify::new());
        Rc::new(Self { sink, by_shard, waiting: Cell::new(0), some, enough })
    }

    pub(crate) fn push(&self, host: HostId, value: Value) {
        let mut by_shard = self.by_shard.borrow_mut();
        let shard = shard_of(host, by_shard.len());
        let Some(values) = by_shard.get_mut(shard) else { return };
        values.push(value);
        let full = values.len() >= BATCH_VALUES;
        let waiting = self.waiting.replace(self.waiting.get() + 1);
        if waiting == 0 {
            self.some.notify_one();
        }
        if full {
            self.enough.notify_one();
        }
    }

    /// The shards do not take what is there: start no further check.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.get() >= WAITING_MAX
    }

    /// Sends everything that waits; waits for room in the shards' queues. `false` = they are gone.
    pub(crate) async fn flush(&self) -> bool {
        let mut alive = true;
        for shard in 0..self.sink.shards() {
            let values = match self.by_shard.borrow_mut().get_mut(shard) {
                Some(values) if !values.is_empty() => {
                    // The next batch is probably as large.
                    let next = Vec::with_capacity(values.len());
                    std::mem::replace(values, next)
                }
                _ => continue,
            };
            let count = values.len();
            alive &= self.sink.send_unacknowledged(shard, values).await;
            self.waiting.set(self.waiting.get() - count);
        }
        alive
    }

    /// Sends batches as they fill up, until the shards are gone.
    pub(crate) async fn run(self: Rc<Self>) {
        let mut delay = IDLE_DELAY;
        loop {
            // What came during a flush has told nobody.
            if self.waiting.get() == 0 {
                self.some.notified().await;
            }
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = self.enough.notified() => {}
            }
            delay = if self.waiting.get() < SMALL_BATCH { IDLE_DELAY } else { BATCH_DELAY };
            if !self.flush().await {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ItemId, Payload, Timestamp, ValueBatch};
    use stdx::queue;

    fn value(item: u64) -> Value {
        Value { item: ItemId(item), at: Timestamp::from_s(1), payload: Payload::Unsigned(1) }
    }

    fn outbox() -> (Rc<Outbox>, queue::Receiver<ValueBatch>) {
        let (tx, rx) = queue::bounded("shard", 1);
        (Outbox::new(Sink::new(vec![tx])), rx)
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_value_leaves_at_once_and_a_stream_in_batches() {
        let local = tokio::task::LocalSet::new();
        let (outbox, mut shard) = outbox();
        local
            .run_until(async {
                tokio::task::spawn_local(Rc::clone(&outbox).run());
                let start = tokio::time::Instant::now();
                outbox.push(HostId(1), value(1));
                assert_eq!(shard.recv().await.unwrap().values, [value(1)]);
                assert!(start.elapsed() < Duration::from_millis(20));
                for item in 0..500 {
                    outbox.push(HostId(1), value(item));
                }
                assert_eq!(shard.recv().await.unwrap().values.len(), 500);
                let start = tokio::time::Instant::now();
                for item in 0..20 {
                    outbox.push(HostId(1), value(item));
                }
                assert_eq!(shard.recv().await.unwrap().values.len(), 20);
                let waited = start.elapsed();
                assert!(waited >= Duration::from_millis(90) && waited < Duration::from_millis(120));
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_shard_stops_the_poller_and_loses_nothing() {
        let local = tokio::task::LocalSet::new();
        let (outbox, mut shard) = outbox();
        local
            .run_until(async {
                tokio::task::spawn_local(Rc::clone(&outbox).run());
                let mut sent = 0;
                while !outbox.is_full() {
                    outbox.push(HostId(1), value(sent));
                    sent += 1;
                    if sent % 1_000 == 0 {
                        tokio::time::sleep(Duration::from_millis(200)).await;
                    }
                    assert!(sent < 100_000, "the outbox never fills");
                }
                let mut got = 0;
                while got < sent {
                    for value in shard.recv().await.unwrap().values {
                        assert_eq!(value.item, ItemId(got));
                        got += 1;
                    }
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
                assert!(!outbox.is_full());
            })
            .await;
    }
}
