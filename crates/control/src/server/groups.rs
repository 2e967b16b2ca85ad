//! The configurations of engine groups, compiled once for all engines of a group.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::Config;
use config::db::DbResult;
use config::engines::hosts::{self, Effect};
use config::engines::{self, CompileError, Desired};
use stdx::sync::lock;
use tokio::sync::watch;

/// How often the server looks for changes.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Problems and maintenance of hosts are looked at each time after so many looks.
const HOSTS_EVERY: u32 = 5;

/// The newest configuration of each group that an engine asked for.
pub(crate) struct Groups {
    config: Arc<Config>,
    /// Counts changes that concern engines.
    changes: watch::Sender<u64>,
    compiled: Mutex<HashMap<u64, Compiled>>,
}

#[derive(Clone)]
struct Compiled {
    change: u64,
    desired: Result<Arc<Desired>, String>,
}

impl Groups {
    pub(crate) fn new(config: Arc<Config>) -> Self {
        Self { config, changes: watch::Sender::new(0), compiled: Mutex::default() }
    }

    /// The number of the newest change that concerns engines.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Looks for changes until dropped.
    pub(crate) async fn watch(&self) {
        let mut seen = Seen::default();
        let mut fails = false;
        loop {
            let config = Arc::clone(&self.config);
            let looked = tokio::task::spawn_blocking(move || seen.look(&config)).await;
            // After a panic everything counts as new.
            let (now, result) = looked.unwrap_or_else(|_| (Seen::default(), Ok(false)));
            seen = now;
            match result {
                Ok(changed) => {
                    fails = false;
                    if changed {
                        self.changes.send_modify(|number| *number += 1);
                    }
                }
                Err(error) if !fails => {
                    fails = true;
                    tracing::warn!(%error, "cannot look for changes of engines' configurations; retrying");
                }
                Err(_) => {}
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The configuration of a group. Blocks.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub(crate) fn desired(&self, group: u64) -> Result<Arc<Desired>, String> {
        let change = *self.changes.borrow();
        // Held while one compiles, so that others of the group wait for its result.
        let mut compiled = lock(&self.compiled);
        if let Some(compiled) = compiled.get(&group).filter(|found| found.change == change) {
            return compiled.desired.clone();
        }
        let desired = self.config.read(|connection| Desired::of_group(connection, group));
        let desired = desired.map(Arc::new).map_err(|error| error.to_string());
        compiled.insert(group, Compiled { change, desired: desired.clone() });
        desired
    }
}

/// What was seen last.
#[derive(Default)]
struct Seen {
    revision: Option<u64>,
    hosts: Asks,
    /// Looks since hosts were looked at.
    looks: u32,
}

/// What hosts ask of servers, by pool and position.
type Asks = BTreeMap<(u64, i64), Effect>;

impl Seen {
    /// Whether there is something new for engines.
    fn look(mut self, config: &Config) -> (Self, Result<bool, CompileError>) {
        let configured = self.configuration(config);
        let changed = match configured {
            // A problem of hosts must not delay a new configuration.
            Ok(true) => Ok(true),
            Ok(false) => self.hosts(config),
            Err(error) => Err(error.into()),
        };
        (self, changed)
    }

    fn configuration(&mut self, config: &Config) -> DbResult<bool> {
        let newest = engines::revision(config)?;
        let changed = match self.revision {
            Some(seen) => newest > seen && engines::changed_since(config, seen)?,
            None => true,
        };
        self.revision = Some(newest);
        Ok(changed)
    }

    /// Whether hosts ask for something else than before.
    fn hosts(&mut self, config: &Config) -> Result<bool, CompileError> {
        self.looks += 1;
        if self.looks < HOSTS_EVERY {
            return Ok(false);
        }
        self.looks = 0;
        let hosts = config.read(|connection| {
            let pools = hosts::looking_pools(connection)?;
            hosts::asked(connection, &pools)
        })?;
        let asks: Asks =
            hosts.iter().filter_map(|(place, asked)| Some((*place, asked.effect()?))).collect();
        let changed = asks != self.hosts;
        self.hosts = asks;
        Ok(changed)
    }
}
