//! Numbers in text form: as the field writes and prints them.

/// Length of the unsigned decimal number at the start of `text`
/// (`12`, `1.5`, `.5`, `1.`, `1e-5`), or `None`.
pub fn number_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut len = whole;
    let mut any = whole > 0;
    if bytes.get(len) == Some(&b'.') {
        let fraction = digits(len + 1);
        any |= fraction > 0;
        len += 1 + fraction;
    }
    if !any {
        return None;
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = if len + 1 + sign <= bytes.len() { digits(len + 1 + sign) } else { 0 };
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    Some(len)
}

/// A finite decimal number with an optional sign; nothing else around it.
pub fn parse_f64(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if number_len(unsigned)? != unsigned.len() {
        return None;
    }
    text.parse::<f64>().ok().filter(|v| v.is_finite())
}

/// Digits only, within 64 bits.
pub fn parse_u64(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// What a suffix multiplies by: `s m h d w` (seconds) and `K M G T` (powers of 1024).
pub fn suffix_factor(suffix: u8) -> Option<f64> {
    Some(match suffix {
        b's' => 1.0,
        b'm' => 60.0,
        b'h' => 3600.0,
        b'd' => 86_400.0,
        b'w' => 604_800.0,
        b'K' => 1024.0,
        b'M' => 1_048_576.0,
        b'G' => 1_073_741_824.0,
        b'T' => 1_099_511_627_776.0,
        _ => return None,
    })
}

/// A number with an optional sign and an optional suffix (`5m`, `-1K`, `1.5G`).
pub fn parse_suffixed(text: &str) -> Option<f64> {
    if let Some(value) = parse_f64(text) {
        return Some(value);
    }
    let (&last, head) = text.as_bytes().split_last()?;
    let factor = suffix_factor(last)?;
    let number = parse_f64(std::str::from_utf8(head).ok()?)?;
    Some(number * factor).filter(|v| v.is_finite())
}

/// A whole number of seconds with an optional suffix `s m h d w`, as intervals and periods
/// are written; `None` if it does not fit.
pub fn parse_seconds(text: &str) -> Option<u32> {
    let (digits, factor) = match text.as_bytes().last()? {
        b's' => (&text[..text.len() - 1], 1),
        b'm' => (&text[..text.len() - 1], 60),
        b'h' => (&text[..text.len() - 1], 3600),
        b'd' => (&text[..text.len() - 1], 86_400),
        b'w' => (&text[..text.len() - 1], 604_800),
        _ => (text, 1),
    };
    let number = u32::try_from(parse_u64(digits)?).ok()?;
    number.checked_mul(factor).filter(|v| i32::try_from(*v).is_ok())
}

/// A float as the field prints it: 15 significant digits if they give the same value back,
/// else 17; upper-case exponent (`2.25E+20`). Whole numbers have up to 17 digits.
pub fn format_f64(value: f64) -> String {
    if !value.is_finite() {
        return format_significant(value, 15);
    }
    if value == 0.0 && value.is_sign_negative() {
        return "-0".to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e17 {
        #[expect(clippy::cast_possible_truncation, reason = "below 1e17")]
        let whole = value as i64;
        return whole.to_string();
    }
    let short = format_significant(value, 15);
    if short.parse::<f64>() == Ok(value) { short } else { format_significant(value, 17) }
}

/// C's `%.*G`: `digits` significant digits, no trailing zeros.
pub fn format_significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let word = if value.is_nan() { "NAN" } else { "INF" };
        return if value < 0.0 { format!("-{word}") } else { word.to_owned() };
    }
    let scientific = format!("{:.*e}", digits - 1, value);
    let (mantissa, exponent) =
        scientific.split_once('e').expect("BUG: scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("BUG: exponents are whole numbers");
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= limit {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}E{sign}{:02}", trim_zeros(mantissa), exponent.abs());
    }
    let places = usize::try_from(limit - 1 - exponent).unwrap_or(0);
    trim_zeros(&format!("{value:.places$}")).to_owned()
}

/// Takes trailing zeros of a fraction away, and the point if nothing is left behind it.
pub fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Two floats count as equal when they differ by no more than this.
pub const EPSILON: f64 = 2.22e-16;

/// Equal within [`EPSILON`].
pub fn same_f64(a: f64, b: f64) -> bool {
    (a - b).abs() <= EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_like_the_field() {
        for (value, text) in [
            (4.5, "4.5"),
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (-0.25, "-0.25"),
            (15.0, "15"),
            (2.25e20, "2.25E+20"),
            (1e15, "1000000000000000"),
            (1e17, "1E+17"),
            (123_456_789_012_345.0, "123456789012345"),
            (1.581_138_830_084_189_8, "1.5811388300841898"),
            (0.000_01, "1E-05"),
            (0.000_1, "0.0001"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157E+308"),
        ] {
            assert_eq!(format_f64(value), text);
        }
    }

    #[test]
    fn parses_numbers() {
        for (text, value) in [
            ("1", Some(1.0)),
            ("-1.5", Some(-1.5)),
            (".5", Some(0.5)),
            ("1.", Some(1.0)),
            ("+2", Some(2.0)),
            ("1e3", Some(1000.0)),
            ("1e", None),
            ("", None),
            (".", None),
            ("-", None),
            ("inf", None),
            ("nan", None),
            ("0x10", None),
            ("1 ", None),
            ("1e999", None),
        ] {
            assert_eq!(parse_f64(text), value, "{text}");
        }
        for (text, value) in [
            ("1K", Some(1024.0)),
            ("-1m", Some(-60.0)),
            ("1.5h", Some(5400.0)),
            ("1T", Some(1_099_511_627_776.0)),
            ("2w", Some(1_209_600.0)),
            ("1e308K", None),
            ("K", None),
            ("1x", None),
        ] {
            assert_eq!(parse_suffixed(text), value, "{text}");
        }
        for (text, value) in [
            ("30", Some(30)),
            ("5m", Some(300)),
            ("1w", Some(604_800)),
            ("99999999w", None),
            ("-1", None),
            ("m", None),
        ] {
            assert_eq!(parse_seconds(text), value, "{text}");
        }
    }
}
