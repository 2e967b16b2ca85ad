//! A large configuration: time to make it, memory per item, and the time until a change is live.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::api::Api;
use crate::payload::{Order, Plan, Stream};
use crate::proc::{Meter, Usage};
use crate::register::{ItemSpec, Registered, Through, Wanted, register};
use crate::report::Report;
use crate::send::{address, send};
use crate::stats::Histogram;
use crate::{Context, Login};

/// How long a change may take.
const LIVE_MAX: Duration = Duration::from_secs(180);
/// Between two looks whether a change is live: what the measurement is exact to, or a twentieth
/// of the time so far. Looking without pause would be a load of its own.
const LOOK: Duration = Duration::from_millis(1);
const LOOK_PART: u32 = 20;

/// Options of `vedette bench config`.
#[derive(Debug, Clone)]
pub struct ConfigOptions {
    /// `HOST:PORT` of the trapper port.
    pub server: String,
    /// The API of the same server.
    pub login: Login,
    /// Number of hosts.
    pub hosts: usize,
    /// Items of all hosts together.
    pub items: usize,
    /// How the items are made.
    pub through: Through,
    /// Changes that are timed.
    pub changes: usize,
    /// Rest after loading, before memory is read.
    pub settle: Duration,
    /// The server's processes, for CPU time and memory.
    pub pids: Vec<u32>,
    /// Leave the hosts on the server.
    pub keep: bool,
}

/// Runs the measurement.
pub fn run(options: &ConfigOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let server = address(&options.server)?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let per_host = options.items.div_ceil(options.hosts.max(1)).max(1);
    let wanted = Wanted {
        hosts: options.hosts,
        items: (0..per_host).map(|number| ItemSpec::trapper(number, false)).collect(),
        through: options.through,
        interfaces: Vec::new(),
        snmp: None,
        trigger_every: 0,
    };
    let before = Memory::read(&meter);
    let begin = context.clock.monotonic();
    let made = register(&api, &wanted, context)?;
    let load_s = (context.clock.monotonic() - begin).as_secs_f64();
    let measured = measure(options, server, &meter, &api, &made, context);
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else {
        context.say("removing the hosts");
        if let Err(error) = made.remove(&api) {
            context.say(&format!("cannot remove the hosts: {error:#}"));
        }
    }
    Ok(report(options, per_host, load_s, &before, &measured?))
}

/// Memory at one moment.
#[derive(Clone, Copy)]
struct Memory {
    usage: Option<Usage>,
    pss_bytes: Option<u64>,
}

impl Memory {
    fn read(meter: &Meter) -> Self {
        Self { usage: meter.usage(), pss_bytes: meter.pss_bytes() }
    }
}

struct Measured {
    /// From the last answer until the last item takes values.
    live_s: f64,
    memory: Memory,
    enabled: Histogram,
    disabled: Histogram,
    change_cpu_s: Option<f64>,
}

fn measure(
    options: &ConfigOptions,
    server: SocketAddr,
    meter: &Meter,
    api: &Api,
    made: &Registered,
    context: &mut Context<'_>,
) -> anyhow::Result<Measured> {
    // The last host's first item is the probe: made last, so all others are there too.
    let last = made.hosts.last().context("--hosts 0 makes nothing to measure")?.clone();
    let mut probe = Plan { hosts: vec![last], items: 1, order: Order::InTurn }
        .streams(1, 1)
        .pop()
        .context("BUG: no stream")?;
    let live_s = wait(&mut probe, server, true, context)?.as_secs_f64();
    context.say(&format!("all items are live {live_s:.3} s after the last answer"));
    sleep(options.settle);
    let memory = Memory::read(meter);
    let only_last =
        Registered { hostids: made.hostids.last().into_iter().cloned().collect(), ..made.clone() };
    let itemid = only_last.itemids(api, &[Plan::key(0)])?[0].to_string();
    let cpu = meter.usage();
    let (mut enabled, mut disabled) = (Histogram::default(), Histogram::default());
    for _ in 0..options.changes {
        for (status, histogram) in [(1, &mut disabled), (0, &mut enabled)] {
            api.call("item.update", &json!({ "itemid": itemid, "status": status }))?;
            histogram.add(wait(&mut probe, server, status == 0, context)?);
        }
    }
    let change_cpu_s = cpu
        .zip(meter.usage())
        .map(|(start, end)| (end.cpu_s - start.cpu_s) / (2 * options.changes).max(1) as f64);
    Ok(Measured { live_s, memory, enabled, disabled, change_cpu_s })
}

/// Sends the probe until it is taken, or refused.
fn wait(
    probe: &mut Stream,
    server: SocketAddr,
    taken: bool,
    context: &Context<'_>,
) -> anyhow::Result<Duration> {
    let begin = context.clock.monotonic();
    loop {
        let now = context.clock.unix();
        let outcome = send(server, probe.next(now))?;
        let spent = context.clock.monotonic() - begin;
        if (outcome.processed == 1) == taken {
            return Ok(spent);
        }
        if spent > LIVE_MAX {
            bail!("a change is not live after {} s", LIVE_MAX.as_secs());
        }
        sleep(LOOK.max(spent / LOOK_PART));
    }
}

fn report(
    options: &ConfigOptions,
    per_host: usize,
    load_s: f64,
    before: &Memory,
    measured: &Measured,
) -> Report {
    let items = options.hosts * per_host;
    let settings = json!({
        "hosts": options.hosts, "items": items, "changes": options.changes,
        "through": format!("{:?}", options.through).to_lowercase(),
    });
    let mut report = Report::new("config", settings);
    report.count("items", "items made", items as u64);
    report.number("load_s", "made after, s", load_s);
    report.number("items_per_s", "items made per second", items as f64 / load_s);
    report.number("all_live_s", "live after the last answer, s", measured.live_s);
    if let (Some(first), Some(last)) = (before.usage, measured.memory.usage) {
        report.number("load_cpu_s", "server CPU to make them, s", last.cpu_s - first.cpu_s);
        report.megabytes("rss_before_mib", "memory before, MiB", first.rss_bytes);
        report.megabytes("rss_after_mib", "memory after, MiB", last.rss_bytes);
        let grown = last.rss_bytes as f64 - first.rss_bytes as f64;
        report.number("rss_bytes_per_item", "memory per item, bytes", grown / items as f64);
    }
    if let (Some(first), Some(last)) = (before.pss_bytes, measured.memory.pss_bytes) {
        let grown = last as f64 - first as f64;
        report.number("pss_bytes_per_item", "  shared memory once, bytes", grown / items as f64);
    }
    for (name, label, histogram, share) in [
        ("enable_p50_ms", "item enabled: live after p50, ms", &measured.enabled, 0.5),
        ("enable_max_ms", "item enabled: live after max, ms", &measured.enabled, 1.0),
        ("disable_p50_ms", "item disabled: live after p50, ms", &measured.disabled, 0.5),
        ("disable_max_ms", "item disabled: live after max, ms", &measured.disabled, 1.0),
    ] {
        report.number(name, label, histogram.percentile_ms(share));
    }
    if let Some(cpu_s) = measured.change_cpu_s {
        report.number("change_cpu_s", "server CPU per change, s", cpu_s);
    }
    report
}
