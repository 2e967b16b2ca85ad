//! Object identifiers, kept as they stand in messages: a copy instead of a conversion, and "below"
//! is "begins with".

use std::cmp::Ordering;
use std::fmt;

use super::SnmpError;

/// Arcs of an object identifier (RFC 2578 section 3.5).
pub const ARCS_MAX: usize = 128;

/// Octets kept without an allocation; names of tables' cells are hardly longer.
const INLINE: usize = 22;

/// Why a text is not an object identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OidError {
    /// No number where one is due.
    #[error("an object identifier must consist of numbers separated by dots")]
    NoNumber,
    /// The first arc is at most 2, the second at most 39 below 0 and 1, all others 32 bits.
    #[error("a number of the object identifier is too large")]
    TooLarge,
    /// More than [`ARCS_MAX`] arcs.
    #[error("an object identifier has at most 128 numbers")]
    TooLong,
}

/// An object identifier that borrows: the octets of its BER content.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OidRef<'a>(&'a [u8]);

impl<'a> OidRef<'a> {
    /// Checks the content of an element.
    #[inline]
    pub fn from_ber(content: &'a [u8]) -> Result<Self, SnmpError> {
        // The last octet of an arc has its high bit clear.
        let Some(last) = content.last() else { return Ok(Self(&[0])) };
        if last & 0x80 != 0 {
            return Err(SnmpError::BadOid);
        }
        // Octets that go on: an arc has five at most, and 32 bits.
        if content.iter().any(|octet| octet & 0x80 != 0) && !Self(content).is_sound() {
            return Err(SnmpError::BadOid);
        }
        Ok(Self(content))
    }

    fn is_sound(self) -> bool {
        let (mut len, mut arc) = (0, 0u64);
        for octet in self.0 {
            len += 1;
            arc = (arc << 7) | u64::from(octet & 0x7f);
            // The first element holds two arcs.
            if len > 5 || arc > u64::from(u32::MAX) + 80 {
                return false;
            }
            if octet & 0x80 == 0 {
                (len, arc) = (0, 0);
            }
        }
        true
    }

    /// The octets of the BER content.
    pub const fn ber(self) -> &'a [u8] {
        self.0
    }

    /// The numbers.
    pub fn arcs(self) -> impl Iterator<Item = u32> + 'a {
        let mut first = None;
        let mut rest = self.0;
        let mut begin = true;
        std::iter::from_fn(move || {
            if let Some(second) = first.take() {
                return Some(second);
            }
            let len = rest.iter().position(|octet| octet & 0x80 == 0)? + 1;
            let (octets, after) = rest.split_at(len);
            rest = after;
            let arc = octets.iter().fold(0u64, |arc, o| (arc << 7) | u64::from(o & 0x7f));
            if !std::mem::take(&mut begin) {
                return Some(u32::try_from(arc).unwrap_or(u32::MAX));
            }
            let top = (arc / 40).min(2);
            first = Some(u32::try_from(arc - top * 40).unwrap_or(u32::MAX));
            Some(top as u32)
        })
    }

    /// It is `root` or below it.
    #[inline]
    pub fn is_within(self, root: OidRef<'_>) -> bool {
        self.0.starts_with(root.0)
    }

    /// What follows `root`, as `1.2.3`; `None` if it is not below it.
    pub fn index_below(self, root: OidRef<'_>) -> Option<String> {
        let rest = self.0.strip_prefix(root.0).filter(|rest| !rest.is_empty())?;
        let mut out = String::new();
        let mut arc = 0u64;
        for octet in rest {
            arc = (arc << 7) | u64::from(octet & 0x7f);
            if octet & 0x80 == 0 {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&arc.to_string());
                arc = 0;
            }
        }
        Some(out)
    }

    /// Its own copy.
    pub fn to_oid(self) -> Oid {
        Oid::from_octets(self.0)
    }
}

impl Ord for OidRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.arcs().cmp(other.arcs())
    }
}

impl PartialOrd for OidRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// With a dot in front: `.1.3.6.1`.
impl fmt::Display for OidRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arcs().try_for_each(|arc| write!(f, ".{arc}"))
    }
}

impl fmt::Debug for OidRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone)]
enum Octets {
    Inline(u8, [u8; INLINE]),
    Heap(Box<[u8]>),
}

/// An object identifier: 24 bytes, and no allocation while it is short.
#[derive(Clone)]
pub struct Oid(Octets);

impl Oid {
    fn from_octets(octets: &[u8]) -> Self {
        match u8::try_from(octets.len()) {
            Ok(len) if octets.len() <= INLINE => {
                let mut inline = [0; INLINE];
                inline[..octets.len()].copy_from_slice(octets);
                Self(Octets::Inline(len, inline))
            }
            _ => Self(Octets::Heap(octets.into())),
        }
    }

    /// Of numbers. One number alone means it with a 0 behind it.
    pub fn from_arcs(arcs: &[u32]) -> Result<Self, OidError> {
        let (first, second) = match arcs {
            [] => return Err(OidError::NoNumber),
            [first] => (*first, 0),
            [first, second, ..] => (*first, *second),
        };
        if arcs.len() > ARCS_MAX {
            return Err(OidError::TooLong);
        }
        if first > 2 || (first < 2 && second > 39) {
            return Err(OidError::TooLarge);
        }
        let mut octets = Vec::with_capacity(arcs.len() + 8);
        push_arc(&mut octets, u64::from(first) * 40 + u64::from(second));
        for arc in arcs.iter().skip(2) {
            push_arc(&mut octets, u64::from(*arc));
        }
        Ok(Self::from_octets(&octets))
    }

    /// Of a text like `.1.3.6.1` or `1.3.6.1`.
    pub fn parse(text: &str) -> Result<Self, OidError> {
        let text = text.strip_prefix('.').unwrap_or(text);
        let mut arcs = Vec::with_capacity(16);
        for part in text.split('.') {
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(OidError::NoNumber);
            }
            arcs.push(part.parse().map_err(|_| OidError::TooLarge)?);
            if arcs.len() > ARCS_MAX {
                return Err(OidError::TooLong);
            }
        }
        Self::from_arcs(&arcs)
    }

    /// The octets of another one behind those of this one: `self.index`.
    pub fn below(&self, index: &[u8]) -> Self {
        Self::from_octets(&[self.borrow().ber(), index].concat())
    }

    /// It borrowed.
    pub fn borrow(&self) -> OidRef<'_> {
        OidRef(match &self.0 {
            Octets::Inline(len, octets) => octets.get(..usize::from(*len)).unwrap_or_default(),
            Octets::Heap(octets) => octets,
        })
    }
}

fn push_arc(octets: &mut Vec<u8>, arc: u64) {
    let bits = u64::BITS - arc.max(1).leading_zeros();
    for at in (0..bits.div_ceil(7)).rev() {
        let more = if at > 0 { 0x80 } else { 0 };
        octets.push(more | ((arc >> (7 * at)) & 0x7f) as u8);
    }
}

impl PartialEq for Oid {
    fn eq(&self, other: &Self) -> bool {
        self.borrow() == other.borrow()
    }
}

impl Eq for Oid {}

impl std::hash::Hash for Oid {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.borrow().hash(state);
    }
}

impl Ord for Oid {
    fn cmp(&self, other: &Self) -> Ordering {
        self.borrow().cmp(&other.borrow())
    }
}

impl PartialOrd for Oid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.borrow(), f)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.borrow(), f)
    }
}
