//! Telnet (RFC 854): refuses every option but going ahead, and waits for a prompt.

use super::Verdict;

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const WONT: u8 = 252;
const DO: u8 = 253;
const DONT: u8 = 254;
const IAC: u8 = 255;
/// "Suppress go ahead" (RFC 858): all terminals of today do.
const GO_AHEAD: u8 = 3;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Command,
    /// The option of a command follows.
    Option(u8),
    /// Within a subnegotiation; `true` = after an IAC.
    Sub(bool),
}

/// Strips commands, answers them, and remembers how the text ends.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    state: State,
    /// The last character but spaces.
    last: u8,
}

impl Prompt {
    /// The text ends like a prompt for a name: with a colon, perhaps spaces behind it.
    pub(super) fn is_there(&self) -> bool {
        self.last == b':' && self.state == State::Text
    }

    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Verdict {
        for byte in bytes {
            self.state = match (self.state, *byte) {
                (State::Text, IAC) => State::Command,
                (State::Text, b' ') => State::Text,
                // A doubled IAC is a character.
                (State::Text, other) | (State::Command, other @ IAC) => {
                    self.last = other;
                    State::Text
                }
                (State::Command, command @ (WILL | WONT | DO | DONT)) => State::Option(command),
                (State::Command, SB) => State::Sub(false),
                (State::Command, _) => State::Text,
                (State::Option(command), option) => {
                    out.extend_from_slice(&[IAC, answer(command, option), option]);
                    State::Text
                }
                (State::Sub(true), SE) => State::Text,
                (State::Sub(escaped), byte) => State::Sub(byte == IAC && !escaped),
            };
        }
        Verdict::Open
    }
}

fn answer(command: u8, option: u8) -> u8 {
    match (command, option == GO_AHEAD) {
        (DO, true) => WILL,
        (DO | DONT, _) => WONT,
        (WILL, true) => DO,
        _ => DONT,
    }
}
