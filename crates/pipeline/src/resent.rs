//! Messages that may have been kept before: their sender did not hear of it, because the process
//! ended first, and sends them again. What history holds already is taken out before it passes
//! the stages a second time.
//!
//! An item has one value at a moment, so item and moment tell, as far as values cannot be compared:
//! preprocessing made others of them. Where history has values as they came, the value tells as
//! well: another value of the same moment is new, and gets the next free nanosecond. A message
//! with several values of one moment was kept at several nanoseconds in a row; sent again, each of
//! its values finds its own there.
//!
//! A message may name moments of any time. History is asked item by item, around these moments
//! alone, and what it has is dropped as soon as it was compared.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use config::snapshot::Item;
use eval::preproc::convert;
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use history::{Kinds, Span};
use model::{ItemId, Sample, SampleValue, Timestamp, Value, ValueBatch, ValueType};

use crate::core::Core;

/// Between moments that are further apart, seconds, history is not read.
const GAP_S: u32 = 300;
/// Seconds of an item's history that are in memory at a time.
const PART_S: u32 = 3_600;

/// What history has of an item.
enum Known {
    /// Moments alone.
    Moments(BTreeSet<Timestamp>),
    /// Values as they came; those that a value of the message was found to be are `None`.
    Values(ValueType, BTreeMap<Timestamp, Option<SampleValue>>),
}

impl Known {
    fn of(item: &Item) -> Self {
        if item.steps.is_empty() && !item.discovery_rule {
            Self::Values(item.value_type, BTreeMap::new())
        } else {
            Self::Moments(BTreeSet::new())
        }
    }

    /// Samples of an item that depends on this one tell the moments of this one.
    fn add(&mut self, samples: Vec<Sample>, dependent: bool) {
        let moments = samples.iter().map(|sample| sample.at);
        match self {
            Self::Moments(known) => known.extend(moments),
            Self::Values(_, known) if dependent => {
                // The item itself keeps no history, or has the same moments.
                if !samples.iter().all(|sample| known.contains_key(&sample.at)) {
                    let known = known.keys().copied().chain(moments).collect();
                    *self = Self::Moments(known);
                }
            }
            Self::Values(_, known) => {
                for sample in samples {
                    // What a value was found to be, at the end of the part before, stays so.
                    if !matches!(known.get(&sample.at), Some(None)) {
                        known.insert(sample.at, Some(sample.value));
                    }
                }
            }
        }
    }

    /// Only moments from this second on are asked for.
    fn forget_before(&mut self, clock: u32) {
        let from = Timestamp::from_s(clock);
        match self {
            Self::Moments(known) => *known = known.split_off(&from),
            Self::Values(_, known) => *known = known.split_off(&from),
        }
    }

    /// Is the value kept already? One that is not may be given another moment.
    fn has(&mut self, value: &mut Value) -> bool {
        let (value_type, known) = match self {
            Self::Moments(known) => return known.contains(&value.at),
            Self::Values(value_type, known) => (*value_type, known),
        };
        if !known.contains_key(&value.at) {
            return false;
        }
        // What cannot be kept was not kept under another moment either.
        let Ok(new) = convert(value.payload.clone(), value_type) else { return true };
        let mut at = value.at;
        while let Some(kept) = known.get_mut(&at) {
            match kept {
                Some(kept_value) if is_same(kept_value, &new) => {
                    *kept = None;
                    return true;
                }
                // The item changed its type since: nobody can tell.
                Some(kept) if std::mem::discriminant(kept) != std::mem::discriminant(&new) => {
                    return true;
                }
                _ => at = Timestamp::from_unix(Duration::from_nanos(at.as_ns() + 1)),
            }
        }
        known.insert(at, None);
        value.at = at;
        false
    }
}

/// Equal bit for bit.
fn is_same(one: &SampleValue, other: &SampleValue) -> bool {
    match (one, other) {
        (SampleValue::Float(one), SampleValue::Float(other)) => one.to_bits() == other.to_bits(),
        (one, other) => one == other,
    }
}

/// Where a value stands: its item, its moment, its place in the message.
type Place = (ItemId, Timestamp, usize);

/// How many of an item's values, by moment, are looked for together.
fn part_len(places: &[Place]) -> usize {
    let first = places.first().map_or(0, |(_, at, _)| at.clock);
    let mut last = first;
    let near = |(_, at, _): &&Place| {
        let gap = at.clock - std::mem::replace(&mut last, at.clock);
        gap <= GAP_S && at.clock - first < PART_S
    };
    places.iter().take_while(near).count()
}

/// The first doubtful batch that names an item of a batch before it: what it repeats has to be
/// kept first.
pub(crate) fn behind_others(batches: &[ValueBatch]) -> Option<usize> {
    let doubtful =
        |batch: &ValueBatch| batch.ack.as_ref().is_some_and(stdx::ack::Part::is_doubtful);
    let last = batches.iter().rposition(doubtful).filter(|&last| last > 0)?;
    let mut before: HashSet<ItemId, FixedState> = HashSet::default();
    batches.iter().take(last + 1).position(|batch| {
        let items = || batch.values.iter().map(|value| value.item);
        let behind = doubtful(batch) && items().any(|item| before.contains(&item));
        before.extend(items());
        behind
    })
}

impl Core {
    /// Takes out of doubtful batches what is kept already.
    pub(crate) fn drop_repeated(&self, batches: &mut [ValueBatch]) {
        for batch in batches {
            let Some(ack) = batch.ack.as_ref().filter(|ack| ack.is_doubtful()) else { continue };
            let repeated = self.repeated(&mut batch.values);
            ack.repeated(repeated.iter().filter(|repeated| **repeated).count() as u64);
            let mut repeated = repeated.into_iter();
            batch.values.retain(|_| repeated.next() != Some(true));
        }
    }

    /// Which of the values are kept already.
    fn repeated(&self, values: &mut [Value]) -> Vec<bool> {
        let mut repeated = vec![false; values.len()];
        let places = values.iter().enumerate().map(|(n, value)| (value.item, value.at, n));
        let mut places: Vec<Place> = places.collect();
        // Values of one moment stay in the order of the message.
        places.sort_unstable();
        for of_item in places.chunk_by(|(one, ..), (other, ..)| one == other) {
            let item = of_item.first().and_then(|(id, ..)| self.snapshot.items.get(id));
            // Without an item there is nobody to keep the values.
            let Some(item) = item.map(AsRef::as_ref) else { continue };
            let mut known = Known::of(item);
            let mut rest = of_item;
            while let ([(_, from, _), ..], len) = (rest, part_len(rest)) {
                let (part, behind) = rest.split_at(len);
                let till = part.last().map_or(*from, |(_, at, _)| *at);
                self.learn(&mut known, item, (from.clock, till.clock));
                for &(_, _, n) in part {
                    repeated[n] = known.has(&mut values[n]);
                }
                rest = behind;
            }
        }
        repeated
    }

    /// Tells what history has of an item within these seconds. One that keeps no history is known
    /// by those that depend on it.
    fn learn(&self, known: &mut Known, item: &Item, (from, till): (u32, u32)) {
        known.forget_before(from);
        let mut sources = vec![item.id];
        sources.extend(&item.dependents);
        // The next nanosecond may be in the next second.
        let view = self.driver.view(&sources, Span::new(from, till.saturating_add(1)));
        for source in sources {
            match view.samples(source, Kinds::VALUES) {
                Ok(samples) => known.add(samples, source != item.id),
                Err(error) => {
                    tracing::error!(%error, item = %source, "cannot check for repeated values");
                }
            }
        }
    }
}
