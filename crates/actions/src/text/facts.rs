//! What texts can tell about an event: plain data, read once for all texts and recipients.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::Snapshot;
use config::access::GroupRights;
use config::snapshot::{Item, Trigger};
use model::{EventOrigin, GroupId, HostId, ItemId, Severity, Timestamp};
use objects::{DiscoveryCheckType, DiscoveryState};

/// Everything that the texts about one event need.
#[derive(Debug, Clone)]
pub struct Facts {
    /// When the texts are made.
    pub now: Timestamp,
    /// The configuration.
    pub snapshot: Arc<Snapshot>,
    pub action: Action,
    /// The problem event, or the only one.
    pub event: Event,
    /// The event that ended the problem.
    pub recovery: Option<Event>,
    /// The update that the message reports.
    pub update: Option<Update>,
    /// The message reports another status of a service.
    pub status_changed: bool,
    /// What the event is about.
    pub subject: Subject,
    /// All updates of the problem, oldest first.
    pub updates: Vec<Update>,
    /// Problems that it is ranked with.
    pub related: Related,
    /// What the action sent and ran so far, oldest first.
    pub alerts: Vec<Alert>,
}

impl Facts {
    /// The event whose moment values are of, and whose value is the current one.
    pub(super) fn current(&self) -> &Event {
        self.recovery.as_ref().unwrap_or(&self.event)
    }
}

/// The cause and the symptoms of a problem.
#[derive(Debug, Clone, Default)]
pub struct Related {
    /// The problem that this one is a symptom of.
    pub cause: Option<Cause>,
    /// Problems that this one is the cause of.
    pub symptoms: Vec<Symptom>,
    /// Who sees them: they may be about other hosts.
    pub rights: GroupRights,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Action {
    pub id: u64,
    pub name: String,
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: u64,
    /// Source and object.
    pub origin: EventOrigin,
    /// When it happened.
    pub at: Timestamp,
    /// The API's `value`.
    pub value: i64,
    pub name: String,
    /// The current severity.
    pub severity: Severity,
    /// It is acknowledged now.
    pub acknowledged: bool,
    /// Operational data as they were when it happened.
    pub opdata: String,
    /// Its tags in the order in which they were made.
    pub tags: Vec<(String, String)>,
}

/// The problem that another one is a symptom of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub event: Event,
    /// Its updates, oldest first.
    pub updates: Vec<Update>,
    /// Ids of the hosts of its trigger; empty: the trigger is deleted.
    pub hosts: Vec<u64>,
}

/// A symptom of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symptom {
    pub line: Line,
    /// Ids of the hosts of its trigger; empty: the trigger is deleted.
    pub hosts: Vec<u64>,
}

/// A user, as far as texts name users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: u64,
    /// Name for signing in.
    pub username: String,
    pub name: String,
    pub surname: String,
    /// User groups.
    pub groups: Vec<u64>,
}

/// A change of a problem by a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Seconds since 1970.
    pub clock: u32,
    /// Who made it; `None` = the user is deleted.
    pub author: Option<Person>,
    /// Bits of [`objects::ProblemAction`].
    pub actions: u32,
    /// The comment.
    pub message: String,
    /// Severity before and after; both the same where it was not changed.
    pub severity: (Severity, Severity),
    /// End of a suppression in seconds since 1970; 0 = it has none.
    pub suppress_until: u32,
}

/// Another problem, as one line tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Technical names of its hosts.
    pub hosts: Vec<String>,
    /// Name of the event.
    pub name: String,
    pub severity: Severity,
    /// When it began, seconds since 1970.
    pub clock: u32,
    pub tags: Vec<(String, String)>,
}

/// How far a message or a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It waits, or is being sent.
    Running,
    /// It was sent, or ended well.
    Done,
    /// It was given up.
    Failed,
    /// It is not sent by itself.
    Withheld,
}

/// What an action has sent or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The step of the escalation.
    pub step: u32,
    /// Seconds since 1970.
    pub clock: u32,
    /// How far it is.
    pub progress: Progress,
    /// Why it failed; empty = it did not.
    pub error: String,
    /// What it is.
    pub kind: AlertKind,
}

/// Kinds of what actions send and run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertKind {
    Message {
        /// Name of the media type; empty = the user has no media.
        media: String,
        sendto: String,
        /// The recipient; `None` = the user is deleted.
        user: Option<Person>,
    },
    Command {
        /// Technical name of the host that it ran on.
        host: String,
    },
}

/// What an event is about.
#[derive(Debug, Clone)]
pub enum Subject {
    /// The object is deleted.
    Gone,
    /// A trigger, an item, or a low-level discovery rule.
    Monitored(Box<Monitored>),
    /// A device that network discovery found, or one of its services.
    Device(Device),
    /// An active agent that announced itself.
    Agent(Agent),
    /// A business service.
    Service(Service),
}

/// What texts tell about a trigger, an item or a low-level discovery rule.
#[derive(Debug, Clone, Default)]
pub struct Monitored {
    pub trigger: Option<Arc<Trigger>>,
    /// Items of the functions in the order of the problem expression, or the only item. Those that
    /// are deleted are `None`: the others keep their numbers.
    pub items: Vec<Option<Arc<Item>>>,
    /// Hosts of all functions: those whose user macros count.
    pub hosts: Vec<HostId>,
    /// What the configuration calls the items.
    pub item_texts: BTreeMap<ItemId, ItemTexts>,
    /// What the configuration says about the hosts.
    pub host_texts: BTreeMap<HostId, HostTexts>,
    /// What the configuration says about the trigger.
    pub trigger_texts: TriggerTexts,
    /// The templates that the trigger comes from.
    pub templates: Vec<Template>,
    /// Who may read the groups of the hosts and templates.
    pub rights: Vec<Right>,
    /// How many events the trigger has.
    pub counts: Counts,
    /// Why it is unknown or not supported now.
    pub error: String,
}

/// What the snapshot does not have of a host.
#[derive(Debug, Clone, Default)]
pub struct HostTexts {
    /// As users wrote it.
    pub description: String,
    /// Name of the proxy that monitors it; empty = none.
    pub proxy: String,
    /// Description of that proxy.
    pub proxy_description: String,
}

/// A template that a trigger comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub name: String,
    /// Its template groups.
    pub groups: Vec<GroupId>,
}

/// What members of a user group may do with a group of hosts or templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Right {
    pub user_group: u64,
    pub group: GroupId,
    /// They may read it; otherwise they may not, whatever their other user groups say.
    pub reads: bool,
}

/// Texts of an item as they are configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemTexts {
    pub name: String,
    pub key: String,
    pub description: String,
}

/// Texts of a trigger as they are configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriggerTexts {
    pub comments: String,
    pub url: String,
    /// Name of the link.
    pub url_name: String,
}

/// Numbers of a trigger's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All that are acknowledged.
    pub acknowledged: u64,
    /// All that are not.
    pub unacknowledged: u64,
    /// Problems that are acknowledged.
    pub problems_acknowledged: u64,
    /// Problems that are not.
    pub problems_unacknowledged: u64,
}

/// A device or service that network discovery found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name of the discovery rule.
    pub rule: String,
    pub ip: String,
    /// Its name.
    pub dns: String,
    /// State of the device.
    pub status: DiscoveryState,
    /// Since when it is in that state, seconds since 1970.
    pub since: u32,
    /// The service, if the event is about one.
    pub service: Option<DeviceService>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceService {
    /// How it was checked.
    pub check: DiscoveryCheckType,
    pub port: u16,
    /// State.
    pub status: DiscoveryState,
    /// Since when it is in that state, seconds since 1970.
    pub since: u32,
}

/// An active agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Name as the agent gives it.
    pub host: String,
    pub ip: String,
    pub port: u16,
    pub metadata: String,
}

/// A business service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub name: String,
    pub description: String,
    /// Tags in the order in which they are configured.
    pub tags: Vec<(String, String)>,
    /// The problems that it has, the most severe first.
    pub root_cause: Vec<Line>,
}
