//! A trapper in a box, on hand-built configuration and shards that keep everything.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use collect::queue::QueueReport;
use collect::testing::rig::{Ground, Shards, WAIT};
pub(crate) use collect::testing::rig::{host, item, snapshot};
use collect::{Context, Remembered};
use config::Snapshot;
use listen::{Answer, Backend, Handle, Intake, ListenConfig, Listener, Request};
use model::SeenAgent;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::zbxd;

/// Requests that reached the backend, autoregistrations.
#[derive(Debug, Default)]
pub(crate) struct FakeBackend {
    pub(crate) seen: Mutex<Vec<String>>,
    pub(crate) registered: Mutex<Vec<SeenAgent>>,
}

impl Backend for FakeBackend {
    fn request(&self, request: Request) -> Option<Answer> {
        const KNOWN: [&str; 4] = ["history.push", "queue.get", "zabbix.stats", "item.test"];
        if !KNOWN.contains(&request.name.as_str()) {
            return None;
        }
        self.seen.lock().unwrap().push(request.name.clone());
        Some(Box::pin(async move {
            format!("{{\"response\":\"success\",\"data\":\"{}\"}}", request.name)
        }))
    }

    fn queue(&self) -> Answer<QueueReport> {
        Box::pin(async { QueueReport::default() })
    }

    fn autoregister(&self, seen: SeenAgent) {
        self.registered.lock().unwrap().push(seen);
    }
}

/// A running trapper with everything around it.
pub(crate) struct Rig {
    pub(crate) handle: Handle,
    pub(crate) intake: Intake,
    pub(crate) context: Arc<Context>,
    pub(crate) shards: Arc<Shards>,
    pub(crate) backend: Arc<FakeBackend>,
    pub(crate) configuration: Arc<RwLock<Arc<Snapshot>>>,
}

impl Rig {
    pub(crate) async fn start(snapshot: Snapshot) -> Self {
        Self::start_with(snapshot, |_| {}).await
    }

    pub(crate) async fn start_with(
        snapshot: Snapshot,
        change: impl FnOnce(&mut ListenConfig),
    ) -> Self {
        Self::start_again(snapshot, Remembered::default(), change).await
    }

    /// A start after a run that has left this.
    pub(crate) async fn start_again(
        snapshot: Snapshot,
        remembered: Remembered,
        change: impl FnOnce(&mut ListenConfig),
    ) -> Self {
        let Ground { context, shards, configuration } =
            Ground::new(snapshot, remembered, Duration::from_secs(3));
        let backend = Arc::new(FakeBackend::default());
        let mut config = ListenConfig {
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            ..ListenConfig::default()
        };
        change(&mut config);
        let bound = Listener::bind(config).await.unwrap();
        let intake = Intake::new(Arc::clone(&context));
        let handle = bound.start(&intake, Arc::clone(&backend) as _).unwrap();
        Self { handle, intake, context, shards, backend, configuration }
    }

    pub(crate) fn configure(&self, snapshot: Snapshot) {
        *self.configuration.write().unwrap() = Arc::new(snapshot);
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.handle.addresses()[0]
    }

    /// Sends a framed text, gives the answer's text; `None` = closed without an answer.
    pub(crate) async fn ask(&self, text: &str) -> Option<String> {
        self.ask_flags(text, zbxd::PROTOCOL).await.map(|(text, _)| text)
    }

    pub(crate) async fn ask_flags(&self, text: &str, flags: u8) -> Option<(String, u8)> {
        self.ask_bytes(&zbxd::encode(text.as_bytes(), flags)).await
    }

    /// Sends bytes; gives text and flags of the answer.
    pub(crate) async fn ask_bytes(&self, bytes: &[u8]) -> Option<(String, u8)> {
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        read_answer(&mut stream).await
    }

    /// The JSON answer.
    pub(crate) async fn json(&self, request: serde_json::Value) -> serde_json::Value {
        let answer = self.ask(&request.to_string()).await.expect("no answer");
        serde_json::from_str(&answer).expect(&answer)
    }
}

/// Reads until the other side closes.
pub(crate) async fn read_answer(stream: &mut TcpStream) -> Option<(String, u8)> {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(WAIT, stream.read_to_end(&mut bytes)).await;
    match read.expect("the connection is not closed") {
        // Closed with bytes of ours unread.
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        other => assert!(other.is_ok(), "{other:?}"),
    }
    if bytes.is_empty() {
        return None;
    }
    if !bytes.starts_with(b"ZBXD") {
        return Some((String::from_utf8(bytes).unwrap(), 0));
    }
    let flags = bytes[4];
    let mut decoder = zbxd::Decoder::new(zbxd::Limits::ANSWER);
    let frame = decoder.feed(&bytes).unwrap().only().unwrap().expect("the answer is cut short");
    Some((frame.text().into_owned(), flags))
}

/// `processed: 1; failed: 2; total: 3; …` as numbers.
pub(crate) fn counts(answer: &serde_json::Value) -> (usize, usize) {
    assert_eq!(answer["response"], "success", "{answer}");
    let outcome = wire::sender::Outcome::parse_info(answer["info"].as_str().unwrap()).unwrap();
    (outcome.processed, outcome.failed)
}
