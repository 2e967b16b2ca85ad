//! LAN messages: what packets of both versions carry (section 13.8).

use super::IpmiError;

/// Address of the management controller.
const CONTROLLER: u8 = 0x20;
/// Address that remote consoles have.
const CONSOLE: u8 = 0x81;
/// Octets of an answer without data.
const ANSWER_BYTES_MIN: usize = 8;

/// A request to the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Network function.
    pub netfn: u8,
    /// Logical unit, 0 to 3.
    pub lun: u8,
    /// Number of the command within the network function.
    pub command: u8,
    /// Parameters.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// For the first logical unit.
    pub const fn new(netfn: u8, command: u8, data: &'a [u8]) -> Self {
        Self { netfn, lun: 0, command, data }
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Completion code, 0 = done.
    pub code: u8,
    /// What it brings.
    pub data: Vec<u8>,
}

/// An answer with what says which request it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reply<'a> {
    pub(super) netfn: u8,
    pub(super) sequence: u8,
    pub(super) command: u8,
    pub(super) code: u8,
    pub(super) data: &'a [u8],
}

/// The bytes that make a sum of zero.
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte))
}

pub(super) fn encode(request: &Request<'_>, sequence: u8) -> Vec<u8> {
    let mut out = vec![CONTROLLER, (request.netfn << 2) | (request.lun & 3)];
    out.push(checksum(&out));
    let body = out.len();
    out.extend([CONSOLE, sequence << 2, request.command]);
    out.extend_from_slice(request.data);
    out.push(checksum(&out[body..]));
    out
}

/// Reads an answer.
pub(super) fn decode(bytes: &[u8]) -> Result<Reply<'_>, IpmiError> {
    if bytes.len() < ANSWER_BYTES_MIN {
        return Err(IpmiError::Truncated);
    }
    let (head, body) = bytes.split_at(3);
    if checksum(head) != 0 || checksum(body) != 0 {
        return Err(IpmiError::Checksum);
    }
    match (head, body) {
        ([_, function, _], [_, sequence, command, code, data @ .., _]) => Ok(Reply {
            netfn: function >> 2,
            sequence: sequence >> 2,
            command: *command,
            code: *code,
            data,
        }),
        _ => Err(IpmiError::Truncated),
    }
}
