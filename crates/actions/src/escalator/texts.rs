//! How the escalator gets the texts of messages.

use config::db::{DbResult, Reader};
use jiff::tz::TimeZone;

use crate::text::Script;

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    pub action: u64,
    /// The problem event, or the only one.
    pub event: u64,
    /// The event that ended the problem, in messages that report the end.
    pub recovery: Option<u64>,
    /// The row of `acknowledges` that the message reports.
    pub update: Option<u64>,
    /// The message reports another status of a service.
    pub status_changed: bool,
}

/// Whom a text is for.
#[derive(Debug, Clone)]
pub struct Addressee {
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

    /// The same for texts about problems of these triggers: their values are read together. `None` = reading them
    /// together is not faster.
    fn expecting(&self, _triggers: &mut dyn Iterator<Item = u64>) -> Option<Box<dyn Texts>> {
        None
    }
}

/// Expands macros in texts about one event, within the limits of alerts.
pub trait Expand {
    /// At most 255 characters.
    fn subject(&self, template: &str, to: &Addressee) -> String;
    /// At most 65,535 bytes.
    fn message(&self, template: &str, to: &Addressee) -> String;
    /// Name or value of a parameter of a media type.
    fn parameter(&self, template: &str, to: &Addressee, sent: Sent<'_>) -> String;
    /// A text of a script.
    fn command(&self, template: &str, script: &Script<'_>) -> String;
}
