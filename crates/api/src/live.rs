//! What the running server tells the API, and the API tells browsers.

use std::sync::Arc;

use balancing::Order;
use balancing::placement::{Assignment, State};
use config::db::Reader;
use model::alert::learnt::Learnt;
use model::alert::outlook::Outlook;
use model::alert::rehearsal::{Rehearsed, Span};
use model::alert::{Outgoing, Trial};
use model::{
    Available, EventId, HostId, InterfaceId, InterfaceState, ItemId, ProblemUpdate, Push, Sample,
};
use tokio::sync::broadcast;
use wire::history_service::Failure;

use crate::item_test::Probe;
use crate::session::Sessions;
use crate::{Deps, Json};

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

/// A script that a user runs, or whose texts a user sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// `scriptid`.
    pub script: u64,
    /// The host that it is for.
    pub host: HostId,
    /// The event that it is for.
    pub event: Option<EventId>,
    /// Who runs it.
    pub user: u64,
    /// What the user typed, checked.
    pub input: Option<String>,
}

/// What a script did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptRun {
    /// Its output, or why it failed.
    pub result: Result<String, String>,
    /// The command without secrets.
    pub command: String,
    /// What a webhook logged: level, milliseconds since its start, text.
    pub log: Vec<(i32, u64, String)>,
    /// How long a webhook took, milliseconds; `None` = it was another script.
    pub took_ms: Option<u64>,
}

/// State of the running parts. Calls block for milliseconds at most.
pub trait Live: Send + Sync {
    /// States of items, in the order of `items`.
    fn item_states(&self, items: &[ItemId]) -> Vec<ItemState>;
    /// Availability of interfaces, in order.
    fn interfaces(&self, interfaces: &[InterfaceId]) -> Vec<InterfaceState>;
    /// Availability of active checks of hosts, in order.
    fn active_checks(&self, hosts: &[HostId]) -> Vec<Available>;
    /// Stores values like a sender would; one result per value. [`Reason::NotKept`] of one is
    /// that of all which are not refused.
    ///
    /// [`Reason::NotKept`]: wire::history_service::Reason::NotKept
    fn push(&self, push: Push) -> Vec<Result<(), Failure>>;
    /// Waits until all that was stored survives a power cut.
    fn sync(&self) -> Result<(), String>;
    /// Changes problems; returns when that is stored.
    fn update_problems(&self, update: &ProblemUpdate) -> Result<(), String>;
    /// Ends the suppression of problems by these maintenances, which were deleted.
    fn end_suppressions(&self, maintenances: &[u64]) -> Result<(), String>;
    /// Checks the items at once.
    fn check_now(&self, items: &[ItemId]);
    /// The value that an item has now, by its check, formula or figure; the error is the item's.
    /// Blocks as long as that takes.
    fn fetch(&self, probe: Probe) -> Result<String, String>;
    /// Runs a script and waits for its end. The caller has checked the user's rights.
    fn run_script(&self, execution: &Execution) -> ScriptRun {
        let command = format!("script {}", execution.script);
        let result = Err("This server does not run scripts.".to_owned());
        ScriptRun { result, command, log: Vec::new(), took_ms: None }
    }
    /// Texts of scripts as the user sees them, in order: macros are expanded, secrets are hidden.
    fn script_texts(
        &self,
        execution: &Execution,
        templates: &[String],
    ) -> Result<Vec<String>, String> {
        let _none = execution;
        Ok(templates.to_vec())
    }
    /// What is late: the member `data` of the trapper request `queue.get` of this type
    /// (`overview`, `overview by proxy`, `details`), details with at most `limit` rows.
    fn queue(&self, kind: &str, limit: Option<u64>) -> Result<Json, String>;
    /// How far each part is from its limit: the result of `capacity.get`.
    fn capacity(&self) -> Json;
    /// How engines of the load balancer see the servers of a pool: a list of `{name, state, engines}`. `None`: the
    /// server does not listen for engines, or does not know the pool yet.
    fn pool_health(&self, pool: u64) -> Option<Json> {
        let _unknown = pool;
        None
    }
    /// How the server sees an engine of the load balancer that has failed when its connection is lost for longer than
    /// `hold_s` seconds.
    fn engine_state(&self, engine: u64, hold_s: u32) -> State {
        let (_, _) = (engine, hold_s);
        State::Down
    }
    /// The placement of a group's VIPs that engines are told. `None`: nothing has been decided yet, or the server does
    /// not listen for engines.
    fn assignment(&self, group: u64) -> Option<Assignment> {
        let _undecided = group;
        None
    }
    /// Removes stored responses of engines of the load balancer: for each, how many, or why none. Blocks for seconds.
    fn purge(&self, engines: &[u64], order: &Order) -> Vec<(u64, Result<u64, String>)> {
        let _unsent = order;
        let reason = "the server does not listen for engines";
        engines.iter().map(|engine| (*engine, Err(reason.to_owned()))).collect()
    }
    /// Why users got messages about an event, or none, and what comes next. `None` = the event was deleted.
    fn outlook(&self, event: u64) -> Result<Option<Outlook>, String> {
        let _unknown = event;
        Ok(None)
    }
    /// What was learnt from the last problems of these triggers.
    fn learnt(&self, triggers: &[u64]) -> Result<Vec<Learnt>, String> {
        let _unknown = triggers;
        Ok(Vec::new())
    }
    /// Reads an action on problems of triggers through the connection, which may be a transaction that is undone
    /// afterwards. `None` = there is no such action.
    fn prepare(
        &self,
        connection: &mut dyn Reader,
        action: u64,
    ) -> Result<Option<Box<dyn Rehearse>>, String> {
        let (_, _) = (connection, action);
        Ok(None)
    }
    /// Values of items that may be missing within the span, because files were damaged or lost.
    fn history_gaps(&self, items: &[ItemId], span: history::Span) -> Vec<history::damage::Gap> {
        let (_, _) = (items, span);
        Vec::new()
    }
    /// Sends one message now by the stored media type that it names, beside the queues. Blocks as long as an attempt, up
    /// to a minute.
    fn test_media(&self, message: &Outgoing) -> Result<Trial, String> {
        let _unsent = message;
        Err("The server sends no messages.".to_owned())
    }
    /// Deletes history and trends of items.
    fn clear_history(&self, items: &[ItemId]) -> Result<(), String>;
}

/// An action, whether it is stored or not.
pub trait Rehearse {
    /// What it would have sent about those problems of the span that the user `reader` sees. `None` = the caller has gone
    /// (`is_gone`). Blocks for seconds.
    fn run(
        &self,
        span: Span,
        reader: u64,
        is_gone: &dyn Fn() -> bool,
    ) -> Result<Option<Rehearsed>, String>;
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

/// Follows the changes of the configuration: browsers are told of each, and after one of users or rights the
/// cache of sessions is emptied. Methods do neither themselves.
pub(crate) fn follow(deps: &Deps, sessions: &Arc<Sessions>) {
    let (sessions, hub) = (Arc::clone(sessions), deps.hub.clone());
    deps.config.subscribe(Box::new(move |_, touched| {
        if touched.access {
            sessions.forget();
        }
        hub.tell(LiveNote::Config);
    }));
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
