//! Open problems that hold back messages about less severe ones with equal tags.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use config::Snapshot;
use config::db::{DbResult, Reader, Row, Value, placeholders, query_by_ids};
use model::TriggerId;
use objects::Severity;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

/// Name and value.
type Tag = (String, String);

/// How long before a span problems of the past are looked for.
const BEFORE_S: i64 = 7 * 86_400;
/// Rows of problems of the past.
const PAST_MAX: usize = 200_000;

/// Open problems by the tags that decide.
#[derive(Debug, Default)]
pub(crate) struct Inhibitors {
    problems: HashMap<u64, BTreeSet<Tag>>,
    /// The most severe first.
    by_tag: HashMap<Tag, BTreeSet<(Reverse<i64>, u64)>>,
}

impl Inhibitors {
    /// Reads the open problems of enabled triggers that are more severe than `least` and have one of these tags.
    pub(crate) fn read(
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        names: &BTreeSet<&str>,
        least: i64,
    ) -> DbResult<Self> {
        let mut found = Self::default();
        if names.is_empty() || least >= Severity::Disaster.number() {
            return Ok(found);
        }
        let sql = format!(
            "SELECT p.eventid AS eventid, p.objectid AS objectid, p.severity AS severity, \
             t.tag AS tag, t.value AS value FROM problems p \
             JOIN event_tags t ON t.eventid = p.eventid WHERE p.r_eventid = 0 \
             AND p.source = {SOURCE_TRIGGER} AND p.object = {OBJECT_TRIGGER} AND p.severity > ? \
             AND t.tag IN ({})",
            placeholders(names.len())
        );
        let params = names.iter().map(|name| Value::from(*name));
        let params: Vec<Value> = std::iter::once(least.into()).chain(params).collect();
        for row in connection.query(&sql, &params)? {
            let trigger = snapshot.triggers.get(&TriggerId(row.id("objectid")));
            if trigger.is_some_and(|trigger| trigger.enabled) {
                let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
                found.add(row.id("eventid"), row.int("severity"), tag);
            }
        }
        Ok(found)
    }

    fn add(&mut self, problem: u64, severity: i64, tag: Tag) {
        self.by_tag.entry(tag.clone()).or_default().insert((Reverse(severity), problem));
        self.problems.entry(problem).or_default().insert(tag);
    }

    /// A problem that is more severe, and has a value in common of each of the tags `equal`.
    pub(crate) fn of(&self, severity: i64, tags: &[Tag], equal: &[String]) -> Option<u64> {
        let having = |name: &String| {
            let own = tags.iter().filter(|(other, _)| other == name);
            Vec::from_iter(own.filter_map(|tag| self.by_tag.get(tag)))
        };
        // Those of the rarest value are compared.
        let sets = equal.iter().map(having).min_by_key(|sets| {
            let sizes = sets.iter().map(|set| set.len());
            sizes.sum::<usize>()
        })?;
        let inhibits = |problem: &u64| {
            self.problems.get(problem).is_some_and(|open| shares_all(open, tags, equal))
        };
        let severe = sets.into_iter().flat_map(|set| {
            let more = set.iter().take_while(|(own, _)| own.0 > severity);
            more.map(|(_, problem)| *problem)
        });
        severe.into_iter().find(inhibits)
    }
}

/// The problem with the tags `open` has a value in common with `tags` of each of the tags `equal`.
fn shares_all(open: &BTreeSet<Tag>, tags: &[Tag], equal: &[String]) -> bool {
    let shares = |name: &String| tags.iter().any(|tag| tag.0 == *name && open.contains(tag));
    equal.iter().all(shares)
}

/// Problems of the past by the tags that decide.
#[derive(Debug, Default)]
pub(crate) struct PastInhibitors {
    problems: HashMap<u64, Past>,
    by_tag: HashMap<Tag, Lives>,
}

#[derive(Debug)]
struct Past {
    severity: i64,
    /// [`i64::MAX`] = it is open.
    until: i64,
    tags: BTreeSet<Tag>,
}

impl PastInhibitors {
    /// Reads the problems of enabled triggers with one of these tags that were open in a second of the span, as far as
    /// they are open now or began up to [`BEFORE_S`] before it. Returns the last second that it knows all of, too.
    pub(crate) fn read(
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        names: &[String],
        span: RangeInclusive<i64>,
    ) -> DbResult<(Self, i64)> {
        let (from, till) = span.into_inner();
        let mut found = Self::default();
        if names.is_empty() {
            return Ok((found, till));
        }
        let columns = format!(
            "SELECT e.eventid AS eventid, e.objectid AS objectid, e.severity AS severity, \
             e.clock AS clock, e.r_eventid AS r_eventid, r.clock AS r_clock, t.tag AS tag, \
             t.value AS value FROM events e JOIN event_tags t ON t.eventid = e.eventid \
             AND t.tag IN ({}) LEFT JOIN events r ON r.eventid = e.r_eventid",
            placeholders(names.len())
        );
        let tags = || names.iter().map(|name| Value::from(name.as_str()));
        let first = from.saturating_sub(BEFORE_S);
        let older = format!(
            "{columns} WHERE e.clock < ? AND e.eventid IN (SELECT p.eventid FROM problems p \
             WHERE p.r_eventid = 0 AND p.source = {SOURCE_TRIGGER} AND p.object = {OBJECT_TRIGGER}) \
             ORDER BY e.clock LIMIT {PAST_MAX}"
        );
        let params = Vec::from_iter(tags().chain([first.into()]));
        found.add_all(snapshot, &connection.query(&older, &params)?);
        let within = format!(
            "{columns} WHERE e.clock >= ? AND e.clock <= ? AND e.source = {SOURCE_TRIGGER} \
             AND e.object = {OBJECT_TRIGGER} AND e.value = 1 ORDER BY e.clock LIMIT {PAST_MAX}"
        );
        let params = Vec::from_iter(tags().chain([first.into(), till.into()]));
        let rows = connection.query(&within, &params)?;
        found.add_all(snapshot, &rows);
        found.by_tag.values_mut().for_each(Lives::finish);
        let last = rows.last().filter(|_| rows.len() == PAST_MAX).map(|row| row.int("clock") - 1);
        Ok((found, last.unwrap_or(till)))
    }

    fn add_all(&mut self, snapshot: &Snapshot, rows: &[Row]) {
        for row in rows {
            let trigger = snapshot.triggers.get(&TriggerId(row.id("objectid")));
            if !trigger.is_some_and(|trigger| trigger.enabled) {
                continue;
            }
            let is_open = row.id("r_eventid") == 0;
            let until = if is_open { i64::MAX } else { row.int("r_clock") };
            let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
            let life = Life { from: row.int("clock"), until, problem: row.id("eventid") };
            self.add(life, row.int("severity"), tag);
        }
    }

    fn add(&mut self, life: Life, severity: i64, tag: Tag) {
        let Life { until, problem, .. } = life;
        self.by_tag.entry(tag.clone()).or_default().lives.push(life);
        let past = self.problems.entry(problem);
        past.or_insert_with(|| Past { severity, until, tags: BTreeSet::new() }).tags.insert(tag);
    }

    /// A problem that was open in the second `at`, is more severe, and has a value in common of each of the tags `equal`;
    /// with the second in which it ended.
    pub(crate) fn of(
        &self,
        severity: i64,
        tags: &[Tag],
        equal: &[String],
        at: i64,
    ) -> Option<(u64, i64)> {
        let first = equal.first()?;
        let lives = tags.iter().filter(|(name, _)| name == first);
        let open = lives.filter_map(|tag| self.by_tag.get(tag)).flat_map(|lives| lives.open(at));
        let found = open.filter_map(|problem| Some((problem, self.problems.get(&problem)?)));
        let inhibits = |(_, past): &(u64, &Past)| {
            past.severity > severity && shares_all(&past.tags, tags, equal)
        };
        found.filter(inhibits).map(|(problem, past)| (problem, past.until)).next()
    }
}

/// When a problem was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Life {
    /// The first second.
    from: i64,
    /// The first second after it.
    until: i64,
    problem: u64,
}

/// When problems were open: a search tree over their ends, in the order of their beginnings.
#[derive(Debug, Default)]
struct Lives {
    lives: Vec<Life>,
    /// The latest end below each node; the children of node `n` are `2n` and `2n + 1`, and leaves are the last half.
    latest: Vec<i64>,
}

impl Lives {
    fn finish(&mut self) {
        self.lives.sort_unstable();
        let leaves = self.lives.len().next_power_of_two();
        self.latest = vec![i64::MIN; leaves];
        self.latest.extend(self.lives.iter().map(|life| life.until));
        self.latest.resize(2 * leaves, i64::MIN);
        for node in (1..leaves).rev() {
            self.latest[node] = self.latest[2 * node].max(self.latest[2 * node + 1]);
        }
    }

    /// Those that were open in this second.
    fn open(&self, at: i64) -> impl Iterator<Item = u64> {
        let begun = self.lives.partition_point(|life| life.from <= at);
        let leaves = self.latest.len() / 2;
        let mut nodes = vec![1];
        std::iter::from_fn(move || {
            while let Some(node) = nodes.pop() {
                let levels = (leaves / node).checked_ilog2().unwrap_or(0);
                let levels = if node << levels < leaves { levels + 1 } else { levels };
                let has_begun = (node << levels) - leaves < begun;
                if !has_begun || self.latest[node] <= at {
                    continue;
                }
                if node >= leaves {
                    return Some(self.lives[node - leaves].problem);
                }
                nodes.extend([2 * node + 1, 2 * node]);
            }
            None
        })
    }
}

/// Escalations that a problem which ended may have held back: those of an action about problems with one of these values
/// of the tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Freed {
    pub(crate) action: u64,
    pub(crate) tag: String,
    pub(crate) values: BTreeSet<String>,
}

/// What the end of these problems may free. `actions`: their ids, and the tags that inhibit.
pub(crate) fn freed<'a>(
    connection: &mut dyn Reader,
    actions: impl Iterator<Item = (u64, &'a [String])>,
    ended: &[u64],
) -> DbResult<Vec<Freed>> {
    let actions: Vec<_> = actions.filter(|(_, equal)| !equal.is_empty()).collect();
    if actions.is_empty() || ended.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids})";
    let mut tags: BTreeMap<u64, Vec<Tag>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ended)? {
        let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
        tags.entry(row.id("eventid")).or_default().push(tag);
    }
    let of_action = |(action, equal): (u64, &[String])| {
        let name = equal.first()?;
        let has_all =
            |tags: &&Vec<Tag>| equal.iter().all(|name| tags.iter().any(|(other, _)| other == name));
        let own = tags.values().filter(has_all).flatten().filter(|(other, _)| other == name);
        let values: BTreeSet<String> = own.map(|(_, value)| value.clone()).collect();
        (!values.is_empty()).then(|| Freed { action, tag: name.clone(), values })
    };
    Ok(actions.into_iter().filter_map(of_action).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(list: Tags<'_>) -> Vec<Tag> {
        list.iter().map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned())).collect()
    }

    /// Names and values.
    type Tags<'a> = &'a [(&'a str, &'a str)];

    fn open(problems: &[(u64, i64, Tags<'_>)]) -> Inhibitors {
        let mut inhibitors = Inhibitors::default();
        for (id, severity, own) in problems {
            tags(own).into_iter().for_each(|tag| inhibitors.add(*id, *severity, tag));
        }
        inhibitors
    }

    #[test]
    fn more_severe_problems_with_all_tags_equal_inhibit() {
        let inhibitors = open(&[
            (1, 5, &[("service", "shop"), ("site", "a")]),
            (2, 4, &[("service", "mail")]),
            (3, 4, &[("service", "shop"), ("service", "wiki"), ("site", "b")]),
        ]);
        type Case<'a> = (i64, Tags<'a>, &'a [&'a str], Option<u64>);
        let cases: [Case<'_>; 12] = [
            (2, &[("service", "shop")], &["service"], Some(1)),
            (4, &[("service", "shop")], &["service"], Some(1)),
            (5, &[("service", "shop")], &["service"], None),
            (4, &[("service", "mail")], &["service"], None),
            (3, &[("service", "mail")], &["service"], Some(2)),
            (2, &[("service", "other")], &["service"], None),
            (2, &[], &["service"], None),
            (2, &[("service", "shop"), ("site", "b")], &["service", "site"], Some(3)),
            (2, &[("service", "shop"), ("site", "c")], &["service", "site"], None),
            (2, &[("service", "shop")], &["service", "site"], None),
            (2, &[("service", "none"), ("service", "wiki")], &["service"], Some(3)),
            (2, &[("service", "shop")], &[], None),
        ];
        for (severity, own, equal, expected) in cases {
            let equal: Vec<String> = equal.iter().map(|name| (*name).to_owned()).collect();
            let found = inhibitors.of(severity, &tags(own), &equal);
            assert_eq!(found, expected, "{severity} {own:?} {equal:?}");
        }
    }

    #[test]
    fn problems_of_the_past_inhibit_while_they_were_open() {
        let shop = || ("service".to_owned(), "shop".to_owned());
        let mut past = PastInhibitors::default();
        let lives = [(1, 5, 0..1_000), (2, 5, 10..20), (3, 3, 15..900), (4, 5, 30..i64::MAX)];
        for (problem, severity, open) in lives {
            let life = Life { from: open.start, until: open.end, problem };
            past.add(life, severity, shop());
        }
        past.by_tag.values_mut().for_each(Lives::finish);
        let open = |at: i64| {
            let mut open: Vec<u64> = past.by_tag[&shop()].open(at).collect();
            open.sort_unstable();
            open
        };
        for (at, expected) in [
            (-1, vec![]),
            (0, vec![1]),
            (19, vec![1, 2, 3]),
            (20, vec![1, 3]),
            (900, vec![1, 4]),
            (1_000, vec![4]),
        ] {
            assert_eq!(open(at), expected, "{at}");
        }
        let equal = ["service".to_owned()];
        let of = |severity, at| past.of(severity, &[shop()], &equal, at);
        assert_eq!(of(4, 5), Some((1, 1_000)));
        assert_eq!(of(5, 5), None);
        assert_eq!(of(4, 5_000), Some((4, i64::MAX)));
        assert_eq!(past.of(1, &tags(&[("service", "mail")]), &equal, 5), None);
        assert_eq!(past.of(1, &[shop()], &[], 5), None);
    }
}
