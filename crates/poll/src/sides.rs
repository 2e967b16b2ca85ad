//! The sides of other layers that checks need: figures of the server, and who runs scripts.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use eval::key::ItemKey;
use model::HostId;

/// What an internal item measured.
#[derive(Debug, Clone, PartialEq)]
pub enum InternalValue {
    /// A whole number.
    Unsigned(u64),
    Float(f64),
    Text(String),
    /// There is nothing to measure now: the item gets no value and stays as it is.
    Nothing,
}

/// The server's own figures, for items of the type "Zabbix internal".
pub trait Internals: Send + Sync + 'static {
    /// The value of `key` (`zabbix[...]`) asked by an item of `host`, or the text for the item's
    /// state "not supported". Called on a poller's thread: must not block.
    fn value(&self, host: HostId, key: &ItemKey) -> Result<InternalValue, String>;
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

/// Who runs the scripts of items.
pub trait Scripts: Send + Sync + 'static {
    /// Runs a script; takes no longer than its timeout once it has begun.
    fn run(&self, call: ScriptCall) -> ScriptAnswer;
}
