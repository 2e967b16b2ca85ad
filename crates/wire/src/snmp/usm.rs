//! Keys, signatures and encryption of the user-based security model: RFC 3414 (MD5, SHA-1, DES),
//! RFC 7860 (SHA-2), RFC 3826 (AES-128), draft-blumenthal-aes-usm-04 (AES-192 and AES-256) and
//! draft-reeder-snmpv3-usm-3desede-00 (how others make long keys for them).

use openssl::hash::{Hasher, MessageDigest, hash};
use openssl::pkey::PKey;
use openssl::sign::Signer;
use openssl::symm::{Cipher, Crypter, Mode};

use super::{Oid, SnmpError};

/// Octets of a shortest pass phrase (RFC 3414 section 11.2).
pub const PASSPHRASE_BYTES_MIN: usize = 8;

/// How messages are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AuthProtocol {
    /// HMAC-MD5-96.
    Md5,
    /// HMAC-SHA-96.
    Sha1,
    /// HMAC-128-SHA-224.
    Sha224,
    /// HMAC-192-SHA-256.
    Sha256,
    /// HMAC-256-SHA-384.
    Sha384,
    /// HMAC-384-SHA-512.
    Sha512,
}

impl AuthProtocol {
    fn digest(self) -> MessageDigest {
        match self {
            Self::Md5 => MessageDigest::md5(),
            Self::Sha1 => MessageDigest::sha1(),
            Self::Sha224 => MessageDigest::sha224(),
            Self::Sha256 => MessageDigest::sha256(),
            Self::Sha384 => MessageDigest::sha384(),
            Self::Sha512 => MessageDigest::sha512(),
        }
    }

    /// Octets of a signature in a message.
    pub const fn mac_bytes(self) -> usize {
        match self {
            Self::Md5 | Self::Sha1 => 12,
            Self::Sha224 => 16,
            Self::Sha256 => 24,
            Self::Sha384 => 32,
            Self::Sha512 => 48,
        }
    }
}

/// How messages are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrivProtocol {
    /// CBC-DES.
    Des,
    /// CFB128-AES-128.
    Aes128,
    /// CFB128-AES-192, key made longer as Blumenthal says.
    Aes192,
    /// CFB128-AES-256, key made longer as Blumenthal says.
    Aes256,
    /// CFB128-AES-192, key made longer as Reeder says (Cisco).
    Aes192C,
    /// CFB128-AES-256, key made longer as Reeder says (Cisco).
    Aes256C,
}

impl PrivProtocol {
    const fn key_bytes(self) -> usize {
        match self {
            Self::Des | Self::Aes128 => 16,
            Self::Aes192 | Self::Aes192C => 24,
            Self::Aes256 | Self::Aes256C => 32,
        }
    }

    const fn is_reeder(self) -> bool {
        matches!(self, Self::Aes192C | Self::Aes256C)
    }

    fn cipher(self) -> Cipher {
        match self {
            // Single DES: the same key three times. The plain one is not in every library.
            Self::Des => Cipher::des_ede3_cbc(),
            Self::Aes128 => Cipher::aes_128_cfb128(),
            Self::Aes192 | Self::Aes192C => Cipher::aes_192_cfb128(),
            Self::Aes256 | Self::Aes256C => Cipher::aes_256_cfb128(),
        }
    }
}

/// `H(pass phrase, repeated to a mebibyte)` (RFC 3414 appendix A.2): slow on purpose, and the same
/// for all engines.
pub fn master_key(protocol: AuthProtocol, passphrase: &[u8]) -> Result<Vec<u8>, SnmpError> {
    const BYTES: usize = 1 << 20;
    if passphrase.is_empty() {
        return Err(SnmpError::Crypto);
    }
    let mut hasher = Hasher::new(protocol.digest()).map_err(|_| SnmpError::Crypto)?;
    // Whole pass phrases in a block, so that few calls are needed.
    let block = passphrase.repeat(4096_usize.div_ceil(passphrase.len()));
    let mut left = BYTES;
    while left > 0 {
        let now = left.min(block.len());
        hasher.update(&block[..now]).map_err(|_| SnmpError::Crypto)?;
        left -= now;
    }
    hasher.finish().map(|digest| digest.to_vec()).map_err(|_| SnmpError::Crypto)
}

/// A master key for one engine (RFC 3414 section 2.6).
pub fn localize(protocol: AuthProtocol, key: &[u8], engine: &[u8]) -> Result<Vec<u8>, SnmpError> {
    let text = [key, engine, key].concat();
    hash(protocol.digest(), &text).map(|digest| digest.to_vec()).map_err(|_| SnmpError::Crypto)
}

fn extend(
    (auth, privacy): (AuthProtocol, PrivProtocol),
    mut key: Vec<u8>,
    engine: &[u8],
) -> Result<Vec<u8>, SnmpError> {
    let mut last = key.clone();
    while key.len() < privacy.key_bytes() {
        last = if privacy.is_reeder() {
            localize(auth, &master_key(auth, &last)?, engine)?
        } else {
            let digest = hash(auth.digest(), &key).map_err(|_| SnmpError::Crypto)?;
            digest.to_vec()
        };
        key.extend_from_slice(&last);
    }
    key.truncate(privacy.key_bytes());
    Ok(key)
}

/// What a user's pass phrases have in common for all engines: to be made once and kept.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKeys {
    auth: Option<(AuthProtocol, Vec<u8>)>,
    privacy: Option<(PrivProtocol, Vec<u8>)>,
}

impl MasterKeys {
    /// Nothing is signed nor encrypted.
    pub const NONE: Self = Self { auth: None, privacy: None };

    /// Of pass phrases; privacy needs authentication.
    pub fn new(
        auth: Option<(AuthProtocol, &[u8])>,
        privacy: Option<(PrivProtocol, &[u8])>,
    ) -> Result<Self, SnmpError> {
        let Some((protocol, passphrase)) = auth else { return Ok(Self::NONE) };
        let key = master_key(protocol, passphrase)?;
        let privacy = match privacy {
            Some((privacy, passphrase)) => Some((privacy, master_key(protocol, passphrase)?)),
            None => None,
        };
        Ok(Self { auth: Some((protocol, key)), privacy })
    }

    /// The keys for one engine.
    pub fn for_engine(&self, engine: &[u8]) -> Result<Keys, SnmpError> {
        let Some((auth, master)) = &self.auth else { return Ok(Keys::NONE) };
        let privacy = match &self.privacy {
            Some((privacy, master)) => {
                let key = localize(*auth, master, engine)?;
                Some((*privacy, extend((*auth, *privacy), key, engine)?))
            }
            None => None,
        };
        Ok(Keys { auth: Some((*auth, localize(*auth, master, engine)?)), privacy })
    }
}

impl std::fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (auth, privacy) = (self.auth.as_ref(), self.privacy.as_ref());
        write!(f, "MasterKeys({:?}, {:?})", auth.map(|a| a.0), privacy.map(|p| p.0))
    }
}

/// A user's keys for one engine.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    auth: Option<(AuthProtocol, Vec<u8>)>,
    privacy: Option<(PrivProtocol, Vec<u8>)>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (auth, privacy) = (self.auth.as_ref(), self.privacy.as_ref());
        write!(f, "Keys({:?}, {:?})", auth.map(|a| a.0), privacy.map(|p| p.0))
    }
}

impl Keys {
    /// Nothing is signed nor encrypted.
    pub const NONE: Self = Self { auth: None, privacy: None };

    /// Messages are signed.
    pub const fn signs(&self) -> bool {
        self.auth.is_some()
    }

    /// Messages are encrypted.
    pub const fn encrypts(&self) -> bool {
        self.privacy.is_some()
    }

    /// The same user's keys for messages that are signed alone, or not at all.
    pub fn mac_bytes(&self) -> usize {
        self.auth.as_ref().map_or(0, |(protocol, _)| protocol.mac_bytes())
    }

    /// The signature of a message whose own place of the signature is zeroes.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SnmpError> {
        let Some((protocol, key)) = &self.auth else { return Ok(Vec::new()) };
        let sign = || {
            let key = PKey::hmac(key)?;
            let mut mac = Signer::new(protocol.digest(), &key)?.sign_oneshot_to_vec(message)?;
            mac.truncate(protocol.mac_bytes());
            Ok(mac)
        };
        sign().map_err(|_: openssl::error::ErrorStack| SnmpError::Crypto)
    }

    /// Encrypts; `salt` must never be the same twice. Returns what the message says of it.
    pub fn encrypt(
        &self,
        (boots, time): (u32, u32),
        salt: u64,
        plain: &[u8],
    ) -> Result<(Vec<u8>, [u8; 8]), SnmpError> {
        let (protocol, key) = self.privacy.as_ref().ok_or(SnmpError::Unprotected)?;
        let mut said = salt.to_be_bytes();
        if *protocol == PrivProtocol::Des {
            said[..4].copy_from_slice(&boots.to_be_bytes());
        }
        let padded;
        let plain = if *protocol == PrivProtocol::Des && !plain.len().is_multiple_of(8) {
            let mut copy = plain.to_vec();
            copy.resize(plain.len().next_multiple_of(8), 0);
            padded = copy;
            &padded
        } else {
            plain
        };
        let mut out = Vec::new();
        crypt(Mode::Encrypt, (*protocol, key), (boots, time), said, plain, &mut out)?;
        Ok((out, said))
    }

    /// Decrypts; `said` = the privacy parameters of the message.
    pub fn decrypt(
        &self,
        moment: (u32, u32),
        said: &[u8],
        secret: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), SnmpError> {
        let (protocol, key) = self.privacy.as_ref().ok_or(SnmpError::Decryption)?;
        let said = said.try_into().map_err(|_| SnmpError::Decryption)?;
        if *protocol == PrivProtocol::Des && !secret.len().is_multiple_of(8) {
            return Err(SnmpError::Decryption);
        }
        crypt(Mode::Decrypt, (*protocol, key), moment, said, secret, out)
    }
}

fn crypt(
    mode: Mode,
    (protocol, key): (PrivProtocol, &[u8]),
    (boots, time): (u32, u32),
    said: [u8; 8],
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), SnmpError> {
    let (key, iv) = if protocol == PrivProtocol::Des {
        let (key, before) = key.split_at_checked(8).ok_or(SnmpError::Crypto)?;
        let iv: Vec<u8> = before.iter().zip(said).map(|(a, b)| a ^ b).collect();
        (key.repeat(3), iv)
    } else {
        let iv = [&boots.to_be_bytes()[..], &time.to_be_bytes(), &said].concat();
        (key.to_vec(), iv)
    };
    let cipher = protocol.cipher();
    let run = |out: &mut Vec<u8>| {
        let mut crypter = Crypter::new(cipher, mode, &key, Some(&iv))?;
        crypter.pad(false);
        out.clear();
        out.resize(input.len() + cipher.block_size(), 0);
        let done = crypter.update(input, out)?;
        let rest = crypter.finalize(out.get_mut(done..).unwrap_or_default())?;
        out.truncate(done + rest);
        Ok(())
    };
    run(out).map_err(|_: openssl::error::ErrorStack| SnmpError::Crypto)
}

/// What an engine reports of a message that it does not take (RFC 3414 section 5, `usmStats`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The user cannot do what is asked at this level of security.
    UnsupportedSecurityLevel,
    /// The message is too old or of another life of the engine.
    NotInTimeWindow,
    /// There is no such user.
    UnknownUser,
    /// The engine is another one: its id stands in the report.
    UnknownEngine,
    /// The signature is wrong.
    WrongDigest,
    /// It could not decrypt.
    Decryption,
    /// Something else.
    Other,
}

impl Report {
    /// By the name of the counter in the report.
    pub fn of(counter: super::OidRef<'_>) -> Self {
        let Ok(stats) = Oid::from_arcs(&[1, 3, 6, 1, 6, 3, 15, 1, 1]) else { return Self::Other };
        match counter.index_below(stats.borrow()).as_deref() {
            Some("1.0") => Self::UnsupportedSecurityLevel,
            Some("2.0") => Self::NotInTimeWindow,
            Some("3.0") => Self::UnknownUser,
            Some("4.0") => Self::UnknownEngine,
            Some("5.0") => Self::WrongDigest,
            Some("6.0") => Self::Decryption,
            _ => Self::Other,
        }
    }
}
