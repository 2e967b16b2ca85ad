//! All shards together: how the rest of the server feeds, asks and stops them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use config::snapshot::Item;
use config::{Snapshot, Touched};
use history::{
    Bucket, BucketQuery, Error, RangeQuery, Reader, Span, View, buckets_by_parts, buckets_of,
    newest_of, range_of,
};
use model::{ItemId, Payload, Sample, Trend, TriggerId, TriggerState, ValueBatch, shard_of};
use stdx::queue::{Gauge, Sender};
use stdx::sync::lock;
use tokio::sync::oneshot;

use crate::command::{Command, ItemReport, ItemReports, NewConfig, Scope, TriggerReport};
use crate::gauges::{GaugeReading, Gauges};

/// Where the newest configuration waits for a shard.
pub(crate) type LetterBox = Arc<Mutex<Option<NewConfig>>>;

/// One running shard, as others see it.
#[derive(Debug)]
pub struct ShardHandle {
    /// Values of hosts of this shard.
    pub values: Sender<ValueBatch>,
    /// Requests.
    pub commands: Sender<Command>,
    pub(crate) letters: LetterBox,
    pub(crate) gauges: Arc<Gauges>,
    /// Ends with whether the shard ended in order.
    pub(crate) thread: Mutex<Option<std::thread::JoinHandle<bool>>>,
}

impl ShardHandle {
    /// Figures of now.
    pub fn gauges(&self) -> GaugeReading {
        self.gauges.read()
    }

    /// The gauge of the queue of values.
    pub fn queue(&self) -> Arc<Gauge> {
        self.values.gauge()
    }
}

/// Items of one shard, and a view of them.
type ItemsView = (Vec<ItemId>, Box<dyn View>);

/// All shards. Methods that say so block: call them from blocking threads, never from a shard or
/// an async task.
#[derive(Debug)]
pub struct ShardSet {
    shards: Vec<ShardHandle>,
    snapshot: ArcSwap<Snapshot>,
}

impl ShardSet {
    pub(crate) fn new(shards: Vec<ShardHandle>, snapshot: Arc<Snapshot>) -> Self {
        Self { shards, snapshot: ArcSwap::from(snapshot) }
    }

    /// The shards in order of their numbers.
    pub fn shards(&self) -> &[ShardHandle] {
        &self.shards
    }

    /// Senders of values by shard number, for [`model::shard_of`].
    pub fn values(&self) -> Vec<Sender<ValueBatch>> {
        self.shards.iter().map(|shard| shard.values.clone()).collect()
    }

    /// Hands a new configuration to all shards; `touched` = what differs from the one handed over
    /// before, `None` = anything may. Does not block.
    pub fn configure(&self, snapshot: &Arc<Snapshot>, touched: Option<&Touched>) {
        self.snapshot.store(Arc::clone(snapshot));
        for shard in &self.shards {
            let next = NewConfig { snapshot: Arc::clone(snapshot), touched: touched.cloned() };
            {
                let mut letters = lock(&shard.letters);
                *letters = Some(match letters.take() {
                    Some(earlier) => earlier.followed_by(next),
                    None => next,
                });
            }
            // A full queue wakes the shard as well, and it looks into the box each second anyway.
            drop(shard.commands.try_send(Command::Configure));
        }
    }

    /// Tells the shards that a trigger's state was changed by others. Blocks while a queue is full.
    pub fn set_trigger(&self, trigger: TriggerId, state: TriggerState) {
        for shard in &self.shards {
            if shard.commands.blocking_send(Command::TriggerState { trigger, state }).is_err() {
                tracing::debug!(%trigger, "a shard has ended; its trigger state stays");
            }
        }
    }

    /// Newest values and states, in the order asked; unknown items are left out. Blocks.
    pub fn items(&self, items: &[ItemId]) -> Result<Vec<ItemReport>, Error> {
        let mut answers = Vec::new();
        for (shard, items) in self.by_shard(items) {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::Items { items, reply })?;
            answers.push(answer);
        }
        let mut found = BTreeMap::new();
        for answer in answers {
            let ItemReports { mut reports, view, missing } = receive(answer)?;
            if let Some(view) = view {
                let mut read: BTreeMap<ItemId, Vec<Sample>> =
                    missing.iter().copied().zip(newest_of(view.as_ref(), &missing, 2)?).collect();
                for report in &mut reports {
                    if let Some(samples) = read.remove(&report.item) {
                        let mut samples = samples.into_iter();
                        report.last = [samples.next(), samples.next()];
                    }
                }
            }
            found.extend(reports.into_iter().map(|report| (report.item, report)));
        }
        Ok(items.iter().filter_map(|item| found.remove(item)).collect())
    }

    /// Items that are not supported, and why, by id: what [`crate::Deps::unsupported`] takes after
    /// a restart. Blocks.
    pub fn unsupported(&self) -> Result<Vec<(ItemId, Box<str>)>, Error> {
        let mut answers = Vec::new();
        for shard in 0..self.shards.len() {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::Unsupported { reply })?;
            answers.push(answer);
        }
        let mut found = Vec::new();
        for answer in answers {
            found.extend(receive(answer)?);
        }
        found.sort_unstable_by_key(|(item, _)| *item);
        Ok(found)
    }

    /// States of triggers, in the order asked; unknown ones are left out. Blocks.
    pub fn triggers(&self, triggers: &[TriggerId]) -> Result<Vec<TriggerReport>, Error> {
        let mut answers = Vec::new();
        for shard in 0..self.shards.len() {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::Triggers { triggers: triggers.to_vec(), reply })?;
            answers.push(answer);
        }
        let mut found = BTreeMap::new();
        for answer in answers {
            found.extend(receive(answer)?.into_iter().map(|report| (report.trigger, report)));
        }
        Ok(triggers.iter().filter_map(|trigger| found.remove(trigger)).collect())
    }

    /// Calculates calculated items now. Blocks while a queue is full.
    pub fn check_now(&self, items: &[ItemId]) -> Result<(), Error> {
        for (shard, items) in self.by_shard(items) {
            self.send(shard, Command::CheckNow { items })?;
        }
        Ok(())
    }

    /// The value that a calculated item would have now; the item need not exist. Blocks.
    pub fn calculate(&self, item: Item) -> Result<Payload, Error> {
        let shard = shard_of(item.host, self.shards.len());
        let (reply, answer) = oneshot::channel();
        self.send(shard, Command::Calculate { item: Arc::new(item), reply })?;
        receive(answer)
    }

    /// Deletes history and trends of items, deleted ones as well: nothing of them is seen again,
    /// but what comes later. Blocks.
    pub fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        let mut answers = Vec::new();
        for shard in 0..self.shards.len() {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::Clear { items: items.to_vec(), reply })?;
            answers.push(answer);
        }
        answers.into_iter().try_for_each(|answer| receive(answer)?)
    }

    /// Waits until everything accepted so far survives a power cut. Blocks.
    pub fn flush(&self) -> Result<(), Error> {
        let mut answers = Vec::new();
        for shard in 0..self.shards.len() {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::Flush { reply })?;
            answers.push(answer);
        }
        answers.into_iter().try_for_each(|answer| receive(answer)?)
    }

    /// Deletes what is older than its retention; returns the bytes given back. Blocks.
    pub fn housekeep(&self) -> Result<u64, Error> {
        let mut answers = Vec::new();
        for shard in 0..self.shards.len() {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::Housekeep { reply })?;
            answers.push(answer);
        }
        answers.into_iter().try_fold(0, |sum, answer| Ok(sum + receive(answer)??.bytes))
    }

    /// Figures of all shards together.
    pub fn gauges(&self) -> GaugeReading {
        let mut sum = GaugeReading::default();
        for shard in &self.shards {
            sum.add(&shard.gauges());
        }
        sum
    }

    /// Messages waiting in the queues of values, of how many that fit.
    pub fn queue_len(&self) -> (usize, usize) {
        self.shards.iter().fold((0, 0), |(len, limit), shard| {
            let gauge = shard.queue();
            (len + gauge.len(), limit + gauge.limit())
        })
    }

    /// Ends the shards in an orderly way: values that wait are taken, trends and everything else
    /// is written. Blocks until all have ended. False = not everything could be written: the next
    /// start is one after a crash.
    pub fn stop(&self) -> bool {
        let mut orderly = true;
        for shard in &self.shards {
            if shard.commands.blocking_send(Command::Stop).is_err() {
                tracing::debug!("a shard has ended already");
            }
        }
        for shard in &self.shards {
            let thread = lock(&shard.thread).take();
            let Some(thread) = thread else { continue };
            orderly &= thread.join().unwrap_or_else(|_| {
                tracing::error!("a shard panicked; see the log above");
                false
            });
        }
        orderly
    }

    fn send(&self, shard: usize, command: Command) -> Result<(), Error> {
        let shard = self.shards.get(shard).ok_or_else(Error::closed)?;
        shard.commands.blocking_send(command).map_err(|_| Error::closed())
    }

    /// The items by the shard that owns them; unknown ones are left out.
    fn by_shard(&self, items: &[ItemId]) -> BTreeMap<usize, Vec<ItemId>> {
        let snapshot = self.snapshot.load();
        let mut shards: BTreeMap<usize, Vec<ItemId>> = BTreeMap::new();
        for id in items {
            if let Some(item) = snapshot.items.get(id) {
                let shard = shard_of(item.host, self.shards.len());
                shards.entry(shard).or_default().push(*id);
            }
        }
        shards
    }

    /// Views of all shards that own some of the items.
    fn views(&self, items: &[ItemId], scope: Scope) -> Result<Vec<ItemsView>, Error> {
        let mut answers = Vec::new();
        for (shard, items) in self.by_shard(items) {
            let (reply, answer) = oneshot::channel();
            self.send(shard, Command::View { items: items.clone(), scope, reply })?;
            answers.push((items, answer));
        }
        answers.into_iter().map(|(items, answer)| Ok((items, receive(answer)?))).collect()
    }
}

fn receive<T>(answer: oneshot::Receiver<T>) -> Result<T, Error> {
    // A shard that ends drops the sender, so that nobody waits for ever.
    answer.blocking_recv().map_err(|_| Error::closed())
}

impl Reader for ShardSet {
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
        match self.views(&[query.item], Scope::Span(query.span))?.first() {
            Some((_, view)) => range_of(view.as_ref(), query),
            None => Ok(Vec::new()),
        }
    }

    fn buckets(&self, query: &BucketQuery) -> Result<Vec<Bucket>, Error> {
        buckets_by_parts(query, |part| {
            match self.views(&[part.item], Scope::Span(part.span))?.first() {
                Some((_, view)) => buckets_of(view.as_ref(), part),
                None => Ok(Vec::new()),
            }
        })
    }

    fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error> {
        let mut found = BTreeMap::new();
        for (items, view) in self.views(items, Scope::Newest(n))? {
            let newest = newest_of(view.as_ref(), &items, n)?;
            found.extend(items.into_iter().zip(newest));
        }
        Ok(items.iter().map(|item| found.remove(item).unwrap_or_default()).collect())
    }

    fn trends(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error> {
        let mut found = BTreeMap::new();
        for (items, view) in self.views(items, Scope::Span(span))? {
            for item in items {
                found.insert(item, view.trends(item)?);
            }
        }
        Ok(items.iter().flat_map(|item| found.remove(item).unwrap_or_default()).collect())
    }
}
