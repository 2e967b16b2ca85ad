//! Maintenances that run: their hosts are marked, and open problems of these hosts suppressed.
//!
//! [`Watch::look`] compares what should be with what the database has, and changes only that. A
//! look costs a query of small tables; hosts and problems are gone through when a maintenance has
//! begun, ended or been changed, and each minute for hosts that came or went. Problems that open
//! meanwhile are suppressed with the next look.

use config::table;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::db::{DbError, DbResult, Reader, Row, Value, query_by_ids};
use config::maintenance::periods;
use config::{Config, Edit, Statements};
use const_format::formatcp;
use eval::maintenance::Maintenance;
use objects::sql::{KIND_HOST, OBJECT_TRIGGER, SOURCE_TRIGGER};
use objects::{EvalType, MaintenanceType};

mod suppressed;
mod tags;

pub use suppressed::{SuppressionEnd, end_suppressions, suppressed};
use tags::Tags;

/// Hosts and groups are looked at again after so many seconds, whatever else happens.
const AGAIN_AFTER_S: i64 = 60;

/// A maintenance that runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Running {
    id: u64,
    /// Values are not collected.
    no_data: bool,
    since: i64,
    until: i64,
    tags: Tags,
}

/// What a host's row says: maintenance, type, since when.
type Mark = (u64, bool, i64);

/// Told which problems are suppressed otherwise than before, after the commit. It must not block.
pub type SuppressionHook = Box<dyn Fn(&[u64]) + Send>;

/// Keeps hosts and problems as the maintenances want them.
pub struct Watch {
    config: Arc<Config>,
    /// What ran at the last look, and when hosts were gone through.
    before: Option<(Vec<Running>, i64)>,
    /// Problems up to this event were gone through.
    seen_event: u64,
    hook: Option<SuppressionHook>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("before", &self.before).finish_non_exhaustive()
    }
}

impl Watch {
    /// Nothing is known yet: the first look goes through everything.
    pub fn new(config: Arc<Config>) -> Self {
        Self { config, before: None, seen_event: 0, hook: None }
    }

    /// Calls `hook` from now on.
    pub fn telling(self, hook: SuppressionHook) -> Self {
        Self { hook: Some(hook), ..self }
    }

    /// Brings hosts and problems up to `now`, seconds since 1970.
    pub fn look(&mut self, now: i64) -> DbResult<()> {
        let tz = self.config.snapshot().settings.time_zone();
        let running = self.config.read(|connection| running(connection, now, &tz))?;
        let known = self.before.as_ref().map(|(before, at)| (*before == running, now - at));
        match known {
            Some((true, age)) if (0..AGAIN_AFTER_S).contains(&age) => {
                if !running.is_empty() {
                    self.suppress_new(&running)?;
                }
                return Ok(());
            }
            _ => {}
        }
        let of_host = self.config.read(|connection| covered(connection, &running))?;
        self.mark(&running, &of_host)?;
        self.seen_event = self.suppress(&running, &of_host, None)?;
        self.before = Some((running, now));
        Ok(())
    }

    /// Problems that have opened since the last look.
    fn suppress_new(&mut self, running: &[Running]) -> DbResult<()> {
        let newest = self.config.read(newest_event)?;
        if newest > self.seen_event {
            let of_host = self.config.read(|connection| covered(connection, running))?;
            self.seen_event = self.suppress(running, &of_host, Some(self.seen_event))?;
        }
        Ok(())
    }

    /// Writes into the rows of hosts what they are in.
    fn mark(&self, running: &[Running], of_host: &BTreeMap<u64, BTreeSet<u64>>) -> DbResult<()> {
        let by_id: BTreeMap<u64, &Running> = running.iter().map(|one| (one.id, one)).collect();
        let wanted: BTreeMap<u64, Mark> = of_host
            .iter()
            .filter_map(|(host, ids)| {
                let all = ids.iter().filter_map(|id| by_id.get(id));
                // Of several the one that stops collection tells, then the older one.
                let told = all.min_by_key(|one| (!one.no_data, one.since, one.id))?;
                Some((*host, (told.id, told.no_data, told.since)))
            })
            .collect();
        let sql = "SELECT hostid, maintenanceid, maintenance_type, maintenance_from FROM hosts \
                   WHERE maintenance_status = 1";
        let rows = self.config.read(|connection| connection.query(sql, &[]))?;
        let mark =
            |row: &Row| (row.id("maintenanceid"), without_data(row), row.int("maintenance_from"));
        let has: BTreeMap<u64, Mark> =
            rows.iter().map(|row| (row.id("hostid"), mark(row))).collect();
        let gone = has.keys().filter(|host| !wanted.contains_key(host)).map(|host| (*host, None));
        let changed = wanted.iter().filter(|(host, mark)| has.get(host) != Some(mark));
        let changes: Vec<(u64, Option<Mark>)> =
            gone.chain(changed.map(|(host, mark)| (*host, Some(*mark)))).collect();
        if changes.is_empty() {
            return Ok(());
        }
        tracing::info!(
            hosts = wanted.len(),
            maintenances = running.len(),
            "{} hosts enter or leave maintenance",
            changes.len()
        );
        self.config
            .write(|edit| changes.iter().try_for_each(|(host, mark)| set(edit, *host, *mark)))
    }

    /// Suppresses open problems, those after `after` or all; returns the newest event looked at.
    fn suppress(
        &self,
        running: &[Running],
        of_host: &BTreeMap<u64, BTreeSet<u64>>,
        after: Option<u64>,
    ) -> DbResult<u64> {
        let (newest, wanted) = self.config.read(|connection| {
            let newest = newest_event(connection)?;
            let problems = if of_host.is_empty() {
                Vec::new()
            } else {
                open_problems(connection, after, newest)?
            };
            Ok::<_, DbError>((newest, wanted(connection, &problems, running, of_host)?))
        })?;
        let sql = "SELECT eventid, maintenanceid, suppress_until FROM event_suppress \
                   WHERE eventid > ?";
        let from = after.unwrap_or(0);
        let rows = self.config.read(|connection| connection.query(sql, &[from.into()]))?;
        let has: BTreeMap<(u64, u64), i64> = rows
            .iter()
            .map(|row| ((row.id("eventid"), row.id("maintenanceid")), row.int("suppress_until")))
            .collect();
        if has == wanted {
            return Ok(newest);
        }
        self.config.write_state(|edit| {
            let (over, rest): (Vec<_>, Vec<_>) = has
                .iter()
                .filter(|(key, until)| wanted.get(key) != Some(until))
                .map(|(key, _)| *key)
                .partition(|(_, id)| running.iter().all(|one| one.id != *id));
            let over: BTreeSet<u64> = over.into_iter().map(|(_, id)| id).collect();
            edit.delete(&table::EVENT_SUPPRESS, "maintenanceid", &Vec::from_iter(over))?;
            for (event, maintenance) in rest {
                edit.execute(
                    "DELETE FROM event_suppress WHERE eventid = ? AND maintenanceid = ?",
                    &[event.into(), maintenance.into()],
                )?;
            }
            let new = wanted.iter().filter(|(key, until)| has.get(key) != Some(until));
            insert(edit, &new.collect::<Vec<_>>())
        })?;
        if let Some(hook) = &self.hook {
            let differs = |other: &BTreeMap<(u64, u64), i64>, (key, until): (&_, &i64)| {
                other.get(key) != Some(until)
            };
            let old = has.iter().filter(|one| differs(&wanted, *one));
            let new = wanted.iter().filter(|one| differs(&has, *one));
            let events: BTreeSet<u64> = old.chain(new).map(|((event, _), _)| *event).collect();
            hook(&Vec::from_iter(events));
        }
        Ok(newest)
    }
}

fn insert(edit: &mut Statements<'_>, new: &[(&(u64, u64), &i64)]) -> DbResult<()> {
    // A problem may have been removed since it was read.
    let events: Vec<u64> = new.iter().map(|((event, _), _)| *event).collect();
    let sql = "SELECT eventid FROM events WHERE eventid IN ({ids})";
    let rows = query_by_ids(edit, sql, &[], &events)?;
    let known: BTreeSet<u64> = rows.iter().map(|row| row.id("eventid")).collect();
    let rows: Vec<Vec<Value>> = new
        .iter()
        .filter(|((event, _), _)| known.contains(event))
        .map(|((event, id), until)| vec![(*event).into(), (*id).into(), (**until).into()])
        .collect();
    edit.insert_many(&table::EVENT_SUPPRESS, &["eventid", "maintenanceid", "suppress_until"], &rows)
}

fn set(edit: &mut Edit<'_>, host: u64, mark: Option<Mark>) -> DbResult<()> {
    let (id, no_data, since) = mark.unwrap_or_default();
    let maintenance_type =
        if no_data { MaintenanceType::WithoutData } else { MaintenanceType::WithData };
    let row = [
        ("maintenanceid", id.into()),
        ("maintenance_status", mark.is_some().into()),
        ("maintenance_type", maintenance_type.number().into()),
        ("maintenance_from", since.into()),
    ];
    edit.update(&table::HOSTS, host, &row)?;
    Ok(())
}

/// Whether the maintenance of this row stops the collection of values.
fn without_data(row: &Row) -> bool {
    MaintenanceType::WithoutData.is(row.int("maintenance_type"))
}

fn newest_event(connection: &mut dyn Reader) -> DbResult<u64> {
    let rows = connection.query("SELECT MAX(eventid) AS newest FROM problems", &[])?;
    Ok(rows.first().map_or(0, |row| row.id("newest")))
}

/// The maintenances that run at `now`, by id.
fn running(
    connection: &mut dyn Reader,
    now: i64,
    tz: &jiff::tz::TimeZone,
) -> DbResult<Vec<Running>> {
    let rows = connection.query(
        "SELECT maintenanceid, maintenance_type, active_since, active_till, tags_evaltype \
         FROM maintenances WHERE active_since <= ? AND active_till > ? ORDER BY maintenanceid",
        &[now.into(), now.into()],
    )?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("maintenanceid")).collect();
    let mut periods = periods(connection, &ids)?;
    let mut tags = tags::read(connection, &ids)?;
    let mut found = Vec::new();
    for row in &rows {
        let id = row.id("maintenanceid");
        let maintenance = Maintenance {
            active_since: row.int("active_since"),
            active_till: row.int("active_till"),
            periods: periods.remove(&id).unwrap_or_default(),
        };
        let Some(now) = maintenance.running(now, tz) else { continue };
        let conditions = tags.remove(&id).unwrap_or_default();
        let tags = Tags { any: EvalType::Or.is(row.int("tags_evaltype")), conditions };
        let no_data = without_data(row);
        found.push(Running { id, no_data, since: now.since, until: now.until, tags });
    }
    Ok(found)
}

/// The maintenances of each host, of those that run: named itself, by a group, or by a group
/// above it.
fn covered(
    connection: &mut dyn Reader,
    running: &[Running],
) -> DbResult<BTreeMap<u64, BTreeSet<u64>>> {
    let mut of_host: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    let ids: Vec<u64> = running.iter().map(|one| one.id).collect();
    for sql in [
        formatcp!(
            "SELECT mh.maintenanceid, mh.hostid FROM maintenance_hosts mh \
         JOIN hosts h ON h.hostid = mh.hostid WHERE h.kind = {KIND_HOST} AND mh.maintenanceid IN ({{ids}})"
        ),
        formatcp!(
            "SELECT mg.maintenanceid, hg.hostid FROM maintenance_groups mg \
         JOIN groups_ top ON top.groupid = mg.groupid \
         JOIN groups_ g ON g.type = top.type AND (g.groupid = top.groupid \
         OR SUBSTR(g.name, 1, LENGTH(top.name) + 1) = top.name || '/') \
         JOIN host_groups hg ON hg.groupid = g.groupid \
         JOIN hosts h ON h.hostid = hg.hostid WHERE h.kind = {KIND_HOST} AND mg.maintenanceid IN ({{ids}})"
        ),
    ] {
        for row in query_by_ids(connection, sql, &[], &ids)? {
            of_host.entry(row.id("hostid")).or_default().insert(row.id("maintenanceid"));
        }
    }
    Ok(of_host)
}

/// Open problems of triggers, with the hosts of their triggers: event, hosts. With `after`, those after it that have ended
/// already are among them: they were suppressed from the beginning.
fn open_problems(
    connection: &mut dyn Reader,
    after: Option<u64>,
    newest: u64,
) -> DbResult<Vec<(u64, BTreeSet<u64>)>> {
    let ended = after.unwrap_or(newest);
    let rows = connection.query(
        formatcp!(
            "SELECT DISTINCT p.eventid, i.hostid FROM problems p \
             JOIN functions f ON f.triggerid = p.objectid JOIN items i ON i.itemid = f.itemid \
             WHERE p.source = {SOURCE_TRIGGER} AND p.object = {OBJECT_TRIGGER} \
             AND (p.r_eventid = 0 OR p.eventid > ?) AND p.eventid > ? AND p.eventid <= ? ORDER BY p.eventid"
        ),
        &[ended.into(), after.unwrap_or(0).into(), newest.into()],
    )?;
    let mut found: Vec<(u64, BTreeSet<u64>)> = Vec::new();
    for row in rows {
        let (event, host) = (row.id("eventid"), row.id("hostid"));
        match found.last_mut().filter(|(last, _)| *last == event) {
            Some((_, hosts)) => drop(hosts.insert(host)),
            None => found.push((event, BTreeSet::from([host]))),
        }
    }
    Ok(found)
}

/// Event and maintenance → until when: a problem is suppressed when each of its hosts is in
/// maintenance, by those of them that want its tags.
fn wanted(
    connection: &mut dyn Reader,
    problems: &[(u64, BTreeSet<u64>)],
    running: &[Running],
    of_host: &BTreeMap<u64, BTreeSet<u64>>,
) -> DbResult<BTreeMap<(u64, u64), i64>> {
    let covered: Vec<_> = problems
        .iter()
        .filter(|(_, hosts)| hosts.iter().all(|host| of_host.contains_key(host)))
        .collect();
    let events: Vec<u64> = covered.iter().map(|(event, _)| *event).collect();
    let tags = if running.iter().any(|one| !one.tags.conditions.is_empty()) {
        tags::of_events(connection, &events)?
    } else {
        BTreeMap::new()
    };
    let mut wanted = BTreeMap::new();
    for (event, hosts) in covered {
        let own = tags.get(event).map_or(&[][..], Vec::as_slice);
        let fits = |host: &u64| {
            let ids = of_host.get(host).into_iter().flatten();
            ids.filter(|id| running.iter().any(|one| one.id == **id && one.tags.fit(own)))
                .collect::<Vec<_>>()
        };
        let of_hosts: Vec<_> = hosts.iter().map(fits).collect();
        if of_hosts.iter().any(Vec::is_empty) {
            continue;
        }
        for id in of_hosts.into_iter().flatten() {
            if let Some(one) = running.iter().find(|one| one.id == *id) {
                wanted.insert((*event, *id), one.until);
            }
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests;
