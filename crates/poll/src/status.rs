//! What other layers read of pollers and ask of them.

use std::sync::Arc;

use collect::Context;
use collect::counters::Counters;
use collect::queue::QueueReport;
use config::snapshot::{Host, Interface, Item};
use model::ItemId;
use stdx::queue;
use stdx::worktime::Shares;

use crate::checks::check::{Check, Shared};
use crate::checks::reply::CheckReply;
use crate::engines::Engines;
use crate::poller::{Command, Reply};

/// A handle to running pollers; clones are cheap.
#[derive(Clone)]
pub struct Status(pub(crate) Arc<Running>);

pub(crate) struct Running {
    pub(crate) shared: Arc<Shared>,
    pub(crate) engines: Arc<Engines>,
    pub(crate) pollers: Vec<queue::Sender<Command>>,
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Status")
    }
}

impl Status {
    /// What pollers share with listeners.
    pub fn context(&self) -> &Arc<Context> {
        &self.0.shared.context
    }

    /// What is late, with at most `limit` rows of details: checks, and values of active agents.
    pub async fn queue(&self, limit: usize) -> QueueReport {
        let mut report = QueueReport::default();
        for poller in &self.0.pollers {
            let (reply, answer) = Reply::new();
            if poller.send(Command::Queue { limit, reply }).await.is_ok()
                && let Ok(part) = answer.await
            {
                report.merge(part);
            }
        }
        let context = Arc::clone(self.context());
        // The report goes through all active items: not on the caller's thread.
        let add = move || {
            let (snapshot, now) = (context.snapshots.load(), context.now());
            context.expected.report(&snapshot, now.clock, limit, &mut report);
            report.limit(limit);
            report
        };
        tokio::task::spawn_blocking(add).await.unwrap_or_default()
    }

    /// Makes items due at once; returns how many of them are scheduled.
    pub async fn check_now(&self, items: &[ItemId]) -> usize {
        let mut found = 0;
        for poller in &self.0.pollers {
            let (reply, answer) = Reply::new();
            let command = Command::CheckNow { items: items.to_vec(), reply };
            if poller.send(command).await.is_ok() {
                found += answer.await.unwrap_or(0);
            }
        }
        found
    }

    pub fn counters(&self) -> &Counters {
        &self.context().counters
    }

    /// Shares of the last minute that the processes of this name (`trapper`, `snmp poller` …)
    /// worked; `None` = collection has no such work.
    pub fn shares(&self, process: &str) -> Option<Shares> {
        match process {
            "icmp pinger" => Some(self.0.engines.pinger().busy().shares()),
            name => self.counters().shares(name),
        }
    }

    /// Checks once right now, outside the schedule (`item.test`).
    pub async fn check_once(
        &self,
        host: &Arc<Host>,
        interface: Option<&Interface>,
        item: &Item,
    ) -> CheckReply {
        let context = self.context();
        let timeout = context.timeout(&context.snapshots.load(), item);
        let check = Check { shared: &self.0.shared, host, item, interface, timeout };
        self.0.engines.check(&check).await
    }
}
