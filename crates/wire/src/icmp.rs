//! Echo requests and replies of ICMP (RFC 792) and ICMPv6 (RFC 4443).
//!
//! Identifier and sequence number are 16 bits each and known to everybody who can ping: so the data
//! of each request begins with a 64-bit cookie that nobody guesses, and the number of the packet in
//! full. What comes back is believed for these.

/// Bytes before the data: type, code, checksum, identifier, sequence number.
pub const HEADER_BYTES: usize = 8;
/// Bytes at the begin of the data that name the packet: cookie and number.
pub const MARK_BYTES: usize = 12;
/// Least bytes of data that a request may have.
pub const DATA_BYTES_MIN: usize = 24;
/// Most bytes of data: an IPv4 packet has 65,535 with headers of 20 and 8.
pub const DATA_BYTES_MAX: usize = 65_507;

/// Type of an echo reply.
pub const ECHO_REPLY: u8 = 0;
/// Type of an ICMPv6 echo reply.
pub const ECHO_REPLY_V6: u8 = 129;

const ECHO_REQUEST: u8 = 8;
const ECHO_REQUEST_V6: u8 = 128;

/// Which protocol a message belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// ICMP.
    V4,
    /// ICMPv6.
    V6,
}

/// What an echo carries there and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Names the sender among the programs of a machine. Sockets that the system numbers itself
    /// put their own number here.
    pub identifier: u16,
    /// Nobody else knows it.
    pub cookie: u64,
    /// Number of the packet within its series.
    pub number: u32,
}

/// Writes an echo request with `size` bytes of data (within [`DATA_BYTES_MIN`] and
/// [`DATA_BYTES_MAX`]) into `out`, whose content goes away.
///
/// The checksum of ICMPv6 covers addresses that only the system knows, which fills it in (RFC 3542,
/// 3.1): it is left zero here.
pub fn encode(family: Family, echo: Echo, size: usize, out: &mut Vec<u8>) {
    let size = size.clamp(DATA_BYTES_MIN, DATA_BYTES_MAX);
    out.clear();
    out.reserve(HEADER_BYTES + size);
    let kind = match family {
        Family::V4 => ECHO_REQUEST,
        Family::V6 => ECHO_REQUEST_V6,
    };
    out.extend_from_slice(&[kind, 0, 0, 0]);
    out.extend_from_slice(&echo.identifier.to_be_bytes());
    // The lower half: it only has to differ among packets on their way.
    let [_, _, sequence @ ..] = echo.number.to_be_bytes();
    out.extend_from_slice(&sequence);
    out.extend_from_slice(&echo.cookie.to_be_bytes());
    out.extend_from_slice(&echo.number.to_be_bytes());
    out.resize(HEADER_BYTES + size, 0x56);
    if family == Family::V4 {
        let sum = checksum(out).to_be_bytes();
        out[2..4].copy_from_slice(&sum);
    }
}

/// Reads an echo reply from its ICMP header on; what stands behind the first [`HEADER_BYTES`] and
/// [`MARK_BYTES`] does not matter and need not be there. `None`: it is something else, or too short
/// to be an answer to a request of [`encode`]. No checksum is looked at: the cookie of
/// a pending packet is sufficient.
pub fn decode(family: Family, message: &[u8]) -> Option<Echo> {
    let (&[kind, code, _, _, id_a, id_b, _, _], data) = message.split_first_chunk()?;
    let wanted = match family {
        Family::V4 => ECHO_REPLY,
        Family::V6 => ECHO_REPLY_V6,
    };
    if kind != wanted || code != 0 {
        return None;
    }
    let (cookie, data) = data.split_first_chunk()?;
    let (number, _) = data.split_first_chunk()?;
    Some(Echo {
        identifier: u16::from_be_bytes([id_a, id_b]),
        cookie: u64::from_be_bytes(*cookie),
        number: u32::from_be_bytes(*number),
    })
}

/// What follows the header of an IPv4 packet, as raw sockets receive it (RFC 791, 3.1).
pub fn after_ip_header(packet: &[u8]) -> Option<&[u8]> {
    let first = packet.first()?;
    let header = usize::from(first & 15) * 4;
    if first >> 4 != 4 || header < 20 {
        return None;
    }
    packet.get(header..)
}

/// The checksum of the Internet (RFC 1071). Over a message with a right checksum it is 0.
pub fn checksum(message: &[u8]) -> u16 {
    let (words, rest) = message.as_chunks::<2>();
    let mut sum: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
    if let [last] = rest {
        sum += u64::from(*last) << 8;
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).expect("BUG: a folded sum has 16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ECHO: Echo = Echo { identifier: 0x1234, cookie: 0x0102_0304_0506_0708, number: 70_001 };

    fn reply(family: Family, size: usize) -> Vec<u8> {
        let mut message = Vec::new();
        encode(family, ECHO, size, &mut message);
        match family {
            // As a host answers: type, and with it the checksum, changes.
            Family::V4 => {
                (message[0], message[2], message[3]) = (ECHO_REPLY, 0, 0);
                let sum = checksum(&message).to_be_bytes();
                message[2..4].copy_from_slice(&sum);
            }
            Family::V6 => message[0] = ECHO_REPLY_V6,
        }
        message
    }

    #[test]
    fn what_went_out_comes_back() {
        for family in [Family::V4, Family::V6] {
            for size in [24, 25, 56, 1_400, 65_507] {
                let message = reply(family, size);
                assert_eq!(message.len(), HEADER_BYTES + size);
                assert_eq!(decode(family, &message), Some(ECHO), "{family:?} {size}");
            }
        }
    }

    #[test]
    fn bytes_of_a_request() {
        let mut message = vec![9; 3];
        encode(Family::V4, ECHO, 24, &mut message);
        assert_eq!(message[..2], [8, 0]);
        assert_eq!(
            message[4..20],
            [0x12, 0x34, 0x11, 0x71, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 0x11, 0x71]
        );
        assert_eq!(checksum(&message), 0);
        encode(Family::V6, ECHO, 24, &mut message);
        assert_eq!(message[..4], [128, 0, 0, 0]);
    }

    #[test]
    fn strangers_are_recognized() {
        let good = reply(Family::V4, 24);
        for (at, byte) in [(0, 8), (0, 3), (0, 129), (1, 1)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(decode(Family::V4, &bad), None, "{at}");
        }
        for end in 0..HEADER_BYTES + MARK_BYTES {
            assert_eq!(decode(Family::V4, &good[..end]), None, "{end}");
            assert_eq!(decode(Family::V6, &reply(Family::V6, 24)[..end]), None, "{end}");
        }
        assert_eq!(decode(Family::V6, &good), None);
    }

    #[test]
    fn ip_headers() {
        let mut packet = vec![0x45; 20];
        packet.push(7);
        assert_eq!(after_ip_header(&packet), Some(&[7][..]));
        packet[0] = 0x46;
        assert_eq!(after_ip_header(&packet), None, "the header is longer than the packet");
        packet[0] = 0x44;
        assert_eq!(after_ip_header(&packet), None);
        packet[0] = 0x65;
        assert_eq!(after_ip_header(&packet), None);
        assert_eq!(after_ip_header(&[]), None);
    }

    #[test]
    fn known_checksums() {
        // The example of RFC 1071, 3, and one of odd length.
        for (bytes, sum) in [
            (&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7][..], !0xddf2_u16),
            (&[0x01], !0x0100),
            (&[], !0),
        ] {
            assert_eq!(checksum(bytes), sum, "{bytes:x?}");
        }
    }
}
