//! The values of one item from some moment on.

use model::{SampleValue, Timestamp};

use super::{Need, Point};

/// Kept beyond what was asked for.
const SLACK_S: u32 = 60;
const SLACK_COUNT: usize = 4;

/// All values of an item not older than `floor_ns`, oldest first.
#[derive(Debug)]
pub(super) struct Window {
    points: Vec<Point>,
    /// Points before this index were trimmed and wait for the next compaction.
    start: usize,
    /// From this moment on (nanoseconds since 1970) nothing is missing.
    floor_ns: u64,
    /// Bytes of texts outside of `points`.
    text_bytes: usize,
}

fn text_bytes(value: &SampleValue) -> usize {
    match value {
        SampleValue::Float(_) | SampleValue::Unsigned(_) => 0,
        SampleValue::Text(text) => text.len(),
        SampleValue::Log(log) => log.0.len() + log.1.source.len() + 80,
    }
}

impl Window {
    pub(super) fn new(points: Vec<Point>, floor_ns: u64) -> Self {
        let text_bytes = points.iter().map(|p| text_bytes(&p.value)).sum();
        Self { points, start: 0, floor_ns, text_bytes }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.points.capacity() * size_of::<Point>() + self.text_bytes
    }

    fn live(&self) -> &[Point] {
        &self.points[self.start..]
    }

    /// Takes a value in; late ones at their place, an exact duplicate replaces.
    pub(super) fn put(&mut self, point: Point) {
        if point.at.as_ns() < self.floor_ns {
            return;
        }
        self.text_bytes += text_bytes(&point.value);
        let behind = self.live().partition_point(|p| p.at < point.at) + self.start;
        match self.points.get_mut(behind) {
            Some(same) if same.at == point.at => {
                self.text_bytes -= text_bytes(&same.value);
                *same = point;
            }
            _ => self.points.insert(behind, point),
        }
        debug_assert!(
            self.points[behind.max(self.start + 1) - 1..]
                .windows(2)
                .take(2)
                .all(|pair| pair[0].at < pair[1].at),
            "BUG: values of a window are not in strict order of time"
        );
    }

    /// Lets go of what no function looks back at.
    pub(super) fn trim(&mut self, need: Need) {
        let live = self.live();
        let Some(newest) = live.last() else { return };
        // Functions are evaluated at the time of each value, so that the first of a batch looks
        // a little further back than the last.
        let oldest = newest.at.clock.saturating_sub(need.seconds).saturating_sub(SLACK_S);
        let in_time = live.partition_point(|p| p.at.clock < oldest);
        let in_count = live.len().saturating_sub(need.count as usize + SLACK_COUNT);
        let gone = in_time.min(in_count);
        if gone == 0 {
            return;
        }
        let floor_ns = live[gone - 1].at.as_ns() + 1;
        let text_bytes: usize = live[..gone].iter().map(|p| text_bytes(&p.value)).sum();
        debug_assert!(floor_ns > self.floor_ns, "BUG: a trimmed window promises older values");
        self.floor_ns = floor_ns;
        self.text_bytes -= text_bytes;
        self.start += gone;
        if self.start > self.points.len() / 2 {
            self.points.drain(..self.start);
            self.start = 0;
            self.points.shrink_to(self.points.len() * 2);
        }
    }

    /// Takes in what an older window of the same item knew.
    pub(super) fn absorb(&mut self, old: Self) {
        for point in old.points.into_iter().skip(old.start) {
            self.put(point);
        }
    }

    /// The newest `n` not after `till`, or `None` if older ones may be missing.
    pub(super) fn newest(&self, n: usize, till: Timestamp) -> Option<&[Point]> {
        let live = self.live();
        let end = live.partition_point(|p| p.at <= till);
        if end >= n {
            return Some(&live[end - n..end]);
        }
        (self.floor_ns == 0).then(|| &live[..end])
    }

    /// Values after `after` and not after `till`, or `None` if some may be missing.
    pub(super) fn range(&self, after: Timestamp, till: Timestamp) -> Option<&[Point]> {
        if after.as_ns().saturating_add(1) < self.floor_ns {
            return None;
        }
        let live = self.live();
        let first = live.partition_point(|p| p.at <= after);
        let end = live.partition_point(|p| p.at <= till);
        Some(&live[first..end.max(first)])
    }
}
