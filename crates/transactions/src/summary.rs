//! What many rows have in common: counts over time, percentiles of timings, groups.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::columns::{Cell, TIMINGS};

/// Distinct values that a grouping tells apart; rows of further ones are counted together.
pub const GROUPS_MAX: usize = 10_000;
/// Bars of a histogram.
pub(crate) const BARS_MAX: usize = 1_000;

/// Rows over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    /// Begin of the first bar: Unix time in microseconds.
    pub from_us: u64,
    /// Width of a bar in microseconds, at least 1.
    pub width_us: u64,
    pub bars: Vec<Bar>,
}

/// Rows that began within one bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bar {
    pub count: u64,
    /// Rows with somebody at fault.
    pub faults: u64,
    /// Sum of the totals in microseconds.
    pub total_us: u64,
}

impl Histogram {
    /// Empty bars over a time.
    #[must_use]
    pub fn new(time: &RangeInclusive<u64>, bars: usize) -> Self {
        let (from_us, to_us) = (*time.start(), *time.end());
        let bars = bars.clamp(1, BARS_MAX);
        let span = to_us.saturating_sub(from_us).saturating_add(1);
        let width_us = span.div_ceil(bars as u64).max(1);
        Self { from_us, width_us, bars: vec![Bar::default(); bars] }
    }

    pub(crate) fn count(&mut self, began_us: u64, total_us: u64, fault: bool) {
        let place = began_us.saturating_sub(self.from_us) / self.width_us;
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        if let Some(bar) = self.bars.get_mut(place) {
            bar.count += 1;
            bar.faults += u64::from(fault);
            bar.total_us = bar.total_us.saturating_add(total_us);
        }
    }

    fn add(&mut self, other: &Self) {
        for (bar, more) in self.bars.iter_mut().zip(&other.bars) {
            bar.count += more.count;
            bar.faults += more.faults;
            bar.total_us = bar.total_us.saturating_add(more.total_us);
        }
    }
}

/// Percentiles of one timing in microseconds, within 1 %.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Percentiles {
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
}

/// Rows that have the same value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    pub count: u64,
    /// Rows with somebody at fault.
    pub faults: u64,
    pub response_bytes: u64,
    /// Sum and largest of the totals in microseconds.
    pub total_us: u64,
    pub total_max_us: u64,
}

impl Group {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.faults += other.faults;
        self.response_bytes = self.response_bytes.saturating_add(other.response_bytes);
        self.total_us = self.total_us.saturating_add(other.total_us);
        self.total_max_us = self.total_max_us.max(other.total_max_us);
    }
}

type Timing = hdrhistogram::Histogram<u64>;

/// Everything about the rows that a query found.
#[derive(Debug)]
pub struct Summary {
    pub histogram: Histogram,
    timings: [Timing; TIMINGS.len()],
    groups: HashMap<Cell, Group>,
    other: Group,
}

impl Summary {
    /// Without timings and groups.
    #[must_use]
    pub fn new(histogram: Histogram) -> Self {
        let timing = |_| Timing::new(2).expect("BUG: 2 digits are allowed");
        let timings = std::array::from_fn(timing);
        Self { histogram, timings, groups: HashMap::new(), other: Group::default() }
    }

    pub(crate) fn time(&mut self, timing: usize, microseconds: u64) {
        self.time_many(timing, microseconds, 1);
    }

    /// Counts rows with this value of a timing, by its place in [`TIMINGS`]. Times that differ only in bits below the
    /// highest eight are the same.
    pub fn time_many(&mut self, timing: usize, microseconds: u64, rows: u64) {
        // It grows as needed.
        let recorded = self.timings[timing].record_n(microseconds, rows);
        recorded.expect("BUG: any number can be recorded");
    }

    /// Counts rows of values that are not told apart.
    pub fn others(&mut self, rows: &Group) {
        self.other.add(rows);
    }

    /// Counts rows with the same value.
    pub fn group(&mut self, value: Cell, rows: &Group) {
        if self.groups.len() >= GROUPS_MAX && !self.groups.contains_key(&value) {
            self.other.add(rows);
        } else {
            self.groups.entry(value).or_default().add(rows);
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.histogram.add(&other.histogram);
        for (timing, more) in self.timings.iter_mut().zip(&other.timings) {
            timing.add(more).expect("BUG: it grows as needed");
        }
        other.groups.into_iter().for_each(|(value, rows)| self.group(value, &rows));
        self.other.add(&other.other);
    }

    /// Percentiles of each timing, in the order of [`TIMINGS`].
    #[must_use]
    pub fn timings(&self) -> [Percentiles; TIMINGS.len()] {
        std::array::from_fn(|place| {
            let timing = &self.timings[place];
            let at = |quantile| timing.value_at_quantile(quantile).min(timing.max());
            Percentiles {
                mean: timing.mean(),
                p50: at(0.5),
                p90: at(0.9),
                p99: at(0.99),
                p999: at(0.999),
                max: timing.max(),
            }
        })
    }

    /// The groups with the most rows, and the sum of all others.
    #[must_use]
    pub fn groups(&self, most: usize) -> (Vec<(&Cell, &Group)>, Group) {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_unstable_by(|(a, x), (b, y)| y.count.cmp(&x.count).then_with(|| a.cmp(b)));
        let mut other = self.other.clone();
        groups.drain(most.min(groups.len())..).for_each(|(_, rows)| other.add(rows));
        (groups, other)
    }
}
