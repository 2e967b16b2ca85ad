//! A store of fixed samples for tests of those who read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use model::{ItemId, Sample, Trend};

use crate::{Class, Counters, Day, Driver, DriverInfo, Error, Kinds, Span, Store, View};

/// A store that may be unavailable, and counts queries.
pub(crate) struct Old {
    pub(crate) samples: Vec<Sample>,
    pub(crate) away: Arc<AtomicBool>,
    /// Spans of the views that were made.
    pub(crate) asked: Arc<Mutex<Vec<Span>>>,
}

struct OldView(Vec<Sample>, bool);

impl View for OldView {
    fn samples(&self, item: ItemId, _: Kinds) -> Result<Vec<Sample>, Error> {
        if self.1 {
            return Err(Error::storage_away("gone"));
        }
        Ok(self.0.iter().filter(|sample| sample.item == item).cloned().collect())
    }
    fn trends(&self, _: ItemId) -> Result<Vec<Trend>, Error> {
        Ok(Vec::new())
    }
}

struct OldDriver(Vec<Sample>, bool, Arc<Mutex<Vec<Span>>>);

impl Driver for OldDriver {
    fn write(&mut self, _: &[Sample]) -> Result<(), Error> {
        unreachable!()
    }
    fn write_trends(&mut self, _: &[Trend]) -> Result<(), Error> {
        unreachable!()
    }
    fn clear(&mut self, _: &[ItemId]) -> Result<(), Error> {
        unreachable!()
    }
    fn sync(&mut self) -> Result<(), Error> {
        unreachable!()
    }
    fn maintain(&mut self) -> Result<(), Error> {
        unreachable!()
    }
    fn view(&self, _: &[ItemId], span: Span) -> Box<dyn View> {
        self.2.lock().unwrap().push(span);
        let inside = self.0.iter().filter(|sample| span.has(sample.at.clock));
        Box::new(OldView(inside.cloned().collect(), self.1))
    }
    fn view_newest(&self, _: &[ItemId], _: usize) -> Box<dyn View> {
        unreachable!()
    }
    fn drop_before(&mut self, _: Class, _: Day) -> Result<u64, Error> {
        unreachable!()
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        Ok(Vec::new())
    }
    fn describe(&self) -> DriverInfo {
        unreachable!()
    }
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

impl Store for Old {
    fn name(&self) -> String {
        "old".to_owned()
    }
    fn driver(&self) -> Box<dyn Driver> {
        let away = self.away.load(Ordering::SeqCst);
        Box::new(OldDriver(self.samples.clone(), away, Arc::clone(&self.asked)))
    }
}
