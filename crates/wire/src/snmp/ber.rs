//! Basic encoding rules as far as SNMP needs them (RFC 3417 section 8): definite lengths, tags of
//! one octet. Nesting is bounded by the structure of messages: nothing here recurses.

use super::SnmpError;

/// Tags of the types that SNMP uses.
pub mod tag {
    /// INTEGER.
    pub const INTEGER: u8 = 0x02;
    /// OCTET STRING.
    pub const OCTETS: u8 = 0x04;
    /// NULL.
    pub const NULL: u8 = 0x05;
    /// OBJECT IDENTIFIER.
    pub const OID: u8 = 0x06;
    /// SEQUENCE.
    pub const SEQUENCE: u8 = 0x30;
    /// `IpAddress`.
    pub const IP: u8 = 0x40;
    /// `Counter32`.
    pub const COUNTER32: u8 = 0x41;
    /// `Gauge32`, `Unsigned32`.
    pub const GAUGE32: u8 = 0x42;
    /// `TimeTicks`.
    pub const TIMETICKS: u8 = 0x43;
    /// `Opaque`.
    pub const OPAQUE: u8 = 0x44;
    /// `NsapAddress` (RFC 1442, no longer used).
    pub const NSAP: u8 = 0x45;
    /// `Counter64`.
    pub const COUNTER64: u8 = 0x46;
    /// `UInteger32` (RFC 1442, no longer used).
    pub const UINTEGER32: u8 = 0x47;
    /// The exception `noSuchObject`.
    pub const NO_SUCH_OBJECT: u8 = 0x80;
    /// The exception `noSuchInstance`.
    pub const NO_SUCH_INSTANCE: u8 = 0x81;
    /// The exception `endOfMibView`.
    pub const END_OF_MIB_VIEW: u8 = 0x82;
}

/// Reads elements one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// At the begin of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Octets that are left.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The tag of the next element.
    pub fn peek(&self) -> Result<u8, SnmpError> {
        self.rest.first().copied().ok_or(SnmpError::Truncated)
    }

    /// The next element: its tag and its content.
    #[inline]
    pub fn element(&mut self) -> Result<(u8, &'a [u8]), SnmpError> {
        let (&tag, rest) = self.rest.split_first().ok_or(SnmpError::Truncated)?;
        let (&first, mut rest) = rest.split_first().ok_or(SnmpError::Truncated)?;
        let len = if first < 0x80 {
            usize::from(first)
        } else {
            // More octets than four would be more than a datagram holds.
            let count = usize::from(first & 0x7f);
            if count == 0 || count > 4 {
                return Err(SnmpError::TooLarge);
            }
            let (octets, after) = rest.split_at_checked(count).ok_or(SnmpError::Truncated)?;
            rest = after;
            octets.iter().fold(0, |len, octet| (len << 8) | usize::from(*octet))
        };
        let (content, after) = rest.split_at_checked(len).ok_or(SnmpError::Truncated)?;
        self.rest = after;
        Ok((tag, content))
    }

    /// The content of the next element, which must have this tag.
    #[inline]
    pub fn expect(&mut self, wanted: u8) -> Result<&'a [u8], SnmpError> {
        let (found, content) = self.element()?;
        if found == wanted { Ok(content) } else { Err(SnmpError::Unexpected { wanted, found }) }
    }

    /// The elements within the next one, which must have this tag.
    pub fn inside(&mut self, wanted: u8) -> Result<Self, SnmpError> {
        self.expect(wanted).map(Self::new)
    }

    /// Reads an INTEGER that fits 64 bits.
    pub fn integer(&mut self) -> Result<i64, SnmpError> {
        signed(self.expect(tag::INTEGER)?)
    }

    /// An INTEGER of 32 bits.
    pub fn integer32(&mut self) -> Result<i32, SnmpError> {
        i32::try_from(self.integer()?).map_err(|_| SnmpError::TooLarge)
    }
}

/// A number in two's complement.
pub fn signed(content: &[u8]) -> Result<i64, SnmpError> {
    let first = *content.first().ok_or(SnmpError::Truncated)?;
    if content.len() > 8 {
        return Err(SnmpError::TooLarge);
    }
    let start = if first & 0x80 == 0 { 0 } else { -1 };
    Ok(content.iter().fold(start, |number, octet| (number << 8) | i64::from(*octet)))
}

/// A number that is never negative. Agents that forget the zero in front of a high bit are
/// understood.
pub fn unsigned(content: &[u8]) -> Result<u64, SnmpError> {
    let content = match content {
        [] => return Err(SnmpError::Truncated),
        [0, rest @ ..] if rest.len() == 8 => rest,
        content => content,
    };
    if content.len() > 8 {
        return Err(SnmpError::TooLarge);
    }
    Ok(content.iter().fold(0, |number, octet| (number << 8) | u64::from(*octet)))
}

/// Builds a message from its end: what comes last is written first.
#[derive(Debug, Clone)]
pub struct Writer {
    buffer: Vec<u8>,
    /// What is written stands from here to the end.
    at: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// Nothing written.
    pub fn new() -> Self {
        const ROOM: usize = 512;
        Self { buffer: vec![0; ROOM], at: ROOM }
    }

    /// Forgets what was written and keeps the room.
    pub const fn clear(&mut self) {
        self.at = self.buffer.len();
    }

    /// What is written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// The same, to be changed in place.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.at..]
    }

    /// Octets written so far: the place of an element, counted from the end.
    pub const fn len(&self) -> usize {
        self.buffer.len() - self.at
    }

    /// Nothing is written.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn reserve(&mut self, count: usize) {
        if self.at >= count {
            return;
        }
        let used = self.len();
        let room = (used + count).next_power_of_two() * 2;
        let mut buffer = vec![0; room];
        buffer[room - used..].copy_from_slice(self.bytes());
        self.at = room - used;
        self.buffer = buffer;
    }

    /// Octets as they are.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.at -= bytes.len();
        self.buffer[self.at..self.at + bytes.len()].copy_from_slice(bytes);
    }

    /// Tag and length of what was written since there were `mark` octets ([`Self::len`]).
    #[inline]
    pub fn header(&mut self, tag: u8, mark: usize) {
        let len = self.len() - mark;
        match len {
            0..0x80 => self.raw(&[tag, len as u8]),
            0x80..0x100 => self.raw(&[tag, 0x81, len as u8]),
            0x100..0x1_0000 => self.raw(&[tag, 0x82, (len >> 8) as u8, len as u8]),
            _ => self.raw(&[tag, 0x83, (len >> 16) as u8, (len >> 8) as u8, len as u8]),
        }
    }

    /// An element with this content.
    #[inline]
    pub fn element(&mut self, tag: u8, content: &[u8]) {
        let mark = self.len();
        self.raw(content);
        self.header(tag, mark);
    }

    /// A number in as few octets as it needs, under any tag.
    #[inline]
    pub fn signed(&mut self, tag: u8, number: i64) {
        let octets = number.to_be_bytes();
        let redundant =
            |at: usize| matches!((octets[at], octets[at + 1] & 0x80), (0, 0) | (0xff, 0x80));
        let from = (0..7).find(|at| !redundant(*at)).unwrap_or(7);
        self.element(tag, &octets[from..]);
    }

    /// Writes an INTEGER in as few octets as possible.
    pub fn integer(&mut self, number: i64) {
        self.signed(tag::INTEGER, number);
    }

    /// A number that is never negative, under any tag.
    pub fn unsigned(&mut self, tag: u8, number: u64) {
        match i64::try_from(number) {
            Ok(number) => self.signed(tag, number),
            Err(_) => {
                let mut octets = [0; 9];
                octets[1..].copy_from_slice(&number.to_be_bytes());
                self.element(tag, &octets);
            }
        }
    }
}
