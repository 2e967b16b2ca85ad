//! Requests on their way: a few sockets, a table of what waits for an answer, and when it has
//! waited too long.
//!
//! An answer counts when it comes from the address that was asked, with the id of the request that
//! waits: what is late, comes twice, comes from elsewhere or is broken is dropped, and the request
//! goes on waiting. A request that has no answer after half of its time is sent once more under
//! the same id, so that one lost datagram costs no timeout and a slow device still answers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::source::Snmp;
use mio::unix::SourceFd;
use mio::{Events, Interest, Token};
use model::InterfaceId;
use stdx::datagrams::Outbox;
use stdx::sys::datagrams::{BATCH_MAX, Inbox, receive_buffer};
use wire::snmp::ber::Writer;
use wire::snmp::{DATAGRAM_BYTES_MAX, Message, Pdu, PduKind, Request, Version, v3};

use super::batch::Learned;
use super::by_name::Indexes;
use super::question::{Ended, Question};
use super::session::{Heard, Sessions};
use super::{CheckReply, Failure};

/// Bits of a request's id that say where in the table it is; the others tell requests apart that
/// had the same place.
const PLACE_BITS: u32 = 17;
/// Requests that wait at one time.
const FLIGHTS_MAX: usize = 1 << PLACE_BITS;
/// Sockets for IPv4: what the system keeps for one that is not read in time is little.
const SOCKETS_V4: usize = 4;
/// Room for answers that came and are not read, wanted of the system for each socket.
const RECEIVE_BYTES: usize = 4 << 20;
/// Datagrams taken from one socket before the next has its turn, in calls.
const TURN: usize = 8;
/// So many requests wait, and so few answers came, that it is worth to let more come first.
const MANY_WAIT: usize = 1_000;
const FEW_CAME: usize = 32;
/// How often an engine of version 3 may tell us to ask again.
const AGAIN_MAX: u8 = 3;

#[derive(Debug)]
struct Flight<J> {
    id: i32,
    question: Question<J>,
    resent: bool,
    /// How often the device has told us to ask again.
    again: u8,
}

#[derive(Debug)]
struct Channel {
    socket: UdpSocket,
    out: Outbox,
}

/// Deadlines of requests with one time to wait: the first is due first.
type Deadlines = VecDeque<(Duration, i32)>;

/// All requests of one poller.
pub(crate) struct Engine<J> {
    poll: mio::Poll,
    events: Events,
    source: Option<IpAddr>,
    v4: Vec<Channel>,
    v6: Vec<Channel>,
    flights: Vec<Option<Flight<J>>>,
    free: Vec<u32>,
    serial: u32,
    deadlines: BTreeMap<Duration, Deadlines>,
    learned: HashMap<InterfaceId, Learned>,
    indexes: Indexes,
    sessions: Sessions,
    writer: Writer,
    /// `None` while what it holds is dealt with.
    inbox: Option<Inbox>,
    room: Vec<u8>,
    ended: Vec<Ended<J>>,
    /// Datagrams taken by the last look.
    came: usize,
    /// Datagrams that answered nothing that waits.
    stray: u64,
}

impl<J> Engine<J> {
    /// Nothing in flight. `seed` differs from start to start; with `source` requests leave from
    /// this address.
    pub(crate) fn new(source: Option<IpAddr>, seed: u64) -> io::Result<Self> {
        Ok(Self {
            poll: mio::Poll::new()?,
            events: Events::with_capacity(SOCKETS_V4 * 2),
            source,
            v4: Vec::new(),
            v6: Vec::new(),
            flights: Vec::new(),
            free: Vec::new(),
            serial: seed as u32,
            deadlines: BTreeMap::new(),
            learned: HashMap::new(),
            indexes: Indexes::default(),
            sessions: Sessions::new(seed),
            writer: Writer::new(),
            inbox: Some(Inbox::new(BATCH_MAX, DATAGRAM_BYTES_MAX)),
            room: Vec::new(),
            ended: Vec::new(),
            came: 0,
            stray: 0,
        })
    }

    /// Becomes readable when [`Self::advance`] has something to do.
    pub(crate) fn watched(&self) -> io::Result<OwnedFd> {
        self.poll.registry().as_fd().try_clone_to_owned()
    }

    /// Takes what has ended since the last call.
    pub(crate) fn ended(&mut self, into: &mut Vec<Ended<J>>) {
        into.append(&mut self.ended);
    }

    /// An interface is gone.
    pub(crate) fn forget(&mut self, interface: InterfaceId) {
        self.learned.remove(&interface);
        self.indexes.forget(interface);
    }

    /// Begins to ask. What cannot be asked has ended when this returns.
    pub(crate) fn start(&mut self, mut question: Question<J>, now: Duration) {
        if question.is_done() {
            return;
        }
        let snmp = &question.peer.snmp;
        if snmp.bulk && question.values.len() > 1 {
            let known = self.learned.get(&question.interface).copied().unwrap_or_default();
            question.values.ask_at_once(known.suggest(now));
        }
        let config_error = if !(1..=3).contains(&snmp.version) {
            Some(format!("SNMP version {} is unknown.", snmp.version))
        } else if snmp.version == 3 {
            self.sessions.check(&snmp.user).err()
        } else {
            None
        };
        if let Some(why) = config_error {
            return question.end(|_| CheckReply::ConfigError(why.clone()), &mut self.ended);
        }
        let at = match self.free.pop() {
            Some(at) => at,
            None if self.flights.len() < FLIGHTS_MAX => {
                self.flights.push(None);
                (self.flights.len() - 1) as u32
            }
            None => {
                let why = "too many requests wait for answers";
                return question.end(|_| CheckReply::LocalError(why.to_owned()), &mut self.ended);
            }
        };
        self.ask(at, Flight { id: 0, question, resent: false, again: 0 }, now);
    }

    /// Sends a new request of a flight, under a new id.
    fn ask(&mut self, at: u32, mut flight: Flight<J>, now: Duration) {
        self.serial = self.serial.wrapping_add(1);
        let id = ((self.serial << PLACE_BITS) | at) & 0x7fff_ffff;
        flight.id = id.cast_signed();
        flight.resent = false;
        flight.question.prepare(&self.indexes);
        self.send(at, flight, now);
    }

    /// Sends the request of a flight, and waits half of its time.
    fn send(&mut self, at: u32, mut flight: Flight<J>, now: Duration) {
        let address = flight.question.peer.address;
        let channel = match self.channel(address, at) {
            Ok(channel) => channel,
            Err(error) => {
                let why = crate::checks::dial::os_error(&error);
                return self.give_up(at, &mut flight, &Failure::Refused(why));
            }
        };
        if let Err(error) = self.write(&flight, now) {
            let why = Failure::Refused(error.to_string());
            return self.give_up(at, &mut flight, &why);
        }
        let wait = flight.question.timeout / 2;
        self.deadlines.entry(wait).or_default().push_back((now + wait, flight.id));
        if let Some(place) = self.flights.get_mut(at as usize) {
            *place = Some(flight);
        }
        let channels = if address.is_ipv4() { &mut self.v4 } else { &mut self.v6 };
        let Some(channel) = channels.get_mut(channel) else { return };
        channel.out.push(address, self.writer.bytes(), at);
        if channel.out.is_full() {
            self.flush();
            // What has come meanwhile must not fill the system's room.
            self.receive(now);
        }
    }

    fn write(&mut self, flight: &Flight<J>, now: Duration) -> Result<(), wire::snmp::SnmpError> {
        let question = &flight.question;
        let asking = question.asking();
        let request = Request {
            kind: asking.kind,
            request_id: flight.id,
            non_repeaters: 0,
            max_repetitions: asking.max_repetitions,
            oids: asking.oids,
        };
        self.writer.clear();
        let snmp = &question.peer.snmp;
        let community = snmp.community.as_bytes();
        match snmp.version {
            1 => wire::snmp::request(&mut self.writer, Version::V1, community, &request),
            2 => wire::snmp::request(&mut self.writer, Version::V2c, community, &request),
            _ => {
                let party = (question.peer.address, Arc::clone(snmp));
                self.sessions.write(&mut self.writer, &party, &request, now)?;
            }
        }
        Ok(())
    }

    /// The socket for an address, made when it is first needed.
    fn channel(&mut self, address: SocketAddr, at: u32) -> io::Result<usize> {
        let v4 = address.is_ipv4();
        let wanted = if v4 { SOCKETS_V4 } else { 1 };
        let channels = if v4 { &mut self.v4 } else { &mut self.v6 };
        while channels.len() < wanted {
            let any: IpAddr =
                if v4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
            let from = self.source.filter(|source| source.is_ipv4() == v4).unwrap_or(any);
            let socket = UdpSocket::bind((from, 0))?;
            socket.set_nonblocking(true)?;
            receive_buffer(socket.as_fd(), RECEIVE_BYTES)?;
            let fd = socket.as_raw_fd();
            let token = Token(channels.len() * 2 + usize::from(v4));
            self.poll.registry().register(&mut SourceFd(&fd), token, Interest::READABLE)?;
            channels.push(Channel { socket, out: Outbox::default() });
        }
        Ok(at as usize % wanted)
    }

    /// Sends what waits to be sent.
    pub(crate) fn flush(&mut self) {
        let mut failed = Vec::new();
        for channel in self.v4.iter_mut().chain(&mut self.v6) {
            if !channel.out.is_empty() {
                // What the system does not take now it takes at the next flush.
                let socket = channel.socket.as_fd();
                channel.out.send(socket, |at, error| failed.push((at, error)));
            }
        }
        for (at, error) in failed {
            let Some(mut flight) = self.flights.get_mut(at as usize).and_then(Option::take) else {
                continue;
            };
            let why = Failure::Refused(crate::checks::dial::os_error(&error));
            self.give_up(at, &mut flight, &why);
        }
    }

    fn give_up(&mut self, at: u32, flight: &mut Flight<J>, failure: &Failure) {
        self.free.push(at);
        flight.question.fail(failure, &mut self.ended);
    }

    /// Waits at most `patience` for answers and takes what has come. `true` = there may be more.
    pub(crate) fn advance(&mut self, now: Duration, patience: Duration) -> bool {
        // Which sockets are ready is not asked: they are few.
        if self.poll.poll(&mut self.events, Some(patience)).is_err() {
            return false;
        }
        let more = self.receive(now);
        self.flush();
        more
    }

    /// Many requests wait, but few answers come at a time: each look costs more than they do.
    pub(crate) fn is_trickling(&self) -> bool {
        self.came < FEW_CAME && self.flights.len() - self.free.len() >= MANY_WAIT
    }

    fn receive(&mut self, now: Duration) -> bool {
        let mut more = false;
        // An answer may lead to requests that would have us receive more.
        let Some(mut inbox) = self.inbox.take() else { return false };
        self.came = 0;
        for at in 0..self.v4.len() + self.v6.len() {
            for turn in 0..TURN {
                let channel = self.v4.get(at).or_else(|| self.v6.get(at - self.v4.len()));
                let Some(channel) = channel else { break };
                let count = inbox.receive(channel.socket.as_fd()).unwrap_or(0);
                self.came += count;
                for datagram in inbox.datagrams() {
                    if datagram.cut || !self.hear(datagram.bytes, datagram.from, now) {
                        self.stray += 1;
                    }
                }
                if count < BATCH_MAX {
                    break;
                }
                more |= turn + 1 == TURN;
            }
        }
        self.inbox = Some(inbox);
        more
    }

    /// Takes a datagram; `false` = it answers nothing that waits.
    fn hear(&mut self, bytes: &[u8], from: SocketAddr, now: Duration) -> bool {
        match Message::parse(bytes) {
            Ok(message) => {
                let Ok(pdu) = message.pdu() else { return false };
                let version = if message.version == Version::V1 { 1 } else { 2 };
                let Some(flight) = self.waiting(pdu.request_id, from, version) else {
                    return false;
                };
                if pdu.kind != PduKind::Response {
                    return false;
                }
                let Some(flight) = flight.take() else { return false };
                self.answer(flight, &pdu, now);
                true
            }
            Err(wire::snmp::SnmpError::Version(3)) => self.hear_v3(bytes, from, now),
            Err(_) => false,
        }
    }

    /// The flight that waits for an answer with this id from there.
    fn waiting(
        &mut self,
        id: i32,
        from: SocketAddr,
        version: u8,
    ) -> Option<&mut Option<Flight<J>>> {
        let at = id.cast_unsigned() & ((1 << PLACE_BITS) - 1);
        let place = self.flights.get_mut(at as usize)?;
        let flight = place.as_ref()?;
        let peer = &flight.question.peer;
        let same = flight.id == id && peer.address == from && peer.snmp.version == version;
        same.then_some(place)
    }

    fn hear_v3(&mut self, bytes: &[u8], from: SocketAddr, now: Duration) -> bool {
        let Ok(sealed) = v3::Sealed::parse(bytes) else { return false };
        let Some(place) = self.waiting(sealed.envelope.id, from, 3) else { return false };
        let Some(mut flight) = place.take() else { return false };
        let at = flight.id.cast_unsigned() & ((1 << PLACE_BITS) - 1);
        let party: (SocketAddr, Arc<Snmp>) = (from, Arc::clone(&flight.question.peer.snmp));
        let mut room = std::mem::take(&mut self.room);
        let mut heard = true;
        match self.sessions.hear(&party, &sealed, &mut room, now) {
            Heard::Answer(pdu) if pdu.request_id == flight.id => self.answer(flight, &pdu, now),
            Heard::AskAgain if flight.again < AGAIN_MAX => {
                flight.again += 1;
                self.ask(at, flight, now);
            }
            Heard::Refused(why) => {
                self.sessions.forget(&party);
                self.give_up(at, &mut flight, &Failure::Refused(why.to_owned()));
            }
            Heard::AskAgain => {
                let why = "the device does not agree about its engine or its clock";
                self.sessions.forget(&party);
                self.give_up(at, &mut flight, &Failure::Refused(why.to_owned()));
            }
            Heard::Nothing | Heard::Answer(_) => {
                // It goes on waiting.
                if let Some(place) = self.flights.get_mut(at as usize) {
                    *place = Some(flight);
                }
                heard = false;
            }
        }
        self.room = room;
        heard
    }

    fn answer(&mut self, mut flight: Flight<J>, pdu: &Pdu<'_>, now: Duration) {
        let at = flight.id.cast_unsigned() & ((1 << PLACE_BITS) - 1);
        let out = &mut self.ended;
        let question = &mut flight.question;
        if question.values.len() > 0 {
            let before = match question.values.len() {
                1 => Learned::default(),
                _ => self.learned.get(&question.interface).copied().unwrap_or_default(),
            };
            let mut learned = before;
            question.values.answer(pdu, &mut learned, now, &mut |job, reply| {
                out.push(Ended { job, reply });
            });
            if learned != before {
                self.learned.insert(question.interface, learned);
            }
            if !question.peer.snmp.bulk {
                question.values.ask_at_once(1);
            }
        } else if let Some((job, mut work)) = question.works.pop_front() {
            match work.answer(pdu, question.interface, &mut self.indexes) {
                Some(reply) => out.push(Ended { job, reply }),
                None => question.works.push_front((job, work)),
            }
        }
        if question.is_done() {
            self.free.push(at);
        } else {
            self.ask(at, flight, now);
        }
    }

    /// Repeats or ends what has waited too long at `now` (monotonic).
    pub(crate) fn time_out(&mut self, now: Duration) {
        let mut late = Vec::new();
        let flights = &self.flights;
        self.deadlines.retain(|_, queue| {
            while let Some((deadline, id)) = queue.front() {
                let at = (id.cast_unsigned() & ((1 << PLACE_BITS) - 1)) as usize;
                let waits = flights.get(at).and_then(Option::as_ref).is_some_and(|f| f.id == *id);
                if waits && *deadline > now {
                    break;
                }
                if waits {
                    late.push(at);
                }
                queue.pop_front();
            }
            !queue.is_empty()
        });
        for at in late {
            let Some(flight) = self.flights.get_mut(at).and_then(Option::take) else { continue };
            self.waited(at as u32, flight, now);
        }
        self.flush();
    }

    fn waited(&mut self, at: u32, mut flight: Flight<J>, now: Duration) {
        if !flight.resent {
            flight.resent = true;
            return self.send(at, flight, now);
        }
        let peer = &flight.question.peer;
        let party = (peer.address, Arc::clone(&peer.snmp));
        let v3 = peer.snmp.version == 3;
        let probed = v3 && self.sessions.knows(&party);
        // The engine may have been replaced: request it again.
        self.sessions.forget(&party);
        let learned = self.learned.get(&flight.question.interface).copied().unwrap_or_default();
        if flight.question.values.timed_out(&learned) {
            return self.ask(at, flight, now);
        }
        let failure = Failure::TimedOut { probed, probing: v3 && !probed };
        self.give_up(at, &mut flight, &failure);
    }
}

#[cfg(test)]
mod tests;
