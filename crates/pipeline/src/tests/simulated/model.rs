//! What must come out of the shards and of the writer of events.

use std::collections::BTreeMap;

/// What must come out.
#[derive(Default)]
pub(super) struct Model {
    pub(super) stored: BTreeMap<u64, Vec<f64>>,
    /// With its time.
    last: BTreeMap<u64, (u64, u32)>,
    /// Of the master, since the last start.
    pub(super) before: Option<u64>,
    problem: BTreeMap<u64, bool>,
    /// Of the last operation, in words.
    pub(super) findings: Vec<String>,
    /// All events of each trigger: whether it is a problem, and its time.
    pub(super) all: BTreeMap<u64, Vec<(bool, u32)>>,
}

impl Model {
    pub(super) fn store(&mut self, item: u64, value: u64, clock: u32) {
        self.stored.entry(item).or_default().push(value as f64);
        self.last.insert(item, (value, clock));
        if item == 3 {
            if self.before != Some(value) {
                self.stored.entry(4).or_default().push(value as f64);
            }
            // A counter that goes back gives no change.
            if let Some(before) = self.before.filter(|before| *before <= value) {
                self.stored.entry(5).or_default().push(value as f64 - before as f64);
            }
            self.before = Some(value);
        }
    }

    /// Evaluates triggers that name one of the items, as of their items' newest values.
    pub(super) fn evaluate(&mut self, items: &[u64]) {
        let (a, b) = (self.last.get(&1).copied(), self.last.get(&2).copied());
        let high = |(value, at): (u64, u32)| (value > 5, at);
        let both = a.zip(b).map(|(a, b)| (a.0 > 5 && b.0 > 5, a.1.max(b.1)));
        let all = [(1, both, &[1, 2][..]), (2, a.map(high), &[1]), (3, b.map(high), &[2])];
        for (id, verdict, named) in all {
            let Some((now, at)) = verdict else { continue };
            if !named.iter().any(|item| items.contains(item)) || self.newest_event(id) >= Some(at) {
                continue;
            }
            let before = self.problem.insert(id, now).unwrap_or(false);
            if before != now || (now && id == 3) {
                let word = if now { "problem" } else { "ok" };
                self.findings.push(format!("{id} {word} @{at} trigger {id}"));
                self.all.entry(id).or_default().push((now, at));
            }
        }
    }

    fn newest_event(&self, trigger: u64) -> Option<u32> {
        self.all.get(&trigger).and_then(|all| all.last()).map(|(_, at)| *at)
    }

    /// Only these events were written before the process ended.
    pub(super) fn lose_all_but(&mut self, written: BTreeMap<u64, Vec<(bool, u32)>>) {
        for (trigger, written) in &written {
            let all = self.all.get(trigger).map_or(&[][..], Vec::as_slice);
            assert!(all.starts_with(written), "trigger {trigger}: {written:?} of {all:?}");
        }
        let state = |all: &Vec<(bool, u32)>| all.last().is_some_and(|(problem, _)| *problem);
        self.problem = written.iter().map(|(id, all)| (*id, state(all))).collect();
        self.all = written;
    }
}
