//! Those who accept: the trapper for agents and senders, and SNMP traps.

use std::net::SocketAddr;
use std::sync::Arc;

use listen::{Backend, Bound, Intake, ListenConfig, Listener};

use super::{Kept, Part};
use crate::params::Values;

/// Takes the addresses that the parameters give.
pub(crate) async fn bind(values: &Values) -> anyhow::Result<Bound> {
    Ok(Listener::bind(config(values)?).await?)
}

/// Serves; the handle is where the trapper listens. Values go the way of `intake`.
pub(crate) fn start(
    bound: Bound,
    intake: &Intake,
    backend: impl Backend + 'static,
) -> anyhow::Result<Part<Vec<SocketAddr>>> {
    let handle = bound.start(intake, Arc::new(backend))?;
    let addresses = handle.addresses().to_vec();
    Ok(Part::new(addresses, async move {
        handle.stop().await;
        Kept::All
    }))
}

fn config(values: &Values) -> anyhow::Result<ListenConfig> {
    Ok(ListenConfig {
        listen: vec![values.address("trapper")?],
        stats_allowed: values.get("stats-allowed").to_owned(),
        snmp_traps: match values.get("snmp-traps") {
            "" => None,
            _ => Some(values.address("snmp-traps")?),
        },
        snmp_trap_file: values.path("snmp-trap-file"),
        ..ListenConfig::default()
    })
}
