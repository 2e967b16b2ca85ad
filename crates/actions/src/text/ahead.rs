//! Values of many items, read together when the first of them is needed: each read waits for the thread of a shard.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use history::{Error, Order, RangeQuery, Reader, Span};
use model::{ItemId, Sample, SampleValue, Trend, ValueType};
use stdx::sync::lock;

/// Samples of an item that are read: a text usually has the newest, and some may be later than its event.
const SAMPLES: usize = 17;

/// Reads like `history`. Newest samples of `items` are those at the time of the first read of one of them.
pub(super) struct Ahead {
    history: Arc<dyn Reader>,
    /// Must have numbers: texts are long.
    items: Vec<ItemId>,
    /// `None` = not read.
    newest: Mutex<Option<HashMap<ItemId, Vec<Sample>>>>,
}

impl Ahead {
    pub(super) fn new(history: Arc<dyn Reader>, mut items: Vec<ItemId>) -> Self {
        items.sort_unstable();
        items.dedup();
        Self { history, items, newest: Mutex::default() }
    }

    /// `None` = what was read does not answer it.
    fn known(&self, query: &RangeQuery) -> Option<Vec<Sample>> {
        let most = query.limit.filter(|_| query.order == Order::NewestFirst)?;
        self.items.binary_search(&query.item).ok()?;
        let mut newest = lock(&self.newest);
        let newest = newest.get_or_insert_with(|| {
            // One that fails is tried again item by item, which reports it.
            let samples = self.history.newest(&self.items, SAMPLES).unwrap_or_default();
            self.items.iter().copied().zip(samples).collect()
        });
        let samples = newest.get(&query.item)?;
        let fitting = |sample: &&Sample| {
            is_of(&sample.value, query.value_type) && query.span.has(sample.at.clock)
        };
        let found: Vec<Sample> = samples.iter().filter(fitting).take(most).cloned().collect();
        // There may be older ones: the newest are those of the shards, and a history store may have more.
        (found.len() == most).then_some(found)
    }
}

fn is_of(value: &SampleValue, value_type: ValueType) -> bool {
    match value {
        SampleValue::Float(_) => value_type == ValueType::Float,
        SampleValue::Unsigned(_) => value_type == ValueType::Unsigned,
        _ => !value_type.is_numeric(),
    }
}

impl Reader for Ahead {
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
        self.known(query).map_or_else(|| self.history.range(query), Ok)
    }

    fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error> {
        self.history.newest(items, n)
    }

    fn trends(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error> {
        self.history.trends(items, span)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use model::Timestamp;

    use super::*;

    /// Each item has a sample at each of the seconds 1 to `seconds`; counts reads.
    #[derive(Default)]
    struct Counted {
        seconds: u32,
        ranges: AtomicUsize,
        newest: AtomicUsize,
    }

    fn sample(item: ItemId, clock: u32) -> Sample {
        let value = SampleValue::Unsigned(u64::from(clock));
        Sample { item, at: Timestamp { clock, ns: 0 }, value }
    }

    impl Reader for Counted {
        fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
            self.ranges.fetch_add(1, Ordering::Relaxed);
            let last = query.span.till.min(self.seconds);
            let all = (query.span.from.max(1)..=last).rev().map(|clock| sample(query.item, clock));
            Ok(all.take(query.limit.unwrap_or(usize::MAX)).collect())
        }

        fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error> {
            self.newest.fetch_add(1, Ordering::Relaxed);
            let of = |item: &ItemId| {
                (1..=self.seconds).rev().map(|at| sample(*item, at)).take(n).collect()
            };
            Ok(items.iter().map(of).collect())
        }

        fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
            Ok(Vec::new())
        }
    }

    fn query(item: u64, till: u32, limit: Option<usize>) -> RangeQuery {
        RangeQuery {
            item: ItemId(item),
            value_type: ValueType::Unsigned,
            span: Span::new(0, till),
            limit,
            order: Order::NewestFirst,
        }
    }

    #[test]
    fn items_are_read_together_and_answered_as_alone() {
        for seconds in [3, 30] {
            let history = Arc::new(Counted { seconds, ..Counted::default() });
            let ahead =
                Ahead::new(Arc::clone(&history) as _, vec![ItemId(2), ItemId(1), ItemId(2)]);
            let alone = Counted { seconds, ..Counted::default() };
            for item in [1, 2, 3] {
                for till in [0, 2, 14, 29, 100] {
                    for limit in [Some(1), Some(17), Some(40), None] {
                        let query = query(item, till, limit);
                        assert_eq!(ahead.range(&query).unwrap(), alone.range(&query).unwrap());
                    }
                }
            }
            assert_eq!(history.newest.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn newest_values_of_expected_items_cost_one_read() {
        let history = Arc::new(Counted { seconds: 30, ..Counted::default() });
        let ahead = Ahead::new(Arc::clone(&history) as _, (1..=500).map(ItemId).collect());
        for item in 1..=500 {
            ahead.range(&query(item, 30, Some(1))).unwrap();
        }
        assert_eq!(history.newest.load(Ordering::Relaxed), 1);
        assert_eq!(history.ranges.load(Ordering::Relaxed), 0);
    }

    /// The newest samples are those of the last second; the others are in a store.
    struct Tiered(Counted);

    impl Reader for Tiered {
        fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
            self.0.range(query)
        }

        fn newest(&self, items: &[ItemId], _: usize) -> Result<Vec<Vec<Sample>>, Error> {
            self.0.newest(items, 1)
        }

        fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn values_of_a_store_are_not_left_out() {
        let history = Arc::new(Tiered(Counted { seconds: 9, ..Counted::default() }));
        let ahead = Ahead::new(history, vec![ItemId(1)]);
        for (till, limit, wanted) in [(9, 1, 1), (9, 5, 5), (4, 1, 1), (9, 40, 9)] {
            let found = ahead.range(&query(1, till, Some(limit))).unwrap();
            assert_eq!(found.len(), wanted, "till {till}, at most {limit}");
        }
    }

    #[test]
    fn values_of_another_type_are_not_taken() {
        let history = Arc::new(Counted { seconds: 3, ..Counted::default() });
        let ahead = Ahead::new(Arc::clone(&history) as _, vec![ItemId(1)]);
        let query = RangeQuery { value_type: ValueType::Float, ..query(1, 30, Some(1)) };
        ahead.range(&query).unwrap();
        assert_eq!(history.ranges.load(Ordering::Relaxed), 1, "the history is asked");
    }
}
