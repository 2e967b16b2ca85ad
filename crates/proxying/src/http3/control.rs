//! The client's unidirectional streams (RFC 9114, 6.2; RFC 9204, 4.2).

use super::frame::{Code, Error, Part, Reader, integer, kind};
use super::qpack;
use crate::budget::{Purse, RESET_COST};

/// Types of streams.
pub(super) const CONTROL: u64 = 0;
const PUSH: u64 = 1;
const ENCODER: u64 = 2;
const DECODER: u64 = 3;

/// Longest payload of a frame on the control stream that is understood, in bytes.
const PAYLOAD_MAX: u64 = 1024;
/// Bytes of unknown frames that cost as much as another frame.
pub(super) const SKIPPED: u64 = 4096;

/// What a stream is for.
#[derive(Debug)]
enum Purpose {
    /// Its type arrives.
    Unknown(Vec<u8>),
    Control(Control),
    /// Instructions of the client's encoder.
    Encoder,
    /// Those of its decoder; bytes of one that is not complete.
    Decoder(Vec<u8>),
}

/// The client's control stream.
#[derive(Debug, Default)]
struct Control {
    reader: Reader,
    payload: Vec<u8>,
    settled: bool,
    /// Largest push that the client accepts; this side pushes nothing.
    push: Option<u64>,
    /// Push above which it accepts none.
    goaway: Option<u64>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Streams(Vec<(u64, Purpose)>);

impl Streams {
    /// Takes bytes of a stream. `end`: nothing follows. A stream that is not understood is an error of it alone.
    pub(super) fn receive(
        &mut self,
        stream: u64,
        input: &[u8],
        end: bool,
        purse: &mut Purse<'_>,
    ) -> Result<(), Error> {
        let at = match self.0.iter().position(|(other, _)| *other == stream) {
            Some(at) => at,
            None => {
                self.0.push((stream, Purpose::Unknown(Vec::new())));
                self.0.len() - 1
            }
        };
        let mut input = input;
        let begun = match &mut self.0[at].1 {
            Purpose::Unknown(bytes) => kind_of(bytes, &mut input),
            _ => None,
        };
        if let Some(kind) = begun {
            match self.purpose(kind) {
                Ok(purpose) => self.0[at].1 = purpose,
                Err(error) => {
                    self.0.remove(at);
                    purse.spend(RESET_COST)?;
                    return Err(error);
                }
            }
        }
        match &mut self.0[at].1 {
            // RFC 9114, 6.2: a stream may end before its type.
            Purpose::Unknown(_) => {
                if end {
                    self.0.remove(at);
                    purse.spend(RESET_COST)?;
                }
                return Ok(());
            }
            Purpose::Control(control) => control.receive(input, purse)?,
            Purpose::Encoder => {
                purse.spend(1)?;
                qpack::encoder_instructions(&mut input)
                    .map_err(|_| Error::Connection(Code::QpackEncoder))?;
            }
            Purpose::Decoder(bytes) => {
                bytes.extend_from_slice(input);
                let mut rest = &bytes[..];
                let count = qpack::decoder_instructions(&mut rest)
                    .map_err(|_| Error::Connection(Code::QpackDecoder))?;
                *bytes = rest.to_vec();
                purse.spend(count.max(1))?;
            }
        }
        if end { Err(Error::Connection(Code::ClosedCriticalStream)) } else { Ok(()) }
    }

    /// A client has abandoned a stream.
    pub(super) fn reset(&mut self, stream: u64) -> Result<(), Error> {
        let at = self.0.iter().position(|(other, _)| *other == stream);
        match at.map(|at| self.0.remove(at).1) {
            None | Some(Purpose::Unknown(_)) => Ok(()),
            Some(_) => Err(Error::Connection(Code::ClosedCriticalStream)),
        }
    }

    fn purpose(&self, kind: u64) -> Result<Purpose, Error> {
        let purpose = match kind {
            CONTROL => Purpose::Control(Control::default()),
            ENCODER => Purpose::Encoder,
            DECODER => Purpose::Decoder(Vec::new()),
            // Only servers push.
            PUSH => return Err(Error::Connection(Code::StreamCreation)),
            _ => return Err(Error::Stream(Code::StreamCreation)),
        };
        let same =
            |other: &Purpose| std::mem::discriminant(other) == std::mem::discriminant(&purpose);
        if self.0.iter().any(|(_, other)| same(other)) {
            return Err(Error::Connection(Code::StreamCreation));
        }
        Ok(purpose)
    }
}

impl Control {
    fn receive(&mut self, mut input: &[u8], purse: &mut Purse<'_>) -> Result<(), Error> {
        loop {
            let (taken, part) = self.reader.next(input);
            input = &input[taken..];
            let Some(part) = part else { return Ok(()) };
            purse.spend(u64::from(part.first))?;
            self.part(&part, purse)?;
        }
    }

    fn part(&mut self, part: &Part<'_>, purse: &mut Purse<'_>) -> Result<(), Error> {
        let unexpected = Err(Error::Connection(Code::FrameUnexpected));
        if !self.settled && part.kind != kind::SETTINGS {
            return Err(Error::Connection(Code::MissingSettings));
        }
        match part.kind {
            kind::SETTINGS if self.settled => return unexpected,
            kind::DATA | kind::HEADERS | kind::PUSH_PROMISE => return unexpected,
            other if kind::RESERVED.contains(&other) => return unexpected,
            kind::SETTINGS if part.length > PAYLOAD_MAX => {
                return Err(Error::Connection(Code::ExcessiveLoad));
            }
            kind::CANCEL_PUSH | kind::GOAWAY | kind::MAX_PUSH_ID if part.length > 8 => {
                return Err(Error::Connection(Code::Frame));
            }
            kind::SETTINGS | kind::CANCEL_PUSH | kind::GOAWAY | kind::MAX_PUSH_ID => {}
            _ => {
                let cost = if part.first { part.length.min(1 << 30) / SKIPPED } else { 0 };
                return Ok(purse.spend(cost)?);
            }
        }
        self.payload.extend_from_slice(part.data);
        if !part.last {
            return Ok(());
        }
        let payload = std::mem::take(&mut self.payload);
        if part.kind == kind::SETTINGS {
            self.settled = true;
            return settings(&payload);
        }
        let mut rest = &payload[..];
        let number = integer(&mut rest).filter(|_| rest.is_empty());
        self.number(part.kind, number.ok_or(Error::Connection(Code::Frame))?)
    }

    /// A frame whose payload is the number of a push.
    fn number(&mut self, kind: u64, number: u64) -> Result<(), Error> {
        let valid = match kind {
            kind::GOAWAY => self.goaway.replace(number).is_none_or(|before| number <= before),
            kind::MAX_PUSH_ID => self.push.replace(number).is_none_or(|before| number >= before),
            // RFC 9114, 7.2.3: no push was ever announced.
            _ => false,
        };
        if valid { Ok(()) } else { Err(Error::Connection(Code::Id)) }
    }
}

/// The type of a stream, whose first bytes may have come before.
fn kind_of(bytes: &mut Vec<u8>, input: &mut &[u8]) -> Option<u64> {
    /// Longest integer.
    const LONGEST: usize = 8;
    let before = bytes.len();
    let more = input.len().min(LONGEST - before);
    bytes.extend_from_slice(&input[..more]);
    let mut rest = &bytes[..];
    let kind = integer(&mut rest);
    let taken = if kind.is_some() { bytes.len() - rest.len() - before } else { more };
    *input = &input[taken..];
    kind
}

/// RFC 9114, 7.2.4. What they say is about heads of responses and a dynamic table, of which nothing is used.
fn settings(mut payload: &[u8]) -> Result<(), Error> {
    let malformed = Error::Connection(Code::Frame);
    let wrong = Err(Error::Connection(Code::Settings));
    let mut seen = Vec::new();
    while !payload.is_empty() {
        let name = integer(&mut payload).ok_or(malformed)?;
        let value = integer(&mut payload).ok_or(malformed)?;
        // Those of HTTP/2 mean nothing here; ENABLE_CONNECT_PROTOCOL and H3_DATAGRAM are switches.
        if matches!(name, 0 | 2..=5) || (matches!(name, 0x08 | 0x33) && value > 1) {
            return wrong;
        }
        if seen.contains(&name) {
            return wrong;
        }
        seen.push(name);
    }
    Ok(())
}
