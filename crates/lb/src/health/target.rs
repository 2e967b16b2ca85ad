//! A server as one monitor checks it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use proxying::engine_link::monitors::Verdict;

use super::outcome::Outcome;
use super::{connection, datagram, echo, ms};
use crate::buffer::Buffers;
use crate::config::{Health, HealthKind};
use crate::pool::{Pool, Server};

/// One check in progress.
pub(super) enum Check {
    Connection(Box<connection::Probe>),
    Datagram(datagram::Probe),
    Echo(echo::Probe),
    /// A program runs.
    Script,
}

/// Names a target in events, deadlines and results. A number is never used again, so what comes for a target that
/// is gone finds none.
pub(super) type Key = usize;

/// A server as one monitor checks it.
pub(super) struct Target {
    pub(super) key: Key,
    pub(super) pool: Arc<Pool>,
    /// Number of the server in the pool.
    pub(super) number: u16,
    /// Number of the monitor in the pool.
    pub(super) at: usize,
    pub(super) check: Option<Check>,
    /// Equal results in a row.
    streak: u16,
    last: Option<bool>,
    pub(super) verdict: Verdict,
    /// Monotonic milliseconds of the newest check that passed.
    pub(super) passed_ms: Option<u64>,
    /// Monotonic milliseconds of the next check.
    pub(super) next_ms: u64,
    /// Monotonic milliseconds at which the check in progress has had its time.
    pub(super) deadline_ms: Option<u64>,
    /// Counts checks, so that the deadline of an old one is recognised.
    pub(super) round: u32,
}

/// What makes a target the same after a change of the configuration: names of pool and server, the address,
/// and the monitor, whose settings must be the same, too.
pub(super) type Identity = (String, String, SocketAddr, String);

/// Targets of before.
pub(super) fn by_identity(targets: Vec<Target>) -> HashMap<Identity, Target> {
    targets.into_iter().map(|target| (target.identity(), target)).collect()
}

impl Target {
    /// One whose first check is at this time.
    pub(super) fn new(key: Key, pool: Arc<Pool>, number: u16, at: usize, next_ms: u64) -> Self {
        Self {
            key,
            pool,
            number,
            at,
            check: None,
            streak: 0,
            last: None,
            verdict: Verdict::Unknown,
            passed_ms: None,
            next_ms,
            deadline_ms: None,
            round: 0,
        }
    }

    pub(super) fn server(&self) -> &Server {
        self.pool.server(self.number)
    }

    pub(super) fn monitor(&self) -> &Health {
        &self.pool.monitors[self.at]
    }

    pub(super) fn identity(&self) -> Identity {
        let server = self.server();
        let monitor = self.monitor().name.clone();
        (self.pool.name.clone(), server.name.clone(), server.address, monitor)
    }

    /// The same target of the configuration before, if its monitor has not changed: a check in progress goes on.
    #[must_use]
    pub(super) fn or_before(self, mut old: Self, buffers: &mut Buffers) -> Self {
        if self.monitor() == old.monitor() {
            return Self { pool: self.pool, number: self.number, at: self.at, ..old };
        }
        old.end(buffers);
        self
    }

    /// An event of the check; its result, if there is one.
    pub(super) fn advance(
        &mut self,
        event: &mio::event::Event,
        buffers: &mut Buffers,
    ) -> Option<Outcome> {
        let monitor = &self.pool.monitors[self.at];
        match self.check.as_mut()? {
            Check::Datagram(probe) => probe.advance(monitor),
            Check::Echo(probe) => probe.advance(),
            Check::Connection(probe) => {
                probe.note(event);
                probe.advance(monitor, buffers)
            }
            Check::Script => None,
        }
    }

    /// The result of a check that has had its time.
    pub(super) fn late(&self) -> Outcome {
        let monitor = self.monitor();
        if datagram::Probe::passes_in_silence(monitor) {
            return Outcome::Passed;
        }
        let missing = match &self.check {
            Some(Check::Connection(probe)) => probe.missing(),
            _ if monitor.kind == HealthKind::Icmp => "no reply",
            _ => "no response",
        };
        let limit = ms(monitor.timeout.0);
        Outcome::Failed(format!("{missing} within {limit} ms"))
    }

    /// Ends the check.
    pub(super) fn end(&mut self, buffers: &mut Buffers) {
        // The deadline of this check is no longer one.
        self.round = self.round.wrapping_add(1);
        self.deadline_ms = None;
        if let Some(Check::Connection(mut probe)) = self.check.take() {
            probe.clear(buffers);
        }
    }

    /// Notes the result of a check: after enough equal ones, the monitor decides.
    pub(super) fn note(&mut self, outcome: &Outcome, now: u64) {
        let passed = match outcome {
            Outcome::Passed => true,
            Outcome::Failed(_) => false,
            Outcome::NotMade(_) => {
                (self.streak, self.last, self.verdict) = (0, None, Verdict::Unknown);
                return;
            }
        };
        if passed {
            self.passed_ms = Some(now);
        }
        self.streak = if self.last == Some(passed) { self.streak.saturating_add(1) } else { 1 };
        self.last = Some(passed);
        let (needed, verdict) = match passed {
            true => (self.monitor().up, Verdict::Passes),
            false => (self.monitor().down, Verdict::Fails),
        };
        if self.streak >= needed {
            self.verdict = verdict;
        }
    }
}
