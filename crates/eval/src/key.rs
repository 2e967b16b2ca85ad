//! Item keys: `name[param,"quoted",[array,of]]`.

use std::fmt::{self, Write as _};

/// Longest key that the API stores, in characters.
pub const KEY_CHARS_MAX: usize = 2048;

/// A parsed item key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemKey {
    /// What stands before the bracket.
    pub name: String,
    /// Parameters; `None` = the key has no brackets (`key[]` has one empty parameter).
    pub params: Option<Vec<KeyParam>>,
}

/// One parameter of an item key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyParam {
    /// A value, without its quotes.
    Text {
        value: String,
        /// It was written in quotes; kept so that the key comes out as it went in.
        quoted: bool,
    },
    /// An array; its elements are all [`KeyParam::Text`].
    Array(Vec<Self>),
}

/// Why a text is not an item key. The position counts bytes from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nothing there.
    #[error("key is empty")]
    Empty,
    /// The text does not start like a key, or its brackets do not match.
    #[error("incorrect syntax near \"{near}\"")]
    Syntax {
        /// The text from the offending place on.
        near: String,
        /// Where that is.
        at: usize,
    },
}

impl KeyError {
    fn at(text: &str, at: usize) -> Self {
        Self::Syntax { near: text.get(at..).unwrap_or_default().to_owned(), at }
    }
}

impl ItemKey {
    /// Parses a text that is exactly one key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (key, len) = Self::parse_prefix(text)?;
        if len == text.len() { Ok(key) } else { Err(KeyError::at(text, len)) }
    }

    /// Parses the longest key at the start of `text`; gives its length in bytes too.
    pub fn parse_prefix(text: &str) -> Result<(Self, usize), KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        let name_len = text.bytes().take_while(|b| is_name_byte(*b)).count();
        if name_len == 0 {
            return Err(KeyError::at(text, 0));
        }
        let name = text[..name_len].to_owned();
        if text.as_bytes().get(name_len) != Some(&b'[') {
            return Ok((Self { name, params: None }, name_len));
        }
        let (params, end) = parse_list(text, name_len + 1, false)?;
        Ok((Self { name, params: Some(params) }, end))
    }

    /// The parameter at `index` as text; `None` if absent. An array comes in its written form
    /// without the brackets, as agents see it.
    pub fn param(&self, index: usize) -> Option<String> {
        match self.params.as_ref()?.get(index)? {
            KeyParam::Text { value, .. } => Some(value.clone()),
            KeyParam::Array(elements) => {
                let mut out = String::new();
                write_list(&mut out, elements);
                Some(out)
            }
        }
    }

    /// The same name and parameter values, however they are quoted.
    pub fn same_values(&self, other: &Self) -> bool {
        fn same(a: &KeyParam, b: &KeyParam) -> bool {
            match (a, b) {
                (KeyParam::Text { value: a, .. }, KeyParam::Text { value: b, .. }) => a == b,
                (KeyParam::Array(a), KeyParam::Array(b)) => all_same(a, b),
                _ => false,
            }
        }
        fn all_same(a: &[KeyParam], b: &[KeyParam]) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        let params = |key: &Self| key.params.clone().unwrap_or_default();
        self.name == other.name
            && self.params.is_some() == other.params.is_some()
            && all_same(&params(self), &params(other))
    }

    /// Number of parameters; 0 without brackets.
    pub fn param_count(&self) -> usize {
        self.params.as_ref().map_or(0, Vec::len)
    }
}

impl fmt::Display for ItemKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(params) = &self.params {
            let mut out = String::new();
            write_list(&mut out, params);
            write!(f, "[{out}]")?;
        }
        Ok(())
    }
}

fn write_list(out: &mut String, list: &[KeyParam]) {
    for (index, param) in list.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match param {
            KeyParam::Text { value, quoted } => {
                out.push_str(&quote_param(value, *quoted).unwrap_or_else(|| value.clone()));
            }
            KeyParam::Array(elements) => {
                out.push('[');
                write_list(out, elements);
                out.push(']');
            }
        }
    }
}

/// A parameter as it has to be written: in quotes if `force`d or if it would otherwise end
/// early. `None` = it cannot be written at all (a quoted value must not end in `\`).
pub fn quote_param(value: &str, force: bool) -> Option<String> {
    let needs = force || value.starts_with(['"', ' ', '[']) || value.contains([',', ']']);
    if !needs {
        return Some(value.to_owned());
    }
    if value.ends_with('\\') {
        return None;
    }
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        if c == '"' {
            out.push('\\');
        }
        let _ = out.write_char(c);
    }
    out.push('"');
    Some(out)
}

/// The key with every parameter value changed, those in arrays too. All else stays as it is
/// written: spaces, and quotes where they were; values that need quotes now get them.
pub fn map_params(key: &str, change: &mut dyn FnMut(&str) -> String) -> Result<String, KeyError> {
    let parsed = ItemKey::parse(key)?;
    if parsed.params.is_none() {
        return Ok(key.to_owned());
    }
    let from = parsed.name.len() + 1;
    let mut out = key[..from].to_owned();
    let end = map_list(key, from, &mut out, change)?;
    out.push_str(&key[end..]);
    Ok(out)
}

/// Copies parameters from `from` (behind the bracket) up to the closing bracket of a key that can
/// be parsed; gives where that is.
fn map_list(
    key: &str,
    from: usize,
    out: &mut String,
    change: &mut dyn FnMut(&str) -> String,
) -> Result<usize, KeyError> {
    let bytes = key.as_bytes();
    let mut at = from;
    loop {
        let start = at + spaces(bytes, at);
        out.push_str(&key[at..start]);
        let (value, end) = match bytes.get(start) {
            Some(b'[') => {
                out.push('[');
                let close = map_list(key, start + 1, out, change)?;
                out.push(']');
                (None, close + 1)
            }
            Some(b'"') => {
                let (value, end) = parse_quoted(key, start)?;
                (Some((value, true)), end)
            }
            _ => {
                let rest = &bytes[start..];
                let len = rest.iter().take_while(|b| !matches!(b, b',' | b']')).count();
                (Some((key[start..start + len].to_owned(), false)), start + len)
            }
        };
        if let Some((value, quoted)) = value {
            let new = change(&value);
            if new == value {
                out.push_str(&key[start..end]);
            } else {
                // A quoted value cannot end in a backslash: perhaps it needs no quotes.
                let written = quote_param(&new, quoted).or_else(|| quote_param(&new, false));
                out.push_str(&written.ok_or_else(|| KeyError::at(&new, 0))?);
            }
        }
        let next = end + spaces(bytes, end);
        out.push_str(&key[end..next]);
        match bytes.get(next) {
            Some(b',') => out.push(','),
            _ => return Ok(next),
        }
        at = next + 1;
    }
}

/// A byte that can stand in a key's name.
pub const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Parses parameters from `from` (behind the bracket) through the closing bracket.
fn parse_list(text: &str, from: usize, nested: bool) -> Result<(Vec<KeyParam>, usize), KeyError> {
    let bytes = text.as_bytes();
    let mut params = Vec::new();
    let mut at = from;
    loop {
        at += spaces(bytes, at);
        let param = match bytes.get(at) {
            Some(b'"') => {
                let (value, end) = parse_quoted(text, at)?;
                at = end + spaces(bytes, end);
                KeyParam::Text { value, quoted: true }
            }
            Some(b'[') if !nested => {
                let (elements, end) = parse_list(text, at + 1, true)?;
                at = end + spaces(bytes, end);
                KeyParam::Array(elements)
            }
            Some(b'[') => return Err(KeyError::at(text, at)),
            _ => {
                let len = bytes[at..].iter().take_while(|b| !matches!(b, b',' | b']')).count();
                let value = text[at..at + len].to_owned();
                at += len;
                KeyParam::Text { value, quoted: false }
            }
        };
        params.push(param);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b']') => return Ok((params, at + 1)),
            _ => return Err(KeyError::at(text, at)),
        }
    }
}

fn spaces(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().take_while(|b| **b == b' ').count()
}

/// Parses the quoted text that starts at `from`; only `\"` is an escape.
fn parse_quoted(text: &str, from: usize) -> Result<(String, usize), KeyError> {
    let mut value = String::new();
    let mut chars = text[from + 1..].char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        match c {
            '"' => return Ok((value, from + 1 + offset + 1)),
            '\\' if matches!(chars.peek(), Some((_, '"'))) => {
                value.push('"');
                chars.next();
            }
            c => value.push(c),
        }
    }
    Err(KeyError::at(text, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for (text, parsed) in [
            ("key", Some("key")),
            ("key[]", Some("key[]")),
            ("key[ \"\" ]", Some("key[ \"\" ]")),
            ("key[a,b][c]", Some("key[a,b]")),
            ("key[a[b]]", Some("key[a[b]")),
            ("key[\"a\\\"]\"]x", Some("key[\"a\\\"]\"]")),
            ("vfs.fs.size[/,pused]", Some("vfs.fs.size[/,pused]")),
            ("ssh,21", Some("ssh")),
            ("[a]", None),
            ("key[a", None),
            ("key[\"a]", None),
            ("key[[a],b", None),
            ("key[[[a]]]", None),
            ("key[\"a\"b]", None),
            ("", None),
        ] {
            let got = ItemKey::parse_prefix(text).ok().map(|(_, len)| &text[..len]);
            assert_eq!(got, parsed, "{text}");
        }
    }

    #[test]
    fn parameters_and_back() {
        let key = ItemKey::parse("k[a, \"b,\\\"c\\\"\" ,[d,\"e\"],]").unwrap();
        assert_eq!(key.param(0).as_deref(), Some("a"));
        assert_eq!(key.param(1).as_deref(), Some("b,\"c\""));
        assert_eq!(key.param(2).as_deref(), Some("d,\"e\""));
        assert_eq!(key.param(3).as_deref(), Some(""));
        assert_eq!(key.param(4), None);
        assert_eq!(key.to_string(), "k[a,\"b,\\\"c\\\"\",[d,\"e\"],]");
        assert_eq!(quote_param("a]\\", false), None);
    }

    #[test]
    fn changed_parameters() {
        for (key, changed) in [
            ("k", Some("k")),
            ("k[]", Some("k[]")),
            ("k[{#A}]", Some("k[\"x,y\"]")),
            ("k[{#B}, {#B}]", Some("k[two, two]")),
            ("k[ {#B} ,\"{#B}\" , c ]", Some("k[ two ,\"two\" , c ]")),
            ("k[\"q\", [{#B}, b], {#A}]", Some("k[\"q\", [two, b], \"x,y\"]")),
            ("k[\"a\\\"b\",{#B}]", Some("k[\"a\\\"b\",two]")),
            ("k[\"{#C}\"]", Some("k[c:\\]")),
            ("k[\",{#C}\"]", None),
            ("k[{#C}]", Some("k[c:\\]")),
            ("k[{#B}", None),
        ] {
            let row = [("{#A}", "x,y"), ("{#B}", "two"), ("{#C}", "c:\\")];
            let mut change =
                |text: &str| row.iter().fold(text.to_owned(), |t, (name, v)| t.replace(name, v));
            assert_eq!(map_params(key, &mut change).ok().as_deref(), changed, "{key}");
        }
    }
}
