//! What `vedette bench limit` is told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::search::Plan;
use crate::Login;

/// How each step is observed.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Between new hosts and the observation; `None` = one interval, the agents' delay and 5 s.
    pub settle: Option<Duration>,
    /// How long it takes, at least 3 s.
    pub seconds: u64,
    /// Readers, which open pages of the UI meanwhile.
    pub readers: usize,
}

/// Options of `vedette bench limit`.
#[derive(Debug, Clone)]
pub struct LimitOptions {
    /// The API of the server.
    pub login: Login,
    /// The numbers of hosts.
    pub plan: Plan,
    /// Items per host.
    pub items: usize,
    /// Update interval of each item, seconds.
    pub interval_s: u64,
    /// How long an agent takes to answer.
    pub delay: Duration,
    /// How each step is observed.
    pub watch: Watch,
    /// The server's processes; without any, the whole machine is what the rules look at.
    pub pids: Vec<u32>,
    /// First address of the agents.
    pub listen: SocketAddr,
    /// Consecutive addresses that they listen on.
    pub addresses: usize,
    /// File with finished steps, which are not observed again.
    pub resume: Option<PathBuf>,
    /// Leave the hosts on the server.
    pub keep: bool,
}

impl LimitOptions {
    /// Checks per second of so many hosts.
    pub(super) fn ideal_per_s(&self, hosts: usize) -> f64 {
        (hosts * self.items) as f64 / self.interval_s.max(1) as f64
    }

    /// How long the server gets after new hosts.
    pub(super) fn settle(&self) -> Duration {
        self.watch.settle.unwrap_or_else(|| {
            Duration::from_secs(self.interval_s) + self.delay + Duration::from_secs(5)
        })
    }

    /// What steps of one file must have in common.
    pub(super) fn conditions(&self) -> Value {
        json!({
            "api": self.login.url, "items": self.items, "interval_s": self.interval_s,
            "delay_s": self.delay.as_secs_f64(), "settle_s": self.settle().as_secs_f64(),
            "seconds": self.watch.seconds, "readers": self.watch.readers,
            "cpu_of": if self.pids.is_empty() { "the machine" } else { "the server" },
        })
    }
}
