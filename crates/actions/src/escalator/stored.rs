//! Escalations and alerts as rows.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use config::{Statements, table};
use const_format::formatcp;
use model::alert::{Outcome, Report};
use objects::{AlertStatus, AlertType, EscalationStatus, Withholding};

use super::alerts::{self, NewAlert};
use super::gathered;
use crate::calm::Freed;
use crate::escalation::{Progress, Waits};
use crate::recipients::{Address, Fate, Involved, Text};

/// Escalations that are looked at in one transaction because they are due.
const DUE_MAX: usize = 500;

const PAUSED: &str = EscalationStatus::Paused.text();

/// A row of `escalations`, or one that is to be inserted.
#[derive(Debug, Clone)]
pub(super) struct Escalation {
    /// 0 = it has no row yet.
    pub(super) id: u64,
    pub(super) action: u64,
    /// The problem.
    pub(super) event: u64,
    pub(super) trigger: u64,
    /// `told` is not stored: alerts tell.
    pub(super) progress: Progress,
}

impl Escalation {
    fn from_row(row: &Row) -> Self {
        let due = row.int("nextcheck");
        let waits = match (EscalationStatus::Paused.is(row.int("status")), due) {
            (false, 0) => Waits::Recovery,
            (false, due) => Waits::Until(due),
            (true, 0) => Waits::Paused,
            (true, due) => Waits::PausedUntil(due),
        };
        let number = |name: &str| u32::try_from(row.int(name)).unwrap_or(0);
        let (step, withheld) = (number("esc_step"), number("withheld_step"));
        Self {
            id: row.id("escalationid"),
            action: row.id("actionid"),
            event: row.id("eventid"),
            trigger: row.id("triggerid"),
            progress: Progress { step, waits, withheld, told: false },
        }
    }

    fn columns(&self) -> [Value; 4] {
        let status = match self.progress.waits {
            Waits::Until(_) | Waits::Recovery => EscalationStatus::Active,
            Waits::Paused | Waits::PausedUntil(_) => EscalationStatus::Paused,
        };
        let due = self.progress.due().unwrap_or(0);
        let Progress { step, withheld, .. } = self.progress;
        [status.number().into(), i64::from(step).into(), due.into(), i64::from(withheld).into()]
    }
}

/// Which escalations there is something to look at for.
#[derive(Debug, Default)]
pub(super) struct Wanted<'a> {
    /// All of these problems.
    pub(super) ended: &'a [u64],
    /// Paused ones of these problems.
    pub(super) woken: &'a [u64],
    /// Paused ones of problems of these triggers.
    pub(super) freed: &'a [u64],
}

/// Reads those that are wanted or due, by id; and whether more may be due.
pub(super) fn read(
    connection: &mut dyn Reader,
    wanted: &Wanted<'_>,
    now: i64,
) -> DbResult<(BTreeMap<u64, Escalation>, bool)> {
    let due = formatcp!(
        "SELECT * FROM escalations WHERE nextcheck > 0 AND nextcheck <= ? \
         ORDER BY nextcheck LIMIT {DUE_MAX}"
    );
    let mut rows = connection.query(due, &[now.into()])?;
    let is_full = rows.len() == DUE_MAX;
    for (sql, ids) in [
        ("SELECT * FROM escalations WHERE eventid IN ({ids})", wanted.ended),
        (
            formatcp!("SELECT * FROM escalations WHERE status = {PAUSED} AND eventid IN ({{ids}})"),
            wanted.woken,
        ),
        (
            formatcp!(
                "SELECT * FROM escalations WHERE status = {PAUSED} AND triggerid IN ({{ids}})"
            ),
            wanted.freed,
        ),
    ] {
        rows.extend(query_by_ids(connection, sql, &[], ids)?);
    }
    let found = rows.iter().map(Escalation::from_row).map(|one| (one.id, one));
    Ok((found.collect(), is_full))
}

/// Escalations of this problem.
pub(super) fn of_problem(connection: &mut dyn Reader, event: u64) -> DbResult<Vec<Escalation>> {
    let sql = "SELECT * FROM escalations WHERE eventid = ?";
    Ok(connection.query(sql, &[event.into()])?.iter().map(Escalation::from_row).collect())
}

/// Actions and problems that have an escalation, of these problems.
pub(super) fn running(connection: &mut dyn Reader, events: &[u64]) -> DbResult<Vec<(u64, u64)>> {
    let sql = "SELECT actionid, eventid FROM escalations WHERE eventid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], events)?;
    Ok(rows.iter().map(|row| (row.id("actionid"), row.id("eventid"))).collect())
}

/// Actions that told users of these problems or will, with the problem.
pub(super) fn sent_steps(connection: &mut dyn Reader, events: &[u64]) -> DbResult<Vec<(u64, u64)>> {
    let sql = format!(
        "SELECT DISTINCT actionid, eventid FROM alerts \
         WHERE {WAS_SENT} AND p_eventid = 0 AND eventid IN ({{ids}})"
    );
    let rows = query_by_ids(connection, &sql, &never_sent(), events)?;
    Ok(rows.iter().map(|row| (row.id("actionid"), row.id("eventid"))).collect())
}

/// Problems of these that were removed with what they were about: no event will end them.
fn removed(state: &mut Statements<'_>, events: &[u64]) -> DbResult<BTreeSet<u64>> {
    let sql = "SELECT e.eventid AS eventid FROM events e LEFT JOIN problems p ON p.eventid = e.eventid \
               WHERE p.eventid IS NULL AND e.r_eventid = 0 AND e.eventid IN ({ids})";
    let rows = query_by_ids(state, sql, &[], events)?;
    Ok(rows.iter().map(|row| row.id("eventid")).collect())
}

/// The second in which the next escalation is due.
pub(super) fn next_due(connection: &mut dyn Reader) -> DbResult<Option<i64>> {
    let sql = "SELECT nextcheck FROM escalations WHERE nextcheck > 0 ORDER BY nextcheck LIMIT 1";
    Ok(connection.query(sql, &[])?.first().map(|row| row.int("nextcheck")))
}

/// Makes all paused escalations due: what ended their pauses may have been missed.
pub(super) fn wake_all(state: &mut Statements<'_>, now: i64) -> DbResult<()> {
    let sql = formatcp!("UPDATE escalations SET nextcheck = ? WHERE status = {PAUSED}");
    state.execute(sql, &[now.into()]).map(drop)
}

/// Makes paused escalations due that a problem which ended may have held back. They may be very many: looks take them in
/// portions.
fn wake_freed(state: &mut Statements<'_>, freed: &Freed, now: i64) -> DbResult<()> {
    let sql = format!(
        "UPDATE escalations SET nextcheck = ? WHERE status = {PAUSED} AND actionid = ? \
         AND EXISTS (SELECT 1 FROM event_tags t WHERE t.eventid = escalations.eventid \
         AND t.tag = ? AND t.value IN ({}))",
        config::db::placeholders(freed.values.len())
    );
    let mut params = vec![now.into(), freed.action.into(), freed.tag.as_str().into()];
    params.extend(freed.values.iter().map(|value| Value::from(value.as_str())));
    state.execute(&sql, &params).map(drop)
}

/// The clock was set back: what is due stays due after the same time.
pub(super) fn set_back(state: &mut Statements<'_>, by: i64) -> DbResult<()> {
    // Alerts that are done are many.
    let open =
        formatcp!(" AND status IN ({}, {})", AlertStatus::NotSent.text(), AlertStatus::New.text());
    for (table, open) in [("escalations", ""), ("alerts", open)] {
        let sql = format!(
            "UPDATE {table} SET nextcheck = CASE WHEN nextcheck > ? THEN nextcheck - ? ELSE 1 END \
             WHERE nextcheck > 0{open}"
        );
        state.execute(&sql, &[by.into(), by.into()])?;
    }
    gathered::set_back(state, by)
}

/// What a look at events and escalations leads to, in one transaction.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// Escalations that go on; those without an id are new.
    pub(super) kept: Vec<Escalation>,
    /// Rows of escalations that ended.
    pub(super) ended: Vec<u64>,
    pub(super) alerts: Vec<NewAlert>,
    /// Paused escalations that are looked at next.
    pub(super) freed: Vec<Freed>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
            && self.ended.is_empty()
            && self.alerts.is_empty()
            && self.freed.is_empty()
    }

    /// Writes what is about events and of actions that still exist, and new escalations of problems that do; returns the id
    /// of the first alert.
    pub(super) fn write(&mut self, state: &mut Statements<'_>, now: i64) -> DbResult<Option<u64>> {
        let of_alerts = self.alerts.iter().map(|alert| alert.event);
        let events: BTreeSet<u64> =
            self.kept.iter().map(|one| one.event).chain(of_alerts).collect();
        let sql = "SELECT eventid FROM events WHERE eventid IN ({ids})";
        let rows = query_by_ids(state, sql, &[], &Vec::from_iter(events))?;
        let known: BTreeSet<u64> = rows.iter().map(|row| row.id("eventid")).collect();
        let new: Vec<u64> =
            self.kept.iter().filter(|one| one.id == 0).map(|one| one.event).collect();
        let removed = removed(state, &new)?;
        let actions =
            existing(state, "actions", "actionid", self.kept.iter().map(|one| one.action))?;
        let stays = |one: &Escalation| known.contains(&one.event) && actions.contains(&one.action);
        self.kept.retain(|one| stays(one) && !removed.contains(&one.event));
        self.alerts.retain(|alert| known.contains(&alert.event));
        state.delete(&table::ESCALATIONS, "escalationid", &self.ended)?;
        let (new, known): (Vec<_>, Vec<_>) = self.kept.iter().partition(|one| one.id == 0);
        for one in known {
            let [status, step, due, withheld] = one.columns();
            state.execute(
                "UPDATE escalations SET status = ?, esc_step = ?, nextcheck = ?, \
                 withheld_step = ? WHERE escalationid = ?",
                &[status, step, due, withheld, one.id.into()],
            )?;
        }
        if !new.is_empty() {
            let first = state.next_id(&table::ESCALATIONS, new.len() as u64)?;
            let row = |(id, one): (u64, &Escalation)| -> Vec<Value> {
                let ids = [id, one.action, one.event, one.trigger];
                ids.into_iter().map(Value::from).chain(one.columns()).collect()
            };
            let rows: Vec<Vec<Value>> = (first..).zip(new).map(row).collect();
            let columns = [
                "escalationid",
                "actionid",
                "eventid",
                "triggerid",
                "status",
                "esc_step",
                "nextcheck",
                "withheld_step",
            ];
            state.insert_many(&table::ESCALATIONS, &columns, &rows)?;
        }
        self.freed.iter().try_for_each(|freed| wake_freed(state, freed, now))?;
        write_alerts(state, &self.alerts, now)
    }
}

/// Those of the ids that a table has.
fn existing(
    state: &mut Statements<'_>,
    table: &str,
    key: &str,
    ids: impl Iterator<Item = u64>,
) -> DbResult<BTreeSet<u64>> {
    let ids: BTreeSet<u64> = ids.collect();
    let sql = format!("SELECT {key} FROM {table} WHERE {key} IN ({{ids}})");
    let rows = query_by_ids(state, &sql, &[], &Vec::from_iter(ids))?;
    Ok(rows.iter().map(|row| row.id(key)).collect())
}

/// Stores alerts, in their order; returns the id of the first. Those of an action or to a user that was deleted meanwhile
/// are left out: what deletes them has come before.
pub(super) fn write_alerts(
    state: &mut Statements<'_>,
    new: &[NewAlert],
    now: i64,
) -> DbResult<Option<u64>> {
    let actions = existing(state, "actions", "actionid", new.iter().map(|alert| alert.action))?;
    let users = existing(state, "users", "userid", new.iter().map(|alert| alert.user))?;
    // Commands are to no user.
    let is_known = |user: u64| user == 0 || users.contains(&user);
    let stays = |alert: &&NewAlert| actions.contains(&alert.action) && is_known(alert.user);
    let new: Vec<&NewAlert> = new.iter().filter(stays).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let gaps = gaps(state, &new)?;
    let holds = gathered::hold(state, &new, now)?;
    let first = state.next_id(&table::ALERTS, new.len() as u64)?;
    let rows = (first..).zip(new.into_iter().zip(&holds));
    let rows = rows.map(|(id, (alert, hold))| alert.row(id, hold, &gaps, now));
    state.insert_many(&table::ALERTS, &alerts::COLUMNS, &Vec::from_iter(rows))?;
    Ok(Some(first))
}

/// Errors of messages that nobody gets, by the schedule.
fn gaps(state: &mut Statements<'_>, alerts: &[&NewAlert]) -> DbResult<BTreeMap<u64, String>> {
    let of = |alert: &&NewAlert| match alert.fate {
        Fate::NobodyOnCall(schedule) => Some(schedule),
        _ => None,
    };
    let ids: BTreeSet<u64> = alerts.iter().filter_map(of).collect();
    let sql = "SELECT scheduleid, name FROM oncall_schedules WHERE scheduleid IN ({ids})";
    let rows = query_by_ids(state, sql, &[], &Vec::from_iter(ids))?;
    let error = |row: &Row| format!("Nobody is on call in {}.", row.text("name"));
    Ok(rows.iter().map(|row| (row.id("scheduleid"), error(row))).collect())
}

/// Users who got a message about the problem or its end, by action and problem, oldest first. Messages about updates do
/// not count.
pub(super) type Told = BTreeMap<(u64, u64), Vec<Involved>>;

/// Reads who got messages of these problems, without the messages' texts.
pub(super) fn told(connection: &mut dyn Reader, problems: &[u64]) -> DbResult<Told> {
    let mut told = Told::new();
    for (problem, other) in [("eventid", " AND p_eventid = 0"), ("p_eventid", "")] {
        let sql = format!(
            "SELECT MAX(alertid) AS newest, actionid, {problem} AS problem, userid, mediatypeid, sendto \
             FROM alerts WHERE {WAS_SENT}{other} AND {problem} IN ({{ids}}) \
             GROUP BY actionid, {problem}, userid, mediatypeid, sendto ORDER BY newest"
        );
        for row in query_by_ids(connection, &sql, &never_sent(), problems)? {
            let address = Address {
                media_type: row.id("mediatypeid"),
                sendto: row.text("sendto").to_owned(),
            };
            let key = (row.id("actionid"), row.id("problem"));
            let user = row.id("userid");
            let one = Involved { user, address: Some(address), last: Text::default() };
            told.entry(key).or_default().push(one);
        }
    }
    Ok(told)
}

/// The problems that get tags by these reports.
pub(super) fn tagged(connection: &mut dyn Reader, reports: &[Report]) -> DbResult<Vec<u64>> {
    let has_tags = |report: &&Report| matches!(&report.outcome, Outcome::Sent { tags, .. } if !tags.is_empty());
    let ids: Vec<u64> = reports.iter().filter(has_tags).map(|report| report.alert.0).collect();
    let sql = "SELECT eventid, p_eventid FROM alerts WHERE alertid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &ids)?;
    let problem = |row: &Row| match row.id("p_eventid") {
        0 => row.id("eventid"),
        problem => problem,
    };
    Ok(rows.iter().map(problem).collect())
}

/// Condition: messages that were sent, or that are on their way. Has the parameters of [`never_sent`].
const WAS_SENT: &str = formatcp!(
    "alerttype = {} AND acknowledgeid = 0 AND mediatypeid <> 0 \
     AND NOT (status = {} AND error IN (?, ?, ?, ?)) \
     AND NOT (status = {} AND withheld NOT IN ({}, {}))",
    AlertType::Message.text(),
    AlertStatus::Failed.text(),
    AlertStatus::Withheld.text(),
    Withholding::Grouped.text(),
    Withholding::Storm.text()
);

fn never_sent() -> [Value; 4] {
    Fate::never_sent().map(Value::from)
}

/// The same of one escalation, with the text of the last message to each address.
pub(super) fn last_messages(
    connection: &mut dyn Reader,
    action: u64,
    problem: u64,
) -> DbResult<Vec<Involved>> {
    let sql = format!(
        "SELECT userid, mediatypeid, sendto, subject, message FROM alerts WHERE alertid IN \
         (SELECT MAX(alertid) FROM alerts WHERE {WAS_SENT} AND actionid = ? \
         AND (eventid = ? OR p_eventid = ?) GROUP BY userid, mediatypeid, sendto) ORDER BY alertid"
    );
    let mut params = never_sent().to_vec();
    params.extend([action.into(), problem.into(), problem.into()]);
    let rows = connection.query(&sql, &params)?;
    let one = |row: &Row| Involved {
        user: row.id("userid"),
        address: Some(Address {
            media_type: row.id("mediatypeid"),
            sendto: row.text("sendto").to_owned(),
        }),
        last: Text {
            subject: row.text("subject").to_owned(),
            message: row.text("message").to_owned(),
        },
    };
    Ok(rows.iter().map(one).collect())
}
