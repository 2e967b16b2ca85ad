//! `zabbix[...]`: the server's own figures as internal items. Names of the keys and their
//! parameters are the field's (manual, "Internal checks").

use std::sync::Arc;

use config::Config;
use eval::key::ItemKey;
use history::spool::Reading;
use model::HostId;
use poll::{InternalValue, Internals};

use crate::meter::Meter;

/// Answers internal items.
#[derive(Debug)]
pub struct ServerFigures {
    /// The configuration.
    pub config: Arc<Config>,
    /// The newest readings.
    pub meter: Arc<Meter>,
}

/// Processes of other servers whose work does not exist here as one of its own: always idle.
const IDLE: &[&str] = &[
    "availability manager",
    "browser poller",
    "configuration syncer worker",
    "connector manager",
    "connector worker",
    "discovery manager",
    "discovery worker",
    "discoverer",
    "ha manager",
    "history poller",
    "housekeeper",
    "ipmi manager",
    "ipmi poller",
    "proxy group manager",
    "proxy poller",
    "report manager",
    "report writer",
    "self-monitoring",
    "service manager",
    "snmp trapper",
    "task manager",
    "trigger housekeeper",
    "unreachable poller",
    "vmware collector",
];

impl Internals for ServerFigures {
    fn value(&self, host: HostId, key: &ItemKey) -> Result<InternalValue, String> {
        let param = |n: usize| key.param(n).unwrap_or_default();
        let unsigned = |n: u64| Ok(InternalValue::Unsigned(n));
        match param(0).as_str() {
            "uptime" => unsigned(self.meter.uptime().as_secs()),
            "boottime" => unsigned(self.boot_time()),
            "version" => Ok(InternalValue::Text(env!("CARGO_PKG_VERSION").to_owned())),
            "hosts" => unsigned(count(self.config.snapshot().hosts.values(), |h| h.monitored)),
            "items" => unsigned(count(self.config.snapshot().items.values(), |i| i.enabled)),
            "triggers" => unsigned(count(self.config.snapshot().triggers.values(), |t| t.enabled)),
            "items_unsupported" => unsigned(self.meter.shards().items_unsupported),
            "requiredperformance" => Ok(InternalValue::Float(self.required())),
            "queue" => unsigned(self.queue(&param(1), &param(2))?),
            "process" => self.process(&param(1), &param(2), &param(3)),
            "wcache" => self.write_cache(&param(1), &param(2)),
            "rcache" => self.configuration_cache(&param(2)),
            "vcache" => self.value_cache(&param(1), &param(2)),
            "vedette" => match param(1).as_str() {
                "stores" => self.stores(&param(2), &param(3)),
                "service" => self.service(&param(2)),
                "media" => {
                    let (queues, now) = (self.meter.media(), self.meter.now());
                    unsigned(self.meter.alerting().figure(&param(2), &param(3), queues, now)?)
                }
                "escalator" if param(2) == "delay" => unsigned(self.meter.alerting().delay_s),
                "heartbeat" if param(2) == "missed" => unsigned(self.meter.missed_heartbeats()),
                "history" if param(2) == "damaged" => unsigned(self.meter.damaged()),
                "configuration" if param(2) == "hold" => {
                    Ok(InternalValue::Float(self.config.longest_hold().as_secs_f64()))
                }
                _ => Err("Invalid second parameter.".to_owned()),
            },
            "tcache" => self.trend_cache(&param(1), &param(2)),
            "preprocessing_queue" | "preprocessing" => {
                unsigned(u64::try_from(self.meter.value_queue().0).unwrap_or(u64::MAX))
            }
            "lld_queue" => unsigned(u64::try_from(self.meter.discoveries()).unwrap_or(u64::MAX)),
            "discovery_queue" | "connector_queue" => unsigned(0),
            "host" => match param(2).as_str() {
                "maintenance" => {
                    let snapshot = self.config.snapshot();
                    unsigned(snapshot.hosts.get(&host).map_or(0, |host| host.maintenance as u64))
                }
                "items_unsupported" => unsigned(self.meter.unsupported_of(host)),
                _ => Err("Invalid third parameter.".to_owned()),
            },
            _ => Err("Invalid first parameter.".to_owned()),
        }
    }
}

fn count<T>(all: impl Iterator<Item = T>, keep: impl Fn(&T) -> bool) -> u64 {
    u64::try_from(all.filter(|one| keep(one)).count()).unwrap_or(u64::MAX)
}

fn percent(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "for a share")]
    let (part, whole) = (part as f64, whole.max(1) as f64);
    part / whole * 100.0
}

impl ServerFigures {
    fn boot_time(&self) -> u64 {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().find_map(|line| line.strip_prefix("btime "));
        line.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Values per second that the intervals of all enabled items ask for.
    fn required(&self) -> f64 {
        let snapshot = self.config.snapshot();
        let rates = snapshot.items.values().filter(|item| item.enabled).filter_map(|item| {
            let interval = item.interval.as_ref()?;
            (interval.delay_s > 0).then(|| 1.0 / f64::from(interval.delay_s))
        });
        rates.sum()
    }

    fn queue(&self, from: &str, to: &str) -> Result<u64, String> {
        let seconds = |text: &str, default: Option<u32>| {
            if text.is_empty() {
                return Ok(default);
            }
            let parsed = eval::num::parse_seconds(text);
            parsed
                .map(Some)
                .ok_or_else(|| "Invalid parameter: a time like 10m is expected.".to_owned())
        };
        // 6 s is the field's default: shorter delays are nobody's fault.
        let from = seconds(from, Some(6))?.unwrap_or(6);
        Ok(self.meter.queue().between(from, seconds(to, None)?))
    }

    fn process(&self, name: &str, mode: &str, state: &str) -> Result<InternalValue, String> {
        let busy = match self.meter.busy(name) {
            Some(busy) => busy,
            None if IDLE.contains(&name) => 0.0,
            None => return Err("Invalid second parameter.".to_owned()),
        };
        match (mode, state) {
            ("count", _) => Ok(InternalValue::Unsigned(1)),
            (_, "idle") => Ok(InternalValue::Float(100.0 - busy)),
            (_, "" | "busy") => Ok(InternalValue::Float(busy)),
            _ => Err("Invalid fourth parameter.".to_owned()),
        }
    }

    fn write_cache(&self, cache: &str, mode: &str) -> Result<InternalValue, String> {
        let gauges = self.meter.shards();
        if cache == "values" {
            let by = |kind: usize| gauges.by_type.get(kind).copied().unwrap_or(0);
            return Ok(InternalValue::Unsigned(match mode {
                "" | "all" => gauges.values + gauges.unsupported,
                "float" => by(0),
                "str" => by(1),
                "log" => by(2),
                "uint" => by(3),
                "text" => by(4),
                "bin" => by(5),
                "not supported" => gauges.unsupported,
                _ => return Err("Invalid third parameter.".to_owned()),
            }));
        }
        // Our own: values that a start could not read to fold trends again; a disk fails.
        if (cache, mode) == ("trend", "unread") {
            return Ok(InternalValue::Unsigned(gauges.trends_unread));
        }
        // The queue in front of the shards is what other servers call the history cache: it fills
        // when values come faster than they are written.
        let (used, total) = match cache {
            "history" | "index" => self.meter.value_queue(),
            "trend" => (usize::try_from(gauges.trends_waiting).unwrap_or(usize::MAX), usize::MAX),
            _ => return Err("Invalid second parameter.".to_owned()),
        };
        buffer(used, total, mode)
    }

    /// Our own: stores to which history is copied, one by its name or all together.
    fn stores(&self, figure: &str, name: &str) -> Result<InternalValue, String> {
        let mut stores = self.meter.stores();
        if !name.is_empty() {
            stores.retain(|store| store.name == name);
            if stores.is_empty() {
                return Err("Invalid fourth parameter: no such history store.".to_owned());
            }
        }
        let of: fn(&Reading) -> u64 = match figure {
            "lag" => |store| store.lag_s,
            "rows" => |store| store.behind_rows,
            "spool" => |store| store.behind_bytes,
            "written" => |store| store.written,
            "batches" => |store| store.batches,
            "errors" => |store| store.errors,
            "retries" => |store| store.retries,
            "refused" => |store| store.refused,
            "missed" => |store| store.missed,
            _ => return Err("Invalid third parameter.".to_owned()),
        };
        let figures = stores.iter().map(of);
        let figure = if figure == "lag" { figures.max().unwrap_or(0) } else { figures.sum() };
        Ok(InternalValue::Unsigned(figure))
    }

    /// Our own: what other programs write and read through the history service.
    fn service(&self, figure: &str) -> Result<InternalValue, String> {
        let service = self.meter.service();
        Ok(InternalValue::Unsigned(match figure {
            "writes" => service.writes,
            "reads" => service.reads,
            "failed" => service.failed,
            "kept" => service.kept,
            "refused" => service.refused,
            "sent" => service.sent,
            "streams" => service.streams,
            "answers" => service.answers,
            _ => return Err("Invalid third parameter.".to_owned()),
        }))
    }

    /// The configuration is held whole in memory: what counts is how large it is.
    fn configuration_cache(&self, mode: &str) -> Result<InternalValue, String> {
        let used = self.meter.configuration_bytes();
        match mode {
            "used" | "total" => buffer(used, used, mode),
            _ => Ok(InternalValue::Float(if mode == "pused" { 0.0 } else { 100.0 })),
        }
    }

    fn value_cache(&self, part: &str, mode: &str) -> Result<InternalValue, String> {
        let cache = self.meter.shards().cache;
        match (part, mode) {
            ("cache", "hits") => Ok(InternalValue::Unsigned(cache.hits)),
            ("cache", "misses") => Ok(InternalValue::Unsigned(cache.misses)),
            ("cache", "requests") => Ok(InternalValue::Unsigned(cache.hits + cache.misses)),
            ("cache", "mode") => Ok(InternalValue::Unsigned(0)),
            ("buffer", mode) => buffer(cache.bytes, cache.bytes_max, mode),
            _ => Err("Invalid second parameter.".to_owned()),
        }
    }

    /// Trend functions read the store, which answers in less than a millisecond: there is no
    /// cache in between, so each question is a miss.
    fn trend_cache(&self, part: &str, mode: &str) -> Result<InternalValue, String> {
        if part != "cache" {
            return Err("Invalid second parameter.".to_owned());
        }
        let reads = self.meter.shards().trend_reads;
        Ok(match mode {
            "" | "all" | "misses" => InternalValue::Unsigned(reads),
            "hits" | "items" | "requests" => InternalValue::Unsigned(0),
            "pmisses" => InternalValue::Float(if reads > 0 { 100.0 } else { 0.0 }),
            "phits" | "pitems" => InternalValue::Float(0.0),
            _ => return Err("Invalid third parameter.".to_owned()),
        })
    }

    /// Everything, for `zabbix.stats`.
    pub fn all(&self) -> serde_json::Value {
        let gauges = self.meter.shards();
        let snapshot = self.config.snapshot();
        let (used, total) = self.meter.value_queue();
        let mut process = serde_json::Map::new();
        let names = [
            "trapper",
            "agent poller",
            "http agent poller",
            "http poller",
            "icmp pinger",
            "internal poller",
            "java poller",
            "odbc poller",
            "poller",
            "snmp poller",
            "preprocessing worker",
            "history syncer",
            "alerter",
            "lld worker",
            "timer",
            "configuration syncer",
        ];
        for name in names.iter().chain(IDLE) {
            let busy = self.meter.busy(name).unwrap_or(0.0);
            let share = |busy: f64| serde_json::json!({ "avg": busy, "max": busy, "min": busy });
            let row =
                serde_json::json!({ "busy": share(busy), "idle": share(100.0 - busy), "count": 1 });
            process.insert((*name).to_owned(), row);
        }
        serde_json::json!({
            "boottime": self.boot_time(),
            "uptime": self.meter.uptime().as_secs(),
            "hosts": count(snapshot.hosts.values(), |h| h.monitored),
            "items": count(snapshot.items.values(), |i| i.enabled),
            "items_unsupported": gauges.items_unsupported,
            "requiredperformance": self.required(),
            "preprocessing_queue": used,
            "version": env!("CARGO_PKG_VERSION"),
            "triggers": count(snapshot.triggers.values(), |t| t.enabled),
            "queue": self.meter.queue().total,
            "process": process,
            "wcache": {
                "values": {
                    "all": gauges.values + gauges.unsupported,
                    "float": gauges.by_type[0], "str": gauges.by_type[1], "log": gauges.by_type[2],
                    "uint": gauges.by_type[3], "text": gauges.by_type[4], "bin": gauges.by_type[5],
                    "not supported": gauges.unsupported,
                },
                "history": { "pused": percent(used, total), "pfree": 100.0 - percent(used, total) },
            },
            "vcache": { "cache": { "hits": gauges.cache.hits, "misses": gauges.cache.misses } },
        })
    }
}

fn buffer(used: usize, total: usize, mode: &str) -> Result<InternalValue, String> {
    let bytes = |n: usize| InternalValue::Unsigned(u64::try_from(n).unwrap_or(u64::MAX));
    Ok(match mode {
        "total" => bytes(total),
        "used" => bytes(used),
        "free" => bytes(total.saturating_sub(used)),
        "pused" => InternalValue::Float(percent(used, total)),
        "" | "pfree" => InternalValue::Float(100.0 - percent(used, total)),
        _ => return Err("Invalid third parameter.".to_owned()),
    })
}
