//! Network devices that exist as long as this process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

/// A device of the kind `tun`. The kernel removes it, with its addresses and routes, when it is dropped and when the
/// process ends, also by SIGKILL.
#[derive(Debug)]
pub struct Tun {
    name: String,
    _file: File,
}

impl Tun {
    /// Makes a device; needs `CAP_NET_ADMIN`.
    ///
    /// # Errors
    /// The name is too long or in use, the permission or `/dev/net/tun` is missing.
    pub fn create(name: &str) -> io::Result<Self> {
        Self::open(name, libc::IFF_TUN_EXCL)
    }

    /// Makes a device that several processes may have, or joins those that have it: it exists as long as one of
    /// them. Needs `CAP_NET_ADMIN`.
    ///
    /// # Errors
    /// The name is too long or of another device, the permission or `/dev/net/tun` is missing.
    pub fn share(name: &str) -> io::Result<Self> {
        Self::open(name, libc::IFF_MULTI_QUEUE)
    }

    fn open(name: &str, kind: libc::c_int) -> io::Result<Self> {
        let mut request = libc::ifreq {
            ifr_name: [0; libc::IFNAMSIZ],
            // SAFETY: integers and addresses, for which all bits zero are valid.
            ifr_ifru: unsafe { std::mem::zeroed() },
        };
        if name.is_empty() || name.len() >= libc::IFNAMSIZ {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a name of a device"));
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        let flags = libc::IFF_TUN | libc::IFF_NO_PI | kind;
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        // Closed by programs that this process starts.
        let file = OpenOptions::new().read(true).write(true).open("/dev/net/tun")?;
        // SAFETY: the descriptor is open, and the call reads and writes the request alone.
        if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { name: name.to_owned(), _file: file })
    }

    /// The name, unique in the network of the process; at most 15 bytes.
    pub fn name(&self) -> &str {
        &self.name
    }
}
