//! Datagrams by the batch: sendmmsg(2), recvmmsg(2), and the options of sockets that live on them.
//!
//! One call moves up to [`BATCH_MAX`] datagrams: where thousands go out in a second, the calls
//! themselves cost more than what they carry.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use socket2::{SockAddr, SockAddrStorage};

mod control;

/// Datagrams of one call at most.
pub const BATCH_MAX: usize = 64;

/// Bytes for the control messages of one received datagram: its time and its destination in both
/// versions of IP, with room to spare.
const CONTROL_BYTES: usize = 128;

/// A datagram to send.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The receiver.
    pub to: SocketAddr,
    /// The address of this machine that it comes from; `None`: the system chooses.
    pub from: Option<IpAddr>,
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
    let mut controls = Vec::new();
    if datagrams.iter().any(|one| one.from.is_some()) {
        controls
            .extend(datagrams.iter().map(|one| one.from.map(control::source).unwrap_or_default()));
        for (header, control) in headers.iter_mut().zip(&mut controls) {
            header.msg_hdr.msg_control = control.bytes.0.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = control.length as _;
        }
    }
    let count = libc::c_uint::try_from(headers.len()).unwrap_or(0);
    // SAFETY: each header points to an address, a part, bytes and control messages that outlive the
    // call; the system only reads them, and writes `msg_len` of `count` headers that are exclusively ours.
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
    /// The address of this machine that it was sent to; only after [`note_destination`].
    pub to: Option<IpAddr>,
}

/// Control messages have to lie where a `cmsghdr` may.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

impl Default for Control {
    fn default() -> Self {
        Self([0; CONTROL_BYTES])
    }
}

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
            controls: vec![Control::default(); count].into_boxed_slice(),
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
            let controls = &self.controls[at].0[..(*control).min(CONTROL_BYTES)];
            let control::Noted { at, to } = control::noted(controls);
            Some(Incoming { from, bytes, cut: flags & libc::MSG_TRUNC != 0, at, to })
        })
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

/// Makes the system note which address of this machine each datagram was sent to ([`Incoming::to`]).
pub fn note_destination(socket: BorrowedFd<'_>, ipv6: bool) -> io::Result<()> {
    let on: libc::c_int = 1;
    // A socket of IPv6 may receive datagrams of IPv4, too.
    set_option(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, &on)?;
    if ipv6 {
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, &on)?;
    }
    Ok(())
}

/// Datagrams that a socket has lost since it was opened because its receive buffer was full.
pub fn overflowed(socket: BorrowedFd<'_>) -> io::Result<u32> {
    /// Of linux/sock_diag.h: the place of the count.
    const SK_MEMINFO_DROPS: usize = 8;
    let mut numbers = [0_u32; SK_MEMINFO_DROPS + 1];
    let mut length = libc::socklen_t::try_from(size_of_val(&numbers)).unwrap_or(0);
    // SAFETY: the descriptor is open while it is borrowed; the system writes at most `length` bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(numbers[SK_MEMINFO_DROPS]) } else { Err(io::Error::last_os_error()) }
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

    /// Waits for a datagram: a busy system delivers it after the call that sent it.
    fn await_datagram(socket: &UdpSocket) {
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket.peek(&mut [0]).unwrap();
    }

    #[test]
    fn a_batch_arrives_as_it_was_sent() {
        let (one, two) = pair();
        stamp_received(two.as_fd()).unwrap();
        receive_buffer(two.as_fd(), 1 << 20).unwrap();
        let (to, from) = (two.local_addr().unwrap(), one.local_addr().unwrap());
        let texts: Vec<Vec<u8>> = (0..100_u8).map(|n| vec![n; usize::from(n)]).collect();
        let out: Vec<_> = texts.iter().map(|bytes| Outgoing { to, from: None, bytes }).collect();
        assert_eq!(send_datagrams(one.as_fd(), &out).unwrap(), BATCH_MAX);
        assert_eq!(send_datagrams(one.as_fd(), &out[BATCH_MAX..]).unwrap(), 36);
        let mut inbox = Inbox::new(50, 64);
        let mut at = 0;
        while at < 100 {
            await_datagram(&two);
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
        assert_eq!(
            send_datagrams(one.as_fd(), &[Outgoing { to, from: None, bytes: b"x" }]).unwrap(),
            1
        );
        let mut inbox = Inbox::new(1, 8);
        await_datagram(&two);
        assert_eq!(inbox.receive(two.as_fd()).unwrap(), 1);
        assert!(inbox.datagrams().all(|datagram| datagram.at.is_none()));
        let large = vec![0; 70_000];
        assert!(
            send_datagrams(one.as_fd(), &[Outgoing { to, from: None, bytes: &large }]).is_err()
        );
        // No ICMP socket: nothing to filter.
        assert!(only_icmp_type(one.as_fd(), false, 0).is_err());
    }

    #[test]
    fn a_response_leaves_from_the_address_that_was_asked() {
        for (bind, local) in
            [("0.0.0.0:0", "127.0.0.7"), ("[::]:0", "127.0.0.7"), ("[::]:0", "::1")]
        {
            let (Ok(wildcard), local) = (UdpSocket::bind(bind), local.parse::<IpAddr>().unwrap())
            else {
                // A machine without IPv6.
                continue;
            };
            note_destination(wildcard.as_fd(), bind.starts_with('[')).unwrap();
            let port = wildcard.local_addr().unwrap().port();
            let client = UdpSocket::bind((local, 0)).unwrap();
            // A connected socket receives datagrams of this address alone.
            client.connect((local, port)).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            client.send(b"x").unwrap();
            let mut inbox = Inbox::new(1, 8);
            while inbox.receive(wildcard.as_fd()).is_err() {}
            let got = inbox.datagrams().next().unwrap();
            assert_eq!(got.to.map(|to| to.to_canonical()), Some(local), "{bind}");
            let response = Outgoing { to: got.from, from: got.to, bytes: b"y" };
            assert_eq!(send_datagrams(wildcard.as_fd(), &[response]).unwrap(), 1);
            assert_eq!(client.recv(&mut [0; 8]).unwrap(), 1, "{bind}");
        }
    }

    #[test]
    fn lost_datagrams_are_counted() {
        let (one, two) = pair();
        receive_buffer(two.as_fd(), 4_096).unwrap();
        assert_eq!(overflowed(two.as_fd()).unwrap(), 0);
        let to = two.local_addr().unwrap();
        for _ in 0..200 {
            one.send_to(&[0; 1_000], to).unwrap();
        }
        let mut inbox = Inbox::new(BATCH_MAX, 1_000);
        let (mut kept, mut lost) = (0, 0);
        while kept + lost < 200 {
            kept += inbox.receive(two.as_fd()).unwrap_or(0);
            lost = overflowed(two.as_fd()).unwrap() as usize;
        }
        assert!(kept < 200);
        assert_eq!(kept + lost, 200);
        assert!(inbox.receive(two.as_fd()).is_err());
    }
}
