//! Telnet (RFC 854): what of a byte stream is text, and what to answer to the other side's wishes.
//! Nothing is agreed to but "suppress go ahead" (RFC 858).

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const WONT: u8 = 252;
const DO: u8 = 253;
const DONT: u8 = 254;
const IAC: u8 = 255;
const SUPPRESS_GO_AHEAD: u8 = 3;

/// Replies that wait to be sent, bytes: a side that asks more than this without end is answered no
/// longer.
pub const REPLIES_MAX: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    Command,
    Option(u8),
    /// Details of an option, to its end.
    Details,
    DetailsCommand,
}

/// Takes the text out of a stream.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
}

impl Decoder {
    /// What comes next is text or a new command, not the rest of one.
    pub fn is_in_text(&self) -> bool {
        self.state == State::Text
    }

    /// Adds the text in `bytes` to `text` and what has to be sent back to `replies`.
    pub fn feed(&mut self, bytes: &[u8], text: &mut Vec<u8>, replies: &mut Vec<u8>) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Text, IAC) => State::Command,
                (State::Command, IAC) | (State::Text, _) => {
                    text.push(byte);
                    State::Text
                }
                (State::Command, SB) => State::Details,
                (State::Command, WILL..=DONT) => State::Option(byte),
                (State::Option(wish), option) => {
                    reply(wish, option, replies);
                    State::Text
                }
                (State::Details, IAC) => State::DetailsCommand,
                (State::DetailsCommand, SE) | (State::Command, _) => State::Text,
                (State::Details | State::DetailsCommand, _) => State::Details,
            };
        }
    }
}

fn reply(wish: u8, option: u8, replies: &mut Vec<u8>) {
    let answer = match (wish, option) {
        (WILL, SUPPRESS_GO_AHEAD) => DO,
        (DO, SUPPRESS_GO_AHEAD) => WILL,
        (WILL, _) => DONT,
        (DO, _) => WONT,
        // What the other side will not do is how it is anyway.
        _ => return,
    };
    if replies.len() < REPLIES_MAX {
        replies.extend([IAC, answer, option]);
    }
}

/// A line as it is sent: the end is `\r\n`, a byte 255 stands twice.
pub fn line(text: &str) -> Vec<u8> {
    // UTF-8 has no byte 255.
    let mut bytes = text.replace('\n', "\r\n").into_bytes();
    bytes.extend(b"\r\n");
    bytes
}

/// Text with `\n` for every way to end a line that terminals know.
pub fn unix_lines(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (0, _) => {}
            // A carriage return alone, no end of a line.
            (b'\r', [0, ..]) => {}
            (b'\r', [b'\r', b'\n', tail @ ..] | [b'\n', tail @ ..])
            | (b'\n', [b'\r', tail @ ..]) => {
                out.push(b'\n');
                rest = tail;
            }
            (b'\r', _) => out.push(b'\n'),
            _ => out.push(byte),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_answered_and_no_text() {
        for (bytes, text, replies) in [
            (&b"login: "[..], &b"login: "[..], &[][..]),
            (&[b'a', IAC, DO, 24, b'b'], b"ab", &[IAC, WONT, 24]),
            (&[IAC, WILL, 1, IAC, WILL, 3], b"", &[IAC, DONT, 1, IAC, DO, 3]),
            (&[IAC, DO, 3], b"", &[IAC, WILL, 3]),
            (&[IAC, WONT, 1, IAC, DONT, 24, b'x'], b"x", &[]),
            (&[b'a', IAC, IAC, b'b'], &[b'a', 255, b'b'], &[]),
            (&[IAC, SB, 24, 1, IAC, IAC, IAC, SE, b'x'], b"x", &[]),
            (&[IAC, 241, b'x', IAC], b"x", &[]),
        ] {
            let whole = feed(&[bytes]);
            assert_eq!(whole, (text.to_vec(), replies.to_vec()), "{bytes:?}");
            let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(feed(&pieces), whole, "{bytes:?} byte by byte");
        }
    }

    fn feed(pieces: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
        let (mut decoder, mut text, mut replies) = (Decoder::default(), Vec::new(), Vec::new());
        for piece in pieces {
            decoder.feed(piece, &mut text, &mut replies);
        }
        (text, replies)
    }

    #[test]
    fn endless_wishes_cost_no_memory() {
        let wishes = [IAC, DO, 1].repeat(100_000);
        assert!(feed(&[&wishes]).1.len() <= REPLIES_MAX + 3);
    }

    #[test]
    fn lines() {
        assert_eq!(line("a\nb"), b"a\r\nb\r\n");
        for (text, expected) in [
            (&b"a\r\nb\n\rc\r\r\nd"[..], &b"a\nb\nc\nd"[..]),
            (b"a\r\0b", b"ab"),
            (b"a\rb\0", b"a\nb"),
            (b"\r", b"\n"),
            (b"", b""),
        ] {
            assert_eq!(unix_lines(text), expected, "{text:?}");
        }
    }
}
