//! Filters of discovery rules, and of their overrides.

use std::collections::HashSet;

use super::Row;
use crate::regex::{GlobalRegexes, RegexError, is_match_or_global};

/// Deepest nesting in a formula.
const DEPTH_MAX: usize = 64;

/// Conditions in one filter; more are refused.
const CONDITIONS_MAX: usize = 1024;

/// A condition on an LLD macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Name in a formula (`A`).
    pub id: String,
    /// The macro with braces.
    pub lld_macro: String,
    /// What is asked.
    pub op: ConditionOp,
    /// Regular expression, or `@` and the name of a global one.
    pub value: String,
}

/// The API's `operator` of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ConditionOp {
    Matches = 8,
    NotMatches = 9,
    Exists = 12,
    NotExists = 13,
}

impl ConditionOp {
    /// From the API's number.
    pub const fn from_api(number: u8) -> Option<Self> {
        Some(match number {
            8 => Self::Matches,
            9 => Self::NotMatches,
            12 => Self::Exists,
            13 => Self::NotExists,
            _ => return None,
        })
    }
}

/// The API's `evaltype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EvalType {
    /// 0: alternatives on one macro, all macros
    AndOr = 0,
    And = 1,
    Or = 2,
    /// 3: by the formula
    Formula = 3,
}

impl EvalType {
    /// From the API's number.
    pub const fn from_api(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::AndOr,
            1 => Self::And,
            2 => Self::Or,
            3 => Self::Formula,
            _ => return None,
        })
    }
}

/// The text is no formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormulaError {
    #[error("check expression starting from \"{0}\"")]
    Syntax(String),
    /// A condition that does not exist.
    #[error("missing filter condition \"{0}\"")]
    Missing(String),
    /// Too many conditions.
    #[error("too many conditions")]
    TooMany,
}

/// A formula over named conditions: `(A or B) and not C`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula<T> {
    Condition(T),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
}

/// A formula that is parsed to the same tree again.
impl<T: std::fmt::Display> std::fmt::Display for Formula<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (parts, word) = match self {
            Self::Condition(name) => return write!(f, "{name}"),
            Self::Not(inner) => return write!(f, "not {}", Enclosed(inner, false)),
            Self::And(parts) => (parts, " and "),
            Self::Or(parts) => (parts, " or "),
        };
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                f.write_str(word)?;
            }
            write!(f, "{}", Enclosed(part, matches!(self, Self::Or(_))))?;
        }
        Ok(())
    }
}

/// A part of a formula in parentheses where it needs them; `and` needs none among `or`.
struct Enclosed<'a, T>(&'a Formula<T>, bool);

impl<T: std::fmt::Display> std::fmt::Display for Enclosed<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Formula::And(_) if self.1 => write!(f, "{}", self.0),
            Formula::And(_) | Formula::Or(_) => write!(f, "({})", self.0),
            other => write!(f, "{other}"),
        }
    }
}

impl<T> Formula<T> {
    /// The truth of the formula, by the truth of its conditions.
    pub fn eval<E>(&self, condition: &mut dyn FnMut(&T) -> Result<bool, E>) -> Result<bool, E> {
        match self {
            Self::Condition(name) => condition(name),
            Self::Not(inner) => Ok(!inner.eval(condition)?),
            Self::And(parts) => {
                for part in parts {
                    if !part.eval(condition)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Or(parts) => {
                for part in parts {
                    if part.eval(condition)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

impl<'t> Formula<&'t str> {
    /// Parses a formula; the names of its conditions are not checked.
    pub fn parse(text: &'t str) -> Result<Self, FormulaError> {
        let mut parser = Parser { rest: text, depth: 0 };
        let formula = parser.or()?;
        if parser.rest.trim().is_empty() { Ok(formula) } else { Err(parser.error()) }
    }

    fn collect(&self, seen: &mut HashSet<&'t str>, out: &mut Vec<&'t str>) {
        match self {
            Self::Condition(name) => {
                if seen.insert(name) {
                    out.push(name);
                }
            }
            Self::Not(inner) => inner.collect(seen, out),
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.collect(seen, out));
            }
        }
    }

    fn index(&self, conditions: &[Condition]) -> Result<Formula<usize>, FormulaError> {
        let all = |parts: &[Self]| -> Result<Vec<_>, FormulaError> {
            parts.iter().map(|p| p.index(conditions)).collect()
        };
        Ok(match self {
            Self::Condition(name) => {
                let index = conditions.iter().position(|c| c.id == *name);
                Formula::Condition(index.ok_or_else(|| FormulaError::Missing((*name).to_owned()))?)
            }
            Self::Not(inner) => Formula::Not(Box::new(inner.index(conditions)?)),
            Self::And(parts) => Formula::And(all(parts)?),
            Self::Or(parts) => Formula::Or(all(parts)?),
        })
    }
}

/// Names of the conditions in a formula, in order of appearance.
pub fn formula_ids(text: &str) -> Result<Vec<&str>, FormulaError> {
    let mut ids = Vec::new();
    Formula::parse(text)?.collect(&mut HashSet::new(), &mut ids);
    Ok(ids)
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn error(&self) -> FormulaError {
        FormulaError::Syntax(self.rest.chars().take(64).collect())
    }

    fn word(&mut self, word: &str) -> bool {
        // What is no such word stays as it is, blanks before it as well: errors show it so.
        match self.rest.trim_start().strip_prefix(word) {
            Some(after) if !after.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                self.rest = after;
                true
            }
            _ => false,
        }
    }

    fn or(&mut self) -> Result<Formula<&'a str>, FormulaError> {
        let mut parts = vec![self.and()?];
        while self.word("or") {
            parts.push(self.and()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::Or(parts) })
    }

    fn and(&mut self) -> Result<Formula<&'a str>, FormulaError> {
        let mut parts = vec![self.unary()?];
        while self.word("and") {
            parts.push(self.unary()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) })
    }

    fn unary(&mut self) -> Result<Formula<&'a str>, FormulaError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error());
        }
        self.depth += 1;
        let result = self.unary_inner();
        self.depth -= 1;
        result
    }

    fn unary_inner(&mut self) -> Result<Formula<&'a str>, FormulaError> {
        if self.word("not") {
            return Ok(Formula::Not(Box::new(self.unary()?)));
        }
        self.rest = self.rest.trim_start();
        if let Some(after) = self.rest.strip_prefix('(') {
            self.rest = after;
            let inner = self.or()?;
            self.rest = self.rest.trim_start();
            self.rest = self.rest.strip_prefix(')').ok_or_else(|| self.error())?;
            return Ok(inner);
        }
        // Conditions are named in capitals, or by number in older exports (`{12}`).
        let len = self.rest.bytes().take_while(u8::is_ascii_uppercase).count();
        if len == 0 {
            return Err(self.error());
        }
        let (name, after) = self.rest.split_at(len);
        if after.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(self.error());
        }
        self.rest = after;
        Ok(Formula::Condition(name))
    }
}

/// A filter over rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFilter {
    conditions: Vec<Condition>,
    formula: Formula<usize>,
}

impl RowFilter {
    /// A filter of conditions; `formula` counts only with [`EvalType::Formula`].
    pub fn new(
        evaltype: EvalType,
        conditions: Vec<Condition>,
        formula: &str,
    ) -> Result<Self, FormulaError> {
        if conditions.len() > CONDITIONS_MAX {
            return Err(FormulaError::TooMany);
        }
        let each = || (0..conditions.len()).map(Formula::Condition);
        let formula = match evaltype {
            EvalType::And => Formula::And(each().collect()),
            EvalType::Or if conditions.is_empty() => Formula::And(Vec::new()),
            EvalType::Or => Formula::Or(each().collect()),
            EvalType::Formula => Formula::parse(formula)?.index(&conditions)?,
            EvalType::AndOr => {
                let mut groups: Vec<(&str, Vec<Formula<usize>>)> = Vec::new();
                for (index, condition) in conditions.iter().enumerate() {
                    let part = Formula::Condition(index);
                    match groups.iter_mut().find(|(name, _)| *name == condition.lld_macro) {
                        Some((_, parts)) => parts.push(part),
                        None => groups.push((&condition.lld_macro, vec![part])),
                    }
                }
                Formula::And(groups.into_iter().map(|(_, parts)| Formula::Or(parts)).collect())
            }
        };
        Ok(Self { conditions, formula })
    }

    /// The row passes. A macro that the row does not have matches nothing, also not the
    /// negated condition.
    pub fn passes(&self, row: &Row, globals: &GlobalRegexes) -> Result<bool, RegexError> {
        self.formula.eval(&mut |index| {
            let condition = &self.conditions[*index];
            let value = row.get(&condition.lld_macro);
            Ok(match (condition.op, value) {
                (ConditionOp::Exists, value) => value.is_some(),
                (ConditionOp::NotExists, value) => value.is_none(),
                (_, None) => false,
                (op, Some(value)) => {
                    let found = is_match_or_global(&condition.value, value, false, globals)?;
                    found == (op == ConditionOp::Matches)
                }
            })
        })
    }
}
