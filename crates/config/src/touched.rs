//! What a transaction changed of what monitoring reads.

use std::collections::BTreeSet;

use const_format::formatcp;
use model::{HostId, ItemId, TriggerId};
use objects::sql::{FLAGS_PROTOTYPE, KIND_HOST};

use crate::change::ToReload;
use crate::db::{DbResult, query_by_ids};
use crate::link::linked_below;
use crate::{Edit, Snapshot};

/// What a transaction changed, so that only this is read again.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Hosts (with all their items and triggers), created, changed or deleted.
    pub hosts: BTreeSet<HostId>,
    /// Items of otherwise unchanged hosts.
    pub items: BTreeSet<ItemId>,
    /// Triggers of otherwise unchanged hosts.
    pub triggers: BTreeSet<TriggerId>,
    /// Macros, global regular expressions or settings.
    pub global: bool,
    /// Rules of network discovery, actions, connectors.
    pub discovery: bool,
    /// Users, their groups and roles, rights, tokens: who may sign in, and what they may do.
    pub access: bool,
    /// The configuration that the API shows, which is more than monitoring reads.
    pub configuration: bool,
}

impl Touched {
    /// Nothing that anybody follows.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the snapshot has to read anything again.
    pub fn is_monitored(&self) -> bool {
        let Self { hosts, items, triggers, global, discovery, access: _, configuration: _ } = self;
        *global || *discovery || !(hosts.is_empty() && items.is_empty() && triggers.is_empty())
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.hosts.extend(more.hosts);
        self.items.extend(more.items);
        self.triggers.extend(more.triggers);
        self.global |= more.global;
        self.discovery |= more.discovery;
        self.access |= more.access;
        self.configuration |= more.configuration;
    }

    /// Takes out what one snapshot reads: everything but hosts, and hosts that have up to `items_max`
    /// items together, or one.
    pub(crate) fn take_portion(&mut self, before: &Snapshot, items_max: usize) -> Self {
        let rest = if self.global { BTreeSet::new() } else { self.hosts_after(before, items_max) };
        let mut portion = std::mem::take(self);
        portion.hosts.retain(|id| !rest.contains(id));
        self.hosts = rest;
        portion
    }

    /// The hosts after the first ones with so many items.
    fn hosts_after(&mut self, before: &Snapshot, items_max: usize) -> BTreeSet<HostId> {
        let mut items = 0;
        let mut first = 0;
        for id in &self.hosts {
            items += 1 + before.hosts.get(id).map_or(0, |host| host.items.len());
            if items > items_max && first > 0 {
                break;
            }
            first += 1;
        }
        self.hosts.iter().skip(first).copied().collect()
    }

    /// Leaves templates and prototypes out: of the objects that a transaction has changed, those that
    /// are monitored now, and those that the snapshot from before it has.
    pub(crate) fn resolve(
        edit: &mut Edit<'_>,
        before: &Snapshot,
        reload: ToReload,
    ) -> DbResult<Self> {
        let ToReload { hosts, hosts_below, items, triggers, discovery, everything } = reload;
        if everything {
            return Ok(Self { global: true, discovery, ..Self::default() });
        }
        let hosts = with_below(edit, hosts, hosts_below)?;
        let sql = formatcp!(
            "SELECT hostid AS id FROM hosts WHERE kind = {KIND_HOST} AND hostid IN ({{ids}})"
        );
        let hosts = monitored(edit, sql, &hosts, |id| before.hosts.get(&HostId(id)).is_some())?;
        let sql = formatcp!(
            "SELECT i.itemid AS id FROM items i JOIN hosts h ON h.hostid = i.hostid \
                   WHERE h.kind = {KIND_HOST} AND i.flags <> {FLAGS_PROTOTYPE} AND i.itemid IN ({{ids}})"
        );
        let items = monitored(edit, sql, &items, |id| before.items.get(&ItemId(id)).is_some())?;
        let sql = formatcp!(
            "SELECT DISTINCT f.triggerid AS id FROM functions f \
                   JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
                   WHERE h.kind = {KIND_HOST} AND i.flags <> {FLAGS_PROTOTYPE} AND f.triggerid IN ({{ids}})"
        );
        let triggers =
            monitored(edit, sql, &triggers, |id| before.triggers.get(&TriggerId(id)).is_some())?;
        Ok(Self {
            hosts: hosts.into_iter().map(HostId).collect(),
            items: items.into_iter().map(ItemId).collect(),
            triggers: triggers.into_iter().map(TriggerId).collect(),
            discovery,
            ..Self::default()
        })
    }
}

/// These hosts, and those with all that is linked below them.
fn with_below(
    edit: &mut Edit<'_>,
    mut hosts: BTreeSet<u64>,
    with_below: BTreeSet<u64>,
) -> DbResult<BTreeSet<u64>> {
    let mut frontier: Vec<u64> = with_below.iter().copied().collect();
    let mut seen = with_below;
    while !frontier.is_empty() {
        let below = linked_below(edit, &frontier)?;
        frontier = below.into_values().flatten().filter(|id| seen.insert(*id)).collect();
    }
    hosts.append(&mut seen);
    Ok(hosts)
}

fn monitored(
    edit: &mut Edit<'_>,
    sql: &str,
    ids: &BTreeSet<u64>,
    was: impl Fn(u64) -> bool,
) -> DbResult<Vec<u64>> {
    let (mut found, new): (Vec<u64>, Vec<u64>) = ids.iter().copied().partition(|id| was(*id));
    let rows = query_by_ids(edit, sql, &[], &new)?;
    found.extend(rows.iter().map(|row| row.id("id")));
    Ok(found)
}
