//! The last problems of a trigger, and what they teach. They are read from the events, which have all of it.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row};
use const_format::formatcp;
use model::alert::learnt::Learnt;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

/// Problems that are looked at.
const PROBLEMS_MAX: usize = 50;
/// Fewer problems teach nothing.
const PROBLEMS_MIN: usize = 5;
/// What most of the problems are, percent.
const MOST: usize = 80;

/// The last problems of a trigger, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    problems: Vec<Past>,
}

/// A problem that was, or is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Past {
    event: u64,
    opened: i64,
    /// `None` = it is open.
    ended: Option<i64>,
    /// No user and no rule closed it.
    by_itself: bool,
}

impl History {
    /// Of these triggers.
    pub(crate) fn read(
        connection: &mut dyn Reader,
        triggers: &BTreeSet<u64>,
    ) -> DbResult<BTreeMap<u64, Self>> {
        let sql = formatcp!(
            "SELECT e.eventid AS eventid, e.clock AS clock, e.r_eventid AS r_eventid, \
             r.clock AS r_clock, r.userid AS userid, r.correlationid AS correlationid \
             FROM events e LEFT JOIN events r ON r.eventid = e.r_eventid \
             WHERE e.source = {SOURCE_TRIGGER} AND e.object = {OBJECT_TRIGGER} AND e.objectid = ? \
             AND e.value = 1 ORDER BY e.eventid DESC LIMIT {PROBLEMS_MAX}"
        );
        let mut histories = BTreeMap::new();
        for trigger in triggers {
            let rows = connection.query(sql, &[(*trigger).into()])?;
            let problems = rows.iter().rev().map(Past::from_row).collect();
            histories.insert(*trigger, Self { problems });
        }
        Ok(histories)
    }

    /// When a problem ended.
    pub(crate) fn end(&self, event: u64) -> Option<i64> {
        self.problems.iter().find(|one| one.event == event)?.ended
    }

    /// What problems other than this one teach.
    pub(crate) fn learnt(&self, trigger: u64, but: u64) -> Learnt {
        let others = self.problems.iter().filter(|one| one.event != but && one.by_itself);
        let durations = others.filter_map(|one| Some(one.ended? - one.opened));
        learnt(trigger, durations.collect())
    }
}

impl Past {
    fn from_row(row: &Row) -> Self {
        let is_open = row.id("r_eventid") == 0;
        Self {
            event: row.id("eventid"),
            opened: row.int("clock"),
            ended: (!is_open).then(|| row.int("r_clock")),
            by_itself: row.id("userid") == 0 && row.id("correlationid") == 0,
        }
    }
}

fn learnt(trigger: u64, mut durations: Vec<i64>) -> Learnt {
    durations.sort_unstable();
    let problems = durations.len();
    let most = (problems * MOST).div_ceil(100).max(PROBLEMS_MIN);
    let within = durations.get(most - 1).copied().map(|seconds| seconds.max(0));
    let share = within.map_or(0, |within| {
        let fits = durations.iter().filter(|one| **one <= within).count();
        fits * 100 / problems.max(1)
    });
    Learnt {
        trigger,
        problems,
        typical: durations.get(problems / 2).copied(),
        within,
        share: i64::try_from(share).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_problems_decide_how_long_a_trigger_is_transient() {
        type Case<'a> = (&'a [i64], Option<i64>, Option<i64>, i64);
        let cases: [Case<'_>; 8] = [
            (&[], None, None, 0),
            (&[60, 60, 60, 60], Some(60), None, 0),
            (&[60, 10, 30, 20, 40], Some(30), Some(60), 100),
            (&[60, 10, 30, 20, 9_000], Some(30), Some(9_000), 100),
            (&[1, 2, 3, 4, 5, 9_000], Some(4), Some(5), 83),
            (&[1, 2, 3, 4, 5, 6, 7, 8, 9_000, 9_001], Some(6), Some(8), 80),
            (&[1, 2, 3, 4, 5, 6, 7, 9_002, 9_000, 9_001], Some(6), Some(9_000), 80),
            (&[0, 0, 0, 0, -3], Some(0), Some(0), 100),
        ];
        for (durations, typical, within, share) in cases {
            let found = learnt(7, durations.to_vec());
            let shown = (found.typical, found.within, found.share);
            assert_eq!(shown, (typical, within, share), "{durations:?}");
            assert_eq!((found.trigger, found.problems), (7, durations.len()));
        }
    }
}
