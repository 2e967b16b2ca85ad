//! What people do with problems: acknowledge, comment, re-rate, suppress, close.

use std::collections::BTreeMap;

use config::Statements;
use config::db::{DbError, DbResult, Row, Value, query_by_ids};
use model::{EventId, Severity, Timestamp, TriggerId, TriggerState, UserId};

use crate::batch::{self, Recovery};
use crate::open::Open;
use crate::problems::{Effect, Problems};

/// Bits of the API's `action`.
pub mod action {
    /// Close the problem.
    pub const CLOSE: u32 = 1;
    /// Acknowledge.
    pub const ACKNOWLEDGE: u32 = 2;
    /// Add a message.
    pub const MESSAGE: u32 = 4;
    /// Change the severity.
    pub const SEVERITY: u32 = 8;
    /// Take the acknowledgement back.
    pub const UNACKNOWLEDGE: u32 = 16;
    /// Suppress until a time, or for good.
    pub const SUPPRESS: u32 = 32;
    /// End the suppression.
    pub const UNSUPPRESS: u32 = 64;
    /// The event is a cause.
    pub const RANK_CAUSE: u32 = 128;
    /// The event is a symptom of another.
    pub const RANK_SYMPTOM: u32 = 256;
}

/// One request; permissions and the form of its members are the API's to check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AckRequest {
    /// Problem events.
    pub events: Vec<EventId>,
    /// The acting user.
    pub user: UserId,
    /// Bits of [`action`]. What an event already is, is skipped for it without an error.
    pub actions: u32,
    /// For [`action::MESSAGE`].
    pub message: String,
    /// For [`action::SEVERITY`].
    pub severity: Option<Severity>,
    /// For [`action::SUPPRESS`]: seconds since 1970; 0 = for good.
    pub suppress_until: u32,
    /// For [`action::RANK_SYMPTOM`].
    pub cause: EventId,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum AckError {
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
    /// Does all of `request`, or nothing. Each event that something was done to gets one row in
    /// `acknowledges`. Suppression is kept there alone: the newest row with
    /// [`action::SUPPRESS`] or [`action::UNSUPPRESS`] tells. Blocks for one transaction; after
    /// `Ok` it survives a power cut.
    pub fn acknowledge(&self, request: &AckRequest) -> Result<(), AckError> {
        let now = Timestamp::from_unix(self.clock().unix());
        self.transaction(|edit, open| {
            let mut events = load(edit, &request.events)?;
            let mut effects = Vec::new();
            for id in &request.events {
                // Taken out: an id given twice is served once.
                let Some(before) = events.remove(id) else {
                    if request.events.iter().filter(|other| *other == id).count() > 1 {
                        continue;
                    }
                    return Err(AckError::NotFound(*id));
                };
                let cause = if request.actions & action::RANK_SYMPTOM == 0 {
                    EventId(0)
                } else {
                    cause_of_symptom(edit, *id, request.cause)?
                };
                let done = applicable(request, *id, &before, cause)?;
                if done & action::RANK_SYMPTOM != 0 {
                    lead(edit, *id, cause)?;
                }
                if done != 0 {
                    apply(edit, request, *id, &before, done, now)?;
                }
                if done & action::CLOSE != 0 {
                    close(edit, open, request.user, (*id, &before), now, &mut effects)?;
                }
            }
            Ok::<_, AckError>(effects)
        })?;
        Ok(self.sync()?)
    }
}

fn load(edit: &mut Statements<'_>, ids: &[EventId]) -> DbResult<BTreeMap<EventId, Before>> {
    let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
    let rows = query_by_ids(
        edit.connection(),
        "SELECT e.eventid AS eventid, e.objectid AS objectid, e.acknowledged AS acknowledged, \
         e.severity AS severity, e.name AS name, e.r_eventid AS r_eventid, \
         e.cause_eventid AS cause_eventid, \
         COALESCE(t.manual_close, 0) AS manual_close \
         FROM events e LEFT JOIN triggers t ON t.triggerid = e.objectid \
         WHERE e.source = 0 AND e.value = 1 AND e.eventid IN ({ids})",
        &[],
        &ids,
    )?;
    let mut events: BTreeMap<EventId, Before> =
        rows.iter().map(|row| (EventId(row.id("eventid")), Before::from_row(row))).collect();
    let rows = query_by_ids(
        edit.connection(),
        "SELECT eventid, action FROM acknowledges WHERE action >= 32 AND eventid IN ({ids}) \
         ORDER BY acknowledgeid",
        &[],
        &ids,
    )?;
    for row in &rows {
        let action = u32::try_from(row.int("action")).unwrap_or(0);
        if action & (action::SUPPRESS | action::UNSUPPRESS) != 0
            && let Some(event) = events.get_mut(&EventId(row.id("eventid")))
        {
            event.suppressed = action & action::SUPPRESS != 0;
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
) -> Result<EventId, AckError> {
    if wanted == id {
        return Ok(EventId(0));
    }
    let sql = "SELECT cause_eventid FROM events WHERE source = 0 AND value = 1 AND eventid = ?";
    let rows = edit.query(sql, &[wanted.0.into()])?;
    let row = rows.first().ok_or(AckError::NotFound(wanted))?;
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

/// The actions that change something for this event.
fn applicable(
    request: &AckRequest,
    id: EventId,
    before: &Before,
    cause: EventId,
) -> Result<u32, AckError> {
    let severity = request.severity.map_or(before.severity, |s| i64::from(s as u8));
    let changes = [
        (action::CLOSE, !before.closed),
        (action::ACKNOWLEDGE, !before.acknowledged),
        (action::MESSAGE, !request.message.is_empty()),
        (action::SEVERITY, severity != before.severity),
        (action::UNACKNOWLEDGE, before.acknowledged),
        (action::SUPPRESS, !before.closed),
        (action::UNSUPPRESS, before.suppressed && !before.closed),
        (action::RANK_CAUSE, before.cause != EventId(0)),
        (action::RANK_SYMPTOM, cause != EventId(0) && cause != before.cause),
    ];
    let wanted = |(bit, does): &(u32, bool)| request.actions & bit != 0 && *does;
    let done = changes.iter().filter(|c| wanted(c)).fold(0, |sum, (bit, _)| sum | bit);
    if done & action::CLOSE != 0 && !before.closable {
        return Err(AckError::NotClosable(id));
    }
    Ok(done)
}

fn apply(
    edit: &mut Statements<'_>,
    request: &AckRequest,
    id: EventId,
    before: &Before,
    done: u32,
    now: Timestamp,
) -> DbResult<()> {
    let given = |bit: u32| done & bit != 0;
    let new_severity =
        request.severity.filter(|_| given(action::SEVERITY)).map_or(0, |s| i64::from(s as u8));
    let old_severity = if given(action::SEVERITY) { before.severity } else { 0 };
    let message = if given(action::MESSAGE) { request.message.as_str() } else { "" };
    let until = if given(action::SUPPRESS) { request.suppress_until } else { 0 };
    edit.insert_new(
        "acknowledges",
        &[
            ("userid", request.user.0.into()),
            ("eventid", id.0.into()),
            ("clock", now.clock.into()),
            ("message", message.into()),
            ("action", done.into()),
            ("old_severity", old_severity.into()),
            ("new_severity", new_severity.into()),
            ("suppress_until", until.into()),
        ],
    )?;
    let mut columns: Vec<(&str, Value)> = Vec::new();
    if given(action::ACKNOWLEDGE) {
        columns.push(("acknowledged", 1_i64.into()));
    }
    if given(action::UNACKNOWLEDGE) {
        columns.push(("acknowledged", 0_i64.into()));
    }
    if given(action::SEVERITY) {
        columns.push(("severity", new_severity.into()));
    }
    if given(action::RANK_CAUSE) {
        columns.push(("cause_eventid", 0_i64.into()));
    }
    edit.update("events", id.0, &columns)?;
    edit.update("problems", id.0, &columns)
}

fn close(
    edit: &mut Statements<'_>,
    open: &mut Open,
    user: UserId,
    (id, before): (EventId, &Before),
    at: Timestamp,
    effects: &mut Vec<Effect>,
) -> DbResult<()> {
    let rows = edit.query("SELECT tag, value FROM event_tags WHERE eventid = ?", &[id.0.into()])?;
    let tags: Vec<(String, String)> =
        rows.iter().map(|row| (row.text("tag").to_owned(), row.text("value").to_owned())).collect();
    let recovery =
        Recovery { trigger: before.trigger, at, name: &before.name, tags: &tags, user: user.0 };
    batch::close(edit, open, &recovery, &[id], effects)?;
    if open.of(before.trigger).is_empty() {
        effects.push(Effect::Trigger(before.trigger, TriggerState::Ok));
    }
    Ok(())
}
