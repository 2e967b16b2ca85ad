//! What records of an item begin with, and which connectors want them: kept in memory while neither the
//! item nor its host changes.

use std::sync::Arc;

use config::Snapshot;
use config::db::{DbResult, Reader, query_by_ids};
use config::snapshot::connector::{ConnectorData, Connectors};
use config::snapshot::{Host, Item};
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use model::ItemId;

use crate::record::item_prefix;

/// Bytes of all descriptions; beyond, all are made again.
const BYTES_MAX: usize = 64 << 20;

/// An item as records need it.
#[derive(Debug)]
pub(crate) struct Description {
    item: Arc<Item>,
    host: Arc<Host>,
    /// The beginning of its records.
    pub(crate) prefix: String,
    /// Positions of the connectors that stream its values.
    pub(crate) connectors: Box<[usize]>,
}

impl Description {
    pub(crate) fn item(&self) -> &Item {
        &self.item
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.prefix.len() + size_of_val(&*self.connectors)
    }

    fn is_of(&self, snapshot: &Snapshot) -> bool {
        let same = |item: &Arc<Item>| Arc::ptr_eq(item, &self.item);
        let same_host = |host: &Arc<Host>| Arc::ptr_eq(host, &self.host);
        snapshot.items.get(&self.item.id).is_some_and(same)
            && snapshot.hosts.get(&self.item.host).is_some_and(same_host)
    }
}

/// Descriptions of items.
#[derive(Debug, Default)]
pub(crate) struct Descriptions {
    known: HashMap<ItemId, Description, FixedState>,
    bytes: usize,
}

impl Descriptions {
    /// To be called when connectors have changed.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.bytes = 0;
    }

    /// Those of these items that have to be made, each once.
    pub(crate) fn missing(
        &self,
        snapshot: &Snapshot,
        items: impl Iterator<Item = ItemId>,
    ) -> Vec<u64> {
        let mut missing: HashSet<ItemId, FixedState> = HashSet::default();
        let known = |id: &ItemId| self.known.get(id).is_some_and(|one| one.is_of(snapshot));
        missing.extend(items.filter(|id| !known(id)));
        missing.into_iter().map(|id| id.0).collect()
    }

    /// Makes descriptions from the names that items have in the configuration. Items without a name are deleted.
    pub(crate) fn add(
        &mut self,
        snapshot: &Snapshot,
        connectors: &Connectors,
        names: Vec<(ItemId, String)>,
    ) {
        if self.bytes > BYTES_MAX {
            self.clear();
        }
        for (id, name) in names {
            let Some(item) = snapshot.items.get(&id) else { continue };
            let Some(host) = snapshot.host_of(item) else { continue };
            let made = Description {
                prefix: item_prefix(host, item, &name),
                connectors: wanted_by(item, connectors),
                item: Arc::clone(item),
                host: Arc::clone(host),
            };
            self.bytes += made.bytes();
            if let Some(before) = self.known.insert(id, made) {
                self.bytes -= before.bytes();
            }
        }
    }

    pub(crate) fn get(&self, item: ItemId) -> Option<&Description> {
        self.known.get(&item)
    }
}

/// The connectors that stream values of the item.
fn wanted_by(item: &Item, connectors: &Connectors) -> Box<[usize]> {
    let tags = item.extra.as_ref().map_or(&[][..], |extra| &extra.tags);
    let positions = connectors.list.iter().enumerate().filter(|(_, connector)| {
        let of_type = match connector.data {
            ConnectorData::Values(types) => types.contains(item.value_type),
            ConnectorData::Events => false,
        };
        of_type && connector.tags.passes(tags)
    });
    positions.map(|(position, _)| position).collect()
}

/// Names of items as they are configured.
pub(crate) fn names(connection: &mut dyn Reader, items: &[u64]) -> DbResult<Vec<(ItemId, String)>> {
    let sql = "SELECT itemid, name FROM items WHERE itemid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], items)?;
    Ok(rows.iter().map(|row| (ItemId(row.id("itemid")), row.text("name").to_owned())).collect())
}
