//! Recoveries: the events that end problems of triggers.

use config::Statements;
use config::db::{DbResult, Value};
use model::{EventId, EventOrigin, ProblemChange, Timestamp, TriggerId, TriggerState};

use crate::effect::Effect;
use crate::open::Open;
use crate::rows::{self, NewRow, Why, insert_event};

/// Who or what recovers what, and when.
pub(crate) struct Recovery<'a> {
    pub(crate) trigger: TriggerId,
    pub(crate) at: Timestamp,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a [(String, String)],
    pub(crate) why: Why,
}

/// Closes problems of one trigger by one recovery event, which is returned, and keeps the trigger's value.
pub(crate) fn close(
    edit: &mut Statements<'_>,
    open: &mut Open,
    recovery: &Recovery<'_>,
    closed: &[EventId],
    effects: &mut Vec<Effect>,
) -> DbResult<Option<EventId>> {
    let mut made = None;
    if !closed.is_empty() {
        let event = NewRow {
            origin: EventOrigin::Trigger(recovery.trigger),
            at: recovery.at,
            is_problem: false,
            name: recovery.name,
            severity: 0,
            opdata: "",
            why: recovery.why,
        };
        let r_event = insert_event(edit, &event, recovery.tags)?;
        made = Some(r_event);
        for problem in closed {
            rows::end_problem(edit, *problem, r_event, recovery.at, recovery.why)?;
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
    Ok(made)
}

pub(crate) fn change(event: EventId, trigger: TriggerId, state: TriggerState) -> Effect {
    Effect::Problem(ProblemChange { event, trigger, state })
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
