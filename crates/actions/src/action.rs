//! Actions as they are stored: which apply to an event, and what they then do.

use config::Edit;
use config::db::{DbResult, Row, query_by_ids};
use config::objects::Tag;
use const_format::formatcp;
use model::NewEvent;
use objects::sql::{KIND_TEMPLATE, STATUS_ENABLED};
use objects::{EventSource, InventoryMode, OperationKind, Status};

use crate::conditions::{Condition, Filter, read_discovered};
use crate::operations::{self, Operation};

/// An action that is switched on.
#[derive(Debug)]
struct Action {
    name: String,
    source: EventSource,
    filter: Filter,
    operations: Vec<Operation>,
}

/// The actions on what was found, read with the first event of a transaction.
#[derive(Debug, Default)]
pub(crate) struct Actions(Option<Vec<Action>>);

impl Actions {
    /// Does what the actions want that apply to the event.
    pub(crate) fn run(&mut self, edit: &mut Edit<'_>, event: &NewEvent) -> DbResult<()> {
        if self.0.is_none() {
            self.0 = Some(read(edit)?);
        }
        let actions = self.0.as_deref().unwrap_or_default();
        let mut subject = None;
        for action in actions.iter().filter(|action| action.source == event.origin.source()) {
            let subject = match &subject {
                Some(subject) => subject,
                None => subject.insert(read_discovered(edit, event)?),
            };
            if action.filter.fits(&**subject) {
                operations::run(edit, event, &action.name, &action.operations)?;
            }
        }
        Ok(())
    }
}

fn read(edit: &mut Edit<'_>) -> DbResult<Vec<Action>> {
    let rows = edit.query(
        formatcp!(
            "SELECT actionid, name, eventsource, evaltype, formula FROM actions \
         WHERE status = {STATUS_ENABLED} AND eventsource IN (?, ?) ORDER BY actionid"
        ),
        &[EventSource::Discovery.number().into(), EventSource::Autoregistration.number().into()],
    )?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("actionid")).collect();
    let conditions = query_by_ids(
        edit,
        "SELECT * FROM action_conditions WHERE actionid IN ({ids}) ORDER BY actionid, sortorder",
        &[],
        &ids,
    )?;
    let operations = read_operations(edit, &ids)?;
    let action = |row: &Row| {
        let of = |other: &&Row| other.id("actionid") == row.id("actionid");
        let conditions = conditions.iter().filter(of).map(Condition::from_row);
        let own = operations.iter().filter(|(action, _)| *action == row.id("actionid"));
        Some(Action {
            name: row.text("name").to_owned(),
            source: EventSource::from_number(row.int("eventsource"))?,
            filter: Filter::new(row, conditions.collect::<Option<_>>()?)?,
            operations: own.map(|(_, operation)| operation.clone()).collect(),
        })
    };
    // One that a later version wrote does nothing.
    Ok(rows.iter().filter_map(action).collect())
}

fn read_operations(edit: &mut Edit<'_>, actions: &[u64]) -> DbResult<Vec<(u64, Operation)>> {
    let mut select = |sql: &str, ids: &[u64]| query_by_ids(edit, sql, &[], ids);
    let rows = select(
        "SELECT * FROM operations WHERE actionid IN ({ids}) ORDER BY actionid, operationid",
        actions,
    )?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("operationid")).collect();
    let groups = select(
        "SELECT operationid, groupid FROM operation_groups WHERE operationid IN ({ids}) \
         ORDER BY groupid",
        &ids,
    )?;
    let templates = select(
        formatcp!(
            "SELECT o.operationid, o.templateid FROM operation_templates o \
         JOIN hosts h ON h.hostid = o.templateid AND h.kind = {KIND_TEMPLATE} WHERE o.operationid IN ({{ids}}) \
         ORDER BY o.templateid"
        ),
        &ids,
    )?;
    let tags = select(
        "SELECT operationid, tag, value FROM operation_tags WHERE operationid IN ({ids}) \
         ORDER BY sortorder",
        &ids,
    )?;
    let mut found = Vec::new();
    for row in &rows {
        let of = |other: &&Row| other.id("operationid") == row.id("operationid");
        let ids_of = |rows: &[Row], name: &str| -> Vec<u64> {
            rows.iter().filter(of).map(|row| row.id(name)).collect()
        };
        let (groups, templates) = (ids_of(&groups, "groupid"), ids_of(&templates, "templateid"));
        let tag = |row: &Row| Tag {
            tag: row.text("tag").to_owned(),
            value: row.text("value").to_owned(),
        };
        let tags: Vec<Tag> = tags.iter().filter(of).map(tag).collect();
        let Some(kind) = OperationKind::from_number(row.int("operationtype")) else { continue };
        let operation = match kind {
            OperationKind::AddHost => Operation::AddHost,
            OperationKind::RemoveHost => Operation::RemoveHost,
            OperationKind::AddGroups => Operation::AddGroups(groups),
            OperationKind::RemoveGroups => Operation::RemoveGroups(groups),
            OperationKind::Link => Operation::Link(templates),
            OperationKind::Unlink => Operation::Unlink(templates),
            OperationKind::Enable => Operation::Status(Status::Enabled),
            OperationKind::Disable => Operation::Status(Status::Disabled),
            OperationKind::Inventory => match row.int("inventory_mode") {
                mode if InventoryMode::Automatic.is(mode) => {
                    Operation::Inventory(InventoryMode::Automatic)
                }
                _ => Operation::Inventory(InventoryMode::Manual),
            },
            OperationKind::AddTags => Operation::AddTags(tags),
            OperationKind::RemoveTags => Operation::RemoveTags(tags),
            // The API takes no other.
            OperationKind::Message
            | OperationKind::Script
            | OperationKind::NotifyRecovered
            | OperationKind::NotifyUpdated => continue,
        };
        found.push((row.id("actionid"), operation));
    }
    Ok(found)
}
