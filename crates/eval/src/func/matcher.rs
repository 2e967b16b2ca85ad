//! Operators of `count`, `countunique` and `find`.

use model::ValueType;

use super::FuncError;
use crate::expr::ExprValue;
use crate::num::{parse_suffixed, parse_u64, same_f64, suffix_factor};
use crate::regex::{GlobalRegexes, is_match_or_global};

/// An operator with its pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Matcher {
    op: Op,
    pattern: String,
    number: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    /// Neither operator nor pattern: everything fits.
    Any,
    /// No operator: `eq` for numbers, `like` for texts.
    Default,
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    Like,
    Bitand,
    Regexp,
    Iregexp,
}

impl Matcher {
    /// From the parameters `operator` and `pattern`; `pattern_given`: the second is there,
    /// though it may be empty.
    pub fn new(op: &str, pattern: &str, pattern_given: bool) -> Result<Self, FuncError> {
        let op = match op {
            "" if !pattern_given || pattern.is_empty() => Op::Any,
            "" => Op::Default,
            "eq" => Op::Eq,
            "ne" => Op::Ne,
            "gt" => Op::Gt,
            "ge" => Op::Ge,
            "lt" => Op::Lt,
            "le" => Op::Le,
            "like" => Op::Like,
            "regexp" => Op::Regexp,
            "iregexp" => Op::Iregexp,
            "bitand" => Op::Bitand,
            _ => return Err(FuncError::Param(2)),
        };
        Ok(Self { op, pattern: pattern.to_owned(), number: parse_suffixed(pattern) })
    }

    /// Whether operator and pattern go with items of this type, be there values or not. Only a
    /// regular expression is not looked into before there is a value.
    pub fn check(&self, value_type: ValueType, globals: &GlobalRegexes) -> Result<(), FuncError> {
        self.check_globals(globals)?;
        let numeric = value_type.is_numeric();
        let fits = match self.op {
            Op::Like => !numeric || self.pattern.is_empty(),
            Op::Gt | Op::Ge | Op::Lt | Op::Le => numeric,
            Op::Bitand => value_type == ValueType::Unsigned,
            _ => true,
        };
        if !fits {
            return Err(FuncError::Param(2));
        }
        let readable = match self.op {
            Op::Any | Op::Like | Op::Regexp | Op::Iregexp => true,
            Op::Bitand => self.bits().is_some(),
            _ => match value_type {
                ValueType::Unsigned => self.whole().is_some(),
                ValueType::Float => self.number.is_some(),
                _ => true,
            },
        };
        if readable { Ok(()) } else { Err(FuncError::Param(3)) }
    }

    /// Whether the global regular expression that is named exists.
    pub(crate) fn check_globals(&self, globals: &GlobalRegexes) -> Result<(), FuncError> {
        match self.op {
            Op::Regexp | Op::Iregexp if self.pattern.starts_with('@') => {
                is_match_or_global(&self.pattern, "", false, globals)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The pattern of a whole number: digits, and maybe a suffix.
    fn whole(&self) -> Option<u64> {
        let (&last, head) = self.pattern.as_bytes().split_last()?;
        if last.is_ascii_digit() {
            return parse_u64(&self.pattern);
        }
        let digits = parse_u64(std::str::from_utf8(head).ok()?)?;
        let factor = ExprValue::Float(suffix_factor(last)?).as_u64()?;
        Some(digits.saturating_mul(factor))
    }

    /// Number and mask: `6/7`, or one that is both; without a number all fits.
    fn bits(&self) -> Option<(u64, u64)> {
        match self.pattern.split_once('/') {
            Some(("", _)) => Some((0, 0)),
            Some((wanted, mask)) => Some((parse_u64(wanted)?, parse_u64(mask)?)),
            None => parse_u64(&self.pattern).map(|both| (both, both)),
        }
    }

    /// The value fits.
    pub fn matches(&self, value: &ExprValue, globals: &GlobalRegexes) -> Result<bool, FuncError> {
        let numeric = !matches!(value, ExprValue::Text(_));
        match self.op {
            Op::Any => Ok(true),
            Op::Like if self.pattern.is_empty() => Ok(true),
            Op::Like if numeric => Err(FuncError::Param(2)),
            Op::Like => {
                Ok(value.as_text().is_some_and(|text| text.contains(self.pattern.as_str())))
            }
            Op::Regexp | Op::Iregexp => {
                let text = searched(value);
                Ok(is_match_or_global(&self.pattern, &text, self.op == Op::Iregexp, globals)?)
            }
            Op::Bitand => {
                let (wanted, mask) = self.bits().ok_or(FuncError::Param(3))?;
                match value {
                    ExprValue::Unsigned(v) => Ok(v & mask == wanted),
                    _ => Err(FuncError::ValueType),
                }
            }
            _ if numeric => self.compare(value),
            Op::Eq => Ok(value.as_text().as_deref() == Some(self.pattern.as_str())),
            Op::Ne => Ok(value.as_text().as_deref() != Some(self.pattern.as_str())),
            Op::Default => {
                Ok(value.as_text().is_some_and(|text| text.contains(self.pattern.as_str())))
            }
            // Texts have no order here.
            _ => Err(FuncError::Param(2)),
        }
    }

    fn compare(&self, value: &ExprValue) -> Result<bool, FuncError> {
        let ordering = if let ExprValue::Unsigned(value) = value {
            // Whole numbers are compared with whole numbers.
            value.cmp(&self.whole().ok_or(FuncError::Param(3))?)
        } else {
            let pattern = self.number.ok_or(FuncError::Param(3))?;
            let value = value.as_f64().ok_or(FuncError::ValueType)?;
            if same_f64(value, pattern) {
                std::cmp::Ordering::Equal
            } else {
                value.total_cmp(&pattern)
            }
        };
        Ok(match self.op {
            Op::Ne => ordering.is_ne(),
            Op::Gt => ordering.is_gt(),
            Op::Ge => ordering.is_ge(),
            Op::Lt => ordering.is_lt(),
            Op::Le => ordering.is_le(),
            _ => ordering.is_eq(),
        })
    }
}

/// The text that a regular expression is searched in: floats have four decimal places, and no
/// more than 20 characters of them count.
pub(crate) fn searched(value: &ExprValue) -> String {
    match value {
        ExprValue::Float(v) => {
            let mut text = format!("{v:.4}");
            text.truncate(20);
            text
        }
        value => value.as_text().unwrap_or_default(),
    }
}
