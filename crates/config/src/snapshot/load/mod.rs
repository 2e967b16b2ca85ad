//! Database rows to snapshot: everything at start, afterwards only what a change touched.

mod connectors;
mod discovery;
mod global;
mod hosts;
mod items;
mod shapes;
mod text;
mod triggers;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::FixedState;
use model::{HostId, ItemId, TriggerId};
use objects::EventSource;

use super::{Host, Hosts, Item, Macros, Snapshot, Trigger};
use crate::Touched;
use crate::db::{Db, DbError, DbResult, Reader};

/// Which rows to read.
#[derive(Debug, Clone)]
pub(super) enum Scope {
    All,
    /// Of these ids only.
    Ids(Vec<u64>),
}

/// Rows are read in portions of this many, so that a large configuration never stands in memory
/// twice: once as rows, once as objects.
const PORTION: u64 = 20_000;

/// Items that are worth a thread.
const MANY: usize = 20_000;

/// Reads everything, while nothing is written.
pub(crate) fn load(db: &Db) -> DbResult<Snapshot> {
    let mut next = db.read(|connection| {
        let mut next = Snapshot {
            macros: Arc::new(global::macros(connection, &Scope::All)?.into()),
            regexps: Arc::new(global::regexps(connection)?),
            valuemaps: Arc::new(global::valuemaps(connection, None)?),
            settings: Arc::new(global::settings(connection)?),
            ..Snapshot::default()
        };
        next.discovery = Arc::new(discovery::read(connection, &next)?);
        next.internal_actions = discovery::has_actions(connection, EventSource::Internal)?;
        next.connectors = Arc::new(connectors::read(connection, &next)?);
        let hosts = hosts::read(connection, &next, &Scope::All)?;
        next.hosts.extend(hosts.into_values().map(Arc::new).collect());
        Ok::<_, DbError>(next)
    })?;
    let items = items::read_all(db, &next)?;
    assemble(&mut next, None, items);
    let triggers = db.read(|connection| triggers::read(connection, &next, &Scope::All))?;
    next.triggers.extend(triggers.into_iter().map(|trigger| (trigger.id, Arc::new(trigger))));
    Ok(next)
}

/// The next snapshot: what `touched` names is read again, all else is shared. For changes that are
/// not global; those may stand in any key, interval or expression, so that everything is to be
/// read again.
pub(crate) fn apply(
    connection: &mut dyn Reader,
    before: &Arc<Snapshot>,
    touched: &Touched,
) -> DbResult<Snapshot> {
    let mut next = Snapshot::clone(before);
    if touched.discovery {
        next.discovery = Arc::new(discovery::read(connection, &next)?);
        next.internal_actions = discovery::has_actions(connection, EventSource::Internal)?;
        follow_connectors(connection, &mut next)?;
    }
    let mut triggers: BTreeSet<TriggerId> = touched.triggers.clone();
    if !touched.hosts.is_empty() {
        let hosts: Vec<u64> = touched.hosts.iter().map(|id| id.0).collect();
        let valuemaps = global::valuemaps(connection, Some(&hosts))?;
        if valuemaps.iter().any(|(id, map)| next.valuemaps.get(id) != Some(map)) {
            // Maps that are gone stay: no item names them, and the next start drops them.
            Arc::make_mut(&mut next.valuemaps).extend(valuemaps);
        }
        triggers.extend(reload_hosts(connection, &mut next, &touched.hosts)?);
    }
    let items = widen(connection, before, touched)?;
    if !items.is_empty() {
        triggers.extend(triggers::naming(connection, &touched.items)?);
        reload_items(connection, &mut next, &items)?;
        let masters = masters(before, &next, &touched.items);
        follow_dependents(&mut next, &masters, &touched.items);
    }
    reload_triggers(connection, &mut next, &triggers)?;
    Ok(next)
}

/// Equal ones stay the same object, by which others notice changes.
fn follow_connectors(connection: &mut dyn Reader, next: &mut Snapshot) -> DbResult<()> {
    let now = connectors::read(connection, next)?;
    if *next.connectors != now {
        next.connectors = Arc::new(now);
    }
    Ok(())
}

/// The items to read again: those touched, and those that touched triggers name or named.
fn widen(
    connection: &mut dyn Reader,
    before: &Snapshot,
    touched: &Touched,
) -> DbResult<BTreeSet<ItemId>> {
    let mut items = touched.items.clone();
    items.extend(triggers::named(connection, &touched.triggers)?);
    for id in &touched.triggers {
        let functions = before.triggers.get(id).map_or(&[][..], |trigger| &*trigger.functions);
        items.extend(functions.iter().map(|function| function.item));
    }
    Ok(items)
}

/// The masters of touched items, before and now. Their lists of dependent items change.
fn masters(before: &Snapshot, next: &Snapshot, touched: &BTreeSet<ItemId>) -> BTreeSet<ItemId> {
    let items = [before, next].into_iter().flat_map(|s| touched.iter().map(|id| s.items.get(id)));
    items.flatten().map(|item| item.master()).filter(|id| id.0 != 0).collect()
}

/// Puts touched items on the lists of their masters. A master may have many more dependent items than a
/// change touches, so that they are not read again.
fn follow_dependents(next: &mut Snapshot, masters: &BTreeSet<ItemId>, touched: &BTreeSet<ItemId>) {
    let mut of_master: BTreeMap<ItemId, Vec<ItemId>> = BTreeMap::new();
    for item in touched.iter().filter_map(|id| next.items.get(id)) {
        of_master.entry(item.master()).or_default().push(item.id);
    }
    let touched: HashSet<ItemId, FixedState> = touched.iter().copied().collect();
    let mut of_host: BTreeMap<HostId, Vec<Arc<Item>>> = BTreeMap::new();
    for id in masters {
        let Some(master) = next.items.get(id) else { continue };
        let kept = master.dependents.iter().filter(|id| !touched.contains(*id)).copied();
        let mut dependents: Vec<ItemId> =
            kept.chain(of_master.remove(id).unwrap_or_default()).collect();
        dependents.sort();
        if *dependents != *master.dependents {
            let master = Item { dependents: dependents.into(), ..Item::clone(master) };
            of_host.entry(master.host).or_default().push(Arc::new(master));
        }
    }
    for (host, masters) in of_host {
        replace_on_host(next, host, &masters.iter().map(|item| item.id).collect(), masters);
    }
}

/// Reads hosts with all that is on them; returns the triggers that may have changed with them.
fn reload_hosts(
    connection: &mut dyn Reader,
    next: &mut Snapshot,
    ids: &BTreeSet<HostId>,
) -> DbResult<BTreeSet<TriggerId>> {
    let scope = Scope::Ids(ids.iter().map(|id| id.0).collect());
    reload_macros(connection, Arc::make_mut(&mut next.macros), ids)?;
    let mut triggers = BTreeSet::new();
    for id in ids {
        let Some(host) = next.hosts.remove(id) else { continue };
        for item in &host.items {
            triggers.extend(item.triggers.iter().copied());
            next.items.remove(&item.id);
        }
    }
    let hosts = hosts::read(connection, next, &scope)?;
    for host in hosts.values() {
        next.hosts.insert(Arc::new(host.clone()));
    }
    let of_hosts = items::ids_of_hosts(connection, hosts.keys().copied())?;
    let items = items::read(connection, next, &of_hosts)?;
    triggers.extend(items.iter().flat_map(|item| item.triggers.iter().copied()));
    let hosts: Vec<HostId> = hosts.into_keys().collect();
    assemble(next, Some(&hosts), vec![items]);
    Ok(triggers)
}

/// Reads the macros and links of hosts and of all templates above them: a template is touched
/// only through the hosts that it is linked to.
fn reload_macros(
    connection: &mut dyn Reader,
    macros: &mut Macros,
    hosts: &BTreeSet<HostId>,
) -> DbResult<()> {
    let mut seen = hosts.clone();
    let mut level = hosts.clone();
    while !level.is_empty() {
        let read = global::macros(connection, &Scope::Ids(level.iter().map(|id| id.0).collect()))?;
        for id in &level {
            macros.of_host.remove(id);
            macros.templates_of.remove(id);
        }
        let above = read.templates_of.values().flatten().copied();
        level = above.filter(|id| seen.insert(*id)).collect();
        macros.of_host.extend(read.of_host);
        macros.templates_of.extend(read.templates_of);
    }
    Ok(())
}

fn reload_items(
    connection: &mut dyn Reader,
    next: &mut Snapshot,
    ids: &BTreeSet<ItemId>,
) -> DbResult<()> {
    let read: Vec<u64> = ids.iter().map(|id| id.0).collect();
    let read = items::read(connection, next, &read)?;
    let mut of_host: BTreeMap<HostId, Vec<Arc<Item>>> = BTreeMap::new();
    for id in ids {
        if let Some(item) = next.items.remove(id) {
            of_host.entry(item.host).or_default();
        }
    }
    for item in read {
        of_host.entry(item.host).or_default().push(item);
    }
    let ids: HashSet<ItemId, FixedState> = ids.iter().copied().collect();
    for (host, changed) in of_host {
        replace_on_host(next, host, &ids, changed);
    }
    Ok(())
}

/// Puts items in the place of those with these ids. The host may have many more.
fn replace_on_host(
    next: &mut Snapshot,
    host: HostId,
    ids: &HashSet<ItemId, FixedState>,
    mut changed: Vec<Arc<Item>>,
) {
    for item in &changed {
        next.items.insert(item.id, Arc::clone(item));
    }
    let Some(before) = next.hosts.get(&host) else { return };
    let kept: Vec<&Arc<Item>> = before.items.iter().filter(|one| !ids.contains(&one.id)).collect();
    changed.sort_by(|a, b| a.key.cmp(&b.key));
    let mut items = Vec::with_capacity(kept.len() + changed.len());
    let mut rest = &kept[..];
    for item in changed {
        let (first, others) = rest.split_at(rest.partition_point(|one| one.key <= item.key));
        items.extend(first.iter().copied().cloned());
        items.push(item);
        rest = others;
    }
    items.extend(rest.iter().copied().cloned());
    let mut host = Host::clone(before);
    host.items = items.into_boxed_slice();
    next.hosts.insert(Arc::new(host));
}

fn reload_triggers(
    connection: &mut dyn Reader,
    next: &mut Snapshot,
    ids: &BTreeSet<TriggerId>,
) -> DbResult<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let scope = Scope::Ids(ids.iter().map(|id| id.0).collect());
    let read: Vec<Trigger> = triggers::read(connection, next, &scope)?;
    for id in ids {
        next.triggers.remove(id);
    }
    for trigger in read {
        next.triggers.insert(trigger.id, Arc::new(trigger));
    }
    Ok(())
}

/// Puts items on their hosts, and both into the snapshot's tables; `hosts` = whose items these
/// are, `None` = all.
fn assemble(next: &mut Snapshot, hosts: Option<&[HostId]>, parts: Vec<Vec<Arc<Item>>>) {
    let Snapshot { hosts: all, items, .. } = next;
    std::thread::scope(|scope| {
        // Beside it where there are many: it touches nothing of the hosts.
        let entries = parts.iter().flatten().map(|item| (item.id, Arc::clone(item)));
        let table = move || items.extend(entries);
        if parts.iter().map(Vec::len).sum::<usize>() > MANY {
            scope.spawn(table);
        } else {
            table();
        }
        put_on_hosts(all, hosts, &parts);
    });
}

fn put_on_hosts(all: &mut Hosts, hosts: Option<&[HostId]>, parts: &[Vec<Arc<Item>>]) {
    let mut of_host: HashMap<HostId, Vec<Arc<Item>>> = HashMap::new();
    for own in parts.iter().flat_map(|part| part.chunk_by(|a, b| a.host == b.host)) {
        let Some(first) = own.first() else { continue };
        of_host.entry(first.host).or_default().extend_from_slice(own);
    }
    let hosts = match hosts {
        Some(hosts) => hosts.to_vec(),
        None => all.iter().map(|(id, _)| *id).collect(),
    };
    for id in hosts {
        let Some(host) = all.get(&id) else { continue };
        let mut own = of_host.remove(&id).unwrap_or_default();
        if !own.is_sorted_by(|a, b| a.key <= b.key) {
            own.sort_unstable_by(items::by_key);
        }
        let mut host = Host::clone(host);
        host.items = own.into_boxed_slice();
        all.insert(Arc::new(host));
    }
}
