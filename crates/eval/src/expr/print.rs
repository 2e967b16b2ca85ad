//! Expressions and filters back into text.

use std::fmt::{self, Write};

use super::{BinaryOp, Expression, Filter, HistoryParam, ItemCall, ItemQuery, Node, NodeKind};
use crate::num::{parse_suffixed, parse_u64};

/// Binds tighter than every operator of two operands.
const OPERAND: u8 = 6;

impl BinaryOp {
    /// As written, and how tightly it binds.
    fn sign(self) -> (&'static str, u8) {
        match self {
            Self::Or => (" or ", 0),
            Self::And => (" and ", 1),
            Self::Equal => ("=", 2),
            Self::NotEqual => ("<>", 2),
            Self::Less => ("<", 3),
            Self::LessOrEqual => ("<=", 3),
            Self::Greater => (">", 3),
            Self::GreaterOrEqual => (">=", 3),
            Self::Add => ("+", 4),
            Self::Subtract => ("-", 4),
            Self::Multiply => ("*", 5),
            Self::Divide => ("/", 5),
        }
    }
}

/// The expression from its tree: parsing gives the same tree again. Numbers and macros are taken
/// from the text where it has them, parentheses that are there without need are kept; spaces
/// stand around `and` and `or` and behind `not` alone.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        node(f, &self.text, &self.root, 0)
    }
}

fn node(f: &mut fmt::Formatter<'_>, text: &str, it: &Node, level: u8) -> fmt::Result {
    let needed = matches!(&it.kind, NodeKind::Binary { op, .. } if op.sign().1 < level);
    let parentheses = written_parentheses(text, it).max(usize::from(needed));
    (0..parentheses).try_for_each(|_| f.write_char('('))?;
    bare(f, text, it)?;
    (0..parentheses).try_for_each(|_| f.write_char(')'))
}

/// Parentheses that the text has around a part.
fn written_parentheses(text: &str, it: &Node) -> usize {
    let end = match &it.kind {
        NodeKind::Binary { left, .. } => left.span.start,
        _ => it.span.end,
    };
    let before = text.get(it.span.start..end).unwrap_or_default();
    let spaces_too = |c: &char| *c == '(' || c.is_ascii_whitespace();
    before.chars().take_while(spaces_too).filter(|c| *c == '(').count()
}

fn bare(f: &mut fmt::Formatter<'_>, text: &str, it: &Node) -> fmt::Result {
    match &it.kind {
        NodeKind::Unsigned(value) => match literal(text, it) {
            Some(written) if parse_u64(written) == Some(*value) => f.write_str(written),
            _ => write!(f, "{value}"),
        },
        NodeKind::Float(value) => match literal(text, it) {
            Some(written) if parse_suffixed(written) == Some(*value) => f.write_str(written),
            // Never digits alone, which would be a whole number.
            _ => write!(f, "{value:?}"),
        },
        NodeKind::Text(value) => quoted(f, value),
        NodeKind::Macro => f.write_str(literal(text, it).unwrap_or_default()),
        NodeKind::FunctionId(id) => write!(f, "{{{id}}}"),
        NodeKind::Negate(inner) => {
            f.write_char('-')?;
            node(f, text, inner, OPERAND)
        }
        NodeKind::Not(inner) => {
            f.write_str("not ")?;
            node(f, text, inner, OPERAND)
        }
        NodeKind::Binary { op, left, right, .. } => {
            let (sign, level) = op.sign();
            node(f, text, left, level)?;
            f.write_str(sign)?;
            node(f, text, right, level + 1)
        }
        NodeKind::Call { function, args } => {
            write!(f, "{function}(")?;
            for (at, arg) in args.iter().enumerate() {
                if at > 0 {
                    f.write_char(',')?;
                }
                node(f, text, arg, 0)?;
            }
            f.write_char(')')
        }
        NodeKind::ItemCall(call) => write!(f, "{call}"),
    }
}

/// How a number or macro is written, without parentheses around it.
fn literal<'t>(text: &'t str, it: &Node) -> Option<&'t str> {
    let written = text.get(it.span.clone())?;
    Some(written.trim_matches(|c: char| matches!(c, '(' | ')') || c.is_ascii_whitespace()))
}

fn quoted(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

impl fmt::Display for ItemCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.function, self.query)?;
        for param in &self.params {
            write!(f, ",{param}")?;
        }
        f.write_char(')')
    }
}

impl fmt::Display for ItemQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.host, self.key)?;
        match &self.filter {
            Some(filter) => write!(f, "?[{filter}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for HistoryParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.quoted { quoted(f, &self.value) } else { f.write_str(&self.value) }
    }
}

/// A filter that is parsed to the same tree again.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        filter(f, self, 0)
    }
}

fn filter(f: &mut fmt::Formatter<'_>, it: &Filter, level: u8) -> fmt::Result {
    let (word, own, left, right) = match it {
        Filter::Or(left, right) => (" or ", 0, left, right),
        Filter::And(left, right) => (" and ", 1, left, right),
        Filter::Not(inner) => return comparison(f, inner, "<>"),
        Filter::Group(_) | Filter::Tag(..) => return comparison(f, it, "="),
    };
    if own < level {
        f.write_char('(')?;
    }
    filter(f, left, own)?;
    f.write_str(word)?;
    filter(f, right, own + 1)?;
    if own < level { f.write_char(')') } else { Ok(()) }
}

fn comparison(f: &mut fmt::Formatter<'_>, it: &Filter, sign: &str) -> fmt::Result {
    match it {
        Filter::Group(name) => {
            write!(f, "group{sign}")?;
            quoted(f, name)
        }
        Filter::Tag(tag, None) => {
            write!(f, "tag{sign}")?;
            quoted(f, tag)
        }
        Filter::Tag(tag, Some(value)) => {
            write!(f, "tag{sign}")?;
            quoted(f, &format!("{tag}:{value}"))
        }
        // No text gives this: there is no `not` in filters.
        other => {
            f.write_str("not ")?;
            filter(f, other, 2)
        }
    }
}
