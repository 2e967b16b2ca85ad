//! Actions that send messages or run scripts, as they are configured.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use config::Snapshot;
use config::db::{DbResult, Reader, Row, query_by_ids};
use eval::num::parse_seconds;
use objects::{EvalType, EventSource, OperationKind, OperationMode, Status};
use serde_json::Value as Json;

use crate::bundles::Grouping;
use crate::calm::Calming;
use crate::conditions::{Condition, Filter};
use crate::escalation::{Acknowledgement, DEFAULT_DURATION_S, Plan, StepOperation};
use crate::globals::Globals;
use crate::recipients::{Audience, Message, OnCall, Rota, Text, Who};

/// An action as escalations need it; actions of later versions are left out.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) enabled: bool,
    pub(super) source: EventSource,
    pub(super) filter: Filter,
    pub(super) plan: Plan,
    /// How its messages are grouped.
    pub(super) grouping: Option<Arc<Grouping>>,
    /// Tags that more severe problems must have in common to hold a problem back; none: nothing is held back.
    pub(super) inhibition: Vec<String>,
    pub(super) calming: Option<Calming>,
    /// Messages of operations by the id of the operation.
    pub(super) messages: BTreeMap<u64, (OperationMode, Message)>,
    /// Scripts of operations by the id of the operation.
    pub(super) commands: BTreeMap<u64, (OperationMode, Command)>,
}

/// The script of an operation, and where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) script: u64,
    /// On the host of the event.
    pub(super) current: bool,
    pub(super) hosts: Vec<u64>,
    pub(super) groups: Vec<u64>,
}

impl Action {
    /// It does something that an escalation is for.
    pub(super) fn is_escalated(&self) -> bool {
        !self.messages.is_empty() || !self.commands.is_empty()
    }

    /// A calendar decides who gets some message.
    fn has_calendar(&self) -> bool {
        self.messages.values().any(|(_, message)| match &message.to {
            Audience::Named { on_call, .. } => on_call.iter().any(|one| one.rota.of.has_calendar),
            Audience::Involved => false,
        })
    }

    /// Commands for the end or for updates of problems.
    pub(super) fn commands_of(&self, mode: OperationMode) -> impl Iterator<Item = &Command> {
        let wanted = move |(own, _): &&(OperationMode, Command)| *own == mode;
        self.commands.values().filter(wanted).map(|(_, command)| command)
    }

    /// Messages for the end or for updates of problems, the last one first, as 7.0 sends them.
    pub(super) fn of_mode(&self, mode: OperationMode) -> impl Iterator<Item = &Message> {
        let wanted = move |(own, _): &&(OperationMode, Message)| *own == mode;
        self.messages.values().rev().filter(wanted).map(|(_, message)| message)
    }
}

/// All actions by id, of one state of the configuration.
#[derive(Debug, Default)]
pub(super) struct Configured {
    revision: Option<u64>,
    /// When they are read again although the configuration is the same; `None` = never.
    expires: Option<i64>,
    actions: Arc<BTreeMap<u64, Action>>,
}

/// How long calendars of schedules count: what they say of times far ahead, and how they name users, changes without a
/// change of actions or schedules.
const CALENDARS_S: i64 = 600;

impl Configured {
    /// The actions of this state; read when it has changed.
    pub(super) fn of(
        &mut self,
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        now: i64,
    ) -> DbResult<Arc<BTreeMap<u64, Action>>> {
        let is_old = self.expires.is_some_and(|expires| expires <= now);
        if self.revision != Some(snapshot.revision) || is_old {
            let actions = read(connection, &Globals::of(snapshot), now)?;
            let has_calendar = actions.values().any(Action::has_calendar);
            self.expires = has_calendar.then(|| now.saturating_add(CALENDARS_S));
            self.actions = Arc::new(actions);
            self.revision = Some(snapshot.revision);
        }
        Ok(Arc::clone(&self.actions))
    }
}

pub(super) fn read(
    connection: &mut dyn Reader,
    globals: &Globals<'_>,
    now: i64,
) -> DbResult<BTreeMap<u64, Action>> {
    let rows = connection.query("SELECT * FROM actions ORDER BY actionid", &[])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("actionid")).collect();
    let sql = "SELECT * FROM action_conditions WHERE actionid IN ({ids}) ORDER BY sortorder";
    let conditions = group(query_by_ids(connection, sql, &[], &ids)?, "actionid");
    let mut operations = read_operations(connection, &ids, now)?;
    let mut actions = BTreeMap::new();
    for row in &rows {
        let id = row.id("actionid");
        let of_action = conditions.get(&id).map_or(&[][..], Vec::as_slice);
        let of_action: Option<Vec<_>> = of_action.iter().map(Condition::from_row).collect();
        let filter = of_action.and_then(|of_action| Filter::new(row, of_action));
        // One that a later version wrote does nothing.
        let source = EventSource::from_number(row.int("eventsource"));
        let (Some(filter), Some(source)) = (filter, source) else { continue };
        let action = Action {
            id,
            name: row.text("name").to_owned(),
            enabled: Status::Enabled.is(row.int("status")),
            source,
            filter,
            plan: Plan {
                duration_s: step_duration(globals, row, row.text("name")),
                operations: Vec::new(),
                has_recovery: false,
                pauses_suppressed: row.int("pause_suppressed") == 1,
                pauses_symptoms: row.int("pause_symptoms") == 1,
                notifies_if_canceled: row.int("notify_if_canceled") == 1,
            },
            grouping: Grouping::parse(row.text("grouping")).map(Arc::new),
            inhibition: inhibition(row),
            calming: Calming::parse(row.text("calming")),
            messages: BTreeMap::new(),
            commands: BTreeMap::new(),
        };
        actions.insert(id, with_operations(action, operations.remove(&id), globals));
    }
    Ok(actions)
}

/// What a later version wrote counts as nothing.
fn inhibition(row: &Row) -> Vec<String> {
    let settings: Json = serde_json::from_str(row.text("inhibition")).unwrap_or_default();
    let tags = settings["tags"].as_array().map_or(&[][..], Vec::as_slice);
    tags.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}

fn with_operations(
    mut action: Action,
    operations: Option<Vec<Operation>>,
    globals: &Globals<'_>,
) -> Action {
    for operation in operations.unwrap_or_default() {
        let row = &operation.row;
        let Some(mode) = OperationMode::from_number(row.int("recovery")) else { continue };
        let id = row.id("operationid");
        if mode == OperationMode::Problem {
            let step = |name: &str| u32::try_from(row.int(name)).unwrap_or(0);
            action.plan.operations.push(StepOperation {
                id,
                first: step("esc_step_from").max(1),
                last: Some(step("esc_step_to")).filter(|last| *last > 0),
                duration_s: own_duration(globals, row, &action.name),
                conditions: operation.conditions,
            });
        }
        action.plan.has_recovery |= mode == OperationMode::Recovery;
        match operation.does {
            Does::Send(message) => drop(action.messages.insert(id, (mode, message))),
            Does::Run(command) => drop(action.commands.insert(id, (mode, command))),
        }
    }
    action
}

/// A duration that is not valid counts as one hour.
fn step_duration(globals: &Globals<'_>, row: &Row, action: &str) -> NonZeroU32 {
    let text = row.text("esc_period");
    globals.duration(text).unwrap_or_else(|| {
        tracing::warn!(
            "action \"{action}\": \"{text}\" is not a valid step duration; using 1 hour"
        );
        DEFAULT_DURATION_S
    })
}

/// `None` = the action's.
fn own_duration(globals: &Globals<'_>, row: &Row, action: &str) -> Option<NonZeroU32> {
    let is_none = parse_seconds(row.text("esc_period")) == Some(0);
    (!is_none).then(|| step_duration(globals, row, action))
}

/// An operation of an escalation.
struct Operation {
    row: Row,
    conditions: Acknowledgement,
    does: Does,
}

enum Does {
    Send(Message),
    Run(Command),
}

/// What operations consist of, by the id of the operation.
struct Members {
    messages: Rows,
    users: Rows,
    groups: Rows,
    schedules: Rows,
    rotas: BTreeMap<u64, Arc<Rota>>,
    conditions: Rows,
    scripts: Rows,
    script_hosts: Rows,
    script_groups: Rows,
}

impl Members {
    /// `None` = it does something else, which no escalation is for.
    fn of(&self, operation: &Row) -> Option<Does> {
        let id = operation.id("operationid");
        let list = |rows: &Rows, name: &str| -> Vec<u64> {
            rows.get(&id).into_iter().flatten().map(|row| row.id(name)).collect()
        };
        let to = match OperationKind::from_number(operation.int("operationtype"))? {
            OperationKind::Message => {
                let users = list(&self.users, "userid");
                let groups = list(&self.groups, "usrgrpid");
                Audience::Named { users, groups, on_call: self.on_call(operation) }
            }
            OperationKind::NotifyRecovered | OperationKind::NotifyUpdated => Audience::Involved,
            OperationKind::Script => {
                let mut hosts = list(&self.script_hosts, "hostid");
                let all = hosts.len();
                hosts.retain(|host| *host != 0);
                return Some(Does::Run(Command {
                    script: list(&self.scripts, "scriptid").first().copied()?,
                    current: hosts.len() < all,
                    hosts,
                    groups: list(&self.script_groups, "groupid"),
                }));
            }
            _ => return None,
        };
        let message = self.messages.get(&id).and_then(|rows| rows.first());
        let own = message.filter(|row| row.int("default_msg") == 0);
        let text = |row: &Row| Text {
            subject: row.text("subject").to_owned(),
            message: row.text("message").to_owned(),
        };
        let media_type = message.map_or(0, |row| row.id("mediatypeid"));
        let media_type = Some(media_type).filter(|id| *id != 0);
        Some(Does::Send(Message { to, media_type, text: own.map(text) }))
    }
}

impl Members {
    fn on_call(&self, operation: &Row) -> Vec<OnCall> {
        let rows = self.schedules.get(&operation.id("operationid")).into_iter().flatten();
        let one = |row: &Row| {
            let first = u32::try_from(operation.int("esc_step_from")).unwrap_or(1).max(1);
            let who = match row.int("who") {
                0 => Who::Now,
                1 => Who::Next { first },
                _ => Who::Everyone,
            };
            Some(OnCall { rota: Arc::clone(self.rotas.get(&row.id("scheduleid"))?), who })
        };
        rows.filter_map(one).collect()
    }
}

/// The schedules that operations name.
fn rotas(
    connection: &mut dyn Reader,
    named: &Rows,
    now: i64,
) -> DbResult<BTreeMap<u64, Arc<Rota>>> {
    let mut ids: Vec<u64> = named.values().flatten().map(|row| row.id("scheduleid")).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = config::oncall::read(connection, &ids, &config::oncall::around(now))?;
    Ok(found.into_iter().map(|(id, one)| (id, Arc::new(Rota::new(id, one)))).collect())
}

type Rows = BTreeMap<u64, Vec<Row>>;

fn group(rows: Vec<Row>, by: &str) -> Rows {
    let mut groups = Rows::new();
    for row in rows {
        groups.entry(row.id(by)).or_default().push(row);
    }
    groups
}

fn read_operations(
    connection: &mut dyn Reader,
    actions: &[u64],
    now: i64,
) -> DbResult<BTreeMap<u64, Vec<Operation>>> {
    let mut select = |sql: &str, ids: &[u64]| query_by_ids(connection, sql, &[], ids);
    let rows =
        select("SELECT * FROM operations WHERE actionid IN ({ids}) ORDER BY operationid", actions)?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("operationid")).collect();
    let mut of = |table: &str| -> DbResult<Rows> {
        let sql = format!("SELECT * FROM {table} WHERE operationid IN ({{ids}})");
        Ok(group(select(&sql, &ids)?, "operationid"))
    };
    let schedules = of("operation_message_schedules")?;
    let mut members = Members {
        messages: of("operation_messages")?,
        users: of("operation_message_users")?,
        groups: of("operation_message_groups")?,
        schedules,
        rotas: BTreeMap::new(),
        conditions: of("operation_conditions")?,
        scripts: of("operation_commands")?,
        script_hosts: of("operation_command_hosts")?,
        script_groups: of("operation_command_groups")?,
    };
    members.rotas = rotas(connection, &members.schedules, now)?;
    let mut found: BTreeMap<u64, Vec<Operation>> = BTreeMap::new();
    for row in rows {
        let Some(does) = members.of(&row) else { continue };
        let wanted = members.conditions.get(&row.id("operationid")).into_iter().flatten();
        let conditions = Acknowledgement {
            combined: EvalType::from_number(row.int("evaltype")).unwrap_or(EvalType::AndOr),
            wanted: wanted.map(|row| row.text("value") == "1").collect(),
        };
        found.entry(row.id("actionid")).or_default().push(Operation { row, conditions, does });
    }
    Ok(found)
}
