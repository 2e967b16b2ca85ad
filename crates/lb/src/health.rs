//! Health monitors: one thread checks the servers of all pools.
//!
//! A server has a target for each monitor of its pool. A monitor decides after results in a row; the server is
//! up or down when enough monitors have decided so. What cannot be checked is unknown: the server then keeps
//! the state that it had.

mod connection;
mod datagram;
mod echo;
mod outcome;
mod script;
mod smtp;
mod target;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use mio::{Events, Poll, Token, Waker};
use proxying::engine_link::monitors::Verdict;
use stdx::clock::SharedClock;

use crate::buffer::Buffers;
use crate::config::HealthKind;
use crate::pool::Pool;
use crate::snapshot::Snapshot;
use outcome::Outcome;
use script::{Groups, Job, Scripts};
use target::{Check, Key, Target};

const WAKER: Token = Token(usize::MAX);
/// How long a program waits while others run, in milliseconds.
const POSTPONED_MS: u64 = 100;

/// The running monitors.
pub(crate) struct Monitors {
    waker: Arc<Waker>,
    /// Programs that run.
    programs: Groups,
}

impl Monitors {
    pub(crate) fn start(snapshot: Arc<ArcSwap<Snapshot>>, clock: SharedClock) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let programs = Groups::default();
        let (own_waker, own_programs) = (Arc::clone(&waker), programs.clone());
        stdx::thread::permanent("health", move || {
            let mut table = Table::new(poll, own_waker, clock, own_programs);
            if let Err(error) = table.run(&snapshot) {
                tracing::error!("the health monitors have ended: {error}");
            }
        })?;
        Ok(Self { waker, programs })
    }

    /// The configuration has changed.
    pub(crate) fn changed(&self) {
        if let Err(error) = self.waker.wake() {
            tracing::error!("health monitors keep the previous configuration: {error}");
        }
    }

    /// Kills the programs that run, and starts no more.
    pub(crate) fn stop(&self) {
        self.programs.end();
    }
}

/// Monitors that this machine cannot run, one line each.
pub(crate) fn impossible(snapshot: &Snapshot) -> Vec<String> {
    let mut problems = Vec::new();
    for pool in &snapshot.pools {
        for monitor in &pool.monitors {
            let problem = match (monitor.kind, &monitor.script) {
                (HealthKind::Icmp, _) => {
                    pool.servers.iter().find_map(|server| echo::refusal(server.address.ip()))
                }
                (HealthKind::Script, Some(script)) => {
                    script::program(snapshot.monitor_scripts.as_deref(), script).err()
                }
                _ => None,
            };
            let line =
                |problem| format!("pool '{}': monitor '{}': {problem}", pool.name, monitor.name);
            problems.extend(problem.map(line));
        }
    }
    problems
}

/// What is due: time in milliseconds, target, round of a deadline or `None` for the next check.
type Due = Reverse<(u64, Key, Option<u32>)>;

struct Table {
    poll: Poll,
    waker: Arc<Waker>,
    clock: SharedClock,
    /// Those of a server are neighbours, in the order of the monitors.
    targets: Vec<Target>,
    /// Where targets are.
    places: HashMap<Key, usize>,
    /// Number of the next target.
    next_key: Key,
    due: BinaryHeap<Due>,
    /// `None`: there was no program to run yet.
    scripts: Option<Scripts>,
    programs: Groups,
    /// Pools and monitors whose checks could not be made: each is logged once.
    told: HashSet<(String, String)>,
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Table {
    fn new(poll: Poll, waker: Arc<Waker>, clock: SharedClock, programs: Groups) -> Self {
        Self {
            poll,
            waker,
            clock,
            targets: Vec::new(),
            places: HashMap::new(),
            next_key: 0,
            due: BinaryHeap::new(),
            scripts: None,
            programs,
            told: HashSet::new(),
        }
    }

    fn run(&mut self, snapshot: &ArcSwap<Snapshot>) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut buffers = Buffers::default();
        let mut seen: Option<Arc<Snapshot>> = None;
        loop {
            let now = ms(self.clock.monotonic());
            let wait = self.due.peek().map(|Reverse((due, ..))| due.saturating_sub(now));
            match self.poll.poll(&mut events, wait.map(Duration::from_millis)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                if event.token() == WAKER {
                    let newest = snapshot.load_full();
                    if !seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, &newest)) {
                        self.reload(&newest, &mut buffers);
                        seen = Some(newest);
                    }
                    self.take_results(&mut buffers);
                    continue;
                }
                let Some(&index) = self.places.get(&event.token().0) else { continue };
                let target = &mut self.targets[index];
                if let Some(outcome) = target.advance(event, &mut buffers) {
                    self.finish(index, outcome, &mut buffers);
                }
            }
            self.take_due(seen.as_deref(), &mut buffers);
        }
    }

    /// Begins checks, and ends those that have had their time.
    fn take_due(&mut self, snapshot: Option<&Snapshot>, buffers: &mut Buffers) {
        let now = ms(self.clock.monotonic());
        while let Some(Reverse((due, key, round))) = self.due.peek().copied() {
            if due > now {
                break;
            }
            self.due.pop();
            let Some(&index) = self.places.get(&key) else { continue };
            match round {
                None => self.begin(index, now, snapshot, buffers),
                Some(round) if self.targets[index].round == round => {
                    self.deadline(index, buffers);
                }
                Some(_) => {}
            }
        }
    }

    /// Targets of a new configuration. Those that are as before go on; the first checks of others are spread
    /// over the interval.
    fn reload(&mut self, snapshot: &Snapshot, buffers: &mut Buffers) {
        self.due.clear();
        self.told.clear();
        self.places.clear();
        let now = ms(self.clock.monotonic());
        let mut before = target::by_identity(std::mem::take(&mut self.targets));
        for pool in &snapshot.pools {
            for (server, _) in (0..).zip(&pool.servers) {
                let shared = &pool.server(server).shared;
                shared.checks.arrange(pool.monitors.iter().map(|monitor| &*monitor.name));
                if pool.monitors.is_empty() {
                    shared.set_unmonitored(now);
                }
                for (at, monitor) in pool.monitors.iter().enumerate() {
                    let spread =
                        ms(monitor.interval.0) * u64::from(server) / pool.servers.len() as u64;
                    let (key, pool) = (self.next_key, Arc::clone(pool));
                    self.next_key += 1;
                    let mut target = Target::new(key, pool, server, at, now + spread);
                    if let Some(old) = before.remove(&target.identity()) {
                        target = target.or_before(old, buffers);
                    }
                    self.due.push(Reverse((target.next_ms, target.key, None)));
                    if let Some(deadline) = target.deadline_ms {
                        self.due.push(Reverse((deadline, target.key, Some(target.round))));
                    }
                    self.places.insert(target.key, self.targets.len());
                    self.targets.push(target);
                }
            }
        }
        before.into_values().for_each(|mut target| target.end(buffers));
    }

    fn begin(
        &mut self,
        index: usize,
        now: u64,
        snapshot: Option<&Snapshot>,
        buffers: &mut Buffers,
    ) {
        let interval = ms(self.targets[index].monitor().interval.0);
        if self.targets[index].deadline_ms.is_some_and(|at| at <= now) {
            self.deadline(index, buffers);
        }
        if self.targets[index].check.is_some() {
            // The check before this one still has time.
            self.schedule(index, now + interval);
            return;
        }
        if self.targets[index].monitor().kind == HealthKind::Script
            && self.scripts.as_ref().is_some_and(Scripts::is_full)
        {
            self.schedule(index, now + POSTPONED_MS);
            return;
        }
        self.schedule(index, now + interval);
        let target = &mut self.targets[index];
        target.round = target.round.wrapping_add(1);
        let limit = ms(target.monitor().timeout.0);
        match self.start(index, snapshot) {
            Ok(check) => {
                let target = &mut self.targets[index];
                if !matches!(check, Check::Script) {
                    target.deadline_ms = Some(now + limit);
                    self.due.push(Reverse((now + limit, target.key, Some(target.round))));
                }
                target.check = Some(check);
            }
            Err(outcome) => self.finish(index, outcome, buffers),
        }
    }

    fn schedule(&mut self, index: usize, at_ms: u64) {
        let target = &mut self.targets[index];
        target.next_ms = at_ms;
        self.due.push(Reverse((at_ms, target.key, None)));
    }

    /// Starts a check. The error is its result.
    fn start(&mut self, index: usize, snapshot: Option<&Snapshot>) -> Result<Check, Outcome> {
        let target = &self.targets[index];
        let (monitor, address) = (target.monitor(), target.server().address);
        let token = Token(target.key);
        match (monitor.kind, &monitor.script) {
            (HealthKind::Udp | HealthKind::Dns, _) => {
                Ok(Check::Datagram(datagram::Probe::start(monitor, address, &self.poll, token)?))
            }
            (HealthKind::Icmp, _) => {
                Ok(Check::Echo(echo::Probe::start(address, &self.poll, token)?))
            }
            (HealthKind::Script, Some(script)) => {
                let folder = snapshot.and_then(|snapshot| snapshot.monitor_scripts.as_deref());
                let job = Job::new(target.key, folder, script, address, monitor.timeout.0)?;
                let scripts = match &mut self.scripts {
                    Some(scripts) => scripts,
                    none => {
                        let waker = Arc::clone(&self.waker);
                        none.insert(Scripts::start(waker, self.programs.clone())?)
                    }
                };
                scripts.run(job)?;
                Ok(Check::Script)
            }
            _ => {
                let (pool, server) = (&target.pool, target.number);
                let probe = connection::Probe::start(pool, server, monitor, &self.poll, token)?;
                Ok(Check::Connection(Box::new(probe)))
            }
        }
    }

    /// Takes the results of programs; those of targets that are gone are dropped.
    fn take_results(&mut self, buffers: &mut Buffers) {
        while let Some((key, outcome)) = self.scripts.as_mut().and_then(Scripts::next_result) {
            if let Some(&index) = self.places.get(&key) {
                self.finish(index, outcome, buffers);
            }
        }
    }

    /// A check has had its time.
    fn deadline(&mut self, index: usize, buffers: &mut Buffers) {
        let outcome = self.targets[index].late();
        self.finish(index, outcome, buffers);
    }

    fn finish(&mut self, index: usize, outcome: Outcome, buffers: &mut Buffers) {
        let now = ms(self.clock.monotonic());
        let target = &mut self.targets[index];
        target.end(buffers);
        target.note(&outcome, now);
        let (pool, server) = (Arc::clone(&target.pool), target.number);
        let (name, verdict) = (target.monitor().name.clone(), target.verdict);
        let shared = &target.server().shared;
        let now_s = self.clock.unix_s();
        let changed = shared.checks.note(target.at, verdict, outcome.reason(), now_s);
        if let Outcome::NotMade(reason) = &outcome
            && self.told.insert((pool.name.clone(), name.clone()))
        {
            tracing::error!(
                "pool {}: monitor {name} cannot run; servers keep their state: {reason}",
                pool.name
            );
        }
        let first = index - target.at;
        let of_server = &self.targets[first..first + pool.monitors.len()];
        tell(&pool, server, judge(of_server, now), changed.then_some((name, verdict)));
    }
}

/// Sets what the monitors of a server have decided together; returns whether it is up, if that has changed.
fn judge(targets: &[Target], now: u64) -> Option<bool> {
    let first = targets.first()?;
    let (needed, shared) = (first.pool.monitors_needed, &first.server().shared);
    let count = |verdict| targets.iter().filter(|target| target.verdict == verdict).count();
    let healthy = if count(Verdict::Passes) >= needed {
        true
    } else if count(Verdict::Fails) + needed > targets.len() {
        false
    } else {
        shared.set_unknown();
        return None;
    };
    // An ejection ends early if as many monitors have passed since.
    let passed_since = |ejected_at: u64| {
        let passed = targets.iter().filter(|target| target.passed_ms >= Some(ejected_at));
        passed.count() >= needed
    };
    if healthy && shared.ejection_of_copies.since(now).is_some_and(passed_since) {
        shared.ejection_of_copies.end();
    }
    if healthy && shared.ejection.since(now).is_some_and(|at| !passed_since(at)) {
        return None;
    }
    shared.set_healthy(healthy, now).then_some(healthy)
}

/// Logs changes of a server, and of one of its monitors.
fn tell(pool: &Pool, server: u16, healthy: Option<bool>, monitor: Option<(String, Verdict)>) {
    let server = pool.server(server);
    let (pool, name) = (&pool.name, &server.name);
    match (healthy, monitor) {
        (Some(true), _) => tracing::info!("pool {pool}: server {name} is up"),
        (Some(false), _) => {
            let failures = server.shared.checks.failures();
            tracing::info!("pool {pool}: server {name} is down: {failures}");
        }
        (None, Some((_, Verdict::Fails))) => {
            let failures = server.shared.checks.failures();
            tracing::info!("pool {pool}: server {name} fails {failures}");
        }
        (None, Some((monitor, Verdict::Passes))) => {
            tracing::debug!("pool {pool}: server {name} passes monitor {monitor}");
        }
        (None, _) => {}
    }
}

#[cfg(test)]
mod tests;
