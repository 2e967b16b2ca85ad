//! IPMI within a poller: what is due on an interface is asked for within its session, one request
//! after the other.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use collect::counters::{Process, timed};
use config::snapshot::Interface;
use model::InterfaceId;

use super::Poller;
use super::direct::Job;
use super::together::{Due, TOGETHER_MAX};
use crate::checks::ipmi::{Device, Failure, NO_INTERFACE, answer};
use crate::checks::reply::CheckReply;

/// Devices with their sessions and sensors, between checks.
#[derive(Debug, Default)]
pub(crate) struct Devices(RefCell<HashMap<InterfaceId, Device>>);

impl Devices {
    /// An interface is gone: its session ends.
    pub(crate) fn forget(&self, interface: InterfaceId) {
        self.0.borrow_mut().remove(&interface);
    }
}

impl Poller {
    /// Starts what is due on an IPMI interface.
    pub(crate) fn start_ipmi(self: &Rc<Self>, lane: usize) {
        let due = self.take_due(lane, TOGETHER_MAX);
        let poller = Rc::clone(self);
        drop(tokio::task::spawn_local(async move {
            let context = Arc::clone(&poller.shared.context);
            let (busy, number) = (context.counters.process(Process::Ipmi), poller.number);
            timed(&*context.clock, busy, number, poller.run_ipmi(lane, due)).await;
        }));
    }

    async fn run_ipmi(self: Rc<Self>, lane: usize, due: Due) {
        let Some(interface) = &due.interface else {
            let reply = CheckReply::ConfigError(NO_INTERFACE.to_owned());
            return due.jobs.iter().for_each(|job| self.done(job, reply.clone()));
        };
        let known = self.ipmi.0.borrow_mut().remove(&interface.id);
        let mut known = known.filter(|device| device.is_of(interface));
        self.ask_ipmi(interface, &mut known, &due.jobs).await;
        // Nobody else has asked in the meantime: the lane was busy.
        let there = self.schedule.borrow().lane_ref(lane).interface == interface.id;
        if let (Some(device), true) = (known, there) {
            self.ipmi.0.borrow_mut().insert(interface.id, device);
        }
        self.start_due(1);
        self.settle();
    }

    async fn ask_ipmi(&self, interface: &Interface, device: &mut Option<Device>, jobs: &[Job]) {
        let mut failed = self.prepare(interface, device).await.err();
        for job in jobs {
            let Some(device) = device.as_mut().filter(|_| failed.is_none()) else {
                let failure = failed.clone().unwrap_or(Failure::Silent);
                self.done(job, failure.reply());
                continue;
            };
            let mut reply = answer::reply(device, &job.item, interface).await;
            if matches!(reply, CheckReply::NetworkError(_)) {
                // The device may have forgotten the session, as after a restart.
                failed = device.prepare(self.shared.context.clock.monotonic()).await.err();
                reply = match &failed {
                    Some(failure) => failure.reply(),
                    None => answer::reply(device, &job.item, interface).await,
                };
                if matches!(reply, CheckReply::NetworkError(_)) && failed.is_none() {
                    failed = Some(Failure::Silent);
                }
            }
            self.done(job, reply);
        }
    }

    async fn prepare(
        &self,
        interface: &Interface,
        device: &mut Option<Device>,
    ) -> Result<(), Failure> {
        if device.is_none() {
            *device = Some(Device::connect(interface, &self.shared).await?);
        }
        let Some(device) = device else { return Err(Failure::Silent) };
        device.prepare(self.shared.context.clock.monotonic()).await
    }
}
