//! The last problems of a trigger, and what they teach. They are read from the events, which have all of it.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row};
use const_format::formatcp;
use model::alert::learnt::{Flapping, Learnt};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

/// Problems that are looked at.
const PROBLEMS_MAX: usize = 50;
/// Fewer problems teach nothing.
const PROBLEMS_MIN: usize = 5;
/// A trigger that opens as many problems within [`FLAPPING_S`] is flapping, until it has been quiet for as long.
const FLAPPING_MIN: usize = 5;
pub(crate) const FLAPPING_S: i64 = 1_800;
/// Problems of a trigger within a span that are known.
const COURSE_MAX: usize = 100_000;
/// What most of the problems are, percent.
const MOST: usize = 80;

/// Problems of a trigger with their ends.
const OF_TRIGGER: &str = formatcp!(
    "SELECT e.eventid AS eventid, e.clock AS clock, e.r_eventid AS r_eventid, \
     r.clock AS r_clock, r.userid AS userid, r.correlationid AS correlationid \
     FROM events e LEFT JOIN events r ON r.eventid = e.r_eventid \
     WHERE e.source = {SOURCE_TRIGGER} AND e.object = {OBJECT_TRIGGER} AND e.objectid = ? \
     AND e.value = 1"
);

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
        let sql = formatcp!("{OF_TRIGGER} ORDER BY e.eventid DESC LIMIT {PROBLEMS_MAX}");
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
    pub(crate) fn learnt(&self, trigger: u64, but: u64, now: i64) -> Learnt {
        let others = self.problems.iter().filter(|one| one.event != but && one.by_itself);
        let durations = others.filter_map(|one| Some(one.ended? - one.opened));
        Learnt { flapping: self.flapping(now), ..learnt(trigger, durations.collect()) }
    }

    /// A problem other than this one is open.
    pub(crate) fn is_open_again(&self, event: u64) -> bool {
        self.problems.iter().any(|one| one.event != event && one.ended.is_none())
    }

    /// Problems from this one on.
    pub(crate) fn since(&self, event: u64) -> impl Iterator<Item = u64> {
        self.problems.iter().map(|one| one.event).filter(move |other| *other >= event)
    }

    /// Whether the trigger is flapping now.
    pub(crate) fn flapping(&self, now: i64) -> Option<Flapping> {
        let opened = self.problems.iter().map(|one| (one.opened, Some(one.event)));
        let ended = self.problems.iter().filter_map(|one| Some((one.ended?, None)));
        let mut changes: Vec<(i64, Option<u64>)> = opened.chain(ended).collect();
        changes.sort_unstable_by_key(|(at, opened)| (*at, opened.is_some(), *opened));
        let mut openings: Vec<i64> = Vec::new();
        let mut since = None;
        let mut last = None;
        for (at, opened) in &changes {
            let is_quiet = |last: i64| at - last >= FLAPPING_S;
            since = since.filter(|_| !last.is_some_and(is_quiet));
            last = Some(*at);
            let Some(event) = opened else { continue };
            openings.push(*at);
            let recent = openings.iter().rev().take_while(|other| at - **other < FLAPPING_S);
            if recent.count() >= FLAPPING_MIN {
                // It may have begun before the first problem that is looked at.
                let is_known = openings.len() > FLAPPING_MIN || self.problems.len() < PROBLEMS_MAX;
                since = since.or(Some(Some(*event).filter(|_| is_known)));
            }
        }
        let until = last? + FLAPPING_S;
        let is_recent = |(at, _): &&(i64, Option<u64>)| now - *at < FLAPPING_S;
        let changes = changes.iter().filter(is_recent).count();
        since.filter(|_| now < until).map(|since| Flapping { changes, until, since })
    }
}

/// All problems of a trigger within a span, and the last ones before it, the oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course(Vec<Past>);

impl Course {
    /// Of the seconds `from` to `till`.
    pub(crate) fn read(
        connection: &mut dyn Reader,
        trigger: u64,
        from: i64,
        till: i64,
    ) -> DbResult<Self> {
        let before =
            formatcp!("{OF_TRIGGER} AND e.clock < ? ORDER BY e.eventid DESC LIMIT {PROBLEMS_MAX}");
        let within = formatcp!(
            "{OF_TRIGGER} AND e.clock >= ? AND e.clock <= ? ORDER BY e.eventid LIMIT {COURSE_MAX}"
        );
        let mut rows = connection.query(before, &[trigger.into(), from.into()])?;
        rows.reverse();
        rows.extend(connection.query(within, &[trigger.into(), from.into(), till.into()])?);
        Ok(Self(rows.iter().map(Past::from_row).collect()))
    }

    /// Its size, in problems.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What was known of it in this second.
    pub(crate) fn at(&self, now: i64) -> History {
        let known = &self.0[..self.0.partition_point(|one| one.opened <= now)];
        let last = &known[known.len().saturating_sub(PROBLEMS_MAX)..];
        let past = |one: &Past| Past { ended: one.ended.filter(|end| *end <= now), ..*one };
        History { problems: last.iter().map(past).collect() }
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
        flapping: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Problems that open in these seconds and last 10 seconds each.
    fn opened(at: impl IntoIterator<Item = i64>) -> History {
        let past = |(event, opened): (u64, i64)| Past {
            event,
            opened,
            ended: Some(opened + 10),
            by_itself: true,
        };
        History { problems: (1..).zip(at).map(past).collect() }
    }

    fn flaps(history: &History, now: i64) -> Option<(usize, i64, Option<u64>)> {
        history.flapping(now).map(|one| (one.changes, one.until, one.since))
    }

    #[test]
    fn five_problems_within_half_an_hour_are_flapping() {
        assert_eq!(flaps(&opened([]), 0), None);
        assert_eq!(flaps(&opened([0, 100, 200, 300]), 400), None);
        let five = opened([0, 100, 200, 300, 400]);
        assert_eq!(flaps(&five, 420), Some((10, 2_210, Some(5))));
        assert_eq!(flaps(&five, 2_209), Some((1, 2_210, Some(5))));
        assert_eq!(flaps(&five, 2_210), None, "quiet for half an hour");
        assert_eq!(flaps(&opened([0, 600, 1_200, 1_799, 1_800]), 1_810), None, "too slow");
        let slower = opened([0, 100, 200, 300, 400, 2_000, 3_700]);
        assert_eq!(flaps(&slower, 3_710), Some((4, 5_510, Some(5))), "it is not quiet");
        let again = opened([0, 100, 200, 300, 400, 9_000, 9_001, 9_002, 9_003]);
        assert_eq!(flaps(&again, 9_020), None);
        let again = opened([0, 100, 200, 300, 400, 9_000, 9_001, 9_002, 9_003, 9_004]);
        assert_eq!(flaps(&again, 9_020), Some((10, 10_814, Some(10))));
    }

    #[test]
    fn the_begin_of_long_flapping_is_not_known() {
        let last = i64::try_from(PROBLEMS_MAX).unwrap();
        let full = opened((0..last).map(|n| n * 60));
        assert_eq!(full.flapping(last * 60).unwrap().since, None);
        let fewer = opened((1..last).map(|n| n * 60));
        assert_eq!(fewer.flapping(last * 60).unwrap().since, Some(5));
        let began = opened((0..last).map(|n| if n == 0 { -90_000 } else { n * 60 }));
        assert_eq!(began.flapping(last * 60).unwrap().since, Some(6), "after a pause");
        assert!(!began.is_open_again(3));
    }

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
