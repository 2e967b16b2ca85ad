//! A trigger does not change while a trigger that it depends on has a problem.

use config::Snapshot;
use config::snapshot::Trigger;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use model::TriggerId;

/// Longest chain of dependencies that is followed; the API refuses loops.
const DEPTH_MAX: usize = 32;

/// Whether some trigger that this one depends on, directly or through others, has a problem.
pub(crate) fn silenced(
    snapshot: &Snapshot,
    trigger: &Trigger,
    in_problem: &dyn Fn(TriggerId) -> bool,
) -> bool {
    if trigger.depends_on.is_empty() {
        return false;
    }
    // Each master once, whatever the number of ways to it.
    let mut seen: HashSet<TriggerId, FixedState> = HashSet::default();
    let mut level: Vec<TriggerId> = trigger.depends_on.to_vec();
    for _ in 0..DEPTH_MAX {
        let mut next = Vec::new();
        for id in level {
            if !seen.insert(id) {
                continue;
            }
            let Some(master) = snapshot.triggers.get(&id).filter(|master| master.enabled) else {
                continue;
            };
            if in_problem(id) {
                return true;
            }
            next.extend(master.depends_on.iter().copied());
        }
        level = next;
    }
    false
}

/// Lengths of the chains of triggers that triggers depend on, of one configuration: masters are
/// evaluated first.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    known: HashMap<TriggerId, usize, FixedState>,
}

impl Levels {
    /// For a new configuration.
    pub(crate) fn clear(&mut self) {
        self.known = HashMap::default();
    }

    pub(crate) fn of(&mut self, snapshot: &Snapshot, trigger: &Trigger) -> usize {
        self.at(snapshot, trigger, 0)
    }

    fn at(&mut self, snapshot: &Snapshot, trigger: &Trigger, depth: usize) -> usize {
        if trigger.depends_on.is_empty() || depth == DEPTH_MAX {
            return 0;
        }
        if let Some(level) = self.known.get(&trigger.id) {
            return *level;
        }
        // The API refuses loops; an existing loop ends here.
        self.known.insert(trigger.id, 0);
        let masters = trigger.depends_on.iter().filter_map(|id| snapshot.triggers.get(id));
        let level =
            masters.map(|master| 1 + self.at(snapshot, master, depth + 1)).max().unwrap_or(0);
        self.known.insert(trigger.id, level);
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use std::sync::Arc;

    #[test]
    fn chains_are_followed() {
        let mut snapshot = Snapshot::default();
        // 1 ← 2 ← 3, 4 alone, 5 ← 6 with 5 switched off, 7 depends on itself.
        for (id, masters, enabled) in [
            (1, vec![], true),
            (2, vec![1], true),
            (3, vec![2], true),
            (4, vec![], true),
            (5, vec![], false),
            (6, vec![5], true),
            (7, vec![7], true),
        ] {
            let mut trigger = testing::trigger(id, "1=1", &[]);
            trigger.depends_on = masters.into_iter().map(TriggerId).collect();
            trigger.enabled = enabled;
            snapshot.triggers.insert(TriggerId(id), Arc::new(trigger));
        }
        for (problems, id, expected) in [
            (vec![1], 2, true),
            (vec![1], 3, true),
            (vec![2], 3, true),
            (vec![3], 2, false),
            (vec![2], 2, false),
            (vec![1, 2, 3], 4, false),
            (vec![5], 6, false),
            (vec![], 7, false),
            (vec![], 3, false),
        ] {
            let trigger = snapshot.triggers.get(&TriggerId(id)).unwrap();
            let in_problem = |id: TriggerId| problems.contains(&id.0);
            assert_eq!(silenced(&snapshot, trigger, &in_problem), expected, "{problems:?} {id}");
        }
        let mut levels = Levels::default();
        let levels: Vec<usize> = [1, 2, 3]
            .iter()
            .map(|id| levels.of(&snapshot, snapshot.triggers.get(&TriggerId(*id)).unwrap()))
            .collect();
        assert_eq!(levels, [0, 1, 2]);
    }
    #[test]
    fn each_trigger_of_a_wide_graph_is_visited_once() {
        const LEVELS: u64 = 20;
        const WIDTH: u64 = 10;
        let mut snapshot = Snapshot::default();
        for level in 0..LEVELS {
            for n in 0..WIDTH {
                let id = TriggerId(level * WIDTH + n);
                let mut trigger = testing::trigger(id.0, "1=1", &[]);
                if level > 0 {
                    trigger.depends_on =
                        (0..WIDTH).map(|n| TriggerId((level - 1) * WIDTH + n)).collect();
                }
                snapshot.triggers.insert(id, Arc::new(trigger));
            }
        }
        let top = snapshot.triggers.get(&TriggerId(LEVELS * WIDTH - 1)).unwrap();
        let asked = std::cell::Cell::new(0);
        let in_problem = |_: TriggerId| {
            asked.set(asked.get() + 1);
            false
        };
        assert!(!silenced(&snapshot, top, &in_problem));
        assert_eq!(asked.get(), (LEVELS - 1) * WIDTH);
        assert_eq!(Levels::default().of(&snapshot, top), 19);
    }
}
