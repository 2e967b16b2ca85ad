//! Arguments of `vedette bench alerts`.

use std::net::SocketAddr;
use std::time::Duration;

use bench::alerts::{AlertsOptions, Parts};
use clap::Args;

use crate::common::{Common, duration};

#[derive(Debug, Args)]
pub(crate) struct Alerts {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    pub(crate) server: String,
    /// Hosts whose values open problems.
    #[arg(long, default_value_t = 200)]
    pub(crate) hosts: usize,
    /// Items of each of them, with a trigger each.
    #[arg(long, default_value_t = 50)]
    pub(crate) items: usize,
    /// Concurrent sessions of the webhook.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) sessions: u32,
    #[command(flatten)]
    pub(crate) sizes: Sizes,
    /// Address of the receiver of the messages; port 0 = any.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Leave what was made on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

/// How much is measured.
#[derive(Debug, Args)]
pub(crate) struct Sizes {
    /// Problems that are open before anything is measured.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) open: u64,
    /// New problems per second while the latency is measured; 0 = do not measure it.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) rate: u64,
    /// How long the latency is measured, and the values of other hosts beside grouped problems.
    #[arg(long, default_value_t = 30)]
    pub(crate) seconds: u64,
    /// Messages that wait before their deliveries are measured; 0 = do not measure them.
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    pub(crate) messages: u64,
    /// Problems that open at once and are grouped by host; 0 = do not measure them.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) grouped: u64,
    /// From the first problem of a host to the message about all of them, in whole seconds.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) group_wait: Duration,
    /// Values per second of other hosts beside grouped problems.
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) values: u64,
}

impl Alerts {
    pub(crate) fn options(&self) -> AlertsOptions {
        let sizes = &self.sizes;
        AlertsOptions {
            server: self.server.clone(),
            login: self.common.access.login(),
            hosts: self.hosts,
            items: self.items,
            sessions: self.sessions,
            parts: Parts {
                open: sizes.open,
                rate: sizes.rate,
                seconds: sizes.seconds,
                messages: sizes.messages,
                grouped: sizes.grouped,
                group_wait: sizes.group_wait,
                values: sizes.values,
            },
            listen: self.listen,
            pids: self.common.pids.clone(),
            keep: self.keep,
        }
    }
}
