//! The JSON-RPC envelope: one call or a batch, dispatch, errors.

use std::cell::Cell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use objects::UserType;
use serde_json::json;

use crate::answer::{Answer, push_json};
use crate::call::{Call, Gone, Json, Method, Written};
use crate::error::ApiResult;
use crate::{Api, ApiError, methods, permission, session};

/// Calls in one batch; a larger one is refused.
const BATCH_CALLS_MAX: usize = 1_000;

/// JSON, but neither a call nor a batch.
const NO_REQUEST: &str = "The received JSON is not a valid JSON-RPC request.";

/// Each checks a password, which costs as much CPU time as a hundred other calls.
const SIGN_IN: &str = "user.login";

/// Where a request comes from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// Address of the client.
    pub(crate) peer: IpAddr,
    /// Whether it is still there.
    pub(crate) gone: Gone,
}

/// Writes the answers to a body; nothing where there are only notifications. The error is that of
/// an answer which cannot be completed: its client has gone, or has a part of it that is wrong now.
pub(crate) fn handle(
    api: &Api,
    body: &[u8],
    bearer: Option<&str>,
    origin: &Origin,
    answer: &Answer,
) -> ApiResult<()> {
    let refuse = |error: &ApiError| write_failure(answer, error, &Json::Null);
    // serde_json stops at a depth of 128 by itself.
    let Ok(request) = serde_json::from_slice::<Json>(body) else {
        return refuse(&ApiError::parse());
    };
    match request {
        Json::Array(calls) if calls.is_empty() => refuse(&ApiError::request(NO_REQUEST)),
        Json::Array(calls) if calls.len() > BATCH_CALLS_MAX => {
            let text =
                format!("A batch holds at most {BATCH_CALLS_MAX} calls, this one {}.", calls.len());
            refuse(&ApiError::request(text))
        }
        Json::Array(calls) => batch(api, calls, bearer, origin, answer),
        call => answer_call(api, &call, bearer, origin, answer, "").map(drop),
    }
}

/// Answers the calls of a batch, which ends when its client does.
fn batch(
    api: &Api,
    calls: Vec<Json>,
    bearer: Option<&str>,
    origin: &Origin,
    answer: &Answer,
) -> ApiResult<()> {
    let (mut sign_ins, mut before) = (0, "[");
    for call in calls {
        origin.gone.check()?;
        sign_ins += u32::from(is_sign_in(&call));
        if is_sign_in(&call) && sign_ins > 1 {
            let text = "A batch may contain only one \"user.login\": send further sign-ins in \
                        requests of their own.";
            answer.write(|out| out.extend_from_slice(before.as_bytes()))?;
            let id = call.get("id").unwrap_or(&Json::Null);
            write_failure(answer, &ApiError::request(text), id)?;
            before = ",";
        } else if answer_call(api, &call, bearer, origin, answer, before)? {
            before = ",";
        }
    }
    if before == "," { answer.write(|out| out.push(b']')) } else { Ok(()) }
}

fn is_sign_in(call: &Json) -> bool {
    let method = call.get("method").and_then(Json::as_str);
    method.is_some_and(|method| method.eq_ignore_ascii_case(SIGN_IN))
}

fn write_failure(answer: &Answer, error: &ApiError, id: &Json) -> ApiResult<()> {
    answer.json(&json!({
        "jsonrpc": "2.0",
        "error": { "code": error.code, "message": error.message(), "data": error.data },
        "id": id,
    }))
}

/// Answers one call, with `before` in front; `false` = it is a notification, nothing was written.
fn answer_call(
    api: &Api,
    call: &Json,
    bearer: Option<&str>,
    origin: &Origin,
    answer: &Answer,
    before: &str,
) -> ApiResult<bool> {
    let id = call.get("id");
    let valid_id = |id: &&Json| id.is_string() || id.is_number() || id.is_null();
    let echoed = id.filter(valid_id).unwrap_or(&Json::Null);
    let begin = |out: &mut Vec<u8>| {
        out.extend_from_slice(before.as_bytes());
        out.extend_from_slice(br#"{"jsonrpc":"2.0","result":"#);
    };
    let run = || -> ApiResult<()> {
        let (method, params, auth) = envelope(call)?;
        if id.is_none() {
            return dispatch(api, method, params, auth, bearer, origin, None).map(drop);
        }
        answer.write(begin)?;
        let result = dispatch(api, method, params, auth, bearer, origin, Some(answer))?;
        if let Some(result) = result {
            answer.json(&result)?;
        }
        answer.write(|out| {
            out.extend_from_slice(br#","id":"#);
            push_json(out, echoed);
            out.push(b'}');
        })
    };
    answer.start_call();
    match run() {
        Ok(()) => Ok(id.is_some()),
        // A broken envelope is answered even without an id: nobody can tell that it was a notification.
        Err(error) if id.is_none() && error.code != -32600 => Ok(false),
        Err(error) if answer.undo_call() => {
            answer.write(|out| out.extend_from_slice(before.as_bytes()))?;
            write_failure(answer, &error, echoed)?;
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

fn envelope(call: &Json) -> ApiResult<(&str, &Json, Option<&str>)> {
    let Json::Object(members) = call else {
        return Err(ApiError::request(NO_REQUEST));
    };
    if let Some(name) = members
        .keys()
        .find(|k| !["jsonrpc", "method", "params", "auth", "id"].contains(&k.as_str()))
    {
        return Err(ApiError::request(format!(
            "Invalid parameter \"/\": unexpected parameter \"{name}\"."
        )));
    }
    let text = |name: &str| -> ApiResult<&str> {
        match members.get(name) {
            Some(Json::String(text)) => Ok(text),
            Some(_) => Err(ApiError::request(format!(
                "Invalid parameter \"/{name}\": a character string is expected."
            ))),
            None => Err(ApiError::request(format!(
                "Invalid parameter \"/\": the parameter \"{name}\" is missing."
            ))),
        }
    };
    if text("jsonrpc")? != "2.0" {
        return Err(ApiError::request("Invalid parameter \"/jsonrpc\": value must be \"2.0\"."));
    }
    let method = text("method")?;
    let params = members.get("params").ok_or_else(|| {
        ApiError::request("Invalid parameter \"/\": the parameter \"params\" is missing.")
    })?;
    if !params.is_object() && !params.is_array() {
        return Err(ApiError::request(
            "Invalid parameter \"/params\": an array or object is expected.",
        ));
    }
    let auth = match members.get("auth") {
        None | Some(Json::Null) => None,
        Some(Json::String(text)) => Some(text.as_str()),
        Some(_) => {
            return Err(ApiError::request(
                "Invalid parameter \"/auth\": a character string is expected.",
            ));
        }
    };
    if let Some(id) = members.get("id")
        && !(id.is_string() || id.is_number() || id.is_null())
    {
        return Err(ApiError::request(
            "Invalid parameter \"/id\": a string, number or null value is expected.",
        ));
    }
    Ok((method, params, auth))
}

fn registry() -> &'static HashMap<&'static str, Method> {
    static REGISTRY: OnceLock<HashMap<&'static str, Method>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        methods::ALL.iter().flat_map(|part| part.iter()).map(|m| (m.name, *m)).collect()
    })
}

/// Runs a method; `None` = it has written its result to `answer`.
fn dispatch(
    api: &Api,
    name: &str,
    params: &Json,
    auth: Option<&str>,
    bearer: Option<&str>,
    origin: &Origin,
    answer: Option<&Answer>,
) -> ApiResult<Option<Json>> {
    let lower = name.to_ascii_lowercase();
    let Some(method) = registry().get(lower.as_str()) else {
        let object = lower.split('.').next().unwrap_or("");
        let known = registry().keys().any(|m| m.split('.').next() == Some(object));
        return Err(ApiError::method(if known {
            format!("Incorrect method \"{name}\".")
        } else {
            format!("Incorrect API \"{}\".", name.split('.').next().unwrap_or(""))
        }));
    };
    let mut call = Call {
        api,
        user: None,
        peer: origin.peer,
        gone: origin.gone.clone(),
        written: Written::default(),
        has_header: bearer.is_some(),
        has_auth: auth.is_some(),
        transaction: None,
        answer: Cell::new(answer),
        memory: answer,
    };
    if let Some(lowest) = method.lowest {
        let user = session::authenticate(api, bearer.or(auth))?;
        permission::check_method(&user, method.name, lowest, name)?;
        call.user = Some(Arc::new(user));
    } else if call.has_header {
        return Err(ApiError::params(format!(
            "The \"{name}\" method must be called without authorization header."
        )));
    } else if call.has_auth {
        return Err(ApiError::params(format!(
            "The \"{name}\" method must be called without the \"auth\" parameter."
        )));
    }
    let _span = tracing::info_span!("call", method = method.name).entered();
    let result = call.confirmed(|call| (method.run)(call, params))?;
    let has_answered = answer.is_some() && call.take_answer().is_none();
    Ok((!has_answered).then_some(result))
}

/// Is there a method that this pattern (`host.get`, `host.*`, `*.get`, `*`) means?
pub(crate) fn knows_pattern(pattern: &str) -> bool {
    registry().keys().any(|method| permission::matches(pattern, method))
}

/// Runs another method for a call in progress, with its user's rights on objects. Users whose type
/// is too low for the method are refused here too: the outer method may admit more types.
pub(crate) fn run_inner(call: &Call<'_>, method: &str, params: &Json) -> ApiResult<Json> {
    let method = registry().get(method).unwrap_or_else(|| panic!("BUG: no method {method}"));
    if let Some(lowest) = method.lowest {
        permission::check_type(call.user(), lowest, method.name)?;
    }
    call.inside(|| (method.run)(call, params))
}

/// The same, with the objects of the result as rows of `answer` under their id, the member `key`. A
/// result that is not a map of objects by id writes no row.
pub(crate) fn run_to(
    call: &Call<'_>,
    method: &str,
    params: &Json,
    key: &str,
    answer: &Answer,
) -> ApiResult<()> {
    let inner = call.to(Some(answer));
    let method = registry().get(method).unwrap_or_else(|| panic!("BUG: no method {method}"));
    if let Some(lowest) = method.lowest {
        permission::check_type(call.user(), lowest, method.name)?;
    }
    // A method that writes by itself returns null.
    let Json::Object(rows) = (method.run)(&inner, params)? else { return Ok(()) };
    for (id, mut row) in rows {
        if let Some(members) = row.as_object_mut().filter(|_| answer.hides_key()) {
            members.shift_remove(key);
        }
        answer.row(id.parse().unwrap_or(0), |_| (), |out| push_json(out, &row))?;
    }
    Ok(())
}

/// Lowest user type that may call the method; `None` = there is no such method, or it needs no
/// session.
pub(crate) fn lowest_type(method: &str) -> Option<UserType> {
    registry().get(method).and_then(|method| method.lowest)
}

/// Runs `work` as a call of a user. `None`: no user has signed in. The caller checks which methods the user may
/// call.
pub(crate) fn run_as<T>(
    api: &Api,
    user: Option<crate::User>,
    origin: &Origin,
    work: impl FnOnce(&Call<'_>) -> ApiResult<T>,
) -> ApiResult<T> {
    let call = Call {
        api,
        user: user.map(Arc::new),
        peer: origin.peer,
        gone: origin.gone.clone(),
        written: Written::default(),
        has_header: false,
        has_auth: false,
        transaction: None,
        answer: Cell::default(),
        memory: None,
    };
    call.confirmed(work)
}

/// A call from within the server with somebody's session.
pub(crate) fn call(
    api: &Api,
    method: &str,
    params: &Json,
    secret: &str,
    peer: IpAddr,
) -> ApiResult<Json> {
    let origin = Origin { peer, gone: Gone::default() };
    let result = dispatch(api, method, params, None, Some(secret), &origin, None)?;
    Ok(result.unwrap_or(Json::Null))
}

/// A call of the server itself.
pub(crate) fn call_system(api: &Api, method: &str, params: &Json) -> ApiResult<Json> {
    let Some(known) = registry().get(method) else {
        return Err(ApiError::method(format!("Incorrect method \"{method}\".")));
    };
    as_system(api, |call| (known.run)(call, params))
}

/// Work of the server itself, with all rights.
pub(crate) fn as_system(
    api: &Api,
    work: impl FnOnce(&Call<'_>) -> ApiResult<Json>,
) -> ApiResult<Json> {
    let origin = Origin { peer: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), gone: Gone::default() };
    run_as(api, Some(crate::User::system()), &origin, work)
}
