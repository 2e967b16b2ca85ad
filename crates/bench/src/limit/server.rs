//! A server with agents that answer late: it gets hosts, or loses them, and is observed.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Context as _;
use stdx::machine::{self, CpuTimes, Memory};

use super::options::LimitOptions;
use super::search::Target;
use super::step::{Step, mean};
use crate::Context;
use crate::api::Api;
use crate::fake_agent::{Agents, FakeAgents};
use crate::probe::{Probe, Said};
use crate::proc::{Meter, Usage};
use crate::readers::Readers;
use crate::register::{Estate, ItemSpec, Through, Wanted};

/// Between two lines of progress of an observation, seconds.
const PROGRESS_S: u64 = 10;

pub(super) struct Server<'a> {
    options: &'a LimitOptions,
    agents: FakeAgents,
    meter: Meter,
    api: Api,
    estate: Estate,
    probe: Option<Probe>,
}

impl<'a> Server<'a> {
    /// Starts the agents, and makes everything but hosts.
    pub(super) fn prepare(
        options: &'a LimitOptions,
        context: &Context<'_>,
    ) -> anyhow::Result<Self> {
        stdx::sys::raise_open_files_limit().context("cannot raise the limit of open files")?;
        let meter = Meter::new(&options.pids)?;
        let api = Api::login(&options.login)?;
        let agents = Agents {
            first: options.listen,
            count: options.addresses,
            delay: options.delay,
            checks_per_s: options.ideal_per_s(options.plan.hosts_max),
        };
        let agents = FakeAgents::start(agents, context.clock.clone())?;
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
        let estate = Estate::prepare(&api, wanted, context)?;
        Ok(Self { options, agents, meter, api, estate, probe: None })
    }

    /// Removes the hosts, or leaves them if the options say so.
    pub(super) fn end(&self, context: &mut Context<'_>) {
        if self.options.keep {
            context.say("the hosts stay on the server: vedette bench clean removes them");
            return;
        }
        context.say("removing the hosts");
        if let Err(error) = self.estate.made.remove(&self.api) {
            context.say(&format!("cannot remove the hosts: {error:#}"));
        }
        sleep(self.options.delay);
    }

    fn reading(&self, context: &Context<'_>) -> Reading {
        Reading {
            at: context.clock.monotonic(),
            answered: self.agents.answered(),
            usage: self.meter.usage(),
            cpu: CpuTimes::read(),
        }
    }

    /// Reads the probe once a second.
    fn watch(&self, probe: &Probe, context: &mut Context<'_>) -> anyhow::Result<Seconds> {
        let begin = context.clock.monotonic();
        let mut seconds = Seconds::default();
        for second in 1..=self.options.watch.seconds {
            let due = begin + Duration::from_secs(second);
            sleep(due.saturating_sub(context.clock.monotonic()));
            seconds.add(probe.read(&self.api)?, self.agents.in_flight());
            if second.is_multiple_of(PROGRESS_S) {
                context.say(&format!("observing: {second} of {} s", self.options.watch.seconds));
            }
        }
        Ok(seconds)
    }
}

impl Target for Server<'_> {
    fn observe(&mut self, hosts: usize, context: &mut Context<'_>) -> anyhow::Result<Step> {
        let options = self.options;
        self.estate.resize(&self.api, hosts, context)?;
        let hostids = &self.estate.made.hostids;
        let probe = match self.probe.take() {
            Some(probe) => probe,
            None => Probe::place(&self.api, hostids.first().context("there is no host")?)?,
        };
        context.say(&format!("settling for {:.0} s", options.settle().as_secs_f64()));
        sleep(options.settle());
        let readers = match options.watch.readers {
            0 => None,
            count => Some(Readers::start(count, &options.login, hostids, &context.clock)?),
        };
        let begin = self.reading(context);
        let seconds = self.watch(&probe, context)?;
        let end = self.reading(context);
        self.probe = Some(probe);
        let elapsed_s = (end.at - begin.at).as_secs_f64().max(1e-3);
        Ok(Step {
            hosts,
            ideal_per_s: options.ideal_per_s(hosts),
            checks_per_s: (end.answered - begin.answered) as f64 / elapsed_s,
            in_flight: seconds.in_flight,
            busy: (!seconds.busy.is_empty()).then(|| mean(&seconds.busy)),
            cpu: end.cpu_since(&begin, elapsed_s),
            memory: Memory::read().map(Memory::used),
            rss_bytes: end.usage.map(|usage| usage.rss_bytes),
            queue: seconds.queue,
            reads: readers.map(Readers::finish).transpose()?,
        })
    }
}

/// What the server says, second by second.
#[derive(Default)]
struct Seconds {
    busy: Vec<f64>,
    queue: Vec<f64>,
    /// At most.
    in_flight: usize,
}

impl Seconds {
    fn add(&mut self, said: Said, in_flight: usize) {
        self.busy.extend(said.busy);
        self.queue.extend(said.queue.map(|queue| queue as f64));
        self.in_flight = self.in_flight.max(in_flight);
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
    /// Share of all cores that the server took, or without its process that were busy.
    fn cpu_since(&self, earlier: &Self, elapsed_s: f64) -> Option<f64> {
        match earlier.usage.zip(self.usage) {
            Some((first, last)) => {
                Some((last.cpu_s - first.cpu_s) / elapsed_s / machine::cores() as f64)
            }
            None => self.cpu?.busy_since(earlier.cpu?),
        }
    }
}
