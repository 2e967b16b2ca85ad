//! What is due on an interface at one time and goes out together, because its device or its gateway
//! is asked for one thing at a time.

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
    /// The longest timeout of the items.
    pub(super) timeout: Duration,
}

impl Poller {
    /// Takes what is due in a lane, `max` items at most, and the longest of their timeouts. They
    /// are in flight from now on.
    pub(super) fn take_jobs(&self, lane: usize, max: usize) -> (Vec<Job>, Duration) {
        let (mut jobs, mut timeout) = (Vec::new(), Duration::ZERO);
        let mut schedule = self.schedule.borrow_mut();
        // What does not answer is tried with one value.
        let max = if schedule.lane_ref(lane).state.failing() { 1 } else { max };
        while jobs.len() < max {
            let Some((slot, item)) = schedule.take(lane) else { break };
            timeout = timeout.max(self.shared.context.timeout(schedule.snapshot(), &item));
            jobs.push(Job { slot, lane, item });
        }
        drop(schedule);
        self.begun(jobs.len());
        (jobs, timeout)
    }

    /// Like [`Self::take_jobs`], and where they are to go.
    pub(super) fn take_due(&self, lane: usize, max: usize) -> Due {
        let (jobs, timeout) = self.take_jobs(lane, max);
        let interface = self.schedule.borrow().lane_ref(lane).interface().cloned();
        Due { jobs, interface, timeout }
    }
}
