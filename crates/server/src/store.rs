//! The history drivers of the shards, by the parameter `history`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use config::Config;
use history::housekeeping::class_of;
use history::{Class, Driver, Kind, Memory, Null, Retention};
use model::ItemId;
use stdx::clock::SharedClock;

/// How long items keep their values, by the configuration of now.
struct ByItem(Arc<Config>);

impl Retention for ByItem {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        const DAY_S: u64 = 86_400;
        let snapshot = self.0.snapshot();
        let Some(item) = snapshot.items.get(&item) else { return class_of(DAY_S) };
        let days = if kind.is_trend() { item.trends_days } else { item.history_days };
        class_of(u64::from(days.max(1)) * DAY_S)
    }
}

/// One driver a shard.
pub(crate) fn open(
    name: &str,
    dir: &Path,
    shards: usize,
    config: &Arc<Config>,
    clock: &SharedClock,
) -> anyhow::Result<Vec<Box<dyn Driver>>> {
    let retention: Arc<dyn Retention> = Arc::new(ByItem(Arc::clone(config)));
    match name {
        "embedded" => {
            let options = history::Options { retention, ..history::Options::default() };
            let (drivers, recoveries) = history::open_shards(dir, shards, &options, clock)
                .with_context(|| format!("cannot open the history in {}", dir.display()))?;
            for recovery in recoveries {
                tracing::debug!(?recovery, "history opened");
            }
            Ok(drivers.into_iter().map(|driver| Box::new(driver) as Box<dyn Driver>).collect())
        }
        "memory" => Ok((0..shards)
            .map(|_| Box::new(Memory::new(Arc::clone(&retention))) as Box<dyn Driver>)
            .collect()),
        "null" => Ok((0..shards).map(|_| Box::new(Null::default()) as Box<dyn Driver>).collect()),
        other => bail!("parameter history: \"{other}\" is none of embedded, memory, null"),
    }
}
