//! A network goes dark: most hosts stop answering for some minutes, all at once, and come back. What
//! does that cost the server, what do the hosts notice that answer all the time, and how soon is
//! it seen that the others are back?
//!
//! Half of the hosts have an agent, half are SNMP devices. In the dark, agents take no connection
//! (the system drops what would open one) and devices say nothing, so every check ends with its
//! timeout.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use crate::api::Api;
use crate::fake_agent::{Agents, FakeAgents};
use crate::fake_snmp::FakeDevices;
use crate::plot::{Chart, svg};
use crate::probe::Probe;
use crate::proc::{Meter, Usage};
use crate::register::{ItemSpec, Registered, SnmpDetails, Through, Wanted, register};
use crate::report::{Report, Steps, grouped};
use crate::{Context, Login};

/// Between two looks at the server.
const LOOK: Duration = Duration::from_secs(2);
/// New items are checked within a minute; so long and this much more the server gets before.
const WARM_MAX: Duration = Duration::from_secs(90);
/// Share of the rate of before that counts as all back.
const BACK: f64 = 0.95;

/// Options of `vedette bench blackout`.
#[derive(Debug, Clone)]
pub struct BlackoutOptions {
    /// The API of the server.
    pub login: Login,
    /// Hosts that stop answering.
    pub hosts: usize,
    /// Hosts that answer all the time.
    pub living: usize,
    /// Items per host.
    pub items: usize,
    /// Update interval of each item, seconds.
    pub interval_s: u64,
    /// How long to look before the blackout.
    pub before: Duration,
    /// How long it lasts.
    pub dark: Duration,
    /// How long to look after it.
    pub after: Duration,
    /// The server's processes, for CPU time and memory.
    pub pids: Vec<u32>,
    /// First address of agents and devices; its port has to be 0.
    pub listen: SocketAddr,
    /// Consecutive addresses that they listen on.
    pub addresses: usize,
    /// Leave the hosts on the server.
    pub keep: bool,
}

impl BlackoutOptions {
    /// Checks per second of so many hosts.
    fn ideal(&self, hosts: usize) -> f64 {
        (hosts * self.items) as f64 / self.interval_s.max(1) as f64
    }
}

/// Hosts that share their fate.
struct Crowd {
    agents: FakeAgents,
    devices: FakeDevices,
    made: Vec<Registered>,
}

impl Crowd {
    fn start(
        options: &BlackoutOptions,
        hosts: usize,
        api: &Api,
        context: &mut Context<'_>,
    ) -> anyhow::Result<Self> {
        let (first, count) = (options.listen, options.addresses);
        let checks_per_s = options.ideal(hosts);
        let agents = Agents { first, count, delay: Duration::ZERO, checks_per_s };
        let agents = FakeAgents::start(agents, context.clock.clone())?;
        let devices = FakeDevices::start(first, count, 1)?;
        let interval = format!("{}s", options.interval_s);
        let oid = |number| format!("1.3.6.1.4.1.99999.3.{number}.0");
        let mut made = Vec::new();
        for (hosts, interfaces, snmp) in [
            (hosts.div_ceil(2), agents.addresses(), None),
            (hosts / 2, devices.addresses(), Some(SnmpDetails { bulk: true })),
        ] {
            let items = 0..options.items;
            let items = items.map(|number| match snmp {
                None => ItemSpec::agent(number, &interval),
                Some(_) => ItemSpec::snmp(number, &oid(number), 3, &interval),
            });
            let wanted = Wanted {
                hosts,
                items: items.collect(),
                through: Through::Template,
                interfaces: interfaces.to_vec(),
                snmp,
                trigger_every: 0,
            };
            made.push(register(api, &wanted, context)?);
        }
        Ok(Self { agents, devices, made })
    }

    fn answered(&self) -> u64 {
        self.agents.answered() + self.devices.answered()
    }

    fn silence(&self, dark: bool) {
        self.agents.silence(dark);
        self.devices.silence(dark);
    }
}

/// All counters at one moment.
#[derive(Clone, Copy)]
struct Sample {
    at: Duration,
    living: u64,
    others: u64,
    ignored: u64,
    usage: Option<Usage>,
}

/// The server over some seconds.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// End of these seconds, since the measurement began.
    at_s: f64,
    cores: Option<f64>,
    rss_bytes: Option<u64>,
    /// Late checks, those of hosts that are known to be unavailable not counted.
    queue: Option<u64>,
    living_per_s: f64,
    others_per_s: f64,
    /// Requests that devices left unanswered.
    ignored_per_s: f64,
}

struct Watch<'a> {
    api: &'a Api,
    meter: &'a Meter,
    probe: Option<&'a Probe>,
    living: &'a Crowd,
    others: &'a Crowd,
    begin: Duration,
    last: Sample,
}

impl Watch<'_> {
    fn sample(&self, context: &Context<'_>) -> Sample {
        sample(self.meter, self.living, self.others, context)
    }

    /// Looks at the server for so long.
    fn during(&mut self, name: &str, time: Duration, context: &mut Context<'_>) -> Vec<Look> {
        let (begin, mut looks) = (self.last.at, Vec::new());
        loop {
            let due = (self.last.at + LOOK).min(begin + time);
            if due <= self.last.at {
                return looks;
            }
            sleep(due.saturating_sub(context.clock.monotonic()));
            let look = self.look(context);
            context.say(&format!(
                "{name:>6} {:4.0} s   living {:>7}/s   others {:>7}/s   ignored {:>6}/s   \
                 server {:.2} cores, {} MiB   late {}",
                look.at_s,
                grouped(look.living_per_s as u64),
                grouped(look.others_per_s as u64),
                grouped(look.ignored_per_s as u64),
                look.cores.unwrap_or(f64::NAN),
                look.rss_bytes.unwrap_or(0) >> 20,
                look.queue.map_or_else(|| "?".to_owned(), grouped),
            ));
            looks.push(look);
        }
    }

    fn look(&mut self, context: &Context<'_>) -> Look {
        let now = self.sample(context);
        let last = std::mem::replace(&mut self.last, now);
        let seconds = (now.at - last.at).as_secs_f64().max(1e-3);
        let per_s = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
        let cpu = now.usage.zip(last.usage).map(|(now, last)| now.cpu_s - last.cpu_s);
        Look {
            at_s: (now.at - self.begin).as_secs_f64(),
            cores: cpu.map(|cpu_s| cpu_s / seconds),
            rss_bytes: now.usage.map(|usage| usage.rss_bytes),
            queue: self.probe.and_then(|probe| probe.read(self.api).ok()?.queue),
            living_per_s: per_s(last.living, now.living),
            others_per_s: per_s(last.others, now.others),
            ignored_per_s: per_s(last.ignored, now.ignored),
        }
    }
}

fn sample(meter: &Meter, living: &Crowd, others: &Crowd, context: &Context<'_>) -> Sample {
    Sample {
        at: context.clock.monotonic(),
        living: living.answered(),
        others: others.answered(),
        ignored: others.devices.ignored(),
        usage: meter.usage(),
    }
}

/// Runs the measurement.
pub fn run(options: &BlackoutOptions, context: &mut Context<'_>) -> anyhow::Result<Report> {
    stdx::sys::raise_open_files_limit().context("cannot raise the limit of open files")?;
    let meter = Meter::new(&options.pids)?;
    let api = Api::login(&options.login)?;
    let living = Crowd::start(options, options.living, &api, context)?;
    let others = Crowd::start(options, options.hosts, &api, context)?;
    let hostid = living.made.first().and_then(|made| made.hostids.first());
    let hostid = hostid.context("--living 0 leaves nobody to compare with")?;
    let probe = Probe::place(&api, hostid);
    if let Err(error) = &probe {
        context.say(&format!("the queue is not measured: {error:#}"));
    }
    let last = sample(&meter, &living, &others, context);
    let mut watch = Watch {
        api: &api,
        meter: &meter,
        probe: probe.as_ref().ok(),
        living: &living,
        others: &others,
        begin: last.at,
        last,
    };
    warm(options, &mut watch, context);
    watch.begin = watch.last.at;
    let before = watch.during("before", options.before, context);
    others.silence(true);
    let dark = watch.during("dark", options.dark, context);
    others.silence(false);
    let after = watch.during("after", options.after, context);
    if options.keep {
        context.say("the hosts stay on the server: vedette bench clean removes them");
    } else {
        for made in living.made.iter().chain(&others.made) {
            if let Err(error) = made.remove(&api) {
                context.say(&format!("cannot remove the hosts: {error:#}"));
            }
        }
    }
    report(options, &[("before", before), ("dark", dark), ("after", after)])
}

/// Until all items are checked at their intervals.
fn warm(options: &BlackoutOptions, watch: &mut Watch<'_>, context: &mut Context<'_>) {
    let ideal = options.ideal(options.hosts + options.living);
    let begin = context.clock.monotonic();
    let most = WARM_MAX + Duration::from_secs(options.interval_s);
    loop {
        let now = context.clock.monotonic() - begin;
        let looks = watch.during("warm", LOOK, context);
        let rate: f64 = looks.iter().map(|look| look.living_per_s + look.others_per_s).sum();
        // First checks come at a higher rate than all later ones.
        let settled = now >= Duration::from_secs(60 + options.interval_s);
        if settled && rate >= ideal * BACK || now > most {
            return;
        }
    }
}

fn mean(looks: &[Look], of: impl Fn(&Look) -> Option<f64>) -> Option<f64> {
    let all: Vec<f64> = looks.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Seconds after the end of the dark until the others answered as before; looks at them over one
/// interval each, since checks of one interval need not be spread evenly any more.
fn back_s(before_per_s: f64, dark_end_s: f64, after: &[Look], interval_s: f64) -> Option<f64> {
    let mut answered = 0.0;
    let mut last = dark_end_s;
    for look in after {
        answered += look.others_per_s * (look.at_s - last);
        last = look.at_s;
        if answered >= before_per_s * interval_s * BACK {
            return Some(look.at_s - dark_end_s);
        }
    }
    None
}

const COLUMNS: &[(&str, &str)] = &[
    ("at_s", "second"),
    ("cores", "server, cores"),
    ("rss_mib", "memory, MiB"),
    ("queue", "late"),
    ("living_per_s", "living/s"),
    ("others_per_s", "others/s"),
    ("ignored_per_s", "ignored/s"),
];

fn report(options: &BlackoutOptions, phases: &[(&str, Vec<Look>); 3]) -> anyhow::Result<Report> {
    let settings = json!({
        "hosts": options.hosts, "living": options.living, "items": options.items,
        "interval_s": options.interval_s, "before_s": options.before.as_secs(),
        "dark_s": options.dark.as_secs(), "after_s": options.after.as_secs(),
        "addresses": options.addresses,
    });
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let mut report = Report::new("blackout", settings);
    let mut put = |phase: &str, name: &str, label: &str, x: Option<f64>| {
        report.number(
            format!("{phase}_{name}"),
            format!("{phase}: {label}"),
            x.unwrap_or(f64::NAN),
        );
    };
    for (phase, looks) in phases {
        let most = |of: &dyn Fn(&Look) -> Option<f64>| looks.iter().filter_map(of).reduce(f64::max);
        put(phase, "cores", "server, cores", mean(looks, |look| look.cores));
        put(phase, "rss_mib", "memory at most, MiB", most(&|look| look.rss_bytes.map(mib)));
        put(phase, "late", "checks late at most", most(&|look| look.queue.map(|n| n as f64)));
        let living = mean(looks, |look| Some(look.living_per_s));
        put(phase, "living_per_s", "checks/s of living hosts", living);
        let others = mean(looks, |look| Some(look.others_per_s));
        put(phase, "others_per_s", "checks/s of the others", others);
    }
    let [(_, before), (_, dark), (_, after)] = phases;
    // The last third of the dark: all are known to be unavailable then, if it lasts long enough.
    let late_dark = &dark[dark.len() - dark.len() / 3..];
    let devices = (options.hosts / 2) as f64;
    let asked = mean(late_dark, |look| Some(look.ignored_per_s * 60.0 / devices.max(1.0)));
    put("dark", "asked", "datagrams to a silent device a minute, in the end", asked);
    let rate = mean(before, |look| Some(look.others_per_s)).unwrap_or(0.0);
    let end = dark.last().or(before.last()).map_or(0.0, |look| look.at_s);
    let back = back_s(rate, end, after, options.interval_s as f64);
    put("after", "back_s", "as many checks of the others as they have items, after s", back);
    let all = || phases.iter().flat_map(|(_, looks)| looks);
    let row = |look: &Look| {
        vec![
            Some(look.at_s),
            look.cores,
            look.rss_bytes.map(mib),
            look.queue.map(|n| n as f64),
            Some(look.living_per_s),
            Some(look.others_per_s),
            Some(look.ignored_per_s),
        ]
    };
    let rows = all().map(row).collect();
    let line = |of: &dyn Fn(&Look) -> Option<f64>| -> Vec<(f64, f64)> {
        all().filter_map(|look| Some((look.at_s, of(look)?))).collect()
    };
    let chart = |title, y, lines| Chart::of(title, "s", y, lines);
    let plot = svg(&[
        chart(
            "Checks answered",
            "1/s",
            vec![
                ("living hosts", line(&|look| Some(look.living_per_s))),
                ("the others", line(&|look| Some(look.others_per_s))),
            ],
        ),
        chart("Server", "cores", vec![("CPU", line(&|look| look.cores))]),
        chart("Memory", "MiB", vec![("resident", line(&|look| look.rss_bytes.map(mib)))]),
    ])?;
    report.steps(Steps { columns: COLUMNS, rows }, plot);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_s: f64, others_per_s: f64) -> Look {
        Look {
            at_s,
            cores: None,
            rss_bytes: None,
            queue: None,
            living_per_s: 0.0,
            others_per_s,
            ignored_per_s: 0.0,
        }
    }

    #[test]
    fn they_are_back_when_an_interval_has_been_answered() {
        let after = [look(102.0, 0.0), look(104.0, 20.0), look(106.0, 80.0), look(108.0, 40.0)];
        assert_eq!(back_s(10.0, 100.0, &after, 4.0), Some(4.0));
        assert_eq!(back_s(10.0, 100.0, &after, 20.0), Some(6.0));
        assert_eq!(back_s(10.0, 100.0, &after, 40.0), None);
        assert_eq!(mean(&after, |look| Some(look.others_per_s)), Some(35.0));
        assert_eq!(mean(&after, |look| look.cores), None);
    }
}
