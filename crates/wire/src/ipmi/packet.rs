//! Packets: the headers of RMCP and of a session (sections 13.1 and 13.6).

use super::IpmiError;
use super::crypto::CODE_BYTES;

/// RMCP version 1.0, no acknowledgement, class IPMI.
const RMCP: [u8; 4] = [0x06, 0x00, 0xFF, 0x07];
/// Marks a header of version 2.0 where one of 1.5 has the kind of its signature.
const RMCP_PLUS: u8 = 0x06;
/// What the signature of version 2.0 follows.
const NEXT_HEADER: u8 = 0x07;

/// Kinds of payloads of version 2.0.
pub(super) const MESSAGE: u8 = 0x00;
pub(super) const OPEN_REQUEST: u8 = 0x10;
pub(super) const OPEN_ANSWER: u8 = 0x11;
pub(super) const RAKP_1: u8 = 0x12;
pub(super) const RAKP_2: u8 = 0x13;
pub(super) const RAKP_3: u8 = 0x14;
pub(super) const RAKP_4: u8 = 0x15;

const ENCRYPTED: u8 = 0x80;
const SIGNED: u8 = 0x40;

/// A packet whose headers are read, nothing checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packet<'a> {
    V15 {
        signature: u8,
        session: u32,
        sequence: u32,
        code: &'a [u8],
        message: &'a [u8],
    },
    V20 {
        kind: u8,
        encrypted: bool,
        signed: bool,
        session: u32,
        payload: &'a [u8],
        /// All that a signature is made of, and the signature.
        whole: &'a [u8],
    },
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], IpmiError> {
    let (head, rest) = bytes.split_at_checked(count).ok_or(IpmiError::Truncated)?;
    *bytes = rest;
    Ok(head)
}

fn byte(bytes: &mut &[u8]) -> Result<u8, IpmiError> {
    Ok(take(bytes, 1)?[0])
}

fn number(bytes: &mut &[u8]) -> Result<u32, IpmiError> {
    let four = take(bytes, 4)?.try_into().map_err(|_| IpmiError::Truncated)?;
    Ok(u32::from_le_bytes(four))
}

pub(super) fn parse(datagram: &[u8]) -> Result<Packet<'_>, IpmiError> {
    let mut rest = datagram;
    let head = take(&mut rest, RMCP.len())?;
    if head[0] != RMCP[0] || head[3] != RMCP[3] {
        return Err(IpmiError::NotIpmi);
    }
    let whole = rest;
    let signature = byte(&mut rest)?;
    if signature == RMCP_PLUS {
        let kind = byte(&mut rest)?;
        let (session, _sequence) = (number(&mut rest)?, number(&mut rest)?);
        let length = u16::from_le_bytes([byte(&mut rest)?, byte(&mut rest)?]);
        let payload = take(&mut rest, usize::from(length))?;
        let (encrypted, signed) = (kind & ENCRYPTED != 0, kind & SIGNED != 0);
        return Ok(Packet::V20 { kind: kind & 0x3F, encrypted, signed, session, payload, whole });
    }
    let (sequence, session) = (number(&mut rest)?, number(&mut rest)?);
    let code = take(&mut rest, if signature == 0 { 0 } else { CODE_BYTES })?;
    let length = usize::from(byte(&mut rest)?);
    let message = take(&mut rest, length)?;
    Ok(Packet::V15 { signature, session, sequence, code, message })
}

/// A packet of version 1.5; `code` = its signature, perhaps empty.
pub(super) fn v15(
    signature: u8,
    (session, sequence): (u32, u32),
    code: &[u8],
    message: &[u8],
) -> Vec<u8> {
    let mut out = RMCP.to_vec();
    out.push(signature);
    out.extend(sequence.to_le_bytes());
    out.extend(session.to_le_bytes());
    out.extend_from_slice(code);
    // Requests are short: the longest has a name and a challenge.
    out.push(message.len() as u8);
    out.extend_from_slice(message);
    out
}

/// A packet of version 2.0 without protection, as those that open a session.
pub(super) fn v20(kind: u8, (session, sequence): (u32, u32), payload: &[u8]) -> Vec<u8> {
    let mut out = RMCP.to_vec();
    out.extend([RMCP_PLUS, kind]);
    out.extend(session.to_le_bytes());
    out.extend(sequence.to_le_bytes());
    out.extend((payload.len() as u16).to_le_bytes());
    out.extend_from_slice(payload);
    out
}

/// A packet of a session: what `sign` makes of all but the RMCP header stands at its end.
pub(super) fn v20_protected(
    (encrypted, signed): (bool, bool),
    numbers: (u32, u32),
    payload: &[u8],
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, IpmiError>,
) -> Result<Vec<u8>, IpmiError> {
    let flags = if encrypted { ENCRYPTED } else { 0 } | if signed { SIGNED } else { 0 };
    let mut out = v20(MESSAGE | flags, numbers, payload);
    if signed {
        // Up to a multiple of four, with the two bytes that follow.
        let length = out.len() - RMCP.len() + 2;
        let pad = length.next_multiple_of(4) - length;
        out.extend(std::iter::repeat_n(0xFF, pad));
        out.extend([pad as u8, NEXT_HEADER]);
        let code = sign(&out[RMCP.len()..])?;
        out.extend(code);
    }
    Ok(out)
}
