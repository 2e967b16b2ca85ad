//! What each request does.

use std::sync::Arc;
use std::time::Duration;

use config::Snapshot;
use config::snapshot::Host;
use model::{ItemId, Value};
use stdx::seldom::Seldom;
use wire::sender::{AgentData, OLD_TEXT_ANSWER, Outcome};
use wire::trapper::{Request, ZabbixStats};
use wire::zbxd::Frame;
use wire::{Content, Moment, Reading, failed};

use super::Trapper;
use super::matching::{Matcher, Peer, READINGS_AHEAD, Source, value};
use super::sessions::{Attempt, Session};
use crate::active;
use crate::peers::Verdict;
use crate::shared::Shared;
use collect::counters::Counters;
use collect::positions::LogPosition;
use collect::queue::{Interval, IntervalError};
use collect::sink::Split;

/// A larger message is parsed beside the runtime's own threads, so that the others go on.
const LARGE_BYTES: usize = 1 << 20;

/// Requests of proxies. A proxy repeats them every few seconds.
const OF_PROXIES: [&str; 4] = ["proxy config", "proxy data", "proxy heartbeat", "proxy tasks"];
/// How often the log names a proxy that sends its requests here.
const PROXY_LOG_EVERY: Duration = Duration::from_secs(600);

/// Text of the answer. A 7.0 proxy logs it for values; for its configuration it logs that the answer
/// has no configuration.
const NO_PROXIES: &str =
    "Vedette does not support proxies yet: let agents and senders connect to the server directly";

/// A request after the part that needs no waiting.
enum Prepared {
    /// Values to be stored.
    Values {
        split: Split,
        processed: usize,
        failed: usize,
        old_text: bool,
    },
    /// Values of an active agent, to be stored unless they are already.
    Agent(AgentBatch),
    /// Names to be resolved before the request can be matched.
    Names(Vec<String>),
    /// The answer, to be framed as the request was.
    Answer(String),
    /// The answer to a text request, without a frame.
    Raw(String),
    /// For another layer.
    Backend(String),
    Stats(ZabbixStats),
    Silent,
}

struct AgentRow {
    id: Option<u64>,
    position: Option<(ItemId, LogPosition)>,
    host: model::HostId,
    value: Option<Value>,
}

struct AgentBatch {
    session: Option<Session>,
    rows: Vec<AgentRow>,
    failed: usize,
}

/// A message after the part of its processing that needs no waiting.
pub(super) struct Pending {
    frame: Frame,
    peer: Peer,
    start: Duration,
    now: Moment,
    prepared: Prepared,
}

impl Trapper {
    /// Answers one message; `None` = close without an answer.
    pub(super) async fn answer(&self, frame: Frame, peer: Peer) -> Option<Vec<u8>> {
        if frame.payload.len() <= LARGE_BYTES {
            return self.finish(self.begin(frame, peer)).await;
        }
        let (shared, now) = (Arc::clone(&self.shared), self.moments());
        let begin = move || Pending::new(&shared, frame, peer, now);
        self.finish(tokio::task::spawn_blocking(begin).await.ok()?).await
    }

    /// The part of the processing that needs no waiting. Values are sent to the shards only by
    /// [`Self::finish`].
    pub(super) fn begin(&self, frame: Frame, peer: Peer) -> Pending {
        Pending::new(&self.shared, frame, peer, self.moments())
    }

    fn moments(&self) -> (Duration, Moment) {
        let clock = &self.shared.context.clock;
        (clock.monotonic(), Moment::from_unix(clock.unix()))
    }

    /// The answer, if there is nothing to wait for.
    pub(super) fn finish_now(&self, pending: Pending) -> Result<Option<Vec<u8>>, Box<Pending>> {
        match pending.prepared {
            Prepared::Answer(text) => Ok(Some(self.framed(&pending.frame, &text))),
            Prepared::Raw(text) => Ok(Some(text.into_bytes())),
            Prepared::Silent => Ok(None),
            _ => Err(Box::new(pending)),
        }
    }

    /// The rest of an answer.
    pub(super) async fn finish(&self, pending: Pending) -> Option<Vec<u8>> {
        let shared = &self.shared;
        let Pending { frame, peer, start, now, mut prepared } = pending;
        if let Prepared::Names(names) = prepared {
            shared.tables.names.resolve(names, &shared.context.resolver, start).await;
            prepared = prepare(shared, &frame, &peer, now);
        }
        let text = match prepared {
            Prepared::Values { split, processed, failed, old_text } => {
                let answer = self.store(split, processed, failed, start).await;
                if old_text {
                    return Some(OLD_TEXT_ANSWER.as_bytes().to_vec());
                }
                answer
            }
            Prepared::Agent(batch) => self.store_agent(batch, start).await,
            Prepared::Answer(text) => text,
            Prepared::Raw(text) => return Some(text.into_bytes()),
            Prepared::Backend(name) => self.backend(name, &frame, &peer).await?,
            Prepared::Stats(stats) => self.stats(stats, &frame, &peer).await?,
            Prepared::Names(_) => failed("DNS names of allowed hosts cannot be resolved"),
            Prepared::Silent => return None,
        };
        Some(self.framed(&frame, &text))
    }

    fn framed(&self, frame: &Frame, text: &str) -> Vec<u8> {
        Counters::one(&self.shared.context.counters.requests);
        frame.encode_answer(text.as_bytes())
    }

    async fn store(&self, split: Split, done: usize, refused: usize, start: Duration) -> String {
        let counters = &self.shared.context.counters;
        Counters::add(&counters.values_trapper, split.len() as u64);
        Counters::add(&counters.values_refused, refused as u64);
        let outcome = self.shared.context.sink.send(split).await;
        if outcome.lost {
            return lost();
        }
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        self.counted(done + count(outcome.processed), refused + count(outcome.failed), start)
    }

    async fn store_agent(&self, batch: AgentBatch, start: Duration) -> String {
        let counters = &self.shared.context.counters;
        // Held until the values are kept: a repeated request waits for the first one.
        let mut session = match &batch.session {
            Some(session) => Some(session.lock().await),
            None => None,
        };
        let known = session.as_ref().map_or(0, |session| session.last_id);
        let mut split = self.shared.context.sink.split();
        let (mut done, mut repeated, mut newest) = (0, 0, known);
        let mut positions = Vec::new();
        let mut heard = Vec::with_capacity(batch.rows.len());
        for row in batch.rows {
            if let Some(id) = row.id.filter(|_| session.is_some()) {
                if id <= known {
                    repeated += 1;
                    continue;
                }
                newest = newest.max(id);
            }
            positions.extend(row.position);
            match row.value {
                Some(value) => {
                    heard.push((value.item, value.at.clock));
                    split.push(row.host, value);
                }
                None => done += 1,
            }
        }
        self.shared.context.expected.hear_all(heard);
        Counters::add(&counters.values_agent_active, split.len() as u64);
        Counters::add(&counters.values_repeated, repeated);
        Counters::add(&counters.values_refused, batch.failed as u64);
        let sink = &self.shared.context.sink;
        // If dropped here or by a timeout, it marks the session's values as possible duplicates.
        let attempt = session.as_mut().map(|session| Attempt::of(session));
        let outcome = match &attempt {
            Some(attempt) if attempt.in_doubt() => sink.send_doubtful(split).await,
            _ => sink.send(split).await,
        };
        if outcome.lost {
            return lost();
        }
        Counters::add(&counters.values_repeated, outcome.repeated);
        if let Some(attempt) = attempt {
            attempt.kept(newest, outcome.repeated, self.shared.context.clock.monotonic());
        }
        for (item, position) in positions {
            self.shared.context.positions.set(item, position);
        }
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let processed = done + count(repeated) + count(outcome.processed);
        self.counted(processed, batch.failed + count(outcome.failed), start)
    }

    fn counted(&self, processed: usize, failed: usize, start: Duration) -> String {
        let seconds = self.shared.context.clock.monotonic().saturating_sub(start).as_secs_f64();
        Outcome { processed, failed, seconds }.answer(false)
    }

    async fn backend(&self, name: String, frame: &Frame, peer: &Peer) -> Option<String> {
        let text = frame.text().into_owned();
        let request = crate::Request { name: name.clone(), text, peer: peer.ip };
        if let Some(answer) = self.shared.backend.request(request) {
            return Some(answer.await);
        }
        Counters::one(&self.shared.context.counters.requests_refused);
        if OF_PROXIES.contains(&name.as_str()) {
            return Some(self.no_proxies(&name, peer));
        }
        tracing::warn!("unknown request received from \"{}\": [{name}]", peer.ip);
        if name.is_empty() {
            return None;
        }
        Some(failed(&format!("unknown request \"{name}\"")))
    }

    /// The answer to a proxy. `upload` makes it keep its values instead of repeating them each second.
    fn no_proxies(&self, name: &str, peer: &Peer) -> String {
        static LOGGED: Seldom = Seldom::new(PROXY_LOG_EVERY);
        if LOGGED.pass(self.shared.context.clock.monotonic()).is_some() {
            tracing::warn!(
                "refused \"{name}\" from the Zabbix proxy at {}: proxies are not supported yet. \
                 Configure its agents to send to this server",
                peer.ip
            );
        }
        serde_json::json!({
            "response": "failed",
            "info": NO_PROXIES,
            "upload": "disabled",
        })
        .to_string()
    }

    async fn stats(&self, stats: ZabbixStats, frame: &Frame, peer: &Peer) -> Option<String> {
        let shared = &self.shared;
        let list = shared.config.stats_allowed.as_str();
        let now = shared.context.clock.monotonic();
        let mut verdict = Verdict::No;
        if !list.is_empty() {
            verdict = shared.tables.names.allowed(list, peer.ip, now);
            if let Verdict::Names(names) = verdict {
                shared.tables.names.resolve(names, &shared.context.resolver, now).await;
                verdict = shared.tables.names.allowed(list, peer.ip, now);
            }
        }
        if verdict != Verdict::Yes {
            Counters::one(&shared.context.counters.requests_refused);
            tracing::warn!("zabbix.stats from \"{}\" refused: not in StatsAllowedIP", peer.ip);
            return Some(failed("Permission denied."));
        }
        match stats {
            ZabbixStats::All => self.backend("zabbix.stats".into(), frame, peer).await,
            ZabbixStats::Queue { from, to } => {
                Some(self.stats_queue(from.as_deref(), to.as_deref()).await)
            }
        }
    }

    async fn stats_queue(&self, from: Option<&str>, to: Option<&str>) -> String {
        let interval = match Interval::parse(from, to) {
            Ok(interval) => interval,
            Err(IntervalError::From) => return failed("invalid 'from' parameter"),
            Err(IntervalError::To) => return failed("invalid 'to' parameter"),
            Err(IntervalError::Order) => {
                return failed("parameters represent an invalid interval");
            }
        };
        let late = self.shared.backend.queue().await.within(interval);
        serde_json::json!({ "response": "success", "queue": late }).to_string()
    }
}

fn lost() -> String {
    failed("the values could not be stored: send them again")
}

impl Pending {
    fn new(shared: &Shared, frame: Frame, peer: Peer, (start, now): (Duration, Moment)) -> Self {
        let prepared = prepare(shared, &frame, &peer, now);
        Self { frame, peer, start, now, prepared }
    }
}

fn prepare(shared: &Shared, frame: &Frame, peer: &Peer, now: Moment) -> Prepared {
    let start = shared.context.clock.monotonic();
    let prepared = prepare_inner(shared, frame, peer, now);
    let took = shared.context.clock.monotonic().saturating_sub(start);
    shared.context.counters.trapper.add(0, took);
    prepared
}

fn prepare_inner(shared: &Shared, frame: &Frame, peer: &Peer, now: Moment) -> Prepared {
    let text = frame.text();
    let request = match Request::parse(&text, now) {
        Ok(request) => request,
        Err(error) => {
            Counters::one(&shared.context.counters.requests_refused);
            tracing::debug!("request from {} refused: {error}", peer.ip);
            return Prepared::Answer(failed(&error.to_string()));
        }
    };
    let backend = |name: &str| Prepared::Backend(name.to_owned());
    match request {
        Request::SenderData(data) => {
            sender_values(shared, data.readings.rows, data.readings.malformed, peer, false)
        }
        Request::OldValue(reading) => sender_values(shared, vec![reading], 0, peer, true),
        Request::OldNothing { xml: true } => Prepared::Raw(OLD_TEXT_ANSWER.into()),
        Request::OldNothing { xml: false } => Prepared::Silent,
        Request::AgentData(data) => agent_values(shared, data, peer),
        Request::ActiveChecks(request) => Prepared::Answer(active::checks(shared, &request, peer)),
        Request::OldActiveChecks { host } => {
            active::checks_old_text(shared, host, peer).map_or(Prepared::Silent, Prepared::Raw)
        }
        Request::Heartbeat(beat) => {
            active::heartbeat(shared, &beat, peer);
            Prepared::Silent
        }
        Request::ZabbixStats(stats) => Prepared::Stats(stats),
        Request::HistoryPush(_) => backend("history.push"),
        Request::QueueGet(_) => backend("queue.get"),
        Request::ItemTest(_) => backend("item.test"),
        Request::ExpressionsEvaluate(_) => backend("expressions.evaluate"),
        Request::StatusGet(_) => backend("status.get"),
        Request::Unknown(name) => backend(&name),
    }
}

fn matcher<'s>(
    shared: &'s Shared,
    snapshot: &'s Snapshot,
    peer: &'s Peer,
    source: Source,
) -> Matcher<'s> {
    let now = shared.context.clock.monotonic();
    Matcher::new(snapshot, &shared.tables, peer, source, now)
}

fn sender_values(
    shared: &Shared,
    rows: Vec<Reading<'_>>,
    malformed: usize,
    peer: &Peer,
    old_text: bool,
) -> Prepared {
    let snapshot = shared.context.snapshots.load();
    let mut matcher = matcher(shared, &snapshot, peer, Source::Sender);
    let mut split = shared.context.sink.split();
    let (mut processed, mut failed) = (0, malformed);
    let mut rows = rows.into_iter();
    while !rows.as_slice().is_empty() {
        let found = matcher.find_all(rows.as_slice().iter().map(|row| &row.target));
        for (reading, found) in rows.by_ref().take(READINGS_AHEAD).zip(found) {
            match matcher.item(found, None) {
                Ok(item) => match value(item, reading) {
                    Some(value) => split.push(item.host, value),
                    None => processed += 1,
                },
                Err(_) => failed += 1,
            }
        }
    }
    if matcher.missing.is_empty() {
        Prepared::Values { split, processed, failed, old_text }
    } else {
        Prepared::Names(std::mem::take(&mut matcher.missing))
    }
}

fn agent_values(shared: &Shared, data: AgentData<'_>, peer: &Peer) -> Prepared {
    let snapshot = shared.context.snapshots.load();
    let named: Option<Arc<Host>> = match &data.host {
        Some(name) => match snapshot.host_by_name(name) {
            Some(host) => Some(Arc::clone(host)),
            None => return Prepared::Answer(failed(&format!("host [{name}] not found"))),
        },
        None => None,
    };
    if let Some(host) = named.as_deref().filter(|_| !data.commands.is_empty()) {
        active::command_results(shared, host, data.commands, peer);
    }
    let mut matcher = matcher(shared, &snapshot, peer, Source::Agent);
    let mut batch = AgentBatch {
        session: None,
        rows: Vec::with_capacity(data.readings.rows.len()),
        failed: data.readings.malformed,
    };
    let mut host = named.as_ref().map(|host| host.id);
    let mut rows = data.readings.rows.into_iter();
    while !rows.as_slice().is_empty() {
        let found = matcher.find_all(rows.as_slice().iter().map(|row| &row.target));
        for (reading, found) in rows.by_ref().take(READINGS_AHEAD).zip(found) {
            let Ok(item) = matcher.item(found, named.as_deref()) else {
                batch.failed += 1;
                continue;
            };
            host.get_or_insert(item.host);
            let position = position(item.id, &reading);
            let (id, host) = (reading.id, item.host);
            batch.rows.push(AgentRow { id, position, host, value: value(item, reading) });
        }
    }
    if let Some(host) = host.filter(|_| !data.session.is_empty()) {
        let now = shared.context.clock.monotonic();
        batch.session = Some(shared.sessions.get(host, &data.session, now));
    }
    Prepared::Agent(batch)
}

/// Where the agent is in a log file, if the reading tells.
fn position(item: ItemId, reading: &Reading<'_>) -> Option<(ItemId, LogPosition)> {
    if matches!(reading.content, Content::NotSupported(_)) {
        return None;
    }
    let log = reading.log.as_ref()?;
    let lastlogsize = log.lastlogsize?;
    Some((item, LogPosition { lastlogsize, mtime: log.mtime.unwrap_or(0) }))
}
