//! A driver that keeps nothing: for benchmarks, and to switch history off.

use model::{ItemId, Sample, Trend};

use crate::{
    Class, Counters, Day, Driver, DriverInfo, Durability, Error, Kinds, RangeQuery, Reader, Span,
    View,
};

/// Counts and forgets.
#[derive(Debug, Default)]
pub struct Null {
    counters: Counters,
}

struct Nothing;

impl Driver for Null {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        self.counters.samples += samples.len() as u64;
        self.counters.batches += 1;
        Ok(())
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        self.counters.trends += trends.len() as u64;
        Ok(())
    }
    fn clear(&mut self, _: &[ItemId]) -> Result<(), Error> {
        Ok(())
    }
    fn view(&self, _: &[ItemId], _: Span) -> Box<dyn View> {
        Box::new(Nothing)
    }
    fn drop_before(&mut self, _: Class, _: Day) -> Result<u64, Error> {
        Ok(0)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        Ok(Vec::new())
    }
    fn describe(&self) -> DriverInfo {
        DriverInfo {
            name: "null",
            location: String::new(),
            durability: Durability::None,
            readable: false,
        }
    }
    fn counters(&self) -> Counters {
        self.counters
    }
}

/// As if it were empty.
impl Reader for Null {
    fn range(&self, _: &RangeQuery) -> Result<Vec<Sample>, Error> {
        Ok(Vec::new())
    }
    fn newest(&self, items: &[ItemId], _: usize) -> Result<Vec<Vec<Sample>>, Error> {
        Ok(vec![Vec::new(); items.len()])
    }
    fn trends(&self, _: &[ItemId], _: Span) -> Result<Vec<Trend>, Error> {
        Ok(Vec::new())
    }
}

impl View for Nothing {
    fn samples(&self, _: ItemId, _: Kinds) -> Result<Vec<Sample>, Error> {
        Ok(Vec::new())
    }
    fn trends(&self, _: ItemId) -> Result<Vec<Trend>, Error> {
        Ok(Vec::new())
    }
}
