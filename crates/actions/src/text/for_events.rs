//! Texts as the escalator asks for them.

use std::sync::Arc;

use config::Config;
use config::db::{DbResult, Reader};
use model::{EventId, EventOrigin, ItemId, Timestamp, TriggerId};
use stdx::clock::SharedClock;

use super::ahead::Ahead;
use super::facts::{Facts, Subject as About};
use super::{Expander, Needs, Recipient, Request, Script, Sees, Sent, read};
use crate::{Addressee, Expand, Subject, Texts};

/// Items of a trigger that macros can name: {ITEM.VALUE1} to {ITEM.VALUE9}.
const NAMED: usize = 9;

/// Why an item or a discovery rule is not supported now; empty = it is.
pub type ItemErrors = Arc<dyn Fn(ItemId) -> String + Send + Sync>;

/// Makes texts about events of the database, with values of history.
pub struct EventTexts {
    config: Arc<Config>,
    history: Arc<dyn history::Reader>,
    clock: SharedClock,
    errors: ItemErrors,
}

impl std::fmt::Debug for EventTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventTexts").finish_non_exhaustive()
    }
}

impl EventTexts {
    /// `history` blocks the thread that makes the texts.
    pub fn new(config: Arc<Config>, history: Arc<dyn history::Reader>, clock: SharedClock) -> Self {
        Self { config, history, clock, errors: Arc::new(|_| String::new()) }
    }

    /// The same with the errors of items as they are now: they may have changed since an internal event.
    #[must_use]
    pub fn with_errors(self, errors: ItemErrors) -> Self {
        Self { errors, ..self }
    }

    fn put_error(&self, facts: &mut Facts) {
        if let EventOrigin::InternalItem(item) | EventOrigin::InternalLldRule(item) =
            facts.event.origin
            && let About::Monitored(monitored) = &mut facts.subject
        {
            let error = (self.errors)(item);
            if !error.is_empty() {
                monitored.error = error;
            }
        }
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
        let mut facts = read(connection, &self.config.snapshot(), &request, &needs, now)?;
        if let Some(facts) = facts.as_mut().filter(|_| needs.error) {
            self.put_error(facts);
        }
        let expander = |facts| Expander::new(facts, Arc::clone(&self.history));
        Ok(facts.map(|facts| Box::new(expander(facts)) as Box<dyn Expand>))
    }

    fn expecting(&self, triggers: &mut dyn Iterator<Item = u64>) -> Option<Box<dyn Texts>> {
        let snapshot = self.config.snapshot();
        let triggers = triggers.filter_map(|id| snapshot.triggers.get(&TriggerId(id)));
        let functions = triggers.flat_map(|one| one.ordered_functions().into_iter().take(NAMED));
        let items = functions.filter_map(|function| snapshot.items.get(&function.item));
        let items = items.filter(|item| item.value_type.is_numeric()).map(|item| item.id).collect();
        let history = Arc::new(Ahead::new(Arc::clone(&self.history), items));
        let (config, clock) = (Arc::clone(&self.config), Arc::clone(&self.clock));
        Some(Box::new(Self { config, history, clock, errors: Arc::clone(&self.errors) }))
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
