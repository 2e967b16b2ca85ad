//! Readings find their items: host and key (or the item's id) against the snapshot, with the
//! rules of item type, allowed hosts and TLS.
//!
//! This is the path of a million values per second, so nothing here allocates per value but the
//! value itself: the host is looked up once per run of equal names, and a key through a small
//! table of guesses (a few nanoseconds where a search over the host's keys costs many cache
//! misses). A guess is only used after the key itself was compared.

use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use config::Snapshot;
use config::snapshot::{Host, Item, ItemType};
use foldhash::fast::RandomState;
use model::{CompactString, ItemId, LogMeta, Payload, Timestamp, Value, ValueType};
use wire::{Content, LogFields, Moment, Reading, Target};

use crate::peers::{PeerNames, Verdict};
use crate::status::PushError;
use crate::tls::Identity;

/// Who sends.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub(crate) ip: IpAddr,
    pub(crate) identity: Identity,
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
    /// What hosts with the same items have in common: how many they are, and the texts of the
    /// first and the last key, which equal items share.
    fn likeness(&self, host: &Host) -> u64 {
        let text = |item: Option<&Arc<Item>>| item.map_or(0, |item| item.key.as_ptr().addr());
        let ends = (text(host.items.first()), text(host.items.last()));
        self.hasher.hash_one((host.items.len(), ends))
    }

    fn find<'s>(&self, host: &'s Host, likeness: u64, key: &str) -> Option<&'s Arc<Item>> {
        let hash = self.hasher.hash_one((likeness, key));
        let slot = self.table.get(usize::try_from(hash).unwrap_or(0) % GUESSES)?;
        let guess = slot.load(Ordering::Relaxed) as usize;
        if let Some(item) = host.items.get(guess)
            && *item.key == *key
        {
            return Some(item);
        }
        let at = host.items.binary_search_by(|item| (*item.key).cmp(key)).ok()?;
        slot.store(u32::try_from(at).unwrap_or(0), Ordering::Relaxed);
        host.items.get(at)
    }
}

/// Matches the readings of one request.
pub(crate) struct Matcher<'s> {
    snapshot: &'s Snapshot,
    guesses: &'s KeyGuesses,
    names: &'s PeerNames,
    peer: &'s Peer,
    source: Source,
    now: Duration,
    /// Names that have to be resolved before the request can be matched.
    pub(crate) missing: Vec<String>,
    last_host: Option<(&'s Arc<Host>, bool)>,
    last_likeness: Option<(&'s Arc<Host>, u64)>,
    last_list: Option<(&'s str, bool)>,
}

impl<'s> Matcher<'s> {
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        (guesses, names): (&'s KeyGuesses, &'s PeerNames),
        peer: &'s Peer,
        source: Source,
        now: Duration,
    ) -> Self {
        let missing = Vec::new();
        Self {
            snapshot,
            guesses,
            names,
            peer,
            source,
            now,
            missing,
            last_host: None,
            last_likeness: None,
            last_list: None,
        }
    }

    /// The item of a reading, if this peer may send values for it. `only` = the host that the
    /// request itself names.
    pub(crate) fn item(
        &mut self,
        target: &Target<'_>,
        only: Option<&Host>,
    ) -> Result<&'s Arc<Item>, PushError> {
        let (host, item) = self.find(target)?;
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
        let (host, item) = self.find(target)?;
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
        if self.source != Source::Push && !self.connection_allowed(host) {
            return Err(PushError::NoSuchItem);
        }
        self.check_list(item)?;
        Ok(item)
    }

    fn find(&mut self, target: &Target<'_>) -> Result<(&'s Arc<Host>, &'s Arc<Item>), PushError> {
        match target {
            Target::Key { host, key } => {
                let host = self.host(host).ok_or(PushError::NoSuchItem)?;
                let likeness = self.likeness(host);
                let item = self.guesses.find(host, likeness, key).ok_or(PushError::NoSuchItem)?;
                Ok((host, item))
            }
            Target::Item(id) => {
                let item = self.snapshot.items.get(&ItemId(*id)).ok_or(PushError::NoSuchItem)?;
                let host = self.snapshot.hosts.get(&item.host).ok_or(PushError::NoSuchItem)?;
                Ok((host, item))
            }
        }
    }

    fn likeness(&mut self, host: &'s Arc<Host>) -> u64 {
        if let Some((last, likeness)) = self.last_likeness
            && Arc::ptr_eq(last, host)
        {
            return likeness;
        }
        let likeness = self.guesses.likeness(host);
        self.last_likeness = Some((host, likeness));
        likeness
    }

    fn host(&self, name: &str) -> Option<&'s Arc<Host>> {
        if let Some((host, _)) = self.last_host
            && *host.host == *name
        {
            return Some(host);
        }
        self.snapshot.host_by_name(name)
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
            _ => match self.names.allowed(list, self.peer.ip, self.now) {
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
