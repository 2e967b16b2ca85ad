//! Checks without an interface: who is asked has a lane, and the lanes of one group share its
//! places, so that a server that does not answer never keeps the others waiting.
//!
//! A lane whose last check took long, or that has not been asked yet, is slow. Slow lanes together
//! never get a quarter of the places, and each of them gets an eighth at most: what answers finds
//! a place however many others do not. The slow ones keep a quarter for themselves in turn.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use config::snapshot::Item;
use config::snapshot::source::Source;
use eval::key::ItemKey;

use super::group::{Group, Pace, Waits};
use super::lane::{INTERNAL, PINGS};
use super::{Lane, Schedule};

/// The places of one group, and the lanes that wait for one.
#[derive(Debug)]
pub(super) struct Places {
    max: u16,
    taken: u16,
    /// Those of `taken` that slow lanes have.
    slow: u16,
    quick_wait: VecDeque<usize>,
    slow_wait: VecDeque<usize>,
}

impl Places {
    fn new(max: u16) -> Self {
        let (quick_wait, slow_wait) = (VecDeque::new(), VecDeque::new());
        Self { max, taken: 0, slow: 0, quick_wait, slow_wait }
    }

    /// Of all groups.
    pub(super) fn all(pollers: usize) -> Box<[Self]> {
        Group::ALL.iter().map(|group| Self::new(group.places(pollers))).collect()
    }

    /// Checks of one lane at one time.
    fn each(&self, pace: Pace) -> u16 {
        match pace {
            Pace::Quick => self.max / 2,
            Pace::Slow => (self.max / 8).max(1),
        }
    }

    fn has(&self, pace: Pace) -> bool {
        self.taken < self.max && (pace == Pace::Quick || self.slow < self.max - self.max / 4)
    }

    fn line(&mut self, pace: Pace) -> &mut VecDeque<usize> {
        match pace {
            Pace::Quick => &mut self.quick_wait,
            Pace::Slow => &mut self.slow_wait,
        }
    }

    /// The target that waits longest for a free slot, and its line.
    fn next(&mut self) -> Option<(usize, Pace)> {
        let slow = !self.slow_wait.is_empty() && self.has(Pace::Slow);
        let poor = self.slow < self.max / 4 || self.quick_wait.is_empty();
        let pace = if slow && poor { Pace::Slow } else { Pace::Quick };
        if !self.has(pace) {
            return None;
        }
        self.line(pace).pop_front().map(|at| (at, pace))
    }
}

impl Schedule {
    /// The lane in which an item waits; those whom it asks get one when nobody asked them before.
    pub(super) fn lane_for(&mut self, item: &Item, lanes: &[u32]) -> usize {
        match self.shared_lane(item) {
            Some(at) => at,
            None => interface_lane(&self.lanes, item, lanes),
        }
    }

    /// The lane of an item that waits for no interface.
    pub(super) fn shared_lane(&mut self, item: &Item) -> Option<usize> {
        let group = match (self.waits)(item) {
            Waits::Group(group) => group,
            Waits::Nothing => return Some(INTERNAL),
            // Pings: one socket sends them all.
            Waits::Pings => return Some(PINGS),
            Waits::Interface | Waits::Other => return None,
        };
        let whom = whom(group, item);
        if let Some(at) = self.asked.get(&whom) {
            return Some(*at as usize);
        }
        let at = self.new_lane(Lane::shared(group, whom));
        self.asked.insert(whom, u32::try_from(at).expect("BUG: more than 2^32 lanes"));
        Some(at)
    }

    /// One more item waits in a lane.
    pub(super) fn join(&mut self, lane: usize) {
        self.lane(lane).items += 1;
    }

    /// An item waits there no longer: a lane of nobody goes.
    pub(super) fn leave(&mut self, at: usize) {
        let lane = self.lane(at);
        lane.items = lane.items.saturating_sub(1);
        if lane.items == 0 && lane.group.is_some() {
            let whom = lane.whom;
            self.asked.remove(&whom);
            self.retire_lane(at);
        }
    }

    /// Whether a lane may start a check, as far as it is the lane's own matter.
    pub(super) fn may_start(&self, at: usize, now: u32) -> bool {
        let lane = self.lane_ref(at);
        let limit = match (lane.group, at) {
            (Some(group), _) => self.places_ref(group).each(lane.pace),
            (None, INTERNAL | PINGS) => u16::MAX,
            (None, _) => lane.window.size(),
        };
        lane.may_start(now, limit)
    }

    fn places_ref(&self, group: Group) -> &Places {
        self.places.get(group as usize).expect("BUG: a group has places")
    }

    fn places(&mut self, group: Group) -> &mut Places {
        self.places.get_mut(group as usize).expect("BUG: a group has places")
    }

    /// Whether the lane's group has a place for it; otherwise it waits for one.
    pub(super) fn has_place(&mut self, at: usize) -> bool {
        let lane = self.lane_ref(at);
        let (Some(group), pace) = (lane.group, lane.pace) else { return true };
        let has = self.places_ref(group).has(pace);
        if !has {
            self.lane(at).queued = true;
            self.wait_in_line(at, group, pace);
        }
        has
    }

    fn wait_in_line(&mut self, at: usize, group: Group, pace: Pace) {
        self.lane(at).line = Some(pace);
        self.places(group).line(pace).push_back(at);
    }

    /// A check of a lane takes a place.
    pub(super) fn take_place(&mut self, at: usize) {
        let lane = self.lane_ref(at);
        let (Some(group), pace) = (lane.group, lane.pace) else { return };
        let places = self.places(group);
        places.taken += 1;
        places.slow += u16::from(pace == Pace::Slow);
    }

    /// A check of a lane has ended: its place is another's.
    pub(super) fn give_place(&mut self, at: usize) {
        let lane = self.lane_ref(at);
        let (Some(group), pace) = (lane.group, lane.pace) else { return };
        let places = self.places(group);
        places.taken -= 1;
        places.slow -= u16::from(pace == Pace::Slow);
        self.offer(group);
    }

    /// Reactivates a target that waits for a slot of the queue's group.
    pub(super) fn offer_instead_of(&mut self, at: usize) {
        if let Some(group) = self.lane_ref(at).group {
            self.offer(group);
        }
    }

    fn offer(&mut self, group: Group) {
        while let Some((at, pace)) = self.places(group).next() {
            let lane = self.lane(at);
            if lane.line != Some(pace) || lane.group != Some(group) {
                // It has gone, or changed the line.
                continue;
            }
            let now = lane.pace;
            if now != pace {
                self.wait_in_line(at, group, now);
                continue;
            }
            lane.line = None;
            self.runnable.push_front(at);
            return;
        }
    }

    /// A check took `spent` of the `timeout` that it had: what that tells of the lane's pace. Before
    /// the check is completed.
    pub(crate) fn paced(&mut self, at: usize, spent: Duration, timeout: Duration) {
        let lane = self.lane(at);
        let Some(group) = lane.group else {
            let more = !lane.ready.is_empty();
            return lane.window.hear(spent, timeout, more);
        };
        let pace = Pace::of(spent, timeout);
        if lane.pace == pace {
            return;
        }
        lane.pace = pace;
        let (in_flight, line) = (lane.in_flight, lane.line);
        let places = self.places(group);
        if pace == Pace::Slow {
            places.slow += in_flight;
            return;
        }
        places.slow -= in_flight;
        if line.is_some() {
            self.wait_in_line(at, group, pace);
        }
        // The slow ones have so many places more, and the lane may have one at once.
        for _ in 0..=in_flight {
            self.offer(group);
        }
    }
}

/// The one of a host's lanes that is the item's interface's.
pub(super) fn interface_lane(all: &[Lane], item: &Item, lanes: &[u32]) -> usize {
    let of = |at: &&u32| all.get(**at as usize).is_some_and(|l| l.interface == item.interface());
    // Each interface that an item names has a lane.
    lanes.iter().find(of).map_or(INTERNAL, |at| *at as usize)
}

/// Whom a check asks, as a number: checks of one group with equal numbers share a lane. A server
/// is named by its place (of an URL, or address and port), a database by its connection; whom a
/// program or a script asks nobody knows, so that it is the host.
fn whom(group: Group, item: &Item) -> u64 {
    let mut hasher = DefaultHasher::new();
    group.hash(&mut hasher);
    let source = item.extra.as_ref().map(|extra| &extra.source);
    let web = match source {
        Some(Source::Http(http)) => Some((http.proxy.as_str(), http.url.as_str())),
        Some(Source::Web(scenario)) => {
            let first = scenario.steps.first().map_or("", |step| &step.url);
            Some((scenario.proxy.as_str(), first))
        }
        _ => None,
    };
    let params = match group {
        Group::Services | Group::Statistics => &[0, 1, 2][..],
        Group::Vmware => &[0],
        Group::Ssh | Group::Telnet | Group::Database => &[1, 2],
        _ => &[],
    };
    if let Some((proxy, url)) = web {
        let server = server_of(if proxy.is_empty() { url } else { proxy });
        server.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    } else if let Some(key) = ItemKey::parse(&item.key).ok().filter(|_| !params.is_empty()) {
        params.iter().for_each(|number| key.param(*number).hash(&mut hasher));
        let unnamed = || key.param(1).is_none_or(|address| address.is_empty());
        if group != Group::Vmware && unnamed() {
            (item.host, item.interface()).hash(&mut hasher);
        }
    } else {
        item.host.hash(&mut hasher);
    }
    hasher.finish()
}

/// `https://user:word@Server:81/path` → `Server:81`; the scheme stays where no port is.
fn server_of(url: &str) -> &str {
    let scheme = url.find("://").filter(|at| !url[..*at].contains(['/', '?', '.']));
    let begin = scheme.map_or(0, |at| at + 3);
    let rest = &url[begin..];
    let end = begin + rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let place = &url[begin..end];
    match place.rsplit_once('@') {
        Some((_, server)) => server,
        None if place.contains(':') => place,
        None => &url[..end],
    }
}

impl Lane {
    fn shared(group: Group, whom: u64) -> Self {
        Self { group: Some(group), whom, ..Self::new(None, model::InterfaceId(0)) }
    }
}

#[cfg(test)]
mod tests;
