//! SNMP within a poller: what is due on an interface goes out together, and nothing else until it
//! has ended.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::source::Source;
use config::snapshot::{Interface, Item, ItemShape};
use model::InterfaceId;

use super::Peer;
use super::engine::Engine;
use super::plan::Plan;
use super::question::{Ended, Question};
use crate::counters::Process;
use crate::poll::agent::{self, AgentReply};
use crate::poll::direct::Job;
use crate::poll::probe::Check;
use crate::poll::together::TOGETHER_MAX;
use crate::poll::{Poller, RESOLVED_FOR, Tally};
use crate::schedule::Lane;
use crate::status::Shared;

/// Pause of a poller that asks many devices and hears little at a time: how late answers may be
/// taken. With connections of agents to move there is none.
const REST: Duration = Duration::from_micros(300);

/// What items ask for that were asked lately: most are items of few templates.
#[derive(Debug, Default)]
pub(crate) struct Plans(HashMap<usize, (Arc<ItemShape>, Plan), foldhash::fast::RandomState>);

impl Plans {
    const KEPT_MAX: usize = 10_000;

    fn of(&mut self, item: &Item) -> Result<Plan, String> {
        // The shape is kept with the plan, so that its address means no other.
        let address = Arc::as_ptr(&item.shape) as usize;
        if let Some((_, plan)) = self.0.get(&address) {
            return Ok(plan.clone());
        }
        let plan = plan(item)?;
        if self.0.len() >= Self::KEPT_MAX {
            self.0.clear();
        }
        self.0.insert(address, (Arc::clone(&item.shape), plan.clone()));
        Ok(plan)
    }
}

/// What an item asks for. The error is the item's.
fn plan(item: &Item) -> Result<Plan, String> {
    match item.extra.as_ref().map(|extra| &extra.source) {
        Some(Source::Snmp(oid)) => Plan::parse(oid),
        _ => Plan::parse(""),
    }
}

fn peer(interface: &Interface, ip: IpAddr) -> Option<Peer> {
    Some(Peer {
        address: SocketAddr::new(ip, interface.port),
        shown: if interface.use_ip {
            Arc::clone(&interface.ip)
        } else {
            Arc::clone(&interface.dns)
        },
        snmp: Arc::clone(interface.snmp.as_ref()?),
    })
}

/// Where to ask.
enum To {
    Device(Peer, InterfaceId),
    /// The address has to be looked up first.
    Name(Box<Interface>),
    /// There is no SNMP interface.
    Nowhere,
}

const NO_INTERFACE: &str = "The item has no SNMP interface to check.";

impl Poller {
    /// Starts what is due on an SNMP interface.
    pub(crate) fn start_snmp(self: &Rc<Self>, lane: usize) {
        let (jobs, timeout) = self.take_jobs(lane, TOGETHER_MAX);
        let to = self.address_of(self.schedule.borrow().lane_ref(lane));
        match to {
            To::Device(peer, interface) => self.ask_snmp(peer, interface, timeout, jobs),
            To::Name(interface) => {
                let resolving = Rc::clone(self).resolve_snmp(lane, *interface, timeout, jobs);
                drop(tokio::task::spawn_local(resolving));
            }
            To::Nowhere => {
                let reply = AgentReply::ConfigError(NO_INTERFACE.to_owned());
                jobs.iter().for_each(|job| self.done(job, reply.clone()));
            }
        }
    }

    fn address_of(&self, lane: &Lane) -> To {
        let Some(interface) = lane.interface() else { return To::Nowhere };
        let known = lane.resolved.filter(|(_, until)| self.shared.deps.clock.monotonic() < *until);
        let parsed = || interface.use_ip.then(|| interface.ip.parse().ok()).flatten();
        match known.map(|(ip, _)| ip).or_else(parsed) {
            Some(ip) => {
                peer(interface, ip).map_or(To::Nowhere, |peer| To::Device(peer, interface.id))
            }
            None => To::Name(Box::new(interface.clone())),
        }
    }

    /// A device that is named: its address is looked up first.
    async fn resolve_snmp(
        self: Rc<Self>,
        lane: usize,
        interface: Interface,
        timeout: Duration,
        jobs: Vec<Job>,
    ) {
        match resolve(&self.shared, &interface, timeout).await {
            Ok(ip) => {
                {
                    let mut schedule = self.schedule.borrow_mut();
                    let until = self.shared.deps.clock.monotonic() + RESOLVED_FOR;
                    let lane = schedule.lane_mut(lane);
                    if lane.interface == interface.id {
                        lane.resolved = Some((ip, until));
                    }
                }
                match peer(&interface, ip) {
                    Some(peer) => self.ask_snmp(peer, interface.id, timeout, jobs),
                    None => {
                        let reply = AgentReply::ConfigError(NO_INTERFACE.to_owned());
                        jobs.iter().for_each(|job| self.done(job, reply.clone()));
                    }
                }
                self.settle();
            }
            Err(reply) => jobs.iter().for_each(|job| self.done(job, reply.clone())),
        }
    }

    /// Asks a device for all that its items want.
    fn ask_snmp(&self, peer: Peer, interface: InterfaceId, timeout: Duration, jobs: Vec<Job>) {
        let mut question = Question::new(peer, interface, timeout);
        for job in jobs {
            let plan = self.snmp_plans.borrow_mut().of(&job.item);
            match plan {
                Ok(plan) => question.add(job, plan),
                Err(why) => self.done(&job, AgentReply::ConfigError(why)),
            }
        }
        self.snmp.borrow_mut().start(question, self.shared.deps.clock.monotonic());
    }

    /// Takes the answers that have come.
    pub(crate) fn drive_snmp(self: &Rc<Self>) -> bool {
        let now = self.shared.deps.clock.monotonic();
        let more = self.snmp.borrow_mut().advance(now, Duration::ZERO);
        self.took(Process::Snmp, now);
        self.settle();
        if self.direct.borrow().len() == 0 && self.snmp.borrow().is_trickling() {
            std::thread::sleep(REST);
        }
        more
    }

    /// Takes over the results; returns how many lanes are free again.
    pub(crate) fn settle_snmp(&self) -> usize {
        let mut ended = self.snmp_ended.take();
        self.snmp.borrow_mut().ended(&mut ended);
        if ended.is_empty() {
            self.snmp_ended.set(ended);
            return 0;
        }
        let begin = self.shared.deps.clock.monotonic();
        let (freed, at, mut tally) = (ended.len(), self.shared.now(), Tally::default());
        for Ended { job, reply } in ended.drain(..) {
            self.conclude(&job, reply, at, &mut tally);
        }
        self.count(&tally);
        self.snmp_ended.set(ended);
        self.took(Process::Snmp, begin);
        freed
    }
}

async fn resolve(
    shared: &Shared,
    interface: &Interface,
    timeout: Duration,
) -> Result<IpAddr, AgentReply> {
    match tokio::time::timeout(timeout, agent::resolve(&shared.resolver, interface)).await {
        Ok(Ok(ip)) => Ok(ip),
        Ok(Err(why)) => Err(AgentReply::NetworkError(why)),
        Err(_) => {
            let (name, port) = (&interface.dns, interface.port);
            Err(AgentReply::NetworkError(format!(
                "Cannot resolve address: [[{name}]:{port}]: timed out"
            )))
        }
    }
}

/// One check outside the schedule.
pub(crate) async fn check_once(check: &Check<'_>) -> AgentReply {
    let none = || AgentReply::ConfigError(NO_INTERFACE.to_owned());
    let Some(interface) = check.interface else { return none() };
    let plan = match plan(check.item) {
        Ok(plan) => plan,
        Err(why) => return AgentReply::ConfigError(why),
    };
    let ip = match resolve(check.shared, interface, check.timeout).await {
        Ok(ip) => ip,
        Err(reply) => return reply,
    };
    let Some(peer) = peer(interface, ip) else { return none() };
    let clock = Arc::clone(&check.shared.deps.clock);
    let source = check.shared.config.source_ip;
    let timeout = check.timeout;
    let asked = tokio::task::spawn_blocking(move || {
        let seed = clock.unix().as_nanos() as u64;
        let mut engine = match Engine::new(source, seed) {
            Ok(engine) => engine,
            Err(error) => return AgentReply::LocalError(error.to_string()),
        };
        let mut question = Question::new(peer, InterfaceId(0), timeout);
        question.add((), plan);
        engine.start(question, clock.monotonic());
        engine.flush();
        let mut ended = Vec::new();
        loop {
            engine.ended(&mut ended);
            if let Some(Ended { reply, .. }) = ended.pop() {
                return reply;
            }
            engine.advance(clock.monotonic(), Duration::from_millis(20));
            engine.time_out(clock.monotonic());
        }
    });
    asked.await.unwrap_or_else(|error| AgentReply::LocalError(error.to_string()))
}
