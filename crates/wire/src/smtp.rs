//! SMTP (RFC 5321) as a client speaks it: replies, what EHLO offers, AUTH (RFC 4954), the text of a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use md5::Md5;

/// Longest reply of a server in bytes; RFC 5321, 4.5.3.1.5 allows 512 for each line.
pub const REPLY_MAX: usize = 16_384;

/// No reply of SMTP, or one that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed reply")]
pub struct Malformed;

/// The code of a whole reply and its length in bytes (RFC 5321, 4.2): the last line has a space behind the code, or
/// nothing. `None`: more has to be read.
///
/// # Errors
/// [`Malformed`].
pub fn reply(received: &[u8]) -> Result<Option<(u16, usize)>, Malformed> {
    let mut start = 0;
    let mut expected = None;
    while let Some(end) = received[start..].iter().position(|byte| *byte == b'\n') {
        let line = received[start..start + end].trim_ascii_end();
        start += end + 1;
        let code = line.get(..3).filter(|code| code.iter().all(u8::is_ascii_digit));
        let code = code.ok_or(Malformed)?;
        if *expected.get_or_insert(code) != code {
            return Err(Malformed);
        }
        match line.get(3) {
            None | Some(b' ') => {
                let number = code.iter().fold(0, |all, digit| all * 10 + u16::from(digit - b'0'));
                return Ok(Some((number, start)));
            }
            Some(b'-') => {}
            Some(_) => return Err(Malformed),
        }
    }
    if received.len() >= REPLY_MAX { Err(Malformed) } else { Ok(None) }
}

/// What a server offers in its reply to EHLO.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offers {
    /// STARTTLS (RFC 3207).
    pub starttls: bool,
    /// SMTPUTF8 (RFC 6531): addresses beyond ASCII.
    pub utf8: bool,
    /// AUTH PLAIN.
    pub plain: bool,
    /// AUTH LOGIN.
    pub login: bool,
    /// AUTH CRAM-MD5.
    pub cram_md5: bool,
}

impl Offers {
    /// Reads the lines of the reply, without codes as with them.
    pub fn parse(reply: &str) -> Self {
        let mut offers = Self::default();
        for line in reply.lines().skip(1) {
            let line = line.get(4..).unwrap_or_default();
            // Old servers write AUTH=LOGIN.
            let mut words = line.split([' ', '=']).filter(|word| !word.is_empty());
            let keyword = words.next().unwrap_or_default().to_ascii_uppercase();
            match keyword.as_str() {
                "STARTTLS" => offers.starttls = true,
                "SMTPUTF8" => offers.utf8 = true,
                "AUTH" => words.for_each(|word| match word.to_ascii_uppercase().as_str() {
                    "PLAIN" => offers.plain = true,
                    "LOGIN" => offers.login = true,
                    "CRAM-MD5" => offers.cram_md5 = true,
                    _ => {}
                }),
                _ => {}
            }
        }
        offers
    }

    /// The mechanism for a login: one that does not show the password, unless the connection is `protected`, where
    /// the simplest is the one that servers support best.
    pub fn mechanism(self, protected: bool) -> Option<Mechanism> {
        let plain = [(self.plain, Mechanism::Plain), (self.login, Mechanism::Login)];
        let secret = [(self.cram_md5, Mechanism::CramMd5)];
        let order: Vec<_> = match protected {
            true => plain.into_iter().chain(secret).collect(),
            false => secret.into_iter().chain(plain).collect(),
        };
        order.into_iter().find_map(|(offered, mechanism)| offered.then_some(mechanism))
    }
}

/// A way to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// RFC 4616.
    Plain,
    /// Name and password in two steps.
    Login,
    /// RFC 2195.
    CramMd5,
}

impl Mechanism {
    /// The command that starts the login.
    pub fn command(self, user: &str, password: &str) -> String {
        match self {
            Self::Plain => {
                format!("AUTH PLAIN {}", STANDARD.encode(format!("\0{user}\0{password}")))
            }
            Self::Login => String::from("AUTH LOGIN"),
            Self::CramMd5 => String::from("AUTH CRAM-MD5"),
        }
    }

    /// The response to the server's challenge number `step` (from 0), whose text follows the code 334. `None`: the
    /// server asks more than the mechanism has.
    pub fn response(
        self,
        step: usize,
        challenge: &str,
        user: &str,
        password: &str,
    ) -> Option<String> {
        match (self, step) {
            (Self::Login, 0) => Some(STANDARD.encode(user)),
            (Self::Login, 1) => Some(STANDARD.encode(password)),
            (Self::CramMd5, 0) => {
                let challenge = STANDARD.decode(challenge.trim()).ok()?;
                let mut mac = Hmac::<Md5>::new_from_slice(password.as_bytes()).ok()?;
                mac.update(&challenge);
                let digest = mac.finalize().into_bytes();
                let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                Some(STANDARD.encode(format!("{user} {digest}")))
            }
            _ => None,
        }
    }
}

/// A message as it follows DATA: a dot at the begin of a line is doubled, and a line with a dot ends it (RFC 5321,
/// 4.5.2).
pub fn stuffed(message: &str) -> String {
    let mut out = String::with_capacity(message.len() + 8);
    for line in message.split_inclusive('\n') {
        if line.starts_with('.') {
            out.push('.');
        }
        out.push_str(line);
    }
    if !out.is_empty() && !out.ends_with("\r\n") {
        out.push_str("\r\n");
    }
    out.push_str(".\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_end_with_a_line_without_hyphen() {
        for (received, expected) in [
            ("", Ok(None)),
            ("220 ready", Ok(None)),
            ("220 ready\r\n", Ok(Some((220, 11)))),
            ("250-a\r\n250-b\r\n", Ok(None)),
            ("250-a\r\n250 b\r\nrest", Ok(Some((250, 14)))),
            ("250\n", Ok(Some((250, 4)))),
            ("250-a\r\n251 b\r\n", Err(Malformed)),
            ("25x a\r\n", Err(Malformed)),
            ("250_a\r\n", Err(Malformed)),
            ("\r\n", Err(Malformed)),
        ] {
            assert_eq!(reply(received.as_bytes()), expected, "{received:?}");
        }
        assert_eq!(reply(&[b'2'; REPLY_MAX]), Err(Malformed));
    }

    #[test]
    fn offers_are_read_in_any_case() {
        let offers = Offers::parse("250-host STARTTLS\r\n250-auth plain login\r\n250 SmtpUtf8\r\n");
        let expected = Offers { utf8: true, plain: true, login: true, ..Offers::default() };
        assert_eq!(offers, expected);
        let old = Offers::parse("250-host\r\n250-AUTH=LOGIN CRAM-MD5\r\n250-STARTTLS\r\n250 é\r\n");
        assert!(old.login && old.cram_md5 && old.starttls && !old.plain);
        assert_eq!(Offers::parse(""), Offers::default());
    }

    #[test]
    fn an_open_connection_shows_a_password_last() {
        let all = Offers { plain: true, login: true, cram_md5: true, ..Offers::default() };
        assert_eq!(all.mechanism(true), Some(Mechanism::Plain));
        assert_eq!(all.mechanism(false), Some(Mechanism::CramMd5));
        let few = Offers { login: true, ..Offers::default() };
        assert_eq!(few.mechanism(false), Some(Mechanism::Login));
        assert_eq!(Offers::default().mechanism(true), None);
    }

    #[test]
    fn logins_say_what_the_standards_say() {
        // RFC 4616, 4.
        let command = Mechanism::Plain.command("tim", "tanstaaftanstaaf");
        assert_eq!(command, "AUTH PLAIN AHRpbQB0YW5zdGFhZnRhbnN0YWFm");
        // RFC 2195, 2.
        let challenge = "PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+";
        let response = Mechanism::CramMd5.response(0, challenge, "tim", "tanstaaftanstaaf");
        let expected = "dGltIGI5MTNhNjAyYzdlZGE3YTQ5NWI0ZTZlNzMzNGQzODkw";
        assert_eq!(response.as_deref(), Some(expected));
        assert_eq!(Mechanism::CramMd5.response(0, "no base64", "tim", "x"), None);
        let login = |step| Mechanism::Login.response(step, "VXNlcm5hbWU6", "tim", "word");
        assert_eq!(
            [login(0), login(1), login(2)].map(Option::unwrap_or_default),
            ["dGlt", "d29yZA==", ""]
        );
        assert_eq!(Mechanism::Plain.response(0, "", "tim", "word"), None);
    }

    #[test]
    fn dots_are_doubled_and_one_ends_the_message() {
        for (message, expected) in [
            ("", ".\r\n"),
            ("a\r\n", "a\r\n.\r\n"),
            ("a", "a\r\n.\r\n"),
            (".\r\n..b\r\nc.d\r\n", "..\r\n...b\r\nc.d\r\n.\r\n"),
        ] {
            assert_eq!(stuffed(message), expected, "{message:?}");
        }
    }
}
