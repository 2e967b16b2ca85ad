//! Messages that may have been kept before: their sender did not hear of it, because the process
//! ended first, and sends them again. What history holds already is taken out before it passes
//! the stages a second time.
//!
//! An item has one value at a moment, so item and moment tell, as far as values cannot be compared:
//! preprocessing made others of them. Where history has values as they came, the value tells as
//! well: another value of the same moment is new, and gets the next free nanosecond. A message
//! with several values of one moment was kept at several nanoseconds in a row; sent again, each of
//! its values finds its own there.

use std::collections::BTreeMap;
use std::time::Duration;

use config::snapshot::Item;
use eval::preproc::convert;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use history::{Kinds, Span};
use model::{ItemId, Sample, SampleValue, Timestamp, Value, ValueBatch, ValueType};

use crate::core::Core;

/// What history has of an item.
enum Known {
    /// Moments alone.
    Moments(HashSet<Timestamp>),
    /// Values as they came; those that a value of the message was found to be are `None`.
    Values(ValueType, BTreeMap<Timestamp, Option<SampleValue>>),
}

impl Known {
    fn of(item: Option<&Item>) -> Self {
        let as_it_came = item.filter(|item| item.steps.is_empty() && !item.discovery_rule);
        match as_it_came {
            Some(item) => Self::Values(item.value_type, BTreeMap::new()),
            None => Self::Moments(HashSet::new()),
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
                known.extend(samples.into_iter().map(|sample| (sample.at, Some(sample.value))));
            }
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

impl Core {
    /// Takes out of doubtful batches what is kept already.
    pub(crate) fn drop_repeated(&mut self, batches: &mut [ValueBatch]) {
        for batch in batches {
            let Some(ack) = batch.ack.as_ref().filter(|ack| ack.is_doubtful()) else { continue };
            let mut known = self.known(batch);
            let before = batch.values.len();
            batch.values.retain_mut(|value| {
                !known.get_mut(&value.item).is_some_and(|known| known.has(value))
            });
            ack.repeated((before - batch.values.len()) as u64);
        }
    }

    /// What history has, by item, within the span of the batch. An item that keeps no history is
    /// known by those that depend on it.
    fn known(&self, batch: &ValueBatch) -> HashMap<ItemId, Known, FixedState> {
        let mut known: HashMap<ItemId, Known, FixedState> = HashMap::default();
        let clocks = || batch.values.iter().map(|value| value.at.clock);
        let (Some(from), Some(till)) = (clocks().min(), clocks().max()) else { return known };
        let mut sources: Vec<(ItemId, ItemId)> = Vec::new();
        for value in &batch.values {
            if known.contains_key(&value.item) {
                continue;
            }
            let item = self.snapshot.items.get(&value.item);
            known.insert(value.item, Known::of(item.map(AsRef::as_ref)));
            sources.push((value.item, value.item));
            if let Some(item) = item {
                sources.extend(item.dependents.iter().map(|dependent| (*dependent, value.item)));
            }
        }
        let items: Vec<ItemId> = sources.iter().map(|(source, _)| *source).collect();
        // The next nanosecond may be in the next second.
        let view = self.driver.view(&items, Span::new(from, till.saturating_add(1)));
        for (source, item) in sources {
            match view.samples(source, Kinds::VALUES) {
                Ok(samples) => {
                    if let Some(known) = known.get_mut(&item) {
                        known.add(samples, source != item);
                    }
                }
                Err(error) => {
                    tracing::error!(%error, item = %source, "cannot look for repeated values");
                }
            }
        }
        known
    }
}
