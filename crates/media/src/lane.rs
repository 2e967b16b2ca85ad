//! A lane: the messages that wait for one media type or modem, and the sessions that send them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use model::alert::Refused;
use model::{AlertId, Outgoing};
use stdx::sync::lock;

/// Messages that wait in one lane; others wait in the database.
pub(crate) const WAITING_MAX: usize = 1_000;
/// Bytes of the messages that wait in one lane. One message always fits.
const BYTES_MAX: usize = 16 << 20;
/// Sessions beyond the first one of each lane, in all lanes.
const EXTRA_MAX: usize = 256;
/// A session without work ends after this time.
const IDLE: Duration = Duration::from_secs(10);

/// What all lanes share: room for sessions beyond the first one of each.
#[derive(Debug, Default)]
pub(crate) struct Room(AtomicUsize);

impl Room {
    fn take(&self) -> bool {
        let more = |taken: usize| (taken < EXTRA_MAX).then_some(taken + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What self-monitoring reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Messages that wait for a session.
    pub waiting: usize,
    /// Attempts that are made now.
    pub in_flight: usize,
    /// Messages that were sent since the start.
    pub sent: u64,
    /// Attempts since the start that did not send a message.
    pub failed: u64,
}

impl std::ops::Add for Figures {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            waiting: self.waiting + other.waiting,
            in_flight: self.in_flight + other.in_flight,
            sent: self.sent + other.sent,
            failed: self.failed + other.failed,
        }
    }
}

/// Messages in their order, and who sends them.
#[derive(Debug)]
pub(crate) struct Lane {
    state: Mutex<State>,
    /// A message came, or the lane was closed: sessions wait for it.
    news: Condvar,
    /// An attempt was reported. Apart from `news`: it would wake all sessions without work each time.
    reported: Condvar,
    pub(crate) counts: Counts,
}

/// What self-monitoring reads. The numbers only grow.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) failed: AtomicU64,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Outgoing>,
    bytes: usize,
    /// Alerts of the attempts that are made now.
    flying: Vec<AlertId>,
    /// Attempts that have ended and are being reported.
    reporting: usize,
    sessions: usize,
    sessions_max: usize,
    /// Sessions that took room.
    extra: usize,
    idle: usize,
    closed: bool,
}

/// What follows from a new message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hire {
    /// A session has to be started: it counts already.
    One,
    /// Sessions exist, or have no room.
    None,
}

fn weight(message: &Outgoing) -> usize {
    let parameters = message.parameters.iter().map(|(name, value)| name.len() + value.len());
    let texts = message.sendto.len() + message.subject.len() + message.message.len();
    size_of::<Outgoing>() + texts + parameters.sum::<usize>()
}

impl Lane {
    pub(crate) fn new(sessions_max: usize) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            bytes: 0,
            flying: Vec::new(),
            reporting: 0,
            sessions: 0,
            sessions_max,
            extra: 0,
            idle: 0,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            news: Condvar::new(),
            reported: Condvar::new(),
            counts: Counts::default(),
        }
    }

    /// Adds a message behind the others.
    pub(crate) fn push(&self, message: Outgoing, room: &Room) -> Result<Hire, Refused> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Refused::Stopping(Box::new(message)));
        }
        let bytes = state.bytes + weight(&message);
        let full = state.waiting.len() >= WAITING_MAX || bytes > BYTES_MAX;
        if full && !state.waiting.is_empty() {
            return Err(Refused::Full(Box::new(message)));
        }
        state.bytes = bytes;
        state.waiting.push_back(message);
        let hire = state.hire(room);
        drop(state);
        self.news.notify_one();
        Ok(hire)
    }

    /// Sets the number of sessions.
    pub(crate) fn allow(&self, sessions_max: usize, room: &Room) -> Hire {
        let mut state = lock(&self.state);
        state.sessions_max = sessions_max;
        state.hire(room)
    }

    /// A session could not be started. The message that came last is returned if nobody else would send it.
    pub(crate) fn not_hired(&self, room: &Room) -> Option<Outgoing> {
        let mut state = lock(&self.state);
        state.leave(room);
        match state.sessions {
            0 => state.pop_back(),
            _ => None,
        }
    }

    /// The next message for a session. `None`: the session ends.
    pub(crate) fn next(&self, room: &Room) -> Option<Outgoing> {
        let mut state = lock(&self.state);
        loop {
            if state.closed || state.sessions > state.sessions_max {
                state.leave(room);
                return None;
            }
            if let Some(message) = state.waiting.pop_front() {
                state.bytes -= weight(&message);
                state.flying.push(message.alert);
                return Some(message);
            }
            state.idle += 1;
            let waited =
                self.news.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            state.idle -= 1;
            if waited.1.timed_out() && state.waiting.is_empty() {
                state.leave(room);
                return None;
            }
        }
    }

    /// An attempt has ended: `report` reports it, unless it was reported when the media stopped.
    pub(crate) fn done(&self, alert: AlertId, report: impl FnOnce()) {
        let mut state = lock(&self.state);
        let Some(at) = state.flying.iter().position(|flying| *flying == alert) else { return };
        state.flying.swap_remove(at);
        state.reporting += 1;
        drop(state);
        report();
        lock(&self.state).reporting -= 1;
        self.reported.notify_all();
    }

    /// Accepts nothing more; returns what was not started.
    pub(crate) fn close(&self) -> Vec<Outgoing> {
        let mut state = lock(&self.state);
        state.closed = true;
        state.bytes = 0;
        let waiting = state.waiting.drain(..).collect();
        drop(state);
        self.news.notify_all();
        waiting
    }

    /// Waits until all attempts have ended and are reported. False: the time was too short.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let busy = |state: &mut State| state.reporting > 0 || !state.flying.is_empty();
        let waited = self.reported.wait_timeout_while(lock(&self.state), time, busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Attempts that have not ended: the caller reports them, and nobody else.
    pub(crate) fn abandon(&self) -> Vec<AlertId> {
        std::mem::take(&mut lock(&self.state).flying)
    }

    /// What happens now, and what happened.
    pub(crate) fn figures(&self) -> Figures {
        let state = lock(&self.state);
        Figures {
            waiting: state.waiting.len(),
            in_flight: state.flying.len(),
            sent: self.counts.sent.load(Ordering::Relaxed),
            failed: self.counts.failed.load(Ordering::Relaxed),
        }
    }

    /// Nobody uses it.
    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state.waiting.is_empty() && state.sessions == 0
    }
}

impl State {
    fn hire(&mut self, room: &Room) -> Hire {
        if self.waiting.len() <= self.idle || self.sessions >= self.sessions_max || self.closed {
            return Hire::None;
        }
        if self.sessions > 0 {
            if !room.take() {
                return Hire::None;
            }
            self.extra += 1;
        }
        self.sessions += 1;
        Hire::One
    }

    fn leave(&mut self, room: &Room) {
        self.sessions -= 1;
        if self.extra > self.sessions.saturating_sub(1) {
            self.extra -= 1;
            room.leave();
        }
    }

    fn pop_back(&mut self) -> Option<Outgoing> {
        let message = self.waiting.pop_back()?;
        self.bytes -= weight(&message);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::message;

    fn numbered(number: u64) -> Outgoing {
        Outgoing { alert: AlertId(number), ..message("alice") }
    }

    #[test]
    fn sessions_come_with_messages_up_to_the_limit() {
        let (lane, room) = (Lane::new(2), Room::default());
        let pushed: Vec<_> = (0..3).map(|n| lane.push(numbered(n), &room).unwrap()).collect();
        assert_eq!(pushed, [Hire::One, Hire::One, Hire::None]);
        assert_eq!(room.0.load(Ordering::Relaxed), 1);
        let order: Vec<_> = (0..3).map(|_| lane.next(&room).unwrap().alert.0).collect();
        assert_eq!(order, [0, 1, 2]);
        let load = || (lane.figures().waiting, lane.figures().in_flight);
        assert_eq!(load(), (0, 3));
        let reports = std::cell::Cell::new(0);
        for _ in 0..2 {
            lane.done(AlertId(1), || reports.set(reports.get() + 1));
        }
        assert_eq!((reports.get(), load()), (1, (0, 2)));
        // Fewer sessions are allowed: one ends, and gives the room back.
        assert_eq!(lane.allow(1, &room), Hire::None);
        assert_eq!(lane.next(&room), None);
        assert_eq!(room.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_lane_has_one_session_without_room() {
        let (lane, room) = (Lane::new(100), Room(AtomicUsize::new(EXTRA_MAX)));
        assert_eq!(lane.push(numbered(1), &room), Ok(Hire::One));
        assert_eq!(lane.push(numbered(2), &room), Ok(Hire::None));
        // The only session cannot start: what came last goes back.
        assert_eq!(lane.not_hired(&room).map(|m| m.alert), Some(AlertId(2)));
        assert_eq!(room.0.load(Ordering::Relaxed), EXTRA_MAX);
    }

    #[test]
    fn a_full_lane_refuses() {
        let (lane, room) = (Lane::new(1), Room::default());
        for n in 0..WAITING_MAX as u64 {
            assert!(lane.push(numbered(n), &room).is_ok());
        }
        assert!(matches!(lane.push(numbered(0), &room), Err(Refused::Full(_))));
        let lane = Lane::new(1);
        let large = Outgoing { message: "x".repeat(BYTES_MAX), ..numbered(1) };
        assert!(lane.push(large, &room).is_ok(), "one message always fits");
        assert!(matches!(lane.push(numbered(2), &room), Err(Refused::Full(_))));
        assert!(lane.next(&room).is_some() && lane.push(numbered(2), &room).is_ok());
    }

    #[test]
    fn a_closed_lane_returns_what_waits() {
        let (lane, room) = (Lane::new(1), Room::default());
        for n in 0..3 {
            lane.push(numbered(n), &room).unwrap();
        }
        let first = lane.next(&room).unwrap();
        let left: Vec<_> = lane.close().iter().map(|message| message.alert.0).collect();
        assert_eq!(left, [1, 2]);
        assert!(matches!(lane.push(numbered(3), &room), Err(Refused::Stopping(_))));
        assert!(!lane.wait(Duration::ZERO));
        assert_eq!(lane.abandon(), [AlertId(0)]);
        lane.done(first.alert, || panic!("it was reported"));
        assert!(lane.wait(Duration::ZERO));
        assert_eq!(lane.next(&room), None);
        assert!(lane.is_idle());
    }
}
