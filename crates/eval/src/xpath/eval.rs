//! Evaluation of XPath 1.0.

use super::dom::{Document, NodeId, NodeKind};
use super::parse::{Axis, Expr, Op, Start, Step, Test};
use super::{XpathError, functions};
use crate::num::{format_f64, parse_f64};

/// Nodes that one step may look at.
const VISITS_MAX: usize = 20_000_000;

/// A node, or an attribute of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    node: NodeId,
    /// Index of the attribute + 1; 0 = the node itself.
    attribute: usize,
}

#[derive(Debug, Clone)]
enum Value {
    Nodes(Vec<Item>),
    Number(f64),
    Text(String),
    Bool(bool),
}

struct Context<'d> {
    document: &'d Document,
    item: Item,
    position: usize,
    /// How many items are gone through; 0 = the expression stands alone, where the field has no
    /// node to start at: only paths from the root find something.
    size: usize,
}

impl Context<'_> {
    fn is_alone(&self) -> bool {
        self.size == 0
    }
}

struct Evaluator<'d> {
    document: &'d Document,
    visits: usize,
}

/// What the expression finds as text; `None` = it asks for nodes, and there are none.
pub(super) fn find(document: &Document, expression: &Expr) -> Result<Option<String>, XpathError> {
    let mut evaluator = Evaluator { document, visits: 0 };
    let item = Item { node: 0, attribute: 0 };
    let context = Context { document, item, position: 0, size: 0 };
    Ok(Some(match evaluator.eval(expression, &context)? {
        Value::Nodes(items) if items.is_empty() => return Ok(None),
        Value::Nodes(items) => {
            let mut out = String::new();
            for item in items {
                if item.attribute > 0 {
                    document.write_attribute(item.node, item.attribute - 1, &mut out);
                } else {
                    document.write(item.node, &mut out);
                }
            }
            out
        }
        Value::Number(number) if !number.is_finite() => return Err(XpathError::NotNumeric),
        // Six decimals, as the field prints results.
        Value::Number(number) => crate::num::trim_zeros(&format!("{number:.6}")).to_owned(),
        Value::Bool(holds) => u8::from(holds).to_string(),
        other => to_text(document, &other),
    }))
}

fn string_of(document: &Document, item: Item) -> String {
    match item.attribute {
        0 => document.string_value(item.node),
        index => document.attributes(item.node)[index - 1].1.clone(),
    }
}

fn to_text(document: &Document, value: &Value) -> String {
    match value {
        Value::Nodes(items) => items.first().map_or_else(String::new, |i| string_of(document, *i)),
        Value::Number(n) if n.is_nan() => "NaN".to_owned(),
        Value::Number(n) if n.is_infinite() => {
            if *n > 0.0 {
                "Infinity".to_owned()
            } else {
                "-Infinity".to_owned()
            }
        }
        Value::Number(n) => format_f64(*n),
        Value::Text(text) => text.clone(),
        Value::Bool(value) => value.to_string(),
    }
}

fn text_to_number(text: &str) -> f64 {
    let text = text.trim();
    if text.starts_with('+') {
        return f64::NAN;
    }
    // An exponent without digits is passed over.
    parse_f64(text.trim_end_matches(['e', 'E'])).unwrap_or(f64::NAN)
}

fn to_number(document: &Document, value: &Value) -> f64 {
    match value {
        Value::Number(n) => *n,
        Value::Bool(b) => f64::from(u8::from(*b)),
        other => text_to_number(&to_text(document, other)),
    }
}

fn to_bool(value: &Value) -> bool {
    match value {
        Value::Nodes(items) => !items.is_empty(),
        Value::Number(n) => *n != 0.0 && !n.is_nan(),
        Value::Text(text) => !text.is_empty(),
        Value::Bool(value) => *value,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn count(n: usize) -> f64 {
    n as f64
}

impl<'d> Evaluator<'d> {
    fn eval(&mut self, expression: &Expr, context: &Context<'d>) -> Result<Value, XpathError> {
        Ok(match expression {
            Expr::Number(n) => Value::Number(*n),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Negate(inner) => {
                let value = self.eval(inner, context)?;
                Value::Number(-to_number(self.document, &value))
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right, context)?,
            Expr::Call(name, args) => self.call(name, args, context)?,
            Expr::Path(start, steps) => {
                let mut items = match start {
                    Start::Root => vec![Item { node: 0, attribute: 0 }],
                    Start::Context if context.is_alone() => Vec::new(),
                    Start::Context => vec![context.item],
                    Start::Filter(inner, predicates) => {
                        let Value::Nodes(mut items) = self.eval(inner, context)? else {
                            return Err(XpathError::Path("a path must start at nodes".to_owned()));
                        };
                        for predicate in predicates {
                            items = self.filter(items, predicate)?;
                        }
                        items
                    }
                };
                for step in steps {
                    items = self.step(&items, step)?;
                }
                Value::Nodes(items)
            }
        })
    }

    fn step(&mut self, from: &[Item], step: &Step) -> Result<Vec<Item>, XpathError> {
        let mut out = Vec::new();
        for item in from {
            let mut found = self.axis(*item, step.axis);
            self.visits += found.len() + 1;
            if self.visits > VISITS_MAX {
                return Err(XpathError::TooMany);
            }
            found.retain(|i| self.fits(*i, step));
            for predicate in &step.predicates {
                found = self.filter(found, predicate)?;
            }
            out.append(&mut found);
        }
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }

    /// Nodes of an axis, the nearest first.
    fn axis(&self, item: Item, axis: Axis) -> Vec<Item> {
        let document = self.document;
        let node = |node| Item { node, attribute: 0 };
        let mut ancestors = Vec::new();
        let mut up = if item.attribute > 0 { Some(item.node) } else { document.parent(item.node) };
        while let Some(parent) = up {
            ancestors.push(node(parent));
            up = document.parent(parent);
        }
        if item.attribute > 0 {
            return match axis {
                Axis::Parent => vec![node(item.node)],
                Axis::Ancestor => ancestors,
                Axis::AncestorOrSelf => [vec![item], ancestors].concat(),
                Axis::OwnSelf | Axis::DescendantOrSelf => vec![item],
                _ => Vec::new(),
            };
        }
        let n = item.node;
        let siblings = || document.parent(n).into_iter().flat_map(|p| document.children(p));
        match axis {
            Axis::Child => document.children(n).map(node).collect(),
            Axis::Descendant => document.descendants(n).map(node).collect(),
            Axis::DescendantOrSelf => (n..document.end(n)).map(node).collect(),
            Axis::Parent => document.parent(n).map(node).into_iter().collect(),
            Axis::Ancestor => ancestors,
            Axis::AncestorOrSelf => [vec![item], ancestors].concat(),
            Axis::FollowingSibling => siblings().filter(|s| *s > n).map(node).collect(),
            Axis::PrecedingSibling => {
                let mut before: Vec<Item> = siblings().filter(|s| *s < n).map(node).collect();
                before.reverse();
                before
            }
            Axis::Following => (document.end(n)..document.len()).map(node).collect(),
            Axis::Preceding => (1..n).rev().filter(|p| document.end(*p) <= n).map(node).collect(),
            Axis::Attribute => (1..=document.attributes(n).len())
                .map(|attribute| Item { node: n, attribute })
                .filter(|item| !is_declaration(self.name_of(*item)))
                .collect(),
            Axis::OwnSelf => vec![item],
        }
    }

    fn name_of(&self, item: Item) -> &'d str {
        match item.attribute {
            0 => self.document.name(item.node),
            index => &self.document.attributes(item.node)[index - 1].0,
        }
    }

    fn fits(&self, item: Item, step: &Step) -> bool {
        let kind = self.document.kind(item.node);
        let named = item.attribute > 0 || kind == NodeKind::Element;
        match &step.test {
            Test::Node => true,
            Test::Any => named,
            Test::Name(name) => {
                named
                    && (item.attribute > 0 || !self.document.in_namespace(item.node))
                    && self.name_of(item) == name
            }
            Test::Text => item.attribute == 0 && kind.is_text(),
            Test::Comment => item.attribute == 0 && kind == NodeKind::Comment,
        }
    }

    fn filter(&mut self, items: Vec<Item>, predicate: &Expr) -> Result<Vec<Item>, XpathError> {
        let size = items.len();
        let mut out = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let position = index + 1;
            let context = Context { document: self.document, item, position, size };
            let keep = match self.eval(predicate, &context)? {
                Value::Number(n) => n == count(position),
                other => to_bool(&other),
            };
            if keep {
                out.push(item);
            }
        }
        Ok(out)
    }

    fn binary(
        &mut self,
        op: Op,
        left: &Expr,
        right: &Expr,
        context: &Context<'d>,
    ) -> Result<Value, XpathError> {
        let a = self.eval(left, context)?;
        match op {
            Op::Or if to_bool(&a) => return Ok(Value::Bool(true)),
            Op::And if !to_bool(&a) => return Ok(Value::Bool(false)),
            _ => {}
        }
        let b = self.eval(right, context)?;
        let numbers = || (to_number(self.document, &a), to_number(self.document, &b));
        Ok(match op {
            Op::Or | Op::And => Value::Bool(to_bool(&b)),
            Op::Add => Value::Number(numbers().0 + numbers().1),
            Op::Subtract => Value::Number(numbers().0 - numbers().1),
            Op::Multiply => Value::Number(numbers().0 * numbers().1),
            Op::Divide => Value::Number(numbers().0 / numbers().1),
            Op::Modulo => Value::Number(numbers().0 % numbers().1),
            Op::Union => match (a, b) {
                (Value::Nodes(mut a), Value::Nodes(b)) => {
                    a.extend(b);
                    a.sort_unstable();
                    a.dedup();
                    Value::Nodes(a)
                }
                _ => return Err(XpathError::Path("only nodes can be united".to_owned())),
            },
            _ => Value::Bool(self.compare(op, &a, &b)),
        })
    }

    /// A comparison with nodes holds if it holds for any of them.
    fn compare(&self, op: Op, a: &Value, b: &Value) -> bool {
        let texts = |items: &[Item]| -> Vec<Value> {
            items.iter().map(|i| Value::Text(string_of(self.document, *i))).collect()
        };
        match (a, b) {
            (Value::Nodes(_), Value::Bool(_)) | (Value::Bool(_), Value::Nodes(_)) => {
                self.compare_simple(op, &Value::Bool(to_bool(a)), &Value::Bool(to_bool(b)))
            }
            (Value::Nodes(items), b) => texts(items).iter().any(|a| self.compare(op, a, b)),
            (a, Value::Nodes(items)) => texts(items).iter().any(|b| self.compare_simple(op, a, b)),
            (a, b) => self.compare_simple(op, a, b),
        }
    }

    fn compare_simple(&self, op: Op, a: &Value, b: &Value) -> bool {
        if matches!(op, Op::Equal | Op::NotEqual) {
            let same = match (a, b) {
                (Value::Bool(_), _) | (_, Value::Bool(_)) => to_bool(a) == to_bool(b),
                (Value::Text(a), Value::Text(b)) => a == b,
                _ => to_number(self.document, a) == to_number(self.document, b),
            };
            return same == (op == Op::Equal);
        }
        let (a, b) = (to_number(self.document, a), to_number(self.document, b));
        match op {
            Op::Less => a < b,
            Op::LessOrEqual => a <= b,
            Op::Greater => a > b,
            _ => a >= b,
        }
    }

    fn call(
        &mut self,
        name: &str,
        args: &[Expr],
        context: &Context<'d>,
    ) -> Result<Value, XpathError> {
        let document = context.document;
        let mut values = Vec::new();
        for arg in args {
            values.push(self.eval(arg, context)?);
        }
        let text = |index: usize| match values.get(index) {
            Some(value) => to_text(document, value),
            None if context.is_alone() => String::new(),
            None => string_of(document, context.item),
        };
        let number = |index: usize| values.get(index).map_or(f64::NAN, |v| to_number(document, v));
        let first = || match values.first() {
            Some(Value::Nodes(items)) => items.first().copied(),
            Some(_) => None,
            None => Some(context.item).filter(|_| !context.is_alone()),
        };
        let full_name = || first().map_or("", |i| self.name_of(i)).to_owned();
        Ok(match name {
            "last" | "position" if context.is_alone() => {
                return Err(XpathError::Path(format!("{name}() needs nodes to count")));
            }
            "last" => Value::Number(count(context.size)),
            "position" => Value::Number(count(context.position)),
            "count" | "sum" => {
                let Some(Value::Nodes(items)) = values.first() else {
                    return Err(XpathError::Path(format!("{name}() needs nodes")));
                };
                Value::Number(if name == "count" {
                    count(items.len())
                } else {
                    let numbers = items.iter().map(|i| text_to_number(&string_of(document, *i)));
                    numbers.fold(0.0, |sum, number| sum + number)
                })
            }
            "name" => Value::Text(full_name()),
            "id" => {
                functions::check_arguments(values.len(), 1, 1)?;
                let ids: Vec<String> = match &values[0] {
                    Value::Nodes(items) => items.iter().map(|i| string_of(document, *i)).collect(),
                    other => vec![to_text(document, other)],
                };
                let nodes = functions::with_ids(document, &ids).into_iter();
                Value::Nodes(nodes.map(|node| Item { node, attribute: 0 }).collect())
            }
            "lang" => {
                functions::check_arguments(values.len(), 1, 1)?;
                let speaks = functions::speaks(document, context.item.node, &text(0));
                Value::Bool(speaks && !context.is_alone())
            }
            "namespace-uri" => {
                functions::check_arguments(values.len(), 0, 1)?;
                if values.first().is_some_and(|value| !matches!(value, Value::Nodes(_))) {
                    return Err(XpathError::Path("Invalid type".to_owned()));
                }
                let uri = first().map_or("", |item| {
                    let name = self.name_of(item);
                    functions::namespace(document, item.node, name, item.attribute > 0)
                });
                Value::Text(uri.to_owned())
            }
            "local-name" => {
                let name = full_name();
                Value::Text(name.rsplit(':').next().unwrap_or_default().to_owned())
            }
            "string" => Value::Text(text(0)),
            "concat" => Value::Text((0..values.len()).map(text).collect()),
            "starts-with" => Value::Bool(text(0).starts_with(&text(1))),
            "contains" => Value::Bool(text(0).contains(&text(1))),
            "substring-before" => {
                Value::Text(text(0).split_once(&text(1)).map_or("", |p| p.0).to_owned())
            }
            "substring-after" => {
                Value::Text(text(0).split_once(&text(1)).map_or("", |p| p.1).to_owned())
            }
            "substring" => {
                Value::Text(substring(&text(0), number(1), values.get(2).map(|_| number(2))))
            }
            "string-length" => Value::Number(count(text(0).chars().count())),
            "normalize-space" => {
                Value::Text(text(0).split_ascii_whitespace().collect::<Vec<_>>().join(" "))
            }
            "translate" => Value::Text(translate(&text(0), &text(1), &text(2))),
            "boolean" => Value::Bool(values.first().is_some_and(to_bool)),
            "not" => Value::Bool(!values.first().is_some_and(to_bool)),
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "number" if values.is_empty() && context.is_alone() => Value::Number(0.0),
            "number" => Value::Number(text_or_number(document, values.first(), context.item)),
            "floor" => Value::Number(number(0).floor()),
            "ceiling" => Value::Number(number(0).ceil()),
            "round" => Value::Number((number(0) + 0.5).floor()),
            _ => return Err(XpathError::Path(format!("unknown function \"{name}\""))),
        })
    }
}

/// An attribute that declares a namespace is none of XPath's.
fn is_declaration(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}

fn text_or_number(document: &Document, value: Option<&Value>, item: Item) -> f64 {
    match value {
        Some(value) => to_number(document, value),
        None => text_to_number(&string_of(document, item)),
    }
}

/// Positions count from 1 and are rounded.
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let start = (start + 0.5).floor();
    let end = length.map_or(f64::INFINITY, |l| start + (l + 0.5).floor());
    let inside = |index: usize| count(index + 1) >= start && count(index + 1) < end;
    text.chars().enumerate().filter(|(i, _)| inside(*i)).map(|(_, c)| c).collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let change = |c: char| match from.chars().position(|f| f == c) {
        Some(at) => to.get(at).copied(),
        None => Some(c),
    };
    text.chars().filter_map(change).collect()
}

/// A function of this name exists.
pub(super) fn is_function(name: &str) -> bool {
    matches!(
        name,
        "last"
            | "position"
            | "count"
            | "sum"
            | "name"
            | "local-name"
            | "id"
            | "lang"
            | "namespace-uri"
            | "string"
            | "concat"
            | "starts-with"
            | "contains"
            | "substring-before"
            | "substring-after"
            | "substring"
            | "string-length"
            | "normalize-space"
            | "translate"
            | "boolean"
            | "not"
            | "true"
            | "false"
            | "number"
            | "floor"
            | "ceiling"
            | "round"
    )
}
