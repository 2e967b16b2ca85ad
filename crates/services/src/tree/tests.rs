//! The tree against a recomputation of everything, and against a recording.

use std::collections::BTreeMap;

use objects::{PropagationRule, ServiceAlgorithm, StatusRuleKind};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;

/// What a service is, and which services below it are its children.
type Spec = (Service, Vec<usize>);

/// Statuses of all services from the bottom to the top, children before parents.
fn recomputed(services: &[Spec], own: &[Status]) -> Vec<Status> {
    let mut statuses: Vec<Status> = Vec::new();
    for (n, (service, children)) in services.iter().enumerate() {
        let mut tally = Tally::default();
        for child in children {
            let below = &services[*child].0;
            if let Some(shown) = below.propagation.shown(statuses[*child]) {
                tally.add(shown, below.weight);
            }
        }
        statuses.push(service.status(own[n], &tally));
    }
    statuses
}

fn tree_of(services: &[Spec]) -> Tree {
    let mut tree = Tree::default();
    for (n, (service, _)) in services.iter().enumerate() {
        tree.put(n as u64, service.clone());
    }
    for n in 0..services.len() {
        tree.set_parents(n as u64, &parents_of(services, n));
    }
    tree
}

fn parents_of(services: &[Spec], child: usize) -> Vec<u64> {
    let above = services.iter().enumerate().filter(|(_, (_, children))| children.contains(&child));
    above.map(|(n, _)| n as u64).collect()
}

fn statuses(tree: &Tree, services: usize) -> Vec<Status> {
    (0..services as u64).map(|id| tree.status(id).unwrap()).collect()
}

fn service(numbers: (i64, i64, i64, u64), rules: &[(i64, u64, i64, i64)]) -> Service {
    let (algorithm, rule, value, weight) = numbers;
    let rules = rules.iter().map(|(kind, limit, status, new_status)| StatusRule {
        kind: StatusRuleKind::from_number(*kind).unwrap(),
        limit: *limit,
        status: from_number(*status),
        new_status: Severity::from_number(*new_status).unwrap(),
    });
    Service {
        algorithm: ServiceAlgorithm::from_number(algorithm).unwrap(),
        propagation: Propagation { rule: PropagationRule::from_number(rule).unwrap(), value },
        weight,
        rules: rules.collect(),
    }
}

fn any_service() -> impl Strategy<Value = Service> {
    let rule = (0..8_i64, 1..100_u64, -1..6_i64, 0..6_i64);
    let numbers = (0..3_i64, 0..5_i64, 0..6_i64, 0..10_u64);
    (numbers, prop::collection::vec(rule, 0..3))
        .prop_map(|(numbers, rules)| service(numbers, &rules))
}

fn any_services() -> impl Strategy<Value = Vec<Spec>> {
    let one = (any_service(), prop::collection::vec(any::<prop::sample::Index>(), 0..5));
    prop::collection::vec(one, 1..25).prop_map(|all| {
        let spec = |(n, (service, children)): (usize, (Service, Vec<prop::sample::Index>))| {
            let children = children.iter().filter(|_| n > 0).map(|child| child.index(n));
            let mut children: Vec<usize> = children.collect();
            children.sort_unstable();
            children.dedup();
            (service, children)
        };
        all.into_iter().enumerate().map(spec).collect()
    })
}

/// What happens to a tree.
#[derive(Debug, Clone)]
enum Step {
    Problem(prop::sample::Index, Severity),
    End(prop::sample::Index),
    Put(prop::sample::Index, Service),
    /// The service loses its children.
    Bare(prop::sample::Index),
}

fn any_step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (index(), 0..6_i64)
            .prop_map(|(n, severity)| Step::Problem(n, Severity::from_number(severity).unwrap())),
        3 => index().prop_map(Step::End),
        1 => (index(), any_service()).prop_map(|(n, service)| Step::Put(n, service)),
        1 => index().prop_map(Step::Bare),
    ]
}

proptest! {
    #[test]
    fn it_is_as_if_all_were_recomputed(
        mut services in any_services(),
        rounds in prop::collection::vec(prop::collection::vec(any_step(), 1..6), 1..12),
    ) {
        let mut tree = tree_of(&services);
        let mut problems: BTreeMap<usize, Vec<Severity>> = BTreeMap::new();
        let mut known = vec![None; services.len()];
        for steps in rounds {
            for step in steps {
                match step {
                    Step::Problem(n, severity) => {
                        let n = n.index(services.len());
                        problems.entry(n).or_default().push(severity);
                        tree.change_problem(n as u64, None, Some(severity));
                    }
                    Step::End(n) => {
                        let n = n.index(services.len());
                        if let Some(severity) = problems.entry(n).or_default().pop() {
                            tree.change_problem(n as u64, Some(severity), None);
                        }
                    }
                    Step::Put(n, service) => {
                        let n = n.index(services.len());
                        services[n].0 = service.clone();
                        tree.put(n as u64, service);
                    }
                    Step::Bare(n) => {
                        let at = n.index(services.len());
                        let children = std::mem::take(&mut services[at].1);
                        for child in children {
                            tree.set_parents(child as u64, &parents_of(&services, child));
                        }
                    }
                }
            }
            let changes = tree.settle();
            let own: Vec<Status> =
                (0..services.len()).map(|n| problems.get(&n)?.iter().copied().max()).collect();
            let expected = recomputed(&services, &own);
            prop_assert_eq!(statuses(&tree, services.len()), expected.clone());
            // Exactly what differs is told.
            let mut told = known.clone();
            for change in &changes {
                prop_assert!(change.before != change.after);
                prop_assert_eq!(told[change.service as usize], change.before);
                told[change.service as usize] = change.after;
            }
            prop_assert_eq!(&told, &expected);
            known = told;
        }
    }

    #[test]
    fn services_that_go_leave_nothing(services in any_services(), gone in any::<prop::sample::Index>()) {
        let mut tree = tree_of(&services);
        for n in 0..services.len() as u64 {
            tree.change_problem(n, None, Some(Severity::High));
        }
        tree.settle();
        let gone = gone.index(services.len());
        tree.remove(gone as u64);
        prop_assert_eq!(tree.status(gone as u64), None);
        tree.settle();
        let mut rest = services;
        for (_, children) in &mut rest {
            children.retain(|child| *child != gone);
        }
        let all = recomputed(&rest, &vec![Some(Severity::High); rest.len()]);
        for n in (0..rest.len()).filter(|n| *n != gone) {
            prop_assert_eq!(tree.status(n as u64).unwrap(), all[n]);
        }
    }
}

/// 162 services in 14 situations, recorded from Zabbix 7.0.22: algorithm, propagation rule and value, weight, status
/// rules, children; severities of the first services' problems, and the statuses of all.
#[test]
fn statuses_are_those_of_the_reference() {
    let recorded: Json = serde_json::from_str(include_str!("../../tests/data/tree.json")).unwrap();
    let number = |value: &Json| value.as_i64().unwrap();
    let services: Vec<Spec> = recorded["services"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let rules = one[4].as_array().unwrap().iter();
            let rules = rules.map(|rule| {
                let limit = rule[1].as_u64().unwrap();
                (number(&rule[0]), limit, number(&rule[2]), number(&rule[3]))
            });
            let numbers =
                (number(&one[0]), number(&one[1]), number(&one[2]), one[3].as_u64().unwrap());
            let children = one[5].as_array().unwrap().iter();
            let children = children.map(|child| usize::try_from(number(child)).unwrap());
            (service(numbers, &rules.collect::<Vec<_>>()), children.collect())
        })
        .collect();
    let mut tree = tree_of(&services);
    let mut before: Vec<Status> = vec![None; services.len()];
    for (n, round) in recorded["rounds"].as_array().unwrap().iter().enumerate() {
        let list = |one: &Json| -> Vec<Status> {
            one.as_array().unwrap().iter().map(|status| from_number(number(status))).collect()
        };
        for (service, own) in list(&round[0]).into_iter().enumerate() {
            let was = std::mem::replace(&mut before[service], own);
            tree.change_problem(service as u64, was, own);
        }
        tree.settle();
        assert_eq!(statuses(&tree, services.len()), list(&round[1]), "situation {n}");
    }
}

#[test]
fn a_circle_ends_nothing() {
    let plain = service((2, 0, 0, 0), &[]);
    let mut tree = Tree::default();
    for id in 0..4 {
        tree.put(id, plain.clone());
    }
    for (child, parent) in [(0, 1), (1, 2), (2, 1), (3, 3)] {
        tree.set_parents(child, &[parent]);
    }
    for id in 0..4 {
        tree.change_problem(id, None, Some(Severity::Warning));
    }
    assert_eq!(tree.settle().len(), 4);
    tree.change_problem(0, None, Some(Severity::Disaster));
    assert!(!tree.settle().is_empty());
    assert_eq!(tree.len(), 4);
}

#[test]
fn remembered_statuses_are_compared() {
    let mut tree = Tree::default();
    for id in 1..=3 {
        tree.put(id, service((2, 0, 0, 0), &[]));
        tree.remember(id, from_number(if id == 1 { 4 } else { -1 }));
    }
    tree.change_problem(2, None, Some(Severity::High));
    let changes = tree.settle();
    let told: Vec<(u64, i64, i64)> =
        changes.iter().map(|one| (one.service, number(one.before), number(one.after))).collect();
    assert_eq!(told, [(1, 4, -1), (2, -1, 4)]);
    assert!(tree.settle().is_empty());
}
