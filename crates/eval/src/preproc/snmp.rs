//! Values of SNMP walks (`.1.3.6.1 = TYPE: value` lines) and of single SNMP requests.

use std::collections::HashMap;

use super::step::SnmpFormat;
use crate::json::write_string;

struct Entry<'a> {
    /// Without the leading dot.
    oid: &'a str,
    /// Empty if the line names none.
    kind: &'a str,
    value: String,
}

/// `.1.3.6` → `1.3.6`; `None` = no numeric OID.
fn normalize(oid: &str) -> Option<&str> {
    let oid = oid.strip_prefix('.').unwrap_or(oid);
    let oid = oid.strip_suffix('.').unwrap_or(oid);
    let part = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit());
    oid.split('.').all(part).then_some(oid)
}

/// The OID at the start of a line of a walk, and what stands behind the equals sign.
fn line_start(line: &str) -> Option<(&str, &str)> {
    if !line.starts_with('.') {
        return None;
    }
    let (oid, value) = line.split_once(" =")?;
    Some((normalize(oid.trim_end())?, value.strip_prefix(' ').unwrap_or(value)))
}

/// Reads all entries of a walk; a value goes on until the next line that starts one.
fn entries(data: &str) -> Result<Vec<Entry<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let (oid, after) = line_start(rest).ok_or("invalid OID format")?;
        // Inside quotes a line may look like anything.
        let (kind, body) = split_kind(after)?;
        let (value, len) = if body.starts_with('"') { quoted(body)? } else { plain(body) };
        rest = &body[len..];
        if is_octets(kind) {
            let parts: Vec<&str> = value.split_ascii_whitespace().collect();
            found.push(Entry { oid, kind, value: parts.join(" ") });
        } else {
            found.push(Entry { oid, kind, value });
        }
    }
    Ok(found)
}

fn is_octets(kind: &str) -> bool {
    matches!(kind, "Hex-STRING" | "BITS")
}

/// Takes the type away: `Counter32: 5`, `Opaque: Float: 1.5`, `Wrong Type (…): Gauge32: 5`.
fn split_kind(text: &str) -> Result<(&str, &str), String> {
    let mut text = text;
    if text.starts_with("Wrong Type") {
        let after = text.find("): ").map(|at| &text[at + 3..]);
        text = after.ok_or("invalid value type format")?;
        let line = text.split('\n').next().unwrap_or_default();
        if !line.contains(": ") {
            return Err("invalid value type format".to_owned());
        }
    }
    let kind_len =
        text.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b' ')).count();
    let kind = &text[..kind_len];
    match text[kind_len..].strip_prefix(':') {
        Some(after) if kind_len > 0 && !kind.contains(' ') => {
            let body = after.strip_prefix(' ').unwrap_or(after);
            if kind == "Opaque" { split_kind_once(body) } else { Ok((kind, body)) }
        }
        _ => Ok(("", text)),
    }
}

fn split_kind_once(text: &str) -> Result<(&str, &str), String> {
    match text.split_once(": ") {
        Some((kind, body)) if kind.bytes().all(|b| b.is_ascii_alphanumeric()) => Ok((kind, body)),
        _ => Ok(("", text)),
    }
}

/// A quoted value: `\"` and `\\` are escapes. Gives its length with the line end.
fn quoted(text: &str) -> Result<(String, usize), String> {
    let mut value = String::new();
    let mut chars = text[1..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let after = &text[at + 2..];
                let line_end = after.len() - after.trim_start_matches([' ', '\r']).len();
                return match after[line_end..].strip_prefix('\n') {
                    Some(_) => Ok((value, at + 2 + line_end + 1)),
                    None if after.len() == line_end => Ok((value, text.len())),
                    None => Err("invalid text following value".to_owned()),
                };
            }
            '\\' => match chars.next() {
                Some((_, c @ ('"' | '\\'))) => value.push(c),
                Some((_, c)) => value.extend(['\\', c]),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err("unterminated quoted value".to_owned())
}

/// A value up to the next line that starts an entry.
fn plain(text: &str) -> (String, usize) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if end > 0 && line_start(line).is_some() {
            break;
        }
        end += line.len();
    }
    (text[..end].trim_end_matches(['\n', '\r']).to_owned(), end)
}

fn format(value: String, kind: &str, format: SnmpFormat) -> Result<String, String> {
    match format {
        SnmpFormat::Utf8 if is_octets(kind) => utf8(&value),
        SnmpFormat::Mac if is_octets(kind) => mac(&value),
        SnmpFormat::Bits if is_octets(kind) => bits(&value),
        _ => Ok(value),
    }
}

/// Octets in hexadecimal, blanks between them or not.
fn octets(value: &str) -> Option<Vec<u8>> {
    let digits: String = value.split_ascii_whitespace().collect();
    if digits.is_empty() || digits.len() % 2 == 1 || !digits.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return None;
    }
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).ok()).collect()
}

fn utf8(value: &str) -> Result<String, String> {
    let mut bytes = octets(value)
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

fn mac(value: &str) -> Result<String, String> {
    let bytes = octets(value)
        .ok_or_else(|| format!("cannot convert hex value '{value}' to mac address"))?;
    let parts: Vec<String> = bytes.iter().map(|b| format!("{b:02X}")).collect();
    Ok(parts.join(":"))
}

/// The first eight octets, the first one lowest.
fn bits(value: &str) -> Result<String, String> {
    let bytes = octets(value)
        .ok_or_else(|| format!("cannot convert bit value '{value}' to unsigned integer"))?;
    let number = bytes.iter().take(8).rev().fold(0u64, |sum, b| (sum << 8) | u64::from(*b));
    Ok(number.to_string())
}

/// The value of one OID in a walk.
pub(super) fn walk_value(data: &str, oid: &str, how: SnmpFormat) -> Result<String, String> {
    let wanted = normalize(oid)
        .ok_or_else(|| format!("OID \"{oid}\" is not numeric: MIB names are not built yet"))?;
    let found = entries(data)?.into_iter().find(|e| e.oid == wanted);
    match found {
        Some(entry) => format(entry.value, entry.kind, how),
        None => Err("no data was found".to_owned()),
    }
}

/// Rows by index: each field's values stand below its OID.
pub(super) fn walk_to_json(
    data: &str,
    fields: &[(Box<str>, Box<str>, SnmpFormat)],
) -> Result<String, String> {
    let entries = entries(data)?;
    if entries.is_empty() {
        return Ok("[]".to_owned());
    }
    let mut order: Vec<&str> = Vec::new();
    let mut rows: HashMap<&str, Vec<(usize, String)>> = HashMap::new();
    for (field, (_, oid, how)) in fields.iter().enumerate() {
        let prefix = normalize(oid)
            .ok_or_else(|| format!("OID \"{oid}\" is not numeric: MIB names are not built yet"))?;
        for entry in &entries {
            let index = entry.oid.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
            let Some(index) = index else { continue };
            let row = rows.entry(index).or_insert_with(|| {
                order.push(index);
                Vec::new()
            });
            if row.iter().any(|(f, _)| *f == field) {
                continue;
            }
            row.push((field, format(entry.value.clone(), entry.kind, *how)?));
        }
    }
    if rows.is_empty() {
        return Err("no data was found".to_owned());
    }
    let mut out = String::from("[");
    for (i, index) in order.iter().enumerate() {
        out.push_str(if i > 0 { ",{\"{#SNMPINDEX}\":" } else { "{\"{#SNMPINDEX}\":" });
        write_string(&mut out, index);
        for (field, value) in &rows[index] {
            out.push(',');
            write_string(&mut out, &fields[*field].0);
            out.push(':');
            write_string(&mut out, value);
        }
        out.push('}');
    }
    out.push(']');
    Ok(out)
}

/// The value of a single request, given as octets in hexadecimal.
pub(super) fn get_value(value: &str, how: SnmpFormat) -> Result<String, String> {
    let value = value.trim();
    match how {
        SnmpFormat::Unchanged => Ok(value.to_owned()),
        SnmpFormat::Utf8 => utf8(value),
        SnmpFormat::Mac => mac(value),
        SnmpFormat::Bits => bits(value),
    }
}
