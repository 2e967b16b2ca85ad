//! Steps over texts.

/// `\n \r \t \s` become characters; with `backslash` also `\\`.
pub(super) fn unescape(text: &str, backslash: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let replaced = match (c, chars.peek()) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('r')) => Some('\r'),
            ('\\', Some('t')) => Some('\t'),
            ('\\', Some('s')) => Some(' '),
            ('\\', Some('\\')) if backslash => Some('\\'),
            _ => None,
        };
        if replaced.is_some() {
            chars.next();
        }
        out.push(replaced.unwrap_or(c));
    }
    out
}

/// Words for true and false, whatever their case; numbers by whether they are 0.
pub(super) fn bool_to_decimal(text: &str) -> Option<u64> {
    const TRUE: [&str; 11] =
        ["true", "t", "yes", "y", "on", "up", "running", "enabled", "available", "ok", "master"];
    const FALSE: [&str; 11] = [
        "false",
        "f",
        "no",
        "n",
        "off",
        "down",
        "unused",
        "disabled",
        "unavailable",
        "err",
        "slave",
    ];
    let text = text.trim();
    let is = |words: &[&str]| words.iter().any(|w| w.eq_ignore_ascii_case(text));
    if is(&TRUE) {
        return Some(1);
    }
    if is(&FALSE) {
        return Some(0);
    }
    crate::num::parse_f64(text).map(|v| u64::from(v != 0.0))
}

/// A number in another base; blanks between hexadecimal digits do not count.
pub(super) fn to_decimal(text: &str, radix: u32) -> Option<u64> {
    let text = text.trim();
    let digits: std::borrow::Cow<'_, str> = if radix == 16 && text.contains([' ', '\n']) {
        text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>().into()
    } else {
        text.into()
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(&digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions() {
        for (text, value) in [
            ("Yes", Some(1)),
            ("SLAVE", Some(0)),
            ("-3", Some(1)),
            ("0.0", Some(0)),
            ("maybe", None),
            ("", None),
        ] {
            assert_eq!(bool_to_decimal(text), value, "{text}");
        }
        for (text, radix, value) in [
            ("17", 8, Some(15)),
            ("8", 8, None),
            ("ff", 16, Some(255)),
            (" 01 0A ", 16, Some(266)),
            ("0x1", 16, None),
            ("11112222333344445", 16, None),
            ("", 16, None),
        ] {
            assert_eq!(to_decimal(text, radix), value, "{text}");
        }
        assert_eq!(unescape("\\s\\\\s\\x", false), " \\ \\x");
        assert_eq!(unescape("\\s\\\\s\\x", true), " \\s\\x");
    }
}
