//! The short way through stage 1: values of numeric items without steps and dependents, which is
//! most of them. It reads nothing of the configuration, whose lines other threads read as well,
//! and counts no references to it, which would take these lines away from them.

use eval::preproc::convert;
use model::{Payload, Sample, Value};

use crate::preprocess::Preprocess;
use crate::round::Kept;
use crate::slots::SlotId;

impl Preprocess<'_> {
    /// Takes a value in, if nothing is special about it.
    pub(crate) fn plain(&mut self, slot: SlotId, value: &Value) -> bool {
        let facts = self.slots.get(slot);
        let Some(plain) = facts.plain else { return false };
        let watch = facts.watch;
        if facts.error.is_some() || watch.peers {
            return false;
        }
        let payload = match &value.payload {
            Payload::Text(text) if !text.is_heap_allocated() => Payload::Text(text.clone()),
            Payload::Unsigned(v) => Payload::Unsigned(*v),
            Payload::Float(v) => Payload::Float(*v),
            _ => return false,
        };
        let Ok(converted) = convert(payload, plain.value_type) else { return false };
        let at = self.slots.moment(slot, value.at);
        self.round.tally.count(plain.value_type);
        if let Some(live) = &mut self.live {
            live.got(value.item);
        }
        if watch.own {
            self.job(slot, at);
        }
        let kept = if plain.stored { Kept::Stored } else { Kept::Unstored };
        let sample = Sample { item: value.item, at, value: converted };
        if self.exported.contains(plain.value_type) {
            self.round.told.exported.push(sample.clone());
        }
        self.round.keep(sample, kept, plain.trends, self.now_s);
        true
    }
}
