//! Open problems by their tags, so that a rule looks only at problems that it may concern.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use config::Statements;
use config::db::DbResult;
use const_format::formatcp;
use eval::lld::Formula;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use model::{EventId, TriggerId};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

use super::rule::{Question, Verdict};

/// Open problems of triggers that have any, oldest first.
pub(crate) type ByTrigger = HashMap<TriggerId, Vec<EventId>, FixedState>;

/// Problems by the values of a tag.
type Values = BTreeMap<Arc<str>, BTreeSet<EventId>>;

#[derive(Debug)]
struct Problem {
    trigger: TriggerId,
    tags: Vec<(Arc<str>, Arc<str>)>,
}

/// The open problems of triggers.
#[derive(Debug, Default)]
pub(crate) struct Index {
    problems: BTreeMap<EventId, Problem>,
    by_tag: HashMap<Arc<str>, Values, FixedState>,
    /// The newest row of `event_tags` that is in it. Webhooks add tags to problems, too.
    newest_tag: u64,
    /// How often a problem was compared with a rule.
    pub(crate) comparisons: Cell<u64>,
}

/// Problems that a formula may be true for.
enum Candidates<'i> {
    All,
    /// Each in one of these sets at least.
    Among(Vec<&'i BTreeSet<EventId>>),
}

impl Index {
    pub(crate) fn read(edit: &mut Statements<'_>, open: &ByTrigger) -> DbResult<Self> {
        let mut index = Self::default();
        for (trigger, events) in open {
            for event in events {
                index.add(*event, *trigger, &[]);
            }
        }
        let sql = formatcp!(
            "SELECT t.eventtagid AS eventtagid, t.eventid AS eventid, t.tag AS tag, \
             t.value AS value FROM problems p JOIN event_tags t ON t.eventid = p.eventid \
             WHERE p.r_eventid = 0 AND p.source = {SOURCE_TRIGGER} AND p.object = {OBJECT_TRIGGER} \
             ORDER BY t.eventtagid"
        );
        let newest = "SELECT COALESCE(MAX(eventtagid), 0) AS newest FROM event_tags";
        let newest = edit.query(newest, &[])?.first().map_or(0, |row| row.id("newest"));
        for row in edit.query(sql, &[])? {
            index.tag(EventId(row.id("eventid")), row.text("tag"), row.text("value"));
        }
        index.newest_tag = newest;
        Ok(index)
    }

    /// Takes in tags that were added since; those of the last transaction are among them.
    pub(crate) fn follow(&mut self, edit: &mut Statements<'_>) -> DbResult<()> {
        let sql = "SELECT eventtagid, eventid, tag, value FROM event_tags \
                   WHERE eventtagid > ? ORDER BY eventtagid";
        for row in edit.query(sql, &[self.newest_tag.into()])? {
            self.tag(EventId(row.id("eventid")), row.text("tag"), row.text("value"));
            self.newest_tag = row.id("eventtagid");
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, event: EventId, trigger: TriggerId, tags: &[(String, String)]) {
        self.problems.insert(event, Problem { trigger, tags: Vec::new() });
        for (tag, value) in tags {
            self.tag(event, tag, value);
        }
    }

    fn tag(&mut self, event: EventId, tag: &str, value: &str) {
        let Some(problem) = self.problems.get_mut(&event) else { return };
        if problem.tags.iter().any(|(name, known)| **name == *tag && **known == *value) {
            return;
        }
        // Problems share the texts of their tags.
        let tag: Arc<str> = match self.by_tag.get_key_value(tag) {
            Some((name, _)) => Arc::clone(name),
            None => tag.into(),
        };
        let values = self.by_tag.entry(Arc::clone(&tag)).or_default();
        let value: Arc<str> = match values.get_key_value(value) {
            Some((known, _)) => Arc::clone(known),
            None => value.into(),
        };
        values.entry(Arc::clone(&value)).or_default().insert(event);
        problem.tags.push((tag, value));
    }

    pub(crate) fn remove(&mut self, event: EventId) {
        let Some(problem) = self.problems.remove(&event) else { return };
        for (tag, value) in problem.tags {
            let Some(values) = self.by_tag.get_mut(&tag) else { continue };
            if let Some(events) = values.get_mut(&value) {
                events.remove(&event);
                if events.is_empty() {
                    values.remove(&value);
                }
            }
            if values.is_empty() {
                self.by_tag.remove(&tag);
            }
        }
    }

    /// Problems that the verdict is true for, in any order, each perhaps several times.
    pub(crate) fn matching<'i>(
        &'i self,
        verdict: &'i Verdict,
    ) -> Box<dyn Iterator<Item = (EventId, TriggerId)> + 'i> {
        let all = || self.problems.iter().map(|(event, problem)| (*event, problem.trigger));
        let formula = match verdict {
            Verdict::Never => return Box::new(std::iter::empty()),
            Verdict::Always => return Box::new(all()),
            Verdict::If(formula) => formula,
        };
        let fits = move |event: &EventId| {
            let problem = self.problems.get(event)?;
            self.comparisons.set(self.comparisons.get() + 1);
            problem.meets(formula).then_some((*event, problem.trigger))
        };
        match self.candidates(formula) {
            Candidates::All => Box::new(self.problems.keys().filter_map(fits)),
            Candidates::Among(sets) => Box::new(sets.into_iter().flatten().filter_map(fits)),
        }
    }

    fn candidates(&self, formula: &Formula<Question>) -> Candidates<'_> {
        match formula {
            Formula::Condition(question) => Candidates::Among(self.answers(question)),
            Formula::Not(_) => Candidates::All,
            // The smallest of those that the parts allow.
            Formula::And(parts) => {
                let of_parts = parts.iter().filter_map(|part| match self.candidates(part) {
                    Candidates::All => None,
                    Candidates::Among(sets) => Some(sets),
                });
                let size = |sets: &Vec<&BTreeSet<EventId>>| -> usize {
                    sets.iter().map(|set| set.len()).sum()
                };
                of_parts.min_by_key(size).map_or(Candidates::All, Candidates::Among)
            }
            Formula::Or(parts) => {
                let mut sum = Vec::new();
                for part in parts {
                    match self.candidates(part) {
                        Candidates::All => return Candidates::All,
                        Candidates::Among(sets) => sum.extend(sets),
                    }
                }
                Candidates::Among(sum)
            }
        }
    }

    /// Exactly the problems that the answer is yes for. Only comparisons of values look at all values of a tag.
    fn answers(&self, question: &Question) -> Vec<&BTreeSet<EventId>> {
        let values = |tag: &str| self.by_tag.get(tag).into_iter();
        match question {
            Question::HasTag(tag) => values(tag).flat_map(BTreeMap::values).collect(),
            Question::OneOf(tag, wanted) => {
                let of_tag =
                    values(tag).flat_map(|all| wanted.iter().map(move |one| all.get(&**one)));
                of_tag.flatten().collect()
            }
            Question::Value(tag, compared) => values(tag)
                .flatten()
                .filter(|(value, _)| compared.holds(value))
                .map(|(_, events)| events)
                .collect(),
        }
    }
}

impl Problem {
    fn meets(&self, formula: &Formula<Question>) -> bool {
        let mut holds = |question: &Question| -> Result<bool, Infallible> {
            let (tag, holds): (_, &dyn Fn(&str) -> bool) = match question {
                Question::HasTag(tag) => (tag, &|_| true),
                Question::OneOf(tag, values) => {
                    (tag, &|value| values.iter().any(|one| one == value))
                }
                Question::Value(tag, compared) => (tag, &|value| compared.holds(value)),
            };
            Ok(self.tags.iter().any(|(name, value)| **name == **tag && holds(value)))
        };
        let Ok(result) = formula.eval(&mut holds);
        result
    }
}
