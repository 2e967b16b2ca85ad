//! Hand-built configuration, and shards that keep everything.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use config::Snapshot;
use config::snapshot::{Host, Interface, Item, ItemExtra, ItemParts, ItemType};
use eval::interval::UpdateInterval;
use model::{HostId, InterfaceId, ItemId, Payload, Value, ValueBatch};
use stdx::clock::RealClock;
use stdx::queue;

use crate::{Context, Parts, Remembered};

/// The longest time that a test waits.
pub const WAIT: Duration = Duration::from_secs(60);

/// An item with an update interval (empty = none).
pub fn item(id: u64, key: &str, kind: ItemType, delay: &str) -> Item {
    Item::from(ItemParts {
        id: ItemId(id),
        interval: (!delay.is_empty()).then(|| Arc::new(UpdateInterval::parse(delay).unwrap())),
        history_days: 90,
        trends_days: 365,
        ..ItemParts::unconfigured(HostId(0), kind, key.into())
    })
}

pub fn with_extra(mut item: Item, change: impl FnOnce(&mut ItemExtra)) -> Item {
    let mut extra = ItemExtra::default();
    change(&mut extra);
    item.extra = Some(Arc::new(extra));
    item
}

/// A host with an agent interface (id = the host's) at 127.0.0.1:`port`.
pub fn host(id: u64, name: &str, port: u16, mut items: Vec<Item>) -> Host {
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

pub fn snapshot(revision: u64, hosts: Vec<Host>) -> Snapshot {
    let mut snapshot = Snapshot { revision, ..Snapshot::default() };
    for host in hosts {
        for item in &host.items {
            snapshot.items.insert(item.id, Arc::clone(item));
        }
        snapshot.hosts.insert(Arc::new(host));
    }
    snapshot
}

/// What the fake shards do with a batch.
#[derive(Debug, Default)]
pub struct Shards {
    pub values: Mutex<Vec<Value>>,
    /// Drop acknowledgements: the values count as lost.
    pub lose: AtomicBool,
    /// Refuse the last value of each batch.
    pub refuse: AtomicBool,
    /// Take batches but do not report while set.
    pub hold: AtomicBool,
    pub batches: AtomicUsize,
}

impl Shards {
    /// (item, text) of all values in order of arrival.
    pub fn texts(&self) -> Vec<(u64, String)> {
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
    pub async fn wait_for(&self, item: u64, good: impl Fn(&[String]) -> bool) -> Vec<String> {
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

/// A context with shards that keep everything.
pub struct Ground {
    /// The context.
    pub context: Arc<Context>,
    /// The shards.
    pub shards: Arc<Shards>,
    /// The configuration.
    pub configuration: Arc<RwLock<Arc<Snapshot>>>,
}

impl Ground {
    /// Starts the shards; call it within a tokio runtime.
    pub fn new(snapshot: Snapshot, remembered: Remembered, timeout: Duration) -> Self {
        let configuration = Arc::new(RwLock::new(Arc::new(snapshot)));
        let shards = Arc::new(Shards::default());
        let mut queues = Vec::new();
        for _ in 0..3 {
            let (tx, rx) = queue::bounded("shard", 16);
            tokio::spawn(run_shard(Arc::clone(&shards), rx));
            queues.push(tx);
        }
        let snapshots = Arc::clone(&configuration);
        let context = Context::new(Parts {
            clock: RealClock::shared(),
            snapshots: Arc::new(move || Arc::clone(&snapshots.read().unwrap())),
            shards: queues,
            tls: crate::tls::TlsConfig::default(),
            timeout,
            remembered,
        });
        Self { context: context.unwrap(), shards, configuration }
    }
}
