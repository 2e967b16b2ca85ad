//! Two tiers: the newest days from the embedded engine, what is older from stores.
//!
//! The embedded engine is always asked, as it may have kept more than the newest days. A store is
//! asked only for time before them, so that newest values, and everything that trigger functions
//! and open pages need, never wait for one. A long time as buckets is asked of each tier as that,
//! and rows only of those buckets of which both have values. Trends stay embedded as long as they
//! are kept at all: they are a hundredth of the values.

use std::sync::Arc;
use std::time::Duration;

use model::{DAY_S, ItemId, Sample, Trend};
use stdx::clock::SharedClock;

use crate::buckets::{Reduced, append, complete};
use crate::{
    Bucket, BucketQuery, Day, EmbeddedDays, Error, Extent, Kind, Order, RangeQuery, Reader, Span,
    Store, buckets_of, range_of, reader::ranges_of,
};

/// The stores that have what is embedded no longer.
#[derive(Clone)]
pub(crate) struct Older {
    stores: Vec<Arc<dyn Store>>,
    embedded: EmbeddedDays,
    clock: SharedClock,
}

impl Older {
    pub(crate) fn new(
        stores: Vec<Arc<dyn Store>>,
        embedded: EmbeddedDays,
        clock: SharedClock,
    ) -> Self {
        Self { stores, embedded, clock }
    }

    /// The first second of which the embedded engine has everything.
    pub(crate) fn border(&self) -> u32 {
        let today = Day::of(self.second());
        today.0.saturating_sub(self.embedded.on(today).into()) * DAY_S
    }

    /// Monotonic.
    pub(crate) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Seconds since 1970.
    pub(crate) fn second(&self) -> u32 {
        u32::try_from(self.clock.unix_s()).unwrap_or(u32::MAX)
    }

    /// Has every store that is read something of this, whatever the border?
    pub(crate) fn all_have(&self, query: &RangeQuery, border: u32) -> Result<bool, Error> {
        for store in self.stores_of(Kind::of(query.value_type)) {
            let view = store.driver().view(&[query.item], query.span);
            let found = range_of(view.as_ref(), query).map_err(|error| away(border, error))?;
            if found.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Samples before the border, in the order asked for.
    pub(crate) fn range(&self, query: &RangeQuery, border: u32) -> Result<Vec<Sample>, Error> {
        Ok(self.alike(&[*query], border)?.pop().unwrap_or_default())
    }

    /// The same of several.
    fn ranges(&self, queries: &[RangeQuery], border: u32) -> Result<Vec<Vec<Sample>>, Error> {
        let alike = queries.chunk_by(RangeQuery::goes_with);
        let found: Result<Vec<_>, Error> = alike.map(|alike| self.alike(alike, border)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// The same of at least one, all of which go with each other.
    fn alike(&self, queries: &[RangeQuery], border: u32) -> Result<Vec<Vec<Sample>>, Error> {
        let RangeQuery { value_type, span, .. } = queries[0];
        let span = Span::new(span.from, span.till.min(border - 1));
        let queries: Vec<RangeQuery> =
            queries.iter().map(|query| RangeQuery { span, ..*query }).collect();
        let items: Vec<ItemId> = queries.iter().map(|query| query.item).collect();
        let mut old = vec![Vec::new(); queries.len()];
        for store in self.stores_of(Kind::of(value_type)) {
            let view = store.driver().view(&items, span);
            let found = ranges_of(view.as_ref(), &queries).map_err(|error| away(border, error))?;
            for ((old, found), query) in old.iter_mut().zip(found).zip(&queries) {
                *old = merged(std::mem::take(old), found, query);
            }
        }
        Ok(old)
    }

    /// What the stores tell of buckets of a span before the border.
    fn buckets(&self, query: &BucketQuery, border: u32) -> Result<Vec<Reduced>, Error> {
        let mut told = Vec::new();
        for store in self.stores_of(Kind::of(query.value_type)) {
            let view = store.driver().view(&[query.item], query.span);
            let stored = buckets_of(view.as_ref(), query).map_err(|error| away(border, error))?;
            told.extend(stored.into_iter().map(Reduced::from));
        }
        Ok(told)
    }

    /// The first store that has all rows of a kind, and those before it that have some. An item whose
    /// configuration was changed has rows in several of these.
    fn stores_of(&self, kind: Kind) -> impl Iterator<Item = &Arc<dyn Store>> {
        let first = self.stores.iter().position(|store| store.extent(kind) == Extent::All);
        let till = first.map_or(self.stores.len(), |first| first + 1);
        self.stores.iter().take(till).filter(move |store| store.extent(kind) != Extent::Nothing)
    }
}

/// What a store says that cannot be read.
fn away(border: u32, error: Error) -> Error {
    let border = jiff::Timestamp::from_second(border.into()).unwrap_or_default();
    let border = border.strftime("%F %R UTC");
    Error {
        message: format!(
            "values before {border} are in a history store that cannot be read now, while younger \
             ones can: {error}"
        ),
        ..error
    }
}

/// Reads from both tiers.
pub struct Tiers {
    newest: Arc<dyn Reader>,
    older: Older,
}

impl std::fmt::Debug for Tiers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.older.stores.iter().map(|store| store.name()).collect();
        f.debug_struct("Tiers").field("stores", &names).finish_non_exhaustive()
    }
}

impl Tiers {
    /// Values of the embedded days, and today's, are all in `newest`; older ones of which no store is
    /// given any, too.
    pub fn new(
        newest: Arc<dyn Reader>,
        stores: Vec<Arc<dyn Store>>,
        embedded: EmbeddedDays,
        clock: SharedClock,
    ) -> Self {
        Self { newest, older: Older::new(stores, embedded, clock) }
    }

    /// Buckets of a span before the border. Where both tiers have values of a bucket some may be
    /// the same: their rows are read.
    fn old_buckets(&self, query: &BucketQuery, border: u32) -> Result<Vec<Bucket>, Error> {
        let BucketQuery { span, width, .. } = *query;
        let mut told: Vec<Reduced> =
            self.newest.buckets(query)?.into_iter().map(Reduced::from).collect();
        told.extend(self.older.buckets(query, border)?);
        complete(told, width, span, |span| self.range(&RangeQuery { span, ..query.rows() }))
    }
}

impl Reader for Tiers {
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
        Ok(self.ranges(&[*query])?.pop().unwrap_or_default())
    }

    fn ranges(&self, queries: &[RangeQuery]) -> Result<Vec<Vec<Sample>>, Error> {
        let border = self.older.border();
        let mut all = self.newest.ranges(queries)?;
        let (unfinished, rest): (Vec<&mut Vec<Sample>>, Vec<RangeQuery>) = all
            .iter_mut()
            .zip(queries)
            .filter(|(recent, query)| goes_back(query, recent, border))
            .unzip();
        for ((found, old), query) in
            unfinished.into_iter().zip(self.older.ranges(&rest, border)?).zip(&rest)
        {
            *found = merged(std::mem::take(found), old, query);
        }
        Ok(all)
    }

    fn buckets(&self, query: &BucketQuery) -> Result<Vec<Bucket>, Error> {
        let (border, Span { from, till }) = (self.older.border(), query.span);
        if from >= border || from > till {
            return self.newest.buckets(query);
        }
        let old = BucketQuery { span: Span::new(from, till.min(border - 1)), ..*query };
        let mut buckets = self.old_buckets(&old, border)?;
        if till >= border {
            let recent = BucketQuery { span: Span::new(border, till), ..*query };
            // The border may cut a bucket.
            let recent = self.newest.buckets(&recent)?;
            recent.iter().for_each(|bucket| append(&mut buckets, bucket));
        }
        Ok(buckets)
    }

    fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error> {
        self.newest.newest(items, n)
    }

    fn trends(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error> {
        self.newest.trends(items, span)
    }
}

/// May there be more before the border than what was found behind it?
fn goes_back(query: &RangeQuery, recent: &[Sample], border: u32) -> bool {
    let Span { from, till } = query.span;
    let young = || recent.iter().take_while(|sample| sample.at.clock >= border).count();
    let is_whole =
        query.order == Order::NewestFirst && query.limit.is_some_and(|limit| young() >= limit);
    from < border && from <= till && !is_whole
}

/// Both in one order; what is in both counts once.
fn merged(recent: Vec<Sample>, old: Vec<Sample>, query: &RangeQuery) -> Vec<Sample> {
    if old.is_empty() {
        return recent;
    }
    // Stable: of equal moments the embedded value is first, and stays.
    let mut all = recent;
    all.extend(old);
    match query.order {
        Order::OldestFirst => all.sort_by_key(|sample| sample.at),
        Order::NewestFirst => all.sort_by_key(|sample| std::cmp::Reverse(sample.at)),
    }
    all.dedup_by_key(|sample| sample.at);
    all.truncate(query.limit.unwrap_or(usize::MAX));
    all
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::sync::Mutex;

    use model::{SampleValue, Timestamp, ValueType};
    use stdx::clock::SimClock;

    use super::*;
    use crate::old::Old;
    use crate::{Class, Driver, Memory};

    const NOW: u32 = 20_000 * DAY_S + 7;
    const ITEM: ItemId = ItemId(3);

    fn sample(days_ago: u32, ns: u32, value: u64) -> Sample {
        let at = Timestamp { clock: NOW - days_ago * DAY_S, ns };
        Sample { item: ITEM, at, value: SampleValue::Unsigned(value) }
    }

    /// The embedded side: a store of its own, read directly.
    struct Embedded(Mutex<Memory>);

    impl Reader for Embedded {
        fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, Error> {
            range_of(self.0.lock().unwrap().view(&[query.item], query.span).as_ref(), query)
        }
        fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, Error> {
            crate::newest_of(self.0.lock().unwrap().view_newest(items, n).as_ref(), items, n)
        }
        fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
            Ok(Vec::new())
        }
    }

    /// Three days embedded and a fourth that is still there; the store has all.
    fn tiers(away: bool) -> (Tiers, Arc<Mutex<Vec<Span>>>) {
        let mut memory = Memory::new(Arc::new(Class(31)));
        let recent: Vec<Sample> = (0..5).map(|day| sample(day, 0, day.into())).collect();
        memory.write(&recent).unwrap();
        memory.write(&[sample(6, 1, 61)]).unwrap();
        let asked = Arc::default();
        let samples = (0..9).rev().map(|day| sample(day, 0, day.into())).collect();
        let away = Arc::new(away.into());
        let store = Arc::new(Old { samples, away, asked: Arc::clone(&asked) });
        let clock = SimClock::at(Duration::from_secs(NOW.into()));
        let newest = Arc::new(Embedded(Mutex::new(memory)));
        (Tiers::new(newest, vec![store], EmbeddedDays::always(3), clock), asked)
    }

    fn query(from_days: u32, till_days: u32, limit: Option<usize>, order: Order) -> RangeQuery {
        let span = Span::new(NOW - from_days * DAY_S, NOW - till_days * DAY_S);
        RangeQuery { item: ITEM, value_type: ValueType::Unsigned, span, limit, order }
    }

    #[test]
    fn both_tiers_are_one() {
        use Order::{NewestFirst as New, OldestFirst as Old};
        for (from, till, limit, order, expected, asks) in [
            (3, 0, None, Old, vec![3, 2, 1, 0], 0),
            (8, 0, None, Old, vec![8, 7, 6, 61, 5, 4, 3, 2, 1, 0], 1),
            (8, 0, None, New, vec![0, 1, 2, 3, 4, 5, 61, 6, 7, 8], 1),
            (8, 0, Some(2), Old, vec![8, 7], 1),
            (8, 0, Some(4), New, vec![0, 1, 2, 3], 0),
            (8, 0, Some(6), New, vec![0, 1, 2, 3, 4, 5], 1),
            (8, 6, None, Old, vec![8, 7, 6, 61], 1),
            (5, 4, Some(1), New, vec![4], 1),
            (0, 3, None, Old, vec![], 0),
        ] {
            let (tiers, asked) = tiers(false);
            let query = query(from, till, limit, order);
            let got: Vec<f64> =
                tiers.range(&query).unwrap().iter().map(|s| s.value.as_f64().unwrap()).collect();
            let expected: Vec<f64> = expected.into_iter().map(f64::from).collect();
            assert_eq!(got, expected, "{query:?}");
            let asked = asked.lock().unwrap();
            assert_eq!(asked.len(), asks, "{query:?}");
            let border = (NOW / DAY_S - 3) * DAY_S;
            assert!(asked.iter().all(|span| span.till < border), "{asked:?}");
        }
    }

    #[test]
    fn several_items_are_one_question_to_a_store() {
        use Order::{NewestFirst as New, OldestFirst as Old};
        // Items, and how many days ago their values are.
        for (items, limit, order, expected, asks) in [
            (&[4, 5, 6][..], None, Old, vec![vec![7], vec![9, 8], vec![8]], 1),
            (&[4, 5, 7], None, New, vec![vec![7], vec![8, 9], vec![]], 1),
            (&[6, 5, 4], None, Old, vec![vec![8], vec![9, 8], vec![7]], 3),
            (&[4, 4, 5], None, New, vec![vec![7], vec![7], vec![8, 9]], 2),
            (&[5, 6], Some(1), New, vec![vec![8], vec![8]], 1),
            (&[5], None, Old, vec![vec![9, 8]], 1),
            (&[], None, Old, vec![], 0),
        ] {
            let (mut tiers, asked) = tiers(false);
            let samples = [(4, 7), (5, 9), (5, 8), (6, 8)]
                .map(|(item, day)| Sample { item: ItemId(item), ..sample(day, 0, day.into()) });
            let (away, counted) = (Arc::default(), Arc::clone(&asked));
            let store = crate::old::Old { samples: samples.to_vec(), away, asked: counted };
            tiers.older.stores = vec![Arc::new(store)];
            let of = |&item| RangeQuery { item: ItemId(item), ..query(9, 1, limit, order) };
            let queries: Vec<RangeQuery> = items.iter().map(of).collect();
            let day = |sample: &Sample| sample.value.as_f64().unwrap() as u32;
            let found: Vec<Vec<u32>> = tiers
                .ranges(&queries)
                .unwrap()
                .iter()
                .map(|of| of.iter().map(day).collect())
                .collect();
            assert_eq!(found, expected, "{items:?}");
            assert_eq!(asked.lock().unwrap().len(), asks, "{items:?}");
        }
    }

    #[test]
    fn days_before_a_raise_are_read_from_the_store() {
        let dir = tempfile::tempdir().unwrap();
        let today = NOW / DAY_S;
        let since = |days, day| EmbeddedDays::since(dir.path(), days, Day(day)).unwrap();
        since(3, today - 90);
        let (mut tiers, asked) = tiers(false);
        tiers.older.embedded = since(30, today - 1);
        let query = query(8, 0, None, Order::OldestFirst);
        let found = tiers.range(&query).unwrap();
        let days: Vec<u64> = found.iter().map(|s| s.value.as_f64().unwrap() as u64).collect();
        assert_eq!(days, [8, 7, 6, 61, 5, 4, 3, 2, 1, 0]);
        assert_eq!(asked.lock().unwrap()[0].till, (today - 3) * DAY_S - 1);
    }

    #[test]
    fn old_values_are_where_their_item_was_given_to_a_store() {
        use Extent::{All, Nothing, Some};
        for (extents, expected, asks) in [
            ([All, All], vec![5, 4], [1, 0]),
            ([Nothing, All], vec![7, 6], [0, 1]),
            ([Some, All], vec![7, 6, 5, 4], [1, 1]),
            ([Some, Some], vec![7, 6, 5, 4], [1, 1]),
            ([Some, Nothing], vec![5, 4], [1, 0]),
            ([Nothing, Nothing], vec![], [0, 0]),
        ] {
            let asked: [Arc<Mutex<Vec<Span>>>; 2] = Default::default();
            let store = |place: usize, days: [u32; 2]| {
                let samples = days.map(|day| sample(day, 0, day.into())).to_vec();
                let old = Old { samples, away: Arc::default(), asked: Arc::clone(&asked[place]) };
                Arc::new(OfExtent(old, extents[place])) as Arc<dyn Store>
            };
            let stores = vec![store(0, [5, 4]), store(1, [7, 6])];
            let newest = Arc::new(Embedded(Mutex::new(Memory::new(Arc::new(Class(31))))));
            let clock = SimClock::at(Duration::from_secs(NOW.into()));
            let tiers = Tiers::new(newest, stores, EmbeddedDays::always(3), clock);
            let query = query(8, 0, None, Order::OldestFirst);
            let found = tiers.range(&query).unwrap();
            let days: Vec<u64> = found.iter().map(|s| s.value.as_f64().unwrap() as u64).collect();
            assert_eq!(days, expected, "{extents:?}");
            assert_eq!([0, 1].map(|place| asked[place].lock().unwrap().len()), asks, "{extents:?}");
            let RangeQuery { item, value_type, span, .. } = query;
            let width = NonZeroU32::MAX;
            let buckets = tiers.buckets(&BucketQuery { item, value_type, span, width }).unwrap();
            assert_eq!(buckets, crate::reduce(&found, width), "{extents:?}");
        }
    }

    struct OfExtent(Old, Extent);

    impl Store for OfExtent {
        fn name(&self) -> String {
            self.0.name()
        }
        fn driver(&self) -> Box<dyn Driver> {
            self.0.driver()
        }
        fn extent(&self, _: Kind) -> Extent {
            self.1
        }
    }

    #[test]
    fn buckets_of_both_tiers_are_what_all_rows_come_to() {
        let border = (NOW / DAY_S - 3) * DAY_S;
        for (from, till, width, asks) in [
            // The store for buckets, and for the rows of days 4 and 6, which are in both.
            (8, 0, DAY_S, 3),
            (8, 7, DAY_S, 1),
            (8, 6, DAY_S, 2),
            (3, 0, DAY_S, 0),
            (2, 1, 3600, 0),
            // All before the border is one bucket, or some more.
            (8, 0, u32::MAX, 2),
            (8, 0, 2 * DAY_S + 5, 2),
            (0, 3, DAY_S, 0),
        ] {
            let (tiers, asked) = tiers(false);
            let RangeQuery { item, value_type, span, .. } =
                query(from, till, None, Order::OldestFirst);
            let width = NonZeroU32::new(width).unwrap();
            let query = BucketQuery { item, value_type, span, width };
            let got = tiers.buckets(&query).unwrap();
            let spans = std::mem::take(&mut *asked.lock().unwrap());
            assert_eq!(
                got,
                crate::reduce(&tiers.range(&query.rows()).unwrap(), width),
                "{query:?}"
            );
            assert_eq!(spans.len(), asks, "{query:?} {spans:?}");
            assert!(spans.iter().all(|span| span.till < border), "{spans:?}");
        }
    }

    #[test]
    fn an_unavailable_store_fails_only_old_ranges() {
        let (tiers, asked) = tiers(true);
        assert_eq!(tiers.range(&query(3, 0, None, Order::OldestFirst)).unwrap().len(), 4);
        assert_eq!(tiers.range(&query(9, 0, Some(2), Order::NewestFirst)).unwrap().len(), 2);
        assert_eq!(tiers.newest(&[ITEM], 9).unwrap()[0].len(), 6);
        assert!(asked.lock().unwrap().is_empty());
        let error = tiers.range(&query(9, 0, None, Order::OldestFirst)).unwrap_err();
        assert!(error.retry && error.message.contains("younger ones can: gone"), "{error}");
        assert!(error.message.contains("before 2024-10-01 00:00 UTC"), "{error}");
    }
}
