//! The end of an engine whose clients must not notice: connections leave, another process or another machine
//! takes the new ones.

use std::io;
use std::time::Duration;

use socket2::{SockFilter, SockRef};
use stdx::sync::lock;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::announce::Announcer;
use crate::engine::{BACKLOG, Engine};
use crate::phase::{LOOK_MS, Left, Phase};
use crate::quic::Quic;
use crate::session::State;
use crate::succession::{Drain, migrates};
use crate::worker::{ACCEPT_BATCH, Worker};

/// How often the log says what is left.
const REPORT_EVERY: Duration = Duration::from_secs(5);
/// Time for handshakes in progress: the system resets those that are not complete when their listener is closed.
const HANDSHAKES: Duration = Duration::from_millis(200);
/// Time for clients to send the request whose response is the last one of their connection, before routes to this
/// machine are withdrawn.
const LEAVING: Duration = Duration::from_secs(3);
/// Time for clients of idle connections to learn of their end. New connections wait meanwhile: with the rest, less than
/// the second after which clients try again, unless requests take longer.
const RESTING: Duration = Duration::from_millis(500);
/// How often a process that accepts nothing looks whether another one still announces its VIPs.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// Longest time for threads to see a phase, which takes them a wake-up.
const SEEN: Duration = Duration::from_secs(1);
/// Longest time for the last requests, also of clients that have just connected. Clients that would begin a connection
/// wait for it.
const QUIET: Duration = Duration::from_secs(2);
/// Time in which routers learn of a withdrawal.
const MOVING: Duration = Duration::from_secs(1);

impl Engine {
    /// Lets connections leave, and ends when there are none, or at the deadline. New connections are accepted
    /// until others can take them.
    pub async fn drain(&mut self, drain: Drain) {
        let end = Instant::now() + drain.deadline;
        let left = self.enter(Phase::Leaving, end).await;
        tracing::info!(
            connections = left.connections,
            "the engine drains: connections close after their next response, the last ones within {} s",
            drain.deadline.as_secs()
        );
        let mut alone = self.announces_alone().is_some();
        if alone {
            sleep_until(end.min(Instant::now() + LEAVING)).await;
            // A process that has just started announces its VIPs a moment later.
            alone = self.announces_alone().is_some();
        }
        if alone {
            self.give_away(end).await;
        } else {
            self.leave_vips_to_successor();
            if !migrates() {
                self.enter(Phase::Quiet, end).await;
                sleep(HANDSHAKES).await;
            }
        }
        let left = self.enter(Phase::Closed, end).await;
        match self.last_connections(left, end).await {
            0 => tracing::info!("the engine has drained: all connections are closed"),
            connections => {
                tracing::warn!(
                    connections,
                    "the time to drain is over; these connections are cut off"
                );
            }
        }
    }

    /// Waits until no connection is left, at most until `end`; the result is their number.
    async fn last_connections(&self, mut left: Left, end: Instant) -> usize {
        let (mut report, mut check) = (Instant::now() + REPORT_EVERY, Instant::now());
        let mut alone = false;
        while left.connections > 0 && Instant::now() < end {
            sleep(Duration::from_millis(LOOK_MS)).await;
            left = self.left(Phase::Closed).unwrap_or(left);
            if Instant::now() >= check {
                check = Instant::now() + CHECK_EVERY;
                let announcer = self.announces_alone();
                let before = std::mem::replace(&mut alone, announcer.is_some());
                // The process that followed has ended.
                announcer.filter(|_| before).into_iter().for_each(Announcer::withdraw);
            }
            if Instant::now() >= report {
                report += REPORT_EVERY;
                tracing::info!(
                    connections = left.connections,
                    requests = left.requests,
                    "the engine drains"
                );
            }
        }
        left.connections
    }

    /// Hands the VIPs over to other machines: connections that are left would lose their way, so all that can
    /// end do so before.
    async fn give_away(&self, end: Instant) {
        tracing::info!(
            "no other process of this machine announces the VIPs: other machines get them"
        );
        self.enter(Phase::Quiet, end).await;
        let quiet = end.min(Instant::now() + QUIET);
        sleep(HANDSHAKES).await;
        while self.left(Phase::Quiet).is_none_or(|left| left.requests > 0) && Instant::now() < quiet
        {
            sleep(Duration::from_millis(LOOK_MS)).await;
        }
        self.enter(Phase::Resting, end).await;
        sleep(RESTING).await;
        if let Some(announcer) = self.announces_alone() {
            announcer.withdraw();
            sleep_until(end.min(Instant::now() + MOVING)).await;
        }
    }

    /// Tells all threads of a phase, and waits until they have seen it; the result is what is left.
    async fn enter(&self, phase: Phase, end: Instant) -> Left {
        for mailbox in self.mailboxes() {
            *lock(&mailbox.phase) = phase;
            if let Err(error) = mailbox.waker.wake() {
                tracing::error!("a thread learns of the end late: {error}");
            }
        }
        let seen = async {
            loop {
                match self.left(phase) {
                    Some(left) => break left,
                    None => sleep(Duration::from_millis(1)).await,
                }
            }
        };
        // Also after the deadline, so that what is cut off is known.
        timeout_at(end.max(Instant::now() + SEEN), seen).await.unwrap_or_default()
    }

    /// What is left, if all threads have seen the phase.
    fn left(&self, phase: Phase) -> Option<Left> {
        self.mailboxes().iter().try_fold(Left::default(), |sum, mailbox| {
            let (seen, left) = *lock(&mailbox.left);
            (seen >= phase).then_some(Left {
                connections: sum.connections + left.connections,
                requests: sum.requests + left.requests,
            })
        })
    }
}

impl Worker {
    /// Does what the phase of the engine wants.
    pub(crate) fn follow_phase(&mut self) {
        let phase = *lock(&self.mailbox.phase);
        if phase == self.seen.phase {
            return;
        }
        self.core.hub.leaving = true;
        self.core.hub.wake_all();
        if phase >= Phase::Quiet {
            self.silence();
        }
        match phase {
            Phase::Resting => self.close_idle(),
            Phase::Closed => self.close_listeners(),
            _ => {}
        }
        self.seen.phase = phase;
        self.look();
    }

    /// Tells what is left, each [`LOOK_MS`] while the engine drains.
    pub(crate) fn look_again(&mut self) {
        if self.seen.phase != Phase::Serving && self.core.now_ms() >= self.seen.looked_ms + LOOK_MS
        {
            self.look();
        }
    }

    fn look(&mut self) {
        self.seen.looked_ms = self.core.now_ms();
        let sessions = self.sessions.places();
        let sessions = sessions.into_iter().filter_map(|place| self.sessions.get(place));
        let mut left = Quic::left(&mut self.core);
        for session in sessions {
            left.connections += usize::from(session.client.socket().is_some());
            left.requests += usize::from(session.is_busy() || session.is_new());
        }
        *lock(&self.mailbox.left) = (self.seen.phase, left);
    }

    /// Lets listeners ignore what begins connections. Handshakes in progress go on.
    fn silence(&mut self) {
        for listener in self.listeners.iter().flatten() {
            if let Err(error) = ignore_new(&SockRef::from(listener)) {
                tracing::warn!("connections that begin now may be reset: {error}");
            }
        }
    }

    fn close_idle(&mut self) {
        for place in self.sessions.places() {
            let session = self.sessions.get(place);
            if session.is_some_and(|session| session.state == State::Request && !session.is_busy())
            {
                self.run_session(place, |session, core| {
                    session.state = State::Linger;
                    session.run(core)
                });
            }
        }
    }

    /// Accepts what is complete, and leaves the rest to the listeners of others.
    fn close_listeners(&mut self) {
        for number in 0..self.listeners.len() {
            // No more than were complete: others may connect faster than they are accepted.
            let mut batches = 0..=BACKLOG / ACCEPT_BATCH;
            while batches.next().is_some() && matches!(self.accept_batch(number), Ok(true)) {}
            self.listeners[number] = None;
        }
        self.quic.refuse_new();
        self.pending.listeners.clear();
        self.core.services.iter_mut().for_each(|service| *service = None);
    }
}

/// Drops segments with SYN and without ACK.
fn ignore_new(listener: &SockRef<'_>) -> io::Result<()> {
    // BPF: load a byte of the header, AND, jump if equal, return the number of bytes that pass.
    const LOAD: u16 = 0x30;
    const AND: u16 = 0x54;
    const EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    listener.attach_filter(&[
        SockFilter::new(LOAD, 0, 0, 13),
        SockFilter::new(AND, 0, 0, 0x12),
        SockFilter::new(EQUAL, 0, 1, 0x02),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ])
}
