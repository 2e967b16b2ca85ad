//! Simple checks: pings, and whether a service is there, without an agent.

mod params;
mod service;

use config::snapshot::Interface;
use eval::key::ItemKey;
use tokio::sync::Semaphore;

use super::agent::AgentReply;
use super::icmp::{Ping, PingError, lookup};
use super::probe::Check;
use super::vmware;
use params::ServiceCheck;
use service::Asker;

/// Connections to services at one time, of all pollers together; who comes later waits.
const CONNECTIONS_MAX: usize = 8_000;

/// What simple checks share.
#[derive(Debug)]
pub(crate) struct Simple {
    connections: Semaphore,
}

impl Default for Simple {
    fn default() -> Self {
        Self { connections: Semaphore::new(CONNECTIONS_MAX) }
    }
}

/// Checks once.
pub(super) async fn check(check: &Check<'_>) -> AgentReply {
    let Ok(key) = ItemKey::parse(&check.item.key) else {
        return AgentReply::NotSupported(String::from("Invalid item key format."));
    };
    if is_ping(&key.name) {
        return ping(check, &key).await;
    }
    if vmware::is_vmware(&key.name) {
        return vmware::check(check, &key).await;
    }
    match ServiceCheck::parse(&key) {
        Ok(service) => ask(check, &service).await,
        Err(why) => AgentReply::NotSupported(why),
    }
}

/// Whether a key of this name, or one that begins with it, is a ping's.
pub(crate) fn is_ping(key: &str) -> bool {
    key.starts_with("icmpping")
}

async fn ping(check: &Check<'_>, key: &ItemKey) -> AgentReply {
    let ping = match Ping::parse(key) {
        Ok(ping) => ping,
        Err(why) => return AgentReply::NotSupported(why),
    };
    let Some(target) = address(&ping.target, check.interface) else {
        return AgentReply::NotSupported(String::from(
            "Ping item must have target or host interface specified.",
        ));
    };
    let result = match lookup(&check.shared.resolver, target, check.timeout).await {
        Some(to) => check.shared.pinger.ping(ping.series(to)).await,
        None => Err(PingError::Unsendable),
    };
    match result {
        Ok(outcome) => AgentReply::Value(ping.value(&outcome)),
        Err(PingError::Stopping) => AgentReply::Nothing,
        Err(error) => AgentReply::NotSupported(error.to_string()),
    }
}

async fn ask(check: &Check<'_>, service: &ServiceCheck) -> AgentReply {
    let Some(target) = address(&service.target, check.interface) else {
        return AgentReply::NotSupported(String::from(
            "Check service item must have IP parameter or host interface specified.",
        ));
    };
    // Closed by nobody: there is always a permit in the end.
    let _room = check.shared.simple.connections.acquire().await;
    let shared = check.shared;
    let asker = Asker {
        resolver: &shared.resolver,
        source: shared.config.source_ip,
        clock: &*shared.deps.clock,
    };
    match service::ask(service, target, check.timeout, &asker).await {
        Ok(took) => AgentReply::Value(service.value(took)),
        Err(why) => AgentReply::LocalError(why),
    }
}

/// Whom to ask: the key says so, else the interface.
fn address<'a>(target: &'a str, interface: Option<&'a Interface>) -> Option<&'a str> {
    if target.is_empty() { interface.map(Interface::address) } else { Some(target) }
}
