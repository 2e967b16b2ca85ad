//! What an item asks of which device; one check outside the schedule.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::source::Source;
use config::snapshot::{Interface, Item, ItemShape};
use model::InterfaceId;

use super::Peer;
use super::engine::Engine;
use super::plan::Plan;
use super::question::{Ended, Question};
use crate::checks::check::{Check, Shared};
use crate::checks::dial;
use crate::checks::reply::CheckReply;

pub(crate) const NO_INTERFACE: &str = "The item has no SNMP interface to check.";

/// What items ask for that were asked lately: most are items of few templates.
#[derive(Debug, Default)]
pub(crate) struct Plans(HashMap<usize, (Arc<ItemShape>, Plan), foldhash::fast::RandomState>);

impl Plans {
    const KEPT_MAX: usize = 10_000;

    pub(crate) fn of(&mut self, item: &Item) -> Result<Plan, String> {
        // The shape is kept with the plan, so that its address means no other.
        let address = Arc::as_ptr(&item.shape) as usize;
        if let Some((_, plan)) = self.0.get(&address) {
            return Ok(plan.clone());
        }
        let plan = plan(item)?;
        if self.0.len() >= Self::KEPT_MAX {
            self.0.clear();
        }
        self.0.insert(address, (Arc::clone(&item.shape), plan.clone()));
        Ok(plan)
    }
}

/// What an item asks for. The error is the item's.
fn plan(item: &Item) -> Result<Plan, String> {
    match item.extra.as_ref().map(|extra| &extra.source) {
        Some(Source::Snmp(oid)) => Plan::parse(oid),
        _ => Plan::parse(""),
    }
}

pub(crate) fn peer(interface: &Interface, ip: IpAddr) -> Option<Peer> {
    Some(Peer {
        address: SocketAddr::new(ip, interface.port),
        shown: if interface.use_ip {
            Arc::clone(&interface.ip)
        } else {
            Arc::clone(&interface.dns)
        },
        snmp: Arc::clone(interface.snmp.as_ref()?),
    })
}

pub(crate) async fn resolve(
    shared: &Shared,
    interface: &Interface,
    timeout: Duration,
) -> Result<IpAddr, CheckReply> {
    match tokio::time::timeout(timeout, dial::resolve(&shared.context.resolver, interface)).await {
        Ok(Ok(ip)) => Ok(ip),
        Ok(Err(why)) => Err(CheckReply::NetworkError(why)),
        Err(_) => {
            let (name, port) = (&interface.dns, interface.port);
            Err(CheckReply::NetworkError(format!(
                "Cannot resolve address: [[{name}]:{port}]: timed out"
            )))
        }
    }
}

/// One check outside the schedule.
pub(crate) async fn check_once(check: &Check<'_>) -> CheckReply {
    let none = || CheckReply::ConfigError(NO_INTERFACE.to_owned());
    let Some(interface) = check.interface else { return none() };
    let plan = match plan(check.item) {
        Ok(plan) => plan,
        Err(why) => return CheckReply::ConfigError(why),
    };
    let ip = match resolve(check.shared, interface, check.timeout).await {
        Ok(ip) => ip,
        Err(reply) => return reply,
    };
    let Some(peer) = peer(interface, ip) else { return none() };
    let clock = Arc::clone(&check.shared.context.clock);
    let source = check.shared.config.source_ip;
    let timeout = check.timeout;
    let asked = tokio::task::spawn_blocking(move || {
        let seed = clock.unix().as_nanos() as u64;
        let mut engine = match Engine::new(source, seed) {
            Ok(engine) => engine,
            Err(error) => return CheckReply::LocalError(error.to_string()),
        };
        let mut question = Question::new(peer, InterfaceId(0), timeout);
        question.add((), plan);
        engine.start(question, clock.monotonic());
        engine.flush();
        let mut ended = Vec::new();
        loop {
            engine.ended(&mut ended);
            if let Some(Ended { reply, .. }) = ended.pop() {
                return reply;
            }
            engine.advance(clock.monotonic(), Duration::from_millis(20));
            engine.time_out(clock.monotonic());
        }
    });
    asked.await.unwrap_or_else(|error| CheckReply::LocalError(error.to_string()))
}
