//! Variants of a response (RFC 9111, 4.1).

use super::{single, values};
use crate::http1::{Field, is_token, trim};

/// Names of the request fields on which a response depends, in lower case; `None`: on what no request shows.
///
/// Two are added, because responses without them are a common mistake of servers: a coded response depends on
/// Accept-Encoding, and one that names an origin that may read it on Origin.
#[must_use]
pub fn names(fields: &[Field<'_>]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut add = |name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for value in values(fields, "vary") {
        for name in value.split(|byte| *byte == b',').map(trim).filter(|name| !name.is_empty()) {
            // `*` is a token, too.
            if name == b"*" || !is_token(name) {
                return None;
            }
            add(String::from_utf8_lossy(name).to_ascii_lowercase());
        }
    }
    if values(fields, "content-encoding").next().is_some() {
        add("accept-encoding".to_owned());
    }
    if values(fields, "access-control-allow-origin").any(|origin| origin != b"*") {
        add("origin".to_owned());
    }
    Some(names)
}

/// The values of a request field as one; `None`: it is missing, which is not the same as empty.
#[must_use]
pub fn combined(fields: &[Field<'_>], name: &str) -> Option<Vec<u8>> {
    if let Some(value) = single(fields, name) {
        return Some(value.to_vec());
    }
    let all: Vec<&[u8]> = values(fields, name).collect();
    (!all.is_empty()).then(|| all.join(&b", "[..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<'a>(lines: &[(&'a str, &'a str)]) -> Vec<Field<'a>> {
        lines.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())).collect()
    }

    #[test]
    fn names_of_all_lines_count_once() {
        let names = |lines: &[(&str, &str)]| names(&fields(lines)).map(|names| names.join(" "));
        let vary = [("Vary", "Accept, ,X-A"), ("vary", "accept,Cookie")];
        assert_eq!(names(&vary).unwrap(), "accept x-a cookie");
        assert_eq!(names(&[]).unwrap(), "");
        assert_eq!(names(&[("Vary", "Accept, *")]), None);
        assert_eq!(names(&[("Vary", "Accept Language")]), None);
    }

    #[test]
    fn forgotten_names_are_added() {
        let names = |lines: &[(&str, &str)]| names(&fields(lines)).unwrap().join(" ");
        assert_eq!(names(&[("Content-Encoding", "gzip")]), "accept-encoding");
        assert_eq!(names(&[("Access-Control-Allow-Origin", "https://a.test")]), "origin");
        assert_eq!(names(&[("Access-Control-Allow-Origin", "*")]), "");
    }

    #[test]
    fn a_missing_field_is_no_empty_one() {
        let value = |lines: &[(&str, &str)]| combined(&fields(lines), "accept");
        assert_eq!(value(&[]), None);
        assert_eq!(value(&[("Accept", "")]).unwrap(), b"");
        assert_eq!(value(&[("Accept", "a"), ("accept", "b")]).unwrap(), b"a, b");
    }
}
