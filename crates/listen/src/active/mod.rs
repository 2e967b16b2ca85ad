//! Active agents: the list of what they check, and their heartbeats.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::hash::BuildHasher as _;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use config::Snapshot;
use config::snapshot::{GlobalRegexp, Host, Item, ItemType};
use eval::interval::{Scheduling, UpdateInterval};
use eval::key::ItemKey;
use model::{HostId, SeenAgent, Timestamp};
use stdx::sync::lock;
use tokio::sync::Semaphore;
use wire::agent::active as wire_active;
use wire::agent::active::{
    ActiveAnswer, ActiveChecks, ActiveItem, ActiveList, Heartbeat, RemoteCommand,
};
use wire::sender::CommandResult;

use crate::shared::Shared;
use crate::trapper::matching::Peer;
use collect::tls;

/// Agents that announce themselves whose addresses are looked up at one time; of others no name is
/// kept.
const NAMING_MAX: usize = 32;
/// How long a name of an address may take.
const NAME_TIMEOUT: Duration = Duration::from_secs(3);

/// What an agent was told last.
#[derive(Debug)]
struct Told {
    session: String,
    revision: u64,
    // Compared by address: the list depends on nothing else.
    host: Weak<Host>,
    regexps: Weak<std::collections::BTreeMap<String, Vec<GlobalRegexp>>>,
}

/// What the server remembers of active agents.
#[derive(Debug)]
pub(crate) struct ActiveAgents {
    told: Mutex<HashMap<HostId, Told>>,
    /// What agents of known hosts told of themselves last, as a digest.
    announced: Mutex<HashMap<HostId, u64>>,
    /// The configuration whose deleted hosts are forgotten.
    followed: Mutex<Arc<Snapshot>>,
    /// Places for lookups of names of addresses.
    naming: Arc<Semaphore>,
}

impl Default for ActiveAgents {
    fn default() -> Self {
        Self {
            told: Mutex::default(),
            followed: Mutex::default(),
            announced: Mutex::default(),
            naming: Arc::new(Semaphore::new(NAMING_MAX)),
        }
    }
}

impl ActiveAgents {
    /// Forgets hosts that are deleted since the last call.
    pub(crate) fn follow(&self, snapshot: Arc<Snapshot>) {
        let mut followed = lock(&self.followed);
        if Arc::ptr_eq(&followed, &snapshot) {
            return;
        }
        let before = std::mem::replace(&mut *followed, snapshot);
        followed.hosts.changes(&before.hosts, |id, _, new| {
            if new.is_none() {
                lock(&self.told).remove(id);
                lock(&self.announced).remove(id);
            }
        });
    }

    /// The agent of a known host tells of itself what it has not told since the start.
    fn announces(&self, host: HostId, request: &ActiveChecks<'_>, ip: IpAddr) -> bool {
        let of = (&request.host_metadata, &request.interface, &request.ip, request.port(), ip);
        let digest = foldhash::fast::FixedState::with_seed(0).hash_one(of);
        lock(&self.announced).insert(host, digest) != Some(digest)
    }

    /// The agent has the list already; otherwise remembers that it gets it now.
    fn unchanged(&self, request: &ActiveChecks<'_>, host: &Arc<Host>, snapshot: &Snapshot) -> bool {
        if request.session.is_empty() {
            return false;
        }
        let mut told = lock(&self.told);
        if let Some(told) = told.get(&host.id)
            && told.session == request.session
            && request.config_revision != 0
            && told.revision == request.config_revision
            && std::ptr::eq(told.host.as_ptr(), Arc::as_ptr(host))
            && std::ptr::eq(told.regexps.as_ptr(), Arc::as_ptr(&snapshot.regexps))
        {
            return true;
        }
        let now = Told {
            session: request.session.clone().into_owned(),
            revision: revision(snapshot),
            host: Arc::downgrade(host),
            regexps: Arc::downgrade(&snapshot.regexps),
        };
        told.insert(host.id, now);
        false
    }
}

/// 0 would mean "I have no list".
fn revision(snapshot: &Snapshot) -> u64 {
    snapshot.revision.max(1)
}

/// Answers `active checks`.
pub(crate) fn checks(shared: &Shared, request: &ActiveChecks<'_>, peer: &Peer) -> String {
    if let Some(why) = wire_active::wrong_name(&request.host) {
        return ActiveAnswer::Failed(why.into()).encode(request.version());
    }
    let snapshot = shared.context.snapshots.load();
    let answer = match find(shared, &snapshot, &request.host, peer) {
        Ok(host) => {
            if snapshot.discovery.autoregisters
                && shared.active.announces(host.id, request, peer.ip)
            {
                autoregister(shared, request, peer, true);
            }
            let list = (!shared.active.unchanged(request, host, &snapshot))
                .then(|| list(shared, &snapshot, host));
            // With this member the agent keeps its values until a response omits it.
            let upload_disabled = shared.context.sink.is_congested(host.id);
            let commands = shared.context.commands.take(host.id);
            let commands = commands.into_iter().map(|one| RemoteCommand {
                id: one.id,
                command: one.command.into(),
                wait: one.wait,
            });
            ActiveAnswer::Success { list, commands: commands.collect(), upload_disabled }
        }
        Err(Refusal::Unknown) => {
            autoregister(shared, request, peer, false);
            ActiveAnswer::Failed(wire_active::host_not_found(&request.host).into())
        }
        Err(Refusal::Off(host)) => {
            if snapshot.discovery.autoregisters
                && peer.identity.allowed_for(host).is_ok()
                && shared.active.announces(host.id, request, peer.ip)
            {
                autoregister(shared, request, peer, true);
            }
            ActiveAnswer::Failed(not_monitored(&host.host).into())
        }
        Err(Refusal::Reason(reason)) => ActiveAnswer::Failed(reason.into()),
    };
    answer.encode(request.version())
}

/// Answers the text form of the request.
pub(crate) fn checks_old_text(shared: &Shared, host: &str, peer: &Peer) -> Option<String> {
    let snapshot = shared.context.snapshots.load();
    let host = find(shared, &snapshot, host, peer).ok()?;
    Some(ActiveAnswer::encode_old_text(&list(shared, &snapshot, host).items))
}

/// Takes what commands of active agents have printed, from those who may speak for the host.
pub(crate) fn command_results(
    shared: &Shared,
    host: &Host,
    results: Vec<CommandResult<'_>>,
    peer: &Peer,
) {
    if let Err(reason) = peer.identity.allowed_for(host) {
        tracing::debug!("command results from {} refused: {reason}", peer.ip);
        return;
    }
    for one in results {
        let answer = one.result.map(Cow::into_owned).map_err(Cow::into_owned);
        shared.context.commands.answer(host.id, one.id, answer);
    }
}

/// Takes a heartbeat.
pub(crate) fn heartbeat(shared: &Shared, beat: &Heartbeat<'_>, peer: &Peer) {
    let snapshot = shared.context.snapshots.load();
    match find(shared, &snapshot, &beat.host, peer) {
        Ok(host) => {
            let now_s = shared.context.clock.monotonic().as_secs();
            shared.context.availability.heartbeat(host.id, beat.heartbeat_freq, now_s);
        }
        Err(Refusal::Unknown) => {
            tracing::debug!("heartbeat of unknown host [{}] from {}", beat.host, peer.ip);
        }
        Err(Refusal::Off(host)) => {
            tracing::debug!("heartbeat from {} refused: {}", peer.ip, not_monitored(&host.host));
        }
        Err(Refusal::Reason(reason)) => {
            tracing::debug!("heartbeat from {} refused: {reason}", peer.ip);
        }
    }
}

enum Refusal<'s> {
    Unknown,
    /// The host is switched off.
    Off(&'s Arc<Host>),
    Reason(String),
}

fn not_monitored(host: &str) -> String {
    format!("host \"{host}\" not monitored")
}

fn find<'s>(
    _shared: &Shared,
    snapshot: &'s Snapshot,
    name: &str,
    peer: &Peer,
) -> Result<&'s Arc<Host>, Refusal<'s>> {
    let host = snapshot.host_by_name(name).ok_or(Refusal::Unknown)?;
    if !host.monitored {
        return Err(Refusal::Off(host));
    }
    peer.identity.allowed_for(host).map_err(Refusal::Reason)?;
    if !host.is_of_server() {
        let reason = format!("host \"{}\" is monitored by a proxy", host.host);
        return Err(Refusal::Reason(reason));
    }
    Ok(host)
}

fn autoregister(shared: &Shared, request: &ActiveChecks<'_>, peer: &Peer, known: bool) {
    let snapshot = shared.context.snapshots.load();
    let rule = &snapshot.settings.autoregistration;
    if let Err(reason) = peer.identity.allowed(rule, "autoregistration") {
        if known {
            // Its values are welcome; only what it tells of itself is not heard.
            return;
        }
        let (host, ip, port) = (&request.host, peer.ip, request.port());
        tracing::warn!(
            "autoregistration from \"{ip}\" denied (host:\"{host}\" ip:\"{ip}\" port:{port}): \
             {reason}"
        );
        return;
    }
    let interface = request.interface.as_ref();
    let is_ip = interface.parse::<IpAddr>().is_ok();
    let ip = match (interface, request.ip.as_ref()) {
        (address, _) if is_ip => address.to_owned(),
        ("", "") => peer.ip.to_string(),
        ("", address) => address.to_owned(),
        // It is reached by its name.
        _ => String::new(),
    };
    let seen = SeenAgent {
        host: request.host.clone().into_owned(),
        metadata: request.host_metadata.clone().into_owned(),
        ip,
        dns: if is_ip { String::new() } else { interface.to_owned() },
        port: request.port(),
        interface: match interface {
            "" => 0,
            _ if is_ip => 1,
            _ => 2,
        },
        tls: peer.identity.kind.max(tls::NONE),
        at: Timestamp::from_unix(shared.context.clock.unix()),
    };
    tell(shared, seen);
}

/// Tells it with the name of the agent's address, if that is found in time.
fn tell(shared: &Shared, mut seen: SeenAgent) {
    let room = Arc::clone(&shared.active.naming).try_acquire_owned();
    let runtime = tokio::runtime::Handle::try_current();
    let (Ok(ip), Ok(room), Ok(runtime)) = (seen.ip.parse::<IpAddr>(), room, runtime) else {
        return shared.backend.autoregister(seen);
    };
    let (backend, clock) = (Arc::clone(&shared.backend), Arc::clone(&shared.context.clock));
    runtime.spawn(async move {
        let asked = tokio::task::spawn_blocking(move || {
            let name = stdx::sys::name_of(ip);
            drop(room);
            name
        });
        let name = tokio::time::timeout(NAME_TIMEOUT, asked).await;
        seen.dns = name.ok().and_then(Result::ok).flatten().unwrap_or_default();
        seen.at = Timestamp::from_unix(clock.unix());
        backend.autoregister(seen);
    });
}

fn list<'s>(shared: &Shared, snapshot: &'s Snapshot, host: &'s Host) -> ActiveList<'s> {
    let mut names = BTreeSet::new();
    let mut items = Vec::new();
    let active: Vec<(&Item, &UpdateInterval)> = host
        .items
        .iter()
        .filter(|item| item.kind == ItemType::AgentActive && item.enabled)
        .filter_map(|item| Some((&**item, &**item.interval.as_ref()?)))
        .collect();
    let positions = shared.context.positions.of_all(active.iter().map(|(item, _)| item.id));
    for ((item, interval), position) in active.into_iter().zip(positions) {
        global_regexps(item, &mut names);
        items.push(ActiveItem {
            key: Cow::Borrowed(&item.key),
            itemid: item.id.0,
            delay: delay_text(interval).into(),
            lastlogsize: position.lastlogsize,
            mtime: u64::from(position.mtime),
            timeout: timeout_text(shared, snapshot, item).into(),
        });
    }
    items.sort_unstable_by_key(|item| item.itemid);
    let regexps = names.iter().filter_map(|name| snapshot.regexps.get_key_value(name.as_str()));
    let regexps = regexps.flat_map(|(name, expressions)| {
        expressions.iter().map(|expression| wire_active::GlobalRegexp {
            name: Cow::Borrowed(name.as_str()),
            expression: Cow::Borrowed(expression.expression.as_str()),
            expression_type: expression.kind,
            exp_delimiter: expression.delimiter,
            case_sensitive: expression.case_sensitive,
        })
    });
    ActiveList { config_revision: revision(snapshot), items, regexps: regexps.collect() }
}

/// The timeout as agents read it.
fn timeout_text(shared: &Shared, snapshot: &Snapshot, item: &Item) -> String {
    format!("{}s", shared.context.timeout(snapshot, item).as_secs().max(1))
}

/// Names of the global regular expressions that a log item's key mentions as `@name`.
fn global_regexps(item: &Item, names: &mut BTreeSet<String>) {
    const LOG_KEYS: [&str; 6] =
        ["log", "logrt", "log.count", "logrt.count", "eventlog", "eventlog.count"];
    let name = item.key.split('[').next().unwrap_or_default();
    if !LOG_KEYS.contains(&name) || !item.key.contains('@') {
        return;
    }
    let Ok(key) = ItemKey::parse(&item.key) else { return };
    for at in 0..key.param_count() {
        if let Some(name) = key.param(at).as_deref().and_then(|param| param.strip_prefix('@')) {
            names.insert(name.to_owned());
        }
    }
}

/// An update interval as text, as agents read it. The schedule's sets come as lists of numbers.
pub(crate) fn delay_text(interval: &UpdateInterval) -> String {
    let mut out = interval.delay_s.to_string();
    for flexible in &interval.flexible {
        let (days, seconds) = (flexible.period.days, flexible.period.seconds);
        let clock = |s: u32| format!("{:02}:{:02}", s / 3600, s % 3600 / 60);
        let (from, till) = (clock(seconds.0), clock(seconds.1));
        let _ = write!(out, ";{}/{}-{},{from}-{till}", flexible.delay_s, days.0, days.1);
    }
    for scheduling in &interval.scheduling {
        out.push(';');
        out.push_str(&scheduling_text(scheduling));
    }
    out
}

fn scheduling_text(scheduling: &Scheduling) -> String {
    let mut out = String::new();
    let mut field = |prefix: &str, set: u64, low: u32, high: u32, always: bool| {
        let values: Vec<u32> = (low..=high).filter(|bit| set >> bit & 1 == 1).collect();
        let all = u32::try_from(values.len()).unwrap_or(0) == high - low + 1;
        if all && !always {
            return;
        }
        out.push_str(prefix);
        let texts: Vec<String> = values.iter().map(u32::to_string).collect();
        out.push_str(&if all { format!("{low}-{high}") } else { texts.join(",") });
    };
    field("md", u64::from(scheduling.month_days), 1, 31, false);
    field("wd", u64::from(scheduling.week_days), 1, 7, false);
    // What is left out below the finest field given means 0, so time is always told.
    field("h", u64::from(scheduling.hours), 0, 23, true);
    field("m", scheduling.minutes, 0, 59, true);
    field("s", scheduling.seconds, 0, 59, true);
    out
}

#[cfg(test)]
mod tests {
    use collect::testing;

    use super::*;

    #[test]
    fn deleted_hosts_are_forgotten_and_others_keep_their_list() {
        let hosts = |ids: &[u64]| ids.iter().map(|id| testing::host(*id, vec![]).into()).collect();
        let both = testing::snapshot(1, hosts(&[1, 2]));
        let agents = ActiveAgents::default();
        agents.follow(Arc::clone(&both));
        let request = ActiveChecks {
            host: "host".into(),
            session: "session".into(),
            config_revision: 1,
            ..ActiveChecks::default()
        };
        let ip = IpAddr::from([127, 0, 0, 1]);
        for host in both.hosts.values() {
            assert!(!agents.unchanged(&request, host, &both), "it has no list yet");
            assert!(agents.announces(host.id, &request, ip));
        }
        let mut one = (*both).clone();
        one.hosts.remove(&HostId(2));
        agents.follow(Arc::new(one));
        let kept = |id| lock(&agents.told).contains_key(&HostId(id));
        assert_eq!((kept(1), kept(2)), (true, false));
        assert!(!agents.announces(HostId(1), &request, ip), "it has told that before");
        assert!(agents.announces(HostId(2), &request, ip), "another host");
    }

    #[test]
    fn an_interval_survives_as_text() {
        for text in [
            "30",
            "1m",
            "1h;10s/3-5,12:00-13:30",
            "0;wd1-5h9-18m/30",
            "90s;md1,15h0;s/10",
            "1m;50s/1-7,00:00-24:00;h12m30s15",
        ] {
            let interval = UpdateInterval::parse(text).unwrap();
            let again = delay_text(&interval);
            // Days outside 1 to 31 and 1 to 7 are set in "any" only: compare as text.
            let reparsed = UpdateInterval::parse(&again).expect(&again);
            assert_eq!(delay_text(&reparsed), again, "{text}");
            let zone = jiff::tz::TimeZone::UTC;
            for now in [1_734_480_000, 1_734_523_199, 1_740_787_200] {
                let next = |i: &UpdateInterval| i.next_check(3, false, now, &zone);
                assert_eq!(next(&interval), next(&reparsed), "{text} {again}");
            }
        }
        assert_eq!(delay_text(&UpdateInterval::parse("1m").unwrap()), "60");
    }
}
