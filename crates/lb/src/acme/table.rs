//! The certificates that one thread works for, and what is due next.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use stdx::clock::SharedClock;

use super::issued::Issued;
use super::order::{Failure, Office};
use super::orders::Job;
use super::schedule::{Attempts, URGENT_S};
use super::slot::Slot;
use super::store::{Phase, Standing};
use super::wanted::Authority;

/// Longest sleep: the clock of the machine may be set meanwhile.
const SLEEP_MAX_S: u64 = 600;
/// Pause between two orders.
const GAP: Duration = Duration::from_secs(1);
/// How often a certificate that could not be kept is written again.
const KEEP_AGAIN_S: u64 = 60;
/// How often an order looks whether checks could arrive.
const READY_AGAIN_S: u64 = 5;
/// How often attempts that could not be read are read again.
const READ_AGAIN_S: u64 = 10;
/// How often an authority that suggests no times of renewal is asked whether it does now.
const NO_SUGGESTIONS_S: u64 = 86_400;

/// A certificate and when the next work for it is due.
struct Entry {
    slot: Arc<Slot>,
    attempts: Attempts,
    /// When a user asked for an order, if that is not in the future.
    requested_s: u64,
    /// When the authority wants a renewal, if it has said so.
    suggested_s: Option<u64>,
    /// When that is requested next; `None`: never.
    ask_s: Option<u64>,
    /// When the certificate is written again; `None`: it is kept.
    keep_s: Option<u64>,
    /// The request of a user that the last order fulfilled.
    fulfilled_s: u64,
    /// When the attempts are read again; `None`: they are known. Before, nothing is ordered.
    read_s: Option<u64>,
    /// No check could arrive before.
    unready_s: u64,
    /// Why not, as it was shown.
    unready: String,
}

pub(super) struct Table {
    office: Office,
    entries: Vec<Entry>,
    held: Held,
}

/// Authorities that are down, and until when.
#[derive(Debug, Default)]
struct Held(Vec<(Arc<Authority>, u64)>);

impl Held {
    /// The end of the pause of an authority; 0: it is not down.
    fn until_s(&self, authority: &Authority) -> u64 {
        let found = self.0.iter().find(|(held, _)| **held == *authority);
        found.map_or(0, |(_, until_s)| *until_s)
    }

    /// Replaces the pause of an authority.
    fn hold(&mut self, authority: &Arc<Authority>, until_s: u64) {
        self.0.retain(|(held, _)| held != authority);
        self.0.push((Arc::clone(authority), until_s));
    }
}

impl Table {
    /// Goes on from where `before` was.
    pub(super) fn new(job: &Job, clock: &SharedClock, before: Option<Self>) -> Self {
        let now_s = clock.unix_s();
        let office = Office {
            store: Arc::clone(&job.store),
            responder: Arc::clone(&job.responder),
            clock: Arc::clone(clock),
        };
        let mut before = before.map(|before| before.entries).unwrap_or_default();
        let entries = job.slots.iter().map(|slot| {
            let old = before.iter().position(|old| old.slot.wanted.key == slot.wanted.key);
            let mut entry = match old {
                Some(at) => before.swap_remove(at).go_on(slot),
                None => Entry::new(slot),
            };
            if entry.read_s.is_some() {
                entry.read(&office, now_s);
            }
            entry.requested_s = Some(slot.wanted.requested_s).filter(|s| *s <= now_s).unwrap_or(0);
            if entry.ask_s.is_none() {
                let interval_s = entry.slot.issued().map(|issued| issued.validity.ask_interval_s());
                entry.ask_s = interval_s.map(|interval_s| now_s + interval_s);
            }
            if job.again && entry.attempts.failures > 0 {
                entry.attempts.reload();
            }
            entry
        });
        let entries: Vec<Entry> = entries.collect();
        let mut held = Held::default();
        for entry in entries.iter().filter(|entry| entry.attempts.down) {
            let authority = &entry.slot.wanted.authority;
            held.hold(authority, held.until_s(authority).max(entry.attempts.next_s));
        }
        let table = Self { office, entries, held };
        for entry in &table.entries {
            entry.report(&table.held, now_s);
            // The reason of a failure before the start is shown already.
            if entry.attempts.failures == 0 {
                let phase = entry.slot.issued().map_or(Phase::Waiting, |_| Phase::Issued);
                table.show(entry, phase, "");
            }
        }
        table
    }

    /// The entry that is due first, and when.
    fn next(&self) -> Option<(usize, u64)> {
        let due_s = |entry: &Entry| {
            let order_s = entry.order_s(&self.held);
            let held_s = self.held.until_s(&entry.slot.wanted.authority);
            let ask_s = entry.ask_s.map(|ask_s| ask_s.max(held_s));
            [ask_s, entry.keep_s].into_iter().flatten().fold(order_s, u64::min)
        };
        let due = self.entries.iter().map(due_s).enumerate();
        // Of those that are due together, the one that waits longest: each gets its turn.
        due.min_by_key(|(at, due_s)| (*due_s, self.entries[*at].attempts.began_s))
    }

    /// Waits until work may be due.
    pub(super) async fn wait(&self) {
        let Some((_, due_s)) = self.next() else { return pending().await };
        let seconds = due_s.saturating_sub(self.office.clock.unix_s()).min(SLEEP_MAX_S);
        tokio::time::sleep(Duration::from_secs(seconds).max(GAP)).await;
    }

    /// Does what is due first.
    pub(super) async fn work(&mut self) {
        let now_s = self.office.clock.unix_s();
        let Some((at, _)) = self.next().filter(|(_, due_s)| *due_s <= now_s) else { return };
        if self.entries[at].keep_s.is_some_and(|keep_s| keep_s <= now_s) {
            self.keep(at, now_s);
        } else if self.entries[at].read_s.is_some_and(|read_s| read_s <= now_s) {
            self.entries[at].read(&self.office, now_s);
        } else if self.entries[at].order_s(&self.held) <= now_s {
            self.order(at).await;
        } else {
            self.ask(at).await;
        }
    }

    async fn order(&mut self, at: usize) {
        let began_s = self.office.clock.unix_s();
        if let Err(reason) = self.office.responder.ready(&self.entries[at].slot.wanted) {
            return self.postpone(at, reason, began_s);
        }
        let random = getrandom::u64().unwrap_or_default();
        let entry = &mut self.entries[at];
        entry.unready.clear();
        let slot = Arc::clone(&entry.slot);
        let (wanted, issued) = (&slot.wanted, slot.issued());
        let name = &wanted.name;
        // Authorities refuse to replace a certificate twice, so only the first attempt names the old one.
        let replaces = entry.suggested_s.is_some() && entry.attempts.failures == 0;
        entry.fulfilled_s = wanted.requested_s;
        entry.attempts.begin(began_s, random);
        let counted = self.office.store.keep_attempts(wanted, &entry.attempts);
        let result = match counted {
            // Without a count on the disk, restarts could flood the authority.
            Err(error) => {
                Err(Failure { text: format!("{error:#}"), retry_after_s: None, is_down: false })
            }
            Ok(()) => {
                let (names, directory) = (wanted.names.join(", "), &wanted.authority.directory);
                tracing::info!("certificate '{name}': ordering for {names} at {directory}");
                self.show(&self.entries[at], Phase::Ordering, "");
                self.office.order(wanted, issued.as_deref().filter(|_| replaces)).await
            }
        };
        let now_s = self.office.clock.unix_s();
        match result {
            Ok(issued) => self.issued(at, issued, now_s),
            Err(failure) => self.failed(at, &failure, now_s),
        }
    }

    /// No check could arrive now: that is no attempt.
    fn postpone(&mut self, at: usize, reason: String, now_s: u64) {
        let entry = &mut self.entries[at];
        entry.unready_s = now_s + READY_AGAIN_S;
        if entry.unready == reason {
            return;
        }
        let name = &entry.slot.wanted.name;
        let standing = entry.standing(now_s);
        tracing::warn!("certificate '{name}' is not ordered: {reason}; {standing}");
        entry.unready.clone_from(&reason);
        self.show(&self.entries[at], Phase::Waiting, &reason);
    }

    /// An order has succeeded. Clients get a certificate that is stored: one that only this process has would be
    /// ordered again after a restart.
    fn issued(&mut self, at: usize, issued: Issued, now_s: u64) {
        let entry = &mut self.entries[at];
        entry.ask_s = Some(now_s + issued.validity.ask_interval_s());
        entry.attempts = Attempts::issued(now_s);
        entry.suggested_s = None;
        let (until, issued) = (time(issued.validity.until_s), Arc::new(issued));
        let stored = self.store(at, &issued);
        // Also if it is not stored: the one before may have expired.
        let entry = &self.entries[at];
        entry.slot.set(issued);
        let name = &entry.slot.wanted.name;
        let next = time(entry.order_s(&Held::default()));
        tracing::info!(
            "certificate '{name}' is issued; it is valid until {until}, and its renewal is due at {next}"
        );
        self.stored(at, stored, now_s);
    }

    /// Writes the certificate in use.
    fn keep(&mut self, at: usize, now_s: u64) {
        let Some(issued) = self.entries[at].slot.issued() else { return };
        let stored = self.store(at, &issued);
        self.stored(at, stored, now_s);
    }

    fn store(&self, at: usize, issued: &Issued) -> anyhow::Result<()> {
        let entry = &self.entries[at];
        let (wanted, store) = (&entry.slot.wanted, &self.office.store);
        store.keep_certificate(wanted, issued, entry.fulfilled_s)?;
        store.keep_attempts(wanted, &entry.attempts)
    }

    /// What follows from writing a certificate; it is written again later if that failed.
    fn stored(&mut self, at: usize, result: anyhow::Result<()>, now_s: u64) {
        let entry = &mut self.entries[at];
        match result {
            Ok(()) => {
                entry.keep_s = None;
                self.show(&self.entries[at], Phase::Issued, "");
            }
            Err(error) => {
                let name = &entry.slot.wanted.name;
                tracing::error!(
                    "certificate '{name}' was issued but cannot be stored: {error:#}; retrying in 1 min"
                );
                entry.keep_s = Some(now_s + KEEP_AGAIN_S);
            }
        }
    }

    fn failed(&mut self, at: usize, failure: &Failure, now_s: u64) {
        let entry = &mut self.entries[at];
        let wanted = &entry.slot.wanted;
        let name = &wanted.name;
        if let Some(seconds) = failure.retry_after_s {
            entry.attempts.hold(now_s, seconds);
        }
        if failure.is_down {
            entry.attempts.note_down();
        }
        if let Err(error) = self.office.store.keep_attempts(wanted, &entry.attempts) {
            tracing::error!("certificate '{name}': {error:#}");
        }
        if failure.is_down {
            self.held.hold(&wanted.authority, entry.attempts.next_s);
        }
        let (text, failures) = (&failure.text, entry.attempts.failures);
        let next = time(entry.attempts.next_s);
        let standing = entry.standing(now_s);
        match &entry.slot.issued() {
            Some(issued) if issued.validity.remaining_s(now_s) >= URGENT_S => tracing::warn!(
                "certificate '{name}' is not renewed: {text}; {standing}; attempt {failures}, the next one is at {next}"
            ),
            Some(_) => tracing::error!(
                "certificate '{name}' is not renewed: {text}; {standing}; attempt {failures}, the next one is at {next}"
            ),
            None => tracing::error!(
                "certificate '{name}' is not issued: {text}; {standing}; attempt {failures}, the next one is at {next}"
            ),
        }
        self.show(&self.entries[at], Phase::Failed, &failure.text);
    }

    /// Requests the time at which the authority wants a renewal.
    async fn ask(&mut self, at: usize) {
        let now_s = self.office.clock.unix_s();
        let entry = &mut self.entries[at];
        let wanted = &entry.slot.wanted;
        let name = &wanted.name;
        entry.ask_s = None;
        let Some(issued) = entry.slot.issued() else { return };
        let interval_s = issued.validity.ask_interval_s();
        match self.office.suggestion(&wanted.authority, &issued).await {
            // An authority may learn to make suggestions.
            Ok(None) => entry.ask_s = Some(now_s + NO_SUGGESTIONS_S),
            Ok(Some(suggestion)) => {
                let window = suggestion.window;
                // The same window keeps the same moment.
                if !entry.suggested_s.is_some_and(|old_s| window.contains(old_s)) {
                    let random = getrandom::u64().unwrap_or_default();
                    let chosen_s = issued.validity.suggested_s(window, random);
                    let shown = time(chosen_s);
                    tracing::info!(
                        "certificate '{name}': the authority wants its renewal at {shown}"
                    );
                    entry.suggested_s = Some(chosen_s);
                }
                entry.ask_s = Some(now_s + suggestion.after_s.clamp(60, 86_400));
            }
            Err(problem) => {
                tracing::debug!("certificate '{name}': {problem}");
                entry.ask_s = Some(now_s + interval_s.max(3_600));
            }
        }
        if self.entries[at].attempts.failures == 0 {
            self.show(&self.entries[at], Phase::Issued, "");
        }
    }

    /// Shows users how far a certificate is.
    fn show(&self, entry: &Entry, phase: Phase, error: &str) {
        let standing =
            Standing { phase, error: error.to_owned(), next_s: entry.order_s(&self.held) };
        self.office.store.show(&entry.slot.wanted, &standing);
    }
}

impl Entry {
    fn new(slot: &Arc<Slot>) -> Self {
        Self {
            slot: Arc::clone(slot),
            attempts: Attempts::default(),
            requested_s: 0,
            suggested_s: None,
            ask_s: None,
            keep_s: None,
            fulfilled_s: 0,
            read_s: Some(0),
            unready_s: 0,
            unready: String::new(),
        }
    }

    /// The same certificate in a new configuration. An order may have ended since that was made.
    fn go_on(mut self, slot: &Arc<Slot>) -> Self {
        let before = self.slot.issued();
        if let Some(issued) = before.clone().filter(|_| !Arc::ptr_eq(slot, &self.slot)) {
            slot.offer(issued);
        }
        let elsewhere = slot.wanted.authority.directory != self.slot.wanted.authority.directory;
        if elsewhere {
            // They and the pauses are those of the authority before.
            self.attempts = Attempts::default();
        }
        let leaf =
            |issued: Option<Arc<Issued>>| issued.and_then(|one| one.key.cert.first().cloned());
        if elsewhere || leaf(before) != leaf(slot.issued()) {
            // It was about another certificate.
            (self.suggested_s, self.ask_s) = (None, None);
        }
        Self { slot: Arc::clone(slot), unready_s: 0, unready: String::new(), ..self }
    }

    /// Reads the attempts before the start; later again if that fails.
    fn read(&mut self, office: &Office, now_s: u64) {
        match office.store.attempts(&self.slot.wanted) {
            Ok(attempts) => {
                self.attempts = attempts.plausible(now_s);
                self.read_s = None;
            }
            Err(error) => {
                let name = &self.slot.wanted.name;
                tracing::warn!(
                    "certificate '{name}': its attempts cannot be read: {error:#}; trying again in {READ_AGAIN_S} s"
                );
                self.read_s = Some(now_s + READ_AGAIN_S);
            }
        }
    }

    /// When the next order begins.
    fn order_s(&self, held: &Held) -> u64 {
        if let Some(read_s) = self.read_s {
            return read_s;
        }
        let wanted = &self.slot.wanted;
        let issued = self.slot.issued();
        // The time of the last certificate may be lost; the certificate says one, too.
        let from_s = issued.as_ref().map_or(0, |issued| issued.validity.from_s);
        let issued_s = self.attempts.issued_s.max(from_s);
        // Times are whole seconds: a request that the last order did not know came after it.
        let is_new = self.requested_s > 0 && self.requested_s != self.fulfilled_s;
        let is_asked = self.requested_s > issued_s || (is_new && self.requested_s == issued_s);
        if is_asked && is_new && self.requested_s >= self.attempts.began_s {
            return self.attempts.held_s.max(self.unready_s);
        }
        let due_s = match &issued {
            Some(issued) if !is_asked && issued.serves(wanted) => {
                issued.validity.due_s(self.attempts.issued_s, self.suggested_s)
            }
            // A request of a user stays one until a certificate arrives.
            _ => 0,
        };
        let held_s = held.until_s(&wanted.authority);
        due_s.max(self.attempts.next_s).max(held_s).max(self.unready_s)
    }

    /// What clients get now.
    fn standing(&self, now_s: u64) -> String {
        let names = self.slot.wanted.names.join(", ");
        match &self.slot.issued() {
            None => format!("there is none, so TLS connections for {names} are refused"),
            Some(issued) => {
                let until = time(issued.validity.until_s);
                match issued.validity.remaining_s(now_s) {
                    0 => format!("the one in use expired at {until}"),
                    seconds if seconds < 2 * 86_400 => {
                        format!("the one in use expires at {until}, in {} minutes", seconds / 60)
                    }
                    seconds => {
                        format!("the one in use expires at {until}, in {} days", seconds / 86_400)
                    }
                }
            }
        }
    }

    /// Logs what the start has found.
    fn report(&self, held: &Held, now_s: u64) {
        let name = &self.slot.wanted.name;
        let standing = self.standing(now_s);
        let order_s = self.order_s(held);
        let due = if order_s <= now_s { "now".to_owned() } else { format!("at {}", time(order_s)) };
        let issued = self.slot.issued();
        if issued.is_none_or(|issued| issued.validity.remaining_s(now_s) == 0) {
            tracing::warn!("certificate '{name}': {standing}; the next order is {due}");
        } else {
            tracing::info!("certificate '{name}': {standing}; the next order is {due}");
        }
    }
}

/// A time as text.
fn time(seconds: u64) -> String {
    let stamp =
        i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    stamp.map_or_else(|| "an unknown time".to_owned(), |stamp| stamp.to_string())
}

#[cfg(test)]
mod tests;
