//! What history may look like after everything that was promised and everything that was not.

use std::collections::BTreeMap;

use history::{Class, Day, Kind, Retention};
use model::{ItemId, Sample, SampleValue, Timestamp};

/// Numeric items, whose samples all have different times: their trends are compared.
pub const NUMBERS: u64 = 8;
/// All items.
pub const ITEMS: u64 = 12;

/// Items below 4 are kept for 3 days, others for 31, trends for a year.
pub struct Classes;

impl Retention for Classes {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        match (kind.is_trend(), item.0) {
            (true, _) => Class(365),
            (false, 0..4) => Class(3),
            (false, _) => Class(31),
        }
    }
}

pub fn kind_of(value: &SampleValue) -> Kind {
    match value {
        SampleValue::Float(_) => Kind::Float,
        SampleValue::Unsigned(_) => Kind::Unsigned,
        SampleValue::Text(_) => Kind::Text,
        SampleValue::Log(_) => Kind::Log,
    }
}

/// Equal bit for bit.
pub fn same(a: &SampleValue, b: &SampleValue) -> bool {
    match (a, b) {
        (SampleValue::Float(a), SampleValue::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

#[derive(Debug, Clone)]
enum What {
    Value(Sample),
    Clear,
    /// Days that the class does not keep may go.
    Drop(Day),
}

#[derive(Debug, Clone)]
struct Op {
    /// Acknowledged, and no power cut since that it might not have survived.
    sure: bool,
    what: What,
}

/// Everything that was tried with an item, in order.
#[derive(Debug, Default, Clone)]
struct Story {
    ops: Vec<Op>,
    /// Operations before this one survive a power cut.
    safe: usize,
}

/// Everything that was tried.
#[derive(Debug)]
pub struct Model {
    items: Vec<Story>,
}

/// A place in history.
type Key = (Kind, Timestamp);
/// What may be there; `None` = nothing.
type Allowed = Vec<Option<SampleValue>>;

impl Model {
    pub fn new() -> Self {
        Self { items: (0..ITEMS).map(|_| Story::default()).collect() }
    }

    fn ops(&mut self, item: ItemId) -> &mut Vec<Op> {
        &mut self.items[usize::try_from(item.0).unwrap()].ops
    }

    fn story(&self, item: ItemId) -> &[Op] {
        &self.items[usize::try_from(item.0).unwrap()].ops
    }

    pub fn write(&mut self, samples: &[Sample], sure: bool) {
        for sample in samples {
            self.ops(sample.item).push(Op { sure, what: What::Value(sample.clone()) });
        }
    }

    pub fn clear(&mut self, items: &[ItemId], sure: bool) {
        items.iter().for_each(|item| self.ops(*item).push(Op { sure, what: What::Clear }));
    }

    pub fn dropped(&mut self, today: Day) {
        let items = self.items.iter_mut();
        items.for_each(|item| item.ops.push(Op { sure: true, what: What::Drop(today) }));
    }

    /// Everything so far survives a power cut.
    pub fn synced(&mut self) {
        self.items.iter_mut().for_each(|item| item.safe = item.ops.len());
    }

    /// What no sync had reached may be there or not.
    pub fn power_cut(&mut self) {
        for item in &mut self.items {
            item.ops[item.safe..].iter_mut().for_each(|op| op.sure = false);
            item.safe = item.ops.len();
        }
    }

    /// What an item may have at each place.
    fn allowed(&self, item: ItemId) -> BTreeMap<Key, Allowed> {
        let mut all: BTreeMap<Key, Allowed> = BTreeMap::new();
        for Op { sure, what } in self.story(item) {
            match what {
                What::Value(sample) => {
                    let key = (kind_of(&sample.value), sample.at);
                    let allowed = all.entry(key).or_insert_with(|| vec![None]);
                    if *sure {
                        allowed.clear();
                    }
                    allowed.push(Some(sample.value.clone()));
                }
                What::Clear => {
                    for allowed in all.values_mut() {
                        if *sure {
                            allowed.clear();
                        }
                        allowed.push(None);
                    }
                }
                What::Drop(today) => {
                    for ((kind, at), allowed) in &mut all {
                        if is_dropped(item, *kind, at.clock, *today) {
                            allowed.push(None);
                        }
                    }
                }
            }
        }
        all
    }

    /// Compares what was read of an item; `lost`: files were damaged, so that values may be
    /// missing or older, never others. Returns how many are missing.
    pub fn check(&self, item: ItemId, got: &[Sample], lost: bool) -> Result<usize, String> {
        let in_order = |pair: &[Sample]| {
            (pair[0].at, kind_of(&pair[0].value)) < (pair[1].at, kind_of(&pair[1].value))
        };
        if !got.windows(2).all(in_order) {
            return Err(format!("{item:?}: samples are not in order: {got:?}"));
        }
        let mut allowed = self.allowed(item);
        for sample in got {
            let key = (kind_of(&sample.value), sample.at);
            let found = allowed.remove(&key).unwrap_or_default();
            let is_it = |value: &Option<SampleValue>| {
                value.as_ref().is_some_and(|value| same(value, &sample.value))
            };
            let is_allowed = found.iter().any(is_it) || lost && self.was_written(sample);
            if !is_allowed {
                return Err(format!("{item:?}: {sample:?} is there, allowed was {found:?}"));
            }
        }
        let mut missing = 0;
        for (key, values) in allowed {
            if !values.iter().any(Option::is_none) {
                if !lost {
                    return Err(format!("{item:?}: nothing at {key:?}, promised was {values:?}"));
                }
                missing += 1;
            }
        }
        Ok(missing)
    }

    fn was_written(&self, sample: &Sample) -> bool {
        self.story(sample.item).iter().any(|op| match &op.what {
            What::Value(written) => written.at == sample.at && same(&written.value, &sample.value),
            _ => false,
        })
    }

    /// Is everything certain about the item in this hour, as far as one can tell from outside?
    pub fn is_certain(&self, item: ItemId, hour: u32) -> bool {
        self.story(item).iter().all(|op| match &op.what {
            What::Value(sample) => op.sure || sample.at.clock / 3600 != hour / 3600,
            What::Clear => op.sure,
            What::Drop(today) => !is_dropped(item, Kind::Float, hour, *today),
        })
    }
}

fn is_dropped(item: ItemId, kind: Kind, clock: u32, today: Day) -> bool {
    Day::of(clock).0 + u32::from(Classes.class(item, kind).0) < today.0
}
