//! System calls that the standard library does not offer: the only `unsafe` of the product.
#![allow(unsafe_code, reason = "this module exists to hold it")]

pub mod confine;
pub mod datagrams;
pub mod gssapi;
pub mod tun;

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;

/// Raises the limit of open files to the hard limit; returns the limit in force.
/// A server with 60,000 checks in flight needs as many sockets, and 1,024 is the usual default.
pub fn raise_open_files_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid, exclusively owned rlimit.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: as above; the call only reads it.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(limit.rlim_cur)
}

/// Whether an error says that this machine has no descriptor, port or memory left for a socket; the peer is
/// not at fault.
pub fn is_exhausted(error: &io::Error) -> bool {
    const NOTHING_LEFT: [i32; 7] = [
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOBUFS,
        libc::ENOMEM,
        // connect(2): no local port is free.
        libc::EAGAIN,
        libc::EADDRNOTAVAIL,
        // epoll_ctl(2): the limit of watches.
        libc::ENOSPC,
    ];
    error.raw_os_error().is_some_and(|number| NOTHING_LEFT.contains(&number))
}

/// Sets the umask of this process: files and folders that it creates have none of these permission
/// bits, and neither have those of programs that it starts. Call it before the first thread starts.
pub fn set_umask(bits: u32) {
    // SAFETY: the call takes a number, changes an attribute of the process and cannot fail.
    unsafe { libc::umask(bits & 0o777) };
}

/// Lowers the priority of the calling thread: it runs when others leave CPU time (nice(2), which on
/// Linux concerns a thread). `nice` is from 0, normal, to 19, lowest.
pub fn lower_thread_priority(nice: u8) -> io::Result<()> {
    let nice = libc::c_int::from(nice.min(19));
    // SAFETY: the calls take numbers only; the thread id is that of the caller.
    let failed = unsafe {
        let thread = libc::syscall(libc::SYS_gettid);
        let thread = libc::id_t::try_from(thread).unwrap_or(0);
        libc::setpriority(libc::PRIO_PROCESS, thread, nice) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Runs `body` on a thread that has a table of open files for itself, empty but for standard input,
/// output and error: the limit of open files then counts for that thread alone, and threads do not
/// meet at the table's lock.
///
/// A descriptor means nothing on the other side of such a thread: `body` may use only what it
/// opens itself, and nobody else may use that. A runtime of elsewhere must not be woken from here
/// either, as it is woken through a descriptor.
pub fn spawn_with_own_files(
    name: String,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<std::thread::JoinHandle<()>> {
    const FIRST: libc::c_uint = 3;
    let watched = name.clone();
    std::thread::Builder::new().name(name).spawn(move || {
        // SAFETY: the thread leaves the shared table first and closes only in its own copy, where
        // nothing is in use: the thread has opened nothing yet, and others keep theirs.
        let result = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                FIRST,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_UNSHARE,
            )
        };
        // Linux before 5.9: the table stays shared, and so does its limit.
        let _shared = result != 0;
        crate::thread::watch(&watched, body);
    })
}

/// Kills a process and what it started: all of its process group.
pub fn kill_group(leader: u32) {
    let Ok(leader) = libc::pid_t::try_from(leader) else { return };
    // SAFETY: takes numbers only. A group that is gone is an error that changes nothing.
    let _gone = unsafe { libc::kill(-leader, libc::SIGKILL) };
}

/// Waits until a child process has ended and leaves it to be reaped: until then, no other process and no other
/// group has its number.
pub fn wait_for_end(child: u32) -> io::Result<()> {
    loop {
        // SAFETY: all bits zero are a valid `siginfo_t`, and the call writes to nothing else.
        let failed = unsafe {
            let mut about: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child, &raw mut about, libc::WEXITED | libc::WNOWAIT) != 0
        };
        match failed.then(io::Error::last_os_error) {
            Some(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Some(error) => return Err(error),
            None => return Ok(()),
        }
    }
}

/// Lets a task wait until `descriptor` is ready.
pub fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open until it is dropped, and `AsyncFd` owns it until then.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, tokio::io::Interest::READABLE)? })
}

/// Makes a listening socket hand out connections only once their first bytes are there, or
/// `seconds` have passed (tcp(7), `TCP_DEFER_ACCEPT`): reading then needs no waiting. 0: at once.
pub fn defer_accept(listener: &impl std::os::fd::AsRawFd, seconds: u8) -> io::Result<()> {
    let seconds = libc::c_int::from(seconds);
    // SAFETY: the descriptor is open as long as `listener` is borrowed; the value is a c_int, and
    // its size is told.
    let result = unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends the last bytes of a connection and its end in one segment, so that the peer is woken once
/// instead of twice. Returns the number of bytes that the socket accepted without blocking. If that is
/// less than all, the connection has not ended. The peer receives the bytes even if some of its own
/// were not read.
pub fn send_last(stream: &std::net::TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_MORE | libc::MSG_NOSIGNAL;
    let sent = socket2::SockRef::from(stream).send_with_flags(bytes, flags)?;
    if sent == bytes.len() {
        // Not close(2): with unread bytes it would reset the connection before the bytes are sent.
        stream.shutdown(std::net::Shutdown::Write)?;
    }
    Ok(sent)
}

/// Whether the system may back this process's memory with huge pages. They make reading faster
/// where much is in use, and waste what lies between objects where little is.
pub fn huge_pages(allowed: bool) -> io::Result<()> {
    // SAFETY: the call changes a flag of this process and takes no pointers.
    let result =
        unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, libc::c_ulong::from(!allowed), 0, 0, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Asks the system to back a vector with huge pages, where it leaves the choice to programs. It is a wish:
/// nothing depends on whether it is granted.
pub fn prefer_huge_pages<T>(vector: &Vec<T>) {
    const HUGE: usize = 2 << 20;
    let start = vector.as_ptr().addr();
    let end = start.saturating_add(vector.capacity().saturating_mul(size_of::<T>()));
    // What shares a page with other memory is left alone.
    let (first, last) = (start.next_multiple_of(HUGE), end / HUGE * HUGE);
    if first < last {
        let pages = vector.as_ptr().with_addr(first).cast_mut().cast();
        // SAFETY: the range is inside the vector's allocation; the advice changes no content.
        unsafe { libc::madvise(pages, last - first, libc::MADV_HUGEPAGE) };
    }
}

/// Starts to bring the first 64 bytes of a value into the processor's caches and does not wait for them.
#[inline]
pub fn prefetch<T>(value: &T) {
    /// Bytes of a line of the caches.
    const LINE: usize = 64;
    let first = std::ptr::from_ref(value).cast::<i8>();
    for address in [first, first.wrapping_add(size_of::<T>().clamp(1, LINE) - 1)] {
        // SAFETY: a prefetch of any address reads nothing that the program sees, and does not fault.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address);
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly));
        }
        // Elsewhere nothing is brought, which costs only time.
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = address;
    }
}

/// Gives memory that was freed back to the system at once, where mimalloc allocates: by itself it
/// does so when it is next asked for memory, which in an idle server may be never.
pub fn give_memory_back() {
    // SAFETY: may be called at any time from any thread; it takes and returns nothing.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

/// CPU time that this process has used so far, user and system together.
pub fn cpu_time() -> std::time::Duration {
    let mut spec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `spec` is a valid, exclusively owned timespec.
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut spec) } != 0 {
        return std::time::Duration::ZERO;
    }
    std::time::Duration::new(
        u64::try_from(spec.tv_sec).unwrap_or(0),
        u32::try_from(spec.tv_nsec).unwrap_or(0),
    )
}

/// CPU time that the calling thread has used so far.
pub fn thread_cpu_time() -> std::time::Duration {
    let mut spec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `spec` is a valid, exclusively owned timespec.
    if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut spec) } != 0 {
        return std::time::Duration::ZERO;
    }
    std::time::Duration::new(
        u64::try_from(spec.tv_sec).unwrap_or(0),
        u32::try_from(spec.tv_nsec).unwrap_or(0),
    )
}

/// Numbers of the cores that the calling thread may run on, in order (sched_getaffinity(2)).
pub fn cores_allowed() -> io::Result<Vec<usize>> {
    // SAFETY: a set of cores is an array of integers, for which zeros are valid: the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is exclusively owned and its size is passed; 0 is the calling thread.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let cores = 0..usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    // SAFETY: each number is below the size of the set.
    Ok(cores.filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect())
}

/// Keeps the calling thread on one core, and with it the threads and processes that it starts from
/// now on (sched_setaffinity(2)). A core that the thread may not use is an error.
pub fn pin_thread(core: usize) -> io::Result<()> {
    if core >= usize::try_from(libc::CPU_SETSIZE).unwrap_or(0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no such core"));
    }
    // SAFETY: as above: all zeros are the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number is below the size of the set.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the call only reads the set, whose size is passed; 0 is the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Free and total bytes, and free and total inodes of the file system that holds `path`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FsSpace {
    /// Bytes in all.
    pub total: u64,
    /// Bytes free for an ordinary user.
    pub available: u64,
    /// Bytes free, with those reserved for root.
    pub free: u64,
    /// Inodes in all.
    pub inodes_total: u64,
    /// Inodes free, with those reserved for root.
    pub inodes_free: u64,
    /// Inodes free for an ordinary user.
    pub inodes_available: u64,
}

/// Asks the file system that holds `path` for its space (statvfs(3)).
pub fn fs_space(path: &std::path::Path) -> io::Result<FsSpace> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "path contains a NUL byte"))?;
    let mut stat = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path is NUL-terminated, the buffer is as large as the call expects.
    if unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so it filled the buffer.
    let stat = unsafe { stat.assume_init() };
    Ok(FsSpace {
        total: stat.f_blocks * stat.f_frsize,
        available: stat.f_bavail * stat.f_frsize,
        free: stat.f_bfree * stat.f_frsize,
        inodes_total: stat.f_files,
        inodes_free: stat.f_ffree,
        inodes_available: stat.f_favail,
    })
}

/// The name of an address by the system's resolver; `None` where it has none. Blocks as long as
/// the resolver takes.
pub fn name_of(ip: std::net::IpAddr) -> Option<String> {
    let address = socket2::SockAddr::from(std::net::SocketAddr::new(ip, 0));
    let mut name = [0_u8; 1025];
    // SAFETY: the address is a valid one of the length that it tells, the buffer is exclusively
    // owned and as long as told; a service is not asked for.
    let failed = unsafe {
        libc::getnameinfo(
            address.as_ptr().cast(),
            address.len(),
            name.as_mut_ptr().cast(),
            name.len() as libc::socklen_t,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    if failed != 0 {
        return None;
    }
    let end = name.iter().position(|byte| *byte == 0)?;
    String::from_utf8(name.get(..end)?.to_vec()).ok()
}

/// What the kernel knows of a TCP connection (tcp(7), `TCP_INFO`).
fn tcp_info(socket: &impl std::os::fd::AsRawFd) -> io::Result<libc::tcp_info> {
    let mut info = std::mem::MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is open while `socket` is borrowed; the buffer is exclusively owned and as
    // long as `length` says.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all bytes were initialised above, and any are a valid value of this struct.
    Ok(unsafe { info.assume_init() })
}

/// The kernel's smoothed estimate of the round trip to the peer of a TCP connection, in microseconds.
pub fn tcp_round_trip_us(socket: &impl std::os::fd::AsRawFd) -> io::Result<u32> {
    tcp_info(socket).map(|info| info.tcpi_rtt)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    /// Segments that a connection has received so far.
    fn segments(stream: &TcpStream) -> u32 {
        tcp_info(stream).unwrap().tcpi_segs_in
    }

    #[test]
    fn a_pinned_thread_has_one_core() {
        let all = cores_allowed().unwrap();
        let last = *all.last().unwrap();
        let pinned = std::thread::spawn(move || pin_thread(last).and_then(|()| cores_allowed()));
        assert_eq!(pinned.join().unwrap().unwrap(), [last]);
        assert_eq!(cores_allowed().unwrap(), all);
        assert!(pin_thread(usize::MAX).is_err());
    }

    #[test]
    fn a_round_trip_on_loopback_is_short() {
        let round_trip_us = || {
            let (mut client, mut server) = connected();
            client.write_all(b"?").unwrap();
            server.read_exact(&mut [0]).unwrap();
            tcp_round_trip_us(&client).unwrap()
        };
        // A machine that stands still for a moment delays one of them.
        assert!((0..5).any(|_| round_trip_us() < 1_000_000));
    }

    #[test]
    fn the_last_bytes_and_the_end_are_one_segment() {
        let segments_of_an_answer = || {
            let (mut client, server) = connected();
            let before = segments(&client);
            assert_eq!(send_last(&server, b"answer").unwrap(), 6);
            drop(server);
            let mut bytes = Vec::new();
            client.read_to_end(&mut bytes).unwrap();
            assert_eq!(&bytes[..], b"answer");
            segments(&client) - before
        };
        // The system sends the bytes alone if this thread stands still for 200 ms between its two calls.
        assert_eq!((0..5).map(|_| segments_of_an_answer()).min(), Some(1));
    }

    #[test]
    fn bytes_that_were_not_read_do_not_destroy_the_last_ones() {
        let (mut client, server) = connected();
        client.write_all(b"request and more").unwrap();
        // They are there before the connection is closed.
        server.peek(&mut [0; 16]).unwrap();
        assert_eq!(send_last(&server, b"answer").unwrap(), 6);
        drop(server);
        let mut bytes = [0; 16];
        assert_eq!(client.read(&mut bytes).unwrap(), 6);
    }
}
