//! Conditions of actions, and how they are combined: the same for all sources of events. What a condition
//! is compared with depends on the source.

mod discovered;
mod problem;
mod tagged;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::convert::Infallible;

use config::db::Row;
use eval::lld::Formula;
use objects::{ConditionKind, ConditionOperator as Op, EvalType};

pub(crate) use discovered::read as read_discovered;
pub(crate) use problem::{Origin, ServiceSubject, TriggerSubject};

/// One comparison with what an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    kind: ConditionKind,
    operator: Op,
    value: String,
    /// The name of the tag whose value is compared.
    value2: String,
    /// Its name in the formula.
    id: String,
}

impl Condition {
    /// `None` = a kind or operator of a later version.
    pub(crate) fn from_row(row: &Row) -> Option<Self> {
        Some(Self {
            kind: ConditionKind::from_number(row.int("conditiontype"))?,
            operator: Op::from_number(row.int("operator"))?,
            value: row.text("value").to_owned(),
            value2: row.text("value2").to_owned(),
            id: row.text("formulaid").to_owned(),
        })
    }

    /// For kinds that can equal or not.
    fn equal(&self, same: bool) -> bool {
        same == (self.operator == Op::Equals)
    }

    fn number(&self) -> i64 {
        self.value.parse().unwrap_or(-1)
    }

    fn is_id(&self, id: u64) -> bool {
        self.equal(self.value.parse() == Ok(id))
    }

    /// One of the ids, or none of them.
    fn is_among(&self, ids: &BTreeSet<u64>) -> bool {
        self.equal(self.value.parse().is_ok_and(|id: u64| ids.contains(&id)))
    }

    /// The same condition, and whether it wants that no text meets it.
    fn affirmed(&self) -> (Op, bool) {
        match self.operator {
            Op::NotEquals => (Op::Equals, true),
            Op::NotContains => (Op::Contains, true),
            Op::NotMatches => (Op::Matches, true),
            operator => (operator, false),
        }
    }

    /// Compares several texts: a negative operator wants that none of them is as it says.
    fn compare_all<'a>(&self, mut texts: impl Iterator<Item = &'a str>) -> bool {
        let (operator, negative) = self.affirmed();
        texts.any(|text| self.compare_as(operator, text)) != negative
    }

    /// Compares a text as the operator says. An invalid regular expression matches nothing.
    fn compare(&self, text: &str) -> bool {
        self.compare_as(self.operator, text)
    }

    fn compare_as(&self, operator: Op, text: &str) -> bool {
        let value = self.value.as_str();
        let matches = || eval::regex::is_match(value, text, false);
        match operator {
            Op::Equals => text == value,
            Op::NotEquals => text != value,
            Op::Contains => text.contains(value),
            Op::NotContains => !text.contains(value),
            Op::AtLeast => text >= value,
            Op::AtMost => text <= value,
            Op::Matches => matches().unwrap_or(false),
            Op::NotMatches => matches().is_ok_and(|found| !found),
            Op::In | Op::NotIn | Op::Yes | Op::No => false,
        }
    }
}

/// What conditions of one source of events are compared with.
pub(crate) trait Subject {
    /// The condition is met. Conditions of other sources are not.
    fn meets(&self, condition: &Condition) -> bool;
}

/// All conditions of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    combined: EvalType,
    formula: String,
    conditions: Vec<Condition>,
}

impl Filter {
    /// `row` is the action's. `None` = a number of a later version.
    pub(crate) fn new(row: &Row, conditions: Vec<Condition>) -> Option<Self> {
        let combined = EvalType::from_number(row.int("evaltype"))?;
        Some(Self { combined, formula: row.text("formula").to_owned(), conditions })
    }

    /// The action applies to the subject's event. Without conditions it applies to each.
    pub(crate) fn fits(&self, subject: &dyn Subject) -> bool {
        let holds = |condition: &Condition| subject.meets(condition);
        let conditions = &self.conditions;
        if conditions.is_empty() {
            return true;
        }
        match self.combined {
            EvalType::And => conditions.iter().all(holds),
            EvalType::Or => conditions.iter().any(holds),
            EvalType::Formula => self.by_formula(&holds),
            EvalType::AndOr => conditions
                .iter()
                .all(|one| conditions.iter().filter(|other| other.kind == one.kind).any(holds)),
        }
    }

    /// Whether each condition is met, in their order.
    pub(crate) fn each(&self, subject: &dyn Subject) -> Vec<bool> {
        self.conditions.iter().map(|condition| subject.meets(condition)).collect()
    }

    fn by_formula(&self, holds: &dyn Fn(&Condition) -> bool) -> bool {
        let Ok(formula) = Formula::parse(&self.formula) else { return false };
        let mut named = |name: &&str| -> Result<bool, Infallible> {
            Ok(self.conditions.iter().find(|one| one.id == **name).is_some_and(holds))
        };
        let Ok(result) = formula.eval(&mut named);
        result
    }
}
