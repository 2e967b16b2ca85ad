//! Global correlation: an event of a trigger closes open problems, or is closed itself, if a rule says so. All of it is
//! part of the transaction that writes the event.

use std::collections::BTreeSet;

use config::db::DbResult;
use config::{Snapshot, Statements};
use model::{EventId, TriggerId, TriggerState};

use crate::effect::Effect;
use crate::open::Open;
use crate::recovery::{self, Recovery};
use crate::rows::Why;
use crate::rules::index::Index;
use crate::rules::known::Correlation;
use crate::rules::rule::{NewEvent, Rule, Verdict};

/// What the rules want to close because of a new event.
#[derive(Debug, Default)]
struct Plan {
    /// The rule that closes the new problem.
    new: Option<u64>,
    /// Open problems with the first rule that closes each.
    old: Vec<Closing>,
}

/// An open problem that a rule closes.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Closing {
    event: EventId,
    trigger: TriggerId,
    rule: u64,
}

/// Does what the rules want because of a new event.
pub(crate) fn apply(
    edit: &mut Statements<'_>,
    open: &mut Open,
    snapshot: &Snapshot,
    new: &NewEvent<'_>,
    effects: &mut Vec<Effect>,
) -> DbResult<()> {
    let Correlation { rules, index: Some(index), .. } = &mut open.correlation else {
        return Ok(());
    };
    let plan = plan(rules, index, snapshot, new);
    // Only now: a problem is not compared with itself.
    if new.is_problem {
        index.add(new.id, new.trigger, new.tags);
    }
    let why = |rule| Why { rule, new: new.id, ..Why::default() };
    if let Some(rule) = plan.new {
        let (trigger, at, name) = (new.trigger, new.at, new.name);
        let whole = Recovery { trigger, at, name, tags: &[], why: why(rule) };
        close(edit, open, &whole, new.id, effects)?;
    }
    for Closing { event, trigger, rule } in plan.old {
        let sql = "SELECT name FROM problems WHERE eventid = ?";
        let rows = edit.query(sql, &[event.0.into()])?;
        let name = rows.first().map_or("", |row| row.text("name"));
        let whole = Recovery { trigger, at: new.at, name, tags: &[], why: why(rule) };
        close(edit, open, &whole, event, effects)?;
    }
    Ok(())
}

/// Rules in the order of their ids; those that need no open problem decide first about the new one.
fn plan(rules: &[Rule], index: &Index, snapshot: &Snapshot, new: &NewEvent<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut taken = BTreeSet::new();
    let mut by_old = None;
    for rule in rules {
        let verdict = rule.look(snapshot, new);
        let may_close_new = rule.closes_new && new.is_problem && plan.new.is_none();
        if may_close_new && matches!(verdict, Verdict::Always) {
            plan.new = Some(rule.id);
        }
        let closes_new = may_close_new && plan.new.is_none() && by_old.is_none();
        if !rule.closes_old && !closes_new {
            continue;
        }
        for (event, trigger) in index.matching(&verdict) {
            if closes_new {
                by_old = by_old.or(Some(rule.id));
            }
            if !rule.closes_old {
                break;
            }
            if taken.insert(event) {
                plan.old.push(Closing { event, trigger, rule: rule.id });
            }
        }
    }
    plan.new = plan.new.or(by_old);
    plan.old.sort_unstable();
    plan
}

fn close(
    edit: &mut Statements<'_>,
    open: &mut Open,
    recovery: &Recovery<'_>,
    event: EventId,
    effects: &mut Vec<Effect>,
) -> DbResult<()> {
    recovery::close(edit, open, recovery, &[event], effects)?;
    if open.of(recovery.trigger).is_empty() {
        effects.push(Effect::Trigger(recovery.trigger, TriggerState::Ok));
    }
    Ok(())
}
