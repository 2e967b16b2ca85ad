//! Why users get messages about an event, or none, and what comes next.

use objects::OperationMode;

/// Why there is no alert for a user, or for one media of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Silence {
    /// The user does not exist.
    Deleted,
    /// The user is a member of a disabled user group.
    Disabled,
    /// The user may not read all hosts of the event, or tag filters hide it.
    NoRight,
    /// The user made the update that the message reports.
    Author,
    /// The operation names another media type.
    OtherMediaType,
    /// The media is switched off.
    MediaDisabled,
    /// The media does not take messages of the trigger's severity.
    Severity,
    /// The media takes no messages at this time.
    Period,
}

impl Silence {
    /// As the API names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Disabled => "disabled",
            Self::NoRight => "no_right",
            Self::Author => "author",
            Self::OtherMediaType => "other_media_type",
            Self::MediaDisabled => "media_disabled",
            Self::Severity => "severity",
            Self::Period => "period",
        }
    }
}

/// Whether a user gets a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It is sent.
    Sent,
    /// The user has no media, or none of the operation's media type. The alert says so.
    NoMedia,
    /// The media type is switched off. The alert says so.
    MediaTypeDisabled,
    /// Neither the operation nor the media type has a text for the occasion. The alert says so.
    NoText,
    /// There is no alert.
    Silent(Silence),
}

impl Verdict {
    /// As the API names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::NoMedia => "no_media",
            Self::MediaTypeDisabled => "media_type_disabled",
            Self::NoText => "no_text",
            Self::Silent(silence) => silence.word(),
        }
    }
}

/// The same for one media.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Row of `users`.
    pub user: u64,
    /// Media type and address; `None` = it has nothing to do with a single media.
    pub address: Option<(u64, String)>,
    /// Whether it is sent.
    pub verdict: Verdict,
}

/// What holds an escalation back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pause {
    /// The problem is suppressed.
    Suppressed,
    /// The problem is a symptom.
    Symptom,
    /// A trigger that its trigger depends on has a problem.
    Dependency,
    /// A more severe problem with equal tags is open.
    Inhibited,
    /// Problems of its trigger mostly end by themselves soon.
    Transient,
    /// Its trigger opens and ends problems all the time.
    Flapping,
}

impl Pause {
    /// As the API names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Suppressed => "suppressed",
            Self::Symptom => "symptom",
            Self::Dependency => "dependency",
            Self::Inhibited => "inhibited",
            Self::Transient => "transient",
            Self::Flapping => "flapping",
        }
    }
}

/// What an escalation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// Its next step is due in this second.
    Until(i64),
    /// The end of a pause, which is known to be in this second.
    PausedUntil(i64),
    /// The end of a pause.
    Paused,
    /// The end of the problem: all steps are made.
    Recovery,
}

/// An escalation that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Row of `escalations`.
    pub id: u64,
    /// The last step that was made; 0 = none.
    pub step: u32,
    /// What it waits for.
    pub waits: Waits,
    /// What holds it back now.
    pub pauses: Vec<Pause>,
    /// A problem that inhibits it; `None` = nothing does.
    pub inhibited_by: Option<u64>,
    /// Why it will be cancelled when its next step is due; empty = it will not.
    pub stopped: String,
}

/// Operations that will run if nothing changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Number of the step.
    pub number: u32,
    /// When it is due, seconds since 1970.
    pub at: i64,
    /// Its operations that apply as the problem is now.
    pub operations: Vec<u64>,
}

/// Who gets the message of an operation, if it is sent at the time of the outlook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Row of `operations`.
    pub id: u64,
    /// When it runs.
    pub mode: OperationMode,
    /// The message goes to users who got one before; their cases are not known yet.
    pub to_involved: bool,
    /// One for each user and media.
    pub cases: Vec<Case>,
    /// Schedules among its recipients.
    pub on_call: Vec<OnCall>,
}

/// Who of an on-call schedule gets the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnCall {
    /// Row of `oncall_schedules`.
    pub schedule: u64,
    /// As administrators named it.
    pub name: String,
    /// Empty = nobody is on call.
    pub users: Vec<u64>,
}

/// One action and the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfAction {
    /// Row of `actions`.
    pub action: u64,
    /// As administrators named it.
    pub name: String,
    /// It is switched on.
    pub enabled: bool,
    /// All its conditions together are met now. They were looked at when the event was made, and count as of then.
    pub applies: bool,
    /// Whether each condition is met, in their order.
    pub conditions: Vec<bool>,
    /// Its escalation, if there is one.
    pub running: Option<Running>,
    /// The steps that follow.
    pub steps: Vec<Step>,
    /// All operations.
    pub operations: Vec<Operation>,
}

/// All actions of an event's source, and the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// Row of `events`.
    pub event: u64,
    /// When it was looked at, seconds since 1970.
    pub at: i64,
    /// Each action.
    pub actions: Vec<OfAction>,
}
