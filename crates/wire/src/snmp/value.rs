//! Values of variable bindings.

use super::ber::{Reader, Writer, signed, tag, unsigned};
use super::{OidRef, SnmpError};

/// A value, borrowed from its message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// INTEGER, `Integer32`.
    Integer(i64),
    /// OCTET STRING, and BITS, which look the same.
    Octets(&'a [u8]),
    /// NULL: no value, as in requests.
    Null,
    /// OBJECT IDENTIFIER.
    Oid(OidRef<'a>),
    /// `IpAddress`.
    Ip([u8; 4]),
    Counter32(u32),
    /// `Gauge32`, `Unsigned32`.
    Gauge32(u32),
    /// `TimeTicks`: hundredths of a second.
    TimeTicks(u32),
    Counter64(u64),
    /// `UInteger32` of RFC 1442.
    UInteger32(u32),
    /// `NsapAddress` of RFC 1442.
    Nsap(&'a [u8]),
    /// `Opaque` with something unknown.
    Opaque(&'a [u8]),
    /// `Opaque` with a float.
    Float(f32),
    /// `Opaque` with a double.
    Double(f64),
    /// `Opaque` with a number of 64 bits.
    OpaqueInteger(i64),
    /// `Opaque` with a number of 64 bits that is never negative.
    OpaqueUnsigned(u64),
    /// `Opaque` with a counter of 64 bits.
    OpaqueCounter(u64),
    /// There is no such object.
    NoSuchObject,
    /// The object has no such instance.
    NoSuchInstance,
    /// A walk is past the last object.
    EndOfMibView,
}

/// Opaque holds a second tag, `9f` and one of these (draft-perkins-opaque-01).
mod opaque {
    pub(super) const FIRST: u8 = 0x9f;
    pub(super) const COUNTER64: u8 = 0x76;
    pub(super) const FLOAT: u8 = 0x78;
    pub(super) const DOUBLE: u8 = 0x79;
    pub(super) const INTEGER64: u8 = 0x7a;
    pub(super) const UNSIGNED64: u8 = 0x7b;
}

impl<'a> Value<'a> {
    /// The next element of a message.
    #[inline]
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, SnmpError> {
        let (kind, content) = reader.element()?;
        // More than 32 bits are cut, as everybody does.
        let small = |content| unsigned(content).map(|number| number as u32);
        Ok(match kind {
            tag::INTEGER => Self::Integer(signed(content)?),
            tag::OCTETS => Self::Octets(content),
            tag::NULL => Self::Null,
            tag::OID => Self::Oid(OidRef::from_ber(content)?),
            tag::IP => Self::Ip(content.try_into().map_err(|_| SnmpError::Truncated)?),
            tag::COUNTER32 => Self::Counter32(small(content)?),
            tag::GAUGE32 => Self::Gauge32(small(content)?),
            tag::TIMETICKS => Self::TimeTicks(small(content)?),
            tag::UINTEGER32 => Self::UInteger32(small(content)?),
            tag::COUNTER64 => Self::Counter64(unsigned(content)?),
            tag::NSAP => Self::Nsap(content),
            tag::OPAQUE => Self::opaque(content),
            tag::NO_SUCH_OBJECT => Self::NoSuchObject,
            tag::NO_SUCH_INSTANCE => Self::NoSuchInstance,
            tag::END_OF_MIB_VIEW => Self::EndOfMibView,
            found => return Err(SnmpError::Unexpected { wanted: tag::NULL, found }),
        })
    }

    fn opaque(content: &'a [u8]) -> Self {
        let known = || {
            let [opaque::FIRST, kind, len, octets @ ..] = content else { return None };
            if usize::from(*len) != octets.len() {
                return None;
            }
            Some(match *kind {
                opaque::FLOAT => Self::Float(f32::from_be_bytes(octets.try_into().ok()?)),
                opaque::DOUBLE => Self::Double(f64::from_be_bytes(octets.try_into().ok()?)),
                opaque::INTEGER64 => Self::OpaqueInteger(signed(octets).ok()?),
                opaque::UNSIGNED64 => Self::OpaqueUnsigned(unsigned(octets).ok()?),
                opaque::COUNTER64 => Self::OpaqueCounter(unsigned(octets).ok()?),
                _ => return None,
            })
        };
        known().unwrap_or(Self::Opaque(content))
    }

    /// Writes the element.
    #[inline]
    pub fn write(&self, w: &mut Writer) {
        match *self {
            Self::Integer(number) => w.integer(number),
            Self::Octets(octets) => w.element(tag::OCTETS, octets),
            Self::Null => w.raw(&[tag::NULL, 0]),
            Self::Oid(oid) => w.element(tag::OID, oid.ber()),
            Self::Ip(octets) => w.element(tag::IP, &octets),
            Self::Counter32(number) => w.unsigned(tag::COUNTER32, number.into()),
            Self::Gauge32(number) => w.unsigned(tag::GAUGE32, number.into()),
            Self::TimeTicks(number) => w.unsigned(tag::TIMETICKS, number.into()),
            Self::UInteger32(number) => w.unsigned(tag::UINTEGER32, number.into()),
            Self::Counter64(number) => w.unsigned(tag::COUNTER64, number),
            Self::Nsap(octets) => w.element(tag::NSAP, octets),
            Self::Opaque(octets) => w.element(tag::OPAQUE, octets),
            Self::Float(number) => wrap(w, opaque::FLOAT, |w| w.raw(&number.to_be_bytes())),
            Self::Double(number) => wrap(w, opaque::DOUBLE, |w| w.raw(&number.to_be_bytes())),
            Self::OpaqueInteger(n) => wrap_number(w, opaque::INTEGER64, |w, tag| w.signed(tag, n)),
            Self::OpaqueUnsigned(n) => {
                wrap_number(w, opaque::UNSIGNED64, |w, tag| w.unsigned(tag, n));
            }
            Self::OpaqueCounter(n) => wrap_number(w, opaque::COUNTER64, |w, t| w.unsigned(t, n)),
            Self::NoSuchObject => w.raw(&[tag::NO_SUCH_OBJECT, 0]),
            Self::NoSuchInstance => w.raw(&[tag::NO_SUCH_INSTANCE, 0]),
            Self::EndOfMibView => w.raw(&[tag::END_OF_MIB_VIEW, 0]),
        }
    }
}

fn wrap(w: &mut Writer, kind: u8, content: impl FnOnce(&mut Writer)) {
    let mark = w.len();
    content(w);
    w.header(kind, mark);
    w.raw(&[opaque::FIRST]);
    w.header(tag::OPAQUE, mark);
}

fn wrap_number(w: &mut Writer, kind: u8, element: impl FnOnce(&mut Writer, u8)) {
    let mark = w.len();
    element(w, kind);
    w.raw(&[opaque::FIRST]);
    w.header(tag::OPAQUE, mark);
}
