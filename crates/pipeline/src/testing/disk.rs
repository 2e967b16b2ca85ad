//! A history in memory that outlives its shard and can be made to refuse writes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use history::{Class, Counters, Day, Driver, DriverInfo, Error, Kinds, Memory, Span, View};
use model::{ItemId, Sample, Trend};
use stdx::sync::lock;

/// Clones share what is stored.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    memory: Arc<Mutex<Memory>>,
    pub(crate) refuses: Arc<AtomicBool>,
    /// Samples that were read.
    pub(crate) read: Arc<AtomicUsize>,
}

impl Default for Disk {
    fn default() -> Self {
        let memory = Arc::new(Mutex::new(Memory::new(Arc::new(Class(7)))));
        Self { memory, refuses: Arc::default(), read: Arc::default() }
    }
}

impl Disk {
    fn check(&self) -> Result<(), Error> {
        if self.refuses.load(Ordering::Relaxed) {
            return Err(Error::storage_away("the disk refuses".to_owned()));
        }
        Ok(())
    }
}

impl Driver for Disk {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        self.check()?;
        lock(&self.memory).write(samples)
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        self.check()?;
        lock(&self.memory).write_trends(trends)
    }
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.check()?;
        lock(&self.memory).clear(items)
    }
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(Counted(lock(&self.memory).view(items, span), Arc::clone(&self.read)))
    }
    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        lock(&self.memory).drop_before(class, day)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        lock(&self.memory).classes()
    }
    fn describe(&self) -> DriverInfo {
        lock(&self.memory).describe()
    }
    fn counters(&self) -> Counters {
        lock(&self.memory).counters()
    }
}

struct Counted(Box<dyn View>, Arc<AtomicUsize>);

impl View for Counted {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        let samples = self.0.samples(item, kinds)?;
        self.1.fetch_add(samples.len(), Ordering::Relaxed);
        Ok(samples)
    }
    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.0.trends(item)
    }
}
