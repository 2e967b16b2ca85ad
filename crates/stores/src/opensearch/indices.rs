//! Indices: their names, and what their documents look like.

use serde_json::{Value, json};
use ureq::http::Method;

use super::super::not_newer;
use super::client::Client;
use history::{Class, Day, Error, Span};

/// Version of [`template`]: raise it with each change. Indices that are there keep what they have.
const VERSION: u64 = 1;
/// About so many indices a retention class has.
const INDICES: u16 = 30;
/// Name and size of our indices, a line of JSON each.
const LIST: &str = "h=index,store.size&bytes=b&format=json&expand_wildcards=open";

/// An index: rows of one retention class and span of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Index {
    pub(crate) trends: bool,
    pub(crate) class: Class,
    /// The first day.
    day: Day,
}

impl Index {
    /// The index in which a second is.
    pub(crate) fn of(trends: bool, class: Class, clock: u32) -> Self {
        let days = days(class);
        Self { trends, class, day: Day(Day::of(clock).0 / days * days) }
    }

    /// The day after its last one.
    pub(crate) fn ends(self) -> Day {
        Day(self.day.0.saturating_add(days(self.class)))
    }

    /// May it have rows of a span?
    pub(crate) fn overlaps(self, span: Span) -> bool {
        self.day <= Day::of(span.till) && Day::of(span.from) < self.ends()
    }

    pub(crate) fn name(self, prefix: &str) -> String {
        format!("{}{}d-{}", family(prefix, self.trends), self.class.0, self.day.0)
    }

    fn read(name: &str, prefix: &str) -> Option<Self> {
        let found = [false, true].into_iter().find_map(|trends| {
            let rest = name.strip_prefix(family(prefix, trends).as_str())?;
            Some((trends, rest))
        });
        let (trends, rest) = found?;
        let (class, day) = rest.split_once("d-")?;
        Some(Self { trends, class: Class(class.parse().ok()?), day: Day(day.parse().ok()?) })
    }
}

/// Days of an index: each has a cost of its own in the memory of its node.
fn days(class: Class) -> u32 {
    u32::from((class.0 / INDICES).max(1))
}

fn family(prefix: &str, trends: bool) -> String {
    format!("{prefix}-{}-", if trends { "trends" } else { "history" })
}

/// All indices of a family.
pub(crate) fn pattern(prefix: &str, trends: bool) -> String {
    format!("{}*", family(prefix, trends))
}

/// All indices of values of a class.
pub(crate) fn pattern_of_class(prefix: &str, class: Class) -> String {
    format!("{}{}d-*", family(prefix, false), class.0)
}

/// What new indices are like.
fn template(prefix: &str) -> Value {
    let kept = |kind: &str| json!({ "type": kind, "index": false });
    json!({
        "index_patterns": [pattern(prefix, false), pattern(prefix, true)],
        "priority": 500,
        "version": VERSION,
        "template": {
            "settings": { "index": { "number_of_shards": 1, "codec": "best_compression" } },
            "mappings": {
                "dynamic": "strict",
                "properties": {
                    "itemid": { "type": "long" },
                    "kind": { "type": "keyword" },
                    "clock": { "type": "date", "format": "epoch_second" },
                    "ns": { "type": "integer" },
                    "value": { "type": "double" },
                    "text": { "type": "text", "norms": false },
                    "timestamp": kept("long"),
                    "source": { "type": "keyword", "ignore_above": 1000 },
                    "severity": { "type": "long" },
                    "eventid": { "type": "long" },
                    "num": kept("long"),
                    "min": kept("double"),
                    "avg": kept("double"),
                    "max": kept("double"),
                    // Bits of numbers that JSON does not have.
                    "exact": { "type": "object", "enabled": false },
                },
            },
        },
    })
}

/// Tells the cluster what our indices are like, unless it knows.
pub(crate) fn prepare(client: &Client) -> Result<(), Error> {
    let path = format!("_index_template/{}", client.prefix);
    if let Some(answer) = client.find(Method::GET, &path, b"")? {
        let answer: Value = client.json(&answer)?;
        let known = answer["index_templates"][0]["index_template"]["version"].as_u64();
        let known = known.unwrap_or(0);
        not_newer(client.server.location(), &known, &VERSION)?;
        if known == VERSION {
            return Ok(());
        }
    }
    client.ask(Method::PUT, &path, template(&client.prefix).to_string().as_bytes())?;
    Ok(())
}

/// All indices, with their bytes.
pub(crate) fn list(client: &Client) -> Result<Vec<(Index, u64)>, Error> {
    let mut all = Vec::new();
    for trends in [false, true] {
        let path = format!("_cat/indices/{}?{LIST}", pattern(&client.prefix, trends));
        let answer = client.find(Method::GET, &path, b"")?.unwrap_or_else(|| b"[]".to_vec());
        let rows: Vec<Value> = client.json(&answer)?;
        all.extend(rows.iter().filter_map(|row| {
            let index = Index::read(row["index"].as_str()?, &client.prefix)?;
            let bytes = row["store.size"].as_str().and_then(|bytes| bytes.parse().ok());
            Some((index, bytes.unwrap_or(0)))
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_class_and_days() {
        let second = 20_000 * 86_400 + 7;
        for (trends, days, name, ends) in [
            (false, 3, "x-history-3d-20000", 20_001),
            (false, 31, "x-history-31d-20000", 20_001),
            (true, 372, "x-trends-372d-19992", 20_004),
        ] {
            let index = Index::of(trends, Class(days), second);
            assert_eq!((index.name("x").as_str(), index.ends()), (name, Day(ends)));
            assert_eq!(Index::read(name, "x"), Some(index));
            let start = pattern_of_class("x", Class(days));
            assert_eq!(name.starts_with(start.trim_end_matches('*')), !trends);
        }
        let last = Index::read("x-history-3d-4294967295", "x").unwrap();
        assert_eq!(last.ends(), Day(u32::MAX));
        for other in ["x", "x-history-", "x-history-3-1", "xx-history-3d-1", "x-history-3d-y"] {
            assert_eq!(Index::read(other, "x"), None, "{other}");
        }
    }
}
