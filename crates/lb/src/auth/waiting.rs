//! How requests wait for the check of a password.

use super::checks::{Awaited, Task};
use crate::core::Core;
use crate::local::Local;
use crate::session::{Session, State, Step};

impl Session {
    /// Waits until a password is checked. `to_head`: the request's method is HEAD.
    pub(crate) fn wait_for(&mut self, task: Task, to_head: bool, core: &mut Core) -> Step {
        let key = task.key;
        let waits = core.checks.submit(task, self.entry, self.source.ip());
        self.awaits = Some(Awaited { key, to_head });
        if waits {
            self.state = State::Authenticate;
            return Step::Wait;
        }
        self.refuse_busy(core)
    }

    /// Refuses a request whose password cannot be checked in time.
    pub(crate) fn refuse_busy(&mut self, core: &mut Core) -> Step {
        let to_head = self.awaits.is_some_and(|awaited| awaited.to_head);
        self.leave_check(core);
        let mut busy = Local { retry_after: Some(1), ..Local::text(503) };
        if to_head {
            busy = busy.for_head();
        }
        self.respond(&busy, false, core)
    }

    /// The check goes on. A client that resets the connection wants no response.
    fn wait_on(&mut self, core: &mut Core) -> Step {
        let reads = self.client.socket().is_some() && self.client.readable();
        if reads && self.client.fill(&mut self.input, &mut core.hub).is_err() {
            return Step::Close;
        }
        Step::Wait
    }

    /// The request waits no longer.
    pub(crate) fn leave_check(&mut self, core: &mut Core) {
        if let Some(Awaited { key, .. }) = self.awaits.take() {
            core.checks.leave(&key, self.entry);
        }
        self.held = None;
    }

    /// A password is being checked; afterwards the request begins again.
    pub(crate) fn authenticate(&mut self, core: &mut Core) -> Step {
        let now_ms = core.now_ms();
        // A result may be forgotten before the request has seen it: it is checked again.
        if let Some(Awaited { key, .. }) = self.awaits
            && core.checks.look(&key, now_ms).is_none()
            && core.checks.awaits(&key)
        {
            return self.wait_on(core);
        }
        match self.held.take() {
            None => {
                self.state = State::Request;
                Step::Again
            }
            Some(held) => {
                self.state = State::Exchange;
                let (list, end) = *held;
                self.begin_message(list, end, core)
            }
        }
    }
}
