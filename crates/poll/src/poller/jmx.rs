//! JMX within a poller: what is due on an interface goes out in one request for each endpoint.

use std::rc::Rc;
use std::time::Duration;

use config::snapshot::source::Jmx;

use super::Poller;
use super::direct::Job;
use super::together::Due;
use crate::checks::jmx::{NO_ENDPOINT, ask, jmx, reply};
use crate::checks::reply::CheckReply;

/// Items of one request: the gateway asks for one after the other within the timeout.
const TOGETHER_MAX: usize = 32;

impl Poller {
    /// Starts what is due on a JMX interface.
    pub(super) fn start_jmx(self: &Rc<Self>, lane: usize) {
        let due = self.take_due(lane, TOGETHER_MAX);
        drop(tokio::task::spawn_local(Rc::clone(self).run_jmx(due)));
    }

    async fn run_jmx(self: Rc<Self>, due: Due) {
        let mut left = due.jobs;
        while let Some(first) = left.first().map(|job| job.item.clone()) {
            let endpoint = jmx(&first);
            let (these, others): (Vec<Job>, _) =
                left.into_iter().partition(|job| jmx(&job.item) == endpoint);
            left = others;
            self.ask_jmx(endpoint, &these, due.timeout).await;
        }
        self.start_due(1);
        self.settle();
    }

    async fn ask_jmx(&self, endpoint: Option<&Jmx>, jobs: &[Job], limit: Duration) {
        let keys: Vec<&str> = jobs.iter().map(|job| &*job.item.key).collect();
        let answered = match endpoint {
            Some(endpoint) => ask(&self.shared, endpoint, &keys, limit).await,
            None => Err(CheckReply::ConfigError(NO_ENDPOINT.to_owned())),
        };
        match answered {
            Ok(results) => {
                jobs.iter().zip(results).for_each(|(job, result)| self.done(job, reply(result)));
            }
            Err(reply) => jobs.iter().for_each(|job| self.done(job, reply.clone())),
        }
    }
}
