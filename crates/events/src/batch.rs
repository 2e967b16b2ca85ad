//! Findings become events and problems: one transaction.

use config::table;
use std::collections::BTreeSet;

use config::Statements;
use config::db::{DbResult, Row, Value, query_by_ids};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{
    EventId, ProblemChange, Timestamp, TriggerFinding, TriggerId, TriggerState, UnixSeconds,
};
use objects::{CorrelationMode, ProblemMode};

use crate::effect::Effect;
use crate::marks;
use crate::open::Open;

/// What of a trigger's row matters here.
struct Facts {
    severity: i64,
    multiple: bool,
    /// Recovery closes only problems whose values of this tag agree; empty = all.
    correlation_tag: String,
}

type FactsOf = HashMap<TriggerId, Facts, FixedState>;

/// An event to be written.
pub(crate) struct TriggerEvent<'a> {
    pub(crate) trigger: TriggerId,
    pub(crate) at: Timestamp,
    pub(crate) state: TriggerState,
    pub(crate) name: &'a str,
    pub(crate) severity: i64,
    pub(crate) opdata: &'a str,
    pub(crate) user: u64,
}

/// Writes `findings` in their order, and the mark up to which they are complete. Findings of deleted
/// triggers are skipped.
pub(crate) fn write(
    edit: &mut Statements<'_>,
    open: &mut Open,
    findings: &[TriggerFinding],
    mark: Option<UnixSeconds>,
) -> DbResult<Vec<Effect>> {
    if let Some(mark) = mark {
        marks::write(edit, mark)?;
    }
    let facts = load_facts(edit, findings)?;
    let mut effects = Vec::with_capacity(findings.len());
    for finding in findings {
        let Some(facts) = trigger_of(finding).and_then(|id| facts.get(&id)) else { continue };
        match finding {
            TriggerFinding::Problem { trigger, at, name, opdata, tags } => {
                // A shard that starts over may find again what is already written.
                if !facts.multiple && !open.of(*trigger).is_empty() {
                    continue;
                }
                let event = TriggerEvent {
                    trigger: *trigger,
                    at: *at,
                    state: TriggerState::Problem,
                    name,
                    severity: facts.severity,
                    opdata,
                    user: 0,
                };
                let id = open_problem(edit, &event, tags)?;
                open.add(*trigger, id);
                set_value(edit, *trigger, TriggerState::Problem, *at)?;
                effects.push(change(id, *trigger, TriggerState::Problem));
            }
            TriggerFinding::Recovery { trigger, at, name, tags } => {
                let closed = matching(edit, open.of(*trigger), &facts.correlation_tag, tags)?;
                let recovery = Recovery { trigger: *trigger, at: *at, name, tags, user: 0 };
                close(edit, open, &recovery, &closed, &mut effects)?;
                if !open.of(*trigger).is_empty() {
                    effects.push(Effect::Trigger(*trigger, TriggerState::Problem));
                }
            }
            TriggerFinding::State { trigger, error } => set_error(edit, *trigger, error)?,
            TriggerFinding::Mark(_) => {}
        }
    }
    Ok(effects)
}

/// Who recovers what, and when.
pub(crate) struct Recovery<'a> {
    pub(crate) trigger: TriggerId,
    pub(crate) at: Timestamp,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a [(String, String)],
    /// The user who closed it by hand; 0 = nobody.
    pub(crate) user: u64,
}

/// Closes problems of one trigger by one recovery event, and keeps the trigger's value.
pub(crate) fn close(
    edit: &mut Statements<'_>,
    open: &mut Open,
    recovery: &Recovery<'_>,
    closed: &[EventId],
    effects: &mut Vec<Effect>,
) -> DbResult<()> {
    if !closed.is_empty() {
        let event = TriggerEvent {
            trigger: recovery.trigger,
            at: recovery.at,
            state: TriggerState::Ok,
            name: recovery.name,
            severity: 0,
            opdata: "",
            user: recovery.user,
        };
        let r_event = insert_event(edit, &event, recovery.tags)?;
        for problem in closed {
            let params = [
                Value::from(r_event.0),
                Value::from(recovery.at.clock),
                Value::from(recovery.at.ns),
                Value::from(recovery.user),
                Value::from(problem.0),
            ];
            edit.execute(
                "UPDATE problems SET r_eventid = ?, r_clock = ?, r_ns = ?, userid = ? \
                 WHERE eventid = ?",
                &params,
            )?;
            edit.execute(
                "UPDATE events SET r_eventid = ? WHERE eventid = ?",
                &[r_event.0.into(), problem.0.into()],
            )?;
            open.remove(recovery.trigger, *problem);
            effects.push(change(*problem, recovery.trigger, TriggerState::Ok));
        }
    }
    if open.of(recovery.trigger).is_empty() {
        set_value(edit, recovery.trigger, TriggerState::Ok, recovery.at)?;
    } else if !closed.is_empty() {
        // Every event of a trigger counts as its last change, also one that leaves problems open.
        set_value(edit, recovery.trigger, TriggerState::Problem, recovery.at)?;
    }
    Ok(())
}

/// The trigger that a finding is about; a mark is about none.
pub(crate) fn trigger_of(finding: &TriggerFinding) -> Option<TriggerId> {
    match finding {
        TriggerFinding::Problem { trigger, .. }
        | TriggerFinding::Recovery { trigger, .. }
        | TriggerFinding::State { trigger, .. } => Some(*trigger),
        TriggerFinding::Mark(_) => None,
    }
}

fn change(event: EventId, trigger: TriggerId, state: TriggerState) -> Effect {
    Effect::Problem(ProblemChange { event, trigger, state })
}

fn load_facts(edit: &mut Statements<'_>, findings: &[TriggerFinding]) -> DbResult<FactsOf> {
    let ids: BTreeSet<u64> = findings.iter().filter_map(trigger_of).map(|id| id.0).collect();
    let ids: Vec<u64> = ids.into_iter().collect();
    let rows = query_by_ids(
        edit,
        "SELECT triggerid, priority, type, correlation_mode, correlation_tag FROM triggers \
         WHERE triggerid IN ({ids})",
        &[],
        &ids,
    )?;
    Ok(rows.iter().map(|row| (TriggerId(row.id("triggerid")), Facts::from_row(row))).collect())
}

impl Facts {
    fn from_row(row: &Row) -> Self {
        let by_tag = CorrelationMode::ByTag.is(row.int("correlation_mode"));
        Self {
            severity: row.int("priority"),
            multiple: ProblemMode::Multiple.is(row.int("type")),
            correlation_tag: if by_tag {
                row.text("correlation_tag").to_owned()
            } else {
                String::new()
            },
        }
    }
}

/// The open problems that a recovery with these tags closes.
fn matching(
    edit: &mut Statements<'_>,
    open: &[EventId],
    correlation_tag: &str,
    tags: &[(String, String)],
) -> DbResult<Vec<EventId>> {
    if correlation_tag.is_empty() || open.is_empty() {
        return Ok(open.to_vec());
    }
    let ids: Vec<u64> = open.iter().map(|event| event.0).collect();
    let rows = query_by_ids(
        edit,
        "SELECT eventid, value FROM event_tags WHERE tag = ? AND eventid IN ({ids})",
        &[correlation_tag.into()],
        &ids,
    )?;
    let agrees = |row: &Row| {
        tags.iter().any(|(tag, value)| tag == correlation_tag && value == row.text("value"))
    };
    let found: BTreeSet<EventId> =
        rows.iter().filter(|row| agrees(row)).map(|row| EventId(row.id("eventid"))).collect();
    Ok(open.iter().copied().filter(|event| found.contains(event)).collect())
}

fn open_problem(
    edit: &mut Statements<'_>,
    event: &TriggerEvent<'_>,
    tags: &[(String, String)],
) -> DbResult<EventId> {
    let id = insert_event(edit, event, tags)?;
    let params = [
        Value::from(id.0),
        Value::from(event.trigger.0),
        Value::from(event.at.clock),
        Value::from(event.at.ns),
        Value::from(event.name),
        Value::from(event.severity),
        Value::from(event.opdata),
    ];
    edit.execute(
        "INSERT INTO problems (eventid, objectid, clock, ns, name, severity, opdata) \
         VALUES (?, ?, ?, ?, ?, ?, ?)",
        &params,
    )?;
    Ok(id)
}

fn insert_event(
    edit: &mut Statements<'_>,
    event: &TriggerEvent<'_>,
    tags: &[(String, String)],
) -> DbResult<EventId> {
    let id = EventId(edit.next_id(&table::EVENTS, 1)?);
    let params = [
        Value::from(id.0),
        Value::from(event.trigger.0),
        Value::from(event.at.clock),
        Value::from(event.at.ns),
        Value::from(event.state == TriggerState::Problem),
        Value::from(event.name),
        Value::from(event.severity),
        Value::from(event.opdata),
        Value::from(event.user),
    ];
    edit.execute(
        "INSERT INTO events \
         (eventid, objectid, clock, ns, value, name, severity, opdata, userid) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &params,
    )?;
    if !tags.is_empty() {
        let first =
            edit.next_id(&table::EVENT_TAGS, u64::try_from(tags.len()).unwrap_or(u64::MAX))?;
        for (tag_id, (tag, value)) in (first..).zip(tags) {
            let params = [tag_id.into(), id.0.into(), tag.as_str().into(), value.as_str().into()];
            edit.execute(
                "INSERT INTO event_tags (eventtagid, eventid, tag, value) VALUES (?, ?, ?, ?)",
                &params,
            )?;
        }
    }
    Ok(id)
}

/// The row of a trigger in this state; a new row where there is none.
pub(crate) fn set_value(
    edit: &mut Statements<'_>,
    trigger: TriggerId,
    state: TriggerState,
    at: Timestamp,
) -> DbResult<()> {
    let value = Value::from(state == TriggerState::Problem);
    edit.execute(
        "INSERT INTO trigger_states (triggerid, value, lastchange) VALUES (?, ?, ?) \
         ON CONFLICT (triggerid) DO UPDATE SET value = excluded.value, lastchange = excluded.lastchange",
        &[trigger.0.into(), value, at.clock.into()],
    )
    .map(drop)
}

/// Longest error text that is kept, in characters (the API's limit of the field).
const ERROR_CHARS_MAX: usize = 2_048;

fn set_error(edit: &mut Statements<'_>, trigger: TriggerId, error: &str) -> DbResult<()> {
    let text: String = error.chars().take(ERROR_CHARS_MAX).collect();
    edit.execute(
        "INSERT INTO trigger_states (triggerid, state, error) VALUES (?, ?, ?) \
         ON CONFLICT (triggerid) DO UPDATE SET state = excluded.state, error = excluded.error",
        &[trigger.0.into(), (!error.is_empty()).into(), text.into()],
    )
    .map(drop)
}
