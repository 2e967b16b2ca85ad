//! A device for tests, written from the specification alone: it shares no code with the client.

use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use openssl::symm::{Cipher, Crypter, Mode};

/// Numbers of authentication, integrity and confidentiality.
pub(super) type Numbers = [u8; 3];

fn hmac(auth: u8, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let digest = match auth {
        0 => return Vec::new(),
        1 => MessageDigest::sha1(),
        2 => MessageDigest::md5(),
        _ => MessageDigest::sha256(),
    };
    let key = PKey::hmac(key).unwrap();
    Signer::new(digest, &key).unwrap().sign_oneshot_to_vec(&parts.concat()).unwrap()
}

/// Octets of a packet's signature, and of the last proof.
fn short(auth: u8) -> usize {
    [0, 12, 16, 16][usize::from(auth)]
}

fn aes(mode: Mode, key: &[u8], iv: &[u8], input: &[u8]) -> Vec<u8> {
    let mut crypter = Crypter::new(Cipher::aes_128_cbc(), mode, &key[..16], Some(iv)).unwrap();
    crypter.pad(false);
    let mut out = vec![0; input.len() + 16];
    let done = crypter.update(input, &mut out).unwrap();
    out.truncate(done);
    out
}

/// What it knows of the session.
#[derive(Debug, Default)]
pub(super) struct Device {
    pub(super) password: Vec<u8>,
    /// What it takes; others are refused.
    pub(super) takes: Numbers,
    console: Vec<u8>,
    random: Vec<u8>,
    who: Vec<u8>,
    sign: Vec<u8>,
    encrypt: Vec<u8>,
    sequence: u32,
}

const ID: [u8; 4] = [0x11, 0x22, 0x33, 0x44];
const RANDOM: [u8; 16] = [0xA5; 16];
const GUID: [u8; 16] = [0x3C; 16];

fn packet(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![6, 0, 0xFF, 7, 6, kind, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend((payload.len() as u16).to_le_bytes());
    out.extend(payload);
    out
}

impl Device {
    pub(super) fn new(password: &str, takes: Numbers) -> Self {
        let mut padded = password.as_bytes().to_vec();
        padded.resize(20, 0);
        Self { password: padded, takes, ..Self::default() }
    }

    /// The answer to a packet.
    pub(super) fn answer(&mut self, bytes: &[u8]) -> Vec<u8> {
        assert_eq!(bytes[..5], [6, 0, 0xFF, 7, 6], "a packet of version 2.0");
        let payload = &bytes[16..];
        match bytes[5] {
            0x10 => self.open(payload),
            0x12 => self.second(payload),
            0x14 => self.fourth(payload),
            kind => self.message(kind, bytes),
        }
    }

    fn open(&mut self, payload: &[u8]) -> Vec<u8> {
        self.console = payload[4..8].to_vec();
        let numbers = [payload[12], payload[20], payload[28]];
        if numbers != self.takes {
            return packet(0x11, &[&[0, 0x11, 0, 0], &self.console[..]].concat());
        }
        let mut out = vec![0, 0, 2, 0];
        out.extend(&self.console);
        out.extend(ID);
        out.extend(&payload[8..32]);
        packet(0x11, &out)
    }

    fn second(&mut self, payload: &[u8]) -> Vec<u8> {
        assert_eq!(payload[4..8], ID);
        self.random = payload[8..24].to_vec();
        let name = &payload[28..];
        assert_eq!(usize::from(payload[27]), name.len());
        self.who = [&[payload[24], payload[27]], name].concat();
        let parts: [&[u8]; 6] = [&self.console, &ID, &self.random, &RANDOM, &GUID, &self.who];
        let mut out = vec![0, 0, 0, 0];
        out.extend(&self.console);
        out.extend(RANDOM);
        out.extend(GUID);
        out.extend(hmac(self.takes[0], &self.password, &parts));
        packet(0x13, &out)
    }

    fn fourth(&mut self, payload: &[u8]) -> Vec<u8> {
        let auth = self.takes[0];
        let expected = hmac(auth, &self.password, &[&RANDOM, &self.console, &self.who]);
        if payload[8..] != expected {
            return packet(0x15, &[&[0, 0x0F, 0, 0], &self.console[..]].concat());
        }
        let master = hmac(auth, &self.password, &[&self.random, &RANDOM, &self.who]);
        self.sign = hmac(auth, &master, &[&[1; 20]]);
        self.encrypt = hmac(auth, &master, &[&[2; 20]]);
        let mut proof = hmac(auth, &master, &[&self.random, &ID, &GUID]);
        proof.truncate(short(auth));
        let mut out = vec![0, 0, 0, 0];
        out.extend(&self.console);
        out.extend(proof);
        packet(0x15, &out)
    }

    /// A request within the session: the answer has its data, turned.
    fn message(&mut self, kind: u8, bytes: &[u8]) -> Vec<u8> {
        let [auth, integrity, privacy] = self.takes;
        let flags = u8::from(privacy != 0) << 7 | u8::from(integrity != 0) << 6;
        assert_eq!((kind, &bytes[6..10]), (flags, &ID[..]));
        let end = bytes.len() - if integrity == 0 { 0 } else { short(auth) };
        if integrity != 0 {
            let mut code = hmac(auth, &self.sign, &[&bytes[4..end]]);
            code.truncate(short(auth));
            assert_eq!(bytes[end..], code, "the signature");
            assert_eq!((end - 4) % 4, 0, "a multiple of four is signed");
        }
        let length = usize::from(u16::from_le_bytes([bytes[14], bytes[15]]));
        let mut plain = bytes[16..16 + length].to_vec();
        if privacy != 0 {
            let (iv, secret) = plain.split_at(16);
            let mut text = aes(Mode::Decrypt, &self.encrypt, iv, secret);
            let pad = usize::from(text.pop().unwrap());
            let padding = text.split_off(text.len() - pad);
            assert_eq!(padding, (1..=pad as u8).collect::<Vec<_>>());
            plain = text;
        }
        let data: Vec<u8> = plain[6..plain.len() - 1].iter().rev().copied().collect();
        let reply = super::reply(plain[1] | 4, plain[4], plain[5], &data);
        self.seal(flags, reply)
    }

    fn seal(&mut self, flags: u8, mut payload: Vec<u8>) -> Vec<u8> {
        let [auth, integrity, privacy] = self.takes;
        if privacy != 0 {
            let pad = (16 - (payload.len() + 1) % 16) % 16;
            payload.extend((1..=pad).map(|n| n as u8));
            payload.push(pad as u8);
            let iv = [0x77; 16];
            payload = [&iv[..], &aes(Mode::Encrypt, &self.encrypt, &iv, &payload)].concat();
        }
        self.sequence += 1;
        let mut out = vec![6, 0, 0xFF, 7, 6, flags];
        out.extend(&self.console);
        out.extend(self.sequence.to_le_bytes());
        out.extend((payload.len() as u16).to_le_bytes());
        out.extend(payload);
        if integrity != 0 {
            let pad = (4 - (out.len() - 4 + 2) % 4) % 4;
            out.extend(vec![0xFF; pad]);
            out.extend([pad as u8, 7]);
            let mut code = hmac(auth, &self.sign, &[&out[4..]]);
            code.truncate(short(auth));
            out.extend(code);
        }
        out
    }
}
