//! Readings find their items: host and key (or the item's id) against the snapshot, with the
//! rules of item type, allowed hosts and TLS.
//!
//! This is the path of a million values per second, so nothing here allocates per value but the
//! value itself: the host is looked up once per run of equal names, and a key through a small
//! table of guesses (a few nanoseconds where a search over the host's keys costs many cache
//! misses). A guess is only used after the key itself was compared.

use std::hash::{BuildHasher, Hash};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use config::Snapshot;
use config::snapshot::{Host, Item, ItemType, Search};
use foldhash::fast::RandomState;
use model::{CompactString, ItemId, LogMeta, Payload, Timestamp, Value, ValueType};
use stdx::sys::prefetch;
use wire::{Content, LogFields, Moment, Reading, Target};

use crate::peers::{PeerNames, Verdict};
use collect::tls::Identity;

/// Who sends.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) ip: IpAddr,
    pub(crate) identity: Identity,
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

/// Which request the values came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `sender data` and the old text forms: trapper items and trapping HTTP agent items.
    Sender,
    /// `agent data`: active items.
    Agent,
    /// `history.push`: as senders, but the API has decided who may.
    Push,
}

/// 1 MB: hosts of one template share their guesses, so that few are in use at a time.
const GUESSES: usize = 1 << 18;

/// Position of a key among its host's items, by hash; only ever a guess. Hosts with the same
/// items share their guesses, so that those in use fit the nearest cache.
pub(crate) struct KeyGuesses {
    table: Box<[AtomicU32]>,
    hasher: RandomState,
}

impl std::fmt::Debug for KeyGuesses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyGuesses")
    }
}

impl Default for KeyGuesses {
    fn default() -> Self {
        let table = (0..GUESSES).map(|_| AtomicU32::new(0)).collect();
        Self { table, hasher: RandomState::default() }
    }
}

impl KeyGuesses {
    fn slot(&self, of: impl Hash) -> &AtomicU32 {
        let hash = usize::try_from(self.hasher.hash_one(of)).unwrap_or(0);
        &self.table[hash % GUESSES]
    }

    /// The first guess, which reads only the number of items of the host.
    fn first(&self, host: &Host, key: &str) -> &AtomicU32 {
        self.slot((host.items.len(), key))
    }

    /// What hosts with the same items have in common besides their number: the texts of the first
    /// and the last key, which equal items share.
    fn second(&self, host: &Host, key: &str) -> &AtomicU32 {
        let text = |item: Option<&Arc<Item>>| item.map_or(0, |item| item.key.as_ptr().addr());
        let ends = (text(host.items.first()), text(host.items.last()));
        self.slot((host.items.len(), ends, key))
    }

    fn guessed<'s>(host: &'s Host, slot: &AtomicU32) -> Option<&'s Arc<Item>> {
        host.items.get(slot.load(Ordering::Relaxed) as usize)
    }

    /// The item of a key, where `first` is its first guess.
    fn find<'s>(&self, host: &'s Host, first: &AtomicU32, key: &str) -> Option<&'s Arc<Item>> {
        let is = |item: &&Arc<Item>| *item.key == *key;
        if let Some(item) = Self::guessed(host, first).filter(is) {
            return Some(item);
        }
        let second = self.second(host, key);
        let at = match Self::guessed(host, second).filter(is) {
            Some(_) => second.load(Ordering::Relaxed) as usize,
            None => host.items.binary_search_by(|item| (*item.key).cmp(key)).ok()?,
        };
        let guess = u32::try_from(at).unwrap_or(0);
        first.store(guess, Ordering::Relaxed);
        second.store(guess, Ordering::Relaxed);
        host.items.get(at).filter(is)
    }
}

/// Readings whose items are found together: see [`Matcher::find_all`].
pub(crate) const READINGS_AHEAD: usize = 16;

/// The state of the search for an item.
#[derive(Clone, Copy)]
enum Step<'s> {
    /// There is none.
    Nothing,
    Name(Search),
    /// The host of the reading before.
    SameHost,
    Host(&'s Arc<Host>),
    Guess(&'s Arc<Host>, &'s AtomicU32),
    Item(&'s Arc<Item>),
    Found(&'s Arc<Host>, &'s Arc<Item>),
}

impl<'s> Step<'s> {
    /// Finds a host by its name, or that of an item that was named by its id.
    fn find_host(&mut self, snapshot: &'s Snapshot, target: &Target<'_>, last: &mut Last<'s>) {
        match (*self, target) {
            (Self::Name(search), Target::Key { host, .. }) => {
                *last = snapshot.hosts.end(search, host);
            }
            (Self::SameHost, _) => {}
            (Self::Item(item), _) => {
                if last.is_none_or(|last| last.id != item.host) {
                    *last = snapshot.hosts.get(&item.host);
                }
                *self = last.map_or(Self::Nothing, |host| Self::Found(host, item));
                return;
            }
            _ => return,
        }
        *self = last.map_or(Self::Nothing, Self::Host);
    }
}

/// The host of the last reading that named one.
type Last<'s> = Option<&'s Arc<Host>>;

/// A host and its item; `None` = there is none of that name.
type Found<'s> = Option<(&'s Arc<Host>, &'s Arc<Item>)>;

/// Items of up to [`READINGS_AHEAD`] readings, in their order.
pub(crate) type Ahead<'s> = [Found<'s>; READINGS_AHEAD];

/// What matching remembers of one request for the next.
#[derive(Default)]
pub(crate) struct Tables {
    guesses: KeyGuesses,
    pub(crate) names: PeerNames,
}

/// Matches the readings of one request.
pub(crate) struct Matcher<'s> {
    snapshot: &'s Snapshot,
    tables: &'s Tables,
    peer: &'s Peer,
    source: Source,
    now: Duration,
    /// Names that have to be resolved before the request can be matched.
    pub(crate) missing: Vec<String>,
    last_host: Option<(&'s Arc<Host>, bool)>,
    last_list: Option<(&'s str, bool)>,
}

impl<'s> Matcher<'s> {
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        tables: &'s Tables,
        peer: &'s Peer,
        source: Source,
        now: Duration,
    ) -> Self {
        let missing = Vec::new();
        Self { snapshot, tables, peer, source, now, missing, last_host: None, last_list: None }
    }

    /// Finds the items of the next readings: each step of the search is done for all of them before
    /// the next step. With many hosts the configuration does not fit the processor's caches. A step
    /// ends with what the next one reads on its way from memory, so that no search waits for another.
    pub(crate) fn find_all<'r, 't: 'r>(
        &self,
        targets: impl Iterator<Item = &'r Target<'t>> + Clone,
    ) -> Ahead<'s> {
        let mut steps = [Step::Nothing; READINGS_AHEAD];
        self.begin(targets.clone().zip(&mut steps));
        for step in &steps {
            if let Step::Name(search) = step {
                self.snapshot.hosts.approach(*search);
            }
        }
        let mut last = None;
        for (target, step) in targets.clone().zip(&mut steps) {
            step.find_host(self.snapshot, target, &mut last);
            if let Step::Host(host) = step {
                prefetch(&***host);
            }
        }
        for (target, step) in targets.clone().zip(&mut steps) {
            if let (Target::Key { key, .. }, Step::Host(host)) = (target, *step) {
                let first = self.tables.guesses.first(host, key);
                KeyGuesses::guessed(host, first).into_iter().for_each(prefetch);
                *step = Step::Guess(host, first);
            }
        }
        for step in &steps {
            if let Step::Guess(host, first) = step {
                KeyGuesses::guessed(host, first).into_iter().for_each(|item| prefetch(&**item));
            }
        }
        let mut found = [None; READINGS_AHEAD];
        for ((target, step), found) in targets.zip(steps).zip(&mut found) {
            *found = match (target, step) {
                (Target::Key { key, .. }, Step::Guess(host, first)) => {
                    self.tables.guesses.find(host, first, key).map(|item| (host, item))
                }
                (_, Step::Found(host, item)) => Some((host, item)),
                _ => None,
            };
        }
        found
    }

    /// The first step of the search.
    fn begin<'a, 'r: 'a, 't: 'r>(
        &self,
        readings: impl Iterator<Item = (&'r Target<'t>, &'a mut Step<'s>)>,
    ) where
        's: 'a,
    {
        // Most senders name one host after the other.
        let mut last: Option<&str> = None;
        for (target, step) in readings {
            *step = match target {
                Target::Key { host, .. } if last == Some(&**host) => Step::SameHost,
                Target::Key { host, .. } => {
                    last = Some(host);
                    Step::Name(self.snapshot.hosts.begin(host))
                }
                Target::Item(id) => {
                    // The last host is the item's from here on.
                    last = None;
                    self.snapshot.items.get(&ItemId(*id)).map_or(Step::Nothing, Step::Item)
                }
            };
        }
    }

    /// The item of a reading, if this peer may send values for it. `only` = the host that the
    /// request itself names.
    pub(crate) fn item(
        &mut self,
        found: Found<'s>,
        only: Option<&Host>,
    ) -> Result<&'s Arc<Item>, PushError> {
        let (host, item) = found.ok_or(PushError::NoSuchItem)?;
        if only.is_some_and(|only| only.id != host.id) {
            return Err(PushError::NoSuchItem);
        }
        self.check(host, item)
    }

    /// The item of a pushed value, if the user may write to it.
    pub(crate) fn item_for(
        &mut self,
        target: &Target<'_>,
        may: &(dyn Fn(&Host, &Item) -> bool + Sync),
    ) -> Result<&'s Arc<Item>, PushError> {
        let [found, ..] = self.find_all(std::iter::once(target));
        let (host, item) = found.ok_or(PushError::NoSuchItem)?;
        if !may(host, item) {
            return Err(PushError::NoSuchItem);
        }
        self.check(host, item)
    }

    fn check(
        &mut self,
        host: &'s Arc<Host>,
        item: &'s Arc<Item>,
    ) -> Result<&'s Arc<Item>, PushError> {
        self.check_kind(item)?;
        if !host.monitored {
            return Err(PushError::HostNotMonitored);
        }
        if !host.collects() {
            return Err(PushError::InMaintenance);
        }
        if !item.enabled {
            return Err(PushError::Disabled);
        }
        if self.source != Source::Push && !(host.is_of_server() && self.connection_allowed(host)) {
            return Err(PushError::NoSuchItem);
        }
        self.check_list(item)?;
        Ok(item)
    }

    fn check_kind(&self, item: &Item) -> Result<(), PushError> {
        match (item.kind, self.source) {
            (ItemType::Trapper, Source::Sender | Source::Push)
            | (ItemType::AgentActive, Source::Agent) => Ok(()),
            (ItemType::HttpAgent, Source::Sender | Source::Push) => {
                if item.extra.as_ref().is_some_and(|extra| extra.allow_traps) {
                    Ok(())
                } else {
                    Err(PushError::TrappingOff)
                }
            }
            _ => Err(PushError::WrongType),
        }
    }

    fn connection_allowed(&mut self, host: &'s Arc<Host>) -> bool {
        if let Some((last, allowed)) = self.last_host
            && last.id == host.id
        {
            return allowed;
        }
        let allowed = match self.peer.identity.allowed_for(host) {
            Ok(()) => true,
            Err(reason) => {
                tracing::debug!("values from {} refused: {reason}", self.peer.ip);
                false
            }
        };
        self.last_host = Some((host, allowed));
        allowed
    }

    fn check_list(&mut self, item: &'s Item) -> Result<(), PushError> {
        let Some(extra) = &item.extra else { return Ok(()) };
        let list = extra.trapper_hosts.as_str();
        if list.is_empty() || self.source == Source::Agent {
            return Ok(());
        }
        let allowed = match self.last_list {
            Some((last, allowed)) if last == list => allowed,
            _ => match self.tables.names.allowed(list, self.peer.ip, self.now) {
                Verdict::Yes => true,
                Verdict::No => false,
                Verdict::Names(names) => {
                    self.missing.extend(names);
                    false
                }
            },
        };
        self.last_list = Some((list, allowed));
        if allowed { Ok(()) } else { Err(PushError::NotAllowedHere) }
    }
}

/// Moments of the wire are moments of the model.
pub(crate) fn timestamp(at: Moment) -> Timestamp {
    Timestamp { clock: at.clock, ns: at.ns }
}

/// A reading as a value of `item`; `None` = there is nothing to store.
pub(crate) fn value(item: &Item, reading: Reading<'_>) -> Option<Value> {
    let payload = match reading.content {
        Content::Value(text) if item.value_type == ValueType::Log => {
            let meta = reading.log.map(|log| log_meta(*log)).unwrap_or_default();
            Payload::Log(Box::new((CompactString::from(text), meta)))
        }
        Content::Value(text) => Payload::Text(CompactString::from(text)),
        Content::NotSupported(reason) => Payload::NotSupported(reason.into_owned().into()),
        Content::Nothing => {
            // A log file's position moved: the item works.
            reading.log.as_ref().and_then(|log| log.lastlogsize)?;
            Payload::Meta
        }
    };
    Some(Value { item: item.id, at: timestamp(reading.at), payload })
}

fn log_meta(log: LogFields<'_>) -> LogMeta {
    LogMeta {
        timestamp: log.timestamp.unwrap_or(0),
        source: log.source.map(CompactString::from).unwrap_or_default(),
        severity: log.severity.unwrap_or(0),
        eventid: log.eventid.unwrap_or(0),
    }
}
