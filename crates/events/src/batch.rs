//! Findings become events and problems: one transaction.

use std::collections::BTreeSet;

use config::db::{DbResult, Row, query_by_ids};
use config::{Snapshot, Statements};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{EventId, EventOrigin, TriggerFinding, TriggerId, TriggerState, UnixSeconds};
use objects::{CorrelationMode, ProblemMode};

use crate::correlation;
use crate::effect::Effect;
use crate::internal::{Internal, Transition};
use crate::marks;
use crate::open::Open;
use crate::recovery::{Recovery, change, close, set_value};
use crate::rows::{self, ERROR_CHARS_MAX, NewRow, Why};
use crate::rules::rule::NewEvent;

/// What of a trigger's row matters here.
struct Facts {
    severity: i64,
    multiple: bool,
    /// Recovery closes only problems whose values of this tag agree; empty = all.
    correlation_tag: String,
}

type FactsOf = HashMap<TriggerId, Facts, FixedState>;

/// Writes `findings` in their order, and the mark up to which they are complete. Findings of deleted
/// triggers are skipped.
pub(crate) fn write(
    edit: &mut Statements<'_>,
    open: &mut Open,
    snapshot: &Snapshot,
    findings: &[TriggerFinding],
    mark: Option<UnixSeconds>,
) -> DbResult<Vec<Effect>> {
    if let Some(mark) = mark {
        marks::write(edit, mark)?;
    }
    open.prepare_correlation(edit, snapshot)?;
    let facts = load_facts(edit, findings)?;
    let internal = Internal::read(edit, snapshot, findings)?;
    let effects = Vec::with_capacity(findings.len());
    let mut batch = Batch { edit, open, snapshot, internal, effects };
    for finding in findings {
        let facts = trigger_of(finding).and_then(|id| facts.get(&id));
        batch.write(finding, facts)?;
    }
    Ok(batch.effects)
}

/// A transaction in the making.
struct Batch<'b, 'e> {
    edit: &'b mut Statements<'e>,
    open: &'b mut Open,
    snapshot: &'b Snapshot,
    internal: Internal,
    effects: Vec<Effect>,
}

impl Batch<'_, '_> {
    /// `facts`: of the finding's trigger, if it has one that exists.
    fn write(&mut self, finding: &TriggerFinding, facts: Option<&Facts>) -> DbResult<()> {
        match (finding, facts) {
            (TriggerFinding::Problem { trigger, at, name, opdata, tags }, Some(facts)) => {
                // A shard that starts over may find again what is already written.
                if !facts.multiple && !self.open.of(*trigger).is_empty() {
                    return Ok(());
                }
                let event = NewRow {
                    origin: EventOrigin::Trigger(*trigger),
                    at: *at,
                    is_problem: true,
                    name,
                    severity: facts.severity,
                    opdata,
                    why: Why::default(),
                };
                self.problem(*trigger, &event, tags)
            }
            (TriggerFinding::Recovery { trigger, at, name, tags }, Some(facts)) => {
                let why = Why::default();
                let recovery = Recovery { trigger: *trigger, at: *at, name, tags, why };
                self.recovery(&recovery, &facts.correlation_tag)
            }
            (TriggerFinding::State { trigger, at, error, tags }, Some(_)) => {
                self.changed(&Transition::of_trigger(*trigger, *at, error, tags))?;
                set_error(self.edit, *trigger, error)
            }
            (TriggerFinding::ItemState { item, is_rule, at, error }, _)
                if self.snapshot.items.get(item).is_some() =>
            {
                self.changed(&Transition::of_item(self.snapshot, *item, *is_rule, *at, error))
            }
            _ => Ok(()),
        }
    }

    fn problem(
        &mut self,
        trigger: TriggerId,
        event: &NewRow<'_>,
        tags: &[(String, String)],
    ) -> DbResult<()> {
        let id = rows::insert_event(self.edit, event, tags)?;
        rows::insert_problem(self.edit, id, event)?;
        self.open.add(trigger, id);
        set_value(self.edit, trigger, TriggerState::Problem, event.at)?;
        self.effects.push(change(id, trigger, TriggerState::Problem));
        let (at, name) = (event.at, event.name);
        self.correlate(&NewEvent { id, trigger, at, is_problem: true, name, tags })
    }

    fn recovery(&mut self, recovery: &Recovery<'_>, correlation_tag: &str) -> DbResult<()> {
        let Recovery { trigger, at, name, tags, .. } = *recovery;
        let closed = matching(self.edit, self.open.of(trigger), correlation_tag, tags)?;
        let made = close(self.edit, self.open, recovery, &closed, &mut self.effects)?;
        if let Some(id) = made {
            self.correlate(&NewEvent { id, trigger, at, is_problem: false, name, tags })?;
        }
        if !self.open.of(trigger).is_empty() {
            self.effects.push(Effect::Trigger(trigger, TriggerState::Problem));
        }
        Ok(())
    }

    fn correlate(&mut self, new: &NewEvent<'_>) -> DbResult<()> {
        correlation::apply(self.edit, self.open, self.snapshot, new, &mut self.effects)
    }

    fn changed(&mut self, transition: &Transition<'_>) -> DbResult<()> {
        self.internal.write(self.edit, self.open, transition, &mut self.effects)
    }
}

/// The trigger that a finding is about, if it is about one.
pub(crate) fn trigger_of(finding: &TriggerFinding) -> Option<TriggerId> {
    match finding {
        TriggerFinding::Problem { trigger, .. }
        | TriggerFinding::Recovery { trigger, .. }
        | TriggerFinding::State { trigger, .. } => Some(*trigger),
        TriggerFinding::ItemState { .. } | TriggerFinding::Mark(_) => None,
    }
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

fn set_error(edit: &mut Statements<'_>, trigger: TriggerId, error: &str) -> DbResult<()> {
    let text: String = error.chars().take(ERROR_CHARS_MAX).collect();
    edit.execute(
        "INSERT INTO trigger_states (triggerid, state, error) VALUES (?, ?, ?) \
         ON CONFLICT (triggerid) DO UPDATE SET state = excluded.state, error = excluded.error",
        &[trigger.0.into(), (!error.is_empty()).into(), text.into()],
    )
    .map(drop)
}
