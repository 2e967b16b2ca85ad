//! Explains to users what actions do about events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use config::Config;
use config::db::{DbResult, Reader};
use model::alert::learnt::Learnt;
use model::alert::outlook::Outlook;
use model::alert::rehearsal::{Rehearsed, Span};
use objects::EventSource;
use stdx::clock::SharedClock;

use super::configured::{self, Action, Configured};
use super::texts::Texts;
use super::turn::{Calmed, Plot, Rehearsal, Turn};
use crate::calm::History;
use crate::globals::Globals;

/// Reads what the escalator reads, decides as it does, and writes nothing.
pub struct Explainer {
    config: Arc<Config>,
    clock: SharedClock,
    texts: Box<dyn Texts>,
    configured: Mutex<Configured>,
}

impl std::fmt::Debug for Explainer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explainer").finish_non_exhaustive()
    }
}

/// An action as it was when it was prepared, stored or not.
#[derive(Debug)]
pub struct Prepared {
    /// Without what spares users messages: that is compared with the past.
    action: BTreeMap<u64, Action>,
    calmed: Calmed,
}

impl Explainer {
    /// Of this database.
    pub fn new(config: Arc<Config>, clock: SharedClock, texts: Box<dyn Texts>) -> Self {
        Self { config, clock, texts, configured: Mutex::default() }
    }

    /// Why users got messages about an event, or none, and what comes next. `None` = the event was deleted.
    pub fn outlook(&self, event: u64) -> DbResult<Option<Outlook>> {
        let snapshot = self.config.snapshot();
        let now = i64::try_from(self.clock.unix_s()).unwrap_or(i64::MAX);
        let woken = BTreeSet::new();
        let turn = Turn { snapshot: &snapshot, texts: &*self.texts, now, woken: &woken };
        let mut configured = self.configured.lock().unwrap_or_else(PoisonError::into_inner);
        self.config.read(|connection| turn.outlook(connection, &mut configured, event))
    }

    /// What was learnt from the problems of these triggers, in their order.
    pub fn learnt(&self, triggers: &[u64]) -> DbResult<Vec<Learnt>> {
        let ids = triggers.iter().copied().collect();
        let now = i64::try_from(self.clock.unix_s()).unwrap_or(i64::MAX);
        let histories = self.config.read(|connection| History::read(connection, &ids))?;
        let learnt = |id: &u64| histories.get(id).map(|history| history.learnt(*id, 0, now));
        Ok(triggers.iter().filter_map(learnt).collect())
    }

    /// Reads an action through the connection, which may be a transaction that is undone afterwards. `None` = there is no
    /// such action, or it is not one on problems of triggers.
    pub fn prepare(&self, connection: &mut dyn Reader, action: u64) -> DbResult<Option<Prepared>> {
        let snapshot = self.config.snapshot();
        let now = i64::try_from(self.clock.unix_s()).unwrap_or(i64::MAX);
        let mut actions = configured::read(connection, &Globals::of(&snapshot), now)?;
        actions.retain(|id, one| *id == action && one.source == EventSource::Trigger);
        let of = |action: &mut Action| Calmed {
            inhibition: std::mem::take(&mut action.inhibition),
            calming: action.calming.take(),
        };
        let calmed = actions.values_mut().next().map(of);
        Ok(calmed.map(|calmed| Prepared { action: actions, calmed }))
    }

    /// What the action would have sent about those problems of the span that the user `reader` sees. `None` = the caller
    /// has gone (`is_gone`).
    pub fn rehearse(
        &self,
        prepared: &Prepared,
        span: Span,
        reader: u64,
        is_gone: &dyn Fn() -> bool,
    ) -> DbResult<Option<Rehearsed>> {
        let snapshot = self.config.snapshot();
        let (now, woken) = (span.till, BTreeSet::new());
        let turn = Turn { snapshot: &snapshot, texts: &*self.texts, now, woken: &woken };
        let Prepared { action, calmed } = prepared;
        let plot = Plot { turn: &turn, action, calmed, span, reader };
        let mut rehearsal = self.config.read(|connection| Rehearsal::start(connection, &plot))?;
        while self.config.read(|connection| rehearsal.go_on(connection, &plot))? {
            if is_gone() {
                return Ok(None);
            }
        }
        self.config.read(|connection| rehearsal.end(connection, &plot)).map(Some)
    }
}
