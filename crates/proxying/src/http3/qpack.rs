//! Header compression (RFC 9204) without a dynamic table: this side announces one of 0 bytes, so that no field
//! section waits for another stream, and names fields of the static table or writes literals.

use crate::http2::hpack::{Field, List, Malformed, digits, integer, put_integer, string};

/// RFC 9204, appendix A.
#[rustfmt::skip]
const STATIC: [(&[u8], &[u8]); 99] = [
    (b":authority", b""),
    (b":path", b"/"),
    (b"age", b"0"),
    (b"content-disposition", b""),
    (b"content-length", b"0"),
    (b"cookie", b""),
    (b"date", b""),
    (b"etag", b""),
    (b"if-modified-since", b""),
    (b"if-none-match", b""),
    (b"last-modified", b""),
    (b"link", b""),
    (b"location", b""),
    (b"referer", b""),
    (b"set-cookie", b""),
    (b":method", b"CONNECT"),
    (b":method", b"DELETE"),
    (b":method", b"GET"),
    (b":method", b"HEAD"),
    (b":method", b"OPTIONS"),
    (b":method", b"POST"),
    (b":method", b"PUT"),
    (b":scheme", b"http"),
    (b":scheme", b"https"),
    (b":status", b"103"),
    (b":status", b"200"),
    (b":status", b"304"),
    (b":status", b"404"),
    (b":status", b"503"),
    (b"accept", b"*/*"),
    (b"accept", b"application/dns-message"),
    (b"accept-encoding", b"gzip, deflate, br"),
    (b"accept-ranges", b"bytes"),
    (b"access-control-allow-headers", b"cache-control"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-allow-origin", b"*"),
    (b"cache-control", b"max-age=0"),
    (b"cache-control", b"max-age=2592000"),
    (b"cache-control", b"max-age=604800"),
    (b"cache-control", b"no-cache"),
    (b"cache-control", b"no-store"),
    (b"cache-control", b"public, max-age=31536000"),
    (b"content-encoding", b"br"),
    (b"content-encoding", b"gzip"),
    (b"content-type", b"application/dns-message"),
    (b"content-type", b"application/javascript"),
    (b"content-type", b"application/json"),
    (b"content-type", b"application/x-www-form-urlencoded"),
    (b"content-type", b"image/gif"),
    (b"content-type", b"image/jpeg"),
    (b"content-type", b"image/png"),
    (b"content-type", b"text/css"),
    (b"content-type", b"text/html; charset=utf-8"),
    (b"content-type", b"text/plain"),
    (b"content-type", b"text/plain;charset=utf-8"),
    (b"range", b"bytes=0-"),
    (b"strict-transport-security", b"max-age=31536000"),
    (b"strict-transport-security", b"max-age=31536000; includesubdomains"),
    (b"strict-transport-security", b"max-age=31536000; includesubdomains; preload"),
    (b"vary", b"accept-encoding"),
    (b"vary", b"origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-xss-protection", b"1; mode=block"),
    (b":status", b"100"),
    (b":status", b"204"),
    (b":status", b"206"),
    (b":status", b"302"),
    (b":status", b"400"),
    (b":status", b"403"),
    (b":status", b"421"),
    (b":status", b"425"),
    (b":status", b"500"),
    (b"accept-language", b""),
    (b"access-control-allow-credentials", b"FALSE"),
    (b"access-control-allow-credentials", b"TRUE"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-allow-methods", b"get"),
    (b"access-control-allow-methods", b"get, post, options"),
    (b"access-control-allow-methods", b"options"),
    (b"access-control-expose-headers", b"content-length"),
    (b"access-control-request-headers", b"content-type"),
    (b"access-control-request-method", b"get"),
    (b"access-control-request-method", b"post"),
    (b"alt-svc", b"clear"),
    (b"authorization", b""),
    (b"content-security-policy", b"script-src 'none'; object-src 'none'; base-uri 'none'"),
    (b"early-data", b"1"),
    (b"expect-ct", b""),
    (b"forwarded", b""),
    (b"if-range", b""),
    (b"origin", b""),
    (b"purpose", b"prefetch"),
    (b"server", b""),
    (b"timing-allow-origin", b"*"),
    (b"upgrade-insecure-requests", b"1"),
    (b"user-agent", b""),
    (b"x-forwarded-for", b""),
    (b"x-frame-options", b"deny"),
    (b"x-frame-options", b"sameorigin"),
];

/// Decodes a whole field section. A list above `limit` bytes is counted, not stored.
///
/// # Errors
/// Malformed, or it refers to a dynamic table: the connection cannot be continued.
pub fn decode(mut section: &[u8], limit: usize) -> Result<List, Malformed> {
    // RFC 9204, 4.5.1: without a table both counts are 0, and the base cannot lie below.
    let required = integer(&mut section, 8)?;
    let below = section.first().ok_or(Malformed)? & 0x80 != 0;
    let _base = integer(&mut section, 7)?;
    if required != 0 || below {
        return Err(Malformed);
    }
    let mut list = List::default();
    while let Some(first) = section.first().copied() {
        let field = if first & 0xc0 == 0xc0 {
            let (name, value) = entry(integer(&mut section, 6)?)?;
            Field { name: name.to_vec(), value: value.to_vec() }
        } else if first & 0xd0 == 0x50 {
            let (name, _) = entry(integer(&mut section, 4)?)?;
            Field { name: name.to_vec(), value: string(&mut section, 7)? }
        } else if first & 0xe0 == 0x20 {
            let name = string(&mut section, 3)?;
            Field { name, value: string(&mut section, 7)? }
        } else {
            return Err(Malformed);
        };
        list.add(field, limit);
    }
    Ok(list)
}

fn entry(index: usize) -> Result<(&'static [u8], &'static [u8]), Malformed> {
    STATIC.get(index).copied().ok_or(Malformed)
}

/// Appends a field to a section whose prefix is written elsewhere. The name is written in lower case.
pub fn encode(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let same = |own: &[u8]| own.eq_ignore_ascii_case(name);
    if let Some(at) = STATIC.iter().position(|(own, text)| same(own) && *text == value) {
        put_integer(out, at, 6, 0xc0);
        return;
    }
    match STATIC.iter().position(|(own, _)| same(own)) {
        Some(at) => put_integer(out, at, 4, 0x50),
        None => {
            put_integer(out, name.len(), 3, 0x20);
            out.extend(name.iter().map(u8::to_ascii_lowercase));
        }
    }
    put_integer(out, value.len(), 7, 0);
    out.extend_from_slice(value);
}

/// Appends `:status`.
pub fn encode_status(out: &mut Vec<u8>, status: u16) {
    encode(out, b":status", &digits(status));
}

/// Before the fields of a section without a dynamic table.
pub(super) const PREFIX: [u8; 2] = [0, 0];

/// Whether what a peer's encoder says changes nothing: a table of 0 bytes (RFC 9204, 4.3). The rest of an
/// instruction that is not complete stays in `input`.
pub(super) fn encoder_instructions(input: &mut &[u8]) -> Result<(), Malformed> {
    while let Some(first) = input.first() {
        let capacity = first & 0xe0 == 0x20;
        if !capacity || *first != 0x20 {
            return Err(Malformed);
        }
        *input = &input[1..];
    }
    Ok(())
}

/// Whether what a peer's decoder says is possible: this side has never used a table, so that only cancelled
/// streams can be told of (RFC 9204, 4.4). Returns their number; an instruction without its end stays in `input`.
pub(super) fn decoder_instructions(input: &mut &[u8]) -> Result<u64, Malformed> {
    /// Longest number of a stream.
    const LONGEST: usize = 11;
    let mut count = 0;
    while let Some(first) = input.first() {
        if first & 0xc0 != 0x40 {
            return Err(Malformed);
        }
        let length = if first & 0x3f == 0x3f {
            match input.iter().skip(1).position(|byte| byte & 0x80 == 0) {
                Some(at) => at + 2,
                None if input.len() <= LONGEST => return Ok(count),
                None => return Err(Malformed),
            }
        } else {
            1
        };
        if length > LONGEST {
            return Err(Malformed);
        }
        *input = &input[length..];
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::hex::bytes;

    fn text(hex: &str) -> Result<String, Malformed> {
        let list = decode(&bytes(hex), 1000)?;
        let text = |field: &Field| {
            String::from_utf8([&field.name[..], b"=", &field.value].concat()).unwrap()
        };
        Ok(list.fields.iter().map(text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_section_of_the_standard_is_decoded() {
        // RFC 9204, B.1.
        let section = "0000510b2f696e6465782e68746d6c";
        assert_eq!(text(section).unwrap(), ":path=/index.html");
        assert_eq!(text("0000d1d7c1").unwrap(), ":method=GET :scheme=https :path=/");
        assert_eq!(text("0000508cf1e3c2e5f23a6ba0ab90f4ff").unwrap(), ":authority=www.example.com");
        assert_eq!(text("000021610162").unwrap(), "a=b");
        assert_eq!(text("00002ea8eb10649cbf0162").unwrap(), "no-cache=b");
    }

    #[test]
    fn malformed_sections_are_errors() {
        for (hex, why) in [
            ("", "no prefix"),
            ("00", "half a prefix"),
            ("0100c1", "entries of a dynamic table are required"),
            ("0080c1", "the base is negative"),
            ("000081", "an entry of the dynamic table"),
            ("00004101", "a name of the dynamic table"),
            ("000010", "an entry behind the base"),
            ("00000000", "a name behind the base"),
            ("0000ff24", "an index beyond the static table"),
            ("0000ffffffffffffff0f", "an integer that is too large"),
            ("0000ffffffffffffffffffffffffffff", "an integer without its end"),
            ("000051", "no value"),
            ("0000510561", "a value without its end"),
            ("00002781ffffff", "a name of 262 bytes that are not there"),
            ("00005181ff", "malformed Huffman code"),
        ] {
            assert_eq!(text(hex), Err(Malformed), "{why}");
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let long = vec![b'v'; 5000];
        let fields: [(&[u8], &[u8]); 7] = [
            (b":status", b"200"),
            (b":status", b"299"),
            (b"X-Mixed", b"A"),
            (b"a-name-of-more-than-seven-bytes", &long),
            (b"b", b""),
            (b"X-Frame-Options", b"sameorigin"),
            (b"alt-svc", b"clear"),
        ];
        let mut section = PREFIX.to_vec();
        for (name, value) in fields {
            encode(&mut section, name, value);
        }
        let list = decode(&section, 10_000).unwrap();
        assert_eq!(list.fields.len(), fields.len());
        for (field, (name, value)) in list.fields.iter().zip(fields) {
            assert_eq!((field.name.to_vec(), &field.value[..]), (name.to_ascii_lowercase(), value));
        }
        assert!(decode(&section, 4_000).unwrap().too_large);
    }

    #[test]
    fn instructions_cannot_fill_a_table_of_nothing() {
        for (hex, valid) in [
            ("20", true),
            ("2020", true),
            ("21", false),
            ("3f", false),
            ("c0", false),
            ("41", false),
            ("00", false),
        ] {
            assert_eq!(encoder_instructions(&mut &bytes(hex)[..]).is_ok(), valid, "{hex}");
        }
        for (hex, result) in [
            ("4041", Ok(2)),
            ("7f01", Ok(1)),
            ("7f", Ok(0)),
            ("80", Err(Malformed)),
            ("00", Err(Malformed)),
            ("01", Err(Malformed)),
            ("7fffffffffffffffffffffffff01", Err(Malformed)),
        ] {
            assert_eq!(decoder_instructions(&mut &bytes(hex)[..]), result, "{hex}");
        }
    }
}
