//! Connections of one thread in one table, moved by one epoll: no task, timer or channel for each.
//!
//! Checks and short requests of the trapper are kept so. The
//! owner does what a connection is ready for; the table only knows places and deadlines.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Token};

/// Readiness that one look brings at most.
pub const EVENTS: usize = 1024;

/// What [`Table::wait`] tells of instead of a place: somebody rang, a listener has connections.
const BELL: usize = usize::MAX;
pub const LISTENER: usize = usize::MAX - 1;

/// Deadlines of connections with one time limit: the first is due first.
type Deadlines = VecDeque<(Duration, u32, u32)>;

#[derive(Debug)]
struct Place<C> {
    connection: C,
    /// Tells connections apart that had the same place.
    serial: u32,
}

/// The connections.
pub struct Table<C> {
    poll: mio::Poll,
    events: Events,
    places: Vec<Option<Place<C>>>,
    free: Vec<u32>,
    serial: u32,
    deadlines: BTreeMap<Duration, Deadlines>,
}

impl<C: AsRawFd> Table<C> {
    /// No connection yet.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            poll: mio::Poll::new()?,
            events: Events::with_capacity(EVENTS),
            places: Vec::new(),
            free: Vec::new(),
            serial: 0,
            deadlines: BTreeMap::new(),
        })
    }

    /// Becomes readable when [`Self::wait`] has something to tell.
    pub fn watched(&self) -> std::io::Result<OwnedFd> {
        self.poll.registry().as_fd().try_clone_to_owned()
    }

    /// Ends a [`Self::wait`] from another thread; at most one for each table.
    pub fn bell(&self) -> std::io::Result<mio::Waker> {
        mio::Waker::new(self.poll.registry(), Token(BELL))
    }

    /// Ends a [`Self::wait`] with [`LISTENER`] when there are more connections than before.
    pub fn listen(&self, listener: &impl AsRawFd) -> std::io::Result<()> {
        let fd = listener.as_raw_fd();
        self.poll.registry().register(&mut SourceFd(&fd), Token(LISTENER), Interest::READABLE)
    }

    /// Connections in the table.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// No connection is in the table.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a connection for at most `limit` from `now` (monotonic); back, with the reason, where
    /// the system does not watch it.
    pub fn insert(
        &mut self,
        connection: C,
        interest: Interest,
        (now, limit): (Duration, Duration),
    ) -> Result<(), (C, std::io::Error)> {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            u32::try_from(self.places.len() - 1).expect("BUG: more than 2^32 connections")
        });
        let fd = connection.as_raw_fd();
        let token = Token(at as usize);
        if let Err(error) = self.poll.registry().register(&mut SourceFd(&fd), token, interest) {
            self.free.push(at);
            return Err((connection, error));
        }
        self.serial = self.serial.wrapping_add(1);
        let serial = self.serial;
        self.deadlines.entry(limit).or_default().push_back((now + limit, at, serial));
        if let Some(place) = self.places.get_mut(at as usize) {
            *place = Some(Place { connection, serial });
        }
        Ok(())
    }

    /// Waits at most `patience` (`None` = for ever) and adds the places that are ready to `ready`.
    /// A place may be free or another's by now. Returns how many came.
    pub fn wait(&mut self, patience: Option<Duration>, ready: &mut Vec<usize>) -> usize {
        let before = ready.len();
        if self.poll.poll(&mut self.events, patience).is_ok() {
            ready.extend(self.events.iter().map(|event| event.token().0));
        }
        ready.len() - before
    }

    /// The connection at a place.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut C> {
        self.places.get_mut(at)?.as_mut().map(|place| &mut place.connection)
    }

    /// Takes a connection out.
    pub fn take(&mut self, at: usize) -> Option<C> {
        let place = self.places.get_mut(at)?.take()?;
        self.free.push(u32::try_from(at).unwrap_or(u32::MAX));
        Some(place.connection)
    }

    /// Takes those out that `which` chooses.
    pub fn take_all(&mut self, mut which: impl FnMut(&C) -> bool) -> Vec<C> {
        let chosen = |(at, place): (usize, &Option<Place<C>>)| {
            place.as_ref().is_some_and(|place| which(&place.connection)).then_some(at)
        };
        let places: Vec<usize> = self.places.iter().enumerate().filter_map(chosen).collect();
        places.into_iter().filter_map(|at| self.take(at)).collect()
    }

    /// A connection that was taken out is somebody else's to watch.
    pub fn release(&self, connection: &C) {
        let fd = connection.as_raw_fd();
        // Where it is not watched there is nothing to undo.
        let _unknown = self.poll.registry().deregister(&mut SourceFd(&fd));
    }

    /// Takes those out whose time is over at `now` (monotonic).
    pub fn late(&mut self, now: Duration) -> Vec<C> {
        let mut late = Vec::new();
        let places = &self.places;
        self.deadlines.retain(|_, queue| {
            while let Some((deadline, at, serial)) = queue.front() {
                let there = places.get(*at as usize).and_then(Option::as_ref);
                let open = there.is_some_and(|place| place.serial == *serial);
                if open && *deadline > now {
                    break;
                }
                if open {
                    late.push(*at as usize);
                }
                queue.pop_front();
            }
            !queue.is_empty()
        });
        late.into_iter().filter_map(|at| self.take(at)).collect()
    }

    /// Nothing is kept of what has ended.
    pub fn is_clean(&self) -> bool {
        self.is_empty() && self.deadlines.is_empty()
    }
}
