//! Passive checks: the server polls agents of ours.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::api::{Api, scalar_text};
use crate::fake_agent::{Agents, FakeAgents};
use crate::fake_snmp::FakeDevices;
use crate::fake_web::FakeWeb;
use crate::probe::Probe;
use crate::proc::{Meter, Usage};
use crate::register::{ItemSpec, Registered, SnmpDetails, Through, Wanted, register};
use crate::report::{Report, grouped};
use crate::{Context, Login};
use stdx::machine::{self, CpuTimes};

/// How long a server usually gets until it polls at full speed, beside one interval.
pub const WARM_DEFAULT: Duration = Duration::from_secs(90);
/// Intervals from here on are longer than the time in which first checks come.
const LONG_INTERVAL_S: u64 = 10;
/// Share of the ideal rate that counts as full speed.
const FULL_SPEED: f64 = 0.95;
/// Until the server has forgotten hosts that are removed; agents answer so long.
const FAREWELL: Duration = Duration::from_secs(1);
/// Hosts that are looked at for items without value.
const SAMPLE_HOSTS: usize = 50;

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Agents, by passive checks.
    Agents,
    /// Web servers, by HTTP agent items.
    Web,
    /// Devices, by SNMP version 2c.
    Snmp {
        /// How items ask.
        style: SnmpStyle,
        /// The interface allows several values in one request.
        bulk: bool,
    },
}

/// How SNMP items ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnmpStyle {
    /// `get[OID]`
    Get,
    /// An OID alone.
    Oid,
    /// `walk[OID]` of so many values.
    Walk(u32),
}

impl Asked {
    fn item(self, number: usize, interval: &str) -> ItemSpec {
        let below = format!("1.3.6.1.4.1.99999.3.{number}.0");
        match self {
            Self::Agents => ItemSpec::agent(number, interval),
            Self::Web => ItemSpec::http(number, interval),
            Self::Snmp { style: SnmpStyle::Get, .. } => {
                ItemSpec::snmp(number, &format!("get[{below}]"), 3, interval)
            }
            Self::Snmp { style: SnmpStyle::Oid, .. } => ItemSpec::snmp(number, &below, 3, interval),
            Self::Snmp { style: SnmpStyle::Walk(_), .. } => {
                let oid = format!("walk[{}]", crate::fake_snmp::TABLE);
                ItemSpec::snmp(number, &oid, 4, interval)
            }
        }
    }

    const fn details(self) -> Option<SnmpDetails> {
        match self {
            Self::Snmp { bulk, .. } => Some(SnmpDetails { bulk }),
            Self::Agents | Self::Web => None,
        }
    }

    /// The API's number of the items' type, and the name of the measurement.
    const fn kind(self) -> (u8, &'static str) {
        match self {
            Self::Agents => (0, "agent"),
            Self::Web => (19, "http"),
            Self::Snmp { .. } => (20, "snmp"),
        }
    }
}

/// What `vedette bench agent`, `http` and `snmp` are told.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Who is asked.
    pub asked: Asked,
    /// The API of the server.
    pub login: Login,
    /// Number of hosts.
    pub hosts: usize,
    /// Items per host.
    pub items: usize,
    /// Update interval of each item, seconds.
    pub interval_s: u64,
    /// How long an agent takes to answer.
    pub delay: Duration,
    /// How long the server gets until it polls at full speed, beside one interval.
    pub warm: Duration,
    /// How long to measure.
    pub seconds: u64,
    /// The server's processes, for CPU time and memory.
    pub pids: Vec<u32>,
    /// First address of the agents.
    pub listen: SocketAddr,
    /// Consecutive addresses that they listen on.
    pub addresses: usize,
    /// Leave the hosts on the server.
    pub keep: bool,
}

/// Those who are asked.
enum Peers {
    Agents(FakeAgents),
    Web(FakeWeb),
    Devices(FakeDevices),
}

impl Peers {
    fn start(options: &AgentOptions, context: &Context<'_>) -> anyhow::Result<Self> {
        Ok(match options.asked {
            Asked::Agents => Self::Agents(FakeAgents::start(
                Agents {
                    first: options.listen,
                    count: options.addresses,
                    delay: options.delay,
                    checks_per_s: ideal(options),
                },
                context.clock.clone(),
            )?),
            Asked::Web => Self::Web(FakeWeb::start(options.listen, options.addresses)?),
            Asked::Snmp { style, .. } => {
                let rows = if let SnmpStyle::Walk(rows) = style { rows } else { 1 };
                Self::Devices(FakeDevices::start(options.listen, options.addresses, rows)?)
            }
        })
    }

    fn addresses(&self) -> &[SocketAddr] {
        match self {
            Self::Agents(agents) => agents.addresses(),
            Self::Web(web) => web.addresses(),
            Self::Devices(devices) => devices.addresses(),
        }
    }

    fn answered(&self) -> u64 {
        match self {
            Self::Agents(agents) => agents.answered(),
            Self::Web(web) => web.answered(),
            Self::Devices(devices) => devices.answered(),
        }
    }

    fn requests(&self) -> u64 {
        match self {
            Self::Devices(devices) => devices.requests(),
            Self::Agents(_) | Self::Web(_) => self.answered(),
        }
    }

    fn broken(&self) -> u64 {
        match self {
            Self::Agents(agents) => agents.broken(),
            Self::Web(web) => web.broken(),
            Self::Devices(devices) => devices.broken(),
        }
    }

    fn in_flight(&self) -> usize {
        match self {
            Self::Agents(agents) => agents.in_flight(),
            Self::Web(_) | Self::Devices(_) => 0,
        }
    }
}

/// The agents and the measured processes at one moment.
#[derive(Clone, Copy)]
struct Sample {
    at: Duration,
    answered: u64,
    requests: u64,
    broken: u64,
    usage: Option<Usage>,
    cpu: Option<CpuTimes>,
    own_cpu: Duration,
}

impl Sample {
    fn take(agents: &Peers, meter: &Meter, context: &Context<'_>) -> Self {
        Self {
            at: context.clock.monotonic(),
            answered: agents.answered(),
            requests: agents.requests(),
            broken: agents.broken(),
            usage: meter.usage(),
            cpu: CpuTimes::read(),
            own_cpu: stdx::sys::cpu_time(),
        }
    }

    /// Checks per second since an earlier sample.
    fn rate_since(&self, earlier: &Self) -> f64 {
        let seconds = (self.at - earlier.at).as_secs_f64();
        (self.answered - earlier.answered) as f64 / seconds.max(1e-3)
    }

    fn cores_since(&self, earlier: &Self) -> Option<f64> {
        let cpu_s = self.usage?.cpu_s - earlier.usage?.cpu_s;
        Some(cpu_s / (self.at - earlier.at).as_secs_f64().max(1e-3))
    }
}

/// Runs the measurement.
pub fn run(options: &AgentOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    stdx::sys::raise_open_files_limit().context("cannot raise the limit of open files")?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let agents = Peers::start(options, context)?;
    let before = meter.usage();
    let interval = format!("{}s", options.interval_s);
    let wanted = Wanted {
        hosts: options.hosts,
        items: (0..options.items)
            .map(|number| options.asked.item(number, &interval).patient(&api, options.delay))
            .collect(),
        through: Through::Template,
        interfaces: agents.addresses().to_vec(),
        snmp: options.asked.details(),
        trigger_every: 0,
    };
    let begin = context.clock.monotonic();
    let made = register(&api, &wanted, context)?;
    let register_s = (context.clock.monotonic() - begin).as_secs_f64();
    let hostid = made.hostids.first().context("--hosts 0 makes nothing to measure")?;
    let probe = Probe::place(&api, hostid);
    if let Err(error) = &probe {
        context.say(&format!("the queue is not measured: {error:#}"));
    }
    let measured = measure(options, &agents, &meter, context);
    let rest = after(options, &api, &made, probe.ok().as_ref());
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else if let Err(error) = made.remove(&api) {
        context.say(&format!("cannot remove the hosts: {error:#}"));
    } else {
        sleep(FAREWELL + options.delay);
    }
    Ok(report(options, &measured, before, &After { register_s, ..rest? }))
}

struct Measured {
    start: Sample,
    end: Sample,
    ready_s: f64,
    in_flight_max: usize,
    rss_max_bytes: u64,
}

fn measure(
    options: &AgentOptions,
    agents: &Peers,
    meter: &Meter,
    context: &mut Context<'_>,
) -> Measured {
    let ideal = ideal(options);
    let begin = context.clock.monotonic();
    let ready_max = options.warm + Duration::from_secs(options.interval_s) + options.delay;
    // First checks come within a minute, however long the interval: more than the steady rate.
    let round = Duration::from_secs(options.interval_s) + options.delay;
    let mut last = Sample::take(agents, meter, context);
    loop {
        sleep(Duration::from_secs(1));
        let now = Sample::take(agents, meter, context);
        let rate = now.rate_since(&last);
        context.say(&format!(
            "warming up: {} of {} checks/s",
            grouped(rate as u64),
            grouped(ideal as u64)
        ));
        last = now;
        // Answers of slow agents start late.
        let settled = now.at - begin >= round || options.interval_s < LONG_INTERVAL_S;
        if rate >= ideal * FULL_SPEED && settled || now.at - begin > ready_max {
            break;
        }
    }
    let (start, mut in_flight_max, mut rss_max_bytes) = (last, 0, 0);
    for second in 1..=options.seconds {
        let due = start.at + Duration::from_secs(second);
        sleep(due.saturating_sub(context.clock.monotonic()));
        let now = Sample::take(agents, meter, context);
        let in_flight = agents.in_flight();
        in_flight_max = in_flight_max.max(in_flight);
        let mut line = format!(
            "{second:4} s {:>9} checks/s   broken {}   in flight {in_flight}",
            grouped(now.rate_since(&last) as u64),
            now.broken - start.broken
        );
        if let Some(busy) = now.cpu.zip(last.cpu).and_then(|(now, last)| now.busy_since(last)) {
            line += &format!("   machine {:.0} %", busy * 100.0);
        }
        if let (Some(cores), Some(usage)) = (now.cores_since(&last), now.usage) {
            rss_max_bytes = rss_max_bytes.max(usage.rss_bytes);
            line += &format!("   server {cores:.2} cores, {} MiB", usage.rss_bytes >> 20);
        }
        context.say(&line);
        last = now;
    }
    let ready_s = (start.at - begin).as_secs_f64();
    Measured { start, end: last, ready_s, in_flight_max, rss_max_bytes }
}

/// What the API tells at the end.
struct After {
    register_s: f64,
    queue: Option<u64>,
    items: usize,
    without_value: usize,
    not_supported: usize,
}

fn after(
    options: &AgentOptions,
    api: &Api,
    made: &Registered,
    probe: Option<&Probe>,
) -> anyhow::Result<After> {
    let (kind, _) = options.asked.kind();
    let hostids = &made.hostids[..made.hostids.len().min(SAMPLE_HOSTS)];
    let params = json!({
        "output": ["lastclock", "state"], "hostids": hostids, "filter": { "type": kind },
    });
    let found = api.call("item.get", &params)?;
    let rows = found.as_array().context("item.get gave no array")?;
    let is = |row: &Value, member: &str, text: &str| {
        scalar_text(&row[member]).is_some_and(|value| value == text)
    };
    Ok(After {
        register_s: 0.0,
        queue: probe.map(|probe| probe.read(api)).transpose()?.and_then(|said| said.queue),
        items: rows.len(),
        without_value: rows.iter().filter(|row| is(row, "lastclock", "0")).count(),
        not_supported: rows.iter().filter(|row| is(row, "state", "1")).count(),
    })
}

/// Checks per second if none is late.
fn ideal(options: &AgentOptions) -> f64 {
    (options.hosts * options.items) as f64 / options.interval_s.max(1) as f64
}

fn report(
    options: &AgentOptions,
    measured: &Measured,
    before: Option<Usage>,
    after: &After,
) -> Report {
    let settings = json!({
        "hosts": options.hosts, "items": options.items, "interval_s": options.interval_s,
        "delay_s": options.delay.as_secs_f64(), "seconds": options.seconds,
        "listen": options.listen.to_string(), "addresses": options.addresses,
    });
    let (start, end) = (&measured.start, &measured.end);
    let millions = (end.answered - start.answered) as f64 / 1e6;
    let seconds = (end.at - start.at).as_secs_f64();
    let mut report = Report::new(options.asked.kind().1, settings);
    report.number("checks_per_s", "checks/s answered", end.rate_since(start));
    report.number("ideal_per_s", "checks/s configured", ideal(options));
    report.count("answered", "checks answered", end.answered - start.answered);
    report.count("broken", "connections broken", end.broken - start.broken);
    if matches!(options.asked, Asked::Snmp { .. }) {
        let requests = (end.requests - start.requests) as f64 / seconds.max(1e-3);
        report.number("requests_per_s", "requests/s answered", requests);
    }
    report.number("register_s", "hosts made after, s", after.register_s);
    let hosts_per_s = options.hosts as f64 / after.register_s;
    report.number("hosts_per_s", "hosts made per second", hosts_per_s);
    report.number("ready_s", "full speed after, s", measured.ready_s);
    report.number("seconds", "seconds", seconds);
    if !options.delay.is_zero() {
        report.count("in_flight_max", "checks in flight at most", measured.in_flight_max as u64);
    }
    if let (Some(first), Some(last)) = (start.usage, end.usage) {
        let cpu_s = last.cpu_s - first.cpu_s;
        report.number("server_cpu_s", "server CPU, s", cpu_s);
        report.number(
            "server_cpu_s_per_million",
            "server CPU s per million checks",
            cpu_s / millions,
        );
        report.number("server_cores", "server cores busy", cpu_s / seconds);
        let share = cpu_s / seconds / machine::cores() as f64 * 100.0;
        report.number("server_cpu_percent", "server's share of the machine, %", share);
        if let Some(before) = before {
            report.megabytes("rss_before_mib", "memory before, MiB", before.rss_bytes);
        }
        report.megabytes("rss_end_mib", "memory after, MiB", last.rss_bytes);
        report.megabytes("rss_max_mib", "memory at most, MiB", measured.rss_max_bytes);
    }
    if let Some(busy) = end.cpu.zip(start.cpu).and_then(|(end, start)| end.busy_since(start)) {
        report.number("machine_cpu_percent", "machine busy, agents included, %", busy * 100.0);
    }
    let own = (end.own_cpu - start.own_cpu).as_secs_f64();
    report.number("own_cpu_s_per_million", "agents' CPU s per million checks", own / millions);
    if let Some(queue) = after.queue {
        report.count("queue", "checks late by more than 5 s", queue);
    }
    report.count("sampled_items", "items looked at in the end", after.items as u64);
    report.count("without_value", "  without value", after.without_value as u64);
    report.count("not_supported", "  not supported", after.not_supported as u64);
    report
}
