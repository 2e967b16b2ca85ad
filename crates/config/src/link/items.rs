//! Inheritance of items, discovery rules and item prototypes.

use crate::table;
use objects::Origin;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::checks::check_hosts;
use super::interfaces::{interface_for, interface_types, keeps};
use super::{Below, Later, LinkError, Target, kind_words, linked_below, targets};
use crate::Edit;
use crate::db::{DbResult, Reader, Value, query_by_ids};
use crate::sources::{Existing, ExistingItems, Source, Sources, load_existing};

/// One item on one host.
struct Copy {
    source: usize,
    parent: u64,
    hostid: u64,
    itemid: u64,
    /// Interface of an own item of the host that becomes inherited.
    adopted: Option<u64>,
}

/// Copies items of templates to what is linked below them, and on to what is linked below that. With
/// `later`, only templates get copies, and hosts are checked; returns the items that the hosts have
/// yet to inherit.
pub(crate) fn inherit_items(
    edit: &mut Edit<'_>,
    sources: &[u64],
    below: &Below,
    later: Option<&Later>,
) -> Result<Vec<u64>, LinkError> {
    let mut sources = sources.to_vec();
    let mut below = below.clone();
    let mut left = Vec::new();
    while !sources.is_empty() && !below.is_empty() {
        if let Some(later) = later {
            let hosts = take_hosts(&mut below, &later.templates);
            if check_hosts(edit, &sources, &hosts)? && !later.behind {
                copy_level(edit, &sources, &hosts)?;
            } else if hosts.values().any(|of| !of.is_empty()) {
                left.extend(&sources);
            }
        }
        let copies = copy_level(edit, &sources, &below)?;
        let hosts: BTreeSet<u64> = copies.iter().map(|(_, host)| *host).collect();
        let hosts: Vec<u64> = hosts.into_iter().collect();
        below = linked_below(edit, &hosts)?;
        sources =
            copies.into_iter().filter(|(_, h)| below.contains_key(h)).map(|(id, _)| id).collect();
    }
    Ok(left)
}

/// Leaves only these templates in `below`; returns the hosts.
fn take_hosts(below: &mut Below, templates: &BTreeSet<u64>) -> Below {
    let mut hosts = Below::new();
    for (template, of) in below.iter_mut() {
        let of_hosts = of.extract_if(.., |id| !templates.contains(id)).collect();
        hosts.insert(*template, of_hosts);
    }
    hosts
}

/// Refuses what these items would be refused for on these hosts; nothing is written. `true`: a host's
/// own item would become a dependent one. What depends on it may then be too deep, which only a search
/// from the host's items shows.
pub(super) fn check_level(
    connection: &mut dyn Reader,
    sources: &Sources,
    below: &Below,
) -> Result<bool, LinkError> {
    let level = Level::load(connection, sources.clone(), below, Purpose::Check)?;
    let types = level.interface_types(connection)?;
    for copy in &level.copies {
        level.interface(copy, &types)?;
    }
    let dependent = |copy: &Copy| level.sources.items[copy.source].master > 0;
    Ok(level.copies.iter().any(|copy| copy.adopted.is_some() && dependent(copy)))
}

/// One level; gives the ids of the copies with their hosts.
fn copy_level(
    edit: &mut Edit<'_>,
    ids: &[u64],
    below: &Below,
) -> Result<Vec<(u64, u64)>, LinkError> {
    let sources = Sources::load(edit, ids)?;
    let mut level = Level::load(edit, sources, below, Purpose::Copy)?;
    let first = edit.next_id(&table::ITEMS, level.fresh)?;
    level.number(first);
    let rows = level.place(edit)?;
    write(edit, &level.copies, rows)?;
    Ok(level.copies.into_iter().map(|copy| (copy.itemid, copy.hostid)).collect())
}

/// What a level is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Check,
    Copy,
}

/// The copies that one level of the linkage gets.
struct Level {
    sources: Sources,
    targets: HashMap<u64, Target>,
    names: Names,
    /// Items that hosts have of a parent: (host, parent) → item.
    children: HashMap<(u64, u64), u64>,
    copies: Vec<Copy>,
    /// Copies that are new items.
    fresh: u64,
}

impl Level {
    /// Refuses keys that a host has of its own in another way, or of another template.
    fn load(
        connection: &mut dyn Reader,
        sources: Sources,
        below: &Below,
        purpose: Purpose,
    ) -> Result<Self, LinkError> {
        let hosts: BTreeSet<u64> = below.values().flatten().copied().collect();
        let hosts: Vec<u64> = hosts.into_iter().collect();
        let targets = targets(connection, &hosts)?;
        let mut existing = load_existing(connection, &sources.items, &hosts)?;
        let names = Names::load(connection, &sources, &existing)?;
        // A check needs them for the hosts' own items alone.
        let children = match purpose {
            Purpose::Check if existing.is_empty() => HashMap::new(),
            _ => load_children(connection, &sources.items, &hosts)?,
        };

        let shared = sources.shared_keys();
        let mut copies = Vec::new();
        let mut taken: HashMap<(u64, &str), usize> = HashMap::new();
        for (at, source) in sources.items.iter().enumerate() {
            let is_shared = shared.contains(source.key.as_str());
            for hostid in below.get(&source.hostid).into_iter().flatten() {
                // Beside a transaction, a host may have been deleted since.
                let Some(target) = targets.get(hostid) else { continue };
                if is_shared && let Some(other) = taken.insert((*hostid, &source.key), at) {
                    return Err(both(&names, &sources.items[other], source, target));
                }
                let adopted = match existing.remove(*hostid, &source.key) {
                    None => None,
                    Some(found) if found.templateid == source.id => continue,
                    Some(found) if names.is_renamed(found.templateid, &source.key) => None,
                    Some(found) => {
                        refuse(&names, source, target, &found, &children, *hostid)?;
                        Some((found.id, found.interfaceid))
                    }
                };
                copies.push(Copy {
                    source: at,
                    parent: source.id,
                    hostid: *hostid,
                    itemid: adopted.map_or(0, |(id, _)| id),
                    adopted: adopted.map(|(_, interface)| interface),
                });
            }
        }
        let fresh = copies.iter().filter(|copy| copy.adopted.is_none()).count();
        let fresh = u64::try_from(fresh).unwrap_or(u64::MAX);
        Ok(Self { sources, targets, names, children, copies, fresh })
    }

    /// Gives the new items their ids.
    fn number(&mut self, first: u64) {
        let mut next = first;
        for copy in &mut self.copies {
            if copy.adopted.is_none() {
                copy.itemid = next;
                next += 1;
            }
            self.children.insert((copy.hostid, self.sources.items[copy.source].id), copy.itemid);
        }
    }

    /// Rows of the copies, with the columns of [`OWN`]. Refuses hosts that lack an interface.
    fn place(&self, connection: &mut dyn Reader) -> Result<Vec<Vec<Value>>, LinkError> {
        let types = self.interface_types(connection)?;
        self.copies.iter().map(|copy| self.row(copy, &types)).collect()
    }

    /// Types of the interfaces of the hosts' own items that become inherited.
    fn interface_types(&self, connection: &mut dyn Reader) -> DbResult<BTreeMap<u64, i64>> {
        let adopted: Vec<u64> = self.copies.iter().filter_map(|copy| copy.adopted).collect();
        interface_types(connection, &adopted)
    }

    /// The interface of a copy. Refuses hosts that lack one.
    fn interface(&self, copy: &Copy, types: &BTreeMap<u64, i64>) -> Result<u64, LinkError> {
        let source = &self.sources.items[copy.source];
        let target = &self.targets[&copy.hostid];
        // An own interface of the right type stays.
        let own =
            copy.adopted.filter(|id| *id > 0 && keeps(source.kind, *id, types.get(id).copied()));
        match own {
            Some(id) => Ok(id),
            None => interface_for(target, source.kind).map_err(|name| {
                LinkError::conflict(format!(
                    "Cannot inherit {} with key \"{}\" of template \"{}\" to host \"{}\", because \
                     a host interface of type \"{name}\" is required.",
                    words(source.flags),
                    source.key,
                    self.names.of(source.id),
                    target.name
                ))
            }),
        }
    }

    fn row(&self, copy: &Copy, types: &BTreeMap<u64, i64>) -> Result<Vec<Value>, LinkError> {
        let source = &self.sources.items[copy.source];
        let interface = self.interface(copy, types)?;
        let child = |parent: u64| self.children.get(&(copy.hostid, parent)).copied().unwrap_or(0);
        let ids = [
            copy.itemid,
            copy.hostid,
            source.id,
            interface,
            child(source.master),
            child(source.ruleid),
        ];
        let no_uuid = Value::from("");
        Ok(ids.into_iter().map(Value::from).chain([no_uuid]).collect())
    }
}

/// Children that the hosts have already: of the sources, their rules and their masters.
fn load_children(
    connection: &mut dyn Reader,
    sources: &[Source],
    hosts: &[u64],
) -> DbResult<HashMap<(u64, u64), u64>> {
    let mut parents: BTreeSet<u64> = BTreeSet::new();
    for source in sources {
        parents.extend([source.id, source.ruleid, source.master]);
    }
    parents.remove(&0);
    let parents: Vec<u64> = parents.into_iter().collect();
    let mut children = HashMap::new();
    for row in super::children(connection, &parents, hosts)? {
        children.insert((row.id("hostid"), row.id("templateid")), row.id("itemid"));
    }
    Ok(children)
}

/// Names of templates, for messages, and keys of items.
struct Names {
    of_item: HashMap<u64, (String, String)>,
}

impl Names {
    fn load(
        connection: &mut dyn Reader,
        sources: &Sources,
        existing: &ExistingItems,
    ) -> DbResult<Self> {
        let mut of_item = sources.names.clone();
        let ids: BTreeSet<u64> =
            existing.parents().filter(|id| !of_item.contains_key(id)).collect();
        let ids: Vec<u64> = ids.into_iter().collect();
        let sql = "SELECT i.itemid, i.key_, h.host FROM items i \
                   JOIN hosts h ON h.hostid = i.hostid WHERE i.itemid IN ({ids})";
        for row in query_by_ids(connection, sql, &[], &ids)? {
            let name = (row.text("host").to_owned(), row.text("key_").to_owned());
            of_item.insert(row.id("itemid"), name);
        }
        Ok(Self { of_item })
    }

    fn of(&self, item: u64) -> &str {
        self.of_item.get(&item).map_or("", |(host, _)| host)
    }

    /// Whether a parent has another key, which its children have yet to take over.
    fn is_renamed(&self, parent: u64, key: &str) -> bool {
        self.of_item.get(&parent).is_some_and(|(_, now)| now != key)
    }
}

pub(super) fn words(flags: i64) -> &'static str {
    kind_words(flags).trim_start_matches("an ")
}

fn both(names: &Names, one: &Source, other: &Source, target: &Target) -> LinkError {
    LinkError::conflict(format!(
        "Cannot inherit {}s with key \"{}\" of both \"{}\" and \"{}\" templates, because the key \
         must be unique on {} \"{}\".",
        words(one.flags),
        one.key,
        names.of(one.id),
        names.of(other.id),
        target.word(),
        target.name
    ))
}

/// May the host's own item become the inherited one?
fn refuse(
    names: &Names,
    source: &Source,
    target: &Target,
    found: &Existing,
    children: &HashMap<(u64, u64), u64>,
    hostid: u64,
) -> Result<(), LinkError> {
    let other_rule = Origin::Prototype.is(source.flags)
        && children.get(&(hostid, source.ruleid)) != Some(&found.ruleid);
    let why = if found.templateid > 0 {
        format!(
            "because {} with the same key is already inherited from template \"{}\"",
            kind_words(found.flags),
            names.of(found.templateid)
        )
    } else if Origin::Discovered.is(found.flags) {
        "because a discovered item with the same key already exists".to_owned()
    } else if found.flags != source.flags {
        format!("because {} with the same key already exists", kind_words(found.flags))
    } else if other_rule {
        "because its key is used by an item prototype of another LLD rule".to_owned()
    } else {
        return Ok(());
    };
    Err(LinkError::conflict(format!(
        "Cannot inherit {} with key \"{}\" of template \"{}\" to {} \"{}\", {why}.",
        words(source.flags),
        source.key,
        names.of(source.id),
        target.word(),
        target.name
    )))
}

/// Columns that a copy has of its own, in the order of [`Level::row`]; all others come from the parent.
const OWN: [&str; 7] =
    ["itemid", "hostid", "templateid", "interfaceid", "master_itemid", "ruleid", "uuid"];

fn write(edit: &mut Edit<'_>, copies: &[Copy], rows: Vec<Vec<Value>>) -> DbResult<()> {
    let (mut fresh, mut copied) = (Vec::new(), Vec::new());
    let mut adopted = Vec::new();
    for (copy, row) in copies.iter().zip(rows) {
        if copy.adopted.is_none() {
            fresh.push(row);
            copied.push(copy.itemid);
            continue;
        }
        // The host keeps its item, which becomes the inherited one.
        let own: Vec<(&str, Value)> = OWN.into_iter().zip(row).skip(1).collect();
        edit.update_like(&table::ITEMS, copy.itemid, copy.parent, &own)?;
        adopted.push(copy.itemid);
    }
    edit.insert_like(&table::ITEMS, &OWN, "templateid", &fresh)?;
    edit.delete(&table::ITEM_PREPROCESSING, "itemid", &adopted)?;
    edit.delete(&table::ITEM_TAGS, "itemid", &adopted)?;
    for ids in [copied, adopted] {
        edit.insert_details_like(&table::ITEM_PREPROCESSING, &table::ITEMS, &ids)?;
        edit.insert_details_like(&table::ITEM_TAGS, &table::ITEMS, &ids)?;
    }
    Ok(())
}
