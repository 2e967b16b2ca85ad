//! PCRE2 regular expressions with a cache per thread, output templates, global expressions.

use std::cell::RefCell;
use std::collections::HashMap;

use pcre2::bytes::{Captures, Regex, RegexBuilder};

/// Longest pattern, bytes.
pub const PATTERN_BYTES_MAX: usize = 65_536;

/// Compiled patterns that one thread keeps; beyond, the cache starts anew.
pub const CACHE_ENTRIES_MAX: usize = 4096;

/// A pattern that does not compile, or a match that took too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    /// The pattern is wrong.
    #[error("invalid regular expression pattern: {0}")]
    Pattern(String),
    /// Matching was given up (back-tracking limit).
    #[error("regular expression match failed: {0}")]
    Match(String),
}

/// Patterns that tell cases apart, and those that do not.
type Cache = [HashMap<Box<str>, Regex>; 2];

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

fn compile(pattern: &str, caseless: bool) -> Result<Regex, RegexError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(RegexError::Pattern("too long".to_owned()));
    }
    RegexBuilder::new()
        .multi_line(true)
        .utf(true)
        .caseless(caseless)
        .jit_if_available(true)
        .build(pattern)
        .map_err(|e| {
            let text = e.to_string();
            let at = e.offset().map_or_else(String::new, |o| format!(", position {o}"));
            let text = text.rsplit(": ").next().unwrap_or_default().to_owned();
            RegexError::Pattern(format!("{text}{at}"))
        })
}

/// Calls `f` with the compiled pattern, compiled at most once per thread.
pub fn with<R>(
    pattern: &str,
    caseless: bool,
    f: impl FnOnce(&Regex) -> Result<R, RegexError>,
) -> Result<R, RegexError> {
    CACHE.with_borrow_mut(|cache| {
        let cache = &mut cache[usize::from(caseless)];
        if let Some(regex) = cache.get(pattern) {
            return f(regex);
        }
        let regex = compile(pattern, caseless)?;
        if cache.len() >= CACHE_ENTRIES_MAX {
            cache.clear();
        }
        f(cache.entry(pattern.into()).or_insert(regex))
    })
}

/// The pattern compiles.
pub fn check(pattern: &str) -> Result<(), RegexError> {
    with(pattern, false, |_| Ok(()))
}

/// The pattern is found in the text.
pub fn is_match(pattern: &str, text: &str, caseless: bool) -> Result<bool, RegexError> {
    with(pattern, caseless, |r| r.is_match(text.as_bytes()).map_err(failed))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: pcre2::Error) -> RegexError {
    RegexError::Match(error.to_string())
}

/// The first match put into an output template (`\1`, `\0`, `\\`); `None` = no match. An empty
/// template gives the whole match.
pub fn substitute(
    pattern: &str,
    template: &str,
    text: &str,
    caseless: bool,
) -> Result<Option<String>, RegexError> {
    with(pattern, caseless, |regex| {
        let captures = regex.captures(text.as_bytes()).map_err(failed)?;
        Ok(captures.map(|c| expand(template, &c)))
    })
}

/// Replaces every match.
pub fn replace_all(pattern: &str, template: &str, text: &str) -> Result<String, RegexError> {
    with(pattern, false, |regex| {
        let mut out = Vec::with_capacity(text.len());
        let mut last = 0;
        for captures in regex.captures_iter(text.as_bytes()) {
            let captures = captures.map_err(failed)?;
            let Some(whole) = captures.get(0) else { continue };
            out.extend_from_slice(&text.as_bytes()[last..whole.start()]);
            out.extend_from_slice(expand(template, &captures).as_bytes());
            last = whole.end();
        }
        out.extend_from_slice(&text.as_bytes()[last..]);
        Ok(String::from_utf8_lossy(&out).into_owned())
    })
}

fn expand(template: &str, captures: &Captures<'_>) -> String {
    let group = |n: usize| {
        captures.get(n).map_or("", |m| std::str::from_utf8(m.as_bytes()).unwrap_or_default())
    };
    if template.is_empty() {
        return group(0).to_owned();
    }
    let mut out = String::new();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\\')) => {
                out.push('\\');
                chars.next();
            }
            ('\\', Some(d)) if d.is_ascii_digit() => {
                out.push_str(group(d.to_digit(10).unwrap_or(0) as usize));
                chars.next();
            }
            (c, _) => out.push(c),
        }
    }
    out
}

/// One expression of a global regular expression (`@name`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalExpression {
    /// What is tested.
    pub kind: GlobalKind,
    /// Pattern or text.
    pub expression: String,
    /// Upper and lower case differ.
    pub case_sensitive: bool,
}

/// The API's `expression_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobalKind {
    /// 0: the text is included
    Included,
    /// 1: one of the texts is included, separated by the delimiter
    AnyIncluded(char),
    /// 2: the text is not included
    NotIncluded,
    /// 3: the pattern matches
    True,
    /// 4: the pattern does not match
    False,
}

/// All expressions of a global regular expression hold for the text.
pub fn global_matches(expressions: &[GlobalExpression], text: &str) -> Result<bool, RegexError> {
    let contains = |needle: &str, exact: bool| {
        if exact {
            text.contains(needle)
        } else {
            text.to_lowercase().contains(&needle.to_lowercase())
        }
    };
    for e in expressions {
        let holds = match e.kind {
            GlobalKind::Included => contains(&e.expression, e.case_sensitive),
            GlobalKind::AnyIncluded(delimiter) => {
                e.expression.split(delimiter).any(|part| contains(part, e.case_sensitive))
            }
            GlobalKind::NotIncluded => !contains(&e.expression, e.case_sensitive),
            GlobalKind::True => is_match(&e.expression, text, !e.case_sensitive)?,
            GlobalKind::False => !is_match(&e.expression, text, !e.case_sensitive)?,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Global regular expressions by name, for `@name` in functions, filters and checks.
pub type GlobalRegexes = HashMap<String, Vec<GlobalExpression>>;

/// Matches a pattern or a global regular expression (`@name`).
pub fn is_match_or_global(
    pattern: &str,
    text: &str,
    caseless: bool,
    globals: &GlobalRegexes,
) -> Result<bool, RegexError> {
    match pattern.strip_prefix('@') {
        Some(name) => match globals.get(name) {
            Some(expressions) => global_matches(expressions, text),
            None => Err(RegexError::Pattern(format!(
                "global regular expression \"{name}\" does not exist"
            ))),
        },
        None => is_match(pattern, text, caseless),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        for (pattern, template, text, out) in [
            ("([0-9]+)", "\\1", "a 12 b", Some("12")),
            ("([0-9]+)", "<\\0>", "a 12 b", Some("<12>")),
            ("([0-9]+)", "", "a 12 b", Some("12")),
            ("(x)?(b)", "[\\1\\2\\3]", "ab", Some("[b]")),
            ("b", "\\\\", "ab", Some("\\")),
            ("b", "\\x", "ab", Some("\\x")),
            ("z", "\\0", "ab", None),
        ] {
            assert_eq!(substitute(pattern, template, text, false).unwrap().as_deref(), out);
        }
        assert_eq!(replace_all("(?=\\d)", "A", "0t12").unwrap(), "A0tA1A2");
        assert!(matches!(check("([0-9+)"), Err(RegexError::Pattern(_))));
        assert_eq!(is_match("^ö.$", "ÖÄ", true), Ok(true));
        // A match that explodes is given up, not waited for.
        let text = format!("{}b", "a".repeat(64));
        assert!(matches!(is_match("(a+)+$", &text, false), Err(RegexError::Match(_)) | Ok(false)));
    }

    #[test]
    fn globals() {
        let rule = |kind, text: &str, case_sensitive| GlobalExpression {
            kind,
            expression: text.to_owned(),
            case_sensitive,
        };
        let all = [
            rule(GlobalKind::AnyIncluded(','), "ext4,XFS", false),
            rule(GlobalKind::NotIncluded, "tmp", true),
            rule(GlobalKind::True, "^[a-z0-9]+$", true),
            rule(GlobalKind::False, "^nfs", true),
        ];
        for (text, fits) in [("xfs", true), ("EXT4", false), ("xfstmp", false), ("btrfs", false)] {
            assert_eq!(global_matches(&all, text), Ok(fits), "{text}");
        }
    }
}
