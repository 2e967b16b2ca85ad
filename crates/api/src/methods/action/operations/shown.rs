//! Operations as `action.get` shows them.

use std::collections::BTreeMap;

use config::db::{Row, query_by_ids};
use objects::{OperationKind, OperationMode};
use serde_json::{Map, json};

use crate::call::Json;
use crate::error::ApiResult;
use crate::get::{Found, Output};

/// Rows of a table by operation.
struct Owned(BTreeMap<u64, Vec<Row>>);

impl Owned {
    fn read(found: &Found<'_, '_>, table: &str, order: &str, ids: &[u64]) -> ApiResult<Self> {
        let sql = format!(
            "SELECT * FROM {table} WHERE operationid IN ({{ids}}) ORDER BY operationid, {order}"
        );
        let mut of: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        for row in found.call.read(|c| Ok(query_by_ids(c, &sql, &[], ids)?))? {
            of.entry(row.id("operationid")).or_default().push(row);
        }
        Ok(Self(of))
    }

    fn of(&self, operation: u64) -> &[Row] {
        self.0.get(&operation).map_or(&[], Vec::as_slice)
    }

    /// The rows with these ids of theirs.
    fn ids(&self, operation: u64, keys: &[&str]) -> Json {
        let shown = |row: &Row| -> Json {
            keys.iter()
                .map(|key| ((*key).to_owned(), Json::from(row.id(key).to_string())))
                .collect()
        };
        self.of(operation).iter().map(shown).collect()
    }
}

/// All that belongs to operations.
struct Parts {
    groups: Owned,
    templates: Owned,
    tags: Owned,
    conditions: Owned,
    messages: Owned,
    message_groups: Owned,
    message_users: Owned,
    message_schedules: Owned,
    commands: Owned,
    command_hosts: Owned,
    command_groups: Owned,
}

/// Adds the operations of a mode to the found actions, with the members that are wanted.
pub(in super::super) fn show(
    found: &mut Found<'_, '_>,
    member: &'static str,
    mode: OperationMode,
    wanted: &Output,
) -> ApiResult<()> {
    let sql = "SELECT * FROM operations WHERE actionid IN ({ids}) AND recovery = ? \
               ORDER BY actionid, operationid";
    let sql = sql.replace('?', mode.text());
    let ids = found.ids();
    let rows = found.call.read(|c| Ok(query_by_ids(c, &sql, &[], &ids)?))?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("operationid")).collect();
    let read = |table: &str, order: &str| Owned::read(found, table, order, &ids);
    let parts = Parts {
        groups: read("operation_groups", "groupid")?,
        templates: read("operation_templates", "templateid")?,
        tags: read("operation_tags", "sortorder")?,
        conditions: read("operation_conditions", "position")?,
        messages: read("operation_messages", "operationid")?,
        message_groups: read("operation_message_groups", "usrgrpid")?,
        message_users: read("operation_message_users", "userid")?,
        message_schedules: read("operation_message_schedules", "scheduleid, who")?,
        commands: read("operation_commands", "operationid")?,
        command_hosts: read("operation_command_hosts", "opcommand_hstid")?,
        command_groups: read("operation_command_groups", "opcommand_grpid")?,
    };
    let mut lists: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in &rows {
        let all = head(row, mode, &parts).into_iter().chain(parts.work(row));
        let out: Map<String, Json> = all
            .filter(|(name, _)| wanted.has(name))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        lists.entry(row.id("actionid")).or_default().push(Json::Object(out));
    }
    for row in &mut found.rows {
        row.out.insert(member, lists.remove(&row.id).unwrap_or_default().into());
    }
    Ok(())
}

/// What operations of all kinds have in a mode.
fn head(row: &Row, mode: OperationMode, parts: &Parts) -> Vec<(&'static str, Json)> {
    let id = row.id("operationid");
    let number = |name: &str| Json::from(row.int(name).to_string());
    let mut head = vec![
        ("operationid", id.to_string().into()),
        ("operationtype", number("operationtype")),
        ("evaltype", number("evaltype")),
    ];
    if mode != OperationMode::Update {
        head.push(("actionid", row.id("actionid").to_string().into()));
        head.push(("opconditions", conditions(id, &parts.conditions)));
    }
    if mode == OperationMode::Problem {
        head.push(("esc_period", row.text("esc_period").into()));
        head.push(("esc_step_from", number("esc_step_from")));
        head.push(("esc_step_to", number("esc_step_to")));
    }
    head
}

/// An operation has at most one condition for each value: their ids follow from the operation's.
fn conditions(operation: u64, rows: &Owned) -> Json {
    let shown = |row: &Row| {
        json!({
            "opconditionid": (operation * 2 + row.id("position")).to_string(),
            "operationid": operation.to_string(),
            "conditiontype": row.int("conditiontype").to_string(),
            "operator": row.int("operator").to_string(),
            "value": row.text("value"),
        })
    };
    rows.of(operation).iter().map(shown).collect()
}

fn on_call(row: &Row) -> Json {
    json!({
        "scheduleid": row.id("scheduleid").to_string(),
        "who": row.int("who").to_string(),
    })
}

impl Parts {
    /// What operations of its kind have.
    fn work(&self, row: &Row) -> Vec<(&'static str, Json)> {
        let id = row.id("operationid");
        let Some(kind) = OperationKind::from_number(row.int("operationtype")) else {
            return Vec::new();
        };
        let member = kind.member();
        match kind {
            OperationKind::Message
            | OperationKind::NotifyRecovered
            | OperationKind::NotifyUpdated => self.message(id, kind),
            OperationKind::Script => {
                let script = self.commands.of(id).first().map_or(0, |row| row.id("scriptid"));
                let (host, group) = (["opcommand_hstid", "hostid"], ["opcommand_grpid", "groupid"]);
                vec![
                    ("opcommand", json!({ "scriptid": script.to_string() })),
                    ("opcommand_hst", self.command_hosts.ids(id, &host)),
                    ("opcommand_grp", self.command_groups.ids(id, &group)),
                ]
            }
            _ if member == "opgroup" => vec![(member, self.groups.ids(id, &["groupid"]))],
            _ if member == "optemplate" => vec![(member, self.templates.ids(id, &["templateid"]))],
            _ if member == "optag" => {
                let tag = |row: &Row| json!({ "tag": row.text("tag"), "value": row.text("value") });
                vec![(member, self.tags.of(id).iter().map(tag).collect())]
            }
            OperationKind::Inventory => {
                let mode = row.int("inventory_mode").to_string();
                vec![(member, json!({ "inventory_mode": mode }))]
            }
            _ => Vec::new(),
        }
    }

    fn message(&self, id: u64, kind: OperationKind) -> Vec<(&'static str, Json)> {
        let shown = |row: &Row| {
            json!({
                "default_msg": row.int("default_msg").to_string(),
                "subject": row.text("subject"),
                "message": row.text("message"),
                "mediatypeid": row.id("mediatypeid").to_string(),
            })
        };
        let message = self.messages.of(id).first().map_or_else(|| json!([]), shown);
        let mut out = vec![("opmessage", message)];
        if kind == OperationKind::Message {
            out.push(("opmessage_grp", self.message_groups.ids(id, &["usrgrpid"])));
            out.push(("opmessage_usr", self.message_users.ids(id, &["userid"])));
            let schedules = self.message_schedules.of(id);
            // Zabbix does not have it.
            if !schedules.is_empty() {
                out.push(("opmessage_oncall", schedules.iter().map(on_call).collect()));
            }
        }
        out
    }
}
