//! What hosts refuse to inherit. Many hosts are checked beside the transaction, because others wait for it.
//!
//! The transaction is made twice. The first time it only finds out what is to be checked, and is undone.
//! Then the hosts are checked on read connections, while others change the configuration. The second
//! time, only the hosts that have changed meanwhile are checked.

use std::collections::{BTreeSet, HashMap};

use super::LinkError;
use super::items::check_level;
use super::later::hosts_max;
use crate::Edit;
use crate::change::{Change, Operation, Subjects};
use crate::db::{Db, DbError, DbResult, Value, query_by_ids};
use crate::objects::ids_of;
use crate::sources::{Below, Checks, Known, Sources};

/// Changed objects for whose hosts a transaction searches; beyond, all hosts are checked again.
const CHANGED_MAX: u64 = 20_000;

/// Transactions for whose changes a transaction searches.
const REVISIONS_MAX: u64 = 5_000;

/// Refuses what hosts cannot inherit of these items; nothing is written. `true`: an own item of a host
/// becomes a dependent one.
pub(super) fn check_hosts(
    edit: &mut Edit<'_>,
    sources: &[u64],
    below: &Below,
) -> Result<bool, LinkError> {
    let sources = Sources::load(edit, sources)?;
    // What was checked beside the transaction does not know the interfaces that it gives and takes.
    let own_interfaces = edit.changes.concern("interfaces");
    let checks = edit.inheritance.checks.as_ref().filter(|_| !own_interfaces);
    let Some(checks) = checks else {
        return check_level(edit, &sources, below);
    };
    let known = checks.known.iter().find(|known| known.sources.is_like(&sources));
    let all: BTreeSet<u64> = below.values().flatten().copied().collect();
    let fit = |id: &u64| known.and_then(|known| known.fit.get(id)).copied();
    let mut adopts = all.iter().any(|id| fit(id) == Some(true));
    let mut missing: BTreeSet<u64> = all.iter().copied().filter(|id| fit(id).is_none()).collect();
    for hosts in known.map(|known| known.unfit.clone()).unwrap_or_default() {
        adopts |= check_level(edit, &sources, &on(below, &hosts))?;
        missing.retain(|id| !hosts.contains(id));
    }
    let missing = on(below, &Vec::from_iter(missing.iter().copied()));
    let portion = edit.inheritance.portion.unwrap_or(usize::MAX);
    let hosts = missing.values().flatten().count();
    if hosts <= hosts_max(portion, sources.len()) {
        return Ok(check_level(edit, &sources, &missing)? || adopts);
    }
    if let Some(checks) = edit.inheritance.checks.as_mut() {
        checks.asked.push((sources, missing));
    }
    Ok(adopts)
}

/// The links of these hosts alone.
pub(super) fn on(below: &Below, hosts: &[u64]) -> Below {
    let hosts: BTreeSet<u64> = hosts.iter().copied().collect();
    let of = |(template, all): (&u64, &Vec<u64>)| {
        let some: Vec<u64> = all.iter().copied().filter(|id| hosts.contains(id)).collect();
        (!some.is_empty()).then_some((*template, some))
    };
    below.iter().filter_map(of).collect()
}

impl Checks {
    /// To be called when the transaction begins: forgets hosts that have changed since the last one.
    pub(crate) fn begin(edit: &mut Edit<'_>) -> DbResult<()> {
        let rows = edit.query("SELECT next FROM ids WHERE name = 'changes'", &[])?;
        let next = rows.first().map_or(0, |row| row.id("next"));
        let Some(mut checks) = edit.inheritance.checks.take() else { return Ok(()) };
        if !checks.known.is_empty() && next > checks.revision {
            match changed_hosts(edit, checks.revision, next)? {
                Some(hosts) => checks.known.iter_mut().for_each(|known| known.forget(&hosts)),
                None => checks.known.clear(),
            }
        }
        checks.revision = next;
        edit.inheritance.checks = Some(checks);
        Ok(())
    }

    /// Checks what the transaction has asked for, some hosts at a time.
    pub(crate) fn make(&mut self, db: &Db, portion: usize) -> DbResult<()> {
        for (sources, below) in std::mem::take(&mut self.asked) {
            let all: BTreeSet<u64> = below.values().flatten().copied().collect();
            let all = Vec::from_iter(all);
            let (mut fit, mut unfit) = (HashMap::new(), Vec::new());
            for hosts in all.chunks(hosts_max(portion, sources.len())) {
                let below = on(&below, hosts);
                match db.read(|connection| check_level(connection, &sources, &below)) {
                    Ok(adopts) => fit.extend(existing(db, hosts)?.map(|id| (id, adopts))),
                    Err(LinkError::Conflict(_)) => unfit.push(hosts.to_vec()),
                    Err(LinkError::Db(error)) => return Err(error),
                }
            }
            match self.known.iter_mut().find(|known| known.sources.is_like(&sources)) {
                Some(known) => {
                    known.fit.extend(fit);
                    known.unfit.extend(unfit);
                }
                None => self.known.push(Known { sources, fit, unfit }),
            }
        }
        Ok(())
    }
}

/// Hosts that exist outside of the transaction: it checks those that it has created.
fn existing(db: &Db, hosts: &[u64]) -> DbResult<impl Iterator<Item = u64>> {
    let sql = "SELECT hostid FROM hosts WHERE hostid IN ({ids})";
    let rows = db.read(|connection| query_by_ids(connection, sql, &[], hosts))?;
    Ok(rows.into_iter().map(|row| row.id("hostid")))
}

/// Hosts whose items, interfaces or links these transactions have changed; `None`: too many.
fn changed_hosts(edit: &mut Edit<'_>, first: u64, next: u64) -> DbResult<Option<BTreeSet<u64>>> {
    if next - first > REVISIONS_MAX {
        return Ok(None);
    }
    let sql = "SELECT * FROM changes WHERE revision >= ? \
               AND name IN ('items', 'interfaces', 'host_templates')";
    let rows = edit.query(sql, &[Value::from(first)])?;
    let mut hosts = BTreeSet::new();
    for row in &rows {
        let Some(change) = Change::from_row(row) else { return Ok(None) };
        let Subjects::Ids(ids) = &change.subjects else { return Ok(None) };
        let all: u64 = ids.iter().map(|range| range.end() - range.start() + 1).sum();
        if all > CHANGED_MAX {
            return Ok(None);
        }
        let ids = ids.iter().flat_map(|range| range.clone());
        match (change.table, change.operation) {
            // A deleted item frees its key: no host has a new conflict.
            ("items", Operation::Delete) => {}
            ("items", _) => {
                let sql = "SELECT DISTINCT hostid FROM items WHERE itemid IN ({ids})";
                hosts.extend(ids_of(edit, sql, "hostid", &Vec::from_iter(ids))?);
            }
            _ => hosts.extend(ids),
        }
    }
    Ok(Some(hosts))
}

/// Why a transaction that can be repeated was undone.
pub(crate) enum Undone<E> {
    /// Its work returned this error, so it is not made again.
    Failed(E),
    /// Hosts are to be checked first.
    Unchecked,
}

impl<E: From<DbError>> From<DbError> for Undone<E> {
    fn from(error: DbError) -> Self {
        Self::Failed(error.into())
    }
}
