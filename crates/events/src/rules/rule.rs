//! Correlation rules: what is known of them once the new problem is known, and what is left to ask of open ones.

use std::collections::{BTreeMap, BTreeSet};

use config::Snapshot;
use config::db::{DbResult, Reader, Row, query_by_ids};
use const_format::formatcp;
use eval::lld::Formula;
use model::{EventId, GroupId, Timestamp, TriggerId};
use objects::sql::{GROUP_OF_HOSTS, STATUS_ENABLED};
use objects::{
    ConditionOperator as Op, CorrelationConditionKind as Kind, CorrelationOperation, EvalType,
};

/// A problem or a recovery that was just written. A recovery closes other problems, as a problem does.
pub(crate) struct NewEvent<'a> {
    pub(crate) id: EventId,
    pub(crate) trigger: TriggerId,
    pub(crate) at: Timestamp,
    pub(crate) is_problem: bool,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a [(String, String)],
}

/// How a value is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) operator: Op,
    pub(crate) value: String,
}

impl Compared {
    /// The same without a negation, and whether it had one: an open problem must have no such tag then, while a new one
    /// must have a tag with another value.
    fn affirmed(&self) -> (Self, bool) {
        let (operator, is_negative) = match self.operator {
            Op::NotEquals => (Op::Equals, true),
            Op::NotContains => (Op::Contains, true),
            operator => (operator, false),
        };
        (Self { operator, value: self.value.clone() }, is_negative)
    }

    pub(crate) fn holds(&self, value: &str) -> bool {
        match self.operator {
            Op::NotEquals => value != self.value,
            Op::Contains => value.contains(&self.value),
            Op::NotContains => !value.contains(&self.value),
            _ => value == self.value,
        }
    }
}

/// A condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    OldTag(String),
    NewTag(String),
    /// Whether a host of the new problem is to be in one of the groups.
    NewGroup(BTreeSet<GroupId>, bool),
    TagPair {
        old: String,
        new: String,
    },
    OldValue(String, Compared),
    NewValue(String, Compared),
}

/// What is asked of an open problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    HasTag(String),
    /// It has the tag with one of these values.
    OneOf(String, Vec<String>),
    /// It has the tag, and a value of it is as described.
    Value(String, Compared),
}

/// What a rule says once the new problem is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It does not apply.
    Never,
    /// It applies, whatever is open.
    Always,
    /// It applies to open problems for which this is true.
    If(Formula<Question>),
}

/// An enabled rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: u64,
    pub(crate) closes_old: bool,
    pub(crate) closes_new: bool,
    filter: Formula<Condition>,
}

impl Rule {
    pub(crate) fn look(&self, snapshot: &Snapshot, new: &NewEvent<'_>) -> Verdict {
        known(&self.filter, &|condition| condition.look(snapshot, new))
    }
}

impl Condition {
    fn look(&self, snapshot: &Snapshot, new: &NewEvent<'_>) -> Verdict {
        let values = |name: &str| {
            let named = new.tags.iter().filter(|(tag, _)| tag == name);
            named.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        let decided = match self {
            Self::NewTag(tag) => !values(tag).is_empty(),
            Self::NewValue(tag, compared) => values(tag).iter().any(|value| compared.holds(value)),
            Self::NewGroup(groups, wanted) => {
                let trigger = snapshot.triggers.get(&new.trigger);
                let functions = trigger.iter().flat_map(|trigger| trigger.functions.iter());
                let items = functions.filter_map(|function| snapshot.items.get(&function.item));
                let hosts = items.filter_map(|item| snapshot.hosts.get(&item.host));
                hosts.flat_map(|host| host.groups.iter()).any(|id| groups.contains(id)) == *wanted
            }
            Self::OldTag(tag) => {
                return Verdict::If(Formula::Condition(Question::HasTag(tag.clone())));
            }
            Self::OldValue(tag, compared) => {
                let (compared, is_negative) = compared.affirmed();
                let asked = Formula::Condition(Question::Value(tag.clone(), compared));
                let asked = if is_negative { Formula::Not(Box::new(asked)) } else { asked };
                return Verdict::If(asked);
            }
            Self::TagPair { old, new } => match values(new) {
                values if values.is_empty() => false,
                values => {
                    let question = Question::OneOf(old.clone(), values);
                    return Verdict::If(Formula::Condition(question));
                }
            },
        };
        if decided { Verdict::Always } else { Verdict::Never }
    }
}

/// The formula without what is known already.
fn known(filter: &Formula<Condition>, look: &dyn Fn(&Condition) -> Verdict) -> Verdict {
    match filter {
        Formula::Condition(condition) => look(condition),
        Formula::Not(inner) => match known(inner, look) {
            Verdict::Never => Verdict::Always,
            Verdict::Always => Verdict::Never,
            Verdict::If(formula) => Verdict::If(Formula::Not(Box::new(formula))),
        },
        Formula::And(parts) => {
            let mut open = Vec::new();
            for part in parts {
                match known(part, look) {
                    Verdict::Never => return Verdict::Never,
                    Verdict::Always => {}
                    Verdict::If(formula) => open.push(formula),
                }
            }
            if open.is_empty() { Verdict::Always } else { Verdict::If(Formula::And(open)) }
        }
        Formula::Or(parts) => {
            let mut open = Vec::new();
            for part in parts {
                match known(part, look) {
                    Verdict::Always => return Verdict::Always,
                    Verdict::Never => {}
                    Verdict::If(formula) => open.push(formula),
                }
            }
            if open.is_empty() { Verdict::Never } else { Verdict::If(Formula::Or(open)) }
        }
    }
}

/// The enabled rules in the order of their ids. One that a later version wrote does nothing.
pub(crate) fn read(connection: &mut dyn Reader) -> DbResult<Vec<Rule>> {
    let sql = formatcp!(
        "SELECT correlationid, evaltype, formula FROM correlations \
         WHERE status = {STATUS_ENABLED} ORDER BY correlationid"
    );
    let rows = connection.query(sql, &[])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("correlationid")).collect();
    let sql = "SELECT * FROM correlation_conditions WHERE correlationid IN ({ids}) \
               ORDER BY correlationid, position";
    let conditions = query_by_ids(connection, sql, &[], &ids)?;
    let sql = "SELECT correlationid, type FROM correlation_operations \
               WHERE correlationid IN ({ids})";
    let operations = query_by_ids(connection, sql, &[], &ids)?;
    let of_groups = conditions.iter().filter(|row| Kind::NewGroup.is(row.int("type")));
    let groups: BTreeSet<u64> = of_groups.map(|row| row.id("groupid")).collect();
    let nested = if groups.is_empty() { BTreeMap::new() } else { nested(connection)? };
    let mut rules = Vec::new();
    for row in &rows {
        let id = row.id("correlationid");
        let own = conditions.iter().filter(|other| other.id("correlationid") == id);
        let Some(filter) = filter(row, own, &nested) else { continue };
        let does = |operation: CorrelationOperation| {
            let mut own = operations.iter().filter(|other| other.id("correlationid") == id);
            own.any(|other| operation.is(other.int("type")))
        };
        let closes_old = does(CorrelationOperation::CloseOld);
        rules.push(Rule {
            id,
            closes_old,
            closes_new: does(CorrelationOperation::CloseNew),
            filter,
        });
    }
    Ok(rules)
}

/// The groups of hosts with those that are nested under each.
type Nested = BTreeMap<u64, BTreeSet<GroupId>>;

fn nested(connection: &mut dyn Reader) -> DbResult<Nested> {
    let sql = formatcp!("SELECT groupid, name FROM groups_ WHERE type = {GROUP_OF_HOSTS}");
    let rows = connection.query(sql, &[])?;
    let by_name: BTreeMap<&str, u64> =
        rows.iter().map(|row| (row.text("name"), row.id("groupid"))).collect();
    let mut nested = Nested::new();
    for row in &rows {
        let (name, id) = (row.text("name"), GroupId(row.id("groupid")));
        nested.entry(id.0).or_default().insert(id);
        for (at, _) in name.match_indices('/') {
            if let Some(above) = by_name.get(&name[..at]) {
                nested.entry(*above).or_default().insert(id);
            }
        }
    }
    Ok(nested)
}

fn filter<'r>(
    rule: &Row,
    conditions: impl Iterator<Item = &'r Row>,
    nested: &Nested,
) -> Option<Formula<Condition>> {
    let mut named = Vec::new();
    for row in conditions {
        let kind = Kind::from_number(row.int("type"))?;
        named.push((row.text("formulaid").to_owned(), kind, condition(row, kind, nested)?));
    }
    if named.is_empty() {
        return None;
    }
    let all = || named.iter().map(|(_, _, one)| Formula::Condition(one.clone()));
    Some(match EvalType::from_number(rule.int("evaltype"))? {
        EvalType::And => Formula::And(all().collect()),
        EvalType::Or => Formula::Or(all().collect()),
        EvalType::AndOr => {
            let kinds = BTreeSet::from_iter(named.iter().map(|(_, kind, _)| *kind));
            let of_kind = |kind: Kind| {
                let own = named.iter().filter(move |(_, other, _)| *other == kind);
                Formula::Or(own.map(|(_, _, one)| Formula::Condition(one.clone())).collect())
            };
            Formula::And(kinds.into_iter().map(of_kind).collect())
        }
        EvalType::Formula => {
            let text = rule.text("formula").to_owned();
            let formula = Formula::parse(&text).ok()?;
            with_conditions(&formula, &|name| {
                named.iter().find(|(id, _, _)| id == name).map(|(_, _, one)| one.clone())
            })?
        }
    })
}

fn with_conditions(
    formula: &Formula<&str>,
    of: &dyn Fn(&str) -> Option<Condition>,
) -> Option<Formula<Condition>> {
    let all = |parts: &[Formula<&str>]| -> Option<Vec<_>> {
        parts.iter().map(|one| with_conditions(one, of)).collect()
    };
    Some(match formula {
        Formula::Condition(name) => Formula::Condition(of(name)?),
        Formula::Not(inner) => Formula::Not(Box::new(with_conditions(inner, of)?)),
        Formula::And(parts) => Formula::And(all(parts)?),
        Formula::Or(parts) => Formula::Or(all(parts)?),
    })
}

fn condition(row: &Row, kind: Kind, nested: &Nested) -> Option<Condition> {
    let text = |name: &str| row.text(name).to_owned();
    let operator = Op::from_number(row.int("operator"))?;
    let compared = || Compared { operator, value: text("value") };
    Some(match kind {
        Kind::OldTag => Condition::OldTag(text("tag")),
        Kind::NewTag => Condition::NewTag(text("tag")),
        Kind::NewGroup => {
            let groups = nested.get(&row.id("groupid")).cloned().unwrap_or_default();
            Condition::NewGroup(groups, operator == Op::Equals)
        }
        Kind::TagPair => Condition::TagPair { old: text("oldtag"), new: text("newtag") },
        Kind::OldValue => Condition::OldValue(text("tag"), compared()),
        Kind::NewValue => Condition::NewValue(text("tag"), compared()),
    })
}
