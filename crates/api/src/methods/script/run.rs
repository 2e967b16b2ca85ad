//! `script.execute`, and the scripts that users see on a host or an event.

use std::collections::BTreeSet;

use config::audit::{AuditAction, note_execution};
use config::db::{Row, query_by_ids};
use model::{EventId, HostId};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};
use objects::{ScriptScope, ScriptType};
use serde_json::{Map, json};

use super::{FIELDS, OF_HOSTS, Script};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::live::{Execution, ScriptRun};
use crate::methods::auditlog;
use crate::object::missing;
use crate::permission::{Need, action_allowed, and, by_tag_filters, on_triggers};
use crate::write::Target;
use crate::{params, plain};

const NOT_ALLOWED: &str = "You do not have permission to perform this operation.";
/// Bytes of an output in the audit log.
const AUDIT_BYTES_MAX: usize = 65_535;
/// Texts of a script that users see with their macros expanded.
const SHOWN: [&str; 3] = ["confirmation", "url", "manualinput_prompt"];

/// What a script is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Host(u64),
    Event(u64),
}

impl On {
    fn read(members: &Map<String, Json>) -> ApiResult<Self> {
        let id = |name: &str| {
            members.get(name).map(|id| params::id(id, &format!("/{name}"))).transpose()
        };
        match (id("hostid")?, id("eventid")?) {
            (Some(host), None) => Ok(Self::Host(host)),
            (None, Some(event)) => Ok(Self::Event(event)),
            (None, None) => Err(missing("/", "eventid")),
            (Some(_), Some(_)) => Err(ApiError::at("/", "unexpected parameter \"eventid\"")),
        }
    }

    /// The hosts that the user sees.
    fn hosts(self, call: &Call<'_>) -> ApiResult<Vec<u64>> {
        let hosts = match self {
            Self::Host(host) => vec![host],
            Self::Event(event) => event_hosts(call, event)?,
        };
        let seen = call.read(|c| call.allowed(c, Target::Host, Need::Read, &hosts))?;
        Ok(Vec::from_iter(seen))
    }

    const fn scope(self) -> ScriptScope {
        match self {
            Self::Host(_) => ScriptScope::Host,
            Self::Event(_) => ScriptScope::Event,
        }
    }

    fn event(self) -> Option<EventId> {
        match self {
            Self::Host(_) => None,
            Self::Event(event) => Some(EventId(event)),
        }
    }
}

/// The hosts of an event that the user sees.
fn event_hosts(call: &Call<'_>, event: u64) -> ApiResult<Vec<u64>> {
    let sql = format!(
        "SELECT DISTINCT i.hostid AS hostid FROM events e \
         JOIN functions f ON f.triggerid = e.objectid JOIN items i ON i.itemid = f.itemid \
         WHERE e.source = {SOURCE_TRIGGER} AND e.object = {OBJECT_TRIGGER} AND e.eventid = ?{}{} \
         ORDER BY hostid",
        and(on_triggers(call.user(), Need::Read, "e.objectid")),
        and(by_tag_filters(call.user(), "e.eventid", "e.objectid")),
    );
    let rows = call.rows(&sql, &[event.into()])?;
    Ok(rows.iter().map(|row| row.id("hostid")).collect())
}

fn members<'a>(input: &'a Json, known: &[&str]) -> ApiResult<&'a Map<String, Json>> {
    let Some(members) = input.as_object() else {
        return Err(ApiError::at("/", "an array is expected"));
    };
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\""))),
        None => Ok(members),
    }
}

fn input_of(members: &Map<String, Json>) -> ApiResult<Option<String>> {
    members.get("manualinput").map(|text| params::text(text, "/manualinput")).transpose()
}

/// `script.execute`
pub(super) fn execute(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = members(input, &["scriptid", "hostid", "eventid", "manualinput"])?;
    let script = members.get("scriptid").ok_or_else(|| missing("/", "scriptid"))?;
    let script = params::id(script, "/scriptid")?;
    let on = On::read(members)?;
    let given = input_of(members)?;
    if !action_allowed(call.user(), "execute_scripts") {
        return Err(ApiError::application(NOT_ALLOWED));
    }
    let rows = call.rows("SELECT * FROM scripts WHERE scriptid = ?", &[script.into()])?;
    let row = rows.first().ok_or_else(ApiError::no_object)?;
    let hosts = runs_on(call, row, &on.hosts(call)?)?;
    let host = hosts.first().copied().ok_or_else(ApiError::no_object)?;
    if ScriptType::Url.is(row.int("type")) {
        return Err(ApiError::application("Cannot execute URL type script."));
    }
    if !on.scope().is(row.int("scope")) {
        return Err(ApiError::no_object());
    }
    let input = check_input(row, given)?;
    let execution =
        Execution { script, host: HostId(host), event: on.event(), user: call.user().id, input };
    let run = call.api.deps.live.run_script(&execution);
    note(call, &execution, row, &run);
    let value = run.result.map_err(ApiError::application)?;
    let debug = match run.took_ms {
        None => json!([]),
        Some(ms) => {
            let line = |(level, ms, message): &(i32, u64, String)| json!({ "level": level, "ms": ms, "message": message });
            json!({ "logs": run.log.iter().map(line).collect::<Vec<_>>(), "ms": ms })
        }
    };
    Ok(json!({ "response": "success", "value": value, "debug": debug }))
}

/// Those of these hosts on which the user may run the script.
fn runs_on(call: &Call<'_>, script: &Row, hosts: &[u64]) -> ApiResult<Vec<u64>> {
    let group = script.id("usrgrpid");
    if group != 0 && !call.is_super_admin() && !call.user().groups.contains(&group) {
        return Ok(Vec::new());
    }
    let need = if script.int("host_access") == 3 { Need::Write } else { Need::Read };
    let allowed = call.read(|c| call.allowed(c, Target::Host, need, hosts))?;
    let mut found = Vec::new();
    let sql = format!("SELECT t.scriptid FROM scripts t WHERE t.scriptid = ? AND {OF_HOSTS}");
    for host in allowed {
        let id = script.id("scriptid").into();
        let rows = call.read(|c| Ok(query_by_ids(c, &sql, &[id], &[host])?))?;
        found.extend(Some(host).filter(|_| !rows.is_empty()));
    }
    Ok(found)
}

/// The input, if the script wants one.
fn check_input(script: &Row, given: Option<String>) -> ApiResult<Option<String>> {
    let path = "/manualinput";
    if script.int("manualinput") != 1 {
        return match given {
            Some(_) => Err(ApiError::at("/", "unexpected parameter \"manualinput\"")),
            None => Ok(None),
        };
    }
    let input = given.ok_or_else(|| missing("/", "manualinput"))?;
    let validator = script.text("manualinput_validator");
    if script.int("manualinput_validator_type") == 1 {
        let values: Vec<&str> = validator.split(',').map(str::trim).collect();
        if !values.contains(&input.trim()) {
            let what = format!("value must be one of {}", values.join(", "));
            return Err(ApiError::at(path, what));
        }
        return Ok(Some(input.trim().to_owned()));
    }
    match eval::regex::is_match(validator, &input, false) {
        Ok(true) => Ok(Some(input)),
        _ => {
            let what = format!("input does not match the provided pattern: {validator}");
            Err(ApiError::at(path, what))
        }
    }
}

/// An entry of the audit log. The script has run, whether the entry can be written or not.
fn note(call: &Call<'_>, execution: &Execution, script: &Row, run: &ScriptRun) {
    let user = call.user();
    let author = auditlog::entry(call, AuditAction::Execute, user.id, &user.username);
    let Some(author) = author else { return };
    let mut details = Map::new();
    let mut add = |name: &str, value: &str| {
        let value = &value[..value.floor_char_boundary(AUDIT_BYTES_MAX)];
        details.insert(format!("script.{name}"), json!(["add", value]));
    };
    if ScriptType::Shell.is(script.int("type")) {
        add("execute_on", &script.int("execute_on").to_string());
    }
    add("hostid", &execution.host.0.to_string());
    if let Some(event) = execution.event {
        add("eventid", &event.0.to_string());
    }
    if !ScriptType::Webhook.is(script.int("type")) {
        add("command", &run.command);
    }
    match &run.result {
        Ok(output) => add("output", output),
        Err(error) => add("error", error),
    }
    let snapshot = call.config().snapshot();
    let name = snapshot.hosts.get(&execution.host).map_or("", |host| &*host.name);
    let details = Json::Object(details).to_string();
    let written: Result<(), config::db::DbError> = call
        .config()
        .write_state(|state| note_execution(state, &author, (execution.host.0, name), details));
    if let Err(error) = written {
        tracing::warn!(%error, "the execution of a script could not be written to the audit log");
    }
}

/// `script.getscriptsbyhosts`
pub(super) fn by_hosts(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = members(input, &["hostid", "scriptid", "manualinput"])?;
    members.get("hostid").ok_or_else(|| missing("/", "hostid"))?;
    offered(call, members)
}

/// `script.getscriptsbyevents`
pub(super) fn by_events(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = members(input, &["eventid", "scriptid", "manualinput"])?;
    members.get("eventid").ok_or_else(|| missing("/", "eventid"))?;
    offered(call, members)
}

/// The scripts for what the call names, by its id.
fn offered(call: &Call<'_>, members: &Map<String, Json>) -> ApiResult<Json> {
    let on = On::read(members)?;
    let (On::Host(id) | On::Event(id)) = on;
    let given = input_of(members)?;
    let hosts = on.hosts(call)?;
    if hosts.is_empty() {
        return Ok(json!([]));
    }
    let output: Vec<&str> =
        FIELDS.iter().map(|field| field.name).filter(|name| *name != "parameters").collect();
    let mut wanted = json!({ "output": output, "hostids": hosts, "sortfield": "name" });
    if let Some(script) = members.get("scriptid") {
        wanted["scriptids"] = json!([params::id(script, "/scriptid")?]);
    }
    let found = call.inside(|| plain::read(&Script, call, &wanted))?;
    let found = found.as_array().cloned().unwrap_or_default();
    let writable = call.read(|c| call.allowed(c, Target::Host, Need::Write, &hosts))?;
    let mut scripts: Vec<Json> =
        found.into_iter().filter(|one| is_allowed(one, &writable)).collect();
    if let (Some(input), [script]) = (&given, scripts.as_slice()) {
        check_shown_input(script, input)?;
    }
    let execution = Execution {
        script: 0,
        host: HostId(hosts.first().copied().unwrap_or_default()),
        event: on.event(),
        user: call.user().id,
        input: given,
    };
    expand(call, &execution, &mut scripts)?;
    Ok(json!({ (id.to_string()): scripts }))
}

fn is_allowed(script: &Json, writable: &BTreeSet<u64>) -> bool {
    script["host_access"] != "3" || !writable.is_empty()
}

fn check_shown_input(script: &Json, input: &str) -> ApiResult<()> {
    let text = |name: &str| script[name].as_str().unwrap_or_default();
    let fits = if text("manualinput_validator_type") == "1" {
        text("manualinput_validator").split(',').any(|value| value.trim() == input.trim())
    } else {
        eval::regex::is_match(text("manualinput_validator"), input, false).unwrap_or(false)
    };
    if text("manualinput") == "1" && fits {
        return Ok(());
    }
    Err(ApiError::at("/manualinput", "the script does not accept this input"))
}

/// Expands what users see.
fn expand(call: &Call<'_>, execution: &Execution, scripts: &mut [Json]) -> ApiResult<()> {
    let templates: Vec<String> = scripts
        .iter()
        .flat_map(|script| SHOWN.map(|name| script[name].as_str().unwrap_or_default().to_owned()))
        .collect();
    let texts = call.api.deps.live.script_texts(execution, &templates);
    let mut texts = texts.map_err(ApiError::application)?.into_iter();
    for script in scripts {
        for name in SHOWN {
            script[name] = texts.next().unwrap_or_default().into();
        }
    }
    Ok(())
}
