//! Evaluation of expressions.

use jiff::tz::TimeZone;
use model::Timestamp;

use super::{BinaryOp, Expression, ItemCall, Node, NodeKind, builtin};
use crate::num::{format_f64, parse_f64, parse_suffixed, parse_u64, same_f64};

/// What an operand or an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprValue {
    /// A whole number; kept exact as far as possible.
    Unsigned(u64),
    /// Any other number; always finite, but for bucket bounds.
    Float(f64),
    /// A text; counts as a number where it looks like one.
    Text(String),
    /// What `*_foreach` functions give.
    Vector(Vec<Self>),
}

impl ExprValue {
    /// 1 or 0; a float, as all that is computed from operands.
    pub fn truth(value: bool) -> Self {
        Self::Float(f64::from(u8::from(value)))
    }

    /// A count; a float like [`Self::truth`].
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    pub fn count(value: u64) -> Self {
        Self::Float(value as f64)
    }

    /// As a number; texts if they look like one, blanks around it or not.
    #[expect(clippy::cast_precision_loss, reason = "counters above 2^53 lose low bits by nature")]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Unsigned(v) => Some(*v as f64),
            Self::Float(v) => Some(*v),
            Self::Text(text) => parse_f64(text.trim_matches(' ')),
            Self::Vector(_) => None,
        }
    }

    /// As a whole number; a fraction is cut.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Unsigned(v) => Some(*v),
            Self::Float(v) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked"
                )]
                let whole = (0.0..1.844_674_407_370_955_2e19).contains(v).then_some(*v as u64);
                whole
            }
            Self::Text(text) => {
                let text = text.trim_matches(' ');
                parse_u64(text).or_else(|| Self::Float(parse_f64(text)?).as_u64())
            }
            Self::Vector(_) => None,
        }
    }

    /// As text; `None` for vectors.
    pub fn as_text(&self) -> Option<String> {
        Some(match self {
            Self::Unsigned(v) => v.to_string(),
            Self::Float(v) => format_f64(*v),
            Self::Text(text) => text.clone(),
            Self::Vector(_) => return None,
        })
    }

    /// Of a trigger expression: a number that is not 0.
    pub fn is_true(&self) -> Option<bool> {
        self.as_f64().map(|v| !same_f64(v, 0.0))
    }
}

/// Where operands come from. An `Err` says why the operand is not known; what that means for
/// the whole depends on the [`Mode`].
pub trait Operands {
    /// Value of a `{functionid}`.
    fn function(&mut self, id: u64) -> Result<ExprValue, String>;
    /// Value of a call of a history function; a vector for `*_foreach`, a number for
    /// `item_count`.
    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String>;
    /// Value of a macro that is an operand, given with its braces. Texts that look like
    /// numbers count as numbers.
    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String>;
    /// A quoted text with its user macros resolved.
    fn text(&mut self, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
    /// The moment of evaluation.
    fn now(&self) -> Timestamp;
    /// Time zone of date and time functions.
    fn tz(&self) -> &TimeZone;
    /// For `rand()`; any number.
    fn random(&mut self) -> u32 {
        // Mixes the moment; enough where nobody supplies a generator.
        let mut x = self.now().as_ns() ^ 0x9E37_79B9_7F4A_7C15;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        #[expect(clippy::cast_possible_truncation, reason = "the upper half is dropped")]
        let low = (x ^ (x >> 31)) as u32;
        low
    }
}

/// How operands that are not known are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Any of them fails the whole: calculated items.
    Strict,
    /// `and` and `or` may decide without them: triggers.
    UnknownOperands,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExprError {
    /// Something is wrong at a place of the expression.
    #[error("{message} at \"{near}\"")]
    At {
        /// What is wrong.
        message: String,
        /// The expression from that place on.
        near: String,
    },
    /// An operand is not known, and the result depends on it.
    #[error("{0}")]
    Unknown(String),
}

/// Evaluates an expression.
pub fn eval(
    expression: &Expression,
    operands: &mut dyn Operands,
    mode: Mode,
) -> Result<ExprValue, ExprError> {
    let mut evaluator = Evaluator { text: &expression.text, operands, mode };
    match evaluator.node(&expression.root)? {
        Operand::Known(value) => Ok(value),
        Operand::Unknown(reason) => Err(ExprError::Unknown(reason)),
    }
}

enum Operand {
    Known(ExprValue),
    Unknown(String),
}

struct Evaluator<'a> {
    text: &'a str,
    operands: &'a mut dyn Operands,
    mode: Mode,
}

impl Evaluator<'_> {
    fn error(&self, message: &str, at: usize) -> ExprError {
        let near = self.text.get(at..).unwrap_or_default().to_owned();
        ExprError::At { message: message.to_owned(), near }
    }

    fn operand(&self, value: Result<ExprValue, String>) -> Result<Operand, ExprError> {
        match value {
            Ok(value) => Ok(Operand::Known(value)),
            Err(reason) if self.mode == Mode::UnknownOperands => Ok(Operand::Unknown(reason)),
            Err(reason) => Err(ExprError::Unknown(reason)),
        }
    }

    fn node(&mut self, node: &Node) -> Result<Operand, ExprError> {
        let at = node.span.start;
        match &node.kind {
            NodeKind::Unsigned(v) => Ok(Operand::Known(ExprValue::Unsigned(*v))),
            NodeKind::Float(v) => Ok(Operand::Known(ExprValue::Float(*v))),
            NodeKind::Text(text) if text.contains("{$") => {
                let value = self.operands.text(text).map(ExprValue::Text);
                self.operand(value)
            }
            NodeKind::Text(text) => Ok(Operand::Known(ExprValue::Text(text.clone()))),
            NodeKind::Macro => {
                let value = self.operands.macro_value(&self.text[node.span.clone()]);
                // Stands for what would be written in its place: suffixes count.
                let value = value.map(|value| match &value {
                    ExprValue::Text(text) => match parse_u64(text) {
                        Some(whole) => ExprValue::Unsigned(whole),
                        None => parse_suffixed(text).map_or(value, ExprValue::Float),
                    },
                    _ => value,
                });
                self.operand(value)
            }
            NodeKind::FunctionId(id) => {
                let value = self.operands.function(*id);
                self.operand(value)
            }
            NodeKind::ItemCall(call) => {
                let value = self.operands.item_call(call);
                self.operand(value)
            }
            NodeKind::Negate(inner) => self.unary(inner, at, |v| -v),
            NodeKind::Not(inner) => {
                self.unary(inner, at, |v| if same_f64(v, 0.0) { 1.0 } else { 0.0 })
            }
            NodeKind::Binary { op, op_at, left, right } => self.binary(*op, *op_at, left, right),
            NodeKind::Call { function, args } => self.call(function, args, at),
        }
    }

    fn unary(
        &mut self,
        inner: &Node,
        at: usize,
        apply: fn(f64) -> f64,
    ) -> Result<Operand, ExprError> {
        match self.node(inner)? {
            Operand::Known(value) => {
                let number = self.number(&value, at)?;
                Ok(Operand::Known(ExprValue::Float(apply(number))))
            }
            unknown => Ok(unknown),
        }
    }

    fn number(&self, value: &ExprValue, at: usize) -> Result<f64, ExprError> {
        value.as_f64().ok_or_else(|| match value {
            ExprValue::Vector(_) => self.error("vector cannot be used as an operand", at),
            _ => self.error("value is not a numeric operand", at),
        })
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        op_at: usize,
        left: &Node,
        right: &Node,
    ) -> Result<Operand, ExprError> {
        let (a, b) = (self.node(left)?, self.node(right)?);
        let (a, b) = match (a, b) {
            (Operand::Known(a), Operand::Known(b)) => (a, b),
            (Operand::Known(known), Operand::Unknown(reason))
            | (Operand::Unknown(reason), Operand::Known(known)) => {
                return self.half_known(op, op_at, &known, reason);
            }
            (unknown, Operand::Unknown(_)) => return Ok(unknown),
        };
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            let same = equal(&a, &b)
                .ok_or_else(|| self.error("vector cannot be used as an operand", op_at))?;
            return Ok(truth(same == (op == BinaryOp::Equal)));
        }
        let (a, b) = (self.number(&a, op_at)?, self.number(&b, op_at)?);
        let ordering = if same_f64(a, b) { std::cmp::Ordering::Equal } else { a.total_cmp(&b) };
        if let Some(result) = compare(op, ordering) {
            return Ok(truth(result));
        }
        let zero = |v: f64| same_f64(v, 0.0);
        let value = match op {
            BinaryOp::And => return Ok(truth(!zero(a) && !zero(b))),
            BinaryOp::Or => return Ok(truth(!zero(a) || !zero(b))),
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            _ if zero(b) => return Err(self.error("division by zero", op_at)),
            _ => a / b,
        };
        if !is_printed(value) {
            return Err(self.error("calculation resulted in NaN or Infinity", op_at));
        }
        Ok(Operand::Known(ExprValue::Float(value)))
    }

    /// One side is not known: `0 and ?` and `1 or ?` are decided all the same.
    fn half_known(
        &self,
        op: BinaryOp,
        op_at: usize,
        known: &ExprValue,
        reason: String,
    ) -> Result<Operand, ExprError> {
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            return Ok(Operand::Unknown(reason));
        }
        let zero = same_f64(self.number(known, op_at)?, 0.0);
        Ok(match op {
            BinaryOp::And if zero => truth(false),
            BinaryOp::Or if !zero => truth(true),
            _ => Operand::Unknown(reason),
        })
    }

    fn call(&mut self, function: &str, args: &[Node], at: usize) -> Result<Operand, ExprError> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            match self.node(arg)? {
                Operand::Known(value) => values.push(value),
                unknown => return Ok(unknown),
            }
        }
        let (now, random) = (self.operands.now(), self.operands.random());
        let moment = builtin::Moment { now, tz: self.operands.tz(), random };
        let value = builtin::call(function, &values, &moment)
            .map_err(|message| self.error(&message, at))?;
        match value {
            ExprValue::Float(v) if !is_printed(v) => {
                Err(self.error("calculation resulted in NaN or Infinity", at))
            }
            value => Ok(Operand::Known(value)),
        }
    }
}

/// What a calculation may give: the field refuses numbers too small for all their digits like those
/// too large.
fn is_printed(value: f64) -> bool {
    value == 0.0 || value.is_normal()
}

fn truth(value: bool) -> Operand {
    Operand::Known(ExprValue::truth(value))
}

fn compare(op: BinaryOp, ordering: std::cmp::Ordering) -> Option<bool> {
    Some(match op {
        BinaryOp::Less => ordering.is_lt(),
        BinaryOp::LessOrEqual => ordering.is_le(),
        BinaryOp::Greater => ordering.is_gt(),
        BinaryOp::GreaterOrEqual => ordering.is_ge(),
        _ => return None,
    })
}

/// Numbers (and texts that are written like numbers of expressions, suffixes included) as numbers,
/// others as texts.
fn equal(a: &ExprValue, b: &ExprValue) -> Option<bool> {
    if let (ExprValue::Unsigned(a), ExprValue::Unsigned(b)) = (a, b) {
        return Some(a == b);
    }
    let written = |value: &ExprValue| match value {
        ExprValue::Text(text) => parse_suffixed(text),
        value => value.as_f64(),
    };
    match (written(a), written(b)) {
        (Some(a), Some(b)) => Some(same_f64(a, b)),
        _ => Some(a.as_text()? == b.as_text()?),
    }
}
