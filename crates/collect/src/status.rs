//! What other layers read of collection and ask of it.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::Snapshot;
use config::snapshot::{Host, Interface, Item};
use model::{HostId, ItemId, LogMeta, Payload, Timestamp, Value};
use stdx::kerberos::Tickets;
use stdx::queue;
use stdx::sync::lock;
use wire::Target;

use crate::availability::{Availability, Available};
use crate::counters::Counters;
use crate::deps::Deps;
use crate::peers::PeerNames;
use crate::poll::agent::AgentReply;
use crate::poll::host_keys::HostKeys;
use crate::poll::icmp::Pinger;
use crate::poll::odbc::Helpers;
use crate::poll::simple::Simple;
use crate::poll::vmware::Services;
use crate::poll::{Check, Command, Reply, probe};
use crate::resolver::Resolver;
use crate::schedule::QueueReport;
use crate::settings::{CollectorConfig, Remembered};
use crate::sink::Sink;
use crate::tls::{Identity, TlsContexts};
use crate::trapper::active::ActiveAgents;
use crate::trapper::expected::ExpectedValues;
use crate::trapper::matching::{KeyGuesses, Matcher, Peer, Source};
use crate::trapper::sessions::Sessions;
use crate::traps::TrapPosition;

/// Everything that listener, pollers and [`Status`] share.
pub(crate) struct Shared {
    pub(crate) deps: Deps,
    pub(crate) config: CollectorConfig,
    pub(crate) sink: Sink,
    pub(crate) counters: Counters,
    pub(crate) availability: Availability,
    pub(crate) active: ActiveAgents,
    pub(crate) expected: ExpectedValues,
    pub(crate) sessions: Sessions,
    pub(crate) guesses: KeyGuesses,
    pub(crate) names: PeerNames,
    pub(crate) resolver: Resolver,
    pub(crate) tickets: Tickets,
    pub(crate) tls: TlsContexts,
    pub(crate) pinger: Pinger,
    pub(crate) simple: Simple,
    pub(crate) odbc: Helpers,
    pub(crate) vmware: Services,
    pub(crate) host_keys: HostKeys,
    pub(crate) pollers: Vec<queue::Sender<Command>>,
    /// How far the traps of the trap file are kept.
    pub(crate) trap_position: Mutex<Option<TrapPosition>>,
}

impl Shared {
    /// The timeout of an item: its own, else the global one of its type, else the server's.
    pub(crate) fn timeout(&self, snapshot: &Snapshot, item: &Item) -> Duration {
        let own = item.extra.as_ref().map(|extra| extra.timeout.as_str());
        let global = snapshot.settings.timeouts.get(&(item.kind as u8)).map(String::as_str);
        own.filter(|text| !text.is_empty())
            .or(global)
            .and_then(eval::num::parse_seconds)
            .filter(|seconds| (1..=600).contains(seconds))
            .map_or(self.config.timeout, |seconds| Duration::from_secs(u64::from(seconds)))
    }

    pub(crate) fn timeout_text(&self, snapshot: &Snapshot, item: &Item) -> String {
        format!("{}s", self.timeout(snapshot, item).as_secs().max(1))
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_unix(self.deps.clock.unix())
    }
}

/// Why a value was not taken. The texts are those of `history.push`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// No such host or item, or not for this user or connection.
    #[error("No permissions to referred object or it does not exist.")]
    NoSuchItem,
    /// The item is switched off.
    #[error("Item is disabled.")]
    Disabled,
    /// Neither a trapper item nor an HTTP agent item.
    #[error("Unsupported item type.")]
    WrongType,
    /// An HTTP agent item that does not take sent values.
    #[error("HTTP agent item trapping is not enabled.")]
    TrappingOff,
    /// The host is switched off.
    #[error("Host is not monitored.")]
    HostNotMonitored,
    /// A maintenance without data collection runs on the host.
    #[error("Host is in maintenance without data collection.")]
    InMaintenance,
    /// The address is not among the item's allowed hosts.
    #[error("Client IP is not in item's allowed hosts list.")]
    NotAllowedHere,
    /// The same item and moment came twice in one request.
    #[error("Duplicate timestamp found.")]
    Duplicate,
    /// The value could not be stored: try again.
    #[error("The value could not be stored. Send it again.")]
    NotStored,
}

/// A value pushed through the API.
#[derive(Debug, Clone, PartialEq)]
pub struct PushValue {
    /// The item, by id…
    pub item: Option<ItemId>,
    /// … or by technical host name and key.
    pub host_key: Option<(String, String)>,
    /// The value as text.
    pub value: String,
    /// What a log line carries beside its text.
    pub log: Option<LogMeta>,
    /// When it was measured.
    pub at: Timestamp,
}

/// Values pushed together.
#[derive(Debug, Clone)]
pub struct Push {
    /// The values.
    pub values: Vec<PushValue>,
    /// Address of the API's client.
    pub client: IpAddr,
    /// A second value of an item and moment is refused; otherwise it gets the next free nanosecond,
    /// as those of senders do.
    pub refuse_duplicates: bool,
    /// The values may have been kept before: those that were are not kept again.
    pub resend: bool,
}

/// Where pushed values belong, one by one.
type Matched = Vec<Result<(HostId, ItemId), PushError>>;

/// A handle to running collection; clones are cheap.
#[derive(Clone)]
pub struct Status(pub(crate) Arc<Shared>);

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Status")
    }
}

impl Status {
    /// What is late, with at most `limit` rows of details.
    pub async fn queue(&self, limit: usize) -> QueueReport {
        let mut report = QueueReport::default();
        for poller in &self.0.pollers {
            let (reply, answer) = Reply::new();
            if poller.send(Command::Queue { limit, reply }).await.is_ok()
                && let Ok(part) = answer.await
            {
                report.merge(part);
            }
        }
        let shared = Arc::clone(&self.0);
        // The report goes through all active items: not on the caller's thread.
        let add = move || {
            let (snapshot, now) = (shared.deps.snapshots.load(), shared.now());
            shared.expected.report(&snapshot, now.clock, limit, &mut report);
            report.limit(limit);
            report
        };
        tokio::task::spawn_blocking(add).await.unwrap_or_default()
    }

    /// Makes items due at once; returns how many of them are scheduled.
    pub async fn check_now(&self, items: &[ItemId]) -> usize {
        let mut found = 0;
        for poller in &self.0.pollers {
            let (reply, answer) = Reply::new();
            let command = Command::CheckNow { items: items.to_vec(), reply };
            if poller.send(command).await.is_ok() {
                found += answer.await.unwrap_or(0);
            }
        }
        found
    }

    /// Who answers.
    pub fn availability(&self) -> &Availability {
        &self.0.availability
    }

    /// The API's `active_available` of a host.
    pub fn active_available(&self, host: HostId) -> Available {
        self.0.availability.active(host, self.0.deps.clock.monotonic().as_secs())
    }

    /// Counters.
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Share of the last minute that a process of this name (`trapper`, `snmp poller` …) worked,
    /// 0 to 100, the average of all of its kind; `None` = collection has no such work.
    pub fn busy_percent(&self, process: &str) -> Option<f64> {
        match process {
            "trapper" => Some(self.0.counters.trapper.busy_percent()),
            "icmp pinger" => Some(self.0.pinger.busy().busy_percent()),
            name => self.0.counters.busy_percent(name),
        }
    }

    /// Connections that the trapper serves at one time.
    pub fn connections_max(&self) -> usize {
        self.0.config.limits.connections
    }

    /// What has to outlive a restart, in the order of the ids.
    pub fn remembered(&self) -> Remembered {
        let snapshot = self.0.deps.snapshots.load();
        let mut log_positions = self.0.active.positions(|item| snapshot.items.get(&item).is_some());
        log_positions.sort_unstable_by_key(|(item, _)| *item);
        let mut interfaces = self.0.availability.all();
        interfaces.sort_unstable_by_key(|(interface, _)| *interface);
        let trap_file = *lock(&self.0.trap_position);
        Remembered { log_positions, interfaces, trap_file }
    }

    /// Takes values that come through the API; `may` says whether the user may write to an item.
    /// One result per value, in order.
    pub async fn push(
        &self,
        push: Push,
        may: &(dyn Fn(&Host, &Item) -> bool + Sync),
    ) -> Vec<Result<ItemId, PushError>> {
        let Push { values, client, refuse_duplicates, resend } = push;
        let snapshot = self.0.deps.snapshots.load();
        let now = self.0.deps.clock.monotonic();
        let (mut results, missing) = self.match_pushed(&snapshot, &values, client, may, now);
        if !missing.is_empty() {
            self.0.names.resolve(missing, &self.0.resolver, now).await;
            (results, _) = self.match_pushed(&snapshot, &values, client, may, now);
        }
        let mut split = self.0.sink.split();
        let mut seen = std::collections::HashSet::new();
        for (value, result) in values.into_iter().zip(&mut results) {
            let Ok((host, item)) = *result else { continue };
            if refuse_duplicates && !seen.insert((item, value.at)) {
                *result = Err(PushError::Duplicate);
                continue;
            }
            let text = value.value.into();
            let payload = match value.log {
                Some(log) => Payload::Log(Box::new((text, log))),
                None => Payload::Text(text),
            };
            split.push(host, Value { item, at: value.at, payload });
        }
        Counters::add(&self.0.counters.values_trapper, split.len() as u64);
        let outcome = if resend {
            self.0.sink.send_doubtful(split).await
        } else {
            self.0.sink.send(split).await
        };
        // A shard that knows a newer configuration may refuse some of them. It does not say which:
        // with the next try they are refused here.
        let lost = outcome.lost || outcome.failed > 0;
        let done = |result: Result<(HostId, ItemId), PushError>| match result {
            Ok(_) if lost => Err(PushError::NotStored),
            Ok((_, item)) => Ok(item),
            Err(error) => Err(error),
        };
        results.into_iter().map(done).collect()
    }

    fn match_pushed(
        &self,
        snapshot: &Snapshot,
        values: &[PushValue],
        ip: IpAddr,
        may: &(dyn Fn(&Host, &Item) -> bool + Sync),
        now: Duration,
    ) -> (Matched, Vec<String>) {
        let peer = Peer { ip, identity: Identity::unencrypted() };
        let tables = (&self.0.guesses, &self.0.names);
        let mut matcher = Matcher::new(snapshot, tables, &peer, Source::Push, now);
        let one = |value: &PushValue| {
            let target = match (&value.item, &value.host_key) {
                (Some(id), _) => Target::Item(id.0),
                (None, Some((host, key))) => {
                    Target::Key { host: host.as_str().into(), key: key.as_str().into() }
                }
                (None, None) => return Err(PushError::NoSuchItem),
            };
            let item = matcher.item_for(&target, may)?;
            Ok((item.host, item.id))
        };
        let results = values.iter().map(one).collect();
        (results, matcher.missing)
    }

    /// The value that an internal item would have now; the error is why there is none.
    pub fn internal(&self, item: &Item) -> Result<crate::InternalValue, String> {
        crate::internal::value(&self.0, item)
    }

    /// Checks once right now, outside the schedule (`item.test`).
    pub async fn check_once(
        &self,
        host: &Arc<Host>,
        interface: Option<&Interface>,
        item: &Item,
    ) -> AgentReply {
        let timeout = self.0.timeout(&self.0.deps.snapshots.load(), item);
        probe::run(&Check { shared: &self.0, host, item, interface, timeout }).await
    }
}
