//! A collector in a box: hand-built configuration, shards that keep everything, agents that
//! answer what they are told to.
#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "this is test code")]

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use collect::{
    Answer, Backend, Collector, CollectorConfig, Deps, Handle, InternalValue, Internals, Request,
};
use config::Snapshot;
use config::snapshot::{Host, Interface, Item, ItemExtra, ItemParts, ItemType, Tls};
use eval::interval::UpdateInterval;
use eval::key::ItemKey;
use model::{HostId, InterfaceId, ItemId, Payload, SeenAgent, Value, ValueBatch};
use stdx::clock::RealClock;
use stdx::queue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::zbxd;

pub(crate) const WAIT: Duration = Duration::from_secs(20);

/// An item with an update interval (empty = none).
pub(crate) fn item(id: u64, key: &str, kind: ItemType, delay: &str) -> Item {
    Item::from(ItemParts {
        id: ItemId(id),
        interval: (!delay.is_empty()).then(|| Arc::new(UpdateInterval::parse(delay).unwrap())),
        history_days: 90,
        trends_days: 365,
        ..ItemParts::unconfigured(HostId(0), kind, key.into())
    })
}

pub(crate) fn with_extra(mut item: Item, change: impl FnOnce(&mut ItemExtra)) -> Item {
    let mut extra = ItemExtra::default();
    change(&mut extra);
    item.extra = Some(Arc::new(extra));
    item
}

/// A host with an agent interface (id = the host's) at 127.0.0.1:`port`.
pub(crate) fn host(id: u64, name: &str, port: u16, mut items: Vec<Item>) -> Host {
    for item in &mut items {
        item.host = HostId(id);
        if item.kind == ItemType::Agent {
            item.poll_at(InterfaceId(id));
        }
    }
    items.sort_by(|a, b| a.key.cmp(&b.key));
    Host {
        host: name.into(),
        name: name.into(),
        interfaces: Box::new([Interface {
            id: InterfaceId(id),
            kind: 1,
            main: true,
            use_ip: true,
            ip: "127.0.0.1".into(),
            dns: "".into(),
            port,
            snmp: None,
            ipmi: None,
        }]),
        items: items.into_iter().map(Arc::new).collect(),
        ..Host::unconfigured(HostId(id))
    }
}

pub(crate) fn snapshot(revision: u64, hosts: Vec<Host>) -> Snapshot {
    let mut snapshot = Snapshot { revision, ..Snapshot::default() };
    for host in hosts {
        for item in &host.items {
            snapshot.items.insert(item.id, Arc::clone(item));
        }
        snapshot.host_ids.insert(Arc::clone(&host.host), host.id);
        snapshot.hosts.insert(host.id, Arc::new(host));
    }
    snapshot
}

/// What the fake shards do with a batch.
#[derive(Debug, Default)]
pub(crate) struct Shards {
    pub(crate) values: Mutex<Vec<Value>>,
    /// Drop acknowledgements: the values count as lost.
    pub(crate) lose: AtomicBool,
    /// Refuse the last value of each batch.
    pub(crate) refuse: AtomicBool,
    /// Take batches but do not report while set.
    pub(crate) hold: AtomicBool,
    pub(crate) batches: AtomicUsize,
}

impl Shards {
    /// (item, text) of all values in order of arrival.
    pub(crate) fn texts(&self) -> Vec<(u64, String)> {
        let text = |payload: &Payload| match payload {
            Payload::Text(text) => text.to_string(),
            Payload::Unsigned(n) => n.to_string(),
            Payload::Float(n) => n.to_string(),
            Payload::Log(log) => format!("log:{}:{}", log.0, log.1.timestamp),
            Payload::NotSupported(why) => format!("unsupported:{why}"),
            Payload::Meta => String::from("meta"),
        };
        let values = self.values.lock().unwrap();
        values.iter().map(|value| (value.item.0, text(&value.payload))).collect()
    }

    /// Waits until values of `item` satisfy `good`; gives them.
    pub(crate) async fn wait_for(
        &self,
        item: u64,
        good: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        let waiting = async {
            loop {
                let all = self.texts();
                let of: Vec<String> =
                    all.into_iter().filter(|(id, _)| *id == item).map(|(_, text)| text).collect();
                if good(&of) {
                    return of;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match tokio::time::timeout(WAIT, waiting).await {
            Ok(values) => values,
            Err(_) => panic!("item {item}: not the values expected: {:?}", self.texts()),
        }
    }
}

async fn run_shard(shards: Arc<Shards>, mut queue: queue::Receiver<ValueBatch>) {
    while let Some(batch) = queue.recv().await {
        shards.batches.fetch_add(1, Ordering::SeqCst);
        while shards.hold.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if shards.lose.load(Ordering::SeqCst) {
            continue;
        }
        let count = batch.values.len() as u64;
        shards.values.lock().unwrap().extend(batch.values);
        if let Some(part) = batch.ack {
            let failed = u64::from(shards.refuse.load(Ordering::SeqCst));
            part.report(count - failed, failed);
        }
    }
}

/// Requests that reached the backend, autoregistrations.
#[derive(Debug, Default)]
pub(crate) struct FakeBackend {
    pub(crate) seen: Mutex<Vec<String>>,
    pub(crate) registered: Mutex<Vec<SeenAgent>>,
    pub(crate) autoregistration: RwLock<Tls>,
}

impl Backend for FakeBackend {
    fn request(&self, request: Request) -> Option<Answer> {
        const KNOWN: [&str; 4] = ["history.push", "queue.get", "zabbix.stats", "item.test"];
        if !KNOWN.contains(&request.name.as_str()) {
            return None;
        }
        self.seen.lock().unwrap().push(request.name.clone());
        Some(Box::pin(async move {
            let scheduled = request.collector.queue(10).await.scheduled;
            format!(
                "{{\"response\":\"success\",\"data\":\"{}\",\"scheduled\":{scheduled}}}",
                request.name
            )
        }))
    }

    fn autoregistration_tls(&self) -> Tls {
        self.autoregistration.read().unwrap().clone()
    }

    fn autoregister(&self, seen: SeenAgent) {
        self.registered.lock().unwrap().push(seen);
    }
}

struct FakeInternals;

impl Internals for FakeInternals {
    fn value(&self, host: HostId, key: &ItemKey) -> Result<InternalValue, String> {
        match key.param(0).as_deref() {
            Some("boottime") => Ok(InternalValue::Unsigned(host.0)),
            Some("version") => Ok(InternalValue::Text(String::from("7.0.0"))),
            _ => Err(String::from("Invalid first parameter.")),
        }
    }
}

/// A running collector with everything around it.
pub(crate) struct Rig {
    pub(crate) handle: Handle,
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
        change: impl FnOnce(&mut CollectorConfig),
    ) -> Self {
        let configuration = Arc::new(RwLock::new(Arc::new(snapshot)));
        let shards = Arc::new(Shards::default());
        let mut queues = Vec::new();
        for _ in 0..3 {
            let (tx, rx) = queue::bounded("shard", 16);
            tokio::spawn(run_shard(Arc::clone(&shards), rx));
            queues.push(tx);
        }
        let backend = Arc::new(FakeBackend::default());
        let snapshots = Arc::clone(&configuration);
        let deps = Deps {
            clock: RealClock::shared(),
            snapshots: Arc::new(move || Arc::clone(&snapshots.read().unwrap())),
            shards: queues,
            backend: Arc::clone(&backend) as Arc<dyn Backend>,
            internals: Arc::new(FakeInternals),
            sightings: None,
        };
        let mut config = CollectorConfig {
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
            pollers: Some(2),
            ..CollectorConfig::default()
        };
        change(&mut config);
        let handle = Collector::start(config, deps).await.unwrap();
        Self { handle, shards, backend, configuration }
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
        Self::start_at(0, behaviour).await
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
