//! What is due on an interface at one time and goes out together, because its device or its gateway
//! is asked for one thing at a time.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use config::snapshot::Interface;

use super::Poller;
use super::direct::Job;

/// Items of one interface that go out together; what is left follows.
pub(super) const TOGETHER_MAX: usize = 1000;

/// What is due.
pub(super) struct Due {
    pub(super) jobs: Vec<Job>,
    /// The interface; `None` = it is gone.
    pub(super) interface: Option<Interface>,
    /// Its address, if it is known.
    pub(super) ip: Option<IpAddr>,
    /// The longest timeout of the items.
    pub(super) timeout: Duration,
}

impl Poller {
    /// Takes what is due in a lane, `max` items at most. They are in flight from now on.
    pub(super) fn take_due(&self, lane: usize, max: usize) -> Due {
        let mut jobs = Vec::new();
        let mut schedule = self.schedule.borrow_mut();
        // What does not answer is tried with one value.
        let max = if schedule.lane_ref(lane).state.failing() { 1 } else { max };
        let mut timeout = Duration::ZERO;
        while jobs.len() < max {
            let Some((slot, item)) = schedule.take(lane) else { break };
            timeout = timeout.max(self.shared.timeout(schedule.snapshot(), &item));
            jobs.push(Job { slot, lane, item });
        }
        let lane = schedule.lane_ref(lane);
        let ip = match lane.resolved {
            Some((ip, until)) if self.shared.deps.clock.monotonic() < until => Some(ip),
            _ => None,
        };
        let interface = lane.interface().cloned();
        drop(schedule);
        self.in_flight.set(self.in_flight.get() + jobs.len());
        let counters = &self.shared.counters;
        counters.checks.fetch_add(jobs.len() as u64, Ordering::Relaxed);
        counters.checks_in_flight.fetch_add(jobs.len(), Ordering::Relaxed);
        Due { jobs, interface, ip, timeout }
    }
}
