//! What `vedette bench active` is told.

use bench::active::ActiveOptions;
use clap::Args;

use super::args::Common;

#[derive(Debug, Args)]
pub(super) struct Active {
    #[command(flatten)]
    pub(super) common: Common,
    /// Trapper port of the server.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:10051")]
    pub(super) server: String,
    /// Active agents, a host each.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(super) agents: usize,
    /// Requests at a time.
    #[arg(long, default_value_t = 16)]
    pub(super) connections: usize,
    /// Times that each agent asks for its items and sends a value.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) rounds: usize,
    /// Leave the hosts on the server.
    #[arg(long)]
    pub(super) keep: bool,
}

impl Active {
    pub(super) fn options(&self) -> ActiveOptions {
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
