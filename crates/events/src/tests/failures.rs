//! A queue that ends, findings that cannot be written, a database that fails.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

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

#[test]
fn problems_do_not_wait_for_the_disk_of_earlier_ones() {
    let blocks = Arc::new(AtomicBool::new(false));
    let (entered, entries) = sync_channel(1);
    let (proceed, may) = sync_channel::<()>(1);
    let (is_blocking, may) = (Arc::clone(&blocks), Mutex::new(may));
    let world = World::with_sync(Arc::new(move |_: &File| {
        if is_blocking.swap(false, Ordering::SeqCst) {
            entered.send(()).unwrap();
            may.lock().unwrap().recv().unwrap();
        }
        Ok(())
    }));
    blocks.store(true, Ordering::SeqCst);
    let (opened, openings) = sync_channel(10);
    let hooks = Hooks {
        problem: Box::new(move |change: ProblemChange| opened.send(change.trigger.0).unwrap()),
        ..Hooks::none()
    };
    let problems = Problems::open(Arc::clone(&world.config), world.clock.clone(), hooks).unwrap();
    let (tx, rx) = bounded("findings", 10);
    let (stop, unsent) = (Stop::new(world.clock.clone()), world.dir.path().join("unsent"));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| problems.run(rx, &stop, &Unsent::new(unsent)));
        tx.try_send(problem(1, 1, &[])).unwrap();
        entries.recv().unwrap();
        // The first problem is on its way to the disk.
        tx.try_send(problem(2, 2, &[])).unwrap();
        let opens = || openings.recv_timeout(Duration::from_secs(60));
        let opened = [opens(), opens()];
        proceed.send(()).unwrap();
        drop(tx);
        assert_eq!((opened, writer.join().unwrap()), ([Ok(1), Ok(2)], true));
    });
}

#[test]
fn the_writer_ends_when_all_problems_are_on_the_disk() {
    let syncs = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&syncs);
    let world = World::with_sync(Arc::new(move |_: &File| {
        counts.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }));
    let before = syncs.load(Ordering::SeqCst);
    let (tx, rx) = bounded("findings", 10);
    tx.try_send(problem(1, 1, &[])).unwrap();
    drop(tx);
    let stop = Stop::new(world.clock.clone());
    assert!(world.problems.run(rx, &stop, &Unsent::new(world.dir.path().join("unsent"))));
    assert_eq!(syncs.load(Ordering::SeqCst), before + 1);
    // Nothing is left to be synced.
    world.config.sync_state().unwrap();
    assert_eq!(syncs.load(Ordering::SeqCst), before + 1);
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
    let error = state(3, "why\n\u{1}");
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
fn failed_transaction_leaves_no_open_problem_in_memory() {
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
