//! The secrets of session tickets: those of a group are the same on all of its engines.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use config::Config;
use config::db::DbResult;
use config::engines;
use lb::{TICKET_ROTATION, TicketSecrets};
use stdx::clock::SharedClock;
use stdx::sync::lock;
use tokio::sync::watch;

/// How often the server looks for secrets that are due.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Pause before the database is asked again after it failed.
const RETRY: Duration = Duration::from_secs(5);

/// The secrets of all groups.
pub(crate) struct Tickets {
    config: Arc<Config>,
    clock: SharedClock,
    changed: watch::Sender<()>,
    /// Groups whose secrets an engine has taken along, and that still have them.
    left: Mutex<BTreeSet<u64>>,
}

impl Tickets {
    pub(crate) fn new(config: Arc<Config>, clock: SharedClock) -> Self {
        Self { config, clock, changed: watch::Sender::new(()), left: Mutex::default() }
    }

    /// Changes of any secrets.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The secrets of a group. Blocks.
    ///
    /// # Errors
    /// The database, or secrets that cannot be read.
    pub(crate) fn of_group(&self, group: u64) -> anyhow::Result<TicketSecrets> {
        let new = written(&TicketSecrets::random()?);
        let stored = engines::ticket_secrets(&self.config, group, &new, self.clock.unix_s())?;
        read(&stored).context("the secrets of session tickets in the database are damaged")
    }

    /// Engines have left these groups: the others get new secrets, also later if the database fails now.
    /// Blocks.
    pub(crate) fn leave(&self, groups: impl IntoIterator<Item = u64>) {
        let mut left = lock(&self.left);
        left.extend(groups);
        let before = left.len();
        left.retain(|group| match engines::forget_tickets(&self.config, *group) {
            Ok(()) => false,
            Err(error) => {
                tracing::warn!(%error, "cannot rotate session ticket keys after an engine left its group; retrying");
                true
            }
        });
        if left.len() < before {
            self.changed.send_replace(());
        }
    }

    /// Gives a group new secrets when an engine was deleted or moved to another one, until dropped.
    /// `changes`: those of the configuration.
    pub(crate) async fn watch(self: &Arc<Self>, mut changes: watch::Receiver<u64>) {
        let mut before = HashMap::new();
        loop {
            changes.mark_unchanged();
            let (tickets, old) = (Arc::clone(self), before.clone());
            let looked = tokio::task::spawn_blocking(move || {
                let now = engines::groups_of_engines(&tickets.config)?;
                tickets.leave(left(&old, &now));
                DbResult::Ok(now)
            });
            match looked.await {
                Ok(Ok(now)) => before = now,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "cannot check for engines that left their group; retrying");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
                Err(_) => return,
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Changes secrets when their time is over, until dropped.
    pub(crate) async fn rotate(self: &Arc<Self>) {
        loop {
            let tickets = Arc::clone(self);
            if tokio::task::spawn_blocking(move || tickets.leave([])).await.is_err() {
                return;
            }
            let (config, now_s) = (Arc::clone(&self.config), self.clock.unix_s());
            let before_s = now_s.saturating_sub(TICKET_ROTATION.as_secs());
            let rotated = tokio::task::spawn_blocking(move || {
                engines::rotate_tickets(&config, before_s, now_s, rotated)
            });
            match rotated.await {
                Ok(Ok(true)) => self.changed.send_replace(()),
                Ok(Ok(false)) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "cannot change the secrets of session tickets; retrying");
                }
                Err(_) => return,
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// The groups that engines have left; by the engine's id.
fn left(before: &HashMap<u64, u64>, now: &HashMap<u64, u64>) -> BTreeSet<u64> {
    let gone = before.iter().filter(|(engine, group)| now.get(engine) != Some(group));
    gone.map(|(_, group)| *group).collect()
}

/// Those after these; new ones for damaged ones.
fn rotated(stored: &str) -> Option<String> {
    let next = read(stored).map_or_else(TicketSecrets::random, |secrets| secrets.rotated());
    next.ok().map(|secrets| written(&secrets))
}

fn written(secrets: &TicketSecrets) -> String {
    use std::fmt::Write;
    secrets.to_bytes().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read(text: &str) -> Option<TicketSecrets> {
    if text.len() != 2 * TicketSecrets::BYTES {
        return None;
    }
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    TicketSecrets::from_bytes(&digits.map(byte).collect::<Option<Vec<u8>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_gets_other_secrets_when_an_engine_leaves_it() {
        let before = HashMap::from([(1, 10), (2, 20), (3, 30)]);
        let now = HashMap::from([(1, 10), (2, 40), (4, 10)]);
        assert_eq!(left(&before, &now), BTreeSet::from([20, 30]));
        assert!(left(&HashMap::new(), &now).is_empty());
    }

    #[test]
    fn stored_secrets_come_back_and_damaged_ones_are_replaced() {
        let secrets = TicketSecrets::random().unwrap();
        let text = written(&secrets);
        assert_eq!(read(&text), Some(secrets.clone()));
        let next = read(&rotated(&text).unwrap()).unwrap();
        assert_ne!(next, secrets);
        assert_eq!(
            next.to_bytes()[..32],
            secrets.to_bytes()[32..64],
            "the current is the previous"
        );
        for damaged in ["", "zz", &text[2..], &text[1..]] {
            assert_eq!(read(damaged), None);
            assert!(read(&rotated(damaged).unwrap()).is_some());
        }
    }
}
