//! The history drivers of the shards, and the stores beside them, by the parameters.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use config::Config;
use history::housekeeping::class_of;
use history::spool::{Feeding, Policy, Spools};
use history::{
    Cassandra, Class, ClickHouse, Driver, HBase, Kind, Memory, Null, OpenSearch, Options, Reader,
    Retention, Riak, Store, Tiers, open_mysql, open_postgresql,
};
use model::ItemId;
use stdx::clock::SharedClock;

use crate::params::Values;

const DAY_S: u64 = 86_400;

/// How long items keep their values, by the configuration of now.
pub(crate) struct ByItem(pub(crate) Arc<Config>);

impl Retention for ByItem {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        let snapshot = self.0.snapshot();
        let Some(item) = snapshot.items.get(&item) else { return class_of(DAY_S) };
        let days = if kind.is_trend() { item.trends_days } else { item.history_days };
        class_of(u64::from(days.max(1)) * DAY_S)
    }
}

/// The same, but values no longer than so many days: a store has what is older.
struct NewestDays(ByItem, Class);

impl Retention for NewestDays {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        let class = self.0.class(item, kind);
        if kind.is_trend() { class } else { class.min(self.1) }
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
pub(crate) struct Opened {
    /// One a shard.
    pub(crate) drivers: Vec<Box<dyn Driver>>,
    /// Dropped, they end; to be kept until the shards have ended.
    pub(crate) feeds: Vec<Feeding>,
    /// Asked for what the shards keep no longer.
    older: Option<(Arc<dyn Store>, u16)>,
}

impl Opened {
    /// The reader over all tiers.
    pub(crate) fn reader(&self, newest: Arc<dyn Reader>, clock: &SharedClock) -> Arc<dyn Reader> {
        match &self.older {
            None => newest,
            Some((store, days)) => {
                let (store, clock) = (Arc::clone(store), Arc::clone(clock));
                Arc::new(Tiers::new(newest, store, *days, clock))
            }
        }
    }
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
                format!("parameter history-embedded-days: \"{days}\" is no number of days above 0")
            })?;
        let spool = values.get("history-spool-max");
        let spool_bytes_max = bytes(spool).with_context(|| {
            format!("parameter history-spool-max: \"{spool}\" is no size like 500M or 16G")
        })?;
        Ok(Self { name, stores, embedded_days, spool_bytes_max })
    }

    /// Opens it all; stores that are away are waited for later.
    pub(crate) fn open(
        self,
        dir: &Path,
        shards: usize,
        config: &Arc<Config>,
        clock: &SharedClock,
    ) -> anyhow::Result<Opened> {
        let retention: Arc<dyn Retention> = Arc::new(ByItem(Arc::clone(config)));
        let drivers: Vec<Box<dyn Driver>> = match self.name.as_str() {
            "embedded" => return self.embedded(dir, shards, (config, retention), clock),
            "memory" => (0..shards)
                .map(|_| Box::new(Memory::new(Arc::clone(&retention))) as Box<dyn Driver>)
                .collect(),
            "null" => (0..shards).map(|_| Box::new(Null::default()) as Box<dyn Driver>).collect(),
            other => bail!("parameter history: \"{other}\" is none of embedded, memory, null"),
        };
        Ok(Opened { drivers, feeds: Vec::new(), older: None })
    }

    fn embedded(
        self,
        dir: &Path,
        shards: usize,
        (config, retention): (&Arc<Config>, Arc<dyn Retention>),
        clock: &SharedClock,
    ) -> anyhow::Result<Opened> {
        let older = self.stores.first().map(|store| (Arc::clone(store), self.embedded_days));
        let retention: Arc<dyn Retention> = match &older {
            None => retention,
            Some((_, days)) => {
                let class = class_of(u64::from(*days) * DAY_S);
                Arc::new(NewestDays(ByItem(Arc::clone(config)), class))
            }
        };
        let options = Options { retention, ..Options::default() };
        let bytes_max = self.spool_bytes_max / u64::try_from(shards.max(1)).unwrap_or(1);
        let spools = Spools::open(&dir.join("stores"), self.stores, bytes_max)?;
        let (drivers, recoveries) =
            history::open_shards(dir, shards, &options, clock, Some(&spools))
                .with_context(|| format!("cannot open the history in {}", dir.display()))?;
        for recovery in recoveries {
            tracing::debug!(?recovery, "history opened");
        }
        let feeds = spools.start(dir, &options.disk, Policy::default(), clock)?;
        let drivers =
            drivers.into_iter().map(|driver| Box::new(driver) as Box<dyn Driver>).collect();
        Ok(Opened { drivers, feeds, older })
    }
}

/// Stores with blanks between.
fn stores(
    text: &str,
    config: &Arc<Config>,
    clock: &SharedClock,
) -> anyhow::Result<Vec<Arc<dyn Store>>> {
    let retention: Arc<dyn Retention> = Arc::new(ByItem(Arc::clone(config)));
    let each = text.split_whitespace().map(|word| store(word, Arc::clone(&retention), clock));
    each.collect::<anyhow::Result<_>>().context("parameter history-store")
}

/// A store, as `clickhouse=URL`. No message repeats a URL: it may hold a password.
pub(crate) fn store(
    word: &str,
    retention: Arc<dyn Retention>,
    clock: &SharedClock,
) -> anyhow::Result<Arc<dyn Store>> {
    let (kind, url) = word
        .split_once('=')
        .context("a store is named like clickhouse=http://host:8123/database")?;
    Ok(match kind {
        "cassandra" => Arc::new(Cassandra::new(url, retention, Arc::clone(clock))?),
        "clickhouse" => Arc::new(ClickHouse::new(url, retention)?),
        "hbase" => Arc::new(HBase::new(url, retention, Arc::clone(clock))?),
        "mysql" => open_mysql(url, retention)?,
        "opensearch" => Arc::new(OpenSearch::new(url, retention)?),
        "postgresql" => open_postgresql(url, retention)?,
        "riak" => {
            tracing::warn!("history on Riak is experimental: it has met no real Riak yet");
            Arc::new(Riak::new(url, retention, Arc::clone(clock))?)
        }
        other => bail!(
            "\"{other}\" is no store; known: cassandra, clickhouse, hbase, mysql, opensearch, \
             postgresql, riak (experimental)"
        ),
    })
}

/// A number with K, M, G or T.
fn bytes(text: &str) -> Option<u64> {
    let (digits, power) = match text.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(digits) => (digits, "KMGT".find(text.get(digits.len()..)?)? + 1),
        None => (text, 0),
    };
    let unit = 1024_u64.checked_pow(u32::try_from(power).ok()?)?;
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
