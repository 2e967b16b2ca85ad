//! Parameters of `vedette bench limit`.

use std::path::PathBuf;
use std::time::Duration;

use bench::limit::{LimitOptions, Plan, Watch};
use clap::Args;

use crate::common::{Checks, Common, duration};

#[derive(Debug, Args)]
#[command(mut_arg("items", |arg| arg.default_value("1")))]
#[command(mut_arg("interval", |arg| arg.default_value("50")))]
#[command(mut_arg("delay", |arg| arg.default_value("3s")))]
pub(crate) struct Limit {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Hosts of the first step.
    #[arg(long, default_value_t = 1000)]
    start: usize,
    /// Each step has so many times the hosts of the one before, until a rule applies.
    #[arg(long, default_value_t = 1.5)]
    factor: f64,
    /// Most hosts of a step.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    hosts_max: usize,
    /// Then the gap around the limit is halved until it is at most this percentage of the hosts that are too
    /// many; 100: not at all.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    precision: f64,
    /// Between new hosts and the observation [default: one interval, the delay and 5 s].
    #[arg(long, value_parser = duration)]
    settle: Option<Duration>,
    #[command(flatten)]
    pub(crate) checks: Checks,
    /// Simulated users of the UI meanwhile: each signs in and opens problems, hosts and a graph, a page a second.
    #[arg(long, value_name = "N", default_value_t = 0)]
    readers: usize,
    /// File with the finished steps: written after each step, and not observed again if it exists. Hosts that an
    /// interrupted run left on the server are removed.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Leave the hosts on the server.
    #[arg(long)]
    keep: bool,
}

impl Limit {
    pub(crate) fn options(&self) -> LimitOptions {
        LimitOptions {
            login: self.common.access.login(),
            plan: Plan {
                start: self.start,
                factor: self.factor,
                hosts_max: self.hosts_max,
                precision: self.precision,
            },
            items: self.checks.items,
            interval_s: self.checks.interval,
            delay: self.checks.delay,
            watch: Watch {
                settle: self.settle,
                seconds: self.checks.seconds,
                readers: self.readers,
            },
            pids: self.common.pids.clone(),
            listen: self.checks.listen,
            addresses: self.checks.addresses,
            resume: self.resume.clone(),
            keep: self.keep,
        }
    }
}
