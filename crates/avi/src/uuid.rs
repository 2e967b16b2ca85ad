//! UUIDs that follow from the type and the number of an object, so that they are the same after each
//! restart and need no table.

use std::fmt;

use serde_json::Value as Json;

use crate::{Kind, Members};

/// What the number of an object counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Objects of the JSON-RPC API.
    Vedette,
    /// Objects that only the Avi API has.
    Stored,
    /// Objects that every server has.
    BuiltIn,
}

/// `pool-` and a UUID of version 4 in form: ten digits of a checksum, the source, and the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Uuid {
    /// Type.
    pub kind: Kind,
    /// What the number counts.
    pub source: Source,
    /// Number, below 2^60.
    pub id: u64,
}

const SOURCES: [(Source, u64); 3] =
    [(Source::Vedette, 0x8), (Source::Stored, 0x9), (Source::BuiltIn, 0xa)];

/// Bits of the number.
const ID_BITS: u32 = 60;

impl Uuid {
    fn digit(self) -> u64 {
        SOURCES.iter().find(|(source, _)| *source == self.source).map_or(0x8, |(_, digit)| *digit)
    }

    /// Reads the UUID of an object of this type.
    #[must_use]
    pub fn parse(kind: Kind, text: &str) -> Option<Self> {
        let digits = text.strip_prefix(kind.word())?.strip_prefix('-')?.replace('-', "");
        let last = u64::from_str_radix(digits.get(16..32)?, 16).ok()?;
        let (source, _) = SOURCES.iter().find(|(_, digit)| *digit == last >> ID_BITS)?;
        let read = Self { kind, source: *source, id: last & ((1 << ID_BITS) - 1) };
        (read.to_string() == text).then_some(read)
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = hash(format!("{}/{}/{}", self.kind.word(), self.digit(), self.id).as_bytes());
        let last = self.id & ((1 << 48) - 1);
        write!(
            f,
            "{}-{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{last:012x}",
            self.kind.word(),
            sum >> 32,
            (sum >> 16) & 0xffff,
            sum & 0xfff,
            self.digit(),
            (self.id >> 48) & 0xfff,
        )
    }
}

/// FNV-1a of 64 bits: the result must be the same in all versions of the program.
fn hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// `_last_modified`: a number of 16 digits that differs when the object differs. It is not a time.
#[must_use]
pub fn version(members: &Members) -> String {
    let sum = hash(Json::Object(members.clone()).to_string().as_bytes());
    (1_000_000_000_000_000 + sum % 9_000_000_000_000_000).to_string()
}
