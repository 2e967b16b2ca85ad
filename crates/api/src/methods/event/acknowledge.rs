//! `event.acknowledge`: action bits, permissions, then the problems are changed.

use config::db::query_by_ids;
use model::{EventId, ProblemRank, ProblemUpdate, Severity, Suppression, UnixSeconds, UserId};
use objects::ProblemAction as Action;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};
use serde_json::json;

use crate::call::{Call, Json, User};
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::permission::{Need, action_allowed, and, by_tag_filters, on_triggers};

/// All actions.
const ALL: u32 = 511;

/// Longest message in characters, as the reference takes.
const MESSAGE_MAX: usize = 2048;

const MEMBERS: &[&str] =
    &["eventids", "action", "message", "severity", "suppress_until", "cause_eventid"];

/// Bits, the action of a role that allows them, and what the bits do.
const RULES: &[(Action, &str, &str)] = &[
    (Action::Close, "close_problems", "close problems"),
    (Action::Acknowledge, "acknowledge_problems", "acknowledge problems"),
    (Action::Message, "add_problem_comments", "add problem comments"),
    (Action::Severity, "change_severity", "change problem severity"),
    (Action::Unacknowledge, "acknowledge_problems", "unacknowledge problems"),
    (Action::Suppress, "suppress_problems", "suppress problems"),
    (Action::Unsuppress, "suppress_problems", "unsuppress problems"),
    (Action::RankCause, "change_problem_ranking", "convert symptom problems to cause problems"),
    (Action::RankSymptom, "change_problem_ranking", "convert cause problems to symptom problems"),
];

/// Actions that contradict each other.
const OPPOSITE: &[(Action, Action)] = &[
    (Action::Acknowledge, Action::Unacknowledge),
    (Action::Suppress, Action::Unsuppress),
    (Action::RankCause, Action::RankSymptom),
];

pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let update = check(call, input)?;
    if !update.events.is_empty() {
        call.api.deps.live.update_problems(&update).map_err(ApiError::application)?;
    }
    let events: Vec<u64> = update.events.iter().map(|event| event.0).collect();
    // Numbers, not texts: so answers the reference here, and clients read it so.
    Ok(json!({ "eventids": events }))
}

/// What the method changes, if the call's user may do so now.
pub(crate) fn check(call: &Call<'_>, input: &Json) -> ApiResult<ProblemUpdate> {
    let update = read(call, input)?;
    let events = params::ids(input, "eventids")?.ok_or_else(|| missing("/", "eventids"))?;
    if events.is_empty() {
        return Ok(update);
    }
    let mut seen: Vec<u64> = events.clone();
    seen.sort_unstable();
    seen.dedup();
    if seen.len() != events.len() {
        return Err(ApiError::at("/eventids", "event ids must differ"));
    }
    check_events(call, &events, &update)?;
    let events = events.into_iter().map(EventId).collect();
    Ok(ProblemUpdate { events, user: UserId(call.user().id), ..update })
}

/// A value of a member that is none of those allowed.
fn wrong(member: &str, why: impl std::fmt::Display) -> ApiError {
    ApiError::params(format!("Incorrect value for field \"{member}\": {why}."))
}

/// The changes, without events and user.
fn read(call: &Call<'_>, input: &Json) -> ApiResult<ProblemUpdate> {
    if let Some(name) = input
        .as_object()
        .and_then(|members| members.keys().find(|name| !MEMBERS.contains(&name.as_str())))
    {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let action = input.get("action").ok_or_else(|| missing("/", "action"))?;
    let action = params::int(action, "/action")?;
    // Said before anything else that is wrong with the bits.
    if action & i64::from(Action::RankSymptom.bit()) != 0 && input.get("cause_eventid").is_none() {
        return Err(missing("/", "cause_eventid"));
    }
    let actions = action_of(call.user(), action)?;
    let is = |action: Action| action.is_in(actions);
    if !is(Action::RankSymptom) && input.get("cause_eventid").is_some() {
        return Err(ApiError::at("/", "unexpected parameter \"cause_eventid\""));
    }
    let mut update = ProblemUpdate { close: is(Action::Close), ..ProblemUpdate::default() };
    if is(Action::Acknowledge) || is(Action::Unacknowledge) {
        update.acknowledge = Some(is(Action::Acknowledge));
    }
    if is(Action::Message) {
        let message =
            input.get("message").map_or(Ok(String::new()), |v| params::text(v, "/message"))?;
        if message.is_empty() {
            return Err(wrong("message", "cannot be empty"));
        }
        if message.chars().count() > MESSAGE_MAX {
            return Err(ApiError::at("/message", "value is too long"));
        }
        update.message = message;
    }
    if is(Action::Severity) {
        let number = input.get("severity").map_or(Ok(0), |v| params::int(v, "/severity"))?;
        let severity = u8::try_from(number).ok().and_then(Severity::from_api);
        let unexpected = || wrong("severity", format_args!("unexpected value \"{number}\""));
        update.severity = Some(severity.ok_or_else(unexpected)?);
    }
    if is(Action::Suppress) {
        let until =
            input.get("suppress_until").map_or(Ok(0), |v| params::int(v, "/suppress_until"));
        let until = u64::try_from(until?)
            .map_err(|_| ApiError::at("/suppress_until", "an unsigned integer is expected"))?;
        if until != 0 && until < call.now() {
            return Err(wrong("suppress_until", format_args!("unexpected value \"{until}\"")));
        }
        update.suppression = Some(match until {
            0 => Suppression::Indefinite,
            until => Suppression::Until(UnixSeconds::saturating(until)),
        });
    }
    if is(Action::Unsuppress) {
        update.suppression = Some(Suppression::End);
    }
    if is(Action::RankCause) {
        update.rank = Some(ProblemRank::Cause);
    }
    if is(Action::RankSymptom) {
        let cause = input.get("cause_eventid").ok_or_else(|| missing("/", "cause_eventid"))?;
        update.rank = Some(ProblemRank::SymptomOf(EventId(params::id(cause, "/cause_eventid")?)));
    }
    Ok(update)
}

/// The bits, when they fit together and the user's role allows all of them.
fn action_of(user: &User, action: i64) -> ApiResult<u32> {
    let unexpected = || wrong("action", format_args!("unexpected value \"{action}\""));
    let action = u32::try_from(action).ok().filter(|bits| *bits <= ALL).ok_or_else(unexpected)?;
    let both = OPPOSITE.iter().find(|(one, other)| one.is_in(action) && other.is_in(action));
    if let Some((one, other)) = both {
        let (one, other) = (one.bit(), other.bit());
        return Err(wrong("action", format_args!("value must be one of {one}, {other}")));
    }
    let denied =
        |(one, rule, _): &&(Action, &str, &str)| one.is_in(action) && !action_allowed(user, rule);
    match RULES.iter().find(denied) {
        Some((_, _, what)) => Err(wrong("action", format_args!("no permissions to {what}"))),
        None => Ok(action),
    }
}

/// All events must be problems of triggers that the user sees; closing and another severity need
/// write permission. The cause of symptoms must be such an event, too.
fn check_events(call: &Call<'_>, events: &[u64], update: &ProblemUpdate) -> ApiResult<()> {
    let change = update.close || update.severity.is_some();
    let closable = visible(call, events, if change { Need::Write } else { Need::Read })?;
    if update.close && !closable {
        return Err(ApiError::application(
            "Cannot close problem: trigger does not allow manual closing.",
        ));
    }
    if let Some(ProblemRank::SymptomOf(EventId(cause))) = update.rank {
        visible(call, &[cause], Need::Read)?;
    }
    Ok(())
}

/// Refuses unless the user sees all these problems; tells whether users may close all of them.
fn visible(call: &Call<'_>, events: &[u64], need: Need) -> ApiResult<bool> {
    let sql = format!(
        "SELECT e.eventid, t.manual_close FROM events e \
         JOIN triggers t ON t.triggerid = e.objectid \
         WHERE e.source = {SOURCE_TRIGGER} AND e.object = {OBJECT_TRIGGER} AND e.value = 1{}{} \
         AND e.eventid IN ({{ids}})",
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
