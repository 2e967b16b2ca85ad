//! Values on their way to the shards: split by host, chunked, with one acknowledgement.

use model::{HostId, Value, ValueBatch, shard_of};
use stdx::ack::{self, Outcome};
use stdx::queue;

/// Values per batch: enough to make a shard's work per batch cheap, few enough that one large
/// message does not hold a shard for long.
const BATCH_VALUES: usize = 10_000;

/// Values of one message by shard.
#[derive(Debug)]
pub struct Split {
    by_shard: Vec<Vec<Value>>,
}

impl Split {
    pub fn new(shards: usize) -> Self {
        Self { by_shard: (0..shards.max(1)).map(|_| Vec::new()).collect() }
    }

    pub fn push(&mut self, host: HostId, value: Value) {
        let shard = shard_of(host, self.by_shard.len());
        if let Some(values) = self.by_shard.get_mut(shard) {
            values.push(value);
        }
    }

    /// Values of all shards.
    pub fn len(&self) -> usize {
        self.by_shard.iter().map(Vec::len).sum()
    }

    /// No value was added.
    pub fn is_empty(&self) -> bool {
        self.by_shard.iter().all(Vec::is_empty)
    }
}

/// The shards' queues.
#[derive(Debug, Clone)]
pub struct Sink {
    shards: Vec<queue::Sender<ValueBatch>>,
}

impl Sink {
    pub fn new(shards: Vec<queue::Sender<ValueBatch>>) -> Self {
        Self { shards }
    }

    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    pub fn split(&self) -> Split {
        Split::new(self.shards.len())
    }

    /// Sends all values and waits until each is kept. A full queue makes this wait.
    pub async fn send(&self, split: Split) -> Outcome {
        self.send_as(split, ack::split).await
    }

    /// The same for values that may have been kept before.
    pub async fn send_doubtful(&self, split: Split) -> Outcome {
        self.send_as(split, ack::split_doubtful).await
    }

    /// So much waits for the shard of a host that its active agent had better wait too.
    pub fn is_congested(&self, host: HostId) -> bool {
        let queue = self.shards.get(shard_of(host, self.shards.len()));
        queue.is_some_and(|queue| {
            let gauge = queue.gauge();
            gauge.len() * 10 >= gauge.limit() * 8
        })
    }

    async fn send_as(
        &self,
        split: Split,
        acknowledge: fn(usize) -> (Vec<ack::Part>, ack::Waiter),
    ) -> Outcome {
        let mut chunks = Vec::new();
        for (shard, values) in split.by_shard.into_iter().enumerate() {
            chunk(values, |values| chunks.push((shard, values)));
        }
        let (parts, waiter) = acknowledge(chunks.len());
        for ((shard, values), part) in chunks.into_iter().zip(parts) {
            let batch = ValueBatch { values, ack: Some(part) };
            // A closed queue drops the part, which is reported as a loss.
            if let Some(queue) = self.shards.get(shard) {
                let _closed = queue.send(batch).await;
            }
        }
        waiter.wait().await
    }

    /// Sends values that nobody waits for; `false` = the shard is gone.
    pub async fn send_unacknowledged(&self, shard: usize, values: Vec<Value>) -> bool {
        match self.shards.get(shard) {
            Some(queue) => queue.send(ValueBatch { values, ack: None }).await.is_ok(),
            None => false,
        }
    }
}

fn chunk(values: Vec<Value>, mut out: impl FnMut(Vec<Value>)) {
    if values.len() <= BATCH_VALUES {
        if !values.is_empty() {
            out(values);
        }
        return;
    }
    let mut rest = values.into_iter();
    loop {
        let batch: Vec<Value> = rest.by_ref().take(BATCH_VALUES).collect();
        if batch.is_empty() {
            return;
        }
        out(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ItemId, Payload, Timestamp};

    fn value(item: u64) -> Value {
        Value { item: ItemId(item), at: Timestamp::from_s(1), payload: Payload::Unsigned(1) }
    }

    #[tokio::test]
    async fn one_acknowledgement_over_all_shards_and_chunks() {
        let (queues, receivers): (Vec<_>, Vec<_>) =
            (0..3).map(|_| queue::bounded("shard", 2)).unzip();
        let sink = Sink::new(queues);
        let mut split = sink.split();
        for host in 0..100 {
            for item in 0..1000 {
                split.push(HostId(host), value(item));
            }
        }
        assert_eq!(split.len(), 100_000);
        let shards = receivers.into_iter().map(|mut queue| {
            tokio::spawn(async move {
                while let Some(batch) = queue.recv().await {
                    assert!(batch.values.len() <= BATCH_VALUES && !batch.values.is_empty());
                    batch.ack.unwrap().report(batch.values.len() as u64 - 1, 1);
                }
            })
        });
        let shards: Vec<_> = shards.collect();
        let outcome = sink.send(split).await;
        assert_eq!(outcome.processed + outcome.failed, 100_000);
        assert!(outcome.failed >= 10 && !outcome.lost, "{outcome:?}");
        drop(sink);
        for shard in shards {
            shard.await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_dead_shard_is_a_loss_and_nothing_is_nothing() {
        let (queue, receiver) = queue::bounded("shard", 1);
        drop(receiver);
        let sink = Sink::new(vec![queue]);
        let mut split = sink.split();
        split.push(HostId(1), value(1));
        assert!(sink.send(split).await.lost);
        assert_eq!(sink.send(sink.split()).await, Outcome::default());
    }
}
