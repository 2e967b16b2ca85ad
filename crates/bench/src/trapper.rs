//! Values by the sender protocol, as fast as the server takes them or at a fixed rate.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;
use stdx::clock::SharedClock;
use stdx::sync::lock;

use crate::api::Api;
use crate::ledger::{Findings, Items, Ledger, Writer};
use crate::payload::{Order, Plan, Stream};
use crate::proc::{Meter, Usage};
use crate::register::{ItemSpec, Registered, Through, Wanted, register};
use crate::report::{Report, grouped};
use crate::send::{SendError, address, send};
use crate::stats::Histogram;
use crate::{Context, Login};

/// How long a server may take until it knows new items.
const READY_MAX: Duration = Duration::from_secs(180);
/// Pause after a connection that failed: a server that restarts is not to be drowned.
const RETRY: Duration = Duration::from_millis(5);
/// Items whose values are read back by `--verify`.
const SAMPLE_ITEMS: usize = 200;
/// How long history may lag behind acknowledgements before values count as missing.
const VERIFY_MAX: Duration = Duration::from_secs(120);

/// Options of `vedette bench trapper`.
#[derive(Debug, Clone)]
pub struct TrapperOptions {
    /// `HOST:PORT` of the trapper port.
    pub server: String,
    /// The API of the same server.
    pub login: Login,
    /// Number of hosts.
    pub hosts: usize,
    /// Items per host.
    pub items: usize,
    /// Order in which the items are sent.
    pub order: Order,
    /// Values per request.
    pub batch: usize,
    /// Senders at a time.
    pub connections: usize,
    /// How long.
    pub seconds: u64,
    /// Values per second over all connections; `None` = as many as the server takes.
    pub rate: Option<u64>,
    /// The server's processes, for CPU time and memory.
    pub pids: Vec<u32>,
    /// Read a sample of the items back from history.
    pub verify: bool,
    /// Leave the hosts on the server.
    pub keep: bool,
    /// Write every acknowledged value to this file.
    pub ledger: Option<PathBuf>,
    /// Counters are stored as change per second.
    pub change_per_second: bool,
    /// A trigger for each n-th item; 0 = none.
    pub trigger_every: usize,
}

/// Counts of all connections.
#[derive(Default)]
struct Totals {
    acknowledged: AtomicU64,
    failed: AtomicU64,
    requests: AtomicU64,
    unanswered: AtomicU64,
    stop: AtomicBool,
}

/// What all connections share.
struct Load<'a> {
    server: SocketAddr,
    clock: SharedClock,
    /// Between two requests of one connection; zero = none.
    pause: Duration,
    totals: Totals,
    writer: Option<Writer>,
    /// By position: read back later.
    sampled: Vec<bool>,
    first_error: std::sync::Mutex<Option<String>>,
    options: &'a TrapperOptions,
}

/// What one connection brings back.
#[derive(Default)]
struct Result {
    latency: Histogram,
    sample: Vec<(usize, u64, String)>,
}

impl Load<'_> {
    fn run(&self, mut stream: Stream) -> anyhow::Result<Result> {
        let mut result = Result::default();
        let mut scratch = Vec::new();
        let mut due = self.clock.monotonic();
        while !self.totals.stop.load(Ordering::Relaxed) {
            if !self.pause.is_zero() {
                let now = self.clock.monotonic();
                sleep(due.saturating_sub(now));
                // What a slow server made us miss is not made up for later.
                due = due.max(now.saturating_sub(self.pause)) + self.pause;
            }
            let request = stream.next(self.clock.unix());
            let start = self.clock.monotonic();
            let answer = send(self.server, request);
            let spent = self.clock.monotonic() - start;
            match answer {
                Ok(outcome) => {
                    self.count(outcome.processed as u64, outcome.failed as u64);
                    result.latency.add(spent);
                    // Which of the values failed is not told.
                    if outcome.failed == 0 {
                        self.keep(&stream, &mut result, &mut scratch)?;
                    }
                }
                Err(error) => self.broken(&error),
            }
        }
        Ok(result)
    }

    fn count(&self, processed: u64, failed: u64) {
        self.totals.requests.fetch_add(1, Ordering::Relaxed);
        self.totals.acknowledged.fetch_add(processed, Ordering::Relaxed);
        self.totals.failed.fetch_add(failed, Ordering::Relaxed);
    }

    fn keep(
        &self,
        stream: &Stream,
        result: &mut Result,
        scratch: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        if let Some(writer) = &self.writer {
            writer.add(stream.sent(), scratch).context("cannot write the ledger")?;
        }
        if !self.sampled.is_empty() {
            let sampled = stream.sent().filter(|sent| self.sampled[sent.item]);
            result.sample.extend(sampled.map(|sent| (sent.item, sent.tick, sent.value.to_owned())));
        }
        Ok(())
    }

    fn broken(&self, error: &SendError) {
        self.totals.unanswered.fetch_add(1, Ordering::Relaxed);
        let mut first = lock(&self.first_error);
        first.get_or_insert_with(|| error.to_string());
        drop(first);
        sleep(RETRY);
    }
}

/// Runs the measurement.
pub fn run(options: &TrapperOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let server = address(&options.server)?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let before = meter.usage();
    let made = register(&api, &wanted(options), context)?;
    let measured = measure(options, server, &meter, &api, &made, context);
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else if let Err(error) = made.remove(&api) {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    }
    let measured = measured?;
    Ok(report(options, &measured, before))
}

pub(crate) fn wanted(options: &TrapperOptions) -> Wanted {
    let items = (0..options.items)
        .map(|number| ItemSpec::trapper(number, options.change_per_second))
        .collect();
    Wanted {
        hosts: options.hosts,
        items,
        through: Through::Template,
        interfaces: Vec::new(),
        snmp: None,
        trigger_every: options.trigger_every,
    }
}

/// Everything that the report tells.
pub(crate) struct Measured {
    pub(crate) seconds: f64,
    pub(crate) acknowledged: u64,
    pub(crate) failed: u64,
    pub(crate) requests: u64,
    pub(crate) unanswered: u64,
    first_error: Option<String>,
    pub(crate) latency: Histogram,
    pub(crate) start: Option<Usage>,
    pub(crate) end: Option<Usage>,
    own_cpu_s: f64,
    verified: Option<Verified>,
}

impl Measured {
    /// Values acknowledged per second.
    pub(crate) fn rate(&self) -> f64 {
        self.acknowledged as f64 / self.seconds
    }

    /// What history held of the sample, where it was asked.
    pub(crate) fn report_verified(&self, report: &mut Report) {
        if let Some(verified) = &self.verified {
            verified.findings.report(report);
            report.number("lag_s", "history complete after, s", verified.lag_s);
        }
    }
}

struct Verified {
    findings: Findings,
    /// From the last answer until history held everything.
    lag_s: f64,
    usage: Option<Usage>,
}

pub(crate) fn measure(
    options: &TrapperOptions,
    server: SocketAddr,
    meter: &Meter,
    api: &Api,
    made: &Registered,
    context: &mut Context<'_>,
) -> anyhow::Result<Measured> {
    let plan = Plan { hosts: made.hosts.clone(), items: options.items, order: options.order };
    let items = if options.verify || options.ledger.is_some() {
        Some(items(api, made, &plan)?)
    } else {
        None
    };
    let mut streams = plan.streams(options.connections, options.batch);
    wait_ready(server, &mut streams, context)?;
    let load = load(options, server, &plan, items.as_ref(), streams.len(), context)?;
    let (start, own_start) = (meter.usage(), stdx::sys::cpu_time());
    let begin = context.clock.monotonic();
    let results = std::thread::scope(|scope| {
        let workers: Vec<_> =
            streams.into_iter().map(|stream| scope.spawn(|| load.run(stream))).collect();
        watch(&load, meter, context);
        load.totals.stop.store(true, Ordering::Relaxed);
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| bail!("BUG: a sender panicked")))
            .collect::<anyhow::Result<Vec<Result>>>()
    })?;
    let seconds = (context.clock.monotonic() - begin).as_secs_f64();
    let (end, own_cpu) = (meter.usage(), stdx::sys::cpu_time() - own_start);
    let mut latency = Histogram::default();
    results.iter().for_each(|result| latency.merge(&result.latency));
    let verified = match items.filter(|_| options.verify) {
        Some(items) => Some(verify(items, results, api, meter, context)?),
        None => None,
    };
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Ok(Measured {
        seconds,
        acknowledged: count(&load.totals.acknowledged),
        failed: count(&load.totals.failed),
        requests: count(&load.totals.requests),
        unanswered: count(&load.totals.unanswered),
        first_error: load.first_error.into_inner().unwrap_or_default(),
        latency,
        start,
        end,
        own_cpu_s: own_cpu.as_secs_f64(),
        verified,
    })
}

fn load<'a>(
    options: &'a TrapperOptions,
    server: SocketAddr,
    plan: &Plan,
    items: Option<&Items>,
    connections: usize,
    context: &Context<'_>,
) -> anyhow::Result<Load<'a>> {
    let every = plan.len().div_ceil(SAMPLE_ITEMS).max(1);
    // A prime step meets all kinds of items.
    let every = if every.is_multiple_of(5) || every.is_multiple_of(2) { every | 1 } else { every };
    let kept_as_sent = |item: usize| {
        !(options.change_per_second && plan.kind(item) == crate::shape::Kind::Counter)
    };
    let sampled = if options.verify {
        (0..plan.len()).map(|item| item.is_multiple_of(every) && kept_as_sent(item)).collect()
    } else {
        Vec::new()
    };
    let writer = match (&options.ledger, items) {
        (Some(path), Some(items)) => Some(Writer::create(path, items)?),
        _ => None,
    };
    let pause = options.rate.map_or(Duration::ZERO, |rate| {
        Duration::from_secs_f64((options.batch * connections) as f64 / rate.max(1) as f64)
    });
    Ok(Load {
        server,
        clock: context.clock.clone(),
        pause,
        totals: Totals::default(),
        writer,
        sampled,
        first_error: std::sync::Mutex::default(),
        options,
    })
}

/// All items with their ids, in the order of the plan.
fn items(api: &Api, made: &Registered, plan: &Plan) -> anyhow::Result<Items> {
    let keys: Vec<String> = (0..plan.items).map(Plan::key).collect();
    let ids = made.itemids(api, &keys)?;
    let items =
        ids.into_iter().enumerate().map(|(n, id)| (id, plan.kind(n).value_type())).collect();
    Ok(Items::new(made.hostids.clone(), items))
}

/// Sends each stream until the server takes all its values: it reads its configuration when it
/// likes.
fn wait_ready(
    server: SocketAddr,
    streams: &mut [Stream],
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    let start = context.clock.monotonic();
    for stream in streams.iter_mut() {
        loop {
            let refused = match send(server, stream.next(context.clock.unix())) {
                Ok(outcome) if outcome.failed == 0 => break,
                Ok(outcome) => format!(
                    "{} of {} values are refused: are server and API parts of one installation?",
                    outcome.failed,
                    stream.batch()
                ),
                Err(error) => error.to_string(),
            };
            if context.clock.monotonic() - start > READY_MAX {
                bail!("after {} s still: {refused}", READY_MAX.as_secs());
            }
            sleep(Duration::from_millis(50));
        }
    }
    let seconds = (context.clock.monotonic() - start).as_secs_f64();
    context.say(&format!("the server knows the items after {seconds:.1} s"));
    Ok(())
}

/// A line each second until the time is over.
fn watch(load: &Load<'_>, meter: &Meter, context: &mut Context<'_>) {
    let begin = context.clock.monotonic();
    let mut last = (begin, 0, meter.usage());
    for second in 1..=load.options.seconds {
        sleep((begin + Duration::from_secs(second)).saturating_sub(context.clock.monotonic()));
        let now = context.clock.monotonic();
        let acknowledged = load.totals.acknowledged.load(Ordering::Relaxed);
        let usage = meter.usage();
        let seconds = (now - last.0).as_secs_f64().max(1e-3);
        let rate = (acknowledged - last.1) as f64 / seconds;
        let mut line = format!(
            "{second:4} s {:>11} values/s   failed {}   unanswered requests {}",
            grouped(rate as u64),
            load.totals.failed.load(Ordering::Relaxed),
            load.totals.unanswered.load(Ordering::Relaxed)
        );
        if let (Some(before), Some(after)) = (last.2, usage) {
            let cores = (after.cpu_s - before.cpu_s) / seconds;
            line += &format!("   server {cores:.2} cores, {} MiB", after.rss_bytes >> 20);
        }
        context.say(&line);
        last = (now, acknowledged, usage);
    }
}

/// Reads the sample back until nothing is missing, or long enough.
fn verify(
    items: Items,
    results: Vec<Result>,
    api: &Api,
    meter: &Meter,
    context: &mut Context<'_>,
) -> anyhow::Result<Verified> {
    let mut ledger = Ledger::new(items);
    for (item, tick, value) in results.into_iter().flat_map(|result| result.sample) {
        ledger.add(item, tick, &value)?;
    }
    let start = context.clock.monotonic();
    loop {
        let asked = context.clock.monotonic();
        let findings = ledger.compare(api)?;
        if findings.missing == 0 || asked - start > VERIFY_MAX {
            context.say(&format!("history: {findings}"));
            let lag_s = (asked - start).as_secs_f64();
            return Ok(Verified { findings, lag_s, usage: meter.usage() });
        }
        sleep(Duration::from_millis(250));
    }
}

fn report(options: &TrapperOptions, measured: &Measured, before: Option<Usage>) -> Report {
    let settings = json!({
        "server": options.server, "hosts": options.hosts, "items": options.items,
        "random": options.order == Order::Random, "batch": options.batch, "connections": options.connections, "seconds": options.seconds,
        "rate": options.rate, "change_per_second": options.change_per_second,
        "trigger_every": options.trigger_every,
    });
    let mut report = Report::new("trapper", settings);
    let millions = measured.acknowledged as f64 / 1e6;
    report.number("values_per_s", "values/s acknowledged", measured.rate());
    report.count("acknowledged", "values acknowledged", measured.acknowledged);
    report.count("failed", "values refused", measured.failed);
    report.count("requests", "requests answered", measured.requests);
    report.count("unanswered", "requests unanswered", measured.unanswered);
    report.number("seconds", "seconds", measured.seconds);
    for (name, label, share) in [
        ("latency_p50_ms", "request p50, ms", 0.5),
        ("latency_p95_ms", "request p95, ms", 0.95),
        ("latency_p99_ms", "request p99, ms", 0.99),
        ("latency_max_ms", "request max, ms", 1.0),
    ] {
        report.number(name, label, measured.latency.percentile_ms(share));
    }
    if let (Some(start), Some(end)) = (measured.start, measured.end) {
        let cpu_s = end.cpu_s - start.cpu_s;
        report.number("server_cpu_s", "server CPU, s", cpu_s);
        report.number(
            "server_cpu_s_per_million",
            "server CPU s per million values",
            cpu_s / millions,
        );
        report.number("server_cores", "server cores busy", cpu_s / measured.seconds);
        if let Some(before) = before {
            report.megabytes("rss_before_mib", "memory before, MiB", before.rss_bytes);
        }
        report.megabytes("rss_start_mib", "memory with items, MiB", start.rss_bytes);
        report.megabytes("rss_end_mib", "memory after, MiB", end.rss_bytes);
    }
    report.number(
        "own_cpu_s_per_million",
        "generator CPU s per million",
        measured.own_cpu_s / millions,
    );
    measured.report_verified(&mut report);
    if let Some(verified) = &measured.verified {
        if let (Some(start), Some(usage)) = (measured.start, verified.usage) {
            let cpu_s = usage.cpu_s - start.cpu_s;
            report.number(
                "kept_cpu_s_per_million",
                "server CPU s per million until complete",
                cpu_s / millions,
            );
        }
        let kept_per_s = measured.acknowledged as f64 / (measured.seconds + verified.lag_s);
        report.number("kept_per_s", "values/s readable", kept_per_s);
    }
    if let Some(error) = &measured.first_error {
        report.note("first_error", "first unanswered request", error);
    }
    report
}
