//! What people do with problems: acknowledge, comment, re-rate, suppress, close.

use config::table;
use std::collections::BTreeMap;

use config::Statements;
use config::db::{DbError, DbResult, Row, Value, query_by_ids};
use const_format::formatcp;
use model::{
    EventId, ProblemRank, ProblemUpdate, Suppression, Timestamp, TriggerId, TriggerState, UserId,
};
use objects::ProblemAction;
use objects::sql::SOURCE_TRIGGER;

use crate::effect::Effect;
use crate::open::Open;
use crate::problems::Problems;
use crate::recovery::{self, Recovery};
use crate::rows::{self, Why};

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// There is no such problem event.
    #[error("event {0} does not exist or is not a problem")]
    NotFound(EventId),
    /// The trigger does not let people close its problems.
    #[error("problem {0} cannot be closed manually: its trigger does not allow it")]
    NotClosable(EventId),
    /// The database failed: try again later.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// An event as it is before the request.
struct Before {
    trigger: TriggerId,
    acknowledged: bool,
    severity: i64,
    name: String,
    closed: bool,
    closable: bool,
    suppressed: bool,
    cause: EventId,
}

impl Problems {
    /// Makes all changes, or none. Permissions are the API's to check. Each event that something was
    /// done to gets one row in `acknowledges`. Suppression by users is stored there alone: the newest
    /// row with [`ProblemAction::Suppress`] or [`ProblemAction::Unsuppress`] tells. Blocks for one
    /// transaction; after `Ok` it survives a power cut.
    pub fn update(&self, update: &ProblemUpdate) -> Result<(), UpdateError> {
        let now = Timestamp::from_unix(self.clock().unix());
        self.transaction(|edit, open| {
            let mut events = load(edit, &update.events)?;
            let mut effects = Vec::new();
            for id in &update.events {
                // Taken out: an id given twice is served once.
                let Some(before) = events.remove(id) else {
                    if update.events.iter().filter(|other| *other == id).count() > 1 {
                        continue;
                    }
                    return Err(UpdateError::NotFound(*id));
                };
                let cause = match update.rank {
                    Some(ProblemRank::SymptomOf(cause)) => cause_of_symptom(edit, *id, cause)?,
                    Some(ProblemRank::Cause) | None => EventId(0),
                };
                let done = applicable(update, *id, &before, cause)?;
                if ProblemAction::RankSymptom.is_in(done) {
                    lead(edit, *id, cause)?;
                }
                if done != 0 {
                    apply(edit, update, *id, &before, done, now)?;
                }
                if ProblemAction::Close.is_in(done) {
                    close(edit, open, update.user, *id, &before, now, &mut effects)?;
                }
            }
            Ok::<_, UpdateError>(effects)
        })?;
        self.report_written();
        Ok(self.sync()?)
    }
}

fn load(edit: &mut Statements<'_>, ids: &[EventId]) -> DbResult<BTreeMap<EventId, Before>> {
    let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
    let rows = query_by_ids(
        edit,
        formatcp!(
            "SELECT e.eventid AS eventid, e.objectid AS objectid, e.acknowledged AS acknowledged, \
         e.severity AS severity, e.name AS name, e.r_eventid AS r_eventid, \
         e.cause_eventid AS cause_eventid, \
         COALESCE(t.manual_close, 0) AS manual_close \
         FROM events e LEFT JOIN triggers t ON t.triggerid = e.objectid \
         WHERE e.source = {SOURCE_TRIGGER} AND e.value = 1 AND e.eventid IN ({{ids}})"
        ),
        &[],
        &ids,
    )?;
    let mut events: BTreeMap<EventId, Before> =
        rows.iter().map(|row| (EventId(row.id("eventid")), Before::from_row(row))).collect();
    let rows = query_by_ids(
        edit,
        formatcp!(
            "SELECT eventid, action FROM acknowledges WHERE action >= {} \
             AND eventid IN ({{ids}}) ORDER BY acknowledgeid",
            ProblemAction::Suppress.bit()
        ),
        &[],
        &ids,
    )?;
    for row in &rows {
        let action = u32::try_from(row.int("action")).unwrap_or(0);
        let started = ProblemAction::Suppress.is_in(action);
        if (started || ProblemAction::Unsuppress.is_in(action))
            && let Some(event) = events.get_mut(&EventId(row.id("eventid")))
        {
            event.suppressed = started;
        }
    }
    Ok(events)
}

impl Before {
    fn from_row(row: &Row) -> Self {
        Self {
            trigger: TriggerId(row.id("objectid")),
            acknowledged: row.int("acknowledged") == 1,
            severity: row.int("severity"),
            name: row.text("name").to_owned(),
            closed: row.id("r_eventid") != 0,
            closable: row.int("manual_close") == 1,
            suppressed: false,
            cause: EventId(row.id("cause_eventid")),
        }
    }
}

/// The cause that `id` gets as a symptom of `wanted`; 0 = it stays what it is. A cause is never a
/// symptom itself: instead of a symptom its own cause is taken, and a symptom of `id` takes the
/// place of `id`.
fn cause_of_symptom(
    edit: &mut Statements<'_>,
    id: EventId,
    wanted: EventId,
) -> Result<EventId, UpdateError> {
    if wanted == id {
        return Ok(EventId(0));
    }
    let sql = formatcp!(
        "SELECT cause_eventid FROM events \
         WHERE source = {SOURCE_TRIGGER} AND value = 1 AND eventid = ?"
    );
    let rows = edit.query(sql, &[wanted.0.into()])?;
    let row = rows.first().ok_or(UpdateError::NotFound(wanted))?;
    let above = EventId(row.id("cause_eventid"));
    Ok(if above == EventId(0) || above == id { wanted } else { above })
}

/// Makes `cause` the cause of `id` and of all symptoms of `id`.
fn lead(edit: &mut Statements<'_>, id: EventId, cause: EventId) -> DbResult<()> {
    for table in ["events", "problems"] {
        let sql = format!(
            "UPDATE {table} SET cause_eventid = CASE WHEN eventid = ? THEN 0 ELSE ? END \
             WHERE eventid IN (?, ?) OR cause_eventid = ?"
        );
        let (cause, id) = (Value::from(cause.0), Value::from(id.0));
        edit.execute(&sql, &[cause.clone(), cause.clone(), id.clone(), cause, id])?;
    }
    Ok(())
}

/// The bits of the actions that change something for this event.
fn applicable(
    update: &ProblemUpdate,
    id: EventId,
    before: &Before,
    cause: EventId,
) -> Result<u32, UpdateError> {
    use ProblemAction as Action;
    let new_severity = update.severity.is_some_and(|severity| !severity.is(before.severity));
    let (suppress, unsuppress) = match update.suppression {
        Some(Suppression::Until(_) | Suppression::Indefinite) => (!before.closed, false),
        Some(Suppression::End) => (false, before.suppressed && !before.closed),
        None => (false, false),
    };
    let to_cause = update.rank == Some(ProblemRank::Cause) && before.cause != EventId(0);
    let changes = [
        (Action::Close, update.close && !before.closed),
        (Action::Acknowledge, update.acknowledge == Some(true) && !before.acknowledged),
        (Action::Message, !update.message.is_empty()),
        (Action::Severity, new_severity),
        (Action::Unacknowledge, update.acknowledge == Some(false) && before.acknowledged),
        (Action::Suppress, suppress),
        (Action::Unsuppress, unsuppress),
        (Action::RankCause, to_cause),
        (Action::RankSymptom, cause != EventId(0) && cause != before.cause),
    ];
    let done = changes.iter().filter(|(_, does)| *does).fold(0, |sum, (one, _)| sum | one.bit());
    if Action::Close.is_in(done) && !before.closable {
        return Err(UpdateError::NotClosable(id));
    }
    Ok(done)
}

fn apply(
    edit: &mut Statements<'_>,
    update: &ProblemUpdate,
    id: EventId,
    before: &Before,
    done: u32,
    now: Timestamp,
) -> DbResult<()> {
    use ProblemAction as Action;
    let severity = update.severity.filter(|_| Action::Severity.is_in(done));
    let new_severity = severity.map_or(0, objects::Severity::number);
    let old_severity = severity.map_or(0, |_| before.severity);
    let until = match update.suppression {
        Some(Suppression::Until(at)) if Action::Suppress.is_in(done) => at.0,
        _ => 0,
    };
    edit.insert_new(
        &table::ACKNOWLEDGES,
        &[
            ("userid", update.user.0.into()),
            ("eventid", id.0.into()),
            ("clock", now.clock.into()),
            ("message", update.message.as_str().into()),
            ("action", done.into()),
            ("old_severity", old_severity.into()),
            ("new_severity", new_severity.into()),
            ("suppress_until", until.into()),
        ],
    )?;
    let mut columns: Vec<(&str, Value)> = Vec::new();
    if Action::Acknowledge.is_in(done) {
        columns.push(("acknowledged", 1_i64.into()));
    }
    if Action::Unacknowledge.is_in(done) {
        columns.push(("acknowledged", 0_i64.into()));
    }
    if Action::Severity.is_in(done) {
        columns.push(("severity", new_severity.into()));
    }
    if Action::RankCause.is_in(done) {
        columns.push(("cause_eventid", 0_i64.into()));
    }
    edit.update(&table::EVENTS, id.0, &columns)?;
    edit.update(&table::PROBLEMS, id.0, &columns)
}

fn close(
    edit: &mut Statements<'_>,
    open: &mut Open,
    user: UserId,
    id: EventId,
    before: &Before,
    at: Timestamp,
    effects: &mut Vec<Effect>,
) -> DbResult<()> {
    let tags = rows::tags_of(edit, id)?;
    let why = Why { user: user.0, ..Why::default() };
    let whole = Recovery { trigger: before.trigger, at, name: &before.name, tags: &tags, why };
    recovery::close(edit, open, &whole, &[id], effects)?;
    if open.of(before.trigger).is_empty() {
        effects.push(Effect::Trigger(before.trigger, TriggerState::Ok));
    }
    Ok(())
}
