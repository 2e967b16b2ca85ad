//! Requests of the trapper port that need more than collection: those with a session id, and
//! statistics.

use std::sync::Arc;

use api::Api;
use collect::queue::QueueReport;
use internals::ServerFigures;
use listen::{Answer, Backend, Request};
use model::{DiscoveryResult, SeenAgent};
use pipeline::ScriptRunner;
use poll::{ScriptAnswer, ScriptCall, Scripts};
use serde_json::{Value as Json, json};
use stdx::queue::{Sender, TrySend};
use wire::failed;

const SERVED: [&str; 8] = [
    "alert.send",
    "expressions.evaluate",
    "history.push",
    "item.test",
    "preprocessing.test",
    "queue.get",
    "status.get",
    "zabbix.stats",
];

const NO_WEBDRIVER: &str =
    "Browser items need a WebDriver: start the server with --webdriver-url http://HOST:PORT.";

/// Answers them.
pub(crate) struct Requests {
    pub(crate) api: Arc<Api>,
    pub(crate) figures: Arc<ServerFigures>,
    pub(crate) pollers: poll::Status,
    pub(crate) discovered: Sender<DiscoveryResult>,
}

/// Runs the scripts of items.
pub(crate) struct ItemScripts {
    pub(crate) scripts: Arc<ScriptRunner>,
    /// Scripts of browser items; `None` = there is no WebDriver.
    pub(crate) browsers: Option<Arc<ScriptRunner>>,
}

impl Scripts for ItemScripts {
    fn run(&self, call: ScriptCall) -> ScriptAnswer {
        let runner =
            if call.browser { self.browsers.clone() } else { Some(Arc::clone(&self.scripts)) };
        Box::pin(async move {
            match runner {
                Some(runner) => runner.run(call.script, call.value, call.timeout).await,
                None => Err(NO_WEBDRIVER.to_owned()),
            }
        })
    }
}

impl Backend for Requests {
    fn request(&self, request: Request) -> Option<Answer> {
        let name = request.name.clone();
        if !SERVED.contains(&name.as_str()) {
            return None;
        }
        let api = Arc::clone(&self.api);
        let figures = Arc::clone(&self.figures);
        Some(Box::pin(async move {
            let work = move || answer(&api, &figures, &request);
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
                tracing::error!(%error, "a trapper request panicked");
                failed("Internal error. See the server's log.")
            })
        }))
    }

    fn queue(&self) -> Answer<QueueReport> {
        let pollers = self.pollers.clone();
        Box::pin(async move { pollers.queue(0).await })
    }

    fn autoregister(&self, seen: SeenAgent) {
        if !self.figures.config.snapshot().discovery.autoregisters {
            return;
        }
        if let Err(TrySend::Full(_)) = self.discovered.try_send(DiscoveryResult::Agent(seen)) {
            // The agent asks again within minutes.
            tracing::warn!("autoregistration queue is full; dropping request");
        }
    }
}

fn answer(api: &Api, figures: &ServerFigures, request: &Request) -> String {
    let Ok(message) = serde_json::from_str::<Json>(&request.text) else {
        return failed("The request is not valid JSON.");
    };
    match request.name.as_str() {
        "zabbix.stats" => {
            json!({ "response": "success", "data": figures.statistics() }).to_string()
        }
        "queue.get" => queue(api, figures, &message),
        "history.push" => push(api, request, &message),
        "alert.send" => send_alert(api, request, &message),
        "item.test" | "preprocessing.test" => test_item(api, request, &message),
        "expressions.evaluate" => evaluate(api, figures, &message),
        _ => status(api, figures, &message),
    }
}

/// The session id or token of a request.
fn sid(message: &Json) -> &str {
    message.get("sid").and_then(Json::as_str).unwrap_or("")
}

fn queue(api: &Api, figures: &ServerFigures, message: &Json) -> String {
    if !api.is_super_admin(sid(message)) {
        return failed("Permission denied.");
    }
    let kind = message.get("type").and_then(Json::as_str).unwrap_or("");
    let limit = message.get("limit").and_then(|n| n.as_u64().or_else(|| n.as_str()?.parse().ok()));
    let most = limit.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let Some(collector) = figures.meter.collector() else {
        return failed("The server is starting. Try again.");
    };
    // On a thread that may wait.
    let report = tokio::runtime::Handle::current().block_on(collector.queue(most));
    match internals::queue_rows(&report, kind, limit, figures.meter.now()) {
        Ok((rows, None)) => json!({ "response": "success", "data": rows }).to_string(),
        Ok((rows, Some(total))) => {
            json!({ "response": "success", "data": rows, "total": total }).to_string()
        }
        Err(error) => failed(&error),
    }
}

fn test_item(api: &Api, request: &Request, message: &Json) -> String {
    if !api.is_admin(sid(message)) {
        return failed("Permission denied.");
    }
    let Some(data) = message.get("data") else { return failed("The member \"data\" is missing.") };
    match api.call("item.test", data, sid(message), request.peer) {
        Ok(data) => json!({ "response": "success", "data": data }).to_string(),
        Err(error) => failed(&error.data),
    }
}

/// A test of a media type. Parameters of webhooks are members of an object there.
fn send_alert(api: &Api, request: &Request, message: &Json) -> String {
    if !api.is_super_admin(sid(message)) {
        return failed("Permission denied.");
    }
    let Some(data) = message.get("data").and_then(Json::as_object) else {
        return failed("Cannot parse request tag: data.");
    };
    if !data.contains_key("mediatypeid") {
        return failed("Cannot parse request tag: mediatypeid.");
    }
    let mut data = data.clone();
    data.insert("report_failure".to_owned(), Json::from(1));
    if let Some(Json::Object(named)) = data.get("parameters") {
        let pair = |(name, value): (&String, &Json)| json!({ "name": name, "value": value });
        let pairs = named.iter().map(pair).collect();
        data.insert("parameters".to_owned(), Json::Array(pairs));
    }
    match api.call("mediatype.test", &Json::Object(data), sid(message), request.peer) {
        Ok(sent) => {
            let ms = sent["duration"].as_str().and_then(|text| text.parse::<u64>().ok());
            let debug = json!({ "logs": sent["script_log"], "ms": ms });
            match &sent["error"] {
                error if error == "" => {
                    json!({ "response": "success", "data": sent["result"], "debug": debug })
                }
                error => json!({ "response": "failed", "info": error, "debug": debug }),
            }
            .to_string()
        }
        Err(error) if error.is_no_object() => failed("Cannot find the specified media type."),
        Err(error) => failed(&error.data),
    }
}

fn evaluate(api: &Api, figures: &ServerFigures, message: &Json) -> String {
    if !api.is_admin(sid(message)) {
        return failed("Permission denied.");
    }
    let Some(data) = message.get("data") else { return failed("The member \"data\" is missing.") };
    match api::item_test::expressions(data, figures.meter.timestamp()) {
        Ok(data) => json!({ "response": "success", "data": data }).to_string(),
        Err(error) => failed(&error),
    }
}

fn push(api: &Api, request: &Request, message: &Json) -> String {
    let client = message.get("clientip").and_then(Json::as_str).and_then(|ip| ip.parse().ok());
    let data = message.get("data").cloned().unwrap_or(Json::Null);
    let sid = sid(message);
    match api.call("history.push", &data, sid, client.unwrap_or(request.peer)) {
        Ok(answer) => answer.to_string(),
        Err(error) => failed(&error.data),
    }
}

/// The number that a counting SELECT gives; 0 if the database is unavailable.
fn rows_of(figures: &ServerFigures, sql: &str) -> usize {
    let rows = figures.config.read(|connection| connection.query(sql, &[]));
    let count = rows.ok().and_then(|rows| rows.first().map(|row| row.id("n")));
    count.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

/// `status.get`: what the front end shows of the server.
fn status(api: &Api, figures: &ServerFigures, message: &Json) -> String {
    if !api.is_signed_in(sid(message)) {
        return failed("Permission denied.");
    }
    let version = json!({ "version": "7.0.22" });
    if message.get("type").and_then(Json::as_str) == Some("ping") {
        return json!({ "response": "success", "data": { "server stats": version } }).to_string();
    }
    let snapshot = figures.config.snapshot();
    let hosts = |on: bool| snapshot.hosts.values().filter(|h| h.monitored == on).count();
    let items = |on: bool| snapshot.items.values().filter(|i| i.enabled == on).count();
    let triggers = |on: bool| snapshot.triggers.values().filter(|t| t.enabled == on).count();
    let row = |attributes: Json, count: usize| json!({ "attributes": attributes, "count": count });
    json!({
        "response": "success",
        "data": {
            "template stats": [{ "count": rows_of(figures, "SELECT COUNT(*) AS n FROM hosts WHERE kind = 1") }],
            "host stats": [
                row(json!({ "proxyid": 0, "status": 0 }), hosts(true)),
                row(json!({ "proxyid": 0, "status": 1 }), hosts(false)),
            ],
            "item stats": [
                row(json!({ "proxyid": 0, "status": 0, "state": 0 }), items(true)),
                row(json!({ "proxyid": 0, "status": 1 }), items(false)),
            ],
            "trigger stats": [
                row(json!({ "status": 0, "value": 0 }), triggers(true)),
                row(json!({ "status": 1 }), triggers(false)),
            ],
            "user stats": [row(
                json!({ "status": 0 }),
                rows_of(figures, "SELECT COUNT(*) AS n FROM users"),
            )],
            "server stats": version,
        },
    })
    .to_string()
}
