//! Filters: `?(@.price > 10 && @.name =~ "x")`.

use super::parse::{Cursor, DEPTH_MAX, Path, PathError};
use super::{Found, QueryError};
use crate::json::Json;
use crate::num::{number_len, parse_f64};
use crate::regex;

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
    Negate(Box<Self>),
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
    /// A path found nothing.
    Nothing,
    Number(f64),
    Text(String),
    /// A container, as JSON.
    Container(String),
    Bool(bool),
    Null,
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
            Ok(Node::Not(Box::new(operand(cursor)?)))
        }
        Some(b'-') => {
            cursor.at += 1;
            Ok(Node::Negate(Box::new(operand(cursor)?)))
        }
        Some(c @ (b'@' | b'$')) => {
            cursor.at += 1;
            Ok(Node::Path { path: cursor.segments(true)?, from_root: c == b'$' })
        }
        Some(b'"' | b'\'') => cursor.quoted().map(Node::Text),
        _ => {
            let len = number_len(cursor.rest()).ok_or_else(|| cursor.unsupported())?;
            let number = parse_f64(&cursor.rest()[..len]).ok_or_else(|| cursor.unsupported())?;
            cursor.at += len;
            Ok(Node::Number(number))
        }
    }
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Nothing | Self::Null | Self::Bool(false) => false,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Container(_) | Self::Bool(true) => true,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => parse_f64(text),
            _ => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Number(number) => crate::num::format_f64(*number),
            Self::Text(text) | Self::Container(text) => text.clone(),
            Self::Bool(value) => value.to_string(),
            Self::Null => "null".to_owned(),
        }
    }
}

impl Node {
    fn value<'a>(&self, root: &Json<'a>, at: &Json<'a>) -> Result<Value, FilterError> {
        let needs_number =
            || FilterError::Text("a filter calculates with what is no number".to_owned());
        Ok(match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Path { path, from_root } => {
                let (found, definite) = path
                    .run(root, if *from_root { root } else { at })
                    .map_err(|e| match e {
                        // A function over something missing: the element just does not fit.
                        QueryError::Function(_) => FilterError::Text(String::new()),
                        e => FilterError::Query(e),
                    })
                    .or_else(|e| match e {
                        FilterError::Text(_) => Ok((Vec::new(), true)),
                        e => Err(e),
                    })?;
                found_value(&found, definite)
            }
            Self::Not(inner) => Value::Bool(!inner.value(root, at)?.is_true()),
            Self::Negate(inner) => {
                Value::Number(-inner.value(root, at)?.number().ok_or_else(needs_number)?)
            }
            Self::Binary { op: Op::And, left, right } => {
                Value::Bool(left.value(root, at)?.is_true() && right.value(root, at)?.is_true())
            }
            Self::Binary { op: Op::Or, left, right } => {
                Value::Bool(left.value(root, at)?.is_true() || right.value(root, at)?.is_true())
            }
            Self::Binary { op, left, right } => {
                let (left, right) = (left.value(root, at)?, right.value(root, at)?);
                return binary(*op, &left, &right);
            }
        })
    }
}

fn found_value(found: &[Found<'_, '_>], definite: bool) -> Value {
    match found {
        [] => Value::Nothing,
        [one] if definite => match one {
            Found::Value { value, .. } => match value {
                Json::Null => Value::Null,
                Json::Bool(value) => Value::Bool(*value),
                Json::Number(number) => parse_f64(number).map_or(Value::Nothing, Value::Number),
                Json::Text(text) => Value::Text(text.to_string()),
                container => Value::Container(container.to_json()),
            },
            Found::Name(name) => Value::Text(name.to_text()),
            Found::Number(number) => Value::Number(*number),
        },
        many => {
            let parts: Vec<String> = many
                .iter()
                .map(|f| {
                    let mut out = String::new();
                    f.write(&mut out);
                    out
                })
                .collect();
            Value::Container(format!("[{}]", parts.join(",")))
        }
    }
}

fn binary(op: Op, left: &Value, right: &Value) -> Result<Value, FilterError> {
    if matches!(left, Value::Nothing) || matches!(right, Value::Nothing) {
        // What is missing is equal to nothing and different from everything.
        return Ok(match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div => {
                let text = "a filter calculates with a value that is missing";
                return Err(FilterError::Text(text.to_owned()));
            }
            Op::Ne => Value::Bool(true),
            _ => Value::Bool(false),
        });
    }
    if op == Op::Matches {
        let matched = regex::is_match(&right.text(), &left.text(), false);
        return matched.map(Value::Bool).map_err(|e| FilterError::Text(e.to_string()));
    }
    if let (Some(a), Some(b)) = (left.number(), right.number()) {
        return Ok(match op {
            Op::Add => Value::Number(a + b),
            Op::Sub => Value::Number(a - b),
            Op::Mul => Value::Number(a * b),
            Op::Div if b == 0.0 => {
                return Err(FilterError::Text("division by zero in a filter".to_owned()));
            }
            Op::Div => Value::Number(a / b),
            _ => {
                let same = crate::num::same_f64(a, b);
                let ordering = if same { std::cmp::Ordering::Equal } else { a.total_cmp(&b) };
                Value::Bool(ordered(op, ordering))
            }
        });
    }
    if matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div) {
        return Err(FilterError::Text("a filter calculates with what is no number".to_owned()));
    }
    Ok(Value::Bool(ordered(op, left.text().cmp(&right.text()))))
}

fn ordered(op: Op, ordering: std::cmp::Ordering) -> bool {
    match op {
        Op::Eq => ordering.is_eq(),
        Op::Ne => ordering.is_ne(),
        Op::Lt => ordering.is_lt(),
        Op::Le => ordering.is_le(),
        Op::Gt => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}
