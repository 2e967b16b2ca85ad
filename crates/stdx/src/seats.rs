//! A bounded table of connections that sources share fairly: when it is full, the newcomer takes the
//! place of the longest idle connection of the source that holds the most.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::sync::lock;

mod table;

use table::Table;

/// The source that an address counts as: IPv6 clients own whole /64 networks, and IPv4 addresses may
/// come in the form of IPv6.
pub fn source(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
        ip => ip,
    }
}

/// The table.
#[derive(Debug)]
pub struct Seats {
    total_max: usize,
    source_max: usize,
    table: Mutex<Table>,
    /// Notified when a seat becomes free or idle.
    freed: Notify,
}

/// The place of one connection; free when dropped.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    at: u32,
    evict: Arc<Notify>,
}

/// A seat in use: no eviction until dropped.
#[derive(Debug)]
pub struct Busy(Arc<Seat>);

enum Taken {
    Seat(Arc<Seat>),
    /// A seat has to become free or idle first.
    Later,
    Refused,
}

impl Seats {
    /// At most `total_max` seats, at most `source_max` of them for one source.
    pub fn new(total_max: usize, source_max: usize) -> Arc<Self> {
        Arc::new(Self {
            total_max: total_max.max(1),
            source_max: source_max.max(1),
            table: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Seats taken now.
    pub fn taken(&self) -> usize {
        lock(&self.table).held()
    }

    /// A seat for a new connection, which is idle. In a full table an idle connection is evicted for
    /// it; waits until that one has closed, or while all connections are busy. `None` = the source
    /// has as many connections as it may have, all of them busy.
    pub async fn take(self: &Arc<Self>, ip: IpAddr) -> Option<Arc<Seat>> {
        let source = source(ip);
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            match self.try_take(source) {
                Taken::Seat(seat) => return Some(seat),
                Taken::Refused => return None,
                Taken::Later => freed.await,
            }
        }
    }

    /// Resolves when no connection is left.
    pub async fn empty(&self) {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            {
                let mut table = lock(&self.table);
                if table.held() == 0 {
                    return;
                }
                table.awaited = true;
            }
            freed.await;
        }
    }

    fn try_take(self: &Arc<Self>, source: IpAddr) -> Taken {
        let mut table = lock(&self.table);
        if table.seats_of(source) >= self.source_max && !table.evict_of(source) {
            return Taken::Refused;
        }
        if table.held() >= self.total_max {
            if table.evicting() == 0 {
                table.evict_one();
            }
            table.awaited = true;
            return Taken::Later;
        }
        let evict = Arc::new(Notify::new());
        let at = table.take(source, Arc::clone(&evict));
        Taken::Seat(Arc::new(Seat { seats: Arc::clone(self), at, evict }))
    }

    /// Wakes callers that wait for a change of the table.
    fn changed(&self, awaited: bool) {
        if awaited {
            self.freed.notify_waiters();
        }
    }

    /// Evicts one connection, for when the process itself has run out of something. Returns whether
    /// there was an idle one.
    pub fn evict_one(&self) -> bool {
        lock(&self.table).evict_one()
    }
}

impl Seat {
    /// The connection works on a request: it is not evicted until the results of all requests are
    /// dropped. `None` = it has been evicted already.
    pub fn busy(self: &Arc<Self>) -> Option<Busy> {
        lock(&self.seats.table).begin(self.at).then(|| Busy(Arc::clone(self)))
    }

    /// Resolves when the connection has to close.
    pub async fn evicted(&self) {
        self.evict.notified().await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let seats = &self.0.seats;
        let mut table = lock(&seats.table);
        let awaited = table.end(self.0.at) && std::mem::take(&mut table.awaited);
        drop(table);
        seats.changed(awaited);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = lock(&self.seats.table);
        table.give_back(self.at);
        let awaited = std::mem::take(&mut table.awaited);
        drop(table);
        self.seats.changed(awaited);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn now<F: Future>(future: F) -> Option<F::Output> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    fn take(seats: &Arc<Seats>, last: u8) -> Option<Arc<Seat>> {
        now(seats.take(ip(last))).map(|taken| taken.expect("not refused"))
    }

    fn evicted(seats: &[Arc<Seat>]) -> Vec<usize> {
        (0..seats.len()).filter(|n| now(seats[*n].evicted()).is_some()).collect()
    }

    #[test]
    fn newcomer_takes_the_longest_idle_seat_of_the_biggest_source() {
        let seats = Seats::new(5, 4);
        let mut held: Vec<_> = [1, 2, 2, 2, 1].iter().map(|n| take(&seats, *n).unwrap()).collect();
        let busy = held[1].busy().unwrap();
        assert_eq!(take(&seats, 3).map(drop), None, "the evicted one has to close first");
        assert_eq!(evicted(&held), [2]);
        drop(held.remove(2));
        let third = take(&seats, 3).unwrap();
        // Idle again, but for a shorter time than the next one.
        drop(busy);
        assert_eq!(seats.taken(), 5);
        assert_eq!(take(&seats, 3).map(drop), None);
        let gone = evicted(&held);
        assert_eq!(gone.len(), 1);
        assert!(now(third.evicted()).is_none(), "the source with one connection keeps it");
        drop(held.remove(gone[0]));
        let fourth = take(&seats, 3).unwrap();
        drop((held, third, fourth));
        assert_eq!(seats.taken(), 0);
        assert!(lock(&seats.table).is_clean());
    }

    #[test]
    fn busy_seats_are_not_evicted() {
        let seats = Seats::new(2, 2);
        let held: Vec<_> = (0..2).map(|_| take(&seats, 1).unwrap()).collect();
        let busy: Vec<_> = held.iter().map(|seat| seat.busy().unwrap()).collect();
        let waker = Waker::noop();
        let mut context = Context::from_waker(waker);
        let mut waiting = pin!(seats.take(ip(2)));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert!(evicted(&held).is_empty() && !seats.evict_one());
        let twice = held[1].busy().unwrap();
        drop(busy);
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert_eq!(evicted(&held), [0]);
        let mut held = held.into_iter();
        drop(held.next());
        assert!(waiting.as_mut().poll(&mut context).is_ready());
        assert!(!seats.evict_one(), "the other one has a second request");
        drop(twice);
        assert!(seats.evict_one());
    }

    #[test]
    fn source_beyond_its_own_limit_evicts_its_own() {
        let seats = Seats::new(9, 2);
        let held: Vec<_> = [1, 2, 2].iter().map(|n| take(&seats, *n).unwrap()).collect();
        let third = take(&seats, 2).unwrap();
        assert_eq!(evicted(&held), [1]);
        assert!(held[1].busy().is_none(), "evicted");
        let _busy = [held[2].busy().unwrap(), third.busy().unwrap()];
        assert!(now(seats.take(ip(2))).unwrap().is_none(), "refused: all its own are busy");
        assert_eq!(evicted(&held), [0; 0]);
    }

    #[test]
    fn ipv6_networks_are_one_source() {
        for (a, b, same) in [
            ("2001:db8::1", "2001:db8::ffff:1", true),
            ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
        ] {
            let of = |text: &str| source(text.parse().unwrap());
            assert_eq!(of(a) == of(b), same, "{a} {b}");
        }
    }
}
