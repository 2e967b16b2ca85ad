//! Encoders of content codings. Each one has the memory of a window and its tables, and what it has coded.
//!
//! Windows are 256 KiB (32 KiB for gzip), so a stream takes at most about 3 MiB.

use std::io::{self, Write};

use crate::config::Coding;

/// Logarithm of the window of Brotli and Zstandard. RFC 9659 limits that of Zstandard to 8 MiB.
const WINDOW_LOG: u8 = 18;
/// Coded bytes that a buffer is kept for.
const KEPT: usize = 64 * 1024;

enum Kind {
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Br(Box<brotli::CompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
    /// It has ended.
    Ended(Vec<u8>),
}

/// An encoder with the coded bytes that have not left.
pub(crate) struct Encoder {
    kind: Kind,
    /// Coded bytes at the front that have left.
    sent: usize,
    /// It holds content that is not among the coded bytes.
    holds: bool,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("holds", &self.holds).finish_non_exhaustive()
    }
}

impl Encoder {
    /// An encoder with a level of 1 to 9.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn new(coding: Coding, level: u8) -> io::Result<Self> {
        let kind = match coding {
            Coding::Gzip => {
                let level = flate2::Compression::new(u32::from(level));
                Kind::Gzip(flate2::write::GzEncoder::new(Vec::new(), level))
            }
            Coding::Br => {
                // Beyond 6 it takes more CPU time than a thread that forwards has.
                let quality = u32::from(level) / 2 + 2;
                let window = u32::from(WINDOW_LOG);
                let encoder = brotli::CompressorWriter::new(Vec::new(), 4096, quality, window);
                Kind::Br(Box::new(encoder))
            }
            Coding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), i32::from(level))?;
                encoder.window_log(u32::from(WINDOW_LOG))?;
                Kind::Zstd(encoder)
            }
        };
        Ok(Self { kind, sent: 0, holds: false })
    }

    /// Codes content. Without a flush, the last of it may be held until more follows.
    pub(crate) fn write(&mut self, content: &[u8]) -> io::Result<()> {
        self.holds = true;
        match &mut self.kind {
            Kind::Gzip(encoder) => encoder.write_all(content),
            Kind::Br(encoder) => encoder.write_all(content),
            Kind::Zstd(encoder) => encoder.write_all(content),
            Kind::Ended(_) => Ok(()),
        }
    }

    /// Codes all content that was written, so that the client can decode it; false: there is none.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        if !std::mem::take(&mut self.holds) {
            return Ok(false);
        }
        match &mut self.kind {
            Kind::Gzip(encoder) => encoder.flush()?,
            Kind::Br(encoder) => encoder.flush()?,
            Kind::Zstd(encoder) => encoder.flush()?,
            Kind::Ended(_) => {}
        }
        Ok(true)
    }

    /// Codes the end, and frees the window.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.holds = false;
        let coded = match std::mem::replace(&mut self.kind, Kind::Ended(Vec::new())) {
            Kind::Gzip(encoder) => encoder.finish()?,
            Kind::Br(encoder) => encoder.into_inner(),
            Kind::Zstd(encoder) => encoder.finish()?,
            Kind::Ended(coded) => coded,
        };
        self.kind = Kind::Ended(coded);
        Ok(())
    }

    /// Coded bytes that have not left.
    pub(crate) fn coded(&self) -> &[u8] {
        let all = match &self.kind {
            Kind::Gzip(encoder) => encoder.get_ref(),
            Kind::Br(encoder) => encoder.get_ref(),
            Kind::Zstd(encoder) => encoder.get_ref(),
            Kind::Ended(coded) => coded,
        };
        all.get(self.sent..).unwrap_or_default()
    }

    /// This number of coded bytes has left.
    pub(crate) fn consume(&mut self, length: usize) {
        self.sent += length;
        if !self.coded().is_empty() {
            return;
        }
        self.sent = 0;
        let all = match &mut self.kind {
            Kind::Gzip(encoder) => encoder.get_mut(),
            Kind::Br(encoder) => encoder.get_mut(),
            Kind::Zstd(encoder) => encoder.get_mut(),
            Kind::Ended(coded) => coded,
        };
        all.clear();
        all.shrink_to(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn decoded(coding: Coding, coded: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        // An end that is missing is an error after the content before it.
        let _complete = match coding {
            Coding::Gzip => flate2::read::GzDecoder::new(coded).read_to_end(&mut content),
            Coding::Br => brotli::Decompressor::new(coded, 4096).read_to_end(&mut content),
            Coding::Zstd => {
                zstd::stream::read::Decoder::new(coded).unwrap().read_to_end(&mut content)
            }
        };
        content
    }

    #[test]
    fn what_is_coded_is_what_was_written() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|n| format!("{} ", n * 7).into_bytes()).collect();
        for coding in [Coding::Gzip, Coding::Br, Coding::Zstd] {
            for level in [1, 5, 9] {
                let mut encoder = Encoder::new(coding, level).unwrap();
                let mut coded = Vec::new();
                for part in text.chunks(16_384) {
                    encoder.write(part).unwrap();
                    coded.extend_from_slice(encoder.coded());
                    encoder.consume(encoder.coded().len());
                }
                encoder.finish().unwrap();
                coded.extend_from_slice(encoder.coded());
                assert!(coded.len() < text.len() / 2, "{coding:?} {level}: {}", coded.len());
                assert!(decoded(coding, &coded) == text, "{coding:?} {level}");
            }
        }
    }

    #[test]
    fn after_a_flush_all_content_can_be_decoded() {
        for coding in [Coding::Gzip, Coding::Br, Coding::Zstd] {
            let mut encoder = Encoder::new(coding, 5).unwrap();
            let mut coded = Vec::new();
            let mut written = Vec::new();
            for event in ["data: one\n\n", "data: two\n\n", "data: three\n\n"] {
                encoder.write(event.as_bytes()).unwrap();
                written.extend_from_slice(event.as_bytes());
                assert!(encoder.flush().unwrap());
                assert!(!encoder.flush().unwrap(), "nothing is held");
                coded.extend_from_slice(encoder.coded());
                encoder.consume(encoder.coded().len());
                assert_eq!(decoded(coding, &coded), written, "{coding:?}");
            }
        }
    }
}
