//! Rows of several logs on their way to a store.

use std::time::Duration;

use model::{HOUR_S, ItemId, Sample, Trend};
use tsdb::{Block, Position};

use super::Policy;

/// What one lane writes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rows {
    pub(crate) samples: Vec<Sample>,
    pub(crate) trends: Vec<Trend>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.samples.len() + self.trends.len()
    }
}

/// A batch that fills.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) rows: Rows,
    text_bytes: usize,
    /// When its first row came.
    since: Option<Duration>,
    /// Positions behind it, by the number of the log.
    pub(crate) ends: Vec<Option<Position>>,
}

impl Batch {
    /// An empty one, over so many logs.
    pub(crate) fn over(logs: usize) -> Self {
        Self { ends: vec![None; logs], ..Self::default() }
    }

    /// Adds what a block of a log holds, but for what it clears.
    pub(crate) fn add(&mut self, log: usize, block: Block, now: Duration) {
        let text = |sample: &Sample| sample.value.as_text().map_or(0, str::len);
        self.text_bytes += block.samples.iter().map(text).sum::<usize>();
        self.ends[log] = Some(block.end);
        self.rows.samples.extend(block.samples);
        self.rows.trends.extend(block.trends);
        if self.rows.len() > 0 {
            self.since.get_or_insert(now);
        }
    }

    /// No room for more.
    pub(crate) fn is_full(&self, policy: &Policy) -> bool {
        self.rows.len() >= policy.rows_max || self.text_bytes >= policy.text_bytes_max
    }

    /// To leave now.
    pub(crate) fn is_due(&self, policy: &Policy, now: Duration) -> bool {
        let old = self.since.is_some_and(|since| now.saturating_sub(since) >= policy.age_max);
        self.is_full(policy) || old
    }

    /// The second of its newest row, but for those that a clock ahead has dated; 0 = it has none.
    pub(crate) fn newest_s(&self, now_s: u32) -> u32 {
        let samples = self.rows.samples.iter().map(|sample| sample.at.clock);
        let hours = self.rows.trends.iter().map(|trend| trend.hour.saturating_add(HOUR_S));
        let newest = samples.chain(hours).filter(|&second| second <= now_s).max().unwrap_or(now_s);
        if self.rows.len() == 0 { 0 } else { newest }
    }
}

/// The lane of an item: always the same, so that its rows keep their order.
fn lane_of(item: ItemId, lanes: usize) -> usize {
    let hash = item.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    usize::try_from(hash).unwrap_or(0) % lanes.max(1)
}

/// The rows of each lane.
pub(crate) fn split(rows: Rows, lanes: usize) -> Vec<Rows> {
    let mut split = vec![Rows::default(); lanes.max(1)];
    if lanes <= 1 {
        split[0] = rows;
        return split;
    }
    for sample in rows.samples {
        split[lane_of(sample.item, lanes)].samples.push(sample);
    }
    for trend in rows.trends {
        split[lane_of(trend.item, lanes)].trends.push(trend);
    }
    split
}
