//! A queue that ends, findings that cannot be written, a database that fails.

use stdx::queue::bounded;

use super::*;
use crate::replay;

#[test]
fn the_thread_writes_in_batches_and_ends_with_its_queue() {
    let world = World::new();
    let (tx, rx) = bounded("findings", 5_000);
    for clock in 0..2_500 {
        tx.try_send(problem(2, clock, &[])).unwrap();
    }
    drop(tx);
    let stop = Stop::new(world.clock.clone());
    assert!(world.problems.run(rx, &stop, &Unsent::new(world.dir.path().join("unsent"))));
    let stats = world.problems.stats();
    assert_eq!((stats.findings, stats.batches, stats.open, stats.failures), (2_500, 3, 2_500, 0));
    assert_eq!(world.open_events(2).len(), 2_500);
    world.clock.advance(Duration::from_secs(1));
}

fn replay_at(world: &World, unsent: &Unsent) -> std::io::Result<()> {
    let clock: stdx::clock::SharedClock = world.clock.clone();
    replay(&world.config, &clock, unsent)
}

#[test]
fn unsent_findings_are_written_by_the_next_start() {
    let world = World::new();
    let unsent = Unsent::new(world.dir.path().join("unsent"));
    replay_at(&world, &unsent).unwrap();
    // The database takes no event; the server stops.
    world.run("ALTER TABLE events RENAME TO away");
    let (tx, rx) = bounded("findings", 5_000);
    let error = TriggerFinding::State { trigger: TriggerId(3), error: "why\n\u{1}".to_owned() };
    let found = [problem(1, 10, &[("a", "ö\"")]), problem(2, 11, &[]), recovery(2, 12, &[]), error];
    (0..1_000).for_each(|_| tx.try_send(found[0].clone()).unwrap());
    found.iter().for_each(|finding| tx.try_send(finding.clone()).unwrap());
    drop(tx);
    let stop = Stop::new(world.clock.clone());
    stop.ask();
    world.clock.advance(Duration::from_secs(3));
    assert!(world.problems.run(rx, &stop, &unsent));
    let mut lines = unsent.read().unwrap();
    assert_eq!(lines.split_off(1_000), found);
    assert!(replay_at(&world, &unsent).is_err(), "still down: the file stays");
    assert_eq!(unsent.read().unwrap().len(), 1_004);
    world.run("ALTER TABLE away RENAME TO events");
    assert!(!Unsent::new(world.dir.path().join("missing/unsent")).add(&found), "lost");
    let world = world.restarted();
    replay_at(&world, &unsent).unwrap();
    assert_eq!(
        world.rows("SELECT objectid, r_clock FROM problems ORDER BY eventid"),
        ["1|0", "2|12"]
    );
    assert_eq!(world.rows("SELECT tag, value FROM event_tags"), ["a|ö\""]);
    assert!(unsent.read().unwrap().is_empty());
}

#[test]
fn refused_finding_does_not_hold_up_the_others() {
    let world = World::new();
    world.run(
        "CREATE TRIGGER bad BEFORE INSERT ON events WHEN NEW.name = 'bad 7' \
         BEGIN SELECT RAISE(ABORT, 'no such name'); END",
    );
    let (tx, rx) = bounded("findings", 5_000);
    for clock in 1..=20 {
        tx.try_send(problem(2, clock, &[])).unwrap();
    }
    drop(tx);
    let stop = Stop::new(world.clock.clone());
    assert!(world.problems.run(rx, &stop, &Unsent::new(world.dir.path().join("unsent"))));
    let clocks = world.rows("SELECT clock FROM events ORDER BY eventid");
    assert_eq!(clocks.len(), 19);
    assert!(!clocks.contains(&"7".to_owned()), "{clocks:?}");
    assert_eq!(world.problems.stats().open, 19);
}

#[test]
fn failed_transaction_leaves_no_open_problem_in_memory_even_if_reading_back_fails() {
    let world = World::new();
    // Fails late, after the problem was added in memory; then nothing can be read either.
    world.run(
        "CREATE TRIGGER late BEFORE INSERT ON trigger_states BEGIN SELECT RAISE(ABORT, ''); END",
    );
    assert!(world.problems.write(&[problem(1, 1, &[])]).is_err());
    world.run("ALTER TABLE problems RENAME TO away");
    assert!(world.problems.write(&[problem(1, 1, &[])]).is_err());
    world.run("ALTER TABLE away RENAME TO problems");
    world.run("DROP TRIGGER late");
    world.problems.write(&[problem(1, 1, &[])]).unwrap();
    assert_eq!(world.open_events(1).len(), 1);
    assert_eq!(world.changes(), [(1, Bad)]);
}
