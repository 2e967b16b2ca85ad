//! The queues of all media: what the escalator hands over, and what it gets back.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use collect::resolver::Resolver;
use config::Config;
use config::db::DbResult;
use model::alert::{Media, Outcome, Refused, Report, Reports, Trial};
use model::{MediaTypeId, Outgoing};
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use stdx::sync::lock;
use tokio::sync::watch;

use crate::attempt::{Cancel, Failure, Log, Tools};
use crate::configured::Configured;
use crate::lane::{Figures, Hire, Lane, Room};
use crate::session::{Session, outcome};
use crate::settings::{Kind, MediaType};

/// Time for one attempt, except of webhooks.
pub const ATTEMPT_MAX: Duration = Duration::from_secs(40);

/// Time for attempts that were cancelled at a stop.
const CANCEL_MAX: Duration = Duration::from_secs(5);

/// Tests by users at the same time.
const TRIALS_MAX: usize = 4;

/// What the media need of the server.
#[derive(Clone)]
pub struct Setup {
    /// Measures attempts; dates mails.
    pub clock: SharedClock,
    /// Finds mail servers.
    pub resolver: Resolver,
    /// Folder of the operator's programs (`AlertScriptsPath`); `None`: none can be run.
    pub programs: Option<PathBuf>,
    /// Folder with authorities of mail servers beside those that the system trusts (`SSLCALocation`).
    pub authorities: Option<PathBuf>,
    /// Tells the mails of this database from those of others: 32 hexadecimal digits.
    pub instance: String,
    /// Time for one attempt, except of webhooks: [`ATTEMPT_MAX`].
    pub attempt_max: Duration,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("programs", &self.programs).finish_non_exhaustive()
    }
}

/// What has a queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    MediaType(MediaTypeId),
    /// Several media types may use one modem.
    Modem(PathBuf),
}

/// Queues and sessions of all media. Clones share them; [`Queues::stop`] ends them.
#[derive(Clone)]
pub struct Queues(Arc<Shared>);

struct Shared {
    tools: Tools,
    cancel: watch::Sender<Cancel>,
    reports: Arc<dyn Reports>,
    room: Room,
    state: Mutex<State>,
    trials: AtomicUsize,
    configured: Option<Configured>,
}

#[derive(Debug, Default)]
struct State {
    types: HashMap<MediaTypeId, Arc<MediaType>>,
    lanes: HashMap<Key, Arc<Lane>>,
    stopping: bool,
    /// Counts of lanes that have gone.
    sent: u64,
    failed: u64,
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queues").field("figures", &self.figures()).finish()
    }
}

impl Queues {
    /// Queues without media types, for [`Queues::configure`]. Starts no thread yet.
    pub fn new(setup: Setup, reports: Arc<dyn Reports>) -> Self {
        Self::start_with(setup, reports, None)
    }

    /// Queues of the media types that are configured: each attempt is made with the settings of its start.
    pub fn following(config: Arc<Config>, setup: Setup, reports: Arc<dyn Reports>) -> Self {
        Self::start_with(setup, reports, Some(Configured::new(config)))
    }

    fn start_with(setup: Setup, reports: Arc<dyn Reports>, configured: Option<Configured>) -> Self {
        let (cancel, cancelled) = watch::channel(Cancel::None);
        let tools = Tools {
            tickets: Tickets::new(Arc::clone(&setup.clock)),
            clock: setup.clock,
            resolver: setup.resolver,
            programs: setup.programs,
            authorities: setup.authorities,
            instance: setup.instance.into(),
            attempt_max: setup.attempt_max,
            modems: Arc::default(),
            cancel: cancelled,
        };
        Self(Arc::new(Shared {
            tools,
            cancel,
            reports,
            room: Room::default(),
            state: Mutex::default(),
            trials: AtomicUsize::new(0),
            configured,
        }))
    }

    /// Replaces the media types. Attempts that have not started use the new settings; messages of media types that
    /// are missing or switched off are reported as impossible.
    pub fn configure(&self, types: impl IntoIterator<Item = MediaType>) {
        let mut hired = Vec::new();
        let mut guard = lock(&self.0.state);
        let state = &mut *guard;
        state.types = types.into_iter().map(|one| (one.id, Arc::new(one))).collect();
        let mut limits: HashMap<Key, usize> = HashMap::new();
        for media_type in state.types.values() {
            limits.insert(key(media_type), media_type.sessions_max());
        }
        let (mut sent, mut failed) = (0, 0);
        state.lanes.retain(|key, lane| {
            let Some(limit) = limits.get(key) else {
                let idle = lane.is_idle();
                if idle {
                    sent += lane.counts.sent.load(Ordering::Relaxed);
                    failed += lane.counts.failed.load(Ordering::Relaxed);
                }
                return !idle;
            };
            while lane.allow(*limit, &self.0.room) == Hire::One {
                hired.push(Arc::clone(lane));
            }
            true
        });
        state.sent += sent;
        state.failed += failed;
        drop(guard);
        for lane in hired {
            if let Some(message) = self.start(&lane) {
                // Without a thread, the message stays for the next attempt that is handed over.
                let _kept = lane.push(message, &self.0.room);
            }
        }
    }

    /// What happens now, in all queues.
    pub fn figures(&self) -> Figures {
        let state = lock(&self.0.state);
        let gone = Figures { sent: state.sent, failed: state.failed, ..Figures::default() };
        state.lanes.values().map(|lane| lane.figures()).fold(gone, |all, one| all + one)
    }

    /// The same of the queue of one media type, which it may share with others that use its modem.
    pub fn figures_of(&self, media_type: MediaTypeId) -> Figures {
        let state = lock(&self.0.state);
        let known = state.types.get(&media_type);
        let key = known.map_or(Key::MediaType(media_type), |known| key(known));
        state.lanes.get(&key).map(|lane| lane.figures()).unwrap_or_default()
    }

    /// Sends one message now, beside the queues, and returns what was said. The media type need not be stored, and
    /// may be switched off. Blocks as long as an attempt.
    ///
    /// # Errors
    /// Too many users test at the same time.
    pub fn test(&self, media_type: &MediaType, message: &Outgoing) -> Result<Trial, String> {
        let more = |running: usize| (running < TRIALS_MAX).then_some(running + 1);
        let trials = &self.0.trials;
        if trials.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err(format!("{TRIALS_MAX} tests of media types are running: try later"));
        }
        let once = MediaType { enabled: true, attempts: 1, ..media_type.clone() };
        let mut log = Log::on();
        let start = self.0.tools.clock.monotonic();
        let result = Session::new(self.0.tools.clone()).attempt(Some(&once), message, &mut log);
        trials.fetch_sub(1, Ordering::Relaxed);
        let outcome = outcome(result, Some(&once), message);
        let took = self.0.tools.clock.monotonic().saturating_sub(start);
        Ok(log.into_trial(outcome, took))
    }

    /// Accepts nothing more, reports what was not started, and waits for attempts in flight. After `grace`, those are
    /// cancelled whose message the receiver cannot have yet, and after `grace_unsafe` the others: webhooks, programs,
    /// mails that are sent whole. What then still runs is reported as unknown. Blocks.
    pub fn stop(&self, grace: Duration, grace_unsafe: Duration) {
        let lanes: Vec<_> = {
            let mut state = lock(&self.0.state);
            state.stopping = true;
            state.lanes.values().cloned().collect()
        };
        for message in lanes.iter().flat_map(|lane| lane.close()) {
            self.0.reports.report(Report { alert: message.alert, outcome: Outcome::NotStarted });
        }
        if !self.wait(&lanes, grace) {
            self.0.cancel.send_replace(Cancel::Safe);
            if !self.wait(&lanes, grace_unsafe.saturating_sub(grace)) {
                self.0.cancel.send_replace(Cancel::All);
                self.wait(&lanes, CANCEL_MAX);
            }
        }
        for alert in lanes.iter().flat_map(|lane| lane.abandon()) {
            let error = String::from("the server was stopped while the message was being sent");
            self.0.reports.report(Report { alert, outcome: Outcome::Unknown { error } });
        }
        self.wait(&lanes, CANCEL_MAX);
    }

    /// Whether all attempts ended within the time.
    fn wait(&self, lanes: &[Arc<Lane>], time: Duration) -> bool {
        let clock = &self.0.tools.clock;
        let end = clock.monotonic() + time;
        lanes.iter().all(|lane| lane.wait(end.saturating_sub(clock.monotonic())))
    }

    /// Starts a session that counts already; returns a message that nobody would send without it.
    fn start(&self, lane: &Arc<Lane>) -> Option<Outgoing> {
        let (queues, own) = (self.clone(), Arc::clone(lane));
        let thread = stdx::thread::critical("media", move || queues.work(&own));
        let error = thread.err()?;
        tracing::error!(%error, "cannot start a thread for messages");
        lane.not_hired(&self.0.room)
    }
}

impl Media for Queues {
    fn send(&self, attempt: Outgoing) -> Result<(), Refused> {
        if let Err(error) = self.follow(attempt.media_type) {
            tracing::warn!(%error, "cannot read the media types; messages wait");
            return Err(Refused::Full(Box::new(attempt)));
        }
        let lane = {
            let mut guard = lock(&self.0.state);
            let state = &mut *guard;
            if state.stopping {
                return Err(Refused::Stopping(Box::new(attempt)));
            }
            let known = state.types.get(&attempt.media_type);
            let key = known.map_or(Key::MediaType(attempt.media_type), |known| key(known));
            let limit = known.map_or(1, |known| known.sessions_max());
            Arc::clone(state.lanes.entry(key).or_insert_with(|| Arc::new(Lane::new(limit))))
        };
        match lane.push(attempt, &self.0.room)? {
            Hire::None => Ok(()),
            Hire::One => match self.start(&lane) {
                None => Ok(()),
                Some(attempt) => Err(Refused::Full(Box::new(attempt))),
            },
        }
    }
}

fn key(media_type: &MediaType) -> Key {
    match &media_type.kind {
        Kind::Sms(sms) => Key::Modem(sms.modem.clone()),
        _ => Key::MediaType(media_type.id),
    }
}

impl Queues {
    /// Reads the media types if they may have changed.
    fn follow(&self, wanted: MediaTypeId) -> DbResult<()> {
        let Some(configured) = &self.0.configured else { return Ok(()) };
        let is_known = || lock(&self.0.state).types.contains_key(&wanted);
        configured.follow(is_known, |types| self.configure(types))
    }

    /// A session's thread.
    fn work(&self, lane: &Lane) {
        let shared = &*self.0;
        let mut session = Session::new(shared.tools.clone());
        while let Some(message) = lane.next(&shared.room) {
            // A session may have been waiting for long.
            if let Err(error) = self.follow(message.media_type) {
                tracing::warn!(%error, "cannot read the media types; an attempt uses those read before");
            }
            let media_type = lock(&shared.state).types.get(&message.media_type).cloned();
            let media_type = media_type.as_deref();
            let result = session.attempt(media_type, &message, &mut Log::off());
            let count = match &result {
                Ok(_) => &lane.counts.sent,
                Err(Failure::Cancelled) => &AtomicU64::new(0),
                Err(_) => &lane.counts.failed,
            };
            count.fetch_add(1, Ordering::Relaxed);
            let report =
                Report { alert: message.alert, outcome: outcome(result, media_type, &message) };
            lane.done(message.alert, || shared.reports.report(report));
        }
    }
}

#[cfg(test)]
mod tests;
