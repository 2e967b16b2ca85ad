//! What monitors decide together.

use super::*;
use crate::config::Config;

/// The targets of a server with these monitors.
fn targets(health: &str, members: &str) -> Vec<Target> {
    let text = format!(
        "virtual_services: []\npools:\n  - {{name: app, servers: [{{name: a, address: '127.0.0.1:1'}}], \
         health: {health}{members}}}\n"
    );
    let snapshot = Snapshot::compile(&Config::parse(&text).unwrap(), None, 0).unwrap();
    let pool = &snapshot.pools[0];
    (0..pool.monitors.len()).map(|at| Target::new(at, Arc::clone(pool), 0, at, 0)).collect()
}

const THREE: &str = "[{type: tcp, up: 1, down: 1}, {type: icmp, up: 1, down: 1}, \
                     {type: http, up: 1, down: 1}]";

/// Notes results by letter: + passed, - failed, ? not made.
fn note(targets: &mut [Target], results: &str, now: u64) -> Option<bool> {
    for (target, result) in targets.iter_mut().zip(results.chars()) {
        let outcome = match result {
            '+' => Outcome::Passed,
            '-' => Outcome::failed("closed"),
            '?' => Outcome::NotMade("no descriptors".to_owned()),
            _ => continue,
        };
        target.note(&outcome, now);
    }
    judge(targets, now)
}

/// Whether new clients get the server, and whether that is known.
fn state(targets: &[Target]) -> proxying::engine_link::analytics::State {
    targets[0].server().state(true, 0)
}

#[test]
fn enough_monitors_decide() {
    use proxying::engine_link::analytics::State::{Down, Unchecked, Up};
    for (members, results, expected) in [
        ("", "+++", Up),
        ("", "++.", Unchecked),
        ("", "++?", Unchecked),
        ("", "-..", Down),
        ("", "-??", Down),
        (", min_monitors: 1", "+--", Up),
        (", min_monitors: 1", "+..", Up),
        (", min_monitors: 1", "--.", Unchecked),
        (", min_monitors: 1", "--?", Unchecked),
        (", min_monitors: 1", "---", Down),
        (", min_monitors: 2", "+-+", Up),
        (", min_monitors: 2", "-+-", Down),
        (", min_monitors: 2", "-+.", Unchecked),
    ] {
        let mut all = targets(THREE, members);
        note(&mut all, results, 1);
        assert_eq!(state(&all), expected, "{members} {results}");
    }
}

#[test]
fn a_server_keeps_its_state_while_it_is_unknown() {
    let mut all = targets("{type: tcp, up: 2, down: 2}", "");
    assert_eq!(note(&mut all, "-", 1), None, "not decided yet");
    assert_eq!(note(&mut all, "-", 2), Some(false));
    assert_eq!(note(&mut all, "?", 3), None);
    assert_eq!(state(&all), proxying::engine_link::analytics::State::Down);
    assert_eq!(note(&mut all, "+", 4), None, "results before do not count");
    assert_eq!(note(&mut all, "+", 5), Some(true));
    assert_eq!(note(&mut all, "?", 6), None);
    assert_eq!(state(&all), proxying::engine_link::analytics::State::Unchecked);
}

#[test]
fn an_ejection_ends_when_enough_monitors_have_passed_since() {
    let mut all = targets(THREE, ", min_monitors: 2");
    note(&mut all, "+++", 1);
    let pool = Arc::clone(&all[0].pool);
    (0..3).for_each(|_| pool.failed(0, 10));
    let ejected = || !pool.keeps(0, 20);
    assert!(ejected());
    note(&mut all, "..+", 15);
    assert!(ejected(), "one of two");
    note(&mut all, "+..", 16);
    assert!(!ejected());
}

#[test]
fn unchanged_targets_go_on_after_a_change() {
    let mut all = targets("{type: tcp, up: 2, down: 3}", "");
    note(&mut all, "+", 5);
    note(&mut all, "+", 6);
    all[0].next_ms = 900;
    let mut buffers = Buffers::default();
    let again = |health: &str, all: Vec<Target>, buffers: &mut Buffers| {
        let mut old = target::by_identity(all);
        let new = targets(health, "").remove(0);
        let old = old.remove(&new.identity()).unwrap();
        new.or_before(old, buffers)
    };
    let same = again("{type: tcp, up: 2, down: 3}", all, &mut buffers);
    assert_eq!((same.verdict, same.next_ms), (Verdict::Passes, 900));
    let other = again("{type: tcp, up: 2, down: 9}", vec![same], &mut buffers);
    assert_eq!((other.verdict, other.next_ms), (Verdict::Unknown, 0));
}

/// A table, its clock, and a way to give it a configuration with this server.
struct Bed {
    table: Table,
    clock: Arc<stdx::clock::SimClock>,
    snapshot: Option<Snapshot>,
    buffers: Buffers,
}

impl Bed {
    fn new() -> Self {
        let poll = Poll::new().unwrap();
        let waker = Arc::new(Waker::new(poll.registry(), WAKER).unwrap());
        let clock = stdx::clock::SimClock::at(Duration::from_secs(1_000));
        let table = Table::new(poll, waker, clock.clone(), Groups::default());
        Self { table, clock, snapshot: None, buffers: Buffers::default() }
    }

    fn configure(&mut self, address: std::net::SocketAddr, weight: u32, health: &str) {
        let text = format!(
            "virtual_services: []\npools:\n  - {{name: app, health: {health}, servers: [{{name: a, \
             address: '{address}', weight: {weight}}}]}}\n"
        );
        let config = Config::parse(&text).unwrap();
        let snapshot = Snapshot::compile(&config, self.snapshot.as_ref(), 0).unwrap();
        self.table.reload(&snapshot, &mut self.buffers);
        self.snapshot = Some(snapshot);
    }

    fn pass(&mut self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
        self.table.take_due(self.snapshot.as_ref(), &mut self.buffers);
    }

    fn verdict(&self) -> Verdict {
        self.table.targets[0].verdict
    }
}

#[test]
fn check_has_its_timeout_even_if_the_interval_is_shorter() {
    // A server that accepts and does not respond.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut bed = Bed::new();
    bed.configure(
        silent.local_addr().unwrap(),
        1,
        "{type: http, down: 1, interval: 1s, timeout: 3s}",
    );
    bed.pass(0);
    for _ in 0..2 {
        bed.pass(1_000);
        assert!(bed.table.targets[0].check.is_some());
        assert_eq!(bed.verdict(), Verdict::Unknown);
    }
    bed.pass(1_000);
    assert_eq!(bed.verdict(), Verdict::Fails);
    // The next one has begun at the same moment.
    assert!(bed.table.targets[0].check.is_some());
}

#[test]
fn check_in_progress_survives_changes_until_its_deadline() {
    // A server that accepts and does not respond.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let mut bed = Bed::new();
    let health = "{type: http, down: 1, interval: 5s, timeout: 2s}";
    bed.configure(address, 1, health);
    bed.pass(0);
    for weight in 2..=20 {
        bed.pass(100);
        bed.configure(address, weight, health);
        assert!(bed.table.targets[0].check.is_some(), "change {weight}");
        assert_eq!(bed.verdict(), Verdict::Unknown);
    }
    bed.pass(100);
    assert_eq!(bed.verdict(), Verdict::Fails);
    // Another monitor starts from the beginning, and what was due for the one before changes nothing.
    bed.pass(3_000);
    bed.configure(address, 1, "{type: http, down: 1, interval: 5s, timeout: 3s}");
    assert!(bed.table.targets[0].check.is_none());
    assert_eq!(bed.verdict(), Verdict::Unknown);
}
