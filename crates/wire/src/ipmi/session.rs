//! An open session: requests signed and encrypted, answers checked.

use super::IpmiError;
use super::commands::{APP, CLOSE_SESSION};
use super::crypto::{self, BLOCK, Hash, NAME_BYTES, Signature, Suite};
use super::message::{self, Answer, Request};
use super::packet::{self, Packet};

/// What packets are protected with.
#[derive(Clone)]
pub(super) enum Protection {
    /// Version 1.5.
    V15 { signature: Signature, password: [u8; NAME_BYTES] },
    /// Version 2.0. `local` = the number that the device's packets to us carry.
    V20 { suite: Suite, local: u32, sign: Vec<u8>, encrypt: Vec<u8> },
}

/// A session with a device. Requests must not overlap.
#[derive(Clone)]
pub struct Session {
    protection: Protection,
    /// The device's number of the session.
    id: u32,
    /// Of the next packet; 0 is for packets outside of sessions.
    sequence: u32,
    /// Of the next request: six bits.
    request: u8,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({:#010x}, {})", self.id, self.protected_by())
    }
}

/// Says which answer belongs to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    netfn: u8,
    command: u8,
    sequence: u8,
}

impl Ticket {
    /// Of the first request, or one outside of sessions.
    pub(super) const fn first(request: &Request<'_>) -> Self {
        Self { netfn: request.netfn, command: request.command, sequence: 0 }
    }

    pub(super) fn takes(self, message: &[u8]) -> Result<Option<Answer>, IpmiError> {
        let reply = message::decode(message)?;
        let found = Self { netfn: reply.netfn, command: reply.command, sequence: reply.sequence };
        // Answers have the network function of the request and one.
        let mine = Self { netfn: self.netfn | 1, ..self };
        Ok((found == mine).then(|| Answer { code: reply.code, data: reply.data.to_vec() }))
    }
}

/// A request outside of any session, and what its answer is known by.
pub(super) fn outside(request: &Request<'_>) -> (Vec<u8>, Ticket) {
    (packet::v15(0, (0, 0), &[], &message::encode(request, 0)), Ticket::first(request))
}

impl Session {
    pub(super) fn new(protection: Protection, id: u32, sequence: u32) -> Self {
        Self { protection, id, sequence: sequence.max(1), request: 1 }
    }

    /// What protects it, in words.
    pub fn protected_by(&self) -> &'static str {
        match &self.protection {
            Protection::V15 { signature, .. } => match signature {
                Signature::None => "IPMI 1.5, not signed",
                Signature::Md2 => "IPMI 1.5, MD2",
                Signature::Md5 => "IPMI 1.5, MD5",
                Signature::Straight => "IPMI 1.5, the password readable",
            },
            Protection::V20 { suite, .. } => match (suite.auth, suite.encrypts) {
                (Hash::None, _) => "IPMI 2.0, not protected",
                (Hash::Sha256, true) => "IPMI 2.0, SHA-256, AES",
                (Hash::Sha1, true) => "IPMI 2.0, SHA-1, AES",
                (Hash::Md5, true) => "IPMI 2.0, MD5, AES",
                (_, false) => "IPMI 2.0, not encrypted",
            },
        }
    }

    /// The packet of a request. A repetition is a request of its own: devices drop a number that
    /// they have seen.
    pub fn request(&mut self, request: &Request<'_>) -> Result<(Vec<u8>, Ticket), IpmiError> {
        let sequence = self.request;
        self.request = (self.request + 1) % 64;
        let ticket = Ticket { netfn: request.netfn, command: request.command, sequence };
        Ok((self.seal(&message::encode(request, sequence))?, ticket))
    }

    /// The packet that ends the session.
    pub fn close(&mut self) -> Result<Vec<u8>, IpmiError> {
        let id = self.id.to_le_bytes();
        Ok(self.request(&Request::new(APP, CLOSE_SESSION, &id))?.0)
    }

    /// The answer in a packet; `None` = it is the answer to another request. What is damaged or
    /// forged is an error: the request keeps waiting.
    pub fn answer(&self, datagram: &[u8], ticket: Ticket) -> Result<Option<Answer>, IpmiError> {
        ticket.takes(&self.unseal(datagram)?)
    }

    fn seal(&mut self, message: &[u8]) -> Result<Vec<u8>, IpmiError> {
        let numbers = (self.id, self.sequence);
        self.sequence = self.sequence.wrapping_add(1).max(1);
        match &self.protection {
            Protection::V15 { signature, password } => {
                let code = signature.code(password, numbers, message);
                Ok(packet::v15(*signature as u8, numbers, &code, message))
            }
            Protection::V20 { suite, sign, encrypt, .. } => {
                let secret;
                let payload = if suite.encrypts {
                    // Only who has the key can say what comes next, and it is never the same.
                    let iv = suite.auth.mac(encrypt, &[&numbers.1.to_le_bytes(), message])?;
                    let iv = iv.get(..BLOCK).ok_or(IpmiError::Crypto)?;
                    secret = crypto::encrypt(encrypt, iv, message)?;
                    &secret
                } else {
                    message
                };
                packet::v20_protected((suite.encrypts, suite.signs), numbers, payload, |whole| {
                    let mut code = suite.auth.mac(sign, &[whole])?;
                    code.truncate(suite.mac_bytes());
                    Ok(code)
                })
            }
        }
    }

    fn unseal(&self, datagram: &[u8]) -> Result<Vec<u8>, IpmiError> {
        match (packet::parse(datagram)?, &self.protection) {
            (
                Packet::V15 { signature: said, session, sequence, code, message },
                Protection::V15 { signature, password },
            ) if session == self.id => {
                if said != *signature as u8 {
                    return Err(IpmiError::Signature);
                }
                let expected = signature.code(password, (session, sequence), message);
                crypto::same(&expected, code).then(|| message.to_vec()).ok_or(IpmiError::Signature)
            }
            (
                Packet::V20 { kind: packet::MESSAGE, encrypted, signed, session, payload, whole },
                Protection::V20 { suite, local, sign, encrypt },
            ) if session == *local => {
                if (encrypted, signed) != (suite.encrypts, suite.signs) {
                    return Err(IpmiError::Signature);
                }
                let at = whole.len().checked_sub(suite.mac_bytes()).ok_or(IpmiError::Truncated)?;
                let (text, code) = whole.split_at(at);
                let mut expected = if signed { suite.auth.mac(sign, &[text])? } else { Vec::new() };
                expected.truncate(suite.mac_bytes());
                if !crypto::same(&expected, code) {
                    return Err(IpmiError::Signature);
                }
                if encrypted { crypto::decrypt(encrypt, payload) } else { Ok(payload.to_vec()) }
            }
            _ => Err(IpmiError::NotIpmi),
        }
    }
}
