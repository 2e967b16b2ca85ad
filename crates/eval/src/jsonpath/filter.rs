//! Filters: `?(@.price > 10 && @.name =~ "x")`.

use std::cmp::Ordering;

use super::parse::{Cursor, DEPTH_MAX, Path, PathError};
use super::{Found, QueryError};
use crate::json::Json;
use crate::num::{number_len, parse_f64};
use crate::regex;
use model::CompactString;

/// A parsed filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    pub(super) root: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Number(f64),
    Text(String),
    /// `@…` (from the element) or `$…` (from the document)
    Path {
        path: Path,
        from_root: bool,
    },
    Not(Box<Self>),
    Binary {
        op: Op,
        left: Box<Self>,
        right: Box<Self>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Matches,
    Add,
    Sub,
    Mul,
    Div,
}

/// Operators with their tightness, longer ones first.
pub(super) const OPS: [(&str, Op, u8); 13] = [
    ("||", Op::Or, 0),
    ("&&", Op::And, 1),
    ("==", Op::Eq, 2),
    ("!=", Op::Ne, 2),
    ("=~", Op::Matches, 2),
    ("<=", Op::Le, 3),
    (">=", Op::Ge, 3),
    ("<", Op::Lt, 3),
    (">", Op::Gt, 3),
    ("+", Op::Add, 4),
    ("-", Op::Sub, 4),
    ("*", Op::Mul, 5),
    ("/", Op::Div, 5),
];

/// A filter that cannot be evaluated.
pub(super) enum FilterError {
    Text(String),
    Query(QueryError),
}

impl FilterError {
    pub(super) fn into_query(self) -> QueryError {
        match self {
            Self::Text(text) => QueryError::Filter(text),
            Self::Query(error) => error,
        }
    }
}

/// Value of a part of a filter.
#[derive(Debug, Clone)]
enum Value {
    /// A path found nothing, or null.
    Nothing,
    /// What was calculated or written in the filter; also the result of a comparison: 1 or 0.
    Number(f64),
    /// A text, or the JSON of anything else that a path found.
    Text(CompactString),
}

impl Filter {
    /// Parses `( … )` at the cursor.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Self, PathError> {
        operand(cursor).map(|root| Self { root })
    }

    /// The filter holds for an element.
    pub(super) fn holds<'a>(&self, root: &Json<'a>, at: &Json<'a>) -> Result<bool, FilterError> {
        Ok(self.root.value(root, at)?.is_true())
    }
}

fn expression(cursor: &mut Cursor<'_>, level: u8) -> Result<Node, PathError> {
    let mut left = operand(cursor)?;
    loop {
        cursor.blanks();
        let found = OPS.iter().find(|(text, ..)| cursor.rest().starts_with(text));
        let Some((text, op, tightness)) = found.copied() else { return Ok(left) };
        if tightness < level {
            return Ok(left);
        }
        cursor.at += text.len();
        let right = expression(cursor, tightness + 1)?;
        if op == Op::Matches
            && let Node::Text(pattern) = &right
        {
            regex::check(pattern).map_err(|e| PathError::Regex(e.to_string()))?;
        }
        left = Node::Binary { op, left: Box::new(left), right: Box::new(right) };
    }
}

fn operand(cursor: &mut Cursor<'_>) -> Result<Node, PathError> {
    cursor.blanks();
    if cursor.depth == DEPTH_MAX {
        return Err(cursor.unsupported());
    }
    cursor.depth += 1;
    let result = operand_inner(cursor);
    cursor.depth -= 1;
    result
}

fn operand_inner(cursor: &mut Cursor<'_>) -> Result<Node, PathError> {
    match cursor.peek() {
        Some(b'(') => {
            cursor.at += 1;
            let inner = expression(cursor, 0)?;
            cursor.blanks();
            if cursor.eat(")") { Ok(inner) } else { Err(cursor.unsupported()) }
        }
        Some(b'!') => {
            cursor.at += 1;
            cursor.blanks();
            if cursor.peek() == Some(b'!') {
                return Err(cursor.unsupported());
            }
            Ok(Node::Not(Box::new(operand(cursor)?)))
        }
        Some(c @ (b'@' | b'$')) => {
            let start = cursor.at;
            cursor.at += 1;
            let path = cursor.segments(true)?;
            // Here a path leads to one place, by names and positions.
            if path.way.is_none() {
                cursor.at = start;
                return Err(cursor.unsupported());
            }
            Ok(Node::Path { path, from_root: c == b'$' })
        }
        Some(b'"' | b'\'') => cursor.quoted().map(Node::Text),
        _ => {
            let sign = usize::from(cursor.peek() == Some(b'-'));
            let len = number_len(&cursor.rest()[sign..]).ok_or_else(|| cursor.unsupported())?;
            let number = parse_f64(&cursor.rest()[..sign + len]);
            let number = number.ok_or_else(|| cursor.unsupported())?;
            cursor.at += sign + len;
            Ok(Node::Number(number))
        }
    }
}

impl Value {
    fn truth(value: bool) -> Self {
        Self::Number(f64::from(u8::from(value)))
    }

    /// What a path found is true also where it is 0 or false.
    fn is_true(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Nothing => None,
            Self::Number(number) => Some(*number),
            Self::Text(text) => parse_f64(text),
        }
    }

    fn text(&self) -> CompactString {
        match self {
            Self::Nothing => CompactString::default(),
            Self::Number(number) => crate::num::format_f64(*number).into(),
            Self::Text(text) => text.clone(),
        }
    }

    /// Numbers, and texts that are written like some, as numbers, others as texts. What is missing
    /// comes before everything.
    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => return Ordering::Equal,
            (Self::Nothing, _) => return Ordering::Less,
            (_, Self::Nothing) => return Ordering::Greater,
            _ => {}
        }
        match (self.number(), other.number()) {
            (Some(a), Some(b)) if crate::num::same_f64(a, b) => Ordering::Equal,
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => self.text().cmp(&other.text()),
        }
    }
}

impl Node {
    fn value<'a>(&self, root: &Json<'a>, at: &Json<'a>) -> Result<Value, FilterError> {
        Ok(match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text.as_str().into()),
            Self::Path { path, from_root } => {
                let from = if *from_root { root } else { at };
                let (found, _) = path.run(root, from).map_err(FilterError::Query)?;
                found.first().map_or(Value::Nothing, found_value)
            }
            Self::Not(inner) => Value::truth(!inner.value(root, at)?.is_true()),
            Self::Binary { op: Op::And, left, right } => {
                Value::truth(left.value(root, at)?.is_true() && right.value(root, at)?.is_true())
            }
            Self::Binary { op: Op::Or, left, right } => {
                Value::truth(left.value(root, at)?.is_true() || right.value(root, at)?.is_true())
            }
            Self::Binary { op, left, right } => {
                return binary(*op, &left.value(root, at)?, &right.value(root, at)?);
            }
        })
    }
}

fn found_value(found: &Found<'_, '_>) -> Value {
    match found {
        Found::Value { value: Json::Null, .. } => Value::Nothing,
        Found::Value { value: Json::Text(text), .. } => Value::Text(text.as_ref().into()),
        other => {
            let mut out = String::new();
            other.write(&mut out);
            Value::Text(out.into())
        }
    }
}

fn binary(op: Op, left: &Value, right: &Value) -> Result<Value, FilterError> {
    match op {
        Op::Matches => {
            if matches!(left, Value::Nothing) || matches!(right, Value::Nothing) {
                return Ok(Value::truth(false));
            }
            let matched = regex::is_match(&right.text(), &left.text(), false);
            matched.map(Value::truth).map_err(|e| FilterError::Text(e.to_string()))
        }
        Op::Add | Op::Sub | Op::Mul | Op::Div => calculated(op, left, right),
        _ => Ok(Value::truth(ordered(op, left.order(right)))),
    }
}

fn calculated(op: Op, left: &Value, right: &Value) -> Result<Value, FilterError> {
    let (Some(a), Some(b)) = (left.number(), right.number()) else {
        return Err(FilterError::Text("a filter calculates with what is not a number".to_owned()));
    };
    Ok(Value::Number(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        _ if b == 0.0 => {
            return Err(FilterError::Text("division by zero in a filter".to_owned()));
        }
        _ => a / b,
    }))
}

fn ordered(op: Op, ordering: Ordering) -> bool {
    match op {
        Op::Eq => ordering.is_eq(),
        Op::Ne => ordering.is_ne(),
        Op::Lt => ordering.is_lt(),
        Op::Le => ordering.is_le(),
        Op::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}
