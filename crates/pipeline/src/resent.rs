//! Messages that may have been kept before: their sender did not hear of it, because the process
//! ended first, and sends them again. What history holds already is taken out before it passes
//! the stages a second time. An item has one value at a moment, so item and moment tell.

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use history::{Kinds, Span};
use model::{ItemId, Timestamp, ValueBatch};

use crate::core::Core;

impl Core {
    /// Takes out of doubtful batches what is kept already.
    pub(crate) fn drop_repeated(&mut self, batches: &mut [ValueBatch]) {
        for batch in batches {
            let Some(ack) = batch.ack.as_ref().filter(|ack| ack.is_doubtful()) else { continue };
            let known = self.known(batch);
            let before = batch.values.len();
            batch.values.retain(|value| {
                let moments = known.get(&value.item);
                !moments.is_some_and(|moments| moments.contains(&value.at))
            });
            ack.repeated((before - batch.values.len()) as u64);
        }
    }

    /// The moments of which history has a value, by item, within the span of the batch. An item
    /// that keeps no history is known by those that depend on it.
    fn known(&self, batch: &ValueBatch) -> HashMap<ItemId, HashSet<Timestamp>, FixedState> {
        let mut known: HashMap<ItemId, HashSet<Timestamp>, FixedState> = HashMap::default();
        let clocks = || batch.values.iter().map(|value| value.at.clock);
        let (Some(from), Some(till)) = (clocks().min(), clocks().max()) else { return known };
        let mut sources: Vec<(ItemId, ItemId)> = Vec::new();
        for value in &batch.values {
            if known.contains_key(&value.item) {
                continue;
            }
            known.insert(value.item, HashSet::new());
            sources.push((value.item, value.item));
            if let Some(item) = self.snapshot.items.get(&value.item) {
                sources.extend(item.dependents.iter().map(|dependent| (*dependent, value.item)));
            }
        }
        let items: Vec<ItemId> = sources.iter().map(|(source, _)| *source).collect();
        let view = self.driver.view(&items, Span::new(from, till));
        for (source, item) in sources {
            match view.samples(source, Kinds::VALUES) {
                Ok(samples) => {
                    let moments = known.entry(item).or_default();
                    moments.extend(samples.into_iter().map(|sample| sample.at));
                }
                Err(error) => {
                    tracing::error!(%error, item = %source, "cannot look for repeated values");
                }
            }
        }
        known
    }
}
