//! HTTP/3: connections of QUIC whose streams are requests. Each thread has its own sockets, endpoints and
//! connections; a datagram that reaches another thread than its connection's is handed over.
//!
//! Memory: a client whose address is not validated costs nothing while [`RETRY_ABOVE`] handshakes are in
//! progress, because it must come back with a token. Handshakes are limited to [`HALF_OPEN_MAX`], and to
//! [`HALF_OPEN_OF_CLIENT`] of one client; connections count among those of their service.

mod ids;
mod listener;
mod streams;

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::BytesMut;
use mio::net::UdpSocket;
use proxying::engine_link::analytics::Counter;
use proxying::http3::frame::Code;
use quinn_proto::{ConnectionEvent, ConnectionHandle, DatagramEvent, Incoming};
use stdx::clock::Instants;
use stdx::sys::datagrams::{Inbox, Incoming as Datagram};

use crate::carrier::Carrier;
use crate::core::{Core, Who};
use crate::mailbox::{Mailbox, Stray};
use crate::mux::{Mux, Owner};
use crate::origin::Origin;
use crate::phase::Left;
use crate::quic_link::{Link, Moment};
use crate::snapshot::{Service, Snapshot};
pub(crate) use ids::Ids;
use listener::Listener;

/// Longest datagram that is understood.
const DATAGRAM_MAX: usize = 2048;
/// Datagrams that are received at once.
const BATCH: usize = 64;
/// Batches of one socket before others are looked at.
const ROUNDS: usize = 8;
/// Datagrams that are written at once for a connection.
const SEGMENTS: usize = 10;
/// Handshakes of a thread beyond which clients must show that they receive what is sent to them.
const RETRY_ABOVE: u32 = 64;
/// Handshakes of a thread at once.
const HALF_OPEN_MAX: u32 = 4096;
/// Those of one IPv4 address or IPv6 network of 64 bits.
const HALF_OPEN_OF_CLIENT: u32 = 256;
/// Datagrams for another thread that wait for it.
const STRAYS_MAX: usize = 1024;

/// The threads of an engine.
#[derive(Debug, Clone)]
pub(crate) struct Threads {
    pub(crate) ids: Ids,
    pub(crate) mailboxes: Arc<[Arc<Mailbox>]>,
    /// The number of this one.
    pub(crate) own: usize,
}

/// HTTP/3 of a thread.
pub(crate) struct Quic {
    threads: Threads,
    instants: Instants,
    listeners: Vec<Option<Listener>>,
    /// There is none without a listener.
    inbox: Option<Inbox>,
    /// When connections run without an event, in monotonic microseconds.
    timers: BTreeSet<(u64, usize)>,
    /// Listeners that may have more to receive.
    again: Vec<usize>,
    /// What streams have received.
    scratch: Vec<u8>,
}

impl Quic {
    pub(crate) fn new(threads: Threads, instants: Instants) -> Self {
        Self {
            threads,
            instants,
            listeners: Vec::new(),
            inbox: None,
            timers: BTreeSet::new(),
            again: Vec::new(),
            scratch: Vec::new(),
        }
    }

    fn now(&self, core: &Core) -> Moment {
        let us = core.now_us;
        Moment { us, instant: self.instants.at(Duration::from_micros(us)) }
    }

    /// Receives datagrams.
    pub(crate) fn receive(&mut self, number: usize, core: &mut Core) {
        let Some(mut inbox) = self.inbox.take() else { return };
        for round in 0.. {
            let Some(Some(listener)) = self.listeners.get(number) else { break };
            if round == ROUNDS {
                self.later(number);
                break;
            }
            match inbox.receive(listener.fd()) {
                Ok(count) => {
                    for datagram in inbox.datagrams().filter(|datagram| !datagram.cut) {
                        self.sort(number, datagram, core);
                    }
                    // A batch that is not full has emptied the socket.
                    if count < BATCH {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {}
            }
        }
        self.inbox = Some(inbox);
    }

    /// Lets a busy socket be read again, once, however often it is called until then.
    fn later(&mut self, number: usize) {
        if !self.again.contains(&number) {
            self.again.push(number);
        }
    }

    /// Handles a datagram, or gives it to its thread.
    fn sort(&mut self, number: usize, datagram: Datagram<'_>, core: &mut Core) {
        let Datagram { from, to, bytes, .. } = datagram;
        let owner = self.threads.ids.owner(bytes).filter(|owner| *owner != self.threads.own);
        let Some(mailbox) = owner.and_then(|owner| self.threads.mailboxes.get(owner)) else {
            return self.handle(number, datagram, core);
        };
        let Some(Some(listener)) = self.listeners.get(number) else { return };
        let stray = Stray { listener: listener.service.listen, from, to, bytes: bytes.to_vec() };
        let mut strays = stdx::sync::lock(&mailbox.strays);
        if strays.len() < STRAYS_MAX {
            strays.push(stray);
            if strays.len() == 1
                && let Err(error) = mailbox.waker.wake()
            {
                tracing::error!("a thread learns of a datagram late: {error}");
            }
        }
    }

    /// Handles what other threads have received.
    pub(crate) fn strays(&mut self, strays: Vec<Stray>, core: &mut Core) {
        for Stray { listener, from, to, bytes } in strays {
            let same = |one: &Option<Listener>| {
                one.as_ref().is_some_and(|one| one.service.listen == listener)
            };
            if let Some(number) = self.listeners.iter().position(same) {
                let datagram = Datagram { from, to, bytes: &bytes, cut: false, at: None };
                self.handle(number, datagram, core);
            }
        }
    }

    fn handle(
        &mut self,
        number: usize,
        Datagram { from, to, bytes, .. }: Datagram<'_>,
        core: &mut Core,
    ) {
        let now = self.now(core);
        let Some(Some(listener)) = self.listeners.get_mut(number) else { return };
        let mut response = Vec::new();
        let bytes = BytesMut::from(bytes);
        match listener.endpoint.handle(now.instant, from, to, None, bytes, &mut response) {
            None => {}
            Some(DatagramEvent::Response(transmit)) => listener.send(&transmit, &response),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                self.event(number, handle, event, from.ip(), core);
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(number, incoming, core),
        }
    }

    fn event(
        &mut self,
        number: usize,
        handle: ConnectionHandle,
        event: ConnectionEvent,
        from: IpAddr,
        core: &mut Core,
    ) {
        let Some(Some(listener)) = self.listeners.get(number) else { return };
        let Some(place) = listener.places.get(&handle.0).copied() else { return };
        if let Some(link) = link(core, place) {
            // A client cannot move to where it could not have begun.
            if from != link.client() && !listener.service.admits(from) {
                return;
            }
            link.quic.handle_event(event);
            core.hub.wake(place);
        }
    }

    /// A client begins a connection.
    fn accept(&mut self, number: usize, incoming: Incoming, core: &mut Core) {
        let now = self.now(core);
        let Some(Some(listener)) = self.listeners.get_mut(number) else { return };
        let service = Arc::clone(&listener.service);
        let source = incoming.remote_address();
        let mut response = Vec::new();
        let full = service.connections.load(Relaxed) >= service.connections_max
            || listener.half_open >= HALF_OPEN_MAX
            || listener.handshakes_of(source.ip()) >= HALF_OPEN_OF_CLIENT;
        if full || !service.admits(source.ip()) {
            core.count(&service.tally, Counter::Rejected);
            return listener.endpoint.ignore(incoming);
        }
        if !listener.open {
            let transmit = listener.endpoint.refuse(incoming, &mut response);
            return listener.send(&transmit, &response);
        }
        if listener.half_open >= RETRY_ABOVE && incoming.may_retry() {
            if let Ok(transmit) = listener.endpoint.retry(incoming, &mut response) {
                listener.send(&transmit, &response);
            }
            return;
        }
        let local = incoming.local_ip().unwrap_or(service.listen.ip());
        let (handle, quic) =
            match listener.endpoint.accept(incoming, now.instant, &mut response, None) {
                Ok(accepted) => accepted,
                Err(error) => {
                    if let Some(transmit) = error.response {
                        listener.send(&transmit, &response);
                    }
                    return;
                }
            };
        core.count(&service.tally, Counter::Connections);
        service.connections.fetch_add(1, Relaxed);
        listener.shake(source.ip());
        let origin = Origin {
            listener: listener.number,
            destination: SocketAddr::new(local, service.listen.port()),
            service,
            source,
            client_name: None,
            sni: None,
        };
        let (place, _) = core.hub.muxes.reserve();
        listener.places.insert(handle.0, place);
        let link = Link::new(quic, handle, number, origin, now.us / 1000);
        core.hub.muxes.put(place, Mux::new(Carrier::Http3(Box::new(link)), Owner::Quic));
        core.hub.wake(place);
    }

    /// Does what was left for later: the rest of busy sockets, and what time has made due.
    pub(crate) fn run(&mut self, core: &mut Core) {
        for number in std::mem::take(&mut self.again) {
            self.receive(number, core);
        }
        let now = self.now(core);
        while let Some((due_us, place)) = self.timers.first().copied()
            && due_us <= now.us
        {
            self.timers.pop_first();
            if let Some(link) = link(core, place) {
                link.due_us = None;
                link.quic.handle_timeout(now.instant);
                core.hub.wake(place);
            }
        }
    }

    /// Lets connections run that were woken, and sends their datagrams.
    pub(crate) fn run_again(&mut self, core: &mut Core) {
        for place in std::mem::take(&mut core.hub.quic_again) {
            self.drive(place, core);
        }
        // Also what belongs to no connection.
        self.listeners.iter_mut().flatten().for_each(Listener::flush);
    }

    /// Milliseconds until something is due; `None`: nothing is.
    pub(crate) fn wait_ms(&self, now_us: u64) -> Option<u64> {
        if !self.again.is_empty() {
            return Some(0);
        }
        let (due_us, _) = self.timers.first()?;
        Some(due_us.saturating_sub(now_us).div_ceil(1000))
    }

    /// Whether a socket would be one of HTTP/3.
    pub(crate) fn is_own(snapshot: &Snapshot, socket: &std::net::UdpSocket) -> bool {
        socket.local_addr().is_ok_and(|address| service_at(snapshot, address).is_some())
    }

    /// Takes over the newest configuration. A listener that is not in it ends with its last connection.
    pub(crate) fn reconfigure(
        &mut self,
        sockets: Vec<std::net::UdpSocket>,
        snapshot: &Snapshot,
        core: &mut Core,
    ) {
        let number_of = |core: &Core, service: &Service| {
            let same = |one: &Option<Arc<Service>>| {
                one.as_ref().is_some_and(|one| one.listen == service.listen)
            };
            core.services.iter().position(same)
        };
        for listener in self.listeners.iter_mut().flatten() {
            match service_at(snapshot, listener.service.listen) {
                Some(service) => {
                    if let Some(number) = number_of(core, service) {
                        listener.serve(service, number);
                    }
                }
                None => listener.open = false,
            }
        }
        for socket in sockets {
            let mut socket = UdpSocket::from_std(socket);
            let address = socket.local_addr().ok();
            let Some(service) = address.and_then(|address| service_at(snapshot, address)) else {
                continue;
            };
            // The socket of a listener that was about to end goes on.
            let mut known = self.listeners.iter().flatten();
            if known.any(|listener| listener.service.listen == service.listen) {
                continue;
            }
            let Some(number) = number_of(core, service) else { continue };
            let free = self.listeners.iter().position(Option::is_none);
            let place = free.unwrap_or(self.listeners.len());
            if let Err(error) = core.watch_datagrams(&mut socket, Who::Quic(place)) {
                tracing::error!("a listener cannot be watched: {error}");
                continue;
            }
            let Threads { ids, own, .. } = &self.threads;
            let mut listener = Listener::new(socket, Arc::clone(service), number, ids, *own);
            listener.serve(service, number);
            self.listeners.resize_with(self.listeners.len().max(place + 1), || None);
            self.listeners[place] = Some(listener);
            self.inbox.get_or_insert_with(|| Inbox::new(BATCH, DATAGRAM_MAX));
        }
        self.forget_ended();
    }

    /// Forgets listeners that are not configured and have no connections.
    fn forget_ended(&mut self) {
        for listener in &mut self.listeners {
            if listener.as_ref().is_some_and(|one| !one.open && one.places.is_empty()) {
                *listener = None;
            }
        }
    }

    /// Connections, and requests in progress.
    pub(crate) fn left(core: &mut Core) -> Left {
        let mut left = Left::default();
        for place in core.hub.muxes.places() {
            if let Some(link) = link(core, place) {
                left.connections += 1;
                left.requests += link.requests();
            }
        }
        left
    }

    /// Begins no connection any more. The system has no other socket for these clients as long as this one is open: they
    /// learn at once that they have to come by TCP.
    pub(crate) fn refuse_new(&mut self) {
        self.listeners.iter_mut().flatten().for_each(|listener| listener.open = false);
    }

    /// Says goodbye to all clients.
    pub(crate) fn close(&mut self, core: &mut Core) {
        for place in core.hub.muxes.places() {
            if let Some(link) = link(core, place) {
                link.frames.close(Code::NoError);
                self.drive(place, core);
            }
        }
        self.listeners.iter_mut().flatten().for_each(Listener::flush);
    }
}

fn service_at(snapshot: &Snapshot, address: SocketAddr) -> Option<&Arc<Service>> {
    snapshot.services.iter().find(|service| service.quic.is_some() && service.listen == address)
}

fn link(core: &mut Core, place: usize) -> Option<&mut Link> {
    core.hub.muxes.get_mut(place)?.connection.link()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_socket_is_read_again_once() {
        let threads = Threads { ids: Ids::new(1), mailboxes: Arc::new([]), own: 0 };
        let mut quic = Quic::new(threads, Instants::new());
        for number in [3, 4, 3, 3] {
            quic.later(number);
        }
        assert_eq!(quic.again, [3, 4]);
    }
}
