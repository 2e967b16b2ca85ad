//! Which limit comes first: more hosts, step by step, until a rule trips.
//!
//! The rules are those of the published 2024 test of Zabbix's pollers: pollers busy all the time,
//! half of the processor used, nine tenths of the memory used, or a queue that grows.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::api::Api;
use crate::fake_agent::{Agents, FakeAgents};
use crate::plot::{Chart, IDEAL, svg};
use crate::probe::Probe;
use crate::proc::{Meter, Usage};
use crate::register::{Estate, ItemSpec, Through, Wanted};
use crate::report::{Report, Steps, grouped};
use crate::{Context, Login};
use stdx::machine::{self, CpuTimes, Memory};

/// Share of time from which pollers count as busy all the time; the last percent is rounding.
const BUSY_MAX: f64 = 0.99;
/// Share of the processor.
const CPU_MAX: f64 = 0.5;
/// Share of the machine's memory.
const MEMORY_MAX: f64 = 0.9;
/// Of the checks that are due within a second, the part by which the queue may differ between
/// the first and the last third of an observation, and how many at least.
const QUEUE_GROWTH: f64 = 0.1;
const QUEUE_GROWTH_MIN: f64 = 10.0;

/// Options of `vedette bench limit`.
#[derive(Debug, Clone)]
pub struct LimitOptions {
    /// The API of the server.
    pub login: Login,
    /// Hosts of the first step.
    pub start: usize,
    /// Each step has so many times the hosts of the one before; above 1.
    pub factor: f64,
    /// Hosts of the last step, should no rule trip before.
    pub hosts_max: usize,
    /// Items per host.
    pub items: usize,
    /// Update interval of each item, seconds.
    pub interval_s: u64,
    /// How long an agent takes to answer.
    pub delay: Duration,
    /// Between new hosts and the observation; `None` = one interval, the agents' delay and 5 s.
    pub settle: Option<Duration>,
    /// How long each step is observed, seconds.
    pub seconds: u64,
    /// The server's processes; without any, the whole machine is what the rules look at.
    pub pids: Vec<u32>,
    /// First address of the agents.
    pub listen: SocketAddr,
    /// Consecutive addresses that they listen on.
    pub addresses: usize,
    /// Leave the hosts on the server.
    pub keep: bool,
}

/// Why no more hosts fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Busy,
    Cpu,
    Memory,
    Queue,
}

impl Rule {
    const fn text(self) -> &'static str {
        match self {
            Self::Busy => "the pollers are busy all the time",
            Self::Cpu => "half of the processor is used",
            Self::Memory => "nine tenths of the memory are used",
            Self::Queue => "the queue grows",
        }
    }
}

/// One step, observed.
#[derive(Debug, Clone, Default)]
struct Step {
    hosts: usize,
    ideal_per_s: f64,
    checks_per_s: f64,
    in_flight: usize,
    /// Mean share of time, 0 to 1.
    busy: Option<f64>,
    /// Mean share of all cores, 0 to 1.
    cpu: Option<f64>,
    /// Share of the machine's memory, 0 to 1.
    memory: Option<f64>,
    rss_bytes: Option<u64>,
    /// Late checks, second by second.
    queue: Vec<f64>,
}

impl Step {
    /// The rules that trip, in the order of the published test.
    fn tripped(&self) -> Vec<Rule> {
        let over = |value: Option<f64>, max: f64| value.is_some_and(|value| value >= max);
        let queue_max = (self.ideal_per_s * QUEUE_GROWTH).max(QUEUE_GROWTH_MIN);
        let rules = [
            (over(self.busy, BUSY_MAX), Rule::Busy),
            (over(self.cpu, CPU_MAX), Rule::Cpu),
            (over(self.memory, MEMORY_MAX), Rule::Memory),
            (growth(&self.queue) > queue_max, Rule::Queue),
        ];
        rules.into_iter().filter(|(trips, _)| *trips).map(|(_, rule)| rule).collect()
    }

    fn row(&self) -> Vec<Option<f64>> {
        let percent = |share: Option<f64>| share.map(|share| share * 100.0);
        vec![
            Some(self.hosts as f64),
            Some(self.ideal_per_s),
            Some(self.checks_per_s),
            Some(self.in_flight as f64),
            percent(self.busy),
            percent(self.cpu),
            percent(self.memory),
            self.rss_bytes.map(|bytes| bytes as f64 / f64::from(1 << 20)),
            self.queue.last().copied(),
        ]
    }
}

const COLUMNS: &[(&str, &str)] = &[
    ("hosts", "hosts"),
    ("ideal_per_s", "ideal/s"),
    ("checks_per_s", "checks/s"),
    ("in_flight", "in flight"),
    ("busy_percent", "busy %"),
    ("cpu_percent", "CPU %"),
    ("memory_percent", "memory %"),
    ("rss_mib", "server MiB"),
    ("queue", "queue"),
];

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// By how much the last third lies above the first.
fn growth(values: &[f64]) -> f64 {
    let third = values.len() / 3;
    if third == 0 {
        return 0.0;
    }
    mean(&values[values.len() - third..]) - mean(&values[..third])
}

/// Runs the steps.
pub fn run(options: &LimitOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    if options.factor <= 1.0 || options.start == 0 || options.seconds < 3 {
        bail!("--factor must be above 1, --start at least 1 host, --seconds at least 3");
    }
    stdx::sys::raise_open_files_limit().context("cannot raise the limit of open files")?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let clock = context.clock.clone();
    let agents = Agents {
        first: options.listen,
        count: options.addresses,
        delay: options.delay,
        checks_per_s: (options.hosts_max * options.items) as f64 / options.interval_s.max(1) as f64,
    };
    let agents = FakeAgents::start(agents, clock)?;
    let interval = format!("{}s", options.interval_s);
    let wanted = Wanted {
        hosts: 0,
        items: (0..options.items)
            .map(|number| ItemSpec::agent(number, &interval).patient(&api, options.delay))
            .collect(),
        through: Through::Template,
        interfaces: agents.addresses().to_vec(),
        snmp: None,
        trigger_every: 0,
    };
    let mut climb = Climb {
        options,
        agents: &agents,
        meter: &meter,
        api: &api,
        estate: Estate::prepare(&api, wanted, context)?,
        probe: None,
    };
    let steps = climb.steps(context);
    let made = &climb.estate.made;
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else {
        context.say("removing the hosts");
        if let Err(error) = made.remove(&api) {
            context.say(&format!("cannot remove the hosts: {error:#}"));
        }
        sleep(options.delay);
    }
    report(options, &steps?)
}

struct Climb<'a> {
    options: &'a LimitOptions,
    agents: &'a FakeAgents,
    meter: &'a Meter,
    api: &'a Api,
    estate: Estate,
    probe: Option<Probe>,
}

impl Climb<'_> {
    fn steps(&mut self, context: &mut Context<'_>) -> anyhow::Result<Vec<Step>> {
        let mut steps = Vec::new();
        let mut hosts = self.options.start.min(self.options.hosts_max);
        loop {
            self.estate.grow(self.api, hosts, context)?;
            let step = self.observe(hosts, context)?;
            let tripped = step.tripped();
            context.say(&describe(&step, &tripped));
            steps.push(step);
            if !tripped.is_empty() || hosts >= self.options.hosts_max {
                return Ok(steps);
            }
            let next = (hosts as f64 * self.options.factor).ceil() as usize;
            hosts = next.max(hosts + 1).min(self.options.hosts_max);
        }
    }

    fn observe(&mut self, hosts: usize, context: &mut Context<'_>) -> anyhow::Result<Step> {
        let options = self.options;
        if self.probe.is_none() {
            let hostid = self.estate.made.hostids.first().context("there is no host")?;
            self.probe = Some(Probe::place(self.api, hostid)?);
        }
        let probe = self.probe.as_ref().context("BUG: placed above")?;
        let settle = options.settle.unwrap_or_else(|| {
            Duration::from_secs(options.interval_s) + options.delay + Duration::from_secs(5)
        });
        context.say(&format!(
            "{} hosts: settling for {:.0} s, then {} s of observation",
            grouped(hosts as u64),
            settle.as_secs_f64(),
            options.seconds
        ));
        sleep(settle);
        let begin = Reading::take(self, context);
        let (mut busy, mut queue, mut in_flight) = (Vec::new(), Vec::new(), 0);
        for second in 1..=options.seconds {
            let due = begin.at + Duration::from_secs(second);
            sleep(due.saturating_sub(context.clock.monotonic()));
            let said = probe.read(self.api)?;
            busy.extend(said.busy);
            queue.extend(said.queue.map(|queue| queue as f64));
            in_flight = in_flight.max(self.agents.in_flight());
        }
        let end = Reading::take(self, context);
        let seconds = (end.at - begin.at).as_secs_f64().max(1e-3);
        let own_cpu = begin
            .usage
            .zip(end.usage)
            .map(|(first, last)| (last.cpu_s - first.cpu_s) / seconds / machine::cores() as f64);
        let all_cpu = || end.cpu?.busy_since(begin.cpu?);
        Ok(Step {
            hosts,
            ideal_per_s: (hosts * options.items) as f64 / options.interval_s.max(1) as f64,
            checks_per_s: (end.answered - begin.answered) as f64 / seconds,
            in_flight,
            busy: (!busy.is_empty()).then(|| mean(&busy)),
            cpu: own_cpu.or_else(all_cpu),
            memory: Memory::read().map(Memory::used),
            rss_bytes: end.usage.map(|usage| usage.rss_bytes),
            queue,
        })
    }
}

/// Counters at one moment.
struct Reading {
    at: Duration,
    answered: u64,
    usage: Option<Usage>,
    cpu: Option<CpuTimes>,
}

impl Reading {
    fn take(climb: &Climb<'_>, context: &Context<'_>) -> Self {
        Self {
            at: context.clock.monotonic(),
            answered: climb.agents.answered(),
            usage: climb.meter.usage(),
            cpu: CpuTimes::read(),
        }
    }
}

fn describe(step: &Step, tripped: &[Rule]) -> String {
    let percent = |share: Option<f64>| match share {
        Some(share) => format!("{:.1} %", share * 100.0),
        None => "not told".to_owned(),
    };
    let verdict: Vec<&str> = tripped.iter().map(|rule| rule.text()).collect();
    format!(
        "{} hosts: {} of {} checks/s, pollers busy {}, CPU {}, memory {}, queue {:.0}: {}",
        grouped(step.hosts as u64),
        grouped(step.checks_per_s as u64),
        grouped(step.ideal_per_s as u64),
        percent(step.busy),
        percent(step.cpu),
        percent(step.memory),
        step.queue.last().copied().unwrap_or(0.0),
        if verdict.is_empty() { "holds".to_owned() } else { verdict.join(", ") }
    )
}

fn report(options: &LimitOptions, steps: &[Step]) -> anyhow::Result<Report> {
    let settings = json!({
        "start": options.start, "factor": options.factor, "hosts_max": options.hosts_max,
        "items": options.items, "interval_s": options.interval_s,
        "delay_s": options.delay.as_secs_f64(), "seconds": options.seconds,
    });
    let mut report = Report::new("limit", settings);
    let held = steps.iter().rfind(|step| step.tripped().is_empty());
    let last = steps.last().context("there was no step")?;
    let tripped: Vec<&str> = last.tripped().iter().map(|rule| rule.text()).collect();
    report.count("hosts_held", "hosts that are held", held.map_or(0, |step| step.hosts as u64));
    report.number("checks_per_s", "checks/s there", held.map_or(0.0, |step| step.checks_per_s));
    report.count("hosts_tried", "hosts at the end", last.hosts as u64);
    let verdict =
        if tripped.is_empty() { "none up to the last step".to_owned() } else { tripped.join(", ") };
    report.note("limit", "limit", &verdict);
    let rows = steps.iter().map(Step::row).collect();
    report.steps(Steps { columns: COLUMNS, rows }, svg(&charts(steps, &verdict))?);
    Ok(report)
}

fn charts(steps: &[Step], verdict: &str) -> [Chart; 2] {
    let line = |of: &dyn Fn(&Step) -> Option<f64>| -> Vec<(f64, f64)> {
        steps.iter().filter_map(|step| Some((step.hosts as f64, of(step)?))).collect()
    };
    let percent = |share: Option<f64>| share.map(|share| share * 100.0);
    [
        Chart {
            title: "Checks per second".to_owned(),
            x: "hosts",
            y: "checks/s",
            lines: vec![
                ("answered", line(&|step| Some(step.checks_per_s))),
                (IDEAL, line(&|step| Some(step.ideal_per_s))),
            ],
        },
        Chart {
            title: format!("Limit: {verdict}"),
            x: "hosts",
            y: "%",
            lines: vec![
                ("pollers busy", line(&|step| percent(step.busy))),
                ("CPU", line(&|step| percent(step.cpu))),
                ("memory", line(&|step| percent(step.memory))),
            ],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_trips_by_itself() {
        let good = Step {
            hosts: 100,
            ideal_per_s: 1000.0,
            busy: Some(0.98),
            cpu: Some(0.49),
            memory: Some(0.89),
            queue: vec![0.0, 90.0, 0.0, 90.0, 0.0, 90.0],
            ..Step::default()
        };
        assert_eq!(good.tripped(), []);
        assert_eq!(Step::default().tripped(), []);
        let cases = [
            (Step { busy: Some(1.0), ..good.clone() }, Rule::Busy),
            (Step { cpu: Some(0.5), ..good.clone() }, Rule::Cpu),
            (Step { memory: Some(0.95), ..good.clone() }, Rule::Memory),
            (Step { queue: vec![0.0, 0.0, 50.0, 80.0, 120.0, 160.0], ..good }, Rule::Queue),
        ];
        for (step, rule) in cases {
            assert_eq!(step.tripped(), [rule]);
        }
    }

    #[test]
    fn the_queue_grows_from_third_to_third() {
        for (values, expected) in [
            (vec![], 0.0),
            (vec![5.0, 9.0], 0.0),
            (vec![1.0, 50.0, 3.0], 2.0),
            (vec![2.0, 4.0, 0.0, 0.0, 5.0, 7.0], 3.0),
        ] {
            assert!((growth(&values) - expected).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn the_report_names_the_limit() {
        let options = LimitOptions {
            login: Login { url: String::new(), user: String::new(), password: String::new() },
            start: 100,
            factor: 2.0,
            hosts_max: 200,
            items: 1,
            interval_s: 10,
            delay: Duration::ZERO,
            settle: None,
            seconds: 10,
            pids: vec![],
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            addresses: 1,
            keep: false,
        };
        let first = Step { hosts: 100, checks_per_s: 10.0, cpu: Some(0.3), ..Step::default() };
        let second = Step { hosts: 200, checks_per_s: 15.0, cpu: Some(0.6), ..Step::default() };
        let of = |steps: &[Step]| report(&options, steps).unwrap().json();
        let found = of(&[first.clone(), second]);
        assert_eq!(found["results"]["hosts_held"], 100);
        assert_eq!(found["results"]["limit"], Rule::Cpu.text());
        assert_eq!(found["steps"][1]["cpu_percent"], 60.0);
        assert_eq!(of(&[first])["results"]["limit"], "none up to the last step");
    }
}
