//! Written values against the ideal line, as the HistoryGluon paper (2013) plots them: register
//! targets through the API, observe for `T`, sum what history holds of that time; again with more
//! targets. Those before stay: removed, their values would be deleted in a store while it is
//! measured. Where history goes to a store as well, what that holds is a second line. Where it keeps
//! nothing (`--history null`), what agents answered is the line to compare with.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::api::{Api, scalar_text};
use crate::fake_agent::{Agents, FakeAgents};
use crate::plot::{Chart, IDEAL, svg};
use crate::proc::Meter;
use crate::register::{Estate, ItemSpec, Registered, Through, Wanted};
use crate::report::{Report, Steps, grouped};
use crate::{Context, Login};

/// Items whose values are counted in one call.
const ITEMS_PER_CALL: usize = 1000;
/// Items, spread evenly over all, whose values are counted in a store: some stores are asked item by
/// item, which takes HBase 6 ms each.
const STORED_ITEMS: usize = 2000;
/// History may be written a little later than it is collected, and be in the store later again: so
/// long the count is repeated.
const WRITTEN_MAX: Duration = Duration::from_secs(30);
/// Between two counts. A store gets its batches at least once a second.
const SETTLING: Duration = Duration::from_secs(2);
/// Until the server has forgotten hosts that are removed; agents answer so long.
const FAREWELL: Duration = Duration::from_secs(1);

/// Options of `vedette bench line`.
#[derive(Debug, Clone)]
pub struct LineOptions {
    /// The API of the server.
    pub login: Login,
    /// Numbers of targets (hosts), one measurement each.
    pub targets: Vec<usize>,
    /// Items per target.
    pub items: usize,
    /// Update interval of each item, seconds.
    pub interval_s: u64,
    /// How long an agent takes to answer.
    pub delay: Duration,
    /// `T`: how long each number of targets is observed, seconds.
    pub seconds: u64,
    /// The server's processes, for CPU time.
    pub pids: Vec<u32>,
    /// First address of the agents.
    pub listen: SocketAddr,
    /// Consecutive addresses that they listen on.
    pub addresses: usize,
}

/// Counts the values of these items that a history store holds of the seconds from the first
/// number to the second, both included.
pub type CountStored<'a> = dyn Fn(&[u64], u64, u64) -> anyhow::Result<u64> + 'a;

/// One number of targets, measured.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    targets: usize,
    ideal: f64,
    /// Answers of the agents within the time.
    collected: f64,
    written: f64,
    stored: Option<f64>,
    cpu_s: Option<f64>,
}

impl Point {
    fn row(&self) -> Vec<Option<f64>> {
        vec![
            Some(self.targets as f64),
            Some(self.ideal),
            Some(self.collected),
            Some(self.written),
            Some(100.0 * self.written / self.ideal.max(1.0)),
            self.stored,
            self.cpu_s.map(|cpu_s| cpu_s * 1e6 / self.collected.max(1.0)),
        ]
    }
}

const COLUMNS: &[(&str, &str)] = &[
    ("targets", "targets"),
    ("ideal", "ideal values"),
    ("collected", "collected"),
    ("written", "written values"),
    ("percent", "%"),
    ("stored", "in the store"),
    ("cpu_s_per_million", "CPU s/million"),
];

/// Runs the measurements; with `stored` counts there as well.
pub fn run(
    options: &LineOptions,
    stored: Option<&CountStored<'_>>,
    context: &mut Context<'_>,
) -> anyhow::Result<Report> {
    if options.targets.is_empty() || options.targets.contains(&0) || options.seconds == 0 {
        bail!("--targets wants numbers above 0, --seconds at least 1");
    }
    stdx::sys::raise_open_files_limit().context("cannot raise the limit of open files")?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let clock = context.clock.clone();
    let most = options.targets.iter().copied().max().unwrap_or(0);
    let agents = Agents {
        first: options.listen,
        count: options.addresses,
        delay: options.delay,
        checks_per_s: most as f64 * options.items as f64 / options.interval_s.max(1) as f64,
    };
    let agents = FakeAgents::start(agents, clock)?;
    let mut steps = options.targets.clone();
    steps.sort_unstable();
    let mut estate = Estate::prepare(&api, wanted(options, &agents, &api), context)?;
    let mut step = |targets| -> anyhow::Result<Point> {
        estate.grow(&api, targets, context)?;
        let point = measure(options, &estate.made, (&meter, &agents, &api, stored), context)?;
        let in_store = point.stored.map(|stored| format!(", {} stored", grouped(stored as u64)));
        context.say(&format!(
            "{} targets: {} of {} values written{}",
            grouped(targets as u64),
            grouped(point.written as u64),
            grouped(point.ideal as u64),
            in_store.unwrap_or_default()
        ));
        Ok(point)
    };
    let points: anyhow::Result<Vec<Point>> = steps.into_iter().map(&mut step).collect();
    estate.made.remove(&api).context("cannot remove the targets")?;
    sleep(FAREWELL + options.delay);
    report(options, &points?)
}

fn wanted(options: &LineOptions, agents: &FakeAgents, api: &Api) -> Wanted {
    let interval = format!("{}s", options.interval_s);
    Wanted {
        hosts: 0,
        items: (0..options.items)
            .map(|number| ItemSpec::agent(number, &interval).patient(api, options.delay))
            .collect(),
        through: Through::Template,
        interfaces: agents.addresses().to_vec(),
        snmp: None,
        trigger_every: 0,
    }
}

fn measure(
    options: &LineOptions,
    made: &Registered,
    (meter, agents, api, stored): (&Meter, &FakeAgents, &Api, Option<&CountStored<'_>>),
    context: &mut Context<'_>,
) -> anyhow::Result<Point> {
    let keys: Vec<String> = (0..options.items)
        .filter_map(|number| {
            Some(ItemSpec::agent(number, "1s").params["key_"].as_str()?.to_owned())
        })
        .collect();
    let items = made.itemids(api, &keys)?;
    // Each item has been collected once before: the first round after a change is not even.
    sleep(Duration::from_secs(options.interval_s + 2) + options.delay);
    let (cpu, from) = (meter.usage(), context.clock.unix().as_secs());
    let answered = agents.answered();
    for second in 1..=options.seconds {
        sleep(Duration::from_secs(1));
        if second.is_multiple_of(10) {
            context.say(&format!("observing: {second} of {} s", options.seconds));
        }
    }
    let till = from + options.seconds - 1;
    let collected = (agents.answered() - answered) as f64;
    let cpu_s = cpu.zip(meter.usage()).map(|(first, last)| last.cpu_s - first.cpu_s);
    let written = settled(context, None, || count(api, &items, from, till))?;
    let stored = match stored {
        Some(stored) => {
            let counted: Vec<u64> =
                items.iter().copied().step_by(items.len().div_ceil(STORED_ITEMS).max(1)).collect();
            let goal = count(api, &counted, from, till)?;
            let found = settled(context, Some(goal), || stored(&counted, from, till))?;
            Some(written as f64 * found as f64 / goal.max(1) as f64)
        }
        None => None,
    };
    let ideal = (made.hosts.len() * options.items) as f64 * options.seconds as f64
        / options.interval_s.max(1) as f64;
    let (targets, written) = (made.hosts.len(), written as f64);
    Ok(Point { targets, ideal, collected, written, stored, cpu_s })
}

/// The count once it has reached what it should, or else has stopped growing. One that should reach
/// something may stand still before that: a store that is behind gets what is older first.
fn settled(
    context: &Context<'_>,
    goal: Option<u64>,
    count: impl Fn() -> anyhow::Result<u64>,
) -> anyhow::Result<u64> {
    let begin = context.clock.monotonic();
    let mut counted = count()?;
    while goal != Some(counted) && context.clock.monotonic() - begin < WRITTEN_MAX {
        sleep(SETTLING);
        let again = count()?;
        if goal.is_none() && again == counted {
            break;
        }
        counted = again;
    }
    Ok(counted)
}

/// Values that history holds of the time from `from` to `till`, both included.
fn count(api: &Api, items: &[u64], from: u64, till: u64) -> anyhow::Result<u64> {
    let mut sum = 0;
    for items in items.chunks(ITEMS_PER_CALL) {
        let params = json!({
            "history": 3, "itemids": items, "time_from": from, "time_till": till,
            "countOutput": true,
        });
        let found = api.call("history.get", &params)?;
        let count = scalar_text(&found).and_then(|text| text.parse::<u64>().ok());
        sum += count.with_context(|| format!("history.get gave no count but {found}"))?;
    }
    Ok(sum)
}

fn report(options: &LineOptions, points: &[Point]) -> anyhow::Result<Report> {
    let settings = json!({
        "targets": options.targets, "items": options.items, "interval_s": options.interval_s,
        "seconds": options.seconds,
    });
    let mut report = Report::new("line", settings);
    let all = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>();
    let (ideal, written) = (all(|point| point.ideal), all(|point| point.written));
    report.number("written_percent", "written of ideal, %", 100.0 * written / ideal.max(1.0));
    let line = |of: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (point.targets as f64, of(point))).collect()
    };
    let mut lines = vec![("written", line(|point| point.written))];
    if points.iter().any(|point| point.stored.is_some()) {
        lines.push(("in the store", line(|point| point.stored.unwrap_or(0.0))));
    }
    lines.push((IDEAL, line(|point| point.ideal)));
    let chart = Chart {
        title: format!("Values written in {} s", options.seconds),
        x: "targets",
        y: "values",
        lines,
        limits: Vec::new(),
    };
    let rows = points.iter().map(Point::row).collect();
    report.steps(Steps { columns: COLUMNS, rows }, svg(&[chart])?);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_compares_with_the_ideal() {
        let options = LineOptions {
            login: Login { url: String::new(), user: String::new(), password: String::new() },
            targets: vec![10, 20],
            items: 2,
            interval_s: 1,
            delay: Duration::ZERO,
            seconds: 10,
            pids: vec![],
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            addresses: 1,
        };
        let point = |targets, ideal, written| Point {
            targets,
            ideal,
            collected: written,
            written,
            stored: Some(written / 2.0),
            cpu_s: Some(0.002),
        };
        let found = report(&options, &[point(10, 200.0, 200.0), point(20, 400.0, 340.0)]).unwrap();
        let json = found.json();
        assert_eq!(json["results"]["written_percent"], 90.0);
        assert_eq!(json["steps"][1]["percent"], 85.0);
        assert_eq!(json["steps"][0]["cpu_s_per_million"], 10.0);
        assert_eq!(json["steps"][1]["stored"], 170.0);
    }
}
