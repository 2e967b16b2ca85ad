//! Values and trends for the exporter. A shard never waits for it: what a full queue has no room for is
//! counted and not exported.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use config::Snapshot;
use config::snapshot::connector::ValueTypes;
use history::trends::Folded;
use model::{Sample, SampleValue, Trend};
use stdx::queue::{Sender, TrySend};
use stdx::worktime::WorkTime;

/// What a shard hands over, after it is stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Exported {
    Values(Vec<Sample>),
    Trends(Vec<Trend>),
}

impl Exported {
    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        let texts = |value: &SampleValue| match value {
            SampleValue::Text(text) if text.is_heap_allocated() => text.len(),
            SampleValue::Log(line) => size_of_val(&**line) + line.0.len(),
            _ => 0,
        };
        match self {
            Self::Values(samples) => {
                let texts: usize = samples.iter().map(|sample| texts(&sample.value)).sum();
                size_of_val(&**samples) + texts
            }
            Self::Trends(trends) => size_of_val(&**trends),
        }
    }

    /// Number of values or trends.
    pub fn len(&self) -> usize {
        match self {
            Self::Values(samples) => samples.len(),
            Self::Trends(trends) => trends.len(),
        }
    }

    /// Has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where shards hand over what is exported.
#[derive(Debug, Clone)]
pub struct ExportTap {
    /// To the exporter.
    pub to: Sender<Exported>,
    /// Value types that are exported whatever connectors want.
    pub types: ValueTypes,
    /// Trends are exported.
    pub trends: bool,
    /// What the full queue had no room for.
    pub figures: Arc<ExportFigures>,
}

/// What self-monitoring reads of exports. Counters of records only grow.
#[derive(Debug, Default)]
pub struct ExportFigures {
    /// Values and trends that shards dropped, because the exporter was behind.
    pub dropped_by_shards: AtomicU64,
    /// Records that were not written to files.
    pub dropped_by_files: AtomicU64,
    /// Records that connectors dropped.
    pub dropped_by_connectors: AtomicU64,
    /// Records in queues of connectors, those that are being sent included.
    pub queued: AtomicU64,
    /// Time in work of the exporter.
    pub manager: WorkTime,
    /// Time in which messages of connectors were being sent.
    pub worker: WorkTime,
}

/// A shard's side of it.
#[derive(Debug, Default)]
pub(crate) struct Export {
    tap: Option<ExportTap>,
    /// Value types that files or connectors want now.
    types: ValueTypes,
}

impl Export {
    pub(crate) fn new(tap: Option<ExportTap>, snapshot: &Snapshot) -> Self {
        let mut export = Self { tap, types: ValueTypes::default() };
        export.configure(snapshot);
        export
    }

    pub(crate) fn configure(&mut self, snapshot: &Snapshot) {
        let wanted = |tap: &ExportTap| tap.types.union(snapshot.connectors.types);
        self.types = self.tap.as_ref().map_or_else(ValueTypes::default, wanted);
    }

    pub(crate) fn types(&self) -> ValueTypes {
        self.types
    }

    /// Takes the values out of the buffer.
    pub(crate) fn values(&self, samples: &mut Vec<Sample>) {
        if !samples.is_empty() {
            self.send(Exported::Values(std::mem::take(samples)));
        }
    }

    pub(crate) fn trends(&self, folded: &[Folded]) {
        if self.tap.as_ref().is_some_and(|tap| tap.trends) {
            self.send(Exported::Trends(folded.iter().map(|one| one.trend).collect()));
        }
    }

    fn send(&self, message: Exported) {
        let Some(tap) = &self.tap else { return };
        if let Err(TrySend::Full(message) | TrySend::Closed(message)) = tap.to.try_send(message) {
            let many = u64::try_from(message.len()).unwrap_or(u64::MAX);
            tap.figures.dropped_by_shards.fetch_add(many, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{ItemId, Timestamp};
    use stdx::queue::bounded;

    use super::*;

    #[test]
    fn a_full_queue_drops_and_counts() {
        let (to, mut taken) = bounded("export", 1);
        let figures = Arc::<ExportFigures>::default();
        let tap =
            ExportTap { to, types: ValueTypes::ALL, trends: false, figures: Arc::clone(&figures) };
        let export = Export::new(Some(tap), &Snapshot::default());
        let sample = Sample {
            item: ItemId(1),
            at: Timestamp { clock: 1, ns: 2 },
            value: SampleValue::Unsigned(3),
        };
        for many in [1, 2, 0, 3] {
            let mut samples = vec![sample.clone(); many];
            export.values(&mut samples);
            assert!(samples.is_empty());
        }
        export.trends(&[]);
        assert_eq!(taken.try_recv(), Some(Exported::Values(vec![sample])));
        let dropped = figures.dropped_by_shards.load(Ordering::Relaxed);
        assert_eq!((taken.try_recv(), dropped), (None, 5));
    }

    #[test]
    fn without_a_tap_nothing_is_wanted() {
        let mut snapshot = Snapshot::default();
        let types = ValueTypes::ALL;
        snapshot.connectors =
            Arc::new(config::snapshot::connector::Connectors { types, ..Default::default() });
        assert!(Export::new(None, &snapshot).types().is_empty());
        let (to, _taken) = bounded("export", 1);
        let none = ValueTypes::default();
        let tap = ExportTap { to, types: none, trends: false, figures: Arc::default() };
        let mut export = Export::new(Some(tap), &Snapshot::default());
        assert!(export.types().is_empty());
        export.configure(&snapshot);
        assert_eq!(export.types(), ValueTypes::ALL);
    }
}
