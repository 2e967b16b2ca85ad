//! Figures by the parameters of an item's key.

use std::time::Duration;

use config::engines::CataloguePool;
use proxying::engine_link::analytics::{Counter, Counts, State as Seen, Usage};
use proxying::engine_link::histogram::Histogram;

use super::windows::{Engine, Key, Object, seconds};
use super::{Figure, Now, Owned, State, Subject};

const NO_POOL: &str = "There is no such pool.";

type Value = Result<Figure, String>;

/// A figure of an object, as two parameters name it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Asked<'k> {
    name: &'k str,
    which: &'k str,
}

/// Figures of an object, summed over engines.
#[derive(Default)]
pub(super) struct Sum {
    /// Reports of engines.
    reports: usize,
    /// Those after another one of the same object.
    windows: usize,
    open: u64,
    counts: Counts,
    /// Rates per second.
    rates: Vec<(Counter, f64)>,
    pub(super) states: Vec<Seen>,
}

#[expect(clippy::cast_precision_loss, reason = "for rates and shares")]
const fn float(number: u64) -> f64 {
    number as f64
}

impl Sum {
    fn add(&mut self, object: &Object) {
        self.reports += 1;
        self.open = self.open.saturating_add(object.open);
        self.states.push(object.state);
        let Some(window) = &object.window else { return };
        self.windows += 1;
        self.counts.add(&window.counts);
        for counter in Counter::ALL {
            self.rates.push((*counter, float(window.counts.counters[*counter]) / window.length_s));
        }
    }

    fn rate(&self, counter: Counter) -> f64 {
        self.rates.iter().filter(|(own, _)| *own == counter).map(|(_, rate)| rate).sum()
    }

    fn of(&self, counter: Counter) -> f64 {
        float(self.counts.counters[counter])
    }

    /// Percent of the requests that failed at the engine or a server.
    fn errors_percent(&self) -> f64 {
        let failed = self.of(Counter::ServerErrors) + self.of(Counter::EngineErrors);
        100.0 * failed / self.of(Counter::Requests).max(1.0)
    }

    /// The figures that all objects have; `None`: no such figure.
    fn value(&self, figure: Asked<'_>) -> Option<Value> {
        let Asked { name, which } = figure;
        if name == "connections" && which.is_empty() {
            return Some(Ok(Figure::Unsigned(self.open)));
        }
        let counter = match (name, which) {
            ("requests", "") => Counter::Requests,
            ("responses", "2xx") => Counter::Status2xx,
            ("responses", "3xx") => Counter::Status3xx,
            ("responses", "4xx") => Counter::Status4xx,
            ("responses", "5xx") => Counter::Status5xx,
            ("errors", "client") => Counter::ClientErrors,
            ("errors", "engine") => Counter::EngineErrors,
            ("errors", "server") => Counter::ServerErrors,
            ("bytes", "in") => Counter::BytesIn,
            ("bytes", "out") => Counter::BytesOut,
            ("retries", "") => Counter::Retries,
            ("rejected", "") => Counter::Rejected,
            ("accepted", "") => Counter::Connections,
            ("handshakes", "") => Counter::Handshakes,
            ("failures", "") => Counter::Failures,
            ("uncompressed", "") => Counter::Uncompressed,
            ("mirrored", "") => Counter::Mirrored,
            ("unmirrored", "") => Counter::Unmirrored,
            ("cache", "hits") => Counter::CacheHits,
            ("cache", "misses") => Counter::CacheMisses,
            ("cache", "bytes") => Counter::CacheBytes,
            ("cache", "stale") => Counter::CacheStale,
            ("cache", "collapsed") => Counter::CacheCollapsed,
            ("cache", "purged") => Counter::CachePurged,
            ("script_failures", "") => Counter::ScriptFailures,
            _ => return self.estimate(name, which),
        };
        Some(Ok(self.known(|| Some(self.rate(counter)))))
    }

    /// Figures that are no rates.
    fn estimate(&self, name: &str, which: &str) -> Option<Value> {
        let figure = match (name, which) {
            ("errors", "percent") => self.known(|| Some(self.errors_percent())),
            ("total", which) => self.time(&self.counts.total, which)?,
            ("response", "mean") => self.known(|| {
                let answered = self.counts.counters[Counter::Answered];
                (answered > 0).then(|| self.of(Counter::AnsweredUs) / float(answered) / 1e6)
            }),
            ("response", which) => self.time(&self.counts.response, which)?,
            ("apdex", which) => match which.parse::<f64>() {
                Ok(threshold_s) if threshold_s > 0.0 => self.known(|| self.apdex(threshold_s)),
                _ => return Some(Err(format!("'{which}' is not a time in seconds, such as 0.5"))),
            },
            _ => return None,
        };
        Some(Ok(figure))
    }

    /// A figure of the last window; nothing until there is one.
    fn known(&self, figure: impl FnOnce() -> Option<f64>) -> Figure {
        let figure = if self.windows == 0 { None } else { figure() };
        figure.map_or(Figure::Nothing, Figure::Float)
    }

    /// A percentile such as `p95`, in seconds; `None`: it is none.
    fn time(&self, histogram: &Histogram, which: &str) -> Option<Figure> {
        let percent: f64 = which.strip_prefix('p')?.parse().ok()?;
        if !(0.0..=100.0).contains(&percent) {
            return None;
        }
        Some(self.known(|| Some(histogram.quantile_us(percent / 100.0)? / 1e6)))
    }

    /// Apdex: requests within the threshold count fully, those within four times of it half, those that
    /// failed not at all.
    fn apdex(&self, threshold_s: f64) -> Option<f64> {
        let total = &self.counts.total;
        let all = float(total.count());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let up_to = |time_s: f64| float(total.up_to((time_s * 1e6) as u64));
        let (satisfied, tolerated) = (up_to(threshold_s), up_to(threshold_s * 4.0));
        let score = f64::midpoint(satisfied, tolerated) / all;
        (all > 0.0).then(|| score * (1.0 - self.errors_percent() / 100.0))
    }
}

/// The state of a server that is down on some engines.
pub(super) const ON_SOME: u64 = 5;

/// Numbers of the value map "State of a server of the load balancer".
pub(super) fn state(seen: &[Seen]) -> Option<u64> {
    let first = seen.first()?;
    if seen.iter().all(|other| other == first) {
        return Some(*first as u64);
    }
    let any = |wanted: Seen| seen.contains(&wanted);
    Some(match () {
        () if any(Seen::Down) => ON_SOME,
        () if any(Seen::Up) => Seen::Up as u64,
        () => *first as u64,
    })
}

/// Objects of low-level discovery: one macro each.
fn discovered<'n>(name: &str, values: impl Iterator<Item = &'n str>) -> Figure {
    let rows = values.map(|value| serde_json::json!({ name: value }));
    Figure::Text(serde_json::Value::Array(rows.collect()).to_string())
}

fn servers_of(pool: &CataloguePool) -> Vec<Key> {
    let name: Box<str> = pool.name.as_str().into();
    pool.servers.iter().map(|server| Key::Server(name.clone(), server.as_str().into())).collect()
}

fn unknown_key() -> String {
    "No such figure of this object; docs/load-balancer.md lists them.".to_owned()
}

impl State {
    pub(super) fn value(
        &self,
        subject: Subject,
        parameters: &[String],
        now: Now,
        starting: bool,
    ) -> Value {
        let parameter = |n: usize| parameters.get(n).map_or("", String::as_str);
        let asked = |n: usize| Asked { name: parameter(n), which: parameter(n + 1) };
        let figure = asked(0);
        match subject {
            Subject::Service(id) => self.service(id, figure, now),
            Subject::Pool(id) if figure.name == "server" => {
                self.server(id, figure.which, asked(2), now)
            }
            Subject::Pool(id) => self.pool(id, figure, now),
            Subject::Engine(id) => self.engine(id, figure, now, starting),
        }
    }

    fn service(&self, id: u64, figure: Asked<'_>, now: Now) -> Value {
        let service = self.catalogue.services.get(&id).ok_or("There is no such service.")?;
        let mut certificates = service.certificates.iter();
        match (figure.name, figure.which) {
            ("discovery", "certificates") => {
                let names = certificates.map(|(name, _)| name.as_str());
                Ok(discovered("{#CERTIFICATE}", names))
            }
            ("certificate", name) => {
                let found = certificates.find(|(own, _)| own == name);
                let (_, until) = found.ok_or("The service has no such certificate.")?;
                Ok(Figure::Float((float(*until) - float(now.unix_s)) / 86_400.0))
            }
            ("servers", which) => self.servers(&service.pools, which, now.monotonic),
            _ => self.common(&[Key::Service(service.name.as_str().into())], figure, now),
        }
    }

    fn pool(&self, id: u64, figure: Asked<'_>, now: Now) -> Value {
        let pool = self.catalogue.pools.get(&id).ok_or(NO_POOL)?;
        match (figure.name, figure.which) {
            ("discovery", "servers") => {
                Ok(discovered("{#SERVER}", pool.servers.iter().map(String::as_str)))
            }
            ("servers", which) => self.servers(&[id], which, now.monotonic),
            _ => self.common(&servers_of(pool), figure, now),
        }
    }

    fn server(&self, pool: u64, name: &str, figure: Asked<'_>, now: Now) -> Value {
        let pool = self.catalogue.pools.get(&pool).ok_or(NO_POOL)?;
        let key = Key::Server(pool.name.as_str().into(), name.into());
        if figure == (Asked { name: "reason", which: "" }) {
            return self.reason(&key, now.monotonic);
        }
        if figure != (Asked { name: "state", which: "" }) {
            return self.common(&[key], figure, now);
        }
        let sum = self.sum([&key], now.monotonic)?;
        Ok(state(&sum.states).map_or(Figure::Nothing, Figure::Unsigned))
    }

    /// Of all engines whose report is fresh.
    pub(super) fn sum<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k Key>,
        now: Duration,
    ) -> Result<Sum, String> {
        let mut sum = Sum::default();
        for key in keys {
            self.engines
                .values()
                .filter_map(|engine| engine.fresh(key, now))
                .for_each(|one| sum.add(one));
        }
        match sum.reports {
            0 => Err("No engine has reported it lately: the service is disabled or unused, or no engine \
                      is connected."
                .to_owned()),
            _ => Ok(sum),
        }
    }

    fn common(&self, keys: &[Key], figure: Asked<'_>, now: Now) -> Value {
        self.sum(keys, now.monotonic)?.value(figure).unwrap_or_else(|| Err(unknown_key()))
    }

    /// Servers of pools that get requests, as the engine sees it that has the fewest.
    fn servers(&self, pools: &[u64], which: &str, now: Duration) -> Value {
        let pools = pools.iter().map(|pool| self.catalogue.pools.get(pool));
        let pools = pools.collect::<Option<Vec<_>>>().filter(|pools| !pools.is_empty());
        let keys: Vec<Key> = pools.ok_or(NO_POOL)?.into_iter().flat_map(servers_of).collect();
        if which == "all" {
            return Ok(Figure::Unsigned(keys.len() as u64));
        }
        if which != "up" {
            return Err(unknown_key());
        }
        self.sum(&keys, now)?;
        let up = self.engines.values().filter_map(|engine| {
            let seen: Vec<Seen> =
                keys.iter().filter_map(|key| Some(engine.fresh(key, now)?.state)).collect();
            let up = seen.iter().filter(|state| state.is_usable()).count() as u64;
            (!seen.is_empty()).then_some(up)
        });
        Ok(up.min().map_or(Figure::Nothing, Figure::Unsigned))
    }

    fn engine(&self, id: u64, figure: Asked<'_>, now: Now, starting: bool) -> Value {
        let name = figure.name;
        let known = self.catalogue.engines.get(&id).ok_or("There is no such engine.")?;
        if !known.enrolled {
            return Err("The engine has not enrolled.".to_owned());
        }
        let engine = self.engines.get(&id);
        let connected = engine.is_some_and(|engine| engine.connected);
        if name == "connected" {
            return Ok(match (connected, starting) {
                (false, true) => Figure::Nothing,
                (connected, _) => Figure::Unsigned(connected.into()),
            });
        }
        let Some(engine) = engine.filter(|_| connected) else {
            return if starting {
                Ok(Figure::Nothing)
            } else {
                Err("The engine is not connected.".to_owned())
            };
        };
        if name == "configured" {
            return Ok(engine
                .configured
                .map_or(Figure::Nothing, |yes| Figure::Unsigned(yes.into())));
        }
        let owned = self.placements.owned.get(&id);
        let placed = |figure: fn(&Owned) -> usize| {
            Ok(owned.map_or(Figure::Nothing, |one| Figure::Unsigned(figure(one) as u64)))
        };
        match (name, figure.which) {
            ("vips", "") => return placed(|owned| owned.vips),
            ("vips", "unserved") => return placed(|owned| owned.without),
            ("vips", "moved") => return placed(|owned| owned.moves),
            _ => {}
        }
        let Some(usage) = &engine.newest else { return Ok(Figure::Nothing) };
        if let Some(figure) = used(engine, usage, figure) {
            return Ok(figure);
        }
        let mut sum = Sum::default();
        let services = engine.objects.iter().filter(|(key, _)| matches!(key, Key::Service(_)));
        for (_, service) in services.filter(|(_, service)| service.is_fresh(now.monotonic)) {
            sum.add(service);
        }
        // Without services there are no requests, which is known.
        let idle = sum.reports == 0 && matches!(name, "requests" | "connections");
        if idle {
            return Ok(if name == "connections" {
                Figure::Unsigned(0)
            } else {
                Figure::Float(0.0)
            });
        }
        sum.value(figure).unwrap_or_else(|| Err(unknown_key()))
    }
}

/// What the engine's process uses; `None`: no such figure.
fn used(engine: &Engine, usage: &Usage, figure: Asked<'_>) -> Option<Figure> {
    let rate = |of: fn(&Usage) -> u64| {
        let before = engine.before.as_ref()?;
        let zero = Usage::default();
        // A process that has started meanwhile began at zero.
        let before = if before.epoch == usage.epoch { before } else { &zero };
        let length_s = seconds(before.at_us, usage.at_us);
        (length_s > 0.0).then(|| float(of(usage).saturating_sub(of(before))) / length_s)
    };
    let rate = |of| rate(of).map_or(Figure::Nothing, Figure::Float);
    Some(match (figure.name, figure.which) {
        ("cpu", "") => match rate(|usage| usage.cpu_us) {
            // Microseconds per second as percent of one core.
            Figure::Float(rate) => Figure::Float(rate / 1e4),
            other => other,
        },
        ("memory", "") => Figure::Unsigned(usage.memory_bytes),
        ("uptime", "") => Figure::Unsigned(usage.at_us / 1_000_000),
        ("records", "written") => rate(|usage| usage.records),
        ("records", "dropped") => rate(|usage| usage.dropped),
        ("records", "waiting") => Figure::Unsigned(usage.unsent_bytes),
        _ => return None,
    })
}
