//! Which time ranges of which items are missing, because files of the embedded history were damaged or
//! lost.

use std::path::Path;
use std::sync::Arc;

use model::ItemId;
use stdx::clock::SharedClock;
use tsdb::DamageLog;
pub use tsdb::{Damage, Verified};

use crate::drivers::layout;
use crate::{Embedded, Error, Span};

/// Values of an item that may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub item: ItemId,
    /// The time range.
    pub span: Span,
    /// The damaged part held values of this item; else it held values of unknown items of its shard.
    pub is_of_item: bool,
    /// The file and what is wrong with it.
    pub reason: Arc<str>,
}

/// Most gaps of one answer: damage of a whole shard is a gap of each of its items.
pub const GAPS_MAX: usize = 100_000;

/// The damage of all shards.
#[derive(Debug, Clone, Default)]
pub struct Damages {
    /// By shard; those of retired shards may concern any item.
    logs: Vec<(Option<usize>, Arc<DamageLog>)>,
}

impl Damages {
    /// Of the shards of a server, in their order. `mixed`: their number changed, so that each may have
    /// older values of any item.
    pub(crate) fn of(drivers: &[Embedded], mixed: bool) -> Self {
        let logs = drivers.iter().enumerate().flat_map(|(shard, driver)| {
            let own = (!mixed).then_some(shard);
            let logs = driver.damage().into_iter().enumerate();
            logs.map(move |(place, log)| (own.filter(|_| place == 0), log)).collect::<Vec<_>>()
        });
        Self { logs: logs.collect() }
    }

    /// Damaged or missing parts of files that cost values.
    pub fn count(&self) -> usize {
        self.logs.iter().map(|(_, log)| log.len()).sum()
    }

    /// What may be missing of these items within the span, by item, oldest first, at most
    /// [`GAPS_MAX`]. `owner` is the shard of an item.
    pub fn gaps(
        &self,
        items: &[ItemId],
        span: Span,
        owner: impl Fn(ItemId) -> Option<usize>,
    ) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for (shard, log) in &self.logs {
            for damage in log.all() {
                let touched = damage.span.filter(|lost| lost.overlaps(span.from, span.till));
                let Some(lost) = touched else { continue };
                let (from, till) = (lost.from.max(span.from), lost.till.min(span.till));
                let is_of_item = damage.items.is_some();
                let reason: Arc<str> = format!("{}: {}", damage.file, damage.what).into();
                for &item in items.iter().filter(|&&item| damage.may_concern(item)) {
                    let elsewhere =
                        shard.is_some_and(|shard| owner(item).is_some_and(|own| own != shard));
                    if gaps.len() < GAPS_MAX && (is_of_item || !elsewhere) {
                        let reason = Arc::clone(&reason);
                        gaps.push(Gap { item, span: Span::new(from, till), is_of_item, reason });
                    }
                }
            }
        }
        gaps.sort_by_key(|gap| (gap.item, gap.span.from, gap.span.till));
        gaps
    }
}

/// Checks the files of all shards below `root`, which no process has open: see [`tsdb::verify`]. Each
/// finding comes with the name of its folder.
pub fn verify(
    root: &Path,
    clock: &SharedClock,
    repair: bool,
) -> Result<Vec<(String, Verified)>, Error> {
    let disk: Arc<dyn tsdb::Disk> = Arc::new(tsdb::OsDisk);
    let mut all = Vec::new();
    let missing = layout::read_layout(&root.join("shards"))?
        .map(|layout| layout::missing(root, &layout))
        .unwrap_or_default();
    let new: Vec<Damage> = missing.into_iter().map(|(_, damage)| damage).collect();
    if !new.is_empty() {
        all.push((".".to_owned(), Verified { new, ..Verified::default() }));
    }
    for number in layout::retired(root, 0)? {
        let found = tsdb::verify(&layout::folder(root, number), &disk, clock, repair)?;
        all.push((format!("shard-{number}"), found));
    }
    Ok(all)
}

/// One line for people.
pub fn describe(damage: &Damage) -> String {
    let Damage { file, what, span, rows, .. } = damage;
    let Some(Span { from, till }) = span else { return format!("{file}: {what}") };
    let items = match damage.item_count() {
        Some(items) => format!("{items} items"),
        None => "unknown items".to_owned(),
    };
    let rows = rows.map_or("an unknown number of rows".to_owned(), |rows| format!("{rows} rows"));
    format!("{file}: {what}; lost {rows} of {items} between {from} and {till} (Unix time)")
}

/// Logs what was lost.
pub fn warn(damage: &Damage) {
    if damage.span.is_some() {
        tracing::warn!("history lost values: {}", describe(damage));
    } else {
        tracing::warn!("history has a damaged file: {}", describe(damage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use stdx::clock::SimClock;

    #[test]
    fn missing_shard_folder_is_a_gap_of_its_items() {
        let dir = tempfile::tempdir().unwrap();
        let clock: SharedClock = SimClock::at(Duration::from_secs(1_700_000_000));
        let options = tsdb::Options { sync_interval: None, ..tsdb::Options::default() };
        let open = || crate::open_shards(dir.path(), 2, &options, &clock, None).unwrap();
        for (start, lost) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
            if start == 2 {
                std::fs::remove_dir_all(dir.path().join("shard-1")).unwrap();
            }
            let (drivers, recoveries) = open();
            let found: usize = recoveries.iter().map(|recovery| recovery.damage.len()).sum();
            assert_eq!(found, usize::from(start == 2), "start {start}");
            let damages = Damages::of(&drivers, false);
            assert_eq!(damages.count(), lost, "start {start}");
            let owner = |item: ItemId| Some(usize::from(item.0 % 2 == 1));
            let gaps = damages.gaps(&[ItemId(4), ItemId(5)], Span::new(3, 9), owner);
            assert_eq!(gaps.len(), lost, "start {start}");
            for gap in gaps {
                let of = (gap.item, gap.span, gap.is_of_item);
                assert_eq!(of, (ItemId(5), Span::new(3, 9), false));
                assert!(gap.reason.contains("shard-1"), "{}", gap.reason);
            }
        }
    }
}
