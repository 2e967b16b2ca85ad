//! A socket that clients send to, and its sessions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use mio::net::UdpSocket;
use socket2::{Domain, Socket, Type};
use stdx::datagrams::Outbox;
use stdx::sys::datagrams::{note_destination, overflowed, receive_buffer};

use super::chain::{Chain, List};
use super::session::{Client, Source};
use crate::snapshot::Service;
use crate::udp_settings::{Counts, UdpSettings};

/// Bytes that the system keeps for a thread that is busy.
const RECEIVE_BYTES: usize = 4 << 20;
/// Bytes of responses after which they are sent.
const OUTBOX_BYTES: usize = 256 << 10;

/// Opens a socket for one thread: the system gives all datagrams of one client to the same thread, as long
/// as there are as many sockets. `foreign`: this machine need not have the address.
pub(crate) fn bind(address: SocketAddr, foreign: bool) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM.nonblocking(), None)?;
    socket.set_reuse_port(true)?;
    receive_buffer(socket.as_fd(), RECEIVE_BYTES)?;
    if address.ip().is_unspecified() {
        note_destination(socket.as_fd(), address.is_ipv6())?;
    }
    allow_foreign(&socket, address, foreign)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Lets a socket be bound to an address that this machine may get later.
pub(crate) fn allow_foreign(socket: &Socket, address: SocketAddr, foreign: bool) -> io::Result<()> {
    match address {
        SocketAddr::V4(_) if foreign => socket.set_freebind_v4(true),
        SocketAddr::V6(_) if foreign => socket.set_freebind_v6(true),
        _ => Ok(()),
    }
}

/// The neighbours of all sessions of a thread.
#[derive(Debug, Default)]
pub(super) struct Chains {
    by_use: Chain,
    by_source: Chain,
}

/// A listener of one thread.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: UdpSocket,
    pub(super) service: Arc<Service>,
    pub(super) outbox: Outbox,
    sessions: HashMap<Client, usize>,
    /// From the session that was silent for the longest time.
    by_use: List,
    /// The same of each source.
    sources: HashMap<Source, List>,
    /// What the system has lost, as reported before.
    overflowed: u32,
}

impl Listener {
    pub(super) fn new(socket: UdpSocket, service: Arc<Service>) -> Self {
        Self {
            socket,
            service,
            outbox: Outbox::default(),
            sessions: HashMap::new(),
            by_use: List::default(),
            sources: HashMap::new(),
            overflowed: 0,
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// `None`: the service is none of datagrams, which no listener has.
    pub(super) fn settings(&self) -> Option<&UdpSettings> {
        self.service.udp.as_ref()
    }

    /// The session of a client.
    pub(super) fn session(&self, client: &Client) -> Option<usize> {
        self.sessions.get(client).copied()
    }

    pub(super) fn enter(&mut self, client: &Client, place: usize, chains: &mut Chains) {
        self.service.connections.fetch_add(1, Relaxed);
        self.sessions.insert(*client, place);
        chains.by_use.push(&mut self.by_use, place);
        let list = self.sources.entry(client.source()).or_default();
        chains.by_source.push(list, place);
    }

    pub(super) fn touch(&mut self, client: &Client, place: usize, chains: &mut Chains) {
        chains.by_use.touch(&mut self.by_use, place);
        if let Some(list) = self.sources.get_mut(&client.source()) {
            chains.by_source.touch(list, place);
        }
    }

    pub(super) fn leave(&mut self, client: &Client, place: usize, chains: &mut Chains) {
        self.service.connections.fetch_sub(1, Relaxed);
        self.sessions.remove(client);
        chains.by_use.remove(&mut self.by_use, place);
        if let Entry::Occupied(mut list) = self.sources.entry(client.source()) {
            chains.by_source.remove(list.get_mut(), place);
            if list.get().first().is_none() {
                list.remove();
            }
        }
    }

    /// The session that was silent for the longest time.
    pub(super) fn oldest(&self) -> Option<usize> {
        self.by_use.first()
    }

    /// The session that makes room for another one of this client, if the thread has its share of
    /// sessions: the one that was silent for the longest time, among those of the client first.
    pub(super) fn surplus(&self, client: &Client) -> Option<usize> {
        let UdpSettings { sessions, client_sessions, .. } = self.settings()?;
        let own = self.sources.get(&client.source()).filter(|list| list.len() >= *client_sessions);
        let all = Some(&self.by_use).filter(|list| list.len() >= *sessions);
        own.or(all)?.first()
    }

    /// Places of all sessions.
    pub(super) fn places(&self) -> Vec<usize> {
        self.sessions.values().copied().collect()
    }

    /// Sends a response, together with the next ones.
    pub(super) fn respond(&mut self, client: &Client, datagram: &[u8]) {
        self.outbox.push_from(client.to, client.from, datagram, 0);
        if self.outbox.is_full() || self.outbox.octets() >= OUTBOX_BYTES {
            self.flush();
        }
    }

    /// Sends all responses. What the system has no room for now is dropped: later it is of no use.
    pub(super) fn flush(&mut self) {
        if self.outbox.is_empty() {
            return;
        }
        let mut dropped = 0;
        self.outbox.send(self.socket.as_fd(), |_, _| dropped += 1);
        dropped += self.outbox.clear() as u64;
        self.count(|counts| &counts.dropped, dropped);
    }

    pub(super) fn count(
        &self,
        counter: impl Fn(&Counts) -> &std::sync::atomic::AtomicU64,
        number: u64,
    ) {
        if let Some(settings) = self.settings().filter(|_| number > 0) {
            Counts::add(counter(&settings.counts), number);
        }
    }

    /// Counts what the system has lost, and reports what limits have cost.
    pub(super) fn report(&mut self, now_ms: u64) {
        if let Ok(lost) = overflowed(self.fd()) {
            let new = lost.wrapping_sub(self.overflowed);
            self.overflowed = lost;
            self.count(|counts| &counts.dropped, new.into());
        }
        if let Some(settings) = self.settings() {
            settings.counts.report(&self.service.name, now_ms);
        }
    }
}
