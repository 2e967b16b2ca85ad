//! What the shards have to know of triggers before the first value arrives.

use std::collections::BTreeMap;

use config::Config;
use config::db::DbResult;
use const_format::formatcp;
use model::{TriggerId, TriggerState};
use objects::sql::STATE_NOT_SUPPORTED;

/// A trigger that is not in the state every trigger begins in (OK, without an error).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitialTrigger {
    /// The trigger.
    pub trigger: TriggerId,
    /// [`TriggerState::Problem`] if it has an open problem.
    pub state: TriggerState,
    /// Why its last evaluation failed; empty = it did not.
    pub error: String,
}

/// Triggers with open problems or an evaluation error, in order of their ids.
pub fn initial_triggers(config: &Config) -> DbResult<Vec<InitialTrigger>> {
    let (problems, errors) = config.read(|connection| {
        let problems = connection.query(
            "SELECT DISTINCT objectid FROM problems \
             WHERE r_eventid = 0 AND source = 0 AND object = 0",
            &[],
        )?;
        let errors = connection.query(
            formatcp!(
                "SELECT triggerid, error FROM trigger_states WHERE state = {STATE_NOT_SUPPORTED}"
            ),
            &[],
        )?;
        DbResult::Ok((problems, errors))
    })?;
    let mut found = BTreeMap::new();
    for row in &errors {
        let trigger = TriggerId(row.id("triggerid"));
        let error = row.text("error").to_owned();
        found.insert(trigger, InitialTrigger { trigger, state: TriggerState::Ok, error });
    }
    for row in &problems {
        let trigger = TriggerId(row.id("objectid"));
        let error = String::new();
        found
            .entry(trigger)
            .or_insert(InitialTrigger { trigger, state: TriggerState::Ok, error })
            .state = TriggerState::Problem;
    }
    Ok(found.into_values().collect())
}
