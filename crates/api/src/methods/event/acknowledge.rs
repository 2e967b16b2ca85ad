//! `event.acknowledge`: action bits, permissions, then the events are changed.

use config::db::query_by_ids;
use model::{EventId, Severity, UserId};
use serde_json::json;

use crate::call::{Call, Json, User};
use crate::error::{ApiError, ApiResult};
use crate::live::Acknowledge;
use crate::object::missing;
use crate::params;
use crate::permission::{Need, action_allowed, and, by_tag_filters, on_triggers};

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

/// Bits, the action of a role that allows them, and what the bits do.
const RULES: &[(u32, &str, &str)] = &[
    (CLOSE, "close_problems", "close problems"),
    (ACKNOWLEDGE, "acknowledge_problems", "acknowledge problems"),
    (MESSAGE, "add_problem_comments", "add problem comments"),
    (SEVERITY, "change_severity", "change problem severity"),
    (UNACKNOWLEDGE, "acknowledge_problems", "unacknowledge problems"),
    (SUPPRESS, "suppress_problems", "suppress problems"),
    (UNSUPPRESS, "suppress_problems", "unsuppress problems"),
    (TO_CAUSE, "change_problem_ranking", "convert symptom problems to cause problems"),
    (TO_SYMPTOM, "change_problem_ranking", "convert cause problems to symptom problems"),
];

/// Bits that contradict each other.
const OPPOSITE: &[(u32, u32)] =
    &[(ACKNOWLEDGE, UNACKNOWLEDGE), (SUPPRESS, UNSUPPRESS), (TO_CAUSE, TO_SYMPTOM)];

pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let request = read(call, input)?;
    let events = params::ids(input, "eventids")?.ok_or_else(|| missing("/", "eventids"))?;
    if events.is_empty() {
        return Err(ApiError::at("/eventids", "cannot be empty"));
    }
    let mut seen: Vec<u64> = events.clone();
    seen.sort_unstable();
    seen.dedup();
    if seen.len() != events.len() {
        return Err(ApiError::at("/eventids", "event ids must differ"));
    }
    check_events(call, &events, &request)?;
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

/// A value of a member that is none of those allowed.
fn wrong(member: &str, why: impl std::fmt::Display) -> ApiError {
    ApiError::params(format!("Incorrect value for field \"{member}\": {why}."))
}

fn read(call: &Call<'_>, input: &Json) -> ApiResult<Acknowledge> {
    if let Some(name) = input
        .as_object()
        .and_then(|members| members.keys().find(|name| !MEMBERS.contains(&name.as_str())))
    {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let action = input.get("action").ok_or_else(|| missing("/", "action"))?;
    let action = action_of(call.user(), params::int(action, "/action")?)?;
    if action & TO_SYMPTOM == 0 && input.get("cause_eventid").is_some() {
        return Err(ApiError::at("/", "unexpected parameter \"cause_eventid\""));
    }
    let mut request = Acknowledge { action, ..Acknowledge::default() };
    if action & MESSAGE != 0 {
        let message =
            input.get("message").map_or(Ok(String::new()), |v| params::text(v, "/message"))?;
        if message.is_empty() {
            return Err(wrong("message", "cannot be empty"));
        }
        if message.chars().count() > MESSAGE_MAX {
            return Err(ApiError::at("/message", "value is too long"));
        }
        request.message = message;
    }
    if action & SEVERITY != 0 {
        let severity = input.get("severity").map_or(Ok(-1), |v| params::int(v, "/severity"))?;
        let severity = u8::try_from(severity).ok().and_then(Severity::from_api);
        request.severity = Some(severity.ok_or_else(|| wrong("severity", "must be from 0 to 5"))?);
    }
    if action & SUPPRESS != 0 {
        let until =
            input.get("suppress_until").map_or(Ok(0), |v| params::int(v, "/suppress_until"));
        let until = u64::try_from(until?)
            .map_err(|_| ApiError::at("/suppress_until", "an unsigned integer is expected"))?;
        if until != 0 && until < call.now() {
            return Err(wrong("suppress_until", format_args!("unexpected value \"{until}\"")));
        }
        request.suppress_until = until;
    }
    if action & TO_SYMPTOM != 0 {
        let cause = input.get("cause_eventid").ok_or_else(|| missing("/", "cause_eventid"))?;
        request.cause = Some(EventId(params::id(cause, "/cause_eventid")?));
    }
    Ok(request)
}

/// The bits, when they fit together and the user's role allows all of them.
fn action_of(user: &User, action: i64) -> ApiResult<u32> {
    let unexpected = || wrong("action", format_args!("unexpected value \"{action}\""));
    let action = u32::try_from(action).ok().filter(|bits| *bits <= ALL).ok_or_else(unexpected)?;
    let both = OPPOSITE.iter().find(|(one, other)| action & one != 0 && action & other != 0);
    if let Some((one, other)) = both {
        return Err(wrong("action", format_args!("value must be one of {one}, {other}")));
    }
    let denied =
        |(bit, rule, _): &&(u32, &str, &str)| action & bit != 0 && !action_allowed(user, rule);
    match RULES.iter().find(denied) {
        Some((_, _, what)) => Err(wrong("action", format_args!("no permissions to {what}"))),
        None => Ok(action),
    }
}

/// All events must be problems of triggers that the user sees; closing and another severity need
/// write permission. The cause of symptoms must be such an event, too.
fn check_events(call: &Call<'_>, events: &[u64], request: &Acknowledge) -> ApiResult<()> {
    let change = request.action & (CLOSE | SEVERITY) != 0;
    let closable = visible(call, events, if change { Need::Write } else { Need::Read })?;
    if request.action & CLOSE != 0 && !closable {
        return Err(ApiError::application(
            "Cannot close problem: trigger does not allow manual closing.",
        ));
    }
    if let Some(EventId(cause)) = request.cause {
        visible(call, &[cause], Need::Read)?;
    }
    Ok(())
}

/// Refuses unless the user sees all these problems; tells whether users may close all of them.
fn visible(call: &Call<'_>, events: &[u64], need: Need) -> ApiResult<bool> {
    let sql = format!(
        "SELECT e.eventid, t.manual_close FROM events e \
         JOIN triggers t ON t.triggerid = e.objectid \
         WHERE e.source = 0 AND e.object = 0 AND e.value = 1{}{} AND e.eventid IN ({{ids}})",
        and(on_triggers(call.user(), need, "e.objectid")),
        and(by_tag_filters(call.user(), "e.eventid", "e.objectid")),
    );
    let rows = call.read(|c| Ok(query_by_ids(c, &sql, &[], events)?))?;
    if rows.len() != events.len() {
        return Err(ApiError::no_object());
    }
    Ok(rows.iter().all(|row| row.int("manual_close") == 1))
}

#[cfg(test)]
mod tests;
