//! Services: each has a task on one thread that reads it again and again as long as items ask.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use stdx::clock::SharedClock;
use stdx::queue;
use stdx::sync::lock;
use tokio::sync::{Notify, watch};

use super::gather::{self, Lasting};
use super::inventory::{Model, Wish};
use super::link::{Account, Link, LinkError};
use super::log::{self, Log};
use crate::checks::http::Client;

/// From the end of one reading to the begin of the next, at least.
const PACE: Duration = Duration::from_secs(60);
/// A reading that took long is followed by a pause of so many times that.
const PAUSE_FACTOR: u32 = 2;
/// After a service did not answer. One that refuses is left alone for [`PACE`]: vCenters lock users
/// out who come with a wrong password five times in three minutes.
const RETRY: Duration = Duration::from_secs(15);
/// Something new is asked for: not sooner than so long after the last reading.
const SOON: Duration = Duration::from_secs(2);
/// Events are read again when they were read so long ago and an item asks.
const EVENTS_PACE: Duration = Duration::from_secs(5);
/// A service that nobody has asked for so long is left.
const FORGET: Duration = Duration::from_secs(24 * 3600);
/// The same of one that failed last: somebody may have tried a password.
const FORGET_FAILED: Duration = Duration::from_secs(300);
/// Services at one time.
const SERVICES_MAX: usize = 1_000;
/// Counters and properties that items of one service ask for.
const WISHES_MAX: usize = 2_000;

type Known = Arc<Mutex<HashMap<Account, Arc<Service>>>>;

/// Makes the client of the thread, which cannot be sent to it.
type MakeClient = Arc<dyn Fn() -> Client + Send + Sync>;

/// All services. Their thread starts with the first.
pub(crate) struct Services {
    clock: SharedClock,
    client: MakeClient,
    known: Known,
    thread: OnceLock<Result<queue::Sender<Arc<Service>>, String>>,
}

impl Services {
    /// Nothing is started yet.
    pub(crate) fn new(clock: SharedClock, client: MakeClient) -> Self {
        Self { clock, client, known: Known::default(), thread: OnceLock::new() }
    }

    /// The service of an account; from the first call on it is read.
    pub(super) fn service(&self, account: Account) -> Result<Arc<Service>, String> {
        let now = self.clock.monotonic();
        let mut known = lock(&self.known);
        if let Some(service) = known.get(&account) {
            service.used.store(now.as_secs(), Ordering::Relaxed);
            return Ok(Arc::clone(service));
        }
        if known.len() >= SERVICES_MAX {
            return Err(format!("more than {SERVICES_MAX} VMware services and users"));
        }
        let thread = self.thread.get_or_init(|| self.start()).as_ref().map_err(Clone::clone)?;
        let service = Arc::new(Service::new(account.clone(), now));
        let sent = thread.try_send(Arc::clone(&service));
        sent.map_err(|_| "the thread that reads VMware services is busy".to_owned())?;
        known.insert(account, Arc::clone(&service));
        Ok(service)
    }

    fn start(&self) -> Result<queue::Sender<Arc<Service>>, String> {
        let (services, received) = queue::bounded("VMware services", SERVICES_MAX);
        let (clock, known) = (self.clock.clone(), Arc::clone(&self.known));
        let client = Arc::clone(&self.client);
        stdx::thread::critical("vmware", move || run(&clock, &*client, &known, received))
            .map(|_| services)
            .map_err(|error| format!("the thread that reads VMware services: {error}"))
    }
}

/// The body of the thread; it ends when the last sender is gone.
fn run(
    clock: &SharedClock,
    client: &dyn Fn() -> Client,
    known: &Known,
    mut services: queue::Receiver<Arc<Service>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("cannot read VMware services: {error}");
            return;
        }
    };
    let client = Rc::new(client());
    tokio::task::LocalSet::new().block_on(&runtime, async {
        while let Some(service) = services.recv().await {
            let (client, clock) = (Rc::clone(&client), clock.clone());
            let known = Arc::clone(known);
            drop(tokio::task::spawn_local(async move {
                service.keep_reading(client, clock, &known).await;
            }));
        }
    });
}

/// The last reading: its number, and what came of it.
type Read = (u64, Option<Result<Arc<Model>, String>>);

/// One service.
pub(super) struct Service {
    account: Account,
    /// When it was asked last, in seconds of the monotonic clock.
    used: AtomicU64,
    read: watch::Sender<Read>,
    /// What items ask for beside what is always read.
    wishes: Mutex<BTreeSet<Wish>>,
    /// Something is wanted now.
    wake: Notify,
    /// Events after this key are wanted; `u64::MAX - 1` = new ones; `u64::MAX` = none.
    events_after: AtomicU64,
    log: watch::Sender<log::State>,
}

impl Service {
    fn new(account: Account, now: Duration) -> Self {
        Self {
            account,
            used: AtomicU64::new(now.as_secs()),
            read: watch::Sender::new((0, None)),
            wishes: Mutex::default(),
            wake: Notify::new(),
            events_after: AtomicU64::new(u64::MAX),
            log: watch::Sender::new(log::State::default()),
        }
    }

    /// The last reading whose number is greater, once there is one; `None` = the server stops.
    pub(super) async fn read_after(
        &self,
        number: u64,
    ) -> Option<(u64, Result<Arc<Model>, String>)> {
        let mut reader = self.read.subscribe();
        let read = reader.wait_for(|(at, read)| *at > number && read.is_some()).await.ok()?;
        let (number, read) = &*read;
        Some((*number, read.clone()?))
    }

    /// Has something read from the next time on.
    pub(super) fn wish(&self, wish: Wish) -> Result<(), String> {
        let mut wishes = lock(&self.wishes);
        if wishes.len() >= WISHES_MAX && !wishes.contains(&wish) {
            return Err(format!(
                "Items of this service ask for more than {WISHES_MAX} counters and properties."
            ));
        }
        wishes.insert(wish);
        drop(wishes);
        self.wake.notify_one();
        Ok(())
    }

    /// The events, read just now, all after the key `from` among them; `u64::MAX` = new ones only.
    pub(super) async fn events(&self, from: u64) -> Result<Arc<Log>, String> {
        let mut reader = self.log.subscribe();
        let before = reader.borrow().number;
        let from = from.min(u64::MAX - 1);
        self.events_after.fetch_min(from, Ordering::Relaxed);
        self.wake.notify_one();
        // A reading that had begun before may not go back as far.
        let deep = |state: &log::State| state.number > before && state.asked <= from;
        let state = reader.wait_for(deep).await;
        state.map_err(|_| "The server is stopping.".to_owned())?.read.clone()
    }

    async fn keep_reading(&self, client: Rc<Client>, clock: SharedClock, known: &Known) {
        let mut link = Link::new(client, self.account.clone());
        let mut lasting = Lasting::default();
        let (mut due, mut ended, mut events_read) = (Duration::ZERO, Duration::ZERO, None);
        loop {
            let now = clock.monotonic();
            let used = Duration::from_secs(self.used.load(Ordering::Relaxed));
            let failed = matches!(self.read.borrow().1, Some(Err(_)));
            if now.saturating_sub(used) > if failed { FORGET_FAILED } else { FORGET } {
                lock(known).remove(&self.account);
                link.close().await;
                return;
            }
            if now >= due || (self.has_news() && now >= ended + SOON) {
                due = self.read_once(&mut link, &mut lasting, &clock).await;
                ended = clock.monotonic();
            }
            let rested =
                events_read.is_none_or(|at: Duration| clock.monotonic() >= at + EVENTS_PACE);
            if rested && self.events_after.load(Ordering::Relaxed) != u64::MAX {
                self.read_events(&mut link, &mut lasting).await;
                events_read = Some(clock.monotonic());
            }
            let now = clock.monotonic();
            let mut pause = due.saturating_sub(now);
            if self.has_news() {
                pause = pause.min((ended + SOON).saturating_sub(now));
            }
            if self.events_after.load(Ordering::Relaxed) != u64::MAX {
                let again = events_read.map_or(now, |at| at + EVENTS_PACE);
                pause = pause.min(again.saturating_sub(now));
            }
            let _either = tokio::time::timeout(pause, self.wake.notified()).await;
        }
    }

    /// Items ask for something that the last reading did not have.
    fn has_news(&self) -> bool {
        let read = self.read.borrow();
        let wishes = lock(&self.wishes);
        match &read.1 {
            Some(Ok(model)) => !wishes.iter().all(|wish| model.wishes.contains(wish)),
            _ => false,
        }
    }

    /// Reads everything; returns when to do so again.
    async fn read_once(
        &self,
        link: &mut Link,
        lasting: &mut Lasting,
        clock: &SharedClock,
    ) -> Duration {
        let begin = clock.monotonic();
        let wishes = lock(&self.wishes).clone();
        let mut read = gather::read(link, lasting, &wishes).await;
        if read.as_ref().is_err_and(LinkError::is_session) {
            link.forget();
            read = gather::read(link, lasting, &wishes).await;
        }
        let end = clock.monotonic();
        let url = &self.account.url;
        let pause = match &read {
            Ok(model) => {
                let (count, ms) = (model.objects.len(), (end - begin).as_millis());
                tracing::debug!("{url}: {count} objects read in {ms} ms");
                PACE.max((end - begin) * PAUSE_FACTOR)
            }
            Err(error) => {
                tracing::debug!("{url} cannot be read: {error}");
                link.forget();
                if error.is_refusal() { PACE } else { RETRY }
            }
        };
        let read = read.map(Arc::new).map_err(|error| error.to_string());
        self.read.send_modify(|(number, last)| {
            *number += 1;
            *last = Some(read);
        });
        end + pause
    }

    async fn read_events(&self, link: &mut Link, lasting: &mut Lasting) {
        let after = self.events_after.swap(u64::MAX, Ordering::Relaxed);
        let known = self.log.borrow().read.clone().ok();
        let failed = self.read.borrow().1.clone().and_then(Result::err);
        let read = match failed {
            // Asked by one alone, or a wrong password would soon lock the user out.
            Some(why) => Err(why),
            None => self.read_log(link, lasting, known.as_deref(), after).await,
        };
        self.log.send_modify(|state| {
            state.number += 1;
            state.asked = match &read {
                Ok(_) if known.is_some() => after.min(state.asked),
                Ok(_) => after,
                Err(_) => 0,
            };
            state.read = read;
        });
    }

    async fn read_log(
        &self,
        link: &mut Link,
        lasting: &mut Lasting,
        known: Option<&Log>,
        after: u64,
    ) -> Result<Arc<Log>, String> {
        let mut read = log::read(link, lasting, known, after).await;
        if read.as_ref().is_err_and(LinkError::is_session) {
            link.forget();
            read = log::read(link, lasting, known, after).await;
        }
        read.map(Arc::new).map_err(|error| error.to_string())
    }
}
