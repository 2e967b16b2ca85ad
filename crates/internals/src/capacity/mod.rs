//! How far each part of the server and of its machine is from its limit, and which is reached
//! first: what `capacity.get` answers.

mod disk;
mod measured;
mod memory;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::measured::Measured;
use serde_json::{Value as Json, json};
use stdx::machine;

use crate::meter::{Meter, Minute};

pub(crate) use disk::{Disk, Readings as DiskReadings};
pub(crate) use memory::OwnMemory;

/// Below this share of its time a shard's load tells nothing of its limit: fixed costs prevail.
const ESTIMATE_FROM: f64 = 0.05;
/// The same for the rate of values.
const ESTIMATE_FROM_PER_S: f64 = 100.0;

/// How a limit is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The machine has no more.
    Machine,
    /// Built in, or configured.
    Configured,
    /// `vedette bench capacity` found it.
    Measured,
    /// The present rate, at the share of time that it takes.
    Estimated,
}

impl Source {
    const fn text(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Configured => "configured",
            Self::Measured => "measured",
            Self::Estimated => "estimated",
        }
    }
}

/// One thing that can run out.
#[derive(Debug, Clone, PartialEq)]
struct Resource {
    name: &'static str,
    units: &'static str,
    used: f64,
    limit: Option<(f64, Source)>,
    /// By how much it fills per second though the load stays the same; `None` = it does not, or
    /// that is not known yet.
    growth: Option<f64>,
    /// Running out makes senders wait or costs speed, and breaks nothing.
    soft: bool,
}

impl Resource {
    fn new(name: &'static str, units: &'static str, used: f64) -> Self {
        Self { name, units, used, limit: None, growth: None, soft: false }
    }

    fn of(self, limit: f64, source: Source) -> Self {
        Self { limit: Some((limit, source)), ..self }
    }

    /// Used part of the limit, 0 to 1 and above.
    fn share(&self) -> Option<f64> {
        self.limit.filter(|(limit, _)| *limit > 0.0).map(|(limit, _)| self.used / limit)
    }

    fn json(&self) -> Json {
        json!({
            "name": self.name,
            "units": self.units,
            "used": self.used,
            "limit": self.limit.map(|(limit, _)| limit),
            "source": self.limit.map(|(_, source)| source.text()),
            "growth": self.growth,
            "soft": self.soft,
        })
    }
}

/// Where it is read from.
#[derive(Debug)]
pub struct Capacity {
    /// The folder of the data, with what `vedette bench capacity` has measured.
    pub data: PathBuf,
    /// The newest readings.
    pub meter: Arc<Meter>,
}

impl Capacity {
    /// The result of `capacity.get`. Reads some small files.
    pub fn report(&self) -> Json {
        let measured = measured::load(&self.data).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read the measured limits");
            None
        });
        let resources = self.resources(measured.as_ref());
        json!({
            "cores": machine::cores(),
            "measured": measured,
            "resources": resources.iter().map(Resource::json).collect::<Vec<_>>(),
            "first": first(&resources),
        })
    }

    fn resources(&self, measured: Option<&Measured>) -> Vec<Resource> {
        let mut all = Vec::new();
        if let Some(minute) = self.meter.minute() {
            all.extend(rates(&minute, measured));
            all.extend(processor(&minute));
        }
        all.extend(memory());
        all.extend(self.meter.disk().map(|disk| disk_space(&disk)));
        all.extend(machine::open_files().map(|(open, most)| {
            Resource::new("files", "", float(open)).of(float(most), Source::Machine)
        }));
        all.extend(self.queues());
        all
    }

    /// What is bounded so that it makes others wait instead of growing.
    fn queues(&self) -> Vec<Resource> {
        let (waiting, most) = self.meter.value_queue();
        let cache = self.meter.shards().cache;
        let mut all = vec![
            soft("value_queue", "", waiting, most),
            soft("value_cache", "B", cache.bytes, cache.bytes_max),
        ];
        if let Some(collector) = self.meter.collector() {
            let counters = collector.counters();
            let open = counters.connections.load(Ordering::Relaxed);
            let most = counters.connections_max.load(Ordering::Relaxed);
            all.push(soft("connections", "", open, most));
        }
        all
    }
}

fn soft(name: &'static str, units: &'static str, used: usize, limit: usize) -> Resource {
    let float = |n: usize| float(u64::try_from(n).unwrap_or(u64::MAX));
    let resource = Resource::new(name, units, float(used)).of(float(limit), Source::Configured);
    Resource { soft: true, ..resource }
}

#[expect(clippy::cast_precision_loss, reason = "shown to people")]
fn float(n: u64) -> f64 {
    n as f64
}

/// Values and checks per second against what was measured, or what the present load tells.
fn rates(minute: &Minute, measured: Option<&Measured>) -> [Resource; 2] {
    let values = Resource::new("values", "/s", minute.values_per_s);
    let tells = minute.shard_busy >= ESTIMATE_FROM && minute.values_per_s >= ESTIMATE_FROM_PER_S;
    let values = match measured {
        Some(measured) => values.of(measured.values_per_s, Source::Measured),
        None if tells => values.of(minute.values_per_s / minute.shard_busy, Source::Estimated),
        None => values,
    };
    let checks = Resource::new("checks", "/s", minute.checks_per_s);
    let checks = match measured {
        Some(measured) => checks.of(measured.checks_per_s, Source::Measured),
        None => checks,
    };
    [values, checks]
}

fn processor(minute: &Minute) -> Vec<Resource> {
    let percent =
        |name, share: f64| Resource::new(name, "%", share * 100.0).of(100.0, Source::Machine);
    let mut all = vec![percent("shards", minute.shard_busy), percent("pollers", minute.pollers)];
    all.extend(minute.cpu_busy.map(|busy| percent("cpu", busy)));
    all
}

fn memory() -> Option<Resource> {
    let own = OwnMemory::read()?;
    let source = if own.is_limited { Source::Configured } else { Source::Machine };
    Some(Resource::new("memory", "B", float(own.used)).of(float(own.most), source))
}

fn disk_space(disk: &Disk) -> Resource {
    let resource = Resource::new("disk", "B", float(disk.used));
    Resource { growth: disk.growth, ..resource.of(float(disk.total), Source::Machine) }
}

/// What runs out first as the load grows. Soft limits slow others down and are no end.
fn first(resources: &[Resource]) -> Option<&'static str> {
    let shares = resources.iter().filter(|resource| !resource.soft && resource.name != "disk");
    shares
        .filter_map(|resource| Some((resource.name, resource.share()?)))
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Minute = Minute {
        values_per_s: 1000.0,
        checks_per_s: 50.0,
        shard_busy: 0.1,
        pollers: 0.02,
        cpu_busy: Some(0.4),
    };

    fn limit(resource: &Resource) -> Option<(f64, &'static str)> {
        resource.limit.map(|(limit, source)| (limit, source.text()))
    }

    #[test]
    fn limits_are_measured_or_estimated_or_unknown() {
        let measured = Measured { values_per_s: 5e5, checks_per_s: 2e4, ..Measured::default() };
        let [values, checks] = rates(&MINUTE, Some(&measured));
        assert_eq!(limit(&values), Some((5e5, "measured")));
        assert_eq!(limit(&checks), Some((2e4, "measured")));
        let [values, checks] = rates(&MINUTE, None);
        assert_eq!(limit(&values), Some((10_000.0, "estimated")));
        assert_eq!(limit(&checks), None);
        for idle in [
            Minute { shard_busy: 0.01, ..MINUTE },
            Minute { values_per_s: 99.0, shard_busy: 0.5, ..MINUTE },
        ] {
            assert_eq!(rates(&idle, None)[0].limit, None, "{idle:?}");
        }
    }

    #[test]
    fn the_largest_share_is_first_unless_it_is_soft() {
        let part = |name, used| Resource::new(name, "", used).of(100.0, Source::Machine);
        let mut all = vec![part("a", 10.0), part("b", 30.0), part("disk", 99.0)];
        all.push(Resource { soft: true, ..part("queue", 90.0) });
        all.push(Resource::new("unknown", "", 1e9));
        assert_eq!(first(&all), Some("b"));
        assert_eq!(first(&all[4..]), None);
    }
}
