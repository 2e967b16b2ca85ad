//! What the running server tells the API, and the API tells browsers.

use std::net::IpAddr;

use model::{EventId, InterfaceId, ItemId, Sample, TriggerId};
use tokio::sync::broadcast;
use wire::history_service::Failure;

use crate::Json;

/// State of an item beside its history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemState {
    /// Newest value.
    pub last: Option<Sample>,
    /// The value before it.
    pub previous: Option<Sample>,
    /// Not supported: why. Empty = supported.
    pub error: String,
    /// Supported, but something went wrong: what (low-level discovery that could not make all).
    pub warning: String,
}

/// Availability of an interface or of active checks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Availability {
    /// 0 unknown, 1 available, 2 not available.
    pub available: u8,
    /// Why not.
    pub error: String,
    /// Unix time of the first error of the present outage; 0 = none.
    pub errors_from: u64,
    /// Unix time until which checks wait; 0 = they do not.
    pub disable_until: u64,
}

/// What the user did with an event; bits of `action` as in `event.acknowledge`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Acknowledge {
    /// The problem's event.
    pub event: EventId,
    /// Who.
    pub user: model::UserId,
    /// 1 close, 2 acknowledge, 4 message, 8 severity, 16 unacknowledge, 32 suppress,
    /// 64 unsuppress, 128 to cause, 256 to symptom.
    pub action: u32,
    /// For bit 4.
    pub message: String,
    /// For bit 8.
    pub severity: Option<model::Severity>,
    /// For bit 32, unix time; 0 = for ever.
    pub suppress_until: u64,
    /// For bit 256.
    pub cause: Option<EventId>,
}

/// A value that comes through the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushValue {
    /// The item.
    pub item: ItemId,
    /// Text as given.
    pub value: String,
    /// What a log line carries beside it.
    pub log: Option<model::LogMeta>,
    /// When, seconds and nanoseconds.
    pub at: model::Timestamp,
}

/// Values that come together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// The values.
    pub values: Vec<PushValue>,
    /// Address of the client.
    pub client: IpAddr,
    /// A second value of an item and moment is refused; otherwise it gets the next free nanosecond,
    /// as those of senders do.
    pub refuse_duplicates: bool,
    /// The values may have been kept before: those that were are not kept again.
    pub resend: bool,
}

/// State of the running parts. Calls block for milliseconds at most.
pub trait Live: Send + Sync {
    /// States of items, in the order of `items`.
    fn item_states(&self, items: &[ItemId]) -> Vec<ItemState>;
    /// Availability of interfaces, in order.
    fn interfaces(&self, interfaces: &[InterfaceId]) -> Vec<Availability>;
    /// Availability of active checks of hosts, in order: 0 unknown, 1 available, 2 not.
    fn active_checks(&self, hosts: &[model::HostId]) -> Vec<u8>;
    /// Stores values like a sender would; one result per value. [`Reason::NotKept`] of one is
    /// that of all which are not refused.
    ///
    /// [`Reason::NotKept`]: wire::history_service::Reason::NotKept
    fn push(&self, push: Push) -> Vec<Result<(), Failure>>;
    /// Waits until all that was stored survives a power cut.
    fn sync(&self) -> Result<(), String>;
    /// Writes acknowledgements, closes problems; returns when that is done.
    fn acknowledge(&self, requests: Vec<Acknowledge>) -> Result<(), String>;
    /// Checks the items at once.
    fn check_now(&self, items: &[ItemId]);
    /// Tests an item or preprocessing steps: the members `data` of the trapper request
    /// `item.test` and of its answer. The error says what is wrong with the request. Blocks as
    /// long as the item's check takes.
    fn test_item(&self, data: &Json) -> Result<Json, String>;
    /// What is late: the member `data` of the trapper request `queue.get` of this type
    /// (`overview`, `overview by proxy`, `details`), details with at most `limit` rows.
    fn queue(&self, kind: &str, limit: Option<u64>) -> Result<Json, String>;
    /// How far each part is from its limit: the result of `capacity.get`.
    fn capacity(&self) -> Json;
    /// Values of items that may be missing within the span, because files were damaged or lost.
    fn history_gaps(&self, items: &[ItemId], span: history::Span) -> Vec<history::damage::Gap> {
        let (_, _) = (items, span);
        Vec::new()
    }
    /// Deletes history and trends of items.
    fn clear_history(&self, items: &[ItemId]) -> Result<(), String>;
    /// Triggers were switched off or deleted: their problems close.
    fn triggers_gone(&self, triggers: &[TriggerId]);
}

/// A note to browsers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveNote {
    /// These items got values.
    Values(Vec<ItemId>),
    /// The set of problems changed.
    Problems,
    /// The configuration changed.
    Config,
}

impl LiveNote {
    pub(crate) fn event(&self) -> (&'static str, Json) {
        match self {
            Self::Values(items) => {
                let ids: Vec<String> = items.iter().map(ToString::to_string).collect();
                ("values", serde_json::json!({ "itemids": ids }))
            }
            Self::Problems => ("problems", serde_json::json!({})),
            Self::Config => ("config", serde_json::json!({})),
        }
    }
}

/// Notes kept for a slow browser; beyond, it misses some and reads everything again.
const NOTES_MAX: usize = 256;

/// Sends notes to all browsers that listen.
#[derive(Debug, Clone)]
pub struct LiveHub {
    notes: broadcast::Sender<LiveNote>,
}

impl Default for LiveHub {
    fn default() -> Self {
        Self { notes: broadcast::channel(NOTES_MAX).0 }
    }
}

impl LiveHub {
    /// Tells all browsers; nobody listening is no error.
    pub fn tell(&self, note: LiveNote) {
        if self.listeners() > 0 {
            drop(self.notes.send(note));
        }
    }

    /// Browsers that listen now.
    pub fn listeners(&self) -> usize {
        self.notes.receiver_count()
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<LiveNote> {
        self.notes.subscribe()
    }
}
