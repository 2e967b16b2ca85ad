//! The thread that pings: what is due goes out in paced batches, what comes back finds its series
//! by its cookie.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use stdx::clock::SharedClock;
use stdx::queue;
use stdx::sys::datagrams::Outgoing;
use tokio::sync::oneshot;
use wire::icmp::{self, Echo, Family};

use super::series::{Progress, Series};
use super::sockets::{Icmp, Refused, Reply, family_of};
use super::{Outcome, PingError};
use collect::counters::{Busy, timed};

/// Time between two batches; 32 packets in each are 32,000 packets/s.
const PACE: Duration = Duration::from_millis(1);
const BATCH: usize = 32;
/// Bytes of one batch: large packets go slower, at most 64 MB/s.
const BATCH_BYTES: usize = 64 << 10;
/// A series that has begun so lately may be joined: its answers are as fresh as any.
const JOIN: Duration = Duration::from_secs(1);
/// Batches read before what is due has its turn again.
const READS: usize = 64;
/// Without a socket the next attempt to open one waits so long.
const REOPEN: Duration = Duration::from_secs(1);
const CLOCK_CHECK: Duration = Duration::from_secs(3600);

pub(super) type Answer = Result<Outcome, PingError>;

/// A series, and the checks that wait for it.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) series: Series,
    pub(super) reply: oneshot::Sender<Answer>,
}

#[derive(Debug)]
struct Running {
    series: Series,
    progress: Progress,
    began: Duration,
    waiting: Vec<oneshot::Sender<Answer>>,
}

impl Running {
    fn is_wanted(&self) -> bool {
        self.waiting.iter().any(|reply| !reply.is_closed())
    }

    fn end(self, answer: Answer) {
        for reply in self.waiting {
            // Who asked may have gone.
            let _gone = reply.send(answer.clone());
        }
    }
}

/// A socket, or why there is none and when the next attempt may be made.
#[derive(Debug, Default)]
enum Door {
    #[default]
    Closed,
    Open(Icmp),
    Refused(String, Duration),
}

/// The body of the thread; ends when nobody can ask any more.
pub(super) fn run(
    clock: SharedClock,
    source: Option<IpAddr>,
    requests: queue::Receiver<Request>,
    busy: &Busy,
) {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let engine = Engine::new(Arc::clone(&clock), source).run(requests);
            runtime.block_on(timed(&*clock, busy, 0, engine));
        }
        Err(error) => tracing::error!("cannot start the thread for pings: {error}"),
    }
}

struct Engine {
    clock: SharedClock,
    source: Option<IpAddr>,
    v4: Door,
    v6: Door,
    /// By cookie.
    running: HashMap<u64, Running, foldhash::fast::RandomState>,
    cookies: HashMap<Series, u64, foldhash::fast::RandomState>,
    /// When each running series has something to do; what is over may still stand here.
    due: BinaryHeap<Reverse<(Duration, u64)>>,
    /// Series whose next packet waits to go out.
    sending: VecDeque<u64>,
    /// When the next batch may go.
    next_batch: Duration,
    identifier: u16,
    warned: bool,
    replies: Vec<Reply>,
    /// Room for the packets of a batch.
    packets: Vec<Vec<u8>>,
}

impl Engine {
    fn new(clock: SharedClock, source: Option<IpAddr>) -> Self {
        let identifier = u16::try_from(std::process::id() & 0xffff).unwrap_or(0);
        Self {
            clock,
            source,
            v4: Door::Closed,
            v6: Door::Closed,
            running: HashMap::default(),
            cookies: HashMap::default(),
            due: BinaryHeap::new(),
            sending: VecDeque::new(),
            next_batch: Duration::ZERO,
            identifier,
            warned: false,
            replies: Vec::new(),
            packets: vec![Vec::new(); BATCH],
        }
    }

    async fn run(mut self, mut requests: queue::Receiver<Request>) {
        loop {
            let now = self.clock.monotonic();
            let wait = self.wake().map_or(CLOCK_CHECK, |at| at.saturating_sub(now));
            let (readable4, readable6) = (readable(&self.v4), readable(&self.v6));
            let request = tokio::select! {
                request = requests.recv() => Some(request),
                () = readable4 => None,
                () = readable6 => None,
                () = tokio::time::sleep(wait) => None,
            };
            match request {
                Some(Some(request)) => {
                    self.begin(request);
                    while let Some(request) = requests.try_recv() {
                        self.begin(request);
                    }
                }
                Some(None) => return,
                None => {}
            }
            self.turn();
        }
    }

    /// Reads what came, gives up on what is too late, sends what is due.
    fn turn(&mut self) {
        self.receive();
        let now = self.clock.monotonic();
        while let Some(Reverse((at, cookie))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            self.act(cookie, now);
        }
        if !self.sending.is_empty() && now >= self.next_batch {
            self.next_batch = now + PACE;
            self.send();
            self.receive();
        }
    }

    fn wake(&self) -> Option<Duration> {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let batch = (!self.sending.is_empty()).then_some(self.next_batch);
        [due, batch].into_iter().flatten().min()
    }

    fn begin(&mut self, Request { series, reply }: Request) {
        let now = self.clock.monotonic();
        if let Some(running) = self.cookies.get(&series).and_then(|c| self.running.get_mut(c))
            && now.saturating_sub(running.began) <= JOIN
        {
            running.waiting.push(reply);
            return;
        }
        if let Err(error) = self.open(family_of(series.to), now) {
            let _gone = reply.send(Err(error));
            return;
        }
        let mut bytes = [0; 8];
        if openssl::rand::rand_bytes(&mut bytes).is_err() {
            let _gone = reply.send(Err(PingError::Refused("no random numbers".to_owned())));
            return;
        }
        let cookie = u64::from_ne_bytes(bytes);
        self.cookies.insert(series.clone(), cookie);
        let waiting = vec![reply];
        let running = Running { series, progress: Progress::default(), began: now, waiting };
        self.running.insert(cookie, running);
        self.sending.push_back(cookie);
    }

    fn door(&mut self, family: Family) -> &mut Door {
        match family {
            Family::V4 => &mut self.v4,
            Family::V6 => &mut self.v6,
        }
    }

    fn open(&mut self, family: Family, now: Duration) -> Result<(), PingError> {
        match self.door(family) {
            Door::Open(_) => return Ok(()),
            Door::Refused(why, until) if now < *until => {
                return Err(PingError::Refused(why.clone()));
            }
            Door::Refused(..) | Door::Closed => {}
        }
        match Icmp::open(family, self.source) {
            Ok(icmp) => {
                *self.door(family) = Door::Open(icmp);
                Ok(())
            }
            Err(refused) => Err(self.refused(family, &refused, now)),
        }
    }

    fn refused(&mut self, family: Family, refused: &Refused, now: Duration) -> PingError {
        let why = refused.to_string();
        if !std::mem::replace(&mut self.warned, true) {
            tracing::warn!("{why}");
        }
        *self.door(family) = Door::Refused(why.clone(), now + REOPEN);
        PingError::Refused(why)
    }

    /// It is a series' time: its next packet, or its end.
    fn act(&mut self, cookie: u64, now: Duration) {
        // It may have ended before its time.
        let Some(running) = self.running.get(&cookie) else { return };
        let (series, progress) = (&running.series, &running.progress);
        if progress.is_over(now, series) {
            let outcome = progress.outcome();
            self.end(cookie, Ok(outcome));
        } else if !running.is_wanted() {
            self.end(cookie, Err(PingError::Stopping));
        } else if progress.sent() < series.packets {
            self.sending.push_back(cookie);
        } else {
            self.due.push(Reverse((progress.next(series), cookie)));
        }
    }

    fn end(&mut self, cookie: u64, answer: Answer) {
        let Some(running) = self.running.remove(&cookie) else { return };
        if self.cookies.get(&running.series) == Some(&cookie) {
            self.cookies.remove(&running.series);
        }
        running.end(answer);
    }

    /// Sends one batch of one family.
    fn send(&mut self) {
        let mut batch: Vec<(u64, SocketAddr)> = Vec::with_capacity(BATCH);
        let (mut family, mut bytes) = (None, 0);
        while let Some(cookie) = self.sending.front() {
            let Some(running) = self.running.get(cookie) else {
                self.sending.pop_front();
                continue;
            };
            let (series, number) = (&running.series, running.progress.sent());
            let of = family_of(series.to);
            let full = batch.len() >= BATCH || bytes + series.size > BATCH_BYTES;
            if family.is_some_and(|one| one != of) || (full && !batch.is_empty()) {
                break;
            }
            family = Some(of);
            bytes += series.size;
            let echo = Echo { identifier: self.identifier, cookie: *cookie, number };
            icmp::encode(of, echo, series.size, &mut self.packets[batch.len()]);
            batch.push((*cookie, series.to));
            self.sending.pop_front();
        }
        let Some(family) = family else { return };
        let bytes = std::mem::take(&mut self.packets);
        let packets: Vec<_> = batch
            .iter()
            .zip(&bytes)
            .map(|((_, to), bytes)| Outgoing { to: *to, from: None, bytes })
            .collect();
        let mut done = 0;
        while done < batch.len() {
            let begin = self.clock.monotonic();
            let (result, cookie) = (self.put(family, &packets[done..]), batch[done].0);
            match result {
                Ok(0) => break,
                Ok(out) => {
                    let each = self.clock.monotonic().saturating_sub(begin)
                        / u32::try_from(out).unwrap_or(u32::MAX);
                    let mut at = begin;
                    for (cookie, _) in &batch[done..done + out] {
                        self.left(*cookie, at);
                        at += each;
                    }
                    done += out;
                }
                Err(error) if is_busy(&error) => break,
                Err(error) => {
                    if is_unsendable(&error) {
                        self.end(cookie, Err(PingError::Unsendable));
                    } else {
                        // No way there: the packet is lost, like one that is lost on its way.
                        self.left(cookie, begin);
                    }
                    done += 1;
                }
            }
        }
        self.again(&batch[done..]);
        self.packets = bytes;
    }

    fn put(&self, family: Family, packets: &[Outgoing<'_>]) -> std::io::Result<usize> {
        match if family == Family::V4 { &self.v4 } else { &self.v6 } {
            Door::Open(icmp) => icmp.send(packets),
            // Series begin only where there is a socket, which stays.
            Door::Closed | Door::Refused(..) => Ok(0),
        }
    }

    /// A packet of a series has left.
    fn left(&mut self, cookie: u64, at: Duration) {
        let Some(running) = self.running.get_mut(&cookie) else { return };
        running.progress.sent_at(at, &running.series);
        self.due.push(Reverse((running.progress.next(&running.series), cookie)));
    }

    /// What did not leave is the first of the next batch.
    fn again(&mut self, batch: &[(u64, SocketAddr)]) {
        for (cookie, _) in batch.iter().rev() {
            self.sending.push_front(*cookie);
        }
    }

    fn receive(&mut self) {
        let mut replies = std::mem::take(&mut self.replies);
        for door in [&mut self.v4, &mut self.v6] {
            let Door::Open(icmp) = door else { continue };
            let mut reads = 0;
            while reads < READS && icmp.receive(&mut replies) {
                reads += 1;
            }
        }
        if !replies.is_empty() {
            let (now, unix) = (self.clock.monotonic(), self.clock.unix());
            for reply in replies.drain(..) {
                // How long it has been waiting for this thread.
                let waited = reply.at.map_or(Duration::ZERO, |at| unix.saturating_sub(at));
                self.take(&reply, now.saturating_sub(waited), now);
            }
        }
        self.replies = replies;
    }

    fn take(&mut self, reply: &Reply, at: Duration, now: Duration) {
        let Some(running) = self.running.get_mut(&reply.echo.cookie) else { return };
        let series = &running.series;
        if reply.from != series.to.ip() && !series.redirect {
            return;
        }
        running.progress.answered(reply.echo.number, at, series);
        if running.progress.is_over(now, series) {
            let outcome = running.progress.outcome();
            self.end(reply.echo.cookie, Ok(outcome));
        }
    }
}

async fn readable(door: &Door) {
    match door {
        Door::Open(icmp) => icmp.readable().await,
        Door::Closed | Door::Refused(..) => std::future::pending().await,
    }
}

/// The system has no room for more just now.
fn is_busy(error: &std::io::Error) -> bool {
    const ENOBUFS: i32 = 105;
    error.kind() == std::io::ErrorKind::WouldBlock || error.raw_os_error() == Some(ENOBUFS)
}

/// The system would never send it: too long, or an address for nothing of the kind.
fn is_unsendable(error: &std::io::Error) -> bool {
    const EINVAL: i32 = 22;
    const EMSGSIZE: i32 = 90;
    matches!(error.raw_os_error(), Some(EINVAL | EMSGSIZE))
}
