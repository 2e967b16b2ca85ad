//! HTTP: the API's addresses, the live stream, the UI's files.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio::sync::{Semaphore, broadcast};

use crate::{Api, session};

/// How the API is served.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Largest body of a request in bytes.
    pub body_bytes_max: usize,
    /// Requests worked on at once; others wait.
    pub requests_max: usize,
}

impl Default for HttpConfig {
    fn default() -> Self {
        // The largest official template is 1.1 MB; an import of all of them at once 21 MB.
        Self { body_bytes_max: 64 << 20, requests_max: 64 }
    }
}

#[derive(rust_embed::RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct UiFiles;

#[derive(Clone)]
struct Http {
    api: Arc<Api>,
    requests: Arc<Semaphore>,
}

/// Serves API and UI on `listener` until `stop` resolves.
pub async fn serve(
    api: Arc<Api>,
    config: HttpConfig,
    listener: tokio::net::TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let state = Http { api, requests: Arc::new(Semaphore::new(config.requests_max)) };
    let router = Router::new()
        .route("/api_jsonrpc.php", any(api_call))
        .route("/zabbix/api_jsonrpc.php", any(api_call))
        .route("/api/live", get(live))
        .fallback(get(ui_file))
        .layer(DefaultBodyLimit::max(config.body_bytes_max))
        .with_state(state)
        .into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, router).with_graceful_shutdown(stop).await
}

const CORS: [(header::HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, Authorization"),
    (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS"),
];

async fn api_call(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if method == Method::OPTIONS {
        return (StatusCode::OK, CORS, "").into_response();
    }
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("");
    let content_type = content_type.split(';').next().unwrap_or("").trim();
    let known = ["application/json-rpc", "application/json", "application/jsonrequest"];
    if method != Method::POST || !known.contains(&content_type) {
        return StatusCode::PRECONDITION_FAILED.into_response();
    }
    let bearer = bearer(&headers);
    let Ok(_permit) = Arc::clone(&http.requests).acquire_owned().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let answer =
        tokio::task::spawn_blocking(move || http.api.handle(&body, bearer.as_deref(), peer.ip()))
            .await;
    match answer {
        Ok(text) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (StatusCode::OK, json, CORS, text.unwrap_or_default()).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "an API call broke");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The token of the header, empty when the header has another form (which is then refused).
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or("");
    let token = value.strip_prefix("Bearer ").or_else(|| value.strip_prefix("bearer "));
    token.map(|token| token.trim().to_owned())
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
        loop {
            match notes.recv().await {
                Ok(note) => {
                    let (name, data) = note.event();
                    let event = Event::default().event(name).data(data.to_string());
                    return Some((Ok::<_, Infallible>(event), notes));
                }
                // Too slow: it missed notes and reads everything again.
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    let event = Event::default().event("config").data("{}");
                    return Some((Ok(event), notes));
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

/// A file of the UI; every other address is the UI itself, which knows its own pages.
async fn ui_file(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let (path, file) = match UiFiles::get(path) {
        Some(file) => (path, file),
        None => match UiFiles::get("index.html") {
            Some(file) if !path.starts_with("assets/") => ("index.html", file),
            _ => {
                let text = "The UI is not part of this build: run `make build`.\n";
                return (StatusCode::NOT_FOUND, text).into_response();
            }
        },
    };
    let kind = content_type(path);
    // Names under assets/ carry a hash of their content.
    let cache = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, cache),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    ];
    (headers, Body::from(file.data.into_owned())).into_response()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
