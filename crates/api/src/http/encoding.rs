//! Content encodings: what a client takes, and answers in it.

use std::io::Write;

use axum::http::{HeaderMap, header};

/// Bytes of an answer below which encoding it costs more than it saves: one packet holds it anyway.
const ENCODED_BYTES_MIN: usize = 1_400;
/// Level 1 of both: answers are written once and read once, mostly over a local network.
const LEVEL: i32 = 1;

/// A way to encode an answer, by its name in `Content-Encoding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Zstd,
    Gzip,
}

impl Encoding {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// The end of the name of a file that was encoded when the UI was built.
    pub(super) const fn file_end(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
        }
    }

    /// The first of `ours` that the client takes, whatever its own order of preference.
    pub(super) fn choose(headers: &HeaderMap, ours: &[Self]) -> Option<Self> {
        ours.iter().copied().find(|encoding| takes(headers, encoding.name()))
    }
}

/// Whether `Accept-Encoding` names the encoding, or everything, and does not rule it out (`q=0`).
fn takes(headers: &HeaderMap, name: &str) -> bool {
    let mut any = false;
    for value in headers.get_all(header::ACCEPT_ENCODING) {
        for entry in value.to_str().unwrap_or("").split(',') {
            let mut parts = entry.split(';').map(str::trim);
            let entry = parts.next().unwrap_or("");
            let quality = parts.find_map(|part| part.strip_prefix("q="));
            let wanted = quality.is_none_or(|q| q.parse::<f32>().is_ok_and(|q| q > 0.0));
            if entry.eq_ignore_ascii_case(name) {
                return wanted;
            }
            any |= entry == "*" && wanted;
        }
    }
    any
}

/// The encoding of answers of the API that the client takes.
pub(super) fn of_answers(headers: &HeaderMap) -> Option<Encoding> {
    Encoding::choose(headers, &[Encoding::Zstd, Encoding::Gzip])
}

/// A complete answer of the API, encoded where that pays.
pub(super) fn encode(plain: Vec<u8>, encoding: Option<Encoding>) -> (Option<Encoding>, Vec<u8>) {
    let Some(encoding) = encoding.filter(|_| plain.len() >= ENCODED_BYTES_MIN) else {
        return (None, plain);
    };
    let packed = match encoding {
        Encoding::Zstd => zstd::bulk::compress(&plain, LEVEL),
        Encoding::Gzip | Encoding::Brotli => gzip(&plain),
    };
    match packed {
        Ok(packed) => (Some(encoding), packed),
        // Writing to memory does not fail; if it ever does, the plain answer is as good.
        Err(_) => (None, plain),
    }
}

/// Encodes an answer block by block.
pub(super) enum Encoder {
    Plain,
    Zstd(Option<zstd::stream::write::Encoder<'static, Vec<u8>>>),
    Gzip(Box<flate2::write::GzEncoder<Vec<u8>>>),
}

impl Encoder {
    pub(super) fn new(encoding: Option<Encoding>) -> Self {
        let level = flate2::Compression::new(LEVEL.unsigned_abs());
        match encoding {
            None => Self::Plain,
            Some(Encoding::Zstd) => {
                Self::Zstd(zstd::stream::write::Encoder::new(Vec::new(), LEVEL).ok())
            }
            Some(Encoding::Gzip | Encoding::Brotli) => {
                Self::Gzip(Box::new(flate2::write::GzEncoder::new(Vec::new(), level)))
            }
        }
    }

    /// What of the encoded text is ready after this block.
    pub(super) fn encode(&mut self, block: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(block.to_vec()),
            Self::Zstd(encoder) => {
                let encoder = encoder.as_mut().ok_or(std::io::ErrorKind::OutOfMemory)?;
                encoder.write_all(block)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            Self::Gzip(encoder) => {
                encoder.write_all(block)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
        }
    }

    /// The end of the encoded text.
    pub(super) fn finish(self) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(Vec::new()),
            Self::Zstd(encoder) => encoder.ok_or(std::io::ErrorKind::OutOfMemory)?.finish(),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}

fn gzip(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let level = flate2::Compression::new(LEVEL.unsigned_abs());
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(plain.len() / 4), level);
    encoder.write_all(plain)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn headers(accept: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !accept.is_empty() {
            headers.insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
        }
        headers
    }

    #[test]
    fn chooses_what_the_client_takes() {
        use Encoding::{Brotli, Gzip, Zstd};
        let cases: [(&str, Option<Encoding>); 12] = [
            ("", None),
            ("identity", None),
            ("gzip, deflate", Some(Gzip)),
            ("gzip, deflate, br, zstd", Some(Brotli)),
            ("GZIP", Some(Gzip)),
            ("br;q=0, gzip", Some(Gzip)),
            ("br ; q=0.0, zstd;q=0.5", Some(Zstd)),
            ("gzip;q=nonsense", None),
            ("*", Some(Brotli)),
            ("*;q=0", None),
            ("*, br;q=0, zstd;q=0", Some(Gzip)),
            ("x-gzip, brotli", None),
        ];
        for (accept, expected) in cases {
            let chosen = Encoding::choose(&headers(accept), &[Brotli, Zstd, Gzip]);
            assert_eq!(chosen, expected, "{accept}");
        }
    }

    #[test]
    fn answers_come_back_whole() {
        let text = r#"{"hostid":"10084","name":"host"}"#.repeat(200);
        let encode = |text: &str, accept| encode(text.into(), of_answers(&headers(accept)));
        let (encoding, packed) = encode(&text, "gzip");
        assert_eq!(encoding, Some(Encoding::Gzip));
        assert!(packed.len() < text.len() / 10, "{} bytes", packed.len());
        let mut back = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, text);

        let (encoding, packed) = encode(&text, "gzip, zstd");
        assert_eq!(encoding, Some(Encoding::Zstd));
        assert_eq!(zstd::bulk::decompress(&packed, text.len()).unwrap(), text.as_bytes());
    }

    #[test]
    fn answers_in_blocks_come_back_whole() {
        let text = r#"{"hostid":"10084","name":"host"}"#.repeat(20_000);
        for encoding in [None, Some(Encoding::Zstd), Some(Encoding::Gzip)] {
            let mut encoder = Encoder::new(encoding);
            let mut packed = Vec::new();
            for block in text.as_bytes().chunks(64 * 1024) {
                packed.extend(encoder.encode(block).unwrap());
            }
            packed.extend(encoder.finish().unwrap());
            let mut back = String::new();
            match encoding {
                None => back = String::from_utf8(packed).unwrap(),
                Some(Encoding::Zstd) => {
                    back =
                        String::from_utf8(zstd::stream::decode_all(&packed[..]).unwrap()).unwrap();
                }
                _ => {
                    let mut decoder = flate2::read::GzDecoder::new(&packed[..]);
                    decoder.read_to_string(&mut back).unwrap();
                }
            }
            assert!(back == text, "{encoding:?}");
        }
    }

    #[test]
    fn short_answers_and_plain_clients_get_the_text() {
        let short = vec![b'x'; ENCODED_BYTES_MIN - 1];
        assert_eq!(encode(short.clone(), Some(Encoding::Gzip)), (None, short));
        let long = vec![b'x'; ENCODED_BYTES_MIN];
        assert_eq!(encode(long.clone(), of_answers(&headers("br"))), (None, long));
    }
}
