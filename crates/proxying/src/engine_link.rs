//! Messages between an engine and the server that controls it, over TLS 1.3.
//!
//! ```text
//! message = length (u32, of what follows), kind (u8), fields
//! text    = length (u32), UTF-8        position = file (u32), offset (u32)
//! ```
//!
//! Numbers are little endian. The engine speaks first. Without a certificate it sends [`Message::Enrol`], gets
//! [`Message::Enrolled`] and connects again with the certificate. With one it sends [`Message::Hello`] and gets
//! [`Message::Welcome`], which says from which block on records are missing. From then on both sides send when
//! they have something: the server configurations, acknowledgements, checks of certificate authorities and
//! secrets of session tickets, the engine blocks of records, the result of each configuration, heartbeats,
//! and what it counts ([`analytics`]). An engine asks for a new certificate before its own ends.

pub mod analytics;
pub mod histogram;
pub mod monitors;
#[cfg(test)]
mod tests;
mod texts;

/// The version of both sides; another one is refused.
pub const VERSION: u32 = 3;
/// Longest message: a configuration.
pub const MESSAGE_MAX: usize = 64 << 20;
/// Longest message of an engine without a certificate, and longest text other than a configuration.
pub const SMALL_MAX: usize = 64 << 10;
/// Longest list of VIPs: more than 20,000 addresses.
pub const VIPS_MAX: usize = 1 << 20;
/// Longest text of a configuration: its message has a kind, a hash in hexadecimal digits, and two lengths as well.
pub const CONFIGURATION_MAX: usize = MESSAGE_MAX - 1 - 64 - 2 * LENGTH;
/// Bytes before a message's kind.
const LENGTH: usize = 4;

/// Where a block of records begins in the engine's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Number of the file, from 1.
    pub file: u32,
    /// Bytes before the block.
    pub offset: u32,
}

/// What an engine counts and measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Records since the start of the engine.
    pub records: u64,
    /// Records that were dropped at a limit or that the disk refused, since the start.
    pub dropped: u64,
    /// Bytes of records that the server has not acknowledged.
    pub unsent_bytes: u64,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<'b> {
    /// Engine: exchanges a token for a certificate of the key that signs the request (PKCS #10, DER).
    Enrol { version: u32, token: &'b str, request: &'b [u8] },
    /// Server: the engine's certificate and the authority that issued it, both DER.
    Enrolled { name: &'b str, certificate: &'b [u8], authority: &'b [u8] },
    /// Engine: which log its records are in, and the hash of the configuration that it runs (empty: none).
    Hello { version: u32, ring: u64, hash: &'b str },
    /// Server: the name of the engine, and where the records end that are kept.
    Welcome { name: &'b str, kept: Position },
    /// Server: the configuration to run.
    Configuration { hash: &'b str, text: &'b str },
    /// Engine: what became of a configuration; an empty error = it runs.
    Applied { hash: &'b str, error: &'b str },
    /// Engine: a block of records.
    Block { at: Position, bytes: &'b [u8] },
    /// Server: all blocks before this position are on its disk.
    Acknowledged { before: Position },
    /// Engine: it lives.
    Heartbeat(Gauges),
    /// Either side, before it closes the connection: why.
    Refused { reason: &'b str },
    /// Engine: what it counts, a [`Portion`](analytics::Portion).
    Analytics { portion: &'b [u8] },
    /// Server: what the checks of a certificate authority must find from now on, as JSON.
    Checks { number: u64, text: &'b str },
    /// Engine: the checks with this number pass.
    Answering { number: u64 },
    /// Server: the secrets of session tickets that all engines of the group have.
    Tickets { secrets: &'b [u8] },
    /// Engine: wants a new certificate for the key that signs the request (PKCS #10, DER).
    Renew { request: &'b [u8] },
    /// Server: the new certificate, DER. The engine stores it and connects again with it.
    Renewed { certificate: &'b [u8] },
    /// Engine, after the welcome: the version of its program.
    Program { version: &'b str },
    /// Engine, after the welcome and after each [`Place`](Self::Place): the VIPs that it owns, and the number of the
    /// message that named them (0: none did, so it announces all). Engines of older releases send none and get none.
    Owning { generation: u64, vips: &'b str },
    /// Server: the VIPs that the engine owns from now on, a list of addresses as JSON.
    Place { generation: u64, vips: &'b str },
    /// Server: an order to remove stored responses, as JSON.
    Purge { number: u64, order: &'b str },
    /// Engine, after the welcome with the number 0, and after each [`Purge`](Self::Purge): how many responses were removed,
    /// or why none. Engines of older releases send none and get no orders.
    Purged { number: u64, count: u64, error: &'b str },
}

/// Why bytes are no message. The connection cannot go on, except after [`Form`](Self::Form).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("a message of {length} bytes is longer than {most}")]
    TooLong { length: usize, most: usize },
    #[error("a message of kind {0} is unknown")]
    Unknown(u8),
    #[error("a message of kind {0} has the wrong length")]
    Length(u8),
    #[error("a text in a message of kind {0} is not UTF-8 or too long")]
    Text(u8),
    #[error("figures have the form {0}, which this release does not know; use the same release")]
    Form(u8),
}

/// Length of the message that begins here, with what stands before it; `None` = more bytes are needed.
///
/// # Errors
/// It is longer than `most`.
pub fn message_len(bytes: &[u8], most: usize) -> Result<Option<usize>, LinkError> {
    let Some(Ok(length)) = bytes.get(..LENGTH).map(<[u8; LENGTH]>::try_from) else {
        return Ok(None);
    };
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > most {
        return Err(LinkError::TooLong { length, most });
    }
    Ok(Some(LENGTH + length))
}

impl<'b> Message<'b> {
    /// Reads one message of [`message_len`] bytes.
    ///
    /// # Errors
    /// It is none.
    pub fn read(bytes: &'b [u8]) -> Result<Self, LinkError> {
        let [code, fields @ ..] = bytes.get(LENGTH..).unwrap_or_default() else {
            return Err(LinkError::Length(0));
        };
        let mut from = Fields { kind: *code, rest: fields };
        let message = match code {
            1 => {
                let (version, token) = (from.u32()?, from.text(SMALL_MAX)?);
                Self::Enrol { version, token, request: from.bytes()? }
            }
            2 => {
                let (name, certificate) = (from.text(SMALL_MAX)?, from.bytes()?);
                Self::Enrolled { name, certificate, authority: from.bytes()? }
            }
            3 => {
                let (version, ring) = (from.u32()?, from.u64()?);
                Self::Hello { version, ring, hash: from.text(SMALL_MAX)? }
            }
            4 => Self::Welcome { name: from.text(SMALL_MAX)?, kept: from.position()? },
            5 => {
                let hash = from.text(SMALL_MAX)?;
                Self::Configuration { hash, text: from.text(MESSAGE_MAX)? }
            }
            6 => Self::Applied { hash: from.text(SMALL_MAX)?, error: from.text(SMALL_MAX)? },
            7 => Self::Block { at: from.position()?, bytes: from.bytes()? },
            8 => Self::Acknowledged { before: from.position()? },
            9 => {
                let (records, dropped) = (from.u64()?, from.u64()?);
                Self::Heartbeat(Gauges { records, dropped, unsent_bytes: from.u64()? })
            }
            10 => Self::Refused { reason: from.text(SMALL_MAX)? },
            11 => Self::Analytics { portion: from.bytes()? },
            12 => Self::Checks { number: from.u64()?, text: from.text(SMALL_MAX)? },
            13 => Self::Answering { number: from.u64()? },
            14 => Self::Tickets { secrets: from.bytes()? },
            15 => Self::Renew { request: from.bytes()? },
            16 => Self::Renewed { certificate: from.bytes()? },
            17 => Self::Program { version: from.text(SMALL_MAX)? },
            18 => Self::Owning { generation: from.u64()?, vips: from.text(VIPS_MAX)? },
            19 => Self::Place { generation: from.u64()?, vips: from.text(VIPS_MAX)? },
            20 => Self::Purge { number: from.u64()?, order: from.text(SMALL_MAX)? },
            21 => {
                let (number, count) = (from.u64()?, from.u64()?);
                Self::Purged { number, count, error: from.text(SMALL_MAX)? }
            }
            other => return Err(LinkError::Unknown(*other)),
        };
        if from.rest.is_empty() { Ok(message) } else { Err(LinkError::Length(*code)) }
    }

    /// Appends the message. One beyond the limits is a fault of the caller, and refused by the reader.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH]);
        out.push(self.kind());
        self.write_fields(out);
        let length = length(out.len() - start - LENGTH).to_le_bytes();
        if let Some(place) = out.get_mut(start..start + LENGTH) {
            place.copy_from_slice(&length);
        }
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Enrol { .. } => 1,
            Self::Enrolled { .. } => 2,
            Self::Hello { .. } => 3,
            Self::Welcome { .. } => 4,
            Self::Configuration { .. } => 5,
            Self::Applied { .. } => 6,
            Self::Block { .. } => 7,
            Self::Acknowledged { .. } => 8,
            Self::Heartbeat(_) => 9,
            Self::Refused { .. } => 10,
            Self::Analytics { .. } => texts::KIND,
            Self::Checks { .. } => 12,
            Self::Answering { .. } => 13,
            Self::Tickets { .. } => 14,
            Self::Renew { .. } => 15,
            Self::Renewed { .. } => 16,
            Self::Program { .. } => 17,
            Self::Owning { .. } => 18,
            Self::Place { .. } => 19,
            Self::Purge { .. } => 20,
            Self::Purged { .. } => 21,
        }
    }

    fn write_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Enrol { version, token, request } => {
                put_u32(out, version);
                put_all(out, [token.as_bytes(), request]);
            }
            Self::Enrolled { name, certificate, authority } => {
                put_all(out, [name.as_bytes(), certificate, authority]);
            }
            Self::Hello { version, ring, hash } => {
                put_u32(out, version);
                put_u64(out, ring);
                put_all(out, [hash.as_bytes()]);
            }
            Self::Welcome { name, kept } => {
                put_all(out, [name.as_bytes()]);
                put_position(out, kept);
            }
            Self::Configuration { hash, text } => put_all(out, [hash, text].map(str::as_bytes)),
            Self::Applied { hash, error } => put_all(out, [hash, error].map(str::as_bytes)),
            Self::Block { at, bytes } => {
                put_position(out, at);
                put_all(out, [bytes]);
            }
            Self::Acknowledged { before } => put_position(out, before),
            Self::Heartbeat(Gauges { records, dropped, unsent_bytes }) => {
                for number in [records, dropped, unsent_bytes] {
                    put_u64(out, number);
                }
            }
            Self::Checks { number, text }
            | Self::Owning { generation: number, vips: text }
            | Self::Place { generation: number, vips: text }
            | Self::Purge { number, order: text } => {
                put_u64(out, number);
                put_all(out, [text.as_bytes()]);
            }
            Self::Answering { number } => put_u64(out, number),
            Self::Purged { number, count, error } => {
                put_u64(out, number);
                put_u64(out, count);
                put_all(out, [error.as_bytes()]);
            }
            Self::Refused { reason: text } | Self::Program { version: text } => {
                put_all(out, [text.as_bytes()]);
            }
            Self::Analytics { portion: bytes }
            | Self::Tickets { secrets: bytes }
            | Self::Renew { request: bytes }
            | Self::Renewed { certificate: bytes } => put_all(out, [bytes]),
        }
    }
}

/// What is left of a message.
struct Fields<'b> {
    kind: u8,
    rest: &'b [u8],
}

impl<'b> Fields<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8], LinkError> {
        let (taken, rest) =
            self.rest.split_at_checked(length).ok_or(LinkError::Length(self.kind))?;
        self.rest = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, LinkError> {
        self.take(1)?.first().copied().ok_or(LinkError::Length(self.kind))
    }

    fn u16(&mut self) -> Result<u16, LinkError> {
        let bytes = self.take(2)?.try_into().map_err(|_| LinkError::Length(self.kind))?;
        Ok(u16::from_le_bytes(bytes))
    }

    fn u32(&mut self) -> Result<u32, LinkError> {
        let bytes = self.take(4)?.try_into().map_err(|_| LinkError::Length(self.kind))?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn u64(&mut self) -> Result<u64, LinkError> {
        let bytes = self.take(8)?.try_into().map_err(|_| LinkError::Length(self.kind))?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn position(&mut self) -> Result<Position, LinkError> {
        Ok(Position { file: self.u32()?, offset: self.u32()? })
    }

    fn bytes(&mut self) -> Result<&'b [u8], LinkError> {
        let length = self.u32()?;
        self.take(usize::try_from(length).map_err(|_| LinkError::Length(self.kind))?)
    }

    fn text(&mut self, most: usize) -> Result<&'b str, LinkError> {
        let bytes = self.bytes()?;
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= most);
        text.ok_or(LinkError::Text(self.kind))
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_position(out: &mut Vec<u8>, position: Position) {
    put_u32(out, position.file);
    put_u32(out, position.offset);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(out, length(bytes.len()));
    out.extend_from_slice(bytes);
}

fn put_all<const N: usize>(out: &mut Vec<u8>, parts: [&[u8]; N]) {
    for part in parts {
        put_bytes(out, part);
    }
}
