//! Events of a service: read from the newest backwards to those that are known.

use std::sync::Arc;

use model::{CompactString, LogMeta};
use wire::vmware::event::{self, Event, Severities};
use wire::vmware::{self, Node, request};

use super::gather::Lasting;
use super::inventory::manager;
use super::keys::Ask;
use super::link::{Link, LinkError};

/// Events kept of a service, the newest; an item that is further behind goes on with these.
const EVENTS_MAX: usize = 10_000;
/// Events in the first page, and in each further one; services give 1,000 at most.
const PAGE: [usize; 2] = [100, 1_000];

/// What was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    /// In the order of their keys.
    events: Vec<Arc<Event>>,
    /// All events after this key are there.
    after: u64,
}

/// The last reading.
#[derive(Debug)]
pub(super) struct State {
    pub(super) number: u64,
    /// All events after this key were asked for, as far as the service and this list have them.
    pub(super) asked: u64,
    pub(super) read: Result<Arc<Log>, String>,
}

impl Default for State {
    fn default() -> Self {
        Self { number: 0, asked: u64::MAX, read: Err(String::new()) }
    }
}

/// Which events an item wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Filter {
    /// Severities; empty = all.
    severities: Vec<String>,
}

impl Filter {
    /// Whether a new item passes over the events that are there already, and what it wants.
    pub(super) fn parse(ask: &Ask) -> Result<(bool, Self), String> {
        let skip = match ask.third() {
            "" | "all" => false,
            "skip" => true,
            _ => return Err("Invalid second parameter.".to_owned()),
        };
        let given = ask.fourth();
        let severities: Vec<String> = match given {
            "" => Vec::new(),
            given => given.split(',').map(|one| one.trim().to_owned()).collect(),
        };
        const ALL: [&str; 4] = ["error", "warning", "info", "user"];
        if let Some(other) = severities.iter().find(|one| !ALL.contains(&one.as_str())) {
            return Err(format!(
                "Invalid third parameter. Invalid event severity level \"{other}\"."
            ));
        }
        Ok((skip, Self { severities }))
    }

    fn takes(&self, event: &Event) -> bool {
        self.severities.is_empty() || self.severities.iter().any(|one| **one == *event.severity)
    }
}

impl Log {
    fn newest(&self) -> u64 {
        self.events.last().map_or(self.after, |event| event.key)
    }

    /// The events after a key, as values of an item (`u64::MAX`: none), and the newest key.
    pub(super) fn lines(&self, from: u64, filter: &Filter) -> (Vec<(CompactString, LogMeta)>, u64) {
        let newest = self.newest();
        let from = if from == u64::MAX { newest } else { from };
        // A service that was reinstalled counts from the beginning.
        let from = if from > newest { 0 } else { from };
        let wanted = self.events.iter().filter(|event| event.key > from && filter.takes(event));
        (wanted.map(|event| line(event)).collect(), newest)
    }
}

fn line(event: &Event) -> (CompactString, LogMeta) {
    let at = event.created.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    let meta = LogMeta {
        timestamp: u32::try_from(at).unwrap_or(0),
        eventid: u32::try_from(event.key).unwrap_or(u32::MAX),
        ..LogMeta::default()
    };
    (event.text.as_str().into(), meta)
}

/// Reads the events that are new since `known`, or all after a key that is further back.
pub(super) async fn read(
    link: &mut Link,
    lasting: &mut Lasting,
    known: Option<&Log>,
    after: u64,
) -> Result<Log, LinkError> {
    let service = link.open().await?;
    let severities = severities(link, &service, lasting).await?;
    let create = request::create_event_collector(&service.event_manager, "");
    let collector = vmware::returned(&link.call(&create).await?)?;
    let known = known.filter(|log| log.after <= after);
    let until = known.map_or(after, Log::newest);
    let mut found: Vec<Arc<Event>> = Vec::new();
    let read = async {
        // Where a collector begins to page, before these or behind them, is not the same everywhere.
        let latest = manager(link, &service, &collector, "latestPage").await?;
        let mut oldest = take(&mut found, &latest, &severities);
        for page in 0.. {
            let reached = match oldest {
                Some(oldest) => oldest <= until.saturating_add(1),
                // An empty page is the end, but not the one that may be elsewhere.
                None => page > 0,
            };
            if reached || found.len() >= EVENTS_MAX {
                break;
            }
            let max = PAGE[usize::from(page > 0)];
            let answer = link.call(&request::previous_events(&collector, max)).await?;
            let read = take(&mut found, &answer.children, &severities);
            if read.is_some() && read >= oldest && oldest.is_some() {
                // Nothing that is older: there is no more.
                break;
            }
            oldest = read;
        }
        Ok::<(), LinkError>(())
    };
    let ended = read.await;
    // One that stays lives no longer than the session.
    let _ = link.call(&request::destroy_events(&collector)).await;
    ended?;
    Ok(joined(known, found, until))
}

/// Adds events of a page; returns the first key among them.
fn take(found: &mut Vec<Arc<Event>>, page: &[Node], severities: &Severities) -> Option<u64> {
    let events = event::events(page, severities);
    let first = events.iter().map(|event| event.key).min();
    found.extend(events.into_iter().map(Arc::new));
    first
}

fn joined(known: Option<&Log>, mut found: Vec<Arc<Event>>, until: u64) -> Log {
    if let (Some(known), true) = (known, found.is_empty()) {
        return known.clone();
    }
    let newest = found.iter().map(|event| event.key).max().unwrap_or(0);
    // Of a service that was reinstalled nothing is known.
    let known = known.filter(|log| log.newest() <= newest);
    if let Some(known) = known {
        found.extend(known.events.iter().cloned());
    }
    found.sort_unstable_by_key(|event| event.key);
    found.dedup_by_key(|event| event.key);
    let mut after = known.map_or(until.min(newest), |log| log.after);
    let surplus = found.len().saturating_sub(EVENTS_MAX);
    if surplus > 0 {
        after = found[surplus - 1].key;
        found.drain(..surplus);
    } else if known.is_none() {
        after = after.min(found.first().map_or(0, |event| event.key.saturating_sub(1)));
    }
    Log { events: found, after }
}

async fn severities(
    link: &mut Link,
    service: &vmware::Service,
    lasting: &mut Lasting,
) -> Result<Arc<Severities>, LinkError> {
    if let Some(severities) = &lasting.severities {
        return Ok(Arc::clone(severities));
    }
    let path = "description.eventInfo";
    let list = manager(link, service, &service.event_manager, path).await?;
    let severities = Arc::new(Severities::parse(&list));
    lasting.severities = Some(Arc::clone(&severities));
    Ok(severities)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(keys: &[u64], after: u64) -> Log {
        let event = |key: &u64| {
            let (created, severity) = ("1970-01-01T00:01:40.5Z".into(), "info".into());
            Arc::new(Event { key: *key, created, severity, text: format!("e{key}") })
        };
        Log { events: keys.iter().map(event).collect(), after }
    }

    fn keys((lines, position): (Vec<(CompactString, LogMeta)>, u64)) -> (Vec<u32>, u64) {
        let key = |(_, meta): &(CompactString, LogMeta)| {
            assert_eq!(meta.timestamp, 100);
            meta.eventid
        };
        (lines.iter().map(key).collect(), position)
    }

    #[test]
    fn positions() {
        let all = Filter::default();
        let known = log(&[3, 4, 7], 2);
        for (from, expected) in
            [(u64::MAX, &[][..]), (0, &[3, 4, 7]), (4, &[7]), (7, &[]), (9, &[3, 4, 7])]
        {
            assert_eq!(keys(known.lines(from, &all)), (expected.to_vec(), 7), "{from}");
        }
        let warnings = Filter { severities: vec!["warning".to_owned()] };
        assert_eq!(keys(known.lines(0, &warnings)), (vec![], 7));
        assert_eq!(keys(log(&[], 0).lines(u64::MAX, &all)), (vec![], 0));
    }

    #[test]
    fn readings_are_joined() {
        let numbers = |log: &Log| log.events.iter().map(|event| event.key).collect::<Vec<_>>();
        let first = joined(None, log(&[9, 8, 7], 0).events, 6);
        assert_eq!((numbers(&first), first.after), (vec![7, 8, 9], 6));
        let second = joined(Some(&first), log(&[11, 10, 9], 0).events, 9);
        assert_eq!((numbers(&second), second.after), (vec![7, 8, 9, 10, 11], 6));
        // Reinstalled: the old events are another service's.
        assert_eq!(numbers(&joined(Some(&second), Vec::new(), 11)), numbers(&second));
        let third = joined(Some(&second), log(&[2, 1], 0).events, 11);
        assert_eq!((numbers(&third), third.after), (vec![1, 2], 0));
        let many: Vec<u64> = (1..=EVENTS_MAX as u64 + 5).collect();
        let fourth = joined(None, log(&many, 0).events, 0);
        assert_eq!((fourth.events.len(), fourth.after), (EVENTS_MAX, 5));
    }
}
