//! The JSON-RPC envelope: one call or a batch, dispatch, errors.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::OnceLock;

use serde_json::{Map, json};

use crate::call::{Call, Gone, Json, Method, UserType};
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

pub(crate) fn handle(
    api: &Api,
    body: &[u8],
    bearer: Option<&str>,
    origin: &Origin,
) -> Option<String> {
    // serde_json stops at a depth of 128 by itself.
    let Ok(request) = serde_json::from_slice::<Json>(body) else {
        return Some(failure(&ApiError::parse(), Json::Null).to_string());
    };
    let answer = match request {
        Json::Array(calls) if calls.is_empty() => {
            Some(failure(&ApiError::request(NO_REQUEST), Json::Null))
        }
        Json::Array(calls) if calls.len() > BATCH_CALLS_MAX => {
            let text =
                format!("A batch holds at most {BATCH_CALLS_MAX} calls, this one {}.", calls.len());
            Some(failure(&ApiError::request(text), Json::Null))
        }
        Json::Array(calls) => {
            let answers = batch(api, calls, bearer, origin);
            (!answers.is_empty()).then_some(Json::Array(answers))
        }
        call => answer(api, call, bearer, origin),
    };
    answer.map(|answer| answer.to_string())
}

/// The answers to the calls of a batch, which ends when its client does.
fn batch(api: &Api, calls: Vec<Json>, bearer: Option<&str>, origin: &Origin) -> Vec<Json> {
    let mut sign_ins = 0;
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        if origin.gone.is_gone() {
            break;
        }
        if is_sign_in(&call) {
            sign_ins += 1;
            if sign_ins > 1 {
                let text = "A batch may contain only one \"user.login\": send further sign-ins in \
                            requests of their own.";
                let error = ApiError::request(text);
                answers.push(failure(&error, call.get("id").cloned().unwrap_or(Json::Null)));
                continue;
            }
        }
        answers.extend(answer(api, call, bearer, origin));
    }
    answers
}

fn is_sign_in(call: &Json) -> bool {
    let method = call.get("method").and_then(Json::as_str);
    method.is_some_and(|method| method.eq_ignore_ascii_case(SIGN_IN))
}

/// Without `json!`, which copies the result.
fn success(result: Json, id: Json) -> Json {
    let mut answer = Map::with_capacity(3);
    answer.insert("jsonrpc".to_owned(), "2.0".into());
    answer.insert("result".to_owned(), result);
    answer.insert("id".to_owned(), id);
    Json::Object(answer)
}

fn failure(error: &ApiError, id: Json) -> Json {
    json!({
        "jsonrpc": "2.0",
        "error": { "code": error.code, "message": error.message(), "data": error.data },
        "id": id,
    })
}

/// The answer to one call; `None` for a notification.
fn answer(api: &Api, call: Json, bearer: Option<&str>, origin: &Origin) -> Option<Json> {
    let id = call.get("id").cloned();
    let valid_id = |id: &Json| id.is_string() || id.is_number() || id.is_null();
    let echoed = id.clone().filter(valid_id).unwrap_or(Json::Null);
    match envelope(&call)
        .and_then(|(method, params, auth)| dispatch(api, method, params, auth, bearer, origin))
    {
        Ok(result) => id.map(|_| success(result, echoed)),
        // A broken envelope is answered even without an id: nobody can tell that it was a notification.
        Err(error) if error.code == -32600 => Some(failure(&error, echoed)),
        Err(error) => id.map(|_| failure(&error, echoed)),
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

fn dispatch(
    api: &Api,
    name: &str,
    params: &Json,
    auth: Option<&str>,
    bearer: Option<&str>,
    origin: &Origin,
) -> ApiResult<Json> {
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
        has_header: bearer.is_some(),
        has_auth: auth.is_some(),
        transaction: None,
    };
    if let Some(lowest) = method.lowest {
        let user = session::authenticate(api, bearer.or(auth))?;
        permission::check_method(&user, method.name, lowest, name)?;
        call.user = Some(user);
    } else if call.has_header {
        return Err(ApiError::params(format!(
            "The \"{name}\" method must be called without authorization header."
        )));
    } else if call.has_auth {
        return Err(ApiError::params(format!(
            "The \"{name}\" method must be called without the \"auth\" parameter."
        )));
    }
    (method.run)(&call, params)
}

/// An empty result with `preservekeys` is an array, as clients of PHP's making expect.
pub(crate) fn keyed(rows: Map<String, Json>) -> Json {
    if rows.is_empty() { Json::Array(Vec::new()) } else { Json::Object(rows) }
}

/// Is there such a method?
pub(crate) fn knows(method: &str) -> bool {
    registry().contains_key(method)
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
    (method.run)(call, params)
}

/// Lowest user type that may call the method; `None` = there is no such method, or it needs no
/// session.
pub(crate) fn lowest_type(method: &str) -> Option<UserType> {
    registry().get(method).and_then(|method| method.lowest)
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
    dispatch(api, method, params, None, Some(secret), &origin)
}

/// A call of the server itself.
pub(crate) fn call_system(api: &Api, method: &str, params: &Json) -> ApiResult<Json> {
    let Some(known) = registry().get(method) else {
        return Err(ApiError::method(format!("Incorrect method \"{method}\".")));
    };
    let call = Call {
        api,
        user: Some(crate::User::system()),
        peer: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        gone: Gone::default(),
        has_header: false,
        has_auth: false,
        transaction: None,
    };
    (known.run)(&call, params)
}
