//! What inheritance of items starts from: items of templates, and what hosts have under their keys.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use const_format::formatcp;
use objects::sql::FLAGS_DISCOVERED;

use crate::db::{DbResult, Reader, Value, placeholders, query_by_ids};

/// An item of a template, as far as copying has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) id: u64,
    pub(crate) hostid: u64,
    pub(crate) flags: i64,
    pub(crate) ruleid: u64,
    pub(crate) kind: i64,
    pub(crate) key: String,
    pub(crate) master: u64,
}

/// Items of templates, with the names of the templates.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    pub(crate) items: Vec<Source>,
    /// Template and key of each of the items.
    pub(crate) names: HashMap<u64, (String, String)>,
}

impl Sources {
    pub(crate) fn load(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<Self> {
        // What discovery made on a host is never inherited.
        let sql = formatcp!(
            "SELECT i.itemid, i.hostid, i.flags, i.ruleid, i.type, i.key_, i.master_itemid, h.host \
                   FROM items i JOIN hosts h ON h.hostid = i.hostid \
                   WHERE i.flags < {FLAGS_DISCOVERED} AND i.itemid IN ({{ids}})"
        );
        let rows = query_by_ids(connection, sql, &[], ids)?;
        let mut items: Vec<Source> = rows
            .iter()
            .map(|row| Source {
                id: row.id("itemid"),
                hostid: row.id("hostid"),
                flags: row.int("flags"),
                ruleid: row.id("ruleid"),
                kind: row.int("type"),
                key: row.text("key_").to_owned(),
                master: row.id("master_itemid"),
            })
            .collect();
        in_order(&mut items);
        let names = rows.iter().map(|row| {
            (row.id("itemid"), (row.text("host").to_owned(), row.text("key_").to_owned()))
        });
        Ok(Self { names: names.collect(), items })
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether both are refused for the same. New items may have other ids, when a transaction is
    /// repeated.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let like = |(a, b): (&Source, &Source)| {
            (a.hostid, a.flags, a.kind, &a.key) == (b.hostid, b.flags, b.kind, &b.key)
                && (a.master > 0) == (b.master > 0)
        };
        self.items.len() == other.items.len() && self.items.iter().zip(&other.items).all(like)
    }

    /// Keys that several of the items have.
    pub(crate) fn shared_keys(&self) -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        self.items.iter().map(|item| item.key.as_str()).filter(|key| !seen.insert(*key)).collect()
    }
}

/// Masters before what depends on them, then by key: the order of the new ids.
fn in_order(sources: &mut [Source]) {
    let masters: HashMap<u64, u64> = sources.iter().map(|s| (s.id, s.master)).collect();
    let depth = |source: &Source| {
        let mut depth = 0;
        let mut at = source.master;
        while let Some(next) = masters.get(&at).filter(|_| depth < masters.len()) {
            depth += 1;
            at = *next;
        }
        depth
    };
    sources.sort_by_cached_key(|source| (depth(source), source.key.clone(), source.id));
}

/// An item that the host has under the key already.
pub(crate) struct Existing {
    pub(crate) id: u64,
    pub(crate) templateid: u64,
    pub(crate) flags: i64,
    pub(crate) ruleid: u64,
    pub(crate) interfaceid: u64,
}

/// Items that the hosts have under the sources' keys.
#[derive(Default)]
pub(crate) struct ExistingItems(HashMap<u64, HashMap<String, Existing>>);

impl ExistingItems {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves out what hosts have inherited from templates that they are no longer linked to: it is
    /// yet to be deleted.
    fn forget_unlinked(&mut self, connection: &mut dyn Reader) -> DbResult<()> {
        let all = self.0.values().flat_map(HashMap::values);
        let inherited: Vec<u64> =
            all.filter(|found| found.templateid > 0).map(|found| found.id).collect();
        let sql = "SELECT c.itemid FROM items c JOIN items p ON p.itemid = c.templateid \
                   LEFT JOIN host_templates ht ON ht.hostid = c.hostid AND ht.templateid = p.hostid \
                   WHERE ht.hostid IS NULL AND c.itemid IN ({ids})";
        let rows = query_by_ids(connection, sql, &[], &inherited)?;
        let gone: BTreeSet<u64> = rows.iter().map(|row| row.id("itemid")).collect();
        if !gone.is_empty() {
            self.0
                .values_mut()
                .for_each(|of_host| of_host.retain(|_, found| !gone.contains(&found.id)));
        }
        Ok(())
    }

    /// Templates' items that these are inherited from.
    pub(crate) fn parents(&self) -> impl Iterator<Item = u64> {
        let all = self.0.values().flat_map(HashMap::values);
        all.map(|found| found.templateid).filter(|id| *id > 0)
    }

    pub(crate) fn remove(&mut self, host: u64, key: &str) -> Option<Existing> {
        self.0.get_mut(&host)?.remove(key)
    }
}

pub(crate) fn load_existing(
    connection: &mut dyn Reader,
    sources: &[Source],
    hosts: &[u64],
) -> DbResult<ExistingItems> {
    let mut existing = ExistingItems::default();
    for portion in sources.chunks(1_000) {
        let sql = format!(
            "SELECT itemid, hostid, key_, templateid, flags, ruleid, interfaceid FROM items \
             WHERE key_ IN ({}) AND hostid IN ({{ids}})",
            placeholders(portion.len())
        );
        let keys: Vec<Value> = portion.iter().map(|s| s.key.as_str().into()).collect();
        for row in query_by_ids(connection, &sql, &keys, hosts)? {
            let found = Existing {
                id: row.id("itemid"),
                templateid: row.id("templateid"),
                flags: row.int("flags"),
                ruleid: row.id("ruleid"),
                interfaceid: row.id("interfaceid"),
            };
            let of_host = existing.0.entry(row.id("hostid")).or_default();
            of_host.insert(row.text("key_").to_owned(), found);
        }
    }
    existing.forget_unlinked(connection)?;
    Ok(existing)
}

/// Templates with the hosts and templates that are linked to them.
pub(crate) type Below = BTreeMap<u64, Vec<u64>>;

/// What was found out about hosts beside a transaction.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// Changes with this number, and later ones, may be unknown to the checks.
    pub(crate) revision: u64,
    pub(crate) asked: Vec<(Sources, Below)>,
    pub(crate) known: Vec<Known>,
}

/// Hosts that were checked for the same items.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) sources: Sources,
    /// Hosts that can inherit the items. `true`: an own item of the host becomes a dependent one.
    pub(crate) fit: HashMap<u64, bool>,
    /// Hosts of which at least one cannot: the transaction itself has the last word.
    pub(crate) unfit: Vec<Vec<u64>>,
}

impl Checks {
    /// The transaction has asked for checks: it is to be undone, and made again after them.
    pub(crate) fn are_asked(&self) -> bool {
        !self.asked.is_empty()
    }
}

impl Known {
    pub(crate) fn forget(&mut self, hosts: &BTreeSet<u64>) {
        self.fit.retain(|id, _| !hosts.contains(id));
    }
}
