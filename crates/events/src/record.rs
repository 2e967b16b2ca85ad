//! Events that open no problem.

use config::Statements;
use config::db::{DbResult, Value};
use config::table;
use model::NewEvent;

/// Writes the events in their order.
pub fn record(state: &mut Statements<'_>, events: &[NewEvent]) -> DbResult<()> {
    let first = state.next_id(&table::EVENTS, events.len() as u64)?;
    let row = |(id, event): (u64, &NewEvent)| -> Vec<Value> {
        vec![
            id.into(),
            event.origin.source().number().into(),
            event.origin.object().number().into(),
            event.origin.object_id().into(),
            event.at.clock.into(),
            event.at.ns.into(),
            event.value.into(),
        ]
    };
    let rows: Vec<Vec<Value>> = (first..).zip(events).map(row).collect();
    let columns = ["eventid", "source", "object", "objectid", "clock", "ns", "value"];
    state.insert_many(&table::EVENTS, &columns, &rows)
}
