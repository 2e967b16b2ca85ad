//! NTLM authentication over HTTP, version 2 ([MS-NLMP], [MS-NTHT]): a message of ours, the
//! server's challenge, and the answer, all over one connection.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use md4::{Digest as _, Md4};
use md5::Md5;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
/// UTF-16, OEM, request target, NTLM, always sign, extended session security, 128 and 56 bits.
const FLAGS: u32 = 0xA008_8207;
/// Seconds from 1601 to 1970.
const EPOCH_S: u64 = 11_644_473_600;
/// Bytes of the last message before its texts.
const HEADER: usize = 64;
/// Where a challenge tells the length and place of what follows its fixed part ([MS-NLMP]
/// 2.2.1.2).
const INFO_FIELDS: usize = 40;
/// What a server may tell of itself; it is hashed and repeated.
const TARGET_INFO_MAX: usize = 4096;
const INFO_END: u16 = 0;
const INFO_TIME: u16 = 7;

/// What the last message depends on beside the challenge.
pub struct Secret<'a> {
    /// Name, also as `DOMAIN\name`.
    pub user: &'a str,
    pub password: &'a str,
    /// Random bytes of ours.
    pub client_challenge: [u8; 8],
    /// Seconds since 1970.
    pub unix_s: u64,
}

/// The header `Authorization` that begins.
pub fn negotiate() -> String {
    let mut message = SIGNATURE.to_vec();
    message.extend(1_u32.to_le_bytes());
    message.extend(FLAGS.to_le_bytes());
    // Neither domain nor workstation.
    message.extend([0; 16]);
    header(&message)
}

fn header(message: &[u8]) -> String {
    format!("NTLM {}", STANDARD.encode(message))
}

/// What the server asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    nonce: [u8; 8],
    info: Vec<u8>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Challenge {
    /// From the server's headers `WWW-Authenticate`.
    pub fn find<'a>(mut headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        headers.find_map(|header| {
            let (scheme, text) = header.trim().split_once(' ')?;
            scheme.eq_ignore_ascii_case("NTLM").then_some(())?;
            Self::read(&STANDARD.decode(text.trim()).ok()?)
        })
    }

    fn read(message: &[u8]) -> Option<Self> {
        if !message.starts_with(SIGNATURE) || u32_at(message, 8)? != 2 {
            return None;
        }
        let nonce = message.get(24..32)?.try_into().ok()?;
        // Servers of Windows NT tell nothing of themselves: their message ends here.
        if message.len() <= INFO_FIELDS {
            return Some(Self { nonce, info: Vec::new() });
        }
        let length = usize::from(u16_at(message, INFO_FIELDS)?);
        let from = u32_at(message, INFO_FIELDS + 4)? as usize;
        let info = message.get(from..from.checked_add(length)?)?;
        (length <= TARGET_INFO_MAX).then(|| Self { nonce, info: info.to_vec() })
    }

    /// The server's own time, if it told one: it is to be used then.
    fn time(&self) -> Option<u64> {
        let mut at = 0;
        loop {
            let (kind, length) = (u16_at(&self.info, at)?, u16_at(&self.info, at + 2)?);
            match kind {
                INFO_END => return None,
                INFO_TIME => {
                    return Some(u64::from_le_bytes(
                        self.info.get(at + 4..at + 12)?.try_into().ok()?,
                    ));
                }
                _ => at += 4 + usize::from(length),
            }
        }
    }

    /// The header `Authorization` that ends it.
    pub fn answer(&self, secret: &Secret<'_>) -> String {
        let (domain, user) = secret.user.split_once('\\').unwrap_or(("", secret.user));
        let key = key(user, secret.password, domain);
        let told = self.time();
        let time = told.unwrap_or((secret.unix_s + EPOCH_S) * 10_000_000);
        let response = response(&key, &self.nonce, &secret.client_challenge, time, &self.info);
        // With a time of the server's the older response is left empty.
        let older = match told {
            Some(_) => vec![0; 24],
            None => {
                let proof = mac(&key, &[self.nonce.as_slice(), &secret.client_challenge].concat());
                [proof.as_slice(), &secret.client_challenge].concat()
            }
        };
        let parts = [older, response, utf16(domain), utf16(user), Vec::new(), Vec::new()];
        let mut message = SIGNATURE.to_vec();
        message.extend(3_u32.to_le_bytes());
        let mut at = HEADER;
        for part in &parts {
            let length = u16::try_from(part.len()).unwrap_or(u16::MAX).to_le_bytes();
            message.extend([length, length].concat());
            message.extend(u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes());
            at += part.len();
        }
        message.extend(FLAGS.to_le_bytes());
        message.extend(parts.concat());
        header(&message)
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn mac(key: &[u8], data: &[u8]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("BUG: HMAC takes keys of any length");
    mac.update(data);
    mac.finalize().into_bytes().into()
}

/// `NTOWFv2`
fn key(user: &str, password: &str, domain: &str) -> [u8; 16] {
    let hash = Md4::digest(utf16(password));
    mac(&hash, &utf16(&format!("{}{domain}", user.to_uppercase())))
}

/// `NtChallengeResponse`; the time counts 100 nanoseconds since 1601.
fn response(key: &[u8], nonce: &[u8; 8], client: &[u8; 8], time: u64, info: &[u8]) -> Vec<u8> {
    let mut told = vec![1, 1, 0, 0, 0, 0, 0, 0];
    told.extend(time.to_le_bytes());
    told.extend(client);
    told.extend([0; 4]);
    told.extend(info);
    told.extend([0; 4]);
    let proof = mac(key, &[nonce.as_slice(), &told].concat());
    [proof.as_slice(), &told].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: [u8; 8] = [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Domain and server as the standard's example tells them.
    fn info() -> Vec<u8> {
        let mut info = Vec::new();
        for (kind, text) in [(2_u16, "Domain"), (1, "Server")] {
            let text = utf16(text);
            info.extend(kind.to_le_bytes());
            info.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
            info.extend(text);
        }
        info.extend([0; 4]);
        info
    }

    fn message(info: &[u8]) -> Vec<u8> {
        let mut message = SIGNATURE.to_vec();
        message.extend(2_u32.to_le_bytes());
        message.extend([0; 8]);
        message.extend(FLAGS.to_le_bytes());
        message.extend(NONCE);
        message.extend([0; 8]);
        let length = u16::try_from(info.len()).unwrap().to_le_bytes();
        message.extend([length, length].concat());
        message.extend(48_u32.to_le_bytes());
        message.extend(info);
        message
    }

    fn secret() -> Secret<'static> {
        Secret {
            user: "Domain\\User",
            password: "Password",
            client_challenge: [0xaa; 8],
            unix_s: 1_800_000_000,
        }
    }

    /// [MS-NLMP], section 4.2.4.
    #[test]
    fn the_answers_of_the_standard() {
        let key = key("User", "Password", "Domain");
        assert_eq!(hex(&key), "0c868a403bfd7a93a3001ef22ef02e3f");
        let response = response(&key, &NONCE, &[0xaa; 8], 0, &info());
        assert_eq!(hex(&response[..16]), "68cd0ab851e51c96aabc927bebef6a1c");
        let older = mac(&key, &[NONCE, [0xaa; 8]].concat());
        assert_eq!(hex(&older), "86c35097ac9cec102554764a57cccc19");
    }

    fn decoded(header: &str) -> Vec<u8> {
        STANDARD.decode(header.strip_prefix("NTLM ").unwrap()).unwrap()
    }

    #[test]
    fn messages() {
        let first = decoded(&negotiate());
        assert_eq!((first.len(), &first[..9]), (32, &b"NTLMSSP\0\x01"[..]));
        let header = format!("NTLM {}", STANDARD.encode(message(&info())));
        let challenge = Challenge::find(["Negotiate", &header].into_iter()).unwrap();
        assert_eq!(challenge, Challenge { nonce: NONCE, info: info() });
        let last = decoded(&challenge.answer(&secret()));
        let part = |n: usize| {
            let at = 12 + n * 8;
            let from = u32_at(&last, at + 4).unwrap() as usize;
            &last[from..from + usize::from(u16_at(&last, at).unwrap())]
        };
        assert_eq!(hex(part(0)), format!("86c35097ac9cec102554764a57cccc19{}", "aa".repeat(8)));
        assert_eq!(part(1).len(), 16 + 28 + info().len() + 4);
        assert_eq!((part(2), part(3)), (&utf16("Domain")[..], &utf16("User")[..]));
        assert!(part(4).is_empty() && part(5).is_empty());
    }

    #[test]
    fn the_server_s_time_counts() {
        let mut timed = INFO_TIME.to_le_bytes().to_vec();
        timed.extend(8_u16.to_le_bytes());
        timed.extend(77_u64.to_le_bytes());
        let timed = [timed, info()].concat();
        let challenge = Challenge::read(&message(&timed)).unwrap();
        assert_eq!(challenge.time(), Some(77));
        let last = decoded(&challenge.answer(&secret()));
        assert_eq!(last[HEADER..HEADER + 24], [0; 24]);
        assert_eq!(last[HEADER + 24 + 24..][..8], 77_u64.to_le_bytes());
    }

    #[test]
    fn nonsense_is_no_challenge() {
        let good = message(&info());
        for length in 0..good.len() {
            let read = Challenge::read(&good[..length]);
            assert_eq!(read.is_some(), (32..=INFO_FIELDS).contains(&length), "{length}");
        }
        let mut other = good.clone();
        other[8] = 3;
        assert_eq!(Challenge::read(&other), None);
        let mut far = good;
        far[44..48].fill(0xff);
        assert_eq!(Challenge::read(&far), None);
        for header in ["NTLM", "NTLM !", "Basic eA==", "NTLM eA=="] {
            assert_eq!(Challenge::find([header].into_iter()), None, "{header}");
        }
        let endless = Challenge { nonce: NONCE, info: vec![9, 0, 0, 0] };
        assert_eq!(endless.time(), None);
    }
}
