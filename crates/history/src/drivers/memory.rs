//! A driver that keeps everything in memory: for tests, demonstrations and proxies without a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{ItemId, Sample, SampleValue, Timestamp, Trend, TrendValues};

use crate::{
    Class, Counters, Day, Driver, DriverInfo, Durability, Error, Kind, Kinds, Retention, Span, View,
};

type Series = BTreeMap<Timestamp, SampleValue>;
/// Trends by hour and whether they are of an unsigned item.
type Hours = BTreeMap<(u32, bool), Trend>;

/// Keeps everything in sorted maps; nothing survives the process.
pub struct Memory {
    retention: Arc<dyn Retention>,
    values: BTreeMap<(ItemId, Kind), Series>,
    trends: BTreeMap<ItemId, Hours>,
    counters: Counters,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl Memory {
    /// An empty store.
    pub fn new(retention: Arc<dyn Retention>) -> Self {
        Self {
            retention,
            values: BTreeMap::new(),
            trends: BTreeMap::new(),
            counters: Counters::default(),
        }
    }
}

fn trend_kind(unsigned: bool) -> Kind {
    if unsigned { Kind::UnsignedAvg } else { Kind::FloatAvg }
}

impl Driver for Memory {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        for sample in samples {
            let key = (sample.item, Kind::of_value(&sample.value));
            self.values.entry(key).or_default().insert(sample.at, sample.value.clone());
        }
        self.counters.samples += samples.len() as u64;
        self.counters.batches += 1;
        Ok(())
    }

    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        for trend in trends {
            let unsigned = matches!(trend.values, TrendValues::Unsigned { .. });
            self.trends.entry(trend.item).or_default().insert((trend.hour, unsigned), *trend);
        }
        self.counters.trends += trends.len() as u64;
        Ok(())
    }

    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        for &item in items {
            Kind::VALUES.iter().for_each(|&kind| drop(self.values.remove(&(item, kind))));
            self.trends.remove(&item);
        }
        Ok(())
    }

    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        let mut copy = Copy::default();
        if span.from > span.till {
            return Box::new(copy);
        }
        let first = Timestamp { clock: span.from, ns: 0 };
        let last = Timestamp { clock: span.till, ns: u32::MAX };
        for &item in items {
            for kind in Kind::VALUES {
                let series = self.values.get(&(item, kind)).into_iter();
                let rows = series.flat_map(|s| s.range(first..=last));
                let rows: Series = rows.map(|(&at, value)| (at, value.clone())).collect();
                copy.values.insert((item, kind), rows);
            }
            let hours = self.trends.get(&item).into_iter();
            let hours = hours.flat_map(|h| h.range((span.from, false)..=(span.till, true)));
            copy.trends.insert(item, hours.map(|(_, trend)| *trend).collect());
        }
        Box::new(copy)
    }

    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        let first = Timestamp::from_s(day.0.saturating_mul(86_400));
        let mut rows = 0;
        for (&(item, kind), series) in &mut self.values {
            if self.retention.class(item, kind) == class {
                let kept = series.split_off(&first);
                rows += std::mem::replace(series, kept).len();
            }
        }
        for (&item, hours) in &mut self.trends {
            hours.retain(|&(hour, unsigned), _| {
                hour >= first.clock || self.retention.class(item, trend_kind(unsigned)) != class
            });
        }
        Ok(rows as u64 * size_of::<(Timestamp, SampleValue)>() as u64)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        let values = self.values.keys().map(|&(item, kind)| self.retention.class(item, kind));
        let trends = self.trends.iter().flat_map(|(&item, hours)| {
            let of =
                |&(_, unsigned): &(u32, bool)| self.retention.class(item, trend_kind(unsigned));
            hours.keys().map(of).collect::<Vec<_>>()
        });
        Ok(values.chain(trends).collect::<BTreeSet<_>>().into_iter().collect())
    }

    fn describe(&self) -> DriverInfo {
        DriverInfo::readable("memory", "", Durability::None)
    }

    fn counters(&self) -> Counters {
        let rows: usize = self.values.values().map(BTreeMap::len).sum();
        let memory_bytes = (rows * size_of::<(Timestamp, SampleValue)>()) as u64;
        Counters { memory_bytes, ..self.counters }
    }
}

/// A view is a copy.
#[derive(Default)]
struct Copy {
    values: BTreeMap<(ItemId, Kind), Series>,
    trends: BTreeMap<ItemId, Vec<Trend>>,
}

impl View for Copy {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        let mut all = Vec::new();
        for kind in Kind::VALUES.into_iter().filter(|&kind| kinds.has(kind)) {
            let rows = self.values.get(&(item, kind)).into_iter().flatten();
            all.extend(rows.map(|(&at, value)| Sample { item, at, value: value.clone() }));
        }
        all.sort_by_key(|sample| sample.at);
        Ok(all)
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        Ok(self.trends.get(&item).cloned().unwrap_or_default())
    }
}
