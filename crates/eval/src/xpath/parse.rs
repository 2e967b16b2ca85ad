//! The grammar of XPath 1.0.

use super::XpathError;

/// Deepest nesting of predicates, parentheses and calls.
const DEPTH_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Number(f64),
    Text(String),
    Negate(Box<Self>),
    Binary(Op, Box<Self>, Box<Self>),
    Call(String, Vec<Self>),
    /// Where it starts, predicates on that, and steps from there.
    Path(Start, Vec<Step>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Start {
    Root,
    Context,
    /// `(expr)[predicate]/…`
    Filter(Box<Expr>, Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Union,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
    Attribute,
    OwnSelf,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Any,
    Name(String),
    Node,
    Text,
    Comment,
}

pub(super) fn parse(text: &str) -> Result<Expr, XpathError> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let expression = parser.expression(0)?;
    parser.blanks();
    if parser.rest.is_empty() { Ok(expression) } else { Err(parser.error()) }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

const OPS: [(&str, Op, u8); 14] = [
    ("or", Op::Or, 0),
    ("and", Op::And, 1),
    ("=", Op::Equal, 2),
    ("!=", Op::NotEqual, 2),
    ("<=", Op::LessOrEqual, 3),
    (">=", Op::GreaterOrEqual, 3),
    ("<", Op::Less, 3),
    (">", Op::Greater, 3),
    ("+", Op::Add, 4),
    ("-", Op::Subtract, 4),
    ("*", Op::Multiply, 5),
    ("div", Op::Divide, 5),
    ("mod", Op::Modulo, 5),
    ("|", Op::Union, 7),
];

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

impl<'a> Parser<'a> {
    fn error(&self) -> XpathError {
        let near: String = self.rest.chars().take(64).collect();
        XpathError::Path(if near.is_empty() {
            "the expression ends too early".to_owned()
        } else {
            format!("invalid expression at \"{near}\"")
        })
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), XpathError> {
        if self.eat(token) { Ok(()) } else { Err(self.error()) }
    }

    fn operator(&self) -> Option<(&'static str, Op, u8)> {
        OPS.iter().copied().find(|(text, ..)| {
            self.rest.strip_prefix(text).is_some_and(|after| {
                !text.starts_with(is_name_start) || !after.starts_with(is_name_char)
            })
        })
    }

    fn expression(&mut self, level: u8) -> Result<Expr, XpathError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error());
        }
        self.depth += 1;
        let result = self.expression_inner(level);
        self.depth -= 1;
        result
    }

    fn expression_inner(&mut self, level: u8) -> Result<Expr, XpathError> {
        // Unary minus binds tighter than all but the union.
        let mut left =
            if self.eat("-") { Expr::Negate(Box::new(self.expression(6)?)) } else { self.path()? };
        loop {
            self.blanks();
            let Some((text, op, tightness)) = self.operator() else { return Ok(left) };
            if tightness < level {
                return Ok(left);
            }
            self.rest = &self.rest[text.len()..];
            let right = self.expression(tightness + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
    }

    fn path(&mut self) -> Result<Expr, XpathError> {
        self.blanks();
        let mut steps = Vec::new();
        if self.rest.starts_with("//") {
            // More of them at the start are passed over.
            self.rest = self.rest.trim_start_matches('/');
            steps.push(any_below());
            self.steps(&mut steps)?;
            return Ok(Expr::Path(Start::Root, steps));
        }
        if let Some(after) = self.rest.strip_prefix('/') {
            self.rest = after;
            self.blanks();
            if self.rest.starts_with(|c| is_name_start(c) || matches!(c, '*' | '@' | '.')) {
                self.steps(&mut steps)?;
            }
            return Ok(Expr::Path(Start::Root, steps));
        }
        if let Some(primary) = self.primary()? {
            let mut predicates = Vec::new();
            self.predicates(&mut predicates)?;
            if self.eat("//") {
                steps.push(any_below());
            } else if !self.eat("/") {
                if predicates.is_empty() {
                    return Ok(primary);
                }
                return Ok(Expr::Path(Start::Filter(Box::new(primary), predicates), steps));
            }
            self.steps(&mut steps)?;
            return Ok(Expr::Path(Start::Filter(Box::new(primary), predicates), steps));
        }
        self.steps(&mut steps)?;
        Ok(Expr::Path(Start::Context, steps))
    }

    /// Literals, numbers, parentheses and function calls; `None` = a location path.
    fn primary(&mut self) -> Result<Option<Expr>, XpathError> {
        self.blanks();
        let Some(c) = self.rest.chars().next() else { return Err(self.error()) };
        match c {
            '"' | '\'' => {
                let body = &self.rest[1..];
                let end = body.find(c).ok_or_else(|| self.error())?;
                self.rest = &body[end + 1..];
                Ok(Some(Expr::Text(body[..end].to_owned())))
            }
            '(' => {
                self.rest = &self.rest[1..];
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(Some(inner))
            }
            c if c.is_ascii_digit()
                || (c == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit())) =>
            {
                let len = crate::num::number_len(self.rest).ok_or_else(|| self.error())?;
                let number = self.rest[..len].parse().map_err(|_| self.error())?;
                self.rest = &self.rest[len..];
                // An exponent without digits is passed over.
                self.rest = self.rest.strip_prefix(['e', 'E']).unwrap_or(self.rest);
                Ok(Some(Expr::Number(number)))
            }
            c if is_name_start(c) => self.call(),
            _ => Ok(None),
        }
    }

    fn call(&mut self) -> Result<Option<Expr>, XpathError> {
        let name = self.peek_name();
        let after = self.rest[name.len()..].trim_start();
        if !after.starts_with('(') || matches!(name, "node" | "text" | "comment") {
            return Ok(None);
        }
        self.rest = &after[1..];
        let mut args = Vec::new();
        if self.eat(")") {
            return Ok(Some(Expr::Call(name.to_owned(), args)));
        }
        loop {
            args.push(self.expression(0)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        if super::eval::is_function(name) {
            Ok(Some(Expr::Call(name.to_owned(), args)))
        } else {
            Err(XpathError::Path(format!("unknown function \"{name}\"")))
        }
    }

    /// The (possibly prefixed) name that stands here.
    fn peek_name(&self) -> &'a str {
        if !self.rest.starts_with(is_name_start) {
            return "";
        }
        let len = |text: &str| text.find(|c| !is_name_char(c)).unwrap_or(text.len());
        let mut end = len(self.rest);
        if let Some(local) = self.rest[end..].strip_prefix(':')
            && local.starts_with(is_name_start)
        {
            end += 1 + len(local);
        }
        &self.rest[..end]
    }

    fn steps(&mut self, steps: &mut Vec<Step>) -> Result<(), XpathError> {
        loop {
            steps.push(self.step()?);
            if self.eat("//") {
                steps.push(any_below());
            } else if !self.eat("/") {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<Step, XpathError> {
        let plain = |axis| Step { axis, test: Test::Node, predicates: Vec::new() };
        if self.eat("..") {
            return Ok(plain(Axis::Parent));
        }
        if self.eat(".") {
            return Ok(plain(Axis::OwnSelf));
        }
        let axis = if self.eat("@") { Axis::Attribute } else { self.axis()? };
        let test = self.test()?;
        let mut predicates = Vec::new();
        self.predicates(&mut predicates)?;
        Ok(Step { axis, test, predicates })
    }

    fn axis(&mut self) -> Result<Axis, XpathError> {
        let name_len = self.rest.find(|c| !is_name_char(c)).unwrap_or(self.rest.len());
        let Some(after) = self.rest[name_len..].strip_prefix("::") else { return Ok(Axis::Child) };
        let axis = match &self.rest[..name_len] {
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "parent" => Axis::Parent,
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "following-sibling" => Axis::FollowingSibling,
            "preceding-sibling" => Axis::PrecedingSibling,
            "following" => Axis::Following,
            "preceding" => Axis::Preceding,
            "attribute" => Axis::Attribute,
            "self" => Axis::OwnSelf,
            _ => return Err(self.error()),
        };
        self.rest = after;
        Ok(axis)
    }

    fn test(&mut self) -> Result<Test, XpathError> {
        if self.eat("*") {
            return Ok(Test::Any);
        }
        let name = self.peek_name();
        if name.is_empty() {
            return Err(self.error());
        }
        self.rest = &self.rest[name.len()..];
        if !self.eat("(") {
            if let Some((prefix, _)) = name.split_once(':')
                && prefix != "xml"
            {
                return Err(XpathError::Path(format!("undefined namespace prefix \"{prefix}\"")));
            }
            return Ok(Test::Name(name.to_owned()));
        }
        let test = match name {
            "node" => Test::Node,
            "text" => Test::Text,
            "comment" => Test::Comment,
            _ => return Err(self.error()),
        };
        self.expect(")")?;
        Ok(test)
    }

    fn predicates(&mut self, predicates: &mut Vec<Expr>) -> Result<(), XpathError> {
        while self.eat("[") {
            predicates.push(self.expression(0)?);
            self.expect("]")?;
        }
        Ok(())
    }
}

fn any_below() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
}
