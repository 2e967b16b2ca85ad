//! The history service: what it takes and gives, over gRPC and over HTTP with JSON.

mod speak;
mod values;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use anyhow::bail;
use serde_json::json;
use stdx::clock::SharedClock;
use wire::history_service::{ItemName, NewestRequest, RangeRequest};

use self::speak::{OverGrpc, OverHttp, Peer, Read};
use self::values::Batches;
use crate::api::Api;
use crate::payload::Plan;
use crate::proc::Meter;
use crate::register::{ItemSpec, Through, Wanted, register};
use crate::report::{Report, grouped};
use crate::stats::Histogram;
use crate::{Context, Login};

/// How long the server may take until it knows new items.
const READY_MAX: Duration = Duration::from_secs(60);
/// Items whose newest values one read asks for.
const NEWEST_ITEMS: usize = 1000;
/// Values of one item that a read of a range asks for.
const RANGE_VALUES: u64 = 1000;

/// Options of `vedette bench history-service`.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// The API of the server.
    pub login: Login,
    /// `HOST:PORT` of the service over gRPC.
    pub grpc: String,
    /// Number of hosts.
    pub hosts: usize,
    /// Items per host.
    pub items: usize,
    /// Values per batch.
    pub batch: usize,
    /// Streams, or connections of HTTP, where several are measured.
    pub streams: usize,
    /// How long each part is measured.
    pub seconds: u64,
    /// The server's processes, for CPU time.
    pub pids: Vec<u32>,
    /// Leave the hosts on the server.
    pub keep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Grpc,
    Http,
}

impl Form {
    const fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Http => "http",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Grpc => "gRPC",
            Self::Http => "HTTP/JSON",
        }
    }
}

/// What all parts share.
struct Rig<'a> {
    options: &'a ServiceOptions,
    peer: Peer,
    clock: SharedClock,
    meter: Meter,
    items: Vec<u64>,
}

/// What one part wrote.
struct Written {
    form: Form,
    streams: usize,
    seconds: f64,
    kept: u64,
    refused: u64,
    latency: Histogram,
    server_cpu_s: Option<f64>,
    own_cpu_s: f64,
}

/// What one kind of read brought.
struct Answers {
    form: Form,
    query: (&'static str, &'static str),
    latency: Histogram,
    calls: u64,
    rows: u64,
}

/// Runs the measurement.
pub fn run(options: &ServiceOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let wanted = Wanted {
        hosts: options.hosts,
        items: (0..options.items).map(|number| ItemSpec::trapper(number, false)).collect(),
        through: Through::Template,
        interfaces: Vec::new(),
        snmp: None,
        trigger_every: 0,
    };
    let made = register(&api, &wanted, context)?;
    let measured = (|| {
        let keys: Vec<String> = (0..options.items).map(Plan::key).collect();
        let peer = Peer {
            grpc: options.grpc.clone(),
            http: api.authority().to_owned(),
            token: api.token().to_owned(),
        };
        let items = made.itemids(&api, &keys)?;
        let rig = Rig { options, peer, clock: context.clock.clone(), meter, items };
        measure(&rig, context)
    })();
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else if let Err(error) = made.remove(&api) {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    }
    let (written, answers) = measured?;
    Ok(report(options, &written, &answers))
}

fn measure(
    rig: &Rig<'_>,
    context: &mut Context<'_>,
) -> anyhow::Result<(Vec<Written>, Vec<Answers>)> {
    rig.wait_ready()?;
    let (mut written, mut answers) = (Vec::new(), Vec::new());
    for form in [Form::Grpc, Form::Http] {
        for streams in [1, rig.options.streams.max(1)] {
            let part = rig.write(form, streams)?;
            context.say(&format!(
                "{} over {streams}: {} values/s, {} refused",
                form.label(),
                grouped((part.kept as f64 / part.seconds) as u64),
                part.refused
            ));
            written.push(part);
        }
    }
    for form in [Form::Grpc, Form::Http] {
        for query in [NEWEST, RANGE] {
            let part = rig.read(form, query)?;
            context.say(&format!(
                "{} over {}: {} calls, {} rows",
                query.1,
                form.label(),
                grouped(part.calls),
                grouped(part.rows)
            ));
            answers.push(part);
        }
    }
    Ok((written, answers))
}

const NEWEST: (&str, &str) = ("newest", "newest value of 1,000 items");
const RANGE: (&str, &str) = ("range", "newest 1,000 values of one item");

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

impl Rig<'_> {
    fn batches(&self, streams: usize) -> Vec<Batches> {
        let kind = |place: usize| place % self.options.items;
        Batches::split(&self.items, kind, streams, self.options.batch)
    }

    /// Writes a value of each item until the server knows them all.
    fn wait_ready(&self) -> anyhow::Result<()> {
        let mut batches = self.batches(1).remove(0);
        let begin = self.clock.monotonic();
        runtime()?.block_on(async {
            let mut http = OverHttp::open(&self.peer).await?;
            let many = self.items.len().div_ceil(self.options.batch.max(1));
            for _ in 0..many {
                let batch = batches.next(self.clock.unix());
                while !http.write_once(&batch).await?.refused.is_empty() {
                    if self.clock.monotonic() - begin > READY_MAX {
                        bail!("after {} s items are still refused", READY_MAX.as_secs());
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            Ok(())
        })
    }

    fn write(&self, form: Form, streams: usize) -> anyhow::Result<Written> {
        let (stop, kept, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        let one = |mut batches: Batches| -> anyhow::Result<Histogram> {
            let mut latency = Histogram::default();
            let (mut failure, mut first) = (None, true);
            // One at least, however short the time is.
            let next = || {
                let go = std::mem::take(&mut first) || !stop.load(Ordering::Relaxed);
                go.then(|| batches.next(self.clock.unix()))
            };
            let done = |reply: wire::history_service::WriteReply, took| {
                latency.add(took);
                kept.fetch_add(reply.kept, Ordering::Relaxed);
                refused.fetch_add(reply.refused.len() as u64, Ordering::Relaxed);
                if let Some(failed) = reply.failure {
                    failure.get_or_insert(failed.message);
                }
            };
            runtime()?.block_on(async {
                match form {
                    Form::Grpc => {
                        OverGrpc::open(&self.peer).await?.write(&self.clock, next, done).await
                    }
                    Form::Http => {
                        OverHttp::open(&self.peer).await?.write(&self.clock, next, done).await
                    }
                }
            })?;
            match failure {
                Some(failure) => bail!("a batch failed: {failure}"),
                None => Ok(latency),
            }
        };
        let (before, own) = (self.meter.usage(), stdx::sys::cpu_time());
        let begin = self.clock.monotonic();
        let latencies = std::thread::scope(|scope| {
            let one = &one;
            let workers: Vec<_> = self
                .batches(streams)
                .into_iter()
                .map(|batches| scope.spawn(move || one(batches)))
                .collect();
            sleep(Duration::from_secs(self.options.seconds));
            stop.store(true, Ordering::Relaxed);
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|_| bail!("BUG: a writer panicked")))
                .collect::<anyhow::Result<Vec<Histogram>>>()
        })?;
        let mut latency = Histogram::default();
        latencies.iter().for_each(|part| latency.merge(part));
        let used = before.zip(self.meter.usage());
        Ok(Written {
            form,
            streams,
            seconds: (self.clock.monotonic() - begin).as_secs_f64(),
            kept: kept.into_inner(),
            refused: refused.into_inner(),
            latency,
            server_cpu_s: used.map(|(before, after)| after.cpu_s - before.cpu_s),
            own_cpu_s: (stdx::sys::cpu_time() - own).as_secs_f64(),
        })
    }

    fn read(&self, form: Form, query: (&'static str, &'static str)) -> anyhow::Result<Answers> {
        let limit = Duration::from_secs(self.options.seconds);
        let mut answers = Answers { form, query, latency: Histogram::default(), calls: 0, rows: 0 };
        runtime()?.block_on(async {
            let mut grpc = OverGrpc::open(&self.peer).await?;
            let mut http = OverHttp::open(&self.peer).await?;
            let begin = self.clock.monotonic();
            while answers.calls == 0 || self.clock.monotonic() - begin < limit {
                let read = self.question(query, usize::try_from(answers.calls).unwrap_or(0));
                let at = self.clock.monotonic();
                answers.rows += match form {
                    Form::Grpc => grpc.read(&read).await?,
                    Form::Http => http.read(&read).await?,
                };
                answers.latency.add(self.clock.monotonic() - at);
                answers.calls += 1;
            }
            if answers.rows == 0 {
                bail!("{}: the answers are empty", query.1);
            }
            Ok(answers)
        })
    }

    /// The `number`-th read; the items are taken in turn.
    fn question(&self, query: (&str, &str), number: usize) -> Read {
        let name = |itemid: &u64| ItemName { itemid: *itemid, ..ItemName::default() };
        let from = number % self.items.len().max(1);
        let turn = self.items.iter().cycle().skip(from);
        if query == NEWEST {
            let items = turn.take(NEWEST_ITEMS.min(self.items.len())).map(name).collect();
            return Read::Newest(NewestRequest { items, count: 1 });
        }
        let items = turn.take(1).map(name).collect();
        let limit = RANGE_VALUES;
        Read::Range(RangeRequest { items, limit, descending: true, ..RangeRequest::default() })
    }
}

fn report(options: &ServiceOptions, written: &[Written], answers: &[Answers]) -> Report {
    let settings = json!({
        "hosts": options.hosts, "items": options.items, "batch": options.batch,
        "streams": options.streams, "seconds": options.seconds,
    });
    let mut report = Report::new("history-service", settings);
    let refused = written.iter().map(|part| part.refused).sum();
    report.count("refused", "values refused", refused);
    for part in written {
        let (form, many) = (part.form.name(), if part.streams == 1 { "one" } else { "many" });
        let mut add = |name: &str, label: &str, x: f64| {
            let label = format!("{} over {}: {label}", part.form.label(), part.streams);
            report.number(format!("{form}_{many}_{name}"), label, x);
        };
        let millions = part.kept as f64 / 1e6;
        add("values_per_s", "values/s", part.kept as f64 / part.seconds);
        add("p50_ms", "batch p50, ms", part.latency.percentile_ms(0.5));
        add("p99_ms", "batch p99, ms", part.latency.percentile_ms(0.99));
        if let Some(cpu_s) = part.server_cpu_s {
            add("cpu_s_per_million", "server CPU s per million", cpu_s / millions);
        }
        add("own_cpu_s_per_million", "generator CPU s per million", part.own_cpu_s / millions);
    }
    for part in answers {
        let (form, (query, text)) = (part.form.name(), part.query);
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let label = format!("{}: {text}, {name}, ms", part.form.label());
            let name = format!("{form}_{query}_{name}_ms");
            report.number(name, label, part.latency.percentile_ms(share));
        }
    }
    report
}
