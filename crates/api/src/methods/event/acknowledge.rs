//! `event.acknowledge`: action bits, permissions, then the alert side does it.

use config::db::query_by_ids;
use model::{EventId, Severity, UserId};
use serde_json::json;

use crate::call::{Call, Json, User, UserType};
use crate::error::{ApiError, ApiResult};
use crate::live::Acknowledge;
use crate::params;
use crate::permission::{Need, on_triggers};

const CLOSE: u32 = 1;
const ACKNOWLEDGE: u32 = 2;
const MESSAGE: u32 = 4;
const SEVERITY: u32 = 8;
const UNACKNOWLEDGE: u32 = 16;
const SUPPRESS: u32 = 32;
const UNSUPPRESS: u32 = 64;
const TO_CAUSE: u32 = 128;
const TO_SYMPTOM: u32 = 256;
const ALL: u32 = 511;

/// Longest message in characters, as the reference takes.
const MESSAGE_MAX: usize = 2048;

const MEMBERS: &[&str] =
    &["eventids", "action", "message", "severity", "suppress_until", "cause_eventid"];

pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let request = read(input)?;
    let events = params::ids(input, "eventids")?
        .ok_or_else(|| ApiError::at("/", "the parameter \"eventids\" is missing"))?;
    if events.is_empty() {
        return Err(ApiError::at("/eventids", "cannot be empty"));
    }
    allowed_by_role(call.user(), request.action)?;
    let mut seen: Vec<u64> = events.clone();
    seen.sort_unstable();
    seen.dedup();
    if seen.len() != events.len() {
        return Err(ApiError::at("/eventids", "event ids must differ"));
    }
    check_events(call, &events, request.action)?;
    let requests = events
        .iter()
        .map(|id| Acknowledge {
            event: EventId(*id),
            user: UserId(call.user().id),
            ..request.clone()
        })
        .collect();
    call.api.deps.live.acknowledge(requests).map_err(ApiError::application)?;
    // Numbers, not texts: so answers the reference here, and clients read it so.
    Ok(json!({ "eventids": events }))
}

fn read(input: &Json) -> ApiResult<Acknowledge> {
    if let Some(name) = input
        .as_object()
        .and_then(|members| members.keys().find(|name| !MEMBERS.contains(&name.as_str())))
    {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let action = input
        .get("action")
        .ok_or_else(|| ApiError::at("/", "the parameter \"action\" is missing"))?;
    let action = u32::try_from(params::int(action, "/action")?)
        .ok()
        .filter(|action| *action <= ALL)
        .ok_or_else(|| ApiError::at("/action", format_args!("value must be one of 0-{ALL}")))?;
    let opposite = [(ACKNOWLEDGE, UNACKNOWLEDGE), (SUPPRESS, UNSUPPRESS), (TO_CAUSE, TO_SYMPTOM)];
    if opposite.iter().any(|(one, other)| action & one != 0 && action & other != 0) {
        return Err(ApiError::params(
            "Incorrect value for field \"action\": the bits contradict each other.",
        ));
    }
    let mut request = Acknowledge { action, ..Acknowledge::default() };
    if action & MESSAGE != 0 {
        let message =
            input.get("message").map_or(Ok(String::new()), |v| params::text(v, "/message"))?;
        if message.is_empty() {
            return Err(ApiError::params(
                "Incorrect value for field \"message\": cannot be empty.",
            ));
        }
        if message.chars().count() > MESSAGE_MAX {
            return Err(ApiError::at("/message", "value is too long"));
        }
        request.message = message;
    }
    if action & SEVERITY != 0 {
        let severity = input.get("severity").map_or(Ok(-1), |v| params::int(v, "/severity"))?;
        let severity = u8::try_from(severity).ok().and_then(Severity::from_api);
        let refused =
            || ApiError::params("Incorrect value for field \"severity\": must be from 0 to 5.");
        request.severity = Some(severity.ok_or_else(refused)?);
    }
    if action & SUPPRESS != 0 {
        let until = input
            .get("suppress_until")
            .ok_or_else(|| ApiError::at("/", "the parameter \"suppress_until\" is missing"))?;
        let until = params::int(until, "/suppress_until")?;
        request.suppress_until = u64::try_from(until)
            .map_err(|_| ApiError::at("/suppress_until", "a unix time or 0 is expected"))?;
    }
    if action & TO_SYMPTOM != 0 {
        let cause = input
            .get("cause_eventid")
            .ok_or_else(|| ApiError::at("/", "the parameter \"cause_eventid\" is missing"))?;
        request.cause = Some(EventId(params::id(cause, "/cause_eventid")?));
    }
    Ok(request)
}

/// The role's rules on actions; what they do not name is allowed.
fn allowed_by_role(user: &User, action: u32) -> ApiResult<()> {
    const RULES: &[(u32, &str)] = &[
        (CLOSE, "close_problems"),
        (ACKNOWLEDGE | UNACKNOWLEDGE, "acknowledge_problems"),
        (MESSAGE, "add_problem_comments"),
        (SEVERITY, "change_severity"),
        (SUPPRESS | UNSUPPRESS, "suppress_problems"),
        (TO_CAUSE | TO_SYMPTOM, "change_problem_ranking"),
    ];
    if user.kind == UserType::SuperAdmin {
        return Ok(());
    }
    let denied = |name: &str| {
        let listed = user.rules.get("actions").and_then(Json::as_array);
        listed.into_iter().flatten().any(|rule| {
            rule.get("name").and_then(Json::as_str) == Some(name)
                && matches!(rule.get("status"), Some(status) if !params::flag(Some(status)))
        })
    };
    match RULES.iter().find(|(bits, name)| action & bits != 0 && denied(name)) {
        Some(_) => Err(ApiError::application("No permissions to perform this action on problems.")),
        None => Ok(()),
    }
}

/// All events must be readable problems of triggers; closing and re-rating need write access.
fn check_events(call: &Call<'_>, events: &[u64], action: u32) -> ApiResult<()> {
    let need = if action & (CLOSE | SEVERITY) != 0 { Need::Write } else { Need::Read };
    let mut sql = String::from(
        "SELECT e.eventid, e.name, e.value, e.r_eventid, t.manual_close FROM events e \
         JOIN triggers t ON t.triggerid = e.objectid WHERE e.source = 0 AND e.object = 0",
    );
    // Closing and re-rating is for those who may change the hosts; reading is enough for the rest.
    if let Some(condition) = on_triggers(call.user(), need, "e.objectid") {
        sql += &format!(" AND {condition}");
    }
    sql += " AND e.eventid IN ({ids})";
    let rows = call.read(|c| Ok(query_by_ids(c, &sql, &[], events)?))?;
    if rows.len() != events.len() {
        return Err(ApiError::no_object());
    }
    if action & CLOSE != 0
        && let Some(row) = rows.iter().find(|row| row.int("manual_close") != 1)
    {
        return Err(ApiError::application(format!(
            "Cannot close problem: trigger \"{}\" does not allow manual closing.",
            row.text("name")
        )));
    }
    Ok(())
}
