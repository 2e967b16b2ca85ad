//! Simple checks: pings, and whether a service is there, without an agent.

mod params;
mod service;

use std::sync::Arc;

use config::snapshot::{Interface, Item};
use eval::key::ItemKey;
use tokio::sync::Semaphore;

use super::check::{Check, Shared};
use super::http;
use super::icmp::{Ping, PingError, Pinger, lookup};
use super::reply::CheckReply;
use super::vmware;
use crate::schedule::{Group, Waits};
use params::ServiceCheck;
use service::Asker;

/// Connections to services at one time, of all pollers together; who comes later waits.
const CONNECTIONS_MAX: usize = 8_000;

/// What simple checks keep.
pub(crate) struct Simple {
    pub(crate) pinger: Pinger,
    vmware: vmware::Services,
    connections: Semaphore,
}

impl Simple {
    /// Nothing is started yet.
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let clock = &shared.context.clock;
        let make = {
            let shared = Arc::clone(shared);
            Arc::new(move || http::new_client(&shared))
        };
        Self {
            pinger: Pinger::new(Arc::clone(clock), shared.config.source_ip),
            vmware: vmware::Services::new(Arc::clone(clock), make),
            connections: Semaphore::new(CONNECTIONS_MAX),
        }
    }

    /// Checks once.
    pub(crate) async fn check(&self, check: &Check<'_>) -> CheckReply {
        let Ok(key) = ItemKey::parse(&check.item.key) else {
            return CheckReply::NotSupported(String::from("Invalid item key format."));
        };
        if is_ping(&key.name) {
            return self.ping(check, &key).await;
        }
        if vmware::is_vmware(&key.name) {
            return vmware::check(&self.vmware, check, &key).await;
        }
        match ServiceCheck::parse(&key) {
            Ok(service) => self.ask(check, &service).await,
            Err(why) => CheckReply::NotSupported(why),
        }
    }
}

/// What a simple check waits for.
pub(crate) fn waits(item: &Item) -> Waits {
    if vmware::is_vmware(&item.key) {
        Waits::Group(Group::Vmware)
    } else if is_ping(&item.key) {
        Waits::Pings
    } else {
        Waits::Group(Group::Services)
    }
}

/// Whether a key of this name, or one that begins with it, is a ping's.
fn is_ping(key: &str) -> bool {
    key.starts_with("icmpping")
}

impl Simple {
    async fn ping(&self, check: &Check<'_>, key: &ItemKey) -> CheckReply {
        let ping = match Ping::parse(key) {
            Ok(ping) => ping,
            Err(why) => return CheckReply::NotSupported(why),
        };
        let Some(target) = address(&ping.target, check.interface) else {
            return CheckReply::NotSupported(String::from(
                "Ping item must have target or host interface specified.",
            ));
        };
        let result = match lookup(&check.shared.context.resolver, target, check.timeout).await {
            Some(to) => self.pinger.ping(ping.series(to)).await,
            None => Err(PingError::Unsendable),
        };
        match result {
            Ok(outcome) => CheckReply::Value(ping.value(&outcome)),
            Err(PingError::Stopping) => CheckReply::Nothing,
            Err(error) => CheckReply::NotSupported(error.to_string()),
        }
    }

    async fn ask(&self, check: &Check<'_>, service: &ServiceCheck) -> CheckReply {
        let Some(target) = address(&service.target, check.interface) else {
            return CheckReply::NotSupported(String::from(
                "Check service item must have IP parameter or host interface specified.",
            ));
        };
        // Closed by nobody: there is always a permit in the end.
        let _room = self.connections.acquire().await;
        let shared = check.shared;
        let asker = Asker {
            resolver: &shared.context.resolver,
            source: shared.config.source_ip,
            clock: &*shared.context.clock,
        };
        match service::ask(service, target, check.timeout, &asker).await {
            Ok(took) => CheckReply::Value(service.value(took)),
            Err(why) => CheckReply::LocalError(why),
        }
    }
}

/// Whom to ask: the key says so, else the interface.
fn address<'a>(target: &'a str, interface: Option<&'a Interface>) -> Option<&'a str> {
    if target.is_empty() { interface.map(Interface::address) } else { Some(target) }
}
