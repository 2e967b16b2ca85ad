//! The history service over HTTP: the messages of `docs/history-service.proto` as JSON.
//!
//! A write is a call with one answer. The answer to a read is a line of JSON per message, sent as
//! the client takes them; a failure in the middle is the last line, `{"failure":{…}}`.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use history::service::Asker;
use serde::Serialize;
use wire::history_service::{
    Failure, MESSAGE_BYTES_MAX, Page, ReadRequest, Reason, Request, from_json,
};

use super::room::{Room, read_body};
use super::{Http, bearer};

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
struct Asked {
    body: Bytes,
    /// Until the body has been read.
    _room: Room,
    asker: Asker,
}

impl Asked {
    async fn take(
        http: &Http,
        peer: SocketAddr,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Self, Response> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if kind.and_then(|kind| kind.split(';').next()).map(str::trim) != Some("application/json") {
            let text = "The body has to be JSON: Content-Type: application/json";
            return Err(refuse(Reason::Invalid.with(text)));
        }
        let asker = Asker { token: bearer(headers), peer: peer.ip() };
        // Nothing is read of strangers.
        http.gate.admit(&asker).await.map_err(refuse)?;
        let (budgets, clock) = ([&*http.bodies], &*http.api.deps.clock);
        let (_room, body) = read_body(&budgets, clock, headers, MESSAGE_BYTES_MAX, body).await?;
        Ok(Self { body, _room, asker })
    }

    fn message<M: Request>(&self) -> Result<M, Failure> {
        from_json(&self.body)
    }
}

/// `POST /api/history/write`
pub(super) async fn write(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let asked = match Asked::take(&http, peer, &headers, body).await {
        Ok(asked) => asked,
        Err(refused) => return refused,
    };
    let asker = asked.asker.clone();
    let reply = http.gate.write(&asker, move || asked.message()).await;
    let status = reply.failure.as_ref().map_or(StatusCode::OK, status);
    (status, axum::Json(reply)).into_response()
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
            match Asked::take(&http, peer, &headers, body).await {
                Ok(asked) => read(http, asked, |asked| asked.message().map(ReadRequest::$variant)).await,
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

async fn read(
    http: Http,
    asked: Asked,
    message: fn(&Asked) -> Result<ReadRequest, Failure>,
) -> Response {
    let asker = asked.asker.clone();
    let answer = match http.gate.read(&asker, move || message(&asked)).await {
        Ok(answer) => answer,
        Err(failure) => return refuse(failure),
    };
    let lines = futures_util::stream::unfold(answer, |mut answer| async move {
        let line = match answer.next().await? {
            Ok(Page::Samples(page)) => line(&page),
            Ok(Page::Trends(page)) => line(&page),
            Err(failure) => line(&Failed { failure }),
        };
        Some((Ok::<_, Infallible>(line), answer))
    });
    let said =
        [(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")];
    (said, Body::from_stream(lines)).into_response()
}

fn line(message: &impl Serialize) -> Bytes {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line.into()
}
