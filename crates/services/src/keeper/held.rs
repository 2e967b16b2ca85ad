//! Which open problems services have, and what that changes in their tree.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use objects::Severity;

use crate::tree::Tree;

/// A problem as services have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    /// Services whose problem tags it has.
    pub(super) services: BTreeSet<u64>,
    /// When its suppression ends; `None` = it is not suppressed, [`i64::MAX`] = only an event ends it.
    pub(super) suppressed_until: Option<i64>,
}

/// Open problems that services have, also suppressed ones, which do not count.
#[derive(Debug, Default)]
pub(super) struct Held {
    problems: HashMap<u64, Problem, FixedState>,
    of_service: HashMap<u64, BTreeSet<u64>, FixedState>,
    /// Ends of suppressions, with the problem.
    ends: BTreeSet<(i64, u64)>,
    /// Pairs of service and problem that are to be stored (`true`) or removed.
    pub(super) links: BTreeMap<(u64, u64), bool>,
}

impl Held {
    pub(super) fn has(&self, event: u64) -> bool {
        self.problems.contains_key(&event)
    }

    /// The problem is now like this; `None` = it is no open problem of a service.
    pub(super) fn set(&mut self, tree: &mut Tree, event: u64, problem: Option<Problem>) {
        let problem = problem.filter(|problem| !problem.services.is_empty());
        let before = self.problems.remove(&event);
        let counted = |problem: Option<&Problem>| -> Option<(Severity, BTreeSet<u64>)> {
            let problem = problem.filter(|problem| problem.suppressed_until.is_none())?;
            Some((problem.severity, problem.services.clone()))
        };
        let (old, new) = (counted(before.as_ref()), counted(problem.as_ref()));
        let services = |side: &Option<(Severity, BTreeSet<u64>)>| {
            side.clone().map_or_else(BTreeSet::new, |one| one.1)
        };
        for service in services(&old).union(&services(&new)) {
            let severity = |side: &Option<(Severity, BTreeSet<u64>)>| {
                side.as_ref().filter(|one| one.1.contains(service)).map(|one| one.0)
            };
            let (was, is) = (severity(&old), severity(&new));
            if was != is {
                tree.change_problem(*service, was, is);
            }
            if was.is_some() != is.is_some() {
                self.links.insert((*service, event), is.is_some());
            }
        }
        for service in before.iter().flat_map(|one| &one.services) {
            if let Some(events) = self.of_service.get_mut(service) {
                events.remove(&event);
                if events.is_empty() {
                    self.of_service.remove(service);
                }
            }
        }
        if let Some(until) = before.and_then(|one| one.suppressed_until) {
            self.ends.remove(&(until, event));
        }
        if let Some(problem) = problem {
            for service in &problem.services {
                self.of_service.entry(*service).or_default().insert(event);
            }
            if let Some(until) = problem.suppressed_until.filter(|until| *until < i64::MAX) {
                self.ends.insert((until, event));
            }
            self.problems.insert(event, problem);
        }
    }

    /// The service no longer has any problem. To be called before it leaves the tree.
    pub(super) fn forget(&mut self, tree: &mut Tree, service: u64) {
        for event in self.of_service.get(&service).cloned().unwrap_or_default() {
            let problem = self.problems.get(&event).cloned();
            let without = problem.map(|mut problem| {
                problem.services.remove(&service);
                problem
            });
            self.set(tree, event, without);
        }
    }

    /// The service has the problem, too.
    pub(super) fn add(&mut self, tree: &mut Tree, event: u64, more: Problem) {
        let services =
            self.problems.get(&event).map(|one| one.services.clone()).unwrap_or_default();
        let services = services.union(&more.services).copied().collect();
        self.set(tree, event, Some(Problem { services, ..more }));
    }

    /// Problems whose suppression ends up to this second.
    pub(super) fn ended(&self, now: i64) -> Vec<u64> {
        self.ends.iter().take_while(|(until, _)| *until <= now).map(|(_, event)| *event).collect()
    }

    /// When the next suppression ends.
    pub(super) fn next_end(&self) -> Option<i64> {
        self.ends.first().map(|(until, _)| *until)
    }

    /// Pairs of service and problem that count.
    pub(super) fn counted(&self) -> BTreeSet<(u64, u64)> {
        let counted = self.problems.iter().filter(|(_, one)| one.suppressed_until.is_none());
        counted
            .flat_map(|(event, one)| one.services.iter().map(|service| (*service, *event)))
            .collect()
    }
}
