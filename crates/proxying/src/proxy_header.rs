//! The PROXY protocol, versions 1 and 2: the addresses of a connection, sent before its first byte
//! (haproxy.org, proxy-protocol.txt).

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Longest line of version 1, CR LF included.
const LINE_MAX: usize = 107;
/// Longest block of version 2 behind its 16 fixed bytes: addresses and extensions.
const BLOCK_MAX: usize = 4096;

/// Version of a header that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Text.
    V1,
    /// Binary.
    V2,
}

/// The two ends of the client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The client.
    pub source: SocketAddr,
    /// Where the client connected to.
    pub destination: SocketAddr,
}

/// The bytes are no PROXY header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection does not begin with a valid PROXY header")]
pub struct Malformed;

/// A complete header: its length, and the addresses unless it is LOCAL or UNKNOWN.
pub type Parsed = (usize, Option<Addresses>);

/// Parses the header that a connection begins with; `None`: more bytes are needed.
///
/// # Errors
/// Bytes that are no header; the connection must be closed.
pub fn parse(bytes: &[u8]) -> Result<Option<Parsed>, Malformed> {
    let begins = |with: &[u8]| {
        let length = bytes.len().min(with.len());
        bytes[..length] == with[..length]
    };
    if begins(SIGNATURE) {
        parse_v2(bytes)
    } else if begins(b"PROXY ") {
        parse_v1(bytes)
    } else {
        Err(Malformed)
    }
}

fn parse_v1(bytes: &[u8]) -> Result<Option<Parsed>, Malformed> {
    let within = &bytes[..bytes.len().min(LINE_MAX)];
    let Some(end) = memchr::memchr(b'\n', within) else {
        return if bytes.len() < LINE_MAX { Ok(None) } else { Err(Malformed) };
    };
    let line = within[..end].strip_suffix(b"\r").ok_or(Malformed)?;
    let line = std::str::from_utf8(line).map_err(|_| Malformed)?;
    let mut words = line.split(' ').skip(1);
    let family = words.next().ok_or(Malformed)?;
    if family == "UNKNOWN" {
        return Ok(Some((end + 1, None)));
    }
    let mut address = || -> Result<IpAddr, Malformed> {
        let word = words.next().ok_or(Malformed)?;
        let address: IpAddr = word.parse().map_err(|_| Malformed)?;
        let fits = matches!((family, address), ("TCP4", IpAddr::V4(_)) | ("TCP6", IpAddr::V6(_)));
        if fits { Ok(address) } else { Err(Malformed) }
    };
    let (source, destination) = (address()?, address()?);
    let mut port = || -> Result<u16, Malformed> {
        let word = words.next().ok_or(Malformed)?;
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Malformed);
        }
        word.parse().map_err(|_| Malformed)
    };
    let source = SocketAddr::new(source, port()?);
    let destination = SocketAddr::new(destination, port()?);
    if words.next().is_some() {
        return Err(Malformed);
    }
    Ok(Some((end + 1, Some(Addresses { source, destination }))))
}

fn parse_v2(bytes: &[u8]) -> Result<Option<Parsed>, Malformed> {
    let Some((fixed, rest)) = bytes.split_at_checked(16) else { return Ok(None) };
    let (command, family) = (fixed[12], fixed[13]);
    let length = usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    if command >> 4 != 2 || command & 15 > 1 || length > BLOCK_MAX {
        return Err(Malformed);
    }
    let Some(block) = rest.get(..length) else { return Ok(None) };
    let local = command & 15 == 0;
    let addresses = match family {
        _ if local => None,
        0x11 => Some(addresses_v4(block)?),
        0x21 => Some(addresses_v6(block)?),
        // Unix sockets, datagrams, families of later versions: accepted without addresses.
        _ => None,
    };
    Ok(Some((16 + length, addresses)))
}

fn addresses_v4(block: &[u8]) -> Result<Addresses, Malformed> {
    let block: [u8; 12] = block.get(..12).and_then(|b| b.try_into().ok()).ok_or(Malformed)?;
    let [a, b, c, d, e, f, g, h, s1, s2, d1, d2] = block;
    let (source, destination) = (Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h));
    Ok(Addresses {
        source: SocketAddr::new(source.into(), u16::from_be_bytes([s1, s2])),
        destination: SocketAddr::new(destination.into(), u16::from_be_bytes([d1, d2])),
    })
}

fn addresses_v6(block: &[u8]) -> Result<Addresses, Malformed> {
    let address = |at: usize| -> Result<Ipv6Addr, Malformed> {
        let bytes: [u8; 16] =
            block.get(at..at + 16).and_then(|b| b.try_into().ok()).ok_or(Malformed)?;
        Ok(bytes.into())
    };
    let port = |at: usize| -> Result<u16, Malformed> {
        let bytes: [u8; 2] =
            block.get(at..at + 2).and_then(|b| b.try_into().ok()).ok_or(Malformed)?;
        Ok(u16::from_be_bytes(bytes))
    };
    Ok(Addresses {
        source: SocketAddr::new(address(0)?.into(), port(32)?),
        destination: SocketAddr::new(address(16)?.into(), port(34)?),
    })
}

/// Writes a header.
pub fn write(out: &mut Vec<u8>, version: Version, addresses: &Addresses) {
    let Addresses { source, destination } = addresses;
    match (version, source.ip(), destination.ip()) {
        (Version::V1, IpAddr::V4(from), IpAddr::V4(to)) => {
            line(out, "TCP4", &from, &to, (source.port(), destination.port()));
        }
        (Version::V1, IpAddr::V6(from), IpAddr::V6(to)) => {
            line(out, "TCP6", &from, &to, (source.port(), destination.port()));
        }
        (Version::V1, ..) => out.extend_from_slice(b"PROXY UNKNOWN\r\n"),
        (Version::V2, IpAddr::V4(from), IpAddr::V4(to)) => {
            out.extend_from_slice(SIGNATURE);
            out.extend_from_slice(&[0x21, 0x11, 0, 12]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
            out.extend_from_slice(&source.port().to_be_bytes());
            out.extend_from_slice(&destination.port().to_be_bytes());
        }
        (Version::V2, IpAddr::V6(from), IpAddr::V6(to)) => {
            out.extend_from_slice(SIGNATURE);
            out.extend_from_slice(&[0x21, 0x21, 0, 36]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
            out.extend_from_slice(&source.port().to_be_bytes());
            out.extend_from_slice(&destination.port().to_be_bytes());
        }
        (Version::V2, ..) => {
            out.extend_from_slice(SIGNATURE);
            out.extend_from_slice(&[0x20, 0, 0, 0]);
        }
    }
}

fn line(
    out: &mut Vec<u8>,
    family: &str,
    from: &dyn std::fmt::Display,
    to: &dyn std::fmt::Display,
    (source, destination): (u16, u16),
) {
    write!(out, "PROXY {family} {from} {to} {source} {destination}\r\n")
        .expect("BUG: a Vec accepts all bytes");
}
