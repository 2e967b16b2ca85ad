//! Which items a trap is for.

use std::collections::HashMap;
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{Host, Item, ItemType};
use eval::key::ItemKey;
use eval::regex::{GlobalRegexes, is_match_or_global};
use model::{InterfaceId, Payload, Timestamp, Value};

use crate::shared::Shared;

/// The API's number of SNMP interfaces.
const SNMP: u8 = 2;

/// An interface that may send traps.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) host: Arc<Host>,
    pub(super) interface: InterfaceId,
}

/// Gives traps to items, by the newest configuration.
pub(super) struct Desk {
    shared: Arc<Shared>,
    /// What `by_address` was made of.
    snapshot: Arc<Snapshot>,
    by_address: HashMap<Box<str>, Vec<Place>>,
    globals: GlobalRegexes,
}

impl Desk {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            snapshot: Arc::default(),
            by_address: HashMap::new(),
            globals: GlobalRegexes::new(),
        }
    }

    fn refresh(&mut self) {
        let snapshot = self.shared.context.snapshots.load();
        if Arc::ptr_eq(&snapshot, &self.snapshot) {
            return;
        }
        self.by_address = by_address(&snapshot);
        self.globals = snapshot.global_regexes();
        self.snapshot = Arc::clone(&snapshot);
    }

    /// The interfaces with this address or name that have items for traps.
    pub(super) fn places(&mut self, address: &str) -> Vec<Place> {
        self.refresh();
        self.by_address.get(address).cloned().unwrap_or_default()
    }

    /// Gives a trap to the items that it matches, of each interface with this address. False = its values
    /// could not be stored.
    pub(super) async fn deliver(&mut self, address: &str, text: &str, at: Timestamp) -> bool {
        let places = self.places(address);
        let mut split = self.shared.context.sink.split();
        for place in &places {
            for item in matching(place, text, &self.globals) {
                let payload = match item.1 {
                    Ok(()) => Payload::Text(text.into()),
                    Err(why) => Payload::NotSupported(why.into()),
                };
                split.push(place.host.id, Value { item: item.0.id, at, payload });
            }
        }
        if split.is_empty() {
            tracing::warn!("unmatched trap received from \"{address}\": {text}");
            return true;
        }
        let outcome = self.shared.context.sink.send(split).await;
        if outcome.lost {
            tracing::error!("cannot store a trap from \"{address}\"");
        }
        !outcome.lost
    }
}

fn by_address(snapshot: &Snapshot) -> HashMap<Box<str>, Vec<Place>> {
    let mut all: HashMap<Box<str>, Vec<Place>> = HashMap::new();
    for host in snapshot.hosts.values().filter(|host| host.monitored && host.is_of_server()) {
        let takes = |id| host.items.iter().any(|item| takes_traps(item, id));
        let wanted = host.interfaces.iter().filter(|one| one.kind == SNMP && takes(one.id));
        for interface in wanted {
            let place = Place { host: Arc::clone(host), interface: interface.id };
            all.entry(interface.address().into()).or_default().push(place);
        }
    }
    all
}

fn takes_traps(item: &Item, interface: InterfaceId) -> bool {
    item.kind == ItemType::SnmpTrap && item.enabled && item.interface() == interface
}

/// An item, and what is wrong with its pattern.
type Match<'a> = (&'a Arc<Item>, Result<(), String>);

/// The items whose pattern the trap matches; those for everything else if there is none.
fn matching<'a>(place: &'a Place, text: &str, globals: &GlobalRegexes) -> Vec<Match<'a>> {
    let (mut found, mut fallback, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for item in place.host.items.iter().filter(|item| takes_traps(item, place.interface)) {
        if &*item.key == "snmptrap.fallback" {
            fallback.push((item, Ok(())));
            continue;
        }
        let pattern = match ItemKey::parse(&item.key) {
            Ok(key) if key.name == "snmptrap" && key.param_count() <= 1 => key.param(0),
            _ => {
                let why = "Invalid SNMP trap key: snmptrap[regexp] or snmptrap.fallback.";
                broken.push((item, Err(why.to_owned())));
                continue;
            }
        };
        match is_match_or_global(&pattern.unwrap_or_default(), text, false, globals) {
            Ok(true) => found.push((item, Ok(()))),
            Ok(false) => {}
            Err(error) => broken.push((item, Err(error.to_string()))),
        }
    }
    if found.is_empty() {
        found = fallback;
    }
    found.append(&mut broken);
    found
}
