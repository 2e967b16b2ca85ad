//! Control messages of datagrams (cmsg(3)): when one arrived, to which address, and from which one it
//! leaves. Read and written by bytes: the layout is that of `cmsghdr`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::Control;

/// A length, a level and a kind.
const HEADER: usize = size_of::<libc::cmsghdr>();
const ALIGN: usize = size_of::<usize>();

/// What the system noted of a received datagram.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Noted {
    pub(super) at: Option<Duration>,
    pub(super) to: Option<IpAddr>,
}

/// The control messages of a datagram to send.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outgoing {
    pub(super) bytes: Control,
    pub(super) length: usize,
}

/// What control messages say. Those of unknown kinds are left out.
pub(super) fn noted(mut control: &[u8]) -> Noted {
    let mut noted = Noted::default();
    while let Some((Message { level, kind, data }, rest)) = next(control) {
        match (level, kind) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => noted.at = time(data),
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => noted.to = ipv4(data),
            // On a socket of both versions a datagram of IPv4 has this message, too, without address.
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) if noted.to.is_none() => noted.to = ipv6(data),
            _ => {}
        }
        control = rest;
    }
    noted
}

/// A control message (cmsg(3)).
struct Message<'c> {
    level: i32,
    kind: i32,
    data: &'c [u8],
}

/// The first message, and the bytes behind it.
fn next(control: &[u8]) -> Option<(Message<'_>, &[u8])> {
    let (header, _) = control.split_at_checked(HEADER)?;
    let (length, rest) = header.split_first_chunk::<{ size_of::<usize>() }>()?;
    let length = usize::from_ne_bytes(*length);
    let (level, rest) = rest.split_first_chunk::<4>()?;
    let (kind, _) = rest.split_first_chunk::<4>()?;
    let data = control.get(HEADER..length)?;
    let rest = control.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
    let (level, kind) = (i32::from_ne_bytes(*level), i32::from_ne_bytes(*kind));
    Some((Message { level, kind, data }, rest))
}

fn time(data: &[u8]) -> Option<Duration> {
    let (seconds, rest) = data.split_first_chunk::<8>()?;
    let (nanos, _) = rest.split_first_chunk::<8>()?;
    let seconds = u64::try_from(i64::from_ne_bytes(*seconds)).ok()?;
    let nanos = u32::try_from(i64::from_ne_bytes(*nanos)).ok()?;
    Some(Duration::new(seconds, nanos.min(999_999_999)))
}

/// The address to respond from, the second of three members of `in_pktinfo` (ip(7)).
fn ipv4(data: &[u8]) -> Option<IpAddr> {
    let octets: [u8; 4] = data.get(4..8)?.try_into().ok()?;
    Some(Ipv4Addr::from(octets).into())
}

/// The first member of `in6_pktinfo` (ipv6(7)).
fn ipv6(data: &[u8]) -> Option<IpAddr> {
    let octets: [u8; 16] = data.get(..16)?.try_into().ok()?;
    Some(Ipv6Addr::from(octets).into())
}

/// The control message that lets a datagram leave from an address of this machine.
pub(super) fn source(address: IpAddr) -> Outgoing {
    let mut out = Outgoing::default();
    let (level, kind, data, length): (i32, i32, [u8; 20], usize) = match address.to_canonical() {
        IpAddr::V4(address) => {
            let mut data = [0; 20];
            data[4..8].copy_from_slice(&address.octets());
            (libc::IPPROTO_IP, libc::IP_PKTINFO, data, size_of::<libc::in_pktinfo>())
        }
        IpAddr::V6(address) => {
            let mut data = [0; 20];
            data[..16].copy_from_slice(&address.octets());
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, data, size_of::<libc::in6_pktinfo>())
        }
    };
    let whole = HEADER + length;
    let bytes = &mut out.bytes.0;
    bytes[..ALIGN].copy_from_slice(&whole.to_ne_bytes());
    bytes[ALIGN..ALIGN + 4].copy_from_slice(&level.to_ne_bytes());
    bytes[ALIGN + 4..HEADER].copy_from_slice(&kind.to_ne_bytes());
    bytes[HEADER..whole].copy_from_slice(&data[..length]);
    out.length = whole.next_multiple_of(ALIGN);
    out
}
