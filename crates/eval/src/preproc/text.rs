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

/// What a check for errors found: white space is none.
pub(super) fn found_error(error: String) -> Result<(), String> {
    if error.trim().is_empty() { Ok(()) } else { Err(error) }
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
    let text = super::sample::trimmed(text);
    let is = |words: &[&str]| words.iter().any(|w| w.eq_ignore_ascii_case(text));
    if is(&TRUE) {
        return Some(1);
    }
    if is(&FALSE) {
        return Some(0);
    }
    crate::num::parse_f64(text).map(|v| u64::from(v != 0.0))
}

/// A number in another base, in quotes or not; what does not fit 64 bits is the largest number.
/// Hexadecimal digits may stand in pairs, one blank or line end between them.
pub(super) fn to_decimal(text: &str, radix: u32) -> Option<u64> {
    let text = super::sample::trimmed(text);
    let bytes = text.as_bytes();
    let paired = radix == 16
        && bytes.len() % 3 == 2
        && bytes.iter().skip(2).step_by(3).all(|b| matches!(b, b' ' | b'\n'));
    let mut number: u64 = 0;
    let mut any = false;
    for (at, byte) in bytes.iter().enumerate() {
        if paired && at % 3 == 2 {
            continue;
        }
        let digit = char::from(*byte).to_digit(radix)?;
        let next = number.checked_mul(radix.into()).and_then(|n| n.checked_add(digit.into()));
        number = next.unwrap_or(u64::MAX);
        any = true;
    }
    any.then_some(number)
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
            (" yes \r\n", Some(1)),
            ("\"off\"", Some(0)),
            ("\tyes", None),
            ("maybe", None),
            ("", None),
        ] {
            assert_eq!(bool_to_decimal(text), value, "{text}");
        }
        for (text, radix, value) in [
            ("17", 8, Some(15)),
            ("8", 8, None),
            ("\t5", 8, None),
            (" 5\n", 8, Some(5)),
            ("ff", 16, Some(255)),
            (" 01 0A ", 16, Some(266)),
            ("0x1", 16, None),
            ("11112222333344445", 16, Some(u64::MAX)),
            ("1 2", 16, None),
            ("\"ff\"", 16, Some(255)),
            ("", 16, None),
        ] {
            assert_eq!(to_decimal(text, radix), value, "{text}");
        }
        assert_eq!(unescape("\\s\\\\s\\x", false), " \\ \\x");
        assert_eq!(unescape("\\s\\\\s\\x", true), " \\s\\x");
    }
}
