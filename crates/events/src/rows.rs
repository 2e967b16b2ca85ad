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

impl NewRow<'_> {
    /// What rows of events and of problems have in common.
    fn columns(&self, id: EventId) -> [(&'static str, Value); 9] {
        [
            ("eventid", id.0.into()),
            ("source", self.origin.source().number().into()),
            ("object", self.origin.object().number().into()),
            ("objectid", self.origin.object_id().into()),
            ("clock", self.at.clock.into()),
            ("ns", self.at.ns.into()),
            ("name", self.name.into()),
            ("severity", self.severity.into()),
            ("opdata", self.opdata.into()),
        ]
    }
}

pub(crate) fn insert_event(
    edit: &mut Statements<'_>,
    event: &NewRow<'_>,
    tags: &[(String, String)],
) -> DbResult<EventId> {
    let id = EventId(edit.next_id(&table::EVENTS, 1)?);
    let mut row = event.columns(id).to_vec();
    row.extend([
        ("value", event.is_problem.into()),
        ("userid", event.why.user.into()),
        ("correlationid", event.why.rule.into()),
        ("c_eventid", event.why.new.0.into()),
    ]);
    edit.insert(&table::EVENTS, &row)?;
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
    edit.insert(&table::PROBLEMS, &event.columns(id))
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
