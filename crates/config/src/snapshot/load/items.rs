//! Items and discovery rules of hosts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use const_format::formatcp;
use model::{HostId, InterfaceId, ItemId, TriggerId};
use objects::sql::FLAGS_WITH_VALUES;
use stdx::sync::{into_inner, lock};

use super::shapes::{self, Shapes, Tag};
use super::text::StepRow;
use crate::db::{Cells, Db, DbResult, Reader, Value, query_by_ids};
use crate::snapshot::source::Source;
use crate::snapshot::{Host, Item, ItemType, Resolver, Snapshot};

/// What is read of an item before the columns of its shape.
const OWN: &str = "i.itemid, i.hostid, i.interfaceid, i.master_itemid";
/// The first column of the shape.
const SHAPE: usize = 4;

/// No prototypes (2).
const REAL: &str = formatcp!("i.flags IN {FLAGS_WITH_VALUES}");

/// Ranges of ids that are read one by one, by whichever reader is free: as many as keep all busy
/// to the end, and so few that what a range costs by itself does not show.
const RANGES: u64 = 48;

/// SQLite takes 32,766 parameters, PostgreSQL 65,535; 5,000 plan quickly in both.
const PORTION: usize = 5_000;

/// Readers at most: more wait for the disk and for each other.
const READERS_MAX: usize = 4;

/// The order of items on their hosts.
pub(super) fn by_key(a: &Arc<Item>, b: &Arc<Item>) -> std::cmp::Ordering {
    a.host.cmp(&b.host).then_with(|| a.key.cmp(&b.key))
}

/// All items; their hosts are in the snapshot already. Read over several connections at once,
/// while nothing is written. Parts of them, each in order of [`by_key`].
pub(super) fn read_all(db: &Db, snapshot: &Snapshot) -> DbResult<Vec<Vec<Arc<Item>>>> {
    let bounds = db.read(|connection| {
        // Two questions: SQLite answers each by a look at one end, both in one by reading all.
        let sql = "SELECT (SELECT MIN(itemid) FROM items) AS low, \
                   (SELECT MAX(itemid) FROM items) AS high";
        connection.query(sql, &[])
    })?;
    let (low, high) = bounds.first().map_or((0, 0), |row| (row.id("low"), row.id("high")));
    let width = ((high + 1).saturating_sub(low)).div_ceil(RANGES).max(1);
    let next = AtomicU64::new(0);
    let found: Mutex<Vec<Vec<Arc<Item>>>> = Mutex::default();
    let work = || {
        let mut shapes = Shapes::default();
        db.read(|connection| {
            loop {
                let from = low + next.fetch_add(1, Ordering::Relaxed) * width;
                if from > high {
                    break;
                }
                let mut items = between(connection, snapshot, (from, from + width), &mut shapes)?;
                items.sort_unstable_by(by_key);
                lock(&found).push(items);
            }
            connection.rest();
            Ok(())
        })
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(READERS_MAX)).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            result =
                result.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        result
    })?;
    Ok(into_inner(found))
}

/// The items with these ids.
pub(super) fn read(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    ids: &[u64],
) -> DbResult<Vec<Arc<Item>>> {
    let mut found = Vec::new();
    let mut shapes = Shapes::default();
    for portion in ids.chunks(PORTION) {
        let marks = crate::db::placeholders(portion.len());
        let params = crate::db::id_params(portion.iter().copied());
        let mut around = Around::default();
        around.read(connection, &format!("IN ({marks})"), &params)?;
        let sql = format!(
            "SELECT {OWN}, {} FROM items i WHERE {REAL} AND i.itemid IN ({marks}) \
             ORDER BY i.itemid",
            shapes::COLUMNS
        );
        around.items(connection, (&sql, &params), snapshot, &mut shapes, &mut found)?;
    }
    Ok(found)
}

/// The items with ids from the first bound to before the second.
fn between(
    connection: &mut dyn Reader,
    snapshot: &Snapshot,
    (from, before): (u64, u64),
    shapes: &mut Shapes,
) -> DbResult<Vec<Arc<Item>>> {
    let params = [Value::from(from), Value::from(before - 1)];
    let mut around = Around::default();
    around.read(connection, "BETWEEN ? AND ?", &params)?;
    let sql = format!(
        "SELECT {OWN}, {} FROM items i WHERE {REAL} AND i.itemid BETWEEN ? AND ? \
         ORDER BY i.itemid",
        shapes::COLUMNS
    );
    let mut found = Vec::new();
    around.items(connection, (&sql, &params), snapshot, shapes, &mut found)?;
    Ok(found)
}

/// Ids of all items on these hosts.
pub(super) fn ids_of_hosts(
    connection: &mut dyn Reader,
    hosts: impl Iterator<Item = HostId>,
) -> DbResult<Vec<u64>> {
    let hosts: Vec<u64> = hosts.map(|id| id.0).collect();
    let sql = "SELECT itemid FROM items WHERE hostid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &hosts)?;
    Ok(rows.iter().map(|row| row.id("itemid")).collect())
}

/// Rows that belong to items, in order of these.
struct Sorted<T> {
    items: Vec<u64>,
    rows: Vec<T>,
    /// Rows before this one belong to items that were asked for.
    next: usize,
}

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Self { items: Vec::new(), rows: Vec::new(), next: 0 }
    }
}

impl<T> Sorted<T> {
    fn push(&mut self, item: u64, row: T) {
        self.items.push(item);
        self.rows.push(row);
    }

    /// The rows of an item; the next one asked for has a higher id.
    fn of(&mut self, item: u64) -> &[T] {
        let mut at = self.next;
        while self.items.get(at).is_some_and(|owner| *owner < item) {
            at += 1;
        }
        let first = at;
        while self.items.get(at).is_some_and(|owner| *owner == item) {
            at += 1;
        }
        self.next = at;
        self.rows.get(first..at).unwrap_or_default()
    }
}

/// What stands around items in other tables, in order of the items.
#[derive(Default)]
struct Around {
    steps: Sorted<StepRow>,
    tags: Sorted<Tag>,
    dependents: Sorted<ItemId>,
    triggers: Sorted<TriggerId>,
    /// Columns of [`Source`], for the types that have one.
    sources: Sorted<Vec<String>>,
}

impl Around {
    /// Reads the rows of items whose ids meet `condition`.
    fn read(
        &mut self,
        connection: &mut dyn Reader,
        condition: &str,
        params: &[Value],
    ) -> DbResult<()> {
        connection.each(
            &format!(
                "SELECT itemid, type, params, error_handler, error_handler_params \
                 FROM item_preprocessing WHERE itemid {condition} ORDER BY itemid, step"
            ),
            params,
            &mut |row| {
                let step =
                    (row.small(1), row.text(2).to_owned(), row.small(3), row.text(4).to_owned());
                self.steps.push(row.id(0), step);
            },
        )?;
        connection.each(
            &format!(
                "SELECT itemid, tag, value FROM item_tags WHERE itemid {condition} \
                 ORDER BY itemid, itemtagid"
            ),
            params,
            &mut |row| {
                let tag = (row.text(1).to_owned(), row.text(2).to_owned());
                self.tags.push(row.id(0), tag);
            },
        )?;
        connection.each(
            &format!(
                "SELECT master_itemid, itemid FROM items \
                 WHERE master_itemid {condition} AND type = {} \
                 AND flags IN {FLAGS_WITH_VALUES} \
                 ORDER BY master_itemid, itemid",
                ItemType::Dependent.number()
            ),
            params,
            &mut |row| self.dependents.push(row.id(0), ItemId(row.id(1))),
        )?;
        connection.each(
            &format!(
                "SELECT DISTINCT itemid, triggerid FROM functions \
                 WHERE itemid {condition} ORDER BY itemid, triggerid"
            ),
            params,
            &mut |row| self.triggers.push(row.id(0), TriggerId(row.id(1))),
        )?;
        // Beside the items, most of which have none of these.
        let columns = Source::COLUMNS.iter().map(|name| format!("CAST({name} AS TEXT)"));
        let columns: Vec<String> = columns.collect();
        connection.each(
            &format!(
                "SELECT itemid, {} FROM items WHERE itemid {condition} AND type IN ({}) \
                 AND flags IN {FLAGS_WITH_VALUES} ORDER BY itemid",
                columns.join(", "),
                Source::types(),
            ),
            params,
            &mut |row| {
                let source = (1..=columns.len()).map(|at| row.text(at).to_owned()).collect();
                self.sources.push(row.id(0), source);
            },
        )
    }

    /// Reads the items themselves, in order of their ids.
    fn items(
        &mut self,
        connection: &mut dyn Reader,
        (sql, params): (&str, &[Value]),
        snapshot: &Snapshot,
        shapes: &mut Shapes,
        found: &mut Vec<Arc<Item>>,
    ) -> DbResult<()> {
        let mut host: Option<&Arc<Host>> = None;
        connection.each(sql, params, &mut |row| {
            let id = HostId(row.id(1));
            if host.is_none_or(|host| host.id != id) {
                host = snapshot.hosts.get(&id);
            }
            // Those of templates have a host that is not in the snapshot.
            let Some(host) = host else { return };
            found.extend(self.item(row, snapshot, host, shapes).map(Arc::new));
        })
    }

    /// One item; `None` when its type is none that we know.
    fn item(
        &mut self,
        row: &dyn Cells,
        snapshot: &Snapshot,
        host: &Host,
        shapes: &mut Shapes,
    ) -> Option<Item> {
        let id = row.id(0);
        let hosts = [host.id];
        let interface = InterfaceId(row.id(2));
        let resolver =
            Resolver::of(snapshot, host, &hosts).with_interface(host.interface(interface));
        let sources = self.sources.of(id).first().map_or(&[][..], Vec::as_slice);
        let around = (self.steps.of(id), self.tags.of(id), sources);
        let shape = shapes.of((row, SHAPE), host, &resolver, around, &snapshot.settings)?;
        Some(Item {
            id: ItemId(id),
            host: host.id,
            origin: if shape.kind == ItemType::Dependent { row.id(3) } else { interface.0 },
            dependents: self.dependents.of(id).iter().copied().collect(),
            triggers: self.triggers.of(id).iter().copied().collect(),
            shape,
        })
    }
}
