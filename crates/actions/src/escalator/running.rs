//! Starts stored commands when there is a place for them.
//!
//! As for messages, a command that waits has a second in `nextcheck`, and 0 once it is started: after a crash it is not
//! run again, because it may have run. Commands for one host run one after the other, in their order, and a host that
//! does not respond delays no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use config::{Config, Snapshot};
use const_format::formatcp;
use model::alert::{Outcome, Report};
use model::command::{Commands, Place, Task};
use model::{AlertId, HostId};
use objects::{AlertStatus, AlertType};

use super::outcomes::{set_due, write_outcome};
use super::withdrawn::without_withdrawn;
use crate::commands::{self, Stored};

/// Commands that are looked at for a place.
pub(super) const LOOK_MAX: usize = 5_000;
/// How long a command waits for a host that the configuration does not have yet.
const UNKNOWN_HOST_S: i64 = 60;

/// Condition: commands that wait, or that run.
const OPEN: &str = formatcp!(
    "status IN ({}, {}) AND alerttype = {}",
    AlertStatus::NotSent.text(),
    AlertStatus::New.text(),
    AlertType::Command.text()
);

/// The error of commands whose outcome is not known.
const UNCERTAIN: &str =
    "The server stopped while the command ran. It may have been executed; it is not run again.";
const GONE: &str = "The script was deleted.";
const NO_HOST: &str = "The host was deleted.";
const WITHDRAWN: &str = "The action or the user was deleted. The command is not run.";

/// Commands on their way.
pub(super) struct Running {
    commands: Arc<dyn Commands>,
    /// Those that run, with their hosts, which have no place for another one.
    started: BTreeMap<AlertId, u64>,
    /// The second in which a command may be started; `None` = none waits, or a report comes first.
    due: Option<i64>,
    /// A transaction failed: rows may say that they are started without being so.
    doubtful: bool,
}

/// What can be started.
struct Ready {
    alert: u64,
    script: u64,
    host: u64,
    place: Box<dyn Place>,
}

impl Running {
    /// Nothing runs. What a crash has left is marked.
    pub(super) fn start(config: &Config, commands: Arc<dyn Commands>) -> DbResult<Self> {
        let sql = formatcp!(
            "UPDATE alerts SET status = {}, error = ? WHERE {OPEN} AND nextcheck = 0",
            AlertStatus::Failed.text()
        );
        let marked = config.write_state(|state| state.execute(sql, &[Value::from(UNCERTAIN)]))?;
        if marked > 0 {
            tracing::warn!(commands = marked, "the server stopped while it was running commands");
        }
        Ok(Self { commands, started: BTreeMap::new(), due: Some(0), doubtful: false })
    }

    /// There are new commands.
    pub(super) fn add(&mut self, now: i64) {
        self.due = Some(self.due.map_or(now, |due| due.min(now)));
    }

    pub(super) const fn next_due(&self) -> Option<i64> {
        self.due
    }

    /// What a failed transaction may have changed is read again.
    pub(super) const fn doubt(&mut self) {
        self.doubtful = true;
        self.due = Some(0);
    }

    /// Attempts that ended make room. Their outcomes are written with those of messages.
    pub(super) fn settle(&mut self, reports: &[Report], now: i64) {
        let ended = reports.iter().filter_map(|report| self.started.remove(&report.alert)).count();
        if ended > 0 {
            self.add(now);
        }
    }

    /// Starts what has a place.
    pub(super) fn serve(&mut self, config: &Config, snapshot: &Snapshot, now: i64) -> DbResult<()> {
        if self.doubtful {
            self.release(config, now)?;
        }
        if self.due.is_none_or(|due| due > now) {
            return Ok(());
        }
        let busy: BTreeSet<u64> = self.started.values().copied().collect();
        let waiting = config.read(|connection| waiting(connection, &busy, now))?;
        let seen = waiting.len();
        let waiting = without_withdrawn(config, waiting, |_| WITHDRAWN)?;
        let ids: BTreeSet<u64> = waiting.iter().map(|row| row.id("scriptid")).collect();
        let scripts = config.read(|connection| commands::read(connection, &Vec::from_iter(ids)))?;
        let mut found = self.choose(&waiting, &scripts, snapshot, now);
        let gone = seen - waiting.len() + found.failed.len();
        if seen >= LOOK_MAX && gone + found.ready.len() > 0 {
            found.next = Some(now);
        }
        if !found.failed.is_empty() {
            config.write_state(|state| {
                found.failed.iter().try_for_each(|report| write_outcome(state, report, None, now))
            })?;
        }
        if self.launch(config, snapshot, &scripts, found.ready, now)? {
            found.next = Some(now);
        }
        let later = config.read(|connection| later(connection, now))?;
        self.due = found.next.into_iter().chain(later).min();
        Ok(())
    }

    /// In the order of the commands. A host whose first command has to wait is passed over.
    fn choose(
        &self,
        waiting: &[Row],
        scripts: &BTreeMap<u64, Stored>,
        snapshot: &Snapshot,
        now: i64,
    ) -> Chosen {
        let mut chosen = Chosen::default();
        let mut full: BTreeSet<u64> = BTreeSet::new();
        for row in waiting {
            let (alert, host) = (row.id("alertid"), row.id("target_hostid"));
            let script = row.id("scriptid");
            let kind = scripts.get(&script).map(Stored::command_kind);
            let Some(Some(kind)) = kind else {
                chosen.fail(alert, GONE);
                continue;
            };
            if snapshot.hosts.get(&HostId(host)).is_none() {
                if row.int("clock") + UNKNOWN_HOST_S > now {
                    chosen.next = Some(now + 1);
                } else {
                    chosen.fail(alert, NO_HOST);
                }
                continue;
            }
            if full.contains(&host) {
                continue;
            }
            match self.commands.place(kind, HostId(host)) {
                Some(place) => chosen.ready.push(Ready { alert, script, host, place }),
                None => drop(full.insert(host)),
            }
        }
        chosen
    }

    /// True: some could not be started, which made room.
    fn launch(
        &mut self,
        config: &Config,
        snapshot: &Snapshot,
        scripts: &BTreeMap<u64, Stored>,
        ready: Vec<Ready>,
        now: i64,
    ) -> DbResult<bool> {
        if ready.is_empty() {
            return Ok(false);
        }
        let ids: Vec<u64> = ready.iter().map(|one| one.alert).collect();
        let sql = "SELECT alertid, parameters FROM alerts WHERE alertid IN ({ids})";
        let rows = config.read(|connection| query_by_ids(connection, sql, &[], &ids))?;
        let texts: BTreeMap<u64, &str> =
            rows.iter().map(|row| (row.id("alertid"), row.text("parameters"))).collect();
        config.write_state(|state| set_due(state, &ids, 0))?;
        // Durable before the first attempt.
        config.sync_state()?;
        let mut failed = Vec::new();
        for one in ready {
            let texts = texts.get(&one.alert).copied().unwrap_or_default();
            match task(snapshot, scripts.get(&one.script), one.host, texts) {
                Ok(task) => {
                    self.started.insert(AlertId(one.alert), one.host);
                    one.place.start(AlertId(one.alert), task);
                }
                Err(error) => failed.push(impossible(one.alert, error)),
            }
        }
        if !failed.is_empty() {
            config.write_state(|state| {
                failed.iter().try_for_each(|report| write_outcome(state, report, None, now))
            })?;
        }
        Ok(!failed.is_empty())
    }

    /// Rows that say that they are started, and are not, wait again.
    fn release(&mut self, config: &Config, now: i64) -> DbResult<()> {
        let sql = formatcp!("SELECT alertid FROM alerts WHERE {OPEN} AND nextcheck = 0");
        let rows = config.read(|connection| connection.query(sql, &[]))?;
        let ids = rows.iter().map(|row| row.id("alertid"));
        let ids: Vec<u64> = ids.filter(|id| !self.started.contains_key(&AlertId(*id))).collect();
        if !ids.is_empty() {
            config.write_state(|state| set_due(state, &ids, now))?;
        }
        self.doubtful = false;
        Ok(())
    }
}

/// What a look at waiting commands leads to.
#[derive(Default)]
struct Chosen {
    ready: Vec<Ready>,
    failed: Vec<Report>,
    /// When to look again without a report.
    next: Option<i64>,
}

impl Chosen {
    fn fail(&mut self, alert: u64, why: &str) {
        self.failed.push(impossible(alert, why.to_owned()));
    }
}

fn impossible(alert: u64, error: String) -> Report {
    Report { alert: AlertId(alert), outcome: Outcome::Impossible { error } }
}

fn task(
    snapshot: &Snapshot,
    script: Option<&Stored>,
    host: u64,
    texts: &str,
) -> Result<Task, String> {
    let script = script.ok_or(GONE)?;
    let texts = serde_json::from_str(texts).map_err(|error| error.to_string())?;
    script.task(snapshot, HostId(host), texts, false)
}

/// Without their texts, which may be long, and without those of `busy` hosts: thousands may wait for such a host.
fn waiting(connection: &mut dyn Reader, busy: &BTreeSet<u64>, now: i64) -> DbResult<Vec<Row>> {
    let mut rows = Vec::new();
    let busy: Vec<String> = busy.iter().map(u64::to_string).collect();
    let others = match busy.is_empty() {
        true => String::new(),
        false => format!("AND target_hostid NOT IN ({})", busy.join(", ")),
    };
    for status in [AlertStatus::NotSent, AlertStatus::New] {
        let sql = format!(
            "SELECT alertid, actionid, userid, scriptid, target_hostid, clock FROM alerts WHERE status = ? \
             AND mediatypeid = 0 AND nextcheck > 0 AND nextcheck <= ? AND alerttype = {} \
             {others} ORDER BY nextcheck, alertid LIMIT {LOOK_MAX}",
            AlertType::Command.text()
        );
        rows.append(&mut connection.query(&sql, &[status.number().into(), now.into()])?);
    }
    rows.sort_by_key(|row| row.id("alertid"));
    Ok(rows)
}

/// The second in which the next command is due after this one.
fn later(connection: &mut dyn Reader, now: i64) -> DbResult<Option<i64>> {
    let sql = formatcp!(
        "SELECT MIN(nextcheck) AS due FROM alerts WHERE {OPEN} AND mediatypeid = 0 AND nextcheck > ?"
    );
    let rows = connection.query(sql, &[now.into()])?;
    Ok(rows.first().map(|row| row.int("due")).filter(|due| *due > 0))
}
