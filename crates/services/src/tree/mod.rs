//! The tree of services with the status of each, kept up to date. A service may have several parents.
//!
//! A change costs the services that it concerns and their ancestors: each service counts what its children
//! show ([`Tally`]), and services are looked at from the bottom to the top, each once.

mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use objects::Severity;

use rules::Tally;
pub use rules::{Propagation, Service, Status, StatusRule, from_number, number};

/// A service that has another status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub service: u64,
    pub before: Status,
    pub after: Status,
}

#[derive(Debug)]
struct Node {
    id: u64,
    service: Service,
    parents: Vec<usize>,
    children: Vec<usize>,
    /// Its own problems by severity.
    problems: [u64; Severity::ALL.len()],
    tally: Tally,
    /// What its parents have counted of it.
    shown: Option<(Status, u64)>,
    status: Status,
    /// Longer than the rank of each child.
    rank: usize,
}

impl Node {
    fn own(&self) -> Status {
        let worst = self.problems.iter().rposition(|problems| *problems > 0);
        worst.and_then(|n| Severity::ALL.get(n).copied())
    }

    fn shows(&self) -> Option<(Status, u64)> {
        let status = self.service.propagation.shown(self.status)?;
        Some((status, self.service.weight))
    }
}

/// All services.
#[derive(Debug, Default)]
pub struct Tree {
    /// `None` = free.
    nodes: Vec<Option<Node>>,
    free: Vec<usize>,
    places: HashMap<u64, usize, FixedState>,
    /// Services to look at, by rank.
    dirty: BTreeSet<(usize, usize)>,
    /// What services had before the first change since [`Tree::settle`].
    before: HashMap<usize, Status, FixedState>,
    /// Ranks are to be found again.
    is_reshaped: bool,
}

impl Tree {
    /// Number of services.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// There is no service.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The status of a service as of the last [`Tree::settle`]; `None` = there is no such service.
    pub fn status(&self, service: u64) -> Option<Status> {
        self.places.get(&service).map(|place| self.node(*place).status)
    }

    /// Adds a service, in order and without relatives, or changes what decides its status.
    pub fn put(&mut self, id: u64, service: Service) {
        if let Some(place) = self.places.get(&id).copied() {
            self.node_mut(place).service = service;
            self.touch(place);
            return;
        }
        let node = Node {
            id,
            service,
            parents: Vec::new(),
            children: Vec::new(),
            problems: <_>::default(),
            tally: Tally::default(),
            shown: None,
            status: None,
            rank: 0,
        };
        let place = self.free.pop().unwrap_or(self.nodes.len());
        if place == self.nodes.len() {
            self.nodes.push(None);
        }
        self.nodes[place] = Some(node);
        self.places.insert(id, place);
        let node = self.node_mut(place);
        node.shown = node.shows();
        self.touch(place);
    }

    /// Makes these the parents of a service. Unknown ones are left out.
    pub fn set_parents(&mut self, id: u64, parents: &[u64]) {
        let Some(place) = self.places.get(&id).copied() else { return };
        let mut wanted: Vec<usize> =
            parents.iter().filter_map(|parent| self.places.get(parent).copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let old = std::mem::take(&mut self.node_mut(place).parents);
        for parent in old.iter().filter(|parent| !wanted.contains(parent)) {
            self.unlink(place, *parent);
        }
        for parent in wanted.iter().filter(|parent| !old.contains(parent)) {
            let shown = self.node(place).shown;
            let above = self.node_mut(*parent);
            above.children.push(place);
            if let Some((status, weight)) = shown {
                above.tally.add(status, weight);
            }
            self.touch(*parent);
        }
        self.node_mut(place).parents = wanted;
        self.is_reshaped = true;
    }

    /// The parent no longer counts the child.
    fn unlink(&mut self, child: usize, parent: usize) {
        let shown = self.node(child).shown;
        let above = self.node_mut(parent);
        above.children.retain(|one| *one != child);
        if let Some((status, weight)) = shown {
            above.tally.remove(status, weight);
        }
        self.touch(parent);
    }

    /// Removes a service.
    pub fn remove(&mut self, id: u64) {
        let Some(place) = self.places.remove(&id) else { return };
        for parent in std::mem::take(&mut self.node_mut(place).parents) {
            self.unlink(place, parent);
        }
        for child in std::mem::take(&mut self.node_mut(place).children) {
            self.node_mut(child).parents.retain(|one| *one != place);
        }
        self.dirty.remove(&(self.node(place).rank, place));
        self.before.remove(&place);
        self.nodes[place] = None;
        self.free.push(place);
        self.is_reshaped = true;
    }

    /// A problem of the service itself begins, ends, or has another severity.
    pub fn change_problem(
        &mut self,
        service: u64,
        before: Option<Severity>,
        after: Option<Severity>,
    ) {
        let Some(place) = self.places.get(&service).copied() else { return };
        let node = self.node_mut(place);
        if let Some(severity) = before {
            node.problems[severity as usize] -= 1;
        }
        if let Some(severity) = after {
            node.problems[severity as usize] += 1;
        }
        self.touch(place);
    }

    /// Sets the status that a service had when it was last looked at: what differs is then a change.
    pub fn remember(&mut self, service: u64, status: Status) {
        if let Some(place) = self.places.get(&service).copied() {
            self.before.insert(place, status);
            self.touch(place);
        }
    }

    /// Finds the status of all services that what was done may concern; those that have another one, in the
    /// order of their ids.
    pub fn settle(&mut self) -> Vec<Change> {
        if std::mem::take(&mut self.is_reshaped) {
            self.rank();
        }
        while let Some((_, place)) = self.dirty.pop_first() {
            let node = self.node(place);
            let status = node.service.status(node.own(), &node.tally);
            let before = node.status;
            self.before.entry(place).or_insert(before);
            self.node_mut(place).status = status;
            self.show(place);
        }
        let before = std::mem::take(&mut self.before);
        let change = |(place, before): (usize, Status)| {
            let node = self.node(place);
            Change { service: node.id, before, after: node.status }
        };
        let changes = before.into_iter().map(change);
        let mut changes: Vec<Change> = changes.filter(|one| one.before != one.after).collect();
        changes.sort_unstable_by_key(|one| one.service);
        changes
    }

    /// Tells the parents what the service shows now.
    fn show(&mut self, place: usize) {
        let shows = self.node(place).shows();
        let shown = std::mem::replace(&mut self.node_mut(place).shown, shows);
        if shown == shows {
            return;
        }
        // A node is none of its own parents: its list is put back as it was.
        let parents = std::mem::take(&mut self.node_mut(place).parents);
        for parent in &parents {
            let above = self.node_mut(*parent);
            if let Some((status, weight)) = shown {
                above.tally.remove(status, weight);
            }
            if let Some((status, weight)) = shows {
                above.tally.add(status, weight);
            }
            self.touch(*parent);
        }
        self.node_mut(place).parents = parents;
    }

    fn touch(&mut self, place: usize) {
        let rank = self.node(place).rank;
        self.dirty.insert((rank, place));
    }

    /// Gives each service a rank above those of its children. Links that close a circle, which the API
    /// refuses, are cut.
    fn rank(&mut self) {
        let mut left: Vec<usize> = self
            .nodes
            .iter()
            .map(|node| node.as_ref().map_or(0, |one| one.children.len()))
            .collect();
        let mut ready: Vec<usize> =
            self.places.values().copied().filter(|place| left[*place] == 0).collect();
        let mut ranks = vec![0_usize; self.nodes.len()];
        let mut done = 0;
        loop {
            while let Some(place) = ready.pop() {
                done += 1;
                for parent in &self.node(place).parents {
                    ranks[*parent] = ranks[*parent].max(ranks[place] + 1);
                    left[*parent] -= 1;
                    if left[*parent] == 0 {
                        ready.push(*parent);
                    }
                }
            }
            if done == self.places.len() {
                break;
            }
            let Some(stuck) = left.iter().position(|left| *left > 0) else { break };
            self.cut(stuck, &mut left);
            ready.push(stuck);
        }
        for (place, rank) in ranks.into_iter().enumerate() {
            if let Some(node) = &mut self.nodes[place] {
                node.rank = rank;
            }
        }
        let dirty = std::mem::take(&mut self.dirty);
        self.dirty = dirty.into_iter().map(|(_, place)| (self.node(place).rank, place)).collect();
    }

    /// Takes the children away that have not got a rank.
    fn cut(&mut self, place: usize, left: &mut [usize]) {
        let id = self.node(place).id;
        tracing::error!(service = id, "services form a circle; its children are ignored");
        let children = self.node(place).children.clone();
        for child in children.into_iter().filter(|child| left[*child] > 0) {
            self.node_mut(child).parents.retain(|one| *one != place);
            self.unlink(child, place);
        }
        left[place] = 0;
    }

    fn node(&self, place: usize) -> &Node {
        self.nodes[place].as_ref().expect("BUG: a removed service is still referred to")
    }

    fn node_mut(&mut self, place: usize) -> &mut Node {
        self.nodes[place].as_mut().expect("BUG: a removed service is still referred to")
    }
}
