//! The expression grammar.

use super::{BinaryOp, Expression, HistoryParam, ItemCall, ItemQuery, Node, NodeKind};
use crate::key::ItemKey;
use crate::macros::token_at;
use crate::num::{number_len, parse_u64, suffix_factor};

/// Deepest nesting of parentheses, calls and unary operators.
pub const DEPTH_MAX: usize = 64;

/// Longest expression, bytes.
pub const EXPRESSION_BYTES_MAX: usize = 1 << 20;

/// Operands and operators in one expression.
pub const NODES_MAX: usize = 65_536;

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("incorrect expression starting from \"{near}\"")]
pub struct ParseError {
    /// Byte where reading stopped.
    pub at: usize,
    /// The text from there on (shortened).
    pub near: String,
}

/// Characters of the offending text in an error.
const NEAR_CHARS: usize = 200;

pub(super) fn parse(text: &str) -> Result<Expression, ParseError> {
    let mut parser = Parser { text, at: 0, depth: 0, nodes: 0 };
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err(parser.error(0));
    }
    let root = parser.expression(0)?;
    parser.spaces();
    if parser.at < text.len() {
        return Err(parser.error(parser.at));
    }
    Ok(Expression { text: text.to_owned(), root })
}

/// Parses the parameters of a stored history function (`$,5m,"like"`, or without `$,`).
pub fn parse_history_params(text: &str) -> Result<Vec<HistoryParam>, ParseError> {
    let from = match text.strip_prefix('$') {
        Some("") => return Ok(Vec::new()),
        Some(rest) if rest.starts_with(',') => 2,
        _ if text.is_empty() => return Ok(Vec::new()),
        _ => 0,
    };
    let mut parser = Parser { text, at: from, depth: 0, nodes: 0 };
    let mut params = vec![parser.history_param(true)?];
    while parser.peek() == Some(b',') {
        parser.at += 1;
        params.push(parser.history_param(true)?);
    }
    if parser.at < text.len() { Err(parser.error(parser.at)) } else { Ok(params) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    nodes: usize,
}

impl Parser<'_> {
    fn error(&self, at: usize) -> ParseError {
        let near = self.text.get(at..).unwrap_or_default().chars().take(NEAR_CHARS).collect();
        ParseError { at, near }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == DEPTH_MAX {
            return Err(self.error(self.at));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Binary operators that bind at least as tightly as `level`.
    fn expression(&mut self, level: u8) -> Result<Node, ParseError> {
        let mut left = self.operand()?;
        loop {
            self.spaces();
            let op_at = self.at;
            let Some((op, len, tightness)) = self.operator() else { return Ok(left) };
            if tightness < level {
                return Ok(left);
            }
            self.at += len;
            // Left-associative: the right side binds one level tighter. The recursion is
            // bounded by the number of levels.
            let right = self.expression(tightness + 1)?;
            let span = left.span.start..right.span.end;
            let kind = NodeKind::Binary { op, op_at, left: Box::new(left), right: Box::new(right) };
            left = self.node(span, kind)?;
        }
    }

    fn node(&mut self, span: std::ops::Range<usize>, kind: NodeKind) -> Result<Node, ParseError> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(self.error(span.start));
        }
        Ok(Node { span, kind })
    }

    fn operator(&self) -> Option<(BinaryOp, usize, u8)> {
        let rest = self.rest();
        let word = |w: &str| {
            rest.strip_prefix(w).is_some_and(|after| !after.starts_with(is_word_char))
                && !self.text[..self.at].ends_with(is_word_char)
        };
        Some(match rest.as_bytes().first()? {
            b'o' if word("or") => (BinaryOp::Or, 2, 0),
            b'a' if word("and") => (BinaryOp::And, 3, 1),
            b'=' => (BinaryOp::Equal, 1, 2),
            b'<' if rest.starts_with("<>") => (BinaryOp::NotEqual, 2, 2),
            b'<' if rest.starts_with("<=") => (BinaryOp::LessOrEqual, 2, 3),
            b'<' => (BinaryOp::Less, 1, 3),
            b'>' if rest.starts_with(">=") => (BinaryOp::GreaterOrEqual, 2, 3),
            b'>' => (BinaryOp::Greater, 1, 3),
            b'+' => (BinaryOp::Add, 1, 4),
            b'-' => (BinaryOp::Subtract, 1, 4),
            b'*' => (BinaryOp::Multiply, 1, 5),
            b'/' => (BinaryOp::Divide, 1, 5),
            _ => return None,
        })
    }

    fn operand(&mut self) -> Result<Node, ParseError> {
        self.spaces();
        let start = self.at;
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let mut inner = self.deeper(|p| p.expression(0))?;
                self.spaces();
                if self.peek() != Some(b')') {
                    return Err(self.error(self.at));
                }
                self.at += 1;
                inner.span = start..self.at;
                Ok(inner)
            }
            Some(b'-') => {
                self.at += 1;
                let inner = self.deeper(Self::operand)?;
                self.node(start..self.at, NodeKind::Negate(Box::new(inner)))
            }
            Some(b'"') => {
                let text = self.quoted()?;
                self.node(start..self.at, NodeKind::Text(text))
            }
            Some(b'0'..=b'9' | b'.') => self.number(),
            Some(b'{') => {
                let token = token_at(self.text, start).ok_or_else(|| self.error(start))?;
                self.at = token.span.end;
                let kind = match token.kind {
                    crate::macros::TokenKind::FunctionId(id) => NodeKind::FunctionId(id),
                    _ => NodeKind::Macro,
                };
                self.node(start..self.at, kind)
            }
            Some(b'a'..=b'z') => self.word(),
            _ => Err(self.error(start)),
        }
    }

    fn number(&mut self) -> Result<Node, ParseError> {
        let start = self.at;
        let len = number_len(self.rest()).ok_or_else(|| self.error(start))?;
        let digits = &self.text[start..start + len];
        self.at += len;
        let suffix = self.peek().and_then(suffix_factor);
        if suffix.is_some() {
            self.at += 1;
        }
        if self.rest().starts_with(is_word_char) {
            return Err(self.error(start));
        }
        let kind = match (parse_u64(digits), suffix) {
            (Some(whole), None) => NodeKind::Unsigned(whole),
            (_, factor) => {
                let value = digits.parse::<f64>().unwrap_or(f64::INFINITY) * factor.unwrap_or(1.0);
                if !value.is_finite() {
                    return Err(self.error(start));
                }
                NodeKind::Float(value)
            }
        };
        self.node(start..self.at, kind)
    }

    /// A quoted text; `\"` and `\\` are escapes.
    fn quoted(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.text[start + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + 2 + offset;
                    return Ok(value);
                }
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => value.push(c),
                    _ => return Err(self.error(start + 1 + offset)),
                },
                c => value.push(c),
            }
        }
        Err(self.error(start))
    }

    /// `not`, or a function call.
    fn word(&mut self) -> Result<Node, ParseError> {
        let start = self.at;
        let len = self.rest().bytes().take_while(|b| is_function_byte(*b)).count();
        let name = &self.text[start..start + len];
        self.at += len;
        if name == "not" {
            let inner = self.deeper(Self::operand)?;
            return self.node(start..self.at, NodeKind::Not(Box::new(inner)));
        }
        if self.peek() != Some(b'(') {
            return Err(self.error(start));
        }
        self.at += 1;
        self.spaces();
        if self.peek() == Some(b'/') {
            let name = name.to_owned();
            return self.item_call(start, name);
        }
        let function = name.to_owned();
        let mut args = Vec::new();
        if self.peek() == Some(b')') {
            self.at += 1;
            return self.node(start..self.at, NodeKind::Call { function, args });
        }
        loop {
            args.push(self.deeper(|p| p.expression(0))?);
            self.spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b')') => break,
                _ => return Err(self.error(self.at)),
            }
        }
        self.at += 1;
        self.node(start..self.at, NodeKind::Call { function, args })
    }

    fn item_call(&mut self, start: usize, function: String) -> Result<Node, ParseError> {
        let query = self.query()?;
        self.spaces();
        let params_start = self.at;
        let mut params = Vec::new();
        while self.peek() == Some(b',') {
            self.at += 1;
            params.push(self.history_param(false)?);
        }
        if self.peek() != Some(b')') {
            return Err(self.error(self.at));
        }
        let params_span = params_start..self.at;
        self.at += 1;
        let span = start..self.at;
        let call = ItemCall { span: span.clone(), function, query, params, params_span };
        self.node(span, NodeKind::ItemCall(Box::new(call)))
    }

    fn query(&mut self) -> Result<ItemQuery, ParseError> {
        let start = self.at;
        self.at += 1;
        let host_len = self.rest().find(['/', '"', '\n']).ok_or_else(|| self.error(start))?;
        if self.rest().as_bytes()[host_len] != b'/' {
            return Err(self.error(start));
        }
        let host = self.rest()[..host_len].to_owned();
        self.at += host_len + 1;
        let key_at = self.at;
        if self.peek() == Some(b'*') {
            self.at += 1;
        } else {
            let (_, len) = ItemKey::parse_prefix(self.rest()).map_err(|_| self.error(key_at))?;
            self.at += len;
        }
        let key = self.text[key_at..self.at].to_owned();
        let mut filter = None;
        if self.rest().starts_with("?[") {
            let from = self.at + 2;
            let len = super::filter::closing_bracket(&self.text[from..])
                .ok_or_else(|| self.error(self.at))?;
            let text = &self.text[from..from + len];
            super::Filter::parse(text).map_err(|_| self.error(from))?;
            filter = Some(text.to_owned());
            self.at = from + len + 1;
        }
        Ok(ItemQuery { span: start..self.at, host, key, filter })
    }

    /// One parameter behind the query: quoted, or everything up to a comma or the closing
    /// parenthesis (`to_end`: or the end). Macros are stepped over.
    fn history_param(&mut self, to_end: bool) -> Result<HistoryParam, ParseError> {
        self.spaces();
        let start = self.at;
        if self.peek() == Some(b'"') {
            let value = self.quoted()?;
            let span = start..self.at;
            self.spaces();
            return Ok(HistoryParam { span, value, quoted: true });
        }
        loop {
            match self.peek() {
                None if to_end => break,
                Some(b')') if !to_end => break,
                Some(b',') => break,
                None | Some(b'"' | b'(') => return Err(self.error(start)),
                // Words have to be quoted in an expression.
                Some(b'a'..=b'z' | b'A'..=b'Z') if !to_end && self.at == start => {
                    return Err(self.error(start));
                }
                Some(b'{') => {
                    self.at = token_at(self.text, self.at).map_or(self.at + 1, |t| t.span.end);
                }
                // Stays on a character boundary: all bytes of interest are ASCII.
                Some(_) => self.at += 1,
            }
        }
        let value = self.text[start..self.at].trim_end().to_owned();
        Ok(HistoryParam { span: start..start + value.len(), value, quoted: false })
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_function_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_references() {
        let text = "min(/host a/net.if[\"eth,0\",in],5m:now-1h) > {$M:\"x\"} and \
                    sum(last_foreach(/*/k[*]?[group=\"x\"],1h))=1 \
                    or find(//k,,\"like\",\"\\\"a)\")";
        let expression = Expression::parse(text).unwrap();
        let calls = expression.item_calls();
        let seen: Vec<_> = calls
            .iter()
            .map(|c| {
                (
                    &text[c.span.clone()],
                    c.query.host.as_str(),
                    c.query.key.as_str(),
                    c.query.filter.as_deref(),
                    c.stored_params(text),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (
                    "min(/host a/net.if[\"eth,0\",in],5m:now-1h)",
                    "host a",
                    "net.if[\"eth,0\",in]",
                    None,
                    "$,5m:now-1h".to_owned()
                ),
                (
                    "last_foreach(/*/k[*]?[group=\"x\"],1h)",
                    "*",
                    "k[*]",
                    Some("group=\"x\""),
                    "$,1h".to_owned()
                ),
                (
                    "find(//k,,\"like\",\"\\\"a)\")",
                    "",
                    "k",
                    None,
                    "$,,\"like\",\"\\\"a)\"".to_owned()
                ),
            ]
        );
        assert!(calls[1].query.is_wildcard() && !calls[0].query.is_wildcard());
        assert_eq!(calls[2].params[2].value, "\"a)");
        let mut id = 100;
        let stored = expression.replace_calls(&mut |_| {
            id += 1;
            format!("{{{id}}}")
        });
        assert_eq!(stored, "{101} > {$M:\"x\"} and sum({102})=1 or {103}");
        let stored = Expression::parse(&stored).unwrap();
        assert_eq!(stored.replace_function_ids(&mut |id| calls_text(text, &calls, id)), text);
        assert_eq!(stored.macros().len(), 1);
    }

    fn calls_text(text: &str, calls: &[&ItemCall], id: u64) -> String {
        let index = usize::try_from(id - 101).unwrap();
        text[calls[index].span.clone()].to_owned()
    }

    #[test]
    fn stored_parameters() {
        for (text, values) in [
            ("$", vec![]),
            ("", vec![]),
            ("$,5m", vec!["5m"]),
            ("$,#3:now-1h, \"a,b\" ,{$X:\",\"},", vec!["#3:now-1h", "a,b", "{$X:\",\"}", ""]),
        ] {
            let params = parse_history_params(text).unwrap();
            assert_eq!(params.iter().map(|p| p.value.as_str()).collect::<Vec<_>>(), values);
        }
    }

    #[test]
    fn refused() {
        for text in [
            "",
            "1 +",
            "(1",
            "1)",
            "1 2",
            "abc",
            "1or 2",
            "1 or2",
            "\"a",
            "\"\\x\"",
            "f(1,)",
            "1e",
            "last(/h/)",
            "last(/h)",
            "last(/h/k",
            "last(/h/k[)",
            "{$}",
            "1x",
            "max(/h/k,\"a\"b)",
            "avg(/h/k?[x],1)",
            "count(/h/k,1m,like,1)",
        ] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
        let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
        assert!(Expression::parse(&deep(DEPTH_MAX)).is_ok());
        assert!(Expression::parse(&deep(DEPTH_MAX + 1)).is_err());
        assert!(Expression::parse(&"-".repeat(100_000)).is_err());
    }
}
