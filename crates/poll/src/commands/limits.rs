//! How many commands run at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use model::command::CommandKind;
use model::{AlertId, HostId};
use stdx::sync::lock;

/// Commands of actions.
const ALL_MAX: usize = 128;
/// Commands of one kind.
const KIND_MAX: usize = 32;
/// Commands that users wait for. Those of actions do not take their places.
const USERS_MAX: usize = 16;

/// Who runs.
#[derive(Debug, Default, Clone)]
pub(super) struct Limits(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    kinds: BTreeMap<CommandKind, usize>,
    /// One command at a time, so that they keep their order.
    hosts: BTreeSet<HostId>,
    users: usize,
    flying: BTreeSet<AlertId>,
    /// Ended and not reported yet.
    reporting: usize,
    closed: bool,
}

/// Room for one command of an action; dropped, it is free.
#[derive(Debug)]
pub(super) struct Seat {
    shared: Arc<Shared>,
    kind: CommandKind,
    host: HostId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.hosts.remove(&self.host);
        if let Some(count) = state.kinds.get_mut(&self.kind) {
            *count -= 1;
        }
    }
}

/// Room for one command of a user.
#[derive(Debug)]
pub(super) struct UserSeat(Arc<Shared>);

impl Drop for UserSeat {
    fn drop(&mut self) {
        lock(&self.0.state).users -= 1;
        self.0.ended.notify_all();
    }
}

impl Limits {
    /// Room for a command of an action.
    pub(super) fn take(&self, kind: CommandKind, host: HostId) -> Option<Seat> {
        let mut state = lock(&self.0.state);
        let all: usize = state.kinds.values().sum();
        let of_kind = state.kinds.get(&kind).copied().unwrap_or_default();
        let full = all >= ALL_MAX || of_kind >= KIND_MAX || state.hosts.contains(&host);
        if full || state.closed {
            return None;
        }
        state.hosts.insert(host);
        *state.kinds.entry(kind).or_default() += 1;
        Some(Seat { shared: Arc::clone(&self.0), kind, host })
    }

    /// Room for a command of a user.
    pub(super) fn take_for_user(&self) -> Option<UserSeat> {
        let mut state = lock(&self.0.state);
        if state.closed || state.users >= USERS_MAX {
            return None;
        }
        state.users += 1;
        Some(UserSeat(Arc::clone(&self.0)))
    }

    /// The command of an alert starts.
    pub(super) fn begin(&self, alert: AlertId) {
        lock(&self.0.state).flying.insert(alert);
    }

    /// It has ended; false = it was reported by another.
    pub(super) fn end(&self, alert: AlertId) -> bool {
        let mut state = lock(&self.0.state);
        let own = state.flying.remove(&alert);
        state.reporting += usize::from(own);
        own
    }

    /// The report of one that has ended is made.
    pub(super) fn reported(&self) {
        lock(&self.0.state).reporting -= 1;
        self.0.ended.notify_all();
    }

    /// Nothing more starts.
    pub(super) fn close(&self) {
        lock(&self.0.state).closed = true;
    }

    /// Waits until nothing runs. False: the time was too short.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let busy =
            |state: &mut State| state.users > 0 || state.reporting > 0 || !state.flying.is_empty();
        let waited = self.0.ended.wait_timeout_while(lock(&self.0.state), time, busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// What still runs: the caller reports it, and nobody else.
    pub(super) fn abandon(&self) -> BTreeSet<AlertId> {
        std::mem::take(&mut lock(&self.0.state).flying)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_hosts_have_their_limits() {
        let limits = Limits::default();
        let first = limits.take(CommandKind::Ssh, HostId(1)).unwrap();
        assert!(limits.take(CommandKind::Agent, HostId(1)).is_none(), "one for each host");
        let seats: Vec<Seat> =
            (2..1_000).filter_map(|id| limits.take(CommandKind::Ssh, HostId(id))).collect();
        assert_eq!(seats.len() + 1, KIND_MAX);
        let others: Vec<Seat> = CommandKind::ALL
            .iter()
            .flat_map(|kind| (1_000..2_000).map(move |id| (*kind, id)))
            .filter_map(|(kind, id)| limits.take(kind, HostId(id)))
            .collect();
        assert_eq!(others.len() + KIND_MAX, ALL_MAX);
        assert!(limits.take_for_user().is_some(), "users have places of their own");
        drop((first, others));
        assert!(limits.take(CommandKind::Agent, HostId(1)).is_some());
        limits.close();
        assert!(limits.take(CommandKind::Agent, HostId(1)).is_none());
        assert!(limits.take_for_user().is_none());
    }
}
