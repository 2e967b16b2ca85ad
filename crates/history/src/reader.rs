//! Reading for threads that own no shard.

use std::num::NonZeroU32;

use model::{ItemId, Sample, Trend, ValueType};

use crate::buckets::part_by_part;
use crate::{Bucket, Error, Kind, Kinds, Span, View, reduce};

/// In which order samples are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// As they came.
    #[default]
    OldestFirst,
    /// The other way round; a limit then keeps the newest.
    NewestFirst,
}

/// Which samples are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeQuery {
    pub item: ItemId,
    /// Only values kept as this type; an item may have changed its type. Character, text and
    /// binary values are kept alike.
    pub value_type: ValueType,
    /// Seconds, both ends inclusive.
    pub span: Span,
    /// At most so many samples, the first in `order`.
    pub limit: Option<usize>,
    /// In which order.
    pub order: Order,
}

impl RangeQuery {
    /// May the next one be part of the same question to a store? Its item is behind this one's, all
    /// else is equal.
    pub(crate) fn goes_with(&self, next: &Self) -> bool {
        self.item < next.item && Self { item: next.item, ..*self } == *next
    }
}

/// Which numbers are wanted, and how coarse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketQuery {
    pub item: ItemId,
    /// Only values kept as this type. Types without numbers have no buckets.
    pub value_type: ValueType,
    /// Seconds, both ends inclusive; they may cut buckets.
    pub span: Span,
    /// Seconds of a bucket. The caller limits the number of buckets of the span: some stores refuse
    /// more than 65,535 that have values.
    pub width: NonZeroU32,
}

impl BucketQuery {
    /// All samples that the buckets are made of.
    pub fn rows(&self) -> RangeQuery {
        let Self { item, value_type, span, .. } = *self;
        RangeQuery { item, value_type, span, limit: None, order: Order::OldestFirst }
    }
}

/// Blocking reads for the API and other threads without a shard. The server implements it over the
/// queues of its shards: it asks the shard that owns the item for a [`View`] and evaluates that
/// on the calling thread. Do not call it from a shard or from an async task.
pub trait Reader: Send + Sync {
    /// Samples of one item.
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error>;

    /// The same of several, in the order asked. Those that differ in their items alone, and have these
    /// in order, are one question to a store.
    fn ranges(&self, queries: &[RangeQuery]) -> Result<Vec<Vec<Sample>>, Error> {
        queries.iter().map(|query| self.range(query)).collect()
    }

    /// The numbers of one item as buckets, oldest first: see [`View::buckets`].
    fn buckets(&self, query: &BucketQuery) -> Result<Vec<Bucket>, Error> {
        buckets_by_parts(query, |part| Ok(reduce(&self.range(&part.rows())?, part.width)))
    }

    /// For each item, in the order asked, its newest `n` samples of any value type, newest first.
    fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error>;

    /// Trends of the items whose hour starts within the span: by item in the order asked, then
    /// by hour, oldest first.
    fn trends(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error>;
}

/// Answers a [`RangeQuery`] from a view made for its item and span.
pub fn range_of(view: &dyn View, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
    let kinds = Kinds::from(Kind::of(query.value_type));
    match (query.order, query.limit) {
        (Order::NewestFirst, Some(n)) => view.newest(query.item, kinds, n),
        (Order::NewestFirst, None) => {
            let mut samples = view.samples(query.item, kinds)?;
            samples.reverse();
            Ok(samples)
        }
        (Order::OldestFirst, Some(n)) => view.oldest(query.item, kinds, n),
        (Order::OldestFirst, None) => view.samples(query.item, kinds),
    }
}

/// Answers queries that go with each other from a view made for their items and span.
pub(crate) fn ranges_of(
    view: &dyn View,
    queries: &[RangeQuery],
) -> Result<Vec<Vec<Sample>>, Error> {
    let each = || queries.iter().map(|query| range_of(view, query)).collect();
    let [first, _, ..] = queries else { return each() };
    if first.limit.is_some() {
        return each();
    }
    let items: Vec<ItemId> = queries.iter().map(|query| query.item).collect();
    let samples = match view.samples_of(&items, Kind::of(first.value_type).into()) {
        // Together they may be more than one answer may have.
        Err(error) if !error.retry => return each(),
        found => found?,
    };
    let mut samples = samples.into_iter().peekable();
    let mut of_item = |query: &RangeQuery| {
        let mut found = Vec::new();
        found.extend(std::iter::from_fn(|| samples.next_if(|sample| sample.item == query.item)));
        if query.order == Order::NewestFirst {
            found.reverse();
        }
        found
    };
    Ok(queries.iter().map(&mut of_item).collect())
}

/// Answers a [`BucketQuery`] from a view made for its item and span.
pub fn buckets_of(view: &dyn View, query: &BucketQuery) -> Result<Vec<Bucket>, Error> {
    match Kind::of(query.value_type) {
        kind @ (Kind::Float | Kind::Unsigned) => view.buckets(query.item, kind, query.width),
        _ => Ok(Vec::new()),
    }
}

/// Answers a [`BucketQuery`] part by part of its time, for who reduces rows: those of a long time are
/// not all in memory at once.
pub fn buckets_by_parts(
    query: &BucketQuery,
    read: impl Fn(&BucketQuery) -> Result<Vec<Bucket>, Error>,
) -> Result<Vec<Bucket>, Error> {
    part_by_part(query.span, |span| read(&BucketQuery { span, ..*query }))
}

/// Answers [`Reader::newest`] from a view made for these items.
pub fn newest_of(view: &dyn View, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error> {
    view.newest_many(items, Kinds::VALUES, n)
}
