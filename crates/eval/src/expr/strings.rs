//! Functions over texts.

use super::builtin::{Called, wrong_argument, wrong_count};
use super::eval::ExprValue;

/// Longest text that a function gives, bytes: what a text item can hold.
const TEXT_BYTES_MAX: usize = 65_535;

/// Longest text that `repeat` gives, bytes.
const REPEAT_BYTES_MAX: usize = 2048;

/// Calls a function over texts; `None` = there is none of that name.
pub(super) fn call(function: &str, args: &[ExprValue]) -> Option<Called> {
    Some(match function {
        "ascii" => one(args, ascii),
        "bitlength" => one_value(args, 8, 64),
        "bytelength" => one_value(args, 1, 8),
        "char" => match args {
            [code] => char_of(code),
            _ => wrong_count(),
        },
        "concat" => concat(args),
        "insert" => insert(args),
        "left" => side(args, |chars, n| chars[..n.min(chars.len())].iter().collect()),
        "right" => {
            side(args, |chars, n| chars[chars.len() - n.min(chars.len())..].iter().collect())
        }
        "length" => one(args, |t| Ok(ExprValue::count(t.chars().count() as u64))),
        "mid" => mid(args),
        "repeat" => repeat(args),
        "replace" => match args {
            [value, pattern, new] => replace(value, pattern, new),
            _ => wrong_count(),
        },
        "trim" => trim(args, true, true),
        "ltrim" => trim(args, true, false),
        "rtrim" => trim(args, false, true),
        "jsonpath" => jsonpath(args),
        "xmlxpath" => match args {
            [_, _] | [_, _, _] => xmlxpath(args),
            _ => wrong_count(),
        },
        _ => return None,
    })
}

fn text_of(value: &ExprValue) -> Result<String, String> {
    value.as_text().ok_or_else(|| "vector cannot be used as a function argument".to_owned())
}

fn text(value: String) -> Called {
    if value.len() > TEXT_BYTES_MAX {
        return Err("the result of the function is too long".to_owned());
    }
    Ok(ExprValue::Text(value))
}

fn one(args: &[ExprValue], f: fn(&str) -> Called) -> Called {
    match args {
        [value] => f(&text_of(value)?),
        _ => wrong_count(),
    }
}

fn ascii(value: &str) -> Called {
    match value.bytes().next() {
        Some(byte) if byte.is_ascii() => Ok(ExprValue::Unsigned(u64::from(byte))),
        None => Ok(ExprValue::Unsigned(0)),
        _ => Err("invalid function argument".to_owned()),
    }
}

/// Length in units of `per_byte` to the byte; of what is a number from 0 on as a 64-bit integer
/// without its leading zeros.
fn one_value(args: &[ExprValue], per_byte: u64, per_number: u64) -> Called {
    let [value] = args else { return wrong_count() };
    let number = value.as_f64().and_then(|v| match value {
        ExprValue::Text(_) => ExprValue::Float(v).as_u64(),
        _ => value.as_u64(),
    });
    let length = match number {
        None => text_of(value)?.len() as u64 * per_byte,
        Some(whole) => {
            let bits = u64::from(64 - whole.leading_zeros());
            if per_number == 64 { bits } else { bits.div_ceil(8) }
        }
    };
    Ok(ExprValue::count(length))
}

fn char_of(code: &ExprValue) -> Called {
    match code.as_u64().and_then(|c| u8::try_from(c).ok()).filter(u8::is_ascii) {
        Some(0) => text(String::new()),
        Some(code) => text(char::from(code).to_string()),
        None => wrong_argument(),
    }
}

fn concat(args: &[ExprValue]) -> Called {
    if args.len() < 2 {
        return wrong_count();
    }
    text(args.iter().map(text_of).collect::<Result<Vec<_>, _>>()?.concat())
}

/// A count or position: its fraction is cut.
fn position(value: &ExprValue, which: &str) -> Result<usize, String> {
    let whole = value.as_u64().and_then(|whole| usize::try_from(whole).ok());
    whole.ok_or_else(|| format!("invalid function {which} argument"))
}

fn side(args: &[ExprValue], cut: fn(&[char], usize) -> String) -> Called {
    let [value, length] = args else { return wrong_count() };
    let chars: Vec<char> = text_of(value)?.chars().collect();
    text(cut(&chars, position(length, "second")?))
}

fn mid(args: &[ExprValue]) -> Called {
    let [value, start, length] = args else { return wrong_count() };
    let chars: Vec<char> = text_of(value)?.chars().collect();
    let start = position(start, "second")?;
    let length = position(length, "third")?;
    if start == 0 || start > chars.len() {
        return Err("invalid function second argument".to_owned());
    }
    text(chars[start - 1..].iter().take(length).collect())
}

fn insert(args: &[ExprValue]) -> Called {
    let [value, start, length, new] = args else { return wrong_count() };
    let chars: Vec<char> = text_of(value)?.chars().collect();
    let start = position(start, "second")?;
    let length = position(length, "third")?;
    if start == 0 || start > chars.len() {
        return Err("invalid function second argument".to_owned());
    }
    if length > chars.len() - (start - 1) {
        return Err("invalid function third argument".to_owned());
    }
    let head: String = chars[..start - 1].iter().collect();
    let tail: String = chars[start - 1 + length..].iter().collect();
    text(head + &text_of(new)? + &tail)
}

fn repeat(args: &[ExprValue]) -> Called {
    let [value, times] = args else { return wrong_count() };
    let (value, times) = (text_of(value)?, position(times, "second")?);
    if value.len().saturating_mul(times) > REPEAT_BYTES_MAX {
        return Err("the result of the function is too long".to_owned());
    }
    text(value.repeat(times))
}

fn replace(value: &ExprValue, pattern: &ExprValue, new: &ExprValue) -> Called {
    let (value, pattern) = (text_of(value)?, text_of(pattern)?);
    if pattern.is_empty() {
        return text(value);
    }
    text(value.replace(&pattern, &text_of(new)?))
}

fn trim(args: &[ExprValue], left: bool, right: bool) -> Called {
    let (value, chars) = match args {
        [value] => (text_of(value)?, " \t\n\r\u{b}\u{c}".to_owned()),
        [value, chars] => (text_of(value)?, text_of(chars)?),
        _ => return wrong_count(),
    };
    let mut rest = value.as_str();
    if left {
        rest = rest.trim_start_matches(|c| chars.contains(c));
    }
    if right {
        rest = rest.trim_end_matches(|c| chars.contains(c));
    }
    text(rest.to_owned())
}

fn jsonpath(args: &[ExprValue]) -> Called {
    let (document, path, default) = match args {
        [document, path] => (document, path, None),
        [document, path, default] => (document, path, Some(default)),
        _ => return wrong_count(),
    };
    let found =
        crate::jsonpath::query(&text_of(document)?, &text_of(path)?).map_err(|e| e.to_string())?;
    match (found, default) {
        (Some(value), _) => text(value),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err("no data matches the specified path".to_owned()),
    }
}

fn xmlxpath(args: &[ExprValue]) -> Called {
    let found =
        crate::xpath::find(&text_of(&args[0])?, &text_of(&args[1])?).map_err(|e| e.to_string())?;
    match (found, args.get(2)) {
        (Some(found), _) => text(found),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err("no part of the document matches the path".to_owned()),
    }
}
