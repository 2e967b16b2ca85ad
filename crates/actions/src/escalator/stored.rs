//! Escalations and alerts as rows.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use config::{Statements, table};
use const_format::formatcp;
use objects::{AlertStatus, AlertType, EscalationStatus};

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
        let step = u32::try_from(row.int("esc_step")).unwrap_or(0);
        Self {
            id: row.id("escalationid"),
            action: row.id("actionid"),
            event: row.id("eventid"),
            trigger: row.id("triggerid"),
            progress: Progress { step, waits, told: false },
        }
    }

    fn columns(&self) -> [Value; 3] {
        let status = match self.progress.waits {
            Waits::Until(_) | Waits::Recovery => EscalationStatus::Active,
            Waits::Paused | Waits::PausedUntil(_) => EscalationStatus::Paused,
        };
        let due = self.progress.due().unwrap_or(0);
        [status.number().into(), i64::from(self.progress.step).into(), due.into()]
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
    Ok(())
}

/// A command on one host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NewCommand {
    pub(super) script: u64,
    /// 0 = there is none.
    pub(super) host: u64,
    /// Why it is not run; empty = it is.
    pub(super) error: String,
}

/// A message or a command that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewAlert {
    pub(super) action: u64,
    /// The event that it reports.
    pub(super) event: u64,
    /// The problem, if that is another event; 0 = none.
    pub(super) problem: u64,
    /// 0 = it reports no update.
    pub(super) update: u64,
    pub(super) user: u64,
    /// `None` = the user has no media.
    pub(super) address: Option<Address>,
    pub(super) text: Text,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) step: u32,
    pub(super) fate: Fate,
    /// `None` = it is a message.
    pub(super) command: Option<NewCommand>,
}

impl NewAlert {
    /// Why it goes nowhere, and what counts as its attempts; empty = it is sent or run.
    fn error(&self) -> (&str, i64) {
        match &self.command {
            Some(command) => (command.error.as_str(), 0),
            None => self.fate.error(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.error().0.is_empty()
    }
}

/// What a look at events and escalations leads to, in one transaction.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// Escalations that go on; those without an id are new.
    pub(super) kept: Vec<Escalation>,
    /// Rows of escalations that ended.
    pub(super) ended: Vec<u64>,
    pub(super) alerts: Vec<NewAlert>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.ended.is_empty() && self.alerts.is_empty()
    }

    /// Writes what is about events that still exist, and new escalations of problems that do.
    pub(super) fn write(&mut self, state: &mut Statements<'_>, now: i64) -> DbResult<()> {
        let of_alerts = self.alerts.iter().map(|alert| alert.event);
        let events: BTreeSet<u64> =
            self.kept.iter().map(|one| one.event).chain(of_alerts).collect();
        let sql = "SELECT eventid FROM events WHERE eventid IN ({ids})";
        let rows = query_by_ids(state, sql, &[], &Vec::from_iter(events))?;
        let known: BTreeSet<u64> = rows.iter().map(|row| row.id("eventid")).collect();
        let new: Vec<u64> =
            self.kept.iter().filter(|one| one.id == 0).map(|one| one.event).collect();
        let removed = removed(state, &new)?;
        self.kept.retain(|one| known.contains(&one.event) && !removed.contains(&one.event));
        self.alerts.retain(|alert| known.contains(&alert.event));
        state.delete(&table::ESCALATIONS, "escalationid", &self.ended)?;
        let (new, known): (Vec<_>, Vec<_>) = self.kept.iter().partition(|one| one.id == 0);
        for one in known {
            let [status, step, due] = one.columns();
            state.execute(
                "UPDATE escalations SET status = ?, esc_step = ?, nextcheck = ? \
                 WHERE escalationid = ?",
                &[status, step, due, one.id.into()],
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
            ];
            state.insert_many(&table::ESCALATIONS, &columns, &rows)?;
        }
        self.write_alerts(state, now)
    }

    fn write_alerts(&self, state: &mut Statements<'_>, now: i64) -> DbResult<()> {
        if self.alerts.is_empty() {
            return Ok(());
        }
        let first = state.next_id(&table::ALERTS, self.alerts.len() as u64)?;
        let row = |(id, alert): (u64, &NewAlert)| -> Vec<Value> {
            let (error, retries) = alert.error();
            let is_open = alert.is_open();
            let command = alert.command.as_ref();
            let kind = if command.is_some() { AlertType::Command } else { AlertType::Message };
            let status = if is_open { AlertStatus::New } else { AlertStatus::Failed };
            let address = alert.address.as_ref();
            let parameters = serde_json::to_string(&alert.parameters).unwrap_or_default();
            vec![
                id.into(),
                alert.action.into(),
                alert.event.into(),
                alert.problem.into(),
                alert.update.into(),
                alert.user.into(),
                now.into(),
                address.map_or(0, |address| address.media_type).into(),
                address.map_or("", |address| &address.sendto).into(),
                alert.text.subject.as_str().into(),
                alert.text.message.as_str().into(),
                status.number().into(),
                retries.into(),
                error.into(),
                i64::from(alert.step).into(),
                parameters.into(),
                if is_open { now } else { 0 }.into(),
                kind.number().into(),
                command.map_or(0, |command| command.script).into(),
                command.map_or(0, |command| command.host).into(),
            ]
        };
        let rows: Vec<Vec<Value>> = (first..).zip(&self.alerts).map(row).collect();
        let columns = [
            "alertid",
            "actionid",
            "eventid",
            "p_eventid",
            "acknowledgeid",
            "userid",
            "clock",
            "mediatypeid",
            "sendto",
            "subject",
            "message",
            "status",
            "retries",
            "error",
            "esc_step",
            "parameters",
            "nextcheck",
            "alerttype",
            "scriptid",
            "target_hostid",
        ];
        state.insert_many(&table::ALERTS, &columns, &rows)
    }
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

/// Condition: messages that were sent, or that are on their way. Has the parameters of [`never_sent`].
const WAS_SENT: &str = formatcp!(
    "alerttype = {} AND acknowledgeid = 0 AND mediatypeid <> 0 \
     AND NOT (status = {} AND error IN (?, ?, ?, ?))",
    AlertType::Message.text(),
    AlertStatus::Failed.text()
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
