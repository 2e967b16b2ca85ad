//! The history drivers of the shards, and the stores beside them, by the parameters.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use config::{Config, Snapshot};
use history::damage::Damages;
use history::housekeeping::class_of;
use history::spool::{Feeding, Policy, Spools};
use history::{
    Class, Day, Driver, EmbeddedDays, Extent, Kind, Memory, Null, Options, Past, Reader, Retention,
    Store, Tiers,
};
use model::{DAY_S, ItemId, ValueType};
use stdx::clock::SharedClock;

use super::base::Base;
use super::{Kept, Part, blocking};
use crate::params::{Values, bytes};

/// Maximum time to wait at the end for a feeder that is blocked in a store call.
const FEEDS_END: Duration = Duration::from_secs(2);

/// Opens history as the parameters say; unavailable stores are connected later.
pub(crate) fn start(base: &Base<'_>) -> anyhow::Result<Part<Opened>> {
    let (config, clock) = (&base.config, &base.clock);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = Wanted::read(base.values, config, clock)?;
    let mut opened = wanted.open(&base.data.join("history"), cores, config, clock)?;
    let feeds = std::mem::take(&mut opened.feeds);
    opened.stores = feeds.iter().map(|feed| Arc::clone(feed.gauges())).collect();
    // What is not copied by then comes with the next start.
    let end = move || {
        history::spool::end(feeds, FEEDS_END);
        Kept::All
    };
    Ok(Part::new(opened, blocking(end)))
}

/// How long items keep their values, by the configuration of now.
pub(crate) struct ByItem(pub(crate) Arc<Config>);

/// For how many days rows of this kind are kept, at least one.
fn days_in(snapshot: &Snapshot, item: ItemId, kind: Kind) -> u16 {
    let days = snapshot
        .items
        .get(&item)
        .map_or(1, |item| if kind.is_trend() { item.trends_days } else { item.history_days });
    days.max(1)
}

fn class_in(snapshot: &Snapshot, item: ItemId, kind: Kind) -> Class {
    class_of(u64::from(days_in(snapshot, item, kind)) * u64::from(DAY_S))
}

impl Retention for ByItem {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        class_in(&self.0.snapshot(), item, kind)
    }

    /// Loading the snapshot for each series would make one series wait for the memory of the other.
    fn classes(&self, series: &[(ItemId, Kind)]) -> Vec<Class> {
        let snapshot = self.0.snapshot();
        series.iter().map(|&(item, kind)| class_in(&snapshot, item, kind)).collect()
    }
}

/// The same, but values that a store is given no longer than so many days.
struct NewestDays {
    whole: Arc<dyn Retention>,
    stores: Vec<Arc<dyn Store>>,
    days: Class,
}

impl NewestDays {
    /// The class of a series that without stores has the class `whole`.
    fn limited(&self, whole: Class, item: ItemId, kind: Kind) -> Class {
        let elsewhere = || self.stores.iter().any(|store| store.takes(item, kind));
        if !kind.is_trend() && whole > self.days && elsewhere() { self.days } else { whole }
    }
}

impl Retention for NewestDays {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        self.limited(self.whole.class(item, kind), item, kind)
    }

    fn classes(&self, series: &[(ItemId, Kind)]) -> Vec<Class> {
        let whole = self.whole.classes(series).into_iter();
        whole.zip(series).map(|(whole, &(item, kind))| self.limited(whole, item, kind)).collect()
    }
}

/// What the parameters say of history.
pub(crate) struct Wanted {
    name: String,
    stores: Vec<Arc<dyn Store>>,
    embedded_days: u16,
    spool_bytes_max: u64,
}

/// History, open.
#[derive(Default)]
pub(crate) struct Opened {
    /// One a shard.
    pub(crate) drivers: Vec<Box<dyn Driver>>,
    /// Dropped, they end.
    feeds: Vec<Feeding>,
    /// What is measured of the stores beside the embedded history.
    pub(crate) stores: Vec<Arc<history::spool::Gauges>>,
    /// Damage of the embedded history.
    pub(crate) damages: Damages,
    /// Asked for what the shards keep no longer.
    older: Option<(Vec<Arc<dyn Store>>, EmbeddedDays)>,
}

impl Opened {
    /// The reader over all tiers.
    pub(crate) fn reader(&self, newest: Arc<dyn Reader>, clock: &SharedClock) -> Arc<dyn Reader> {
        match &self.older {
            None => newest,
            Some((stores, embedded)) => {
                Arc::new(Tiers::new(newest, stores.clone(), *embedded, Arc::clone(clock)))
            }
        }
    }
}

impl Opened {
    /// What functions look back at that the shards keep no longer.
    pub(crate) fn past(
        &self,
        config: &Arc<Config>,
        clock: &SharedClock,
    ) -> anyhow::Result<Option<Arc<Past>>> {
        let Some((stores, embedded)) = self.older.clone() else { return Ok(None) };
        let (config, given, today) = (Arc::clone(config), stores.clone(), Arc::clone(clock));
        let kind_of = move |item: ItemId| {
            let snapshot = config.snapshot();
            let item = snapshot.items.get(&item)?;
            let is_older = item.history_days > embedded.on(day(&today));
            (is_older && may_have(&given, item.value_type)).then_some(item.value_type)
        };
        Ok(Some(Past::start(stores, embedded, clock, Box::new(kind_of))?))
    }
}

/// May a store have values of a type, whatever their items say now?
fn may_have(stores: &[Arc<dyn Store>], value_type: ValueType) -> bool {
    let kind = Kind::of(value_type);
    stores.iter().any(|store| store.extent(kind) != Extent::Nothing)
}

fn day(clock: &SharedClock) -> Day {
    Day::of(u32::try_from(clock.unix_s()).unwrap_or(u32::MAX))
}

impl Wanted {
    /// Reads the parameters.
    pub(crate) fn read(
        values: &Values,
        config: &Arc<Config>,
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        let name = values.get("history").to_owned();
        let stores = stores(values.get("history-store"), config, clock)?;
        if !stores.is_empty() && name != "embedded" {
            bail!("parameter history-store: stores are fed from the embedded history, not {name}");
        }
        let days = values.get("history-embedded-days");
        let embedded_days =
            days.parse::<u16>().ok().filter(|&days| days > 0).with_context(|| {
                format!(
                    "parameter history-embedded-days: \"{days}\" is not a number of days above 0"
                )
            })?;
        let spool = values.get("history-spool-max");
        let spool_bytes_max = bytes(spool).with_context(|| {
            format!("parameter history-spool-max: \"{spool}\" is not a size, such as 500M or 16G")
        })?;
        Ok(Self { name, stores, embedded_days, spool_bytes_max })
    }

    /// Opens all stores; unavailable stores are connected later.
    pub(crate) fn open(
        self,
        dir: &Path,
        shards: usize,
        config: &Arc<Config>,
        clock: &SharedClock,
    ) -> anyhow::Result<Opened> {
        let retention: Arc<dyn Retention> = Arc::new(ByItem(Arc::clone(config)));
        let drivers: Vec<Box<dyn Driver>> = match self.name.as_str() {
            "embedded" => return self.embedded(dir, shards, retention, clock),
            "memory" => (0..shards)
                .map(|_| Box::new(Memory::new(Arc::clone(&retention))) as Box<dyn Driver>)
                .collect(),
            "null" => (0..shards).map(|_| Box::new(Null::default()) as Box<dyn Driver>).collect(),
            other => bail!("parameter history: \"{other}\" is none of embedded, memory, null"),
        };
        let damages = Damages::default();
        Ok(Opened { drivers, damages, ..Opened::default() })
    }

    fn embedded(
        self,
        dir: &Path,
        shards: usize,
        retention: Arc<dyn Retention>,
        clock: &SharedClock,
    ) -> anyhow::Result<Opened> {
        let (stores, days) = (self.stores, self.embedded_days);
        let retention: Arc<dyn Retention> = if stores.is_empty() {
            retention
        } else {
            let days = class_of(u64::from(days) * u64::from(DAY_S));
            Arc::new(NewestDays { whole: retention, stores: stores.clone(), days })
        };
        let options = Options { retention, ..Options::default() };
        let bytes_max = self.spool_bytes_max / u64::try_from(shards.max(1)).unwrap_or(1);
        let folder = dir.join("stores");
        let spools = Spools::open(&folder, stores.clone(), bytes_max)?;
        let older = if stores.is_empty() {
            None
        } else {
            Some((stores, EmbeddedDays::since(&folder, days, day(clock))?))
        };
        let (drivers, recoveries) =
            history::open_shards(dir, shards, &options, clock, Some(&spools))
                .with_context(|| format!("cannot open the history in {}", dir.display()))?;
        for recovery in recoveries {
            tracing::debug!(?recovery, "history opened");
            recovery.damage.iter().for_each(history::damage::warn);
        }
        let damages = history::damages(dir, &drivers)?;
        let feeds = spools.start(dir, &options.disk, Policy::default(), clock)?;
        let drivers =
            drivers.into_iter().map(|driver| Box::new(driver) as Box<dyn Driver>).collect();
        Ok(Opened { drivers, feeds, damages, older, ..Opened::default() })
    }
}

/// Stores with blanks between.
fn stores(
    text: &str,
    config: &Arc<Config>,
    clock: &SharedClock,
) -> anyhow::Result<Vec<Arc<dyn Store>>> {
    let each = text.split_whitespace().map(|word| of_config(word, config, clock));
    each.collect::<anyhow::Result<_>>().context("parameter history-store")
}

/// A store for items as they are configured.
pub(crate) fn of_config(
    word: &str,
    config: &Arc<Config>,
    clock: &SharedClock,
) -> anyhow::Result<Arc<dyn Store>> {
    let retention = Arc::new(ByItem(Arc::clone(config)));
    let config = Arc::clone(config);
    let keeps = Arc::new(move |item, kind| days_in(&config.snapshot(), item, kind));
    Ok(stores::named(word, retention, keeps, clock)?)
}

#[cfg(test)]
mod tests {
    use history::Part;

    use super::*;

    struct Never;

    impl Store for Never {
        fn name(&self) -> String {
            "never".to_owned()
        }
        fn driver(&self) -> Box<dyn Driver> {
            Box::new(Null::default())
        }
    }

    /// A store that is given a part, of items that are all kept for so many days.
    fn part(address: &str, days: u16) -> Vec<Arc<dyn Store>> {
        let (part, _) = Part::take_from(address).unwrap();
        vec![part.of(Arc::new(Never), Arc::new(move |_, _| days)).unwrap()]
    }

    #[test]
    fn an_item_whose_days_were_changed_may_have_values_in_stores() {
        for (settings, value_type, expected) in [
            ("", ValueType::Text, true),
            ("?days=31-", ValueType::Float, true),
            ("?types=float", ValueType::Float, true),
            ("?types=float&days=31-", ValueType::Text, false),
        ] {
            let stores = part(&format!("http://h/d{settings}"), 20);
            assert_eq!(may_have(&stores, value_type), expected, "{settings}");
        }
        assert!(!may_have(&[], ValueType::Float));
    }

    #[test]
    fn what_no_store_is_given_stays_embedded() {
        let kept = |address: &str, kind: Kind, whole: u16| {
            let stores = part(address, whole);
            let whole = Arc::new(Class(whole));
            NewestDays { whole, stores, days: Class(7) }.class(ItemId(1), kind).0
        };
        for (settings, kind, whole, days) in [
            ("", Kind::Float, 93, 7),
            ("", Kind::Float, 5, 5),
            ("", Kind::FloatAvg, 93, 93),
            ("?types=float", Kind::Float, 93, 7),
            ("?types=float", Kind::Text, 93, 93),
            ("?days=90-", Kind::Text, 93, 7),
            ("?days=-90", Kind::Text, 93, 93),
        ] {
            assert_eq!(kept(&format!("http://h/d{settings}"), kind, whole), days, "{settings}");
        }
    }

    #[test]
    fn sizes_are_read() {
        for (text, expected) in [
            ("1", Some(1)),
            ("16G", Some(16 << 30)),
            ("3K", Some(3072)),
            ("2T", Some(2 << 40)),
            ("0", None),
            ("", None),
            ("G", None),
            ("1g", None),
            ("99999999999T", None),
            ("-1M", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
