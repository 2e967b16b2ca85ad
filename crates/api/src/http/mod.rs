//! HTTP: the API's addresses, the live stream, the UI's files.

mod act;
mod avi;
mod connections;
mod encoding;
mod history;
mod live;
mod oncall;
mod outlet;
mod policy;
mod proxies;
mod redirect;
mod room;
mod ui;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::history::service::Gate;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Extension, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use stdx::seats::Seat;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Api;
use crate::answer::Answer;
use crate::call::Gone;
use crate::rpc::{self, Origin};
use outlet::Sent;
use room::{Budget, Room, Strangers, read_body};

use connections::Site;
pub use connections::{Listening, Stream};
pub use proxies::{Proxies, ProxiesError};

/// How the API is served.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Certificate chain and private key (PEM); without them plain HTTP.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Reverse proxies, whose clients count as sources of their own.
    pub proxies: Proxies,
    /// Largest body in bytes of a request with a good bearer token.
    pub body_bytes_max: usize,
    /// The same without one: sign-in needs little, old clients put their session into the body.
    pub stranger_body_bytes_max: usize,
    /// Bytes of all bodies in memory at once; further ones wait.
    pub bodies_bytes_max: usize,
    /// The same of clients without a good token, who never delay the others. A source (see
    /// [`stdx::seats::source`]) may have a quarter.
    pub stranger_bodies_bytes_max: usize,
    /// Bytes of all answers in memory at once. A large answer waits for room between its blocks.
    pub answers_bytes_max: usize,
    /// Calls worked on at once; others wait.
    pub calls_max: usize,
    /// The same of clients without a good token. A source may have a quarter.
    pub stranger_calls_max: usize,
    /// Connections at once. Further ones replace idle ones.
    pub connections_max: usize,
}

/// Connections of a server at once.
pub(crate) const CONNECTIONS_MAX: usize = 2_048;
/// Bytes of all bodies of known clients, of all others, and of all answers.
const BODIES_BYTES_MAX: usize = 256 << 20;
const STRANGER_BODIES_BYTES_MAX: usize = 64 << 20;
const ANSWERS_BYTES_MAX: usize = 64 << 20;
/// Of one body. The largest official template has 1.1 MB, all of them together 21 MB.
const BODY_BYTES_MAX: usize = 64 << 20;
const STRANGER_BODY_BYTES_MAX: usize = 8 << 20;

/// Bytes that requests and responses may have in memory at once.
pub(crate) const BYTES_MAX: usize =
    BODIES_BYTES_MAX + STRANGER_BODIES_BYTES_MAX + ANSWERS_BYTES_MAX;

const _: () = assert!(BODY_BYTES_MAX <= BODIES_BYTES_MAX, "the largest body fits the budget");
const _: () = assert!(
    STRANGER_BODY_BYTES_MAX <= STRANGER_BODIES_BYTES_MAX / room::SHARES,
    "the largest body of a stranger fits the share of its source"
);

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            tls: None,
            proxies: Proxies::default(),
            body_bytes_max: BODY_BYTES_MAX,
            stranger_body_bytes_max: STRANGER_BODY_BYTES_MAX,
            bodies_bytes_max: BODIES_BYTES_MAX,
            stranger_bodies_bytes_max: STRANGER_BODIES_BYTES_MAX,
            answers_bytes_max: ANSWERS_BYTES_MAX,
            calls_max: 64,
            stranger_calls_max: 32,
            connections_max: CONNECTIONS_MAX,
        }
    }
}

#[derive(Clone)]
struct Http {
    api: Arc<Api>,
    config: Arc<HttpConfig>,
    calls: Arc<Semaphore>,
    gate: Gate,
    bodies: Arc<Budget>,
    strangers: Arc<Strangers>,
    answers: outlet::Room,
}

impl Http {
    fn new(api: Arc<Api>, gate: Gate, config: HttpConfig) -> Self {
        let strangers = Strangers::new(config.stranger_calls_max, config.stranger_bodies_bytes_max);
        Self {
            api,
            calls: Arc::new(Semaphore::new(config.calls_max)),
            gate,
            bodies: Arc::new(Budget::new(config.bodies_bytes_max)),
            strangers: Arc::new(strangers),
            answers: outlet::Room::new(config.answers_bytes_max),
            config: Arc::new(config),
        }
    }

    /// Whether the bearer token is good.
    async fn is_known(&self, bearer: Option<&String>) -> bool {
        let Some(token) = bearer.cloned() else { return false };
        let api = Arc::clone(&self.api);
        tokio::task::spawn_blocking(move || api.is_signed_in(&token)).await.unwrap_or(false)
    }

    /// The body, and what the call may use from now until its answer is made.
    async fn take(
        &self,
        peer: SocketAddr,
        headers: &HeaderMap,
        known: bool,
        body: Body,
    ) -> Result<(Bytes, Permits), Response> {
        let (clock, config) = (&*self.api.deps.clock, &self.config);
        let busy = || StatusCode::SERVICE_UNAVAILABLE.into_response();
        if known {
            let limit = config.body_bytes_max;
            let (room, body) = read_body(&[&self.bodies], clock, headers, limit, body).await?;
            let call = Arc::clone(&self.calls).acquire_owned().await.map_err(|_| busy())?;
            return Ok((body, Permits { _room: room, calls: vec![call] }));
        }
        let share = self.strangers.share(peer.ip());
        let budgets = self.strangers.budgets(&share);
        let limit = config.stranger_body_bytes_max;
        let (room, body) = read_body(&budgets, clock, headers, limit, body).await?;
        let calls = self.strangers.call(&share).await.ok_or_else(busy)?;
        Ok((body, Permits { _room: room, calls: calls.into() }))
    }
}

/// Held by the thread that works on a call, which outlives a client that leaves.
struct Permits {
    _room: Room,
    calls: Vec<OwnedSemaphorePermit>,
}

/// Tells a call that its client has gone: the server drops the request's future then.
struct LeaveOnDrop(Gone);

impl Drop for LeaveOnDrop {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What the API and the UI are served with.
const ALPN: &[&str] = &["h2", "http/1.1"];

/// Serves API and UI on `listener` until `stop` resolves, and the history service behind `gate`.
/// The error is that of a certificate.
pub async fn serve(
    api: Arc<Api>,
    gate: Gate,
    config: HttpConfig,
    listener: tokio::net::TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let (tls, clock) = (config.tls.as_ref(), Arc::clone(&api.deps.clock));
    let listening = Listening::new(listener, tls, ALPN, config.connections_max, clock)?;
    let proxies = Arc::new(config.proxies.clone());
    let router = router(Http::new(Arc::clone(&api), gate, config));
    let accept = listening.run(move |stream, peer, seat| {
        let site = Site { router: router.clone(), proxies: Arc::clone(&proxies) };
        async move { connections::serve(stream, peer, seat, site).await }
    });
    tokio::select! {
        () = accept => {}
        () = write_accesses(Arc::clone(&api)) => {}
        () = provision_due(Arc::clone(&api)) => {}
        () = remove_ended_sessions(api) => {}
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

/// How often users of LDAP who stay signed in are looked for.
const PROVISION_EVERY: Duration = Duration::from_secs(60);

async fn provision_due(api: Arc<Api>) {
    loop {
        tokio::time::sleep(PROVISION_EVERY).await;
        let api = Arc::clone(&api);
        let work = move || crate::directory::due::provision_due(&api);
        drop(tokio::task::spawn_blocking(work).await);
    }
}

/// How often sessions that have ended are removed.
const ENDED_EVERY: Duration = Duration::from_secs(3_600);

async fn remove_ended_sessions(api: Arc<Api>) {
    let mut hour = tokio::time::interval(ENDED_EVERY);
    loop {
        hour.tick().await;
        let api = Arc::clone(&api);
        let work = move || {
            if let Err(error) = crate::session::remove_ended(&api) {
                tracing::warn!(%error, "cannot remove ended sessions; retrying in an hour");
            }
        };
        drop(tokio::task::spawn_blocking(work).await);
    }
}

fn router(state: Http) -> Router {
    Router::new()
        .route("/api_jsonrpc.php", any(api_call))
        .route("/zabbix/api_jsonrpc.php", any(api_call))
        .route("/api/live", get(live::live))
        .route("/api/history/write", post(history::write))
        .route("/api/history/range", post(history::range))
        .route("/api/history/newest", post(history::newest))
        .route("/api/history/trends", post(history::trends))
        .route("/act/style.css", get(act::style))
        .route("/act/reply", post(act::reply))
        .route("/act/{token}", get(act::show).post(act::act))
        .route("/oncall/{file}", get(oncall::calendar))
        .route("/login", post(avi::login).get(ui::file))
        .route("/logout", post(avi::logout).get(ui::file))
        .route("/api/{*path}", any(avi::object))
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
    seat: Option<Extension<Arc<Seat>>>,
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
    let known = http.is_known(bearer.as_ref()).await;
    let (body, permits) = match http.take(peer, &headers, known, body).await {
        Ok(taken) => taken,
        Err(refused) => return refused,
    };
    let busy = seat.as_ref().map(|seat| seat.busy());
    if matches!(busy, Some(None)) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let gone = Gone::default();
    let leave = LeaveOnDrop(gone.clone());
    let Permits { _room: room, calls } = permits;
    let (blocks, mut pieces) = outlet::outlet(&http.answers, &headers, calls);
    tokio::task::spawn_blocking(move || {
        let _room = room;
        let origin = Origin { peer: peer.ip(), gone };
        let answer = Answer::through(Box::new(blocks));
        match rpc::handle(&http.api, &body, bearer.as_deref(), &origin, &answer) {
            Ok(()) => drop(answer.end()),
            Err(error) => tracing::debug!(%error, "an answer broke off"),
        }
    });
    let (encoding, body) = match pieces.first().await {
        Some(Sent::Whole(encoding, bytes)) => (encoding, Body::from(bytes)),
        Some(Sent::Stream(encoding)) => (encoding, pieces.into_body((leave, busy))),
        None => {
            tracing::error!("an API call panicked");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let said = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Accept-Encoding"),
    ];
    let mut response = (StatusCode::OK, said, CORS, body).into_response();
    if let Some(encoding) = encoding {
        let name = HeaderValue::from_static(encoding.name());
        response.headers_mut().insert(header::CONTENT_ENCODING, name);
    }
    response
}

/// The token of the header. A header of another form, `bearer` too, is no token: the `auth` member
/// counts then, as in the reference.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or("");
    value.strip_prefix("Bearer ").map(|token| token.trim().to_owned())
}

#[cfg(test)]
mod tests;
