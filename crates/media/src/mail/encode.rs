//! Texts in headers and bodies: ASCII whatever a user writes (RFC 2047, RFC 2045).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes of a text in one encoded word, which has 75 characters at most.
const WORD_BYTES: usize = 45;
/// Characters of a line of a body.
const LINE_CHARS: usize = 76;

/// Whether a header can have the text as it is.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// The text in one or more encoded words, folded.
pub(super) fn encoded_words(text: &str) -> String {
    let (mut words, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let mut end = rest.len().min(WORD_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (word, after) = rest.split_at(end);
        words.push(format!("=?UTF-8?B?{}?=", STANDARD.encode(word)));
        rest = after;
    }
    words.join("\r\n ")
}

/// A subject: line ends become blanks, so that nothing of it is a header.
pub(super) fn subject(text: &str) -> String {
    let line = text.replace("\r\n", " ").replace(['\r', '\n'], " ");
    if is_plain(&line) { line } else { encoded_words(&line) }
}

/// A body in base64, with the line ends of mail.
pub(super) fn body(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    let digits = STANDARD.encode(text);
    let mut out = String::with_capacity(digits.len() + digits.len() / 38 + 2);
    for line in digits.as_bytes().chunks(LINE_CHARS) {
        out.extend(line.iter().map(|byte| char::from(*byte)));
        out.push_str("\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(words: &str) -> String {
        let bytes = words.split("\r\n ").flat_map(|word| {
            assert!(word.len() <= 75, "{word}");
            let digits = word.strip_prefix("=?UTF-8?B?").and_then(|w| w.strip_suffix("?="));
            let bytes = STANDARD.decode(digits.unwrap()).unwrap();
            assert!(str::from_utf8(&bytes).is_ok(), "{word}");
            bytes
        });
        String::from_utf8(bytes.collect()).unwrap()
    }

    #[test]
    fn subjects_stay_one_header() {
        for (text, expected) in [
            ("PROBLEM x", "PROBLEM x"),
            ("a\nBcc: b@c.test", "a Bcc: b@c.test"),
            ("a\r\n\r\nb", "a  b"),
            ("ä", "=?UTF-8?B?w6Q=?="),
            ("a\u{1b}[1m\0", "=?UTF-8?B?YRtbMW0A?="),
            ("", ""),
        ] {
            assert_eq!(subject(text), expected, "{text:?}");
        }
        let long = "Subject é ".repeat(25);
        assert_eq!(decode(&subject(&long)), long);
        let wide = "😀".repeat(60);
        assert_eq!(decode(&subject(&wide)), wide);
    }

    #[test]
    fn bodies_are_lines_of_76_characters() {
        assert_eq!(body(""), "");
        assert_eq!(body("a\nb\r\nc"), "YQ0KYg0KYw==\r\n");
        let long = body(&"x".repeat(1_000));
        assert!(long.split_terminator("\r\n").all(|line| line.len() <= 76));
        assert!(long.lines().next().is_some_and(|line| line.len() == 76));
        assert_eq!(
            STANDARD.decode(long.replace("\r\n", "")).unwrap(),
            "x".repeat(1_000).as_bytes()
        );
    }
}
