//! What the server hands in: the sides of other layers that collection talks to.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use config::Snapshot;
use config::snapshot::Tls;
use eval::key::ItemKey;
use model::{HostId, SeenAgent, Sighting, ValueBatch};
use stdx::clock::SharedClock;
use stdx::queue;

use crate::Status;

/// Where the newest configuration comes from: one atomic load, no lock.
pub trait Snapshots: Send + Sync + 'static {
    /// The newest snapshot.
    fn load(&self) -> Arc<Snapshot>;
}

impl<F: Fn() -> Arc<Snapshot> + Send + Sync + 'static> Snapshots for F {
    fn load(&self) -> Arc<Snapshot> {
        self()
    }
}

/// What an internal item measured.
#[derive(Debug, Clone, PartialEq)]
pub enum InternalValue {
    /// A whole number.
    Unsigned(u64),
    /// A float.
    Float(f64),
    /// Text.
    Text(String),
}

/// The server's own figures, for items of the type "Zabbix internal".
pub trait Internals: Send + Sync + 'static {
    /// The value of `key` (`zabbix[...]`) asked by an item of `host`, or the text for the item's
    /// state "not supported". Called on a poller's thread: must not block.
    fn value(&self, host: HostId, key: &ItemKey) -> Result<InternalValue, String>;
}

/// An answer that takes its time.
pub type Answer = Pin<Box<dyn Future<Output = String> + Send>>;

/// A request of the trapper port that collection cannot answer alone: everything that carries a
/// session id (`history.push`, `queue.get`, `item.test`, `expressions.evaluate`, `status.get`,
/// `command`, `alert.send`, …) and the statistics of `zabbix.stats`.
///
/// `wire::trapper::Request::parse` reads `text`.
#[derive(Debug)]
pub struct Request {
    /// The member `request`.
    pub name: String,
    /// The whole message.
    pub text: String,
    /// Address of the client.
    pub peer: IpAddr,
    /// What collection knows: queue, availability, value intake, check of one item.
    pub collector: Status,
}

/// A script item or a browser item is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCall {
    /// The body of the function.
    pub script: String,
    /// JSON object with the parameters, what the script sees as `value`.
    pub value: String,
    /// How long it may take.
    pub timeout: Duration,
    /// It leads a browser.
    pub browser: bool,
}

/// The value of a script item, or the text for its state "not supported".
pub type ScriptAnswer = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// Requests for the layers beside this one.
pub trait Backend: Send + Sync + 'static {
    /// Answers one request; `None` = no such request. The answer is the JSON text,
    /// with `response` and, for `failed`, `info`.
    fn request(&self, request: Request) -> Option<Answer>;

    /// Runs the script of an item; takes no longer than its timeout once it has begun.
    fn run_script(&self, _call: ScriptCall) -> ScriptAnswer {
        Box::pin(async { Err(String::from("Scripts cannot be run here.")) })
    }

    /// Which connections unknown agents may come over (mask and PSK).
    fn autoregistration_tls(&self) -> Tls {
        Tls::default()
    }

    /// A host asked for active checks over an allowed connection: an unknown one, or one that
    /// tells of itself what it has not told since the start. Must not block.
    fn autoregister(&self, _seen: SeenAgent) {}
}

/// Everything that [`crate::Collector::start`] needs of the rest of the server.
#[derive(Clone)]
pub struct Deps {
    /// Time.
    pub clock: SharedClock,
    /// Configuration.
    pub snapshots: Arc<dyn Snapshots>,
    /// One queue per shard, in the order of `model::shard_of`.
    pub shards: Vec<queue::Sender<ValueBatch>>,
    /// Requests for other layers.
    pub backend: Arc<dyn Backend>,
    /// Figures of internal items.
    pub internals: Arc<dyn Internals>,
    /// Where network discovery tells what it found; `None` = nobody wants to know.
    pub sightings: Option<queue::Sender<Sighting>>,
}

impl std::fmt::Debug for Deps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deps").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}
