//! Addresses of names.
//!
//! The system's resolver holds a thread for each lookup, and a name server that is gone holds it
//! for many seconds. So a name is looked up once, however many ask for it, and its addresses are
//! kept for a while; and lookups have threads of their own, of which those that are known to take
//! long, and those of names that nobody has asked for yet, never get all.

mod lanes;

use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stdx::clock::SharedClock;
use stdx::sync::lock;
use tokio::sync::watch;

use lanes::{Lane, Lanes};

/// How long the addresses of a name are believed.
const FRESH: Duration = Duration::from_secs(60);
/// How much longer they are used while nobody says anything else: a name server that is gone stops
/// no check of what has been found before.
const STALE: Duration = Duration::from_secs(3_600);
/// A lookup that took so long waited for a name server.
const LONG: Duration = Duration::from_secs(1);
/// Names remembered at one time.
const NAMES_MAX: usize = 1 << 18;
/// An idle thread ends after this time.
const IDLE: Duration = Duration::from_secs(10);
/// Stack of a thread; modules of the system's resolver want some.
const STACK_BYTES: usize = 512 << 10;

/// What a lookup found, or the system's words for why it did not.
type Found = Result<Vec<IpAddr>, String>;
/// Asks the system; blocks.
type LookUp = dyn Fn(&str) -> Found + Send + Sync;

/// Looks names up for everybody who collects.
#[derive(Clone)]
pub struct Resolver(Arc<Inner>);

struct Inner {
    clock: SharedClock,
    look_up: Box<LookUp>,
    state: Mutex<State>,
    /// Tells idle threads that there is work.
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    names: HashMap<String, Name>,
    lanes: Lanes,
    idle: usize,
    threads: usize,
}

#[derive(Debug, Default)]
struct Name {
    addresses: Vec<IpAddr>,
    /// Until when they are believed.
    until: Duration,
    /// Where its next lookup goes.
    lane: Lane,
    /// Who tells those that wait for a lookup.
    lookup: Option<watch::Sender<Option<Found>>>,
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

impl Resolver {
    /// One that asks the system.
    pub fn new(clock: SharedClock) -> Self {
        Self::with(clock, Box::new(ask_system))
    }

    fn with(clock: SharedClock, look_up: Box<LookUp>) -> Self {
        Self(Arc::new(Inner { clock, look_up, state: Mutex::default(), work: Condvar::new() }))
    }

    /// The addresses of a name, or an address as it is; at least one. The error is the system's.
    /// Takes as long as the system: the caller has a limit.
    pub async fn find(&self, name: &str) -> Found {
        if let Ok(address) = name.parse() {
            return Ok(vec![address]);
        }
        let mut lookup = match self.known(name) {
            Ok(addresses) => return Ok(addresses),
            Err(lookup) => lookup,
        };
        let found = lookup.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        found.unwrap_or_else(|| Err(String::from("no thread can be started to look it up")))
    }

    /// What is known, or the lookup that will tell.
    fn known(&self, name: &str) -> Result<Vec<IpAddr>, watch::Receiver<Option<Found>>> {
        let now = self.0.clock.monotonic();
        let mut guard = self.0.lock();
        let state = &mut *guard;
        if state.names.len() >= NAMES_MAX && !state.names.contains_key(name) {
            state.names.retain(|_, known| known.lookup.is_some());
        }
        let known = state.names.entry(name.to_owned()).or_default();
        let has = |until: Duration| now < until && !known.addresses.is_empty();
        if has(known.until) {
            return Ok(known.addresses.clone());
        }
        let old = has(known.until + STALE).then(|| known.addresses.clone());
        if let Some(teller) = &known.lookup {
            return old.ok_or_else(|| teller.subscribe());
        }
        let (teller, lookup) = watch::channel(None);
        known.lookup = Some(teller);
        state.lanes.push(known.lane, name.to_owned());
        Inner::employ(&self.0, state);
        old.ok_or(lookup)
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Sees that somebody takes what has come.
    fn employ(inner: &Arc<Self>, state: &mut State) {
        if state.idle >= state.lanes.waiting() || state.threads >= lanes::THREADS_MAX {
            inner.work.notify_one();
            return;
        }
        let worker = Arc::clone(inner);
        let started = std::thread::Builder::new()
            .name(String::from("resolver"))
            .stack_size(STACK_BYTES)
            .spawn(move || worker.serve());
        match started {
            Ok(_) => state.threads += 1,
            Err(error) if state.threads == 0 => {
                tracing::error!("cannot start a thread to resolve names: {error}");
                // Dropping the queues fails all waiting lookups.
                state.lanes = Lanes::default();
                state.names.retain(|_, known| known.lookup.take().is_none());
            }
            Err(_) => {}
        }
    }

    /// The body of a thread.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some((lane, name)) = state.lanes.take() {
                drop(state);
                let begin = self.clock.monotonic();
                let found = (self.look_up)(&name);
                let end = self.clock.monotonic();
                state = self.lock();
                state.lanes.ended(lane);
                state.learn(&name, found, end.saturating_sub(begin), end);
                // What had to wait for this one's place may be somebody else's to take.
                self.work.notify_one();
                continue;
            }
            state.idle += 1;
            let waited = self.work.wait_timeout(state, IDLE);
            let (again, late) = waited.unwrap_or_else(PoisonError::into_inner);
            state = again;
            state.idle -= 1;
            if late.timed_out() && !state.lanes.has_work() {
                state.threads -= 1;
                return;
            }
        }
    }
}

impl State {
    fn learn(&mut self, name: &str, found: Found, took: Duration, now: Duration) {
        let Some(known) = self.names.get_mut(name) else { return };
        known.lane = if took < LONG { Lane::Quick } else { Lane::Slow };
        let teller = known.lookup.take();
        match &found {
            Ok(addresses) => {
                known.addresses.clone_from(addresses);
                known.until = now + FRESH;
            }
            // Nobody has said that the name is gone: that takes no time.
            Err(_) if took >= LONG => {}
            Err(_) => known.addresses.clear(),
        }
        if let Some(teller) = teller {
            teller.send_replace(Some(found));
        }
    }
}

fn ask_system(name: &str) -> Found {
    let found = (name, 0).to_socket_addrs().map_err(|error| error.to_string())?;
    let mut found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    found.dedup();
    if found.is_empty() { Err(String::from("no address")) } else { Ok(found) }
}

#[cfg(test)]
mod tests;
