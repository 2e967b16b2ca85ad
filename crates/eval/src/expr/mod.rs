//! Trigger and calculated-item expressions: parser, item references with their spans,
//! evaluation.
//!
//! One grammar reads both forms: `min(/host/key,5m)>{$LIMIT}` as users write it and
//! `{12345}>{$LIMIT}` as it is stored, each `{functionid}` standing for one call.

mod builtin;
mod eval;
mod filter;
mod parse;
mod print;
mod strings;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use builtin::bucket_percentile;
pub use eval::{ExprError, ExprValue, Mode, Operands, eval};
pub use filter::{Filter, FilterError, FilterItem};
pub use parse::{DEPTH_MAX, EXPRESSION_BYTES_MAX, NODES_MAX, ParseError, parse_history_params};

/// A parsed expression together with its text; all spans are bytes of that text.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// The text that was parsed.
    pub text: String,
    /// The tree.
    pub root: Node,
}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// What it is.
    pub kind: NodeKind,
}

/// Kinds of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A whole number that fits 64 bits.
    Unsigned(u64),
    /// Any other number, its suffix applied.
    Float(f64),
    /// A quoted text, without quotes and escapes.
    Text(String),
    /// `{$M}`, `{#L}`, `{TRIGGER.VALUE}`, `{{#L}.regsub(...)}`: the span is its text.
    Macro,
    /// `{12345}`, as the database stores a function.
    FunctionId(u64),
    /// `-x`
    Negate(Box<Node>),
    /// `not x`
    Not(Box<Node>),
    /// Two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_at: usize,
        /// Left operand.
        left: Box<Node>,
        /// Right operand.
        right: Box<Node>,
    },
    /// `max(1,2)`: a function over expressions.
    Call {
        /// Its name.
        function: String,
        /// Its arguments.
        args: Vec<Node>,
    },
    /// `max(/host/key,5m)`: a function over an item's history.
    ItemCall(Box<ItemCall>),
}

/// Operators of two operands, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Or,
    And,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A call of a history function.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemCall {
    /// The whole call, name and parentheses included.
    pub span: Range<usize>,
    /// Name of the function.
    pub function: String,
    /// Which item or items.
    pub query: ItemQuery,
    /// Parameters behind the query.
    pub params: Vec<HistoryParam>,
    /// Text of the parameters with the comma before them (`,5m`), empty if there are none.
    pub params_span: Range<usize>,
}

/// `/host/key` or `/*/key?[filter]`
#[derive(Debug, Clone, PartialEq)]
pub struct ItemQuery {
    /// The whole query.
    pub span: Range<usize>,
    /// Host name; empty = the item's own host, `*` = any, may be `{HOST.HOST}`.
    pub host: String,
    /// Item key; may hold `*` as a parameter, or be `*`.
    pub key: String,
    /// Text between `?[` and `]`.
    pub filter: Option<String>,
}

impl ItemQuery {
    /// It can name several items.
    pub fn is_wildcard(&self) -> bool {
        self.host == "*" || self.filter.is_some() || has_wildcard(&self.key)
    }
}

fn has_wildcard(key: &str) -> bool {
    key == "*"
        || crate::key::ItemKey::parse(key)
            .is_ok_and(|k| (0..k.param_count()).any(|i| k.param(i).as_deref() == Some("*")))
}

/// A parameter of a history function.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryParam {
    /// Where it stands; relative to the text that was parsed.
    pub span: Range<usize>,
    /// The value without quotes; may hold macros.
    pub value: String,
    /// It was written in quotes.
    pub quoted: bool,
}

impl Expression {
    /// Parses an expression of either form.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text)
    }

    /// Calls of history functions from left to right.
    pub fn item_calls(&self) -> Vec<&ItemCall> {
        let mut calls = Vec::new();
        self.root.walk(&mut |node| {
            if let NodeKind::ItemCall(call) = &node.kind {
                calls.push(&**call);
            }
        });
        calls
    }

    /// `{functionid}` tokens from left to right.
    pub fn function_ids(&self) -> Vec<(u64, Range<usize>)> {
        let mut ids = Vec::new();
        self.root.walk(&mut |node| {
            if let NodeKind::FunctionId(id) = node.kind {
                ids.push((id, node.span.clone()));
            }
        });
        ids
    }

    /// Macros that are operands, from left to right; macros inside quoted texts and calls are
    /// not among them.
    pub fn macros(&self) -> Vec<(&str, Range<usize>)> {
        let mut found = Vec::new();
        self.root.walk(&mut |node| {
            if matches!(node.kind, NodeKind::Macro) {
                found.push((&self.text[node.span.clone()], node.span.clone()));
            }
        });
        found
    }

    /// Names of functions over expressions, from left to right.
    pub fn functions(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.root.walk(&mut |node| {
            if let NodeKind::Call { function, .. } = &node.kind {
                found.push(function.as_str());
            }
        });
        found
    }

    /// The text with each call of a history function replaced: how an expression is stored
    /// (`{functionid}`). Calls are given from left to right.
    pub fn replace_calls(&self, replace: &mut dyn FnMut(&ItemCall) -> String) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut last = 0;
        for call in self.item_calls() {
            out.push_str(&self.text[last..call.span.start]);
            out.push_str(&replace(call));
            last = call.span.end;
        }
        out.push_str(&self.text[last..]);
        out
    }

    /// Its constants from left to right, as written; texts without their quotes.
    pub fn constants(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.root.walk(&mut |node| match &node.kind {
            NodeKind::Unsigned(_) | NodeKind::Float(_) => {
                found.push(self.text[node.span.clone()].to_owned());
            }
            NodeKind::Text(constant) => found.push(constant.clone()),
            _ => {}
        });
        found
    }

    /// The text with each `{functionid}` replaced: how a stored expression is shown.
    pub fn replace_function_ids(&self, replace: &mut dyn FnMut(u64) -> String) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut last = 0;
        for (id, span) in self.function_ids() {
            out.push_str(&self.text[last..span.start]);
            out.push_str(&replace(id));
            last = span.end;
        }
        out.push_str(&self.text[last..]);
        out
    }
}

impl Node {
    /// Visits this node and all below it from left to right.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        match &self.kind {
            NodeKind::Negate(inner) | NodeKind::Not(inner) => inner.walk(visit),
            NodeKind::Binary { left, right, .. } => {
                left.walk(visit);
                right.walk(visit);
            }
            NodeKind::Call { args, .. } => args.iter().for_each(|a| a.walk(visit)),
            _ => {}
        }
    }
}

impl ItemCall {
    /// The parameter as the API's function object shows it: `$,5m`, `$` for none.
    pub fn stored_params(&self, text: &str) -> String {
        format!("${}", &text[self.params_span.clone()])
    }
}
