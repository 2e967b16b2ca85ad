//! The history service over HTTP: the messages of `docs/history-service.proto` as JSON.
//!
//! A write is a call with one answer. The answer to a read is a line of JSON per message, sent as
//! the client takes them; a failure in the middle is the last line, `{"failure":{…}}`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use history::service::{Asker, Pages, Service};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;
use wire::history_service::{Failure, MESSAGE_BYTES_MAX, Page, ReadRequest, Reason};

use super::{Http, bearer, read_body};

#[derive(Serialize)]
struct Failed {
    failure: Failure,
}

fn status(failure: &Failure) -> StatusCode {
    StatusCode::from_u16(failure.reason().http_status()).unwrap_or(StatusCode::BAD_REQUEST)
}

fn refuse(failure: Failure) -> Response {
    (status(&failure), axum::Json(Failed { failure })).into_response()
}

/// What a request brings.
struct Asked<M> {
    message: M,
    asker: Asker,
}

async fn take<M: DeserializeOwned>(
    http: &Http,
    peer: SocketAddr,
    headers: &HeaderMap,
    body: Body,
) -> Result<Asked<M>, Response> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if kind.and_then(|kind| kind.split(';').next()).map(str::trim) != Some("application/json") {
        let text = "The body has to be JSON: Content-Type: application/json";
        return Err(refuse(Reason::Invalid.with(text)));
    }
    let token = bearer(headers);
    let (_room, body) =
        read_body(http, headers, (token.is_some(), MESSAGE_BYTES_MAX), body).await?;
    let message = serde_json::from_slice(&body)
        .map_err(|error| refuse(Reason::Invalid.with(format!("The message is wrong: {error}"))))?;
    Ok(Asked { message, asker: Asker { token, peer: peer.ip() } })
}

/// `POST /api/history/write`
pub(super) async fn write(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Asked { message, asker } = match take(&http, peer, &headers, body).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    // A full server lets the client wait: it has one write at a time on a connection.
    let Ok(permit) = Arc::clone(&http.calls).acquire_owned().await else {
        return refuse(Reason::Stopping.with("The server stops."));
    };
    let work = move || {
        let _permit = permit;
        http.api.write(&asker, message)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(reply) => {
            let status = reply.failure.as_ref().map_or(StatusCode::OK, status);
            (status, axum::Json(reply)).into_response()
        }
        Err(error) => refuse(broken(&error)),
    }
}

fn broken(error: &tokio::task::JoinError) -> Failure {
    tracing::error!(%error, "a call of the history service broke");
    Reason::Internal.with("Internal error. See the server's log.")
}

macro_rules! reads {
    ($($(#[$doc:meta])* $name:ident: $variant:ident;)*) => {$(
        $(#[$doc])*
        pub(super) async fn $name(
            State(http): State<Http>,
            ConnectInfo(peer): ConnectInfo<SocketAddr>,
            headers: HeaderMap,
            body: Body,
        ) -> Response {
            match take(&http, peer, &headers, body).await {
                Ok(Asked { message, asker }) => {
                    read(http, ReadRequest::$variant(message), asker).await
                }
                Err(refused) => refused,
            }
        }
    )*};
}

reads! {
    /// `POST /api/history/range`
    range: Range;
    /// `POST /api/history/newest`
    newest: Newest;
    /// `POST /api/history/trends`
    trends: Trends;
}

/// What is to be sent of an answer.
struct Rest {
    pages: Box<dyn Pages>,
    /// The answer counts until its reader has all of it.
    _permit: OwnedSemaphorePermit,
}

async fn read(http: Http, message: ReadRequest, asker: Asker) -> Response {
    let Ok(permit) = Arc::clone(&http.reads).try_acquire_owned() else {
        let text = format!("{} answers are sent at once already.", http.config.reads_max);
        return refuse(Reason::Busy.with(text));
    };
    let begin = tokio::task::spawn_blocking(move || http.api.read(&asker, message)).await;
    let pages = match begin.unwrap_or_else(|error| Err(broken(&error))) {
        Ok(pages) => pages,
        Err(failure) => return refuse(failure),
    };
    let rest = Some(Rest { pages, _permit: permit });
    let stream = futures_util::stream::unfold(rest, |rest| async move {
        let mut rest = rest?;
        let next = tokio::task::spawn_blocking(move || (rest.pages.next(), rest)).await;
        let (line, rest) = match next {
            Ok((Ok(None), _)) => return None,
            Ok((Ok(Some(Page::Samples(page))), rest)) => (line(&page), Some(rest)),
            Ok((Ok(Some(Page::Trends(page))), rest)) => (line(&page), Some(rest)),
            Ok((Err(failure), _)) => (line(&Failed { failure }), None),
            Err(error) => (line(&Failed { failure: broken(&error) }), None),
        };
        Some((Ok::<_, Infallible>(line), rest))
    });
    let said =
        [(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")];
    (said, Body::from_stream(stream)).into_response()
}

fn line(message: &impl Serialize) -> Bytes {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line.into()
}
