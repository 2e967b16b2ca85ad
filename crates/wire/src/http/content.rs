//! Bodies: unpacked, as text, as JSON.

use std::borrow::Cow;
use std::io::Read;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::{Answer, HttpError};

/// What requests say that they understand.
pub const ACCEPTED: &str = "deflate, gzip";
/// Encodings one over the other.
const LAYERS_MAX: usize = 5;
/// Where a page may say its encoding.
const META_BYTES: usize = 4096;

/// Undoes `Content-Encoding`; the result has at most `max` bytes.
pub fn unpack(answer: &mut Answer, max: usize) -> Result<(), HttpError> {
    let layers: Vec<String> = answer
        .header("content-encoding")
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    if layers.len() > LAYERS_MAX {
        return Err(HttpError::Encoding);
    }
    if answer.body.is_empty() {
        return Ok(());
    }
    for layer in layers.iter().rev() {
        let packed = std::mem::take(&mut answer.body);
        answer.body = match layer.as_str() {
            "gzip" | "x-gzip" => read(MultiGzDecoder::new(&*packed), max)?,
            // Some servers leave the wrapping away.
            "deflate" => match packed.first() {
                Some(byte) if byte & 15 == 8 => read(ZlibDecoder::new(&*packed), max)?,
                _ => read(DeflateDecoder::new(&*packed), max)?,
            },
            _ => return Err(HttpError::Encoding),
        };
    }
    Ok(())
}

fn read(from: impl Read, max: usize) -> Result<Vec<u8>, HttpError> {
    let mut out = Vec::new();
    let read = from.take(max as u64 + 1).read_to_end(&mut out);
    read.map_err(|error| {
        HttpError::Packed(match error.kind() {
            std::io::ErrorKind::InvalidInput => "incorrect header check".to_owned(),
            std::io::ErrorKind::UnexpectedEof => "the packed data ends too early".to_owned(),
            _ => error.to_string(),
        })
    })?;
    if out.len() > max {
        return Err(HttpError::TooLarge(max));
    }
    Ok(out)
}

/// A body as text: in the encoding that its header or its page names, else UTF-8, else
/// Windows-1252. What cannot be read becomes `?`; a zero character ends it.
pub fn text(body: Vec<u8>, content_type: Option<&str>) -> String {
    let named = content_type.and_then(charset).or_else(|| {
        let start = body.get(..META_BYTES).unwrap_or(&body);
        meta_charset(start)
    });
    let text = match named {
        Some(name) => match Encoding::for_label(name.as_bytes()) {
            Some(encoding) if encoding != UTF_8 => {
                let encoding = match Encoding::for_bom(&body) {
                    Some((found, _)) if found != UTF_8 => found,
                    _ => encoding,
                };
                encoding.decode_with_bom_removal(&body).0.into_owned()
            }
            _ => questions(body),
        },
        None => String::from_utf8(body).unwrap_or_else(|error| {
            WINDOWS_1252.decode_without_bom_handling(error.as_bytes()).0.into_owned()
        }),
    };
    until_nul(text)
}

/// A head as text.
pub fn head_text(head: &[u8]) -> String {
    until_nul(questions(head.to_vec()))
}

fn questions(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let chunks = error.as_bytes().utf8_chunks();
        chunks.fold(String::new(), |mut out, chunk| {
            out.push_str(chunk.valid());
            out.extend(chunk.invalid().iter().map(|_| '?'));
            out
        })
    })
}

fn until_nul(mut text: String) -> String {
    if let Some(end) = text.bytes().position(|byte| byte == 0) {
        text.truncate(end);
    }
    text
}

/// `text/html; charset="koi8-r"` → `koi8-r`
fn charset(content_type: &str) -> Option<String> {
    let mut params = content_type.split(';').skip(1);
    let value = params.find_map(|param| {
        let (name, value) = param.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// `<meta charset="koi8-r">` and the older form with `http-equiv`.
fn meta_charset(page: &[u8]) -> Option<String> {
    let mut rest = page;
    loop {
        let at = rest.windows(5).position(|five| five.eq_ignore_ascii_case(b"<meta"))?;
        let tag = rest.get(at + 5..)?;
        let end = tag.iter().position(|byte| *byte == b'>')?;
        let (tag, after) = tag.split_at(end);
        rest = after;
        let found = tag.windows(8).position(|eight| eight.eq_ignore_ascii_case(b"charset="));
        if let Some(at) = found {
            let value = tag.get(at + 8..).unwrap_or_default();
            let value: String = value
                .iter()
                .map(|byte| char::from(*byte))
                .skip_while(|c| matches!(c, '"' | '\''))
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
                .collect();
            if !value.is_empty() {
                return Some(value);
            }
        }
    }
}

/// The headers as members of one JSON object, in their order, repeated ones too.
pub fn head_json(head: &str) -> String {
    let mut out = String::from("{");
    for line in head.split('\n').map(str::trim).filter(|line| !line.is_empty()) {
        let status = line.starts_with("HTTP/");
        let (name, value) = match line.split_once(':') {
            Some((name, value)) if !status => (name, value.trim()),
            _ => (line, ""),
        };
        if out.len() > 1 {
            out.push(',');
        }
        push_json(&mut out, name);
        out.push(':');
        push_json(&mut out, value);
    }
    out.push('}');
    out
}

/// A body as a JSON value: as it is, if it is an object or array and its type says so.
pub fn body_json<'a>(body: &'a str, content_type: Option<&str>) -> Cow<'a, str> {
    let trimmed = body.trim();
    let says_so = content_type.is_some_and(|kind| kind.starts_with("application/json"));
    if says_so
        && trimmed.starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok()
    {
        return trimmed.into();
    }
    let mut out = String::with_capacity(body.len() + 2);
    push_json(&mut out, body);
    out.into()
}

fn push_json(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::super::{Asked, Decoder};
    use super::*;

    fn answer(encoding: &str, body: &[u8]) -> Answer {
        let mut decoder = Decoder::new(Asked::Other, 1 << 20);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        decoder.feed(&[head.as_bytes(), body].concat()).unwrap();
        decoder.finish()
    }

    fn packed<W: Write>(mut encoder: W, finish: impl FnOnce(W) -> Vec<u8>, text: &[u8]) -> Vec<u8> {
        encoder.write_all(text).unwrap();
        finish(encoder)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        packed(GzEncoder::new(Vec::new(), Compression::best()), |e| e.finish().unwrap(), text)
    }

    #[test]
    fn packed_bodies() {
        let text = b"packed text ".repeat(50);
        let zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        let bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        for (encoding, body) in [
            ("identity", text.clone()),
            ("gzip", gzip(&text)),
            ("X-GZIP, gzip", gzip(&gzip(&text))),
            ("deflate", packed(zlib, |e| e.finish().unwrap(), &text)),
            ("deflate", packed(bare, |e| e.finish().unwrap(), &text)),
        ] {
            let mut answer = answer(encoding, &body);
            unpack(&mut answer, 600).unwrap();
            assert_eq!(answer.body, text, "{encoding}");
        }
        let mut bomb = answer("gzip", &gzip(&vec![0; 1 << 20]));
        assert_eq!(unpack(&mut bomb, 1000), Err(HttpError::TooLarge(1000)));
        let mut nonsense = answer("gzip", b"this is not packed");
        let error = unpack(&mut nonsense, 1000).unwrap_err().to_string();
        let expected = "Error while processing content unencoding: incorrect header check";
        assert_eq!(error, expected);
        let mut cut = answer("gzip", &gzip(&text)[..20]);
        assert!(matches!(unpack(&mut cut, 1000), Err(HttpError::Packed(_))));
        assert_eq!(unpack(&mut answer("br", b"x"), 9), Err(HttpError::Encoding));
        let deep = ["gzip"; LAYERS_MAX + 1].join(",");
        assert_eq!(unpack(&mut answer(&deep, b"x"), 9), Err(HttpError::Encoding));
        unpack(&mut answer("gzip", b""), 9).unwrap();
    }

    #[test]
    fn texts() {
        let page = b"<html><head><META http-equiv=\"Content-Type\" \
                     content=\"text/html; charset=koi8-r\"></head>\xd0\xcf";
        let shown = str::from_utf8(&page[..page.len() - 2]).unwrap().to_owned() + "по";
        for (body, kind, expected) in [
            (&b"\x80"[..], None, "€"),
            (b"\xe4\x80", Some("text/html"), "ä€"),
            ("日".as_bytes(), None, "日"),
            (b"\xd0\xcf", Some("text/plain; charset=koi8-r"), "по"),
            (b"\xd0\xcf", Some("text/plain; a=b; Charset=\"KOI8-R\""), "по"),
            (b"\xc3\xa4", Some("text/plain; charset=iso-8859-1"), "Ã¤"),
            (b"a\xe4", Some("text/plain; charset=utf-8"), "a?"),
            (b"\xe4", Some("text/plain; charset=nonsense"), "?"),
            (b"\x93\xfa", Some("text/html; charset=shift_jis"), "日"),
            (b"a\0b\0", Some("text/plain; charset=utf-16le"), "ab"),
            (b"\xff\xfea\0b\0", Some("text/plain; charset=utf-16"), "ab"),
            (b"\xfe\xff\0a\0b", Some("text/plain; charset=utf-16"), "ab"),
            (b"\xef\xbb\xbfabc", Some("text/plain"), "\u{feff}abc"),
            (b"<meta charset=\"koi8-r\">\xd0\xcf", None, "<meta charset=\"koi8-r\">по"),
            (page, None, &shown),
            (b"A\0B", None, "A"),
            (b"<meta><meta charset=>", None, "<meta><meta charset=>"),
        ] {
            assert_eq!(text(body.to_vec(), kind), expected, "{body:?} {kind:?}");
        }
        assert_eq!(head_text(b"a\xe4\xe4b\0c"), "a??b");
    }

    #[test]
    fn json() {
        let head = "HTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\nX-A: d:e\r\nX-E:\r\n\r\n";
        let expected = r#"{"HTTP/1.1 200 OK":"","X-A":"b","c":"","X-A":"d:e","X-E":""}"#;
        assert_eq!(head_json(head), expected);
        for (body, kind, expected) in [
            (" {\"a\": 1} ", "application/json", "{\"a\": 1}"),
            ("[]", "application/json; charset=utf-8", "[]"),
            ("{}", "text/json", "\"{}\""),
            ("{}", "Application/JSON", "\"{}\""),
            ("{bad", "application/json", "\"{bad\""),
            ("1", "application/json", "\"1\""),
            ("a\"\\/\n\u{1}é", "text/plain", "\"a\\\"\\\\/\\n\\u0001é\""),
        ] {
            assert_eq!(body_json(body, Some(kind)), expected, "{body} {kind}");
        }
    }
}
