//! What events and problems there must be: the oracle of the writer of findings, and of what users do with problems.

use std::collections::BTreeMap;

use model::{ProblemUpdate, Suppression};

use super::estate::Estate;

/// What a value of an item means for a trigger, at a second that no other value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) trigger: u64,
    pub(super) bad: bool,
    pub(super) at: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) trigger: u64,
    /// The event that ended it; 0 = none.
    pub(super) end: u64,
    pub(super) acknowledged: bool,
    severity: i64,
    /// By a user, until this second; 0 = until a user ends it.
    pub(super) suppressed: Option<i64>,
}

/// The first id of events, and of updates.
pub(super) const FIRST_ID: u64 = 10_000;

/// A row of `events`: id, trigger, whether it is a problem.
pub(super) type Event = (u64, u64, bool);

/// What the escalator must look at, once.
#[derive(Debug, Clone)]
pub(super) enum News {
    Opened(u64),
    Ended { problem: u64, trigger: u64 },
    Updated { id: u64, problem: u64, user: u64, wakes: bool },
}

#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    pub(super) problems: BTreeMap<u64, Problem>,
    pub(super) events: Vec<Event>,
    pub(super) news: Vec<News>,
    pub(super) updates: u64,
    /// The second of the last value whose findings are written.
    pub(super) mark: u32,
    /// Up to which second values of a trigger count for nothing, because a user closed a problem after them.
    pub(super) closed: BTreeMap<u64, u32>,
}

impl Truth {
    fn event(&mut self, trigger: u64, is_problem: bool) -> u64 {
        let id = self.events.last().map_or(FIRST_ID, |event| event.0 + 1);
        self.events.push((id, trigger, is_problem));
        id
    }

    /// The newest event and the newest update; 0 = there is none.
    pub(super) fn newest(&self) -> (u64, u64) {
        let update = if self.updates == 0 { 0 } else { FIRST_ID + self.updates - 1 };
        (self.events.last().map_or(0, |event| event.0), update)
    }

    pub(super) fn open_of(&self, trigger: u64) -> Vec<u64> {
        let open = self.problems.iter().filter(|(_, one)| one.trigger == trigger && one.end == 0);
        open.map(|(id, _)| *id).collect()
    }

    /// A batch of findings is written.
    pub(super) fn find(&mut self, batch: &[Finding], estate: &Estate) {
        for finding in batch {
            self.mark = finding.at;
            let Some(trigger) = estate.triggers.get(&finding.trigger) else { continue };
            let open = self.open_of(finding.trigger);
            if !finding.bad {
                self.close(finding.trigger, &open);
            } else if trigger.multiple || open.is_empty() {
                let id = self.event(finding.trigger, true);
                let problem = Problem {
                    trigger: finding.trigger,
                    end: 0,
                    acknowledged: false,
                    severity: trigger.severity,
                    suppressed: None,
                };
                self.problems.insert(id, problem);
                self.news.push(News::Opened(id));
            }
        }
    }

    fn close(&mut self, trigger: u64, problems: &[u64]) {
        if problems.is_empty() {
            return;
        }
        let end = self.event(trigger, false);
        for problem in problems {
            self.problems.get_mut(problem).unwrap().end = end;
            self.news.push(News::Ended { problem: *problem, trigger });
        }
    }

    /// A user changes one problem after the value of the second `newest`. What it already is, is no change.
    pub(super) fn update(&mut self, update: &ProblemUpdate, newest: u32) {
        let id = update.events[0].0;
        let Some(problem) = self.problems.get_mut(&id) else { return };
        let is_open = problem.end == 0;
        let mut is_change = !update.message.is_empty();
        if let Some(acknowledged) = update.acknowledge {
            is_change |= problem.acknowledged != acknowledged;
            problem.acknowledged = acknowledged;
        }
        if let Some(severity) = update.severity {
            is_change |= problem.severity != severity.number();
            problem.severity = severity.number();
        }
        let suppression = match update.suppression.filter(|_| is_open) {
            Some(Suppression::Until(at)) => Some(Some(i64::from(at.0))),
            Some(Suppression::Indefinite) => Some(Some(0)),
            // Also one that is over by itself.
            Some(Suppression::End) => problem.suppressed.map(|_| None),
            None => None,
        };
        let wakes = suppression.is_some();
        problem.suppressed = suppression.unwrap_or(problem.suppressed);
        let trigger = problem.trigger;
        let closes = update.close && is_open;
        if !(is_change || wakes || closes) {
            return;
        }
        let (user, number) = (update.user.0, FIRST_ID + self.updates);
        self.updates += 1;
        self.news.push(News::Updated { id: number, problem: id, user, wakes });
        if closes {
            self.close(trigger, &[id]);
            self.closed.insert(trigger, newest);
        }
    }

    /// What is left of a deleted trigger's open problems: their events.
    pub(super) fn forget(&mut self, trigger: u64) {
        self.problems.retain(|_, one| one.trigger != trigger || one.end != 0);
    }
}
