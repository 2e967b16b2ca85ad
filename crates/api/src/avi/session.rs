//! Sign-in: the sessions, limits and audit of `user.login`.

use serde_json::{Value as Json, json};

use super::{AviResult, Reply, Request, Verb, fixed, refuse};
use crate::error::ApiError;
use crate::methods::login;
use crate::rpc::{self, Origin};
use crate::session::{self as sessions, NO_ACCESS};
use crate::{Api, User};

/// What a client shows with each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    None,
    /// Cookie with a session of `/login`.
    Session(String),
    /// API token.
    Bearer(String),
    /// Name and password.
    Basic(String, String),
}

/// Names of the cookie with the session. Clients send both.
const COOKIES: [&str; 2] = ["avi-sessionid", "sessionid"];

/// The session in the value of a `Cookie` header.
pub(crate) fn cookie_of(header: &str) -> Option<String> {
    let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    let mut sessions = pairs.filter(|(name, value)| COOKIES.contains(name) && !value.is_empty());
    sessions.next().map(|(_, value)| value.trim_matches('"').to_owned())
}

/// The token that a client repeats in `X-CSRFToken`: browsers send cookies to other sites' requests, but no
/// such header.
fn csrf_token(session: &str) -> String {
    let mut token = sessions::digest(&format!("csrf {session}"));
    token.truncate(32);
    token
}

/// Values of `Set-Cookie` for a session; an empty one ends it.
pub(crate) fn cookies(session: &str, secure: bool) -> Vec<String> {
    let end = if session.is_empty() { "; Max-Age=0" } else { "" };
    let secure = if secure { "; Secure" } else { "" };
    let token = if session.is_empty() { String::new() } else { csrf_token(session) };
    let of_session = COOKIES.map(|name| (name, session, "; HttpOnly"));
    let all = [("csrftoken", token.as_str(), "")].into_iter().chain(of_session);
    all.map(|(name, value, http_only)| {
        format!("{name}={value}; Path=/; SameSite=Strict{http_only}{secure}{end}")
    })
    .collect()
}

/// The user of a request.
pub(super) fn user(api: &Api, request: &Request, origin: &Origin) -> AviResult<User> {
    let unauthorized = |error: ApiError| match error.is_of_database() {
        true => refuse(503, error.data),
        false => refuse(401, "Sign in: the session or token is missing or has ended."),
    };
    match &request.credential {
        Credential::None => {
            Err(refuse(401, "Sign in: POST /login, or send Basic or Bearer credentials."))
        }
        Credential::Session(session) => {
            let user = sessions::authenticate(api, Some(session)).map_err(unauthorized)?;
            let is_change = request.verb != Verb::Get;
            if is_change && request.csrf.as_deref() != Some(csrf_token(session).as_str()) {
                let text = "The header X-CSRFToken must have the value of the cookie csrftoken.";
                return Err(refuse(403, text));
            }
            Ok(user)
        }
        Credential::Bearer(token) => sessions::authenticate(api, Some(token)).map_err(unauthorized),
        Credential::Basic(name, password) => {
            let verified = rpc::run_as(api, None, origin, |call| {
                login::verify_at_once(call, name, password.clone())
            });
            let refused = |error: ApiError| {
                refuse(if error.is_of_database() { 503 } else { 401 }, error.data)
            };
            let verified = verified.map_err(refused)?;
            sessions::user(api, verified.userid, "", NO_ACCESS).map_err(refused)
        }
    }
}

/// `POST /login`, as a form or as JSON.
pub(crate) fn login(api: &Api, members: &Json, origin: &Origin) -> Reply {
    let text = |name: &str| members[name].as_str().unwrap_or_default().to_owned();
    let (username, password) = (text("username"), text("password"));
    let signed_in = rpc::run_as(api, None, origin, |call| {
        let verified = login::verify_at_once(call, &username, password)?;
        Ok((verified.userid, login::open(call, &username, verified)?))
    });
    match signed_in {
        Ok((userid, session)) => Reply {
            status: 200,
            body: Some(json!({
                "user": { "username": username, "name": username, "uuid": format!("user-{userid}") },
                "tenants": [fixed::tenant()],
                "version": fixed::version(),
                "controller": { "name": "vedette" },
                "session_cookie_name": COOKIES[0],
            })),
            session: Some(session),
        },
        Err(error) if error.is_of_database() => Reply::of(503, json!({ "error": error.data })),
        Err(error) => Reply::of(401, json!({ "error": error.data })),
    }
}

/// `POST /logout`
pub(crate) fn logout(api: &Api, request: &Request, origin: &Origin) -> Reply {
    let ended = user(api, request, origin).and_then(|user| {
        if matches!(request.credential, Credential::Session(_)) {
            rpc::run_as(api, Some(user), origin, login::sign_out)?;
        }
        Ok(())
    });
    match ended {
        Ok(()) => Reply { status: 200, body: Some(json!({})), session: Some(String::new()) },
        Err(failure) => failure.reply(),
    }
}
