//! Dead man's switch: requests an address while everything works that leads from a value to a message. Another system
//! raises the alarm when the requests stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use actions::Bell;
use config::Config;
use config::db::DbResult;
use stdx::clock::SharedClock;

/// How old a sign of life may be.
const SIGN_S: u64 = 120;
/// Time for one request.
const REQUEST: Duration = Duration::from_secs(10);

/// Requests an address, or says why not.
type Request = Box<dyn Fn(&str, Duration) -> Result<(), String> + Send + Sync>;

/// Requests the address of the settings.
pub struct Heartbeat {
    config: Arc<Config>,
    clock: SharedClock,
    escalator: Bell,
    request: Request,
    /// When a request was last accepted, or since when requests are due, unix time; 0 = they are off.
    since: AtomicU64,
    /// The last one failed.
    is_silent: AtomicBool,
}

/// What shows that the parts work.
#[derive(Debug, Clone, Copy)]
struct Signs {
    /// Up to when values are stored and evaluated, and what was found is written.
    evaluated: Option<u64>,
    /// When the escalator last was done with its work.
    escalator: u64,
    /// How late escalations are, seconds.
    delay_s: u64,
}

impl std::fmt::Debug for Heartbeat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heartbeat").finish_non_exhaustive()
    }
}

impl Heartbeat {
    /// For this server.
    pub fn new(config: Arc<Config>, clock: SharedClock, escalator: Bell) -> Self {
        Self::requesting(config, clock, escalator, Box::new(collect::outside::get))
    }

    fn requesting(
        config: Arc<Config>,
        clock: SharedClock,
        escalator: Bell,
        request: Request,
    ) -> Self {
        let (since, is_silent) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { config, clock, escalator, request, since, is_silent }
    }

    /// Requests the address as often as the settings say, until dropped.
    pub async fn run(self: Arc<Self>) {
        let mut second = tokio::time::interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut last: Option<Duration> = None;
        loop {
            second.tick().await;
            let period = self.period_s();
            let now = self.clock.monotonic();
            if period == 0 {
                last = None;
                self.since.store(0, Ordering::Relaxed);
                continue;
            }
            if last.is_some_and(|last| now.saturating_sub(last) < Duration::from_secs(period)) {
                continue;
            }
            last = Some(now);
            let heartbeat = Arc::clone(&self);
            // Takes as long as a request. The next one does not wait for a moment that has passed.
            drop(tokio::task::spawn_blocking(move || heartbeat.beat()).await);
        }
    }

    fn period_s(&self) -> u64 {
        self.config.snapshot().settings.heartbeat.as_ref().map_or(0, |one| one.period_s)
    }

    /// Requests the address if everything works.
    fn beat(&self) {
        let Some(settings) = self.config.snapshot().settings.heartbeat.clone() else { return };
        let now = self.clock.unix_s();
        // What has just been switched on is not late.
        let _on = self.since.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        let signs = self.signs(now).map_err(|error| error.to_string());
        let works = signs.and_then(|signs| signs.check(now));
        let sent = works.and_then(|()| (self.request)(&settings.url, REQUEST));
        match sent {
            Ok(()) => {
                self.since.store(self.clock.unix_s(), Ordering::Relaxed);
                if self.is_silent.swap(false, Ordering::Relaxed) {
                    tracing::info!("heartbeats are sent again");
                }
            }
            Err(error) if !self.is_silent.swap(true, Ordering::Relaxed) => {
                tracing::error!(error, "no heartbeat is sent");
            }
            Err(error) => tracing::debug!(error, "no heartbeat is sent"),
        }
    }

    /// How many heartbeats have failed since the last one that was accepted; 0 also if they are off.
    pub(crate) fn missed(&self) -> u64 {
        let since = self.since.load(Ordering::Relaxed);
        let (period, now) = (self.period_s(), self.clock.unix_s());
        if since == 0 || period == 0 { 0 } else { now.saturating_sub(since) / period }
    }

    fn signs(&self, now: u64) -> DbResult<Signs> {
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let (evaluated, delay_s) = self.config.read(|connection| -> DbResult<_> {
            Ok((events::written_until(connection)?, actions::delay_s(connection, now)?))
        })?;
        Ok(Signs { evaluated, escalator: self.escalator.last_look(), delay_s })
    }
}

impl Signs {
    /// Why not everything works.
    fn check(self, now: u64) -> Result<(), String> {
        // One of the future is from before the clock was set back.
        let age = |at: u64| now.abs_diff(at);
        match self.evaluated {
            None => return Err("no value was stored and evaluated yet".to_owned()),
            Some(at) if age(at) > SIGN_S => {
                return Err(format!("no value was stored and evaluated for {} s", age(at)));
            }
            Some(_) => {}
        }
        if age(self.escalator) > SIGN_S {
            return Err(format!("the escalator has not looked at events for {SIGN_S} s"));
        }
        if self.delay_s > SIGN_S {
            return Err(format!("escalations are {} s late", self.delay_s));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use config::db::{DbError, Location};
    use stdx::clock::SimClock;
    use stdx::sync::lock;

    use super::*;

    const T: u64 = 1_800_000_000;

    #[test]
    fn old_signs_of_life_are_faults() {
        let good = Signs { evaluated: Some(T - 10), escalator: T - 60, delay_s: 1 };
        for (signs, fault) in [
            (good, ""),
            (Signs { evaluated: Some(T - 120), escalator: T - 120, delay_s: 120 }, ""),
            (Signs { evaluated: None, ..good }, "no value was stored and evaluated yet"),
            (
                Signs { evaluated: Some(T - 121), ..good },
                "no value was stored and evaluated for 121 s",
            ),
            (
                Signs { evaluated: Some(T + 900), ..good },
                "no value was stored and evaluated for 900 s",
            ),
            (Signs { escalator: 0, ..good }, "the escalator has not looked at events for 120 s"),
            (
                Signs { escalator: T - 121, ..good },
                "the escalator has not looked at events for 120 s",
            ),
            (Signs { delay_s: 121, ..good }, "escalations are 121 s late"),
        ] {
            assert_eq!(signs.check(T).err().unwrap_or_default(), fault, "{signs:?}");
        }
    }

    fn set(config: &Config, name: &str, value: &str) {
        let sql = "INSERT INTO settings (name, value) VALUES (?, ?)";
        let written: Result<u64, DbError> =
            config.write(|edit| edit.unrecorded().execute(sql, &[name.into(), value.into()]));
        written.unwrap();
    }

    #[test]
    fn requests_are_made_only_while_everything_works() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
        let config = Arc::new(config);
        let clock = SimClock::at(Duration::from_secs(T));
        let (bell, urls) = (Bell::default(), Arc::new(Mutex::new(Vec::new())));
        let answer = Arc::new(Mutex::new(Ok(())));
        let (asked, result) = (Arc::clone(&urls), Arc::clone(&answer));
        let request = move |url: &str, _: Duration| {
            lock(&asked).push(url.to_owned());
            lock(&result).clone()
        };
        let heartbeat =
            Heartbeat::requesting(Arc::clone(&config), clock.clone(), bell, Box::new(request));
        heartbeat.beat();
        assert_eq!((lock(&urls).len(), heartbeat.missed()), (0, 0), "off");
        set(&config, "heartbeat_url", "http://127.0.0.1/beat");
        set(&config, "heartbeat_period", "1m");
        // Any recorded change makes them live.
        let row = [("name", "login_attempts".into()), ("value", "6".into())];
        let written: Result<(), DbError> =
            config.write(|edit| edit.insert(&config::table::SETTINGS, &row));
        written.unwrap();
        heartbeat.beat();
        assert_eq!((lock(&urls).len(), heartbeat.missed()), (0, 0), "nothing was evaluated");
        clock.advance(Duration::from_secs(180));
        assert_eq!(heartbeat.missed(), 3);
        let mark = "INSERT INTO state_settings (name, value) VALUES ('findings_written', ?)";
        let at = (T + 170).to_string();
        let written: Result<u64, DbError> =
            config.write_state(|state| state.execute(mark, &[at.into()]));
        written.unwrap();
        heartbeat.beat();
        assert_eq!(lock(&urls).len(), 0, "the escalator does not work");
        heartbeat.escalator.looked(T + 180);
        *lock(&answer) = Err("refused".to_owned());
        heartbeat.beat();
        assert_eq!((lock(&urls).len(), heartbeat.missed()), (1, 3), "it was not accepted");
        *lock(&answer) = Ok(());
        heartbeat.beat();
        assert_eq!(*lock(&urls), ["http://127.0.0.1/beat"; 2]);
        assert_eq!(heartbeat.missed(), 0);
        clock.advance(Duration::from_secs(130));
        heartbeat.beat();
        assert_eq!((lock(&urls).len(), heartbeat.missed()), (2, 2), "the signs are old");
    }
}
