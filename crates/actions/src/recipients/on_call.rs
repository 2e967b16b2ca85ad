//! Schedules as recipients.

use std::sync::{Arc, Mutex};

use config::oncall::Named;
use oncall::Turn;
use stdx::sync::lock;

/// A schedule, and who of it gets a message.
#[derive(Debug, Clone)]
pub(crate) struct OnCall {
    pub(crate) rota: Arc<Rota>,
    pub(crate) who: Who,
}

/// Of those of one operation, the schedule decides.
impl PartialEq for OnCall {
    fn eq(&self, other: &Self) -> bool {
        (self.rota.id, self.who) == (other.rota.id, other.who)
    }
}

impl Eq for OnCall {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Now,
    /// The next one in turn, in each further step the one after.
    Next {
        /// The first step of the operation.
        first: u32,
    },
    Everyone,
}

/// A schedule.
#[derive(Debug)]
pub(crate) struct Rota {
    pub(crate) id: u64,
    pub(crate) of: Named,
    /// Who follows, as of a moment: many problems begin at the same one.
    turn: Mutex<Option<(i64, Turn)>>,
}

impl Rota {
    pub(crate) fn new(id: u64, of: Named) -> Self {
        Self { id, of, turn: Mutex::default() }
    }

    fn after(&self, at: i64, n: u32) -> Option<u64> {
        let mut known = lock(&self.turn);
        let is_known = known.as_ref().is_some_and(|(of, _)| *of == at);
        if !is_known {
            *known = Some((at, self.of.schedule.turn(at)));
        }
        known.as_ref().and_then(|(_, turn)| turn.after(n))
    }
}

impl OnCall {
    /// Who gets a message of this step; empty = nobody is on call.
    pub(crate) fn users(&self, at: i64, step: u32) -> Vec<u64> {
        let schedule = &self.rota.of.schedule;
        match self.who {
            Who::Now => schedule.on_call(at).map(|shift| shift.user).into_iter().collect(),
            Who::Next { first } => {
                let n = step.saturating_sub(first).saturating_add(1);
                self.rota.after(at, n).into_iter().collect()
            }
            Who::Everyone => schedule.members(at).into_iter().collect(),
        }
    }
}
