//! Signatures and encryption: chapter 13, sections 13.27 to 13.33 and 22.17.

use md2::Md2;
use md5::{Digest, Md5};
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use openssl::symm::{Cipher, Crypter, Mode};

use super::IpmiError;

/// Octets of a user's name, and of a password of version 1.5.
pub(super) const NAME_BYTES: usize = 16;
/// Octets of a password of version 2.0.
pub(super) const PASSWORD_BYTES: usize = 20;
/// Octets of a signature of version 1.5.
pub(super) const CODE_BYTES: usize = 16;
/// Octets of a block of AES.
pub(super) const BLOCK: usize = 16;

/// A text in a field of fixed length.
pub(super) fn field<const N: usize>(text: &str) -> [u8; N] {
    let mut out = [0; N];
    out.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
    out
}

/// How packets of version 1.5 are signed. The numbers are the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Signature {
    None = 0,
    Md2 = 1,
    Md5 = 2,
    Straight = 4,
}

impl Signature {
    pub(super) const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::None,
            1 => Self::Md2,
            2 => Self::Md5,
            4 => Self::Straight,
            _ => return None,
        })
    }

    /// The bit of the answer that says what a device takes.
    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The signature; empty where there is none.
    pub(super) fn code(
        self,
        password: &[u8; NAME_BYTES],
        (session, sequence): (u32, u32),
        message: &[u8],
    ) -> Vec<u8> {
        let (session, sequence) = (session.to_le_bytes(), sequence.to_le_bytes());
        let parts: [&[u8]; 5] = [password, &session, message, &sequence, password];
        match self {
            Self::None => Vec::new(),
            Self::Straight => password.to_vec(),
            Self::Md2 => Md2::digest(parts.concat()).to_vec(),
            Self::Md5 => Md5::digest(parts.concat()).to_vec(),
        }
    }
}

/// How version 2.0 proves who is who, and signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    None,
    Sha1,
    Md5,
    Sha256,
}

/// What a session of version 2.0 uses: a "cipher suite".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) auth: Hash,
    /// Packets are signed, by the same hash.
    pub(super) signs: bool,
    /// Packets are encrypted: AES-CBC-128.
    pub(super) encrypts: bool,
}

const fn suite(auth: Hash, signs: bool, encrypts: bool) -> Suite {
    Suite { auth, signs, encrypts }
}

/// Suites 17, 3, 8, 16, 2, 7, 15, 1, 6 and 0: the best first (table 22-20). The last one proves
/// nothing at all.
pub(super) const SUITES: [Suite; 10] = [
    suite(Hash::Sha256, true, true),
    suite(Hash::Sha1, true, true),
    suite(Hash::Md5, true, true),
    suite(Hash::Sha256, true, false),
    suite(Hash::Sha1, true, false),
    suite(Hash::Md5, true, false),
    suite(Hash::Sha256, false, false),
    suite(Hash::Sha1, false, false),
    suite(Hash::Md5, false, false),
    suite(Hash::None, false, false),
];

impl Suite {
    /// Numbers of authentication, integrity and confidentiality in the request for a session.
    pub(super) const fn numbers(self) -> [u8; 3] {
        let (auth, integrity) = match self.auth {
            Hash::None => (0, 0),
            Hash::Sha1 => (1, 1),
            Hash::Md5 => (2, 2),
            Hash::Sha256 => (3, 4),
        };
        [auth, if self.signs { integrity } else { 0 }, self.encrypts as u8]
    }

    /// Octets of a packet's signature.
    pub(super) const fn mac_bytes(self) -> usize {
        match (self.signs, self.auth) {
            (false, _) => 0,
            (true, auth) => auth.short_bytes(),
        }
    }
}

impl Hash {
    fn digest(self) -> Option<MessageDigest> {
        match self {
            Self::None => None,
            Self::Sha1 => Some(MessageDigest::sha1()),
            Self::Md5 => Some(MessageDigest::md5()),
            Self::Sha256 => Some(MessageDigest::sha256()),
        }
    }

    /// Octets of its shortened form: of packets, and of the last message of an opening.
    pub(super) const fn short_bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Sha1 => 12,
            Self::Md5 | Self::Sha256 => 16,
        }
    }

    /// The keyed hash of the parts; empty where there is none.
    pub(super) fn mac(self, key: &[u8], parts: &[&[u8]]) -> Result<Vec<u8>, IpmiError> {
        let Some(digest) = self.digest() else { return Ok(Vec::new()) };
        let sign = || {
            let key = PKey::hmac(key)?;
            Signer::new(digest, &key)?.sign_oneshot_to_vec(&parts.concat())
        };
        sign().map_err(|_: openssl::error::ErrorStack| IpmiError::Crypto)
    }
}

/// Signatures are compared in a time that says nothing about them.
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && openssl::memcmp::eq(a, b)
}

/// A payload as it travels: initialisation vector, then the payload with its padding, encrypted.
pub(super) fn encrypt(key: &[u8], iv: &[u8], plain: &[u8]) -> Result<Vec<u8>, IpmiError> {
    let mut padded = plain.to_vec();
    let pad = (plain.len() + 1).next_multiple_of(BLOCK) - plain.len() - 1;
    padded.extend((1..=pad).map(|n| n as u8));
    padded.push(pad as u8);
    let secret = crypt(Mode::Encrypt, key, iv, &padded)?;
    Ok([iv, &secret].concat())
}

/// The payload in what [`encrypt`] made.
pub(super) fn decrypt(key: &[u8], bytes: &[u8]) -> Result<Vec<u8>, IpmiError> {
    let (iv, secret) = bytes.split_at_checked(BLOCK).ok_or(IpmiError::Decryption)?;
    if secret.is_empty() || !secret.len().is_multiple_of(BLOCK) {
        return Err(IpmiError::Decryption);
    }
    let mut plain = crypt(Mode::Decrypt, key, iv, secret)?;
    let pad = usize::from(plain.pop().ok_or(IpmiError::Decryption)?);
    let length = plain.len().checked_sub(pad).ok_or(IpmiError::Decryption)?;
    plain.truncate(length);
    Ok(plain)
}

fn crypt(mode: Mode, key: &[u8], iv: &[u8], input: &[u8]) -> Result<Vec<u8>, IpmiError> {
    let cipher = Cipher::aes_128_cbc();
    let key = key.get(..cipher.key_len()).ok_or(IpmiError::Crypto)?;
    let run = || {
        let mut crypter = Crypter::new(cipher, mode, key, Some(iv))?;
        crypter.pad(false);
        let mut out = vec![0; input.len() + cipher.block_size()];
        let done = crypter.update(input, &mut out)?;
        let rest = crypter.finalize(out.get_mut(done..).unwrap_or_default())?;
        out.truncate(done + rest);
        Ok(out)
    };
    run().map_err(|_: openssl::error::ErrorStack| IpmiError::Crypto)
}
