//! A small JSON tree that keeps numbers as written and members in order.

use std::borrow::Cow;

/// Deepest nesting that is read.
pub const DEPTH_MAX: usize = 64;

/// A JSON value borrowed from its text.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'a> {
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number as written.
    Number(Cow<'a, str>),
    /// A text without quotes and escapes.
    Text(Cow<'a, str>),
    /// `[…]`
    Array(Vec<Self>),
    /// `{…}` in document order.
    Object(Vec<(Cow<'a, str>, Self)>),
}

/// The text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at: '{near}'")]
pub struct JsonError {
    /// What is wrong.
    pub message: &'static str,
    /// The text from there on (shortened).
    pub near: String,
}

/// Parses a whole document; blanks around it are allowed.
pub fn parse(text: &str) -> Result<Json<'_>, JsonError> {
    let mut parser = Parser { text, at: 0 };
    parser.blanks();
    let value = parser.value(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.error("invalid text after the JSON value"));
    }
    Ok(value)
}

/// Parses a document that must be an object or an array.
pub fn parse_container(text: &str) -> Result<Json<'_>, JsonError> {
    let parser = Parser { text, at: text.len() - text.trim_start().len() };
    if !matches!(parser.peek(), Some(b'{' | b'[')) {
        return Err(parser.error("invalid object format, expected opening character '{' or '['"));
    }
    parse(text)
}

/// Parses the object or array that the text starts with; what follows is not looked at.
pub fn parse_first_container(text: &str) -> Result<Json<'_>, JsonError> {
    let mut parser = Parser { text, at: text.len() - text.trim_start().len() };
    if !matches!(parser.peek(), Some(b'{' | b'[')) {
        return Err(parser.error("invalid object format, expected opening character '{' or '['"));
    }
    parser.value(0)
}

/// A step on the way to one place of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The member of an object; of several with this name the last.
    Member(String),
    /// The element of an array, from 0.
    Element(usize),
}

/// How much of a text has to be the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it, as [`parse_container`] wants it.
    Whole,
    /// Its start, as for [`parse_first_container`].
    Start,
}

/// What stands at a place of a document: everything else is checked as parsing would do it, but
/// not kept.
pub fn find<'a>(
    text: &'a str,
    extent: Extent,
    way: &[Step],
) -> Result<Option<Json<'a>>, JsonError> {
    let mut parser = Parser { text, at: text.len() - text.trim_start().len() };
    if !matches!(parser.peek(), Some(b'{' | b'[')) {
        return Err(parser.error("invalid object format, expected opening character '{' or '['"));
    }
    if extent == Extent::Whole {
        parser.at = 0;
        parser.blanks();
    }
    let found = parser.find(way, 0)?;
    if extent == Extent::Whole {
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.error("invalid text after the JSON value"));
        }
    }
    Ok(found)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: &'static str) -> JsonError {
        let near = self.text.get(self.at..).unwrap_or_default().chars().take(128).collect();
        JsonError { message, near }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        if depth > DEPTH_MAX {
            return Err(self.error("maximum depth of JSON nesting exceeded"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [
                    ("null", Json::Null),
                    ("true", Json::Bool(true)),
                    ("false", Json::Bool(false)),
                ];
                for (word, value) in words {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.error("invalid JSON value"))
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        let mut members = Vec::new();
        self.members(|parser, name| {
            members.push((name, parser.value(depth + 1)?));
            Ok(())
        })?;
        Ok(Json::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        let mut elements = Vec::new();
        self.elements(|parser| {
            elements.push(parser.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Json::Array(elements))
    }

    /// Checks a value and passes it over.
    fn skip(&mut self, depth: usize) -> Result<(), JsonError> {
        match self.peek() {
            Some(b'{') if depth <= DEPTH_MAX => self.members(|parser, _| parser.skip(depth + 1)),
            Some(b'[') if depth <= DEPTH_MAX => self.elements(|parser| parser.skip(depth + 1)),
            Some(b'"') if depth <= DEPTH_MAX => self.string().map(drop),
            _ => self.value(depth).map(drop),
        }
    }

    /// Passes a value over but for what stands at the end of the way.
    fn find(&mut self, way: &[Step], depth: usize) -> Result<Option<Json<'a>>, JsonError> {
        let Some((step, rest)) = way.split_first() else { return self.value(depth).map(Some) };
        let mut found = None;
        match (step, self.peek()) {
            (Step::Member(wanted), Some(b'{')) if depth <= DEPTH_MAX => {
                self.members(|parser, name| {
                    if name == *wanted {
                        found = parser.find(rest, depth + 1)?;
                        return Ok(());
                    }
                    parser.skip(depth + 1)
                })?;
            }
            (Step::Element(wanted), Some(b'[')) if depth <= DEPTH_MAX => {
                let mut index = 0;
                self.elements(|parser| {
                    index += 1;
                    if index - 1 == *wanted {
                        found = parser.find(rest, depth + 1)?;
                        return Ok(());
                    }
                    parser.skip(depth + 1)
                })?;
            }
            _ => self.skip(depth)?,
        }
        Ok(found)
    }

    /// Reads an object; `each` reads the value behind a name.
    fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.error("invalid object name, expected opening character '\"'"));
            }
            let name = self.string()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.error("invalid object name/value separator, expected ':'"));
            }
            self.at += 1;
            self.blanks();
            each(self, name)?;
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.error("invalid object format, expected ',' or '}'")),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads an array; `each` reads an element.
    fn elements(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.blanks();
            each(self)?;
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.error("invalid array format, expected ',' or ']'")),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn number(&mut self) -> Result<Json<'a>, JsonError> {
        let start = self.at;
        let sign = usize::from(self.peek() == Some(b'-'));
        let digits = &self.text.as_bytes()[start + sign..];
        let padded = digits.first() == Some(&b'0') && digits.get(1).is_some_and(u8::is_ascii_digit);
        match crate::num::number_len(&self.text[start + sign..]) {
            Some(len) if digits[0].is_ascii_digit() && !padded => {
                self.at += sign + len;
                Ok(Json::Number(Cow::Borrowed(&self.text[start..self.at])))
            }
            _ => Err(self.error("invalid JSON number")),
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let plain = plain_len(&bytes[start..]);
        if bytes.get(start + plain) == Some(&b'"') {
            self.at = start + plain + 1;
            return Ok(Cow::Borrowed(&self.text[start..start + plain]));
        }
        let mut out = self.text[start..start + plain].to_owned();
        self.at = start + plain;
        loop {
            match self.peek() {
                None => return Err(self.error("unterminated JSON string")),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                Some(0..b' ') => return Err(self.error("invalid control character in string")),
                Some(_) => {
                    let len = plain_len(&bytes[self.at..]);
                    out.push_str(&self.text[self.at..self.at + len]);
                    self.at += len;
                }
            }
        }
        self.at += 1;
        Ok(Cow::Owned(out))
    }

    fn escape(&mut self, out: &mut String) -> Result<(), JsonError> {
        let c = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.hex4(self.at + 1)?;
                self.at += 4;
                let code = if (0xD800..0xDC00).contains(&high)
                    && self.text[self.at + 1..].starts_with("\\u")
                {
                    let low = self.hex4(self.at + 3)?;
                    self.at += 6;
                    if (0xDC00..0xE000).contains(&low) {
                        0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                    } else {
                        high
                    }
                } else {
                    high
                };
                // Half of a surrogate pair is no character.
                let wrong = || self.error("invalid escape in JSON string");
                char::from_u32(code).ok_or_else(wrong)?
            }
            _ => return Err(self.error("invalid escape in JSON string")),
        };
        out.push(c);
        self.at += 1;
        Ok(())
    }

    fn hex4(&self, from: usize) -> Result<u32, JsonError> {
        self.text
            .get(from..from + 4)
            .filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|h| u32::from_str_radix(h, 16).ok())
            .ok_or_else(|| self.error("invalid escape in JSON string"))
    }
}

/// Bytes up to a quote, a backslash or a control character.
fn plain_len(bytes: &[u8]) -> usize {
    // Eight bytes at a time: the high bit of each byte says whether it is one of these. What a
    // borrow marks wrongly stands above the first true mark.
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let escape = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = (quote | escape | below(word, u64::from(b' '))) & HIGH;
        if found != 0 {
            return n * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let plain = tail.iter().take_while(|b| !matches!(b, b'"' | b'\\' | 0..b' ')).count();
    words.len() * 8 + plain
}

impl Json<'_> {
    /// The member of an object; of several with this name the last.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The same, free of the text that it was parsed from.
    pub fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(owned(number)),
            Self::Text(text) => Json::Text(owned(text)),
            Self::Array(elements) => {
                Json::Array(elements.into_iter().map(Json::into_owned).collect())
            }
            Self::Object(members) => {
                let member =
                    |(name, value): (Cow<'_, str>, Self)| (owned(name), value.into_owned());
                Json::Object(members.into_iter().map(member).collect())
            }
        }
    }

    /// As plain text: texts without quotes, everything else as JSON.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            other => other.to_json(),
        }
    }

    /// As JSON without blanks.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Appends the value as JSON without blanks.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(&shown(number)),
            Self::Text(text) => write_string(out, text),
            Self::Array(elements) => {
                out.push('[');
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Whole numbers that fit 64 bits stay exact, others come in the field's form (`1.50` → `1.5`).
fn shown(number: &str) -> Cow<'_, str> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.len() < 20 && digits.bytes().all(|b| b.is_ascii_digit())
        || crate::num::parse_u64(number).is_some()
    {
        return Cow::Borrowed(number);
    }
    Cow::Owned(crate::num::format_f64(number.parse().unwrap_or(f64::NAN)))
}

/// Appends a quoted JSON string.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let plain = plain_len(rest.as_bytes());
        out.push_str(&rest[..plain]);
        match rest.as_bytes().get(plain) {
            None => break,
            Some(b'"') => out.push_str("\\\""),
            Some(b'\\') => out.push_str("\\\\"),
            Some(8) => out.push_str("\\b"),
            Some(12) => out.push_str("\\f"),
            Some(b'\n') => out.push_str("\\n"),
            Some(b'\r') => out.push_str("\\r"),
            Some(b'\t') => out.push_str("\\t"),
            Some(byte) => out.push_str(&format!("\\u{byte:04x}")),
        }
        rest = &rest[plain + 1..];
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
