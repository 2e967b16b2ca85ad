//! Texts of messages: subjects, messages, parameters of media types and commands with their macros
//! resolved.
//!
//! [`Needs`] finds out what the texts of one event need, [`read`] reads that, and an [`Expander`]
//! makes the texts for each recipient. Values of items are read from history when a text has them.
//! What works where is in `table`; the others stay as text.

mod ahead;
mod event;
mod facts;
mod for_events;
mod foreign;
mod monitored;
mod needs;
mod read;
mod row;
mod script;
mod service;
mod subject;
mod table;
mod values;
mod words;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use config::Snapshot;
use config::access::GroupRights;
use eval::macros::{
    FunctionEnv, MacroKind, MacroScope, Token, TokenKind, UNKNOWN, UserMacro, is_inner,
    substitute_in_form, substitute_within,
};
use history::Reader;
use jiff::tz::TimeZone;
use model::HostId;

pub use facts::{
    Action, Agent, Alert, AlertKind, Cause, Counts, Device, DeviceService, Event, Facts, HostTexts,
    ItemTexts, Line, Monitored, Person, Progress, Right, Service, Subject, Symptom, Template,
    TriggerTexts, Update,
};
pub use for_events::{EventTexts, ItemErrors};
pub(crate) use foreign::without_links;
pub use needs::Needs;
pub use read::{Request, read};
pub use script::{Quoting, Script};

use monitored::{About, position};
use table::Occasion;
use values::Values;

/// Longest subject, characters.
pub const SUBJECT_CHARS_MAX: usize = 255;
/// Longest message, bytes.
pub const MESSAGE_BYTES_MAX: usize = 65_535;
/// Longest parameter of a media type, bytes. It has room for a message and what stands around it.
pub const PARAMETER_BYTES_MAX: usize = 4 * MESSAGE_BYTES_MAX;

/// Whom a text is for.
#[derive(Debug, Clone)]
pub struct Recipient {
    /// In which times are shown.
    pub time_zone: TimeZone,
    /// Which users he may know.
    pub sees: Sees,
}

/// Which users a recipient may know by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sees {
    /// All: a super admin, or a program.
    Everybody,
    /// Himself and the members of his groups.
    Groups {
        /// Himself.
        user: u64,
        /// User groups.
        groups: Vec<u64>,
    },
}

impl Recipient {
    /// `zone` as users have it: the name of a time zone, or `default` for the server's.
    pub fn new(snapshot: &Snapshot, zone: &str, sees: Sees) -> Self {
        let server = || snapshot.settings.time_zone();
        let time_zone = match zone {
            "" | "default" => server(),
            "system" => TimeZone::system(),
            name => TimeZone::get(name).unwrap_or_else(|_| server()),
        };
        Self { time_zone, sees }
    }

    /// He sees a problem of these hosts with these tags.
    fn sees_problem(&self, rights: &GroupRights, hosts: &[u64], tags: &[(String, String)]) -> bool {
        match &self.sees {
            Sees::Everybody => true,
            Sees::Groups { groups, .. } => rights.show(groups, hosts, tags),
        }
    }

    fn sees(&self, person: &Person) -> bool {
        match &self.sees {
            Sees::Everybody => true,
            Sees::Groups { user, groups } => {
                person.id == *user || person.groups.iter().any(|group| groups.contains(group))
            }
        }
    }
}

/// A message as it is sent: what `{ALERT.*}` stands for in parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent<'a> {
    pub sendto: &'a str,
    pub subject: &'a str,
    pub message: &'a str,
}

/// Where a text goes.
#[derive(Debug, Clone, Copy)]
enum Goal<'a> {
    /// To a recipient: values of secret macros are hidden.
    Message,
    /// To the program or service that sends the message: it may need secrets.
    Parameter(Sent<'a>),
    /// To a host, to be run.
    Script(&'a Script<'a>),
}

impl Goal<'_> {
    /// The value is a text of the message: macros in it are those of its template.
    fn is_of_template(self, token: &Token<'_>) -> bool {
        match &token.kind {
            TokenKind::Function { inner, .. } => self.is_of_template(inner),
            TokenKind::Builtin { name: "ALERT.SUBJECT" | "ALERT.MESSAGE", index: None } => {
                matches!(self, Self::Parameter(_))
            }
            _ => false,
        }
    }
}

/// Makes the texts about one event.
pub struct Expander {
    facts: Facts,
    values: Values,
}

impl std::fmt::Debug for Expander {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expander").field("event", &self.facts.event.id).finish_non_exhaustive()
    }
}

impl Expander {
    /// `history` blocks: do not use an expander on a shard or in an async task.
    pub fn new(facts: Facts, history: Arc<dyn Reader>) -> Self {
        let values = Values::new(Arc::clone(&facts.snapshot), history);
        Self { facts, values }
    }

    /// A subject; it ends after [`SUBJECT_CHARS_MAX`].
    pub fn subject(&self, template: &str, recipient: &Recipient) -> String {
        let bytes = SUBJECT_CHARS_MAX * char::MAX.len_utf8();
        let mut text = self.text(template, bytes, recipient, Goal::Message);
        if let Some((end, _)) = text.char_indices().nth(SUBJECT_CHARS_MAX) {
            text.truncate(end);
        }
        text
    }

    /// A message; it ends after [`MESSAGE_BYTES_MAX`].
    pub fn expand(&self, template: &str, recipient: &Recipient) -> String {
        self.text(template, MESSAGE_BYTES_MAX, recipient, Goal::Message)
    }

    /// Name or value of a media type's parameter. Values of secret macros are in it.
    pub fn parameter(&self, template: &str, recipient: &Recipient, sent: Sent<'_>) -> String {
        self.text(template, PARAMETER_BYTES_MAX, recipient, Goal::Parameter(sent))
    }

    /// A text of a script that is run for the event; times are the server's. [`PARAMETER_BYTES_MAX`] are too many for
    /// it to be run.
    pub fn command(&self, template: &str, script: &Script<'_>) -> String {
        let time_zone = self.facts.snapshot.settings.time_zone();
        let program = Recipient { time_zone, sees: Sees::Everybody };
        let hosts = self.hosts(Goal::Script(script));
        let scope = MacroScope { nodes: &*self.facts.snapshot.macros, hosts };
        script.text(template, &scope, &program.time_zone, &mut |token| {
            self.token(token, is_inner(template, token), &program, Goal::Script(script))
        })
    }

    /// In whose eyes user macros are resolved: those of the host that a script is for, else of the event.
    fn hosts<'a>(&'a self, goal: Goal<'a>) -> &'a [HostId] {
        match (goal, &self.facts.subject) {
            (Goal::Script(Script { target: Some(target), .. }), _) => std::slice::from_ref(target),
            (_, Subject::Monitored(facts)) => &facts.hosts,
            _ => &[],
        }
    }

    fn text(&self, template: &str, bytes: usize, recipient: &Recipient, goal: Goal<'_>) -> String {
        let env = FunctionEnv { tz: &recipient.time_zone };
        let mut resolve =
            |token: &Token<'_>| self.token(token, is_inner(template, token), recipient, goal);
        substitute_in_form(template, bytes, &env, &mut resolve, &mut |token, value| {
            if goal.is_of_template(token) { value } else { without_links(value) }
        })
    }

    /// A text within a text.
    fn substitute(
        &self,
        text: &str,
        recipient: &Recipient,
        resolve: &mut dyn FnMut(&Token<'_>, bool) -> Option<String>,
    ) -> String {
        let env = FunctionEnv { tz: &recipient.time_zone };
        substitute_within(text, MESSAGE_BYTES_MAX, &env, &mut |token| {
            resolve(token, is_inner(text, token))
        })
    }

    fn token(
        &self,
        token: &Token<'_>,
        bare: bool,
        recipient: &Recipient,
        goal: Goal<'_>,
    ) -> Option<String> {
        let occasion = Occasion {
            origin: self.facts.event.origin,
            recovered: self.facts.recovery.is_some(),
            updated: self.facts.update.is_some(),
        };
        let value = match &token.kind {
            TokenKind::User(wanted) => return self.user_macro(wanted, goal),
            TokenKind::Expression(text) if occasion.has_expressions() => {
                self.about(recipient).and_then(|about| about.expression(text))
            }
            TokenKind::Builtin { name, index } => {
                if let Some(value) = self.of_goal(name, *index, goal) {
                    return Some(value);
                }
                if !occasion.has(name, *index) {
                    return None;
                }
                self.builtin(name, position(*index), bare, recipient)
            }
            _ => return None,
        };
        Some(value.unwrap_or_else(|| UNKNOWN.to_owned()))
    }

    fn user_macro(&self, wanted: &UserMacro, goal: Goal<'_>) -> Option<String> {
        let nodes = &*self.facts.snapshot.macros;
        let scope = MacroScope { nodes, hosts: self.hosts(goal) };
        let found = scope.resolve(wanted)?;
        Some(match (goal, found.kind) {
            (Goal::Message, _) => found.masked().to_owned(),
            (Goal::Script(script), _) if script.shown => found.masked().to_owned(),
            // The value is a path in a vault, which nobody here opens.
            (_, MacroKind::Vault) => UNKNOWN.to_owned(),
            _ => found.value.clone(),
        })
    }

    /// Macros that only parameters or commands have.
    fn of_goal(&self, name: &str, index: Option<u8>, goal: Goal<'_>) -> Option<String> {
        if index.is_some() {
            return None;
        }
        match (goal, name) {
            (Goal::Parameter(sent), "ALERT.SENDTO") => Some(sent.sendto.to_owned()),
            (Goal::Parameter(sent), "ALERT.SUBJECT") => Some(sent.subject.to_owned()),
            (Goal::Parameter(sent), "ALERT.MESSAGE") => Some(sent.message.to_owned()),
            (Goal::Script(script), _) => script.own(name, &self.facts.snapshot),
            _ => None,
        }
    }

    fn about<'a>(&'a self, recipient: &'a Recipient) -> Option<About<'a>> {
        match &self.facts.subject {
            Subject::Monitored(facts) => Some(About { expander: self, facts, recipient }),
            _ => None,
        }
    }
}
