//! Values of SNMP walks (`.1.3.6.1 = TYPE: value` lines) and of single SNMP requests.
//!
//! What is accepted and what is refused was measured on the field's server.

use std::borrow::Cow;
use std::collections::HashMap;

use super::mib;
use super::step::SnmpFormat;
use crate::json::write_string;

struct Entry<'a> {
    /// Without the leading dot.
    oid: &'a str,
    kind: Kind,
    /// `None` = there is no value (`NULL`, end of the tree).
    value: Option<Cow<'a, str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hex,
    Bits,
    /// A text goes on over lines.
    String,
    Other,
    /// The line names no type: its value is one line.
    Unnamed,
}

const NO_DATA: &str = "no data was found";
const BAD_TYPE: &str = "invalid value type format";

/// Reads the entries of a walk one after another.
struct Entries<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let entry = self.entry().map_err(str::to_owned);
        if entry.is_err() {
            self.rest = "";
        }
        Some(entry)
    }
}

fn is_start(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.first() == Some(&b'.') && bytes.get(1).is_some_and(u8::is_ascii_digit)
}

impl<'a> Entries<'a> {
    fn entry(&mut self) -> Result<Entry<'a>, &'static str> {
        let text = self.rest.strip_prefix('.').filter(|_| is_start(self.rest));
        let text = text.ok_or("invalid OID format")?;
        let len = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (oid, after) = text.split_at(len);
        let after = after.trim_start_matches(' ').strip_prefix('=');
        let after = after.ok_or("invalid value separator following OID")?;
        let (kind, body) = split_kind(after.trim_start_matches(' '))?;
        let Some(kind) = kind else {
            self.rest = body.split_once('\n').map_or("", |(_, rest)| rest);
            return Ok(Entry { oid, kind: Kind::Unnamed, value: None });
        };
        let value = if body.starts_with('"') {
            let (value, rest) = quoted(body)?;
            self.rest = rest;
            Cow::Owned(value)
        } else {
            let lines = matches!(kind, Kind::Hex | Kind::Bits | Kind::String);
            let len = if lines { text_len(body) } else { body.find('\n').unwrap_or(body.len()) };
            self.rest = body.get(len + 1..).unwrap_or_default();
            match kind {
                Kind::Hex | Kind::Bits => octets_text(&body[..len]),
                _ => Cow::Borrowed(&body[..len]),
            }
        };
        Ok(Entry { oid, kind, value: Some(value) })
    }
}

/// Length of a value up to the line end before the next line that starts an entry.
fn text_len(body: &str) -> usize {
    let mut from = 0;
    while let Some(end) = body[from..].find('\n').map(|at| from + at) {
        if body.len() == end + 1 || is_start(&body[end + 1..]) {
            return end;
        }
        from = end + 1;
    }
    body.len()
}

/// Octets as they are shown: lines joined, nothing behind the last.
fn octets_text(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    if text.contains('\n') { Cow::Owned(text.replace('\n', "")) } else { Cow::Borrowed(text) }
}

/// Takes the type away: `Counter32: 5`, `Opaque: Float: 1.5`, `Wrong Type (…): Gauge32: 5`.
/// No kind = there is no value.
fn split_kind(text: &str) -> Result<(Option<Kind>, &str), &'static str> {
    let text = match text.strip_prefix("Wrong Type (") {
        Some(after) => after.split_once("): ").map(|(_, body)| body).ok_or(BAD_TYPE)?,
        None => text,
    };
    if text.starts_with("No more variables left") {
        return Ok((None, text));
    }
    if !text.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Ok((Some(Kind::Unnamed), text));
    }
    let len = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let (name, after) = text.split_at(len);
    let Some(body) = after.strip_prefix(':') else {
        let alone = name == "NULL" && (after.is_empty() || after.starts_with('\n'));
        return if alone { Ok((None, text)) } else { Err(BAD_TYPE) };
    };
    let body = body.trim_start_matches(' ');
    Ok(match name {
        "Hex-STRING" => (Some(Kind::Hex), body),
        "BITS" => (Some(Kind::Bits), body),
        "STRING" => (Some(Kind::String), body),
        "Opaque" => {
            let inner = body.split_once(": ").filter(|(kind, _)| {
                !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_alphanumeric())
            });
            (Some(Kind::Other), inner.map_or(body, |(_, value)| value))
        }
        _ => (Some(Kind::Other), body),
    })
}

/// A quoted value, in which a backslash protects the next character, and what follows.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut chars = text[1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let after = &text[at + 2..];
                return match after.strip_prefix('\n') {
                    Some(rest) => Ok((value, rest)),
                    None if after.is_empty() => Ok((value, after)),
                    None => Err("invalid text following value"),
                };
            }
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    Err("unterminated quoted value")
}

/// The format touches only values of the type that it is made for.
fn format(value: &str, kind: Kind, format: SnmpFormat) -> Result<Cow<'_, str>, String> {
    Ok(match (format, kind) {
        (SnmpFormat::Utf8, Kind::Hex) => Cow::Owned(utf8(value)?),
        (SnmpFormat::Mac, Kind::Hex) => Cow::Owned(mac(value)?),
        (SnmpFormat::Bits, Kind::Bits) => Cow::Owned(bits(value)?),
        _ => Cow::Borrowed(value),
    })
}

/// Octets in hexadecimal, blanks between them or not.
fn octets(value: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = value.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pair = |p: &[u8]| match p {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    digits.chunks(2).map(pair).collect()
}

fn utf8(value: &str) -> Result<String, String> {
    let mut bytes = octets(value)
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| format!("cannot convert hex value '{value}' to utf-8 string"))?;
    if let Some(end) = bytes.iter().position(|b| *b == 0) {
        bytes.truncate(end);
    }
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Ok(out)
}

/// Octets must stand apart by one blank each.
fn mac(value: &str) -> Result<String, String> {
    let fits = |(at, b): (usize, u8)| {
        if at % 3 == 2 { b == b' ' } else { b.is_ascii_hexdigit() }
    };
    let whole = value.is_empty() || value.len() % 3 == 2;
    if !whole || !value.bytes().enumerate().all(fits) {
        return Err(format!("cannot convert hex value '{value}' to mac address"));
    }
    Ok(value.replace(' ', ":"))
}

/// The first eight octets, the first one lowest.
fn bits(value: &str) -> Result<String, String> {
    let bytes = octets(value)
        .ok_or_else(|| format!("cannot convert bit value '{value}' to unsigned integer"))?;
    let number = bytes.iter().take(8).rev().fold(0u64, |sum, b| (sum << 8) | u64::from(*b));
    Ok(number.to_string())
}

/// The value of one OID in a walk; what follows it is not looked at.
pub(super) fn walk_value(data: &str, oid: &str, how: SnmpFormat) -> Result<String, String> {
    let wanted = mib::numeric(oid)?;
    for entry in (Entries { rest: data }) {
        let entry = entry?;
        if entry.oid == wanted {
            return match entry.value {
                Some(value) => format(&value, entry.kind, how).map(Cow::into_owned),
                None => Ok("NULL".to_owned()),
            };
        }
    }
    Err(NO_DATA.to_owned())
}

/// Names and values of one row.
type Row<'a> = Vec<(&'a str, Option<Cow<'a, str>>)>;

/// Rows by index: each field's values stand below its OID.
pub(super) fn walk_to_json(
    data: &str,
    fields: &[(Box<str>, Box<str>, SnmpFormat)],
) -> Result<String, String> {
    let entries: Vec<Entry<'_>> = Entries { rest: data }.collect::<Result<_, _>>()?;
    if entries.is_empty() {
        return Ok("[]".to_owned());
    }
    let mut order: Vec<&str> = Vec::new();
    let mut rows: HashMap<&str, Row<'_>> = HashMap::new();
    for (name, oid, how) in fields {
        let prefix = mib::numeric(oid)?;
        let prefix = prefix.strip_suffix('.').unwrap_or(&prefix);
        for entry in &entries {
            let index = entry.oid.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            let Some(index) = index else { continue };
            let row = rows.entry(index).or_insert_with(|| {
                order.push(index);
                Vec::new()
            });
            if row.iter().any(|(n, _)| *n == &**name) {
                continue;
            }
            let value = entry.value.as_deref().map(|v| format(v, entry.kind, *how)).transpose()?;
            row.push((name, value));
        }
    }
    if rows.is_empty() {
        return Err(NO_DATA.to_owned());
    }
    let mut out = String::from("[");
    for (i, index) in order.iter().enumerate() {
        out.push_str(if i > 0 { ",{\"{#SNMPINDEX}\":" } else { "{\"{#SNMPINDEX}\":" });
        write_string(&mut out, index);
        for (name, value) in &rows[index] {
            out.push(',');
            write_string(&mut out, name);
            out.push(':');
            match value {
                Some(value) => write_string(&mut out, value),
                None => out.push_str("null"),
            }
        }
        out.push('}');
    }
    out.push(']');
    Ok(out)
}

/// The value of a single request, given as octets in hexadecimal.
pub(super) fn get_value(value: &str, how: SnmpFormat) -> Result<String, String> {
    let value = octets_text(value);
    match how {
        SnmpFormat::Unchanged => Ok(value.into_owned()),
        SnmpFormat::Utf8 => utf8(&value),
        SnmpFormat::Mac => mac(&value),
        SnmpFormat::Bits => bits(&value),
    }
}
