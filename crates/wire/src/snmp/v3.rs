//! Messages of version 3 (RFC 3412 section 6) with the parameters of the user-based security model
//! (RFC 3414 section 2.4).

use super::ber::{Reader, Writer, tag};
use super::usm::Keys;
use super::{DATAGRAM_BYTES_MAX, Pdu, SnmpError, Version};

const FLAG_AUTH: u8 = 1;
const FLAG_PRIV: u8 = 2;
const FLAG_REPORTABLE: u8 = 4;
/// The user-based security model.
const USM: i64 = 3;

/// What a message of version 3 says beside its PDU.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// Tells messages apart.
    pub id: i32,
    /// The receiver reports errors of the message.
    pub reportable: bool,
    /// Engine of the device; empty in the first message, which asks for it.
    pub engine: &'a [u8],
    /// How often the engine started.
    pub boots: u32,
    /// Seconds since then.
    pub time: u32,
    /// Name of the user (`msgUserName`).
    pub user: &'a [u8],
    /// `contextName`.
    pub context: &'a [u8],
}

/// Writes a message; `pdu` writes its PDU. `salt` must never be the same twice for one key.
pub fn write(
    w: &mut Writer,
    envelope: &Envelope<'_>,
    keys: &Keys,
    salt: u64,
    pdu: impl FnOnce(&mut Writer),
) -> Result<(), SnmpError> {
    let start = w.len();
    pdu(w);
    w.element(tag::OCTETS, envelope.context);
    w.element(tag::OCTETS, envelope.engine);
    w.header(tag::SEQUENCE, start);
    let mut said = None;
    if keys.encrypts() {
        let plain = &w.bytes()[..w.len() - start];
        let (secret, salt) = keys.encrypt((envelope.boots, envelope.time), salt, plain)?;
        // What was written since is replaced.
        let kept = w.bytes()[w.len() - start..].to_vec();
        w.clear();
        w.raw(&kept);
        w.element(tag::OCTETS, &secret);
        said = Some(salt);
    }
    let parameters = w.len();
    w.element(tag::OCTETS, said.as_ref().map_or(&[], |salt| &salt[..]));
    // Zeroes stand where the signature will.
    const ZEROES: [u8; 48] = [0; 48];
    w.raw(&ZEROES[..keys.mac_bytes()]);
    let mac_from_end = w.len();
    w.header(tag::OCTETS, mac_from_end - keys.mac_bytes());
    w.element(tag::OCTETS, envelope.user);
    w.integer(envelope.time.into());
    w.integer(envelope.boots.into());
    w.element(tag::OCTETS, envelope.engine);
    w.header(tag::SEQUENCE, parameters);
    w.header(tag::OCTETS, parameters);
    let global = w.len();
    w.integer(USM);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let flags = flag(keys.signs(), FLAG_AUTH)
        | flag(keys.encrypts(), FLAG_PRIV)
        | flag(envelope.reportable, FLAG_REPORTABLE);
    w.element(tag::OCTETS, &[flags]);
    w.integer(DATAGRAM_BYTES_MAX as i64);
    w.integer(envelope.id.into());
    w.header(tag::SEQUENCE, global);
    w.integer(Version::V3 as i64);
    w.header(tag::SEQUENCE, start);
    if keys.signs() {
        let len = w.len();
        let mac = keys.sign(&w.bytes()[..len - start])?;
        let from = len - mac_from_end;
        w.bytes_mut()[from..from + mac.len()].copy_from_slice(&mac);
    }
    Ok(())
}

/// A message as it came; nothing of it is to be believed before [`Self::open`].
#[derive(Debug, Clone, Copy)]
pub struct Sealed<'a> {
    whole: &'a [u8],
    /// What stands beside the PDU. The context is empty: it is within what may be encrypted.
    pub envelope: Envelope<'a>,
    /// It says that it is signed.
    pub signed: bool,
    /// It says that it is encrypted.
    pub encrypted: bool,
    mac: &'a [u8],
    salt: &'a [u8],
    data: Reader<'a>,
}

/// A message that was opened.
#[derive(Debug, Clone, Copy)]
pub struct Opened<'a> {
    /// Engine that the context belongs to.
    pub context_engine: &'a [u8],
    /// `contextName`.
    pub context: &'a [u8],
    pub pdu: Pdu<'a>,
}

impl<'a> Sealed<'a> {
    /// Reads what is not encrypted.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, SnmpError> {
        let mut outer = Reader::new(datagram);
        let mut message = outer.inside(tag::SEQUENCE)?;
        let version = message.integer()?;
        if version != Version::V3 as i64 {
            return Err(SnmpError::Version(version));
        }
        let mut global = message.inside(tag::SEQUENCE)?;
        let id = global.integer32()?;
        let _max_size = global.integer()?;
        let flags = *global.expect(tag::OCTETS)?.first().ok_or(SnmpError::Truncated)?;
        let model = global.integer()?;
        if model != USM {
            return Err(SnmpError::SecurityModel(model));
        }
        let mut parameters = message.inside(tag::OCTETS)?.inside(tag::SEQUENCE)?;
        let engine = parameters.expect(tag::OCTETS)?;
        let number = |number: i64| u32::try_from(number).map_err(|_| SnmpError::TooLarge);
        let boots = number(parameters.integer()?)?;
        let time = number(parameters.integer()?)?;
        let user = parameters.expect(tag::OCTETS)?;
        let mac = parameters.expect(tag::OCTETS)?;
        let salt = parameters.expect(tag::OCTETS)?;
        Ok(Self {
            // Octets behind the message are not signed.
            whole: &datagram[..datagram.len() - outer.rest().len()],
            envelope: Envelope {
                id,
                reportable: flags & FLAG_REPORTABLE != 0,
                engine,
                boots,
                time,
                user,
                context: &[],
            },
            signed: flags & FLAG_AUTH != 0,
            encrypted: flags & FLAG_PRIV != 0,
            mac,
            salt,
            data: message,
        })
    }

    /// Checks the signature; a message that is not signed has none that is right.
    pub fn verify(&self, keys: &Keys) -> Result<(), SnmpError> {
        if !self.signed || !keys.signs() {
            return Err(SnmpError::Unprotected);
        }
        if self.mac.len() != keys.mac_bytes() {
            return Err(SnmpError::Digest);
        }
        // The signature's place in the message.
        let from = (self.mac.as_ptr() as usize).checked_sub(self.whole.as_ptr() as usize);
        let from = from.ok_or(SnmpError::Digest)?;
        let mut blank = self.whole.to_vec();
        blank.get_mut(from..from + self.mac.len()).ok_or(SnmpError::Digest)?.fill(0);
        let right = keys.sign(&blank)?;
        if openssl::memcmp::eq(&right, self.mac) { Ok(()) } else { Err(SnmpError::Digest) }
    }

    /// The PDU, decrypted into `room` if it is encrypted. The signature is not checked here.
    pub fn open<'b>(&self, keys: &Keys, room: &'b mut Vec<u8>) -> Result<Opened<'b>, SnmpError>
    where
        'a: 'b,
    {
        let mut data = self.data;
        let mut scoped = if self.encrypted {
            let secret = data.expect(tag::OCTETS)?;
            let moment = (self.envelope.boots, self.envelope.time);
            keys.decrypt(moment, self.salt, secret, room)?;
            // What a wrong key makes is no message.
            Reader::new(room).inside(tag::SEQUENCE).map_err(|_| SnmpError::Decryption)?
        } else {
            data.inside(tag::SEQUENCE)?
        };
        let wrong = |error| if self.encrypted { SnmpError::Decryption } else { error };
        let context_engine = scoped.expect(tag::OCTETS).map_err(wrong)?;
        let context = scoped.expect(tag::OCTETS).map_err(wrong)?;
        let pdu = Pdu::read(&mut scoped).map_err(wrong)?;
        Ok(Opened { context_engine, context, pdu })
    }
}
