//! `vedette bench history-service`: what it is told.

use bench::service::ServiceOptions;
use clap::Args;

use crate::common::Common;

#[derive(Debug, Args)]
pub(crate) struct HistoryService {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The service over gRPC, the server's parameter history-service.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8081")]
    grpc: String,
    /// Hosts to make.
    #[arg(long, default_value_t = 100)]
    hosts: usize,
    /// Items per host.
    #[arg(long, default_value_t = 45)]
    items: usize,
    /// Values per batch.
    #[arg(long, default_value_t = 1000)]
    batch: usize,
    /// Streams at a time, beside the measurement of one.
    #[arg(long, default_value_t = 4)]
    streams: usize,
    /// How long each of the eight parts is measured.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Leave the hosts on the server.
    #[arg(long)]
    keep: bool,
}

impl HistoryService {
    pub(crate) fn options(&self) -> ServiceOptions {
        ServiceOptions {
            login: self.common.access.login(),
            grpc: self.grpc.clone(),
            hosts: self.hosts,
            items: self.items,
            batch: self.batch,
            streams: self.streams,
            seconds: self.seconds,
            pids: self.common.pids.clone(),
            keep: self.keep,
        }
    }
}
