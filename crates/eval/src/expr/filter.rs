//! Filters of item queries: `?[group="Linux" and tag="env:prod"]`.

/// Deepest nesting in a filter.
const DEPTH_MAX: usize = 32;

/// A parsed filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// The host is in this group (or in one below it).
    Group(String),
    /// The item has this tag; with a value, also that value.
    Tag(String, Option<String>),
    /// `<>`
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

/// What a filter looks at.
pub trait FilterItem {
    /// The item's host belongs to a host group.
    fn in_group(&self, name: &str) -> bool;
    /// The item or its host has a tag (with that value).
    fn has_tag(&self, tag: &str, value: Option<&str>) -> bool;
}

/// The text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid filter near \"{0}\"")]
pub struct FilterError(pub String);

impl Filter {
    /// Parses the text between `?[` and `]`.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut parser = Parser { rest: text, depth: 0 };
        let filter = parser.or().ok_or_else(|| FilterError(parser.rest.to_owned()))?;
        if parser.rest.trim().is_empty() {
            Ok(filter)
        } else {
            Err(FilterError(parser.rest.to_owned()))
        }
    }

    /// The item passes.
    pub fn matches(&self, item: &dyn FilterItem) -> bool {
        match self {
            Self::Group(name) => item.in_group(name),
            Self::Tag(tag, value) => item.has_tag(tag, value.as_deref()),
            Self::Not(inner) => !inner.matches(item),
            Self::And(a, b) => a.matches(item) && b.matches(item),
            Self::Or(a, b) => a.matches(item) || b.matches(item),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn keyword(&mut self, word: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(word) {
            Some(after) if !after.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                self.rest = after;
                true
            }
            _ => false,
        }
    }

    fn sign(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn or(&mut self) -> Option<Filter> {
        let mut left = self.and()?;
        while self.keyword("or") {
            left = Filter::Or(Box::new(left), Box::new(self.and()?));
        }
        Some(left)
    }

    fn and(&mut self) -> Option<Filter> {
        let mut left = self.unary()?;
        while self.keyword("and") {
            left = Filter::And(Box::new(left), Box::new(self.unary()?));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Filter> {
        if self.depth == DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let result =
            if self.sign("(") { self.or().filter(|_| self.sign(")")) } else { self.comparison() };
        self.depth -= 1;
        result
    }

    fn comparison(&mut self) -> Option<Filter> {
        let group = self.keyword("group");
        if !group && !self.keyword("tag") {
            return None;
        }
        let negate = if self.sign("<>") {
            true
        } else if self.sign("=") {
            false
        } else {
            return None;
        };
        self.rest = self.rest.trim_start();
        let value = if self.rest.starts_with('{') {
            let token = crate::macros::token_at(self.rest, 0)?;
            let value = self.rest[token.span.clone()].to_owned();
            self.rest = &self.rest[token.span.end..];
            value
        } else {
            self.quoted()?
        };
        let filter = if group {
            Filter::Group(value)
        } else {
            match value.split_once(':') {
                Some((tag, value)) => Filter::Tag(tag.to_owned(), Some(value.to_owned())),
                None => Filter::Tag(value, None),
            }
        };
        Some(if negate { Filter::Not(Box::new(filter)) } else { filter })
    }

    fn quoted(&mut self) -> Option<String> {
        let body = self.rest.strip_prefix('"')?;
        let mut value = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &body[at + 1..];
                    return Some(value);
                }
                '\\' => value.push(chars.next()?.1),
                c => value.push(c),
            }
        }
        None
    }
}

/// Length up to the bracket that closes a filter; brackets in quotes do not count.
pub(super) fn closing_bracket(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut quoted) = (0, false);
    loop {
        match bytes.get(at)? {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b']' if !quoted => return Some(at),
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Item;

    impl FilterItem for Item {
        fn in_group(&self, name: &str) -> bool {
            name == "Linux"
        }
        fn has_tag(&self, tag: &str, value: Option<&str>) -> bool {
            tag == "env" && value.is_none_or(|v| v == "prod")
        }
    }

    #[test]
    fn filters() {
        for (text, passes) in [
            ("group=\"Linux\"", Some(true)),
            ("group<>\"Linux\"", Some(false)),
            ("tag=\"env\" and tag=\"env:prod\"", Some(true)),
            ("tag=\"env:test\" or (group<>\"x\")", Some(true)),
            ("not group=\"Linux\" and tag=\"env\"", None),
            ("group=\"a]\\\"\"", Some(false)),
            ("group", None),
            ("group=Linux", None),
            ("x=\"y\"", None),
            ("", None),
            ("(group=\"x\"", None),
        ] {
            assert_eq!(Filter::parse(text).ok().map(|f| f.matches(&Item)), passes, "{text}");
        }
        assert!(Filter::parse(&"(".repeat(10_000)).is_err());
    }
}
