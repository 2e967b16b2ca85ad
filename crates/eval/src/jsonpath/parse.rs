//! The path grammar.

use super::filter::Filter;
use crate::json::Step;

/// Deepest nesting of filters and parentheses in a path.
pub const DEPTH_MAX: usize = 32;

/// Segments in one path.
const SEGMENTS_MAX: usize = 1024;

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    pub(super) segments: Vec<Segment>,
    /// The way to the only place that the path can mean, if it is one of names and positions.
    pub(super) way: Option<Vec<Step>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Segment {
    /// `.name`, `[...]`; `deep`: behind `..`
    Select { selector: Selector, deep: bool },
    /// `~`
    Name,
    /// `.first()`; `deep`: behind `..`
    Function { function: Function, deep: bool },
}

impl Segment {
    /// Its result is no place in the document: names and functions alone may follow.
    fn is_computed(&self) -> bool {
        matches!(self, Self::Name | Self::Function { .. })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Selector {
    Names(Vec<String>),
    Indexes(Vec<i64>),
    Slice(Option<i64>, Option<i64>),
    All,
    Filter(Box<Filter>),
}

impl Selector {
    pub(super) fn is_single(&self) -> bool {
        match self {
            Self::Names(names) => names.len() == 1,
            Self::Indexes(indexes) => indexes.len() == 1,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Avg,
    Sum,
    Length,
    First,
}

impl Function {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Min, "min"),
        (Self::Max, "max"),
        (Self::Avg, "avg"),
        (Self::Sum, "sum"),
        (Self::Length, "length"),
        (Self::First, "first"),
    ];

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(function, _)| *function)
    }

    pub(super) fn name(self) -> &'static str {
        let known = Self::ALL.iter().find(|(function, _)| *function == self);
        known.map_or("", |(_, name)| *name)
    }
}

/// The text is not a path of this dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It ends too early.
    #[error("jsonpath was unexpectedly terminated")]
    Terminated,
    /// Something in it is not known.
    #[error("unsupported construct in jsonpath starting with: \"{0}\"")]
    Unsupported(String),
    /// A regular expression in a filter does not compile.
    #[error("invalid regular expression in JSON path: {0}")]
    Regex(String),
}

impl Path {
    /// Parses a path that starts with `$`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let mut cursor = Cursor { text, at: 0, depth: 0 };
        if !cursor.eat("$") {
            return Err(cursor.unsupported());
        }
        let path = cursor.segments(false)?;
        if cursor.at < text.len() { Err(cursor.unsupported()) } else { Ok(path) }
    }
}

/// The segment as a step to one place.
fn step(segment: &Segment) -> Option<Step> {
    let Segment::Select { selector, deep: false } = segment else { return None };
    match selector {
        Selector::Names(names) => match &names[..] {
            [name] => Some(Step::Member(name.clone())),
            _ => None,
        },
        Selector::Indexes(indexes) => match indexes[..] {
            [index] => usize::try_from(index).ok().map(Step::Element),
            _ => None,
        },
        _ => None,
    }
}

pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
}

impl Cursor<'_> {
    pub(super) fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    pub(super) fn blanks(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// The error for whatever stands here.
    pub(super) fn unsupported(&self) -> PathError {
        if self.at >= self.text.len() && self.at > 0 {
            PathError::Terminated
        } else {
            PathError::Unsupported(self.rest().chars().take(128).collect())
        }
    }

    /// Segments up to the end, or (`inside` a filter) up to what cannot continue a path.
    pub(super) fn segments(&mut self, inside: bool) -> Result<Path, PathError> {
        let mut segments: Vec<Segment> = Vec::new();
        while let Some(c) = self.peek() {
            if segments.len() == SEGMENTS_MAX {
                return Err(self.unsupported());
            }
            let computed = segments.last().is_some_and(Segment::is_computed);
            let segment = match c {
                b'[' if computed => return Err(self.unsupported()),
                b'[' => Segment::Select { selector: self.bracket()?, deep: false },
                b'~' => {
                    self.at += 1;
                    Segment::Name
                }
                b'.' => {
                    self.at += 1;
                    let deep = self.eat(".");
                    let start = self.at;
                    let segment = self.after_dot(deep)?;
                    if computed && !segment.is_computed() {
                        self.at = start;
                        return Err(self.unsupported());
                    }
                    segment
                }
                _ if inside => break,
                _ => return Err(self.unsupported()),
            };
            segments.push(segment);
        }
        if segments.is_empty() {
            return Err(self.unsupported());
        }
        let way = segments.iter().map(step).collect();
        Ok(Path { segments, way })
    }

    fn after_dot(&mut self, deep: bool) -> Result<Segment, PathError> {
        let selector = match self.peek() {
            Some(b'[') => self.bracket()?,
            Some(b'*') => {
                self.at += 1;
                Selector::All
            }
            _ => {
                let name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
                let len = self.rest().bytes().take_while(name).count();
                let name = self.rest()[..len].to_owned();
                if name.is_empty() {
                    return Err(self.unsupported());
                }
                if self.rest()[len..].starts_with("()") {
                    let function = Function::parse(&name).ok_or_else(|| self.unsupported())?;
                    self.at += len + 2;
                    return Ok(Segment::Function { function, deep });
                }
                self.at += len;
                Selector::Names(vec![name])
            }
        };
        Ok(Segment::Select { selector, deep })
    }

    fn bracket(&mut self) -> Result<Selector, PathError> {
        self.at += 1;
        self.blanks();
        let selector = match self.peek() {
            Some(b'*') => {
                self.at += 1;
                Selector::All
            }
            Some(b'\'' | b'"') => {
                let mut names = vec![self.quoted()?];
                while self.comma() {
                    let name = self.quoted()?;
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                Selector::Names(names)
            }
            Some(b'?') => {
                self.at += 1;
                if self.peek() != Some(b'(') {
                    return Err(self.unsupported());
                }
                Selector::Filter(Box::new(Filter::parse(self)?))
            }
            Some(b'-' | b'0'..=b'9' | b':') => self.indexes()?,
            _ => return Err(self.unsupported()),
        };
        self.blanks();
        if self.eat("]") { Ok(selector) } else { Err(self.unsupported()) }
    }

    fn comma(&mut self) -> bool {
        self.blanks();
        let found = self.eat(",");
        self.blanks();
        found
    }

    fn integer(&mut self) -> Result<i64, PathError> {
        let sign = usize::from(self.peek() == Some(b'-'));
        let digits = self.rest().bytes().skip(sign).take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..sign + digits].parse().map_err(|_| self.unsupported())?;
        self.at += sign + digits;
        Ok(number)
    }

    fn indexes(&mut self) -> Result<Selector, PathError> {
        let first = if self.peek() == Some(b':') { None } else { Some(self.integer()?) };
        self.blanks();
        if self.eat(":") {
            self.blanks();
            let last = if self.peek() == Some(b']') { None } else { Some(self.integer()?) };
            return Ok(Selector::Slice(first, last));
        }
        let mut indexes: Vec<i64> = first.into_iter().collect();
        while self.comma() {
            let index = self.integer()?;
            if !indexes.contains(&index) {
                indexes.push(index);
            }
        }
        Ok(Selector::Indexes(indexes))
    }

    /// A name or text in single or double quotes; a backslash protects the next character.
    pub(super) fn quoted(&mut self) -> Result<String, PathError> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => char::from(quote),
            _ => return Err(self.unsupported()),
        };
        let mut value = String::new();
        let mut chars = self.text[self.at + 1..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '\\' => {
                    // Only quotes and backslashes are escaped; `\d` stays for the pattern.
                    match chars.next() {
                        Some((_, c @ ('\\' | '\'' | '"'))) => value.push(c),
                        Some((_, c)) => value.extend(['\\', c]),
                        None => break,
                    }
                }
                c if c == quote => {
                    self.at += offset + 2;
                    return Ok(value);
                }
                c => value.push(c),
            }
        }
        Err(PathError::Terminated)
    }
}
