//! `event.explain`: why users got messages about an event, or none, and what comes next; `escalation.get`: what comes next
//! alone, of several events.

use std::collections::{BTreeMap, BTreeSet};

use config::db::Row;
use model::alert::outlook::{Case, OfAction, OnCall, Operation, Outlook, Running, Step, Waits};
use objects::{AlertStatus, UserType, Withholding};
use serde_json::{Value as Json, json};

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::{action, alert};
use crate::object::missing;
use crate::write::{only, required_list};
use crate::{params, rpc};

/// Events of one call: each is looked at by itself.
const EVENTS_MAX: usize = 100;

pub(super) fn explain(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["eventid", "userids"])?;
    let event = input.get("eventid").ok_or_else(|| missing("/", "eventid"))?;
    let event = params::id(event, "/eventid")?;
    let wanted: Option<BTreeSet<u64>> = params::ids(input, "userids")?.map(BTreeSet::from_iter);
    if readable(call, &[event])?.is_empty() {
        return Err(ApiError::no_object());
    }
    let outlook = look(call, event)?.ok_or_else(ApiError::no_object)?;
    let people = People::of(call, &outlook, wanted.as_ref())?;
    let seen = actions_seen(call, &outlook.actions)?;
    let conditions = action::conditions_of(call, &Vec::from_iter(seen.iter().copied()))?;
    let Sent { mut ids, mut withheld } = Sent::of(call, event)?;
    let actions = outlook.actions.iter().map(|one| {
        let name = Name::of(one, &seen);
        let results = conditions.get(&one.action).into_iter().flatten().zip(&one.conditions);
        let results = results.map(|(condition, met)| {
            let mut condition = condition.clone();
            condition["met"] = flag(*met);
            condition
        });
        let operations = one.operations.iter().map(|operation| people.shown(operation));
        json!({
            "actionid": one.action.to_string(),
            "name": name.0,
            "enabled": flag(one.enabled),
            "applies": flag(one.applies),
            "conditions": results.collect::<Vec<_>>(),
            "escalation": one.running.as_ref().map(|running| name.running(running)),
            "steps": one.steps.iter().map(step).collect::<Vec<_>>(),
            "operations": operations.collect::<Vec<_>>(),
            "alertids": ids.remove(&one.action).unwrap_or_default(),
            "withheld": withheld.remove(&one.action).unwrap_or_default(),
        })
    });
    Ok(json!({
        "eventid": event.to_string(),
        "clock": outlook.at.to_string(),
        "actions": actions.collect::<Vec<_>>(),
    }))
}

pub(crate) fn escalations(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["eventids"])?;
    let events = required_list(input, "eventids")?;
    if events.len() > EVENTS_MAX {
        let text = format!("at most {EVENTS_MAX} events can be asked about at once");
        return Err(ApiError::at("/eventids", text));
    }
    let mut all = Vec::new();
    for event in readable(call, &events)? {
        let Some(outlook) = look(call, event)? else { continue };
        let seen = actions_seen(call, &outlook.actions)?;
        let name = |one| Name::of(one, &seen);
        all.extend(outlook.actions.iter().filter_map(|one| of_running(event, one, &name(one))));
    }
    Ok(Json::Array(all))
}

fn of_running(event: u64, one: &OfAction, name: &Name<'_>) -> Option<Json> {
    let mut shown = name.running(one.running.as_ref()?);
    shown["eventid"] = event.to_string().into();
    shown["actionid"] = one.action.to_string().into();
    shown["name"] = name.0.into();
    shown["steps"] = one.steps.iter().map(step).collect();
    Some(shown)
}

/// Those of the events that the user may see.
fn readable(call: &Call<'_>, events: &[u64]) -> ApiResult<Vec<u64>> {
    let mut seen = Vec::new();
    let mut kinds: BTreeMap<(i64, i64), Vec<String>> = BTreeMap::new();
    let sql = "SELECT eventid, source, object FROM events WHERE eventid IN ({ids})";
    for row in call.rows_by_ids(sql, events)? {
        let kind = (row.int("source"), row.int("object"));
        kinds.entry(kind).or_default().push(row.id("eventid").to_string());
    }
    for ((source, object), ids) in kinds {
        let params = json!({
            "eventids": ids, "source": source, "object": object, "output": ["eventid"],
        });
        let found = rpc::run_inner(call, "event.get", &params)?;
        let ids = found.as_array().into_iter().flatten();
        seen.extend(ids.filter_map(|one| one["eventid"].as_str()?.parse::<u64>().ok()));
    }
    seen.sort_unstable();
    Ok(seen)
}

fn look(call: &Call<'_>, event: u64) -> ApiResult<Option<Outlook>> {
    call.api.deps.live.outlook(event).map_err(ApiError::application)
}

/// Those of the actions that `action.get` shows the user.
fn actions_seen(call: &Call<'_>, actions: &[OfAction]) -> ApiResult<BTreeSet<u64>> {
    if call.user().kind < UserType::Admin {
        return Ok(BTreeSet::new());
    }
    let ids: Vec<String> = actions.iter().map(|one| one.action.to_string()).collect();
    let params = json!({ "actionids": ids, "output": ["actionid"] });
    let seen = rpc::run_inner(call, "action.get", &params)?;
    let seen = seen.as_array().into_iter().flatten();
    Ok(seen.filter_map(|one| one["actionid"].as_str()?.parse().ok()).collect())
}

/// The name of an action; empty if the user does not see the action.
struct Name<'a>(&'a str);

impl<'a> Name<'a> {
    fn of(action: &'a OfAction, seen: &BTreeSet<u64>) -> Self {
        Self(if seen.contains(&action.action) { &action.name } else { "" })
    }

    /// Only the note on an action that is switched off has its name.
    fn running(&self, one: &Running) -> Json {
        let mut shown = running(one);
        let names_action = one.stopped.starts_with("NOTE: Escalation canceled: action '");
        if self.0.is_empty() && names_action {
            shown["stopped"] = "NOTE: Escalation canceled: action disabled.".into();
        }
        shown
    }
}

/// Alerts about the event, its end and its updates, by action, as far as the user sees their recipients.
#[derive(Default)]
struct Sent {
    ids: BTreeMap<u64, Vec<String>>,
    /// Those that were not sent at once.
    withheld: BTreeMap<u64, Vec<Json>>,
}

impl Sent {
    fn of(call: &Call<'_>, event: u64) -> ApiResult<Self> {
        let seen = alert::recipients_seen(call.user(), "t").unwrap_or_else(|| "1 = 1".to_owned());
        let sql = format!(
            "SELECT t.alertid AS alertid, t.actionid AS actionid, t.userid AS userid, \
             t.status AS status, t.withheld AS withheld, t.carrierid AS carrierid, \
             COALESCE(b.nextcheck, 0) AS until FROM alerts t \
             LEFT JOIN bundles b ON b.bundleid = t.bundleid AND b.waiting = 1 \
             WHERE (t.eventid = ? OR t.p_eventid = ?) AND {seen} ORDER BY t.alertid"
        );
        let mut sent = Self::default();
        for row in call.rows(&sql, &[event.into(), event.into()])? {
            let action = row.id("actionid");
            sent.ids.entry(action).or_default().push(row.id("alertid").to_string());
            if let Some(reason) = Withholding::from_number(row.int("withheld")) {
                sent.withheld.entry(action).or_default().push(withheld(&row, reason));
            }
        }
        Ok(sent)
    }
}

/// Why a message was not sent at once, which one tells of it, and when that comes.
fn withheld(row: &Row, reason: Withholding) -> Json {
    let waits = AlertStatus::Withheld.is(row.int("status")) && row.id("carrierid") == 0;
    json!({
        "alertid": row.id("alertid").to_string(),
        "userid": row.id("userid").to_string(),
        "reason": reason.reason(),
        "carrierid": row.id("carrierid").to_string(),
        "until": if waits { row.int("until") } else { 0 }.to_string(),
    })
}

/// Users whose messages are shown.
struct People {
    names: BTreeMap<u64, String>,
}

impl People {
    /// Those who are named, as far as the caller sees them: the members of own groups, or all.
    fn of(call: &Call<'_>, outlook: &Outlook, wanted: Option<&BTreeSet<u64>>) -> ApiResult<Self> {
        let operations = outlook.actions.iter().flat_map(|one| &one.operations);
        let named: BTreeSet<u64> =
            operations.flat_map(|one| &one.cases).map(|case| case.user).collect();
        let named = named.into_iter().filter(|id| wanted.is_none_or(|wanted| wanted.contains(id)));
        let seen = alert::recipients_seen(call.user(), "t").unwrap_or_else(|| "1 = 1".to_owned());
        let sql = format!(
            "SELECT t.userid AS userid, t.username AS username FROM users t \
             WHERE t.userid IN ({{ids}}) AND {seen}"
        );
        let rows = call.rows_by_ids(&sql, &Vec::from_iter(named))?;
        let name = |row: &Row| (row.id("userid"), row.text("username").to_owned());
        Ok(Self { names: rows.iter().map(name).collect() })
    }

    fn shown(&self, operation: &Operation) -> Json {
        let cases = operation.cases.iter().filter_map(|case| self.case(case));
        let on_call = operation.on_call.iter().map(|one| self.on_call(one));
        json!({
            "operationid": operation.id.to_string(),
            "mode": action::rehearse::mode(operation.mode),
            "to_involved": flag(operation.to_involved),
            "users": cases.collect::<Vec<_>>(),
            "oncall": on_call.collect::<Vec<_>>(),
        })
    }

    /// Without users whom the caller does not see; `gap`: there is none at all.
    fn on_call(&self, one: &OnCall) -> Json {
        let seen = one.users.iter().filter(|id| self.names.contains_key(id));
        json!({
            "scheduleid": one.schedule.to_string(),
            "name": one.name,
            "userids": seen.map(u64::to_string).collect::<Vec<_>>(),
            "gap": flag(one.users.is_empty()),
        })
    }

    fn case(&self, case: &Case) -> Option<Json> {
        let (media_type, sendto) = case.address.clone().unwrap_or_default();
        Some(json!({
            "userid": case.user.to_string(),
            "username": self.names.get(&case.user)?,
            "mediatypeid": media_type.to_string(),
            "sendto": sendto,
            "verdict": case.verdict.word(),
        }))
    }
}

fn running(one: &Running) -> Json {
    let (waits_for, until) = match one.waits {
        Waits::Until(at) => ("step", at),
        Waits::PausedUntil(at) => ("pause", at),
        Waits::Paused => ("pause", 0),
        Waits::Recovery => ("recovery", 0),
    };
    json!({
        "escalationid": one.id.to_string(),
        "step": one.step.to_string(),
        "waits_for": waits_for,
        "until": until.to_string(),
        "pauses": one.pauses.iter().map(|pause| pause.word()).collect::<Vec<_>>(),
        "inhibited_by": one.inhibited_by.unwrap_or(0).to_string(),
        "stopped": one.stopped,
    })
}

fn step(step: &Step) -> Json {
    json!({
        "step": step.number.to_string(),
        "at": step.at.to_string(),
        "operationids": step.operations.iter().map(u64::to_string).collect::<Vec<_>>(),
    })
}

fn flag(value: bool) -> Json {
    Json::from(if value { "1" } else { "0" })
}

#[cfg(test)]
mod tests;
