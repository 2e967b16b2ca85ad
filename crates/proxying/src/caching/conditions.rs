//! Conditional requests (RFC 9110, 13) to servers, and of clients for a stored response.

use super::freshness::unix_s;
use super::{single, values};
use crate::http1::{Field, trim};

/// Fields of a response 304 (RFC 9110, 15.4.5); Last-Modified only without an entity tag.
pub const NOT_MODIFIED_FIELDS: [&str; 7] =
    ["cache-control", "content-location", "date", "etag", "expires", "vary", "last-modified"];

/// Whether a field makes the request conditional in a way that a revalidation replaces.
#[must_use]
pub fn is_condition(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"if-none-match") || name.eq_ignore_ascii_case(b"if-modified-since")
}

/// What a server recognises a stored response by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validators<'a> {
    /// The entity tag with its quotes.
    pub etag: Option<&'a [u8]>,
    /// A valid HTTP-date.
    pub last_modified: Option<&'a [u8]>,
}

impl<'a> Validators<'a> {
    /// Those of a response with these fields; `None`: it cannot be validated.
    #[must_use]
    pub fn of(fields: &[Field<'a>]) -> Option<Self> {
        let etag = single(fields, "etag")
            .filter(|value| entity_tag(value).is_some_and(|(_, rest)| rest.is_empty()));
        let last_modified = single(fields, "last-modified").filter(|value| unix_s(value).is_some());
        (etag.is_some() || last_modified.is_some()).then_some(Self { etag, last_modified })
    }

    /// Whether a response 304 with these fields is about a response with these validators (RFC 9111, 4.3.4).
    #[must_use]
    pub fn agree(&self, not_modified: &[Field<'_>]) -> bool {
        match (self.etag, single(not_modified, "etag")) {
            (Some(own), Some(other)) => opaque(own) == opaque(other),
            _ => true,
        }
    }
}

/// The part of an entity tag that weak comparison looks at.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// The entity tag that a text begins with, without `W/`, and the rest (RFC 9110, 8.8.3).
fn entity_tag(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let tag = opaque(text);
    let inner = tag.strip_prefix(b"\"")?;
    let end = memchr::memchr(b'"', inner)?;
    let valid = |byte: &u8| *byte == 0x21 || (0x23..=0x7e).contains(byte) || *byte >= 0x80;
    inner[..end].iter().all(valid).then(|| tag.split_at(end + 2))
}

/// Whether a list of entity tags has this one, compared weakly. After a malformed member nothing matches.
fn lists(mut list: &[u8], own: &[u8]) -> bool {
    loop {
        list = trim(list);
        if let Some(rest) = list.strip_prefix(b",") {
            list = rest;
            continue;
        }
        let Some((tag, rest)) = entity_tag(list) else { return false };
        if tag == opaque(own) {
            return true;
        }
        list = trim(rest);
        if !list.is_empty() && !list.starts_with(b",") {
            return false;
        }
    }
}

/// Whether a client with these fields has the stored response already (RFC 9110, 13.2.2). `stored` are the fields
/// of the stored response, whose status is 200.
#[must_use]
pub fn is_not_modified(request: &[Field<'_>], stored: &[Field<'_>]) -> bool {
    let validators = Validators::of(stored);
    let mut tags = values(request, "if-none-match").peekable();
    if tags.peek().is_some() {
        let etag = validators.and_then(|validators| validators.etag);
        return tags.any(|list| trim(list) == b"*" || etag.is_some_and(|own| lists(list, own)));
    }
    let since = single(request, "if-modified-since").and_then(unix_s);
    let modified = validators.and_then(|validators| validators.last_modified).and_then(unix_s);
    matches!((since, modified), (Some(since), Some(modified)) if modified <= since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<'a>(lines: &[(&'a str, &'a str)]) -> Vec<Field<'a>> {
        lines.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())).collect()
    }

    const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn entity_tags_are_compared_weakly() {
        let known = |list: &str, etag: &str| {
            is_not_modified(&fields(&[("If-None-Match", list)]), &fields(&[("ETag", etag)]))
        };
        assert!(known("\"a\"", "\"a\"") && known("W/\"a\"", "\"a\"") && known("\"a\"", "W/\"a\""));
        assert!(known("\"x\", \"a,b\" , W/\"c\"", "\"a,b\"") && known("*", "\"a\""));
        assert!(known(",, \"a\"", "\"a\""));
        assert!(!known("\"a\"", "\"b\"") && !known("a", "\"a\"") && !known("", "\"a\""));
        assert!(!known("x \"a\"", "\"a\"") && !known("\"x\" \"a\"", "\"a\""));
        assert!(!known("\"a", "\"a\"") && !known("a", "a"), "an invalid tag matches nothing");
    }

    #[test]
    fn dates_count_without_entity_tags_of_the_client() {
        let stored = fields(&[("Last-Modified", MODIFIED), ("ETag", "\"a\"")]);
        let known = |lines: &[(&str, &str)]| is_not_modified(&fields(lines), &stored);
        assert!(known(&[("If-Modified-Since", MODIFIED)]));
        assert!(known(&[("If-Modified-Since", "Mon, 07 Nov 1994 08:49:37 GMT")]));
        assert!(!known(&[("If-Modified-Since", "Sat, 05 Nov 1994 08:49:37 GMT")]));
        assert!(!known(&[("If-Modified-Since", "yesterday")]));
        assert!(!known(&[("If-Modified-Since", MODIFIED), ("If-None-Match", "\"b\"")]));
        assert!(!is_not_modified(&fields(&[("If-Modified-Since", MODIFIED)]), &[]));
    }

    #[test]
    fn only_valid_validators_are_sent_to_servers() {
        let of = |lines: &[(&str, &str)]| {
            Validators::of(&fields(lines)).map(|v| (v.etag.is_some(), v.last_modified.is_some()))
        };
        assert_eq!(of(&[("ETag", "W/\"a\""), ("Last-Modified", MODIFIED)]), Some((true, true)));
        assert_eq!(of(&[("ETag", "a"), ("Last-Modified", MODIFIED)]), Some((false, true)));
        assert_eq!(of(&[("ETag", "\"a\"b")]), None);
        assert_eq!(of(&[("ETag", "\"a\""), ("ETag", "\"b\"")]), None);
        assert_eq!(of(&[("Last-Modified", "0")]), None);
    }

    #[test]
    fn a_not_modified_of_another_version_does_not_agree() {
        let stored = fields(&[("ETag", "\"a\"")]);
        let validators = Validators::of(&stored).unwrap();
        assert!(
            validators.agree(&fields(&[])) && validators.agree(&fields(&[("ETag", "W/\"a\"")]))
        );
        assert!(!validators.agree(&fields(&[("ETag", "\"b\"")])));
    }
}
