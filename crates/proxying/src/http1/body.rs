//! Bodies: where they end, piece by piece.

use super::{Framing, Refusal, fields};

/// Largest extension of one chunk, in bytes.
const EXTENSION_MAX: u32 = 256;
/// Largest trailer section, in bytes.
const TRAILERS_MAX: usize = 8192;
/// Digits of a chunk size: 15 are below 2^60.
const SIZE_DIGITS_MAX: u32 = 15;

/// A body that is being received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Bytes that remain. A body that has ended, or never was, is `Length(0)`.
    Length(u64),
    /// Until the connection ends.
    UntilClose,
    /// Chunks.
    Chunked(Chunked),
}

/// What the next bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Content.
    Data(&'a [u8]),
    /// The body goes on when more bytes arrive.
    More,
    /// The body has ended; [`Body::trailers`].
    End,
}

/// Position within a chunked body (RFC 9112, 7.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunked {
    state: State,
    trailers: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size { size: u64, digits: u32 },
    Extension { size: u64, length: u32 },
    SizeEnd { size: u64 },
    Data { remaining: u64 },
    DataCr,
    DataLf,
    Trailers { line: usize },
    End,
}

const NEXT_SIZE: State = State::Size { size: 0, digits: 0 };

impl Body {
    /// A body that begins.
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::None => Self::Length(0),
            Framing::Length(length) => Self::Length(length),
            Framing::UntilClose => Self::UntilClose,
            Framing::Chunked => Self::Chunked(Chunked { state: NEXT_SIZE, trailers: Vec::new() }),
        }
    }

    /// Whether nothing of the body is outstanding.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Length(remaining) => *remaining == 0,
            Self::UntilClose => false,
            Self::Chunked(chunked) => chunked.state == State::End,
        }
    }

    /// The next piece that `input` begins with, and the number of bytes that belong to it. Bytes
    /// after the end belong to the next message.
    ///
    /// # Errors
    /// Malformed chunks or trailers, and those beyond the limits.
    pub fn next<'a>(&mut self, input: &'a [u8]) -> Result<(usize, Piece<'a>), Refusal> {
        match self {
            Self::Length(0) => Ok((0, Piece::End)),
            _ if input.is_empty() && !self.has_ended() => Ok((0, Piece::More)),
            Self::Length(remaining) => {
                let length = usize::try_from(*remaining).unwrap_or(usize::MAX).min(input.len());
                *remaining -= length as u64;
                Ok((length, Piece::Data(&input[..length])))
            }
            Self::UntilClose => Ok((input.len(), Piece::Data(input))),
            Self::Chunked(chunked) => chunked.next(input),
        }
    }

    /// The trailer section of a body that has ended, for [`fields::trailers`].
    pub fn trailers(&self) -> &[u8] {
        match self {
            Self::Chunked(chunked) => &chunked.trailers,
            _ => &[],
        }
    }
}

impl Chunked {
    fn next<'a>(&mut self, input: &'a [u8]) -> Result<(usize, Piece<'a>), Refusal> {
        for (at, byte) in input.iter().enumerate() {
            if let State::Data { remaining } = self.state {
                let rest = &input[at..];
                let length = usize::try_from(remaining).unwrap_or(usize::MAX).min(rest.len());
                let remaining = remaining - length as u64;
                self.state = if remaining == 0 { State::DataCr } else { State::Data { remaining } };
                return Ok((at + length, Piece::Data(&rest[..length])));
            }
            if self.state == State::End {
                return Ok((at, Piece::End));
            }
            self.state = self.after(*byte)?;
        }
        let piece = if self.state == State::End { Piece::End } else { Piece::More };
        Ok((input.len(), piece))
    }

    /// The state after a byte that is no content.
    fn after(&mut self, byte: u8) -> Result<State, Refusal> {
        match (self.state, byte) {
            (State::Size { size, digits }, byte) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                let digits = digits + 1;
                if digits > SIZE_DIGITS_MAX {
                    return Err(Refusal::Chunk);
                }
                Ok(State::Size { size: size * 16 + u64::from(digit), digits })
            }
            (State::Size { digits: 0, .. }, _) => Err(Refusal::Chunk),
            (State::Size { size, .. }, b';') => Ok(State::Extension { size, length: 0 }),
            (State::Size { size, .. } | State::Extension { size, .. }, b'\r') => {
                Ok(State::SizeEnd { size })
            }
            (State::Extension { size, length }, byte)
                if length < EXTENSION_MAX && fields::is_value(&[byte]) =>
            {
                Ok(State::Extension { size, length: length + 1 })
            }
            (State::SizeEnd { size: 0 }, b'\n') => Ok(State::Trailers { line: 0 }),
            (State::SizeEnd { size }, b'\n') => Ok(State::Data { remaining: size }),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(NEXT_SIZE),
            (State::Trailers { line }, byte) => self.trailer(line, byte),
            _ => Err(Refusal::Chunk),
        }
    }

    fn trailer(&mut self, line: usize, byte: u8) -> Result<State, Refusal> {
        if self.trailers.len() == TRAILERS_MAX {
            return Err(Refusal::HeadTooLarge);
        }
        self.trailers.push(byte);
        if byte != b'\n' {
            return Ok(State::Trailers { line });
        }
        let text = self.trailers[line..].strip_suffix(b"\r\n").ok_or(Refusal::LineEnd)?;
        if !text.is_empty() {
            return Ok(State::Trailers { line: self.trailers.len() });
        }
        fields::trailers(&self.trailers)?;
        Ok(State::End)
    }
}
