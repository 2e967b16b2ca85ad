//! Alerts that are to be stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::db::Value;
use objects::{AlertStatus, AlertType, Withholding};

use crate::bundles::{Grouping, Limit};
use crate::recipients::{Address, Fate, Text};

/// The columns of a new alert.
pub(super) const COLUMNS: [&str; 23] = [
    "alertid",
    "actionid",
    "eventid",
    "p_eventid",
    "acknowledgeid",
    "userid",
    "clock",
    "mediatypeid",
    "sendto",
    "subject",
    "message",
    "status",
    "retries",
    "error",
    "esc_step",
    "parameters",
    "nextcheck",
    "alerttype",
    "scriptid",
    "target_hostid",
    "withheld",
    "bundleid",
    "summary",
];

/// What holds a message back, or may.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Holds {
    /// Why it is stored and not sent; `None` = it is sent, unless one of the others holds it back.
    pub(super) withheld: Option<Withholding>,
    pub(super) group: Option<Group>,
    /// That of the media type.
    pub(super) limit: Option<Limit>,
}

/// The group of an action that a message belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) key: Arc<str>,
    pub(super) grouping: Arc<Grouping>,
}

/// How an alert is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hold {
    /// Why it does not go by itself.
    pub(super) withheld: Option<Withholding>,
    /// What tells of it; 0 = nothing.
    pub(super) bundle: u64,
}

/// A command on one host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NewCommand {
    pub(super) script: u64,
    /// 0 = there is none.
    pub(super) host: u64,
    /// Why it is not run; empty = it is.
    pub(super) error: String,
}

/// What an alert is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    /// A message whose text tells of several problems.
    Summary,
    Command(NewCommand),
}

impl Kind {
    pub(super) fn command(&self) -> Option<&NewCommand> {
        match self {
            Self::Command(command) => Some(command),
            Self::Message | Self::Summary => None,
        }
    }
}

/// A message or a command that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewAlert {
    pub(super) action: u64,
    /// The event that it reports.
    pub(super) event: u64,
    /// The problem, if that is another event; 0 = none.
    pub(super) problem: u64,
    /// 0 = it reports no update.
    pub(super) update: u64,
    pub(super) user: u64,
    /// `None` = the user has no media.
    pub(super) address: Option<Address>,
    pub(super) text: Text,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) step: u32,
    pub(super) fate: Fate,
    pub(super) kind: Kind,
    pub(super) holds: Holds,
}

impl NewAlert {
    /// Why it goes nowhere, and what counts as its attempts; empty = it is sent or run.
    fn error(&self) -> (&str, i64) {
        match self.kind.command() {
            Some(command) => (command.error.as_str(), 0),
            None => self.fate.error(),
        }
    }

    /// Its status if this withholds it. An alert that goes nowhere fails, though it was withheld.
    fn status(&self, withheld: Option<Withholding>) -> AlertStatus {
        match (self.error().0.is_empty(), withheld) {
            (false, _) => AlertStatus::Failed,
            (true, Some(_)) => AlertStatus::Withheld,
            (true, None) => AlertStatus::New,
        }
    }

    /// It is to be sent or run, unless something holds it back.
    pub(super) fn is_due(&self) -> bool {
        self.status(self.holds.withheld) == AlertStatus::New
    }

    /// Whether its user gets to know of the problem by it.
    pub(super) fn is_told(&self) -> bool {
        self.fate == Fate::Send && self.holds.withheld.is_none_or(Withholding::is_told)
    }

    /// Its row, in the order of [`COLUMNS`]. `gaps`: errors by the schedule in which nobody is on call.
    pub(super) fn row(
        &self,
        id: u64,
        hold: &Hold,
        gaps: &BTreeMap<u64, String>,
        now: i64,
    ) -> Vec<Value> {
        let (error, retries) = self.error();
        let error = match self.fate {
            Fate::NobodyOnCall(schedule) => gaps.get(&schedule).map_or(error, String::as_str),
            _ => error,
        };
        let status = self.status(hold.withheld);
        let command = self.kind.command();
        let kind = if command.is_some() { AlertType::Command } else { AlertType::Message };
        let address = self.address.as_ref();
        let parameters = serde_json::to_string(&self.parameters).unwrap_or_default();
        vec![
            id.into(),
            self.action.into(),
            self.event.into(),
            self.problem.into(),
            self.update.into(),
            self.user.into(),
            now.into(),
            address.map_or(0, |address| address.media_type).into(),
            address.map_or("", |address| &address.sendto).into(),
            self.text.subject.as_str().into(),
            self.text.message.as_str().into(),
            status.number().into(),
            retries.into(),
            error.into(),
            i64::from(self.step).into(),
            parameters.into(),
            if status == AlertStatus::New { now } else { 0 }.into(),
            kind.number().into(),
            command.map_or(0, |command| command.script).into(),
            command.map_or(0, |command| command.host).into(),
            hold.withheld.map_or(0, Withholding::number).into(),
            hold.bundle.into(),
            (self.kind == Kind::Summary).into(),
        ]
    }
}
