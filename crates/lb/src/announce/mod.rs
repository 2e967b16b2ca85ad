//! Announcement of VIPs to routers (BGP), through BIRD, or to the machines of a network (VRRP), through keepalived.
//!
//! A route to a VIP, or the group that has it, refers to a network device that exists as long as this process. If the
//! process ends, also by SIGKILL, the kernel removes the device, the program learns of it from the kernel, and other
//! machines from the program. No part of this waits for a timer.

mod bird;
mod devices;
mod dispatch;
mod keepalived;
mod owned;
mod speaker;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use stdx::clock::SharedClock;
use stdx::sync::lock;
use stdx::sys::tun::Tun;

use crate::config::Announce;
use crate::snapshot::{Service, Snapshot};
use devices::Vips;
use dispatch::{Dispatcher, Standing};
pub(crate) use owned::Owned;
use speaker::Speaker;

/// How often servers are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(1);
/// How long servers of a VIP that was withdrawn must be usable before it is announced again: routers that learn and
/// forget a route all the time move the connections of others.
const STABLE: Duration = Duration::from_secs(3);

/// Announces the VIPs of an engine.
pub(crate) struct Announcer {
    config: Announce,
    speaker: Speaker,
    /// `None`: the program adds them to a device of the machine.
    vips: Option<Vips>,
    dispatcher: Option<Dispatcher>,
    /// Routes refer to it; `None`: they are withdrawn.
    routes: Arc<Mutex<Option<Tun>>>,
    /// Whether a configuration is in use, whose VIPs can be told.
    applied: Arc<AtomicBool>,
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
    device: String,
    owned: Arc<Owned>,
}

/// VIPs among addresses of services.
fn vips_of<'s>(
    config: &Announce,
    services: impl Iterator<Item = &'s Arc<Service>>,
) -> BTreeSet<IpAddr> {
    services.map(|service| service.listen.ip()).filter(|vip| config.covers(*vip)).collect()
}

impl Announcer {
    /// Makes the devices and begins to announce what `snapshot` has.
    pub(crate) fn start(
        config: &Announce,
        snapshot: &Arc<ArcSwap<Snapshot>>,
        owned: &Arc<Owned>,
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        let speaker = Speaker::new(&config.speaker);
        let dispatcher = Dispatcher::start(config, snapshot, clock)?;
        let vips = speaker.vips()?;
        let tun = speaker.device()?;
        let device = tun.name().to_owned();
        let routes = Arc::new(Mutex::new(Some(tun)));
        let applied = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = sync_channel(1);
        let follower = Follower {
            config: config.clone(),
            speaker: speaker.clone(),
            device: device.clone(),
            snapshot: Arc::clone(snapshot),
            owned: Arc::clone(owned),
            routes: Arc::clone(&routes),
            applied: Arc::clone(&applied),
            standing: dispatcher.as_ref().map(|dispatcher| Arc::clone(dispatcher.standing())),
            health: Health::default(),
            told: None,
            clock: Arc::clone(clock),
            fails: false,
        };
        let thread = stdx::thread::permanent("announcer", move || follower.run(&stopped))?;
        let (config, owned) = (config.clone(), Arc::clone(owned));
        Ok(Self { config, speaker, vips, dispatcher, routes, applied, stop, thread, device, owned })
    }

    pub(crate) const fn settings(&self) -> &Announce {
        &self.config
    }

    /// Makes the VIPs of a configuration addresses of this machine, before sockets are bound to them.
    pub(crate) fn prepare(&mut self, next: &Snapshot) -> anyhow::Result<()> {
        let Some(vips) = &mut self.vips else { return Ok(()) };
        vips.add(&vips_of(&self.config, next.services.iter()))
    }

    /// Whether sockets of an address are bound while this machine does not have it.
    pub(crate) fn comes_and_goes(&self, address: IpAddr) -> bool {
        self.vips.is_none() && self.config.covers(address)
    }

    /// Removes addresses that no service has, and announces the others.
    pub(crate) fn tidy(&mut self, current: &Snapshot) {
        // Under a server, an engine begins without services.
        if !current.services.is_empty() {
            self.applied.store(true, Release);
        }
        let Some(vips) = &mut self.vips else { return };
        if let Err(error) = vips.retain(&vips_of(&self.config, current.services.iter())) {
            tracing::warn!("addresses of former services stay: {error:#}");
        }
    }

    /// Whether another process of this machine announces the same VIPs: packets go on arriving.
    pub(crate) fn has_successor(&self, snapshot: &Snapshot) -> bool {
        let mut vips = vips_of(&self.config, snapshot.services.iter());
        vips.retain(|vip| self.owned.has(*vip));
        self.speaker.announced_by_others(&self.device, &vips)
    }

    /// Writes no more files that are of all processes of the machine: another one has the current configuration.
    pub(crate) fn leave_to_successor(&self) {
        if !self.speaker.is_placed() {
            self.leave_group();
            let _shared = lock(&self.routes).take();
        }
    }

    /// Lets other engines serve the connections of the group.
    fn leave_group(&self) {
        if let Some(dispatcher) = &self.dispatcher {
            dispatcher.leave();
        }
    }

    /// Withdraws the VIPs, without the help of the program's control.
    pub(crate) fn withdraw(&self) {
        if lock(&self.routes).take().is_some() {
            self.leave_group();
            self.speaker.remove(&self.device);
            tracing::info!("the VIPs are withdrawn");
        }
    }

    pub(crate) fn stop(self) {
        self.withdraw();
        let _ended = self.stop.try_send(());
        let _panicked = self.thread.join();
        if let Some(dispatcher) = self.dispatcher {
            dispatcher.stop();
        }
    }
}

/// Which VIPs have usable servers.
#[derive(Default)]
struct Health {
    /// Monotonic time from which a VIP is announced; `None`: some service has no usable server.
    from: BTreeMap<IpAddr, Option<Duration>>,
}

impl Health {
    /// VIPs to announce; `usable` has all VIPs, and whether their services have servers.
    fn update(&mut self, usable: &BTreeMap<IpAddr, bool>, now: Duration) -> BTreeSet<IpAddr> {
        self.from.retain(|vip, _| usable.contains_key(vip));
        for (vip, usable) in usable {
            // A VIP that is new need not prove itself.
            let from = self.from.entry(*vip).or_insert(Some(now));
            *from = usable.then(|| from.unwrap_or(now + STABLE));
        }
        let stable = self.from.iter().filter(|(_, from)| from.is_some_and(|from| now >= from));
        stable.map(|(vip, _)| *vip).collect()
    }
}

/// The thread.
struct Follower {
    config: Announce,
    speaker: Speaker,
    device: String,
    snapshot: Arc<ArcSwap<Snapshot>>,
    owned: Arc<Owned>,
    routes: Arc<Mutex<Option<Tun>>>,
    /// Before, the VIPs of the process that this one follows must stay.
    applied: Arc<AtomicBool>,
    /// What the other machines learn; `None`: nothing.
    standing: Option<Arc<Standing>>,
    health: Health,
    /// What the program has read; `None`: nothing yet, or the last attempt failed.
    told: Option<BTreeMap<IpAddr, bool>>,
    clock: SharedClock,
    fails: bool,
}

impl Follower {
    fn run(mut self, stopped: &Receiver<()>) {
        let mut pause = LOOK_EVERY;
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            if !self.applied.load(Acquire) {
                continue;
            }
            let mut wanted = self.usable();
            let stable = self.health.update(&wanted, self.clock.monotonic());
            wanted.iter_mut().for_each(|(vip, usable)| *usable = stable.contains(vip));
            pause = LOOK_EVERY;
            if let Some(standing) = &self.standing {
                let unusable = wanted.values().filter(|usable| !**usable).count();
                standing.set(u16::try_from(unusable).unwrap_or(u16::MAX));
            }
            if self.told.as_ref() == Some(&wanted) || lock(&self.routes).is_none() {
                continue;
            }
            let result = self.tell(&wanted);
            if result.is_err() {
                pause = PAUSE;
            }
            self.report(&wanted, result);
        }
    }

    /// Owned VIPs, and whether each of their services has a usable server.
    fn usable(&self) -> BTreeMap<IpAddr, bool> {
        let snapshot = self.snapshot.load();
        let mut usable = BTreeMap::new();
        for service in &snapshot.services {
            let vip = service.listen.ip();
            if self.config.covers(vip) && (!self.speaker.is_placed() || self.owned.has(vip)) {
                let mut pools = service.target.pools();
                let any = pools.any(|pool| pool.servers.iter().any(crate::pool::Server::is_usable));
                *usable.entry(vip).or_insert(true) &= any;
            }
        }
        usable
    }

    fn tell(&mut self, wanted: &BTreeMap<IpAddr, bool>) -> anyhow::Result<()> {
        // Held: a withdrawal in between would find the file again.
        let routes = lock(&self.routes);
        if routes.is_none() {
            return Ok(());
        }
        self.speaker.write(&self.device, wanted)?;
        drop(routes);
        self.speaker.reload(&self.clock)
    }

    fn report(&mut self, wanted: &BTreeMap<IpAddr, bool>, result: anyhow::Result<()>) {
        match result {
            Ok(()) => {
                let list = |vips: &BTreeSet<IpAddr>| {
                    vips.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(", ")
                };
                let usable = speaker::usable(wanted);
                match usable.is_empty() {
                    true => tracing::info!("no VIP is announced"),
                    false => tracing::info!("announced VIPs: {}", list(&usable)),
                }
                self.told = Some(wanted.clone());
                self.fails = false;
            }
            Err(error) => {
                // The file may have been written, also if what is wanted next is what the program has read before.
                self.told = None;
                if !self.fails {
                    tracing::error!(
                        "VIPs cannot be announced: {error:#}; forwarding continues, and the engine retries"
                    );
                }
                self.fails = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vip_returns_when_its_servers_have_been_usable_for_a_while() {
        let vip: IpAddr = "192.0.2.1".parse().unwrap();
        let begin = Duration::from_millis(1);
        let mut health = Health::default();
        let mut at = |usable: bool, ms: u64| {
            let now = begin + Duration::from_millis(ms);
            !health.update(&[(vip, usable)].into(), now).is_empty()
        };
        assert!(at(true, 0), "a new VIP is announced at once");
        assert!(!at(false, 100), "and withdrawn at once");
        assert!(!at(true, 200));
        assert!(!at(false, 2_900));
        assert!(!at(true, 3_000), "the time begins again");
        assert!(!at(true, 5_900));
        assert!(at(true, 6_000));
        assert!(health.update(&BTreeMap::new(), begin).is_empty(), "its service is gone");
    }
}
