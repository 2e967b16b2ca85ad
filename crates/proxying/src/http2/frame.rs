//! Frames: their headers, sizes and payloads (RFC 9113, 4 and 6).

/// Length of a frame's header.
pub const HEADER: usize = 9;
/// Largest payload that is accepted: the initial SETTINGS_MAX_FRAME_SIZE.
pub const PAYLOAD_MAX: usize = 16_384;
/// What a client's connection begins with (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The last frame of a message of this side.
pub const END_STREAM: u8 = 0x1;
/// The last frame of a header block.
pub const END_HEADERS: u8 = 0x4;
/// SETTINGS and PING that confirm one of the peer.
pub const ACK: u8 = 0x1;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
/// Largest window of flow control (RFC 9113, 6.9.1).
pub const WINDOW_MAX: u32 = 0x7fff_ffff;

/// Codes of RFC 9113, 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the names of the codes")]
pub enum Code {
    NoError = 0,
    Protocol = 1,
    Internal = 2,
    FlowControl = 3,
    SettingsTimeout = 4,
    StreamClosed = 5,
    FrameSize = 6,
    RefusedStream = 7,
    Cancel = 8,
    Compression = 9,
    Connect = 10,
    EnhanceYourCalm = 11,
}

impl Code {
    /// The code of a number; unknown ones are an error inside the peer.
    pub fn of(number: u32) -> Self {
        use Code::{
            Cancel, Compression, Connect, EnhanceYourCalm, FlowControl, FrameSize, NoError,
            Protocol, RefusedStream, SettingsTimeout, StreamClosed,
        };
        let all = [
            NoError,
            Protocol,
            FlowControl,
            SettingsTimeout,
            StreamClosed,
            FrameSize,
            RefusedStream,
            Cancel,
            Compression,
            Connect,
            EnhanceYourCalm,
        ];
        let known = all.into_iter().find(|code| *code as u32 == number);
        known.unwrap_or(Self::Internal)
    }
}

/// What an error ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The connection: GOAWAY.
    Connection(Code),
    /// One stream: RST_STREAM.
    Stream(u32, Code),
}

/// A settings parameter; unknown ones are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Size of the table that the peer's decoder has.
    TableSize(u32),
    /// Whether the peer accepts pushed streams.
    Push(bool),
    /// Streams that the peer accepts at once.
    Streams(u32),
    /// Window of a new stream.
    Window(u32),
    /// Largest payload that the peer accepts.
    FrameSize(u32),
    /// Largest header list that the peer accepts.
    ListSize(u32),
    /// RFC 8441: the peer accepts extended CONNECT.
    ExtendedConnect(bool),
}

/// A frame whose form is valid. Whether it is allowed now is the connection's matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Content without its padding; `counted` is what flow control counts, with the padding.
    Data { stream: u32, data: &'a [u8], counted: usize, end: bool },
    /// Start of a header block.
    Headers { stream: u32, block: &'a [u8], end: bool, last: bool },
    /// Without effect (RFC 9113, 5.3.2).
    Priority { stream: u32 },
    /// The peer ends a stream.
    Reset { stream: u32, code: u32 },
    /// Parameters of the peer.
    Settings(Vec<Setting>),
    /// The peer has applied our parameters.
    SettingsAck,
    /// To be confirmed with the same bytes.
    Ping([u8; 8]),
    /// Confirms ours.
    PingAck,
    /// The peer ends the connection; streams above `last` were not processed.
    GoAway { last: u32, code: u32 },
    /// More window: 1 to 2^31 − 1.
    Window { stream: u32, increment: u32 },
    /// Goes on with a header block.
    Continuation { stream: u32, block: &'a [u8], last: bool },
    /// Pushed streams are never accepted.
    PushPromise,
    /// Of an unknown type: skipped.
    Unknown,
}

/// The first frame of `input` and its whole length; `None`: more bytes are needed.
///
/// # Errors
/// A size, stream or parameter that the type of the frame does not have; with the frame's length,
/// because the connection goes on after the error of a stream.
pub fn parse(input: &[u8]) -> Result<Option<(usize, Frame<'_>)>, (usize, Error)> {
    let Some((header, rest)) = input.split_at_checked(HEADER) else { return Ok(None) };
    let length =
        usize::from(header[0]) << 16 | usize::from(header[1]) << 8 | usize::from(header[2]);
    if length > PAYLOAD_MAX {
        return Err((HEADER, Error::Connection(Code::FrameSize)));
    }
    let Some(payload) = rest.get(..length) else { return Ok(None) };
    let whole = HEADER + length;
    let (kind, flags) = (header[3], header[4]);
    let stream = number(&header[5..]) & WINDOW_MAX;
    match typed(kind, flags, stream, payload) {
        Ok(frame) => Ok(Some((whole, frame))),
        Err(error) => Err((whole, error)),
    }
}

/// Up to four bytes in network order.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn typed(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<Frame<'_>, Error> {
    let connection = |code| Err(Error::Connection(code));
    let end = flags & END_STREAM != 0;
    let last = flags & END_HEADERS != 0;
    // RFC 9113, 6: frames of a stream, and frames of the connection.
    let of_stream = matches!(kind, 0..=3 | 5 | 9);
    let of_connection = matches!(kind, 4 | 6 | 7);
    if of_stream && stream == 0 || of_connection && stream != 0 {
        return connection(Code::Protocol);
    }
    match (kind, payload.len()) {
        (0, counted) => {
            let data = unpadded(flags, payload)?;
            Ok(Frame::Data { stream, data, counted, end })
        }
        (1, _) => {
            let block = without_priority(flags, stream, unpadded(flags, payload)?)?;
            Ok(Frame::Headers { stream, block, end, last })
        }
        (2, 5) if number(payload) & WINDOW_MAX == stream => {
            Err(Error::Stream(stream, Code::Protocol))
        }
        (2, 5) => Ok(Frame::Priority { stream }),
        (2, _) => Err(Error::Stream(stream, Code::FrameSize)),
        (3, 4) => Ok(Frame::Reset { stream, code: number(payload) }),
        (4, 0) if flags & ACK != 0 => Ok(Frame::SettingsAck),
        (4, length) if flags & ACK == 0 && length % 6 == 0 => settings(payload),
        (5, _) => Ok(Frame::PushPromise),
        (6, 8) if flags & ACK != 0 => Ok(Frame::PingAck),
        (6, 8) => {
            let mut opaque = [0; 8];
            opaque.copy_from_slice(payload);
            Ok(Frame::Ping(opaque))
        }
        (7, 8..) => {
            Ok(Frame::GoAway { last: number(payload) & WINDOW_MAX, code: number(&payload[4..]) })
        }
        (8, 4) => match (number(payload) & WINDOW_MAX, stream) {
            (0, 0) => connection(Code::Protocol),
            (0, _) => Err(Error::Stream(stream, Code::Protocol)),
            (increment, _) => Ok(Frame::Window { stream, increment }),
        },
        (9, _) => Ok(Frame::Continuation { stream, block: payload, last }),
        (3 | 4 | 6 | 7 | 8, _) => connection(Code::FrameSize),
        _ => Ok(Frame::Unknown),
    }
}

/// Content without the padding that surrounds it (RFC 9113, 6.1).
fn unpadded(flags: u8, payload: &[u8]) -> Result<&[u8], Error> {
    if flags & PADDED == 0 {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or(Error::Connection(Code::FrameSize))?;
    let length = rest.len().checked_sub(usize::from(*padding));
    length.map(|length| &rest[..length]).ok_or(Error::Connection(Code::Protocol))
}

/// A block without the priority before it, which has no effect. A stream that depends on itself is
/// an error all the same (RFC 9113, 5.3.1 and RFC 7540, 5.3.1), of the connection, because the
/// block is not decoded.
fn without_priority(flags: u8, stream: u32, payload: &[u8]) -> Result<&[u8], Error> {
    if flags & PRIORITY == 0 {
        return Ok(payload);
    }
    let (priority, block) =
        payload.split_at_checked(5).ok_or(Error::Connection(Code::FrameSize))?;
    if number(priority) & WINDOW_MAX == stream {
        return Err(Error::Connection(Code::Protocol));
    }
    Ok(block)
}

/// RFC 9113, 6.5.2; RFC 8441, 3.
fn settings(payload: &[u8]) -> Result<Frame<'_>, Error> {
    let mut settings = Vec::new();
    for parameter in payload.chunks_exact(6) {
        let value = number(&parameter[2..]);
        let setting = match (number(&parameter[..2]), value) {
            (1, _) => Setting::TableSize(value),
            (2, 0 | 1) => Setting::Push(value == 1),
            (3, _) => Setting::Streams(value),
            (4, 0..=WINDOW_MAX) => Setting::Window(value),
            (4, _) => return Err(Error::Connection(Code::FlowControl)),
            (5, 16_384..=16_777_215) => Setting::FrameSize(value),
            (6, _) => Setting::ListSize(value),
            (8, 0 | 1) => Setting::ExtendedConnect(value == 1),
            (2 | 5 | 8, _) => return Err(Error::Connection(Code::Protocol)),
            _ => continue,
        };
        settings.push(setting);
    }
    Ok(Frame::Settings(settings))
}

fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    out.extend_from_slice(&length[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// Writes DATA; `data` fits in one frame.
pub fn data(out: &mut Vec<u8>, stream: u32, data: &[u8], end: bool) {
    put(out, 0, u8::from(end) * END_STREAM, stream, data);
}

/// Writes a header block, in CONTINUATION frames where it is longer than `largest`.
pub fn headers(out: &mut Vec<u8>, stream: u32, block: &[u8], end: bool, largest: usize) {
    let mut kind = 1;
    let mut flags = u8::from(end) * END_STREAM;
    let mut rest = block;
    loop {
        let (piece, after) = rest.split_at(rest.len().min(largest));
        let last = if after.is_empty() { END_HEADERS } else { 0 };
        put(out, kind, flags | last, stream, piece);
        if after.is_empty() {
            return;
        }
        (kind, flags, rest) = (9, 0, after);
    }
}

/// Writes RST_STREAM.
pub fn reset(out: &mut Vec<u8>, stream: u32, code: Code) {
    put(out, 3, 0, stream, &(code as u32).to_be_bytes());
}

/// Writes SETTINGS with parameters by their numbers.
pub fn settings_frame(out: &mut Vec<u8>, parameters: &[(u16, u32)]) {
    let mut payload = Vec::with_capacity(parameters.len() * 6);
    for (number, value) in parameters {
        payload.extend_from_slice(&number.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    put(out, 4, 0, 0, &payload);
}

/// Confirms SETTINGS.
pub fn settings_ack(out: &mut Vec<u8>) {
    put(out, 4, ACK, 0, &[]);
}

/// Confirms a PING.
pub fn ping_ack(out: &mut Vec<u8>, opaque: [u8; 8]) {
    put(out, 6, ACK, 0, &opaque);
}

/// Writes a PING, to be confirmed.
pub fn ping(out: &mut Vec<u8>, opaque: [u8; 8]) {
    put(out, 6, 0, 0, &opaque);
}

/// Writes GOAWAY: streams above `last` are not processed.
pub fn goaway(out: &mut Vec<u8>, last: u32, code: Code) {
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&last.to_be_bytes());
    payload[4..].copy_from_slice(&(code as u32).to_be_bytes());
    put(out, 7, 0, 0, &payload);
}

/// Writes WINDOW_UPDATE.
pub fn window(out: &mut Vec<u8>, stream: u32, increment: u32) {
    put(out, 8, 0, stream, &increment.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::hex::bytes;

    #[test]
    fn sizes_streams_and_parameters_of_each_type_are_checked() {
        let protocol = Error::Connection(Code::Protocol);
        let size = Error::Connection(Code::FrameSize);
        for (hex, error, why) in [
            ("004001000000000001", size, "longer than announced"),
            ("000000000000000000", protocol, "DATA of the connection"),
            ("000000010000000000", protocol, "HEADERS of the connection"),
            ("00000100080000000105", protocol, "more padding than content"),
            ("000000000800000001", size, "padding without its length"),
            ("0000040200000000010000000f", Error::Stream(1, Code::FrameSize), "PRIORITY"),
            ("0000050200000000010000000110", Error::Stream(1, Code::Protocol), "itself"),
            ("00000501240000000100000001ff", protocol, "HEADERS that depend on themselves"),
            ("000003030000000001000000", size, "RST_STREAM"),
            ("000000040000000001", protocol, "SETTINGS of a stream"),
            ("00000104010000000000", size, "a confirmation with content"),
            ("00000504000000000000030000ff", size, "half a parameter"),
            ("000006040000000000000200000002", protocol, "push 2"),
            ("000006040000000000000480000000", Error::Connection(Code::FlowControl), "window"),
            ("000006040000000000000500003fff", protocol, "a small frame size"),
            ("00000406000000000000000000", size, "PING"),
            ("000008060000000001000000000000000a", protocol, "PING of a stream"),
            ("00000407000000000000000000", size, "GOAWAY"),
            ("00000308000000000000000f", size, "WINDOW_UPDATE"),
            ("00000408000000000000000000", protocol, "no window for the connection"),
            ("00000408000000000300000000", Error::Stream(3, Code::Protocol), "no window"),
            ("000000090400000000", protocol, "CONTINUATION of the connection"),
        ] {
            let result = parse(&bytes(hex)).map_err(|(_, error)| error).map(drop);
            assert_eq!(result, Err(error), "{why}");
        }
    }

    #[test]
    fn what_is_written_is_parsed() {
        let mut out = Vec::new();
        settings_frame(&mut out, &[(3, 100), (0xfff, 1), (8, 1)]);
        settings_ack(&mut out);
        ping_ack(&mut out, *b"12345678");
        headers(&mut out, 1, b"abcde", false, 2);
        data(&mut out, 1, b"hello", true);
        window(&mut out, 0, 7);
        reset(&mut out, 3, Code::Cancel);
        goaway(&mut out, 5, Code::NoError);
        let mut frames = Vec::new();
        let mut rest = &out[..];
        while let Some((length, frame)) = parse(rest).unwrap() {
            for short in 0..length {
                assert_eq!(parse(&rest[..short]), Ok(None));
            }
            frames.push(frame);
            rest = &rest[length..];
        }
        let wanted = [
            Frame::Settings(vec![Setting::Streams(100), Setting::ExtendedConnect(true)]),
            Frame::SettingsAck,
            Frame::PingAck,
            Frame::Headers { stream: 1, block: b"ab", end: false, last: false },
            Frame::Continuation { stream: 1, block: b"cd", last: false },
            Frame::Continuation { stream: 1, block: b"e", last: true },
            Frame::Data { stream: 1, data: b"hello", counted: 5, end: true },
            Frame::Window { stream: 0, increment: 7 },
            Frame::Reset { stream: 3, code: 8 },
            Frame::GoAway { last: 5, code: 0 },
        ];
        assert!(rest.is_empty() && frames == wanted, "{frames:?}");
    }

    #[test]
    fn padding_and_priority_are_left_out() {
        let padded = bytes("00000a000900000001034142434445460000");
        assert_eq!(parse(&padded), Ok(None));
        let padded = bytes("00000a00090000000103414243444546000000");
        let data = Frame::Data { stream: 1, data: b"ABCDEF", counted: 10, end: true };
        assert_eq!(parse(&padded), Ok(Some((19, data))));
        let priority = bytes("00000601250000000100000000ff82");
        let head = Frame::Headers { stream: 1, block: &[0x82], end: true, last: true };
        assert_eq!(parse(&priority), Ok(Some((15, head))));
    }
}
