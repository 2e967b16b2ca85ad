//! HTTP: the API's addresses, the live stream, the UI's files.

mod connections;
mod encoding;
mod history;
mod policy;
mod redirect;
mod ui;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::history::service::Gate;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

use crate::{Api, session};

pub use connections::{Listening, Stream};

/// How the API is served.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Certificate chain and private key (PEM); without them plain HTTP.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Largest body in bytes of a request with a good bearer token.
    pub body_bytes_max: usize,
    /// The same without one: sign-in needs little, old clients put their session into the body.
    pub stranger_body_bytes_max: usize,
    /// Bytes of all bodies in memory at once; further requests wait.
    pub bodies_bytes_max: usize,
    /// The same of those without a good token: strangers keep nobody waiting but each other.
    pub stranger_bodies_bytes_max: usize,
    /// Calls worked on at once; others wait.
    pub calls_max: usize,
}

impl Default for HttpConfig {
    fn default() -> Self {
        // The largest official template has 1.1 MB, all of them together 21 MB.
        Self {
            tls: None,
            body_bytes_max: 64 << 20,
            stranger_body_bytes_max: 8 << 20,
            bodies_bytes_max: 256 << 20,
            stranger_bodies_bytes_max: 64 << 20,
            calls_max: 64,
        }
    }
}

/// A client that has not sent a whole body by then is answered with 408.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone)]
struct Http {
    api: Arc<Api>,
    config: Arc<HttpConfig>,
    calls: Arc<Semaphore>,
    gate: Gate,
    /// One permit a KiB.
    bodies: Arc<Semaphore>,
    /// The same for those whose token is not known to be good.
    stranger_bodies: Arc<Semaphore>,
}

impl Http {
    fn new(api: Arc<Api>, gate: Gate, config: HttpConfig) -> Self {
        let room = |bytes: usize| Arc::new(Semaphore::new(bytes / 1024));
        Self {
            api,
            calls: Arc::new(Semaphore::new(config.calls_max)),
            gate,
            bodies: room(config.bodies_bytes_max),
            stranger_bodies: room(config.stranger_bodies_bytes_max),
            config: Arc::new(config),
        }
    }

    /// Where a body of such a client has its room, and how many bytes it may have.
    async fn room(&self, bearer: Option<&String>) -> (&Arc<Semaphore>, usize) {
        if let Some(token) = bearer.cloned() {
            let api = Arc::clone(&self.api);
            let known = tokio::task::spawn_blocking(move || api.is_signed_in(&token));
            if known.await.unwrap_or(false) {
                return (&self.bodies, self.config.body_bytes_max);
            }
        }
        (&self.stranger_bodies, self.config.stranger_body_bytes_max)
    }
}

/// Serves API and UI on `listener` until `stop` resolves, and the history service behind `gate`.
/// The error is that of a certificate.
pub async fn serve(
    api: Arc<Api>,
    gate: Gate,
    config: HttpConfig,
    listener: tokio::net::TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let listening =
        Listening::new(listener, config.tls.as_ref(), "", connections::CONNECTIONS_MAX)?;
    let router = router(Http::new(Arc::clone(&api), gate, config));
    let accept = listening.run(move |stream, peer| {
        let router = router.clone();
        async move { connections::serve(stream, peer, router).await }
    });
    tokio::select! {
        () = accept => {}
        () = write_accesses(api) => {}
        () = stop => {}
    }
    Ok(())
}

/// Sessions and tokens that were used: a server that is killed has forgotten at most so much.
const ACCESSES_EVERY: Duration = Duration::from_secs(5);

async fn write_accesses(api: Arc<Api>) {
    loop {
        tokio::time::sleep(ACCESSES_EVERY).await;
        let api = Arc::clone(&api);
        drop(tokio::task::spawn_blocking(move || api.write_accesses()).await);
    }
}

fn router(state: Http) -> Router {
    Router::new()
        .route("/api_jsonrpc.php", any(api_call))
        .route("/zabbix/api_jsonrpc.php", any(api_call))
        .route("/api/live", get(live))
        .route("/api/history/write", post(history::write))
        .route("/api/history/range", post(history::range))
        .route("/api/history/newest", post(history::newest))
        .route("/api/history/trends", post(history::trends))
        .fallback(get(ui::file))
        .layer(axum::middleware::map_response(policy::apply))
        .with_state(state)
}

const CORS: [(HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, Authorization"),
    (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS"),
];

async fn api_call(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    method: Method,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if method == Method::OPTIONS {
        return (StatusCode::OK, CORS, "").into_response();
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    let known = ["application/json-rpc", "application/json", "application/jsonrequest"];
    if method != Method::POST || !known.contains(&kind) {
        return StatusCode::PRECONDITION_FAILED.into_response();
    }
    let bearer = bearer(&headers);
    let (bodies, limit) = http.room(bearer.as_ref()).await;
    let (_room, body) = match read_body(bodies, &headers, limit, body).await {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    let Ok(_permit) = Arc::clone(&http.calls).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let call = move || {
        let text = http.api.handle(&body, bearer.as_deref(), peer.ip());
        encoding::encode(text.unwrap_or_default(), &headers)
    };
    match tokio::task::spawn_blocking(call).await {
        Ok((encoding, bytes)) => {
            let said = [
                (header::CONTENT_TYPE, "application/json"),
                (header::CACHE_CONTROL, "no-store"),
                (header::VARY, "Accept-Encoding"),
            ];
            let mut answer = (StatusCode::OK, said, CORS, bytes).into_response();
            if let Some(encoding) = encoding {
                let name = HeaderValue::from_static(encoding.name());
                answer.headers_mut().insert(header::CONTENT_ENCODING, name);
            }
            answer
        }
        Err(error) => {
            tracing::error!(%error, "an API call broke");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The body, of at most so many bytes, with its share of the memory for bodies, or the answer that
/// refuses it.
async fn read_body(
    bodies: &Arc<Semaphore>,
    headers: &HeaderMap,
    limit: usize,
    body: Body,
) -> Result<(OwnedSemaphorePermit, Bytes), Response> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
    // A body of unknown length may become as long as the limit.
    let length: usize = length.unwrap_or(limit);
    if length > limit {
        let text = format!("The request has {length} bytes, {limit} are taken.\n");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, text).into_response());
    }
    let share = u32::try_from(length / 1024 + 1).unwrap_or(u32::MAX);
    let Ok(room) = Arc::clone(bodies).acquire_many_owned(share).await else {
        return Err(StatusCode::SERVICE_UNAVAILABLE.into_response());
    };
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok((room, bytes)),
        Ok(Err(_)) => {
            let text = format!("The body broke off, or is longer than {limit} bytes.\n");
            Err((StatusCode::PAYLOAD_TOO_LARGE, text).into_response())
        }
        Err(_) => {
            let text = format!("The body did not arrive within {} s.\n", BODY_TIMEOUT.as_secs());
            Err((StatusCode::REQUEST_TIMEOUT, text).into_response())
        }
    }
}

/// The token of the header. A header of another form, `bearer` too, is no token: the `auth` member
/// counts then, as in the reference.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or("");
    value.strip_prefix("Bearer ").map(|token| token.trim().to_owned())
}

#[derive(serde::Deserialize)]
struct LiveQuery {
    token: String,
}

/// Server-sent events for signed-in browsers: what got values, that problems changed.
async fn live(State(http): State<Http>, Query(query): Query<LiveQuery>) -> Response {
    let api = Arc::clone(&http.api);
    let user = tokio::task::spawn_blocking(move || session::authenticate(&api, Some(&query.token)));
    if !matches!(user.await, Ok(Ok(_))) {
        return (StatusCode::UNAUTHORIZED, "Session terminated, re-login, please.").into_response();
    }
    let notes = http.api.deps.hub.listen();
    let stream = futures_util::stream::unfold(notes, |mut notes| async move {
        let (name, data) = match notes.recv().await {
            Ok(note) => note.event(),
            // Too slow: it missed notes and reads everything again.
            Err(broadcast::error::RecvError::Lagged(_)) => crate::LiveNote::Config.event(),
            Err(broadcast::error::RecvError::Closed) => return None,
        };
        let event = Event::default().event(name).data(data.to_string());
        Some((Ok::<_, Infallible>(event), notes))
    });
    // Each event leaves at once: nothing here encodes or collects the stream, and a reverse proxy in
    // front is asked not to either.
    let unbuffered = [(HeaderName::from_static("x-accel-buffering"), "no")];
    (unbuffered, Sse::new(stream).keep_alive(KeepAlive::default())).into_response()
}

#[cfg(test)]
mod tests;
