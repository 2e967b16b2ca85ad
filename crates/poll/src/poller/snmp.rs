//! SNMP within a poller: what is due on an interface goes out together, and nothing else until it
//! has ended.

use std::rc::Rc;
use std::time::Duration;

use collect::counters::Process;
use config::snapshot::Interface;
use model::InterfaceId;

use super::conclude::Tally;
use super::direct::Job;
use super::together::TOGETHER_MAX;
use super::{Poller, RESOLVED_FOR};
use crate::checks::reply::CheckReply;
use crate::checks::snmp::{Ended, NO_INTERFACE, Peer, Question, peer, resolve};
use crate::schedule::Lane;

/// Pause of a poller that asks many devices and hears little at a time: how late answers may be
/// taken. With connections of agents to move there is none.
const REST: Duration = Duration::from_micros(300);

/// Where to ask.
enum To {
    Device(Peer, InterfaceId),
    /// The address has to be looked up first.
    Name(Box<Interface>),
    /// There is no SNMP interface.
    Nowhere,
}

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
                let reply = CheckReply::ConfigError(NO_INTERFACE.to_owned());
                jobs.iter().for_each(|job| self.done(job, reply.clone()));
            }
        }
    }

    fn address_of(&self, lane: &Lane) -> To {
        let Some(interface) = lane.interface() else { return To::Nowhere };
        let known =
            lane.resolved.filter(|(_, until)| self.shared.context.clock.monotonic() < *until);
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
                    let until = self.shared.context.clock.monotonic() + RESOLVED_FOR;
                    let lane = schedule.lane_mut(lane);
                    if lane.interface == interface.id {
                        lane.resolved = Some((ip, until));
                    }
                }
                match peer(&interface, ip) {
                    Some(peer) => self.ask_snmp(peer, interface.id, timeout, jobs),
                    None => {
                        let reply = CheckReply::ConfigError(NO_INTERFACE.to_owned());
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
                Err(why) => self.done(&job, CheckReply::ConfigError(why)),
            }
        }
        self.snmp.borrow_mut().start(question, self.shared.context.clock.monotonic());
    }

    /// Takes the answers that have come.
    pub(crate) fn drive_snmp(self: &Rc<Self>) -> bool {
        let now = self.shared.context.clock.monotonic();
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
        let begin = self.shared.context.clock.monotonic();
        let (freed, at, mut tally) = (ended.len(), self.shared.context.now(), Tally::default());
        for Ended { job, reply } in ended.drain(..) {
            self.conclude(&job, reply, at, &mut tally);
        }
        self.count(&tally);
        self.snmp_ended.set(ended);
        self.took(Process::Snmp, begin);
        freed
    }
}
