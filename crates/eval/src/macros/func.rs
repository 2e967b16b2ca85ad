//! Macro functions: `{{MACRO}.function(params)}`.

use base64::Engine as _;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::calendar::{Shift, Unit, WallTime, local};
use crate::num::parse_f64;
use crate::regex;

/// Pairs of pattern and replacement that one `regrepl` takes.
pub const REGREPL_PAIRS_MAX: usize = 64;

/// Longest result of a macro function, bytes.
pub const RESULT_BYTES_MAX: usize = 16 << 20;

/// What functions need to know beside their parameters.
#[derive(Debug, Clone, Copy)]
pub struct FunctionEnv<'a> {
    /// Time zone for `fmttime`.
    pub tz: &'a TimeZone,
}

/// Why a macro function gives no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MacroFunctionError {
    /// No such function.
    #[error("unknown macro function \"{0}\"")]
    Unknown(String),
    /// Wrong number or form of parameters.
    #[error("invalid parameters of macro function \"{0}\"")]
    Params(String),
    /// The value cannot be treated so.
    #[error("macro function \"{function}\" cannot be applied to the value: {reason}")]
    Value {
        function: String,
        /// What is wrong.
        reason: String,
    },
}

/// Splits the text between the parentheses into parameters: unquoted ones lose leading
/// spaces, in quoted ones `\"` and `\\` stand for the second character.
pub fn split_params(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    let mut params = Vec::new();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|b| **b == b' ').count();
        let mut value = String::new();
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            let mut chars = text[at..].chars();
            while let Some(c) = chars.next() {
                at += c.len_utf8();
                match c {
                    '"' => break,
                    '\\' if chars.as_str().starts_with('"') => {
                        value.push('"');
                        chars.next();
                        at += 1;
                    }
                    c => value.push(c),
                }
            }
            at += text[at..].find(',').unwrap_or(text.len() - at);
        } else {
            let len = text[at..].find(',').unwrap_or(text.len() - at);
            value.push_str(&text[at..at + len]);
            at += len;
        }
        params.push(value);
        if bytes.get(at) != Some(&b',') {
            return params;
        }
        at += 1;
    }
}

/// Applies a function to a macro's value. `params` = the text between the parentheses.
pub fn apply(
    function: &str,
    params: &str,
    value: &str,
    env: &FunctionEnv<'_>,
) -> Result<String, MacroFunctionError> {
    let params = split_params(params);
    let params: Vec<&str> = params.iter().map(String::as_str).collect();
    let wrong = || MacroFunctionError::Params(function.to_owned());
    let failed =
        |reason: String| MacroFunctionError::Value { function: function.to_owned(), reason };
    let encoder = base64::engine::general_purpose::STANDARD;
    match (function, &params[..]) {
        ("regsub" | "iregsub", [pattern, template]) => {
            let found = regex::substitute(pattern, template, value, function == "iregsub");
            Ok(found.map_err(|e| failed(e.to_string()))?.unwrap_or_default())
        }
        ("fmtnum", [digits]) => {
            let digits: usize = digits.parse().ok().filter(|d| *d <= 20).ok_or_else(wrong)?;
            // The field leaves whole numbers as they are.
            if crate::num::parse_u64(value).is_some() {
                return Ok(value.to_owned());
            }
            let number = parse_f64(value).ok_or_else(|| failed("it is not a number".to_owned()))?;
            Ok(format!("{number:.digits$}"))
        }
        ("fmttime", [format]) => format_time(value, format, "", env).map_err(failed),
        ("fmttime", [format, shift]) => format_time(value, format, shift, env).map_err(failed),
        ("regrepl", pairs) if !pairs.is_empty() && pairs.len() % 2 == 0 => {
            if pairs.len() / 2 > REGREPL_PAIRS_MAX {
                return Err(wrong());
            }
            let mut text = value.to_owned();
            for pair in pairs.chunks(2) {
                if pair[0].is_empty() {
                    continue;
                }
                text = regex::replace_all(pair[0], pair[1], &text)
                    .map_err(|e| failed(e.to_string()))?;
                if text.len() > RESULT_BYTES_MAX {
                    return Err(failed("the result is too long".to_owned()));
                }
            }
            Ok(text)
        }
        ("tr", [from, to]) => translate(value, from, to).ok_or_else(wrong),
        ("btoa", []) => Ok(encoder.encode(value)),
        ("lowercase", []) => Ok(value.to_ascii_lowercase()),
        ("uppercase", []) => Ok(value.to_ascii_uppercase()),
        ("urlencode", []) => Ok(url_encode(value)),
        ("urldecode", []) => Ok(url_decode(value)),
        ("htmlencode", []) => Ok(html_encode(value)),
        ("htmldecode", []) => Ok(html_decode(value)),
        (
            "regsub" | "iregsub" | "fmtnum" | "fmttime" | "regrepl" | "tr" | "btoa" | "lowercase"
            | "uppercase" | "urlencode" | "urldecode" | "htmlencode" | "htmldecode",
            _,
        ) => Err(wrong()),
        _ => Err(MacroFunctionError::Unknown(function.to_owned())),
    }
}

/// `value`: unix time, `2020-01-01T02:00:00` (with or without offset), `2020.01.01 02:00:00`,
/// a date or a time of today.
fn format_time(
    value: &str,
    format: &str,
    shift: &str,
    env: &FunctionEnv<'_>,
) -> Result<String, String> {
    let at = parse_time(value.trim(), env.tz).ok_or("it is not a time")?;
    let shift = Shift::parse(shift, Unit::Second).ok_or("invalid time shift")?;
    let wall = WallTime::of(&at);
    let shifted = shift.apply(wall, env.tz).and_then(|at| at.to_zoned(env.tz));
    let at = shifted.ok_or("the shifted time is out of range")?;
    jiff::fmt::strtime::format(format, &at).map_err(|e| e.to_string())
}

fn parse_time(value: &str, tz: &TimeZone) -> Option<jiff::Zoned> {
    if let Ok(second) = value.parse::<i64>() {
        return Some(local(second, tz));
    }
    if let Ok(at) = value.parse::<jiff::Timestamp>() {
        return Some(at.to_zoned(tz.clone()));
    }
    let wall = value.parse::<DateTime>().ok().or_else(|| {
        ["%Y.%m.%d %H:%M:%S", "%Y.%m.%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d"].iter().find_map(|f| {
            let parsed = jiff::fmt::strtime::parse(f, value).ok()?;
            let time = parsed.to_time().unwrap_or_default();
            Some(parsed.to_date().ok()?.to_datetime(time))
        })
    })?;
    wall.to_zoned(tz.clone()).ok()
}

/// Character sets of `tr`: ranges (`a-z`) and escapes.
fn expand_set(set: &str) -> Option<Vec<char>> {
    let mut chars = Vec::new();
    let mut rest = set.chars().peekable();
    while let Some(c) = rest.next() {
        let c = match (c, rest.peek()) {
            ('\\', Some(next)) => {
                let c = match next {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => *other,
                };
                rest.next();
                c
            }
            (c, _) => c,
        };
        let mut ahead = rest.clone();
        if ahead.next() == Some('-')
            && let Some(end) = ahead.next()
        {
            if end < c || u32::from(end) - u32::from(c) > 0xFFFF {
                return None;
            }
            chars.extend(c..=end);
            rest = ahead;
        } else {
            chars.push(c);
        }
    }
    Some(chars)
}

fn translate(value: &str, from: &str, to: &str) -> Option<String> {
    let (from, to) = (expand_set(from)?, expand_set(to)?);
    let last = to.last()?;
    let change = |c: char| match from.iter().rposition(|f| *f == c) {
        Some(at) => *to.get(at).unwrap_or(last),
        None => c,
    };
    Some(value.chars().map(change).collect())
}

/// RFC 3986: everything but letters, digits and `-._~` as `%XX`.
pub fn url_encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn url_decode(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| value.get(at + 1..at + 3))
            .flatten()
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        if let Some(byte) = hex {
            out.push(byte);
            at += 3;
        } else {
            out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

const ENTITIES: [(&str, &str); 5] =
    [("&", "&amp;"), ("\"", "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&#39;")];

fn html_encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        let entity = ENTITIES.iter().find(|(plain, _)| plain.starts_with(c));
        match entity {
            Some((_, entity)) => out.push_str(entity),
            None => out.push(c),
        }
    }
    out
}

fn html_decode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = ENTITIES
            .iter()
            .chain(&[("'", "&apos;"), ("'", "&#039;")])
            .find(|(_, entity)| rest.starts_with(entity));
        if let Some((plain, entity)) = known {
            out.push_str(plain);
            rest = &rest[entity.len()..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions() {
        let tz = TimeZone::UTC;
        for (call, value, out) in [
            ("regsub(([0-9]+), \\1)", "a 12", Some("12")),
            ("regsub(\"x\", \\1)", "a 12", Some("")),
            ("iregsub(\"A(.)\", \"<\\1>\")", "a 12", Some("< >")),
            ("regsub(a)", "a", None),
            ("fmtnum(2)", "3.14159", Some("3.14")),
            ("fmtnum(0)", "2.6", Some("3")),
            ("fmtnum(2)", "4000", Some("4000")),
            ("fmtnum(2)", "-4", Some("-4.00")),
            ("fmtnum(0)", "x", None),
            ("fmtnum(21)", "1", None),
            ("fmttime(%Y)", "0", Some("1970")),
            ("fmttime(\"%H:%M:%S\",-1h)", "2020-01-01T02:00:00", Some("01:00:00")),
            ("fmttime(\"%d\",/M+1M-1d)", "2020-02-10", Some("29")),
            ("fmttime(%Y,+1q)", "0", None),
            ("regrepl(a,b,b,c)", "aabb", Some("cccc")),
            ("tr(a-c,x-z)", "abcd", Some("xyzd")),
            ("tr(abc,x)", "abcd", Some("xxxd")),
            ("tr(c-a,x)", "abcd", None),
            ("btoa()", "M", Some("TQ==")),
            ("lowercase()", "AbÖ", Some("abÖ")),
            ("uppercase()", "aB", Some("AB")),
            ("urlencode()", "a b/ö~", Some("a%20b%2F%C3%B6~")),
            ("urldecode()", "a%20b%2F%C3%B6%", Some("a b/ö%")),
            ("htmlencode()", "<a&'\">", Some("&lt;a&amp;&#39;&quot;&gt;")),
            ("htmldecode()", "&lt;a&amp;&#39;&x", Some("<a&'&x")),
            ("btoa(1)", "", None),
            ("nothing()", "", None),
        ] {
            let (name, params) = call.split_once('(').unwrap();
            let params = params.strip_suffix(')').unwrap();
            let got = apply(name, params, value, &FunctionEnv { tz: &tz });
            assert_eq!(got.ok().as_deref(), out, "{call}");
        }
    }

    #[test]
    fn parameters() {
        for (text, params) in [
            ("", vec![]),
            ("a", vec!["a"]),
            ("a, b ,\"c,\\\"d\"", vec!["a", "b ", "c,\"d"]),
            (",a", vec!["", "a"]),
            ("\"a\" ,", vec!["a", ""]),
            ("\"open", vec!["open"]),
        ] {
            assert_eq!(split_params(text), params, "{text}");
        }
    }
}
