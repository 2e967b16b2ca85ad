//! `action.rehearse`: what an action would have sent about the problems of the past, also one that is not stored. Such a
//! one is created, checked like a real one, read and undone within one transaction.

use std::collections::BTreeMap;

use model::alert::rehearsal::{OfUser, Planned, Rehearsed, Span};
use objects::{OperationMode, Withholding};
use serde_json::{Value as Json, json};

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::live::Rehearse;
use crate::methods::alert;
use crate::write::only;
use crate::{params, rpc};

/// Time before now that is looked at if none is given.
const SPAN_S: i64 = 30 * 86_400;

pub(super) fn rehearse(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["action", "actionid", "time_from", "time_till"])?;
    let span = span(call, input)?;
    let prepared = match (input.get("actionid"), input.get("action")) {
        (Some(id), None) => stored(call, params::id(id, "/actionid")?)?,
        (None, Some(action)) => unstored(call, action)?,
        _ => {
            let text =
                "either \"actionid\" or \"action\", the parameters of action.create, is expected";
            return Err(ApiError::at("/", text));
        }
    };
    let prepared = prepared.ok_or_else(|| {
        ApiError::at("/", "only actions on problems of triggers (event source 0) can be rehearsed")
    })?;
    let rehearsed = prepared.run(span, call.user().id, &|| call.gone.is_gone());
    let rehearsed = rehearsed.map_err(ApiError::application)?;
    // Without a result the client has disconnected.
    shown(call, span, &rehearsed.unwrap_or_default())
}

fn span(call: &Call<'_>, input: &Json) -> ApiResult<Span> {
    let time = |name: &str| -> ApiResult<Option<i64>> {
        let path = format!("/{name}");
        let given = input.get(name).filter(|value| !value.is_null());
        let time = given.map(|value| params::int(value, &path)).transpose()?;
        if time.is_some_and(|time| time < 0) {
            return Err(ApiError::at(&path, "an unsigned integer is expected"));
        }
        Ok(time)
    };
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let till = time("time_till")?.unwrap_or(now);
    let from = time("time_from")?.unwrap_or_else(|| till.saturating_sub(SPAN_S).max(0));
    if from > till {
        return Err(ApiError::at("/time_from", "it must not be after \"time_till\""));
    }
    Ok(Span { from, till })
}

fn stored(call: &Call<'_>, action: u64) -> ApiResult<Option<Box<dyn Rehearse>>> {
    let asked = json!({ "actionids": [action.to_string()], "output": ["eventsource"] });
    let found = rpc::run_inner(call, "action.get", &asked)?;
    if found.as_array().is_none_or(Vec::is_empty) {
        return Err(ApiError::no_object());
    }
    prepare(call, action)
}

fn unstored(call: &Call<'_>, action: &Json) -> ApiResult<Option<Box<dyn Rehearse>>> {
    let mut prepared = None;
    let undone: ApiResult<()> = call.together(|call| {
        let created = rpc::run_inner(call, "action.create", action)?;
        let id = created["actionids"][0].as_str().and_then(|id| id.parse().ok());
        let id = id.ok_or_else(|| ApiError::application("BUG: a created action without an id"))?;
        prepared = Some(prepare(call, id)?);
        Err(ApiError::application("BUG: a rehearsal changes nothing"))
    });
    match (prepared, undone) {
        (Some(prepared), _) => Ok(prepared),
        (None, result) => result.map(|()| None),
    }
}

fn prepare(call: &Call<'_>, action: u64) -> ApiResult<Option<Box<dyn Rehearse>>> {
    let live = &call.api.deps.live;
    call.read(|connection| live.prepare(connection, action).map_err(ApiError::application))
}

/// Without users whom the caller does not see.
fn shown(call: &Call<'_>, span: Span, rehearsed: &Rehearsed) -> ApiResult<Json> {
    let names = names(call, rehearsed)?;
    let users = rehearsed.users.iter().filter_map(|(id, user)| {
        let name = names.get(id)?;
        Some(of_user(*id, name, user))
    });
    let gaps = rehearsed.gaps.iter();
    let gaps = gaps.map(|(name, count)| json!({ "name": name, "messages": count.to_string() }));
    let listed = rehearsed.listed.iter().filter(|one| names.contains_key(&one.user));
    Ok(json!({
        "time_from": span.from.to_string(),
        "time_till": span.till.to_string(),
        "problems": rehearsed.problems.to_string(),
        "fitting": rehearsed.fitting.to_string(),
        "stopped_at": rehearsed.stopped_at.unwrap_or(0).to_string(),
        "users": users.collect::<Vec<_>>(),
        "gaps": gaps.collect::<Vec<_>>(),
        "messages": listed.map(message).collect::<Vec<_>>(),
    }))
}

fn names(call: &Call<'_>, rehearsed: &Rehearsed) -> ApiResult<BTreeMap<u64, String>> {
    let seen = alert::recipients_seen(call.user(), "t").unwrap_or_else(|| "1 = 1".to_owned());
    let sql = format!(
        "SELECT t.userid AS userid, t.username AS username FROM users t \
         WHERE t.userid IN ({{ids}}) AND {seen}"
    );
    let ids = Vec::from_iter(rehearsed.users.keys().copied());
    let rows = call.rows_by_ids(&sql, &ids)?;
    Ok(rows.iter().map(|row| (row.id("userid"), row.text("username").to_owned())).collect())
}

fn of_user(id: u64, name: &str, user: &OfUser) -> Json {
    let withheld = user.withheld.iter();
    let withheld = withheld
        .map(|(reason, count)| json!({ "reason": reason.word(), "messages": count.to_string() }));
    json!({
        "userid": id.to_string(),
        "username": name,
        "messages": user.messages.to_string(),
        "at_night": user.at_night.to_string(),
        "busiest_hour": {
            "clock": user.busiest_hour.0.to_string(),
            "messages": user.busiest_hour.1.to_string(),
        },
        "failed": user.failed.to_string(),
        "withheld": withheld.collect::<Vec<_>>(),
        "sent": user.sent.to_string(),
    })
}

fn message(planned: &Planned) -> Json {
    let (media_type, sendto) = planned.address.clone().unwrap_or_default();
    json!({
        "clock": planned.at.to_string(),
        "eventid": planned.event.to_string(),
        "mode": mode(planned.mode),
        "step": planned.step.to_string(),
        "userid": planned.user.to_string(),
        "mediatypeid": media_type.to_string(),
        "sendto": sendto,
        "verdict": planned.withheld.map_or(planned.verdict.word(), Withholding::reason),
        "tells": planned.tells.to_string(),
        "oncall": planned.on_call,
    })
}

/// When an operation runs, as the API names it.
pub(crate) fn mode(mode: OperationMode) -> &'static str {
    match mode {
        OperationMode::Problem => "problem",
        OperationMode::Recovery => "recovery",
        OperationMode::Update => "update",
    }
}

#[cfg(test)]
mod tests;
