//! Addresses of the Avi API: `/login`, `/logout` and `/api/TYPE`.

use std::net::SocketAddr;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use wire::http::decoded;

use super::{Http, LeaveOnDrop, bearer};
use crate::Api;
use crate::avi::{self, Credential, Reply, Request, Verb};
use crate::call::Gone;
use crate::rpc::Origin;

/// What the handler of an address does with a request.
type Work = fn(&Api, &Request, &Origin) -> Reply;

pub(super) async fn login(
    state: State<Http>,
    peer: ConnectInfo<SocketAddr>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/json"));
    let work: Work = if is_json { login_json } else { login_form };
    respond(state, peer, Method::POST, uri, headers, body, work).await
}

fn login_json(api: &Api, request: &Request, origin: &Origin) -> Reply {
    let members = serde_json::from_slice(&request.body).unwrap_or_default();
    avi::login(api, &members, origin)
}

fn login_form(api: &Api, request: &Request, origin: &Origin) -> Reply {
    let form = pairs(&String::from_utf8_lossy(&request.body));
    let members = form.into_iter().map(|(name, value)| (name, Json::from(value)));
    avi::login(api, &Json::Object(members.collect()), origin)
}

pub(super) async fn logout(
    state: State<Http>,
    peer: ConnectInfo<SocketAddr>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    respond(state, peer, Method::POST, uri, headers, body, avi::logout).await
}

pub(super) async fn object(
    state: State<Http>,
    peer: ConnectInfo<SocketAddr>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    respond(state, peer, method, uri, headers, body, avi::handle).await
}

async fn respond(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
    work: Work,
) -> Response {
    let Some(verb) = verb(&method) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let credential = credential(&headers);
    let secret = match &credential {
        Credential::Session(secret) | Credential::Bearer(secret) => Some(secret),
        _ => None,
    };
    let known = http.is_known(secret).await;
    let (body, permits) = match http.take(peer, &headers, known, body).await {
        Ok(taken) => taken,
        Err(refused) => return refused,
    };
    let secure = http.config.tls.is_some();
    let gone = Gone::default();
    let _leave = LeaveOnDrop(gone.clone());
    let request = request(verb, &uri, &headers, credential, &body);
    let answers = http.answers.clone();
    let done = tokio::task::spawn_blocking(move || {
        let mut reply = work(&http.api, &request, &Origin { peer: peer.ip(), gone });
        let body = reply.body.take().map(|body| body.to_string().into_bytes());
        (reply, body, permits)
    });
    match done.await {
        Ok((reply, body, permits)) => {
            let body = match body {
                None => None,
                Some(body) => match answers.whole(body).await {
                    Some(body) => Some(body),
                    None => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
                },
            };
            drop(permits);
            response(reply, body, secure)
        }
        Err(error) => {
            tracing::error!(%error, "a call of the Avi API panicked");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn verb(method: &Method) -> Option<Verb> {
    let known = [
        (Method::GET, Verb::Get),
        (Method::POST, Verb::Post),
        (Method::PUT, Verb::Put),
        (Method::PATCH, Verb::Patch),
        (Method::DELETE, Verb::Delete),
    ];
    known.into_iter().find(|(known, _)| known == method).map(|(_, verb)| verb)
}

fn request(
    verb: Verb,
    uri: &Uri,
    headers: &HeaderMap,
    credential: Credential,
    body: &Bytes,
) -> Request {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let host = uri.authority().map(ToString::to_string).or_else(|| text("host"));
    Request {
        verb,
        path: uri.path().trim_start_matches("/api/").to_owned(),
        query: pairs(uri.query().unwrap_or_default()),
        host: host.unwrap_or_else(|| "localhost".to_owned()),
        credential,
        csrf: text("x-csrftoken"),
        tenant: text("x-avi-tenant").or_else(|| text("x-avi-tenant-uuid")),
        body: body.to_vec(),
    }
}

/// A header goes before cookies.
fn credential(headers: &HeaderMap) -> Credential {
    if let Some(token) = bearer(headers) {
        return Credential::Bearer(token);
    }
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(encoded) = authorization.and_then(|value| value.strip_prefix("Basic ")) {
        let pair =
            STANDARD.decode(encoded.trim()).ok().and_then(|pair| String::from_utf8(pair).ok());
        return match pair.as_deref().and_then(|pair| pair.split_once(':')) {
            Some((name, password)) => Credential::Basic(name.to_owned(), password.to_owned()),
            None => Credential::None,
        };
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let session = cookies.filter_map(avi::cookie_of).next();
    session.map_or(Credential::None, Credential::Session)
}

/// Names and values of a query or a form.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
    };
    text.split('&').filter(|one| !one.is_empty()).map(pair).collect()
}

fn response(reply: Reply, body: Option<Bytes>, secure: bool) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let cache = (header::CACHE_CONTROL, "no-store");
    let kind = (header::CONTENT_TYPE, "application/json");
    let mut response = match body {
        Some(body) => (status, [kind, cache], body).into_response(),
        None => (status, [cache]).into_response(),
    };
    if let Some(session) = reply.session {
        for cookie in avi::cookies(&session, secure) {
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_queries_are_decoded() {
        let expected = [("name", "a b/c"), ("include_name", ""), ("p", "ä+%")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs("name=a+b%2Fc&include_name=&p=%C3%A4%2B%&"), expected);
    }

    #[test]
    fn a_header_goes_before_cookies() {
        let read = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            credential(&map)
        };
        let cookie = ("cookie", "csrftoken=t; avi-sessionid=s1; sessionid=s1; csrftoken=t");
        assert_eq!(read(&[]), Credential::None);
        assert_eq!(read(&[cookie]), Credential::Session("s1".to_owned()));
        let basic = ("authorization", "Basic QWRtaW46YTpi");
        assert_eq!(read(&[cookie, basic]), Credential::Basic("Admin".to_owned(), "a:b".to_owned()));
        assert_eq!(
            read(&[cookie, ("authorization", "Bearer x")]),
            Credential::Bearer("x".to_owned())
        );
        assert_eq!(read(&[("authorization", "Basic !")]), Credential::None);
    }
}
