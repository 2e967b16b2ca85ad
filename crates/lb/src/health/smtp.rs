//! The dialogue of a check of SMTP (RFC 5321): banner, EHLO, QUIT.

use std::net::IpAddr;

use wire::smtp::{Malformed, reply};

use super::outcome::Outcome;

/// Position in the dialogue.
#[derive(Debug)]
pub(super) struct Dialogue {
    /// What is sent for EHLO.
    name: String,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Banner,
    Greeting,
    Farewell,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Read more.
    Read,
    /// Drop so many bytes of what was received, and send this.
    Send(usize, Vec<u8>),
    /// The check has this result.
    Done(Outcome),
}

impl Dialogue {
    /// Of a client without a name in DNS, so its address takes the place (RFC 5321, 4.1.4).
    pub(super) fn new(client: IpAddr) -> Self {
        let name = match client.to_canonical() {
            IpAddr::V4(address) => format!("[{address}]"),
            IpAddr::V6(address) => format!("[IPv6:{address}]"),
        };
        Self { name, stage: Stage::Banner }
    }

    /// Goes on with what has been received; `end`: nothing follows it.
    pub(super) fn next(&mut self, received: &[u8], end: bool) -> Next {
        let (code, length) = match reply(received) {
            Ok(Some(reply)) => reply,
            // The server has accepted mail by now; how it ends the connection does not matter.
            Ok(None) if end && self.stage == Stage::Farewell => return Next::Done(Outcome::Passed),
            Ok(None) if end => return Next::Done(Outcome::failed("connection closed")),
            Ok(None) => return Next::Read,
            Err(Malformed) => return Next::Done(Outcome::failed("malformed reply")),
        };
        match (self.stage, code) {
            (Stage::Banner, 220) => {
                self.stage = Stage::Greeting;
                Next::Send(length, format!("EHLO {}\r\n", self.name).into_bytes())
            }
            (Stage::Greeting, 250) => {
                self.stage = Stage::Farewell;
                Next::Send(length, b"QUIT\r\n".to_vec())
            }
            (Stage::Farewell, _) => Next::Done(Outcome::Passed),
            (Stage::Banner, code) => refused(code, 220),
            (Stage::Greeting, code) => refused(code, 250),
        }
    }
}

fn refused(code: u16, expected: u16) -> Next {
    Next::Done(Outcome::Failed(format!("reply {code} instead of {expected}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_greets_passes() {
        let mut dialogue = Dialogue::new("192.0.2.7".parse().unwrap());
        assert_eq!(dialogue.next(b"220 mx ES", false), Next::Read);
        let ehlo = Next::Send(8, b"EHLO [192.0.2.7]\r\n".to_vec());
        assert_eq!(dialogue.next(b"220 mx\r\n", false), ehlo);
        assert_eq!(dialogue.next(b"250-mx\r\n", false), Next::Read);
        assert_eq!(dialogue.next(b"250 mx\r\n", false), Next::Send(8, b"QUIT\r\n".to_vec()));
        assert_eq!(dialogue.next(b"", false), Next::Read);
        assert_eq!(dialogue.next(b"221 bye\r\n", false), Next::Done(Outcome::Passed));
        assert_eq!(dialogue.next(b"", true), Next::Done(Outcome::Passed), "closed without a word");
    }

    #[test]
    fn a_server_that_refuses_or_hangs_up_fails() {
        for (banner, greeting, reason) in [
            ("554 no\r\n", None, "reply 554 instead of 220"),
            ("", None, "connection closed"),
            ("HTTP/1.1 400 Bad\r\n", None, "malformed reply"),
            ("220 mx\r\n", Some("502 what\r\n"), "reply 502 instead of 250"),
            ("220 mx\r\n", Some(""), "connection closed"),
        ] {
            let mut dialogue = Dialogue::new("2001:db8::1".parse().unwrap());
            let mut last = dialogue.next(banner.as_bytes(), true);
            if let Some(greeting) = greeting {
                assert_eq!(last, Next::Send(8, b"EHLO [IPv6:2001:db8::1]\r\n".to_vec()));
                last = dialogue.next(greeting.as_bytes(), true);
            }
            assert_eq!(last, Next::Done(Outcome::failed(reason)));
        }
    }
}
