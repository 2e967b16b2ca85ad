//! A trigger does not change while a trigger that it depends on has a problem.

use config::Snapshot;
use config::snapshot::Trigger;
use model::TriggerId;

/// Longest chain of dependencies that is followed; the API refuses loops.
const DEPTH_MAX: usize = 32;

/// Whether some trigger that this one depends on, directly or through others, has a problem.
pub(crate) fn silenced(
    snapshot: &Snapshot,
    trigger: &Trigger,
    in_problem: &dyn Fn(TriggerId) -> bool,
) -> bool {
    silenced_at(snapshot, trigger, in_problem, 0)
}

fn silenced_at(
    snapshot: &Snapshot,
    trigger: &Trigger,
    in_problem: &dyn Fn(TriggerId) -> bool,
    depth: usize,
) -> bool {
    if depth == DEPTH_MAX {
        return false;
    }
    trigger.depends_on.iter().any(|id| {
        let Some(master) = snapshot.triggers.get(id).filter(|master| master.enabled) else {
            return false;
        };
        in_problem(*id) || silenced_at(snapshot, master, in_problem, depth + 1)
    })
}

/// Length of the chain of triggers that this one depends on: masters are evaluated first.
pub(crate) fn level(snapshot: &Snapshot, trigger: &Trigger) -> usize {
    level_at(snapshot, trigger, 0)
}

fn level_at(snapshot: &Snapshot, trigger: &Trigger, depth: usize) -> usize {
    if depth == DEPTH_MAX {
        return 0;
    }
    let masters = trigger.depends_on.iter().filter_map(|id| snapshot.triggers.get(id));
    masters.map(|master| 1 + level_at(snapshot, master, depth + 1)).max().unwrap_or(0)
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
        let levels: Vec<usize> = [1, 2, 3]
            .iter()
            .map(|id| level(&snapshot, snapshot.triggers.get(&TriggerId(*id)).unwrap()))
            .collect();
        assert_eq!(levels, [0, 1, 2]);
    }
}
