//! Explains to users what actions do about events.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use config::Config;
use config::db::DbResult;
use model::alert::outlook::Outlook;
use stdx::clock::SharedClock;

use super::configured::Configured;
use super::texts::Texts;
use super::turn::Turn;

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
}
