//! Short requests without encryption or compression: one thread for all, without a task for each.
//!
//! A sender's packet and an active agent's request are a few hundred bytes that come with the
//! connection. Such a connection costs accept, recv, send and close; its values go to the shards with
//! those of all others that came meanwhile, and one wake-up brings all acknowledgements of a group
//! commit. What is anything else, or is not there soon, goes on as a task of its own
//! ([`Trapper::serve`]), with the bytes that were read.

use std::future::Future;
use std::io::{ErrorKind, Read as _};
use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use mio::Interest;
use mio::net::TcpListener;
use stdx::seats::Seat;
use tokio::runtime::Handle;
use tokio::sync::watch;
use wire::zbxd::{Frame, Progress};

use super::begun::Begun;
use super::conn::FREE_BYTES;
use super::matching::Peer;
use super::{ACCEPT_PAUSE, ACCEPT_PAUSE_MAX, Place, Trapper};
use crate::peers::plain;
use collect::counters::Counters;
use collect::table::{LISTENER, Table};
use collect::tls::Identity;

/// How long a request may take to come; then it is a task's.
const SOON: Duration = Duration::from_millis(100);
/// Between two looks for those that did not come.
const LOOK: Duration = Duration::from_millis(50);
/// A round that takes so long, or connections that wait so long to be accepted, show that the thread has
/// more than it can do.
const LAG: Duration = Duration::from_millis(50);
/// Connections accepted before those that are there have their turn.
const ACCEPTS: usize = 64;
/// Bytes of a header.
const HEADER: usize = 13;
/// Longest request of this thread, with its header. What is made of it takes a few times the room of its
/// text, and may have that without asking for room.
const SHORT: usize = FREE_BYTES / 5;

/// What the first bytes of a connection are.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    /// A short plain request of which a part is missing.
    More,
    /// The whole of one.
    Whole,
    /// Something else.
    Other,
}

fn look(bytes: &[u8]) -> Look {
    const START: &[u8] = b"ZBXD\x01";
    if bytes.len() < HEADER {
        let common = bytes.len().min(START.len());
        let known = bytes.get(..common) == START.get(..common);
        return if known { Look::More } else { Look::Other };
    }
    let length = bytes.get(START.len()..START.len() + 4).and_then(|n| n.try_into().ok());
    let length = length.map_or(usize::MAX, |n| u32::from_le_bytes(n) as usize);
    let whole = length.saturating_add(HEADER);
    if !bytes.starts_with(START) || whole > SHORT || bytes.len() > whole {
        Look::Other
    } else if bytes.len() < whole {
        Look::More
    } else {
        Look::Whole
    }
}

/// A connection whose request is incomplete.
struct Waiting {
    stream: TcpStream,
    /// What came of it.
    read: Vec<u8>,
    ip: IpAddr,
    place: Place,
}

impl AsRawFd for Waiting {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}

impl Waiting {
    /// Reads what there is; `None` = the connection is over.
    fn receive(&mut self, buffer: &mut [u8]) -> Option<Look> {
        loop {
            match self.stream.read(buffer) {
                // Cut short: a task says so.
                Ok(0) => return (!self.read.is_empty()).then_some(Look::Other),
                Ok(n) => {
                    self.read.extend_from_slice(buffer.get(..n).unwrap_or_default());
                    match look(&self.read) {
                        Look::More => {}
                        look => return Some(look),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(Look::More),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::debug!("connection from {} broke: {error}", self.ip);
                    return None;
                }
            }
        }
    }
}

/// Wakes the thread if it sleeps: once, however often it is rung.
struct Bell {
    waker: mio::Waker,
    rung: AtomicBool,
    asleep: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        if self.asleep.swap(false, Ordering::SeqCst)
            && let Err(error) = self.waker.wake()
        {
            tracing::error!("cannot wake the trapper: {error}");
        }
    }
}

impl Bell {
    /// Before a wait: whether it may last. Later rings end it.
    fn sleep(&self) -> bool {
        self.asleep.store(true, Ordering::SeqCst);
        !self.rung.load(Ordering::SeqCst)
    }

    /// After a wait; whether it was rung.
    fn awake(&self) -> bool {
        self.asleep.store(false, Ordering::SeqCst);
        self.rung.swap(false, Ordering::SeqCst)
    }
}

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// A connection that is about to get a seat.
type Admitting = (Work<Option<Arc<Seat>>>, TcpStream, IpAddr);

/// The thread's state.
pub(super) struct Quick {
    trapper: Arc<Trapper>,
    runtime: Handle,
    listeners: Vec<TcpListener>,
    table: Table<Waiting>,
    bell: Arc<Bell>,
    /// Requests that are being answered.
    answering: FuturesUnordered<Work<()>>,
    /// A connection for which there is no seat yet; no other is accepted meanwhile.
    admitting: Option<Admitting>,
    /// A listener may have more.
    more: bool,
    /// When that began.
    more_since: Duration,
    /// The listener that is asked first: each in turn.
    first: usize,
    /// After an error of accept(2): the next attempt, and the pause until then.
    refused: Option<(Duration, Duration)>,
    /// This thread does not keep up: tasks may have other cores.
    lagging: bool,
    buffer: Box<[u8]>,
}

impl Quick {
    pub(super) fn new(
        trapper: Arc<Trapper>,
        runtime: Handle,
        listeners: Vec<std::net::TcpListener>,
    ) -> std::io::Result<Self> {
        let table = Table::new()?;
        let (waker, asleep) = (table.bell()?, AtomicBool::new(false));
        // The first round looks at everything.
        let bell = Arc::new(Bell { waker, rung: AtomicBool::new(true), asleep });
        let listeners: Vec<_> = listeners.into_iter().map(TcpListener::from_std).collect();
        listeners.iter().try_for_each(|listener| table.listen(listener))?;
        Ok(Self {
            trapper,
            runtime,
            listeners,
            table,
            bell,
            answering: FuturesUnordered::new(),
            admitting: None,
            more: true,
            more_since: Duration::ZERO,
            first: 0,
            refused: None,
            lagging: false,
            buffer: vec![0; FREE_BYTES].into_boxed_slice(),
        })
    }

    /// The body of the thread: accepts and answers until told to stop, then answers what is in hand
    /// for at most `grace`. In a full table a new connection takes the place of the longest waiting
    /// one of the address that has most; while all are being answered it waits.
    pub(super) fn run(mut self, mut stop: watch::Receiver<bool>, grace: Duration) {
        let runtime = self.runtime.clone();
        let _context = runtime.enter();
        let clock = Arc::clone(&self.trapper.shared.context.clock);
        let waker = Waker::from(Arc::clone(&self.bell));
        let context = &mut Context::from_waker(&waker);
        let mut stopping = pin!(async move { drop(stop.wait_for(|stop| *stop).await) }.fuse());
        let (mut ready, mut end) = (Vec::new(), None);
        loop {
            let now = clock.monotonic();
            if self.bell.awake() && stopping.as_mut().poll(context).is_ready() {
                self.stop();
                end = Some(now + grace);
            }
            for at in ready.drain(..) {
                if at == LISTENER && !self.more {
                    (self.more, self.more_since) = (true, now);
                }
                self.receive(at);
            }
            self.accept(now, context);
            while let Poll::Ready(Some(())) = self.answering.poll_next_unpin(context) {}
            for waiting in self.table.late(now) {
                self.hand_over(waiting);
            }
            if end.is_some_and(|end| self.answering.is_empty() || now >= end) {
                return;
            }
            let since = if self.more { self.more_since } else { now };
            self.lagging = clock.monotonic().saturating_sub(since) >= LAG;
            let patience =
                if self.bell.sleep() { self.patience(end) } else { Some(Duration::ZERO) };
            self.table.wait(patience, &mut ready);
        }
    }

    /// How long nothing has to be done unless something comes; `None` = for ever.
    fn patience(&self, end: Option<Duration>) -> Option<Duration> {
        let held_up = self.admitting.is_some() || self.refused.is_some();
        if self.more && !held_up {
            return Some(Duration::ZERO);
        }
        (held_up || end.is_some() || !self.table.is_empty()).then_some(LOOK)
    }

    /// Closes the listeners. Tasks take over incomplete requests while new tasks are allowed.
    fn stop(&mut self) {
        (self.listeners, self.admitting, self.more) = (Vec::new(), None, false);
        for waiting in self.table.take_all(|_| true) {
            self.hand_over(waiting);
        }
    }

    fn accept(&mut self, now: Duration, context: &mut Context<'_>) {
        if let Some((mut taking, stream, ip)) = self.admitting.take() {
            match taking.as_mut().poll(context) {
                Poll::Ready(seat) => self.seated(seat, stream, ip, now),
                Poll::Pending => return self.admitting = Some((taking, stream, ip)),
            }
        }
        if self.refused.is_some_and(|(until, _)| now < until) || !self.more {
            return;
        }
        let (mut room, mut drained) = (ACCEPTS, 0);
        while drained < self.listeners.len() {
            if room == 0 || self.admitting.is_some() {
                return self.first += 1;
            }
            let at = self.first % self.listeners.len();
            let Some(listener) = self.listeners.get(at) else { return };
            match listener.accept() {
                Ok((stream, address)) => {
                    room -= 1;
                    self.refused = None;
                    self.admit(stream.into(), plain(address.ip()), now, context);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    (self.first, drained) = (at + 1, drained + 1);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.first = at + 1;
                    self.trapper.accept_failed(&error);
                    self.evict();
                    let pause = self.refused.map_or(ACCEPT_PAUSE, |(_, pause)| pause * 2);
                    let pause = pause.min(ACCEPT_PAUSE_MAX);
                    return self.refused = Some((now + pause, pause));
                }
            }
        }
        (self.more, self.refused) = (false, None);
    }

    fn admit(&mut self, stream: TcpStream, ip: IpAddr, now: Duration, context: &mut Context<'_>) {
        let seats = Arc::clone(&self.trapper.seats);
        Counters::one(&self.trapper.shared.context.counters.accepted);
        let taken = pin!(seats.take(ip)).poll(context);
        if let Poll::Ready(seat) = taken {
            return self.seated(seat, stream, ip, now);
        }
        // Somebody was told to go, and may be here.
        self.evict();
        let mut taking: Work<_> = Box::pin(async move { seats.take(ip).await });
        match taking.as_mut().poll(context) {
            Poll::Ready(seat) => self.seated(seat, stream, ip, now),
            Poll::Pending => self.admitting = Some((taking, stream, ip)),
        }
    }

    fn evict(&mut self) {
        for waiting in
            self.table.take_all(|waiting| waiting.place.seat.evicted().now_or_never().is_some())
        {
            waiting.place.lost(waiting.ip);
        }
    }

    fn seated(&mut self, seat: Option<Arc<Seat>>, stream: TcpStream, ip: IpAddr, now: Duration) {
        let Some(place) = self.trapper.place(seat, ip) else { return };
        let mut waiting = Waiting { stream, read: Vec::new(), ip, place };
        if self.lagging {
            return self.hand_over(waiting);
        }
        match waiting.receive(&mut self.buffer) {
            Some(Look::More) => {
                let limits = (now, SOON);
                if let Err((waiting, _)) = self.table.insert(waiting, Interest::READABLE, limits) {
                    self.hand_over(waiting);
                }
            }
            look => self.go_on(waiting, look),
        }
    }

    /// A place in the table is readable, if it is one.
    fn receive(&mut self, at: usize) {
        let Some(waiting) = self.table.get_mut(at) else { return };
        let look = waiting.receive(&mut self.buffer);
        if look != Some(Look::More)
            && let Some(waiting) = self.table.take(at)
        {
            self.go_on(waiting, look);
        }
    }

    fn go_on(&mut self, waiting: Waiting, look: Option<Look>) {
        match look {
            Some(Look::Whole) => match self.trapper.decoder().feed(&waiting.read) {
                Ok(Progress::Frame { frame, .. }) => self.answer(waiting, frame),
                _ => self.hand_over(waiting),
            },
            Some(_) => self.hand_over(waiting),
            None => {}
        }
    }

    /// Does what needs no waiting. The rest follows after all requests that have arrived were handled
    /// this far, so that the shards get the values together and wake up once.
    fn answer(&self, mut waiting: Waiting, frame: Frame) {
        waiting.read = Vec::new();
        // From here on nobody takes the seat, although others have their turn first.
        let Some(busy) = waiting.place.seat.busy() else { return waiting.place.lost(waiting.ip) };
        let (ip, trapper) = (waiting.ip, &waiting.place.trapper);
        Counters::add(&trapper.shared.context.counters.bytes_in, frame.bytes);
        let begin = || {
            let peer = Peer { ip, identity: Identity::unencrypted() };
            trapper.finish_now(trapper.begin(frame, peer))
        };
        // As in a task, what panics takes only its own connection with it.
        let Ok(begun) = catch_unwind(AssertUnwindSafe(begin)) else { return };
        let pending = match begun {
            Ok(answer) => return reply(&self.runtime, waiting, answer),
            Err(pending) => pending,
        };
        let runtime = self.runtime.clone();
        let work = async move {
            let trapper = &waiting.place.trapper;
            let answer = trapper.in_time(ip, trapper.finish(*pending)).await;
            drop(busy);
            reply(&runtime, waiting, answer);
        };
        self.answering.push(Box::pin(AssertUnwindSafe(work).catch_unwind().map(drop)));
    }

    /// Makes a task of a connection.
    fn hand_over(&self, waiting: Waiting) {
        self.table.release(&waiting);
        let Waiting { stream, read, ip, place } = waiting;
        match Begun::new(stream, read) {
            Ok(stream) => place.serve(&self.runtime, stream, ip),
            Err(error) => tracing::debug!("connection from {ip} broke: {error}"),
        }
    }
}

/// Sends an answer and ends the connection.
fn reply(runtime: &Handle, waiting: Waiting, answer: Option<Vec<u8>>) {
    let Waiting { stream, ip, place, .. } = waiting;
    let Some(answer) = answer else { return };
    let trapper = Arc::clone(&place.trapper);
    Counters::add(&trapper.shared.context.counters.bytes_out, answer.len() as u64);
    let sent = match stdx::sys::send_last(&stream, &answer) {
        Ok(sent) => sent,
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        Err(_) => return,
    };
    if sent < answer.len()
        && let Ok(mut stream) = Begun::new(stream, Vec::new())
    {
        // A task waits until the peer takes the rest.
        place.task(runtime, ip, async move {
            trapper.send(&mut stream, answer.get(sent..).unwrap_or_default()).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_plain_requests_are_known_by_their_first_bytes() {
        let plain = wire::zbxd::encode(b"{}", wire::zbxd::PROTOCOL);
        for cut in 0..plain.len() {
            assert_eq!(look(&plain[..cut]), Look::More, "{cut}");
        }
        assert_eq!(look(&plain), Look::Whole);
        let longer = [&plain[..], b"x"].concat();
        let long = wire::zbxd::encode(&vec![b' '; SHORT], wire::zbxd::PROTOCOL);
        let longest = wire::zbxd::encode(&vec![b' '; SHORT - HEADER], wire::zbxd::PROTOCOL);
        let packed = wire::zbxd::encode(&[b' '; 100], wire::zbxd::COMPRESSED);
        for (bytes, expected) in [
            (&longer[..], Look::Other),
            (&long[..], Look::Other),
            (&long[..HEADER], Look::Other),
            (&longest[..], Look::Whole),
            (&packed[..], Look::Other),
            (b"ZBXD\x03", Look::Other),
            (b"\x16", Look::Other),
            (b"ZBXE", Look::Other),
            (b"{\"request\"", Look::Other),
        ] {
            assert_eq!(look(bytes), expected, "{:?}", &bytes[..bytes.len().min(20)]);
        }
    }
}
