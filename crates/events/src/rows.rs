//! Rows of events and problems.

use config::Statements;
use config::db::{DbResult, Value};
use config::table;
use model::{EventId, EventOrigin, Timestamp};

/// Longest error text that is kept, in characters (the API's limit of the field).
pub(crate) const ERROR_CHARS_MAX: usize = 2_048;

/// An event to be written.
pub(crate) struct NewRow<'a> {
    pub(crate) origin: EventOrigin,
    pub(crate) at: Timestamp,
    pub(crate) is_problem: bool,
    pub(crate) name: &'a str,
    pub(crate) severity: i64,
    pub(crate) opdata: &'a str,
    pub(crate) why: Why,
}

/// What ended a problem, other than its trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Why {
    /// The user who closed it; 0 = nobody.
    pub(crate) user: u64,
    /// The correlation rule that closed it; 0 = none.
    pub(crate) rule: u64,
    /// The new problem that the rule was checked for.
    pub(crate) new: EventId,
}

pub(crate) fn insert_event(
    edit: &mut Statements<'_>,
    event: &NewRow<'_>,
    tags: &[(String, String)],
) -> DbResult<EventId> {
    let id = EventId(edit.next_id(&table::EVENTS, 1)?);
    let params = [
        Value::from(id.0),
        event.origin.source().number().into(),
        event.origin.object().number().into(),
        event.origin.object_id().into(),
        event.at.clock.into(),
        event.at.ns.into(),
        event.is_problem.into(),
        event.name.into(),
        event.severity.into(),
        event.opdata.into(),
        event.why.user.into(),
        event.why.rule.into(),
        event.why.new.0.into(),
    ];
    edit.execute(
        "INSERT INTO events (eventid, source, object, objectid, clock, ns, value, name, severity, \
         opdata, userid, correlationid, c_eventid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &params,
    )?;
    insert_tags(edit, id, tags)?;
    Ok(id)
}

fn insert_tags(
    edit: &mut Statements<'_>,
    event: EventId,
    tags: &[(String, String)],
) -> DbResult<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let first = edit.next_id(&table::EVENT_TAGS, u64::try_from(tags.len()).unwrap_or(u64::MAX))?;
    for (tag_id, (tag, value)) in (first..).zip(tags) {
        let params = [tag_id.into(), event.0.into(), tag.as_str().into(), value.as_str().into()];
        edit.execute(
            "INSERT INTO event_tags (eventtagid, eventid, tag, value) VALUES (?, ?, ?, ?)",
            &params,
        )?;
    }
    Ok(())
}

/// Opens the problem of an event.
pub(crate) fn insert_problem(
    edit: &mut Statements<'_>,
    id: EventId,
    event: &NewRow<'_>,
) -> DbResult<()> {
    let params = [
        Value::from(id.0),
        event.origin.source().number().into(),
        event.origin.object().number().into(),
        event.origin.object_id().into(),
        event.at.clock.into(),
        event.at.ns.into(),
        event.name.into(),
        event.severity.into(),
        event.opdata.into(),
    ];
    edit.execute(
        "INSERT INTO problems (eventid, source, object, objectid, clock, ns, name, severity, opdata) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &params,
    )
    .map(drop)
}

/// Ends a problem by a recovery event.
pub(crate) fn end_problem(
    edit: &mut Statements<'_>,
    problem: EventId,
    recovery: EventId,
    at: Timestamp,
    why: Why,
) -> DbResult<()> {
    let params = [
        Value::from(recovery.0),
        at.clock.into(),
        at.ns.into(),
        why.user.into(),
        why.rule.into(),
        problem.0.into(),
    ];
    edit.execute(
        "UPDATE problems SET r_eventid = ?, r_clock = ?, r_ns = ?, userid = ?, correlationid = ? \
         WHERE eventid = ?",
        &params,
    )?;
    let params = [recovery.0.into(), problem.0.into()];
    edit.execute("UPDATE events SET r_eventid = ? WHERE eventid = ?", &params).map(drop)
}

/// The tags of an event.
pub(crate) fn tags_of(
    edit: &mut Statements<'_>,
    event: EventId,
) -> DbResult<Vec<(String, String)>> {
    let sql = "SELECT tag, value FROM event_tags WHERE eventid = ? ORDER BY eventtagid";
    let rows = edit.query(sql, &[event.0.into()])?;
    Ok(rows.iter().map(|row| (row.text("tag").to_owned(), row.text("value").to_owned())).collect())
}
