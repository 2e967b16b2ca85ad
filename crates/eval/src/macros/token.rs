//! Finds macros in texts.

use std::ops::Range;

use super::user::UserMacro;

/// A macro in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// Bytes of the text that it takes, braces included.
    pub span: Range<usize>,
    /// What it is.
    pub kind: TokenKind<'a>,
}

/// Kinds of macros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenKind<'a> {
    /// `{$NAME:context}`
    User(UserMacro),
    /// `{#NAME}`; the name with braces and hash.
    Lld(&'a str),
    /// `{HOST.NAME}`, `{ITEM.VALUE2}`, `{EVENT.TAGS.service}`
    Builtin {
        /// Name without braces and index (`ITEM.VALUE`); tag names and the like stay inside.
        name: &'a str,
        /// The digit 1 to 9 behind the name.
        index: Option<u8>,
    },
    /// `{?expression}`; the text behind the question mark.
    Expression(&'a str),
    /// `{12345}` in a stored trigger expression.
    FunctionId(u64),
    /// `{{MACRO}.function(params)}`
    Function {
        /// The macro whose value the function changes.
        inner: Box<Token<'a>>,
        /// Name of the function.
        function: &'a str,
        /// Text between the parentheses.
        params: &'a str,
    },
}

impl Token<'_> {
    /// A user macro, with or without a function.
    pub fn is_user_macro(&self) -> bool {
        match &self.kind {
            TokenKind::User(_) => true,
            TokenKind::Function { inner, .. } => inner.is_user_macro(),
            _ => false,
        }
    }

    /// An LLD macro, with or without a function.
    pub fn is_lld_macro(&self) -> bool {
        match &self.kind {
            TokenKind::Lld(_) => true,
            TokenKind::Function { inner, .. } => inner.is_lld_macro(),
            _ => false,
        }
    }
}

/// What is longer is no expression macro; without a bound, each one that is not closed would be
/// looked for up to the end of the text.
const EXPRESSION_BYTES_MAX: usize = 2048;

/// Longest quoted text, tag name or list of parameters; without a bound, each one that is not closed
/// would be looked for up to the end of the text.
const PART_BYTES_MAX: usize = 8192;

/// All macros of a text from left to right; what only looks like one is skipped.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let token = next_token(text, at)?;
        at = token.span.end;
        Some(token)
    })
}

/// The first macro that starts at byte `at` or later.
pub(super) fn next_token(text: &str, mut at: usize) -> Option<Token<'_>> {
    while let Some(brace) = text.get(at..)?.find('{') {
        let start = at + brace;
        if let Some(token) = token_at(text, start) {
            return Some(token);
        }
        at = start + 1;
    }
    None
}

/// The macro that starts exactly at byte `at`.
pub fn token_at(text: &str, at: usize) -> Option<Token<'_>> {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let (len, kind) = match bytes.get(1)? {
        b'$' => {
            let (user, len) = UserMacro::parse_prefix(rest).ok()?;
            (len, TokenKind::User(user))
        }
        b'#' => {
            let len = name_len(rest, 2);
            (len > 2 && bytes.get(len) == Some(&b'}'))
                .then(|| (len + 1, TokenKind::Lld(&rest[..=len])))?
        }
        b'?' => {
            let end = expression_end(rest)?;
            (end + 1, TokenKind::Expression(&rest[2..end]))
        }
        b'{' => return function_at(text, at),
        b'0'..=b'9' => {
            let len = 1 + bytes[1..].iter().take_while(|b| b.is_ascii_digit()).count();
            if bytes.get(len) != Some(&b'}') {
                return None;
            }
            (len + 1, TokenKind::FunctionId(rest[1..len].parse().ok()?))
        }
        b'A'..=b'Z' => builtin(rest)?,
        _ => return None,
    };
    Some(Token { span: at..at + len, kind })
}

fn name_len(text: &str, from: usize) -> usize {
    let name = |b: &&u8| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.');
    from + text.as_bytes()[from..].iter().take_while(name).count()
}

/// Beginnings of macros whose name ends with the name of a tag.
const TAGGED: &[&str] =
    &["EVENT.TAGS.", "EVENT.RECOVERY.TAGS.", "EVENT.CAUSE.TAGS.", "SERVICE.TAGS."];

/// The value of the tag that the end of a macro's name means, in quotes or not: `service` of
/// `{EVENT.TAGS.service}`. Of several values, the first in the order of the alphabet.
pub fn tag_value<'t>(
    tags: impl Iterator<Item = (&'t str, &'t str)>,
    written: &str,
) -> Option<&'t str> {
    let name = match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => written.to_owned(),
    };
    tags.filter(|(tag, _)| *tag == name).map(|(_, value)| value).min()
}

/// The bytes from `from` on in which a part of a macro must end.
fn near(text: &str, from: usize) -> &[u8] {
    let bytes = text.as_bytes();
    &bytes[from.min(bytes.len())..bytes.len().min(from + PART_BYTES_MAX)]
}

/// `{HOST.NAME}`, `{EVENT.TAGS.any tag}`, `{EVENT.TAGS."quoted}"}`
fn builtin(rest: &str) -> Option<(usize, TokenKind<'_>)> {
    let bytes = rest.as_bytes();
    let mut len = name_len(rest, 1);
    let tagged = TAGGED.iter().find(|prefix| rest[1..].starts_with(**prefix));
    if let Some(prefix) = tagged {
        let from = 1 + prefix.len();
        len = if bytes.get(from) == Some(&b'"') {
            quoted_end(rest, from)?
        } else {
            from + near(rest, from).iter().position(|b| *b == b'}')?
        };
    }
    if bytes.get(len) != Some(&b'}') {
        return None;
    }
    let full = &rest[1..len];
    let last = full.as_bytes().last()?;
    // `{ALERT.SENDTO}` has no index, `{ITEM.VALUE2}` and `{HOST.IP1}` have.
    let (name, index) = match last {
        b'1'..=b'9' if tagged.is_none() && full.len() > 1 => {
            (&full[..full.len() - 1], Some(last - b'0'))
        }
        _ => (full, None),
    };
    Some((len + 1, TokenKind::Builtin { name, index }))
}

/// End (behind the closing quote) of the quoted text at `from`; `\"` and `\\` are escapes.
fn quoted_end(text: &str, from: usize) -> Option<usize> {
    let bytes = near(text, from);
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(from + at + 1),
            b'\\' if matches!(bytes.get(at + 1), Some(b'"' | b'\\')) => at += 2,
            _ => at += 1,
        }
    }
}

/// The closing brace of `{?…}`: macros and quoted texts inside are stepped over.
fn expression_end(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut at = 2;
    while at < EXPRESSION_BYTES_MAX {
        match bytes.get(at)? {
            b'}' => return (at > 2).then_some(at),
            b'"' => at = quoted_end(rest, at)?,
            // No expression macro inside an expression macro, nor a function over one: the depth
            // stays bounded.
            b'{' if !matches!(&bytes[at + 1..], [b'?', ..] | [b'{', b'?', ..]) => {
                at = token_at(rest, at).map_or(at + 1, |t| t.span.end);
            }
            _ => at += 1,
        }
    }
    None
}

/// `{{MACRO}.function(params)}`
fn function_at(text: &str, at: usize) -> Option<Token<'_>> {
    if text.as_bytes().get(at + 2) == Some(&b'{') {
        return None;
    }
    let inner = token_at(text, at + 1)?;
    let after = text[inner.span.end..].strip_prefix('.')?;
    let from = inner.span.end + 1;
    let name_len = after.bytes().take_while(|b| b.is_ascii_lowercase()).count();
    if name_len == 0 || after.as_bytes().get(name_len) != Some(&b'(') {
        return None;
    }
    let open = from + name_len;
    let close = params_end(text, open + 1)?;
    if text.as_bytes().get(close + 1) != Some(&b'}') {
        return None;
    }
    let kind = TokenKind::Function {
        function: &text[from..open],
        params: &text[open + 1..close],
        inner: Box::new(inner),
    };
    Some(Token { span: at..close + 2, kind })
}

/// The closing parenthesis of a parameter list that starts at `from`.
fn params_end(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut start = true;
    while at < from + PART_BYTES_MAX {
        match bytes.get(at)? {
            b'"' if start => {
                at = quoted_end(text, at)?;
                start = false;
            }
            b',' => {
                start = true;
                at += 1;
            }
            b' ' => at += 1,
            b')' => return Some(at),
            _ => {
                start = false;
                at += 1;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_never_closed_costs_little() {
        // Each further level used to double the time.
        let text = "{{?1+".repeat(800);
        assert_eq!(tokens(&text).count(), 0);
    }

    #[test]
    fn parts_that_are_not_closed_cost_little() {
        for part in
            ["{$A:\"", "{$A:", "{EVENT.TAGS.\"", "{EVENT.TAGS.", "{{A}.b(", "{{A}.b(\"", "{{"]
        {
            let text = part.repeat(65_536 / part.len());
            let inner = usize::from(part.starts_with("{{A"));
            assert_eq!(tokens(&text).count(), inner * (65_536 / part.len()), "{part}");
        }
    }

    #[test]
    fn finds_tokens() {
        for (text, found) in [
            ("a {$M} b {$M:ctx} {$M:\"c}\"}", vec!["{$M}", "{$M:ctx}", "{$M:\"c}\"}"]),
            ("{#A}{#B.C_1} {#} {#a}", vec!["{#A}", "{#B.C_1}"]),
            ("{HOST.NAME} {ITEM.VALUE2} {x}", vec!["{HOST.NAME}", "{ITEM.VALUE2}"]),
            (
                "{EVENT.TAGS.a b} {EVENT.TAGS.\"a}\"}",
                vec!["{EVENT.TAGS.a b}", "{EVENT.TAGS.\"a}\"}"],
            ),
            ("{?last(/{HOST.HOST}/k)}", vec!["{?last(/{HOST.HOST}/k)}"]),
            ("{?last(/h/k[\"}\"])}", vec!["{?last(/h/k[\"}\"])}"]),
            ("{123} {12a}", vec!["{123}"]),
            (
                "{{ITEM.VALUE}.regsub(\"(a)}\", \\1)} {{#A}.x(1)}",
                vec!["{{ITEM.VALUE}.regsub(\"(a)}\", \\1)}", "{{#A}.x(1)}"],
            ),
            ("{{$M}.btoa()} {{{", vec!["{{$M}.btoa()}"]),
            ("{{HOST.NAME} x", vec!["{HOST.NAME}"]),
            ("{", vec![]),
            ("{$", vec![]),
            ("{#𝋀", vec![]),
            ("{?{{?1}.fmtnum(2)}} {?2}", vec!["{?{{?1}", "{?2}"]),
        ] {
            let got: Vec<_> = tokens(text).map(|t| &text[t.span]).collect();
            assert_eq!(got, found, "{text}");
        }
    }

    #[test]
    fn built_in_names() {
        for (text, name, index) in [
            ("{HOST.NAME}", "HOST.NAME", None),
            ("{HOST.NAME3}", "HOST.NAME", Some(3)),
            ("{EVENT.TAGS.cpu1}", "EVENT.TAGS.cpu1", None),
            ("{EVENT.CAUSE.TAGS.Cpu 1}", "EVENT.CAUSE.TAGS.Cpu 1", None),
            ("{SERVICE.TAGS.team}", "SERVICE.TAGS.team", None),
            ("{EVENT.TAGS.\"a}1\"}", "EVENT.TAGS.\"a}1\"", None),
        ] {
            assert_eq!(token_at(text, 0).unwrap().kind, TokenKind::Builtin { name, index });
        }
    }
}
