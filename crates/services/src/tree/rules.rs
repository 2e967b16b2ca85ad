//! How the status of a service follows from its own problems and from its children.

use objects::{PropagationRule, ServiceAlgorithm, Severity, StatusRuleKind};

/// Status of a service; `None` = it is in order. Worse is greater.
pub type Status = Option<Severity>;

/// The API's number: -1 = in order.
pub fn number(status: Status) -> i64 {
    status.map_or(-1, Severity::number)
}

/// The status with this number of the API.
pub fn from_number(number: i64) -> Status {
    Severity::from_number(number)
}

/// What a service shows its parents of its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Propagation {
    pub rule: PropagationRule,
    /// Severities to add or to take, or the number of the fixed status.
    pub value: i64,
}

impl Propagation {
    /// The status as parents see it; `None` = the service does not count as a child.
    pub(crate) fn shown(self, status: Status) -> Option<Status> {
        let Some(severity) = status else {
            return (self.rule != PropagationRule::Ignore).then_some(None);
        };
        let moved = |by: i64| from_number((severity.number() + by).clamp(0, 5));
        Some(match self.rule {
            PropagationRule::AsIs => status,
            PropagationRule::Increase => moved(self.value),
            PropagationRule::Decrease => moved(-self.value),
            PropagationRule::Ignore => return None,
            PropagationRule::Fixed => from_number(self.value),
        })
    }
}

/// A further rule: it applies if enough children are so bad, or too few of them are so good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusRule {
    pub kind: StatusRuleKind,
    /// Children, per cent, or weight.
    pub limit: u64,
    /// The status that children are compared with.
    pub status: Status,
    /// The status that the service then has at least.
    pub new_status: Severity,
}

/// What decides the status of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub algorithm: ServiceAlgorithm,
    pub propagation: Propagation,
    pub weight: u64,
    pub rules: Vec<StatusRule>,
}

/// Every status: in order, and the severities.
pub(crate) const STATUSES: usize = 1 + Severity::ALL.len();

/// Place of a status in a [`Tally`].
fn place(status: Status) -> usize {
    status.map_or(0, |severity| 1 + severity as usize)
}

fn status_at(place: usize) -> Status {
    place.checked_sub(1).and_then(|n| Severity::ALL.get(n).copied())
}

/// How many children show which status, and their weights: a child that changes costs a parent with
/// many children no more than one with few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    children: [u64; STATUSES],
    weights: [u64; STATUSES],
}

impl Tally {
    pub(crate) fn add(&mut self, status: Status, weight: u64) {
        let at = place(status);
        self.children[at] += 1;
        self.weights[at] += weight;
    }

    pub(crate) fn remove(&mut self, status: Status, weight: u64) {
        let at = place(status);
        self.children[at] -= 1;
        self.weights[at] -= weight;
    }

    /// The worst status that a child shows; `None` also without children.
    fn worst(&self) -> Status {
        let worst = self.children.iter().rposition(|children| *children > 0);
        worst.and_then(status_at)
    }

    fn total(&self) -> u64 {
        self.children.iter().sum()
    }

    fn meets(&self, rule: &StatusRule) -> bool {
        let counts = if rule.kind.is_of_weights() { &self.weights } else { &self.children };
        let (lower, upper) = counts.split_at(place(rule.status));
        let own = counts[place(rule.status)];
        let found: u64 = if rule.kind.wants_few() {
            lower.iter().sum::<u64>() + own
        } else {
            upper.iter().sum()
        };
        let all: u64 = counts.iter().sum();
        // Nothing is no share of nothing.
        if self.total() == 0 || (rule.kind.is_percent() && all == 0) {
            return false;
        }
        let (found, limit) = if rule.kind.is_percent() {
            (found * 100, rule.limit * all)
        } else {
            (found, rule.limit)
        };
        if rule.kind.wants_few() { found < limit } else { found >= limit }
    }
}

impl Service {
    /// The status by the worst of its own problems and by what its children show. `algorithm` is about children
    /// alone. Observed on Zabbix 7.0.22.
    pub(crate) fn status(&self, own: Status, children: &Tally) -> Status {
        let of_children = match self.algorithm {
            ServiceAlgorithm::Ok => None,
            ServiceAlgorithm::AllChildren if children.children[0] > 0 => None,
            ServiceAlgorithm::AllChildren | ServiceAlgorithm::MostCritical => children.worst(),
        };
        let rules = self.rules.iter().filter(|rule| children.meets(rule));
        let by_rules = rules.map(|rule| rule.new_status).max();
        own.max(of_children).max(by_rules)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(children: &[(i64, u64)]) -> Tally {
        let mut tally = Tally::default();
        for (status, weight) in children {
            tally.add(from_number(*status), *weight);
        }
        tally
    }

    #[test]
    fn what_parents_see() {
        use PropagationRule as Rule;
        for (rule, value, status, shown) in [
            (Rule::AsIs, 0, 3, Some(3)),
            (Rule::AsIs, 0, -1, Some(-1)),
            (Rule::Increase, 2, 4, Some(5)),
            (Rule::Increase, 2, 0, Some(2)),
            (Rule::Increase, 5, -1, Some(-1)),
            (Rule::Decrease, 2, 1, Some(0)),
            (Rule::Decrease, 5, -1, Some(-1)),
            (Rule::Ignore, 0, 5, None),
            (Rule::Ignore, 0, -1, None),
            (Rule::Fixed, 4, 0, Some(4)),
            (Rule::Fixed, -1, 5, Some(-1)),
            // One that is in order stays so.
            (Rule::Fixed, 4, -1, Some(-1)),
        ] {
            let found = Propagation { rule, value }.shown(from_number(status)).map(number);
            assert_eq!(found, shown, "{rule:?} {value} of {status}");
        }
    }

    #[test]
    fn status_rules() {
        use StatusRuleKind as Kind;
        let children = [(-1, 1), (0, 2), (3, 5), (5, 2)];
        for (kind, limit, status, met) in [
            (Kind::Children, 2, 3, true),
            (Kind::Children, 3, 3, false),
            (Kind::Children, 4, -1, true),
            (Kind::ChildrenPercent, 50, 1, true),
            (Kind::ChildrenPercent, 51, 1, false),
            (Kind::FewerChildren, 3, 0, true),
            (Kind::FewerChildren, 2, 0, false),
            (Kind::FewerChildrenPercent, 26, -1, true),
            (Kind::FewerChildrenPercent, 25, -1, false),
            (Kind::Weight, 7, 3, true),
            (Kind::Weight, 8, 3, false),
            (Kind::WeightPercent, 70, 3, true),
            (Kind::WeightPercent, 71, 3, false),
            (Kind::LessWeight, 4, 0, true),
            (Kind::LessWeight, 3, 0, false),
            (Kind::LessWeightPercent, 31, 2, true),
            (Kind::LessWeightPercent, 30, 2, false),
        ] {
            let new_status = Severity::High;
            let rule = StatusRule { kind, limit, status: from_number(status), new_status };
            assert_eq!(tally(&children).meets(&rule), met, "{rule:?}");
            // Without children, and without weights, no rule applies.
            assert!(!Tally::default().meets(&rule), "{rule:?}");
            let none = kind.is_of_weights() && kind.is_percent();
            assert!(!none || !tally(&[(5, 0), (-1, 0)]).meets(&rule), "{rule:?}");
        }
    }

    #[test]
    fn algorithms_are_about_children() {
        let service = |algorithm| Service {
            algorithm,
            propagation: Propagation { rule: PropagationRule::AsIs, value: 0 },
            weight: 0,
            rules: Vec::new(),
        };
        for (algorithm, own, children, status) in [
            (ServiceAlgorithm::Ok, -1, &[(5, 0)][..], -1),
            (ServiceAlgorithm::Ok, 2, &[], 2),
            (ServiceAlgorithm::AllChildren, -1, &[(1, 0), (4, 0)], 4),
            (ServiceAlgorithm::AllChildren, -1, &[(1, 0), (-1, 0)], -1),
            (ServiceAlgorithm::AllChildren, 3, &[], 3),
            (ServiceAlgorithm::MostCritical, -1, &[(1, 0), (-1, 0)], 1),
            (ServiceAlgorithm::MostCritical, -1, &[], -1),
        ] {
            let found = service(algorithm).status(from_number(own), &tally(children));
            assert_eq!(number(found), status, "{algorithm:?} {own} {children:?}");
        }
    }
}
