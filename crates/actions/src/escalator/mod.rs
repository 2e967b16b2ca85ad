//! The escalator: follows events and updates of problems, and decides who gets which message, when.
//!
//! The database is the truth, and memory holds next to nothing: a position tells up to which event and update escalations
//! were made, in the same transaction as these, so that a crash skips none and repeats none. Escalations that are due are
//! found by an index, so that problems which wait for nothing cost nothing. Reading and deciding take no lock; the
//! transaction that follows only writes rows.

mod alerts;
mod commands;
mod configured;
mod delay;
mod events;
mod explainer;
mod fallback;
mod gathered;
mod handover;
mod inbox;
mod monitored;
mod outcomes;
mod people;
mod refused;
mod running;
mod sending;
mod stored;
mod texts;
mod turn;
mod withdrawn;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use config::Config;
use config::db::{DbResult, Reader};
use config::retry::Stop;
use model::alert::{Media, Report};
use model::command::Commands;
use stdx::clock::SharedClock;
use stdx::inbox::{Ids, Taken};

use configured::Configured;
use events::Position;
use fallback::Fallbacks;
use running::Running;
use sending::Sending;
use stored::Changes;
use turn::{Flush, Turn};

pub use delay::delay_s;
pub use explainer::{Explainer, Prepared};
pub use inbox::Bell;
pub use texts::{Addressee, Expand, Sent, Subject, Texts};

/// Longest wait without a note.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How often all paused escalations are looked at: not every end of a pause is an event. A trigger that another one
/// depends on may be disabled, a dependency removed, an action changed.
const WAKE_EVERY_S: i64 = 60;
/// Wait after a failed transaction.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Reports of busy media types are gathered for this time, so that one transaction has many.
const GATHER: Duration = Duration::from_millis(5);
/// A clock that differs by less was adjusted, not set back.
const SET_BACK_S: i64 = 2;

/// Tells others about these problems.
type Tell = Box<dyn Fn(&[u64]) + Send>;

/// Writes escalations and alerts, hands messages to the media, and starts commands.
pub struct Escalator {
    config: Arc<Config>,
    clock: SharedClock,
    bell: Bell,
    texts: Box<dyn Texts>,
    sending: Sending,
    running: Running,
    configured: Configured,
    /// `None` = to be read.
    position: Option<Position>,
    woken: Woken,
    reports: Vec<Report>,
    /// Unix and monotonic time of the last look, seconds.
    looked_at: (i64, i64),
    /// Told which problems got more tags.
    tagged: Tell,
}

/// What may have ended pauses.
struct Woken {
    /// Problems whose suppression has changed, and that no look has covered yet.
    problems: Ids,
    /// When all paused escalations were looked at, monotonic seconds.
    at: i64,
}

impl std::fmt::Debug for Escalator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Escalator").field("position", &self.position).finish_non_exhaustive()
    }
}

impl Escalator {
    /// Continues where the last run ended. The first run ever begins with the next event.
    pub fn new(
        config: Arc<Config>,
        clock: SharedClock,
        bell: Bell,
        media: Arc<dyn Media>,
        commands: Arc<dyn Commands>,
        texts: Box<dyn Texts>,
    ) -> DbResult<Self> {
        let position = config.read(Position::read)?;
        let looked_at = times(&clock);
        let noted = config.read(Position::noted)?;
        let back = noted.map_or(0, |noted| noted - looked_at.0);
        config.write_state(|state| {
            if back > SET_BACK_S {
                tracing::warn!(
                    seconds = back,
                    "the clock was set back while the server was down; escalation steps follow it"
                );
                stored::set_back(state, back)?;
            }
            position.write(state, looked_at.0)
        })?;
        let sending = Sending::start(&config, media)?;
        let running = Running::start(&config, commands)?;
        Ok(Self {
            config,
            clock,
            bell,
            texts,
            sending,
            running,
            configured: Configured::default(),
            position: Some(position),
            // Pauses may have ended meanwhile.
            woken: Woken { problems: Ids { all: true, ..Ids::default() }, at: looked_at.1 },
            reports: Vec::new(),
            looked_at,
            tagged: Box::new(|_| ()),
        })
    }

    /// Tells which problems got more tags from webhooks. Must not block.
    pub fn telling_tagged(self, tagged: Tell) -> Self {
        Self { tagged, ..self }
    }

    /// Works until [`Bell::end`]. Blocks: give it a thread of its own. While the database is down it retries each second;
    /// when the server stops meanwhile, the next start continues.
    pub fn run(mut self, stop: &Stop) {
        let mut is_down = false;
        let mut ended = false;
        loop {
            match self.work() {
                Ok(wait) if ended && self.reports.is_empty() => {
                    tracing::debug!(?wait, "the escalator ends");
                    return;
                }
                Ok(wait) => {
                    is_down = false;
                    ended = self.take(wait);
                    if self.sending.is_busy(&self.reports) {
                        std::thread::sleep(GATHER);
                        ended |= self.take(Duration::ZERO);
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_down, true) {
                        tracing::error!(%error, "cannot write escalations and alerts; retrying");
                    }
                    self.doubt();
                    if stop.is_over() {
                        return;
                    }
                    std::thread::sleep(RETRY_AFTER);
                    ended |= self.take(Duration::ZERO);
                }
            }
        }
    }

    /// A transaction failed: what memory knows of the database is read again.
    fn doubt(&mut self) {
        self.position = None;
        self.sending.doubt();
        self.running.doubt();
    }

    /// Takes what has come, or comes within the time; returns whether nothing more will.
    fn take(&mut self, within: Duration) -> bool {
        let Taken { mail, ended } = self.bell.take(within);
        self.woken.problems.join(mail.woken);
        self.reports.extend(mail.reports.into_iter().map(handover::without_links));
        ended
    }

    /// Does all that there is to do now; returns how long there is nothing else.
    fn work(&mut self) -> DbResult<Duration> {
        self.follow_clock()?;
        let now = times(&self.clock).0;
        let fallbacks = self.fallbacks(now)?;
        let tagged = self.config.read(|connection| stored::tagged(connection, &self.reports))?;
        self.sending.settle(&self.config, &self.reports, &fallbacks, now)?;
        self.running.settle(&self.reports, now);
        self.reports.clear();
        if !tagged.is_empty() {
            (self.tagged)(&tagged);
        }
        let monotonic = self.looked_at.1;
        if self.woken.problems.all || monotonic >= self.woken.at + WAKE_EVERY_S {
            let position = self.position()?;
            self.config.write_state(|state| {
                stored::wake_all(state, now)?;
                position.write(state, now)
            })?;
            self.woken.problems.all = false;
            self.woken.at = monotonic;
        }
        let is_full = self.look(now)?;
        let is_full = self.flush(now, is_full)? || is_full;
        self.sending.serve(&self.config, now)?;
        self.running.serve(&self.config, &self.config.snapshot(), now)?;
        self.bell.looked(u64::try_from(now).unwrap_or(0));
        if is_full {
            // Reports and the end of the server do not wait for a backlog.
            return Ok(Duration::ZERO);
        }
        let next = self.config.read(stored::next_due)?;
        let next = next.into_iter().chain(self.sending.next_due());
        let next = next.chain(self.config.read(gathered::next_due)?);
        let next = next.chain(self.running.next_due()).min();
        let left = next
            .and_then(|due| u64::try_from(due).ok())
            .map(|due| Duration::from_secs(due).saturating_sub(self.clock.unix()));
        Ok(left.unwrap_or(WAIT_MAX).min(WAIT_MAX))
    }

    /// What is sent by other media instead of what the reports say has failed.
    fn fallbacks(&self, now: i64) -> DbResult<Fallbacks> {
        let failed: Vec<u64> = self.reports.iter().filter_map(fallback::failed).collect();
        if failed.is_empty() {
            return Ok(Fallbacks::new());
        }
        let snapshot = self.config.snapshot();
        let texts = &*self.texts;
        self.config.read(|connection| fallback::read(connection, &snapshot, texts, &failed, now))
    }

    /// One transaction; returns whether there is more to do.
    fn look(&mut self, now: i64) -> DbResult<bool> {
        let before = self.position()?;
        let snapshot = self.config.snapshot();
        let woken = &self.woken.problems.some;
        let turn = Turn { snapshot: &snapshot, texts: &*self.texts, now, woken };
        let configured = &mut self.configured;
        let outcome = self.config.read(|connection| turn.look(connection, configured, before))?;
        let (position, mut changes) = (outcome.position, outcome.changes);
        let has_commands = changes.alerts.iter().any(|alert| alert.kind.command().is_some());
        let media_types: BTreeSet<u64> = changes
            .alerts
            .iter()
            .filter_map(|alert| alert.address.as_ref())
            .map(|address| address.media_type)
            .collect();
        if position != before || !changes.is_empty() {
            let write = |changes: &mut Changes| {
                self.config.write_state(|state| {
                    changes.write(state, now)?;
                    position.write(state, now)
                })
            };
            match write(&mut changes) {
                Err(error) if error.is_of_values() => {
                    tracing::error!(%error, "the database refuses an alert or an escalation");
                    write(&mut refused::sift(&self.config, changes, now)?)?;
                }
                written => written?,
            }
        }
        self.position = Some(position);
        self.woken.problems.some.clear();
        for media_type in media_types {
            self.sending.add(media_type, now);
        }
        if has_commands {
            self.running.add(now);
        }
        Ok(outcome.is_full)
    }

    fn position(&self) -> DbResult<Position> {
        self.position.map_or_else(|| self.config.read(Position::read), Ok)
    }

    /// Tells what bundles have gathered that are due; returns whether there is more to do.
    fn flush(&mut self, now: i64, is_full: bool) -> DbResult<bool> {
        let due = self.config.read(|connection| gathered::due(connection, now, is_full))?;
        if due.is_empty() {
            return Ok(false);
        }
        let (snapshot, woken) = (self.config.snapshot(), BTreeSet::new());
        let turn = Turn { snapshot: &snapshot, texts: &*self.texts, now, woken: &woken };
        for bundle in &due {
            let again = |connection: &mut dyn Reader| gathered::again(connection, bundle.id, now);
            let Some(bundle) = &self.config.read(again)? else { continue };
            let configured = &mut self.configured;
            let read = || self.config.read(|connection| turn.flush(connection, configured, bundle));
            let flush =
                turn::contained(bundle, read).unwrap_or_else(|| Ok(Flush::faulty(bundle)))?;
            match self.config.write_state(|state| flush.write(state, now)) {
                Err(error) if error.is_of_values() => {
                    tracing::error!(%error, "the database refuses the summary of messages");
                    self.config.write_state(|state| flush.plain().write(state, now))?;
                }
                written => written?,
            }
            self.sending.add(bundle.place.address.media_type, now);
        }
        Ok(due.len() == gathered::DUE_MAX)
    }

    /// A clock that was set back would delay all that is due.
    fn follow_clock(&mut self) -> DbResult<()> {
        let (unix, monotonic) = times(&self.clock);
        let expected = self.looked_at.0 + (monotonic - self.looked_at.1);
        let back = expected - unix;
        if back.abs() > SET_BACK_S {
            let position = self.position()?;
            self.config.write_state(|state| {
                if back > 0 {
                    tracing::warn!(
                        seconds = back,
                        "the clock was set back; escalation steps follow it"
                    );
                    stored::set_back(state, back)?;
                }
                // A start compares with it.
                position.write(state, unix)
            })?;
        }
        if back > SET_BACK_S {
            self.sending.doubt();
            self.running.doubt();
        }
        self.looked_at = (unix, monotonic);
        Ok(())
    }
}

fn times(clock: &SharedClock) -> (i64, i64) {
    let seconds = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    (seconds(clock.unix()), seconds(clock.monotonic()))
}
