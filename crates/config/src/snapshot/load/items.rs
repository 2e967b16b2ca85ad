//! Items and discovery rules of hosts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::{HostId, InterfaceId, ItemId, TriggerId, ValueType};

use super::text::{Resolver, Texts, days};
use super::{PORTION, Scope};
use crate::db::{Connection, DbResult, Row, Value, query_by_ids};
use crate::snapshot::{Host, Item, ItemExtra, ItemType, Snapshot};

const COLUMNS: &str = "i.itemid, i.hostid, i.flags, i.type, i.key_, i.delay, i.history, i.trends, \
    i.status, i.value_type, i.units, i.interfaceid, i.master_itemid, i.valuemapid, \
    i.inventory_link, i.logtimefmt, i.trapper_hosts, i.params, i.timeout, i.allow_traps";

/// Neither prototypes (2) nor anything of templates.
const REAL: &str = "i.flags IN (0, 1, 4) AND h.kind = 0";

/// The items in scope; their hosts are in the snapshot already.
pub(super) fn read(
    connection: &mut dyn Connection,
    snapshot: &Snapshot,
    scope: &Scope,
    texts: &mut Texts,
) -> DbResult<Vec<Item>> {
    let mut found = Vec::new();
    match scope {
        Scope::All => {
            let mut after = 0;
            loop {
                // A cross join keeps SQLite from starting at the hosts, which would read and
                // sort all items again for every portion.
                let sql = format!(
                    "SELECT {COLUMNS} FROM items i CROSS JOIN hosts h \
                     WHERE h.hostid = i.hostid AND i.itemid > ? AND {REAL} \
                     ORDER BY i.itemid LIMIT {PORTION}"
                );
                let rows = connection.query(&sql, &[Value::from(after)])?;
                let Some(last) = rows.last() else { break };
                let (from, to) = (after, last.id("itemid"));
                let around = Around::between(connection, from, to)?;
                found.extend(rows.iter().filter_map(|r| item(r, snapshot, &around, texts)));
                after = to;
            }
        }
        Scope::Ids(ids) => {
            let sql = format!(
                "SELECT {COLUMNS} FROM items i JOIN hosts h ON h.hostid = i.hostid \
                 WHERE {REAL} AND i.itemid IN ({{ids}})"
            );
            let rows = query_by_ids(connection, &sql, &[], ids)?;
            let around = Around::of(connection, ids)?;
            found.extend(rows.iter().filter_map(|r| item(r, snapshot, &around, texts)));
        }
    }
    Ok(found)
}

/// Masters of these items as the database has them now.
pub(super) fn masters(
    connection: &mut dyn Connection,
    items: &BTreeSet<ItemId>,
) -> DbResult<BTreeSet<ItemId>> {
    let ids: Vec<u64> = items.iter().map(|id| id.0).collect();
    let sql = "SELECT master_itemid FROM items WHERE master_itemid <> 0 AND itemid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &ids)?;
    Ok(rows.iter().map(|row| ItemId(row.id("master_itemid"))).collect())
}

/// Ids of all items on these hosts.
pub(super) fn ids_of_hosts(
    connection: &mut dyn Connection,
    hosts: impl Iterator<Item = HostId>,
) -> DbResult<Vec<u64>> {
    let hosts: Vec<u64> = hosts.map(|id| id.0).collect();
    let sql = "SELECT itemid FROM items WHERE hostid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &hosts)?;
    Ok(rows.iter().map(|row| row.id("itemid")).collect())
}

type StepRow = (u8, String, u8, String);

/// What stands around items in other tables.
struct Around {
    steps: HashMap<u64, Vec<StepRow>>,
    dependents: BTreeMap<u64, Vec<ItemId>>,
    triggers: BTreeMap<u64, Vec<TriggerId>>,
}

impl Around {
    fn between(connection: &mut dyn Connection, after: u64, to: u64) -> DbResult<Self> {
        let range = [Value::from(after), Value::from(to)];
        Ok(Self::from_rows(
            &connection.query(
                "SELECT itemid, type, params, error_handler, error_handler_params \
                 FROM item_preprocessing WHERE itemid > ? AND itemid <= ? ORDER BY itemid, step",
                &range,
            )?,
            &connection.query(
                "SELECT itemid, master_itemid FROM items \
                 WHERE master_itemid > ? AND master_itemid <= ? AND flags IN (0, 1, 4)",
                &range,
            )?,
            &connection.query(
                "SELECT DISTINCT itemid, triggerid FROM functions \
                 WHERE itemid > ? AND itemid <= ?",
                &range,
            )?,
        ))
    }

    fn of(connection: &mut dyn Connection, ids: &[u64]) -> DbResult<Self> {
        Ok(Self::from_rows(
            &query_by_ids(
                connection,
                "SELECT itemid, type, params, error_handler, error_handler_params \
                 FROM item_preprocessing WHERE itemid IN ({ids}) ORDER BY itemid, step",
                &[],
                ids,
            )?,
            &query_by_ids(
                connection,
                "SELECT itemid, master_itemid FROM items \
                 WHERE flags IN (0, 1, 4) AND master_itemid IN ({ids})",
                &[],
                ids,
            )?,
            &query_by_ids(
                connection,
                "SELECT DISTINCT itemid, triggerid FROM functions WHERE itemid IN ({ids})",
                &[],
                ids,
            )?,
        ))
    }

    fn from_rows(steps: &[Row], dependents: &[Row], triggers: &[Row]) -> Self {
        let mut around =
            Self { steps: HashMap::new(), dependents: BTreeMap::new(), triggers: BTreeMap::new() };
        let small = |row: &Row, name: &str| u8::try_from(row.int(name)).unwrap_or(u8::MAX);
        for row in steps {
            around.steps.entry(row.id("itemid")).or_default().push((
                small(row, "type"),
                row.text("params").to_owned(),
                small(row, "error_handler"),
                row.text("error_handler_params").to_owned(),
            ));
        }
        for row in dependents {
            let of = around.dependents.entry(row.id("master_itemid")).or_default();
            of.push(ItemId(row.id("itemid")));
        }
        for row in triggers {
            let of = around.triggers.entry(row.id("itemid")).or_default();
            of.push(TriggerId(row.id("triggerid")));
        }
        around
    }
}

/// One item; `None` when its host is not in the snapshot or its type is none that we know.
fn item(row: &Row, snapshot: &Snapshot, around: &Around, texts: &mut Texts) -> Option<Item> {
    let host_ids = [HostId(row.id("hostid"))];
    let host: &Host = snapshot.hosts.get(&host_ids[0])?;
    let kind = ItemType::from_api(u8::try_from(row.int("type")).ok()?)?;
    let id = row.id("itemid");
    let interface = InterfaceId(row.id("interfaceid"));
    let resolver = Resolver::new(snapshot, &host_ids).with_interface(host.interface(interface));
    let mut invalid = None;
    let interval = interval(row, kind, &resolver, texts).unwrap_or_else(|error| {
        invalid = Some(error);
        None
    });
    let steps = steps(around.steps.get(&id), &resolver, texts).unwrap_or_else(|error| {
        invalid = Some(error);
        Arc::from([])
    });
    let kept = |name: &str, global: Option<u16>| {
        global.or_else(|| days(&resolver.text(row.text(name)))).unwrap_or(0)
    };
    let value_type = ValueType::from_api(u8::try_from(row.int("value_type")).ok()?)?;
    Some(Item {
        id: ItemId(id),
        host: host.id,
        key: texts.share(&resolver.key(row.text("key_"))),
        kind,
        value_type,
        discovery_rule: row.int("flags") == 1,
        enabled: row.int("status") == 0 && host.monitored,
        interval,
        invalid: invalid.map(String::into_boxed_str),
        interface,
        master: ItemId(if kind == ItemType::Dependent { row.id("master_itemid") } else { 0 }),
        dependents: around.dependents.get(&id).cloned().unwrap_or_default().into(),
        steps,
        triggers: around.triggers.get(&id).cloned().unwrap_or_default().into(),
        history_days: kept("history", snapshot.settings.history_days_global),
        trends_days: if value_type.is_numeric() {
            kept("trends", snapshot.settings.trends_days_global)
        } else {
            0
        },
        extra: extra(row, kind, &resolver),
    })
}

fn interval(
    row: &Row,
    kind: ItemType,
    resolver: &Resolver<'_>,
    texts: &mut Texts,
) -> Result<Option<Arc<eval::interval::UpdateInterval>>, String> {
    use ItemType::{AgentActive, Dependent, SnmpTrap, Trapper};
    if matches!(kind, Trapper | SnmpTrap | Dependent) {
        return Ok(None);
    }
    let delay = resolver.text(row.text("delay"));
    if kind == AgentActive && (delay == "0" || row.text("key_").starts_with("mqtt.get")) {
        return Ok(None);
    }
    texts.interval(&delay).map(Some)
}

fn steps(
    rows: Option<&Vec<StepRow>>,
    resolver: &Resolver<'_>,
    texts: &mut Texts,
) -> Result<Arc<[eval::preproc::Step]>, String> {
    let Some(rows) = rows else { return texts.steps(&[]) };
    let resolved: Vec<StepRow> = rows
        .iter()
        .map(|(kind, params, handler, handler_params)| {
            (*kind, resolver.text(params), *handler, resolver.text(handler_params))
        })
        .collect();
    texts.steps(&resolved)
}

fn extra(row: &Row, kind: ItemType, resolver: &Resolver<'_>) -> Option<Arc<ItemExtra>> {
    let text = |name: &str| resolver.text(row.text(name));
    // A formula keeps its macros: they are resolved as operands, where a text needs no quotes.
    let params =
        if kind == ItemType::Calculated { row.text("params").to_owned() } else { text("params") };
    let extra = ItemExtra {
        params,
        timeout: text("timeout"),
        trapper_hosts: text("trapper_hosts"),
        logtimefmt: row.text("logtimefmt").to_owned(),
        allow_traps: row.int("allow_traps") == 1,
        inventory_link: u8::try_from(row.int("inventory_link")).unwrap_or(0),
        units: row.text("units").to_owned(),
        valuemap: row.id("valuemapid"),
        tags: Box::default(),
    };
    (extra != ItemExtra::default()).then(|| Arc::new(extra))
}
