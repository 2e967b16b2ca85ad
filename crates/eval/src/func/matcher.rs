//! Operators of `count`, `countunique` and `find`.

use model::ValueType;

use super::{FuncError, parse_number};
use crate::expr::ExprValue;
use crate::num::{parse_u64, same_f64};
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
    Bitand(u64, u64),
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
            "bitand" => {
                let (value, mask) = pattern.split_once('/').unwrap_or((pattern, pattern));
                let whole = |t: &str| parse_u64(t.trim()).ok_or(FuncError::Param(3));
                Op::Bitand(whole(value)?, whole(mask)?)
            }
            _ => return Err(FuncError::Param(2)),
        };
        Ok(Self { op, pattern: pattern.to_owned(), number: parse_number(pattern) })
    }

    /// Whether the operator goes with items of this type.
    pub fn check(&self, value_type: ValueType) -> Result<(), FuncError> {
        let fits = match self.op {
            Op::Like => !value_type.is_numeric(),
            Op::Gt | Op::Ge | Op::Lt | Op::Le => value_type.is_numeric(),
            Op::Bitand(..) => value_type == ValueType::Unsigned,
            _ => true,
        };
        if fits { Ok(()) } else { Err(FuncError::Param(2)) }
    }

    /// The value fits.
    pub fn matches(&self, value: &ExprValue, globals: &GlobalRegexes) -> Result<bool, FuncError> {
        let numeric = !matches!(value, ExprValue::Text(_));
        match self.op {
            Op::Any => Ok(true),
            Op::Like if numeric => Err(FuncError::Param(2)),
            Op::Like => {
                Ok(value.as_text().is_some_and(|text| text.contains(self.pattern.as_str())))
            }
            Op::Regexp | Op::Iregexp => {
                let text = value.as_text().unwrap_or_default();
                Ok(is_match_or_global(&self.pattern, &text, self.op == Op::Iregexp, globals)?)
            }
            Op::Bitand(wanted, mask) => match value.as_u64() {
                Some(v) if numeric => Ok(v & mask == wanted),
                _ => Err(FuncError::ValueType),
            },
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
            let suffixed = || self.number.filter(|n| n.fract() == 0.0);
            let pattern = parse_u64(&self.pattern)
                .or_else(|| ExprValue::Float(suffixed()?).as_u64())
                .ok_or(FuncError::Param(3))?;
            value.cmp(&pattern)
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
