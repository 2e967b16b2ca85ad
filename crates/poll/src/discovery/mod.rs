//! Network discovery: the rules' addresses are looked at one after the other, on a thread of its
//! own, so that a network of 65,536 addresses delays no other check.
//!
//! A rule keeps its place in its list, not the list; what is in flight is bounded, and what was
//! found waits for room in the queue to who keeps it: memory does not depend on the network's size.

mod look;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::discovery::{Discovery, DiscoveryRule};
use model::DiscoveryResult;
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};

use crate::checks::check::Shared;
use crate::checks::snmp::Asker;
use crate::engines::Engines;
use look::Looker;

/// Addresses that are looked at, at one time.
const IN_FLIGHT_MAX: usize = 1_000;
/// Between two looks for changed rules and for what is due.
const TICK: Duration = Duration::from_millis(100);

/// A rule and how far it has come.
#[derive(Debug)]
struct Turn {
    rule: Arc<DiscoveryRule>,
    /// Begin of the next round, seconds since 1970.
    due_s: u64,
    round: Option<Round>,
}

/// A round in progress.
#[derive(Debug)]
struct Round {
    /// Tells what is left of an earlier round of a rule that was changed.
    serial: u64,
    next: u64,
    in_flight: usize,
}

/// All rules.
#[derive(Debug, Default)]
struct Turns {
    seen: Arc<Discovery>,
    turns: Vec<Turn>,
    serial: u64,
    /// The rule that begins next, so that all have their share.
    first: usize,
}

/// A rule's address to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    rule: u64,
    serial: u64,
}

impl Turns {
    /// Follows a changed configuration: rules that are as before go on where they are.
    fn follow(&mut self, discovery: &Arc<Discovery>) {
        if Arc::ptr_eq(&self.seen, discovery) {
            return;
        }
        self.seen = Arc::clone(discovery);
        let mut before = std::mem::take(&mut self.turns);
        for rule in &discovery.rules {
            let same = before.iter().position(|turn| turn.rule.id == rule.id);
            let mut turn = match same.map(|at| before.swap_remove(at)) {
                Some(turn) if turn.rule == *rule => turn,
                // Changed or new: it begins at once.
                _ => Turn { rule: Arc::clone(rule), due_s: 0, round: None },
            };
            turn.rule = Arc::clone(rule);
            self.turns.push(turn);
        }
    }

    /// Begins the rounds that are due; gives those rules that cannot work.
    fn begin(&mut self, now_s: u64) -> Vec<Arc<DiscoveryRule>> {
        let mut broken = Vec::new();
        for turn in &mut self.turns {
            if turn.round.is_some() || now_s < turn.due_s {
                continue;
            }
            turn.due_s = now_s + u64::from(turn.rule.delay_s);
            if turn.rule.error.is_empty() {
                self.serial += 1;
                turn.round = Some(Round { serial: self.serial, next: 0, in_flight: 0 });
            } else {
                broken.push(Arc::clone(&turn.rule));
            }
        }
        broken
    }

    /// The next address to look at; `None` = nothing may begin now.
    fn next(&mut self) -> Option<(Arc<DiscoveryRule>, std::net::IpAddr, Place)> {
        let count = self.turns.len();
        for step in 0..count {
            let at = (self.first + step) % count;
            let turn = &mut self.turns[at];
            let Some(round) = &mut turn.round else { continue };
            let max = match turn.rule.concurrency_max {
                0 => IN_FLIGHT_MAX,
                max => usize::from(max),
            };
            if round.in_flight >= max {
                continue;
            }
            let Some(ip) = turn.rule.addresses.get(round.next) else { continue };
            round.next += 1;
            round.in_flight += 1;
            self.first = at + 1;
            let place = Place { rule: turn.rule.id, serial: round.serial };
            return Some((Arc::clone(&turn.rule), ip, place));
        }
        None
    }

    /// An address has been looked at; `true` = it was the last one of its round.
    fn ended(&mut self, place: Place) -> bool {
        let turn = self.turns.iter_mut().find(|turn| turn.rule.id == place.rule);
        let Some(turn) = turn else { return false };
        let Some(round) = turn.round.as_mut().filter(|round| round.serial == place.serial) else {
            return false;
        };
        round.in_flight -= 1;
        let over = round.in_flight == 0 && turn.rule.addresses.get(round.next).is_none();
        if over {
            turn.round = None;
        }
        over
    }
}

/// What network discovery needs.
#[derive(Clone)]
pub(crate) struct Discoverer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) engines: Arc<Engines>,
    /// Where it tells what it found; `None` = nobody wants to know.
    pub(crate) discovered: Option<stdx::queue::Sender<DiscoveryResult>>,
}

/// The body of the thread; ends when `stop` becomes true.
pub(crate) fn run(discovery: Discoverer, stop: watch::Receiver<bool>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("cannot start network discovery: {error}");
            return;
        }
    };
    LocalSet::new().block_on(&runtime, async {
        if let Err(error) = work(discovery, stop).await {
            tracing::error!("cannot start network discovery: {error}");
        }
    });
    // A resolver that hangs keeps nobody.
    runtime.shutdown_background();
}

async fn work(discovery: Discoverer, mut stop: watch::Receiver<bool>) -> std::io::Result<()> {
    let shared = Arc::clone(&discovery.shared);
    let asker = Asker::new(Arc::clone(&shared.context.clock), shared.config.source_ip)?;
    let datagrams = stdx::sys::watch(asker.watched()?)?;
    let looker = Rc::new(Looker::new(discovery, asker));
    let mut turns = Turns::default();
    let mut looks: JoinSet<Place> = JoinSet::new();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = stop.changed() => return Ok(()),
            _ = tick.tick() => {
                looker.asker.drive();
                turns.follow(&shared.context.snapshots.load().discovery);
                for rule in turns.begin(shared.context.clock.unix_s()) {
                    looker.tell(DiscoveryResult::Round { rule: rule.id, error: rule.error.clone() }).await;
                }
            }
            guard = datagrams.readable() => {
                let more = looker.asker.drive();
                if let (Ok(mut guard), false) = (guard, more) {
                    guard.clear_ready();
                }
            }
            Some(ended) = looks.join_next(), if !looks.is_empty() => match ended {
                Ok(place) => {
                    if turns.ended(place) {
                        let (rule, error) = (place.rule, String::new());
                        looker.tell(DiscoveryResult::Round { rule, error }).await;
                    }
                }
                Err(error) => tracing::error!("a check of network discovery panicked: {error}"),
            }
        }
        while looks.len() < IN_FLIGHT_MAX {
            let Some((rule, ip, place)) = turns.next() else { break };
            let looker = Rc::clone(&looker);
            looks.spawn_local(async move {
                looker.look(&rule, ip).await;
                place
            });
        }
    }
}

#[cfg(test)]
mod tests;
