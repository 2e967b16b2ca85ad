//! Which connection has which seat, and which one is evicted next. Every change costs the same
//! regardless of the number of connections.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Notify;

/// No slot.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// Requests that are being processed, at least one.
    Busy(u32),
    Evicted,
}

/// One seat that is taken.
#[derive(Debug)]
struct Slot {
    state: State,
    source: u32,
    /// Neighbours in the source's list of idle seats.
    older: u32,
    newer: u32,
    /// Notified when the connection has to close.
    evict: Arc<Notify>,
}

/// One address with seats.
#[derive(Debug)]
struct Source {
    ip: IpAddr,
    /// Seats, without those of evicted connections.
    seats: usize,
    /// The ends of the list of its idle seats, in the order in which they became idle.
    oldest: u32,
    newest: u32,
}

/// The seats that are taken, by source.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Option<Slot>>,
    free_slots: Vec<u32>,
    sources: Vec<Option<Source>>,
    free_sources: Vec<u32>,
    by_ip: HashMap<IpAddr, u32>,
    /// Sources with an idle seat, by their number of seats.
    ranks: BTreeSet<(usize, u32)>,
    held: usize,
    evicting: usize,
    /// A caller waits for a change.
    pub(super) awaited: bool,
}

/// A place for a new entry.
fn place<T>(entries: &mut Vec<Option<T>>, free: &mut Vec<u32>, entry: T) -> u32 {
    let at = free.pop().unwrap_or_else(|| {
        entries.push(None);
        u32::try_from(entries.len() - 1).expect("BUG: more than 2^32 connections")
    });
    entries[at as usize] = Some(entry);
    at
}

impl Table {
    /// Seats taken, with those of evicted connections that have not closed yet.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Seats of evicted connections that have not closed yet.
    pub(super) fn evicting(&self) -> usize {
        self.evicting
    }

    /// Seats of a source, without those of evicted connections.
    pub(super) fn seats_of(&self, ip: IpAddr) -> usize {
        self.by_ip.get(&ip).map_or(0, |at| self.source(*at).seats)
    }

    /// Takes an idle seat for a connection of `ip`. `evict` is notified when it has to close.
    pub(super) fn take(&mut self, ip: IpAddr, evict: Arc<Notify>) -> u32 {
        let source = match self.by_ip.get(&ip) {
            Some(source) => *source,
            None => {
                let source = Source { ip, seats: 0, oldest: NONE, newest: NONE };
                let source = place(&mut self.sources, &mut self.free_sources, source);
                self.by_ip.insert(ip, source);
                source
            }
        };
        let slot = Slot { state: State::Idle, source, older: NONE, newer: NONE, evict };
        let at = place(&mut self.slots, &mut self.free_slots, slot);
        self.held += 1;
        self.change(source, |table| {
            table.source_mut(source).seats += 1;
            table.link(at);
        });
        at
    }

    /// One more request of a seat; `false` = it has been evicted.
    pub(super) fn begin(&mut self, at: u32) -> bool {
        let slot = self.slot_mut(at);
        match slot.state {
            State::Evicted => return false,
            State::Busy(requests) => slot.state = State::Busy(requests + 1),
            State::Idle => {
                slot.state = State::Busy(1);
                let source = slot.source;
                self.change(source, |table| table.unlink(at));
            }
        }
        true
    }

    /// A request of a seat is done. Returns whether the seat is idle now.
    pub(super) fn end(&mut self, at: u32) -> bool {
        let slot = self.slot_mut(at);
        match slot.state {
            State::Busy(1) => {
                slot.state = State::Idle;
                let source = slot.source;
                self.change(source, |table| table.link(at));
                true
            }
            State::Busy(requests) => {
                slot.state = State::Busy(requests - 1);
                false
            }
            // A busy seat is not evicted.
            State::Idle | State::Evicted => false,
        }
    }

    /// The connection of a seat has closed.
    pub(super) fn give_back(&mut self, at: u32) {
        let Slot { state, source, .. } = *self.slot(at);
        self.held -= 1;
        match state {
            State::Evicted => self.evicting -= 1,
            State::Idle | State::Busy(_) => self.change(source, |table| {
                if state == State::Idle {
                    table.unlink(at);
                }
                table.source_mut(source).seats -= 1;
            }),
        }
        self.slots[at as usize] = None;
        self.free_slots.push(at);
    }

    /// Evicts the longest idle connection of a source, if it has an idle one.
    pub(super) fn evict_of(&mut self, ip: IpAddr) -> bool {
        self.by_ip.get(&ip).copied().is_some_and(|source| self.evict(source))
    }

    /// The same of the source that has the most connections of those with an idle one.
    pub(super) fn evict_one(&mut self) -> bool {
        self.ranks.last().copied().is_some_and(|(_, source)| self.evict(source))
    }

    fn evict(&mut self, source: u32) -> bool {
        let at = self.source(source).oldest;
        if at == NONE {
            return false;
        }
        self.evicting += 1;
        self.change(source, |table| {
            table.unlink(at);
            table.source_mut(source).seats -= 1;
        });
        let slot = self.slot_mut(at);
        slot.state = State::Evicted;
        slot.evict.notify_one();
        true
    }

    /// Changes a source's seats, updates its rank, and removes it with its last seat.
    fn change(&mut self, source: u32, work: impl FnOnce(&mut Self)) {
        let before = self.rank(source);
        work(self);
        let after = self.rank(source);
        if before != after {
            if let Some(rank) = before {
                self.ranks.remove(&rank);
            }
            self.ranks.extend(after);
        }
        let Source { ip, seats, .. } = *self.source(source);
        if seats == 0 {
            self.by_ip.remove(&ip);
            self.sources[source as usize] = None;
            self.free_sources.push(source);
        }
    }

    fn rank(&self, at: u32) -> Option<(usize, u32)> {
        let source = self.source(at);
        (source.oldest != NONE).then_some((source.seats, at))
    }

    /// Appends a seat to its source's idle ones.
    fn link(&mut self, at: u32) {
        let source = self.slot(at).source;
        let newest = std::mem::replace(&mut self.source_mut(source).newest, at);
        let slot = self.slot_mut(at);
        (slot.older, slot.newer) = (newest, NONE);
        match newest {
            NONE => self.source_mut(source).oldest = at,
            newest => self.slot_mut(newest).newer = at,
        }
    }

    /// Takes a seat out of its source's idle ones.
    fn unlink(&mut self, at: u32) {
        let Slot { source, older, newer, .. } = *self.slot(at);
        match older {
            NONE => self.source_mut(source).oldest = newer,
            older => self.slot_mut(older).newer = newer,
        }
        match newer {
            NONE => self.source_mut(source).newest = older,
            newer => self.slot_mut(newer).older = older,
        }
    }

    fn slot(&self, at: u32) -> &Slot {
        self.slots[at as usize].as_ref().expect("BUG: a seat was given back twice")
    }

    fn slot_mut(&mut self, at: u32) -> &mut Slot {
        self.slots[at as usize].as_mut().expect("BUG: a seat was given back twice")
    }

    fn source(&self, at: u32) -> &Source {
        self.sources[at as usize].as_ref().expect("BUG: a source with seats was forgotten")
    }

    fn source_mut(&mut self, at: u32) -> &mut Source {
        self.sources[at as usize].as_mut().expect("BUG: a source with seats was forgotten")
    }

    /// Nothing is kept of connections that have closed.
    #[cfg(test)]
    pub(super) fn is_clean(&self) -> bool {
        let none = self.held == 0 && self.evicting == 0 && self.ranks.is_empty();
        none && self.by_ip.is_empty()
            && self.slots.iter().all(Option::is_none)
            && self.sources.iter().all(Option::is_none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule, implemented without regard to cost.
    #[derive(Default)]
    struct Model {
        /// Seat, source, requests, since when idle.
        seats: Vec<(u32, IpAddr, u32, u64)>,
        moment: u64,
    }

    impl Model {
        fn of(&self, ip: IpAddr) -> usize {
            self.seats.iter().filter(|seat| seat.1 == ip).count()
        }

        fn seat(&mut self, at: u32) -> Option<&mut (u32, IpAddr, u32, u64)> {
            self.seats.iter_mut().find(|seat| seat.0 == at)
        }

        /// Seats of the biggest sources with an idle seat that are idle longest.
        fn next(&self) -> Vec<u32> {
            let idle: Vec<_> = self.seats.iter().filter(|seat| seat.2 == 0).collect();
            let most = idle.iter().map(|seat| self.of(seat.1)).max();
            let longest = |seat: &&&(u32, IpAddr, u32, u64)| {
                let own = idle.iter().filter(|other| other.1 == seat.1);
                Some(self.of(seat.1)) == most && own.map(|o| o.3).min() == Some(seat.3)
            };
            idle.iter().filter(longest).map(|seat| seat.0).collect()
        }
    }

    #[test]
    fn evicts_as_the_rule_says_after_any_changes() {
        let mut random = 7_u64;
        let mut next = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % below
        };
        let (mut table, mut model) = (Table::default(), Model::default());
        let mut evicted = Vec::new();
        for _ in 0..20_000 {
            let chosen = match model.seats.len() {
                0 => None,
                seats => Some(model.seats[next(seats)].0),
            };
            model.moment += 1;
            let moment = model.moment;
            match (next(if model.seats.len() < 40 { 10 } else { 8 }), chosen) {
                (0 | 1, Some(at)) => {
                    model.seats.retain(|seat| seat.0 != at);
                    table.give_back(at);
                }
                (2 | 3, Some(at)) => {
                    assert!(table.begin(at));
                    model.seat(at).unwrap().2 += 1;
                }
                (4 | 5, Some(at)) if model.seat(at).unwrap().2 > 0 => {
                    let seat = model.seat(at).unwrap();
                    seat.2 -= 1;
                    seat.3 = moment;
                    let idle = seat.2 == 0;
                    assert_eq!(table.end(at), idle);
                }
                (6, _) => {
                    let expected = model.next();
                    assert_eq!(table.evict_one(), !expected.is_empty());
                    let gone = |seat: &&u32| table.slot(**seat).state == State::Evicted;
                    if let Some(at) = expected.iter().find(gone) {
                        model.seats.retain(|seat| seat.0 != *at);
                        assert!(!table.begin(*at));
                        evicted.push(*at);
                    } else {
                        assert!(expected.is_empty(), "another one was evicted");
                    }
                }
                (7, _) => evicted.drain(..).for_each(|at| table.give_back(at)),
                (8.., _) => {
                    let ip = IpAddr::from([10, 0, 0, next(4) as u8]);
                    model.seats.push((table.take(ip, Arc::default()), ip, 0, moment));
                    assert_eq!(table.seats_of(ip), model.of(ip));
                }
                _ => {}
            }
            assert_eq!(table.held(), model.seats.len() + evicted.len());
            assert_eq!(table.evicting(), evicted.len());
        }
        assert!(model.moment == 20_000 && !model.seats.is_empty());
        evicted.into_iter().chain(model.seats.iter().map(|seat| seat.0)).for_each(|at| {
            table.give_back(at);
        });
        assert!(table.is_clean());
    }
}
