//! Links of messages: a page that says what a link does, and a button that does it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Http;
use crate::links::page::{STYLE, page, refusal};
use crate::links::{self, About, Refusal};

/// Browsers send an empty form.
const BODY_BYTES_MAX: usize = 4 * 1024;
/// A comment, and what identifies it.
const REPLY_BYTES_MAX: usize = 64 * 1024;

/// `GET /act/TOKEN`: changes nothing, because programs that look for malware follow links of mails.
pub(super) async fn show(
    state: State<Http>,
    peer: ConnectInfo<SocketAddr>,
    token: Path<String>,
    headers: HeaderMap,
) -> Response {
    answer(state, peer, token, headers, Body::empty(), links::look).await
}

/// `POST /act/TOKEN`
pub(super) async fn act(
    state: State<Http>,
    peer: ConnectInfo<SocketAddr>,
    token: Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    answer(state, peer, token, headers, body, links::act).await
}

/// `GET /act/style.css`
pub(super) async fn style() -> Response {
    let said = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (StatusCode::OK, said, STYLE).into_response()
}

/// `POST /act/reply`: a response to a message, from a program of the mail server. The token is all that it needs.
pub(super) async fn reply(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if is_long(&headers, REPLY_BYTES_MAX) {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    let (body, permits) = match http.take(peer, &headers, false, body).await {
        Ok(taken) => taken,
        Err(refused) => return refused,
    };
    let Ok(response) = serde_json::from_slice::<links::Response>(&body) else {
        return (StatusCode::BAD_REQUEST, "The body is no response.\n").into_response();
    };
    let api = Arc::clone(&http.api);
    let done = tokio::task::spawn_blocking(move || {
        let _permits = permits;
        links::reply(&api, &response, peer.ip())
    });
    match done.await {
        Ok(Ok(())) => StatusCode::OK.into_response(),
        Ok(Err(refused)) => refusal(&refused).into_response(),
        Err(_) => {
            tracing::error!("the work for a response panicked");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn is_long(headers: &HeaderMap, limit: usize) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    length.and_then(|text| text.parse().ok()).is_some_and(|bytes: usize| bytes > limit)
}

type Work = fn(&crate::Api, &str, std::net::IpAddr) -> Result<About, Refusal>;

async fn answer(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(token): Path<String>,
    headers: HeaderMap,
    body: Body,
    work: Work,
) -> Response {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|text| text.parse().ok()).is_some_and(|bytes: usize| bytes > BODY_BYTES_MAX)
    {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    // Who has a link is a stranger: what strangers may use at once bounds this, too.
    let (_, permits) = match http.take(peer, &headers, false, body).await {
        Ok(taken) => taken,
        Err(refused) => return refused,
    };
    let api = Arc::clone(&http.api);
    let done = tokio::task::spawn_blocking(move || {
        let _permits = permits;
        page(&work(&api, &token, peer.ip()))
    });
    let Ok((status, html)) = done.await else {
        tracing::error!("the work for a link panicked");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let said =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    (status, said, html).into_response()
}
