//! Conditions of correlation rules, as clients give them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};
use config::table;
use objects::{CorrelationConditionKind as Kind, EvalType};
use serde_json::{Map, json};

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::formula::{self, letters};
use crate::object::{missing, taken};
use crate::params::{self, one_of};
use crate::permission::Need;
use crate::write::{Target, nested, only};

/// Characters of tags, values and formulas.
const TEXT_MAX: usize = 255;
/// Conditions of a rule.
const CONDITIONS_MAX: usize = 1_000;

/// A condition; what its kind does not have is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    kind: Kind,
    operator: i64,
    groupid: u64,
    texts: [(&'static str, String); 4],
    id: String,
}

/// The columns of [`Condition::texts`], in the order in which conditions of a kind are sorted.
const TEXTS: [&str; 4] = ["tag", "oldtag", "newtag", "value"];

/// The texts that a kind has.
const fn texts_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::OldTag | Kind::NewTag => &["tag"],
        Kind::NewGroup => &[],
        Kind::TagPair => &["oldtag", "newtag"],
        Kind::OldValue | Kind::NewValue => &["tag", "value"],
    }
}

/// A filter as a client gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) evaltype: EvalType,
    pub(super) formula: String,
    conditions: Vec<Condition>,
    path: String,
}

impl Filter {
    pub(super) fn parse(value: &Json, path: &str) -> ApiResult<Self> {
        let none = Map::new();
        let members = match value {
            Json::Object(members) => members,
            Json::Array(list) if list.is_empty() => &none,
            _ => return Err(ApiError::at(path, "an array is expected")),
        };
        let at = |name: &str| format!("{path}/{name}");
        let evaltype = members.get("evaltype").ok_or_else(|| missing(path, "evaltype"))?;
        let evaltype = EvalType::from_number(params::int(evaltype, &at("evaltype"))?)
            .ok_or_else(|| one_of(&at("evaltype"), EvalType::NUMBERS.iter().copied()))?;
        let by_formula = evaltype == EvalType::Formula;
        let known: &[&str] = &["evaltype", "conditions", "formula"];
        only(members, path, if by_formula { known } else { &known[..2] })?;
        let mut formula = String::new();
        if by_formula {
            formula = text(members, path, "formula", true)?;
            formula::names(&formula, &at("formula"))?;
        }
        let list = members.get("conditions").ok_or_else(|| missing(path, "conditions"))?;
        let list = nested(list, &at("conditions"))?;
        if list.is_empty() {
            return Err(ApiError::at(&at("conditions"), "cannot be empty"));
        }
        if list.len() > CONDITIONS_MAX {
            let text = format_args!("maximum number of array elements is {CONDITIONS_MAX}");
            return Err(ApiError::at(&at("conditions"), text));
        }
        let conditions = list
            .into_iter()
            .map(|(path, members)| Condition::parse(members, &path, by_formula))
            .collect::<ApiResult<Vec<_>>>()?;
        if let Some(n) = twin(&conditions).filter(|_| by_formula) {
            let path = format!("{}/{}", at("conditions"), n + 1);
            return Err(taken(&path, "formulaid", &conditions[n].id));
        }
        Ok(Self { evaltype, formula, conditions, path: path.to_owned() })
    }

    /// As it is stored: conditions in the order in which they are shown, with letters. Refuses a formula that does not
    /// fit the conditions, and groups that do not exist.
    pub(super) fn settled(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<Self> {
        let mut settled = self.clone();
        let conditions = &mut settled.conditions;
        if self.evaltype == EvalType::Formula {
            let used = formula::names(&self.formula, &format!("{}/formula", self.path))?;
            let given: Vec<&str> = self.conditions.iter().map(|one| one.id.as_str()).collect();
            let places = formula::places(&used, &given, &self.path)?;
            for (condition, place) in conditions.iter_mut().zip(&places) {
                condition.id = letters(*place);
            }
            let mut order: Vec<usize> = (0..places.len()).collect();
            order.sort_by_key(|n| places[*n]);
            *conditions = order.iter().map(|n| conditions[*n].clone()).collect();
            settled.formula = formula::renamed(&self.formula, &used);
        } else {
            conditions.sort_by(Condition::order);
            for (n, condition) in conditions.iter_mut().enumerate() {
                condition.id = letters(n);
            }
        }
        let of_groups = self.conditions.iter().filter(|one| one.kind == Kind::NewGroup);
        let groups: Vec<u64> = of_groups.map(|one| one.groupid).collect();
        call.require(edit, Target::HostGroup, Need::Read, &groups)?;
        Ok(settled)
    }

    /// Writes the conditions of a rule again.
    pub(super) fn write(&self, edit: &mut Edit<'_>, rule: u64) -> ApiResult<()> {
        edit.delete(&table::CORRELATION_CONDITIONS, "correlationid", &[rule])?;
        for (n, condition) in self.conditions.iter().enumerate() {
            let mut row = vec![
                ("correlationid", Value::from(rule)),
                ("position", Value::from(n as u64)),
                ("type", condition.kind.number().into()),
                ("operator", condition.operator.into()),
                ("groupid", condition.groupid.into()),
                ("formulaid", condition.id.as_str().into()),
            ];
            let texts = condition.texts.iter();
            row.extend(texts.map(|(name, text)| (*name, Value::from(text.as_str()))));
            edit.insert(&table::CORRELATION_CONDITIONS, &row)?;
        }
        Ok(())
    }
}

impl Condition {
    fn parse(members: &Map<String, Json>, path: &str, by_formula: bool) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let kind = members.get("type").ok_or_else(|| missing(path, "type"))?;
        let kind = Kind::from_number(params::int(kind, &at("type"))?)
            .ok_or_else(|| one_of(&at("type"), Kind::NUMBERS.iter().copied()))?;
        let own = texts_of(kind);
        let mut known = vec!["type", "operator"];
        known.extend(own);
        known.extend((kind == Kind::NewGroup).then_some("groupid"));
        known.extend(by_formula.then_some("formulaid"));
        only(members, path, &known)?;
        let mut texts = TEXTS.map(|name| (name, String::new()));
        for (name, value) in texts.iter_mut().filter(|(name, _)| own.contains(name)) {
            *value = text(members, path, name, *name != "value")?;
        }
        let groupid = match (kind, members.get("groupid")) {
            (Kind::NewGroup, Some(id)) => params::id(id, &at("groupid"))?,
            (Kind::NewGroup, None) => return Err(missing(path, "groupid")),
            _ => 0,
        };
        let operator = members.get("operator").map(|value| params::int(value, &at("operator")));
        let operator = operator.transpose()?.unwrap_or(0);
        let allowed = kind.operators().iter().map(|known| known.number());
        if !allowed.clone().any(|known| known == operator) {
            return Err(one_of(&at("operator"), allowed));
        }
        let mut id = String::new();
        if by_formula {
            id = text(members, path, "formulaid", true)?;
            if !id.chars().all(|c| c.is_ascii_uppercase()) {
                return Err(ApiError::at(&at("formulaid"), "uppercase identifier expected"));
            }
        }
        Ok(Self { kind, operator, groupid, texts, id })
    }

    fn order(&self, other: &Self) -> Ordering {
        let (own, others) = (self.texts.iter(), other.texts.iter());
        // Values come last, behind the operator.
        let mut texts = own.zip(others).map(|((_, a), (_, b))| natural(a, b));
        let tags = texts.by_ref().take(3).fold(Ordering::Equal, Ordering::then);
        let values = texts.fold(Ordering::Equal, Ordering::then);
        self.kind
            .cmp(&other.kind)
            .then(tags)
            .then(self.operator.cmp(&other.operator))
            .then(self.groupid.cmp(&other.groupid))
            .then(values)
    }
}

/// The first condition with a name that another one has.
fn twin(conditions: &[Condition]) -> Option<usize> {
    let mut names = BTreeSet::new();
    conditions.iter().position(|one| !names.insert(one.id.as_str()))
}

/// Numbers by size, other texts without regard to case.
fn natural(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => a.to_lowercase().cmp(&b.to_lowercase()).then_with(|| a.cmp(b)),
    }
}

/// A text that must be given.
fn text(members: &Map<String, Json>, path: &str, name: &str, is_filled: bool) -> ApiResult<String> {
    let value = members.get(name).ok_or_else(|| missing(path, name))?;
    let path = format!("{path}/{name}");
    let text = params::text(value, &path)?;
    if is_filled && text.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    if text.chars().count() > TEXT_MAX {
        return Err(ApiError::at(&path, "value is too long"));
    }
    Ok(text)
}

/// A condition as `correlation.get` shows it.
pub(super) fn shown(row: &Row) -> Json {
    let mut out = json!({
        "type": row.int("type").to_string(),
        "formulaid": row.text("formulaid"),
    });
    let Some(kind) = Kind::from_number(row.int("type")) else { return out };
    for name in texts_of(kind) {
        out[*name] = row.text(name).into();
    }
    if kind == Kind::NewGroup {
        out["groupid"] = row.id("groupid").to_string().into();
    }
    if kind.operators().len() > 1 {
        out["operator"] = row.int("operator").to_string().into();
    }
    out
}
