//! `zabbix[...]`: the server's own figures as internal items. Names of the keys, their parameters and
//! the texts of errors are the field's (manual, "Internal checks"; a server 7.0.22).

mod caches;
mod own;
mod processes;
mod server;
mod statistics;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use collect::queue::{Interval, IntervalError};
use config::snapshot::Item;
use eval::key::ItemKey;
use model::HostId;
use poll::{InternalValue, Internals};

use server::{Answer, VERSION, invalid, size, text, unsigned};

pub use server::ServerFigures;

/// How many parameters a key may have whose first parameter is this; `None` = it is unknown.
fn parameters(first: &str) -> Option<RangeInclusive<usize>> {
    Some(match first {
        "boottime"
        | "connector_queue"
        | "discovery_queue"
        | "hosts"
        | "items"
        | "items_unsupported"
        | "lld_queue"
        | "preprocessing"
        | "preprocessing_queue"
        | "requiredperformance"
        | "triggers"
        | "uptime"
        | "version" => 1..=1,
        "cluster" | "host" => 3..=3,
        "proxy" | "proxy group" | "rcache" | "tcache" | "vcache" | "vmware" | "vps" | "wcache" => {
            2..=3
        }
        "process" => 2..=4,
        "queue" => 1..=3,
        "stats" => 1..=6,
        "vedette" => 2..=usize::MAX,
        _ => return None,
    })
}

impl Internals for ServerFigures {
    fn value(&self, host: HostId, key: &ItemKey) -> Answer {
        let first = key.param(0).ok_or("Invalid number of parameters.")?;
        let known = parameters(&first).ok_or_else(|| invalid("first"))?;
        if !known.contains(&key.param_count()) {
            return Err("Invalid number of parameters.".to_owned());
        }
        match first.as_str() {
            "process" => self.process(key),
            "wcache" => self.write_cache(key),
            "rcache" => self.configuration_cache(key),
            "vcache" => self.value_cache(key),
            "tcache" => self.trend_cache(key),
            "vmware" => caches::vmware(key),
            "vps" => self.written(key),
            "queue" => self.queue(key),
            "stats" => self.local_statistics(key),
            "cluster" => cluster(key),
            "proxy" => proxy(key),
            "proxy group" => proxy_group(key),
            "host" => self.host(host, key),
            "vedette" => self.own(key),
            _ => Ok(self.plain(&first)),
        }
    }
}

impl ServerFigures {
    /// A figure without parameters.
    fn plain(&self, name: &str) -> InternalValue {
        match name {
            "boottime" => unsigned(self.meter.started_s()),
            "uptime" => unsigned(self.meter.uptime().as_secs()),
            "version" => InternalValue::Text(VERSION.to_owned()),
            "hosts" => unsigned(self.hosts()),
            "items" => unsigned(self.items()),
            "triggers" => unsigned(self.triggers()),
            "items_unsupported" => unsigned(self.meter.unsupported()),
            "requiredperformance" => InternalValue::Float(self.required()),
            "preprocessing" => text(&serde_json::json!({ "data": self.preprocessing() })),
            "preprocessing_queue" => unsigned(size(self.meter.value_queue().0)),
            "lld_queue" => unsigned(size(self.meter.discoveries())),
            "connector_queue" => unsigned(self.connector_queue()),
            // Addresses are not queued.
            _ => unsigned(0),
        }
    }

    /// Records in queues of connectors.
    fn connector_queue(&self) -> u64 {
        self.meter.exports().queued.load(Ordering::Relaxed)
    }

    fn hosts(&self) -> u64 {
        count(self.config.snapshot().hosts.values(), |host| host.monitored)
    }

    /// Enabled items; discovery rules are none.
    fn items(&self) -> u64 {
        let snapshot = self.config.snapshot();
        count(snapshot.items.values(), |item| item.enabled && !item.discovery_rule)
    }

    fn triggers(&self) -> u64 {
        count(self.config.snapshot().triggers.values(), |trigger| trigger.enabled)
    }

    /// Values per second that the intervals of all enabled items require.
    fn required(&self) -> f64 {
        let snapshot = self.config.snapshot();
        let counted = |item: &&Arc<Item>| item.enabled && !item.discovery_rule;
        let rates = snapshot.items.values().filter(counted).filter_map(|item| {
            let interval = item.interval.as_ref()?;
            (interval.delay_s > 0).then(|| 1.0 / f64::from(interval.delay_s))
        });
        rates.sum()
    }

    fn queue(&self, key: &ItemKey) -> Answer {
        self.late(key, 1, ["second", "third"]).map(unsigned)
    }

    /// Items that are late by an interval whose bounds are parameters of the key from `at` on.
    fn late(&self, key: &ItemKey, at: usize, bounds: [&str; 2]) -> Result<u64, String> {
        let bound = |at: usize| key.param(at).filter(|text| !text.is_empty());
        let [from, to] = bounds;
        let interval = Interval::parse(bound(at).as_deref(), bound(at + 1).as_deref());
        let interval = interval.map_err(|error| match error {
            IntervalError::From => invalid(from),
            IntervalError::To => invalid(to),
            IntervalError::Order => "Parameters represent an invalid interval.".to_owned(),
        })?;
        Ok(self.meter.queue().within(interval))
    }

    /// `zabbix[stats]` without an address.
    fn local_statistics(&self, key: &ItemKey) -> Answer {
        match key.param(3).as_deref() {
            None => Ok(text(&serde_json::json!({ "data": self.statistics() }))),
            Some("queue") => {
                let late = self.late(key, 4, ["fifth", "sixth"])?;
                Ok(text(&serde_json::json!({ "queue": late })))
            }
            Some(_) => Err(invalid("forth")),
        }
    }

    fn written(&self, key: &ItemKey) -> Answer {
        match (key.param(1).as_deref(), key.param(2).as_deref()) {
            (Some("written"), None | Some("")) => Ok(unsigned(self.meter.shards().values)),
            (Some("written"), _) => Err(invalid("third")),
            _ => Err(invalid("second")),
        }
    }

    /// What collection does not know of a host.
    fn host(&self, host: HostId, key: &ItemKey) -> Answer {
        match key.param(2).as_deref() {
            Some("maintenance") => {
                let snapshot = self.config.snapshot();
                Ok(unsigned(snapshot.hosts.get(&host).map_or(0, |host| host.maintenance as u64)))
            }
            Some("items_unsupported") => Ok(unsigned(self.meter.unsupported_of(host))),
            _ => Err(invalid("third")),
        }
    }
}

fn count<T>(all: impl Iterator<Item = T>, keep: impl Fn(&T) -> bool) -> u64 {
    size(all.filter(|one| keep(one)).count())
}

/// This server is no node of a cluster.
fn cluster(key: &ItemKey) -> Answer {
    match (key.param(1).as_deref(), key.param(2).as_deref()) {
        (Some("discovery"), Some("nodes")) => Ok(InternalValue::Text("[]".to_owned())),
        (Some("discovery"), _) => Err(invalid("third")),
        _ => Err(invalid("second")),
    }
}

/// There are no proxies.
fn proxy(key: &ItemKey) -> Answer {
    let name = key.param(1).unwrap_or_default();
    match key.param(2).as_deref() {
        None if name == "discovery" => Ok(InternalValue::Text("[]".to_owned())),
        None => Err(invalid("second")),
        Some("lastaccess" | "delay") => {
            Err(format!("Proxy \"{name}\" not found in configuration cache."))
        }
        Some(_) => Err(invalid("third")),
    }
}

/// There are no proxy groups.
fn proxy_group(key: &ItemKey) -> Answer {
    let name = key.param(1).unwrap_or_default();
    match key.param(2) {
        None if name == "discovery" => Ok(text(&serde_json::json!({ "data": [], "rtdata": {} }))),
        None => Err(invalid("second")),
        Some(_) => {
            Err(format!("Cannot obtain proxy group statistics: Unknown proxy group \"{name}\""))
        }
    }
}
