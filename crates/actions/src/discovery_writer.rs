//! Writes discovery results with their events, and what actions do about them.

use std::sync::Arc;

use config::audit::Author;
use config::db::{DbError, DbResult};
use config::retry::{Stop, Writing};
use config::{Config, Edit};
use discovery::Recorder;
use model::{DiscoveryResult, NewEvent};
use stdx::queue::Receiver;

use crate::action::Actions;
use crate::escalator::Bell;

/// Discovery results per transaction.
const BATCH_MAX: usize = 200;

/// Writes discovery results.
pub struct DiscoveryWriter {
    config: Arc<Config>,
    /// Told of new events.
    bell: Bell,
}

impl std::fmt::Debug for DiscoveryWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiscoveryWriter").finish_non_exhaustive()
    }
}

impl DiscoveryWriter {
    /// Nothing is kept in memory: the database is the truth.
    pub fn new(config: Arc<Config>, bell: Bell) -> Self {
        Self { config, bell }
    }

    /// Writes results until [`DiscoveryResult::End`], or until all senders are gone. Blocks: give it a
    /// thread of its own. While the database is down, a batch is repeated each second and the queue
    /// fills. When the server stops meanwhile, the rest is dropped: discovery finds it again.
    pub fn run(&self, mut results: Receiver<DiscoveryResult>, stop: &Stop) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        let mut dropped = 0;
        while let Some(first) = results.blocking_recv() {
            batch.push(first);
            while batch.len() < BATCH_MAX
                && let Some(next) = results.try_recv()
            {
                batch.push(next);
            }
            let kept = if dropped > 0 { 0 } else { self.keep(&batch, stop) };
            dropped += batch.len() - kept;
            if batch.contains(&DiscoveryResult::End) {
                break;
            }
            batch.clear();
        }
        if dropped > 0 {
            tracing::warn!(
                dropped,
                "the configuration database is down: dropped discovery results"
            );
        }
    }

    /// Returns how many are done with: written, or refused by the database and reported.
    fn keep(&self, batch: &[DiscoveryResult], stop: &Stop) -> usize {
        let writing = Writing {
            stop,
            write: &|results: &[DiscoveryResult]| self.write(results),
            refused: &|result, error| {
                tracing::error!(%error, ?result, "skipping a discovery result that cannot be written");
            },
            down: &|error| {
                tracing::error!(%error, results = batch.len(), "cannot write discovery results; retrying");
            },
        };
        writing.keep(batch)
    }

    /// Writes one batch in one transaction. After an error nothing of it is written.
    pub fn write(&self, results: &[DiscoveryResult]) -> DbResult<()> {
        // Most addresses of a network have no host. Their results need no transaction.
        let wanted = self.config.read(|connection| discovery::worth(connection, results))?;
        if wanted.is_empty() {
            return Ok(());
        }
        let newest = wanted.iter().filter_map(|result| result.at()).max().unwrap_or_default();
        let author = Author::system(newest.clock.into());
        self.config.write_as(author, |edit| {
            let events = write(edit, &wanted)?;
            // At the end: the state is locked for its own rows alone, and before the commit: events may
            // come twice after a crash, and none is lost.
            if !events.is_empty() {
                self.config.write_state(|state| events::record(state, &events))?;
                self.config.sync_state()?;
            }
            Ok::<_, DbError>(())
        })?;
        self.bell.ring();
        Ok(())
    }
}

fn write(edit: &mut Edit<'_>, results: &[&DiscoveryResult]) -> DbResult<Vec<NewEvent>> {
    let mut all_events = Vec::new();
    let mut recorder = Recorder::default();
    let mut actions = Actions::default();
    for result in results {
        let mut events = recorder.record(edit, result)?;
        for event in &events {
            actions.run(edit, event)?;
        }
        all_events.append(&mut events);
    }
    Ok(all_events)
}
