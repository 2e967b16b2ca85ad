//! Requests on streams of HTTP/2 (RFC 9113): what a client needs that asks always the same.

use anyhow::bail;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length, kind, flags and stream of a frame.
const FRAME_HEAD: usize = 9;
/// Largest frame that a client accepts which does not say otherwise.
const FRAME_MAX: usize = 16_384;
/// Content that the balancer may send before a window update, in bytes: all streams, and one.
const WINDOW: u32 = 1 << 30;
/// Content after which the window is opened again.
const CONSUMED: u32 = 1 << 24;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

/// Of `DATA` and `HEADERS`.
const END_STREAM: u8 = 0x1;
/// Of `SETTINGS` and `PING`.
const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// `:status: 200` of the static table (RFC 7541, appendix A).
const STATUS_200: u8 = 0x88;

/// A connection with some requests in flight.
#[derive(Debug)]
pub(crate) struct Http2 {
    /// Header block of a request.
    block: Vec<u8>,
    /// Bytes for the balancer.
    pub(crate) output: Vec<u8>,
    /// The frame that arrives.
    input: Vec<u8>,
    /// Number of the next stream.
    next: u32,
    /// Bytes of content since the last window update.
    consumed: u32,
}

impl Http2 {
    /// One with `streams` requests for a path.
    pub(crate) fn new(authority: &str, path: &str, streams: usize) -> Self {
        // `:method: GET` and `:scheme: https` of the static table; literals with indexed names.
        let mut block = vec![0x82, 0x87];
        for (name, value) in [(0x04, path), (0x01, authority)] {
            block.push(name);
            // Below 127, a length is one byte.
            block.push(u8::try_from(value.len()).unwrap_or(u8::MAX).min(126));
            block.extend_from_slice(&value.as_bytes()[..value.len().min(126)]);
        }
        let mut new =
            Self { block, output: PREFACE.to_vec(), input: Vec::new(), next: 1, consumed: 0 };
        // SETTINGS_ENABLE_PUSH 0, SETTINGS_INITIAL_WINDOW_SIZE.
        let settings = [&[0, 2, 0, 0, 0, 0][..], &[0, 4], &WINDOW.to_be_bytes()].concat();
        new.frame(SETTINGS, 0, 0, &settings);
        new.frame(WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes());
        for _ in 0..streams {
            new.request();
        }
        new
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
        self.output.extend_from_slice(&length[1..]);
        self.output.extend_from_slice(&[kind, flags]);
        self.output.extend_from_slice(&stream.to_be_bytes());
        self.output.extend_from_slice(payload);
    }

    fn request(&mut self) {
        let block = std::mem::take(&mut self.block);
        self.frame(HEADERS, END_STREAM | END_HEADERS, self.next, &block);
        self.block = block;
        self.next += 2;
    }

    /// Takes bytes as they come; returns the number of responses that are complete. Each is followed by
    /// the next request.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> anyhow::Result<u64> {
        let mut input = std::mem::take(&mut self.input);
        input.extend_from_slice(bytes);
        let (mut at, mut complete) = (0, 0);
        while let Some(head) = input.get(at..at + FRAME_HEAD) {
            let length =
                usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            if length > FRAME_MAX {
                bail!("a frame of {length} bytes");
            }
            let from = at + FRAME_HEAD;
            let Some(payload) = input.get(from..from + length) else { break };
            complete += u64::from(self.receive(head[3], head[4], payload)?);
            at = from + length;
        }
        input.drain(..at);
        self.input = input;
        if self.consumed > CONSUMED {
            self.frame(WINDOW_UPDATE, 0, 0, &self.consumed.to_be_bytes());
            self.consumed = 0;
        }
        Ok(complete)
    }

    /// Whether the frame ends a response.
    fn receive(&mut self, kind: u8, flags: u8, payload: &[u8]) -> anyhow::Result<bool> {
        match kind {
            DATA => self.consumed += u32::try_from(payload.len()).unwrap_or(0),
            HEADERS => check_status(flags, payload)?,
            RESET => bail!("the balancer has reset a stream"),
            GOAWAY => bail!("the balancer ends a connection of HTTP/2"),
            SETTINGS | PING if flags & ACK == 0 => {
                let payload = if kind == PING { payload } else { &[] };
                self.frame(kind, ACK, 0, payload);
            }
            _ => {}
        }
        let ended = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
        if ended {
            self.request();
        }
        Ok(ended)
    }
}

/// A response's head must begin with status 200. Balancers take it from the static table, and no response of
/// the servers has trailers.
fn check_status(flags: u8, payload: &[u8]) -> anyhow::Result<()> {
    let before = usize::from(flags & PADDED != 0) + if flags & PRIORITY != 0 { 5 } else { 0 };
    let block = payload.get(before..).unwrap_or_default();
    // A change of the table's size may come first.
    match block.iter().find(|byte| !(0x20..0x40).contains(*byte)) {
        Some(&STATUS_200) => Ok(()),
        _ => bail!("the response to a request of HTTP/2 was not 200"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        [&[0, 0, length, kind, flags, 0, 0, 0, 1][..], payload].concat()
    }

    #[test]
    fn responses_are_counted_wherever_the_bytes_are_cut() {
        let bytes = [
            frame(SETTINGS, 0, &[]),
            frame(HEADERS, END_HEADERS, &[0x20, STATUS_200]),
            frame(DATA, 0, b"abc"),
            frame(DATA, END_STREAM, b""),
            frame(HEADERS, END_HEADERS | END_STREAM, &[STATUS_200]),
        ]
        .concat();
        for cut in 0..=bytes.len() {
            let mut http2 = Http2::new("a.test", "/", 2);
            let before = http2.output.len();
            let complete = http2.take(&bytes[..cut]).unwrap() + http2.take(&bytes[cut..]).unwrap();
            assert_eq!((complete, http2.next), (2, 9), "{cut}");
            let block = http2.block.len();
            assert_eq!(http2.output.len() - before, FRAME_HEAD + 2 * (FRAME_HEAD + block));
        }
    }

    #[test]
    fn what_is_no_success_is_an_error() {
        for (bytes, word) in [
            (frame(HEADERS, END_HEADERS, &[0x8d]), "not 200"),
            (frame(RESET, 0, &[0; 4]), "reset"),
            (frame(GOAWAY, 0, &[0; 8]), "ends"),
            (vec![1, 0, 0, 0, 0, 0, 0, 0, 1], "65536 bytes"),
        ] {
            let error = Http2::new("a.test", "/", 1).take(&bytes).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
