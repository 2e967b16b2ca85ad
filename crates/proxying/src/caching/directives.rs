//! Directives of Cache-Control (RFC 9111, 5.2).

use super::values;
use crate::http1::{Field, is_token, trim};

/// Larger numbers of seconds count as this one (RFC 9111, 1.2.2).
pub(super) const SECONDS_MOST: u64 = 1 << 31;

/// A list member that is neither a token nor a token with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Malformed;

/// A directive: its name, and its argument without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Directive<'a> {
    name: &'a [u8],
    argument: Option<&'a [u8]>,
}

impl Directive<'_> {
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// The argument as a number of seconds; `None`: it is none.
    fn seconds(&self) -> Option<u64> {
        seconds(self.argument?)
    }
}

/// A number of seconds (RFC 9111, 1.2.2).
pub(super) fn seconds(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    });
    Some(number.unwrap_or(SECONDS_MOST).min(SECONDS_MOST))
}

/// The length of a list member: up to a comma outside of quoted strings.
fn member(list: &[u8]) -> Result<usize, Malformed> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in list.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => return Ok(at),
            _ => {}
        }
    }
    if quoted { Err(Malformed) } else { Ok(list.len()) }
}

/// The content of a token or a quoted string, with its escapes.
fn argument(text: &[u8]) -> Result<&[u8], Malformed> {
    if is_token(text) {
        return Ok(text);
    }
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    // A quote ends the string before its last byte: `"a"b"`.
    let (inner, mut escaped) = (inner.ok_or(Malformed)?, false);
    for byte in inner {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Err(Malformed),
            _ => {}
        }
    }
    if escaped { Err(Malformed) } else { Ok(inner) }
}

fn directive(text: &[u8]) -> Result<Directive<'_>, Malformed> {
    let (name, value) = match memchr::memchr(b'=', text) {
        Some(at) => (&text[..at], Some(argument(&text[at + 1..])?)),
        None => (text, None),
    };
    if is_token(name) { Ok(Directive { name, argument: value }) } else { Err(Malformed) }
}

/// Calls `each` with every directive of a field's value.
fn parse<'a>(mut list: &'a [u8], mut each: impl FnMut(Directive<'a>)) -> Result<(), Malformed> {
    while !list.is_empty() {
        let length = member(list)?;
        let text = trim(&list[..length]);
        if !text.is_empty() {
            each(directive(text)?);
        }
        list = list.get(length + 1..).unwrap_or_default();
    }
    Ok(())
}

/// What a client demands of caches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestDirectives {
    /// Neither the request nor its response is stored, or a directive is malformed.
    pub no_store: bool,
    /// A stored response is validated before it is used; also by `Pragma: no-cache`.
    pub no_cache: bool,
    /// The server is not to be asked.
    pub only_if_cached: bool,
    /// Largest age in seconds.
    pub max_age_s: Option<u64>,
    /// Smallest remaining freshness in seconds.
    pub min_fresh_s: Option<u64>,
}

impl RequestDirectives {
    /// The directives of a request with these fields. `max-stale` allows what is never done, and is ignored.
    #[must_use]
    pub fn of(fields: &[Field<'_>]) -> Self {
        let mut all = Self::default();
        let mut present = false;
        for value in values(fields, "cache-control") {
            present = true;
            let parsed = parse(value, |one| {
                all.no_store |= one.is("no-store");
                all.no_cache |= one.is("no-cache");
                all.only_if_cached |= one.is("only-if-cached");
                if one.is("max-age") {
                    let seconds = one.seconds().unwrap_or(0);
                    all.max_age_s = Some(all.max_age_s.unwrap_or(seconds).min(seconds));
                }
                if one.is("min-fresh") {
                    let seconds = one.seconds().unwrap_or(SECONDS_MOST);
                    all.min_fresh_s = Some(all.min_fresh_s.unwrap_or(0).max(seconds));
                }
            });
            all.no_store |= parsed.is_err();
        }
        if !present {
            let pragma = |value| parse(value, |one| all.no_cache |= one.is("no-cache"));
            // Pragma has no other meaning, so what is malformed has none.
            let _parsed: Vec<_> = values(fields, "pragma").map(pragma).collect();
        }
        all
    }
}

/// What a server demands of caches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseDirectives {
    /// It is not stored: `no-store`, `private` also with names of fields, or a malformed directive.
    pub no_store: bool,
    /// It is validated before each use: `no-cache`, also with names of fields.
    pub no_cache: bool,
    /// It is for all users, also if the request has credentials.
    pub public: bool,
    /// It is never used stale: `must-revalidate` or `proxy-revalidate`.
    pub must_revalidate: bool,
    /// Freshness in seconds.
    pub max_age_s: Option<u64>,
    /// Freshness in shared caches in seconds.
    pub s_maxage_s: Option<u64>,
    /// How many seconds it may stand in for a server that fails (RFC 5861, 4).
    pub stale_if_error_s: Option<u64>,
    /// How many seconds it may be used while it is validated (RFC 5861, 3).
    pub stale_while_revalidate_s: Option<u64>,
}

impl ResponseDirectives {
    /// The directives of a response with these fields. Of repeated ones the strictest counts.
    #[must_use]
    pub fn of(fields: &[Field<'_>]) -> Self {
        let mut all = Self::default();
        let strictest = |own: &mut Option<u64>, seconds: Option<u64>| {
            let seconds = seconds.unwrap_or(0);
            *own = Some(own.unwrap_or(seconds).min(seconds));
        };
        for value in values(fields, "cache-control") {
            let parsed = parse(value, |one| {
                all.no_store |= one.is("no-store") || one.is("private");
                all.no_cache |= one.is("no-cache");
                all.public |= one.is("public");
                all.must_revalidate |= one.is("must-revalidate") || one.is("proxy-revalidate");
                if one.is("max-age") {
                    strictest(&mut all.max_age_s, one.seconds());
                } else if one.is("s-maxage") {
                    strictest(&mut all.s_maxage_s, one.seconds());
                } else if one.is("stale-if-error") {
                    strictest(&mut all.stale_if_error_s, one.seconds());
                } else if one.is("stale-while-revalidate") {
                    strictest(&mut all.stale_while_revalidate_s, one.seconds());
                }
            });
            all.no_store |= parsed.is_err();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lines: &[(&str, &str)]) -> RequestDirectives {
        let fields: Vec<_> = lines
            .iter()
            .map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()))
            .collect();
        RequestDirectives::of(&fields)
    }

    fn response(value: &str) -> ResponseDirectives {
        ResponseDirectives::of(&[Field::new(b"Cache-Control", value.as_bytes())])
    }

    #[test]
    fn directives_of_responses_are_read() {
        let plain = ResponseDirectives::default();
        for (value, expected) in [
            ("", plain),
            (",, ,", plain),
            ("Max-Age=60", ResponseDirectives { max_age_s: Some(60), ..plain }),
            ("max-age=\"60\"", ResponseDirectives { max_age_s: Some(60), ..plain }),
            ("max-age=60, max-age=5", ResponseDirectives { max_age_s: Some(5), ..plain }),
            ("max-age=-1", ResponseDirectives { max_age_s: Some(0), ..plain }),
            ("max-age=1.5", ResponseDirectives { max_age_s: Some(0), ..plain }),
            ("max-age", ResponseDirectives { max_age_s: Some(0), ..plain }),
            (
                "max-age=99999999999999999999999",
                ResponseDirectives { max_age_s: Some(SECONDS_MOST), ..plain },
            ),
            ("private", ResponseDirectives { no_store: true, ..plain }),
            ("PRIVATE=\"set-cookie, x\"", ResponseDirectives { no_store: true, ..plain }),
            ("no-cache=\"a,public\"", ResponseDirectives { no_cache: true, ..plain }),
            (
                "x=\"no-store\", public\t,s-maxage=7",
                ResponseDirectives { public: true, s_maxage_s: Some(7), ..plain },
            ),
            ("proxy-revalidate", ResponseDirectives { must_revalidate: true, ..plain }),
            ("stale-if-error=9", ResponseDirectives { stale_if_error_s: Some(9), ..plain }),
            (
                "stale-while-revalidate=9, Stale-While-Revalidate=8",
                ResponseDirectives { stale_while_revalidate_s: Some(8), ..plain },
            ),
        ] {
            assert_eq!(response(value), expected, "{value}");
        }
    }

    #[test]
    fn a_malformed_response_directive_forbids_storing() {
        for value in ["x=\"", "public, x=\"a", "a b", "max-age=6 0", "=5", "x=\"a\"b\"", "x=\"\\\""]
        {
            assert!(response(value).no_store, "{value}");
        }
    }

    #[test]
    fn directives_of_requests_are_read() {
        let plain = RequestDirectives::default();
        let no_cache = RequestDirectives { no_cache: true, ..plain };
        assert_eq!(request(&[("cache-control", "no-cache")]), no_cache);
        assert_eq!(request(&[("Pragma", "no-cache")]), no_cache);
        assert_eq!(request(&[("Pragma", "no-cache"), ("Cache-Control", "max-stale")]), plain);
        let limits = [("Cache-Control", "max-age=9"), ("Cache-Control", "max-age=x, min-fresh=3")];
        let expected = RequestDirectives { max_age_s: Some(0), min_fresh_s: Some(3), ..plain };
        assert_eq!(request(&limits), expected);
        assert!(request(&[("Cache-Control", "only-if-cached")]).only_if_cached);
        assert!(request(&[("Cache-Control", "\"")]).no_store, "malformed");
    }
}
