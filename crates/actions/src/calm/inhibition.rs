//! Open problems that hold back messages about less severe ones with equal tags.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::Snapshot;
use config::db::{DbResult, Reader, Value, placeholders, query_by_ids};
use model::TriggerId;
use objects::Severity;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

type Tag = (String, String);

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
        let shares = |open: &BTreeSet<Tag>, name: &String| {
            tags.iter().any(|tag| tag.0 == *name && open.contains(tag))
        };
        let inhibits = |problem: &u64| {
            let open = self.problems.get(problem);
            open.is_some_and(|open| equal.iter().all(|name| shares(open, name)))
        };
        let severe = sets.into_iter().flat_map(|set| {
            let more = set.iter().take_while(|(own, _)| own.0 > severity);
            more.map(|(_, problem)| *problem)
        });
        severe.into_iter().find(inhibits)
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
}
