//! How the escalator gets the texts of messages.

use std::sync::Arc;

use config::Config;
use config::db::{DbResult, Reader};
use jiff::tz::TimeZone;
use model::{EventId, Timestamp};
use stdx::clock::SharedClock;

use crate::text::{self, Expander, Needs, Recipient, Request, Sees};

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// The action.
    pub action: u64,
    /// The problem event, or the only one.
    pub event: u64,
    /// The event that ended the problem, in messages that report the end.
    pub recovery: Option<u64>,
    /// The row of `acknowledges` that the message reports.
    pub update: Option<u64>,
}

/// Whom a text is for.
#[derive(Debug, Clone)]
pub struct Addressee {
    /// The user.
    pub user: u64,
    /// In which times are shown.
    pub zone: TimeZone,
    /// Knows all users by name; others know the members of their groups.
    pub super_admin: bool,
    /// User groups.
    pub groups: Vec<u64>,
}

/// A message as it is sent: what parameters of its media type refer to.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
    /// Address.
    pub sendto: &'a str,
    /// Subject with expanded macros.
    pub subject: &'a str,
    /// Text with expanded macros.
    pub message: &'a str,
}

/// Expands macros.
pub trait Texts: Send + Sync {
    /// Reads what these templates need. `None` = the event was deleted.
    fn about(
        &self,
        connection: &mut dyn Reader,
        subject: Subject,
        templates: &[&str],
    ) -> DbResult<Option<Box<dyn Expand>>>;
}

/// Expands macros in texts about one event, within the limits of alerts.
pub trait Expand {
    /// A subject.
    fn subject(&self, template: &str, to: &Addressee) -> String;
    /// A message.
    fn message(&self, template: &str, to: &Addressee) -> String;
    /// Name or value of a parameter of a media type.
    fn parameter(&self, template: &str, to: &Addressee, sent: Sent<'_>) -> String;
}

/// Texts with what the database, the configuration and history know of an event.
pub struct EventTexts {
    config: Arc<Config>,
    clock: SharedClock,
    history: Arc<dyn history::Reader>,
}

impl std::fmt::Debug for EventTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventTexts").finish_non_exhaustive()
    }
}

impl EventTexts {
    /// Reading `history` blocks.
    pub fn new(config: Arc<Config>, clock: SharedClock, history: Arc<dyn history::Reader>) -> Self {
        Self { config, clock, history }
    }
}

impl Texts for EventTexts {
    fn about(
        &self,
        connection: &mut dyn Reader,
        subject: Subject,
        templates: &[&str],
    ) -> DbResult<Option<Box<dyn Expand>>> {
        let request = Request {
            action: subject.action,
            event: EventId(subject.event),
            recovery: subject.recovery.map(EventId),
            update: subject.update,
        };
        let needs = Needs::of(templates.iter().copied());
        let now = Timestamp::from_unix(self.clock.unix());
        let facts = text::read(connection, &self.config.snapshot(), &request, &needs, now)?;
        Ok(facts.map(|facts| {
            Box::new(Expander::new(facts, Arc::clone(&self.history))) as Box<dyn Expand>
        }))
    }
}

impl Expand for Expander {
    fn subject(&self, template: &str, to: &Addressee) -> String {
        Self::subject(self, template, &to.recipient())
    }

    fn message(&self, template: &str, to: &Addressee) -> String {
        self.expand(template, &to.recipient())
    }

    fn parameter(&self, template: &str, to: &Addressee, sent: Sent<'_>) -> String {
        let sent = text::Sent {
            sendto: sent.sendto.to_owned(),
            subject: sent.subject.to_owned(),
            message: sent.message.to_owned(),
        };
        Self::parameter(self, template, &to.recipient(), &sent)
    }
}

impl Addressee {
    fn recipient(&self) -> Recipient {
        let sees = match self.super_admin {
            true => Sees::Everybody,
            false => Sees::Groups { user: self.user, groups: self.groups.clone() },
        };
        Recipient { time_zone: self.zone.clone(), sees }
    }
}
