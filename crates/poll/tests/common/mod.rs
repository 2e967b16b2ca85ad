//! Pollers in a box, and agents that answer what they are told to.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use collect::testing::rig::{Ground, Shards};
pub(crate) use collect::testing::rig::{host, item, snapshot};
use collect::{Context, Remembered};
use config::Snapshot;
use eval::key::ItemKey;
use model::HostId;
use poll::{
    Deps, Handle, InternalValue, Internals, PollConfig, Pollers, ScriptAnswer, ScriptCall, Scripts,
};
use stdx::listening::free_address;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::zbxd;

struct FakeInternals;

impl Internals for FakeInternals {
    fn value(&self, host: HostId, key: &ItemKey) -> Result<InternalValue, String> {
        match key.param(0).as_deref() {
            Some("boottime") => Ok(InternalValue::Unsigned(host.0)),
            Some("version") => Ok(InternalValue::Text(String::from("7.0.0"))),
            Some("nothing") => Ok(InternalValue::Nothing),
            _ => Err(String::from("Invalid first parameter.")),
        }
    }
}

impl Scripts for FakeInternals {
    fn run(&self, _: ScriptCall) -> ScriptAnswer {
        Box::pin(async { Err(String::from("Scripts cannot be run here.")) })
    }
}

/// Timeout of checks that get a response.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Running pollers with everything around them.
pub(crate) struct Rig {
    pub(crate) handle: Handle,
    pub(crate) context: Arc<Context>,
    pub(crate) shards: Arc<Shards>,
    pub(crate) configuration: Arc<RwLock<Arc<Snapshot>>>,
}

impl Rig {
    pub(crate) async fn start(snapshot: Snapshot) -> Self {
        Self::start_with(snapshot, LONG, |_| {}).await
    }

    pub(crate) async fn start_with(
        snapshot: Snapshot,
        timeout: Duration,
        change: impl FnOnce(&mut PollConfig),
    ) -> Self {
        let Ground { context, shards, configuration } =
            Ground::new(snapshot, Remembered::default(), timeout);
        let mut config = PollConfig { pollers: Some(2), ..PollConfig::default() };
        change(&mut config);
        let (internals, scripts) = (Arc::new(FakeInternals), Arc::new(FakeInternals));
        let deps = Deps { internals, scripts, discovered: None };
        let handle = Pollers::start(config, Arc::clone(&context), deps).unwrap();
        Self { handle, context, shards, configuration }
    }

    pub(crate) fn configure(&self, snapshot: Snapshot) {
        *self.configuration.write().unwrap() = Arc::new(snapshot);
    }
}

/// How a fake agent behaves.
#[derive(Debug, Default)]
pub(crate) struct Behaviour {
    /// Understands plain text only.
    pub(crate) old: bool,
    /// Time before each answer.
    pub(crate) delay: Duration,
    /// Closes connections without an answer.
    pub(crate) deny: bool,
    /// Answers by key; `None` in the map = the item is not supported.
    pub(crate) values: HashMap<String, Option<String>>,
}

/// An agent on loopback.
pub(crate) struct FakeAgent {
    pub(crate) port: u16,
    pub(crate) behaviour: Arc<Mutex<Behaviour>>,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    /// Most connections that were open at one time.
    pub(crate) open_max: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl FakeAgent {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        Self::start_at(free_address().unwrap().port(), behaviour).await
    }

    pub(crate) async fn start_at(port: u16, behaviour: Behaviour) -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(SocketAddr::new(IpAddr::from([127, 0, 0, 1]), port)).unwrap();
        let listener: TcpListener = socket.listen(1024).unwrap();
        let port = listener.local_addr().unwrap().port();
        let behaviour = Arc::new(Mutex::new(behaviour));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (open, open_max) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let task = tokio::spawn({
            let (behaviour, requests) = (Arc::clone(&behaviour), Arc::clone(&requests));
            let open_max = Arc::clone(&open_max);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (behaviour, requests) = (Arc::clone(&behaviour), Arc::clone(&requests));
                    let (open, open_max) = (Arc::clone(&open), Arc::clone(&open_max));
                    tokio::spawn(async move {
                        let now = open.fetch_add(1, Ordering::SeqCst) + 1;
                        open_max.fetch_max(now, Ordering::SeqCst);
                        serve_agent(stream, behaviour, requests, open).await;
                    });
                }
            }
        });
        Self { port, behaviour, requests, open_max, task }
    }

    pub(crate) fn stop(&self) {
        self.task.abort();
    }
}

async fn serve_agent(
    mut stream: TcpStream,
    behaviour: Arc<Mutex<Behaviour>>,
    requests: Arc<Mutex<Vec<String>>>,
    open: Arc<AtomicUsize>,
) {
    use wire::agent::passive::{Answer, Dialect, Request, encode_answer};
    let mut decoder = zbxd::Decoder::new(zbxd::Limits::AGENT_REQUEST);
    let frame = loop {
        let mut bytes = [0; 4096];
        let Ok(n) = stream.read(&mut bytes).await else { return };
        if n == 0 {
            return;
        }
        if let Some(frame) = decoder.feed(&bytes[..n]).unwrap().only().unwrap() {
            break frame;
        }
    };
    let text = frame.text().into_owned();
    requests.lock().unwrap().push(text.clone());
    let (answer, dialect, delay) = {
        let behaviour = behaviour.lock().unwrap();
        if behaviour.deny {
            return;
        }
        let request = Request::parse(&text);
        let dialect = if behaviour.old { Dialect::Plain } else { request.dialect };
        let key =
            if behaviour.old { text.clone() } else { request.check.unwrap().key.into_owned() };
        let answer = match behaviour.values.get(&key) {
            Some(Some(value)) => Answer::Value(value.clone().into()),
            _ => Answer::NotSupported(format!("no {key} here").into()),
        };
        (encode_answer(&answer, dialect, "7.0.0"), dialect, behaviour.delay)
    };
    let _ = dialect;
    tokio::time::sleep(delay).await;
    // Before the answer: who has it may connect again at once.
    open.fetch_sub(1, Ordering::SeqCst);
    let _ = stream.write_all(&zbxd::encode(answer.as_bytes(), zbxd::PROTOCOL)).await;
}
