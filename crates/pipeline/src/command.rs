//! What others ask of a shard.

use config::snapshot::Item;
use config::{Snapshot, Touched};
use history::{Span, View};
use model::{ItemId, Payload, Sample, Timestamp, TriggerId, TriggerState};
use tokio::sync::oneshot;

use std::sync::Arc;

use crate::triggers::Due;

/// Part of history that a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything within a span.
    Span(Span),
    /// The newest values of each item.
    Newest(usize),
}

/// What an item is like now.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemReport {
    pub item: ItemId,
    /// The newest value and the one before. Of items that got no value since the start they come
    /// from history; items that keep no history have none then.
    pub last: [Option<Sample>; 2],
    /// Why the item is unsupported; empty = it is supported.
    pub error: String,
}

/// What a trigger is like now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerReport {
    pub trigger: TriggerId,
    pub state: TriggerState,
    /// Why its last evaluation failed; empty = it did not.
    pub error: String,
}

/// Answer to [`Command::Items`]: reports, and a view for those whose values are not in memory.
pub struct ItemReports {
    /// In the order asked, items of this shard only.
    pub reports: Vec<ItemReport>,
    /// Holds the newest two values of the items named in `missing`.
    pub view: Option<Box<dyn View>>,
    /// Items whose `last` is to be read from `view`.
    pub missing: Vec<ItemId>,
}

impl std::fmt::Debug for ItemReports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ItemReports").field("reports", &self.reports).finish_non_exhaustive()
    }
}

/// A request to a shard. A reply that nobody waits for any more is dropped.
pub enum Command {
    /// A new configuration lies in the shard's letter box.
    Configure,
    /// History of items of this shard, to be read on the asking thread.
    View {
        items: Vec<ItemId>,
        /// What of them.
        scope: Scope,
        /// Where to.
        reply: oneshot::Sender<Box<dyn View>>,
    },
    /// Newest values and states of items of this shard.
    Items {
        items: Vec<ItemId>,
        /// Where to.
        reply: oneshot::Sender<ItemReports>,
    },
    /// Items of this shard that are not supported, and why.
    Unsupported {
        /// Where to.
        reply: oneshot::Sender<Vec<(ItemId, Box<str>)>>,
    },
    /// States of triggers; those of other shards are left out.
    Triggers {
        triggers: Vec<TriggerId>,
        /// Where to.
        reply: oneshot::Sender<Vec<TriggerReport>>,
    },
    /// Calculates these calculated items now.
    CheckNow { items: Vec<ItemId> },
    /// Calculates an item that need not exist, for tests of items; nothing is stored.
    Calculate {
        /// Its host and formula.
        item: Arc<Item>,
        /// Where to.
        reply: oneshot::Sender<Payload>,
    },
    /// A trigger's state was changed by others (closed by hand, problems left open).
    TriggerState {
        trigger: TriggerId,
        /// Its state from now on.
        state: TriggerState,
    },
    /// Deletes history and trends of items, whichever shard owns them: their directory may be shared by
    /// what an earlier number of shards left.
    Clear {
        items: Vec<ItemId>,
        /// Told when nothing of them will be seen again, or why it may be.
        reply: oneshot::Sender<Result<(), history::Error>>,
    },
    /// Everything accepted so far becomes durable.
    Flush {
        /// Told when that is so, or why it is not.
        reply: oneshot::Sender<Result<(), history::Error>>,
    },
    /// Deletes what is older than its retention.
    Housekeep {
        /// Told what was deleted.
        reply: oneshot::Sender<Result<history::housekeeping::Dropped, history::Error>>,
    },
    /// Finish: take what waits in the queue, write everything, end.
    Stop,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Configure => "Configure",
            Self::View { .. } => "View",
            Self::Items { .. } => "Items",
            Self::Unsupported { .. } => "Unsupported",
            Self::Triggers { .. } => "Triggers",
            Self::CheckNow { .. } => "CheckNow",
            Self::Calculate { .. } => "Calculate",
            Self::TriggerState { .. } => "TriggerState",
            Self::Clear { .. } => "Clear",
            Self::Flush { .. } => "Flush",
            Self::Housekeep { .. } => "Housekeep",
            Self::Stop => "Stop",
        })
    }
}

/// What shards tell each other.
pub(crate) enum PeerMessage {
    /// Samples of items that triggers of the receiver name.
    Samples(Vec<Sample>),
    /// An item that triggers of the receiver name became unsupported, or supported again.
    ItemState { item: ItemId, at: Timestamp, supported: bool },
    /// Triggers that triggers of the receiver may depend on.
    TriggerState { trigger: TriggerId, state: TriggerState },
    /// The receiver evaluates the trigger from now on; this is the error it had so far.
    TriggerError { trigger: TriggerId, error: Box<str> },
    /// Items of the sender with values that may not have been evaluated before a crash, for triggers
    /// of the receiver. Each shard sends it once after a start that looks for such values.
    Unevaluated(Vec<Due>),
    /// A request for history.
    Ask { from: usize, ticket: u64, items: Vec<ItemId>, scope: Scope },
    /// The answer: a view, and which of the items are unsupported.
    Answer { ticket: u64, view: Box<dyn View>, unsupported: Vec<ItemId> },
}

impl std::fmt::Debug for PeerMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Samples(_) => "Samples",
            Self::ItemState { .. } => "ItemState",
            Self::TriggerState { .. } => "TriggerState",
            Self::TriggerError { .. } => "TriggerError",
            Self::Unevaluated(_) => "Unevaluated",
            Self::Ask { .. } => "Ask",
            Self::Answer { .. } => "Answer",
        })
    }
}

/// A new configuration and what changed since the one before that was put into the letter box;
/// `None` = look at everything.
#[derive(Debug, Clone)]
pub(crate) struct NewConfig {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) touched: Option<Touched>,
}

impl NewConfig {
    /// Puts a later one on top.
    pub(crate) fn followed_by(self, later: Self) -> Self {
        let touched = match (self.touched, later.touched) {
            (Some(mut all), Some(more)) => {
                all.hosts.extend(more.hosts);
                all.items.extend(more.items);
                all.triggers.extend(more.triggers);
                all.global |= more.global;
                Some(all)
            }
            _ => None,
        };
        Self { snapshot: later.snapshot, touched }
    }
}

/// Is the item calculated by a shard?
pub(crate) fn is_calculated(item: &Item) -> bool {
    item.kind == config::snapshot::ItemType::Calculated
}
