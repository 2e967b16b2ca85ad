//! Active checks: asks a server what to measure, measures on schedule, sends values in batches.
//!
//! What was not taken is kept, bounded, and sent again with the same session and ids, so that the
//! server can drop what it already has.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use eval::interval::UpdateInterval;
use jiff::tz::TimeZone;
use wire::Moment;
use wire::agent::active::{
    ActiveAnswer, ActiveChecks, ActiveItem, AgentValue, Heartbeat, encode_agent_data,
};
use wire::sender::SendAnswer;

use crate::config::Detail;
use crate::get::GetError;
use crate::keys::{ACTIVE_ONLY, Origin};
use crate::{Agent, PROTOCOL_VERSION};

/// Most values in one message.
const BATCH_VALUES_MAX: usize = 1000;
/// Most items taken from a server.
const ITEMS_MAX: usize = 10_000;
/// Longest pause of the loop: how late a stepped clock is noticed.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Longest host metadata and interface that servers accept.
pub(crate) const METADATA_BYTES_MAX: usize = 2034;
pub(crate) const INTERFACE_BYTES_MAX: usize = 255;
const VARIANT: u8 = 1;
const NO_LOGS: &str =
    "The built-in agent does not follow log files: install a Zabbix agent for this item.";

/// An item of the server's list and when it is due.
#[derive(Debug, PartialEq)]
struct Planned {
    key: String,
    delay: String,
    interval: UpdateInterval,
    timeout: Option<Duration>,
    /// Seconds since 1970; `None` = never.
    next: Option<u32>,
}

/// The server's list.
#[derive(Debug, Default)]
struct Plan {
    items: BTreeMap<u64, Planned>,
}

impl Plan {
    /// Takes a new list. Items that did not change keep their time; new ones with a delay are due
    /// now. What the list says wrongly comes back as values that are not supported.
    fn replace(
        &mut self,
        list: &[ActiveItem<'_>],
        now: u32,
        zone: &TimeZone,
    ) -> Vec<(u64, String)> {
        let mut old = std::mem::take(&mut self.items);
        let mut errors = Vec::new();
        for item in list.iter().take(ITEMS_MAX) {
            if let Some(planned) = old.remove(&item.itemid)
                && planned.key == item.key
                && planned.delay == item.delay
            {
                self.items.insert(item.itemid, planned);
                continue;
            }
            match UpdateInterval::parse(&item.delay) {
                Ok(interval) => {
                    let due_now = interval.delay_at(i64::from(now), zone) > 0;
                    let later = || interval.next_check(item.itemid, false, now, zone);
                    let next = if due_now { Some(now) } else { later() };
                    let planned = Planned {
                        key: item.key.clone().into_owned(),
                        delay: item.delay.clone().into_owned(),
                        timeout: eval::num::parse_seconds(&item.timeout)
                            .map(|seconds| Duration::from_secs(u64::from(seconds))),
                        interval,
                        next,
                    };
                    self.items.insert(item.itemid, planned);
                }
                Err(error) => errors.push((item.itemid, error.to_string())),
            }
        }
        errors
    }

    /// Items that are due, each put back to its next time.
    fn due(&mut self, now: u32, zone: &TimeZone) -> Vec<(u64, String, Option<Duration>)> {
        let mut due = Vec::new();
        for (itemid, item) in &mut self.items {
            if item.next.is_some_and(|next| next <= now) {
                due.push((*itemid, item.key.clone(), item.timeout));
                item.next = item.interval.next_check(*itemid, false, now, zone);
            }
        }
        due
    }
}

/// Values that wait to be sent.
#[derive(Debug)]
struct Buffer {
    values: VecDeque<AgentValue>,
    values_max: usize,
    next_id: u64,
    /// Values given up because the server was away too long.
    lost: u64,
    /// When the oldest waiting value came, monotonic.
    since: Option<Duration>,
}

impl Buffer {
    const fn new(values_max: usize) -> Self {
        Self { values: VecDeque::new(), values_max, next_id: 1, lost: 0, since: None }
    }

    fn push(&mut self, itemid: u64, value: Result<String, String>, at: Moment, now: Duration) {
        if self.values.len() == self.values_max {
            self.values.pop_front();
            self.lost += 1;
        }
        self.values.push_back(AgentValue { itemid, value, id: self.next_id, at });
        self.next_id += 1;
        self.since.get_or_insert(now);
    }

    /// Half full, or the oldest value waits long enough.
    fn is_due(&self, now: Duration, wait: Duration) -> bool {
        let waited = self.since.is_some_and(|since| now.saturating_sub(since) >= wait);
        !self.values.is_empty() && (waited || 2 * self.values.len() >= self.values_max)
    }

    fn batch(&self) -> Vec<AgentValue> {
        self.values.iter().take(BATCH_VALUES_MAX).cloned().collect()
    }

    /// The server took all values up to `id`.
    fn taken(&mut self, id: u64, now: Duration) {
        while self.values.front().is_some_and(|value| value.id <= id) {
            self.values.pop_front();
        }
        self.since = if self.values.is_empty() { None } else { Some(now) };
    }
}

/// Active checks of one host on one server or cluster (addresses of its nodes); ends when dropped.
pub(crate) async fn run(agent: &Agent, nodes: &[String], host: &str, local: Option<SocketAddr>) {
    let Some(session) = new_session() else {
        tracing::error!("active checks are disabled: the system provides no random numbers");
        return;
    };
    let mut worker = Worker {
        agent,
        nodes: Nodes { addresses: nodes, current: 0, is_reachable: true },
        host,
        local,
        session,
        plan: Plan::default(),
        buffer: Buffer::new(agent.config().active.buffer_values_max),
        config_revision: 0,
        zone: TimeZone::system(),
    };
    worker.run().await;
}

/// The nodes of a cluster. One is used until it fails.
struct Nodes<'a> {
    addresses: &'a [String],
    current: usize,
    /// As logged last.
    is_reachable: bool,
}

impl Nodes<'_> {
    fn address(&self) -> &str {
        self.addresses.get(self.current).map_or("", String::as_str)
    }

    /// Sends a message to the current node, and to the others if it fails. Logs only when all nodes become
    /// unreachable, or one is reachable again.
    async fn exchange(&mut self, agent: &Agent, message: &str) -> Option<Vec<u8>> {
        let timeout = agent.config().timeout;
        for _ in 0..self.addresses.len() {
            let exchanged = agent.dialer().exchange(self.address(), message);
            let result = tokio::time::timeout(timeout, exchanged).await;
            let server = self.address();
            match result.unwrap_or(Err(GetError::Timeout(timeout))) {
                Ok(response) => {
                    if !self.is_reachable {
                        tracing::info!(server, "active checks work again");
                    }
                    self.is_reachable = true;
                    return Some(response);
                }
                Err(error) if self.is_reachable => {
                    tracing::warn!(server, %error, "cannot exchange active checks with the server");
                }
                Err(_) => {}
            }
            self.current = (self.current + 1) % self.addresses.len();
        }
        self.is_reachable = false;
        None
    }
}

/// 32 hexadecimal digits.
fn new_session() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Worker<'a> {
    agent: &'a Agent,
    nodes: Nodes<'a>,
    host: &'a str,
    local: Option<SocketAddr>,
    session: String,
    plan: Plan,
    buffer: Buffer,
    config_revision: u64,
    zone: TimeZone,
}

impl Worker<'_> {
    async fn run(&mut self) {
        let config = self.agent.config().active.clone();
        let (mut refresh_at, mut beat_at) = (Duration::ZERO, Duration::ZERO);
        loop {
            let now = self.agent.clock().monotonic();
            if !config.heartbeat.is_zero() && now >= beat_at {
                self.beat().await;
                beat_at = now + config.heartbeat;
            }
            if now >= refresh_at {
                self.refresh().await;
                refresh_at = now + config.refresh;
            }
            self.measure().await;
            if self.buffer.is_due(self.agent.clock().monotonic(), config.buffer_send) {
                self.send().await;
            }
            // Checks are due at whole seconds.
            let to_second = 1_000_000_000 - self.agent.clock().unix().subsec_nanos();
            tokio::time::sleep(Duration::from_nanos(to_second.into()).min(PAUSE_MAX)).await;
        }
    }

    fn moment(&self) -> Moment {
        Moment::from_unix(self.agent.clock().unix())
    }

    async fn talk(&mut self, message: &str) -> Option<Vec<u8>> {
        self.nodes.exchange(self.agent, message).await
    }

    /// A text about this host, at most `bytes_max` long; empty if its item has no value.
    async fn detail(&self, detail: &Detail, bytes_max: usize) -> String {
        let text = match detail {
            Detail::Text(text) => return text.clone(),
            Detail::Item(key) => self.agent.own_value(key).await,
        };
        match text {
            Ok(text) if text.len() <= bytes_max => text,
            Ok(text) => {
                let bytes = text.len();
                tracing::warn!(
                    bytes,
                    "a value for autoregistration is longer than {bytes_max} bytes"
                );
                String::new()
            }
            Err(error) => {
                tracing::warn!(%error, "cannot get a value for autoregistration");
                String::new()
            }
        }
    }

    async fn beat(&mut self) {
        let seconds = self.agent.config().active.heartbeat.as_secs();
        let message = Heartbeat {
            host: self.host.into(),
            heartbeat_freq: u32::try_from(seconds).unwrap_or(u32::MAX),
            version: PROTOCOL_VERSION.into(),
            variant: VARIANT,
        };
        self.talk(&message.encode()).await;
    }

    async fn refresh(&mut self) {
        let config = &self.agent.config().active;
        // An agent that listens on all addresses is polled at the one that the server sees.
        let ip = self.local.map(|local| local.ip()).filter(|ip| !ip.is_unspecified());
        let request = ActiveChecks {
            host: self.host.into(),
            host_metadata: self.detail(&config.metadata, METADATA_BYTES_MAX).await.into(),
            interface: self.detail(&config.interface, INTERFACE_BYTES_MAX).await.into(),
            ip: ip.map(|ip| ip.to_string()).unwrap_or_default().into(),
            port: self.local.map(|local| local.port()),
            config_revision: self.config_revision,
            session: self.session.as_str().into(),
            version: PROTOCOL_VERSION.into(),
            variant: VARIANT,
        };
        let message = request.encode();
        let Some(answer) = self.talk(&message).await else { return };
        let text = String::from_utf8_lossy(&answer);
        match ActiveAnswer::parse(&text) {
            Ok(ActiveAnswer::Success { list: Some(list), .. }) => {
                self.config_revision = list.config_revision;
                let at = self.moment();
                let errors = self.plan.replace(&list.items, at.clock, &self.zone);
                let now = self.agent.clock().monotonic();
                for (itemid, error) in errors {
                    self.buffer.push(itemid, Err(error), at, now);
                }
            }
            Ok(ActiveAnswer::Success { list: None, .. }) => (),
            Ok(ActiveAnswer::Failed(info)) => {
                tracing::warn!(server = self.nodes.address(), %info, "server refuses active checks");
                // A host that is no longer known is no longer measured.
                self.plan = Plan::default();
                self.config_revision = 0;
            }
            Err(error) => {
                tracing::warn!(server = self.nodes.address(), %error, "cannot parse the server's response");
            }
        }
    }

    async fn measure(&mut self) {
        let clock = self.moment().clock;
        for (itemid, key, timeout) in self.plan.due(clock, &self.zone) {
            let timeout = timeout.unwrap_or(self.agent.config().timeout);
            let value = self.agent.value_within(&key, Origin::Server, timeout).await;
            let value = value.map_err(|why| if why == ACTIVE_ONLY { NO_LOGS.into() } else { why });
            let now = self.agent.clock().monotonic();
            self.buffer.push(itemid, value, self.moment(), now);
        }
    }

    async fn send(&mut self) {
        if self.buffer.lost > 0 {
            let lost = std::mem::take(&mut self.buffer.lost);
            tracing::warn!(server = self.nodes.address(), lost, "buffer was full; dropped values");
        }
        loop {
            let batch = self.buffer.batch();
            let Some(last) = batch.last().map(|value| value.id) else { return };
            let message = encode_agent_data(
                self.host,
                &self.session,
                PROTOCOL_VERSION,
                &batch,
                self.moment(),
            );
            let Some(answer) = self.talk(&message).await else { return };
            let text = String::from_utf8_lossy(&answer);
            match SendAnswer::parse(&text) {
                Ok(answer) if answer.success => {
                    self.buffer.taken(last, self.agent.clock().monotonic());
                    if answer.upload_disabled {
                        return;
                    }
                }
                Ok(answer) => {
                    tracing::warn!(server = self.nodes.address(), info = %answer.info, "server refused values");
                    return;
                }
                Err(error) => {
                    tracing::warn!(server = self.nodes.address(), %error, "cannot parse the server's response");
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(itemid: u64, key: &str, delay: &str) -> ActiveItem<'static> {
        ActiveItem {
            key: key.to_owned().into(),
            itemid,
            delay: delay.to_owned().into(),
            ..ActiveItem::default()
        }
    }

    fn due(plan: &mut Plan, now: u32) -> Vec<u64> {
        plan.due(now, &TimeZone::UTC).into_iter().map(|(id, _, _)| id).collect()
    }

    #[test]
    fn items_are_due_at_once_and_then_by_their_delay() {
        let mut plan = Plan::default();
        let list = [item(10, "a", "10"), item(20, "b", "1m;wd1-7h0"), item(30, "c", "0;h5m0")];
        assert_eq!(plan.replace(&list, 1000, &TimeZone::UTC), []);
        assert_eq!(due(&mut plan, 1000), [10, 20]);
        assert_eq!(due(&mut plan, 1001), Vec::<u64>::new());
        let next: Vec<_> = plan.items.values().map(|item| item.next).collect();
        assert_eq!(next, [Some(1010), Some(1040), Some(5 * 3600)]);
        // The same list again changes nothing; a changed item starts over.
        let list = [item(10, "a", "10"), item(20, "b", "30")];
        plan.replace(&list, 1005, &TimeZone::UTC);
        assert_eq!(due(&mut plan, 1005), [20]);
        assert_eq!(plan.items.len(), 2);
        let errors = plan.replace(&[item(5, "a", "nonsense")], 1006, &TimeZone::UTC);
        assert_eq!((errors[0].0, plan.items.len()), (5, 0));
    }

    #[test]
    fn values_wait_bounded_and_keep_their_ids() {
        let mut buffer = Buffer::new(4);
        let (at, s) = (Moment::default(), Duration::from_secs);
        assert!(!buffer.is_due(s(100), s(5)));
        buffer.push(1, Ok("a".into()), at, s(10));
        assert!(!buffer.is_due(s(14), s(5)));
        assert!(buffer.is_due(s(15), s(5)));
        buffer.push(1, Ok("b".into()), at, s(11));
        assert!(buffer.is_due(s(11), s(5)), "half full");
        let ids = |buffer: &Buffer| buffer.batch().iter().map(|v| v.id).collect::<Vec<_>>();
        assert_eq!(ids(&buffer), [1, 2]);
        assert_eq!(ids(&buffer), [1, 2], "resent with the same ids");
        for _ in 0..4 {
            buffer.push(1, Ok("c".into()), at, s(12));
        }
        assert_eq!((ids(&buffer), buffer.lost), (vec![3, 4, 5, 6], 2));
        buffer.taken(5, s(20));
        assert_eq!(ids(&buffer), [6]);
        assert!(!buffer.is_due(s(24), s(5)));
        buffer.taken(6, s(20));
        assert!(!buffer.is_due(s(99), s(5)));
    }

    #[test]
    fn sessions_have_32_digits_and_differ() {
        let (a, b) = (new_session().unwrap(), new_session().unwrap());
        assert_eq!((a.len(), b.len()), (32, 32));
        assert_ne!(a, b);
    }
}
