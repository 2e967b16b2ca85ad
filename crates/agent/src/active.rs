//! Active checks.
use crate::Agent;
use std::net::SocketAddr;
pub(crate) async fn run(_agent: &Agent, _server: &str, _local: Option<SocketAddr>) {
    std::future::pending::<()>().await;
}
