//! Requests to the router, answered by a whole API.

use std::convert::Infallible;
use std::sync::Arc;

use ::history::service::Limits;
use axum::body::to_bytes;
use axum::http::Request;
use tower::ServiceExt;

use super::*;
use crate::testing::Server;

pub(super) struct Site {
    router: Router,
    pub(super) api: Arc<Api>,
    pub(super) clock: Arc<stdx::clock::SimClock>,
    pub(super) token: String,
    _server: Box<dyn std::any::Any>,
}

pub(super) fn site() -> Site {
    let server = Server::start();
    let token = server.login("Admin", "zabbix");
    let clock = Arc::clone(&server.clock);
    let (api, rest) = server.split();
    let api = Arc::new(api);
    let gate = Gate::new(Arc::clone(&api) as _, Limits::default(), Arc::default());
    let http = Http::new(Arc::clone(&api), gate, HttpConfig::default());
    Site { router: router(http), api, clock, token, _server: rest }
}

impl Site {
    pub(super) async fn ask(
        &self,
        request: axum::http::request::Builder,
        body: String,
    ) -> Response {
        let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 40_000)));
        let request: Request<Body> = request.extension(peer).body(Body::from(body)).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, address: &str) -> Response {
        self.ask(Request::get(address), String::new()).await
    }

    async fn call(&self, method: &str, accept: &str) -> Response {
        let request = Request::post("/api_jsonrpc.php")
            .header(header::CONTENT_TYPE, "application/json-rpc")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::ACCEPT_ENCODING, accept);
        let body = serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": {}, "id": 1 });
        self.ask(request, body.to_string()).await
    }
}

pub(super) fn told(answer: &Response, name: HeaderName) -> &str {
    answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn long_answers_of_the_api_are_encoded() {
    let site = site();
    for n in 0..60 {
        let params = serde_json::json!({ "name": format!("A group with the number {n}") });
        site.api.call("hostgroup.create", &params, &site.token, [127, 0, 0, 1].into()).unwrap();
    }
    let plain = site.call("hostgroup.get", "").await;
    assert_eq!(told(&plain, header::CONTENT_ENCODING), "");
    let text = to_bytes(plain.into_body(), 1 << 20).await.unwrap();
    let packed = site.call("hostgroup.get", "gzip, deflate").await;
    assert_eq!(told(&packed, header::CONTENT_ENCODING), "gzip");
    assert_eq!(told(&packed, header::VARY), "Accept-Encoding");
    assert_eq!(told(&packed, header::CACHE_CONTROL), "no-store");
    let packed = to_bytes(packed.into_body(), 1 << 20).await.unwrap();
    assert!(packed.len() * 2 < text.len(), "{} of {} bytes", packed.len(), text.len());
    let mut back = Vec::new();
    std::io::copy(&mut flate2::read::GzDecoder::new(&packed[..]), &mut back).unwrap();
    assert_eq!(back, text);
    let short = site.call("apiinfo.version", "gzip").await;
    assert_eq!(told(&short, header::CONTENT_ENCODING), "");
}

#[tokio::test]
async fn bookmarks_are_redirected_and_the_api_is_not() {
    let site = site();
    let answer = site.get("/zabbix/zabbix.php?action=problem.view&hostids[]=10084").await;
    assert_eq!(answer.status(), StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(told(&answer, header::LOCATION), "/problems?host=10084");
    let answer = site.get("/zabbix/api_jsonrpc.php").await;
    assert_eq!(answer.status(), StatusCode::PRECONDITION_FAILED);
    assert_eq!(told(&answer, header::X_CONTENT_TYPE_OPTIONS), "nosniff");
}

#[tokio::test]
async fn the_history_service_speaks_json() {
    let site = site();
    let post = async |call: &str, token: &str, kind: &str, body: &str| {
        let request = Request::post(format!("/api/history/{call}"))
            .header(header::CONTENT_TYPE, kind)
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        let answer = site.ask(request, body.to_owned()).await;
        let status = answer.status().as_u16();
        let bytes = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    };
    let json = "application/json; charset=utf-8";
    let token = site.token.as_str();
    let (status, text) = post("write", token, json, r#"{"sequence":4}"#).await;
    assert_eq!((status, text.as_str()), (200, r#"{"sequence":"4","kept":"0"}"#));
    assert_eq!(post("newest", token, json, r#"{"items":[]}"#).await, (200, String::new()));
    for (call, token, kind, body, status, reason) in [
        ("write", "nobody", json, "{}", 401, "not_signed_in"),
        ("range", "nobody", json, "{}", 401, "not_signed_in"),
        ("write", token, "text/plain", "{}", 400, "invalid"),
        ("write", token, json, "[", 400, "invalid"),
        ("write", token, json, "{\"x\":1}", 400, "invalid"),
        ("range", token, json, "{\"items\":[{\"itemid\":7}]}", 404, "no_item"),
        ("newest", token, json, "{\"count\":1001}", 400, "invalid"),
        ("trends", token, json, "{\"items\":[{}]}", 400, "invalid"),
    ] {
        let (found, text) = post(call, token, kind, body).await;
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (found, &answer["failure"]["reason"]),
            (status, &reason.into()),
            "{call} {body}"
        );
    }
    let long = format!("{{\"values\":[{{\"text\":\"{}\"}}]}}", "x".repeat(16 << 20));
    assert_eq!(post("write", token, json, &long).await.0, 413);
}

#[tokio::test]
async fn strangers_delay_no_other_client() {
    let site = site();
    let post = |address: &str, token: &str, length: usize, body: Body| {
        let request = Request::post(address)
            .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 40_000))))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_LENGTH, length);
        site.router.clone().oneshot(request.body(body).unwrap())
    };
    let never = || Body::from_stream(futures_util::stream::pending::<Result<Bytes, Infallible>>());
    // Of a stranger's write nothing is waited for.
    let answer = post("/api/history/write", "nobody", 16 << 20, never()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    // Bodies that are announced and do not come, for more memory than there is for all.
    let mut strangers = tokio::task::JoinSet::new();
    for _ in 0..40 {
        strangers.spawn(post("/api_jsonrpc.php", "nobody", 8 << 20, never()));
    }
    for _ in 0..40 {
        let answer = post("/api_jsonrpc.php", "nobody", 9 << 20, never()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    let body = r#"{"sequence":4}"#;
    let answer = post("/api/history/write", &site.token, body.len(), body.into()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let long = " ".repeat(9 << 20);
    let answer = post("/api_jsonrpc.php", &site.token, long.len(), long.into()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

#[tokio::test]
async fn links_of_messages_have_pages_for_strangers() {
    let site = site();
    let text = async |answer: Response| {
        let bytes = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    for method in [Method::GET, Method::POST] {
        let request = Request::builder().method(method).uri("/act/abc");
        let answer = site.ask(request, String::new()).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert_eq!(told(&answer, header::CONTENT_TYPE), "text/html; charset=utf-8");
        assert_eq!(told(&answer, header::CACHE_CONTROL), "no-store");
        assert!(told(&answer, header::CONTENT_SECURITY_POLICY).contains("form-action 'self'"));
        assert!(text(answer).await.contains("<h1>Unknown link</h1>"));
    }
    let answer = site.get("/act/style.css").await;
    assert_eq!(told(&answer, header::CONTENT_TYPE), "text/css; charset=utf-8");
    let long =
        |request: axum::http::request::Builder| request.header(header::CONTENT_LENGTH, "70000");
    for (request, body, status) in [
        (long(Request::post("/act/abc")), String::new(), 413),
        (long(Request::post("/act/reply")), String::new(), 413),
        (Request::post("/act/reply"), "{}".to_owned(), 400),
        (
            Request::post("/act/reply"),
            r#"{"token":"abc","from":"a","message_id":"","text":"t"}"#.to_owned(),
            404,
        ),
    ] {
        assert_eq!(site.ask(request, body).await.status().as_u16(), status);
    }
}

#[tokio::test]
async fn calendars_need_their_token_alone() {
    let site = site();
    let call = |method: &str, params: &serde_json::Value| {
        site.api.call(method, params, &site.token, [127, 0, 0, 1].into()).unwrap()
    };
    let layer = serde_json::json!({ "users": [{ "userid": 1 }], "start": 0 });
    let made = call("oncall.create", &serde_json::json!({ "name": "n", "layers": [layer] }));
    let made = call("oncall.ical", &serde_json::json!({ "scheduleid": made["scheduleids"][0] }));
    let answer = site.get(made["path"].as_str().unwrap()).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(told(&answer, header::CONTENT_TYPE), "text/calendar; charset=utf-8");
    assert_eq!(told(&answer, header::CACHE_CONTROL), "no-store");
    let text = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    assert!(text.starts_with(b"BEGIN:VCALENDAR\r\n"));
    for path in ["/oncall/x.ics", "/oncall/%27.ics", &format!("/oncall/{:064}.ics", 0)] {
        assert_eq!(site.get(path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
}
