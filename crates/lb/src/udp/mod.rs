//! UDP services: the datagrams of a client's port are a session, which has a server and a socket that is
//! connected to it, so that responses and ICMP errors find their session.
//!
//! Each thread has its own sockets and sessions. Memory is bounded by the limits of sessions: beyond them
//! the session that was silent for the longest time makes room, among those of the same client first.

mod chain;
mod link;
mod listener;
mod session;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use mio::net::UdpSocket;
use proxying::engine_link::analytics::Counter;
use stdx::sys::datagrams::{Inbox, Incoming};
use transactions::End;

use crate::client::Known;
use crate::config::Kind;
use crate::core::{Core, Who};
use crate::pool::Wish;
use crate::slab::Slab;
use crate::snapshot::{Service, Snapshot};
use crate::udp_settings::Counts;
use link::{Link, Refusal, is_unreachable, may_try_another};
use listener::{Chains, Listener};
pub(crate) use listener::{allow_foreign, bind};
use session::{Client, Course, Ending, Session};

/// Longest datagram.
const DATAGRAM_MAX: usize = 65_535;
/// Datagrams that are received at once from clients, and from a server of one session.
const BATCHES: (usize, usize) = (32, 8);
/// Batches of one socket before others are looked at.
const ROUNDS: usize = 8;

/// Where datagrams are received.
struct Inboxes {
    requests: Inbox,
    responses: Inbox,
}

/// The UDP services of a thread.
#[derive(Default)]
pub(crate) struct Udp {
    listeners: Vec<Option<Listener>>,
    sessions: Slab<Session>,
    chains: Chains,
    /// There are none without a listener.
    inboxes: Option<Inboxes>,
    /// Sockets that may have more to receive.
    again: Vec<Who>,
}

impl Udp {
    /// Receives datagrams of clients.
    pub(crate) fn requests(&mut self, number: usize, core: &mut Core) {
        let Some(mut inboxes) = self.inboxes.take() else { return };
        let mut rounds = 0;
        while let Some(Some(listener)) = self.listeners.get(number) {
            if rounds == ROUNDS {
                self.again.push(Who::Datagrams(number));
                break;
            }
            rounds += 1;
            match inboxes.requests.receive(listener.fd()) {
                Ok(count) => {
                    for datagram in inboxes.requests.datagrams() {
                        self.request(number, datagram, core);
                    }
                    // A batch that is not full has emptied the socket.
                    if count < BATCHES.0 {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {}
            }
        }
        self.inboxes = Some(inboxes);
    }

    /// Receives responses to the session at this place, and errors of its server.
    pub(crate) fn responses(&mut self, place: usize, has_error: bool, core: &mut Core) {
        let Some(mut inboxes) = self.inboxes.take() else { return };
        self.receive_responses(place, has_error, &mut inboxes.responses, core);
        self.inboxes = Some(inboxes);
    }

    /// Does what was left for later: the rest of busy sockets, sessions that end by time, sending.
    pub(crate) fn run(&mut self, core: &mut Core) {
        for who in std::mem::take(&mut self.again) {
            match who {
                Who::Datagrams(number) => self.requests(number, core),
                Who::Flow(place) => self.responses(place, true, core),
                _ => {}
            }
        }
        self.expire(core);
        self.listeners.iter_mut().flatten().for_each(Listener::flush);
    }

    /// Milliseconds until something is due; `None`: nothing is.
    pub(crate) fn wait_ms(&self, now_us: u64) -> Option<u64> {
        if !self.again.is_empty() {
            return Some(0);
        }
        let due =
            self.listeners.iter().flatten().filter_map(|listener| self.due_us(listener)).min();
        due.map(|due_us| due_us.saturating_sub(now_us).div_ceil(1000))
    }

    /// Called every second.
    pub(crate) fn each_second(&mut self, now_ms: u64) {
        self.listeners.iter_mut().flatten().for_each(|listener| listener.report(now_ms));
    }

    /// Takes over the newest configuration: sessions of services that still exist stay.
    pub(crate) fn reconfigure(
        &mut self,
        sockets: Vec<std::net::UdpSocket>,
        snapshot: &Snapshot,
        core: &mut Core,
    ) {
        let find = |socket: io::Result<std::net::SocketAddr>| {
            let address = socket.ok()?;
            let mut services = snapshot.services.iter();
            services.find(|one| one.kind == Kind::Udp && one.listen == address)
        };
        for number in 0..self.listeners.len() {
            let Some(listener) = &self.listeners[number] else { continue };
            let Some(service) = find(listener.socket.local_addr()) else {
                self.close_listener(number, core);
                continue;
            };
            // Another service at this address gets the socket, but has sessions of its own.
            if service.name != listener.service.name {
                self.end_sessions(number, core);
            }
            self.relink(number, service, core);
        }
        for socket in sockets {
            let mut socket = UdpSocket::from_std(socket);
            let Some(service) = find(socket.local_addr()) else { continue };
            let free = self.listeners.iter().position(Option::is_none);
            let number = free.unwrap_or(self.listeners.len());
            if let Err(error) = core.watch_datagrams(&mut socket, Who::Datagrams(number)) {
                tracing::error!("a listener cannot be watched: {error}");
                continue;
            }
            self.listeners.resize_with(self.listeners.len().max(number + 1), || None);
            self.listeners[number] = Some(Listener::new(socket, Arc::clone(service)));
            self.inboxes.get_or_insert_with(|| Inboxes {
                requests: Inbox::new(BATCHES.0, DATAGRAM_MAX),
                responses: Inbox::new(BATCHES.1, DATAGRAM_MAX),
            });
        }
    }

    /// Ends all sessions.
    pub(crate) fn close(&mut self, core: &mut Core) {
        (0..self.listeners.len()).for_each(|number| self.close_listener(number, core));
    }

    fn close_listener(&mut self, number: usize, core: &mut Core) {
        self.end_sessions(number, core);
        if let Some(listener) = self.listeners.get_mut(number) {
            *listener = None;
        }
    }

    fn end_sessions(&mut self, number: usize, core: &mut Core) {
        let Some(Some(listener)) = self.listeners.get_mut(number) else { return };
        listener.flush();
        for place in listener.places() {
            self.end(place, End::Stopped, core);
        }
    }

    /// Gives the sessions of a listener the newest configuration of their service.
    fn relink(&mut self, number: usize, service: &Arc<Service>, core: &mut Core) {
        let Some(Some(listener)) = self.listeners.get_mut(number) else { return };
        listener.service = Arc::clone(service);
        for place in listener.places() {
            let Some(session) = self.sessions.get_mut(place) else { continue };
            session.link.relink(&service.target);
            // The numbers of servers may be others.
            session.tried.clear();
            if !service.admits(session.client.from.ip()) {
                self.end(place, End::Local, core);
            }
        }
    }

    fn request(&mut self, number: usize, datagram: Incoming<'_>, core: &mut Core) {
        let client = Client { from: datagram.from, to: datagram.to };
        let Some(Some(listener)) = self.listeners.get_mut(number) else { return };
        let place = match listener.session(&client) {
            Some(place) => {
                listener.touch(&client, place, &mut self.chains);
                place
            }
            None => match self.begin(number, &client, datagram.bytes, core) {
                Some(place) => place,
                None => return,
            },
        };
        let Some(session) = self.sessions.get_mut(place) else { return };
        session.course.request(datagram.bytes.len(), core.now_us);
        if session.link.is_usable(core.now_ms()) || self.move_away(place, core) {
            self.send(place, datagram.bytes, core);
        }
    }

    /// Begins a session; `None`: the client gets none.
    fn begin(
        &mut self,
        number: usize,
        client: &Client,
        datagram: &[u8],
        core: &mut Core,
    ) -> Option<usize> {
        let service = Arc::clone(&self.listeners.get(number)?.as_ref()?.service);
        let address = client.from.ip();
        if client.from.port() == 0 || !service.admits(address) || self.is_own(client) {
            self.count(number, |counts| &counts.refused);
            core.count(&service.tally, Counter::Rejected);
            return None;
        }
        // Several, if a change of the configuration has lowered a limit.
        while let Some(place) = self.listeners[number].as_ref()?.surplus(client) {
            self.displace(Some(place), core);
        }
        let known = Known { address, request: None };
        let pool = known.pool_of(&service.target, core.now_ms());
        pool.count_request(core.now_ms());
        let mut wish = known.wish(pool);
        let (place, _) = self.sessions.reserve();
        let mut link = Link::open(pool, &mut wish, core, place);
        let oldest = self.listeners[number].as_ref().and_then(Listener::oldest);
        if matches!(link, Err(Refusal::NoSocket)) && self.displace(oldest, core) {
            link = Link::open(pool, &mut wish, core, place);
        }
        let tries = u8::try_from(wish.tried.len()).unwrap_or(u8::MAX);
        match link {
            Ok(link) => {
                let mut session = Session::new(*client, number, link);
                session.course.tries = tries.saturating_add(1);
                session.tried = wish.tried;
                self.sessions.put(place, session);
                let listener = self.listeners[number].as_mut()?;
                listener.enter(client, place, &mut self.chains);
                core.count(&service.tally, Counter::Connections);
                Some(place)
            }
            Err(refusal) => {
                self.sessions.free(place);
                if refusal == Refusal::NoSocket {
                    self.count(number, |counts| &counts.refused);
                }
                let mut course = Course { tries, ..Course::default() };
                course.request(datagram.len(), core.now_us);
                let (service, end) = (&*service, End::NoServer);
                course.record(&Ending { service, client, link: None, end }, core);
                None
            }
        }
    }

    /// Ends a session early, if there is one.
    fn displace(&mut self, place: Option<usize>, core: &mut Core) -> bool {
        let Some(place) = place else { return false };
        if let Some(session) = self.sessions.get(place) {
            self.count(session.listener, |counts| &counts.displaced);
        }
        self.end(place, End::Displaced, core);
        true
    }

    /// Whether a datagram claims to come from one of the services: responses to it would go round in
    /// circles.
    fn is_own(&self, client: &Client) -> bool {
        let from = client.from.ip().to_canonical();
        let to = client.to.map(|to| to.to_canonical());
        self.listeners.iter().flatten().any(|listener| {
            let own = listener.service.listen;
            let same = own.ip() == from
                || (own.ip().is_unspecified() && (from.is_loopback() || to == Some(from)));
            same && own.port() == client.from.port()
        })
    }

    /// Sends a datagram of the client to the session's server.
    fn send(&mut self, place: usize, datagram: &[u8], core: &mut Core) {
        while let Some(session) = self.sessions.get_mut(place) {
            match session.link.send(datagram) {
                Ok(()) => return session.passed(datagram, core.now_us),
                // The error is that of an earlier datagram; this one was not sent.
                Err(error) if is_unreachable(&error) => self.fail_over(place, core),
                Err(_) => {
                    let number = session.listener;
                    return self.count(number, |counts| &counts.dropped);
                }
            }
        }
    }

    fn receive_responses(
        &mut self,
        place: usize,
        has_error: bool,
        inbox: &mut Inbox,
        core: &mut Core,
    ) {
        for _ in 0..ROUNDS {
            let Some(session) = self.sessions.get_mut(place) else { return };
            let Some(Some(listener)) = self.listeners.get_mut(session.listener) else { return };
            match inbox.receive(session.link.fd()) {
                Ok(count) => {
                    let mut bytes = 0;
                    for datagram in inbox.datagrams() {
                        bytes += datagram.bytes.len();
                        listener.respond(&session.client, datagram.bytes);
                    }
                    session.answered(count, bytes, core);
                    listener.touch(&session.client, place, &mut self.chains);
                    let wanted = listener.settings().map_or(0, |settings| settings.responses);
                    if session.is_complete(wanted) {
                        return self.end(place, End::Complete, core);
                    }
                    // A batch that is not full has emptied the socket, but for an error behind it.
                    if count < BATCHES.1 && !has_error {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_unreachable(&error) => return self.fail_over(place, core),
                Err(_) => {}
            }
        }
        self.again.push(Who::Flow(place));
    }

    /// The server has refused a datagram: another one gets the session, or it ends.
    fn fail_over(&mut self, place: usize, core: &mut Core) {
        let Some(session) = self.sessions.get_mut(place) else { return };
        let Some(Some(listener)) = self.listeners.get(session.listener) else { return };
        let known = Known { address: session.client.from.ip(), request: None };
        let pool = match session.link.number() {
            Some(_) => Arc::clone(&session.link.pool),
            None => Arc::clone(known.pool_of(&listener.service.target, core.now_ms())),
        };
        let tried = std::mem::take(&mut session.tried);
        let mut wish = Wish { tried, ..known.wish(&pool) };
        let may = match session.link.number() {
            Some(server) => may_try_another(&pool, server, &mut wish, core),
            None => true,
        };
        match may.then(|| Link::open(&pool, &mut wish, core, place)) {
            Some(Ok(link)) => {
                session.tried = wish.tried;
                session.moved(link);
                session.repeat(core.now_us);
            }
            _ => self.end(place, End::NoServer, core),
        }
    }

    /// The session's server should not get more: another one gets the session. False: it has ended,
    /// because no server may be used.
    fn move_away(&mut self, place: usize, core: &mut Core) -> bool {
        let Some(session) = self.sessions.get_mut(place) else { return false };
        let Some(Some(listener)) = self.listeners.get(session.listener) else { return false };
        let known = Known { address: session.client.from.ip(), request: None };
        let pool = Arc::clone(known.pool_of(&listener.service.target, core.now_ms()));
        // Servers have numbers within their pool.
        let stays = Arc::ptr_eq(&pool, &session.link.pool);
        let tried = if stays {
            Vec::from_iter(session.link.number())
        } else {
            session.tried.clear();
            Vec::new()
        };
        let mut wish = Wish { tried, ..known.wish(&pool) };
        let excluded = session.link.is_excluded();
        let other = !stays || pool.has_other(&wish, session.link.server, core.now_ms());
        // Without another one, a server that does not pass its checks is better than none.
        if !other && !excluded {
            return true;
        }
        match Link::open(&pool, &mut wish, core, place) {
            Ok(link) => session.moved(link),
            Err(_) if excluded => {
                self.end(place, End::NoServer, core);
                return false;
            }
            Err(_) => {}
        }
        true
    }

    fn end(&mut self, place: usize, end: End, core: &mut Core) {
        let Some(session) = self.sessions.take(place) else { return };
        self.sessions.free(place);
        if let Some(Some(listener)) = self.listeners.get_mut(session.listener) {
            listener.leave(&session.client, place, &mut self.chains);
            let (service, client) = (&*listener.service, &session.client);
            let link = Some(&session.link);
            session.course.record(&Ending { service, client, link, end }, core);
        }
    }

    /// Ends the sessions that were silent for too long.
    fn expire(&mut self, core: &mut Core) {
        for number in 0..self.listeners.len() {
            while let Some(listener) = &self.listeners[number]
                && self.due_us(listener).is_some_and(|due_us| due_us <= core.now_us)
                && let Some(place) = listener.oldest()
                && let Some(session) = self.sessions.get(place)
            {
                let wanted = listener.settings().map_or(0, |settings| settings.responses);
                self.end(place, session.course.end_by_time(wanted), core);
            }
        }
    }

    /// When the next session of a listener ends by time, in monotonic microseconds.
    fn due_us(&self, listener: &Listener) -> Option<u64> {
        let session = self.sessions.get(listener.oldest()?)?;
        Some(session.course.last_us.saturating_add(listener.settings()?.idle_us))
    }

    fn count(&self, number: usize, counter: impl Fn(&Counts) -> &AtomicU64) {
        if let Some(Some(listener)) = self.listeners.get(number) {
            listener.count(counter, 1);
        }
    }
}
