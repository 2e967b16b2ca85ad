//! Values as other programs write them, with the mix of a typical estate.

use std::time::Duration;

use wire::history_service::{Value, WriteRequest};

use crate::shape::{Kind, Random, Series};

/// An item with what its values come from.
struct Source {
    itemid: u64,
    kind: Kind,
    series: Series,
    text: Vec<u8>,
}

impl Source {
    fn next(&mut self, random: &mut Random, now: Duration) -> Value {
        self.series.write_next(random, &mut self.text);
        let text = String::from_utf8_lossy(&self.text);
        let clock = u32::try_from(now.as_secs()).unwrap_or(u32::MAX);
        let mut value =
            Value { itemid: self.itemid, clock, ns: now.subsec_nanos(), ..Value::default() };
        match self.kind {
            Kind::Counter | Kind::Constant => value.unsigned = text.parse().ok(),
            Kind::Gauge | Kind::Noise => value.float = text.parse().ok(),
            Kind::Text => value.text = Some(text.into_owned()),
        }
        value
    }
}

/// The batches of one stream: its items in turn.
pub(super) struct Batches {
    sources: Vec<Source>,
    at: usize,
    batch: usize,
    random: Random,
    sequence: u64,
}

impl Batches {
    /// One for each of `streams`, which share out the items; `kind` is that of an item by its place.
    pub(super) fn split(
        items: &[u64],
        kind: impl Fn(usize) -> usize,
        streams: usize,
        batch: usize,
    ) -> Vec<Self> {
        let many = items.len().div_ceil(streams.max(1)).max(1);
        let of = |(stream, items): (usize, &[u64])| {
            let mut random = Random::new(stream as u64 + 1);
            let source = |(n, itemid): (usize, &u64)| {
                let number = kind(stream * many + n);
                Source {
                    itemid: *itemid,
                    kind: Kind::of_item(number),
                    series: Series::new(number, &mut random),
                    text: Kind::of_item(number).template(number).into_bytes(),
                }
            };
            let sources = items.iter().enumerate().map(source).collect();
            Self { sources, at: 0, batch, random, sequence: 0 }
        };
        items.chunks(many).enumerate().map(of).collect()
    }

    /// The next batch, measured at `now`.
    pub(super) fn next(&mut self, now: Duration) -> WriteRequest {
        self.sequence += 1;
        let mut values = Vec::with_capacity(self.batch);
        // An item twice in a batch would have two values of one moment.
        for _ in 0..self.batch.min(self.sources.len()) {
            values.push(self.sources[self.at].next(&mut self.random, now));
            self.at = (self.at + 1) % self.sources.len();
        }
        WriteRequest { sequence: self.sequence, values, ..WriteRequest::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_share_out_the_items() {
        let items: Vec<u64> = (100..145).collect();
        let mut streams = Batches::split(&items, |n| n % 20, 2, 30);
        assert_eq!(streams.len(), 2);
        let ids = |request: &WriteRequest| -> Vec<u64> {
            request.values.iter().map(|value| value.itemid).collect()
        };
        let first = streams[0].next(Duration::new(1_700_000_000, 7));
        assert_eq!((first.sequence, ids(&first)), (1, (100..123).collect()));
        let second = streams[1].next(Duration::from_secs(1));
        assert_eq!(ids(&second), (123..145).collect::<Vec<u64>>());
        for value in first.values.iter().chain(&second.values) {
            let kinds = [value.unsigned.is_some(), value.float.is_some(), value.text.is_some()];
            assert_eq!(kinds.iter().filter(|set| **set).count(), 1, "{value:?}");
        }
        assert_eq!((first.values[0].clock, first.values[0].ns), (1_700_000_000, 7));
        let mut small = Batches::split(&items, |n| n, 1, 30);
        small[0].next(Duration::ZERO);
        assert_eq!(ids(&small[0].next(Duration::ZERO))[14..17], [144, 100, 101]);
    }
}
