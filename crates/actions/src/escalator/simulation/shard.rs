//! A shard in small: values become findings, and after a crash those are evaluated again whose findings may be lost. The
//! real shards have a simulation of their own, in the crate `pipeline`.

use std::collections::BTreeSet;

use model::{FindingsMark, Timestamp, TriggerFinding, TriggerId, UnixSeconds};

use super::estate::Estate;
use super::truth::{Finding, Truth};

#[derive(Debug, Default)]
pub(super) struct Shard {
    /// The history: what each value means for its trigger, and whether it was evaluated.
    values: Vec<Finding>,
    /// Triggers that have a problem.
    bad: BTreeSet<u64>,
    /// Findings that are not written yet.
    pub(super) pending: Vec<Finding>,
}

impl Shard {
    /// A value comes, not earlier than `at`.
    pub(super) fn value(&mut self, trigger: u64, bad: bool, at: u32, estate: &Estate) {
        let at = at.max(self.values.last().map_or(0, |last| last.at + 1));
        let Some(known) = estate.triggers.get(&trigger) else { return };
        if known.enabled && estate.hosts[&known.host] {
            let value = Finding { trigger, bad, at };
            self.values.push(value);
            self.evaluate(value, known.multiple);
        }
    }

    fn evaluate(&mut self, value: Finding, multiple: bool) {
        let was_bad = self.bad.contains(&value.trigger);
        if value.bad != was_bad || value.bad && multiple {
            self.pending.push(value);
        }
        if value.bad {
            self.bad.insert(value.trigger);
        } else {
            self.bad.remove(&value.trigger);
        }
    }

    /// A problem was closed by a user, and it was the last one.
    pub(super) fn closed(&mut self, trigger: u64) {
        self.bad.remove(&trigger);
    }

    /// The second of the newest value.
    pub(super) fn newest(&self) -> u32 {
        self.values.last().map_or(0, |last| last.at)
    }

    /// The process starts, and `bad` triggers have a problem. Says what it finds otherwise than before.
    pub(super) fn restart(
        &mut self,
        bad: BTreeSet<u64>,
        truth: &Truth,
        estate: &Estate,
    ) -> Result<(), String> {
        let mark = truth.mark;
        let is_lost = |one: &&Finding| one.at > mark && estate.triggers.contains_key(&one.trigger);
        let lost: Vec<Finding> = self.pending.iter().filter(is_lost).copied().collect();
        self.pending.clear();
        self.bad = bad;
        let is_new = |one: &Finding| {
            one.at > mark && truth.closed.get(&one.trigger).is_none_or(|closed| one.at > *closed)
        };
        for value in self.values.clone().into_iter().filter(is_new) {
            if let Some(trigger) = estate.triggers.get(&value.trigger) {
                self.evaluate(value, trigger.multiple);
            }
        }
        if self.pending == lost {
            return Ok(());
        }
        Err(format!("findings {lost:?} are {:?} after the start", self.pending))
    }
}

/// Findings as the writer of events gets them, with the mark up to which they are complete.
pub(super) fn findings(batch: &[Finding]) -> Vec<TriggerFinding> {
    let finding = |one: &Finding| {
        let (trigger, at) = (TriggerId(one.trigger), Timestamp { clock: one.at, ns: 0 });
        let (name, tags) = (format!("problem of trigger {}", one.trigger), Vec::new());
        match one.bad {
            true => TriggerFinding::Problem { trigger, at, name, opdata: String::new(), tags },
            false => TriggerFinding::Recovery { trigger, at, name, tags },
        }
    };
    let last = batch.last().map(|last| UnixSeconds(last.at));
    let mark = |at| TriggerFinding::Mark(FindingsMark { shard: 0, shards: 1, at, news: true });
    batch.iter().map(finding).chain(last.map(mark)).collect()
}
