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

/// The answer of an API call, encoded where the client takes that and it pays.
pub(super) fn encode(text: String, headers: &HeaderMap) -> (Option<Encoding>, Vec<u8>) {
    let plain = text.into_bytes();
    if plain.len() < ENCODED_BYTES_MIN {
        return (None, plain);
    }
    let Some(encoding) = Encoding::choose(headers, &[Encoding::Zstd, Encoding::Gzip]) else {
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
        let (encoding, packed) = encode(text.clone(), &headers("gzip"));
        assert_eq!(encoding, Some(Encoding::Gzip));
        assert!(packed.len() < text.len() / 10, "{} bytes", packed.len());
        let mut back = String::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, text);

        let (encoding, packed) = encode(text.clone(), &headers("gzip, zstd"));
        assert_eq!(encoding, Some(Encoding::Zstd));
        assert_eq!(zstd::bulk::decompress(&packed, text.len()).unwrap(), text.as_bytes());
    }

    #[test]
    fn short_answers_and_plain_clients_get_the_text() {
        let short = "x".repeat(ENCODED_BYTES_MIN - 1);
        assert_eq!(encode(short.clone(), &headers("gzip")), (None, short.into_bytes()));
        let long = "x".repeat(ENCODED_BYTES_MIN);
        assert_eq!(encode(long.clone(), &headers("br")), (None, long.into_bytes()));
    }
}
