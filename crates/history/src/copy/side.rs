//! One side of a copy or a comparison.

use std::sync::Arc;

use model::{ItemId, Sample, SampleValue, Trend, TrendValues};

use crate::{Driver, Embedded, Error, Kind, Kinds, Span, Store};

/// Rows of one write.
const ROWS_MAX: usize = 50_000;

/// Rows of some items, sorted: samples by item, moment and kind, trends by item, hour and type.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) samples: Vec<Sample>,
    pub(super) trends: Vec<Trend>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.samples.len() + self.trends.len()
    }

    /// Without what a side is not given.
    pub(super) fn keep_for(&mut self, side: &Side) {
        if let Side::Store { takes, .. } = side {
            self.samples.retain(|sample| takes(sample.item, Kind::of_value(&sample.value)));
            self.trends.retain(|trend| takes(trend.item, Kind::of_trend(trend)));
        }
    }
}

pub(super) fn sample_key(sample: &Sample) -> (ItemId, model::Timestamp, Kind) {
    (sample.item, sample.at, Kind::of_value(&sample.value))
}

pub(super) fn trend_key(trend: &Trend) -> (ItemId, u32, bool) {
    (trend.item, trend.hour, matches!(trend.values, TrendValues::Unsigned { .. }))
}

/// Bit by bit: of what is not a number there are many.
pub(super) fn same_sample(a: &Sample, b: &Sample) -> bool {
    match (&a.value, &b.value) {
        (SampleValue::Float(a), SampleValue::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

pub(super) fn same_trend(a: &Trend, b: &Trend) -> bool {
    let bits = |trend: &Trend| match trend.values {
        TrendValues::Float { min, avg, max } => [min, avg, max].map(f64::to_bits),
        TrendValues::Unsigned { min, avg, max } => [min, avg, max],
    };
    a.num == b.num && bits(a) == bits(b)
}

/// Where rows come from or go to.
pub enum Side {
    /// The embedded engines of all shards, and which of them owns an item.
    Embedded {
        /// By the number of the shard.
        shards: Vec<Embedded>,
        /// The number of the shard that owns an item.
        owner: Box<dyn Fn(ItemId) -> usize>,
    },
    Store {
        driver: Box<dyn Driver>,
        /// See [`Store::tells_types`].
        tells_types: bool,
        /// See [`Store::takes`].
        takes: Box<dyn Fn(ItemId, Kind) -> bool>,
    },
}

impl std::fmt::Debug for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Embedded { .. } => "Embedded",
            Self::Store { .. } => "Store",
        })
    }
}

impl Side {
    /// A store as a side.
    pub fn of_store(store: Arc<dyn Store>) -> Self {
        Self::Store {
            driver: store.driver(),
            tells_types: store.tells_types(),
            takes: Box::new(move |item, kind| store.takes(item, kind)),
        }
    }

    pub(super) fn tells_types(&self) -> bool {
        match self {
            Self::Embedded { .. } => true,
            Self::Store { tells_types, .. } => *tells_types,
        }
    }

    /// What there is of these items, which come sorted.
    pub(super) fn read(&self, items: &[ItemId], kinds: Kinds, span: Span) -> Result<Rows, Error> {
        let mut rows = Rows::default();
        match self {
            Self::Store { driver, .. } => {
                let view = driver.view(items, span);
                rows.samples = view.samples_of(items, kinds)?;
                rows.trends = view.trends_of(items)?;
            }
            Self::Embedded { shards, owner } => {
                for &item in items {
                    let view = shards[owner(item)].view(&[item], span);
                    rows.samples.append(&mut view.samples(item, kinds)?);
                    rows.trends.append(&mut view.trends(item)?);
                }
            }
        }
        rows.samples.sort_by_key(sample_key);
        rows.trends.sort_by_key(trend_key);
        Ok(rows)
    }

    /// Writes all; when it returns `Ok`, they are as safe as the side makes them.
    pub(super) fn write(&mut self, rows: &Rows) -> Result<(), Error> {
        match self {
            Self::Store { driver, .. } => put(driver.as_mut(), &rows.samples, &rows.trends),
            Self::Embedded { shards, owner } => {
                for (number, shard) in shards.iter_mut().enumerate() {
                    let samples = rows.samples.iter().filter(|row| owner(row.item) == number);
                    let samples: Vec<Sample> = samples.cloned().collect();
                    let trends = rows.trends.iter().filter(|row| owner(row.item) == number);
                    let trends: Vec<Trend> = trends.copied().collect();
                    put(shard, &samples, &trends)?;
                }
                Ok(())
            }
        }
    }
}

fn put(driver: &mut dyn Driver, samples: &[Sample], trends: &[Trend]) -> Result<(), Error> {
    samples.chunks(ROWS_MAX).try_for_each(|some| driver.write(some))?;
    trends.chunks(ROWS_MAX).try_for_each(|some| driver.write_trends(some))?;
    driver.sync()?;
    driver.maintain()
}
