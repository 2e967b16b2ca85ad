//! A socket of one thread that clients of HTTP/3 send to.

use std::collections::HashMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use mio::net::UdpSocket;
use quinn_proto::{Endpoint, EndpointConfig, Transmit};
use stdx::datagrams::Outbox;

use super::ids::Ids;
use crate::snapshot::Service;

/// Bytes of datagrams after which they are sent.
const OUTBOX_BYTES: usize = 256 << 10;

/// A socket with its endpoint. It outlives its place in the configuration until its last connection has ended.
pub(super) struct Listener {
    socket: UdpSocket,
    pub(super) endpoint: Endpoint,
    /// That of the newest configuration which has HTTP/3 here.
    pub(super) service: Arc<Service>,
    /// Number of the listener of connections at the same address.
    pub(super) number: usize,
    /// The configuration has it; otherwise it ends with its last connection.
    pub(super) open: bool,
    outbox: Outbox,
    /// Places of connections by their handle.
    pub(super) places: HashMap<usize, usize>,
    /// Handshakes in progress, by the client's address.
    handshakes: HashMap<IpAddr, u32>,
    pub(super) half_open: u32,
}

/// The network of an address that is counted as one client.
pub(super) fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}

impl Listener {
    pub(super) fn new(
        socket: UdpSocket,
        service: Arc<Service>,
        number: usize,
        ids: &Ids,
        thread: usize,
    ) -> Self {
        let ids = ids.clone();
        let mut config = EndpointConfig::default();
        config.cid_generator(move || Box::new(ids.of_thread(thread)));
        Self {
            socket,
            endpoint: Endpoint::new(Arc::new(config), None, false, None),
            service,
            number,
            open: true,
            outbox: Outbox::default(),
            places: HashMap::new(),
            handshakes: HashMap::new(),
            half_open: 0,
        }
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Connections that begin from now on have this service.
    pub(super) fn serve(&mut self, service: &Arc<Service>, number: usize) {
        (self.service, self.number, self.open) = (Arc::clone(service), number, true);
        self.endpoint.set_server_config(service.quic.clone());
    }

    /// Counts a handshake that begins.
    pub(super) fn shake(&mut self, client: IpAddr) {
        self.half_open += 1;
        *self.handshakes.entry(source(client)).or_default() += 1;
    }

    /// Counts a handshake that has ended.
    pub(super) fn shaken(&mut self, client: IpAddr) {
        self.half_open = self.half_open.saturating_sub(1);
        if let Some(count) = self.handshakes.get_mut(&source(client)) {
            *count -= 1;
            if *count == 0 {
                self.handshakes.remove(&source(client));
            }
        }
    }

    /// Handshakes in progress of a client.
    pub(super) fn handshakes_of(&self, client: IpAddr) -> u32 {
        self.handshakes.get(&source(client)).copied().unwrap_or(0)
    }

    /// Sends what the transport has written, together with the next ones.
    pub(super) fn send(&mut self, transmit: &Transmit, bytes: &[u8]) {
        let each = transmit.segment_size.unwrap_or(transmit.size).max(1);
        for datagram in bytes[..transmit.size].chunks(each) {
            self.outbox.push_from(transmit.src_ip, transmit.destination, datagram, 0);
        }
        if self.outbox.is_full() || self.outbox.octets() >= OUTBOX_BYTES {
            self.flush();
        }
    }

    /// Sends all datagrams. What the system has no room for is dropped: QUIC notices, and sends more slowly.
    pub(super) fn flush(&mut self) {
        if !self.outbox.is_empty() {
            self.outbox
                .send(self.socket.as_fd(), |_, error| tracing::debug!("a datagram: {error}"));
            self.outbox.clear();
        }
    }
}
