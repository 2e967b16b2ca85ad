//! What collection alone costs, without preprocessing and history behind it:
//! `cargo run --release -p collect --example load -- trapper` and `-- agent`.
//!
//! `trapper`: one sender process-wide, messages of 1,000 values, shards that acknowledge at once.
//! `agent`: passive checks of hosts on 127.0.0.0/8 against an agent in this process. CPU of the
//! pollers is counted apart from that of the generator.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for the command line")]
#![allow(clippy::disallowed_methods, reason = "it measures wall time")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use collect::queue::QueueReport;
use collect::{Context, Parts, Remembered};
use config::Snapshot;
use config::snapshot::{Host, Interface, Item, ItemParts, ItemType};
use eval::interval::UpdateInterval;
use eval::key::ItemKey;
use listen::{Answer, Backend, Intake, ListenConfig, Listener};
use model::{HostId, InterfaceId, ItemId, ValueBatch, ValueType};
use poll::{
    Deps, InternalValue, Internals, PollConfig, Pollers, ScriptAnswer, ScriptCall, Scripts,
};
use stdx::queue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::zbxd;

const ITEMS_PER_HOST: u64 = 45;

struct Nobody;

impl Backend for Nobody {
    fn request(&self, _: listen::Request) -> Option<Answer> {
        None
    }

    fn queue(&self) -> Answer<QueueReport> {
        Box::pin(async { QueueReport::default() })
    }
}

impl Scripts for Nobody {
    fn run(&self, _: ScriptCall) -> ScriptAnswer {
        Box::pin(async { Err(String::from("not here")) })
    }
}

impl Internals for Nobody {
    fn value(&self, _: HostId, _: &ItemKey) -> Result<InternalValue, String> {
        Err(String::from("not here"))
    }
}

fn estate(hosts: u64, kind: ItemType, delay: &str, port: u16) -> Snapshot {
    let interval = Arc::new(UpdateInterval::parse(delay).unwrap());
    let steps = Arc::from(Vec::new());
    let empty: Arc<str> = Arc::from("");
    let mut snapshot = Snapshot { revision: 1, ..Snapshot::default() };
    let keys: Vec<Arc<str>> =
        (0..ITEMS_PER_HOST).map(|n| format!("vfs.fs.size[/data/{n},pused]").into()).collect();
    for id in 1..=hosts {
        let mut items: Vec<Arc<Item>> = (0..ITEMS_PER_HOST)
            .zip(&keys)
            .map(|(n, key)| {
                Arc::new(Item::from(ItemParts {
                    id: ItemId(id * 100 + n),
                    value_type: ValueType::Float,
                    interval: Some(Arc::clone(&interval)),
                    interface: InterfaceId(id),
                    steps: Arc::clone(&steps),
                    history_days: 1,
                    trends_days: 1,
                    ..ItemParts::unconfigured(HostId(id), kind, Arc::clone(key))
                }))
            })
            .collect();
        items.sort_by(|a, b| a.key.cmp(&b.key));
        for item in &items {
            snapshot.items.insert(item.id, Arc::clone(item));
        }
        let ip = Ipv4Addr::from_bits(0x7f01_0000 + u32::try_from(id).unwrap());
        let name: Arc<str> = format!("host-{id:06}").into();
        let host = Host {
            host: Arc::clone(&name),
            name,
            interfaces: Box::new([Interface {
                id: InterfaceId(id),
                kind: 1,
                main: true,
                use_ip: true,
                ip: ip.to_string().into(),
                dns: Arc::clone(&empty),
                port,
                snmp: None,
                ipmi: None,
            }]),
            items: items.into_boxed_slice(),
            ..Host::unconfigured(HostId(id))
        };
        snapshot.hosts.insert(Arc::new(host));
    }
    snapshot
}

fn start(snapshot: Snapshot) -> (Arc<Context>, Arc<AtomicU64>) {
    let stored = Arc::new(AtomicU64::new(0));
    let mut shards = Vec::new();
    for _ in 0..2 {
        let (tx, mut rx) = queue::bounded::<ValueBatch>("shard", 64);
        let stored = Arc::clone(&stored);
        tokio::spawn(async move {
            while let Some(batch) = rx.recv().await {
                let count = batch.values.len() as u64;
                stored.fetch_add(count, Ordering::Relaxed);
                if let Some(part) = batch.ack {
                    part.report(count, 0);
                }
            }
        });
        shards.push(tx);
    }
    let snapshot = Arc::new(snapshot);
    let parts = Parts {
        clock: stdx::clock::RealClock::shared(),
        snapshots: Arc::new(move || Arc::clone(&snapshot)),
        shards,
        tls: collect::tls::TlsConfig::default(),
        timeout: Duration::from_secs(3),
        remembered: Remembered::default(),
    };
    (Context::new(parts).unwrap(), stored)
}

async fn trapper(hosts: u64) {
    let (context, stored) = start(estate(hosts, ItemType::Trapper, "1m", 1));
    let config = ListenConfig {
        listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        ..ListenConfig::default()
    };
    let bound = Listener::bind(config).await.unwrap();
    let handle = bound.start(&Intake::new(context), Arc::new(Nobody)).unwrap();
    let address = handle.addresses()[0];
    let mut frames = Vec::new();
    let mut next = 0;
    for _ in 0..400 {
        let mut text = String::from("{\"request\":\"sender data\",\"data\":[");
        for n in 0..1000 {
            let (host, item) = (next / ITEMS_PER_HOST % hosts + 1, next % ITEMS_PER_HOST);
            next += 1;
            let comma = if n == 0 { "" } else { "," };
            text.push_str(&format!(
                "{comma}{{\"host\":\"host-{host:06}\",\"key\":\"vfs.fs.size[/data/{item},pused]\",\
                 \"value\":\"{}.{item}\",\"clock\":1700000000,\"ns\":{n}}}",
                next % 100
            ));
        }
        text.push_str("]}");
        frames.push(zbxd::encode(text.as_bytes(), zbxd::PROTOCOL));
    }
    let frames = Arc::new(frames);
    let (start, cpu) = (Instant::now(), stdx::sys::cpu_time());
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let frames = Arc::clone(&frames);
            tokio::spawn(async move {
                let mut at = sender;
                while start.elapsed() < Duration::from_secs(8) {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    stream.write_all(&frames[at % frames.len()]).await.unwrap();
                    let mut answer = Vec::new();
                    stream.read_to_end(&mut answer).await.unwrap();
                    at += 4;
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    let (wall, cpu) = (start.elapsed().as_secs_f64(), (stdx::sys::cpu_time() - cpu).as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a report")]
    let values = stored.load(Ordering::Relaxed) as f64;
    println!(
        "trapper: {:.0} values/s, {:.2} CPU s per million (sender included)",
        values / wall,
        cpu / values * 1e6
    );
    handle.stop().await;
}

async fn answer_all(listener: TcpListener) {
    let answer =
        zbxd::encode(b"{\"version\":\"7.0.0\",\"variant\":1,\"data\":[{\"value\":\"42.5\"}]}", 1);
    let answer = Arc::new(answer);
    while let Ok((mut stream, _)) = listener.accept().await {
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            let mut bytes = [0; 512];
            let _ = stream.read(&mut bytes).await;
            let _ = stream.write_all(&answer).await;
        });
    }
}

async fn agent(hosts: u64, delay: &str) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(SocketAddr::from(([0, 0, 0, 0], 0))).unwrap();
    let listener = socket.listen(32_768).unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(answer_all(listener));
    let (context, stored) = start(estate(hosts, ItemType::Agent, delay, port));
    let deps = Deps { internals: Arc::new(Nobody), scripts: Arc::new(Nobody), discovered: None };
    let handle = Pollers::start(PollConfig::default(), Arc::clone(&context), deps).unwrap();
    let counters = handle.status();
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let before = stored.load(Ordering::Relaxed);
        let (start, cpu) = (Instant::now(), stdx::sys::cpu_time());
        let poller = counters.counters().pollers.busy();
        tokio::time::sleep(Duration::from_secs(5)).await;
        let wall = start.elapsed().as_secs_f64();
        let cpu = (stdx::sys::cpu_time() - cpu).as_secs_f64();
        let poller = (counters.counters().pollers.busy() - poller).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a report")]
        let checks = (stored.load(Ordering::Relaxed) - before) as f64;
        let report = counters.queue(0).await;
        println!(
            "agent: {:.0} checks/s, pollers {:.1} CPU us per check, process {:.1}, failed {}, \
             late {} of {}",
            checks / wall,
            poller / checks * 1e6,
            cpu / checks * 1e6,
            counters.counters().checks_failed.load(Ordering::Relaxed),
            report.total,
            report.scheduled
        );
    }
    if let Some((id, state)) = context.availability.all().into_iter().find(|(_, s)| s.failing()) {
        println!("agent: interface {id}: {state:?}");
    }
    handle.stop().await;
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let hosts = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    match what.as_str() {
        "trapper" => trapper(hosts).await,
        "agent" => agent(hosts, &arguments.next().unwrap_or_else(|| String::from("20s"))).await,
        _ => println!("load trapper [hosts] | load agent [hosts] [interval]"),
    }
}
