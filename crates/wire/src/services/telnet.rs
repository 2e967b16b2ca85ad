//! Telnet: waits for a prompt behind the negotiations.

use super::Verdict;
use crate::telnet::Decoder;

/// Answers negotiations and remembers how the text ends.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    decoder: Decoder,
    /// The last character but spaces.
    last: u8,
}

impl Prompt {
    /// The text ends like a prompt for a name: with a colon, perhaps spaces behind it.
    pub(super) fn is_there(&self) -> bool {
        self.last == b':' && self.decoder.is_in_text()
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Verdict {
        let mut text = Vec::with_capacity(bytes.len());
        self.decoder.feed(bytes, &mut text, out);
        if let Some(last) = text.iter().rfind(|byte| **byte != b' ') {
            self.last = *last;
        }
        Verdict::Open
    }
}
