//! Messages that one message summarises: those of an action to one address that belong together ([`Grouping`]), and those
//! beyond what an address takes ([`Brake`]). Nothing here reads a clock or a database.

mod brake;
mod course;
mod summary;
mod tally;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use eval::num::parse_seconds;
use serde_json::Value as Json;

pub(crate) use brake::{Brake, Limit};
pub(crate) use course::{Course, Letter, Numbers, Rules};
pub(crate) use summary::{Counts, Format, Line, Summary, link};
pub(crate) use tally::{Entry, Seen, State, Tally};

/// In the list of what messages are grouped by: the technical names of the problem's hosts.
const HOSTS: &str = "{HOST.HOST}";
/// How often it is checked whether a group has open problems.
const CHECK_S: i64 = 3_600;

/// How an action groups its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// Names of tags, or [`HOSTS`].
    by: Vec<String>,
    /// Time from the first message of a group to its summary.
    wait_s: i64,
    /// Shortest time between two summaries.
    interval_s: i64,
    /// Time until a summary repeats the problems that are still open; 0 = never.
    repeat_s: i64,
}

impl Grouping {
    /// From the column of an action; `None` = it has none, or one of a later version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let all: Json = serde_json::from_str(text).ok()?;
        let seconds = |name: &str| parse_seconds(all.get(name)?.as_str()?).map(i64::from);
        let by = all.get("by")?.as_array()?.iter().map(|one| one.as_str().map(str::to_owned));
        Some(Self {
            by: by.collect::<Option<_>>()?,
            wait_s: seconds("wait")?,
            interval_s: seconds("interval")?,
            repeat_s: seconds("repeat")?,
        })
    }

    /// What the problem is grouped by. Messages with equal keys are one group.
    pub(crate) fn key<'t>(&self, hosts: &[&'t str], tags: &'t [(String, String)]) -> Key {
        let values = |by: &str| -> BTreeSet<String> {
            let of_tags = tags.iter().filter(|(tag, _)| tag == by).map(|(_, value)| value.as_str());
            let of_hosts = hosts.iter().copied().filter(|_| by == HOSTS);
            of_tags.chain(of_hosts).map(str::to_owned).collect()
        };
        let part = |by: &String| (by.clone(), values(by).into_iter().collect());
        Key(self.by.iter().map(part).collect())
    }
}

/// Names and sorted values of what messages are grouped by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Key(Vec<(String, Vec<String>)>);

impl Key {
    pub(crate) fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// As users read it: `service: shop, site: riga`.
    pub(crate) fn shown(&self) -> String {
        let part = |(by, values): &(String, Vec<String>)| {
            let name = if by == HOSTS { "host" } else { by };
            if values.is_empty() {
                format!("no {name}")
            } else {
                format!("{name}: {}", values.join(" + "))
            }
        };
        self.0.iter().map(part).collect::<Vec<_>>().join(", ")
    }

    /// Messages of different hosts are not told together.
    pub(crate) fn has_hosts(&self) -> bool {
        self.0.iter().any(|(by, _)| by == HOSTS)
    }

    /// Tags with their values, as far as a list of problems can be filtered by them.
    fn tags(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_tags = self.0.iter().filter(|(by, _)| by != HOSTS);
        of_tags
            .flat_map(|(by, values)| values.iter().map(move |value| (by.as_str(), value.as_str())))
    }
}

/// What is sent for withheld messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tell {
    Nothing,
    /// The only message that waits is sent as it is.
    One,
    /// A summary of those that wait.
    Summary,
    /// A summary of what is still open.
    Open,
}

impl Tell {
    fn of(waiting: u64) -> Self {
        match waiting {
            0 => Self::Nothing,
            1 => Self::One,
            _ => Self::Summary,
        }
    }
}

/// How many messages of a group wait, and how many of its problems are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Found {
    pub(crate) waiting: u64,
    pub(crate) open: u64,
}

/// A group of messages to one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Gathering {
    /// When it was last told of; 0 = never.
    pub(crate) told: i64,
    /// Messages wait.
    pub(crate) waiting: bool,
    /// When to look at it.
    pub(crate) due: i64,
}

impl Gathering {
    /// A message comes. Others that wait are not delayed by it.
    pub(crate) fn add(self, now: i64, grouping: &Grouping) -> Self {
        if self.waiting {
            return self;
        }
        let wait = now.saturating_add(grouping.wait_s);
        let due = match self.told {
            0 => wait,
            told => wait.max(told.saturating_add(grouping.interval_s)),
        };
        Self { waiting: true, due, ..self }
    }

    /// What is due. `None` = the action does not group any more.
    pub(crate) fn look(self, now: i64, found: Found, grouping: Option<&Grouping>) -> Tell {
        let repeats = |one: &Grouping| {
            one.repeat_s > 0 && found.open > 0 && now >= self.told.saturating_add(one.repeat_s)
        };
        match Tell::of(found.waiting) {
            Tell::Nothing if grouping.is_some_and(repeats) => Tell::Open,
            tell => tell,
        }
    }

    /// What follows once that was done, or was not possible. `None` = the group ends.
    pub(crate) fn next(
        self,
        now: i64,
        has_told: bool,
        open: u64,
        grouping: Option<&Grouping>,
    ) -> Option<Self> {
        let grouping = grouping?;
        let told = if has_told { now } else { self.told };
        let due = if open == 0 {
            // Who gets a message may not get the next one sooner, whatever ended meanwhile.
            Some(told.saturating_add(grouping.interval_s)).filter(|until| *until > now)?
        } else {
            let check = now.saturating_add(CHECK_S);
            match grouping.repeat_s {
                0 => check,
                repeat if told + repeat > now => check.min(told + repeat),
                _ => check,
            }
        };
        Some(Self { told, waiting: false, due })
    }
}
