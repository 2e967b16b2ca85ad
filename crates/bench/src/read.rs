//! History and graph queries of the API, beside values that are being written: of now, or of so long
//! ago that a history store is asked for them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use stdx::clock::{Clock, SharedClock};

use crate::api::Api;
use crate::payload::Plan;
use crate::proc::Meter;
use crate::register::register;
use crate::report::{Report, Steps, grouped};
use crate::send::address;
use crate::shape::{Kind, ValueType};
use crate::stats::Histogram;
use crate::trapper::{self, TrapperOptions};
use crate::{Context, Login};

/// Items whose newest values one call asks for.
const NEWEST_ITEMS: usize = 1000;
/// Items of one graph.
const GRAPH_ITEMS: usize = 6;
/// Between the end of the queries and that of the writes.
const SLACK_S: u64 = 2;
/// Trends are written when an hour is over; the items of a measurement are younger.
const NO_TRENDS: &str = "the items are younger than the last full hour, so there are no trends";
const HOUR_S: u64 = 3600;
const MONTH_S: u64 = 30 * 24 * HOUR_S;

/// Options of `vedette bench read`.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The writes beside; their time is set here.
    pub load: TrapperOptions,
    /// Values are written so long before the first query.
    pub warm_seconds: u64,
    /// Clients that ask at one time.
    pub readers: usize,
    /// How long each kind of query is measured.
    pub seconds: u64,
    /// Values are dated so long before they are written, and asked for there.
    pub age: Duration,
}

/// A clock that shows what was so long ago.
struct Behind {
    clock: SharedClock,
    age: Duration,
}

impl Clock for Behind {
    fn unix(&self) -> Duration {
        self.clock.unix().saturating_sub(self.age)
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

/// A kind of query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Query {
    /// The last hour of one item.
    Hour,
    /// The last hour of the items of one graph.
    Graph,
    /// Trends of one item over a month.
    Month,
    /// The newest values of many items.
    Newest,
}

impl Query {
    const ALL: [Self; 4] = [Self::Hour, Self::Graph, Self::Month, Self::Newest];

    const fn text(self) -> &'static str {
        match self {
            Self::Hour => "last hour of one item",
            Self::Graph => "last hour of the items of a graph",
            Self::Month => "trends of one item over a month",
            Self::Newest => "newest values of 1,000 items",
        }
    }

    /// Method and parameters of the `number`-th call for what is there until `now_s`. The items, of
    /// one value type, are taken in turn.
    fn call(self, items: &[u64], number: usize, now_s: u64) -> (&'static str, Value) {
        let many = |count: usize| -> Vec<u64> {
            let count = count.min(items.len());
            items.iter().cycle().skip(number % items.len().max(1)).take(count).copied().collect()
        };
        let history = |count| {
            json!({
                "output": "extend", "history": Kind::Counter.value_type().0,
                "itemids": many(count), "time_from": now_s.saturating_sub(HOUR_S),
                "time_till": now_s, "sortfield": "clock",
            })
        };
        match self {
            Self::Hour => ("history.get", history(1)),
            Self::Graph => ("history.get", history(GRAPH_ITEMS)),
            Self::Month => {
                let from = now_s.saturating_sub(MONTH_S);
                ("trend.get", json!({ "output": "extend", "itemids": many(1), "time_from": from }))
            }
            Self::Newest => {
                let output = ["itemid", "lastvalue", "lastclock"];
                ("item.get", json!({ "output": output, "itemids": many(NEWEST_ITEMS) }))
            }
        }
    }
}

/// What one kind of query brought.
#[derive(Default)]
struct Answers {
    latency: Histogram,
    calls: u64,
    rows: u64,
    seconds: f64,
}

/// Runs the measurement.
pub fn run(options: &ReadOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    let clock = Arc::new(Behind { clock: context.clock.clone(), age: options.age });
    let context = &mut Context { clock, progress: &mut *context.progress };
    let server = address(&options.load.server)?;
    let meter = Meter::new(&options.load.pids)?;
    let api = Api::login(&options.load.login)?;
    let made = register(&api, &trapper::wanted(&options.load), context)?;
    let ids = made.itemids(&api, &(0..options.load.items).map(Plan::key).collect::<Vec<_>>())?;
    let plan =
        Plan { hosts: made.hosts.clone(), items: options.load.items, order: options.load.order };
    let of_type = |wanted: ValueType| {
        let is = |n: &usize| plan.kind(*n).value_type() == wanted;
        ids.iter().enumerate().filter(|(n, _)| is(n)).map(|(_, id)| *id).collect::<Vec<u64>>()
    };
    let items = of_type(Kind::Counter.value_type());
    if items.is_empty() {
        bail!("--items {}: too few for a counter among them", options.load.items);
    }
    let load = TrapperOptions {
        seconds: options.warm_seconds + options.seconds * Query::ALL.len() as u64 + SLACK_S,
        verify: false,
        ..options.load.clone()
    };
    let clock = context.clock.clone();
    let outcome = std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            let mut silent = std::io::sink();
            let mut quiet = Context { clock: clock.clone(), progress: &mut silent };
            let api = Api::login(&load.login)?;
            trapper::measure(&load, server, &meter, &api, &made, &mut quiet)
        });
        let asked = ask_all(options, &items, context);
        let written = writes.join().unwrap_or_else(|_| bail!("BUG: the writer panicked"));
        Ok::<_, anyhow::Error>((asked?, written?))
    });
    if !options.load.keep
        && let Err(error) = made.remove(&api)
    {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    }
    let (answers, written) = outcome?;
    Ok(report(options, &answers, &written))
}

fn ask_all(
    options: &ReadOptions,
    items: &[u64],
    context: &mut Context<'_>,
) -> anyhow::Result<Vec<Answers>> {
    context.say(&format!("writing for {} s before the first query", options.warm_seconds));
    std::thread::sleep(Duration::from_secs(options.warm_seconds));
    let mut all = Vec::new();
    let api = Api::login(&options.load.login)?;
    for query in Query::ALL {
        let clock = &context.clock;
        if query == Query::Month {
            let (method, params) = query.call(items, 0, clock.unix().as_secs());
            if api.call(method, &params)?.as_array().is_none_or(Vec::is_empty) {
                context.say(&format!("{}: left out: {NO_TRENDS}", query.text()));
                all.push(Answers::default());
                continue;
            }
        }
        let (login, readers) = (&options.load.login, options.readers.max(1));
        let limit = Duration::from_secs(options.seconds);
        let begin = clock.monotonic();
        let parts = std::thread::scope(|scope| {
            let readers: Vec<_> = (0..readers)
                .map(|reader| scope.spawn(move || ask(query, login, items, reader, clock, limit)))
                .collect();
            readers
                .into_iter()
                .map(|reader| reader.join().unwrap_or_else(|_| bail!("BUG: a reader panicked")))
                .collect::<anyhow::Result<Vec<Answers>>>()
        })?;
        let mut answers = Answers::default();
        for part in &parts {
            answers.latency.merge(&part.latency);
            answers.calls += part.calls;
            answers.rows += part.rows;
        }
        answers.seconds = (clock.monotonic() - begin).as_secs_f64();
        context.say(&format!(
            "{}: {} calls, {} rows, p50 {:.2} ms, p99 {:.2} ms",
            query.text(),
            grouped(answers.calls),
            grouped(answers.rows),
            answers.latency.percentile_ms(0.5),
            answers.latency.percentile_ms(0.99)
        ));
        all.push(answers);
    }
    Ok(all)
}

/// One client: the next call when the last one is answered.
fn ask(
    query: Query,
    login: &Login,
    items: &[u64],
    reader: usize,
    clock: &SharedClock,
    limit: Duration,
) -> anyhow::Result<Answers> {
    /// Readers start at items far from each other.
    const APART: usize = 7919;
    let api = Api::login(login)?;
    let mut answers = Answers::default();
    let begin = clock.monotonic();
    let mut number = reader * APART;
    while clock.monotonic() - begin < limit {
        let (method, params) = query.call(items, number, clock.unix().as_secs());
        let start = clock.monotonic();
        let found = api.call(method, &params)?;
        answers.latency.add(clock.monotonic() - start);
        answers.calls += 1;
        answers.rows += found.as_array().context("the answer is not an array")?.len() as u64;
        number += 1;
    }
    Ok(answers)
}

/// Columns of [`Answers`].
const COLUMNS: &[(&str, &str)] = &[
    ("calls_per_s", "calls/s"),
    ("rows_per_call", "rows per call"),
    ("p50_ms", "p50, ms"),
    ("p95_ms", "p95, ms"),
    ("p99_ms", "p99, ms"),
    ("max_ms", "max, ms"),
];

fn report(options: &ReadOptions, all: &[Answers], written: &trapper::Measured) -> Report {
    let load = &options.load;
    let settings = json!({
        "server": load.server, "hosts": load.hosts, "items": load.items, "rate": load.rate,
        "readers": options.readers, "seconds": options.seconds,
        "warm_seconds": options.warm_seconds, "age_s": options.age.as_secs(),
        "rows": Query::ALL.map(Query::text),
    });
    let mut report = Report::new("read", settings);
    report.number("written_per_s", "values/s written beside", written.rate());
    report.number("write_p99_ms", "  request p99, ms", written.latency.percentile_ms(0.99));
    for (answers, names) in all.iter().zip(NAMES) {
        let [calls, p50, p95, p99] = names;
        if answers.calls == 0 {
            report.note("month_left_out", calls.1, NO_TRENDS);
            continue;
        }
        report.number(calls.0, calls.1, answers.calls as f64 / answers.seconds.max(1e-3));
        report.number(p50.0, p50.1, answers.latency.percentile_ms(0.5));
        report.number(p95.0, p95.1, answers.latency.percentile_ms(0.95));
        report.number(p99.0, p99.1, answers.latency.percentile_ms(0.99));
    }
    let rows = all.iter().map(Answers::row).collect();
    report.table(Steps { columns: COLUMNS, rows });
    report
}

impl Answers {
    fn row(&self) -> Vec<Option<f64>> {
        if self.calls == 0 {
            return vec![None; COLUMNS.len()];
        }
        let ms = |share| Some(self.latency.percentile_ms(share));
        vec![
            Some(self.calls as f64 / self.seconds.max(1e-3)),
            Some(self.rows as f64 / self.calls.max(1) as f64),
            ms(0.5),
            ms(0.95),
            ms(0.99),
            ms(1.0),
        ]
    }
}

/// Name and label of calls per second, p50, p95 and p99 of [`Query::ALL`].
type Named = (&'static str, &'static str);
const NAMES: [[Named; 4]; 4] = [
    [
        ("hour_per_s", "last hour of one item, calls/s"),
        ("hour_p50_ms", "  p50, ms"),
        ("hour_p95_ms", "  p95, ms"),
        ("hour_p99_ms", "  p99, ms"),
    ],
    [
        ("graph_per_s", "last hour of a graph of 6 items, calls/s"),
        ("graph_p50_ms", "  p50, ms"),
        ("graph_p95_ms", "  p95, ms"),
        ("graph_p99_ms", "  p99, ms"),
    ],
    [
        ("month_per_s", "trends of one item over a month, calls/s"),
        ("month_p50_ms", "  p50, ms"),
        ("month_p95_ms", "  p95, ms"),
        ("month_p99_ms", "  p99, ms"),
    ],
    [
        ("newest_per_s", "newest values of 1,000 items, calls/s"),
        ("newest_p50_ms", "  p50, ms"),
        ("newest_p95_ms", "  p95, ms"),
        ("newest_p99_ms", "  p99, ms"),
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_take_items_in_turn() {
        let items: Vec<u64> = (100..110).collect();
        let ids = |query: Query, number| {
            let (method, params) = query.call(&items, number, 10_000_000);
            let ids: Vec<u64> = serde_json::from_value(params["itemids"].clone()).unwrap();
            (method, ids, params["time_from"].clone())
        };
        assert_eq!(ids(Query::Hour, 3), ("history.get", vec![103], json!(9_996_400)));
        let graph = vec![108, 109, 100, 101, 102, 103];
        assert_eq!(ids(Query::Graph, 18), ("history.get", graph, json!(9_996_400)));
        assert_eq!(ids(Query::Month, 10), ("trend.get", vec![100], json!(7_408_000)));
        assert_eq!(Answers::default().row(), vec![None; COLUMNS.len()]);
        // Fewer items than a call could name: each once.
        let (method, newest, from) = ids(Query::Newest, 1);
        assert_eq!((method, newest.len(), from), ("item.get", 10, Value::Null));
    }
}
