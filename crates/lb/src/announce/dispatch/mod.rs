//! Connections to VIPs of VRRP on all machines of a group: the machine that has the VIPs hands them to the others in
//! the same network, and those respond to clients themselves.
//!
//! Rules of nftables choose the machine by a hash of the client's address and port. All machines have the same rules,
//! so that nothing has to be exchanged when the VIPs move.

mod buckets;
mod machines;
mod network;
mod probe;
mod rules;
mod standing;
mod table;

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use arc_swap::ArcSwap;
use stdx::clock::SharedClock;

use crate::config::{Announce, Keepalived};
use crate::snapshot::Snapshot;
use machines::Machines;
use probe::Prober;
use rules::Rules;
pub(super) use standing::Standing;
use table::Table;

/// How often hardware addresses and the table are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Pause after an error, and while a hardware address is missing.
const PAUSE: Duration = Duration::from_secs(1);

/// Spreads the connections of an engine's VIPs.
pub(super) struct Dispatcher {
    standing: Arc<Standing>,
    threads: Vec<(SyncSender<()>, JoinHandle<()>)>,
}

impl Dispatcher {
    /// Begins to respond to other machines, and to look for them. `None`: machines do not share connections.
    pub(super) fn start(
        announce: &Announce,
        snapshot: &Arc<ArcSwap<Snapshot>>,
        clock: &SharedClock,
    ) -> anyhow::Result<Option<Self>> {
        let Some((config, dispatch)) = announce.dispatched() else { return Ok(None) };
        // Before this machine has VIPs of another one.
        network::restrict_arp(&config.interface)?;
        let Keepalived { address, peers, .. } = config;
        let port = dispatch.port.get();
        let prober = Prober::new(*address, port, peers)?;
        let standing = Arc::new(Standing::default());
        let spreading = Spreading {
            announce: announce.clone(),
            config: config.clone(),
            snapshot: Arc::clone(snapshot),
            standing: Arc::clone(&standing),
            clock: Arc::clone(clock),
            view: View { serving: BTreeSet::new(), snapshot: None },
            look_at: Duration::ZERO,
            current: None,
            tables: 0,
            fails: false,
        };
        let machines = Machines::new(*address, peers, clock.monotonic());
        let (of_responder, of_peers) = (Arc::clone(&standing), peers.clone());
        let listen = SocketAddr::new(*address, port);
        let threads = vec![
            thread("responder", move |stopped| {
                probe::respond(listen, &of_peers, &of_responder, stopped)
            })?,
            thread("dispatcher", move |stopped| spreading.run(prober, machines, stopped))?,
        ];
        Ok(Some(Self { standing, threads }))
    }

    pub(super) const fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    /// Lets other machines take the connections over.
    pub(super) fn leave(&self) {
        self.standing.leave();
    }

    pub(super) fn stop(self) {
        self.leave();
        for (stop, thread) in self.threads {
            let _ended = stop.try_send(());
            let _panicked = thread.join();
        }
    }
}

fn thread(
    name: &str,
    body: impl FnOnce(&Receiver<()>) + Send + 'static,
) -> anyhow::Result<(SyncSender<()>, JoinHandle<()>)> {
    let (stop, stopped) = sync_channel(1);
    let thread = stdx::thread::critical(name, move || body(&stopped));
    Ok((stop, thread.context("cannot start a thread")?))
}

/// What rules follow from, beside hardware addresses.
struct View {
    serving: BTreeSet<IpAddr>,
    snapshot: Option<Arc<Snapshot>>,
}

/// The thread that keeps the rules current.
struct Spreading {
    announce: Announce,
    config: Keepalived,
    snapshot: Arc<ArcSwap<Snapshot>>,
    standing: Arc<Standing>,
    clock: SharedClock,
    view: View,
    /// Monotonic time of the next look at what can change unnoticed.
    look_at: Duration,
    /// `None`: all connections stay here.
    current: Option<(Rules, Table)>,
    /// Tables made so far.
    tables: u64,
    fails: bool,
}

impl Spreading {
    fn run(mut self, mut prober: Prober, mut machines: Machines, stopped: &Receiver<()>) {
        let pause = (self.config.interval.0 / 3).clamp(Duration::from_millis(20), PAUSE);
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            if self.standing.has_left() {
                self.leave();
                continue;
            }
            let now = self.clock.monotonic();
            prober.round(&mut machines, now);
            let Some(unusable) = self.standing.unusable() else { continue };
            let serving = machines.serving(unusable, now);
            let snapshot = self.snapshot.load_full();
            let known =
                self.view.snapshot.as_ref().is_some_and(|known| Arc::ptr_eq(known, &snapshot));
            if known && serving == self.view.serving && now < self.look_at {
                continue;
            }
            self.view = View { serving, snapshot: Some(snapshot) };
            self.look_at = now + PAUSE;
            let result = self.update(now);
            self.report(result);
        }
        self.leave();
    }

    fn leave(&mut self) {
        if let Some((_, table)) = self.current.take() {
            table.leave();
        }
    }

    /// The rules that are wanted now.
    fn rules(&self) -> anyhow::Result<Rules> {
        let Keepalived { interface, address, peers, .. } = &self.config;
        let services = self.view.snapshot.iter().flat_map(|snapshot| &snapshot.services);
        let services = services.map(|service| service.listen);
        Ok(Rules {
            interface: interface.clone(),
            own: (*address, network::own(interface)?),
            peers: network::neighbours(interface, peers)?,
            serving: self.view.serving.clone(),
            services: services.filter(|listen| self.announce.covers(listen.ip())).collect(),
        })
    }

    fn update(&mut self, now: Duration) -> anyhow::Result<()> {
        let rules = self.rules()?;
        let reachable = rules.reachable();
        if reachable == rules.serving {
            self.look_at = now + LOOK_EVERY;
        }
        if !rules.is_needed() {
            if self.current.take().is_some() {
                tracing::info!("this machine serves the connections of its VIPs alone");
            }
            return Ok(());
        }
        if self.current.as_ref().is_some_and(|(current, table)| *current == rules && table.exists())
        {
            return Ok(());
        }
        self.tables += 1;
        let id = self.config.virtual_router_id;
        let name = format!("vedette_{id}_{}_{}", std::process::id(), self.tables);
        let file: PathBuf = self.config.folder.join(format!("vedette-{id}.nft"));
        let table = Table::make(&name, &file, &rules.table(&name), &*self.clock)?;
        // The one before ends now: packets always meet a table.
        self.current = Some((rules, table));
        let reachable: Vec<String> = reachable.iter().map(IpAddr::to_string).collect();
        tracing::info!("connections to VIPs are spread over: {}", reachable.join(", "));
        Ok(())
    }

    fn report(&mut self, result: anyhow::Result<()>) {
        if let Err(error) = &result
            && !self.fails
        {
            tracing::error!(
                "connections cannot be spread over other machines: {error:#}; forwarding continues, and the engine retries"
            );
        }
        self.fails = result.is_err();
    }
}
