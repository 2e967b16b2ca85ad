//! The engine: threads that share nothing but the configuration.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, anyhow};
use arc_swap::ArcSwap;
use mio::Poll;
use proxying::engine_link::analytics::Measured;
use stdx::clock::SharedClock;

use crate::acme::{Check, Keeper};
use crate::announce::{Announcer, Owned};
use crate::auth::Checkers;
use crate::config::{Announce, Config, Purge, Transactions};
use crate::core::Who;
use crate::health::Monitors;
use crate::mailbox::Mailbox;
use crate::ocsp::Stapler;
use crate::quic::{Ids, Threads};
use crate::recorder::{Counts, Records};
use crate::snapshot::{Endpoint, Snapshot};
use crate::succession::Beginning;
use crate::tickets::TicketSecrets;
use crate::udp;
use crate::worker::Worker;

/// Connections that the system completes before the engine accepts them.
pub(crate) const BACKLOG: usize = 4096;

/// Reads and checks a configuration file.
///
/// # Errors
/// The file cannot be read, or the first problems in it.
pub fn read(file: &Path) -> anyhow::Result<Config> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the configuration {}", file.display()))?;
    Config::parse(&text).map_err(|problem| anyhow!("{}: {problem}", file.display()))
}

/// Checks a configuration without using it.
///
/// # Errors
/// All problems, one per line.
pub fn check(config: &Config) -> anyhow::Result<()> {
    let snapshot = Snapshot::compile(config, None, 0).map_err(|problems| anyhow!(problems))?;
    config.announce.as_ref().map_or(Ok(()), Announce::check).map_err(|problem| anyhow!(problem))?;
    match crate::health::impossible(&snapshot) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(anyhow!(problems.join("\n"))),
    }
}

/// A running engine.
pub struct Engine {
    snapshot: Arc<ArcSwap<Snapshot>>,
    mailboxes: Vec<Arc<Mailbox>>,
    listening: HashSet<Endpoint>,
    monitors: Monitors,
    keeper: Keeper,
    stapler: Stapler,
    announcer: Option<Announcer>,
    owned: Arc<Owned>,
    workers: Vec<JoinHandle<()>>,
    records: Option<Records>,
    fixed: Fixed,
    clock: SharedClock,
}

/// What a running engine cannot change.
#[derive(Debug, PartialEq, Eq)]
struct Fixed {
    name: Option<String>,
    transactions: Option<Transactions>,
}

impl Fixed {
    fn of(config: &Config) -> Self {
        Self { name: config.name.clone(), transactions: config.transactions.clone() }
    }
}

/// Name of this machine.
fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "engine".to_owned(), |name| name.trim().to_owned())
}

impl Engine {
    /// Starts the threads and applies a configuration.
    ///
    /// # Errors
    /// Problems of the configuration, addresses that cannot be used, missing resources.
    pub fn start(config: &Config, clock: &SharedClock) -> anyhow::Result<Self> {
        Self::begin(config, Beginning::Alone, clock)
    }

    /// The same beside an engine that is about to end, or not.
    ///
    /// # Errors
    /// See [`start`](Self::start).
    pub fn begin(
        config: &Config,
        beginning: Beginning,
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        // Where the limit is unknown, nothing uses more files than connections need.
        let open_files = stdx::sys::raise_open_files_limit().unwrap_or(0);
        let threads = config.threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, std::num::NonZero::get);
        let snapshot = Arc::new(ArcSwap::from_pointee(Snapshot::empty(threads, Some(clock))));
        let mut mailboxes = Vec::new();
        let mut workers = Vec::new();
        let records = config.transactions.as_ref();
        let records = records.map(|config| Records::start(config, beginning, clock));
        let records = records.transpose()?;
        let name = config.name.clone().unwrap_or_else(machine);
        let checkers = Checkers::new(threads);
        let mut polls = Vec::new();
        for _ in 0..threads {
            let poll = Poll::new()?;
            mailboxes.push(Arc::new(Mailbox::new(poll.registry(), Who::Waker.into())?));
            polls.push(poll);
        }
        let ids = Ids::new(threads);
        for (number, poll) in polls.into_iter().enumerate() {
            let own =
                Threads { ids: ids.clone(), mailboxes: mailboxes.clone().into(), own: number };
            let (snapshot, clock) = (Arc::clone(&snapshot), Arc::clone(clock));
            let mut worker = Worker::new(snapshot, clock, &checkers, poll, own)?;
            worker.share_files(open_files, threads);
            if let Some(records) = &records {
                worker.record(records.recorder(&name, number));
            }
            workers.push(stdx::thread::permanent(&format!("engine-{number}"), move || {
                if let Err(error) = worker.run() {
                    tracing::error!("a thread of the engine has ended: {error}");
                }
            })?);
        }
        let monitors = Monitors::start(Arc::clone(&snapshot), Arc::clone(clock))?;
        let fixed = Fixed::of(config);
        let (listening, keeper) = (HashSet::new(), Keeper::new(clock));
        let stapler = Stapler::new(clock);
        let clock = Arc::clone(clock);
        let mut engine = Self {
            snapshot,
            mailboxes,
            listening,
            monitors,
            keeper,
            stapler,
            announcer: None,
            owned: Arc::default(),
            workers,
            records,
            fixed,
            clock,
        };
        engine.apply(config)?;
        Ok(engine)
    }

    /// Replaces the configuration; open connections stay. On an error nothing changes.
    ///
    /// # Errors
    /// Problems of the configuration, addresses that cannot be used.
    pub fn apply(&mut self, config: &Config) -> anyhow::Result<()> {
        if Fixed::of(config) != self.fixed {
            return Err(anyhow!(
                "changes of 'name' and 'transactions' need a restart of the engine"
            ));
        }
        let before = self.snapshot.load_full();
        let now_ms = u64::try_from(self.clock.monotonic().as_millis()).unwrap_or(u64::MAX);
        let snapshot = Snapshot::compile(config, Some(&before), now_ms)
            .map_err(|problems| anyhow!(problems))?;
        self.announce_by(config.announce.as_ref())?;
        if let Some(announcer) = &mut self.announcer {
            announcer.prepare(&snapshot)?;
        }
        let certificates = self.keeper.prepare(config.acme.as_ref(), &snapshot.acme)?;
        let wanted: HashSet<Endpoint> =
            snapshot.services.iter().flat_map(|service| service.endpoints()).collect();
        let (mut streams, mut datagrams) = (Vec::new(), Vec::new());
        for Endpoint { datagrams: of_datagrams, address } in wanted.difference(&self.listening) {
            let announcer = self.announcer.as_ref();
            let foreign = announcer.is_some_and(|one| one.comes_and_goes(address.ip()));
            for mailbox in &self.mailboxes {
                let opened = if *of_datagrams {
                    udp::bind(*address, foreign).map(|socket| datagrams.push((mailbox, socket)))
                } else {
                    listen(*address, foreign).map(|socket| streams.push((mailbox, socket)))
                };
                opened.map_err(|error| refusal(*address, error))?;
            }
        }
        self.listening = wanted;
        let staples = snapshot.staples.clone();
        snapshot.begin();
        // First, so that no thread takes a socket for which its configuration has no service.
        self.snapshot.store(Arc::new(snapshot));
        for (mailbox, socket) in streams {
            stdx::sync::lock(&mailbox.listeners).push(socket);
        }
        for (mailbox, socket) in datagrams {
            stdx::sync::lock(&mailbox.datagrams).push(socket);
        }
        // From here on the configuration is in effect: what fails now is no reason to call it refused.
        for mailbox in &self.mailboxes {
            mailbox.changed.store(true, Release);
            if let Err(error) = mailbox.waker.wake() {
                tracing::error!("a thread learns of the configuration late: {error}");
            }
        }
        if let Some(announcer) = &mut self.announcer {
            announcer.tidy(&self.snapshot.load());
        }
        self.monitors.changed();
        if let Err(error) = self.keeper.apply(certificates) {
            tracing::error!("certificates cannot be ordered: {error}; reload the configuration");
        }
        let folder = config.ocsp.as_ref().map(|ocsp| ocsp.folder.as_path());
        if let Err(error) = self.stapler.apply(folder.unwrap_or(Path::new("")), &staples) {
            tracing::error!("OCSP responses cannot be fetched: {error}; reload the configuration");
        }
        Ok(())
    }

    /// Announces by these settings from now on. On an error those before stay in use.
    fn announce_by(&mut self, wanted: Option<&Announce>) -> anyhow::Result<()> {
        let current = self.announcer.as_ref().map(|announcer| announcer.settings().clone());
        if current.as_ref() == wanted {
            return Ok(());
        }
        wanted.map_or(Ok(()), Announce::check).map_err(|problem| anyhow!(problem))?;
        // Both would have devices of the same names.
        if let Some(announcer) = self.announcer.take() {
            announcer.stop();
        }
        let start = |settings: &Announce| {
            Announcer::start(settings, &self.snapshot, &self.owned, &self.clock)
        };
        let started = wanted.map(start).transpose();
        if started.is_err() {
            let mut before = current.as_ref().map(start).transpose();
            if let Ok(Some(announcer)) = &mut before
                && let Err(error) = announcer.prepare(&self.snapshot.load())
            {
                tracing::error!("VIPs cannot be added to this machine again: {error:#}");
            }
            self.announcer = before.ok().flatten();
        }
        self.announcer = started?;
        Ok(())
    }

    /// Removes stored responses of a virtual service, or of all if `service` is `None`, on all threads. Returns how many.
    ///
    /// # Errors
    /// The URI is invalid, or the service has no cache.
    pub fn purge(&self, service: Option<&str>, purge: &Purge) -> Result<u64, String> {
        purge.check()?;
        let snapshot = self.snapshot.load();
        let mut purged = None;
        let mut last = None;
        for one in
            snapshot.services.iter().filter(|one| service.is_none_or(|name| one.name == name))
        {
            // A service has an entry for each of its addresses.
            if last.replace(one.tally.born) != Some(one.tally.born)
                && let Some(more) = one.caches.purge(purge)
            {
                purged = Some(purged.unwrap_or(0) + more);
            }
        }
        match (purged, service) {
            (None, Some(name)) => {
                Err(format!("virtual service '{name}' does not exist or has no cache"))
            }
            (purged, _) => Ok(purged.unwrap_or(0)),
        }
    }

    /// Announces only these VIPs of its services; `None`: all.
    pub fn own(&self, vips: Option<BTreeSet<IpAddr>>) {
        self.owned.replace(vips);
    }

    /// Lets these checks of an authority pass, and no others.
    ///
    /// # Errors
    /// They cannot be set up; none passes.
    pub fn answer_checks(&self, checks: &[Check]) -> anyhow::Result<()> {
        let snapshot = self.snapshot.load();
        snapshot.acme.challenges.replace(checks).map_err(|problem| anyhow!(problem))
    }

    /// Session tickets follow from these secrets from now on, which all engines of the group have.
    pub fn share_tickets(&self, secrets: TicketSecrets) {
        self.snapshot.load().tickets.share(secrets);
    }

    /// Counters of records; `None`: it keeps none.
    #[must_use]
    pub fn records(&self) -> Option<Arc<Counts>> {
        self.records.as_ref().map(|records| Arc::clone(records.counts()))
    }

    /// What was counted of all services, pools and servers of the configuration. `now`: monotonic time.
    #[must_use]
    pub fn measured(&self, now: Duration) -> Vec<Measured> {
        let now_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        self.snapshot.load().measured(now_ms)
    }

    /// Whether routers send packets here because this process alone says so.
    pub(crate) fn announces_alone(&self) -> Option<&Announcer> {
        let snapshot = self.snapshot.load();
        self.announcer.as_ref().filter(|announcer| !announcer.has_successor(&snapshot))
    }

    pub(crate) fn leave_vips_to_successor(&self) {
        if let Some(announcer) = &self.announcer {
            announcer.leave_to_successor();
        }
    }

    pub(crate) fn mailboxes(&self) -> &[Arc<Mailbox>] {
        &self.mailboxes
    }

    /// Closes all connections, and writes the records of what was carried.
    pub fn stop(self) {
        stdx::thread::set_running(false);
        // Before the listeners close: routers would go on sending connections here.
        if let Some(announcer) = &self.announcer {
            announcer.withdraw();
        }
        for mailbox in &self.mailboxes {
            mailbox.stop.store(true, Relaxed);
            if let Err(error) = mailbox.waker.wake() {
                tracing::error!("a thread of the engine cannot be ended: {error}");
            }
        }
        for worker in self.workers {
            let _panicked = worker.join();
        }
        self.monitors.stop();
        if let Some(announcer) = self.announcer {
            announcer.stop();
        }
        if let Some(records) = self.records {
            records.end();
        }
    }
}

/// Why an address cannot be used, and what to do about it.
fn refusal(address: SocketAddr, error: io::Error) -> anyhow::Error {
    let foreign = error.kind() == io::ErrorKind::AddrNotAvailable;
    let error = anyhow::Error::new(error).context(format!("cannot listen on {address}"));
    if !foreign {
        return error;
    }
    error.context(
        "this machine does not have the address: list its network in 'announce', add it to a device, or set \
         net.ipv4.ip_nonlocal_bind (net.ipv6.ip_nonlocal_bind) to 1",
    )
}

/// A socket of its own for each thread: the system spreads new connections. `foreign`: this machine need not have the
/// address.
fn listen(address: SocketAddr, foreign: bool) -> io::Result<TcpListener> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    // Accepted connections inherit it.
    socket.set_tcp_nodelay(true)?;
    udp::allow_foreign(&socket, address, foreign)?;
    socket.bind(&address.into())?;
    socket.listen(i32::try_from(BACKLOG).unwrap_or(i32::MAX))?;
    Ok(socket.into())
}
