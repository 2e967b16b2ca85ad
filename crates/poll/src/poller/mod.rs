//! Pollers: one thread per core, each with its own hosts, schedule and runtime; they share
//! nothing but the queues to the shards.
//!
//! A poller moves in slices of 50 ms: it looks for a new snapshot, lets items become due, and
//! starts what is due evenly over the second, so that 20,000 checks of one second do not open
//! 20,000 connections in its first millisecond.

mod beside;
mod conclude;
mod direct;
mod ipmi;
mod jmx;
mod judge;
mod snmp;
mod task;
mod together;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use collect::counters::{Counters, Process};
use collect::queue::QueueReport;
use collect::table::EVENTS;
use config::snapshot::{Item, ItemType};
use model::{ItemId, Payload, Timestamp, Value};
use stdx::queue;
use tokio::sync::oneshot;
use wire::agent::passive::Dialect;

use crate::checks::check::Shared;
use crate::checks::reply::CheckReply;
use crate::checks::snmp::{self as snmp_checks, Engine as SnmpEngine, Plans};
use crate::engines::{self, Engines};
use crate::internal;
use crate::outbox::Outbox;
use crate::schedule::{INTERNAL, Schedule, Together};
use crate::sides::InternalValue;
use beside::Beside;
use conclude::Tally;
use direct::{Direct, Ended, Job, Route};

const SLICE: Duration = Duration::from_millis(50);
/// Between two looks for what helpers beside this thread have ended.
const LOOK: Duration = Duration::from_millis(5);
const SLICES_PER_S: usize = 20;
/// A slice that starts so late shows that the thread has more than it can do: no new checks.
const LAG_MAX: Duration = Duration::from_millis(200);
/// Checks in flight that are tried however often the system refuses sockets.
const IN_FLIGHT_MIN: usize = 64;
/// Lanes started in a slice however few are due.
const LANES_PER_SLICE_MIN: usize = 32;
/// How long the addresses of a name are believed.
const RESOLVED_FOR: Duration = Duration::from_secs(60);
/// Internal items computed without letting others run.
const INTERNAL_BURST: usize = 256;

/// A question to a poller.
#[derive(Debug)]
pub(crate) enum Command {
    /// What is late?
    Queue { limit: usize, reply: Reply<QueueReport> },
    /// Make these items due; answers how many are scheduled here.
    CheckNow { items: Vec<ItemId>, reply: Reply<usize> },
    /// End; answered when the results in hand are with the shards.
    Stop { grace: Duration, reply: Reply<()> },
}

/// Where the answer goes.
#[derive(Debug)]
pub(crate) struct Reply<T>(oneshot::Sender<T>);

impl<T> Reply<T> {
    pub(crate) fn new() -> (Self, oneshot::Receiver<T>) {
        let (tx, rx) = oneshot::channel();
        (Self(tx), rx)
    }

    fn send(self, answer: T) {
        // Who asked may have gone.
        let _ = self.0.send(answer);
    }
}

struct Poller {
    shared: Arc<Shared>,
    engines: Arc<Engines>,
    /// Its number among the pollers, from 0.
    number: usize,
    schedule: RefCell<Schedule>,
    outbox: Rc<Outbox>,
    in_flight: Cell<usize>,
    /// Checks begun that the shared counters have not heard of.
    begun: Cell<usize>,
    in_flight_max: Cell<usize>,
    direct: RefCell<Direct>,
    snmp: RefCell<SnmpEngine<Job>>,
    /// Checks in flight on this thread, the others are with `beside`.
    here_max: usize,
    beside: Beside,
    /// Room for results on their way from `direct`, kept from round to round.
    ended: Cell<Vec<Ended>>,
    /// The same for results of `snmp`.
    snmp_ended: Cell<Vec<snmp_checks::Ended<Job>>>,
    snmp_plans: RefCell<Plans>,
    ipmi: ipmi::Devices,
    /// Items whose lines of a log are not kept yet.
    unkept: Rc<RefCell<HashSet<ItemId>>>,
    stopping: Cell<bool>,
    /// This thread does not keep up: what is in flight already must not time out for that.
    lagging: Cell<bool>,
}

/// How many connections a poller may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sockets {
    /// Of its own thread: its share of the process's open files.
    pub(crate) here: usize,
    /// All of them.
    pub(crate) wanted: usize,
    /// The limit of open files.
    pub(crate) files: usize,
}

/// What a poller needs.
pub(crate) struct Work {
    pub(crate) shared: Arc<Shared>,
    pub(crate) engines: Arc<Engines>,
    pub(crate) number: usize,
    /// Pollers there are.
    pub(crate) of: usize,
}

/// The body of a poller's thread.
pub(crate) fn run(work: Work, sockets: Sockets, commands: queue::Receiver<Command>) {
    let Work { shared, engines, number, of } = work;
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("poller {number} cannot start: {error}");
            return;
        }
    };
    let direct = match Direct::new(shared.config.agent_answer_bytes_max) {
        Ok(direct) => direct,
        Err(error) => {
            tracing::error!("poller {number} cannot start: {error}");
            return;
        }
    };
    // Salts of encryption must differ from start to start, and from poller to poller.
    let seed = (shared.context.clock.unix().as_nanos() as u64).rotate_left(8) ^ number as u64;
    let snmp = match SnmpEngine::new(shared.config.source_ip, seed) {
        Ok(snmp) => snmp,
        Err(error) => {
            tracing::error!("poller {number} cannot start: {error}");
            return;
        }
    };
    let now = shared.context.now().clock;
    let schedule = Schedule::new(engines::waits, number, of, now);
    let outbox = Outbox::new(shared.context.sink.clone());
    let beyond = sockets.wanted.saturating_sub(sockets.here);
    let beside = Beside::new(Arc::clone(&shared), number, sockets.files, beyond);
    let poller = Rc::new(Poller {
        shared,
        engines,
        number,
        schedule: RefCell::new(schedule),
        outbox,
        in_flight: Cell::new(0),
        begun: Cell::new(0),
        in_flight_max: Cell::new(sockets.here + beside.capacity()),
        here_max: sockets.here,
        beside,
        direct: RefCell::new(direct),
        snmp: RefCell::new(snmp),
        ended: Cell::default(),
        snmp_ended: Cell::default(),
        snmp_plans: RefCell::default(),
        ipmi: ipmi::Devices::default(),
        unkept: Rc::default(),
        stopping: Cell::new(false),
        lagging: Cell::new(false),
    });
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let outbox = Rc::clone(&poller.outbox);
        tokio::task::spawn_local(outbox.run());
        poller.run(commands).await;
    });
}

impl Poller {
    async fn run(self: Rc<Self>, mut commands: queue::Receiver<Command>) {
        let mut slice = tokio::time::interval(SLICE);
        slice.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut last_second = 0;
        let mut cpu = stdx::sys::thread_cpu_time();
        let connections = self.direct.borrow().watched().and_then(stdx::sys::watch);
        let datagrams = self.snmp.borrow().watched().and_then(stdx::sys::watch);
        let (ready, datagrams) = match (connections, datagrams) {
            (Ok(ready), Ok(datagrams)) => (ready, datagrams),
            (Err(error), _) | (_, Err(error)) => {
                tracing::error!("a poller cannot poll its connections: {error}");
                return;
            }
        };
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                guard = ready.readable() => {
                    let more = self.drive();
                    if let Ok(mut guard) = guard
                        && !more
                    {
                        guard.clear_ready();
                    }
                    // Timers, commands and the outbox have their turn after each round.
                    tokio::task::yield_now().await;
                }
                guard = datagrams.readable() => {
                    let more = self.drive_snmp();
                    if let Ok(mut guard) = guard
                        && !more
                    {
                        guard.clear_ready();
                    }
                    tokio::task::yield_now().await;
                }
                _ = look.tick(), if self.beside.is_busy() => self.settle(),
                due = slice.tick() => {
                    self.lagging.set(due.elapsed() > LAG_MAX);
                    let now = self.shared.context.now().clock;
                    self.step(now);
                    if now != last_second {
                        last_second = now;
                        let before = std::mem::replace(&mut cpu, stdx::sys::thread_cpu_time());
                        self.shared.context.counters.pollers.add(self.number, cpu.saturating_sub(before));
                    }
                }
                command = commands.recv() => match command {
                    Some(Command::Queue { limit, reply }) => {
                        let now = self.shared.context.now().clock;
                        let pressed = self.outbox.is_full();
                        reply.send(self.schedule.borrow().queue(now, limit, pressed));
                    }
                    Some(Command::CheckNow { items, reply }) => {
                        // Items may be newer than the last slice.
                        self.step(self.shared.context.now().clock);
                        let mut schedule = self.schedule.borrow_mut();
                        let found = items.iter().filter(|id| schedule.check_now(**id)).count();
                        drop(schedule);
                        reply.send(found);
                        self.start_due(usize::MAX);
                        self.settle();
                    }
                    Some(Command::Stop { grace, reply }) => {
                        self.finish(grace).await;
                        reply.send(());
                        return;
                    }
                    None => return,
                }
            }
        }
    }

    /// Waits for the checks in flight as long as `grace` allows, then hands over all results.
    async fn finish(self: &Rc<Self>, grace: Duration) {
        self.stopping.set(true);
        let _late = tokio::time::timeout(grace, async {
            while self.in_flight.get() > 0 {
                self.drive();
                self.drive_snmp();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let _late = tokio::time::timeout(grace, self.outbox.flush()).await;
    }

    fn step(self: &Rc<Self>, now: u32) {
        let snapshot = self.shared.context.snapshots.load();
        let applied = self.schedule.borrow_mut().apply(&snapshot, now);
        for item in applied.invalid {
            let why = item.invalid.clone().unwrap_or_default();
            self.put(&item, Payload::NotSupported(why));
        }
        let availability = &self.shared.context.availability;
        for interface in applied.idle {
            availability.forget_interface(interface);
            self.snmp.borrow_mut().forget(interface);
            self.ipmi.forget(interface);
        }
        for host in applied.off {
            availability.forget_agent(host);
        }
        for host in applied.gone {
            availability.forget_agent(host.id);
            self.shared.context.positions.forget(&host);
        }
        let mut schedule = self.schedule.borrow_mut();
        schedule.tick(now);
        let waiting = schedule.waiting();
        drop(schedule);
        let monotonic = self.shared.context.clock.monotonic();
        self.direct.borrow_mut().time_out(monotonic);
        self.snmp.borrow_mut().time_out(monotonic);
        self.start_due(LANES_PER_SLICE_MIN.max(waiting.div_ceil(SLICES_PER_S / 4)));
        self.settle();
    }

    fn has_room(&self) -> bool {
        self.in_flight.get() < self.in_flight_max.get()
            && !self.lagging.get()
            && !self.stopping.get()
            && !self.outbox.is_full()
    }

    /// Starts checks in at most `lanes` lanes.
    fn start_due(self: &Rc<Self>, lanes: usize) {
        for _ in 0..lanes {
            if !self.has_room() || !self.start_one() {
                break;
            }
        }
        self.count(&Tally::default());
    }

    /// Starts one check in the next lane that may; `false` = there is none.
    fn start_one(self: &Rc<Self>) -> bool {
        let now = self.shared.context.now().clock;
        let mut schedule = self.schedule.borrow_mut();
        let Some(lane) = schedule.next_lane(now) else { return false };
        if lane == INTERNAL {
            drop(schedule);
            self.run_internal();
            return true;
        }
        if let Some(together) = schedule.lane_ref(lane).together {
            drop(schedule);
            match together {
                Together::Snmp => {
                    let begin = self.shared.context.clock.monotonic();
                    self.start_snmp(lane);
                    self.took(Process::Snmp, begin);
                }
                Together::Ipmi => self.start_ipmi(lane),
                Together::Jmx => self.start_jmx(lane),
            }
            return true;
        }
        let Some((slot, item)) = schedule.take(lane) else { return true };
        drop(schedule);
        self.begun(1);
        match self.route(lane, &item) {
            Some(route) => self.begin(Job { slot, lane, item }, route),
            None => drop(tokio::task::spawn_local(Rc::clone(self).check(slot, lane, item))),
        }
        true
    }

    fn begin(&self, job: Job, route: Route) {
        let mut direct = self.direct.borrow_mut();
        // Checks with tasks of their own count for this thread as well, but are few.
        if direct.len() < self.here_max {
            direct.start(job, route, route.begun);
        } else if let Err((job, reply)) = self.beside.start(job, route) {
            direct.refuse(Ended { job, reply, route });
        }
    }

    /// How a check goes out at once: without encryption, to an address that is known.
    fn route(&self, lane: usize, item: &Item) -> Option<Route> {
        if item.kind != ItemType::Agent {
            return None;
        }
        let mut schedule = self.schedule.borrow_mut();
        let lane = schedule.lane_mut(lane);
        if lane.host.as_ref()?.tls.connect != collect::tls::NONE {
            return None;
        }
        let interface = lane.interface()?;
        let (port, ip) = (interface.port, interface.use_ip.then(|| interface.ip.parse().ok()));
        let ip = match lane.resolved {
            Some((ip, until)) if self.shared.context.clock.monotonic() < until => ip,
            // A name is looked up by a task of its own.
            _ => ip.flatten()?,
        };
        Some(Route {
            address: SocketAddr::new(ip, port),
            source: self.shared.config.source_ip,
            dialect: lane.dialect,
            timeout: self.shared.context.timeout(schedule.snapshot(), item),
            begun: self.shared.context.clock.monotonic(),
        })
    }

    /// Moves the connections that are ready and starts as many checks as have ended. `true` =
    /// there may be more.
    fn drive(self: &Rc<Self>) -> bool {
        let now = self.shared.context.clock.monotonic();
        let moved = self.direct.borrow_mut().advance(now, Duration::ZERO);
        self.settle();
        moved >= EVENTS
    }

    /// Takes over the results of direct checks; each leaves room for another check. What ends at
    /// once, because nothing listens there, waits for the next slice: a chain of refusals must not
    /// keep the thread.
    fn settle(self: &Rc<Self>) {
        let mut ended = self.ended.take();
        self.direct.borrow_mut().ended(&mut ended);
        self.beside.ended(&mut ended);
        let (mut freed, at, mut tally) = (0, self.shared.context.now(), Tally::default());
        let now = self.shared.context.clock.monotonic();
        for Ended { job, reply, route } in ended.drain(..) {
            let mut schedule = self.schedule.borrow_mut();
            if route.dialect == Dialect::Plain {
                schedule.lane_mut(job.lane).dialect = route.dialect;
            }
            schedule.paced(job.lane, now.saturating_sub(route.begun), route.timeout);
            drop(schedule);
            // Without sockets an attempt costs nothing and brings nothing: the next slice tries.
            freed += usize::from(!matches!(reply, CheckReply::LocalError(_)));
            self.conclude(&job, reply, at, &mut tally);
        }
        self.ended.set(ended);
        self.count(&tally);
        freed += self.settle_snmp();
        self.start_due(freed);
        self.snmp.borrow_mut().flush();
    }

    /// Items without an interface: computed here and now.
    fn run_internal(&self) {
        let begin = self.shared.context.clock.monotonic();
        self.compute_internal();
        self.took(Process::Internal, begin);
    }

    /// Counts what a part of the work has taken since `begin` (monotonic).
    fn took(&self, process: Process, begin: Duration) {
        let took = self.shared.context.clock.monotonic().saturating_sub(begin);
        self.shared.context.counters.process(process).add(self.number, took);
    }

    fn compute_internal(&self) {
        for _ in 0..INTERNAL_BURST {
            let taken = self.schedule.borrow_mut().take(INTERNAL);
            let Some((slot, item)) = taken else { return };
            let payload =
                match internal::value(&self.shared.context, &*self.engines.internals, &item) {
                    Ok(InternalValue::Unsigned(value)) => Some(Payload::Unsigned(value)),
                    Ok(InternalValue::Float(value)) => Some(Payload::Float(value)),
                    Ok(InternalValue::Text(text)) => Some(Payload::Text(text.into())),
                    Ok(InternalValue::Nothing) => None,
                    Err(why) => Some(Payload::NotSupported(why.into())),
                };
            if let Some(payload) = payload {
                Counters::one(&self.shared.context.counters.values_internal);
                self.put(&item, payload);
            }
            let now = self.shared.context.now().clock;
            self.schedule.borrow_mut().complete(slot, INTERNAL, now, false);
        }
    }

    fn put(&self, item: &Item, payload: Payload) {
        self.put_at(item, payload, self.shared.context.now());
    }

    fn put_at(&self, item: &Item, payload: Payload, at: Timestamp) {
        self.outbox.push(item.host, Value { item: item.id, at, payload });
    }
}
