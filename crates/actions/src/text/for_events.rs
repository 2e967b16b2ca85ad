//! Texts as the escalator asks for them.

use std::sync::Arc;

use config::Config;
use config::db::{DbResult, Reader};
use model::{EventId, Timestamp};
use stdx::clock::SharedClock;

use super::{Expander, Needs, Recipient, Request, Script, Sees, Sent, read};
use crate::{Addressee, Expand, Subject, Texts};

/// Makes texts about events of the database, with values of history.
pub struct EventTexts {
    config: Arc<Config>,
    history: Arc<dyn history::Reader>,
    clock: SharedClock,
}

impl std::fmt::Debug for EventTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventTexts").finish_non_exhaustive()
    }
}

impl EventTexts {
    /// `history` blocks the thread that makes the texts.
    pub fn new(config: Arc<Config>, history: Arc<dyn history::Reader>, clock: SharedClock) -> Self {
        Self { config, history, clock }
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
            status_changed: subject.status_changed,
        };
        let needs = Needs::of(templates.iter().copied());
        let now = Timestamp::from_unix(self.clock.unix());
        let facts = read(connection, &self.config.snapshot(), &request, &needs, now)?;
        let expander = |facts| Expander::new(facts, Arc::clone(&self.history));
        Ok(facts.map(|facts| Box::new(expander(facts)) as Box<dyn Expand>))
    }
}

impl From<&Addressee> for Recipient {
    fn from(to: &Addressee) -> Self {
        let sees = if to.super_admin {
            Sees::Everybody
        } else {
            Sees::Groups { user: to.user, groups: to.groups.clone() }
        };
        Self { time_zone: to.zone.clone(), sees }
    }
}

impl Expand for Expander {
    fn subject(&self, template: &str, to: &Addressee) -> String {
        self.subject(template, &to.into())
    }

    fn message(&self, template: &str, to: &Addressee) -> String {
        self.expand(template, &to.into())
    }

    fn parameter(&self, template: &str, to: &Addressee, sent: crate::Sent<'_>) -> String {
        let crate::Sent { sendto, subject, message } = sent;
        self.parameter(template, &to.into(), Sent { sendto, subject, message })
    }

    fn command(&self, template: &str, script: &Script<'_>) -> String {
        self.command(template, script)
    }
}
