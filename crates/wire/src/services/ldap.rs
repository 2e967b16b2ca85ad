//! LDAP (RFC 4511): searches the root entry for its naming contexts, as everybody may.

use super::Verdict;

/// `searchRequest` 1 of nobody in particular: base object "", all of its `namingContexts`.
pub(super) const SEARCH: &[u8] = b"\x30\x35\x02\x01\x01\x63\x30\x04\x00\x0a\x01\x00\x0a\x01\x00\
    \x02\x01\x00\x02\x01\x00\x01\x01\x00\x87\x0bobjectClass\x30\x10\x04\x0enamingContexts";
/// `unbindRequest` 2.
const UNBIND: &[u8] = b"\x30\x05\x02\x01\x02\x42\x00";

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const ENUMERATED: u8 = 0x0a;
const RESULT_ENTRY: u8 = 0x64;
const RESULT_DONE: u8 = 0x65;

/// Reads messages until the search is done.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// What is not a whole message yet; the conversation is bounded.
    bytes: Vec<u8>,
    /// An entry with an attribute has come.
    found: bool,
}

impl Search {
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Verdict {
        self.bytes.extend_from_slice(bytes);
        let mut rest = self.bytes.as_slice();
        let verdict = loop {
            match split(rest) {
                Ok(Some((SEQUENCE, message, after))) => {
                    match Self::message(message, &mut self.found) {
                        Verdict::Open => rest = after,
                        verdict => break verdict,
                    }
                }
                Ok(None) if rest.first().is_none_or(|tag| *tag == SEQUENCE) => break Verdict::Open,
                Ok(_) | Err(Malformed) => break Verdict::Down,
            }
        };
        let done = self.bytes.len() - rest.len();
        self.bytes.drain(..done);
        if verdict == Verdict::Up {
            *out = UNBIND.to_vec();
        }
        verdict
    }

    fn message(message: &[u8], found: &mut bool) -> Verdict {
        let Ok(Some((INTEGER, id, after))) = split(message) else { return Verdict::Down };
        let Ok(Some((operation, content, _))) = split(after) else { return Verdict::Down };
        match (id, operation) {
            ([1], RESULT_ENTRY) => {
                // Name, then a list of attributes.
                let attributes = match split(content) {
                    Ok(Some((_, _, attributes))) => split(attributes),
                    _ => return Verdict::Down,
                };
                let Ok(Some((SEQUENCE, attributes, _))) = attributes else { return Verdict::Down };
                *found |= !attributes.is_empty();
                Verdict::Open
            }
            ([1], RESULT_DONE) => {
                let success = matches!(split(content), Ok(Some((ENUMERATED, [0], _))));
                if success && *found { Verdict::Up } else { Verdict::Down }
            }
            // Notice of disconnection.
            ([0], _) => Verdict::Down,
            _ => Verdict::Open,
        }
    }
}

/// Bytes that no encoder writes.
struct Malformed;

/// Tag, content and what follows of the first element; `None` = it is not complete.
#[expect(clippy::type_complexity, reason = "three slices of one")]
fn split(bytes: &[u8]) -> Result<Option<(u8, &[u8], &[u8])>, Malformed> {
    let [tag, length, rest @ ..] = bytes else { return Ok(None) };
    let (length, rest) = match *length {
        short @ 0..=0x7f => (usize::from(short), rest),
        // Four bytes are more than a conversation may have.
        long @ 0x81..=0x84 => {
            let Some((bytes, rest)) = rest.split_at_checked(usize::from(long & 0x7f)) else {
                return Ok(None);
            };
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return Err(Malformed),
    };
    Ok(rest.split_at_checked(length).map(|(content, after)| (*tag, content, after)))
}
