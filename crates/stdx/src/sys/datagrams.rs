//! Datagrams by the batch: sendmmsg(2), recvmmsg(2), and the options of sockets that live on them.
//!
//! One call moves up to [`BATCH_MAX`] datagrams: where thousands go out in a second, the calls
//! themselves cost more than what they carry.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use socket2::{SockAddr, SockAddrStorage};

/// Datagrams of one call at most.
pub const BATCH_MAX: usize = 64;

/// Bytes for the control messages of one received datagram: its time, with room to spare.
const CONTROL_BYTES: usize = 64;

/// A datagram to send.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The receiver.
    pub to: SocketAddr,
    /// What it gets.
    pub bytes: &'a [u8],
}

/// Sends datagrams in their order, at most [`BATCH_MAX`] of them, without waiting; returns how many
/// the system took. An error is that of the first one: those behind it have not been tried.
pub fn send_datagrams(socket: BorrowedFd<'_>, datagrams: &[Outgoing<'_>]) -> io::Result<usize> {
    let datagrams = &datagrams[..datagrams.len().min(BATCH_MAX)];
    let addresses: Vec<SockAddr> = datagrams.iter().map(|one| SockAddr::from(one.to)).collect();
    let mut parts: Vec<libc::iovec> = datagrams
        .iter()
        .map(|one| libc::iovec {
            iov_base: one.bytes.as_ptr().cast_mut().cast(),
            iov_len: one.bytes.len(),
        })
        .collect();
    let mut headers: Vec<libc::mmsghdr> = addresses
        .iter()
        .zip(&mut parts)
        .map(|(address, part)| {
            let mut header = empty_header();
            header.msg_hdr.msg_name = address.as_ptr().cast_mut().cast();
            header.msg_hdr.msg_namelen = address.len();
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header
        })
        .collect();
    let count = libc::c_uint::try_from(headers.len()).unwrap_or(0);
    // SAFETY: each header points to an address, a part and bytes that outlive the call; the system
    // only reads them, and writes `msg_len` of `count` headers that are exclusively ours.
    let sent = unsafe {
        libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count, libc::MSG_DONTWAIT)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

fn empty_header() -> libc::mmsghdr {
    // SAFETY: a header of zeros is valid: no address, no parts, no control messages.
    unsafe { std::mem::zeroed() }
}

/// A received datagram.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    /// The sender.
    pub from: SocketAddr,
    /// What it sent. On a raw IPv4 socket that begins with the IP header.
    pub bytes: &'a [u8],
    /// It was longer than the room for it.
    pub cut: bool,
    /// When it reached this machine, since 1970; only after [`stamp_received`].
    pub at: Option<Duration>,
}

/// Control messages have to lie where a `cmsghdr` may.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Room for a batch of received datagrams, to be used again and again.
#[derive(Debug)]
pub struct Inbox {
    bytes: Box<[u8]>,
    each: usize,
    addresses: Vec<SockAddr>,
    controls: Box<[Control]>,
    /// Of each datagram: its length, the length of its control messages, its flags.
    got: Vec<(usize, usize, libc::c_int)>,
}

impl Inbox {
    /// Room for `count` datagrams (at most [`BATCH_MAX`] are ever used) of `bytes` each.
    pub fn new(count: usize, bytes: usize) -> Self {
        let (count, bytes) = (count.clamp(1, BATCH_MAX), bytes.max(1));
        Self {
            bytes: vec![0; count * bytes].into_boxed_slice(),
            each: bytes,
            addresses: Vec::with_capacity(count),
            controls: vec![Control([0; CONTROL_BYTES]); count].into_boxed_slice(),
            got: Vec::with_capacity(count),
        }
    }

    /// Takes what has arrived, without waiting; returns how many datagrams that are. Those of
    /// before are gone. With nothing there the error is `WouldBlock`.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.got.clear();
        self.addresses.clear();
        let count = self.controls.len();
        let mut storages: Vec<SockAddrStorage> =
            (0..count).map(|_| SockAddrStorage::zeroed()).collect();
        let mut parts: Vec<libc::iovec> = self
            .bytes
            .chunks_exact_mut(self.each)
            .map(|room| libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() })
            .collect();
        let mut headers: Vec<libc::mmsghdr> = (0..count).map(|_| empty_header()).collect();
        let rows = headers.iter_mut().zip(&mut storages).zip(&mut parts).zip(&mut self.controls);
        for (((header, storage), part), control) in rows {
            let header = &mut header.msg_hdr;
            header.msg_namelen = storage.size_of();
            header.msg_name = (&raw mut *storage).cast();
            header.msg_iov = part;
            header.msg_iovlen = 1;
            header.msg_control = (&raw mut control.0).cast();
            header.msg_controllen = CONTROL_BYTES as _;
        }
        let wanted = libc::c_uint::try_from(count).unwrap_or(0);
        // SAFETY: each header points to room of the told sizes that outlives the call and that
        // nobody else refers to meanwhile.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                wanted,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        for (header, storage) in headers.iter().zip(storages).take(received) {
            let (length, header) = (header.msg_len as usize, &header.msg_hdr);
            // SAFETY: the system wrote an address of that length into the storage.
            self.addresses.push(unsafe { SockAddr::new(storage, header.msg_namelen) });
            let control = header.msg_controllen;
            self.got.push((length.min(self.each), control, header.msg_flags));
        }
        Ok(received)
    }

    /// The datagrams of the last [`Inbox::receive`]; those without an IP address are left out.
    pub fn datagrams(&self) -> impl Iterator<Item = Incoming<'_>> {
        self.got.iter().enumerate().filter_map(|(at, (length, control, flags))| {
            let from = self.addresses[at].as_socket()?;
            let begin = at * self.each;
            let bytes = &self.bytes[begin..begin + length];
            let at = received_at(&self.controls[at].0[..(*control).min(CONTROL_BYTES)]);
            Some(Incoming { from, bytes, cut: flags & libc::MSG_TRUNC != 0, at })
        })
    }
}

/// The time among control messages (cmsg(3)). Read by bytes: the layout is that of `cmsghdr`.
fn received_at(mut control: &[u8]) -> Option<Duration> {
    const HEADER: usize = size_of::<libc::cmsghdr>();
    const ALIGN: usize = size_of::<usize>();
    loop {
        let (header, _) = control.split_at_checked(HEADER)?;
        let (length, rest) = header.split_first_chunk::<{ size_of::<usize>() }>()?;
        let length = usize::from_ne_bytes(*length);
        let (level, rest) = rest.split_first_chunk::<4>()?;
        let (kind, _) = rest.split_first_chunk::<4>()?;
        let data = control.get(HEADER..length)?;
        if i32::from_ne_bytes(*level) == libc::SOL_SOCKET
            && i32::from_ne_bytes(*kind) == libc::SCM_TIMESTAMPNS
        {
            let (seconds, rest) = data.split_first_chunk::<8>()?;
            let (nanos, _) = rest.split_first_chunk::<8>()?;
            let seconds = u64::try_from(i64::from_ne_bytes(*seconds)).ok()?;
            let nanos = u32::try_from(i64::from_ne_bytes(*nanos)).ok()?;
            return Some(Duration::new(seconds, nanos.min(999_999_999)));
        }
        control = control.get(length.next_multiple_of(ALIGN)..)?;
    }
}

fn set_option<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed; the value lives through the call, and
    // its size is told.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const *value).cast(),
            libc::socklen_t::try_from(size_of::<T>()).unwrap_or(0),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes the system note when each datagram arrived ([`Incoming::at`]).
pub fn stamp_received(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on)
}

/// Asks for a receive buffer of so many bytes: beyond the system's limit where this process may,
/// else as much as the limit allows.
pub fn receive_buffer(socket: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
        .or_else(|_| set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes))
}

/// Lets a raw ICMP socket receive messages of one type only: others would fill its buffer.
pub fn only_icmp_type(socket: BorrowedFd<'_>, ipv6: bool, kind: u8) -> io::Result<()> {
    if ipv6 {
        /// Of linux/icmpv6.h: a bit per type, set = blocked.
        const ICMPV6_FILTER: libc::c_int = 1;
        let mut blocked = [u32::MAX; 8];
        blocked[usize::from(kind >> 5)] &= !(1 << (kind & 31));
        return set_option(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, &blocked);
    }
    /// Of linux/icmp.h: a bit per type below 32, set = blocked.
    const ICMP_FILTER: libc::c_int = 1;
    const SOL_RAW: libc::c_int = 255;
    let blocked = !1_u32.checked_shl(kind.into()).unwrap_or(0);
    set_option(socket, SOL_RAW, ICMP_FILTER, &blocked)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
        (bind(), bind())
    }

    #[test]
    fn a_batch_arrives_as_it_was_sent() {
        let (one, two) = pair();
        stamp_received(two.as_fd()).unwrap();
        receive_buffer(two.as_fd(), 1 << 20).unwrap();
        let (to, from) = (two.local_addr().unwrap(), one.local_addr().unwrap());
        let texts: Vec<Vec<u8>> = (0..100_u8).map(|n| vec![n; usize::from(n)]).collect();
        let out: Vec<_> = texts.iter().map(|bytes| Outgoing { to, bytes }).collect();
        assert_eq!(send_datagrams(one.as_fd(), &out).unwrap(), BATCH_MAX);
        assert_eq!(send_datagrams(one.as_fd(), &out[BATCH_MAX..]).unwrap(), 36);
        let mut inbox = Inbox::new(50, 64);
        let mut at = 0;
        while at < 100 {
            let got = inbox.receive(two.as_fd()).unwrap();
            assert_eq!(inbox.datagrams().count(), got);
            for datagram in inbox.datagrams() {
                let sent = &texts[at];
                assert_eq!(datagram.bytes, &sent[..sent.len().min(64)]);
                assert_eq!(datagram.cut, sent.len() > 64, "{at}");
                assert_eq!(datagram.from, from);
                assert!(datagram.at.is_some_and(|at| at.as_secs() > 1_000_000_000));
                at += 1;
            }
        }
        let empty = inbox.receive(two.as_fd()).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(inbox.datagrams().count(), 0);
    }

    #[test]
    fn without_timestamps_there_is_no_time_and_errors_are_reported() {
        let (one, two) = pair();
        let to = two.local_addr().unwrap();
        assert_eq!(send_datagrams(one.as_fd(), &[Outgoing { to, bytes: b"x" }]).unwrap(), 1);
        let mut inbox = Inbox::new(1, 8);
        assert_eq!(inbox.receive(two.as_fd()).unwrap(), 1);
        assert!(inbox.datagrams().all(|datagram| datagram.at.is_none()));
        let large = vec![0; 70_000];
        assert!(send_datagrams(one.as_fd(), &[Outgoing { to, bytes: &large }]).is_err());
        // No ICMP socket: nothing to filter.
        assert!(only_icmp_type(one.as_fd(), false, 0).is_err());
    }
}
