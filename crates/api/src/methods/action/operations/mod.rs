//! Operations of actions: as clients give them, as they are kept, as they are shown.

mod hosts;
mod messages;
mod refer;
mod shown;
mod stored;

use objects::{EventSource, OperationKind, OperationMode};
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

use hosts::OnHost;
use messages::{Command, Message, Steps};

pub(super) use shown::show;
pub(super) use stored::write;

/// The API's lists of operations with the modes that they are for.
pub(super) const LISTS: [(&str, OperationMode); 3] = [
    ("operations", OperationMode::Problem),
    ("recovery_operations", OperationMode::Recovery),
    ("update_operations", OperationMode::Update),
];

/// Which list of which action it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) source: EventSource,
    pub(super) mode: OperationMode,
    /// Name of the action.
    pub(super) action: &'a str,
}

/// Checks the duration of an action's steps.
pub(super) fn check_period(value: &Json, path: &str) -> ApiResult<()> {
    messages::period(value, path, false).map(drop)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operation {
    kind: OperationKind,
    steps: Steps,
    work: Work,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Work {
    /// Sends messages.
    Message(Message),
    /// Runs a script.
    Command(Command),
    /// Changes a host.
    OnHost(OnHost),
}

/// Reads a list of operations.
pub(super) fn parse(value: &Json, path: &str, place: Place<'_>) -> ApiResult<Vec<Operation>> {
    let mut operations: Vec<Operation> = Vec::new();
    for (path, members) in nested(value, path)? {
        let operation = Operation::parse(members, &path, place)?;
        let kind = operation.kind;
        let once = matches!(operation.work, Work::OnHost(_))
            && (kind.member().is_empty() || kind == OperationKind::Inventory);
        if once && operations.iter().any(|other| other.kind == kind) {
            return Err(ApiError::params(format!(
                "Operation \"{}\" already exists for action \"{}\".",
                kind.label(),
                place.action
            )));
        }
        operations.push(operation);
    }
    Ok(operations)
}

/// An action has to do something.
pub(super) fn none(name: &str) -> ApiError {
    ApiError::params(format!("No operations defined for action \"{name}\"."))
}

impl Operation {
    fn parse(members: &Map<String, Json>, path: &str, place: Place<'_>) -> ApiResult<Self> {
        let at = format!("{path}/operationtype");
        let kind = members.get("operationtype").ok_or_else(|| missing(path, "operationtype"))?;
        let kind = params::int(kind, &at)?;
        let kinds = OperationKind::of(place.source, place.mode);
        let Some(kind) = kinds.iter().copied().find(|known| known.is(kind)) else {
            let list: Vec<&str> = kinds.iter().map(|kind| kind.text()).collect();
            let one_of = if list.len() == 1 { "" } else { "one of " };
            return Err(ApiError::at(&at, format!("value must be {one_of}{}", list.join(", "))));
        };
        only(members, path, &known(kind, place))?;
        let steps = Steps::parse(members, path)?;
        let work = match kind {
            OperationKind::Message
            | OperationKind::NotifyRecovered
            | OperationKind::NotifyUpdated => Work::Message(Message::parse(members, path, kind)?),
            OperationKind::Script => Work::Command(Command::parse(members, path, place.source)?),
            _ => Work::OnHost(OnHost::parse(members, path, kind)?),
        };
        Ok(Self { kind, steps, work })
    }
}

/// Whether steps are done one after the other.
pub(super) const fn has_steps(source: EventSource) -> bool {
    matches!(source, EventSource::Trigger | EventSource::Internal | EventSource::Service)
}

/// Members that an operation can have.
fn known(kind: OperationKind, place: Place<'_>) -> Vec<&'static str> {
    let mut known = vec!["operationtype"];
    match kind {
        OperationKind::Message => {
            known.extend(["opmessage", "opmessage_grp", "opmessage_usr", "opmessage_oncall"]);
        }
        OperationKind::NotifyRecovered | OperationKind::NotifyUpdated => known.push("opmessage"),
        OperationKind::Script => {
            known.push("opcommand");
            if place.source != EventSource::Service {
                known.extend(["opcommand_grp", "opcommand_hst"]);
            }
        }
        _ => known.push(kind.member()),
    }
    if place.mode == OperationMode::Problem && has_steps(place.source) {
        known.extend(["esc_period", "esc_step_from", "esc_step_to"]);
        if place.source == EventSource::Trigger {
            known.extend(["evaltype", "opconditions"]);
        }
    }
    known
}
