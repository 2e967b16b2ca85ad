//! What the shards have to know of triggers before the first value arrives.

use std::collections::BTreeMap;

use config::Config;
use config::db::DbResult;
use const_format::formatcp;
use model::{InitialTrigger, TriggerId, TriggerState};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER, STATE_NOT_SUPPORTED};

/// Triggers with open problems or an evaluation error, in order of their ids.
pub fn initial_triggers(config: &Config) -> DbResult<Vec<InitialTrigger>> {
    let (problems, errors) = config.read(|connection| {
        let problems = connection.query(
            formatcp!(
                "SELECT DISTINCT objectid FROM problems \
                 WHERE r_eventid = 0 AND source = {SOURCE_TRIGGER} AND object = {OBJECT_TRIGGER}"
            ),
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
