//! Twice what the server can take: is the rate kept, memory bounded, and everything acknowledged
//! there afterwards?
//!
//! Three parts on the same items: as fast as the server takes values over the usual connections
//! (that is its sustainable rate), a given multiple of that rate offered over many more
//! connections, and what history holds in the end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::api::{Api, scalar_text};
use crate::plot::{Chart, svg};
use crate::proc::Meter;
use crate::register::{Registered, register};
use crate::report::{Report, Steps, grouped};
use crate::send::address;
use crate::trapper::{self, Measured, TrapperOptions};
use crate::{Context, Login};

/// Share of the queue in front of history that is in use.
const QUEUE_KEY: &str = "zabbix[wcache,history,pused]";

/// Options of `vedette bench overload`.
#[derive(Debug, Clone)]
pub struct OverloadOptions {
    /// The load; its rate and its verification are set here.
    pub load: TrapperOptions,
    /// How long the sustainable rate is measured.
    pub calm_seconds: u64,
    /// Offered rate as a multiple of the sustainable one.
    pub times: f64,
    /// Connections of the overload as a multiple of the usual ones.
    pub connections_times: usize,
}

/// The server at one moment.
#[derive(Debug, Clone, Copy)]
struct Look {
    at_s: f64,
    rss_bytes: Option<u64>,
    queue_percent: Option<f64>,
}

/// Runs the measurement.
pub fn run(options: &OverloadOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let server = address(&options.load.server)?;
    let meter = Meter::new(&options.load.pids)?;
    let api = Api::login(&options.load.login)?;
    let made = register(&api, &trapper::wanted(&options.load), context)?;
    let queue = queue_item(&api, &made)?;
    let calm = TrapperOptions {
        seconds: options.calm_seconds,
        rate: None,
        verify: false,
        ..options.load.clone()
    };
    let outcome = trapper::measure(&calm, server, &meter, &api, &made, context).and_then(|calm| {
        let sustainable = calm.rate();
        let offered = sustainable * options.times;
        let connections = options.load.connections * options.connections_times.max(1);
        context.say(&format!(
            "{} values/s are sustainable: offering {} over {connections} connections",
            grouped(sustainable as u64),
            grouped(offered as u64)
        ));
        let storm = TrapperOptions {
            rate: Some((offered as u64).max(1)),
            connections,
            verify: true,
            ..options.load.clone()
        };
        let watch = Watch { login: &options.load.login, item: &queue, pids: &options.load.pids };
        let (stormed, looks) = watch.during(context.clock.clone(), || {
            trapper::measure(&storm, server, &meter, &api, &made, context)
        });
        Ok((calm, stormed?, looks, offered))
    });
    if !options.load.keep
        && let Err(error) = made.remove(&api)
    {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    }
    let (calm, stormed, looks, offered) = outcome?;
    report(options, &calm, &stormed, &looks, offered)
}

fn queue_item(api: &Api, made: &Registered) -> anyhow::Result<String> {
    let hostid = made.hostids.first().context("--hosts 0 makes nothing to measure")?;
    let item = json!({
        "hostid": hostid, "name": QUEUE_KEY, "key_": QUEUE_KEY, "type": 5, "value_type": 0,
        "delay": "1s",
    });
    let ids = api.create("item.create", &item, "itemids")?;
    ids.into_iter().next().context("item.create gave no id")
}

/// Looks at the server each second while something goes on.
struct Watch<'a> {
    login: &'a Login,
    item: &'a str,
    pids: &'a [u32],
}

impl Watch<'_> {
    fn during<R>(
        &self,
        clock: stdx::clock::SharedClock,
        work: impl FnOnce() -> R,
    ) -> (R, Vec<Look>) {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| self.look(&clock, &stop));
            let done = work();
            stop.store(true, Ordering::Relaxed);
            // A server that does not tell leaves its rows out.
            (done, looking.join().unwrap_or_default())
        })
    }

    fn look(&self, clock: &stdx::clock::SharedClock, stop: &AtomicBool) -> Vec<Look> {
        let (Ok(api), Ok(meter)) = (Api::login(self.login), Meter::new(self.pids)) else {
            return Vec::new();
        };
        let begin = clock.monotonic();
        let mut looks = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            sleep(Duration::from_secs(1));
            looks.push(Look {
                at_s: (clock.monotonic() - begin).as_secs_f64(),
                rss_bytes: meter.usage().map(|usage| usage.rss_bytes),
                queue_percent: self.queue_percent(&api),
            });
        }
        looks
    }

    fn queue_percent(&self, api: &Api) -> Option<f64> {
        let params = json!({ "output": ["lastvalue", "lastclock"], "itemids": [self.item] });
        let found = api.call("item.get", &params).ok()?;
        let told = scalar_text(&found[0]["lastclock"])? != "0";
        scalar_text(&found[0]["lastvalue"])?.parse().ok().filter(|_| told)
    }
}

/// Columns of [`Look`].
const COLUMNS: &[(&str, &str)] =
    &[("at_s", "second"), ("rss_mib", "memory, MiB"), ("queue_percent", "queue, %")];

fn report(
    options: &OverloadOptions,
    calm: &Measured,
    stormed: &Measured,
    looks: &[Look],
    offered: f64,
) -> anyhow::Result<Report> {
    let load = &options.load;
    let settings = json!({
        "server": load.server, "hosts": load.hosts, "items": load.items, "batch": load.batch,
        "connections": load.connections, "times": options.times, "seconds": load.seconds,
        "connections_times": options.connections_times,
    });
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let mut report = Report::new("overload", settings);
    report.number("sustainable_per_s", "sustainable, values/s", calm.rate());
    report.number("offered_per_s", "offered, values/s", offered);
    report.number("values_per_s", "acknowledged under overload, values/s", stormed.rate());
    report.number("kept_share", "  of the sustainable rate", stormed.rate() / calm.rate());
    for (name, label, measured, share) in [
        ("calm_p50_ms", "request p50 at the sustainable rate, ms", calm, 0.5),
        ("calm_p99_ms", "request p99 at the sustainable rate, ms", calm, 0.99),
        ("storm_p50_ms", "request p50 under overload, ms", stormed, 0.5),
        ("storm_p99_ms", "request p99 under overload, ms", stormed, 0.99),
    ] {
        report.number(name, label, measured.latency.percentile_ms(share));
    }
    report.count("unanswered", "requests unanswered", stormed.unanswered);
    report.count("failed", "values refused", stormed.failed);
    if let Some(start) = stormed.start {
        report.megabytes("rss_start_mib", "memory before, MiB", start.rss_bytes);
    }
    let rss_max = looks.iter().filter_map(|look| look.rss_bytes).max();
    if let Some(bytes) = rss_max {
        report.megabytes("rss_max_mib", "memory at most, MiB", bytes);
    }
    let queue_max = looks.iter().filter_map(|look| look.queue_percent).reduce(f64::max);
    if let Some(percent) = queue_max {
        report.number("queue_max_percent", "queue in front of history at most, %", percent);
    }
    stormed.report_verified(&mut report);
    let rows = looks
        .iter()
        .map(|look| vec![Some(look.at_s), look.rss_bytes.map(mib), look.queue_percent])
        .collect();
    let line = |of: &dyn Fn(&Look) -> Option<f64>| -> Vec<(f64, f64)> {
        looks.iter().filter_map(|look| Some((look.at_s, of(look)?))).collect()
    };
    let chart = |title, y, lines| Chart::of(title, "s", y, lines);
    let plot = svg(&[
        chart("Queue in front of history", "%", vec![("in use", line(&|l| l.queue_percent))]),
        chart("Memory", "MiB", vec![("resident", line(&|l| l.rss_bytes.map(mib)))]),
    ])?;
    report.steps(Steps { columns: COLUMNS, rows }, plot);
    Ok(report)
}
