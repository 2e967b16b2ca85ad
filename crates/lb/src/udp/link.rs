//! The way of a session to its server.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use mio::net::UdpSocket;
use socket2::{Domain, Socket, Type};

use crate::config::{RetryOn, State};
use crate::core::{Core, Who};
use crate::pool::group::Target;
use crate::pool::{Choice, Pool, Server, ServerState, Wish};

/// A place at a server, taken by a choice, until this is dropped.
#[derive(Debug)]
struct Taken(Arc<ServerState>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// A socket that is connected to a server: the system gives it only what that server sends, and its ICMP
/// errors.
#[derive(Debug)]
pub(super) struct Link {
    socket: UdpSocket,
    pub(super) pool: Arc<Pool>,
    /// Number of the server in the pool.
    pub(super) server: u16,
    taken: Taken,
    /// The newest configuration does not have the server.
    removed: bool,
}

/// Why there is no link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No server can be used, or none has a free place.
    NoServer,
    /// The system has no port or file descriptor left.
    NoSocket,
}

impl Link {
    /// Chooses a server and opens a socket for the session at a place. Servers that cannot be reached are
    /// added to those that were tried.
    pub(super) fn open(
        pool: &Arc<Pool>,
        wish: &mut Wish,
        core: &mut Core,
        place: usize,
    ) -> Result<Self, Refusal> {
        loop {
            let random = core.random();
            let Choice::Server(server) = pool.choose(wish, random, core.now_ms()) else {
                return Err(Refusal::NoServer);
            };
            let chosen = pool.server(server);
            let taken = Taken(Arc::clone(&chosen.shared));
            match connect(chosen.address, core, place) {
                Ok(socket) => {
                    let pool = Arc::clone(pool);
                    return Ok(Self { socket, pool, server, taken, removed: false });
                }
                Err(error) if stdx::sys::is_exhausted(&error) => return Err(Refusal::NoSocket),
                Err(_) => {
                    if !may_try_another(pool, server, wish, core) {
                        return Err(Refusal::NoServer);
                    }
                }
            }
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn send(&self, datagram: &[u8]) -> io::Result<()> {
        self.socket.send(datagram).map(drop)
    }

    pub(super) fn server(&self) -> &Server {
        self.pool.server(self.server)
    }

    /// Whether the server may get more of a session that it has.
    pub(super) fn is_usable(&self, now_ms: u64) -> bool {
        !self.removed && self.pool.keeps(self.server, now_ms)
    }

    /// Whether an administrator has excluded the server: none at all is better than it.
    pub(super) fn is_excluded(&self) -> bool {
        self.removed || self.server().admin == State::Down
    }

    /// The number of the server in this pool, unless it has been removed.
    pub(super) fn number(&self) -> Option<u16> {
        (!self.removed).then_some(self.server)
    }

    /// Finds the server in the pools of another configuration.
    pub(super) fn relink(&mut self, target: &Target) {
        let same = |server: &Server| Arc::ptr_eq(&server.shared, &self.taken.0);
        let found = target.pools().find_map(|pool| {
            let at = pool.servers.iter().position(same)?;
            Some((Arc::clone(pool), u16::try_from(at).ok()?))
        });
        match found {
            Some((pool, server)) => {
                self.pool = pool;
                self.server = server;
                self.removed = false;
            }
            None => self.removed = true,
        }
    }
}

/// Counts the failure of a server; whether another one may be tried.
pub(super) fn may_try_another(pool: &Pool, server: u16, wish: &mut Wish, core: &Core) -> bool {
    pool.failed(server, core.now_ms());
    let repeated = u8::try_from(wish.tried.len()).unwrap_or(u8::MAX);
    wish.tried.push(server);
    pool.may_repeat(RetryOn::Connect, repeated)
}

/// Whether an error of a connected socket is that of its server: an ICMP error, or no route.
pub(super) fn is_unreachable(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

fn connect(server: SocketAddr, core: &Core, place: usize) -> io::Result<UdpSocket> {
    let kind = Type::DGRAM.nonblocking();
    let socket = Socket::new(Domain::for_address(server), kind, None)?;
    socket.connect(&server.into())?;
    let mut socket = UdpSocket::from_std(socket.into());
    core.watch_datagrams(&mut socket, Who::Flow(place))?;
    Ok(socket)
}
