//! PCRE2 regular expressions with a cache per thread, output templates, global expressions.

use std::cell::RefCell;
use std::collections::HashMap;

use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};

/// Longest pattern, bytes.
pub const PATTERN_BYTES_MAX: usize = 65_536;

/// Compiled patterns that one thread keeps; beyond, the cache starts over.
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

/// How a pattern is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// `^` and `$` match at line ends: tests, filters, macro functions.
    Lines = 0,
    /// The same, whatever the case of letters.
    Caseless = 1,
    /// `^` and `$` match at the ends of the text: the steps that extract.
    Whole = 2,
}

/// A compiled pattern with room for its groups.
struct Entry {
    regex: Regex,
    found: CaptureLocations,
}

type Cache = [HashMap<Box<str>, Entry, foldhash::fast::RandomState>; 3];

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

fn compile(pattern: &str, mode: Mode) -> Result<Regex, RegexError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(RegexError::Pattern("too long".to_owned()));
    }
    RegexBuilder::new()
        .multi_line(mode != Mode::Whole)
        .utf(true)
        .caseless(mode == Mode::Caseless)
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
fn with<R>(
    pattern: &str,
    mode: Mode,
    f: impl FnOnce(&mut Entry) -> Result<R, RegexError>,
) -> Result<R, RegexError> {
    CACHE.with_borrow_mut(|cache| {
        let cache = &mut cache[mode as usize];
        if let Some(entry) = cache.get_mut(pattern) {
            return f(entry);
        }
        let regex = compile(pattern, mode)?;
        if cache.len() >= CACHE_ENTRIES_MAX {
            cache.clear();
        }
        let found = regex.capture_locations();
        f(cache.entry(pattern.into()).or_insert(Entry { regex, found }))
    })
}

fn mode(caseless: bool) -> Mode {
    if caseless { Mode::Caseless } else { Mode::Lines }
}

/// The pattern compiles.
pub fn check(pattern: &str) -> Result<(), RegexError> {
    with(pattern, Mode::Lines, |_| Ok(()))
}

/// The pattern is found in the text.
pub fn is_match(pattern: &str, text: &str, caseless: bool) -> Result<bool, RegexError> {
    with(pattern, mode(caseless), |e| e.regex.is_match(text.as_bytes()).map_err(failed))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: pcre2::Error) -> RegexError {
    RegexError::Match(error.to_string())
}

/// The first match put into an output template (`\1`, `\0`, `\\`); `None` = no match. An empty
/// template gives the whole text.
pub fn substitute(
    pattern: &str,
    template: &str,
    text: &str,
    caseless: bool,
) -> Result<Option<String>, RegexError> {
    first_match(pattern, template, text, mode(caseless))
}

/// Like [`substitute`], as steps extract: `^` and `$` stand for the ends of the text.
pub fn extract(pattern: &str, template: &str, text: &str) -> Result<Option<String>, RegexError> {
    first_match(pattern, template, text, Mode::Whole)
}

fn first_match(
    pattern: &str,
    template: &str,
    text: &str,
    mode: Mode,
) -> Result<Option<String>, RegexError> {
    with(pattern, mode, |entry| {
        let Entry { regex, found } = entry;
        if regex.captures_read(found, text.as_bytes()).map_err(failed)?.is_none() {
            return Ok(None);
        }
        if template.is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let group = |n| found.get(n).and_then(|(from, to)| text.get(from..to)).unwrap_or_default();
        Ok(Some(expand(template, group)))
    })
}

/// Bytes that [`replace_all`] may look at. PCRE2 checks the rest of the text for valid UTF-8 before
/// each match, so that many matches in a long text are quadratic: this is a quarter of a second.
const REPLACE_WORK_MAX: usize = 1 << 28;

/// Replaces every match; refuses what would take too long.
pub fn replace_all(pattern: &str, template: &str, text: &str) -> Result<String, RegexError> {
    with(pattern, Mode::Lines, |entry| {
        let mut out = Vec::with_capacity(text.len());
        let (mut last, mut work) = (0, 0_usize);
        for captures in entry.regex.captures_iter(text.as_bytes()) {
            let captures = captures.map_err(failed)?;
            let Some(whole) = captures.get(0) else { continue };
            work += text.len() - whole.start();
            if work > REPLACE_WORK_MAX {
                return Err(RegexError::Match("too many matches in too long a text".to_owned()));
            }
            out.extend_from_slice(&text.as_bytes()[last..whole.start()]);
            let group = |n| {
                let found = captures.get(n).map_or(&[][..], |m| m.as_bytes());
                std::str::from_utf8(found).unwrap_or_default()
            };
            // Unlike elsewhere an empty template keeps what was found.
            let new =
                if template.is_empty() { group(0).to_owned() } else { expand(template, group) };
            out.extend_from_slice(new.as_bytes());
            last = whole.end();
        }
        out.extend_from_slice(&text.as_bytes()[last..]);
        Ok(String::from_utf8_lossy(&out).into_owned())
    })
}

fn expand<'t>(template: &str, group: impl Fn(usize) -> &'t str) -> String {
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

impl GlobalKind {
    /// The kind with this number of the API; `delimiter` is between the texts of the second.
    pub const fn new(number: u8, delimiter: char) -> Self {
        match number {
            0 => Self::Included,
            1 => Self::AnyIncluded(delimiter),
            2 => Self::NotIncluded,
            3 => Self::True,
            _ => Self::False,
        }
    }
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
            ("([0-9]+)", "", "a 12 b", Some("a 12 b")),
            ("(x)?(b)", "[\\1\\2\\3]", "ab", Some("[b]")),
            ("b", "\\\\", "ab", Some("\\")),
            ("b", "\\x", "ab", Some("\\x")),
            ("z", "\\0", "ab", None),
        ] {
            assert_eq!(substitute(pattern, template, text, false).unwrap().as_deref(), out);
        }
        let long = "a".repeat(1 << 20);
        assert!(replace_all("a", "b", &long).is_err());
        assert_eq!(replace_all("a$", "b", &long).map(|text| text.len()), Ok(long.len()));
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
