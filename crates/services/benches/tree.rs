//! What a change costs in a tree of 100,000 services: `cargo bench -p services` prints nanoseconds of CPU time.
#![allow(clippy::print_stdout, reason = "a program for developers")]

use std::hint::black_box;
use std::time::Duration;

use objects::{PropagationRule, ServiceAlgorithm, Severity, StatusRuleKind};
use services::tree::{Propagation, Service, StatusRule, Tree};
use stdx::sys::cpu_time;

const SERVICES: u64 = 100_000;
/// Children of each service; the last ones have none.
const CHILDREN: u64 = 10;
const CHANGES: u64 = 200_000;

fn service() -> Service {
    let rule = StatusRule {
        kind: StatusRuleKind::ChildrenPercent,
        limit: 50,
        status: Some(Severity::Warning),
        new_status: Severity::High,
    };
    Service {
        algorithm: ServiceAlgorithm::MostCritical,
        propagation: Propagation { rule: PropagationRule::AsIs, value: 0 },
        weight: 1,
        rules: vec![rule],
    }
}

fn report(name: &str, count: u64, start: Duration) {
    let each = (cpu_time() - start).as_nanos() / u128::from(count);
    println!("{name:<48} {each:>9} ns");
}

/// Problems that begin and end at services `first` and the following ones, each settled by itself.
fn changes(tree: &mut Tree, first: u64) {
    for n in 0..CHANGES / 2 {
        let at = first + n % (SERVICES - first);
        tree.change_problem(at, None, Some(Severity::Average));
        black_box(tree.settle());
        tree.change_problem(at, Some(Severity::Average), None);
        black_box(tree.settle());
    }
}

fn main() {
    let start = cpu_time();
    let mut tree = Tree::default();
    for id in 0..SERVICES {
        tree.put(id, service());
    }
    for id in 1..SERVICES {
        tree.set_parents(id, &[(id - 1) / CHILDREN]);
    }
    tree.settle();
    report("build and settle, per service", SERVICES, start);

    let start = cpu_time();
    changes(&mut tree, SERVICES / CHILDREN + 1);
    report("a problem of a leaf, five levels", CHANGES, start);

    let mut flat = Tree::default();
    for id in 0..SERVICES {
        flat.put(id, service());
    }
    for id in 1..SERVICES {
        flat.set_parents(id, &[0]);
    }
    flat.settle();
    let start = cpu_time();
    changes(&mut flat, 1);
    report("a problem of a leaf, 100,000 brothers", CHANGES, start);

    let start = cpu_time();
    flat.set_parents(SERVICES - 1, &[]);
    black_box(flat.settle());
    report("another parent, with new ranks of all", 1, start);
}
