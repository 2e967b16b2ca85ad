//! Where engines of the load balancer connect.

use std::sync::Arc;

use ::api::Api;
use anyhow::Context;
use control::analytics::Board;
use control::authority::Authority;
use control::server::{Needs, serve};
use tokio::net::TcpListener;

use super::base::Base;
use super::{Part, Running, balancing};
use crate::params::Values;

const PARAMETER: &str = "engines";

/// Takes the address that the parameter gives.
pub(crate) fn bind(values: &Values) -> anyhow::Result<Option<TcpListener>> {
    if values.get(PARAMETER).is_empty() {
        return Ok(None);
    }
    let address = values.address(PARAMETER)?;
    let listener = stdx::listening::listen(address)
        .and_then(TcpListener::from_std)
        .with_context(|| format!("cannot listen on {address} (parameter {PARAMETER})"))?;
    Ok(Some(listener))
}

/// Accepts engines and keeps their hosts until the role ends. `board`: where their figures go.
pub(crate) fn start(
    listener: Option<TcpListener>,
    board: Option<Arc<Board>>,
    base: &Base<'_>,
    api: &Arc<Api>,
    values: &Values,
    running: &mut Running,
) -> anyhow::Result<()> {
    let (Some(listener), Some(board)) = (listener, board) else { return Ok(()) };
    let needs = Needs {
        config: Arc::clone(&base.config),
        records: Arc::clone(&base.transactions),
        clock: Arc::clone(&base.clock),
        authority: Authority::of(&base.config, base.clock.unix())?,
        board: Arc::clone(&board),
        dns_hook: Some(values.get("acme-dns-hook")).filter(|path| !path.is_empty()).map(Into::into),
    };
    tracing::info!("engines can connect to {}", listener.local_addr()?);
    let serve = async move {
        if let Err(error) = serve(listener, needs).await {
            stdx::thread::failed("engines", &format!("{error:#}"));
        }
    };
    running.add("engines", Part::task("engines", serve));
    let hosts = balancing::keep_hosts(Arc::clone(api), Arc::clone(&base.config), board);
    running.add("hosts of the load balancer", Part::task("hosts of the load balancer", hosts));
    Ok(())
}
