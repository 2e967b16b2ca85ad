//! Paths of requests that decide who may send them.
//!
//! Servers read a path in their own way: they decode it, leave out empty segments and follow `..`. A rule that
//! compared the bytes of the client would be passed by another spelling of the same path.

use std::borrow::Cow;

/// The one spelling of a path that all servers read alike (RFC 3986, 6.2.2): visible characters are not encoded,
/// and the digits of all others are upper case. `None`: servers may take it for another path, because a segment
/// is empty, `.` or `..`, because a slash, a backslash or a control character is encoded, because there is a
/// backslash, or because a segment before the last has parameters (`;`). Parameters of the last one are left out.
pub fn canonical_path(path: &str) -> Option<Cow<'_, str>> {
    let mut decoded = decode(path)?;
    let mut segments = decoded.strip_prefix('/').unwrap_or(&decoded).split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        let name = segment.split(';').next().unwrap_or_default();
        let nameless = name.is_empty() && !(last && segment.is_empty());
        if nameless || matches!(name, "." | "..") || (!last && name.len() < segment.len()) {
            return None;
        }
    }
    if let Some(end) = decoded.find(';') {
        decoded = Cow::Owned(decoded[..end].to_owned());
    }
    Some(decoded)
}

/// Decodes what is visible; `None`: it cannot be decoded, or not in the same way by all servers.
fn decode(path: &str) -> Option<Cow<'_, str>> {
    if path.contains('\\') {
        return None;
    }
    let Some(first) = path.find('%') else { return Some(Cow::Borrowed(path)) };
    let (start, mut rest) = path.split_at(first);
    let mut decoded = start.to_owned();
    while let Some(character) = rest.chars().next() {
        if character != '%' {
            decoded.push(character);
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let digits = rest.get(1..3)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        match u8::from_str_radix(digits, 16).ok()? {
            b'/' | b'\\' => return None,
            byte if byte.is_ascii_control() => return None,
            // Decoded, they would have another meaning.
            byte if byte.is_ascii_graphic() && !matches!(byte, b'%' | b'?' | b'#' | b';') => {
                decoded.push(char::from(byte));
            }
            _ => {
                decoded.push('%');
                decoded.push_str(&digits.to_ascii_uppercase());
            }
        }
        rest = &rest[3..];
    }
    Some(Cow::Owned(decoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_path_are_one() {
        for (path, canonical) in [
            ("/", "/"),
            ("*", "*"),
            ("/admin/", "/admin/"),
            ("/%61dmin", "/admin"),
            ("/a%40b", "/a@b"),
            ("/caf%c3%a9%20x", "/caf%C3%A9%20x"),
            ("/100%25", "/100%25"),
            ("/a/b;x=1;y", "/a/b"),
            ("/a%3bx", "/a%3Bx"),
            ("/.well-known/a..b/...", "/.well-known/a..b/..."),
        ] {
            assert_eq!(canonical_path(path).as_deref(), Some(canonical), "{path}");
        }
    }

    #[test]
    fn ambiguous_path_has_no_spelling() {
        for path in [
            "//admin",
            "/a//b",
            "/a//",
            "/./a",
            "/a/.",
            "/a/../b",
            "/a/..",
            "/a/%2e%2E/b",
            "/a/.%2e/b",
            "/a%2fb",
            "/a%2Fb",
            "/a\\b",
            "/a%5cb",
            "/a%00",
            "/a%0ab",
            "/a%",
            "/a%4",
            "/a%zz",
            "/a%+1",
            "/a/..;/b",
            "/;x/a",
            "/a;x/b",
            "/;x",
        ] {
            assert_eq!(canonical_path(path), None, "{path}");
        }
    }
}
