//! SNMP for checks and traps alike: keys of users, and values as texts, alone and as lines of a walk, in
//! the form that the field's server writes.

use std::fmt::Write as _;

use config::snapshot::source::SnmpUser;
use wire::snmp::usm::{AuthProtocol, MasterKeys, PASSPHRASE_BYTES_MIN, PrivProtocol};
use wire::snmp::{OidRef, Value};

/// What an answer without a value means.
pub const fn missing(value: &Value<'_>) -> Option<&'static str> {
    Some(match value {
        Value::NoSuchObject => "No Such Object available on this agent at this OID",
        Value::NoSuchInstance | Value::Null => "No Such Instance currently exists at this OID",
        Value::EndOfMibView => {
            "No more variables left in this MIB View (It is past the end of the MIB tree)"
        }
        _ => return None,
    })
}

/// How an object identifier is written that is itself a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OidStyle {
    /// `iso.3.6`
    Named,
    /// As in `.1.3.6`.
    Numeric,
}

fn is_text(octets: &[u8]) -> bool {
    // As isprint(3) and isspace(3) of the C locale.
    octets.iter().all(|b| matches!(b, b' '..=b'~' | b'\t'..=b'\r'))
}

fn hex(out: &mut String, octets: &[u8], between_lines: &str) {
    const PER_LINE: usize = 16;
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for (at, octet) in octets.iter().enumerate() {
        if at > 0 && at % PER_LINE == 0 {
            out.push_str(between_lines);
        }
        out.push(DIGITS[usize::from(octet >> 4)].into());
        out.push(DIGITS[usize::from(octet & 15)].into());
        out.push(' ');
    }
}

fn oid(out: &mut String, oid: OidRef<'_>, style: OidStyle) {
    let mut arcs = oid.arcs().peekable();
    if style == OidStyle::Named
        && let Some(name) = arcs.peek().and_then(|first| match first {
            0 => Some("ccitt"),
            1 => Some("iso"),
            2 => Some("joint-iso-ccitt"),
            _ => None,
        })
    {
        out.push_str(name);
        arcs.next();
    }
    for arc in arcs {
        // Writing to a text cannot fail.
        let _ = write!(out, ".{arc}");
    }
}

/// A value alone. What has none gives an empty text: [`missing`] comes first.
pub fn value(value: &Value<'_>, style: OidStyle) -> String {
    let mut out = String::new();
    // Writing to a text cannot fail.
    let _ = match value {
        Value::Octets(octets) if is_text(octets) => {
            out.push_str(str::from_utf8(octets).unwrap_or_default());
            Ok(())
        }
        Value::Octets(octets) | Value::Opaque(octets) | Value::Nsap(octets) => {
            hex(&mut out, octets, "");
            Ok(())
        }
        Value::Oid(name) => {
            oid(&mut out, *name, style);
            Ok(())
        }
        other => plain(&mut out, other),
    };
    out
}

/// Numbers and addresses.
fn plain(out: &mut String, value: &Value<'_>) -> std::fmt::Result {
    match value {
        Value::Integer(number) | Value::OpaqueInteger(number) => write!(out, "{number}"),
        Value::Counter32(number)
        | Value::Gauge32(number)
        | Value::TimeTicks(number)
        | Value::UInteger32(number) => write!(out, "{number}"),
        Value::Counter64(number) | Value::OpaqueUnsigned(number) | Value::OpaqueCounter(number) => {
            write!(out, "{number}")
        }
        Value::Float(number) => write!(out, "{number:.6}"),
        Value::Double(number) => write!(out, "{number:.6}"),
        Value::Ip([a, b, c, d]) => write!(out, "{a}.{b}.{c}.{d}"),
        _ => Ok(()),
    }
}

/// A line of a walk, without a line end.
pub fn walk_line(out: &mut String, name: OidRef<'_>, value: &Value<'_>) {
    oid(out, name, OidStyle::Numeric);
    out.push_str(" = ");
    match value {
        Value::Octets([]) => out.push_str("\"\""),
        Value::Octets(octets) if is_text(octets) => {
            out.push_str("STRING: \"");
            for c in str::from_utf8(octets).unwrap_or_default().chars() {
                if matches!(c, '"' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
            out.push('"');
        }
        Value::Octets(octets) => {
            out.push_str("Hex-STRING: ");
            hex(out, octets, "\n");
        }
        Value::Opaque(octets) => {
            out.push_str("OPAQUE: ");
            hex(out, octets, "\n");
        }
        Value::Nsap(octets) => {
            out.push_str("Network Address: ");
            hex(out, octets, "\n");
        }
        Value::Oid(name) => {
            out.push_str("OID: ");
            oid(out, *name, OidStyle::Numeric);
        }
        Value::Null | Value::NoSuchObject | Value::NoSuchInstance | Value::EndOfMibView => {
            out.push_str("NULL");
        }
        other => {
            out.push_str(kind(other));
            // Writing to a text cannot fail.
            let _ = plain(out, other);
        }
    }
}

const fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Integer(_) => "INTEGER: ",
        Value::Counter32(_) => "Counter32: ",
        Value::Gauge32(_) => "Gauge32: ",
        Value::UInteger32(_) => "UInteger32: ",
        Value::Counter64(_) => "Counter64: ",
        Value::Ip(_) => "IpAddress: ",
        Value::Float(_) => "Opaque: Float: ",
        Value::Double(_) => "Opaque: Double: ",
        Value::OpaqueInteger(_) => "Opaque: Int64: ",
        Value::OpaqueUnsigned(_) => "Opaque: UInt64: ",
        Value::OpaqueCounter(_) => "Opaque: Counter64: ",
        // Time is a bare number there.
        _ => "",
    }
}

/// The keys of the pass phrases: slow to make. The error is the item's.
pub fn master_keys(user: &SnmpUser) -> Result<MasterKeys, String> {
    let auth = match user.auth_protocol {
        1 => AuthProtocol::Sha1,
        2 => AuthProtocol::Sha224,
        3 => AuthProtocol::Sha256,
        4 => AuthProtocol::Sha384,
        5 => AuthProtocol::Sha512,
        _ => AuthProtocol::Md5,
    };
    let privacy = match user.priv_protocol {
        1 => PrivProtocol::Aes128,
        2 => PrivProtocol::Aes192,
        3 => PrivProtocol::Aes256,
        4 => PrivProtocol::Aes192C,
        5 => PrivProtocol::Aes256C,
        _ => PrivProtocol::Des,
    };
    let short = |phrase: &str| phrase.len() < PASSPHRASE_BYTES_MIN;
    if user.level >= 1 && short(&user.auth_passphrase) {
        return Err("Error generating Ku from authentication pass phrase".to_owned());
    }
    if user.level >= 2 && short(&user.priv_passphrase) {
        return Err("Error generating Ku from privacy pass phrase".to_owned());
    }
    let auth = (user.level >= 1).then_some((auth, user.auth_passphrase.as_bytes()));
    let privacy = (user.level >= 2).then_some((privacy, user.priv_passphrase.as_bytes()));
    MasterKeys::new(auth, privacy).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::snmp::Oid;

    /// As the field's server shows them of the same agent.
    #[test]
    fn values_and_lines() {
        let name = Oid::parse("1.3.6.1.4.1.8072.3.2.10").unwrap();
        let long: Vec<u8> = (0..0x12).collect();
        for (of, alone, line) in [
            (Value::Integer(-5), "-5", "INTEGER: -5"),
            (Value::Octets(b"plain text"), "plain text", "STRING: \"plain text\""),
            (Value::Octets(b"a \"q\" \\"), "a \"q\" \\", "STRING: \"a \\\"q\\\" \\\\\""),
            (Value::Octets(b"line1\nline2"), "line1\nline2", "STRING: \"line1\nline2\""),
            (Value::Octets(b""), "", "\"\""),
            (Value::Octets(b"\x00\x1b!"), "00 1B 21 ", "Hex-STRING: 00 1B 21 "),
            (Value::Octets("ü".as_bytes()), "C3 BC ", "Hex-STRING: C3 BC "),
            (Value::Octets(b"\x7f"), "7F ", "Hex-STRING: 7F "),
            (
                Value::Octets(&long),
                "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 ",
                "Hex-STRING: 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F \n10 11 ",
            ),
            (
                Value::Oid(name.borrow()),
                "iso.3.6.1.4.1.8072.3.2.10",
                "OID: .1.3.6.1.4.1.8072.3.2.10",
            ),
            (Value::Counter32(4_000_000_000), "4000000000", "Counter32: 4000000000"),
            (Value::Gauge32(3), "3", "Gauge32: 3"),
            (Value::TimeTicks(123_456), "123456", "123456"),
            (Value::Counter64(u64::MAX), "18446744073709551615", "Counter64: 18446744073709551615"),
            (Value::Ip([127, 0, 0, 1]), "127.0.0.1", "IpAddress: 127.0.0.1"),
            (Value::Float(7.987_305), "7.987305", "Opaque: Float: 7.987305"),
            (Value::Null, "", "NULL"),
        ] {
            assert_eq!(value(&of, OidStyle::Named), alone, "{of:?}");
            let mut out = String::new();
            walk_line(&mut out, Oid::parse("1.3.6.1").unwrap().borrow(), &of);
            assert_eq!(out, format!(".1.3.6.1 = {line}"));
        }
        assert_eq!(value(&Value::Oid(name.borrow()), OidStyle::Numeric), name.to_string());
    }
}
