//! What happens, in the order that the seed decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use config::db::DbError;
use model::alert::Reports;
use model::{EventId, ProblemUpdate, Severity, Suppression, UnixSeconds, UserId};
use stdx::clock::Clock;

use super::change::Change;
use super::receivers::Tally;
use super::seen::{Alert, State};
use super::shard;
use super::world::{Outcome, START_S, World};

const STEPS: u64 = 80;
/// In the end, until nothing is under way.
const ROUNDS_MAX: u64 = 1_000;

impl World {
    /// Everything from the first event to the last check.
    pub(super) fn run(&mut self) -> Outcome<Tally> {
        for _ in 0..STEPS {
            self.step()?;
        }
        self.finish()
    }

    fn step(&mut self) -> Outcome {
        if self.random.one_in(25) {
            let boundaries = self.random.below(80);
            self.note(format!("is to die after {boundaries} boundaries"));
            self.machine.kill_after(boundaries);
        }
        if self.random.one_in(if self.machine.is_sound() { 20 } else { 4 }) {
            let one_in = if self.machine.is_sound() { 3 + self.random.below(30) } else { 0 };
            self.note(format!("one of {one_in} operations of the disk fails"));
            self.machine.fail_one_in(one_in);
            self.receivers.tally.faults += 1;
        }
        match self.random.below(24) {
            0..6 => self.value(),
            6 | 7 => self.write()?,
            8..11 => self.update(None)?,
            11 => self.change()?,
            12 => self.look_at_maintenances()?,
            13..16 => self.pass_time(),
            16 => self.move_clock(),
            17 => self.set_room(),
            18 if self.random.one_in(4) => self.stop()?,
            _ => self.proceed(false)?,
        }
        if self.random.one_in(2) {
            self.write()?;
        }
        if !self.random.one_in(4) {
            self.work()?;
        }
        Ok(())
    }

    /// A value comes.
    fn value(&mut self) {
        let (trigger, bad) = (1 + self.random.below(5), !self.random.one_in(3));
        self.note(format!("value of trigger {trigger}: {bad}"));
        let at = u32::try_from(self.machine.monotonic().as_secs() + START_S).unwrap();
        self.shard.value(trigger, bad, at, &self.state.estate);
    }

    /// A batch of findings is written.
    fn write(&mut self) -> Outcome {
        let most = 1 + self.random.below(4) as usize;
        let batch = self.shard.pending[..self.shard.pending.len().min(most)].to_vec();
        if batch.is_empty() {
            return Ok(());
        }
        let mut after = self.state.clone();
        after.truth.find(&batch, &after.estate);
        self.note(format!("writes {batch:?}"));
        let findings = shard::findings(&batch);
        self.attempt(vec![after], |server| server.problems.write(&findings).is_ok())?;
        let mark = self.state.truth.mark;
        self.shard.pending.retain(|finding| finding.at > mark);
        Ok(())
    }

    /// A user changes a problem, or closes this one.
    fn update(&mut self, closes: Option<u64>) -> Outcome {
        // A value that is on its way to the events would cross the closing.
        while closes.is_none() && !self.shard.pending.is_empty() {
            self.write()?;
        }
        let problems = &self.state.truth.problems;
        let nth = self.random.below(problems.len().max(1) as u64) as usize;
        let Some(id) = closes.or_else(|| problems.keys().nth(nth).copied()) else { return Ok(()) };
        let trigger = problems[&id].trigger;
        let user = [1, 101, 102, 103, 104][self.random.below(5) as usize];
        let events = vec![EventId(id)];
        let mut update = ProblemUpdate { events, user: UserId(user), ..ProblemUpdate::default() };
        let until = UnixSeconds(u32::try_from(self.now() + self.random.seconds(200)).unwrap());
        match self.random.below(9) {
            _ if closes.is_some() => update.close = true,
            0 | 1 => update.acknowledge = Some(self.random.one_in(2)),
            2 => update.message = "a comment".to_owned(),
            3 => update.severity = Severity::from_number(self.random.seconds(6)),
            4 => update.suppression = Some(Suppression::Indefinite),
            5 => update.suppression = Some(Suppression::Until(until)),
            6 | 7 => update.suppression = Some(Suppression::End),
            // Users do not close problems of deleted triggers.
            _ => update.close = self.state.estate.triggers.contains_key(&trigger),
        }
        self.note(format!("{update:?}"));
        let mut after = self.state.clone();
        after.truth.update(&update, self.shard.newest());
        self.attempt(vec![after], |server| server.problems.update(&update).is_ok())?;
        for trigger in self.server().closed() {
            self.shard.closed(trigger);
        }
        Ok(())
    }

    /// An administrator changes the configuration.
    fn change(&mut self) -> Outcome {
        let now = self.now();
        match Change::of(&mut self.random, &self.state.estate, now) {
            Some(change) => self.make(&change),
            None => Ok(()),
        }
    }

    fn make(&mut self, change: &Change) -> Outcome {
        self.note(format!("{change:?}"));
        let mut after = self.state.clone();
        change.apply(&mut after.estate);
        let estate = after.estate.clone();
        let mut candidates = vec![after];
        let mut then = |forget: &dyn Fn(&mut State)| {
            let mut next = candidates.last().unwrap().clone();
            forget(&mut next);
            candidates.push(next);
        };
        match *change {
            Change::TriggerDeleted(id) => then(&|state| {
                let open = state.truth.open_of(id);
                state.truth.forget(id);
                state.model.escalations.retain(|(problem, _), _| !open.contains(problem));
            }),
            Change::ActionDeleted(id) => {
                then(&|state| state.model.escalations.retain(|(_, action), _| *action != id));
                then(&|state| state.model.messages.retain(|one| one.action != id));
            }
            Change::UserDeleted(id) => {
                then(&|state| state.model.messages.retain(|one| one.user != id));
            }
            _ => {}
        }
        let machine = Arc::clone(&self.machine);
        self.attempt(candidates, |server| {
            let written: Result<(), DbError> =
                server.config.write(|edit| change.write(edit, &estate));
            // The server does it each second.
            machine.aside(|| server.config.catch_up()).unwrap();
            // What follows from the change may fail alone.
            written.is_ok() && machine.is_sound()
        })
        .map(drop)
    }

    /// The watch of maintenances looks.
    fn look_at_maintenances(&mut self) -> Outcome {
        let now = self.now();
        let state = self.state.clone();
        self.attempt(vec![state], |server| server.watch.look(now).is_ok()).map(drop)
    }

    fn pass_time(&mut self) {
        let seconds = match self.random.below(4) {
            0 => self.random.below(5),
            1 | 2 => self.random.below(70),
            _ => self.random.below(400),
        };
        self.note(format!("{seconds} s pass"));
        self.machine.advance(seconds);
    }

    fn move_clock(&mut self) {
        let by = self.random.seconds(2_000) - 1_000;
        self.note(format!("the clock moves by {by} s"));
        self.machine.set_clock(by);
    }

    fn set_room(&mut self) {
        let room = (!self.random.one_in(2)).then(|| self.random.below(3) as usize);
        self.receivers.queue.set_room(room);
    }

    /// Something happens to a message that is on its way.
    fn proceed(&mut self, is_calm: bool) -> Outcome {
        let Self { random, state, .. } = self;
        if let Some(report) = self.receivers.proceed(random, &state.estate, is_calm)? {
            self.note(format!("{report:?}"));
            self.server().bell.report(report);
        }
        Ok(())
    }

    /// The server stops in good order, and starts again.
    fn stop(&mut self) -> Outcome {
        self.note("stops in good order".to_owned());
        self.machine.revive();
        self.machine.fail_one_in(0);
        while !self.shard.pending.is_empty() {
            self.write()?;
        }
        for report in self.receivers.stop() {
            self.server().bell.report(report);
        }
        self.work()?;
        let state = self.state.clone();
        self.restart(&[state], false)
    }

    /// Faults end, and all problems do: all messages must arrive, and nothing may be left.
    fn finish(&mut self) -> Outcome<Tally> {
        self.note("all faults end".to_owned());
        self.machine.revive();
        self.machine.fail_one_in(0);
        self.receivers.queue.set_room(None);
        if self.state.estate.maintenance.is_some() {
            self.make(&Change::MaintenanceDeleted)?;
        }
        self.look_at_maintenances()?;
        while !self.shard.pending.is_empty() {
            self.write()?;
        }
        let open = self.state.truth.problems.iter().filter(|(_, one)| one.end == 0);
        let is_known = |trigger: &u64| self.state.estate.triggers.contains_key(trigger);
        let open: Vec<u64> =
            open.filter(|(_, one)| is_known(&one.trigger)).map(|(id, _)| *id).collect();
        for problem in open {
            self.update(Some(problem))?;
        }
        let mut after = self.state.clone();
        let of_deleted = |trigger: &u64| !after.estate.triggers.contains_key(trigger);
        let triggers: BTreeSet<u64> =
            after.truth.problems.values().map(|one| one.trigger).filter(of_deleted).collect();
        for trigger in triggers {
            let open = after.truth.open_of(trigger);
            after.truth.forget(trigger);
            after.model.escalations.retain(|(problem, _), _| !open.contains(problem));
        }
        self.attempt(vec![after], |server| server.problems.remove_orphans().is_ok())?;
        let config = Arc::clone(&self.server().config);
        let mut seen = self.look(&config);
        for _ in 0..ROUNDS_MAX {
            if seen.escalations.is_empty() && !seen.alerts.iter().any(Alert::is_open) {
                break;
            }
            (0..20).try_for_each(|_| self.proceed(true))?;
            self.machine.advance(10);
            self.work()?;
            seen = self.look(&config);
        }
        if let Some(left) = seen.escalations.iter().next() {
            return Err(format!("the escalation {left:?} never ends"));
        }
        match seen.orphans(&self.state.estate) {
            0 => {}
            orphans => return Err(format!("{orphans} problems of deleted triggers")),
        }
        let tally = &mut self.receivers.tally;
        tally.problems = self.state.truth.problems.len() as u64;
        tally.cancelled = self.state.model.cancelled();
        self.receivers.finish(&seen.alerts)
    }
}
