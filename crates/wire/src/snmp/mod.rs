//! SNMP: messages of version 1 (RFC 1157), 2c (RFC 1901, 3416) and 3 (RFC 3412) with the user-based
//! security model (RFC 3414, 3826, 7860).
//!
//! What is parsed borrows from the datagram: variable bindings are walked, never collected. What is
//! written is built from its end ([`ber::Writer`]), so that every length is known when it is due.
//!
//! * [`Message`]: a datagram of version 1 or 2c with its [`Pdu`].
//! * [`v3`]: datagrams of version 3; [`usm`]: their keys, signatures and encryption.
//! * [`Oid`], [`OidRef`], [`Value`]: names and values.

pub mod ber;
mod oid;
mod pdu;
pub mod usm;
pub mod v3;
mod value;

pub use oid::{ARCS_MAX, Oid, OidError, OidRef};
pub use pdu::{
    ErrorStatus, Message, Notification, Pdu, PduKind, Request, TrapV1, Varbinds, Version,
    notification, request,
};
pub use value::Value;

/// Octets of the largest datagram that UDP carries.
pub const DATAGRAM_BYTES_MAX: usize = 65_507;

/// Why bytes are no message. Who sent them is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnmpError {
    /// The datagram ends within an element.
    #[error("the message is truncated")]
    Truncated,
    /// An element of another type was due.
    #[error("the message has an element of type {found:#04x} instead of {wanted:#04x}")]
    Unexpected {
        /// The type that is due there.
        wanted: u8,
        /// The type that stands there.
        found: u8,
    },
    /// A length or a number beyond what the field allows.
    #[error("the message has a number that is too large")]
    TooLarge,
    /// An object identifier that is none.
    #[error("the message has a malformed object identifier")]
    BadOid,
    /// Neither version 1, 2c nor 3.
    #[error("the message has the unknown SNMP version {0}")]
    Version(i64),
    /// A kind of request that is unknown.
    #[error("the message has an unknown kind of PDU ({0:#04x})")]
    Kind(u8),
    /// A security model other than the user-based one.
    #[error("the message uses security model {0}: only the user-based model (3) is supported")]
    SecurityModel(i64),
    /// The signature is not the one that the key makes.
    #[error("the message has a wrong signature")]
    Digest,
    /// It cannot be decrypted.
    #[error("the message cannot be decrypted")]
    Decryption,
    /// It is less protected than it must be.
    #[error("the security level of the message is too low")]
    Unprotected,
    /// The cryptographic library refused (a cipher or hash that this machine forbids).
    #[error("the system's cryptographic library does not support the algorithm")]
    Crypto,
}

#[cfg(test)]
mod tests;
