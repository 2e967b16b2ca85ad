//! The server: all that a start makes, and a crash ends.

use std::path::Path;
use std::sync::{Arc, Mutex};

use ::events::{Hooks, MaintenanceWatch, Problems};
use config::Config;
use config::db::{DbResult, Location};
use model::{TriggerId, TriggerState};
use stdx::clock::SharedClock;
use stdx::sync::lock;

use super::super::tests::{Echo, Seats};
use super::machine::Machine;
use super::receivers::Queue;
use crate::escalator::{Bell, Escalator};

pub(super) struct Server {
    pub(super) config: Arc<Config>,
    pub(super) problems: Problems,
    pub(super) escalator: Escalator,
    pub(super) watch: MaintenanceWatch,
    pub(super) bell: Bell,
    told: Arc<Mutex<Vec<(TriggerId, TriggerState)>>>,
    /// For what follows from deletions; emptied with the server, or the configuration would never close.
    forgetful: Arc<Mutex<Option<Problems>>>,
}

pub(super) fn open(folder: &Path, machine: &Arc<Machine>) -> DbResult<Arc<Config>> {
    let location = Location::Sqlite(folder.join("config.db"));
    Config::open_with(location, machine.clone()).map(Arc::new)
}

impl Server {
    pub(super) fn start(
        config: Arc<Config>,
        machine: &Arc<Machine>,
        queue: &Arc<Queue>,
    ) -> DbResult<Self> {
        let (bell, told) = (Bell::default(), Arc::<Mutex<Vec<_>>>::default());
        let (rings, tells) = (bell.clone(), Arc::clone(&told));
        let hooks = Hooks {
            trigger: Box::new(move |trigger, state| lock(&tells).push((trigger, state))),
            written: Box::new(move || rings.ring()),
            ..Hooks::none()
        };
        let clock: SharedClock = machine.clone();
        let problems = Problems::open(Arc::clone(&config), Arc::clone(&clock), hooks)?;
        let forgetful = Arc::new(Mutex::new(Some(problems.clone())));
        let forgets = Arc::clone(&forgetful);
        // As the server does it, which only logs errors.
        config.tell_deleted(Arc::new(move |deleted| {
            let Some(problems) = &*lock(&forgets) else { return };
            let done = [
                problems.remove_of(&deleted.triggers),
                problems.remove_alerts_of(&deleted.actions),
                problems.remove_alerts_to(&deleted.users),
            ];
            drop(done);
        }));
        let escalator = Escalator::new(
            Arc::clone(&config),
            clock,
            bell.clone(),
            queue.clone(),
            Arc::new(Seats(Arc::default())),
            Box::new(Echo),
        )?;
        let wakes = bell.clone();
        let watch = MaintenanceWatch::new(Arc::clone(&config))
            .telling(Box::new(move |problems| wakes.suppression_changed(problems)));
        Ok(Self { config, problems, escalator, watch, bell, told, forgetful })
    }

    /// Triggers whose last problem was closed by a user.
    pub(super) fn closed(&self) -> Vec<u64> {
        std::mem::take(&mut *lock(&self.told)).into_iter().map(|(trigger, _)| trigger.0).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        lock(&self.forgetful).take();
    }
}
