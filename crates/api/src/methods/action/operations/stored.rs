//! Operations in the database.

use config::Edit;
use config::db::{DbResult, Value};
use config::objects::Tag;
use config::schema::Table;
use config::table;
use objects::{ConditionKind, ConditionOperator, OperationMode};

use super::hosts::OnHost;
use super::messages::{Command, Message};
use super::{Operation, Work};
use crate::error::ApiResult;
use crate::object::Columns;

/// Tables with what belongs to an operation.
static OWNED: [&Table; 11] = [
    &table::OPERATION_GROUPS,
    &table::OPERATION_TEMPLATES,
    &table::OPERATION_TAGS,
    &table::OPERATION_CONDITIONS,
    &table::OPERATION_MESSAGES,
    &table::OPERATION_MESSAGE_GROUPS,
    &table::OPERATION_MESSAGE_USERS,
    &table::OPERATION_MESSAGE_SCHEDULES,
    &table::OPERATION_COMMANDS,
    &table::OPERATION_COMMAND_HOSTS,
    &table::OPERATION_COMMAND_GROUPS,
];

/// Writes a list of operations of an action; those of a kind that it had keep their ids.
pub(in super::super) fn write(
    edit: &mut Edit<'_>,
    action: u64,
    mode: OperationMode,
    operations: &[Operation],
) -> ApiResult<()> {
    let sql = "SELECT operationid, operationtype FROM operations \
               WHERE actionid = ? AND recovery = ? ORDER BY operationid";
    let rows = edit.query(sql, &[action.into(), mode.number().into()])?;
    let mut known: Vec<(i64, u64)> =
        rows.iter().map(|row| (row.int("operationtype"), row.id("operationid"))).collect();
    for operation in operations {
        let same = known.iter().position(|(kind, _)| operation.kind.is(*kind));
        let id = same.map(|at| known.remove(at).1);
        operation.write(edit, action, mode, id)?;
    }
    let gone: Vec<u64> = known.into_iter().map(|(_, id)| id).collect();
    edit.delete(&table::OPERATIONS, "operationid", &gone)?;
    Ok(())
}

impl Operation {
    fn write(
        &self,
        edit: &mut Edit<'_>,
        action: u64,
        mode: OperationMode,
        known: Option<u64>,
    ) -> ApiResult<()> {
        let steps = &self.steps;
        let mut row: Columns = vec![
            ("esc_period", steps.period.as_str().into()),
            ("esc_step_from", steps.from.into()),
            ("esc_step_to", steps.to.into()),
            ("evaltype", steps.evaltype.number().into()),
        ];
        if let Work::OnHost(work) = &self.work {
            row.push(("inventory_mode", work.inventory_mode.number().into()));
        }
        let id = match known {
            Some(id) => {
                edit.update(&table::OPERATIONS, id, &row)?;
                for table in OWNED {
                    edit.delete(table, "operationid", &[id])?;
                }
                id
            }
            None => {
                row.push(("actionid", action.into()));
                row.push(("operationtype", self.kind.number().into()));
                row.push(("recovery", mode.number().into()));
                edit.insert_new(&table::OPERATIONS, &row)?
            }
        };
        for (position, value) in (0_u64..).zip(&steps.acknowledged) {
            let row = [
                ("operationid", Value::from(id)),
                ("position", position.into()),
                ("conditiontype", ConditionKind::Acknowledged.number().into()),
                ("operator", ConditionOperator::Equals.number().into()),
                ("value", value.as_str().into()),
            ];
            edit.insert(&table::OPERATION_CONDITIONS, &row)?;
        }
        match &self.work {
            Work::Message(message) => message.write(edit, id)?,
            Work::Command(command) => command.write(edit, id)?,
            Work::OnHost(work) => work.write(edit, id)?,
        }
        Ok(())
    }
}

/// Writes links of an operation to other objects.
fn link(
    edit: &mut Edit<'_>,
    id: u64,
    table: &'static Table,
    key: &'static str,
    ids: &[u64],
) -> DbResult<()> {
    let rows: Vec<Vec<Value>> = ids.iter().map(|other| vec![id.into(), (*other).into()]).collect();
    edit.insert_many(table, &["operationid", key], &rows)
}

impl Message {
    fn write(&self, edit: &mut Edit<'_>, id: u64) -> DbResult<()> {
        let row = [
            ("operationid", Value::from(id)),
            ("default_msg", u8::from(self.is_default).into()),
            ("subject", self.subject.as_str().into()),
            ("message", self.message.as_str().into()),
            ("mediatypeid", self.mediatypeid.into()),
        ];
        edit.insert(&table::OPERATION_MESSAGES, &row)?;
        link(edit, id, &table::OPERATION_MESSAGE_GROUPS, "usrgrpid", &self.groups)?;
        link(edit, id, &table::OPERATION_MESSAGE_USERS, "userid", &self.users)?;
        for one in &self.on_call {
            let row = [
                ("operationid", Value::from(id)),
                ("scheduleid", one.scheduleid.into()),
                ("who", one.who.into()),
            ];
            edit.insert(&table::OPERATION_MESSAGE_SCHEDULES, &row)?;
        }
        Ok(())
    }
}

impl Command {
    fn write(&self, edit: &mut Edit<'_>, id: u64) -> DbResult<()> {
        let row = [("operationid", Value::from(id)), ("scriptid", self.scriptid.into())];
        edit.insert(&table::OPERATION_COMMANDS, &row)?;
        for host in &self.hosts {
            let row = [("operationid", Value::from(id)), ("hostid", (*host).into())];
            edit.insert_new(&table::OPERATION_COMMAND_HOSTS, &row)?;
        }
        for group in &self.groups {
            let row = [("operationid", Value::from(id)), ("groupid", (*group).into())];
            edit.insert_new(&table::OPERATION_COMMAND_GROUPS, &row)?;
        }
        Ok(())
    }
}

impl OnHost {
    fn write(&self, edit: &mut Edit<'_>, id: u64) -> DbResult<()> {
        link(edit, id, &table::OPERATION_GROUPS, "groupid", &self.groups)?;
        link(edit, id, &table::OPERATION_TEMPLATES, "templateid", &self.templates)?;
        for (position, Tag { tag, value }) in (0_u64..).zip(&self.tags) {
            let row = [
                ("operationid", Value::from(id)),
                ("sortorder", position.into()),
                ("tag", tag.as_str().into()),
                ("value", value.as_str().into()),
            ];
            edit.insert(&table::OPERATION_TAGS, &row)?;
        }
        Ok(())
    }
}
