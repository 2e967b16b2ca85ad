//! A check with a task of its own: agents that are named or want encryption, and everything that
//! is no agent.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::{Host, Interface, Item, ItemType};
use wire::agent::passive::Dialect;

use super::direct::Job;
use super::{Poller, RESOLVED_FOR};
use crate::checks::agent::{self, Target};
use crate::checks::check::Check;
use crate::checks::dial;
use crate::checks::reply::CheckReply;
use crate::engines::engine;
use collect::counters::{Process, timed};

impl Poller {
    pub(super) async fn check(self: Rc<Self>, slot: u32, lane: usize, item: Arc<Item>) {
        let clock = &self.shared.context.clock;
        let begin = clock.monotonic();
        let timeout = self.shared.context.timeout(self.schedule.borrow().snapshot(), &item);
        let reply = self.ask(lane, &item, timeout).await;
        let spent = clock.monotonic().saturating_sub(begin);
        self.schedule.borrow_mut().paced(lane, spent, timeout);
        let local = matches!(reply, CheckReply::LocalError(_));
        self.done(&Job { slot, lane, item }, reply);
        if !local {
            self.start_due(1);
            self.settle();
        }
    }

    async fn ask(&self, lane: usize, item: &Item, timeout: Duration) -> CheckReply {
        let host = self.schedule.borrow().host_of(item).cloned();
        let Some(host) = host else { return CheckReply::Nothing };
        let interface = host.interface(item.interface()).cloned();
        match (item.kind, &interface) {
            (ItemType::Agent, Some(interface)) => {
                self.ask_agent(lane, &host, interface, &item.key, timeout).await
            }
            _ => {
                let interface = interface.as_ref();
                let shared = &self.shared;
                let check = Check { shared, host: &host, item, interface, timeout };
                let process = engine(item.kind).map_or(Process::Poller, |engine| engine.process);
                let busy = shared.context.counters.process(process);
                timed(&*shared.context.clock, busy, self.number, self.engines.check(&check)).await
            }
        }
    }

    async fn ask_agent(
        &self,
        lane: usize,
        host: &Arc<Host>,
        interface: &Interface,
        key: &str,
        timeout: Duration,
    ) -> CheckReply {
        let (dialect, resolved) = {
            let schedule = self.schedule.borrow();
            let lane = schedule.lane_ref(lane);
            (lane.dialect, lane.resolved)
        };
        let ip = match self.address(lane, interface, resolved, timeout).await {
            Ok(ip) => ip,
            Err(why) => {
                return CheckReply::NetworkError(format!("Get value from agent failed: {why}"));
            }
        };
        let address = SocketAddr::new(ip, interface.port);
        let target = Target { shared: &self.shared, host, address, key, timeout };
        let (reply, spoken) = agent::ask(&target, dialect).await;
        if spoken != dialect && spoken == Dialect::Plain {
            let mut schedule = self.schedule.borrow_mut();
            let lane = schedule.lane_mut(lane);
            if lane.interface == interface.id {
                lane.dialect = spoken;
            }
        }
        reply
    }

    async fn address(
        &self,
        lane: usize,
        interface: &Interface,
        resolved: Option<(IpAddr, Duration)>,
        timeout: Duration,
    ) -> Result<IpAddr, String> {
        let now = self.shared.context.clock.monotonic();
        if let Some((ip, until)) = resolved
            && now < until
        {
            return Ok(ip);
        }
        let resolving = dial::resolve(&self.shared.context.resolver, interface);
        let resolving = tokio::time::timeout(timeout, resolving);
        let ip = resolving.await.unwrap_or_else(|_| {
            let (name, port) = (&interface.dns, interface.port);
            Err(format!("Cannot resolve address: [[{name}]:{port}]: timed out"))
        })?;
        let mut schedule = self.schedule.borrow_mut();
        let lane = schedule.lane_mut(lane);
        if lane.interface == interface.id {
            lane.resolved = Some((ip, now + RESOLVED_FOR));
        }
        Ok(ip)
    }
}
