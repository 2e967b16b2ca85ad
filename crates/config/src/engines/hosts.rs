//! Monitored hosts that are servers of pools: problems of their triggers and their maintenance decide, too,
//! whether engines use them.
//!
//! What is unknown asks for nothing: engines then decide by their own monitors, as without the server. Neither do
//! hosts together take the last server of a pool out of use.

use std::collections::{BTreeMap, BTreeSet};

use const_format::formatcp;
use objects::Status;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER, STATE_NOT_SUPPORTED, STATUS_ENABLED};
use serde::{Deserialize, Serialize};

use super::compile::CompileError;
use super::monitors::{Monitor, monitors, monitors_of_pools};
use crate::db::{Reader, Row, query_by_ids};

/// Type of monitors in the database.
pub(super) const TRIGGER: &str = "trigger";

/// The highest severity.
const DISASTER: u8 = 5;
/// Tags of a filter.
const TAGS_MAX: usize = 32;

/// What a host asks of the server that it is; the greater one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Only clients that persist.
    Drain,
    /// Not used.
    Down,
}

impl Effect {
    /// The state of the server in the configuration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Down => "down",
        }
    }

    const fn down() -> Self {
        Self::Down
    }
}

/// The state of a server: that of its configuration, or the one that its host asks for.
pub(super) fn stricter(configured: &str, effect: Option<Effect>) -> &str {
    match (configured, effect) {
        ("down", _) | (_, None) => configured,
        (_, Some(effect)) => effect.word(),
    }
}

/// A tag of a problem; an empty value is any.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TagFilter {
    pub tag: String,
    #[serde(default)]
    pub value: String,
}

/// Triggers of a host whose problems take the server out of use. All conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerFilter {
    /// Text that the name contains, in any case; empty: any.
    #[serde(default)]
    pub name: String,
    /// Tags that the problem has.
    #[serde(default)]
    pub tags: Vec<TagFilter>,
    /// Lowest severity, 0 to 5.
    #[serde(default)]
    pub min_severity: u8,
    /// What a problem does.
    #[serde(default = "Effect::down")]
    pub effect: Effect,
}

impl TriggerFilter {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.min_severity > DISASTER {
            return Err(format!(
                "'trigger_filter.min_severity' is a severity from 0 to {DISASTER}"
            ));
        }
        if self.tags.len() > TAGS_MAX {
            return Err(format!("'trigger_filter.tags' has more than {TAGS_MAX} tags"));
        }
        match self.tags.iter().any(|tag| tag.tag.is_empty()) {
            true => Err("'trigger_filter.tags' has a tag without a name".to_owned()),
            false => Ok(()),
        }
    }

    fn matches(&self, found: &Found) -> bool {
        let has = |wanted: &TagFilter| {
            found.tags.iter().any(|(tag, value)| {
                *tag == wanted.tag && (wanted.value.is_empty() || *value == wanted.value)
            })
        };
        found.severity >= i64::from(self.min_severity)
            && found.name.to_lowercase().contains(&self.name.to_lowercase())
            && self.tags.iter().all(has)
    }
}

/// One reason to use a server or not, as its host gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCheck {
    /// Name of the monitor; `maintenance` for that of the host.
    pub name: String,
    /// Whether the server passes; `None`: it is unknown.
    pub passes: Option<bool>,
    /// What it does to the server, if it does not pass.
    pub effect: Effect,
    /// Why it does not pass or is not known.
    pub reason: String,
    /// What the reason names.
    pub names: Option<Named>,
}

/// What a reason names, and whose names some users may not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A problem: `eventid`.
    Problem(u64),
    /// A trigger: `triggerid`.
    Trigger(u64),
}

/// What a host asks of the server that it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// In the order of the pool's monitors.
    pub checks: Vec<HostCheck>,
    /// The server is used nevertheless: without it, the pool would have no server.
    pub ignored: bool,
}

impl Asked {
    /// What is done to the server; `None`: nothing.
    #[must_use]
    pub fn effect(&self) -> Option<Effect> {
        if self.ignored { None } else { self.wanted() }
    }

    fn wanted(&self) -> Option<Effect> {
        let failed = self.checks.iter().filter(|check| check.passes == Some(false));
        failed.map(|check| check.effect).max()
    }
}

/// A problem, or a trigger.
#[derive(Debug, Default)]
struct Found {
    /// `eventid` or `triggerid`.
    id: u64,
    name: String,
    severity: i64,
    tags: Vec<(String, String)>,
    /// Of a trigger: why it is unknown; empty: it is known.
    error: String,
}

/// Conditions under which a pool looks at its hosts.
#[derive(Default)]
struct Conditions {
    drains_in_maintenance: bool,
    triggers: Vec<(String, TriggerFilter)>,
}

/// What is known of a host.
#[derive(Default)]
struct Host {
    monitored: bool,
    /// Name of the maintenance that runs.
    maintenance: Option<String>,
    problems: Vec<Found>,
    triggers: Vec<Found>,
}

/// What hosts ask of the servers of these pools, by pool and position. Servers without a host, and pools that do not
/// look at hosts, are left out.
///
/// # Errors
/// See [`CompileError`].
pub fn asked(
    connection: &mut dyn Reader,
    pools: &[u64],
) -> Result<BTreeMap<(u64, i64), Asked>, CompileError> {
    let conditions = conditions(connection, pools)?;
    let looking: Vec<u64> = conditions.keys().copied().collect();
    let sql =
        "SELECT poolid, position, hostid, state, weight FROM pool_servers WHERE poolid IN ({ids})";
    let servers = query_by_ids(connection, sql, &[], &looking)?;
    let (mut ids, mut of_triggers) = (BTreeSet::new(), BTreeSet::new());
    let with_host = |row: &&Row| row.id("hostid") != 0;
    for row in servers.iter().filter(with_host) {
        ids.insert(row.id("hostid"));
        if conditions.get(&row.id("poolid")).is_some_and(|all| !all.triggers.is_empty()) {
            of_triggers.insert(row.id("hostid"));
        }
    }
    let mut hosts = hosts(connection, &Vec::from_iter(ids))?;
    add_problems(connection, &Vec::from_iter(of_triggers), &mut hosts)?;
    let none = Host::default();
    let mut asked: BTreeMap<(u64, i64), Asked> = servers
        .iter()
        .filter(with_host)
        .filter_map(|row| {
            let conditions = conditions.get(&row.id("poolid"))?;
            let host = hosts.get(&row.id("hostid")).unwrap_or(&none);
            Some((place(row), ask(conditions, host)))
        })
        .collect();
    keep_servers(&servers, &mut asked);
    Ok(asked)
}

fn place(row: &Row) -> (u64, i64) {
    (row.id("poolid"), row.int("position"))
}

/// Ignores the least effect in pools that would have no server for new clients: the server may have lost its network,
/// or one problem is that of many hosts.
///
/// `servers`: all of the pools, also those without a host.
fn keep_servers(servers: &[Row], asked: &mut BTreeMap<(u64, i64), Asked>) {
    // The least effect on the servers that are used as configured.
    let mut least: BTreeMap<u64, Option<Effect>> = BTreeMap::new();
    let used = |row: &&Row| row.text("state") == "up" && row.int("weight") > 0;
    for row in servers.iter().filter(used) {
        let effect = asked.get(&place(row)).and_then(Asked::wanted);
        let least = least.entry(row.id("poolid")).or_insert(effect);
        *least = (*least).min(effect);
    }
    for ((pool, _), asked) in asked {
        let least = least.get(pool).copied().flatten();
        asked.ignored = least.is_some() && asked.wanted() == least;
    }
}

/// All pools that look at their hosts.
///
/// # Errors
/// The database.
pub fn looking_pools(connection: &mut dyn Reader) -> crate::db::DbResult<Vec<u64>> {
    const TRIGGERS: &str =
        formatcp!("SELECT healthmonitorid FROM healthmonitors WHERE type = '{TRIGGER}'");
    let sql = format!(
        "SELECT poolid FROM pools WHERE host_maintenance = 'drain' OR healthmonitorid IN ({TRIGGERS}) \
         OR poolid IN (SELECT poolid FROM pool_monitors WHERE healthmonitorid IN ({TRIGGERS}))"
    );
    Ok(connection.query(&sql, &[])?.iter().map(|row| row.id("poolid")).collect())
}

fn ask(conditions: &Conditions, host: &Host) -> Asked {
    let mut checks = Vec::new();
    if conditions.drains_in_maintenance {
        let reason = host.maintenance.as_ref().map(|name| format!("maintenance {name}"));
        checks.push(HostCheck {
            name: "maintenance".to_owned(),
            passes: Some(reason.is_none()),
            effect: Effect::Drain,
            reason: reason.unwrap_or_default(),
            names: None,
        });
    }
    for (name, filter) in &conditions.triggers {
        let (passes, reason, names) = judge(filter, host);
        let (name, effect) = (name.clone(), filter.effect);
        checks.push(HostCheck { name, passes, effect, reason, names });
    }
    Asked { checks, ignored: false }
}

fn judge(filter: &TriggerFilter, host: &Host) -> (Option<bool>, String, Option<Named>) {
    if !host.monitored {
        return (None, "the host is not monitored".to_owned(), None);
    }
    if let Some(problem) = host.problems.iter().find(|problem| filter.matches(problem)) {
        let reason = format!("problem: {}", problem.name);
        return (Some(false), reason, Some(Named::Problem(problem.id)));
    }
    let mut matching = host.triggers.iter().filter(|trigger| filter.matches(trigger)).peekable();
    if matching.peek().is_none() {
        return (None, "no enabled trigger of the host matches".to_owned(), None);
    }
    match matching.find(|trigger| !trigger.error.is_empty()) {
        Some(trigger) => {
            let reason = format!("trigger {} is unknown: {}", trigger.name, trigger.error);
            (None, reason, Some(Named::Trigger(trigger.id)))
        }
        None => (Some(true), String::new(), None),
    }
}

fn conditions(
    connection: &mut dyn Reader,
    pools: &[u64],
) -> Result<BTreeMap<u64, Conditions>, CompileError> {
    let mut found: BTreeMap<u64, Conditions> = BTreeMap::new();
    let sql = "SELECT poolid FROM pools WHERE poolid IN ({ids}) AND host_maintenance = 'drain'";
    for row in query_by_ids(connection, sql, &[], pools)? {
        found.entry(row.id("poolid")).or_default().drains_in_maintenance = true;
    }
    let used = monitors_of_pools(connection, pools)?;
    let ids: BTreeSet<u64> = used.values().flatten().copied().collect();
    let ids = Vec::from_iter(ids);
    let sql = "SELECT healthmonitorid, name FROM healthmonitors \
               WHERE type = 'trigger' AND healthmonitorid IN ({ids})";
    let names: BTreeMap<u64, String> = query_by_ids(connection, sql, &[], &ids)?
        .iter()
        .map(|row| (row.id("healthmonitorid"), row.text("name").to_owned()))
        .collect();
    let filters = monitors(connection, &Vec::from_iter(names.keys().copied()))?;
    for (pool, monitor) in
        used.iter().flat_map(|(pool, all)| all.iter().map(move |monitor| (pool, monitor)))
    {
        if let (Some(name), Some(Monitor::Triggers(filter))) =
            (names.get(monitor), filters.get(monitor))
        {
            found.entry(*pool).or_default().triggers.push((name.clone(), filter.clone()));
        }
    }
    Ok(found)
}

fn hosts(connection: &mut dyn Reader, ids: &[u64]) -> crate::db::DbResult<BTreeMap<u64, Host>> {
    let sql = "SELECT h.hostid, h.status, h.maintenance_status, COALESCE(m.name, '') AS maintenance \
               FROM hosts h LEFT JOIN maintenances m ON m.maintenanceid = h.maintenanceid \
               WHERE h.hostid IN ({ids})";
    let host = |row: &Row| Host {
        monitored: Status::Enabled.is(row.int("status")),
        maintenance: (row.int("maintenance_status") == 1)
            .then(|| row.text("maintenance").to_owned()),
        ..Host::default()
    };
    let rows = query_by_ids(connection, sql, &[], ids)?;
    Ok(rows.iter().map(|row| (row.id("hostid"), host(row))).collect())
}

/// Open problems and enabled triggers of hosts.
fn add_problems(
    connection: &mut dyn Reader,
    ids: &[u64],
    hosts: &mut BTreeMap<u64, Host>,
) -> crate::db::DbResult<()> {
    // A trigger that is no longer calculated does not resolve its problems.
    const CALCULATED: &str = formatcp!(
        "t.status = {STATUS_ENABLED} AND NOT EXISTS (SELECT 1 FROM functions o \
           JOIN items n ON n.itemid = o.itemid JOIN hosts h ON h.hostid = n.hostid \
           WHERE o.triggerid = t.triggerid \
           AND (n.status <> {STATUS_ENABLED} OR h.status <> {STATUS_ENABLED}))"
    );
    const PROBLEMS: &str = formatcp!(
        "SELECT DISTINCT i.hostid, p.eventid AS id, p.name, p.severity, '' AS error FROM problems p \
         JOIN triggers t ON t.triggerid = p.objectid \
         JOIN functions f ON f.triggerid = t.triggerid JOIN items i ON i.itemid = f.itemid \
         WHERE {CALCULATED} AND p.source = {SOURCE_TRIGGER} AND p.object = {OBJECT_TRIGGER} AND p.r_eventid = 0 \
         AND i.hostid IN ({{ids}})"
    );
    const TRIGGERS: &str = formatcp!(
        "SELECT DISTINCT i.hostid, t.triggerid AS id, t.description AS name, t.priority AS severity, \
         CASE WHEN s.state = {STATE_NOT_SUPPORTED} THEN s.error ELSE '' END AS error \
         FROM triggers t JOIN functions f ON f.triggerid = t.triggerid \
         JOIN items i ON i.itemid = f.itemid \
         LEFT JOIN trigger_states s ON s.triggerid = t.triggerid \
         WHERE {CALCULATED} AND i.hostid IN ({{ids}})"
    );
    const EVENT_TAGS: &str =
        "SELECT eventid AS id, tag, value FROM event_tags WHERE eventid IN ({ids})";
    const TRIGGER_TAGS: &str =
        "SELECT triggerid AS id, tag, value FROM trigger_tags WHERE triggerid IN ({ids})";
    type Of = fn(&mut Host) -> &mut Vec<Found>;
    let problems = (PROBLEMS, EVENT_TAGS, Host::problems_mut as Of);
    let triggers = (TRIGGERS, TRIGGER_TAGS, Host::triggers_mut as Of);
    for (sql, tags, of) in [problems, triggers] {
        let rows = query_by_ids(connection, sql, &[], ids)?;
        let found: Vec<u64> = rows.iter().map(|row| row.id("id")).collect();
        let mut tags_of: BTreeMap<u64, Vec<(String, String)>> = BTreeMap::new();
        for row in query_by_ids(connection, tags, &[], &found)? {
            let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
            tags_of.entry(row.id("id")).or_default().push(tag);
        }
        for row in &rows {
            let Some(host) = hosts.get_mut(&row.id("hostid")) else { continue };
            of(host).push(Found {
                id: row.id("id"),
                name: row.text("name").to_owned(),
                severity: row.int("severity"),
                tags: tags_of.get(&row.id("id")).cloned().unwrap_or_default(),
                error: row.text("error").to_owned(),
            });
        }
    }
    Ok(())
}

impl Host {
    fn problems_mut(&mut self) -> &mut Vec<Found> {
        &mut self.problems
    }

    fn triggers_mut(&mut self) -> &mut Vec<Found> {
        &mut self.triggers
    }
}

#[cfg(test)]
mod tests;
