//! What `vedette bench active` is told.

use bench::active::ActiveOptions;
use clap::Args;

use crate::common::Common;

#[derive(Debug, Args)]
pub(crate) struct Active {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    pub(crate) server: String,
    /// Active agents, a host each.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) agents: usize,
    /// Requests at a time.
    #[arg(long, default_value_t = 16)]
    pub(crate) connections: usize,
    /// Times that each agent asks for its items and sends a value.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rounds: usize,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(crate) keep: bool,
}

impl Active {
    pub(crate) fn options(&self) -> ActiveOptions {
        ActiveOptions {
            server: self.server.clone(),
            login: self.common.access.login(),
            agents: self.agents,
            connections: self.connections,
            rounds: self.rounds,
            pids: self.common.pids.clone(),
            keep: self.keep,
        }
    }
}
